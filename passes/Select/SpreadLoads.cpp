//===- SpreadLoads.cpp - load once what every partition reads ----------------===//
// Owns trn-spread-loads: a transfer that gives one row of HBM to every partition becomes a transfer to the first partition
// of each group of 32, from where DVE spreads it. Refuses programs in which such rows are few of the bytes that move: there
// DMA has the time, and DVE may not.
#include "dialects/Trn/DMA.h"
#include "dialects/Trn/DVE.h"
#include "dialects/Trn/ISA/Constants.h"
#include "dialects/Trn/ISA/Partitions.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Select/Emitter.h"
#include "passes/Select/Passes.h"
#include "passes/Tile/Layout.h"
#include "passes/Tile/Spaces.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_SPREADLOADSPASS
#include "passes/Select/Passes.h.inc"

namespace {

/// Fewer bytes cost DMA less than the instruction of DVE takes: one packet of a transfer.
constexpr int64_t kLeastBytes = 4096;
/// Rows that are spread cost DMA engines and DVE about the same time. It pays where DMA is short of it: where the rows are
/// at least this share of what the program moves.
constexpr double kLeastShare = 0.15;

/// Bytes on the side of a transfer that is on chip.
int64_t bytesOf(ir::DmaCopyOp copy) {
  auto type = cast<MemRefType>(copy.getDst().getType());
  return type.getNumElements() * storedBytes(type.getElementType());
}

/// Whether every partition of `copy` gets the same row of HBM.
bool givesOneRow(ir::DmaCopyOp copy) {
  auto from = cast<MemRefType>(copy.getSrc().getType()), to = cast<MemRefType>(copy.getDst().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  return isInHbm(copy.getSrc()) && !isInHbm(copy.getDst()) && from.getRank() > 0 && from.getShape() == to.getShape() &&
         from.getElementType() == to.getElementType() && succeeded(from.getStridesAndOffset(strides, offset)) &&
         strides.front() == 0;
}

/// The buffer that `view` shows.
Value baseOf(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>())
    view = op.getViewSource();
  return view;
}

/// Whether DVE may read and write the partitions of `buffer`, which a transfer may start anywhere (rule 5): they start at a
/// multiple of the step for their number in a buffer that starts at partition 0.
bool startsWhereEnginesMay(Value buffer) {
  int64_t step = isa::startPartitionStep(cast<MemRefType>(buffer.getType()).getDimSize(0));
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) {
    Value source = view.getViewSource();
    auto from = cast<MemRefType>(source.getType()), to = cast<MemRefType>(buffer.getType());
    if (auto part = dyn_cast<memref::SubViewOp>(view.getOperation())) {
      if (part.getDroppedDims().test(0) || part.isDynamicOffset(0) || part.getStaticOffset(0) % step != 0)
        return false;
    } else if (from.getRank() == 0 || from.getDimSize(0) != to.getDimSize(0)) {
      return false;
    }
    buffer = source;
  }
  return true;
}

/// Finds the transfers that are worth spreading; remembers which arguments of functions are there from the start.
class Rows {
public:
  explicit Rows(ModuleOp module) {
    module.walk([&](func::CallOp call) { calls[call.getCalleeAttr().getAttr()].push_back(call); });
  }

  bool isWorthSpreading(ir::DmaCopyOp copy) {
    int64_t partitions = cast<MemRefType>(copy.getDst().getType()).getDimSize(0);
    return givesOneRow(copy) && partitions > 1 && bytesOf(copy) >= kLeastBytes && startsWhereEnginesMay(copy.getDst()) &&
           isThereFromTheStart(copy.getSrc());
  }

private:
  /// Whether `buffer` is a weight or an input for every caller: its loads come early, and a longer way costs no time. What
  /// the program has made itself is needed at once.
  bool isThereFromTheStart(Value buffer) {
    buffer = baseOf(buffer);
    auto argument = dyn_cast<BlockArgument>(buffer);
    auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    if (!function)
      return buffer.getDefiningOp<ir::GetGlobalOp>() != nullptr;
    if (auto known = arguments.find(argument); known != arguments.end())
      return known->second;
    auto callers = calls.find(function.getSymNameAttr());
    bool isThere = callers != calls.end() && llvm::all_of(callers->second, [&](func::CallOp call) {
      return isThereFromTheStart(call.getOperand(argument.getArgNumber()));
    });
    return arguments[argument] = isThere;
  }

  llvm::DenseMap<StringAttr, SmallVector<func::CallOp>> calls;
  llvm::DenseMap<Value, bool> arguments;
};

/// Bytes that a function moves between HBM and the chip.
struct Traffic {
  double all = 0, rows = 0;
};

/// How often the loops around `op` run it.
double runsOf(Operation *op) {
  double runs = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
    if (std::optional<llvm::APInt> trips = loop.getStaticTripCount())
      runs *= trips->getZExtValue();
  return runs;
}

class TrafficCounter {
public:
  explicit TrafficCounter(Rows &rows) : rows(rows) {}

  /// What one run of `function` moves, its callees included.
  Traffic of(func::FuncOp function) {
    auto [entry, isNew] = known.try_emplace(function);
    if (!isNew)
      return entry->second;
    Traffic sum;
    function.walk([&](Operation *op) {
      if (auto copy = dyn_cast<ir::DmaCopyOp>(op); copy && isInHbm(copy.getSrc()) != isInHbm(copy.getDst())) {
        double bytes = runsOf(op) * bytesOf(copy);
        sum.all += bytes;
        sum.rows += rows.isWorthSpreading(copy) ? bytes : 0;
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr())) {
          Traffic part = of(callee);
          sum.all += runsOf(op) * part.all;
          sum.rows += runsOf(op) * part.rows;
        }
      }
    });
    return known[function] = sum;
  }

private:
  Rows &rows;
  llvm::DenseMap<Operation *, Traffic> known;
};

struct SpreadLoadsPass : impl::SpreadLoadsPassBase<SpreadLoadsPass> {
  void runOnOperation() override {
    Traffic traffic;
    Rows rows(getOperation());
    TrafficCounter counter(rows);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic()) {
        Traffic part = counter.of(function);
        traffic.all += part.all;
        traffic.rows += part.rows;
      }
    if (traffic.rows == 0 || traffic.rows < kLeastShare * traffic.all)
      return;
    SmallVector<ir::DmaCopyOp> copies;
    getOperation().walk([&](ir::DmaCopyOp copy) {
      if (rows.isWorthSpreading(copy))
        copies.push_back(copy);
    });
    for (ir::DmaCopyOp copy : copies)
      spread(copy);
    emitRemark(getOperation().getLoc(), "rows that every partition reads are ")
        << static_cast<int64_t>(100 * traffic.rows / traffic.all) << " % of " << static_cast<int64_t>(traffic.all)
        << " bytes between HBM and the chip: each is loaded once for "
        << isa::nc_stream_shuffle::kGroup << " partitions and spread by DVE";
  }

  /// `partitions` of `buffer` from `first` on.
  static Value rowsOf(OpBuilder &builder, Location loc, Value buffer, int64_t first, int64_t partitions) {
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)), strides(type.getRank(), builder.getIndexAttr(1)),
        sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape());
    offsets.front() = builder.getIndexAttr(first);
    sizes.front() = builder.getIndexAttr(partitions);
    return memref::SubViewOp::create(builder, loc, buffer, offsets, sizes, strides);
  }

  static void spread(ir::DmaCopyOp copy) {
    OpBuilder builder(copy);
    Location loc = copy.getLoc();
    Emitter emitter(builder, loc);
    Value row = rowsOf(builder, loc, copy.getSrc(), 0, 1);
    int64_t partitions = cast<MemRefType>(copy.getDst().getType()).getDimSize(0);
    for (int64_t group = 0; group < partitions; group += isa::nc_stream_shuffle::kGroup)
      emitter.dma(rowsOf(builder, loc, copy.getDst(), group, 1), row);
    emitter.spread(copy.getDst());
    copy.erase();
  }
};
} // namespace
} // namespace trn
