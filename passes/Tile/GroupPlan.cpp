//===- GroupPlan.cpp - which operations of @main form a group --------------===//
// Implements GroupPlan.h.
#include "passes/Tile/GroupPlan.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tile/Structure.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trn {

static bool isIn(Value value, isa::Space space) { return ir::spaceOf(value.getType()) == space; }
static bool isInHbm(Value value) { return isIn(value, isa::Space::HBM); }

StringRef name(Group::Kind kind) {
  switch (kind) {
  case Group::Kind::Contraction:
    return "contraction";
  case Group::Kind::Lanewise:
    return "lanewise";
  case Group::Kind::Movement:
    return "movement";
  }
  llvm_unreachable("unknown kind");
}

bool isSunkIntoGroups(Operation *op) {
  bool isConstant = op->hasTrait<OpTrait::ConstantLike>() && op->getNumOperands() == 0;
  // An unsigned constant is a signless one behind a cast.
  if (isConstant || llvm::isa<UnrealizedConversionCastOp>(op))
    return !llvm::isa<RankedTensorType>(op->getResult(0).getType());
  if (llvm::isa<tensor::ExtractSliceOp>(op))
    return true;
  if (!llvm::isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return false;
  // Reshapes on chip, and of what is written in parts; other reshapes in HBM are views that the caller can make.
  auto isPartOfWriting = [](OpOperand &use) {
    auto destination = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return llvm::isa<tensor::InsertSliceOp>(use.getOwner()) || (destination && destination.isDpsInit(&use));
  };
  return !isInHbm(op->getResult(0)) || op->getOperand(0).getDefiningOp<tensor::ExtractSliceOp>() ||
         llvm::any_of(op->getUses(), isPartOfWriting);
}

/// The operation that writes into the destination of `fill` next: a border belongs to the tensor it surrounds.
static Operation *nextWriter(linalg::FillOp fill) {
  Value version = fill.getResult(0);
  for (;;) {
    Operation *next = nullptr;
    for (Operation *user : version.getUsers()) {
      auto structured = dyn_cast<linalg::LinalgOp>(user);
      auto insertion = dyn_cast<tensor::InsertSliceOp>(user);
      if (structured && llvm::is_contained(structured.getDpsInits(), version)) {
        auto other = dyn_cast<linalg::FillOp>(user);
        return other ? nextWriter(other) : user;
      }
      if (insertion || llvm::isa<tensor::ExtractSliceOp>(user))
        next = user;
    }
    if (!next)
      return nullptr;
    version = next->getResult(0);
  }
}

/// Whether `collapse` gives a tensor in HBM, written through an expansion of it, its own shape again. It belongs to whoever
/// writes last, so that a group returns what it was given.
static bool endsWriting(tensor::CollapseShapeOp collapse) {
  Value written = collapse.getSrc();
  while (Operation *producer = written.getDefiningOp()) {
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(producer))
      written = insertion.getDest();
    else if (auto structured = dyn_cast<linalg::LinalgOp>(producer))
      written = structured.getDpsInits()[0];
    else
      break;
  }
  auto expand = written.getDefiningOp<tensor::ExpandShapeOp>();
  return expand && written != collapse.getSrc() && expand.getSrcType() == collapse.getResultType() &&
         isInHbm(collapse.getResult()) && !isSunkIntoGroups(collapse);
}

/// Whether `value` is a view of a tensor in HBM with a reshape on the way.
static bool isReshapedInHbm(Value value) {
  while (Operation *producer = value.getDefiningOp()) {
    if (llvm::isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(producer))
      return isInHbm(value);
    if (!llvm::isa<tensor::ExtractSliceOp>(producer))
      return false;
    value = producer->getOperand(0);
  }
  return false;
}

/// Whether `value` is loaded from HBM for the group that reads it alone.
static linalg::LinalgOp loadOfGroup(Value value) {
  auto load = value.getDefiningOp<linalg::LinalgOp>();
  return load && llvm::isa<linalg::CopyOp, linalg::TransposeOp>(load) && isInHbm(load.getDpsInputs()[0]) &&
                 !ir::spaceOf(load.getDpsInits()[0].getType())
             ? load
             : linalg::LinalgOp();
}

GroupPlan::GroupPlan(func::FuncOp main, const GroupOptions &options) : options(options) {
  SmallVector<linalg::FillOp> fills;
  for (Operation &op : main.getBody().front()) {
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      if (nextWriter(fill)) {
        fills.push_back(fill);
        continue;
      }
      // A fill that nobody writes into is a tensor of its own.
      list.push_back({Group::Kind::Lanewise, {}, 1});
      add(fill, list.size() - 1);
      continue;
    }
    if (op.getNumResults() == 1 && loadOfGroup(op.getResult(0)))
      continue; // with its reader
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      int64_t group = join(structured);
      add(structured, group);
      for (Value input : structured.getDpsInputs())
        if (linalg::LinalgOp load = loadOfGroup(input); load && !assignment.count(load))
          add(load, group);
    } else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
      if (int64_t group = latestProducer(insertion.getSource()); group >= 0)
        add(insertion, group);
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op); collapse && endsWriting(collapse)) {
      add(collapse, latestProducer(collapse.getSrc()));
    }
    // Fills seen so far belong to the operation that writes around or into them next.
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      int64_t group = assignment.lookup(structured);
      llvm::erase_if(fills, [&](linalg::FillOp waiting) {
        if (nextWriter(waiting) != structured && !assignment.count(nextWriter(waiting)))
          return false;
        add(waiting, group);
        return true;
      });
    }
  }
  // Insertions of fills follow them.
  for (Operation &op : main.getBody().front())
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
      if (!assignment.count(insertion))
        if (int64_t group = latestProducer(insertion.getSource()); group >= 0)
          add(insertion, group);
  for (Group &group : list)
    llvm::sort(group.operations, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

void GroupPlan::add(Operation *op, int64_t group) {
  assignment[op] = group;
  list[group].operations.push_back(op);
  if (llvm::isa<linalg::LinalgOp>(op) && !llvm::isa<linalg::FillOp>(op))
    ++list[group].size;
}

int64_t GroupPlan::groupOf(Operation *op) const {
  auto found = assignment.find(op);
  return found == assignment.end() ? -1 : found->second;
}

int64_t GroupPlan::latestProducer(Value value) const {
  Operation *producer = value.getDefiningOp();
  if (!producer)
    return -1;
  if (auto found = assignment.find(producer); found != assignment.end())
    return found->second;
  int64_t latest = -1;
  if (llvm::isa<linalg::FillOp>(producer))
    return latest;
  for (Value operand : producer->getOperands())
    latest = std::max(latest, latestProducer(operand));
  return latest;
}

/// Whether `op` carries elements from one memory or order to another and computes nothing.
static bool isMovement(linalg::LinalgOp op) {
  if (llvm::isa<linalg::TransposeOp>(op))
    return true;
  if (!llvm::isa<linalg::CopyOp>(op))
    return false;
  Value source = op.getDpsInputs()[0];
  return isInHbm(source) || isInHbm(op.getDpsInits()[0]) || isIn(source, isa::Space::SBUF);
}

int64_t GroupPlan::join(linalg::LinalgOp op) {
  std::optional<Structure> structure = Structure::get(op);
  bool movement = isMovement(op);
  bool contraction =
      structure && structure->kind == Structure::Kind::Contraction && !ir::spaceOf(op.getDpsInits()[0].getType());
  auto startNew = [&](Group::Kind kind) {
    list.push_back({kind, {}, 0});
    return static_cast<int64_t>(list.size()) - 1;
  };

  // The next part of an accumulation, the drain of an accumulator and the next block of a movement stay together.
  int64_t destination = latestProducer(op.getDpsInits()[0]);
  int64_t latest = -1;
  for (Value input : op.getDpsInputs())
    latest = std::max(latest, latestProducer(input));
  for (OpOperand *table : gatheredTables(op))
    latest = std::max(latest, latestProducer(table->get()));
  if (contraction) {
    if (destination >= 0 && destination >= latest)
      return destination;
    // Further parts of the same operation, which the layout took apart.
    int64_t last = static_cast<int64_t>(list.size()) - 1;
    if (last >= 0 && list[last].kind == Group::Kind::Contraction && latest < last &&
        list[last].size < options.maxOperations &&
        llvm::all_of(list[last].operations, [&](Operation *other) { return other->getLoc() == op.getLoc(); }))
      return last;
    return startNew(Group::Kind::Contraction);
  }
  if (llvm::isa<linalg::CopyOp, linalg::TransposeOp>(op) && !ir::spaceOf(op.getDpsInputs()[0].getType()))
    return latest;
  if (movement)
    return destination >= 0 && destination >= latest && list[destination].kind == Group::Kind::Movement
               ? destination
               : startNew(Group::Kind::Movement);

  bool isMap = structure && structure->kind == Structure::Kind::Map;
  int64_t candidate = std::max(latest, destination);
  // A tensor that is kept in HBM for want of room stays there: what reads it is another group.
  SmallVector<Value> sources = llvm::map_to_vector(op.getDpsInputs(), [](Value input) {
    linalg::LinalgOp load = loadOfGroup(input);
    return load ? load.getDpsInputs()[0] : input;
  });
  bool readsSpilled =
      llvm::any_of(sources, [&](Value input) { return isInHbm(input) && latestProducer(input) == candidate; });
  // Reshapes in HBM are the caller's: what reads a tensor through one reads it from HBM.
  bool readsReshaped = llvm::any_of(
      sources, [&](Value input) { return latestProducer(input) == candidate && isReshapedInHbm(input); });
  bool emptiesAccumulator =
      isMap && candidate >= 0 && list[candidate].kind == Group::Kind::Contraction && !readsReshaped;
  if (candidate < 0 || list[candidate].kind == Group::Kind::Movement || list[candidate].size >= options.maxOperations ||
      (isInHbm(op.getDpsInits()[0]) && !emptiesAccumulator) || (readsSpilled && !emptiesAccumulator))
    return startNew(Group::Kind::Lanewise);
  if (list[candidate].kind == Group::Kind::Lanewise || candidate == destination)
    return candidate;
  // Behind a contraction: only what reads its elements one by one, in its own order.
  if (!isMap)
    return startNew(Group::Kind::Lanewise);
  for (auto [index, input] : llvm::enumerate(op.getDpsInputs()))
    if (latestProducer(input) == candidate && structure->maps[index] == structure->maps[structure->resultIndex()])
      return candidate;
  return startNew(Group::Kind::Lanewise);
}

void GroupPlan::print(llvm::raw_ostream &os) const {
  os << "group plan: " << list.size() << " groups\n";
  for (auto [index, group] : llvm::enumerate(list)) {
    os << "  #" << index << " " << name(group.kind) << ":";
    std::string previous;
    for (Operation *op : group.operations) {
      if (!llvm::isa<linalg::LinalgOp>(op))
        continue;
      std::string text = op->getName().getStringRef().drop_front(strlen("linalg.")).str();
      if (auto named = dyn_cast<NameLoc>(op->getLoc()))
        text += " '" + named.getName().str() + "'";
      if (text != previous)
        os << " " << text;
      previous = text;
    }
    os << "\n";
  }
}

} // namespace trn
