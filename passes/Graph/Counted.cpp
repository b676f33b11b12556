//===- Counted.cpp - where counts come from, and where they end ------------===//
//
// Owns the operations that make counts, the bounds of sizes that the run decides, and the outputs that counts become. The
// rules by which tensors are taken past their readers are in CountedRules.cpp.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Counted.h"

#include "compiler/Support/Problems.h"
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/Ops/Reduction.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/ONNX/Shape/Inference.h"
#include "passes/Graph/CountWriter.h"
#include "passes/Graph/Match.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

std::optional<Counted> trn::countedOf(Value value) {
  auto counted = value ? value.getDefiningOp<CountedOp>() : CountedOp();
  if (!counted)
    return std::nullopt;
  return Counted{counted.getX(), counted.getCount(), int64_t(counted.getDim()), counted.getZeros()};
}

Value trn::bindCount(OpBuilder &builder, Location loc, const Counted &counted) {
  return CountedOp::create(builder, loc, counted.whole.getType(), counted.whole, counted.count,
                           builder.getI64IntegerAttr(counted.dim), counted.zeros ? builder.getUnitAttr() : UnitAttr());
}

static bool isStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

//===----------------------------------------------------------------------===//
// Operations that make counts
//===----------------------------------------------------------------------===//

/// An operation before `op` that makes the same, with its count.
static Operation *sameBefore(Operation *op) {
  auto attributes = [](Operation *op) {
    NamedAttrList list(op->getAttrs());
    list.erase("resultSegmentSizes");
    return list.getDictionary(op->getContext());
  };
  for (Operation *user : op->getOperand(0).getUsers())
    if (user != op && user->getName() == op->getName() && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op) &&
        user->getNumResults() == op->getNumResults() + 1 && user->getOperands() == op->getOperands() &&
        TypeRange(user->getResultTypes()).drop_back() == op->getResultTypes() && attributes(user) == attributes(op))
      return user;
  return nullptr;
}

/// Builds `op` again with a count as its last result, and binds that to the results that it counts. What was made before is
/// not made again, so that it has the same count. What the first result is now.
static Value addCount(Operation *op, ArrayRef<std::pair<Value, int64_t>> results) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  OperationState state(loc, op->getName(), op->getOperands(), llvm::to_vector(op->getResultTypes()), op->getAttrs());
  state.addTypes(RankedTensorType::get({}, builder.getI64Type()));
  if (auto segments = op->getAttrOfType<DenseI32ArrayAttr>("resultSegmentSizes")) {
    SmallVector<int32_t> sizes(segments.asArrayRef());
    sizes.back() = 1;
    state.attributes.set("resultSegmentSizes", builder.getDenseI32ArrayAttr(sizes));
  }
  Operation *made = sameBefore(op);
  if (!made)
    made = builder.create(state);
  Value count = made->getResults().back(), first;
  for (OpResult result : op->getResults()) {
    Value whole = made->getResult(result.getResultNumber()), bound = whole;
    for (auto [counted, dim] : results)
      if (counted == result)
        bound = bindCount(builder, loc, {whole, count, dim, /*zeros=*/true});
    result.replaceAllUsesWith(bound);
    first = first ? first : bound;
  }
  op->erase();
  return first;
}

static bool countNonZero(NonZeroOp op, Value *counted = nullptr) {
  if (op.getCount() || typeOf(op.getY()).getDimSize(1) == 0)
    return false;
  Value bound = addCount(op, {{op.getY(), 1}});
  if (counted)
    *counted = bound;
  return true;
}

/// Items without elements are all alike: one of them, if there are any.
static void uniqueOfNothing(UniqueOp op) {
  OpBuilder builder(op);
  CountWriter write(builder, op.getLoc());
  const int64_t axis = op.getAxis().value_or(0), items = typeOf(op.getX()).getDimSize(axis);
  SmallVector<int64_t> shape(typeOf(op.getY()).getShape());
  shape[axis] = std::min<int64_t>(items, 1);
  op.getY().replaceAllUsesWith(
      write.constant(makeConstant(RankedTensorType::get(shape, typeOf(op.getY()).getElementType()), {})));
  SmallVector<int64_t> first(shape[axis], 0), counts(shape[axis], items), inverse(items, 0);
  auto replace = [&](Value result, ArrayRef<int64_t> values) {
    if (result)
      result.replaceAllUsesWith(write.integers(values, {int64_t(values.size())}, builder.getI64Type()));
  };
  replace(op.getIndices(), first);
  replace(op.getInverse(), inverse);
  replace(op.getCounts(), counts);
  op.erase();
}

bool trn::makeCount(Operation *op) {
  const OpRecord *record = lookupRecord(op);
  if (!record || !record->makesCounts || !llvm::all_of(op->getOperands(), isStaticTensor) ||
      !llvm::all_of(op->getResults(), isStaticTensor))
    return false;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<NonZeroOp>([](NonZeroOp op) { return countNonZero(op); })
      .Case<CompressOp>([](CompressOp op) {
        // A gather by the positions where the condition holds.
        OpBuilder builder(op);
        CountWriter write(builder, op.getLoc());
        Value found = write.op("NonZero", {op.getCondition()});
        (void)countNonZero(found.getDefiningOp<NonZeroOp>(), &found);
        Value positions = write.op("Reshape", {found}, write.ints("shape", {-1}));
        Value x = op.getAxis() ? op.getX() : write.reshape(op.getX(), {typeOf(op.getX()).getNumElements()});
        op.replaceAllUsesWith(write.op("Gather", {x, positions}, write.integer("axis", op.getAxis().value_or(0))));
        op.erase();
        return true;
      })
      .Case<UniqueOp>([](UniqueOp op) {
        const int64_t axis = op.getAxis().value_or(0);
        if (op.getCount() || countedOf(op.getX()))
          return false;
        if (typeOf(op.getX()).getNumElements() == 0) {
          uniqueOfNothing(op);
          return true;
        }
        addCount(op, {{op.getY(), axis}, {op.getIndices(), 0}, {op.getCounts(), 0}});
        return true;
      })
      .Case<NonMaxSuppressionOp>([](NonMaxSuppressionOp op) {
        if (op.getCount() || typeOf(op.getSelected()).getDimSize(0) == 0)
          return false;
        addCount(op, {{op.getSelected(), 0}});
        return true;
      })
      .Default([](Operation *) { return false; });
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

namespace {

/// The elements of a value that counts decide, each count being its largest, or 0.
class Bound {
public:
  explicit Bound(bool isLargest) : isLargest(isLargest) {}

  std::optional<SmallVector<int64_t>> of(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() > kMostElements || !type.getElementType().isIntOrIndex())
      return std::nullopt;
    if (std::optional<Constant> constant = Constant::get(value)) {
      SmallVector<int64_t> elements;
      for (int64_t i = 0; i < constant->size(); ++i)
        elements.push_back(constant->integer(i));
      return elements;
    }
    for (Operation *user : value.getUsers())
      if (auto counted = dyn_cast<CountedOp>(user); counted && counted.getCount() == value)
        return SmallVector<int64_t>{isLargest ? typeOf(counted.getX()).getDimSize(counted.getDim()) : 0};
    Operation *op = value.getDefiningOp();
    return op ? ofResult(op) : std::nullopt;
  }

private:
  static constexpr int64_t kMostElements = 64;

  std::optional<SmallVector<int64_t>> ofResult(Operation *op) {
    if (auto shape = dyn_cast<ShapeOp>(op))
      return ofShape(shape);
    if (auto size = dyn_cast<SizeOp>(op))
      return ofSize(size);
    if (isLargest && llvm::isa<MinOp>(op))
      if (std::optional<SmallVector<int64_t>> known = ofSmaller(op))
        return known;
    SmallVector<SmallVector<int64_t>> operands;
    for (Value operand : op->getOperands()) {
      std::optional<SmallVector<int64_t>> elements = of(operand);
      if (!elements)
        return std::nullopt;
      operands.push_back(std::move(*elements));
    }
    if (llvm::isa<IdentityOp, ReshapeOp, SqueezeOp, UnsqueezeOp>(op) || isCastOfSizes(op))
      return operands.front();
    if (auto concat = dyn_cast<ConcatOp>(op); concat && typeOf(concat.getY()).getRank() == 1) {
      SmallVector<int64_t> joined;
      for (const auto &elements : operands)
        llvm::append_range(joined, elements);
      return joined;
    }
    if (auto gather = dyn_cast<GatherOp>(op); gather && typeOf(gather.getX()).getRank() == 1) {
      SmallVector<int64_t> taken;
      const int64_t size = operands[0].size();
      for (int64_t i : operands[1]) {
        i += i < 0 ? size : 0;
        if (i < 0 || i >= size || !Constant::get(gather.getIndices()))
          return std::nullopt;
        taken.push_back(operands[0][i]);
      }
      return taken;
    }
    if (auto slice = dyn_cast<SliceOp>(op);
        slice && typeOf(slice.getX()).getRank() == 1 && slice.getStarts() && slice.getSteps()) {
      SmallVector<int64_t> taken;
      for (int64_t i = 0; i < typeOf(slice.getY()).getDimSize(0); ++i)
        taken.push_back(operands[0][(*slice.getStarts())[0] + i * (*slice.getSteps())[0]]);
      return taken;
    }
    return ofArithmetic(op, operands);
  }

  /// The smaller one of a number without a bound and another is no larger than that.
  std::optional<SmallVector<int64_t>> ofSmaller(Operation *op) {
    if (op->getNumOperands() != 2)
      return std::nullopt;
    std::optional<SmallVector<int64_t>> a = of(op->getOperand(0)), b = of(op->getOperand(1));
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    std::optional<SmallVector<int64_t>> known = a ? a : b;
    if ((a && b) || !known || !type || !type.hasStaticShape() || type.getNumElements() != int64_t(known->size()))
      return std::nullopt;
    return known;
  }

  std::optional<SmallVector<int64_t>> ofShape(ShapeOp shape) {
    std::optional<Counted> counted = countedOf(shape.getX());
    auto type = dyn_cast<RankedTensorType>(shape.getX().getType());
    if (!counted || !shape.getEnd())
      return std::nullopt;
    SmallVector<int64_t> sizes(type.getShape());
    if (!isLargest)
      sizes[counted->dim] = 0;
    const int64_t start = shape.getStart(), end = std::max<int64_t>(start, *shape.getEnd());
    return SmallVector<int64_t>(ArrayRef(sizes).slice(start, end - start));
  }
  std::optional<SmallVector<int64_t>> ofSize(SizeOp size) {
    if (!countedOf(size.getX()))
      return std::nullopt;
    return SmallVector<int64_t>{isLargest ? typeOf(size.getX()).getNumElements() : 0};
  }

  static bool isNotNegative(Value value) {
    std::optional<SmallVector<int64_t>> least = Bound(/*isLargest=*/false).of(value);
    return least && llvm::all_of(*least, [](int64_t element) { return element >= 0; });
  }

  /// What does not become smaller when a count becomes larger: sums, products with what is not negative, differences and
  /// quotients with a constant behind them, and extremes.
  std::optional<SmallVector<int64_t>> ofArithmetic(Operation *op, ArrayRef<SmallVector<int64_t>> operands) {
    if (!llvm::isa<AddOp, SubOp, MulOp, DivOp, MinOp, MaxOp>(op) || operands.size() != 2)
      return std::nullopt;
    const size_t size = typeOf(op->getResult(0)).getNumElements();
    const bool isConstant = Constant::get(op->getOperand(1)).has_value();
    SmallVector<int64_t> result;
    for (size_t i = 0; i < size; ++i) {
      if ((operands[0].size() != 1 && operands[0].size() != size) || (operands[1].size() != 1 && operands[1].size() != size))
        return std::nullopt;
      const int64_t a = operands[0][operands[0].size() == 1 ? 0 : i], b = operands[1][operands[1].size() == 1 ? 0 : i];
      int64_t value = 0;
      bool fits = true;
      if (llvm::isa<AddOp>(op))
        fits = !__builtin_add_overflow(a, b, &value);
      else if (llvm::isa<SubOp>(op))
        fits = isConstant && !__builtin_sub_overflow(a, b, &value);
      else if (llvm::isa<MulOp>(op))
        fits = a >= 0 && b >= 0 && (!isLargest || (isNotNegative(op->getOperand(0)) && isNotNegative(op->getOperand(1)))) &&
               !__builtin_mul_overflow(a, b, &value);
      else if (llvm::isa<DivOp>(op))
        fits = isConstant && b > 0 && (value = a / b, true);
      else
        value = llvm::isa<MinOp>(op) ? std::min(a, b) : std::max(a, b);
      if (!fits)
        return std::nullopt;
      result.push_back(value);
    }
    return result;
  }

  bool isLargest;
};

} // namespace

std::optional<SmallVector<int64_t>> trn::largestOf(Value value) { return Bound(/*isLargest=*/true).of(value); }
std::optional<SmallVector<int64_t>> trn::leastOf(Value value) { return Bound(/*isLargest=*/false).of(value); }

/// Makes the operand that a record moves to `name` that attribute. False when the operation does not take it: an error
/// that the next visit reports.
static bool setSizes(Operation *op, Value operand, StringRef name, Attribute sizes) {
  op->setAttr(name, sizes);
  for (OpOperand &each : op->getOpOperands())
    if (each.get() == operand && each.getOperandNumber() + 1 == op->getNumOperands()) {
      op->eraseOperand(each.getOperandNumber());
      break;
    }
  Inference inference(op);
  if (failed(inference.run()))
    return false;
  inference.commit();
  return llvm::all_of(op->getResults(), isStaticTensor);
}

/// Binds `count` to dimension `dim` of all results.
static void bindResults(Operation *op, Value count, int64_t dim) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Value bound = bindCount(builder, op->getLoc(), {result, count, dim, /*zeros=*/false});
    result.replaceAllUsesExcept(bound, bound.getDefiningOp());
  }
}

/// The one size, `fromEnd` from the end, of a reshaped tensor that the run decides follows from its elements: it is the open
/// one, and what is open in `shape` is known. False where the sizes do not divide the largest tensor.
static bool openDecided(RankedTensorType x, SmallVectorImpl<int64_t> &shape, int64_t fromEnd) {
  int64_t known = 1, open = -1;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == 0 && int64_t(i) < x.getRank())
      size = x.getDimSize(i);
    if (size == -1)
      open = i;
    else
      known *= size;
  }
  if (open >= 0) {
    if (known <= 0 || x.getNumElements() % known != 0)
      return false;
    shape[open] = x.getNumElements() / known;
  }
  shape[shape.size() - fromEnd] = -1;
  return true;
}

/// A result whose shape is an operand: counted where the elements of that operand are.
static bool boundShape(Operation *op, Value x, Value shape) {
  if (!shape)
    return false;
  std::optional<SmallVector<int64_t>> largest = largestOf(shape), least = leastOf(shape);
  if (!largest || !least)
    return false;
  std::optional<Counted> counted = countedOf(x);
  SmallVector<int64_t> decided; // from the end
  for (auto [i, size] : llvm::enumerate(*largest))
    if (size != (*least)[i])
      decided.push_back(int64_t(largest->size() - i));
  // What is reshaped brings its count along, and what is expanded, too, if it is the same.
  const bool isReshape = llvm::isa<ReshapeOp>(op);
  if (isReshape ? decided.size() > (counted ? 1 : 0)
                : decided.size() > 1 || (counted && !decided.empty() && decided.front() != typeOf(x).getRank() - counted->dim))
    return false;
  if (isReshape && counted && !decided.empty() && !openDecided(typeOf(x), *largest, decided.front()))
    return false;
  OpBuilder builder(op);
  Value count;
  if (!counted && !decided.empty())
    count = CountWriter(builder, op->getLoc()).element(shape, int64_t(largest->size()) - decided.front());
  if (setSizes(op, shape, "shape", builder.getDenseI64ArrayAttr(*largest)) && count)
    bindResults(op, count, typeOf(op->getResult(0)).getRank() - decided.front());
  return true;
}

/// The first numbers of the longest range.
static bool boundRange(RangeOp range) {
  std::optional<Constant> start = Constant::get(range.getStart()), delta = Constant::get(range.getDelta());
  std::optional<SmallVector<int64_t>> limit = Bound(true).of(range.getLimit());
  auto type = dyn_cast<RankedTensorType>(range.getLimit().getType());
  if (!start || !delta || start->size() != 1 || delta->size() != 1 || !limit || limit->size() != 1 ||
      Constant::get(range.getLimit()) || delta->integer(0) <= 0 || !type.getElementType().isInteger())
    return false;
  const int64_t first = start->integer(0), step = delta->integer(0);
  int64_t distance = 0;
  if (__builtin_sub_overflow(limit->front(), first, &distance) || distance > kMostCounted)
    return false;
  const int64_t length = llvm::divideCeil(std::max<int64_t>(0, distance), step);
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < length; ++i)
    numbers.push_back(first + i * step);
  OpBuilder builder(range);
  CountWriter write(builder, range.getLoc());
  Value count = write.quotient(write.least0(write.minus(write.element(range.getLimit(), 0), first)), step);
  Value whole = write.integers(numbers, {length}, type.getElementType());
  range.replaceAllUsesWith(bindCount(builder, range.getLoc(), {whole, count, 0, false}));
  range.erase();
  return true;
}

/// At most all elements of the axis.
static bool boundTopK(TopKOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getX().getType());
  Value operand = op.getKOperand();
  if (!operand || !isStaticTensor(operand) || !type || !type.hasStaticShape() || type.getRank() == 0)
    return false;
  const int64_t axis = int64_t(op.getAxis()) + (int64_t(op.getAxis()) < 0 ? type.getRank() : 0);
  if (axis < 0 || axis >= type.getRank())
    return false;
  OpBuilder builder(op);
  CountWriter write(builder, op.getLoc());
  int64_t most = type.getDimSize(axis);
  if (std::optional<SmallVector<int64_t>> largest = Bound(true).of(operand))
    most = std::min(most, largest->front());
  Value count = write.element(operand, 0);
  if (setSizes(op, operand, "k", builder.getI64IntegerAttr(most)))
    bindResults(op, count, axis);
  return true;
}

bool trn::boundSizes(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ConstantOfShapeOp>([](auto op) { return boundShape(op, Value(), op.getShapeOperand()); })
      .Case<ExpandOp, ReshapeOp>([](auto op) { return boundShape(op, op.getX(), op.getShapeOperand()); })
      .Case<RangeOp>([](RangeOp op) { return boundRange(op); })
      .Case<TopKOp>([](TopKOp op) { return boundTopK(op); })
      .Case<SliceOp>([](SliceOp op) {
        return (op.getStartsOperand() || op.getEndsOperand()) && takeSlice(op, /*mayBeOfRun=*/true);
      })
      .Default([](Operation *) { return false; });
}

bool trn::writeSizes(Operation *op) {
  if (!llvm::isa<ShapeOp, SizeOp>(op) || !countedOf(op->getOperand(0)) || !isStaticTensor(op->getResult(0)))
    return false;
  OpBuilder builder(op);
  CountWriter write(builder, op->getLoc());
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < typeOf(op->getResult(0)).getNumElements(); ++i)
    sizes.push_back(write.reshape(write.element(op->getResult(0), i), {1}));
  Value result = sizes.empty() ? write.integers({}, {0}, builder.getI64Type()) : write.concat(sizes, 0);
  op->getResult(0).replaceAllUsesWith(write.reshape(result, typeOf(op->getResult(0)).getShape()));
  op->erase();
  return true;
}

std::string trn::countedWords(Operation *op) {
  for (Value operand : op->getOperands())
    if (std::optional<Counted> counted = countedOf(operand))
      return "the run decides how many elements of what node '" + originOf(counted->count.getLoc()).node + "' makes are valid";
  return "";
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

LogicalResult trn::endCounts(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  LogicalResult result = success();
  llvm::SmallPtrSet<Operation *, 4> reported;
  SmallVector<CountedOp> all;
  function.walk([&](CountedOp counted) { all.push_back(counted); });
  for (CountedOp counted : all)
    for (Operation *user : counted->getUsers()) {
      if (user == terminator || !reported.insert(user).second)
        continue;
      std::string reason;
      (void)takeCounted(user, /*isInferred=*/true, reason);
      emitError(user->getLoc())
          << "expected an operand whose size is known, but " << countedWords(user) << (reason.empty() ? "" : ", and ")
          << reason << "; end the model before this node";
      result = failure();
    }
  if (failed(result))
    return failure();
  OpBuilder builder(terminator);
  const unsigned results = terminator->getNumOperands();
  for (unsigned number = 0; number < results; ++number) {
    std::optional<Counted> counted = countedOf(terminator->getOperand(number));
    if (!counted)
      continue;
    CountWriter write(builder, counted->count.getLoc());
    terminator->setOperand(number, counted->whole);
    const unsigned added = terminator->getNumOperands();
    auto name = function.getResultAttrOfType<StringAttr>(number, "onnx.name");
    Value count = write.reshape(write.cast(counted->count, builder.getI32Type()), {1});
    terminator->insertOperands(added, count);
    function.setResultAttr(number, "onnx.count", builder.getI64IntegerAttr(added));
    function.setResultAttr(number, "onnx.count_dim", builder.getI64IntegerAttr(counted->dim));
    (void)function.insertResult(
        added, count.getType(),
        builder.getDictionaryAttr(builder.getNamedAttr(
            "onnx.name", builder.getStringAttr((name ? name.getValue() : "result").str() + ".count"))));
  }
  for (CountedOp counted : all)
    if (counted.use_empty())
      counted.erase();
  return success();
}
