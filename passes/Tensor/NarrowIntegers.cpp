//===- NarrowIntegers.cpp - 64-bit integers in 32 bits, where that is proved -===//
// Owns which integers of 64 bits the engines compute in 32. Each tensor is stored in 32 bits when all its elements are
// proved to fit, and each structured operation computes in 32 bits when all its tensors and scalars are, and its scalar
// operations mean the same there. All else stays: library kernels compute with 64 bits. Nothing is narrowed that may not
// fit, but for inputs that only make sense when they do, which the runtime checks.
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/ONNX/TypeNames.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Tensor/IntegerRanges.h"
#include "passes/Tensor/OnnxToLinalg/LinalgBuilder.h"
#include "passes/Tensor/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace trn {
#define GEN_PASS_DEF_NARROWINTEGERSPASS
#include "passes/Tensor/Passes.h.inc"

using namespace mlir;

namespace {

bool isWide(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && integer.getWidth() == 64;
}
bool isWide(Value value) { return isWide(value.getType()); }
bool isWideTensor(Value value) { return llvm::isa<RankedTensorType>(value.getType()) && isWide(value); }

Type withWidth(Type type, unsigned width) {
  auto integer = cast<IntegerType>(getElementTypeOrSelf(type));
  Type other = IntegerType::get(type.getContext(), width, integer.getSignedness());
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(other)) : other;
}
Type narrowed(Type type) { return isWide(type) ? withWidth(type, 32) : type; }

/// Whether 32 bits of the type's sign have all numbers of a range.
bool fits(Type type, const ConstantIntRanges &range) {
  return getElementTypeOrSelf(type).isUnsignedInteger() ? fitsUnsigned32(range) : fitsSigned32(range);
}

/// The low half of a number that fits, or else the nearest end of the signed numbers of 32 bits.
APInt halfOf(const APInt &value) {
  if (value.isSignedIntN(32) || value.isIntN(32))
    return value.trunc(32);
  return value.isNegative() ? APInt::getSignedMinValue(32) : APInt::getSignedMaxValue(32);
}

ElementsAttr narrowedElements(ElementsAttr values) {
  std::optional<Constant> constant = Constant::get(values);
  if (!constant)
    return values;
  auto element = cast<IntegerType>(withWidth(constant->elementType(), 32));
  int64_t count = constant->isSplat() ? 1 : constant->size();
  std::vector<char> bytes(count * 4);
  for (int64_t i = 0; i < count; ++i)
    writeInteger(element, constant->integer(i), bytes.data() + i * 4);
  return makeConstant(RankedTensorType::get(constant->type().getShape(), element), std::move(bytes));
}

bool isConstant(Value value) { return value.getDefiningOp<arith::ConstantOp>() != nullptr; }

/// Whether the nearest end of 32 bits means the same as the constant `value` wherever `body` uses it, when all other numbers
/// and the results fit: as a bound of minima and maxima, also after a selection.
bool isBound(Value value, Block *body) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (user->getBlock() != body || llvm::isa<arith::MaxSIOp, arith::MinSIOp>(user))
      return true;
    return llvm::isa<arith::SelectOp>(user) && isBound(user->getResult(0), body);
  });
}

/// Whether a tensor is only where one structured operation starts, which gives it the type of its result.
bool isOwned(Value value) {
  if (value.getDefiningOp<tensor::EmptyOp>())
    return true;
  if (!value.getDefiningOp<linalg::FillOp>() || !value.hasOneUse())
    return false;
  auto reader = dyn_cast<linalg::LinalgOp>(*value.user_begin());
  return reader && reader.isDpsInit(&*value.use_begin());
}

/// How the scalars of a body are read when they have 32 bits.
class BodyProof {
public:
  BodyProof(const IntegerRanges &ranges, linalg::LinalgOp op) : ranges(ranges), op(op) {}

  /// Why the body cannot be computed in 32 bits; empty when it can.
  std::string problem() {
    Block *body = op.getBlock();
    for (BlockArgument argument : body->getArguments())
      if (isWide(argument) && !argument.use_empty() && !isRepresentable(argument))
        return outOfRange(argument);
    for (Operation &inner : body->without_terminator()) {
      if (llvm::none_of(inner.getOperands(), [](Value v) { return isWide(v); }) && !llvm::any_of(inner.getResults(), [](Value v) { return isWide(v); }))
        continue;
      for (Value result : inner.getResults())
        if (isWide(result) && !isRepresentable(result))
          return outOfRange(result);
      if (!meansTheSame(&inner))
        return "'" + inner.getName().getStringRef().str() + "' of numbers that 32 bits do not have";
    }
    return "";
  }

private:
  ConstantIntRanges rangeOf(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == op.getBlock() && startsAtBound(argument))
      return ranges.accumulated(argument);
    return ranges.of(value);
  }

  /// Whether an accumulator starts at an end of the type, which the first element replaces.
  bool startsAtBound(BlockArgument argument) const {
    OpOperand *init = op.getMatchingOpOperand(argument);
    if (!op.isDpsInit(init) || !isBound(argument, op.getBlock()))
      return false;
    auto fill = init->get().getDefiningOp<linalg::FillOp>();
    return fill && isConstant(fill.getInputs()[0]);
  }

  bool isRepresentable(Value value) const {
    if (isSaturable(value))
      return true;
    ConstantIntRanges range = rangeOf(value);
    return fitsSigned32(range) || fitsUnsigned32(range);
  }

  /// A constant, or a choice of one, that minima and maxima take to an end.
  bool isSaturable(Value value) const {
    if (isConstant(value))
      return isBound(value, op.getBlock());
    auto select = value.getDefiningOp<arith::SelectOp>();
    return select && isBound(select, op.getBlock()) && llvm::all_of(select->getOperands().drop_front(), [&](Value part) {
             return isRepresentable(part);
           });
  }

  bool areSigned(ValueRange values) const {
    return llvm::all_of(values, [&](Value v) { return !isWide(v) || isSaturable(v) || fitsSigned32(rangeOf(v)); });
  }
  bool areUnsigned(ValueRange values) const {
    return llvm::all_of(values, [&](Value v) { return !isWide(v) || fitsUnsigned32(rangeOf(v)); });
  }

  /// Whether an operation on the low halves of its operands gives the low half of its result, or the same result.
  bool meansTheSame(Operation *inner) const {
    ValueRange operands = inner->getOperands();
    if (auto compare = dyn_cast<arith::CmpIOp>(inner)) {
      using P = arith::CmpIPredicate;
      P predicate = compare.getPredicate();
      bool isSigned = llvm::is_contained({P::slt, P::sle, P::sgt, P::sge}, predicate);
      return areSigned(operands) || (!isSigned && areUnsigned(operands));
    }
    return llvm::TypeSwitch<Operation *, bool>(inner)
        .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
              arith::SelectOp, arith::TruncIOp, arith::ExtSIOp, arith::ExtUIOp, arith::ConstantOp,
              UnrealizedConversionCastOp, tensor::ExtractOp>([](Operation *) { return true; })
        .Case<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::ShRSIOp, arith::MaxSIOp,
              arith::MinSIOp, arith::SIToFPOp, math::AbsIOp, arith::IndexCastOp>(
            [&](Operation *) { return areSigned(operands); })
        .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, arith::ShRUIOp, arith::MaxUIOp, arith::MinUIOp,
              arith::UIToFPOp>([&](Operation *) { return areUnsigned(operands); })
        .Default([](Operation *) { return false; });
  }

  std::string outOfRange(Value value) const {
    return rangeText(rangeOf(value), false) + " do not fit 32 bits";
  }

  const IntegerRanges &ranges;
  mutable linalg::LinalgOp op; // its methods are not const
};

class NarrowIntegers : public impl::NarrowIntegersPassBase<NarrowIntegers> {
public:
  using NarrowIntegersPassBase::NarrowIntegersPassBase;

private:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    bool hasWide = false;
    function.walk([&](Operation *op) {
      hasWide |= llvm::any_of(op->getOperandTypes(), [](Type type) { return isWide(type); }) ||
                 llvm::any_of(op->getResultTypes(), [](Type type) { return isWide(type); });
    });
    hasWide |= llvm::any_of(function.getArgumentTypes(), [](Type type) { return isWide(type); });
    if (!hasWide)
      return;
    for (Operation &op : function.front())
      ownInits(&op);
    ranges.emplace(function);
    if (printRanges)
      print(function);
    for (BlockArgument argument : function.getArguments())
      narrowArgument(function, argument);
    for (Operation &op : llvm::make_early_inc_range(function.front()))
      narrow(&op);
    eraseDead(&function.front());
    ranges.reset();
    wideWeights.clear();
    reported.clear();
  }

  /// What an operation starts from is its own: it gets the type of the result.
  static void ownInits(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *start = operand.get().getDefiningOp();
      auto structured = dyn_cast<linalg::LinalgOp>(op);
      bool isStart = llvm::isa_and_nonnull<tensor::EmptyOp>(start) ||
                     (llvm::isa_and_nonnull<linalg::FillOp>(start) && structured && structured.isDpsInit(&operand));
      if (!isStart || !isWideTensor(operand.get()) || operand.get().hasOneUse())
        continue;
      OpBuilder builder(op);
      operand.set(builder.clone(*start)->getResult(0));
      ownInits(operand.get().getDefiningOp());
    }
  }

  void print(func::FuncOp function) {
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (isWide(result))
          emitRemark(op->getLoc()) << "'" << op->getName() << "': " << getElementTypeOrSelf(result.getType()) << " from "
                                   << rangeText(ranges->of(result), getElementTypeOrSelf(result.getType()).isUnsignedInteger());
    });
  }

  //===--------------------------------------------------------------------===//
  // The border
  //===--------------------------------------------------------------------===//

  /// Whether the function is a part of a program: parts agree on the types of what they share by `onnx.range` only.
  static bool isPart(func::FuncOp function) { return function->getParentOp()->getParentOp() != nullptr; }

  void narrowArgument(func::FuncOp function, BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    if (!isWide(argument))
      return;
    auto name = function.getArgAttrOfType<StringAttr>(number, "onnx.name");
    std::string what = "input '" + (name ? name.getValue().str() : "") + "': ";
    Type element = getElementTypeOrSelf(argument.getType());
    if (!fits(argument.getType(), ranges->of(argument))) {
      if (!isPart(function))
        function->emitRemark() << what << element << " stays: library kernels compute with it";
      return;
    }
    function->emitRemark() << what << element << " is stored as " << withWidth(element, 32) << ": as an index it is "
                           << rangeText(ranges->of(argument), false) << ", the runtime refuses what does not fit";
    function.setArgAttr(number, "onnx.host_type", TypeAttr::get(element));
    argument.setType(narrowed(argument.getType()));
    // What the function returns keeps its type until the return is looked at, also where that is the argument.
    function.setFunctionType(FunctionType::get(function.getContext(), TypeRange(function.front().getArguments()),
                                               function.getResultTypes()));
  }

  void narrowReturn(func::ReturnOp op) {
    func::FuncOp function = getOperation();
    SmallVector<bool> isCount(op.getNumOperands(), false);
    for (unsigned i = 0; i < op.getNumOperands(); ++i)
      if (auto count = function.getResultAttrOfType<IntegerAttr>(i, "onnx.count"))
        isCount[count.getInt()] = true;
    SmallVector<Type> before(function.getResultTypes());
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned i = operand.getOperandNumber();
      if (!isWide(before[i]))
        continue;
      bool isNarrow = !isWide(operand.get());
      bool mustBeNarrow = isCount[i] || function.getResultAttr(i, "onnx.range");
      OpBuilder builder(op);
      if (mustBeNarrow && !isNarrow)
        operand.set(saturated(builder, operand.get()));
      else if (isNarrow && !mustBeNarrow && isPart(function))
        operand.set(widened(builder, operand.get()));
      if (isWide(operand.get()))
        continue;
      auto name = function.getResultAttrOfType<StringAttr>(i, "onnx.name");
      Type element = getElementTypeOrSelf(before[i]);
      function.setResultAttr(i, "onnx.host_type", TypeAttr::get(element));
      function->emitRemark() << "output '" << (name ? name.getValue() : "") << "': " << element << " is stored as "
                             << withWidth(element, 32);
    }
    function.setFunctionType(
        FunctionType::get(function.getContext(), function.getArgumentTypes(), TypeRange(op.getOperandTypes())));
  }

  /// A map that converts each element.
  static Value converted(OpBuilder &builder, Value value, Type element, ScalarBody body) {
    LinalgBuilder b(value.getLoc(), builder.getContext());
    b.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
    Value result = b.map(value, shapeOf(value), element, body);
    if (auto map = result.getDefiningOp<linalg::LinalgOp>())
      eraseDead(map.getBlock());
    return result;
  }

  static void eraseDead(Block *block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  Value widened(OpBuilder &builder, Value value) {
    if (auto wide = wideWeights.find(value); wide != wideWeights.end())
      return onnx::WeightOp::create(builder, value.getLoc(), wide->second);
    Type from = elementTypeOf(value), to = withWidth(from, 64);
    return converted(builder, value, to, [&](ImplicitLocOpBuilder &b, ValueRange e) { return convertScalar(b, e[0], from, to); });
  }

  static Value saturated(OpBuilder &builder, Value value) {
    return converted(builder, value, builder.getI32Type(), [](ImplicitLocOpBuilder &b, ValueRange e) { return saturateIndex(b, e[0]); });
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  void narrow(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<onnx::WeightOp>([&](onnx::WeightOp weight) {
          if (!isWide(weight.getType()) || !fits(weight.getType(), ranges->of(weight)))
            return;
          wideWeights[weight.getResult()] = weight.getValue();
          weight.setValueAttr(narrowedElements(weight.getValue()));
          retype(weight.getResult());
        })
        .Case<arith::ConstantOp>([&](arith::ConstantOp constant) {
          auto elements = dyn_cast<ElementsAttr>(constant.getValue());
          if (!elements || !isWide(constant.getType()) || !fits(constant.getType(), ranges->of(constant)))
            return;
          constant.setValueAttr(cast<TypedAttr>(narrowedElements(elements)));
          retype(constant.getResult());
        })
        .Case<func::ReturnOp>([&](func::ReturnOp op) { narrowReturn(op); })
        .Case<tensor::EmptyOp>([](Operation *) {}) // with its reader
        .Case<linalg::FillOp>([&](linalg::FillOp fill) {
          Value result = fill.getResult(0);
          if (isWide(result) && !isOwned(result) && fits(result.getType(), ranges->of(result)))
            retypeInit(result);
        })
        .Case<linalg::LinalgOp>([&](linalg::LinalgOp structured) { narrowStructured(structured); })
        .Case<ir::KernelOp>([&](ir::KernelOp kernel) { narrowKernel(kernel); })
        .Default([&](Operation *other) {
          if (other->getNumResults() == 1 && isWideTensor(other->getResult(0)))
            narrowMovement(other);
        });
  }

  void retype(Value value) { value.setType(narrowed(value.getType())); }

  /// Gives an init of its own the type of the result.
  void retypeInit(Value init) {
    retype(init);
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (!fill)
      return;
    Value scalar = fill.getInputs()[0];
    OpBuilder builder(fill);
    if (isWide(scalar))
      fill.getInputsMutable()[0].set(narrowedScalar(builder, scalar));
    for (BlockArgument argument : fill.getBlock()->getArguments())
      retype(argument);
    retypeInit(fill.getOutputs()[0]);
  }

  /// A scalar from outside of a body, in 32 bits.
  static Value narrowedScalar(OpBuilder &builder, Value scalar) {
    if (auto cast = scalar.getDefiningOp<UnrealizedConversionCastOp>())
      return UnrealizedConversionCastOp::create(builder, scalar.getLoc(), narrowed(scalar.getType()),
                                                narrowedScalar(builder, cast.getOperand(0)))
          .getResult(0);
    APInt value;
    [[maybe_unused]] bool isKnown = matchPattern(scalar, m_ConstantInt(&value));
    assert(isKnown && "scalars from outside are constants");
    return arith::ConstantOp::create(builder, scalar.getLoc(), builder.getIntegerAttr(builder.getI32Type(), halfOf(value)));
  }

  void narrowStructured(linalg::LinalgOp op) {
    bool hasWide = false;
    op->walk([&](Operation *inner) {
      hasWide |= llvm::any_of(inner->getOperandTypes(), [](Type type) { return isWide(type); }) ||
                 llvm::any_of(inner->getResultTypes(), [](Type type) { return isWide(type); });
    });
    for (BlockArgument argument : op.getBlock()->getArguments())
      hasWide |= isWide(argument);
    if (!hasWide)
      return;
    simplifyBody(op);
    // Whether the result is stored in 32 bits, and then whether all of it is computed in them.
    bool allFit = true;
    std::string problem;
    for (Value result : op->getResults())
      if (isWide(result) && !fits(result.getType(), ranges->of(result))) {
        allFit = false;
        problem = rangeText(ranges->of(result), getElementTypeOrSelf(result.getType()).isUnsignedInteger()) + " do not fit 32 bits";
      }
    for (Value input : op.getDpsInputs())
      if (isWideTensor(input)) {
        allFit = false;
        problem = "an operand has numbers that do not fit 32 bits";
      }
    op.getBlock()->walk([&](tensor::ExtractOp extract) {
      if (isWide(extract.getTensor()))
        allFit = false, problem = "a table has numbers that do not fit 32 bits";
    });
    if (allFit)
      problem = BodyProof(*ranges, op).problem();
    if (problem.empty())
      return narrowWhole(op);
    if (reported.insert({op.getLoc(), 1}).second)
      emitRemark(op.getLoc()) << "computes with integers of 64 bits in library kernels: " << problem;
    widenBody(op);
  }

  /// All of an operation in 32 bits.
  void narrowWhole(linalg::LinalgOp op) {
    for (auto [init, result] : llvm::zip_equal(op.getDpsInits(), op->getResults())) {
      if (!isWide(result))
        continue;
      report(op, result);
      if (isWide(init))
        retypeInit(init);
      retype(result);
    }
    OpBuilder builder(op);
    for (OpOperand *input : op.getDpsInputOperands())
      if (isWide(input->get()) && !isWideTensor(input->get()))
        input->set(narrowedScalar(builder, input->get()));
    for (BlockArgument argument : op.getBlock()->getArguments())
      retype(argument);
    SmallVector<Operation *> identities;
    for (Operation &inner : op.getBlock()->getOperations()) {
      for (OpOperand &operand : inner.getOpOperands())
        if (isWide(operand.get()) && !isWideTensor(operand.get()) && operand.get().getParentBlock() != op.getBlock())
          operand.set(narrowedScalar(builder, operand.get()));
      if (auto constant = dyn_cast<arith::ConstantOp>(inner); constant && isWide(constant.getType()))
        constant.setValueAttr(builder.getIntegerAttr(builder.getI32Type(), halfOf(cast<IntegerAttr>(constant.getValue()).getValue())));
      for (Value result : inner.getResults())
        retype(result);
      if (llvm::isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(inner) &&
          inner.getOperand(0).getType() == inner.getResult(0).getType())
        identities.push_back(&inner);
    }
    for (Operation *identity : identities) {
      identity->getResult(0).replaceAllUsesWith(identity->getOperand(0));
      identity->erase();
    }
    forwardIdentity(op);
  }

  /// A map that has become a copy is what it copies.
  static void forwardIdentity(linalg::LinalgOp op) {
    if (!llvm::isa<linalg::GenericOp>(op) || op->getNumResults() != 1 || op.getNumDpsInputs() != 1 || op.getNumReductionLoops() != 0 ||
        op.getDpsInputs()[0].getType() != op->getResult(0).getType() ||
        !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }) ||
        op.getBlock()->getTerminator()->getOperand(0) != op.getBlock()->getArgument(0))
      return;
    op->getResult(0).replaceAllUsesWith(op.getDpsInputs()[0]);
    op.erase();
  }

  /// The body computes in 64 bits; tensors that have 32 are widened where they enter it and narrowed where they leave it.
  void widenBody(linalg::LinalgOp op) {
    Block *body = op.getBlock();
    ImplicitLocOpBuilder b = ImplicitLocOpBuilder::atBlockBegin(op.getLoc(), body);
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (isWide(argument) && !isWide(input->get()))
        widenElement(b, argument);
    }
    SmallVector<tensor::ExtractOp> extracts;
    body->walk([&](tensor::ExtractOp extract) { extracts.push_back(extract); });
    for (tensor::ExtractOp extract : extracts)
      if (isWide(extract.getResult()) && !isWide(extract.getTensor())) {
        b.setInsertionPointAfter(extract);
        widenElement(b, extract.getResult());
      }
    Operation *yield = body->getTerminator();
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (op->getNumResults() == 0)
        continue;
      OpResult result = op.getTiedOpResult(&init);
      if (!isWide(result))
        continue;
      bool isNarrow = fits(result.getType(), ranges->of(result)) && (!isWide(init.get()) || isOwned(init.get())) && canStart(op, init);
      if (!isNarrow) {
        if (!isWide(init.get())) {
          OpBuilder builder(op);
          init.set(widened(builder, init.get()));
        }
        continue;
      }
      report(op, result);
      if (isWide(init.get()))
        retypeInit(init.get());
      retype(result);
      b.setInsertionPointToStart(body);
      widenElement(b, op.getMatchingBlockArgument(&init));
      b.setInsertionPoint(yield);
      OpOperand &yielded = yield->getOpOperand(init.getOperandNumber() - op.getNumDpsInputs());
      Type wide = yielded.get().getType();
      Value plain = signlessOf(b, yielded.get());
      plain = arith::TruncIOp::create(b, b.getI32Type(), plain);
      yielded.set(narrowed(wide) == plain.getType() ? plain : UnrealizedConversionCastOp::create(b, narrowed(wide), plain).getResult(0));
    }
  }

  /// Whether what an accumulator starts with has 32 bits, too.
  bool canStart(linalg::LinalgOp op, OpOperand &init) const {
    return op.getMatchingBlockArgument(&init).use_empty() || fits(init.get().getType(), ranges->of(init.get()));
  }

  static Value signlessOf(ImplicitLocOpBuilder &b, Value value) {
    auto type = cast<IntegerType>(value.getType());
    return type.isSignless() ? value
                             : UnrealizedConversionCastOp::create(b, b.getIntegerType(type.getWidth()), value).getResult(0);
  }

  /// Makes an element that has 32 bits in memory the number of 64 that the body reads.
  static void widenElement(ImplicitLocOpBuilder &b, Value element) {
    Type wide = element.getType();
    SmallVector<OpOperand *> uses = llvm::map_to_vector(element.getUses(), [](OpOperand &use) { return &use; });
    element.setType(narrowed(wide));
    if (uses.empty())
      return;
    Value plain = signlessOf(b, element);
    plain = wide.isUnsignedInteger() ? arith::ExtUIOp::create(b, b.getI64Type(), plain).getResult()
                                     : arith::ExtSIOp::create(b, b.getI64Type(), plain).getResult();
    if (plain.getType() != wide)
      plain = UnrealizedConversionCastOp::create(b, wide, plain).getResult(0);
    for (OpOperand *use : uses)
      use->set(plain);
  }

  /// Bounds that are none, selections that are decided, and integers of 64 bits and conditions of one value. Positions stay
  /// as they are: the layout reads which dimension they run through.
  void simplifyBody(linalg::LinalgOp op) {
    for (Operation &inner : llvm::make_early_inc_range(op.getBlock()->without_terminator())) {
      if (inner.getNumResults() != 1 || !inner.getResult(0).getType().isSignlessInteger() || isConstant(inner.getResult(0)) ||
          llvm::isa<tensor::ExtractOp>(inner))
        continue;
      Value result = inner.getResult(0), instead;
      ConstantIntRanges range = ranges->of(result);
      if (std::optional<APInt> value = range.getConstantValue(); value && (isWide(result) || result.getType().isInteger(1))) {
        OpBuilder builder(&inner);
        instead = arith::ConstantOp::create(builder, inner.getLoc(), builder.getIntegerAttr(result.getType(), *value));
        ranges->set(instead, range);
      } else if (llvm::isa<arith::MaxSIOp, arith::MinSIOp>(inner)) {
        bool isMax = llvm::isa<arith::MaxSIOp>(inner);
        for (unsigned side = 0; side < 2 && !instead; ++side) {
          ConstantIntRanges x = ranges->of(inner.getOperand(side)), bound = ranges->of(inner.getOperand(1 - side));
          if (isMax ? x.smin().sge(bound.smax()) : x.smax().sle(bound.smin()))
            instead = inner.getOperand(side);
        }
      } else if (auto select = dyn_cast<arith::SelectOp>(inner)) {
        if (std::optional<APInt> way = ranges->of(select.getCondition()).getConstantValue())
          instead = way->isZero() ? select.getFalseValue() : select.getTrueValue();
      }
      if (!instead)
        continue;
      result.replaceAllUsesWith(instead);
      inner.erase();
    }
    eraseDead(op.getBlock());
  }

  void report(Operation *op, Value result) {
    Type element = getElementTypeOrSelf(result.getType());
    if (reported.insert({op->getLoc(), 0}).second)
      emitRemark(op->getLoc()) << element << " is stored as " << withWidth(element, 32) << ": "
                               << rangeText(ranges->of(result), element.isUnsignedInteger());
  }

  /// Movement keeps the width: all narrow, or all wide.
  void narrowMovement(Operation *op) {
    bool allNarrow = true;
    SmallVector<OpOperand *> narrowOperands;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!llvm::isa<RankedTensorType>(operand.get().getType()))
        continue;
      if (isOwned(operand.get()) && isWide(operand.get()))
        continue; // written over
      isWide(operand.get()) ? void(allNarrow = false) : narrowOperands.push_back(&operand);
    }
    auto pad = dyn_cast<tensor::PadOp>(op);
    if (pad)
      allNarrow &= fits(pad.getType(), ranges->of(pad.getBody()->getTerminator()->getOperand(0)));
    OpBuilder builder(op);
    if (!allNarrow) {
      for (OpOperand *operand : narrowOperands)
        operand->set(widened(builder, operand->get()));
      return;
    }
    for (OpOperand &operand : op->getOpOperands())
      if (isWideTensor(operand.get()))
        retypeInit(operand.get());
    if (pad) {
      OpOperand &padding = pad.getBody()->getTerminator()->getOpOperand(0);
      padding.set(narrowedScalar(builder, padding.get()));
    }
    report(op, op->getResult(0));
    retype(op->getResult(0));
  }

  /// Positions are of 32 bits; values are like the input that they come from.
  void narrowKernel(ir::KernelOp kernel) {
    const isa::InstInfo *info = kernel.getKernelInfo();
    for (auto [result, output, operand] : llvm::zip(kernel.getResults(), kernel.getOutputs(), info->operands)) {
      if (!isWide(result))
        continue;
      bool isPosition = (operand.dtypes & ~(isa::maskOf(isa::DType::I32) | isa::maskOf(isa::DType::I64))) == 0;
      Type like = narrowed(getElementTypeOrSelf(result.getType()));
      if (!isPosition && llvm::none_of(kernel.getInputs(), [&](Value input) { return getElementTypeOrSelf(input.getType()) == like; }))
        continue;
      report(kernel, result);
      retype(output);
      retype(result);
    }
  }

  std::optional<IntegerRanges> ranges;
  llvm::DenseMap<Value, ElementsAttr> wideWeights; ///< what constants were that have become narrow
  llvm::DenseSet<std::pair<Location, int>> reported; ///< once per node and kind
};
} // namespace
} // namespace trn
