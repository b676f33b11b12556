//===- AccumulateAddends.cpp - sums of tensors that PE makes ----------------===//
// Owns tile-accumulate-addends: which tensor that a map adds to an accumulator is added by PE instead, as the product
// with the identity, before the map empties PSUM. Refuses 32-bit tensors, of which PE makes four passes, and sums whose
// contraction already takes PE longer than the addition takes DVE.
#include "dialects/Trn/Target.h"
#include "dialects/Trn/TrnDialect.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/Tile/LayoutCost.h"
#include "passes/Tile/LayoutPasses.h"
#include "passes/Tile/Spaces.h"
#include "passes/Tile/Structured.h"
#include "llvm/ADT/MapVector.h"
#include <cstring>

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_ACCUMULATEADDENDSPASS
#include "passes/Tile/LayoutPasses.h.inc"

/// What DVE does for a sum of an accumulator and a 16-bit tensor, in passes of one element per cycle: the addition, with
/// one operand in PSUM (ISA26 tensor_tensor), and what follows it on 16-bit elements in SBUF at four per cycle (A3).
static constexpr double kVectorPasses = 1.25;

namespace {
/// A map that adds `addend` to the accumulator `sum`, and the addition in its body.
struct Addition {
  linalg::GenericOp map;
  OpOperand *sum, *addend;
  arith::AddFOp add;
  unsigned addendSide; ///< operand of `add`
};
} // namespace

/// Walks from `value` through conversions that alone use it to an addition; the operand of the addition that is reached.
static OpOperand *additionOf(Value value) {
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    if (llvm::isa<arith::AddFOp>(use.getOwner()))
      return &use;
    if (!llvm::isa<arith::ExtFOp, arith::TruncFOp>(use.getOwner()))
      return nullptr;
    value = use.getOwner()->getResult(0);
  }
  return nullptr;
}

/// Whether `value` reaches `add` through sums with other values, and conversions.
static bool isSummand(Value value, arith::AddFOp add) {
  for (OpOperand *use = additionOf(value); use; use = additionOf(use->getOwner()->getResult(0)))
    if (use->getOwner() == add)
      return true;
  return false;
}

static bool isAccumulator(Value value) {
  auto producer = value.getDefiningOp<linalg::LinalgOp>();
  return producer && !ir::spaceOf(value.getType()) && classify(producer) == StructuredKind::Contraction;
}

/// Steps that PE takes for each column of the accumulator `sum`.
static double productsPerColumn(Value sum) {
  double steps = 0;
  while (sum && isAccumulator(sum)) {
    auto contraction = sum.getDefiningOp<linalg::LinalgOp>();
    auto roles = contractionRoles(contraction);
    double own = 1;
    for (unsigned loop : roles->reductions)
      own *= contraction.getStaticLoopRanges()[loop];
    steps += own;
    sum = contraction.getDpsInits()[0];
  }
  return steps;
}

namespace {
/// Finds what may be infinite by design, not by overflow: inputs of the model (masks), infinite constants, logarithms, and
/// what is made of them without a contraction, which would spread infinities itself.
class Infinities {
public:
  explicit Infinities(func::FuncOp main) : main(main) {}

  bool mayBe(Value value) {
    auto [known, isNew] = found.try_emplace(value, false);
    if (!isNew)
      return known->second;
    bool infinite = llvm::isa<BlockArgument>(value) ? argumentMayBe(cast<BlockArgument>(value)) : resultMayBe(value);
    return found[value] = infinite;
  }

private:
  bool argumentMayBe(BlockArgument argument) {
    auto group = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!group || group == main)
      return true;
    return llvm::any_of(main.getOps<func::CallOp>(), [&](func::CallOp call) {
      return call.getCallee() == group.getName() && mayBe(call.getOperand(argument.getArgNumber()));
    });
  }

  bool resultMayBe(Value value) {
    Operation *op = value.getDefiningOp();
    auto anyOf = [&](ValueRange values) { return llvm::any_of(values, [&](Value operand) { return mayBe(operand); }); };
    if (llvm::isa<tensor::EmptyOp>(op))
      return false;
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = main->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
      return mayBe(callee.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
    }
    if (auto tensor = dyn_cast<bufferization::ToTensorOp>(op)) {
      auto get = tensor.getBuffer().getDefiningOp<ir::GetGlobalOp>();
      auto global = get ? main->getParentOfType<ModuleOp>().lookupSymbol<ir::GlobalOp>(get.getName()) : ir::GlobalOp();
      return !global || !global.getValue() || hasInfinities(*global.getValue());
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      std::optional<StructuredKind> kind = classify(linalgOp);
      if (kind == StructuredKind::Contraction)
        return false;
      // The start of a maximum is infinite; what becomes of it is not.
      for (Operation &scalar : *linalgOp.getBlock())
        if (llvm::isa<math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp>(scalar) ||
            llvm::any_of(scalar.getOperands(), isInfinite))
          return true;
      return anyOf(linalgOp.getDpsInputs());
    }
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      Value constant = pad.getConstantPaddingValue();
      return !constant || isInfinite(constant) || mayBe(pad.getSource());
    }
    if (llvm::isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                  tensor::ConcatOp, tensor::CastOp>(op))
      return anyOf(llvm::to_vector(llvm::make_filter_range(
          op->getOperands(), [](Value operand) { return llvm::isa<TensorType>(operand.getType()); })));
    return true;
  }

  static bool isInfinite(Value scalar) {
    auto constant = scalar.getDefiningOp<arith::ConstantOp>();
    auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
    return number && !number.getValue().isFinite();
  }

  /// All bits of the exponent are set in infinities and NaNs.
  static bool hasInfinities(ElementsAttr values) {
    ArrayRef<char> bytes;
    if (auto dense = dyn_cast<DenseElementsAttr>(values))
      bytes = dense.getRawData();
    else if (auto resource = dyn_cast<DenseResourceElementsAttr>(values))
      bytes = resource.getRawHandle().getBlob() ? resource.getRawHandle().getBlob()->getData() : bytes;
    auto any = [&](auto exponent) {
      for (size_t at = 0; at + sizeof exponent <= bytes.size(); at += sizeof exponent) {
        decltype(exponent) bits;
        std::memcpy(&bits, bytes.data() + at, sizeof bits);
        if ((bits & exponent) == exponent)
          return true;
      }
      return bytes.empty();
    };
    Type element = values.getElementType();
    if (element.isF32())
      return any(uint32_t(0x7f800000));
    return element.isBF16() ? any(uint16_t(0x7f80)) : !element.isF16() || any(uint16_t(0x7c00));
  }

  func::FuncOp main;
  llvm::DenseMap<Value, bool> found;
};
} // namespace

static std::optional<Addition> findAddition(linalg::GenericOp map, Infinities &infinities, const LayoutCosts &costs) {
  if (classify(map) != StructuredKind::Map || map.getNumDpsInits() != 1 || map.hasIndexSemantics())
    return std::nullopt;
  AffineMap result = map.getMatchingIndexingMap(map.getDpsInitOperand(0));
  for (OpOperand *sum : map.getDpsInputOperands()) {
    if (!isAccumulator(sum->get()) || !sum->get().hasOneUse() || !result.isPermutation() ||
        map.getMatchingIndexingMap(sum) != result)
      continue;
    Type factor = getElementTypeOrSelf(sum->get().getDefiningOp()->getOperand(0).getType());
    for (OpOperand *addend : map.getDpsInputOperands()) {
      auto type = cast<RankedTensorType>(addend->get().getType());
      if (addend == sum || ir::spaceOf(type) != isa::Space::SBUF || map.getMatchingIndexingMap(addend) != result ||
          type.getElementType() != factor || factor.getIntOrFloatBitWidth() != 16)
        continue;
      // 0 times infinity would reach every other lane.
      if (infinities.mayBe(addend->get()))
        continue;
      OpOperand *use = additionOf(map.getMatchingBlockArgument(addend));
      if (!use || !isSummand(map.getMatchingBlockArgument(sum), cast<arith::AddFOp>(use->getOwner())))
        continue;
      if ((productsPerColumn(sum->get()) + 1) * costs.tensorCycle > kVectorPasses * costs.vectorCycle)
        continue;
      return Addition{map, sum, addend, cast<arith::AddFOp>(use->getOwner()), use->getOperandNumber()};
    }
  }
  return std::nullopt;
}

/// `sum` plus the product of `addend`, [lanes, free…], with the identity.
static Value accumulate(OpBuilder &builder, Location loc, Value sum, Value addend, Value identity) {
  MLIRContext *context = builder.getContext();
  int64_t rank = cast<RankedTensorType>(sum.getType()).getRank(), lanes = cast<RankedTensorType>(sum.getType()).getDimSize(0);
  auto identityType = cast<RankedTensorType>(identity.getType());
  if (lanes != identityType.getDimSize(0)) {
    SmallVector<OpFoldResult> offsets(2, builder.getIndexAttr(0)), sizes(2, builder.getIndexAttr(lanes)),
        strides(2, builder.getIndexAttr(1));
    identity = tensor::ExtractSliceOp::create(builder, loc, identityType.clone({lanes, lanes}), identity, offsets, sizes,
                                              strides);
  }
  AffineMap whole = AffineMap::getMultiDimIdentityMap(rank, context);
  SmallVector<AffineExpr> moving(whole.getResults());
  moving.front() = getAffineDimExpr(rank, context);
  AffineMap maps[] = {
      AffineMap::get(rank + 1, 0, moving, context),
      AffineMap::get(rank + 1, 0, {getAffineDimExpr(rank, context), getAffineDimExpr(0, context)}, context),
      AffineMap::get(rank + 1, 0, whole.getResults(), context)};
  SmallVector<utils::IteratorType> types(rank, utils::IteratorType::parallel);
  types.push_back(utils::IteratorType::reduction);
  return linalg::GenericOp::create(builder, loc, sum.getType(), ValueRange{addend, identity}, sum, maps, types,
                                   [](OpBuilder &inner, Location loc, ValueRange arguments) {
                                     Type wide = arguments[2].getType();
                                     Value factors[2];
                                     for (unsigned i = 0; i < 2; ++i)
                                       factors[i] = arith::ExtFOp::create(inner, loc, wide, arguments[i]);
                                     Value product = arith::MulFOp::create(inner, loc, factors[0], factors[1]);
                                     linalg::YieldOp::create(
                                         inner, loc, arith::AddFOp::create(inner, loc, arguments[2], product).getResult());
                                   })
      .getResult(0);
}

/// Takes the addition out of the body. What was rounded in front of it alone is rounded behind it once.
static void removeAddition(Addition addition) {
  arith::AddFOp add = addition.add;
  Value rest = add->getOperand(1 - addition.addendSide);
  auto wide = rest.getDefiningOp<arith::ExtFOp>();
  for (Operation *user : llvm::make_early_inc_range(add->getUsers()))
    if (auto round = dyn_cast<arith::TruncFOp>(user); round && wide && round.getType() == wide.getIn().getType()) {
      round.replaceAllUsesWith(wide.getIn());
      round.erase();
    }
  add.replaceAllUsesWith(rest);
  Value addend = add->getOperand(addition.addendSide);
  add.erase();
  if (wide && wide->use_empty())
    wide.erase();
  while (Operation *conversion = addend.getDefiningOp()) {
    addend = conversion->getOperand(0);
    conversion->erase();
  }
}

/// The map without the input that its body no longer reads, reading `sum` instead of the accumulator before the addend.
static void replaceMap(Addition addition, Value sum) {
  linalg::GenericOp map = addition.map;
  unsigned dropped = addition.addend->getOperandNumber();
  addition.sum->set(sum);
  SmallVector<Value> inputs(map.getDpsInputs());
  SmallVector<AffineMap> maps = map.getIndexingMapsArray();
  inputs.erase(inputs.begin() + dropped);
  maps.erase(maps.begin() + dropped);
  OpBuilder builder(map);
  auto smaller = linalg::GenericOp::create(builder, map.getLoc(), map.getResultTypes(), inputs, map.getDpsInits(), maps,
                                           map.getIteratorTypesArray());
  smaller.getRegion().takeBody(map.getRegion());
  smaller.getBody()->eraseArgument(dropped);
  map.replaceAllUsesWith(smaller.getResults());
  map.erase();
}

namespace {
struct AccumulateAddendsPass : public impl::AccumulateAddendsPassBase<AccumulateAddendsPass> {
  using AccumulateAddendsPassBase::AccumulateAddendsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    const isa::DeviceInfo *device = findDevice(module, target);
    if (!device)
      return signalPassFailure();
    if (!main || main.isExternal())
      return;
    LayoutCosts costs(*device);
    identities.clear();
    for (auto group : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (group == main || group.isExternal())
        continue;
      SmallVector<linalg::GenericOp> maps(group.getBody().front().getOps<linalg::GenericOp>());
      for (linalg::GenericOp map : maps)
        if (Infinities infinities(main); std::optional<Addition> addition = findAddition(map, infinities, costs))
          rewrite(group, main, *addition);
    }
  }

private:
  void rewrite(func::FuncOp group, func::FuncOp main, Addition addition) {
    Type element = getElementTypeOrSelf(addition.addend->get().getType());
    Location loc = addition.map.getLoc();
    Value identity = argumentFor(group, main, element, loc);
    OpBuilder builder(addition.map);
    Value sum = accumulate(builder, loc, addition.sum->get(), addition.addend->get(), identity);
    removeAddition(addition);
    replaceMap(addition, sum);
  }

  /// A new argument of `group`, for which every call gives the identity of `element`.
  Value argumentFor(func::FuncOp group, func::FuncOp main, Type element, Location loc) {
    Value identity = identityOf(main, element, loc);
    SmallVector<Type> inputs(group.getArgumentTypes());
    inputs.push_back(identity.getType());
    group.setType(FunctionType::get(&getContext(), inputs, group.getResultTypes()));
    for (auto call : main.getOps<func::CallOp>())
      if (call.getCallee() == group.getName())
        call->insertOperands(call->getNumOperands(), identity);
    return group.getBody().front().addArgument(identity.getType(), loc);
  }

  /// The identity in SBUF, loaded once at the beginning of the program.
  Value identityOf(func::FuncOp main, Type element, Location loc) {
    Value &identity = identities[element];
    if (identity)
      return identity;
    MLIRContext *context = &getContext();
    auto hbm = ir::spaceAttr(context, isa::Space::HBM), sbuf = ir::spaceAttr(context, isa::Space::SBUF);
    SmallVector<int64_t> shape(2, kPartitions);
    auto semantics = &cast<FloatType>(element).getFloatSemantics();
    SmallVector<APFloat> values(kPartitions * kPartitions, APFloat::getZero(*semantics));
    for (int64_t lane = 0; lane < kPartitions; ++lane)
      values[lane * (kPartitions + 1)] = APFloat::getOne(*semantics);
    auto buffer = MemRefType::get(shape, element, MemRefLayoutAttrInterface(), hbm);
    auto stored = RankedTensorType::get(shape, element, hbm), loaded = RankedTensorType::get(shape, element, sbuf);

    SymbolTable symbols(getOperation());
    OpBuilder atModule = OpBuilder::atBlockBegin(getOperation().getBody());
    auto global = ir::GlobalOp::create(atModule, loc, atModule.getStringAttr("identity"),
                                       ir::GlobalKindAttr::get(context, ir::GlobalKind::Weight), nullptr, nullptr,
                                       DenseElementsAttr::get(RankedTensorType::get(shape, element), values), nullptr,
                                       FlatSymbolRefAttr(), IntegerAttr(), TypeAttr::get(buffer));
    symbols.insert(global);
    auto load = func::FuncOp::create(loc, "load_identity", FunctionType::get(context, {stored, loaded}, {loaded}));
    load.setPrivate();
    symbols.insert(load, Block::iterator(main));
    Block *body = load.addEntryBlock();
    OpBuilder inner = OpBuilder::atBlockBegin(body);
    Value copy = linalg::CopyOp::create(inner, loc, body->getArgument(0), body->getArgument(1)).getResult(0);
    func::ReturnOp::create(inner, loc, copy);

    OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
    Value global0 = ir::GetGlobalOp::create(builder, loc, buffer, FlatSymbolRefAttr::get(global.getSymNameAttr()));
    Value weights = bufferization::ToTensorOp::create(builder, loc, stored, global0, /*restrict=*/true, /*writable=*/false);
    Value empty = tensor::EmptyOp::create(builder, loc, shape, element, sbuf);
    identity = func::CallOp::create(builder, loc, load, ValueRange{weights, empty}).getResult(0);
    return identity;
  }

  llvm::MapVector<Type, Value> identities;
};
} // namespace

} // namespace trn
