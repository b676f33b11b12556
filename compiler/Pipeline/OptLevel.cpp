//===- OptLevel.cpp - what -O means ----------------------------------------===//
#include "compiler/Pipeline/OptLevel.h"

namespace trn {

llvm::ArrayRef<OptLevel> allOptLevels() {
  static constexpr OptLevel kLevels[] = {
#define TRN_OPT_LEVEL(level, fuseMaps, residency, foldTaps, search, summary)                                           \
  {level, fuseMaps, residency, foldTaps, search, summary},
#include "compiler/Pipeline/OptLevels.def"
  };
  return kLevels;
}

} // namespace trn
