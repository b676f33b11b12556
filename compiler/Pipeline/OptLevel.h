//===- OptLevel.h - what -O means ------------------------------------------===//
//
// Owns the lookup of OptLevels.def.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace trn {

/// One optimisation level: the choices that it makes.
struct OptLevel {
  unsigned level;
  bool fuseMaps, residency, foldTaps, search;
  llvm::StringRef summary;
};

/// All levels, -O0 first.
llvm::ArrayRef<OptLevel> allOptLevels();
/// What is compiled without -O.
inline constexpr unsigned kDefaultOptLevel = 2;

} // namespace trn
