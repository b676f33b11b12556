//===- ControlFlow.cpp - bodies resolved while compiling ------------------===//
#include "passes/Graph/ControlFlow.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Control.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"
#include "passes/Graph/Sequences.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

/// More steps than any recurrence that is worth unrolling, and more operations than a program holds: without a bound, a
/// small file could expand without end.
static constexpr int64_t kMaxSteps = 4096, kMaxOperations = 1 << 20;

bool trn::isControlFlow(Operation *op) { return llvm::isa<IfOp, LoopOp, ScanOp, SequenceMapOp>(op); }

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
  Resolver(Operation *op, VisitOperation visit) : op(op), visit(visit), builder(op), write(builder, op->getLoc()) {}

  Resolution resolve(IfOp branch, bool atRunTime) {
    std::optional<int64_t> condition = constantScalar(branch.getCondition());
    if (condition)
      return replace(inlineBody(*condition ? branch.getThenBranch() : branch.getElseBranch(), {}));
    if (!atRunTime || !isStaticTensor(branch.getCondition()))
      return Resolution::NotYet;
    SmallVector<Value> taken = inlineBody(branch.getThenBranch(), {});
    SmallVector<Value> other = inlineBody(branch.getElseBranch(), {}), results;
    for (auto [a, b] : llvm::zip_equal(taken, other)) {
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
    return replace(results);
  }

  Resolution resolve(LoopOp loop, bool atRunTime) {
    std::optional<int64_t> trips, condition = 1;
    if (loop.getTripCount() && !(trips = constantScalar(loop.getTripCount())))
      return atRunTime && isStaticTensor(loop.getTripCount())
                 ? refuse("the number of steps is known at run time only; bind that input with --const-input")
                 : Resolution::NotYet;
    if (loop.getCondition() && !(condition = constantScalar(loop.getCondition())) &&
        !(atRunTime && isStaticTensor(loop.getCondition())))
      return Resolution::NotYet;
    SmallVector<Value> carried(loop.getCarried());
    size_t scanned = loop->getNumResults() - carried.size();
    SmallVector<SmallVector<Value>> slices(scanned);
    Value active = condition ? Value() : loop.getCondition();
    if (condition && !*condition)
      trips = 0;
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
      std::optional<int64_t> more = constantScalar(yielded[0]);
      if (more && !*more)
        break;
      if (more)
        continue;
      if (!isStaticTensor(yielded[0]) || (!trips && step + 1 == kMaxSteps))
        return refuse("the loop's condition is known at run time only; export the model with a number of steps");
      if (scanned)
        return refuse("the number of steps, and with it the size of a result, is known at run time only");
      active = active ? write.op("And", {scalar(active), scalar(yielded[0])}) : yielded[0];
    }
    for (size_t i = 0; i < scanned; ++i)
      if (failed(stack(slices[i], 0, carried)))
        return Resolution::Refused;
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
    for (Value input : map.getInputs()) {
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
      for (auto [list, input] : llvm::zip_equal(lists, map.getInputs()))
        arguments.push_back(list ? (*list)[step] : Value(input));
      for (auto [part, value] : llvm::zip_equal(parts, inlineBody(map.getBody(), arguments)))
        part.push_back(value);
    }
    SmallVector<Value> results;
    for (auto [part, result] : llvm::zip_equal(parts, map.getResults()))
      results.push_back(writeSequence(builder, op->getLoc(), part, cast<SequenceType>(result.getType()).getElement()));
    return replace(results);
  }

private:
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
  Value select(Value condition, Value a, Value b) { return a == b ? a : write.where(scalar(condition), a, b); }

  /// One position along an axis, which disappears.
  Value sliceAt(Value x, int64_t axis, int64_t position) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    shape.erase(shape.begin() + axis);
    Operation *before = op->getPrevNode();
    return folded(before, write.reshape(write.slice(x, axis, position, position + 1), shape)).front();
  }

  /// Appends the parts, joined along a new axis, to `results`.
  LogicalResult stack(ArrayRef<Value> parts, int64_t axis, SmallVectorImpl<Value> &results) {
    unsigned number = results.size();
    if (parts.empty()) {
      if (!op->getResult(number).use_empty())
        return refuse("the loop does no step: the shape of a scanned result is not known"), failure();
      results.push_back(op->getResult(number)); // Nothing reads it.
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
  OpBuilder builder;
  GraphWriter write;
  int64_t written = 0;
};

} // namespace

Resolution trn::resolveControlFlow(Operation *op, bool atRunTime, VisitOperation visit) {
  Resolver resolver(op, visit);
  if (auto branch = dyn_cast<IfOp>(op))
    return resolver.resolve(branch, atRunTime);
  if (auto loop = dyn_cast<LoopOp>(op))
    return resolver.resolve(loop, atRunTime);
  if (auto map = dyn_cast<SequenceMapOp>(op))
    return resolver.resolve(map);
  return resolver.resolve(cast<ScanOp>(op), atRunTime);
}
