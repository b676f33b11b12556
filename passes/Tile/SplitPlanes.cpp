//===- SplitPlanes.cpp - big planes, band by band ---------------------------===//
// Owns tile-split-planes: which operations are computed band by band so that what is between them stays in SBUF, and
// into how many bands, by the layout plans of the alternatives. The rewrite is Bands.h. Refuses what does not pay:
// rows that two bands compute, and more instructions, against bytes that need not pass through HBM.
#include "compiler/Support/PlanReport.h"
#include "compiler/Support/Problems.h"
#include "dialects/Trn/Target.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Tile/Bands.h"
#include "passes/Tile/FoldTaps.h"
#include "passes/Tile/LayoutPasses.h"
#include "passes/Tile/LayoutPlan.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_SPLITPLANESPASS
#include "passes/Tile/LayoutPasses.h.inc"

/// Numbers of bands that are tried.
static constexpr int64_t kBands[] = {2, 4, 8, 16};
/// An output has at least so many rows in each band: fewer are not worth the rows around them that are computed twice.
static constexpr int64_t kRowsPerBand = 4;
/// Tensors of at least this share of what whole tensors may take, each by itself, are cut with their neighbours.
static constexpr double kWideShare = 0.25;
/// Regions of one function at most.
static constexpr unsigned kMostRegions = 4;

namespace {
/// Whether the function returns `value`.
bool isReturned(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
}

/// What a function costs with a plan: the plan's own time, and the transfers of what it keeps in HBM.
struct Price {
  double nanoseconds = 0;
  int64_t hbmBytes = 0;

  static Price of(const LayoutPlan &plan) {
    Price price;
    for (const TensorForm &form : plan.allForms()) {
      if (!form.spilled || form.emptiedInto)
        continue;
      auto type = cast<RankedTensorType>(form.value.getType());
      // The plan has the first load of an input; and what it stores of a result is all of it.
      int64_t transfers = form.uses.size() + (form.value.getDefiningOp() ? 1 : -1) - (isReturned(form.value) ? 2 : 0);
      double bytes = type.getNumElements() * storedBytes(type.getElementType());
      price.hbmBytes += transfers * bytes;
      price.nanoseconds += transfers * plan.costs.dma(bytes, form.bytesPerLane,
                                                      partitionSplit(type.getShape(), form.layout).lanes);
    }
    price.nanoseconds += plan.nanoseconds;
    return price;
  }
};

/// What was tried and decided for one region.
struct BandDecision {
  std::string first, last;
  unsigned operations;
  SmallVector<std::pair<int64_t, Price>> tried; ///< numbers of bands; the region whole is first
  unsigned taken = 0;

  int64_t bands() const { return tried[taken].first; }
  void print(llvm::raw_ostream &os) const {
    os << "planes of '" << first << "' to '" << last << "' (" << operations << " operations): ";
    if (taken == 0)
      os << "whole";
    else
      os << bands() << " bands";
    for (auto [bands, price] : tried)
      os << "\n  " << bands << (bands == 1 ? " band: " : " bands: ") << llvm::format("%.1f", price.nanoseconds / 1000)
         << " us, " << price.hbmBytes << " bytes by way of HBM";
    os << "\n";
  }
};

/// Grows the region around a tensor that SBUF has no room for.
class RegionFinder {
public:
  RegionFinder(Block &block, const LayoutPlan &plan) : block(block), plan(plan) {}

  /// The operations that make and read `seed`, and its wide neighbours, cut along dimension `dim` of the seed.
  BandedRegion find(Value seed, int64_t dim) {
    reach(seed, dim);
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      if (Operation *producer = value.getDefiningOp(); producer && canBeCut(producer))
        join(producer);
      for (OpOperand &use : value.getUses())
        if (Operation *reader = use.getOwner(); reader->getBlock() == &block && canBeCut(reader))
          if (std::optional<int64_t> result = resultDim(reader, use.getOperandNumber(), dims.lookup(value)))
            if (Value made = reader->getResult(0); dims.try_emplace(made, *result).first->second == *result) {
              join(reader);
              if (goesOn(made))
                pending.push_back(made);
            }
    }
    makeConvex();
    return connectedTo(seed);
  }

private:
  /// Whether a tensor takes much of a partition where it is made.
  bool isWide(Value value) const {
    auto type = cast<RankedTensorType>(value.getType());
    Layout home = plan.home(value);
    double bytes = home.isOnChip() ? elementsPerLane(type.getShape(), home) : type.getNumElements() / kPartitions;
    return bytes * storedBytes(type.getElementType()) >= kWideShare * plan.residentBytes;
  }

  /// Whether the readers of `value`, a result of the region, join it: it is wide, or one of them takes it from PSUM or
  /// only shows it differently.
  bool goesOn(Value value) {
    if (!seen.insert(value).second)
      return false;
    if (isWide(value))
      return true;
    if (!value.hasOneUse())
      return false;
    Operation *reader = *value.user_begin();
    auto map = dyn_cast<linalg::GenericOp>(reader);
    return (map && map.getNumReductionLoops() == 0) || llvm::isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(reader);
  }

  void reach(Value value, int64_t dim) {
    if (dims.try_emplace(value, dim).second && seen.insert(value).second)
      pending.push_back(value);
  }

  /// Adds `op`, and reaches for its wide operands.
  void join(Operation *op) {
    if (!members.insert(op).second)
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!llvm::isa<RankedTensorType>(value.getType()) || !value.getDefiningOp() || isStartOf(op, operand) || !isWide(value))
        continue;
      if (std::optional<int64_t> dim = operandDim(op, operand.getOperandNumber(), dims.lookup(op->getResult(0))))
        reach(value, *dim);
    }
  }

  static bool isStartOf(Operation *op, OpOperand &operand) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return linalgOp && linalgOp.isDpsInit(&operand);
  }

  /// Drops members that need something of the region whole, directly or by way of others: a band of theirs would have to
  /// wait for all bands.
  void makeConvex() {
    llvm::DenseSet<Value> whole;
    for (Operation &op : block) {
      bool member = members.contains(&op);
      bool readsRegion = false, needsWhole = false;
      op.walk([&](Operation *nested) {
        for (OpOperand &operand : nested->getOpOperands()) {
          needsWhole |= whole.contains(operand.get());
          if (!members.contains(operand.get().getDefiningOp()))
            continue;
          readsRegion = true;
          needsWhole |= member && operandDim(&op, operand.getOperandNumber(), dims.lookup(op.getResult(0))) !=
                                      dims.lookup(operand.get());
        }
      });
      if (member && needsWhole)
        members.erase(&op);
      if (!members.contains(&op) && (readsRegion || needsWhole))
        whole.insert(op.result_begin(), op.result_end());
    }
  }

  /// The members that hang together with `seed`, in the block's order.
  BandedRegion connectedTo(Value seed) {
    llvm::SmallPtrSet<Operation *, 32> connected;
    SmallVector<Operation *> waiting = {seed.getDefiningOp()};
    while (!waiting.empty()) {
      Operation *op = waiting.pop_back_val();
      if (!op || !members.contains(op) || !connected.insert(op).second)
        continue;
      for (Value operand : op->getOperands())
        waiting.push_back(operand.getDefiningOp());
      waiting.append(op->user_begin(), op->user_end());
    }
    BandedRegion region;
    for (Operation &op : block)
      if (connected.contains(&op))
        region.operations.insert(&op);
    for (Operation *op : region.operations) {
      Value result = op->getResult(0);
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !connected.contains(user); }))
        region.outputs.insert({result, dims.lookup(result)});
    }
    return region;
  }

  Block &block;
  const LayoutPlan &plan;
  llvm::DenseMap<Value, int64_t> dims;
  llvm::SmallPtrSet<Operation *, 32> members;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> pending;
};

/// Collects the results of the operations that a rewrite makes.
class MadeValues : public RewriterBase::Listener {
public:
  explicit MadeValues(llvm::DenseSet<Value> &values) : values(values) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    values.insert(op->result_begin(), op->result_end());
  }

private:
  llvm::DenseSet<Value> &values;
};

struct SplitPlanesPass : public impl::SplitPlanesPassBase<SplitPlanesPass> {
  using SplitPlanesPassBase::SplitPlanesPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.getName() != "main" || function.isExternal() || residentPercent == 0)
      return markAllAnalysesPreserved();
    const isa::DeviceInfo *device = findDevice(function, target);
    if (!device)
      return signalPassFailure();
    LayoutOptions options(*device, residentPercent, *crowdedNodes);
    llvm::DenseSet<Value> stayWhole;
    for (unsigned count = 0; count < kMostRegions; ++count) {
      LayoutPlan plan = planLayouts(function, options);
      const TensorForm *seed = plan.failed() ? nullptr : largestSpilled(plan, stayWhole);
      if (!seed)
        return;
      std::optional<int64_t> dim = cutDim(*seed);
      BandedRegion region;
      if (dim)
        region = RegionFinder(function.getBody().front(), plan).find(seed->value, *dim);
      if (region.operations.empty()) {
        stayWhole.insert(seed->value);
        continue;
      }
      std::optional<BandDecision> decision = decide(function, region, *device, options);
      if (decision && printPlan)
        reportPlan(function, *decision);
      IRRewriter rewriter(&getContext());
      if (!decision || decision->taken == 0) {
        for (Operation *op : region.operations)
          stayWhole.insert(op->getResult(0));
        stayWhole.insert(seed->value);
        continue;
      }
      // What the bands are made of is as small as it gets.
      MadeValues made(stayWhole);
      rewriter.setListener(&made);
      if (failed(computeByBands(region, decision->bands(), rewriter)))
        return signalPassFailure();
    }
  }

  /// The largest tensor that the program makes and reads and SBUF has no room for, but for those that stay whole.
  static const TensorForm *largestSpilled(const LayoutPlan &plan, const llvm::DenseSet<Value> &stayWhole) {
    const TensorForm *largest = nullptr;
    for (const TensorForm &form : plan.allForms())
      if (form.spilled && form.value.getDefiningOp() && !stayWhole.contains(form.value) && !isOnlyReturned(form.value) &&
          (!largest || form.bytesPerLane > largest->bytesPerLane))
        largest = &form;
    return largest;
  }

  static bool isOnlyReturned(Value value) { return value.hasOneUse() && isReturned(value); }

  /// The dimension along which a tensor is cut: the longest that is not on the partitions, of those the outermost.
  static std::optional<int64_t> cutDim(const TensorForm &form) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(form.value.getType()).getShape();
    std::optional<int64_t> longest;
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      if (dim != form.layout.dim && shape[dim] > 1 && (!longest || shape[dim] > shape[*longest]))
        longest = dim;
    return longest;
  }

  /// The price of `function` with `region` computed by bands, or as it is; nothing if it cannot be.
  std::optional<Price> priceOf(func::FuncOp function, const BandedRegion &region, int64_t bands,
                               const isa::DeviceInfo &device, const LayoutOptions &options) const {
    IRMapping mapping;
    OwningOpRef<func::FuncOp> trial = cast<func::FuncOp>(function->clone(mapping));
    BandedRegion copy;
    for (Operation *op : region.operations)
      copy.operations.insert(mapping.lookup(op));
    for (auto [output, dim] : region.outputs)
      copy.outputs.insert({mapping.lookup(output), dim});
    IRRewriter rewriter(function.getContext());
    if (bands > 1 && failed(computeByBands(copy, bands, rewriter)))
      return std::nullopt;
    if (foldsTaps)
      foldTaps(*trial, device);
    LayoutPlan plan = planLayouts(*trial, options);
    return plan.failed() ? std::nullopt : std::optional<Price>(Price::of(plan));
  }

  /// The cheapest number of bands, by the plans of the function with each.
  std::optional<BandDecision> decide(func::FuncOp function, const BandedRegion &region, const isa::DeviceInfo &device,
                                     const LayoutOptions &options) const {
    std::optional<Price> whole = priceOf(function, region, 1, device, options);
    if (!whole)
      return std::nullopt;
    BandDecision decision = {originOf(region.operations.front()->getLoc()).node,
                             originOf(region.operations.back()->getLoc()).node,
                             static_cast<unsigned>(region.operations.size()), {{1, *whole}}};
    for (int64_t bands : kBands) {
      bool tooFew = llvm::any_of(region.outputs, [&](const auto &output) {
        return cast<RankedTensorType>(output.first.getType()).getDimSize(output.second) < bands * kRowsPerBand;
      });
      if (tooFew)
        break;
      std::optional<Price> price = priceOf(function, region, bands, device, options);
      if (!price)
        continue;
      if (price->nanoseconds < decision.tried[decision.taken].second.nanoseconds)
        decision.taken = decision.tried.size();
      decision.tried.push_back({bands, *price});
    }
    return decision;
  }
};
} // namespace

} // namespace trn
