//===- SplitBuffers.cpp - one buffer per definition web -------------------===//
//
// Owns `trn-split-buffers`: liveness of bytes, walked backwards, finds the instructions before which nothing in a
// buffer is worth keeping; each begins a new buffer.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/TrnOps.h"
#include "passes/Schedule/Analysis/ByteRegion.h"
#include "passes/Schedule/Passes.h"
#include "passes/Schedule/ReadProgram.h"
#include "runtime/timing/Operands.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_TRNSPLITBUFFERS
#include "passes/Schedule/Passes.h.inc"
} // namespace trn

using namespace trn;

namespace {

/// One instruction's accesses to one buffer.
struct Use {
  Operation *op;
  SmallVector<FlatAccess, 2> accesses;
};

struct SplitBuffersPass : trn::impl::TrnSplitBuffersBase<SplitBuffersPass> {
  void runOnOperation() override {
    func::FuncOp entry = findEntry(getOperation());
    if (!entry)
      return signalPassFailure();
    llvm::MapVector<Operation *, std::vector<Use>> uses;
    for (Operation &op : entry.getBody().front()) {
      if (llvm::isa<ir::AllocOp>(op))
        uses[&op];
      auto instruction = dyn_cast<ir::InstructionOpInterface>(op);
      if (instruction && failed(collectUses(instruction, uses)))
        return signalPassFailure();
    }
    for (auto &[alloc, list] : uses)
      split(cast<ir::AllocOp>(alloc), list);
  }

  LogicalResult collectUses(ir::InstructionOpInterface op, llvm::MapVector<Operation *, std::vector<Use>> &uses);
  void split(ir::AllocOp alloc, ArrayRef<Use> uses);
};

} // namespace

LogicalResult SplitBuffersPass::collectUses(ir::InstructionOpInterface op,
                                            llvm::MapVector<Operation *, std::vector<Use>> &uses) {
  SmallVector<Operation *, 4> bases;
  FailureOr<isa::Instruction> inst = op.toInstruction([&](Value base) -> FailureOr<ir::ResolvedBuffer> {
    Operation *definition = base.getDefiningOp();
    auto known = llvm::find(bases, definition);
    if (known == bases.end()) {
      bases.push_back(definition);
      known = bases.end() - 1;
    }
    return ir::ResolvedBuffer{static_cast<uint32_t>(known - bases.begin())};
  });
  if (failed(inst))
    return failure();
  rt::forEachUse(*inst, [&](const rt::OperandUse &use, unsigned) {
    auto list = uses.find(bases[use.ap->buffer]);
    if (list == uses.end())
      return;
    if (list->second.empty() || list->second.back().op != op)
      list->second.push_back({op, {}});
    FlatAccess access;
    access.reads = use.reads;
    access.writes = use.writes;
    access.region = ByteRegion::of(*use.ap);
    list->second.back().accesses.push_back(access);
  });
  return success();
}

void SplitBuffersPass::split(ir::AllocOp alloc, ArrayRef<Use> uses) {
  RegionSet live;
  std::vector<bool> begins(uses.size(), false);
  for (size_t i = uses.size(); i-- > 0;) {
    for (const FlatAccess &access : uses[i].accesses)
      if (access.writes && !access.reads)
        live.remove(access.region);
    for (const FlatAccess &access : uses[i].accesses)
      if (access.reads)
        live.add(access.region);
    begins[i] = i != 0 && live.empty();
  }
  Value current = alloc.getResult();
  for (size_t i = 0; i < uses.size(); ++i) {
    if (begins[i]) {
      OpBuilder builder(alloc);
      builder.setInsertionPointAfterValue(current);
      current = builder.clone(*alloc.getOperation())->getResult(0);
    }
    uses[i].op->replaceUsesOfWith(alloc.getResult(), current);
  }
}
