//===- AssignEngines.cpp - queues that need no schedule to be chosen ------===//
//
// Owns `trn-assign-engines`. Where two queues are equally good it decides nothing: the schedule knows which is free.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/TrnOps.h"
#include "passes/Schedule/Passes.h"
#include "passes/Schedule/ReadProgram.h"
#include "passes/Schedule/Rings.h"
#include "runtime/timing/CostModel.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_TRNASSIGNENGINES
#include "passes/Schedule/Passes.h.inc"
} // namespace trn

using namespace trn;

namespace {

struct AssignEnginesPass : trn::impl::TrnAssignEnginesBase<AssignEnginesPass> {
  using TrnAssignEnginesBase::TrnAssignEnginesBase;
  void runOnOperation() override {
    const isa::DeviceInfo *device = findDevice(getOperation(), target);
    func::FuncOp entry = device ? findEntry(getOperation()) : func::FuncOp();
    if (!entry)
      return signalPassFailure();
    shortTransfers = 0;
    for (Operation &op : entry.getBody().front())
      if (auto instruction = dyn_cast<ir::InstructionOpInterface>(op))
        if (failed(assign(instruction, *device)))
          return signalPassFailure();
  }

  LogicalResult assign(ir::InstructionOpInterface op, const isa::DeviceInfo &device);
  isa::Engine issuerOf(const isa::Instruction &transfer, bool crosses, bool load, const isa::DeviceInfo &device);

  unsigned shortTransfers = 0;
};

bool isLoad(ir::InstructionOpInterface op) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    const isa::OperandInfo *info = op.getOperandInfo(operand.getOperandNumber());
    bool global = llvm::isa_and_nonnull<ir::GetGlobalOp>(operand.get().getDefiningOp());
    bool hbm = ir::spaceOf(cast<MemRefType>(operand.get().getType())) == isa::Space::HBM;
    return info->role == isa::Role::In ? global : !hbm;
  });
}

} // namespace

/// Whether `op` moves data between HBM and the chip.
static bool crossesChip(ir::InstructionOpInterface op) {
  bool hbm = false, onChip = false;
  for (Value operand : op->getOperands())
    (ir::spaceOf(cast<MemRefType>(operand.getType())) == isa::Space::HBM ? hbm : onChip) = true;
  return hbm && onChip;
}

/// Transfers that move faster than a queue can issue them alternate between SP and POOL.
isa::Engine AssignEnginesPass::issuerOf(const isa::Instruction &transfer, bool crosses, bool load,
                                        const isa::DeviceInfo &device) {
  if (!std::holds_alternative<isa::DmaCopy>(transfer))
    return isa::Engine::POOL;
  rt::DmaCost cost = rt::CostModel(device).dma(transfer, isa::Engine::SP);
  // Weights and inputs come early and one by one. What the program made itself is needed at once, often in many pieces
  // for different partitions: they move side by side, and each takes its share of the DMA engines.
  rt::Ticks share = 0;
  for (const rt::DmaShare &part : cost.shares)
    share += part.startOf(part.packets()) / static_cast<rt::Ticks>(cost.shares.size());
  bool issueBound = crosses && (load ? cost.transfer : share) < cost.issue && isa::runsOn(transfer, isa::Engine::POOL, device);
  return issueBound && ++shortTransfers % 2 == 0 ? isa::Engine::POOL : isa::Engine::SP;
}

LogicalResult AssignEnginesPass::assign(ir::InstructionOpInterface op, const isa::DeviceInfo &device) {
  FailureOr<isa::Instruction> inst =
      op.toInstruction([](Value) -> FailureOr<ir::ResolvedBuffer> { return ir::ResolvedBuffer(); });
  if (failed(inst))
    return failure();
  if (op.isDma()) {
    bool load = isLoad(op);
    if (!op.getEngine())
      op.setEngine(issuerOf(*inst, crossesChip(op), load, device));
    if (!op.getRing())
      op.setRing(ringOf(*op.getEngine(), load));
    return success();
  }
  if (op.getEngine())
    return success();
  if (std::holds_alternative<isa::Memset>(*inst) && isa::runsOn(*inst, isa::Engine::POOL, device)) {
    op.setEngine(isa::Engine::POOL);
    return success();
  }
  SmallVector<isa::Engine, 3> able;
  for (isa::Engine engine :
       {isa::Engine::PE, isa::Engine::ACT, isa::Engine::DVE, isa::Engine::POOL, isa::Engine::SP})
    if (isa::runsOn(*inst, engine, device) && (engine != isa::Engine::POOL || able.empty()))
      able.push_back(engine);
  if (able.size() == 1)
    op.setEngine(able.front());
  return success();
}
