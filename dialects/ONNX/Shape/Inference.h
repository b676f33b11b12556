//===- Inference.h - normalised attributes and result types ---------------===//
//
// Owns the interface between an operation and its record's shape rule. A rule reads the operation, proposes normalised
// attributes and gives the type of every result; it changes nothing itself, so that the verifier can run it too.
// Unknown sizes stay dynamic and unknown ranks unranked; a rule fails only when the operation is wrong whatever the
// unknowns turn out to be.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace trn::onnx {

/// Sizes of a tensor; kDynamic where unknown.
using Sizes = llvm::SmallVector<int64_t, 6>;

/// One run of a shape rule on one operation.
class Inference {
public:
  explicit Inference(mlir::Operation *op);

  mlir::Operation *operation() const { return op; }

  /// Runs the record's rule. On failure `message()` says why.
  mlir::LogicalResult run();
  /// Writes the normalised attributes and the result types into the operation; true when something changed.
  bool commit();

  // What rules call.
  /// The operand's sizes, none when unranked.
  std::optional<Sizes> sizes(mlir::Value value) const;
  mlir::Type element(mlir::Value value) const;
  /// Gives a result its type; an absent optional result (a null value) is skipped. Sizes absent: unranked.
  mlir::LogicalResult result(mlir::Value value, mlir::Type element, std::optional<Sizes> sizes);
  /// Gives a result any type.
  void result(mlir::Value value, mlir::Type type);
  void set(llvm::StringRef name, mlir::Attribute value);
  void set(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  void set(llvm::StringRef name, int64_t value);
  void remove(llvm::StringRef name) { set(name, mlir::Attribute()); }
  mlir::LogicalResult fail(const llvm::Twine &text);

  /// `axis` brought into [0, rank); fails when it is outside.
  mlir::FailureOr<int64_t> axis(int64_t axis, int64_t rank);
  /// The same, written back as the attribute "axis".
  mlir::FailureOr<int64_t> setAxis(int64_t axis, int64_t rank);
  /// A list of axes, brought into range, without duplicates; sorted when `sort`.
  mlir::FailureOr<Sizes> axes(llvm::ArrayRef<int64_t> axes, int64_t rank, bool sort);
  /// Fails unless the two have the same element type.
  mlir::LogicalResult sameElement(mlir::Value a, mlir::Value b);

  const std::string &message() const { return text; }
  llvm::ArrayRef<mlir::Type> types() const { return resultTypes; }

private:
  mlir::Operation *op;
  llvm::SmallVector<mlir::Type> resultTypes;
  llvm::SmallVector<std::pair<mlir::StringAttr, mlir::Attribute>> updates;
  std::string text;
};

/// Numpy broadcasting of two shapes; fails on sizes that cannot match.
mlir::FailureOr<Sizes> broadcastSizes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// "2x?x3" for messages.
std::string printSizes(llvm::ArrayRef<int64_t> sizes);

constexpr int64_t kDynamic = mlir::ShapedType::kDynamic;
inline bool isStatic(int64_t size) { return size != kDynamic; }
bool allStatic(llvm::ArrayRef<int64_t> sizes);
/// The product of static sizes; none on overflow or when a size is dynamic.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> sizes);

namespace shape {
#define ONNX_SHAPE_RULE(name) mlir::LogicalResult name(Inference &in);
#include "dialects/ONNX/ShapeRules.inc"
#undef ONNX_SHAPE_RULE
} // namespace shape

} // namespace trn::onnx
