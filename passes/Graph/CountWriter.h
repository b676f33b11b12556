//===- CountWriter.h - computations with counts ---------------------------===//
//
// Owns the vocabulary of what is written for tensors of which the run decides how much is valid: arithmetic on counts,
// which are 64-bit integers of no dimension, and masks. What was written before is written once, so that counts that are
// equal are one value; sums and extremes of constants are constants.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/Graph/Counted.h"
#include "passes/Graph/GraphWriter.h"

namespace trn {

class CountWriter : public GraphWriter {
public:
  using GraphWriter::GraphWriter;

  mlir::Value number(int64_t value);
  /// Element `i` of integers: what is known of it is looked up, as the size of a dimension or a count.
  mlir::Value element(mlir::Value integers, int64_t i);

  mlir::Value plus(mlir::Value a, mlir::Value b) { return arithmetic("Add", a, b); }
  mlir::Value plus(mlir::Value a, int64_t b) { return b == 0 ? a : arithmetic("Add", a, number(b)); }
  mlir::Value minus(mlir::Value a, mlir::Value b) { return arithmetic("Sub", a, b); }
  mlir::Value minus(mlir::Value a, int64_t b) { return b == 0 ? a : arithmetic("Sub", a, number(b)); }
  mlir::Value times(mlir::Value a, int64_t b) { return b == 1 ? a : arithmetic("Mul", a, number(b)); }
  mlir::Value atMost(mlir::Value a, mlir::Value b) { return a == b ? a : arithmetic("Min", a, b); }
  mlir::Value atMost(mlir::Value a, int64_t b);
  mlir::Value least0(mlir::Value a);
  /// `a` / `step`, upwards; `a` is not negative.
  mlir::Value quotient(mlir::Value a, int64_t step) {
    return step == 1 ? a : arithmetic("Div", plus(a, step - 1), number(step));
  }

  /// 0 … size - 1 along dimension `dim` of a tensor of `rank`, as fp32: engines compute in it, and it is exact up to 2^24.
  mlir::Value positions(int64_t size, int64_t dim = 0, int64_t rank = 1);
  /// A number as fp32.
  mlir::Value real(mlir::Value number) { return once(cast(number, b.getF32Type())); }
  /// Where elements of dimension `dim` of a tensor of `rank` are valid.
  mlir::Value valid(int64_t size, mlir::Value count, int64_t dim, int64_t rank);
  /// A counted tensor with `fill` where it is not valid.
  mlir::Value masked(const Counted &counted, mlir::Value fill);
  mlir::Value maskedByZero(const Counted &counted);
  /// The smallest or largest value of an element type: of floats the infinities.
  mlir::Value lowest(mlir::Type element) { return extreme(element, /*isLowest=*/true); }
  mlir::Value highest(mlir::Type element) { return extreme(element, /*isLowest=*/false); }

  /// Positions, given as fp32 numbers, that a gather takes.
  mlir::Value asIndices(mlir::Value reals) { return cast(reals, b.getI64Type()); }

private:
  mlir::Value arithmetic(llvm::StringRef name, mlir::Value a, mlir::Value b);
  mlir::Value extreme(mlir::Type element, bool isLowest);
  /// An equal operation that stands before `value`'s in its block, or `value`.
  mlir::Value once(mlir::Value value);
};

/// Whether `op` is a Cast that keeps the value of a size: one to integers of at least 32 bits.
bool isCastOfSizes(mlir::Operation *op);

/// A Slice whose bounds, or the size that they count in, only the run knows, as a counted tensor; false when it stays.
/// `mayBeOfRun`: bounds that are values will not become constants any more.
bool takeSlice(mlir::Operation *op, bool mayBeOfRun);

} // namespace trn
