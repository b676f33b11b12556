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
/// The operators of com.microsoft that stay operations until here.
void populateMicrosoftPatterns(mlir::RewritePatternSet &patterns);
/// Losses and optimisers.
void populateTrainingPatterns(mlir::RewritePatternSet &patterns);
/// Draws random numbers.
void populateRandomPatterns(mlir::RewritePatternSet &patterns);
/// Unrolls LSTM layers of at most `maxSteps` steps.
void populateRecurrentPatterns(mlir::RewritePatternSet &patterns, int64_t maxSteps);

/// Products with packed weights, and gathers of them, unless the weights stay packed.
void populatePackedPatterns(mlir::RewritePatternSet &patterns);
/// Expresses operators on quantised data by those on floats and integers.
void populateQuantizedPatterns(mlir::RewritePatternSet &patterns);
/// Writes out Fourier transforms and windows.
void populateSignalPatterns(mlir::RewritePatternSet &patterns);
/// Writes out the operators that sample at computed positions.
void populateSamplingPatterns(mlir::RewritePatternSet &patterns);

} // namespace trn
