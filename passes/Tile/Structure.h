//===- Structure.h - what a structured operation of stage tensor is --------===//
// Owns the classification of linalg operations before layout: iterators, which operand dimension an iterator indexes,
// whether the operation is a contraction (multiply and add), a reduction or a map. Read-only. An operation whose maps
// are not dimensions or sums of dimensions, or which has several results, is refused by `get`, with the reason.
#pragma once
#include "compiler/Weights/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineMap.h"
#include <optional>

namespace trn {

/// Iterators and maps of one linalg operation with iterators of one step removed from the maps.
class Structure {
public:
  enum class Kind : uint8_t { Map, Reduction, Contraction };

  /// Analyses `op`; on refusal returns nothing and writes the reason.
  static std::optional<Structure> get(mlir::linalg::LinalgOp op, std::string *reason = nullptr);

  mlir::linalg::LinalgOp op;
  Kind kind;
  llvm::SmallVector<mlir::utils::IteratorType> types;
  /// Steps of each iterator.
  llvm::SmallVector<int64_t> extents;
  /// Indexing maps, inputs first, then the result; iterators of one step are the constant 0 in them.
  llvm::SmallVector<mlir::AffineMap> maps;
  /// Reductions and contractions: what the result is filled with before the first step, if it is a constant.
  mlir::TypedAttr init;

  unsigned numInputs() const { return maps.size() - 1; }
  unsigned resultIndex() const { return maps.size() - 1; }
  bool isReduction(int64_t iterator) const;
  /// Iterators with more than one step.
  llvm::SmallVector<int64_t> iterators() const;
  /// Whether `operand` is indexed by `iterator` at all.
  bool uses(unsigned operand, int64_t iterator) const { return maps[operand].isFunctionOfDim(iterator); }
  /// The dimension of `operand` that `iterator` alone indexes, if the iterator appears nowhere else in its map.
  std::optional<int64_t> dimOf(unsigned operand, int64_t iterator) const;
  llvm::ArrayRef<int64_t> shapeOf(unsigned operand) const;
  mlir::Type elementTypeOf(unsigned operand) const;
  mlir::Block *body() const { return mlir::linalg::LinalgOp(op).getBlock(); }
  mlir::Value valueOf(unsigned operand) const { return op->getOperand(operand); }
};

/// A constant and what was done to it by reshapes, transposes, slices, casts and zeros behind it: still a constant.
struct ConstantTensor {
  mlir::ElementsAttr value;
  WeightTransforms transforms;
};

/// The constant that `value` is, if it is one (a weight): it can be given any layout for free while compiling.
std::optional<ConstantTensor> constantTensor(mlir::Value value);
inline bool isConstantTensor(mlir::Value value) { return constantTensor(value).has_value(); }

/// Whether input `index` of `op` only gives the extents of a window: an empty tensor that the body does not read.
bool isShapeOnly(mlir::linalg::LinalgOp op, unsigned index);

/// The tensors that the body of `op` extracts single elements from, as operands of those extractions.
llvm::SmallVector<mlir::OpOperand *> gatheredTables(mlir::linalg::LinalgOp op);

/// The constant that `value` is, in its own type: unsigned ones are signless constants behind a cast.
mlir::TypedAttr scalarConstant(mlir::Value value);

/// A value that is the constant: what `scalarConstant` reads back.
mlir::Value materializeScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::TypedAttr value);

/// The scalar constant with which `value` is filled (a linalg.fill or a splat), if it is.
mlir::TypedAttr splatOf(mlir::Value value);

/// The result of `map` that `iterator` alone makes, if the iterator appears in no other result.
std::optional<int64_t> dimAlong(mlir::AffineMap map, int64_t iterator);

} // namespace trn
