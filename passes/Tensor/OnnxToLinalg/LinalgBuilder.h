//===- LinalgBuilder.h - building blocks of the lowerings -----------------===//
// The few forms that the tensor stage allows, as functions: elementwise maps with broadcasting, reductions, sums of
// products, and movement. It owns two conventions: unsigned elements are reinterpreted as signless ones inside bodies,
// and sums of 16-bit floats accumulate in f32. Shapes are static.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace trn {

/// The scalar code of a structured operation: from elements to one element.
using ScalarBody = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::ValueRange)>;

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return tensorType(value).getShape(); }
inline mlir::Type elementTypeOf(mlir::Value value) { return tensorType(value).getElementType(); }

/// The dimension of `x` that an axis means; negative ones count from the end.
inline int64_t axisOf(int64_t axis, mlir::Value x) {
  return axis < 0 ? axis + static_cast<int64_t>(shapeOf(x).size()) : axis;
}

/// A scalar constant of an integer, index or float type.
mlir::Value scalarConstant(mlir::ImplicitLocOpBuilder &builder, mlir::Type type, double value);
/// The smallest and largest value of a type: for floats the infinities.
mlir::Value lowestConstant(mlir::ImplicitLocOpBuilder &builder, mlir::Type type, bool isUnsigned);
mlir::Value highestConstant(mlir::ImplicitLocOpBuilder &builder, mlir::Type type, bool isUnsigned);

/// `value` converted as ONNX's Cast does. Both types are as in tensors: unsigned types tell how to convert; values are
/// signless.
mlir::Value convertScalar(mlir::ImplicitLocOpBuilder &builder, mlir::Value value, mlir::Type from, mlir::Type to);

/// An index of 64 bits in 32: one that does not fit is outside of every dimension, and stays so.
mlir::Value saturateIndex(mlir::ImplicitLocOpBuilder &builder, mlir::Value index);

/// True where an element is the extreme value of its row, by value or because both are NaN.
mlir::Value isExtreme(mlir::ImplicitLocOpBuilder &builder, mlir::Value element, mlir::Value extreme);

enum class Reduction { Sum, Product, Max, Min };

class LinalgBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  mlir::Value empty(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value filled(llvm::ArrayRef<int64_t> shape, mlir::Value scalar);
  mlir::Value weight(mlir::RankedTensorType type, llvm::ArrayRef<float> values);
  mlir::Value weight(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> values);

  /// The results, one for each of `types`, of a library kernel (dialects/Trn/ISA/Library.td).
  llvm::SmallVector<mlir::Value> kernel(llvm::StringRef name, llvm::ArrayRef<mlir::Value> inputs,
                                        llvm::ArrayRef<mlir::Type> types,
                                        llvm::ArrayRef<mlir::NamedAttribute> parameters);

  /// The numbers 0 to size - 1, as a map over them reads its own position.
  mlir::Value positions(int64_t size);

  /// One result, all iterators parallel, one map per input and the identity for the result.
  mlir::Value map(mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<int64_t> shape,
                  mlir::Type element, ScalarBody body);
  /// The same with numpy broadcasting of the inputs to `shape`.
  mlir::Value map(mlir::ValueRange inputs, llvm::ArrayRef<int64_t> shape, mlir::Type element, ScalarBody body);
  /// The same for one input of the result's shape.
  mlir::Value mapLike(mlir::Value input, ScalarBody body);

  /// A reduction over any maps. `maps` are those of the inputs, then of the result; `body` computes what is combined.
  /// `window` gives the extents of the last iterators, when no input does.
  mlir::Value reduce(mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                     llvm::ArrayRef<mlir::utils::IteratorType> iterators, llvm::ArrayRef<int64_t> shape,
                     mlir::Type element, Reduction kind, ScalarBody body, llvm::ArrayRef<int64_t> window = {});
  /// Along axes, which disappear.
  mlir::Value reduce(mlir::Value input, llvm::ArrayRef<int64_t> axes, Reduction kind, ScalarBody body);
  mlir::Value reduce(mlir::Value input, llvm::ArrayRef<int64_t> axes, Reduction kind);
  /// The type in which sums of `element` are kept until they are used: f32 for half floats.
  mlir::Type wideType(mlir::Type element);
  /// The sum along axes in `wideType`, of what `body` makes of elements of that type.
  mlir::Value sum(mlir::Value input, llvm::ArrayRef<int64_t> axes, ScalarBody body);
  /// `sum` divided by the number of its terms, in the type `element`. Correctly rounded: the mean of equal whole numbers is
  /// that number.
  mlir::Value meanOf(mlir::Value sum, int64_t count, mlir::Type element);
  /// A sum of products in f32 (or the integers' own type). Iterators that `resultMap` lacks are summed over.
  mlir::Value contract(mlir::Value lhs, mlir::AffineMap lhsMap, mlir::Value rhs, mlir::AffineMap rhsMap,
                       mlir::AffineMap resultMap, llvm::ArrayRef<int64_t> shape, mlir::Type element);

  /// Row-major reshape through the coarsest common grouping of dimensions.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Removes dimensions of extent 1.
  mlir::Value dropUnitDims(mlir::Value value, llvm::ArrayRef<int64_t> dims);
  /// Adds dimensions of extent 1 at these positions of the result.
  mlir::Value addUnitDims(mlir::Value value, llvm::ArrayRef<int64_t> dims);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides);
  /// One dimension cut to [offset, offset + size).
  mlir::Value sliceDim(mlir::Value value, int64_t dim, int64_t offset, int64_t size, int64_t stride = 1);
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high, mlir::Value scalar);
  mlir::Value concat(mlir::ValueRange values, int64_t dim);
  /// The elements in reverse order along a dimension.
  mlir::Value reverse(mlir::Value value, int64_t dim);
  /// Numpy broadcasting; the value itself if it has the shape already.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// A tensor with other elements, as ONNX's Cast; the value itself if it has the type already.
  mlir::Value convert(mlir::Value value, mlir::Type element);

  /// Positions in a dimension, in 32 bits.
  mlir::Value indices(mlir::Value value);

  /// The map that reads an operand with numpy broadcasting in an iteration space of `shape`, without the unit
  /// dimensions that are broadcast, which `operand` loses.
  mlir::AffineMap broadcastMap(mlir::Value &operand, llvm::ArrayRef<int64_t> shape);
  /// The map (d0 … d_rank-1) -> these dimensions.
  mlir::AffineMap dims(unsigned rank, llvm::ArrayRef<int64_t> positions);
  mlir::AffineMap identity(unsigned rank) { return getMultiDimIdentityMap(rank); }

private:
  mlir::Value generic(mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                      llvm::ArrayRef<mlir::utils::IteratorType> iterators, mlir::Value init, mlir::Type element,
                      llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::ValueRange)> body);
};

} // namespace trn
