//===- ProfileReport.cpp - the modelled time of an executable as a report -===//
#include "runtime/src/ProfileReport.h"
#include "runtime/profile/Profile.h"
#include "runtime/timing/Timing.h"
#include "runtime/timing/Unroll.h"

namespace trn::rt {

absl::StatusOr<std::string> profileJson(const exe::Executable &executable) {
  absl::StatusOr<exe::Executable> unrolled = unroll(executable);
  if (!unrolled.ok())
    return unrolled.status();
  absl::StatusOr<Timeline> timeline = simulate(*unrolled, TimingOptions());
  if (!timeline.ok())
    return timeline.status();
  return writeJson(summarize(*unrolled, *timeline));
}

} // namespace trn::rt
