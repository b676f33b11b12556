//===- ProfileReport.h - the modelled time of an executable as a report ---===//
#pragma once
#include "absl/status/statusor.h"
#include "runtime/executable/Executable.h"
#include <string>

namespace trn::rt {

/// Simulates `executable` once and returns the profile as JSON (runtime/profile). Errors: a deadlock.
absl::StatusOr<std::string> profileJson(const exe::Executable &executable);

} // namespace trn::rt
