//===- Decompose.h - parts of onnx-decompose ------------------------------===//
//
// Owns what the files of the pass share.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace trn {

/// Writes out the training form of BatchNormalization.
void populateNormalizationPatterns(mlir::RewritePatternSet &patterns);
/// The attention family; recurrences and indexed writes of at most `maxSteps` steps.
void populateAttentionPatterns(mlir::RewritePatternSet &patterns, int64_t maxSteps);
/// Losses and optimisers.
void populateTrainingPatterns(mlir::RewritePatternSet &patterns);
/// Unrolls LSTM layers of at most `maxSteps` steps.
void populateRecurrentPatterns(mlir::RewritePatternSet &patterns, int64_t maxSteps);

} // namespace trn
