//===- Tensor.h - a typed, strided, shared array of values ----------------===//
// The value that the reference evaluator computes with. A Tensor is a view (shape, strides) of shared storage, so that
// slices, reshapes, broadcasts and splats cost nothing and weights are read where they lie in the mapped model file.
// It owns reading and writing of element types; it refuses element types that MLIR knows and ONNX does not.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>

namespace trn {

/// How an element lies in memory. Signless and signed integers are `I*`, unsigned ones `U*`; a bool is one byte, 0
/// or 1.
enum class Storage : uint8_t {
  Bool,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  F8E4M3FN,
  F8E5M2,
  F8E4M3,
  F8E3M4,
  F8E8M0,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  F4E2M1FN,
  BF16,
  F16,
  F32,
  F64
};

/// The storage of an element type; none if the evaluator does not know the type. 4-bit integers take a byte each.
std::optional<Storage> storageOf(mlir::Type elementType);
unsigned byteSize(Storage storage);
bool isFloat(Storage storage);

/// Conversions of the floating-point types without native arithmetic; rounding is to nearest, ties to even.
float decodeFloat(Storage storage, uint32_t bits);
uint32_t encodeFloat(Storage storage, float value);
/// `value` rounded to what `storage` can hold.
float roundTo(Storage storage, float value);

class Tensor {
public:
  Tensor() = default;

  /// New storage, row major, not initialised.
  static Tensor allocate(mlir::Type elementType, llvm::ArrayRef<int64_t> shape);
  /// A view with all strides 0 of one element, which is zero, or for floats NaN: what an unset value reads as.
  static Tensor unset(mlir::Type elementType, llvm::ArrayRef<int64_t> shape);
  /// A view with all strides 0 of one element.
  static Tensor splat(mlir::Type elementType, llvm::ArrayRef<int64_t> shape, const void *element);
  /// The values of a dense or resource attribute, not copied: they must outlive the tensor (as the context does).
  static mlir::FailureOr<Tensor> view(mlir::ElementsAttr values);
  /// A row-major view of foreign memory, kept alive by `owner` (may be null).
  static Tensor view(mlir::Type elementType, llvm::ArrayRef<int64_t> shape, std::shared_ptr<void> owner, void *data,
                     bool writable);
  /// Row-major storage holding `values`.
  template <typename T>
  static Tensor of(mlir::Type elementType, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<T> values) {
    Tensor result = allocate(elementType, shape);
    assert(result.elements() == int64_t(values.size()) && byteSize(result.storage()) == sizeof(T));
    std::copy(values.begin(), values.end(), result.data<T>());
    return result;
  }

  explicit operator bool() const { return bool(memory); }
  mlir::Type elementType() const { return type; }
  mlir::RankedTensorType tensorType() const { return mlir::RankedTensorType::get(dims, type); }
  Storage storage() const { return kind; }
  llvm::ArrayRef<int64_t> shape() const { return dims; }
  llvm::ArrayRef<int64_t> strides() const { return steps; }
  int64_t rank() const { return dims.size(); }
  int64_t elements() const;
  /// True if the elements lie row major without gaps.
  bool isDense() const;
  /// True if all elements are one element in memory.
  bool isSplat() const;
  /// Where element 0 lies. Unaligned memory is legal for weights in a model file.
  char *bytes() const { return memory.get(); }
  template <typename T> T *data() const { return reinterpret_cast<T *>(memory.get()); }

  /// The same values, row major; this tensor itself if it is dense.
  Tensor dense() const;
  /// Makes this tensor row major, writable and the only owner of its storage, copying if it is not; `keepValues` false
  /// leaves the elements undefined after a copy.
  void makeUnique(bool keepValues = true);
  /// Writes `source` (same shape and element type) into this view.
  void assign(const Tensor &source) const;

  /// A view of the same memory. `offset` in elements.
  Tensor reshaped(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides, int64_t offset = 0) const;
  /// The view `[offsets][sizes][strides]`.
  Tensor slice(llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides) const;
  /// The same elements in another shape: a view where strides allow it, else a copy.
  Tensor reshape(llvm::ArrayRef<int64_t> shape) const;
  /// The same memory in a shape that differs by unit dimensions only.
  Tensor reshapeLike(llvm::ArrayRef<int64_t> shape) const;
  /// The same bits under an element type of the same size.
  Tensor bitcast(mlir::Type elementType) const;

  /// One element, converted. `index` counts row major.
  double floatAt(int64_t index) const;
  int64_t intAt(int64_t index) const;

  /// The values as an attribute; a splat tensor becomes a splat attribute.
  mlir::DenseElementsAttr toAttr() const;

private:
  int64_t addressOf(int64_t index) const;

  mlir::Type type;
  Storage kind = Storage::F32;
  bool writable = true;
  llvm::SmallVector<int64_t, 6> dims, steps;
  std::shared_ptr<char> memory;
};

/// The values as a constant of `type` (same shape and storage); a splat becomes a splat.
mlir::ElementsAttr constantOf(mlir::RankedTensorType type, const Tensor &tensor);

/// Row-major strides of a shape.
llvm::SmallVector<int64_t, 6> denseStrides(llvm::ArrayRef<int64_t> shape);

} // namespace trn
