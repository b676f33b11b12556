//===- FormGroups.cpp - gather operations into private functions -----------===//
// Owns tile-form-groups: outlines the groups of a GroupPlan. Views and scalar constants are repeated in every group
// that needs them; empty tensors that do not leave a group move into it and lose their space; equal functions are one.
#include "compiler/Support/PlanReport.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Tile/GroupPlan.h"
#include "passes/Tile/LayoutPasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_FORMGROUPSPASS
#include "passes/Tile/LayoutPasses.h.inc"

//===-- Cleaning a group -------------------------------------------------------===//

static bool sameSubset(tensor::ExtractSliceOp slice, tensor::InsertSliceOp insertion) {
  return slice.getStaticOffsets() == insertion.getStaticOffsets() &&
         slice.getStaticSizes() == insertion.getStaticSizes() &&
         slice.getStaticStrides() == insertion.getStaticStrides();
}

/// Whether the two are apart in some dimension.
static bool areDisjoint(tensor::ExtractSliceOp slice, tensor::InsertSliceOp insertion) {
  for (size_t dim = 0; dim < slice.getStaticOffsets().size(); ++dim) {
    int64_t begin = slice.getStaticOffsets()[dim], otherBegin = insertion.getStaticOffsets()[dim];
    int64_t end = begin + (slice.getStaticSizes()[dim] - 1) * slice.getStaticStrides()[dim] + 1;
    int64_t otherEnd = otherBegin + (insertion.getStaticSizes()[dim] - 1) * insertion.getStaticStrides()[dim] + 1;
    if (end <= otherBegin || otherEnd <= begin)
      return true;
  }
  return false;
}

/// A slice of what was just inserted is the inserted tensor; a slice beside an insertion does not need it.
static bool forwardSlices(func::FuncOp function) {
  bool changed = false;
  function.walk([&](tensor::ExtractSliceOp slice) {
    // The destination of an operation stays a slice of its root.
    auto insertion = slice.getSource().getDefiningOp<tensor::InsertSliceOp>();
    if (!insertion)
      return;
    if (sameSubset(slice, insertion) && slice.getType() == insertion.getSource().getType()) {
      for (OpOperand &use : llvm::make_early_inc_range(slice->getUses())) {
        auto destination = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
        if (destination && destination.isDpsInit(&use))
          continue;
        use.set(insertion.getSource());
        changed = true;
      }
    } else if (areDisjoint(slice, insertion)) {
      bool isDestination = llvm::any_of(slice->getUses(), [](OpOperand &use) {
        auto destination = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
        return destination && destination.isDpsInit(&use);
      });
      if (isDestination)
        return;
      slice.getSourceMutable().set(insertion.getDest());
      changed = true;
    }
  });
  return changed;
}

/// A copy of an accumulator into a tensor without a space is the accumulator: its readers drain PSUM themselves.
static bool forwardAccumulators(func::FuncOp function) {
  bool changed = false;
  function.walk([&](linalg::CopyOp copy) {
    if (copy.getInputs()[0].getType() != copy.getResult(0).getType() || ir::spaceOf(copy.getResult(0).getType()) ||
        copy.getResult(0).use_empty())
      return;
    copy.getResult(0).replaceAllUsesWith(copy.getInputs()[0]);
    changed = true;
  });
  return changed;
}

/// Whether `value`, written into a slice, is only read: by operations, or by those that write over it and are only read.
/// Collects it and what is written over it into `values`.
static bool isOnlyRead(Value value, SmallVectorImpl<Value> &values) {
  values.push_back(value);
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    auto structured = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!structured || structured->getNumResults() != 1)
      return false;
    return !structured.isDpsInit(&use) || isOnlyRead(structured->getResult(0), values);
  });
}

/// A destination on chip is a slice of its tensor because the result is inserted there. Where all readers were forwarded
/// and the insertion is gone, the result is a tensor of the group's own: in place it would only keep the readers of the
/// rest of the tensor waiting, or be copied for them with what nobody wrote.
static bool releaseDestinations(func::FuncOp function) {
  bool changed = false;
  function.walk([&](tensor::ExtractSliceOp slice) {
    RankedTensorType type = slice.getType();
    std::optional<isa::Space> space = ir::spaceOf(type);
    if (!space || *space == isa::Space::HBM || slice->use_empty())
      return;
    SmallVector<Value> values;
    for (OpOperand &use : slice->getUses()) {
      auto writer = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!writer || writer->getNumResults() != 1 || !writer.isDpsInit(&use) || writer.payloadUsesValueFromOperand(&use) ||
          !isOnlyRead(writer->getResult(0), values))
        return;
    }
    OpBuilder builder(slice);
    Value own = tensor::EmptyOp::create(builder, slice.getLoc(), type.getShape(), type.getElementType());
    slice.getResult().replaceAllUsesWith(own);
    for (Value value : values)
      value.setType(own.getType());
    changed = true;
  });
  return changed;
}

static void eraseUnused(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// A slice that was forwarded past an insertion which stays, and is done before the slice is read, reads what the insertion
/// gives: an older value would be kept for it by a copy of the whole tensor, with what nobody wrote.
static void readNewestValues(func::FuncOp function) {
  function.walk([](tensor::ExtractSliceOp slice) {
    bool isDestination = llvm::any_of(slice->getUses(), [](OpOperand &use) {
      auto destination = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
      return destination && destination.isDpsInit(&use);
    });
    auto newer = [&]() -> Value {
      for (Operation *user : slice.getSource().getUsers())
        if (auto insertion = dyn_cast<tensor::InsertSliceOp>(user);
            insertion && insertion.getDest() == slice.getSource() && insertion->getBlock() == slice->getBlock() &&
            insertion->isBeforeInBlock(slice) && areDisjoint(slice, insertion))
          return insertion.getResult();
      return Value();
    };
    while (Value value = isDestination ? Value() : newer())
      slice.getSourceMutable().set(value);
  });
}

static void cleanGroup(func::FuncOp function) {
  bool changed = true;
  while (changed) {
    changed = forwardSlices(function);
    changed |= forwardAccumulators(function);
    eraseUnused(function);
    changed |= releaseDestinations(function);
  }
  readNewestValues(function);
}

//===-- Outlining ---------------------------------------------------------------===//

namespace {
class GroupOutliner {
public:
  GroupOutliner(ModuleOp module, func::FuncOp main, const GroupPlan &plan)
      : module(module), plan(plan), builder(module.getContext()), block(main.getBody().front()) {}

  void run() {
    SmallVector<Operation *> old;
    for (Operation &op : block.without_terminator())
      old.push_back(&op);
    builder.setInsertionPoint(block.getTerminator());
    // What needs no group keeps its place in front of the calls; the rest is made when a call needs it.
    for (Operation *op : old)
      if (op->getNumOperands() == 0 || llvm::isa<bufferization::ToTensorOp, memref::ExpandShapeOp>(op))
        op->moveBefore(block.getTerminator());
    for (size_t group = 0; group < plan.groups().size(); ++group)
      outline(group);
    for (Operation *op : old)
      if (llvm::isa<bufferization::MaterializeInDestinationOp>(op))
        for (OpOperand &operand : op->getOpOperands())
          operand.set(outside(operand.get()));
    for (Operation *op : old)
      if (llvm::isa<bufferization::MaterializeInDestinationOp>(op))
        op->moveBefore(block.getTerminator());
    for (Operation *op : llvm::reverse(old))
      if (isOpTriviallyDead(op) || plan.groupOf(op) >= 0 || isReplacedView(op)) {
        op->dropAllUses();
        op->erase();
      }
  }

private:
  bool isReplacedView(Operation *op) const {
    return llvm::isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) && !calls.count(op);
  }

  /// The value of the new @main that stands for `value` of the old one.
  Value outside(Value value) {
    if (Value mapped = values.lookupOrNull(value))
      return mapped;
    Operation *producer = value.getDefiningOp();
    if (!producer || producer->getNumOperands() == 0 ||
        llvm::isa<bufferization::ToTensorOp, memref::ExpandShapeOp>(producer))
      return value;
    // A view in HBM, a library kernel, or a view of something that no group made.
    IRMapping mapping;
    for (Value operand : producer->getOperands())
      mapping.map(operand, outside(operand));
    Operation *copy = builder.clone(*producer, mapping);
    calls.insert(copy);
    values.map(producer->getResults(), copy->getResults());
    return values.lookup(value);
  }

  bool isInGroup(Operation *op, size_t group) const { return plan.groupOf(op) == static_cast<int64_t>(group); }

  /// Whether a result is read outside the group, directly or through views that other groups repeat.
  bool escapes(Value value, size_t group) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (isInGroup(user, group))
        return false;
      if (plan.groupOf(user) < 0 && isSunkIntoGroups(user))
        return escapes(user->getResult(0), group);
      return true;
    });
  }

  /// Whether anything written into `empty` leaves the group. A large model writes thousands of pieces one into the
  /// other, so the chain is followed with a list and each value once.
  bool destinationEscapes(Value empty, size_t group) const {
    SmallVector<Value> pending{empty};
    llvm::SmallDenseSet<Value, 8> seen{empty};
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      if (escapes(value, group))
        return true;
      for (OpOperand &use : value.getUses()) {
        Operation *user = use.getOwner();
        bool writes = false;
        if (auto destination = dyn_cast<DestinationStyleOpInterface>(user))
          writes = destination.isDpsInit(&use);
        if (llvm::isa<tensor::InsertSliceOp>(user))
          writes = use.getOperandNumber() == 1;
        bool views = llvm::isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) ||
                     (plan.groupOf(user) < 0 && isSunkIntoGroups(user));
        if ((writes || views) && user->getNumResults() == 1 && seen.insert(user->getResult(0)).second)
          pending.push_back(user->getResult(0));
      }
    }
    return false;
  }

  void outline(size_t group) {
    const Group &members = plan.groups()[group];
    Location loc = members.operations.back()->getLoc();
    OpBuilder inner(module.getContext());
    auto function = func::FuncOp::create(loc, ("g" + Twine(symbols.size())).str(), inner.getFunctionType({}, {}));
    function.setPrivate();
    Block *body = function.addEntryBlock();
    inner.setInsertionPointToStart(body);
    IRMapping mapping;
    SmallVector<Value> arguments;
    for (Operation *op : members.operations)
      cloneInto(inner, op, group, mapping, *body, arguments, loc);

    SmallVector<Value> results, innerResults;
    for (Operation *op : members.operations)
      for (Value result : op->getResults())
        if (escapes(result, group)) {
          results.push_back(result);
          innerResults.push_back(mapping.lookup(result));
        }
    func::ReturnOp::create(inner, loc, innerResults);
    function.setType(inner.getFunctionType(body->getArgumentTypes(), ValueRange(innerResults).getTypes()));
    cleanGroup(function);
    func::FuncOp symbol = unify(function);
    SmallVector<Value> operands = llvm::map_to_vector(arguments, [&](Value value) { return outside(value); });
    auto call = func::CallOp::create(builder, loc, symbol, operands);
    for (auto [oldResult, newResult] : llvm::zip_equal(results, call.getResults()))
      values.map(oldResult, newResult);
  }

  /// Clones `op` and the views it needs into the group; values from outside become arguments.
  void cloneInto(OpBuilder &inner, Operation *op, size_t group, IRMapping &mapping, Block &body,
                 SmallVectorImpl<Value> &arguments, Location loc) {
    auto need = [&](Value value) {
      if (mapping.contains(value))
        return;
      Operation *producer = value.getDefiningOp();
      if (producer && plan.groupOf(producer) < 0 && isSunkIntoGroups(producer))
        return cloneInto(inner, producer, group, mapping, body, arguments, loc);
      if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(producer); empty && !destinationEscapes(value, group)) {
        Value local = tensor::EmptyOp::create(inner, empty.getLoc(), empty.getType().getShape(),
                                              empty.getType().getElementType());
        return mapping.map(value, local);
      }
      mapping.map(value, body.addArgument(value.getType(), value.getLoc()));
      arguments.push_back(value);
    };
    for (Value operand : op->getOperands())
      need(operand);
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (operand.getParentBlock() == &block)
          need(operand);
    });
    if (op->getNumOperands() == 0 && op->hasTrait<OpTrait::ConstantLike>()) {
      Operation *&known = constants[{group, op->getAttrDictionary(), op->getResult(0).getType()}];
      if (known)
        return mapping.map(op->getResult(0), known->getResult(0));
      known = inner.clone(*op, mapping);
      return;
    }
    Operation *copy = inner.clone(*op, mapping);
    retype(copy);
  }

  /// Results of operations on tensors that lost their space have none, either.
  static void retype(Operation *op) {
    auto setLike = [&](Value like) {
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      auto other = cast<RankedTensorType>(like.getType());
      op->getResult(0).setType(RankedTensorType::get(type.getShape(), type.getElementType(), other.getEncoding()));
    };
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      setLike(structured.getDpsInits()[0]);
    else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
      setLike(insertion.getDest());
    else if (llvm::isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      setLike(op->getOperand(0));
  }

  /// The function of the module that equals `function`, which is added if there is none.
  func::FuncOp unify(func::FuncOp function) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    function.getFunctionType().print(stream);
    OpPrintingFlags flags;
    flags.printGenericOpForm().useLocalScope();
    // Values are numbered once for all operations: numbering them again for each takes minutes in long groups.
    AsmState numbering(function, flags);
    function.getBody().front().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getBlock() == &function.getBody().front()) {
        op->print(stream, numbering);
        stream << "\n";
      }
    });
    auto [entry, isNew] = symbols.insert({text, function});
    if (!isNew) {
      function.erase();
      return entry->second;
    }
    module.getBody()->getOperations().insert(Block::iterator(block.getParentOp()), function);
    return function;
  }

  ModuleOp module;
  const GroupPlan &plan;
  OpBuilder builder;
  Block &block;
  IRMapping values;
  llvm::SmallPtrSet<Operation *, 16> calls;
  std::map<std::string, func::FuncOp> symbols;
  /// Scalar constants that a group has.
  llvm::DenseMap<std::tuple<size_t, Attribute, Type>, Operation *> constants;
};

struct FormGroupsPass : public impl::FormGroupsPassBase<FormGroupsPass> {
  using FormGroupsPassBase::FormGroupsPassBase;
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    GroupPlan plan(main);
    if (printPlan)
      reportPlan(main, plan);
    if (plan.groups().empty())
      return;
    GroupOutliner(getOperation(), main, plan).run();
  }
};
} // namespace

} // namespace trn
