//===- Structure.cpp - what a structured operation of stage tensor is ------===//
// Implements Structure.h.
#include "passes/Tile/Structure.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace trn {

/// Whether `op` only converts the elements of its input, one to one and in place.
static bool isElementCast(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumLoops() != op.getNumParallelLoops() || op->getNumResults() != 1 ||
      !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return false;
  Operation *cast = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  return cast && llvm::isa<arith::TruncFOp, arith::ExtFOp>(cast) &&
         cast->getOperand(0) == op.getBlock()->getArgument(0);
}

/// Whether `pad` adds zeros at the high ends only.
static bool addsZerosBehind(tensor::PadOp pad) {
  Value padding = pad.getConstantPaddingValue();
  Attribute value;
  if (!padding || !matchPattern(padding, m_Constant(&value)) || pad.hasZeroLowPad() == false)
    return false;
  auto number = dyn_cast<FloatAttr>(value);
  return number && number.getValue().isPosZero();
}

std::optional<ConstantTensor> constantTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *producer = value.getDefiningOp();
  if (!type || !type.hasStaticShape() || !producer)
    return std::nullopt;
  ElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return ConstantTensor{elements, WeightTransforms(elements.getShapedType())};

  auto transpose = dyn_cast<linalg::TransposeOp>(producer);
  auto slice = dyn_cast<tensor::ExtractSliceOp>(producer);
  auto generic = dyn_cast<linalg::GenericOp>(producer);
  auto pad = dyn_cast<tensor::PadOp>(producer);
  bool reshapes = llvm::isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(producer);
  if (pad && !addsZerosBehind(pad))
    return std::nullopt;
  if (!transpose && !slice && !reshapes && !pad && !(generic && isElementCast(generic)))
    return std::nullopt;
  std::optional<ConstantTensor> source = constantTensor(producer->getOperand(0));
  if (!source)
    return std::nullopt;
  LogicalResult applied = success();
  if (transpose)
    applied = source->transforms.transpose(transpose.getPermutation());
  else if (slice && !llvm::is_contained(slice.getStaticOffsets(), ShapedType::kDynamic))
    applied = source->transforms.slice(slice.getStaticOffsets(), slice.getStaticSizes(), slice.getStaticStrides());
  else if (generic)
    applied = source->transforms.cast(type.getElementType());
  else if (pad)
    applied = source->transforms.pad(pad.getStaticHigh());
  else if (slice)
    return std::nullopt;
  // Reshapes, and the dimensions that a slice drops.
  if (succeeded(applied) && source->transforms.shape() != type.getShape())
    applied = source->transforms.reshape(type.getShape());
  return succeeded(applied) ? source : std::nullopt;
}

bool isShapeOnly(linalg::LinalgOp op, unsigned index) {
  return index < op.getNumDpsInputs() && op->getOperand(index).getDefiningOp<tensor::EmptyOp>() &&
         op.getBlock()->getArgument(index).use_empty();
}

SmallVector<OpOperand *> gatheredTables(linalg::LinalgOp op) {
  SmallVector<OpOperand *> tables;
  for (Operation &nested : *op.getBlock())
    if (auto extract = dyn_cast<tensor::ExtractOp>(nested))
      tables.push_back(&extract.getTensorMutable());
  return tables;
}

TypedAttr scalarConstant(Value value) {
  Type type = value.getType();
  if (auto cast = value.getDefiningOp<UnrealizedConversionCastOp>(); cast && cast.getNumOperands() == 1)
    value = cast.getOperand(0);
  TypedAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return nullptr;
  if (auto integer = dyn_cast<IntegerAttr>(constant); integer && integer.getType() != type)
    return type.isInteger(integer.getValue().getBitWidth()) ? IntegerAttr::get(type, integer.getValue()) : nullptr;
  return constant;
}

Value materializeScalar(OpBuilder &builder, Location loc, TypedAttr value) {
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || !integer.getType().isUnsignedInteger())
    return arith::ConstantOp::create(builder, loc, value);
  Type signless = builder.getIntegerType(integer.getValue().getBitWidth());
  Value constant = arith::ConstantOp::create(builder, loc, IntegerAttr::get(signless, integer.getValue()));
  return UnrealizedConversionCastOp::create(builder, loc, value.getType(), constant).getResult(0);
}

TypedAttr splatOf(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return scalarConstant(fill.getInputs()[0]);
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<TypedAttr>();
  return nullptr;
}

/// Whether `expr` is a constant, a dimension, a multiple of one, or a sum of those.
static bool isSumOfDims(AffineExpr expr) {
  if (llvm::isa<AffineConstantExpr, AffineDimExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return isSumOfDims(binary.getLHS()) && isSumOfDims(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && llvm::isa<AffineConstantExpr>(binary.getRHS()) &&
         isSumOfDims(binary.getLHS());
}

/// Looks through one widening conversion.
static Value throughWidening(Value value) {
  if (Operation *producer = value.getDefiningOp())
    if (llvm::isa<arith::ExtFOp>(producer))
      return producer->getOperand(0);
  return value;
}

/// Whether the body is `out + in0 * in1` of floats, which the PE computes, each input possibly widened first. Sums of products
/// of integers are reductions, which are exact.
static bool isMultiplyAdd(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  if (op.getNumDpsInputs() != 2 || body->getNumArguments() != 3)
    return false;
  Value out = body->getArgument(2);
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!llvm::isa_and_nonnull<arith::AddFOp>(add))
    return false;
  Value product = add->getOperand(0) == out ? add->getOperand(1) : add->getOperand(0);
  if (add->getOperand(0) != out && add->getOperand(1) != out)
    return false;
  Operation *multiply = product.getDefiningOp();
  if (!llvm::isa_and_nonnull<arith::MulFOp>(multiply))
    return false;
  Value lhs = throughWidening(multiply->getOperand(0)), rhs = throughWidening(multiply->getOperand(1));
  Value a = body->getArgument(0), b = body->getArgument(1);
  return (lhs == a && rhs == b) || (lhs == b && rhs == a);
}

std::optional<Structure> Structure::get(linalg::LinalgOp op, std::string *reason) {
  auto refuse = [&](StringRef why) {
    if (reason)
      *reason = why.str();
    return std::nullopt;
  };
  if (op->getNumResults() != 1)
    return refuse("expected one result");
  Structure structure;
  structure.op = op;
  structure.types = op.getIteratorTypesArray();
  structure.extents = op.getStaticLoopRanges();
  if (llvm::any_of(structure.extents, ShapedType::isDynamic))
    return refuse("expected static shapes");

  MLIRContext *context = op->getContext();
  SmallVector<AffineExpr> replacements;
  for (auto [iterator, extent] : llvm::enumerate(structure.extents))
    replacements.push_back(extent == 1 ? getAffineConstantExpr(0, context) : getAffineDimExpr(iterator, context));
  for (AffineMap map : op.getIndexingMapsArray()) {
    if (!llvm::all_of(map.getResults(), isSumOfDims))
      return refuse("expected indexing maps of dimensions and sums of dimensions");
    structure.maps.push_back(
        simplifyAffineMap(map.replaceDimsAndSymbols(replacements, {}, structure.extents.size(), 0)));
  }

  bool reduces = llvm::any_of(structure.iterators(), [&](int64_t i) { return structure.isReduction(i); });
  bool accumulates = op.getNumReductionLoops() > 0;
  structure.kind = accumulates && isMultiplyAdd(op) ? Kind::Contraction : reduces ? Kind::Reduction : Kind::Map;
  if (accumulates || !op.getBlock()->getArguments().back().use_empty()) {
    structure.init = splatOf(op.getDpsInits()[0]);
    if (!structure.init)
      return refuse("expected a reduction that starts from a constant");
  }
  return structure;
}

bool Structure::isReduction(int64_t iterator) const { return types[iterator] == utils::IteratorType::reduction; }

SmallVector<int64_t> Structure::iterators() const {
  SmallVector<int64_t> result;
  for (auto [iterator, extent] : llvm::enumerate(extents))
    if (extent > 1)
      result.push_back(iterator);
  return result;
}

std::optional<int64_t> dimAlong(AffineMap map, int64_t iterator) {
  std::optional<int64_t> found;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(iterator))
      continue;
    if (found || !llvm::isa<AffineDimExpr>(expr))
      return std::nullopt;
    found = dim;
  }
  return found;
}

std::optional<int64_t> Structure::dimOf(unsigned operand, int64_t iterator) const {
  return dimAlong(maps[operand], iterator);
}

ArrayRef<int64_t> Structure::shapeOf(unsigned operand) const {
  return cast<RankedTensorType>(op->getOperand(operand).getType()).getShape();
}

Type Structure::elementTypeOf(unsigned operand) const {
  return cast<RankedTensorType>(op->getOperand(operand).getType()).getElementType();
}

} // namespace trn
