//===- ProfileReport.cpp - the modelled time of an executable as a report -===//
#include "runtime/src/ProfileReport.h"
#include "runtime/profile/Profile.h"
#include "runtime/timing/Timing.h"

namespace trn::rt {

absl::StatusOr<std::string> profileJson(const exe::Executable &executable) {
  absl::StatusOr<Timeline> timeline = simulate(executable, TimingOptions());
  if (!timeline.ok())
    return timeline.status();
  return writeJson(summarize(executable, *timeline));
}

} // namespace trn::rt
