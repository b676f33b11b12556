//===- ControlFlow.cpp - bodies resolved while compiling ------------------===//
#include "passes/Graph/ControlFlow.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Composite.h"
#include "dialects/ONNX/Ops/Control.h"
#include "passes/Graph/BranchCost.h"
#include "passes/Graph/Counted.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"
#include "passes/Graph/Sequences.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

/// More steps than any recurrence that is worth unrolling, and more operations than a program holds: without a bound, a
/// small file could expand without end.
static constexpr int64_t kMaxSteps = 4096, kMaxOperations = 1 << 20;

/// More steps than these are not computed only to be dropped when a condition ends them before.
static constexpr int64_t kSelectedSteps = 8;
/// A round of a long loop does as many steps as divide their number, up to these, so that what a round costs besides its
/// steps (two barriers, weights, carried values through memory) is shared; and no more operations than a part compiles fast.
static constexpr int64_t kStepsOfRound = 16, kOperationsOfRound = 1024;
/// What a register counts to.
static constexpr int64_t kMaxCount = std::numeric_limits<int32_t>::max();

bool trn::isControlFlow(Operation *op) { return llvm::isa<IfOp, LoopOp, ScanOp, SequenceMapOp, FlexAttentionOp>(op); }

namespace {

bool isStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

/// The single bool or integer of a constant; none when the value is not one.
std::optional<int64_t> constantScalar(Value value) {
  std::optional<Constant> constant = Constant::get(value);
  return constant && constant->size() == 1 ? std::optional<int64_t>(constant->integer(0)) : std::nullopt;
}

class Resolver {
public:
  Resolver(Operation *op, VisitOperation visit, const isa::DeviceInfo &device)
      : op(op), visit(visit), device(device), builder(op), write(builder, op->getLoc()) {}

  Resolution resolve(IfOp branch, bool atRunTime) {
    std::optional<int64_t> condition = constantScalar(branch.getCondition());
    if (condition)
      return replace(inlineBody(*condition ? branch.getThenBranch() : branch.getElseBranch(), {}));
    if (!atRunTime || !isStaticTensor(branch.getCondition()))
      return Resolution::NotYet;
    for (Region &body : branch->getRegions())
      if (!inferBody(body.front()))
        return Resolution::Refused;
    SmallVector<Joined> joined = joinSizes(branch);
    if (isLeftToDevice(branch))
      return writeBranch(branch, joined);
    SmallVector<Value> taken = inlineBody(branch.getThenBranch(), {});
    SmallVector<Value> other = inlineBody(branch.getElseBranch(), {}), results;
    for (auto [a, b] : llvm::zip_equal(taken, other)) {
      if (isAbsent(a) != isAbsent(b))
        return refuse("the condition is known at run time only, and one of the branches gives an optional without an "
                      "element; bind the condition's input with --const-input");
      std::optional<SmallVector<Value>> ofA = sequenceElements(a), ofB = sequenceElements(b);
      if (auto list = dyn_cast<SequenceType>(a.getType()); list && ofA && ofB && ofA->size() == ofB->size()) {
        SmallVector<Value> elements;
        for (auto [x, y] : llvm::zip_equal(*ofA, *ofB)) {
          if (!isStaticTensor(x) || x.getType() != y.getType())
            return refuse("the condition is known at run time only, and the branches give sequences of a " +
                          text(x.getType()) + " and a " + text(y.getType()) +
                          "; bind the condition's input with --const-input");
          elements.push_back(select(branch.getCondition(), x, y));
        }
        results.push_back(writeSequence(builder, op->getLoc(), elements, list.getElement()));
        continue;
      }
      if (!isStaticTensor(a) || a.getType() != b.getType())
        return refuse("the condition is known at run time only, and the branches give a " + text(a.getType()) +
                      " and a " + text(b.getType()) + "; bind the condition's input with --const-input");
      results.push_back(select(branch.getCondition(), a, b));
    }
    return replace(bindJoined(joined, results));
  }

  Resolution resolve(LoopOp loop, bool atRunTime) {
    std::optional<int64_t> trips, condition = 1;
    if (loop.getCondition())
      condition = constantScalar(loop.getCondition());
    if (condition && !*condition)
      trips = 0;
    else if (loop.getTripCount() && !(trips = constantScalar(loop.getTripCount())))
      return atRunTime && isStaticTensor(loop.getTripCount())
                 ? repeat(loop, 0, loop.getCarried(), loop.getTripCount(), runTimeCondition(loop), std::nullopt)
                 : Resolution::NotYet;
    if (!condition && !(atRunTime && isStaticTensor(loop.getCondition())))
      return Resolution::NotYet;
    if (trips && *trips > kUnrolledSteps && dependsOnRun(loop))
      return atRunTime ? repeat(loop, 0, loop.getCarried(), Value(), runTimeCondition(loop), trips)
                       : Resolution::NotYet;
    SmallVector<Value> carried(loop.getCarried());
    size_t scanned = loop->getNumResults() - carried.size();
    SmallVector<SmallVector<Value>> slices(scanned);
    Value active = condition ? Value() : loop.getCondition(), done; // steps, where the run decides them
    if (active && (!trips || *trips > kSelectedSteps))
      return repeat(loop, 0, carried, Value(), active, trips);
    for (int64_t step = 0; !trips || step < *trips; ++step) {
      if (step == kMaxSteps || !underLimit())
        return refuse("the loop unrolls to more than " + std::to_string(step) + " steps");
      Value number = write.integers({step}, {}, builder.getI64Type());
      Value truth = active ? active : flag(true);
      SmallVector<Value> arguments = {number, truth};
      llvm::append_range(arguments, carried);
      SmallVector<Value> yielded = inlineBody(loop.getBody(), arguments);
      for (size_t i = 0; i < carried.size(); ++i) {
        Value next = yielded[1 + i];
        if (active && (!isStaticTensor(next) || next.getType() != carried[i].getType()))
          return refuse("whether a step is done is known at run time only, and a carried value changes from " +
                        text(carried[i].getType()) + " to " + text(next.getType()));
        carried[i] = active ? select(active, next, carried[i]) : next;
      }
      for (size_t i = 0; i < scanned; ++i)
        slices[i].push_back(yielded[1 + carried.size() + i]);
      if (active && scanned) {
        Value one = write.cast(scalar(active), builder.getI64Type());
        done = write.add(done ? done : write.integers({step}, {}, builder.getI64Type()), one);
      }
      std::optional<int64_t> more = constantScalar(yielded[0]);
      if (more && !*more)
        break;
      if (more)
        continue;
      if (!isStaticTensor(yielded[0]))
        return refuse("the size of the loop's condition is known at run time only");
      if (!active && (!trips || *trips - step > kSelectedSteps))
        return repeat(loop, step + 1, carried, Value(), yielded[0], trips, slices);
      active = active ? write.op("And", {scalar(active), scalar(yielded[0])}) : yielded[0];
    }
    if (scanned && slices.front().empty() && !inferUndone(loop.getBody().front(), carried, 2, scanned))
      return Resolution::Refused;
    for (size_t i = 0; i < scanned; ++i) {
      if (failed(stack(slices[i], 0, carried)))
        return Resolution::Refused;
      if (done)
        carried.back() = bindCount(builder, op->getLoc(), {carried.back(), done, 0, /*zeros=*/false});
    }
    return replace(carried);
  }

  Resolution resolve(ScanOp scan, bool atRunTime) {
    int64_t scanned = scan.getNumScanInputs(), states = int64_t(scan.getInputs().size()) - scanned, steps = -1;
    SmallVector<int64_t> axes;
    for (int64_t i = 0; i < scanned; ++i) {
      Value input = scan.getInputs()[states + i];
      if (!isStaticTensor(input))
        return Resolution::NotYet;
      int64_t rank = typeOf(input).getRank(), axis = at(scan.getScanInputAxes(), i);
      axis += axis < 0 ? rank : 0;
      if (axis < 0 || axis >= rank)
        return refuse("expected an axis of a tensor of rank " + std::to_string(rank) + " to scan");
      axes.push_back(axis);
      int64_t size = typeOf(input).getDimSize(axis);
      if (steps >= 0 && size != steps)
        return refuse("expected scanned inputs of one length but got " + std::to_string(steps) + " and " +
                      std::to_string(size));
      steps = size;
    }
    if (steps > kUnrolledSteps && dependsOnRun(scan))
      return atRunTime ? repeatScan(scan, axes, steps) : Resolution::NotYet;
    SmallVector<Value> carried(scan.getInputs().take_front(states));
    SmallVector<SmallVector<Value>> slices(scan->getNumResults() - states);
    for (int64_t step = 0; step < steps; ++step) {
      if (step == kMaxSteps || !underLimit())
        return refuse("the scan unrolls to more than " + std::to_string(step) + " steps");
      SmallVector<Value> arguments = carried;
      for (int64_t i = 0; i < scanned; ++i) {
        int64_t position = at(scan.getScanInputDirections(), i) ? steps - 1 - step : step;
        arguments.push_back(sliceAt(scan.getInputs()[states + i], axes[i], position));
      }
      SmallVector<Value> yielded = inlineBody(scan.getBody(), arguments);
      carried.assign(yielded.begin(), yielded.begin() + states);
      for (size_t i = 0; i < slices.size(); ++i)
        slices[i].push_back(yielded[states + i]);
    }
    if (steps == 0 && !slices.empty()) {
      SmallVector<Value> arguments = carried;
      for (int64_t i = 0; i < scanned; ++i) {
        SmallVector<int64_t> shape(typeOf(scan.getInputs()[states + i]).getShape());
        shape.erase(shape.begin() + axes[i]);
        arguments.push_back(write.constant(cast<ElementsAttr>(builder.getZeroAttr(
            RankedTensorType::get(shape, typeOf(scan.getInputs()[states + i]).getElementType())))));
      }
      if (!inferUndone(scan.getBody().front(), arguments, 0, slices.size()))
        return Resolution::Refused;
    }
    for (auto [i, parts] : llvm::enumerate(slices)) {
      if (at(scan.getScanOutputDirections(), i))
        std::reverse(parts.begin(), parts.end());
      if (failed(stack(parts, at(scan.getScanOutputAxes(), i), carried)))
        return Resolution::Refused;
    }
    return replace(carried);
  }

  Resolution resolve(SequenceMapOp map) {
    SmallVector<std::optional<SmallVector<Value>>> lists;
    for (Value input : map->getOperands()) {
      bool isList = llvm::isa<SequenceType>(input.getType());
      lists.push_back(isList ? sequenceElements(input) : std::nullopt);
      if (isList && !lists.back())
        return Resolution::NotYet;
      if (isList && lists.back()->size() != lists.front()->size())
        return refuse("expected sequences of one length but got " + std::to_string(lists.front()->size()) + " and " +
                      std::to_string(lists.back()->size()));
    }
    SmallVector<SmallVector<Value>> parts(map->getNumResults());
    for (size_t step = 0; step < lists.front()->size(); ++step) {
      if (!underLimit())
        return refuse("the map writes more than " + std::to_string(kMaxOperations) + " operations");
      SmallVector<Value> arguments;
      for (auto [list, input] : llvm::zip_equal(lists, map->getOperands()))
        arguments.push_back(list ? (*list)[step] : Value(input));
      for (auto [part, value] : llvm::zip_equal(parts, inlineBody(map.getBody(), arguments)))
        part.push_back(value);
    }
    SmallVector<Value> results;
    for (auto [part, result] : llvm::zip_equal(parts, map.getResults()))
      results.push_back(writeSequence(builder, op->getLoc(), part, cast<SequenceType>(result.getType()).getElement()));
    return replace(results);
  }

  /// Query heads that share a key head are rows of one product.
  Resolution resolve(FlexAttentionOp flex) {
    if (!llvm::all_of(flex->getOperands(), isStaticTensor))
      return Resolution::NotYet;
    ArrayRef<int64_t> q = typeOf(flex.getQ()).getShape(), v = typeOf(flex.getV()).getShape();
    const int64_t batch = q[0], heads = q[1], rows = q[2], kvHeads = v[1], columns = v[2];
    const int64_t grouped = kvHeads ? heads / kvHeads * rows : 0;
    Type element = typeOf(flex.getQ()).getElementType();
    Type precise = flex.getSoftmaxPrecision().value_or(element.isF64() ? element : Type(builder.getF32Type()));
    const double scale = flex.getScale() ? flex.getScale()->convertToDouble() : 1 / std::sqrt(double(q[3]));
    Value queries = write.mul(flex.getQ(), write.scalar(scale, flex.getQ()));
    Value scores = write.matMul(write.reshape(queries, {batch, kvHeads, grouped, q[3]}),
                                write.transpose(flex.getK(), {0, 1, 3, 2}));
    std::optional<Value> modified =
        inlineModifier(flex.getScoreMod(), write.cast(write.reshape(scores, {batch, heads, rows, columns}), precise));
    if (!modified)
      return Resolution::Refused;
    modified = inlineModifier(flex.getProbMod(), write.op("Softmax", {*modified}, write.integer("axis", 3)));
    if (!modified)
      return Resolution::Refused;
    Value y = write.matMul(write.reshape(*modified, {batch, kvHeads, grouped, columns}), write.cast(flex.getV(), precise));
    return replace(write.cast(write.reshape(y, {batch, heads, rows, v[3]}), element));
  }

private:
  /// What a body of FlexAttention makes of a tensor; the tensor itself without a body, none after an error.
  std::optional<Value> inlineModifier(Region &body, Value x) {
    if (!FlexAttentionOp::isGiven(body))
      return x;
    Type expected = getElementTypeOrSelf(body.getArgument(0).getType()), given = typeOf(x).getElementType();
    if (expected != given)
      return refuse("expected a body that takes elements of '" + text(given) + "', the precision of the softmax, but got '" +
                    text(expected) + "'"),
             std::nullopt;
    Value y = inlineBody(body, x).front();
    if (y.getType() != x.getType())
      return refuse("expected a body that gives a " + text(x.getType()) + " but got a " + text(y.getType())), std::nullopt;
    return y;
  }

  /// A result of a branch whose bodies give it another size, or a counted one, along a dimension.
  struct Joined {
    unsigned result;
    int64_t dim;
  };

  /// Whether the device takes one way: the bodies give tensors of the same types, and cost more than to branch
  /// (BranchCost.h).
  bool isLeftToDevice(IfOp branch) const {
    Block &taken = branch.getThenBranch().front(), &other = branch.getElseBranch().front();
    for (auto [a, b] : llvm::zip_equal(taken.getTerminator()->getOperands(), other.getTerminator()->getOperands()))
      if (!isStaticTensor(a) || a.getType() != b.getType() || countedOf(a) || countedOf(b))
        return false;
    return isBranchWorth(taken, other, device);
  }

  /// Leaves a branch to the device, as `onnx.branch`, with the results that are read.
  Resolution writeBranch(IfOp branch, ArrayRef<Joined> joined) {
    OperandRange yielded = branch.getThenBranch().front().getTerminator()->getOperands();
    llvm::BitVector unread(yielded.size());
    SmallVector<Type> types;
    for (auto [i, value] : llvm::enumerate(yielded)) {
      if (i < branch->getNumResults() && branch->getResult(i).use_empty())
        unread.set(i);
      else
        types.push_back(value.getType());
    }
    auto left = BranchOp::create(builder, op->getLoc(), types, scalar(branch.getCondition()));
    SmallVector<Value> results;
    for (unsigned i = 0, next = 0; i < unread.size(); ++i)
      results.push_back(unread.test(i) ? Value(branch->getResult(i)) : Value(left->getResult(next++)));
    for (auto [from, to] : llvm::zip_equal(branch->getRegions(), left->getRegions())) {
      to.takeBody(from);
      to.front().getTerminator()->eraseOperands(unread);
    }
    return replace(bindJoined(joined, results));
  }

  /// Makes both bodies give the larger size where they differ in one dimension, and how much of it is valid as one more
  /// result for each of those that are returned.
  SmallVector<Joined> joinSizes(IfOp branch) {
    SmallVector<Joined> joined;
    Operation *ends[] = {branch.getThenBranch().front().getTerminator(), branch.getElseBranch().front().getTerminator()};
    for (unsigned i = 0; i < branch->getNumResults(); ++i) {
      std::optional<int64_t> dim;
      if (branch->getResult(i).use_empty() || !(dim = differingDim(ends[0]->getOperand(i), ends[1]->getOperand(i))))
        continue;
      int64_t size = 0;
      for (Operation *end : ends)
        size = std::max(size, typeOf(end->getOperand(i)).getDimSize(*dim));
      for (Operation *end : ends) {
        Value value = end->getOperand(i);
        std::optional<Counted> counted = countedOf(value);
        OpBuilder inner(end);
        GraphWriter in(inner, op->getLoc());
        const int64_t own = typeOf(value).getDimSize(*dim);
        end->setOperand(i, padded(in, counted ? counted->whole : value, *dim, size));
        end->insertOperands(end->getNumOperands(),
                            counted ? counted->count : in.integers({own}, {}, builder.getI64Type()));
      }
      joined.push_back({i, *dim});
    }
    return joined;
  }

  /// The only dimension along which two tensors have other sizes or counts; none if there is none, or another difference.
  static std::optional<int64_t> differingDim(Value a, Value b) {
    if (!isStaticTensor(a) || !isStaticTensor(b) || typeOf(a).getRank() != typeOf(b).getRank() ||
        typeOf(a).getElementType() != typeOf(b).getElementType())
      return std::nullopt;
    llvm::SmallDenseSet<int64_t> dims;
    for (Value value : {a, b})
      if (std::optional<Counted> counted = countedOf(value))
        dims.insert(counted->dim);
    for (int64_t dim = 0; dim < typeOf(a).getRank(); ++dim)
      if (typeOf(a).getDimSize(dim) != typeOf(b).getDimSize(dim))
        dims.insert(dim);
    return dims.size() == 1 ? std::optional<int64_t>(*dims.begin()) : std::nullopt;
  }

  /// `value` with zeros behind along a dimension.
  Value padded(GraphWriter &in, Value value, int64_t dim, int64_t size) {
    SmallVector<int64_t> rest(typeOf(value).getShape());
    rest[dim] = size - rest[dim];
    if (rest[dim] == 0)
      return value;
    auto type = RankedTensorType::get(rest, typeOf(value).getElementType());
    Value zeros = in.constant(cast<ElementsAttr>(builder.getZeroAttr(type)));
    return typeOf(value).getDimSize(dim) == 0 ? zeros : in.concat({value, zeros}, dim);
  }

  /// The results of a branch, with the counts that follow them.
  SmallVector<Value> bindJoined(ArrayRef<Joined> joined, ArrayRef<Value> results) {
    SmallVector<Value> bound(results.drop_back(joined.size()));
    for (auto [i, each] : llvm::enumerate(joined))
      bound[each.result] = bindCount(builder, op->getLoc(),
                                     {bound[each.result], results[bound.size() + i], each.dim, /*zeros=*/false});
    return bound;
  }

  static constexpr const char *kScannedSize =
      "the number of steps, and with it the size of a result, is known at run time only, and nothing bounds it; bind what "
      "decides it with --const-input, or take the smaller one of it and a constant in the model";

  /// The condition to begin with; none when it is known to hold.
  static Value runTimeCondition(LoopOp loop) {
    return loop.getCondition() && !constantScalar(loop.getCondition()) ? loop.getCondition() : Value();
  }

  /// Whether data of the run goes into the loop: without, it only makes a constant.
  static bool dependsOnRun(Operation *loop) {
    auto isData = [](Value value) { return !Constant::get(value); };
    if (llvm::any_of(loop->getOperands(), isData))
      return true;
    return loop
        ->walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            if (!loop->isAncestor(operand.getParentRegion()->getParentOp()) && isData(operand))
              return WalkResult::interrupt();
          return WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Leaves the steps from `first` on to the device, as `onnx.repeat`: the body is inferred once, for values that have the
  /// same types in every step. Results that steps add to have their whole size from the beginning.
  /// Where the run decides their size, they have the largest one, and a count. `done` are the slices of the steps before.
  Resolution repeat(LoopOp loop, int64_t first, ValueRange carried, Value count, Value condition,
                    std::optional<int64_t> trips, ArrayRef<SmallVector<Value>> done = {}) {
    for (Value value : carried) {
      if (!isStaticTensor(value))
        return refuse("the number of steps is known at run time only, and the loop carries a " +
                      text(value.getType()) + "; bind what decides it with --const-input");
      if (countedOf(value))
        return refuse("the number of steps is known at run time only, and the loop carries a tensor of which the run "
                      "decides how much is valid; bind what decides it with --const-input");
    }
    Block &body = loop.getBody().front();
    typeArguments(body, carried);
    if (!inferBody(body))
      return Resolution::Refused;
    auto yield = cast<YieldOp>(body.getTerminator());
    SmallVector<Value> yielded(yield.getOperands());
    std::optional<int64_t> more = constantScalar(yielded[0]);
    if (!more && !isStaticTensor(yielded[0]))
      return refuse("the size of the loop's condition is known at run time only");
    for (auto [before, after] : llvm::zip_equal(carried, ArrayRef(yielded).slice(1, carried.size())))
      if (before.getType() != after.getType())
        return refuse("the number of steps is known at run time only, and a carried value changes from " +
                      text(before.getType()) + " to " + text(after.getType()));
    const bool isExact = trips && !count && !condition && more && *more;
    std::optional<int64_t> most = trips;
    if (std::optional<SmallVector<int64_t>> largest = count ? largestOf(count) : std::nullopt)
      most = std::max<int64_t>(0, std::min(most.value_or(largest->front()), largest->front()));
    if (loop->getNumResults() > carried.size() && !most)
      return refuse(kScannedSize);
    if (!trips && !count && !condition && more && *more)
      return refuse("the loop has no end: neither a number of steps nor a condition");
    return writeRepeat(loop, first, carried, count, condition, trips, more, most.value_or(0), isExact, done);
  }

  /// A long scan as a loop of the device: a step gathers its slices, and its results are put in order behind the loop.
  Resolution repeatScan(ScanOp scan, ArrayRef<int64_t> axes, int64_t steps) {
    Block &body = scan.getBody().front();
    const unsigned states = scan.getInputs().size() - axes.size();
    OpBuilder inner = OpBuilder::atBlockBegin(&body);
    GraphWriter in(inner, op->getLoc());
    Value number = body.insertArgument(0u, RankedTensorType::get({}, builder.getI64Type()), op->getLoc());
    body.insertArgument(1u, RankedTensorType::get({}, builder.getI1Type()), op->getLoc());
    for (auto [i, axis] : llvm::enumerate(axes)) {
      Value position = at(scan.getScanInputDirections(), i)
                           ? in.sub(in.integers({steps - 1}, {}, builder.getI64Type()), number)
                           : number;
      BlockArgument slice = body.getArgument(2 + states);
      slice.replaceAllUsesWith(in.op("Gather", {scan.getInputs()[states + i], position}, in.integer("axis", axis)));
      body.eraseArgument(slice.getArgNumber());
    }
    SmallVector<Value> yielded(body.getTerminator()->getOperands());
    yielded.insert(yielded.begin(), in.constant(DenseElementsAttr::get(RankedTensorType::get({}, builder.getI1Type()), true)));
    body.getTerminator()->setOperands(yielded);
    auto loop = LoopOp::create(builder, op->getLoc(), scan.getResultTypes(),
                               write.integers({steps}, {}, builder.getI64Type()), Value(),
                               scan.getInputs().take_front(states));
    loop.getBody().takeBody(scan.getBody());
    auto holder = YieldOp::create(builder, op->getLoc(), loop.getResults());
    Resolution done = Resolver(loop, visit, device).repeat(loop, 0, loop.getCarried(), Value(), Value(), steps);
    SmallVector<Value> results(holder.getOperands());
    holder.erase();
    if (done != Resolution::Resolved) {
      scan.getBody().takeBody(loop.getBody()); // what is refused stays whole
      loop.erase();
      return done;
    }
    for (auto [i, result] : llvm::enumerate(MutableArrayRef(results).drop_front(states)))
      if (failed(placeScanned(result, at(scan.getScanOutputAxes(), i), at(scan.getScanOutputDirections(), i), steps)))
        return Resolution::Refused;
    return replace(results);
  }

  /// Steps along dimension 0 as steps along `axis`, the last one first with `reversed`.
  LogicalResult placeScanned(Value &result, int64_t axis, bool reversed, int64_t steps) {
    const int64_t rank = typeOf(result).getRank();
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      return refuse("expected an axis of a tensor of rank " + std::to_string(rank) + " for a scanned result"), failure();
    if (reversed) {
      SmallVector<int64_t> order;
      for (int64_t step = steps; step-- > 0;)
        order.push_back(step);
      result = write.op("Gather", {result, write.integers(order, {steps}, builder.getI64Type())}, write.integer("axis", 0));
    }
    SmallVector<int64_t> permutation;
    for (int64_t i = 1; i < rank; ++i)
      permutation.push_back(i);
    permutation.insert(permutation.begin() + axis, 0);
    if (axis != 0)
      result = write.transpose(result, permutation);
    return success();
  }

  /// The arguments of a body for the device: the number of the step and the carried values, of the types that they have.
  void typeArguments(Block &body, ValueRange carried) {
    OpBuilder inner = OpBuilder::atBlockBegin(&body);
    body.getArgument(0).setType(RankedTensorType::get({}, builder.getI64Type()));
    // A step that is done is one for which the condition holds.
    body.getArgument(1).replaceAllUsesWith(GraphWriter(inner, op->getLoc()).constant(DenseElementsAttr::get(
        RankedTensorType::get({}, builder.getI1Type()), true)));
    body.eraseArgument(1);
    for (auto [argument, value] : llvm::zip_equal(body.getArguments().drop_front(), carried))
      argument.setType(value.getType());
  }

  /// Infers, folds and resolves the operations of a body where they stand; false when one is refused.
  bool inferBody(Block &body) {
    bool taken = true;
    for (Operation *inner = &body.front(), *next; inner != body.getTerminator(); inner = next) {
      Operation *before = inner->getPrevNode();
      next = inner->getNextNode();
      visit(inner);
      const bool stays = next->getPrevNode() == inner;
      if (stays && isControlFlow(inner))
        taken &= resolveControlFlow(inner, /*atRunTime=*/true, visit, device) != Resolution::Refused;
      else if (!stays) // what has taken its place is looked at
        next = before ? before->getNextNode() : &body.front();
    }
    return taken;
  }

  /// `most` steps give slices, all of them when `isExact`; `done` are those of the steps before `first`.
  Resolution writeRepeat(LoopOp loop, int64_t first, ValueRange carried, Value count, Value condition,
                         std::optional<int64_t> trips, std::optional<int64_t> more, int64_t most, bool isExact,
                         ArrayRef<SmallVector<Value>> done) {
    Block &body = loop.getBody().front();
    auto yield = cast<YieldOp>(body.getTerminator());
    OpBuilder inner(yield);
    GraphWriter in(inner, op->getLoc());
    SmallVector<Value> yielded(yield.getOperands()), operands = {write.integers({first}, {}, builder.getI64Type())};
    llvm::append_range(operands, carried);
    SmallVector<Value> ends;
    if (condition || !more)
      ends.push_back(in.reshape(yielded[0], {}));
    if (!condition && !more)
      condition = flag(true);
    Value number = body.getArgument(0);
    SmallVector<Value> slices(ArrayRef(yielded).drop_front(1 + carried.size()));
    for (Value slice : slices)
      if (!isStaticTensor(slice) || countedOf(slice))
        return refuse("the size of a slice that a step gives is known at run time only");
    const int64_t together = isExact && first == 0 ? stepsOfRound(body, *trips) : 1;
    if (together > 1)
      repeatBody(body, in, together, yielded, slices);
    ends.push_back(in.add(number, in.integers({together}, {}, builder.getI64Type())));
    ends.append(yielded.begin() + 1, yielded.begin() + 1 + carried.size());
    Value due;
    if (!slices.empty()) {
      SmallVector<int64_t> steps(most / together);
      std::iota(steps.begin(), steps.end(), -first);
      operands.push_back(write.integers(steps, {most / together}, builder.getI64Type()));
      due = body.addArgument(operands.back().getType(), op->getLoc());
      ends.push_back(in.sub(due, in.integers({1}, {}, builder.getI64Type())));
    }
    for (auto [i, slice] : llvm::enumerate(slices)) {
      for (Value before : done.empty() ? ArrayRef<Value>() : ArrayRef<Value>(done[i]))
        if (before.getType() != slice.getType())
          return refuse("expected each step to give a scanned result of one shape but got " + text(before.getType()) +
                        " and " + text(slice.getType()));
      ends.push_back(placeSlice(body, in, slice, due, most / together, done.empty() ? ArrayRef<Value>() : done[i], operands));
    }
    int64_t limit = std::min((trips.value_or(kMaxCount + first) - first) / together, kMaxCount);
    if (more && !*more)
      limit = std::min<int64_t>(limit, 1);
    yield->setOperands(ends);
    if (count && limit < kMaxCount)
      count = write.op("Min", {scalar(count), write.integers({limit}, {}, builder.getI64Type())});
    auto repeat = RepeatOp::create(builder, op->getLoc(), TypeRange(ValueRange(operands)),
                                   count ? scalar(count) : Value(), condition ? scalar(condition) : Value(), operands,
                                   builder.getI64IntegerAttr(count ? kMaxCount : limit));
    repeat.getBody().takeBody(loop.getBody());
    SmallVector<Value> results(repeat.getResults().drop_front());
    if (due)
      results.erase(results.begin() + carried.size());
    for (Value &result : MutableArrayRef(results).drop_front(carried.size()))
      if (together > 1) {
        SmallVector<int64_t> shape(typeOf(result).getShape().drop_front());
        shape.front() = most;
        result = write.reshape(result, shape);
      }
    for (size_t i = carried.size(); i < results.size() && !isExact; ++i)
      results[i] = bindCount(builder, op->getLoc(), {results[i], repeat.getResult(0), 0, /*zeros=*/true});
    return replace(results);
  }

  static int64_t stepsOfRound(Block &body, int64_t trips) {
    int64_t operations = 0;
    bool hasControl = false;
    body.walk([&](Operation *inner) {
      ++operations;
      hasControl |= llvm::isa<RepeatOp, BranchOp>(inner);
    });
    for (int64_t steps = kStepsOfRound; steps > 1 && !hasControl; --steps)
      if (trips % steps == 0 && steps * operations <= kOperationsOfRound)
        return steps;
    return 1;
  }

  /// Does `steps` steps in a body: what the last one yields, and the slices of all of them, joined along a new dimension.
  void repeatBody(Block &body, GraphWriter &in, int64_t steps, MutableArrayRef<Value> yielded, MutableArrayRef<Value> slices) {
    SmallVector<Operation *> operations;
    for (Operation &inner : body.without_terminator())
      operations.push_back(&inner);
    const SmallVector<Value> once(yielded);
    const size_t carried = body.getNumArguments() - 1;
    SmallVector<SmallVector<Value>> all;
    for (Value slice : slices)
      all.push_back({slice});
    for (int64_t step = 1; step < steps; ++step) {
      IRMapping mapping;
      mapping.map(body.getArgument(0), in.add(body.getArgument(0), in.integers({step}, {}, builder.getI64Type())));
      mapping.map(body.getArguments().drop_front(), ValueRange(yielded.slice(1, carried)));
      for (Operation *inner : operations)
        in.b.clone(*inner, mapping);
      for (auto [to, from] : llvm::zip_equal(yielded, once))
        to = mapping.lookupOrDefault(from);
      for (auto [i, parts] : llvm::enumerate(all))
        parts.push_back(yielded[1 + carried + i]);
    }
    for (auto [slice, parts] : llvm::zip_equal(slices, all)) {
      SmallVector<int64_t> one = {1};
      llvm::append_range(one, typeOf(slice).getShape());
      SmallVector<Value> rows;
      for (Value part : parts)
        rows.push_back(in.reshape(part, one));
      slice = in.concat(rows, 0);
    }
  }

  /// A result of `steps` slices as a carried value of its full size: this step replaces the slice that is
  /// due in 0 steps, as `due` says for each; a step's number would have to reach every slice from one place on chip.
  /// `done` are the slices that are there when the loop begins.
  Value placeSlice(Block &body, GraphWriter &in, Value slice, Value due, int64_t steps, ArrayRef<Value> done,
                   SmallVectorImpl<Value> &operands) {
    RankedTensorType type = typeOf(slice);
    SmallVector<int64_t> whole = {steps}, one = {1}, numbers(type.getRank() + 1, 1);
    llvm::append_range(whole, type.getShape());
    llvm::append_range(one, type.getShape());
    numbers.front() = steps;
    auto wholeType = RankedTensorType::get(whole, type.getElementType());
    SmallVector<Value> start;
    for (Value each : done)
      start.push_back(write.reshape(each, one));
    if (steps > int64_t(done.size())) {
      SmallVector<int64_t> rest(whole);
      rest.front() -= int64_t(done.size());
      auto restType = RankedTensorType::get(rest, type.getElementType());
      start.push_back(write.constant(cast<ElementsAttr>(builder.getZeroAttr(restType))));
    }
    operands.push_back(write.concat(start, 0));
    Value before = body.addArgument(wholeType, op->getLoc());
    Value here = in.op("Equal", {in.reshape(due, numbers), in.integers({0}, {}, builder.getI64Type())});
    return in.where(here, in.reshape(slice, one), before);
  }

  static int64_t at(std::optional<ArrayRef<int64_t>> list, size_t i) {
    return list && i < list->size() ? (*list)[i] : 0;
  }

  static std::string text(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  Resolution refuse(const std::string &reason) {
    emitError(op->getLoc()) << reason;
    return Resolution::Refused;
  }

  Resolution replace(ArrayRef<Value> values) {
    op->replaceAllUsesWith(values);
    op->erase();
    return Resolution::Resolved;
  }

  bool underLimit() { return (written += int64_t(op->getRegion(0).front().getOperations().size())) < kMaxOperations; }

  /// A copy of the body before the operation, inferred and folded; what it yields.
  SmallVector<Value> inlineBody(Region &body, ArrayRef<Value> arguments) {
    IRMapping mapping;
    mapping.map(body.getArguments(), arguments);
    Operation *before = op->getPrevNode();
    for (Operation &inner : body.front().without_terminator())
      builder.clone(inner, mapping);
    return folded(before, llvm::map_to_vector(body.front().back().getOperands(),
                                              [&](Value value) { return mapping.lookupOrDefault(value); }));
  }

  /// `values` after everything behind `before` is inferred and folded.
  SmallVector<Value> folded(Operation *before, ArrayRef<Value> values) {
    // Folding replaces what the holder reads.
    auto holder = YieldOp::create(builder, op->getLoc(), values);
    Operation *first = before ? before->getNextNode() : &op->getBlock()->front();
    for (Operation *next; first != holder; first = next) {
      next = first->getNextNode();
      visit(first);
    }
    SmallVector<Value> results(holder->getOperands());
    holder->erase();
    return results;
  }

  Value flag(bool value) {
    return write.constant(DenseElementsAttr::get(RankedTensorType::get({}, builder.getI1Type()), value));
  }
  Value scalar(Value x) { return write.reshape(x, {}); }
  /// What only one way reads is read on both then: readers prove nothing about what they read any more.
  Value select(Value condition, Value a, Value b) {
    op->getParentOfType<func::FuncOp>()->setAttr("onnx.selects_ways", builder.getUnitAttr());
    return a == b ? a : write.where(scalar(condition), a, b);
  }

  /// One position along an axis, which disappears.
  Value sliceAt(Value x, int64_t axis, int64_t position) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    shape.erase(shape.begin() + axis);
    Operation *before = op->getPrevNode();
    return folded(before, write.reshape(write.slice(x, axis, position, position + 1), shape)).front();
  }

  /// Infers a body of which no step is done, for the types of its last `scanned` results. `arguments` are those from number
  /// `first` on.
  bool inferUndone(Block &body, ArrayRef<Value> arguments, unsigned first, size_t scanned) {
    if (first > 0) {
      body.getArgument(0).setType(RankedTensorType::get({}, builder.getI64Type()));
      body.getArgument(1).setType(RankedTensorType::get({}, builder.getI1Type()));
    }
    for (auto [argument, value] : llvm::zip_equal(body.getArguments().drop_front(first), arguments))
      argument.setType(value.getType());
    if (!inferBody(body))
      return false;
    OperandRange yielded = body.getTerminator()->getOperands();
    for (Value value : yielded.take_back(scanned)) {
      if (!isStaticTensor(value) && !op->getResult(op->getNumResults() - scanned + undone.size()).use_empty())
        return refuse("the loop does no step, and the shape of a scanned result is not known"), false;
      undone.push_back(dyn_cast<RankedTensorType>(value.getType()));
    }
    return true;
  }

  /// Appends the parts, joined along a new axis, to `results`; of a loop without steps a tensor without elements.
  LogicalResult stack(ArrayRef<Value> parts, int64_t axis, SmallVectorImpl<Value> &results) {
    if (parts.empty() && op->getResult(results.size()).use_empty()) {
      results.push_back(op->getResult(results.size()));
      return success();
    }
    if (parts.empty()) {
      const size_t scanned = results.size() - (op->getNumResults() - undone.size());
      SmallVector<int64_t> shape(undone[scanned].getShape());
      axis += axis < 0 ? int64_t(shape.size()) + 1 : 0;
      if (axis < 0 || axis > int64_t(shape.size()))
        return refuse("expected an axis of a tensor of rank " + std::to_string(shape.size() + 1) + " for a scanned result"),
               failure();
      shape.insert(shape.begin() + axis, 0);
      results.push_back(write.constant(makeConstant(RankedTensorType::get(shape, undone[scanned].getElementType()), {})));
      return success();
    }
    for (Value part : parts)
      if (!isStaticTensor(part) || part.getType() != parts.front().getType())
        return refuse("expected each step to give a scanned result of one shape but got " +
                      text(parts.front().getType()) + " and " + text(part.getType())),
               failure();
    SmallVector<int64_t> shape(typeOf(parts.front()).getShape());
    int64_t rank = int64_t(shape.size()) + 1;
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      return refuse("expected an axis of a tensor of rank " + std::to_string(rank) + " for a scanned result"),
             failure();
    shape.insert(shape.begin() + axis, 1);
    SmallVector<Value> slices;
    for (Value part : parts)
      slices.push_back(write.reshape(part, shape));
    results.push_back(write.concat(slices, axis));
    return success();
  }

  Operation *op;
  VisitOperation visit;
  const isa::DeviceInfo &device;
  OpBuilder builder;
  GraphWriter write;
  int64_t written = 0;
  SmallVector<RankedTensorType> undone; ///< the slices of a loop that does no step
};

} // namespace

Resolution trn::resolveControlFlow(Operation *op, bool atRunTime, VisitOperation visit, const isa::DeviceInfo &device) {
  Resolver resolver(op, visit, device);
  if (auto branch = dyn_cast<IfOp>(op))
    return resolver.resolve(branch, atRunTime);
  if (auto loop = dyn_cast<LoopOp>(op))
    return resolver.resolve(loop, atRunTime);
  if (auto map = dyn_cast<SequenceMapOp>(op))
    return resolver.resolve(map);
  if (auto flex = dyn_cast<FlexAttentionOp>(op))
    return resolver.resolve(flex);
  return resolver.resolve(cast<ScanOp>(op), atRunTime);
}
