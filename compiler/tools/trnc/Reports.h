//===- Reports.h - the modelled profile on the command line ---------------===//
#pragma once
#include "compiler/tools/trnc/CommandLine.h"
#include "runtime/executable/Executable.h"
#include <cstdint>
#include <vector>

namespace trn::driver {

/// Models the time of `executable` and writes what the call asks for: --json (with `host_time` when it is finite), a
/// text summary (`profile`, and `run --stats`), --perfetto, --html. `found` is what decided the way of a run
/// (rt::Session::decisions); without it the way is assumed. Returns the exit code.
int reportProfile(CommandLine &line, const exe::Executable &executable, double hostSeconds,
                  std::vector<std::vector<int32_t>> found = {});

} // namespace trn::driver
