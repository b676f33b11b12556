//===- LayoutPlan.h - the layout of every tensor of a function -------------===//
// Owns the plan of stage `grouped`: per operation one LayoutCandidate, per tensor the form it is produced in, the other
// forms in which consumers want it, halos, and which forms live in SBUF. `LayoutAnalysis` computes it and changes
// nothing; tile-apply-layout carries it out. A function with an operation that has no layout gets a plan with problems.
//
// The choice is one problem over the whole function: a node per operation, its candidates as alternatives, an edge per
// use with the price of moving the tensor between the two layouts (Pbqp.h). Residency is decided afterwards, from the
// bytes alive at each operation: what does not fit is kept in HBM, the tensor with the farthest next use first.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Tile/LayoutCandidates.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>
#include <tuple>

namespace trn {

/// Elements around a tensor that its storage has room for, all with one value.
struct Halo {
  llvm::SmallVector<int64_t> low, high;
  mlir::TypedAttr fill;
  bool empty() const { return !fill; }
  /// The shape of the storage of a tensor of `shape`.
  llvm::SmallVector<int64_t> pad(llvm::ArrayRef<int64_t> shape) const;
};

/// One form of one tensor: the unit of storage.
struct TensorForm {
  mlir::Value value;
  Layout layout;
  Halo halo;
  /// Whether it lives in HBM although its shape is one for SBUF; at which operation SBUF had no room for it, and how many
  /// bytes per partition would have been alive there.
  bool spilled = false;
  mlir::Operation *crowdedAt = nullptr;
  double crowdedBytes = 0;
  int64_t bytesPerLane = 0;
  /// An accumulator that a map takes out of PSUM: the map's result. It is never stored, and lies where that does.
  mlir::Value emptiedInto;
  /// Positions in the function: of the operation that makes it and of those that read it.
  int64_t definition = 0;
  llvm::SmallVector<int64_t> uses;
};

class LayoutPlan {
public:
  explicit LayoutPlan(const LayoutCosts &costs) : costs(costs) {}
  /// The candidate chosen for `op`; null for operations without a layout (constants, terminator).
  const LayoutCandidate *of(mlir::Operation *op) const;
  /// The layout in which `value` is produced.
  Layout home(mlir::Value value) const;
  /// The layout that `value` passes through on its way from its home to `layout`, if it does.
  std::optional<Layout> waypoint(mlir::Value value, const Layout &layout) const;
  /// Bytes per partition of a block that is turned on the way of `value` from HBM through `middle` to `layout`: the
  /// elements of one chunk of partitions in each of the two.
  static int64_t blockBytes(mlir::Value value, const Layout &middle, const Layout &layout);
  /// At most this many bytes of blocks are turned at once.
  static constexpr int64_t kBlockBytes = 16384;
  /// Whether `value`, made in HBM, passes its waypoint to `layout` block by block: each is loaded, then turned by PE, and
  /// no storage holds the tensor in the waypoint's layout.
  bool turnsByBlocks(mlir::Value value, const Layout &layout) const;
  /// The form of `value` in `layout`, if anybody makes it.
  const TensorForm *form(mlir::Value value, const Layout &layout) const;
  llvm::ArrayRef<TensorForm> allForms() const { return forms; }

  /// Where a tensor lies that is made inside the result of the concatenation that alone reads it, or, made on chip, is
  /// stored inside its result in HBM.
  struct Piece {
    mlir::Value whole;
    Layout layout; ///< of the form that lies there
    llvm::SmallVector<int64_t> offsets; ///< per logical dimension
  };
  const Piece *piece(mlir::Value value) const;

  bool failed() const { return !problems.empty(); }
  /// Operations that have no layout, with the reason.
  llvm::SmallVector<std::pair<mlir::Operation *, std::string>> problems;
  double nanoseconds = 0;
  bool optimal = true;
  double peakBytesPerLane = 0;
  /// What whole tensors could take (LayoutOptions::residentBytes).
  double residentBytes = 0;
  /// What would be alive at most if all whole tensors stayed in SBUF: bytes per partition, and of all partitions in use
  /// (each at its own worst operation).
  double wantedBytesPerLane = 0, wantedBytes = 0;
  mlir::Operation *wantedAt = nullptr;
  LayoutCosts costs;

  void print(llvm::raw_ostream &os) const;

private:
  friend class LayoutPlanner;
  /// Why `form`, made by the program, passes through HBM; empty if it does not, or is a result of the program.
  std::string reasonForHbm(const TensorForm &form) const;
  void printTraffic(llvm::raw_ostream &os) const;
  llvm::MapVector<mlir::Operation *, LayoutCandidate> choices;
  llvm::SmallVector<TensorForm, 0> forms;
  llvm::DenseMap<mlir::Value, Piece> pieces;
};

/// What the planner may use; constants of the device and the share of SBUF that whole tensors may take.
struct LayoutOptions {
  /// Whole tensors may take `residentPercent` of SBUF, and kCrowdedPercent less of it at a node for each time that
  /// `crowdedNodes` names it.
  LayoutOptions(const isa::DeviceInfo &device, unsigned residentPercent, llvm::ArrayRef<std::string> crowdedNodes = {});
  static constexpr unsigned kCrowdedPercent = 15;
  LayoutCosts costs;
  /// Bytes per partition for whole tensors; the rest is for weight tiles and temporaries of groups.
  double residentBytes;
  /// How many bytes fewer than that at a node.
  llvm::StringMap<double> crowdedBytes;
};

/// Plans the layouts of `function`, one block of stage tensor.
LayoutPlan planLayouts(mlir::func::FuncOp function, const LayoutOptions &options);

/// The cached analysis: a plan per device, share of SBUF and crowded nodes that was asked for.
class LayoutAnalysis {
public:
  LayoutAnalysis(mlir::Operation *function) : function(mlir::cast<mlir::func::FuncOp>(function)) {}
  const LayoutPlan &planFor(const isa::DeviceInfo &device, unsigned residentPercent,
                            llvm::ArrayRef<std::string> crowdedNodes) {
    std::unique_ptr<LayoutPlan> &plan = plans[{&device, residentPercent, crowdedNodes.vec()}];
    if (!plan)
      plan = std::make_unique<LayoutPlan>(planLayouts(function, LayoutOptions(device, residentPercent, crowdedNodes)));
    return *plan;
  }

private:
  mlir::func::FuncOp function;
  std::map<std::tuple<const isa::DeviceInfo *, unsigned, std::vector<std::string>>, std::unique_ptr<LayoutPlan>> plans;
};

} // namespace trn
