//===- Reports.h - the modelled profile on the command line ---------------===//
#pragma once
#include "compiler/tools/trnc/CommandLine.h"
#include "runtime/executable/Executable.h"

namespace trn::driver {

/// Models the time of `executable` and writes what the call asks for: --json (with `host_time` when it is finite), a
/// text summary (`profile`, and `run --stats`), --perfetto, --html. Returns the exit code.
int reportProfile(CommandLine &line, const exe::Executable &executable, double hostSeconds);

} // namespace trn::driver
