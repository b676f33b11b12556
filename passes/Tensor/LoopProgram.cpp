//===- LoopProgram.cpp - structured operations as programs of library_loops ===//
#include "passes/Tensor/LoopProgram.h"
#include "compiler/Reference/ScalarFunctions.h"
#include "dialects/Trn/ISA/LoopNest.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace trn {

namespace {

/// Operands of library_loops besides dst.
unsigned maxSources() { return isa::info(isa::Opcode::LibraryLoops).operands.size() - 1; }

std::optional<isa::DType> scalarType(Type type) {
  return type.isIndex() ? isa::DType::I64 : ir::dtypeOf(type);
}

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Adds `factor` times `expr` to the coefficients of a region; false if it is not a sum of multiples of dimensions.
bool addExpr(AffineExpr expr, int64_t factor, LoopRegion &region) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    region.offset += factor * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    region.strides[dim.getPosition()] += factor;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addExpr(binary.getLHS(), factor, region) && addExpr(binary.getRHS(), factor, region);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && constant &&
         addExpr(binary.getLHS(), factor * constant.getValue(), region);
}

/// The numbers of a call while they are collected.
struct Call {
  SmallVector<Value> sources;
  int32_t startsFrom = -1;
  SmallVector<int64_t> bounds;
  SmallVector<LoopRegion> regions; ///< dst, then the sources
  SmallVector<int32_t> steps;
  int32_t stored = 0;
};

/// 32 bits hold all positions in a tensor that the kernel counts.
bool fits(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

/// Tensors of rank 0 have one dimension in a call.
Value raised(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() > 0)
    return tensor;
  return tensor::ExpandShapeOp::create(builder, loc, RankedTensorType::get({1}, type.getElementType()), tensor,
                                       ArrayRef<ReassociationIndices>());
}

Value emit(OpBuilder &builder, Location loc, RankedTensorType type, const Call &call, std::string &reason) {
  SmallVector<int32_t> bounds, offsets, strides, program{call.stored};
  bool ok = true;
  auto number = [&](int64_t value) {
    ok &= fits(value);
    return static_cast<int32_t>(value);
  };
  for (int64_t bound : call.bounds)
    bounds.push_back(number(bound));
  for (const LoopRegion &region : call.regions) {
    offsets.push_back(number(region.offset));
    for (int64_t stride : region.strides)
      strides.push_back(number(stride));
  }
  llvm::append_range(program, call.steps);
  if (!ok || call.bounds.size() > isa::kMaxLoops || call.steps.size() > isa::kLoopStepWords * isa::kMaxLoopSteps) {
    reason = "a library kernel takes positions of 32 bits, at most " + std::to_string(isa::kMaxLoops) + " loops and " +
             std::to_string(isa::kMaxLoopSteps) + " scalar operations";
    return nullptr;
  }
  SmallVector<Value> sources;
  for (Value source : call.sources)
    sources.push_back(raised(builder, loc, source));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getRank() ? type.getShape() : ArrayRef<int64_t>{1},
                                        type.getElementType());
  SmallVector<NamedAttribute> parameters{
      builder.getNamedAttr("bounds", builder.getDenseI32ArrayAttr(bounds)),
      builder.getNamedAttr("offsets", builder.getDenseI32ArrayAttr(offsets)),
      builder.getNamedAttr("program", builder.getDenseI32ArrayAttr(program)),
      builder.getNamedAttr("starts_from", builder.getI32IntegerAttr(call.startsFrom)),
      builder.getNamedAttr("strides", builder.getDenseI32ArrayAttr(strides))};
  auto kernel = ir::KernelOp::create(builder, loc, TypeRange(empty.getType()), builder.getStringAttr("library_loops"),
                                     sources, ValueRange(empty), builder.getDictionaryAttr(parameters));
  Value result = kernel.getResult(0);
  if (type.getRank() > 0)
    return result;
  return tensor::CollapseShapeOp::create(builder, loc, type, result, ArrayRef<ReassociationIndices>());
}

/// The body of a structured operation as steps.
class BodyCompiler {
public:
  BodyCompiler(Call &call, ArrayRef<unsigned> loopOf, std::string &reason)
      : call(call), loopOf(loopOf), reason(reason) {}

  /// Makes `value` the number of a source or of dst's element.
  void bind(Value value, int32_t number) { numbers[value] = number; }

  /// Stores the constant `attr`; the whole program of a fill.
  bool storeConstant(TypedAttr attr) {
    next = static_cast<int32_t>(call.sources.size()) + 1;
    std::optional<int32_t> number = constantOf(attr, attr.getType());
    if (number)
      call.stored = *number;
    return number.has_value();
  }

  /// `scalars`: block arguments that are values from outside.
  bool compile(Block &block, Value yielded, ArrayRef<std::pair<Value, Value>> scalars) {
    next = static_cast<int32_t>(call.sources.size()) + 1;
    for (auto [argument, value] : scalars) {
      std::optional<int32_t> number = use(value);
      if (!number)
        return false;
      numbers[argument] = *number;
    }
    for (Operation &op : block.without_terminator())
      if (!compile(&op))
        return false;
    std::optional<int32_t> result = use(yielded);
    if (result)
      call.stored = *result;
    return result.has_value();
  }

private:
  bool refuse(const Twine &why) {
    if (reason.empty())
      reason = why.str();
    return false;
  }

  int32_t step(int32_t code, isa::DType from, isa::DType to, int32_t a = 0, int32_t b = 0, int32_t c = 0,
               uint32_t predicate = 0) {
    call.steps.append({code, static_cast<int32_t>(unsigned(from) | unsigned(to) << 8 | predicate << 16), a, b, c});
    return next++;
  }

  int32_t constant(uint64_t bits, isa::DType type) {
    return step(isa::kLoopConstant, type, type, static_cast<int32_t>(bits), static_cast<int32_t>(bits >> 32));
  }
  int32_t integer(int64_t value) { return constant(static_cast<uint64_t>(value), isa::DType::I64); }

  std::optional<int32_t> use(Value value) {
    if (auto found = numbers.find(value); found != numbers.end())
      return found->second;
    TypedAttr attr;
    auto cast = value.getDefiningOp<UnrealizedConversionCastOp>();
    if (!matchPattern(cast ? cast.getOperand(0) : value, m_Constant(&attr))) {
      refuse("a library kernel's program takes no values from outside but constants");
      return std::nullopt;
    }
    std::optional<int32_t> number = constantOf(attr, value.getType());
    if (number)
      numbers[value] = *number;
    return number;
  }

  /// A constant attribute as a value of `type`, which may be the unsigned one of its width.
  std::optional<int32_t> constantOf(TypedAttr attr, Type type) {
    std::optional<isa::DType> lane = typeOf(type);
    if (!lane)
      return std::nullopt;
    if (auto real = dyn_cast<FloatAttr>(attr))
      return constant(llvm::bit_cast<uint64_t>(real.getValueAsDouble()), *lane);
    auto integer = dyn_cast<IntegerAttr>(attr);
    if (!integer) {
      refuse("a library kernel's program takes no constants but numbers");
      return std::nullopt;
    }
    APInt number = integer.getValue();
    bool zeroExtended = type.isInteger(1) || type.isUnsignedInteger();
    return constant(zeroExtended ? number.getZExtValue() : static_cast<uint64_t>(number.getSExtValue()), *lane);
  }

  /// The type of a value of the program; none with a reason.
  std::optional<isa::DType> typeOf(Type type) {
    std::optional<isa::DType> lane = scalarType(type);
    if (!lane) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      refuse("a library kernel's program has no values of type " + text);
    }
    return lane;
  }

  int32_t combine(isa::ScalarFunction function, int32_t a, int32_t b) {
    return step(isa::kFirstLoopFunction + int32_t(function), isa::DType::I64, isa::DType::I64, a, b);
  }

  /// An affine expression of values.
  std::optional<int32_t> affine(AffineExpr expr, ArrayRef<int32_t> dims) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return integer(number.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dims[dim.getPosition()];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return dims[numDims + symbol.getPosition()];
    auto binary = cast<AffineBinaryOpExpr>(expr);
    std::optional<int32_t> lhs = affine(binary.getLHS(), dims), rhs = affine(binary.getRHS(), dims);
    if (!lhs || !rhs)
      return std::nullopt;
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return combine(isa::ScalarFunction::addi, *lhs, *rhs);
    case AffineExprKind::Mul:
      return combine(isa::ScalarFunction::muli, *lhs, *rhs);
    case AffineExprKind::FloorDiv:
      return combine(isa::ScalarFunction::floordivsi, *lhs, *rhs);
    case AffineExprKind::CeilDiv:
      return combine(isa::ScalarFunction::ceildivsi, *lhs, *rhs);
    default:
      return combine(isa::ScalarFunction::floormodsi, *lhs, *rhs);
    }
  }

  /// An element of a table by its index in each dimension.
  std::optional<int32_t> gather(tensor::ExtractOp extract) {
    auto *source = llvm::find(call.sources, extract.getTensor());
    SmallVector<int64_t> strides = computeSuffixProduct(shapeOf(extract.getTensor()));
    int32_t position = integer(0);
    for (auto [index, stride] : llvm::zip_equal(extract.getIndices(), strides)) {
      std::optional<int32_t> at = use(index);
      if (!at)
        return std::nullopt;
      position = combine(isa::ScalarFunction::addi, position,
                         combine(isa::ScalarFunction::muli, *at, integer(stride)));
    }
    std::optional<isa::DType> type = typeOf(extract.getType());
    if (!type)
      return std::nullopt;
    return step(isa::kLoopGather, isa::DType::I64, *type, int32_t(source - call.sources.begin()), position);
  }

  bool define(Operation *op, std::optional<int32_t> number) {
    if (number)
      numbers[op->getResult(0)] = *number;
    return number.has_value();
  }

  bool compile(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      return true; // made where it is used
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      unsigned loop = loopOf[index.getDim()];
      return define(op, loop == ~0u ? integer(0)
                                    : step(isa::kLoopIndex, isa::DType::I64, isa::DType::I64, int32_t(loop)));
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      return define(op, gather(extract));
    SmallVector<int32_t, 3> operands;
    for (Value operand : op->getOperands()) {
      std::optional<int32_t> number = use(operand);
      if (!number)
        return false;
      operands.push_back(*number);
    }
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
      numDims = apply.getAffineMap().getNumDims();
      return define(op, affine(apply.getAffineMap().getResult(0), operands));
    }
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 || operands.empty())
      return refuse("'" + op->getName().getStringRef() + "' is no scalar operation");
    std::optional<isa::DType> operand = typeOf(op->getOperand(0).getType()), result = typeOf(op->getResult(0).getType());
    if (!operand || !result)
      return false;
    isa::DType from = *operand, to = *result;
    operands.resize(3, 0);
    if (auto compare = dyn_cast<arith::CmpFOp>(op))
      return define(op, step(isa::kLoopCompareReal, from, to, operands[0], operands[1], 0,
                             unsigned(compare.getPredicate())));
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return define(op, step(isa::kLoopCompareInt, from, to, operands[0], operands[1], 0,
                             unsigned(compare.getPredicate())));
    if (llvm::isa<arith::SelectOp>(op))
      return define(op, step(isa::kLoopSelect, from, to, operands[0], operands[1], operands[2]));
    // Between an unsigned type and the signless type of its width: extended anew.
    if (llvm::isa<UnrealizedConversionCastOp>(op) && isa::isInteger(from) && isa::isInteger(to)) {
      auto function = op->getResult(0).getType().isUnsignedInteger() ? isa::ScalarFunction::extui
                                                                     : isa::ScalarFunction::trunci;
      return define(op, step(isa::kFirstLoopFunction + int32_t(function), from, to, operands[0]));
    }
    if (std::optional<ScalarFunction> function = scalarFunctionOf(op))
      return define(op, step(isa::kFirstLoopFunction + int32_t(*function), from, to, operands[0], operands[1],
                             operands[2]));
    return refuse("'" + op->getName().getStringRef() + "' is unknown to library kernels");
  }

  Call &call;
  ArrayRef<unsigned> loopOf;
  std::string &reason;
  DenseMap<Value, int32_t> numbers;
  int32_t next = 0;
  unsigned numDims = 0;
};

/// Whether all elements of `value` are zero bytes, as an output of the kernel is before it starts.
bool isZeros(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return false;
  Value scalar = fill.getInputs()[0];
  if (auto cast = scalar.getDefiningOp<UnrealizedConversionCastOp>())
    scalar = cast.getOperand(0);
  return matchPattern(scalar, m_Zero()) || matchPattern(scalar, m_PosZeroFloat());
}

/// The iterators in the order of the loops. A parallel one that the result has goes innermost, where steps are
/// independent of each other; reductions keep their order among themselves, and so each element the order of its terms.
SmallVector<unsigned> loopOrder(linalg::LinalgOp op, ArrayRef<int64_t> ranges, const LoopRegion &result) {
  SmallVector<unsigned> order;
  int64_t inner = -1;
  auto types = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < ranges.size(); ++loop)
    if (types[loop] == utils::IteratorType::parallel && ranges[loop] > 1 && result.strides[loop] != 0)
      inner = loop;
  for (unsigned loop = 0; loop < ranges.size(); ++loop)
    if (loop != inner && ranges[loop] > 1)
      order.push_back(loop);
  if (inner >= 0)
    order.push_back(inner);
  return order;
}

} // namespace

Value callLoops(OpBuilder &builder, linalg::LinalgOp op, std::string &reason) {
  if (op->getNumResults() != 1 || op.getNumDpsInits() != 1) {
    reason = "a library kernel's loops have one result";
    return nullptr;
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto regionOf = [&](OpOperand *operand) -> std::optional<LoopRegion> {
    LoopRegion region;
    region.strides.assign(ranges.size(), 0);
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (auto [expr, stride] : llvm::zip_equal(map.getResults(), computeSuffixProduct(shapeOf(operand->get()))))
      if (!addExpr(expr, stride, region)) {
        reason = "a library kernel's positions are sums of multiples of iterators";
        return std::nullopt;
      }
    return region;
  };
  Call call;
  OpOperand *init = op.getDpsInitOperand(0);
  Block *body = op.getBlock();
  BlockArgument element = body->getArgument(init->getOperandNumber());
  SmallVector<LoopRegion> regions;
  std::optional<LoopRegion> result = regionOf(init);
  if (!result)
    return nullptr;
  regions.push_back(*result);
  SmallVector<std::pair<Value, int32_t>> arguments;
  SmallVector<std::pair<Value, Value>> scalars;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = body->getArgument(input->getOperandNumber());
    if (!llvm::isa<RankedTensorType>(input->get().getType())) {
      scalars.push_back({argument, input->get()});
      continue;
    }
    if (argument.use_empty())
      continue;
    std::optional<LoopRegion> region = regionOf(input);
    if (!region)
      return nullptr;
    arguments.push_back({argument, int32_t(call.sources.size())});
    call.sources.push_back(input->get());
    regions.push_back(*region);
  }
  LoopRegion table;
  table.strides.assign(ranges.size(), 0);
  body->walk([&](tensor::ExtractOp extract) {
    if (llvm::is_contained(call.sources, extract.getTensor()))
      return;
    call.sources.push_back(extract.getTensor());
    regions.push_back(table);
  });
  // Elements that no step writes, or whose first step reads them, are those of the init.
  bool covers = llvm::all_of(op.getMatchingIndexingMap(init).getResults(), llvm::IsaPred<AffineDimExpr>) &&
                op.getMatchingIndexingMap(init).isProjectedPermutation();
  if ((!element.use_empty() || !covers) && !isZeros(init->get())) {
    call.startsFrom = int32_t(call.sources.size());
    call.sources.push_back(init->get());
    regions.push_back(table);
  }
  if (call.sources.size() > maxSources()) {
    reason = "a library kernel takes at most " + std::to_string(maxSources()) + " operands, but the operation has " +
             std::to_string(call.sources.size());
    return nullptr;
  }
  SmallVector<unsigned> order = loopOrder(op, ranges, *result), loopOf(ranges.size(), ~0u);
  for (auto [loop, iterator] : llvm::enumerate(order)) {
    loopOf[iterator] = loop;
    call.bounds.push_back(ranges[iterator]);
  }
  for (const LoopRegion &region : regions) {
    LoopRegion ordered{region.offset, {}};
    for (unsigned iterator : order)
      ordered.strides.push_back(region.strides[iterator]);
    call.regions.push_back(ordered);
  }
  BodyCompiler compiler(call, loopOf, reason);
  for (auto [argument, number] : arguments)
    compiler.bind(argument, number);
  compiler.bind(element, int32_t(call.sources.size()));
  if (!compiler.compile(*body, body->getTerminator()->getOperand(0), scalars))
    return nullptr;
  return emit(builder, op.getLoc(), type, call, reason);
}

Value callCopy(OpBuilder &builder, Location loc, RankedTensorType type, Value start, Value source,
               ArrayRef<int64_t> bounds, const LoopRegion &from, const LoopRegion &to, std::string &reason) {
  Call call;
  call.sources.push_back(source);
  call.regions = {to, from};
  call.bounds.assign(bounds.begin(), bounds.end());
  if (start) {
    call.startsFrom = 1;
    call.sources.push_back(start);
    call.regions.push_back({0, SmallVector<int64_t>(bounds.size(), 0)});
  }
  return emit(builder, loc, type, call, reason);
}

Value callFill(OpBuilder &builder, Location loc, RankedTensorType type, TypedAttr value, std::string &reason) {
  Call call;
  call.bounds = {type.getNumElements()};
  call.regions = {{0, {1}}};
  BodyCompiler compiler(call, {}, reason);
  return compiler.storeConstant(value) ? emit(builder, loc, type, call, reason) : nullptr;
}

} // namespace trn
