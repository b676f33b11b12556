//===- Counted.h - tensors of which the run decides how much is valid ------===//
//
// Owns counts in inference. A result whose size data decides has its largest size, and `onnx.counted` binds to it how many
// elements of one dimension are valid. That operation moves down past all that reads the tensor, by the rule that the
// reader's record names (`counted`), until it stands before the model's outputs: readers compute on the largest size, what
// combines elements of the counted dimension gets a neutral element for those that are not valid, and shapes become
// computations with counts. Behind inference a count is a value like any other, and an output of its own.
// Refuses a reader without a rule, two counted dimensions in one tensor, and a size that the run decides without a bound.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Weights/Constant.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>

namespace trn {

/// A tensor of its largest size, and how many elements of `dim` are valid: one 64-bit integer.
struct Counted {
  mlir::Value whole, count;
  int64_t dim;
  bool zeros; ///< what is not valid is 0
};

/// The longest dimension that is counted: positions are compared as fp32.
constexpr int64_t kMostCounted = int64_t(1) << 24;

/// What an `onnx.counted` binds; none for other values.
std::optional<Counted> countedOf(mlir::Value value);
/// Binds a count to a tensor, at the builder's place.
mlir::Value bindCount(mlir::OpBuilder &builder, mlir::Location loc, const Counted &counted);

/// Of what the run decides the size, for messages about an operation with a counted operand; empty for others.
std::string countedWords(mlir::Operation *op);

/// Gives an operation whose record makes counts, and whose results have static sizes, its count; or writes out what is
/// decomposed into one. True when something changed.
bool makeCount(mlir::Operation *op);

/// Takes an operation past the counts of its operands. `isInferred`: its attributes are normalised and its results have
/// types; a few rules need them as the model gives them. True when something changed; otherwise `reason` says, for an
/// operation with such operands, why it has to stay.
bool takeCounted(mlir::Operation *op, bool isInferred, std::string &reason);

/// Gives an operation whose sizes are operands that only the run knows their largest values, and its results counts, where
/// these values have a bound. True when something changed.
bool boundSizes(mlir::Operation *op);
/// Writes the sizes of counted tensors, which only the run knows, as computations. True when `op` was replaced.
bool writeSizes(mlir::Operation *op);

/// The largest, and the smallest, value of each element of `value` that counts and constants decide; none when it has no
/// bound.
std::optional<llvm::SmallVector<int64_t>> largestOf(mlir::Value value);
std::optional<llvm::SmallVector<int64_t>> leastOf(mlir::Value value);

/// Appends to the results of `function` the count of each result that has one. `onnx.count` of such a result is the number
/// of that result, `onnx.count_dim` the dimension that it counts. Fails with an error at what still reads a counted tensor.
mlir::LogicalResult endCounts(mlir::func::FuncOp function);

} // namespace trn
