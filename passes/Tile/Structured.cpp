//===- Structured.cpp - what a structured operation is to the device ------===//
// Owns the rules of classification: which shapes of linalg operations are contractions, transposes, maps, reductions.
#include "passes/Tile/Structured.h"
#include "passes/Tile/Gather.h"
#include "passes/Tile/Spaces.h"

using namespace mlir;

namespace trn {

llvm::StringRef name(StructuredKind kind) {
  switch (kind) {
  case StructuredKind::Contraction:
    return "contraction";
  case StructuredKind::Transpose:
    return "transpose";
  case StructuredKind::Map:
    return "map";
  case StructuredKind::Reduction:
    return "reduction";
  case StructuredKind::Copy:
    return "copy";
  case StructuredKind::Gather:
    return "gather";
  case StructuredKind::Broadcast:
    return "broadcast";
  case StructuredKind::Fill:
    return "fill";
  case StructuredKind::Other:
    return "other";
  }
  return "other";
}

bool isIndexedBy(linalg::LinalgOp op, OpOperand *operand, unsigned iterator) {
  return op.getMatchingIndexingMap(operand).isFunctionOfDim(iterator);
}

std::optional<unsigned> iteratorOfDim(linalg::LinalgOp op, OpOperand *operand, unsigned dim) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  if (dim >= map.getNumResults())
    return std::nullopt;
  if (auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim)))
    return expr.getPosition();
  return std::nullopt;
}

/// True when the body is `acc + lhs * rhs`, up to conversions of the factors and operand order.
static bool isMultiplyAccumulate(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  if (body->getNumArguments() != 3 || yield.getNumOperands() != 1)
    return false;
  Operation *sum = yield.getOperand(0).getDefiningOp();
  if (!sum || !llvm::isa<arith::AddFOp>(sum))
    return false;
  Value accumulator = body->getArgument(2), product;
  if (sum->getOperand(0) == accumulator)
    product = sum->getOperand(1);
  else if (sum->getOperand(1) == accumulator)
    product = sum->getOperand(0);
  else
    return false;
  auto multiply = product.getDefiningOp<arith::MulFOp>();
  if (!multiply)
    return false;
  // The PE widens its operands to fp32 by itself.
  auto factor = [](Value value) {
    if (auto extend = value.getDefiningOp<arith::ExtFOp>())
      value = extend.getIn();
    return dyn_cast<BlockArgument>(value);
  };
  BlockArgument lhs = factor(multiply.getLhs()), rhs = factor(multiply.getRhs());
  return lhs && rhs && lhs != rhs && lhs.getArgNumber() < 2 && rhs.getArgNumber() < 2;
}

std::optional<ContractionRoles> contractionRoles(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 ||
      !isMultiplyAccumulate(op))
    return std::nullopt;
  OpOperand *inputs[2] = {op.getDpsInputOperand(0), op.getDpsInputOperand(1)};
  OpOperand *result = op.getDpsInitOperand(0);
  auto partition0 = iteratorOfDim(op, inputs[0], 0), partition1 = iteratorOfDim(op, inputs[1], 0);
  auto rows = iteratorOfDim(op, result, 0);
  auto iterators = op.getIteratorTypesArray();
  if (!partition0 || partition0 != partition1 || !rows || iterators[*partition0] != utils::IteratorType::reduction)
    return std::nullopt;
  ContractionRoles roles;
  roles.partition = *partition0;
  roles.rows = *rows;
  bool in0 = isIndexedBy(op, inputs[0], *rows), in1 = isIndexedBy(op, inputs[1], *rows);
  if (in0 == in1)
    return std::nullopt;
  roles.stationary = in0 ? 0 : 1;
  roles.moving = 1 - roles.stationary;
  for (unsigned i = 0, e = op.getNumLoops(); i != e; ++i) {
    if (i == roles.partition || i == roles.rows)
      continue;
    if (iterators[i] == utils::IteratorType::reduction)
      roles.reductions.push_back(i);
    else if (isIndexedBy(op, inputs[roles.stationary], i))
      roles.blocks.push_back(i);
    else
      roles.columns.push_back(i);
  }
  return roles;
}

/// True for a generic that yields its only input: data moves, nothing is computed.
static bool isPureMovement(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return false;
  Block *body = op.getBlock();
  return body->getTerminator()->getOperand(0) == body->getArgument(0);
}

/// Whether every step of the loops but that on the partitions reads another element: repeating elements, DMA would move
/// them one by one, where an engine on chip reads them with a stride of 0.
static bool repeatsOnlyPartitions(linalg::LinalgOp op) {
  OpOperand *input = op.getDpsInputOperand(0);
  auto partition = iteratorOfDim(op, op.getDpsInitOperand(0), 0);
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (range != 1 && loop != partition && !isIndexedBy(op, input, loop))
      return false;
  return true;
}

static bool touchesHbm(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value operand) { return isInHbm(operand); });
}

StructuredKind classify(Operation *op) {
  if (llvm::isa<linalg::CopyOp>(op))
    return StructuredKind::Copy;
  // In and out of HBM, DMA moves in any order.
  if (llvm::isa<linalg::TransposeOp>(op) && touchesHbm(op))
    return StructuredKind::Copy;
  if (llvm::isa<linalg::FillOp>(op))
    return StructuredKind::Fill;
  if (llvm::isa<linalg::BroadcastOp>(op))
    return StructuredKind::Broadcast;
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return transpose.getPermutation().front() != 0 ? StructuredKind::Transpose : StructuredKind::Other;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return StructuredKind::Other;
  if (rowGather(structured))
    return StructuredKind::Gather;
  if (contractionRoles(structured))
    return StructuredKind::Contraction;
  if (structured.getNumReductionLoops() == 0)
    return touchesHbm(op) && isPureMovement(structured) && repeatsOnlyPartitions(structured) ? StructuredKind::Copy
                                                                                             : StructuredKind::Map;
  if (structured.getNumDpsInits() == 1) {
    auto rows = iteratorOfDim(structured, structured.getDpsInitOperand(0), 0);
    if (rows && structured.getIteratorTypesArray()[*rows] == utils::IteratorType::parallel)
      return StructuredKind::Reduction;
  }
  return StructuredKind::Other;
}

bool isWrittenByPE(Operation *op) {
  StructuredKind kind = classify(op);
  return kind == StructuredKind::Contraction || kind == StructuredKind::Transpose;
}

bool isIdentityCopy(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return false;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  return yield.getOperand(0) == op.getBody()->getArgument(0) && op.getIndexingMapsArray()[0].isIdentity() &&
         op.getIndexingMapsArray()[1].isIdentity();
}

int64_t elementSizeInBytes(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); }

bool readsBackwards(linalg::LinalgOp op) {
  return llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return llvm::any_of(map.getResults(), [](AffineExpr result) {
      return result
          .walk([](AffineExpr part) {
            auto product = dyn_cast<AffineBinaryOpExpr>(part);
            auto factor = product && product.getKind() == AffineExprKind::Mul
                              ? dyn_cast<AffineConstantExpr>(product.getRHS())
                              : AffineConstantExpr();
            return factor && factor.getValue() < 0 ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
    });
  });
}

int64_t freeElements(ShapedType type) {
  int64_t elements = 1;
  for (int64_t size : type.getShape().drop_front(std::min<size_t>(1, type.getRank())))
    elements *= size;
  return elements;
}

int64_t freeBytes(ShapedType type) { return freeElements(type) * elementSizeInBytes(type.getElementType()); }

} // namespace trn
