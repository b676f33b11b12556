//===- Constant.h - reading and making constant tensors -------------------===//
//
// Owns the one way in which constants are read and made. Elements are little endian and row-major, one byte per bool,
// and may lie unaligned in a mapped file. A splat is stored as one element, whatever its shape. Types of less
// than a byte take one, with the sign extended.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <memory>
#include <optional>
#include <vector>

namespace trn {

/// Bytes that one element takes in a constant: 1 for types of less than a byte, 0 for a type that constants cannot have.
unsigned elementBytes(mlir::Type element);

/// A view of the elements of a constant.
class Constant {
public:
  /// The view of an attribute; none when it holds no readable elements (an elided resource, strings).
  static std::optional<Constant> get(mlir::ElementsAttr attribute);
  /// The view of the `onnx.weight` that defines `value`, none when something else does.
  static std::optional<Constant> get(mlir::Value value);

  mlir::ElementsAttr attribute() const { return elements; }
  mlir::RankedTensorType type() const;
  mlir::Type elementType() const { return element; }
  int64_t size() const { return count; }
  bool isSplat() const { return splat; }
  /// All elements, or the single one of a splat.
  llvm::ArrayRef<char> bytes() const { return data; }

  /// Element `i` as a number. Unsigned 64-bit values come back as their bit pattern.
  int64_t integer(int64_t i) const;
  double real(int64_t i) const;

private:
  mlir::ElementsAttr elements;
  mlir::Type element; // kept: folding asks for it once per element
  unsigned width = 0; // elementBytes(element)
  bool isF32 = false;
  llvm::ArrayRef<char> data;
  std::shared_ptr<std::vector<char>> unpacked; // owns `data` when the attribute packs bits
  int64_t count = 0;
  bool splat = false;
};

/// One element of a type, read from or written to memory of `elementBytes` bytes.
int64_t readInteger(mlir::Type element, const char *from);
double readReal(mlir::Type element, const char *from);
void writeInteger(mlir::Type element, int64_t value, char *to);
/// Rounds to nearest even; narrow floats saturate only where the type has no infinity.
void writeReal(mlir::Type element, double value, char *to);

/// Constants of at most this many bytes live in the IR as `dense`; printing and hashing them costs nothing.
constexpr size_t kInlineBytes = 1024;

/// Makes a constant of `bytes` (all elements, or one for a splat): small ones become `dense`, others a resource that
/// owns the bytes. Equal elements are recognised as a splat.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, std::vector<char> bytes, llvm::StringRef name = "folded");
/// A constant whose bytes stay where they are; `owner` keeps them alive.
mlir::ElementsAttr makeMappedConstant(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                                      std::shared_ptr<const void> owner, llvm::StringRef name);
mlir::ElementsAttr makeIntegers(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> values);
/// The same elements under another shape of as many elements; a resource is shared.
mlir::ElementsAttr reshapeConstant(mlir::ElementsAttr attribute, llvm::ArrayRef<int64_t> shape);

} // namespace trn
