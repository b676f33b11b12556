//===- Transforms.h - lazy layout changes of weights -----------------------===//
// Owns the `transforms([...])` of a `trn.global`: how the bytes of a laid-out weight follow from the bytes of the model
// file, without either being held. The attribute is an array of dictionaries, applied in order to a row-major tensor:
//
//   {reshape = array<i64: ...>}     the same elements in another shape
//   {transpose = array<i64: ...>}   dimension i of the result is dimension transpose[i] of the source
//   {pad = array<i64: ...>}         that many zeros behind each dimension
//   {slice_offsets, slice_sizes, slice_strides}
//   {cast = type}                   conversion of the elements, round to nearest even
//
// Whatever the chain, a dimension of the result is a product of factors, each of which advances along one dimension of
// the source; an element of the result is an element of the source or a padding zero. What has no such form is refused:
// a reshape that cuts a factor unevenly, a pad or a strided slice of several factors.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace trn {

class WeightTransforms {
public:
  /// No transform of a tensor of `type`.
  explicit WeightTransforms(mlir::ShapedType type);

  /// Reads `attribute`; an error names the first transform that does not fit.
  static mlir::FailureOr<WeightTransforms> get(mlir::ShapedType source, mlir::ArrayAttr attribute,
                                               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

  mlir::LogicalResult reshape(llvm::ArrayRef<int64_t> shape);
  mlir::LogicalResult transpose(llvm::ArrayRef<int64_t> permutation);
  mlir::LogicalResult pad(llvm::ArrayRef<int64_t> high);
  mlir::LogicalResult slice(llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
                            llvm::ArrayRef<int64_t> strides);
  mlir::LogicalResult cast(mlir::Type elementType);

  llvm::SmallVector<int64_t> shape() const;
  mlir::Type elementType() const { return resultElement; }
  int64_t elements() const;
  mlir::ArrayAttr toAttribute(mlir::MLIRContext *context) const;

  /// Writes elements [begin, begin + count) of the result, in row-major order, to `out`. `source` holds the
  /// whole source tensor, row-major, one byte per i1, possibly unaligned.
  mlir::LogicalResult materialize(llvm::ArrayRef<char> source, int64_t begin, int64_t count, char *out) const;

private:
  /// Part of a dimension of the result: it advances along `axis` of the source by `step` elements of that axis.
  struct Factor {
    int64_t extent;
    unsigned axis;
    int64_t step;
  };
  /// A dimension of the result: its factors, slowest first.
  using Dim = llvm::SmallVector<Factor, 2>;
  /// A dimension of the source, or several that are contiguous: `extent` elements, `stride` apart in the source.
  struct Axis {
    int64_t extent;
    int64_t stride;
    int64_t offset; ///< of the result's first element, along the axis
  };
  void append(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  void simplify(Dim &dim);
  bool mergeFactors(const Factor &outer, Factor &inner);

  mlir::Type sourceElement, resultElement;
  llvm::SmallVector<Dim> dims;
  llvm::SmallVector<Axis> axes;
  llvm::SmallVector<std::pair<std::string, llvm::SmallVector<int64_t>>> history;
};

} // namespace trn
