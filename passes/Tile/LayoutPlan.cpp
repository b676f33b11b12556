//===- LayoutPlan.cpp - the layout of every tensor of a function -----------===//
// Implements LayoutPlan.h: building and solving the choice problem, halos, residency, printing.
#include "passes/Tile/LayoutPlan.h"
#include "compiler/Support/Problems.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Tile/Pbqp.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>
#include <numeric>

using namespace mlir;

namespace trn {

/// The same on every device, a share of the smallest SBUF: temporaries do not shrink with it, so a plan that left them
/// less than there would be refused where SBUF is larger.
LayoutOptions::LayoutOptions(const isa::DeviceInfo &device, unsigned residentPercent,
                             ArrayRef<std::string> crowdedNodes)
    : costs(device) {
  int64_t smallest = device.sbufBytesUsable;
  for (const isa::DeviceInfo *other : isa::allDevices())
    smallest = std::min(smallest, other->sbufBytesUsable);
  residentBytes = residentPercent / 100.0 * smallest;
  for (const std::string &node : crowdedNodes)
    crowdedBytes[node] += kCrowdedPercent / 100.0 * smallest;
}

SmallVector<int64_t> Halo::pad(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> padded(shape);
  if (!empty())
    for (size_t dim = 0; dim < padded.size(); ++dim)
      padded[dim] += low[dim] + high[dim];
  return padded;
}

const LayoutCandidate *LayoutPlan::of(Operation *op) const {
  auto found = choices.find(op);
  return found == choices.end() ? nullptr : &found->second;
}

Layout LayoutPlan::home(Value value) const {
  const LayoutCandidate *candidate = value.getDefiningOp() ? of(value.getDefiningOp()) : nullptr;
  return candidate ? candidate->result : Layout::hbm();
}

std::optional<Layout> LayoutPlan::waypoint(Value value, const Layout &layout) const {
  auto type = cast<RankedTensorType>(value.getType());
  return costs.waypoint(type.getShape(), type.getElementType(), home(value), layout);
}

int64_t LayoutPlan::blockBytes(Value value, const Layout &middle, const Layout &layout) {
  auto type = cast<RankedTensorType>(value.getType());
  ArrayRef<int64_t> shape = type.getShape();
  PartitionSplit columns = partitionSplit(shape, layout);
  int64_t row = elementsPerLane(shape, middle) / partitionSplit(shape, middle).chunks;
  return row / columns.extent * columns.lanes * storedBytes(type.getElementType());
}

bool LayoutPlan::turnsByBlocks(Value value, const Layout &layout) const {
  if (!home(value).isHbm() || !layout.isOnChip())
    return false;
  std::optional<Layout> middle = waypoint(value, layout);
  return middle && middle->isOnChip() && blockBytes(value, *middle, layout) <= kBlockBytes;
}

const TensorForm *LayoutPlan::form(Value value, const Layout &layout) const {
  for (const TensorForm &form : forms)
    if (form.value == value && form.layout == layout)
      return &form;
  return nullptr;
}

const LayoutPlan::Piece *LayoutPlan::piece(Value value) const {
  auto found = pieces.find(value);
  return found == pieces.end() ? nullptr : &found->second;
}

/// Whether the op only provides the value with which another one starts, or a shape.
static bool isOnlyInit(Operation *op) {
  return llvm::isa<linalg::FillOp, tensor::EmptyOp>(op) && llvm::all_of(op->getUses(), [](OpOperand &use) {
           if (auto kernel = dyn_cast<ir::KernelOp>(use.getOwner()))
             return kernel.isDpsInit(&use);
           auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
           return user && (user.isDpsInit(&use) || isShapeOnly(user, use.getOperandNumber()));
         });
}

/// The operations of the function that take part in the choice.
static bool takesPart(Operation *op) {
  return (op->getNumResults() == 1 || llvm::isa<ir::KernelOp>(op)) &&
         llvm::isa<RankedTensorType>(op->getResult(0).getType()) &&
         !isConstantTensor(op->getResult(0)) && !isOnlyInit(op);
}

namespace {
/// Elements that `pad` adds, if their value is a constant.
std::optional<Halo> haloOf(tensor::PadOp pad) {
  Halo halo;
  halo.low.assign(pad.getStaticLow().begin(), pad.getStaticLow().end());
  halo.high.assign(pad.getStaticHigh().begin(), pad.getStaticHigh().end());
  Value padding = pad.getConstantPaddingValue();
  halo.fill = padding ? scalarConstant(padding) : nullptr;
  if (halo.empty())
    return std::nullopt;
  return halo;
}
} // namespace

class LayoutPlanner {
public:
  LayoutPlanner(func::FuncOp function, const LayoutOptions &options) : function(function), options(options), plan(options.costs) {}

  LayoutPlan run() {
    collect();
    if (!plan.failed()) {
      choose();
      collectForms();
      findPieces();
      growHalos();
      spill();
    }
    return std::move(plan);
  }

private:
  /// Numbers the operations and lists their candidates.
  void collect() {
    int64_t index = 0;
    for (Operation &op : function.getBody().front()) {
      position[&op] = index++;
      operations.push_back(&op);
      budgets.push_back(options.residentBytes - options.crowdedBytes.lookup(originOf(op.getLoc()).node));
      if (!takesPart(&op)) {
        if (op.getNumResults() > 1 && llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>))
          plan.problems.push_back({&op, "expected one result"});
        continue;
      }
      std::string reason;
      SmallVector<LayoutCandidate> list = layoutCandidates(&op, options.costs, reason);
      if (list.empty()) {
        plan.problems.push_back({&op, reason.empty() ? "no layout serves all of its operands" : reason});
        continue;
      }
      if (auto concat = dyn_cast<tensor::ConcatOp>(op))
        for (LayoutCandidate &candidate : list)
          candidate.nanoseconds += spillCost(concat, candidate.result);
      candidates.insert({&op, std::move(list)});
    }
  }

  /// What it costs that the result of `concat` in `layout` has no room on chip, whatever else is there: each piece is
  /// stored where it belongs in memory, in runs as long as the piece has elements beside each other there, and all of it is
  /// loaded again.
  double spillCost(tensor::ConcatOp concat, const Layout &layout) const {
    RankedTensorType type = concat.getResultType();
    const double bytes = storedBytes(type.getElementType());
    if (!layout.isOnChip() || elementsPerLane(type.getShape(), layout) * bytes <= options.residentBytes)
      return 0;
    const int64_t joined = concat.getDim(), rank = type.getRank(), lanes = partitionSplit(type.getShape(), layout).lanes;
    double behind = 1;
    for (int64_t dim = joined == layout.dim ? 0 : joined + 1; dim < rank; ++dim)
      behind *= dim == layout.dim ? 1 : type.getDimSize(dim);
    double cost = options.costs.dma(type.getNumElements() * bytes, elementsPerLane(type.getShape(), layout) * bytes, lanes);
    for (Value input : concat.getInputs()) {
      auto piece = cast<RankedTensorType>(input.getType());
      const double run = behind * (joined == layout.dim ? 1 : piece.getDimSize(joined));
      cost += options.costs.dma(piece.getNumElements() * bytes, run * bytes, lanes);
    }
    return cost;
  }

  /// Solves the choice problem.
  void choose() {
    PbqpProblem problem;
    llvm::DenseMap<Operation *, unsigned> nodeOf;
    for (auto &[op, list] : candidates) {
      std::vector<double> costs;
      for (const LayoutCandidate &candidate : list)
        costs.push_back(candidate.nanoseconds);
      nodeOf[op] = problem.addNode(std::move(costs));
    }
    for (auto &[op, list] : candidates) {
      SmallVector<OpOperand *> operands = layoutOperands(op);
      for (auto [index, operand] : llvm::enumerate(operands))
        addUse(problem, nodeOf, op, index, operand->get());
    }
    // Results of the function leave through row-major HBM.
    for (Value result : function.getBody().front().getTerminator()->getOperands())
      if (Operation *producer = result.getDefiningOp())
        if (auto found = candidates.find(producer); found != candidates.end()) {
          std::vector<double> costs;
          for (const LayoutCandidate &candidate : found->second)
            costs.push_back(convert(result, candidate.result, Layout::hbm()));
          problem.addEdge(nodeOf[producer], problem.addNode({0}), costs);
        }
    PbqpProblem::Solution solution = problem.solve();
    for (auto &[op, list] : candidates)
      plan.choices.insert({op, list[solution.choice[nodeOf[op]]]});
    plan.nanoseconds = solution.cost;
    plan.optimal = solution.exact;
  }

  static double elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

  double convert(Value value, const Layout &from, const Layout &to) const {
    auto type = cast<RankedTensorType>(value.getType());
    return options.costs.convert(type.getShape(), type.getElementType(), from, to);
  }

  /// Prices the edge by which operand `index` of `op` reads `value`.
  void addUse(PbqpProblem &problem, const llvm::DenseMap<Operation *, unsigned> &nodeOf, Operation *op, unsigned index,
              Value value) {
    if (isConstantTensor(value))
      return;
    const SmallVector<LayoutCandidate> &readers = candidates.find(op)->second;
    Operation *producer = value.getDefiningOp();
    auto found = candidates.find(producer);
    std::vector<double> costs;
    if (!producer || found == candidates.end()) {
      for (const LayoutCandidate &reader : readers)
        costs.push_back(convert(value, Layout::hbm(), reader.operands[index]));
      problem.addEdge(problem.addNode({0}), nodeOf.lookup(op), costs);
      return;
    }
    // A map that is alone in reading a contraction empties PSUM itself.
    auto saved = [&](const LayoutCandidate &writer, const LayoutCandidate &reader) {
      bool fuses = value.hasOneUse() && reader.form == LayoutCandidate::Form::Map &&
                   reader.operands[index] == writer.result && reader.result == writer.result;
      if (fuses)
        return writer.drain;
      // What is made on chip is stored where a concatenation in HBM puts it.
      bool stores = value.hasOneUse() && reader.form == LayoutCandidate::Form::Place && reader.result.isHbm() &&
                    writer.result.isOnChip() && llvm::isa<tensor::ConcatOp>(op);
      return stores ? reader.nanoseconds * elementsOf(value) / elementsOf(op->getResult(0)) : 0.0;
    };
    for (const LayoutCandidate &writer : found->second)
      for (const LayoutCandidate &reader : readers)
        costs.push_back(convert(value, writer.result, reader.operands[index]) - saved(writer, reader));
    problem.addEdge(nodeOf.lookup(producer), nodeOf.lookup(op), costs);
  }

  TensorForm &formOf(Value value, const Layout &layout, int64_t definition) {
    for (TensorForm &form : plan.forms)
      if (form.value == value && form.layout == layout)
        return form;
    TensorForm form;
    form.value = value;
    form.layout = layout;
    form.definition = definition;
    plan.forms.push_back(form);
    return plan.forms.back();
  }

  /// The forms of every tensor, in order of their making, with their uses. A view has no form of its own: its uses are
  /// uses of what it shows.
  void collectForms() {
    for (auto &[op, candidate] : plan.choices) {
      int64_t now = position[op];
      for (auto [index, operand] : llvm::enumerate(layoutOperands(op)))
        if (!isConstantTensor(operand->get()))
          use(operand->get(), candidate.operands[index], now, op);
      if (candidate.form == LayoutCandidate::Form::View)
        viewed[op->getResult(0)] = {op->getOperand(0), candidate.operands[0]};
      else
        for (Value result : op->getResults())
          formOf(result, candidate.result, now).emptiedInto = emptiedInto(result);
    }
    Operation *terminator = function.getBody().front().getTerminator();
    for (Value result : terminator->getOperands())
      if (!isConstantTensor(result))
        use(result, Layout::hbm(), position[terminator], terminator);
  }

  /// The result of the map that takes the accumulator `value` out of PSUM: the only one that reads it, in its layout.
  Value emptiedInto(Value value) const {
    const LayoutCandidate *writer = plan.of(value.getDefiningOp());
    if (!value.hasOneUse() || writer->form != LayoutCandidate::Form::Contraction)
      return {};
    Operation *user = *value.user_begin();
    const LayoutCandidate *reader = plan.of(user);
    bool empties = reader && reader->form == LayoutCandidate::Form::Map && reader->result == writer->result;
    return empties ? user->getResult(0) : Value();
  }

  void use(Value value, const Layout &layout, int64_t now, Operation *user) {
    if (auto found = viewed.find(value); found != viewed.end() && layout == plan.home(value))
      return use(found->second.first, found->second.second, now, user);
    if (layout != plan.home(value)) {
      Layout home = plan.home(value);
      use(value, plan.turnsByBlocks(value, layout) ? home : plan.waypoint(value, layout).value_or(home), now, user);
    }
    formOf(value, layout, now).uses.push_back(now);
  }

  /// Whether the storage of `value` can have `halo`: its operation makes the storage, and no dimension of one element,
  /// which has no physical dimension, is padded.
  static bool hasRoomFor(Value value, const Halo &halo) {
    if (value.getDefiningOp<tensor::PadOp>() || value.getDefiningOp<ir::KernelOp>())
      return false;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (shape[dim] == 1 && halo.low[dim] + halo.high[dim] > 0)
        return false;
    return true;
  }

  /// Whether operand `index` of `concat`, at position `offset` of the dimension, can be made inside the result: its
  /// elements have their lanes there, its operation makes its own storage, and nobody else reads it.
  bool isPiece(tensor::ConcatOp concat, const LayoutCandidate &candidate, unsigned index, int64_t offset) const {
    Value piece = concat.getInputs()[index];
    auto maker = piece.getDefiningOp<linalg::LinalgOp>();
    if (!maker || !plan.of(maker) || plan.of(maker)->form == LayoutCandidate::Form::Source || !piece.hasOneUse() ||
        candidate.result.isHbm() || candidate.operands[index] != candidate.result ||
        plan.home(piece) != candidate.result)
      return false;
    if (static_cast<int64_t>(concat.getDim()) != candidate.result.dim)
      return true;
    PartitionSplit part = partitionSplit(cast<RankedTensorType>(piece.getType()).getShape(), candidate.result),
                   whole = partitionSplit(concat.getResultType().getShape(), candidate.result);
    return part.lanes == whole.lanes && !part.isRagged() && offset % whole.lanes == 0;
  }

  /// Whether operand `index` of `concat`, in HBM, is made on chip and nobody else reads it: it is stored inside the result.
  bool isStoredPiece(tensor::ConcatOp concat, const LayoutCandidate &candidate, unsigned index) const {
    Value piece = concat.getInputs()[index];
    if (!candidate.result.isHbm() || !candidate.operands[index].isHbm() || !piece.hasOneUse())
      return false;
    // What lies in one lane and has no dimension that could stand for the lane is stored by way of memory of its own.
    ArrayRef<int64_t> shape = cast<RankedTensorType>(piece.getType()).getShape();
    Layout home = plan.home(piece);
    return home.isOnChip() && (!home.isOneLane() || llvm::is_contained(shape, 1));
  }

  /// The forms of `piece` on chip are read when it is made, and the one in HBM is the result of the concatenation.
  void storeEarly(Value piece) {
    int64_t made = position[piece.getDefiningOp()];
    llvm::erase_if(plan.forms, [&](const TensorForm &form) { return form.value == piece && form.layout.isHbm(); });
    for (TensorForm &form : plan.forms)
      if (form.value == piece) {
        form.definition = std::min(form.definition, made);
        form.uses.assign(1, made);
      }
  }

  /// Lets tensors be made where concatenations put them.
  void findPieces() {
    for (auto &[op, candidate] : plan.choices) {
      auto concat = dyn_cast<tensor::ConcatOp>(op);
      if (!concat)
        continue;
      SmallVector<int64_t> offsets(concat.getResultType().getRank(), 0);
      for (auto [index, input] : llvm::enumerate(concat.getInputs())) {
        int64_t &offset = offsets[concat.getDim()];
        if (isPiece(concat, candidate, index, offset)) {
          plan.pieces[input] = {concat.getResult(), candidate.result, offsets};
          TensorForm &whole = formOf(concat.getResult(), candidate.result, position[op]);
          whole.definition = std::min(whole.definition, position[input.getDefiningOp()]);
          Value piece = input;
          llvm::erase_if(plan.forms, [&](const TensorForm &form) { return form.value == piece; });
        } else if (isStoredPiece(concat, candidate, index)) {
          plan.pieces[input] = {concat.getResult(), candidate.result, offsets};
          storeEarly(input);
        }
        offset += cast<RankedTensorType>(input.getType()).getDimSize(concat.getDim());
      }
    }
  }

  /// Whether `pad`, in HBM, alone reads what is stored there of a tensor that was made on chip: it is stored with room
  /// for the padding. Other readers want it without gaps.
  bool isStoredFor(tensor::PadOp pad) {
    Value source = pad.getSource();
    return source.hasOneUse() && !plan.home(source).isHbm() && !isPlacedByConcats(pad) &&
           formOf(source, Layout::hbm(), 0).uses.size() == 1;
  }

  /// Gives the source of every on-chip pad room for the padding, and of those in HBM that are stored for it; pads of
  /// other values get storage of their own.
  void growHalos() {
    for (auto &[op, candidate] : plan.choices) {
      auto pad = dyn_cast<tensor::PadOp>(op);
      if (!pad || viewed.count(pad.getSource()) || isConstantTensor(pad.getSource()) ||
          (candidate.result.isHbm() && !isStoredFor(pad)))
        continue;
      std::optional<Halo> wanted = haloOf(pad);
      if (!wanted || !hasRoomFor(pad.getSource(), *wanted))
        continue;
      TensorForm &form = formOf(pad.getSource(), candidate.operands[0], position[op]);
      if (form.halo.empty()) {
        form.halo = *wanted;
      } else if (form.halo.fill == wanted->fill) {
        for (size_t dim = 0; dim < wanted->low.size(); ++dim) {
          form.halo.low[dim] = std::max(form.halo.low[dim], wanted->low[dim]);
          form.halo.high[dim] = std::max(form.halo.high[dim], wanted->high[dim]);
        }
      } else {
        continue;
      }
      // The padded tensor is the source's storage: uses of one are uses of the other.
      for (TensorForm &padded : plan.forms)
        if (padded.value == pad.getResult() && padded.layout == candidate.result) {
          form.uses.append(padded.uses);
          padded.bytesPerLane = -1;
        }
    }
    llvm::erase_if(plan.forms, [](const TensorForm &form) { return form.bytesPerLane < 0; });
    for (TensorForm &form : plan.forms) {
      auto type = cast<RankedTensorType>(form.value.getType());
      if (form.layout.isOnChip())
        form.bytesPerLane =
            elementsPerLane(form.halo.pad(type.getShape()), form.layout) * storedBytes(type.getElementType());
      llvm::sort(form.uses);
    }
  }

  /// Keeps in HBM what does not fit: at each operation, while the live bytes exceed the budget, the live form whose
  /// next use is farthest.
  void spill() {
    plan.residentBytes = options.residentBytes;
    SmallVector<TensorForm *> order;
    for (TensorForm &form : plan.forms)
      if (form.layout.isOnChip() && !(form.emptiedInto && isWhole(form.emptiedInto)))
        order.push_back(&form);
    // Forms are in order of their making already, but for halos.
    llvm::sort(order, [](TensorForm *a, TensorForm *b) {
      return std::make_pair(a->definition, a) < std::make_pair(b->definition, b);
    });
    SmallVector<TensorForm *> live, wanted;
    size_t next = 0;
    for (int64_t now = 0, end = position.size(); now < end; ++now) {
      auto isDead = [&](TensorForm *form) { return form->uses.empty() || form->uses.back() < now; };
      llvm::erase_if(live, isDead);
      llvm::erase_if(wanted, isDead);
      for (; next < order.size() && order[next]->definition <= now; ++next) {
        live.push_back(order[next]);
        wanted.push_back(order[next]);
      }
      noteWanted(wanted, now);
      double bytes = 0;
      for (TensorForm *form : live)
        bytes += form->bytesPerLane;
      while (bytes > budgets[now] && !live.empty()) {
        auto farthest = std::max_element(live.begin(), live.end(), [&](TensorForm *a, TensorForm *b) {
          return std::make_pair(nextUse(*a, now), a->bytesPerLane) < std::make_pair(nextUse(*b, now), b->bytesPerLane);
        });
        (*farthest)->spilled = true;
        (*farthest)->crowdedAt = operations[now];
        (*farthest)->crowdedBytes = bytes;
        bytes -= (*farthest)->bytesPerLane;
        live.erase(farthest);
      }
      plan.peakBytesPerLane = std::max(plan.peakBytesPerLane, bytes);
    }
    for (TensorForm &form : plan.forms)
      if (form.emptiedInto && isWhole(form.emptiedInto)) {
        const TensorForm *made = plan.form(form.emptiedInto, plan.home(form.emptiedInto));
        form.spilled = made && made->spilled;
        form.crowdedAt = form.spilled ? made->crowdedAt : nullptr;
        form.crowdedBytes = form.spilled ? made->crowdedBytes : 0;
      }
  }

  /// Keeps what would be alive at most if nothing were spilled.
  void noteWanted(ArrayRef<TensorForm *> wanted, int64_t now) {
    double perLane = 0, all = 0;
    for (TensorForm *form : wanted) {
      auto type = cast<RankedTensorType>(form->value.getType());
      perLane += form->bytesPerLane;
      all += form->bytesPerLane * partitionSplit(type.getShape(), form->layout).lanes;
    }
    plan.wantedBytes = std::max(plan.wantedBytes, all);
    if (perLane > plan.wantedBytesPerLane) {
      plan.wantedBytesPerLane = perLane;
      plan.wantedAt = operations[now];
    }
  }

  /// Whether `value` has storage of its own without a border: into a part of a tensor, PSUM is emptied by way of SBUF.
  bool isWhole(Value value) const {
    const TensorForm *made = plan.form(value, plan.home(value));
    return made && made->halo.empty();
  }

  static int64_t nextUse(const TensorForm &form, int64_t now) {
    auto found = llvm::upper_bound(form.uses, now);
    return found == form.uses.end() ? std::numeric_limits<int64_t>::max() : *found;
  }

  func::FuncOp function;
  const LayoutOptions &options;
  LayoutPlan plan;
  llvm::MapVector<Operation *, SmallVector<LayoutCandidate>> candidates;
  llvm::DenseMap<Operation *, int64_t> position;
  SmallVector<double> budgets; ///< by position
  SmallVector<Operation *> operations;
  llvm::DenseMap<Value, std::pair<Value, Layout>> viewed;
};

LayoutPlan planLayouts(func::FuncOp function, const LayoutOptions &options) {
  return LayoutPlanner(function, options).run();
}

//===-- Printing -------------------------------------------------------------===//

static std::string describe(Location location) {
  if (auto named = dyn_cast<NameLoc>(location))
    return named.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (llvm::isa<NameLoc>(part))
        return describe(part);
  return "";
}

static void printForm(const TensorForm &form, llvm::raw_ostream &os) {
  auto type = cast<RankedTensorType>(form.value.getType());
  form.layout.print(os);
  os << " [";
  llvm::interleave(physicalShape(form.halo.pad(type.getShape()), form.layout), os, "x");
  os << "]";
  if (form.layout.isOnChip() && !form.layout.isOneLane()) {
    PartitionSplit split = partitionSplit(type.getShape(), form.layout);
    if (split.isRagged())
      os << " ragged " << split.lastLanes();
  }
  if (!form.halo.empty())
    os << " halo";
  if (form.spilled)
    os << " spilled";
}

/// Names the pieces that DMA moves from partitions to partitions.
static void printTransfers(tensor::ConcatOp concat, const LayoutCandidate &candidate, llvm::raw_ostream &os) {
  int64_t dim = concat.getDim(), offset = 0;
  if (candidate.result.isHbm() || candidate.result.dim != dim)
    return;
  PartitionSplit whole = partitionSplit(concat.getResultType().getShape(), candidate.result);
  for (auto [index, input] : llvm::enumerate(concat.getInputs())) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(input.getType()).getShape();
    if (candidate.operands[index].isOnChip() &&
        llvm::any_of(laneRuns(partitionSplit(shape, candidate.result), offset, whole),
                     [](const LaneRun &run) { return run.byDma; }))
      os << ", piece " << index << " from SBUF to SBUF by DMA";
    offset += shape[dim];
  }
}

std::string LayoutPlan::reasonForHbm(const TensorForm &form) const {
  if (form.spilled)
    return "no room at '" + describe(form.crowdedAt->getLoc()) + "', where " +
           std::to_string(static_cast<int64_t>(form.crowdedBytes)) + " bytes per partition would be alive";
  Operation *maker = form.value.getDefiningOp();
  if (!form.layout.isHbm() || !maker || isPlacedByConcats(maker))
    return "";
  const LayoutCandidate *made = of(maker);
  if (made && made->result.isHbm())
    return made->form == LayoutCandidate::Form::Library ? "a library kernel makes it there" : "it is put together there";
  for (Operation *user : form.value.getUsers()) {
    const LayoutCandidate *reader = of(user);
    if (!reader)
      return ""; // the program returns it
    for (auto [operand, layout] : llvm::zip_equal(layoutOperands(user), reader->operands))
      if (operand->get() == form.value && layout.isHbm()) {
        StringRef why = reader->form == LayoutCandidate::Form::View      ? "moves elements between partitions"
                        : reader->form == LayoutCandidate::Form::Gather  ? "gathers its rows"
                        : reader->form == LayoutCandidate::Form::Library ? "is a library kernel"
                        : reader->form == LayoutCandidate::Form::Place   ? "puts it beside others"
                                                                         : "reads all of it in every partition";
        return ("'" + describe(user->getLoc()) + "' " + why).str();
      }
  }
  return "its layout is turned on the way";
}

/// What the program itself makes and passes through HBM, tensor by tensor, what SBUF would have to hold otherwise, and
/// how much is loaded for operands that are put together of pieces, which may read one element several times.
void LayoutPlan::printTraffic(llvm::raw_ostream &os) const {
  os << "  if every whole tensor stayed in SBUF: " << static_cast<int64_t>(wantedBytesPerLane)
     << " bytes per partition alive";
  if (wantedAt)
    os << " at '" << describe(wantedAt->getLoc()) << "'";
  os << ", " << static_cast<int64_t>(wantedBytes) << " bytes in all partitions at most\n";
  std::map<std::string, int64_t> beside; // by node
  for (auto &[op, candidate] : choices) {
    auto concat = dyn_cast<tensor::ConcatOp>(op);
    if (!concat || !candidate.result.isOnChip() || !llvm::all_of(candidate.operands, [](const Layout &l) { return l.isHbm(); }))
      continue;
    RankedTensorType type = concat.getResultType();
    beside[originOf(op->getLoc()).node] += type.getNumElements() * storedBytes(type.getElementType());
  }
  for (auto &[node, bytes] : beside)
    os << "  loaded beside each other from HBM: '" << node << "', " << bytes << " bytes\n";
  for (const TensorForm &form : forms) {
    std::string reason = reasonForHbm(form);
    if (reason.empty() || (form.spilled && form.emptiedInto))
      continue;
    auto type = cast<RankedTensorType>(form.value.getType());
    os << "  by way of HBM: '" << describe(form.value.getLoc()) << "', "
       << type.getNumElements() * storedBytes(type.getElementType()) << " bytes: " << reason << "\n";
  }
}

void LayoutPlan::print(llvm::raw_ostream &os) const {
  os << "layout plan: " << llvm::format("%.1f", nanoseconds / 1000) << " us" << (optimal ? ", optimal" : ", heuristic")
     << ", peak " << static_cast<int64_t>(peakBytesPerLane) << " of " << static_cast<int64_t>(residentBytes)
     << " bytes per partition\n";
  for (auto &[op, candidate] : choices) {
    os << "  " << op->getName();
    if (std::string node = describe(op->getLoc()); !node.empty())
      os << " '" << node << "'";
    os << ": " << name(candidate.form);
    if (candidate.form == LayoutCandidate::Form::Contraction)
      os << " holding operand " << candidate.stationary << ", contracted d" << candidate.contracted;
    os << ", operands (";
    llvm::interleaveComma(candidate.operands, os, [&](const Layout &layout) { layout.print(os); });
    os << ")";
    for (const TensorForm &form : forms)
      if (form.value == op->getResult(0)) {
        os << (form.layout == candidate.result ? " -> " : ", also ");
        printForm(form, os);
      }
    if (const Piece *part = piece(op->getResult(0))) {
      os << " -> ";
      part->layout.print(os);
      os << " inside its concatenation at [";
      llvm::interleaveComma(part->offsets, os);
      os << "]";
    }
    if (auto concat = dyn_cast<tensor::ConcatOp>(op))
      printTransfers(concat, candidate, os);
    os << "\n";
  }
  printTraffic(os);
}

} // namespace trn
