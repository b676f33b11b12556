//===- Place.cpp - give every tensor of a group its memory -----------------===//
// Owns the spaces of inner values. Values that will share a buffer (destination and result, loop-carried values, slices)
// form one class; a class has one space. Refuses to add crossings: a class that needs two spaces is an error.
#include "passes/Tile/SchedulePasses.h"
#include "passes/Tile/Spaces.h"
#include "passes/Tile/Structured.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_PLACEPASS
#include "passes/Tile/SchedulePasses.h.inc"

namespace {

bool isTensor(Value value) { return llvm::isa<RankedTensorType>(value.getType()); }

/// Values that lie in one memory, and which.
class Placement {
public:
  void build(func::FuncOp function) {
    function.walk([&](Operation *op) {
      if (llvm::isa<linalg::LinalgOp>(op->getParentOp()))
        return;
      tie(op);
    });
  }

  /// Decides each class. Emits every conflict.
  LogicalResult decide(func::FuncOp function) {
    LogicalResult status = success();
    forEachTensor(function, [&](Value value) {
      std::optional<isa::Space> space = spaceOf(value);
      Operation *definition = value.getDefiningOp();
      if (!space && definition && isWrittenByPE(definition))
        space = isa::Space::PSUM;
      if (!space)
        return;
      const void *leader = leaderOf(value);
      auto [known, inserted] = spaces.try_emplace(leader, *space);
      if (inserted || known->second == *space)
        return;
      status = emitError(value.getLoc(), "tensor would lie in ")
               << spaceName(known->second) << " and " << spaceName(space)
               << "; expected a copy between the two";
    });
    return status;
  }

  isa::Space get(Value value) {
    auto known = spaces.find(leaderOf(value));
    return known == spaces.end() ? isa::Space::SBUF : known->second;
  }

  template <typename Fn> static void forEachTensor(func::FuncOp function, Fn fn) {
    for (BlockArgument argument : function.getArguments())
      if (isTensor(argument))
        fn(argument);
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (isTensor(result))
          fn(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            if (op != function && isTensor(argument))
              fn(argument);
    });
  }

private:
  void unite(Value a, Value b) {
    if (isTensor(a) && isTensor(b))
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }

  const void *leaderOf(Value value) {
    return classes.getOrInsertLeaderValue(value.getAsOpaquePointer());
  }

  void tie(Operation *op) {
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      for (OpOperand &init : destination.getDpsInitsMutable())
        if (op->getNumResults())
          unite(init.get(), destination.getTiedOpResult(&init));
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument, yielded, result] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                                                                    loop.getYieldedValues(), loop.getResults())) {
        unite(init, argument);
        unite(argument, yielded);
        unite(yielded, result);
      }
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Block *block : {branch.thenBlock(), branch.elseBlock()})
        if (block)
          for (auto [yielded, result] : llvm::zip_equal(block->getTerminator()->getOperands(), branch.getResults()))
            unite(yielded, result);
    }
    if (llvm::isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
      unite(op->getOperand(0), op->getResult(0));
  }

  llvm::EquivalenceClasses<const void *> classes;
  llvm::DenseMap<const void *, isa::Space> spaces;
};

/// Device.md §2.1: who reaches which memory. Emits an error for what a structured operation cannot reach.
LogicalResult checkReach(linalg::LinalgOp op) {
  StructuredKind kind = classify(op);
  if (kind == StructuredKind::Copy || kind == StructuredKind::Broadcast || kind == StructuredKind::Fill)
    return success();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isTensor(operand.get()))
      continue;
    std::optional<isa::Space> space = spaceOf(operand.get());
    bool legal = isWrittenByPE(op) ? (op.isDpsInput(&operand) ? space == isa::Space::SBUF : space == isa::Space::PSUM)
                                   : (space == isa::Space::SBUF || space == isa::Space::PSUM);
    if (legal)
      continue;
    const char *expected = !isWrittenByPE(op) ? "sbuf or psum" : op.isDpsInput(&operand) ? "sbuf" : "psum";
    return op.emitOpError("operand #") << operand.getOperandNumber() << " of a " << name(kind) << " expected in "
                                       << expected << " but got " << spaceName(space);
  }
  return success();
}

struct PlacePass : impl::PlacePassBase<PlacePass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Placement placement;
    placement.build(function);
    if (failed(placement.decide(function)))
      return signalPassFailure();
    SmallVector<std::pair<Value, Type>> types;
    Placement::forEachTensor(function, [&](Value value) {
      auto type = cast<RankedTensorType>(value.getType());
      if (!type.getEncoding())
        types.push_back({value, type.cloneWithEncoding(ir::spaceAttr(&getContext(), placement.get(value)))});
    });
    for (auto [value, type] : types)
      value.setType(type);
    bool failed = false;
    function.walk([&](linalg::LinalgOp op) { failed |= ::mlir::failed(checkReach(op)); });
    if (failed)
      signalPassFailure();
  }
};
} // namespace
} // namespace trn
