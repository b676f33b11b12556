//===- AssignEngines.cpp - queues that need no schedule to be chosen ------===//
//
// Owns `trn-assign-engines`. Where two queues are equally good it decides nothing: the schedule knows which is free.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/TrnOps.h"
#include "passes/Schedule/Passes.h"
#include "passes/Schedule/ReadProgram.h"
#include "passes/Schedule/Rings.h"

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
    for (Operation &op : entry.getBody().front())
      if (auto instruction = dyn_cast<ir::InstructionOpInterface>(op))
        if (failed(assign(instruction, *device)))
          return signalPassFailure();
  }

  LogicalResult assign(ir::InstructionOpInterface op, const isa::DeviceInfo &device);
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

LogicalResult AssignEnginesPass::assign(ir::InstructionOpInterface op, const isa::DeviceInfo &device) {
  if (op.isDma()) {
    bool indirect = op.getOpcode() != isa::Opcode::DmaCopy;
    isa::Engine engine = op.getEngine().value_or(indirect ? isa::Engine::POOL : isa::Engine::SP);
    op.setEngine(engine);
    if (!op.getRing())
      op.setRing(ringOf(engine, isLoad(op)));
    return success();
  }
  if (op.getEngine())
    return success();
  FailureOr<isa::Instruction> inst = op.toInstruction([](Value) -> FailureOr<ir::ResolvedBuffer> { return ir::ResolvedBuffer(); });
  if (failed(inst))
    return failure();
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
