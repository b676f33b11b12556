//===- GraphWriter.h - onnx operations written at one place ---------------===//
//
// Owns the vocabulary of decompositions: the common operators as functions, typed by their shape rules, all at one
// insertion point and location.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/Builders.h"

namespace trn {

class GraphWriter {
public:
  GraphWriter(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  /// Any operator with one result.
  mlir::Value op(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

  mlir::Value add(mlir::Value x, mlir::Value y) { return op("Add", {x, y}); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return op("Sub", {x, y}); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return op("Mul", {x, y}); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return op("Div", {x, y}); }
  mlir::Value neg(mlir::Value x) { return op("Neg", {x}); }
  mlir::Value matMul(mlir::Value x, mlir::Value y) { return op("MatMul", {x, y}); }
  /// A product of quantised data, real; each factor with its scale and zero point (null: 0).
  struct Factor {
    mlir::Value data, scale, zeroPoint;
  };
  mlir::Value product(const Factor &x, const Factor &y);
  /// `x` in bytes, over the range that its elements have.
  Factor quantized(mlir::Value x);
  mlir::Value where(mlir::Value condition, mlir::Value x, mlir::Value y) { return op("Where", {condition, x, y}); }
  /// The value itself if it has that element type.
  mlir::Value cast(mlir::Value x, mlir::Type element);
  /// The value itself if it has that shape.
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> perm);
  mlir::Value expand(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> values, int64_t axis);
  /// With `fill` behind the end of an axis, up to `length`; the value itself if it is as long.
  mlir::Value extend(mlir::Value x, int64_t axis, int64_t length, double fill);
  /// [start, end) along one axis; the value itself if that is all of it.
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t start, int64_t end);
  /// ReduceSum, ReduceMean, ReduceMax, …
  mlir::Value reduce(llvm::StringRef name, mlir::Value x, llvm::ArrayRef<int64_t> axes, bool keepDims = true);

  /// [batch, sequence, heads · size] as [batch, heads, sequence, size]; a tensor of rank 4 is that already.
  mlir::Value splitHeads(mlir::Value x, int64_t heads);
  /// The inverse of `splitHeads`.
  mlir::Value joinHeads(mlir::Value x);

  /// A scalar constant of `like`'s element type.
  mlir::Value scalar(double value, mlir::Value like);
  mlir::Value scalar(double value, mlir::Type element);
  mlir::Value constant(mlir::ElementsAttr value);
  mlir::Value integers(llvm::ArrayRef<int64_t> values, llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// The numbers 0 to count - 1.
  mlir::Value positions(int64_t count, llvm::ArrayRef<int64_t> shape, mlir::Type element);

  mlir::NamedAttribute ints(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute integer(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute flag(llvm::StringRef name, bool value);
  mlir::NamedAttribute text(llvm::StringRef name, llvm::StringRef value);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace trn
