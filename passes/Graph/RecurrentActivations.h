//===- RecurrentActivations.h - functions that recurrent layers name -------===//
//
// Owns which of them have parameters: a layer lists those of all its functions in a row, each for the next one that has one.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/StringSwitch.h"

namespace trn {

/// `name` in lower case.
inline bool takesAlpha(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu"}, true)
      .Default(false);
}
inline bool takesBeta(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name).Cases({"affine", "scaledtanh", "hardsigmoid"}, true).Default(false);
}

} // namespace trn
