//===- ReadProgram.cpp - the planners' view of a flat function ------------===//
//
// Owns the walk over a flat function. All costs come from the timing library's CostModel, so that the schedule and the
// emulated device agree.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/TrnOps.h"
#include "passes/Schedule/ReadProgram.h"
#include "runtime/timing/CostModel.h"
#include "runtime/timing/Operands.h"

using namespace mlir;
using namespace trn;

Resources trn::resourcesOf(const isa::DeviceInfo &device) {
  Resources resources;
  resources.sbufBytes = device.sbufBytesUsable;
  resources.psumBanks = device.psumBanks;
  resources.psumBankBytes = device.psumBankBytes;
  resources.semaphores = device.semaphores;
  resources.semaphoreMax = device.semaphoreMax;
  resources.dmaEngines = device.dmaEngines;
  resources.tableLoad = isa::DeviceInfo::ticks(device.actTableLoadNs);
  resources.semaphoreHop = isa::DeviceInfo::ticks(device.semaphoreNs);
  resources.semaphoreHopToPE = isa::DeviceInfo::ticks(device.semaphoreToPeNs);
  return resources;
}

func::FuncOp trn::findEntry(ModuleOp module) {
  func::FuncOp entry;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    if (entry) {
      function.emitOpError("expected one public function, but '") << entry.getSymName() << "' is one already";
      return {};
    }
    entry = function;
  }
  if (entry && !entry.isExternal())
    return entry;
  module.emitError("expected a public function with a body");
  return {};
}

FlatBuffer trn::bufferOf(Value base) {
  auto type = cast<MemRefType>(base.getType());
  FlatBuffer buffer;
  buffer.space = *ir::spaceOf(type);
  buffer.external = llvm::isa_and_nonnull<ir::GetGlobalOp>(base.getDefiningOp());
  bool onChip = buffer.space != isa::Space::HBM && type.getRank() != 0;
  int64_t elements = ShapedType::getNumElements(onChip ? type.getShape().drop_front() : type.getShape());
  buffer.bytes = elements * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  return buffer;
}

namespace {

class Reader {
public:
  Reader(const isa::DeviceInfo &device) : device(device), costs(device) {}

  LogicalResult read(func::FuncOp function) {
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (llvm::isa<ir::AllocOp, ir::GetGlobalOp>(op)) {
        numbers[op.getResult(0)] = result.buffers.size();
        result.buffers.push_back(op.getResult(0));
        result.program.buffers.push_back(bufferOf(op.getResult(0)));
        continue;
      }
      auto instruction = dyn_cast<ir::InstructionOpInterface>(op);
      if (!instruction)
        return op.emitOpError("expected only buffers and instructions in a flat function; run trn-flatten");
      if (failed(readInstruction(instruction)))
        return failure();
    }
    return success();
  }

  FunctionProgram result;

private:
  LogicalResult readInstruction(ir::InstructionOpInterface op);
  LogicalResult chooseEngines(ir::InstructionOpInterface op, const isa::Instruction &inst, FlatInstruction &flat);

  const isa::DeviceInfo &device;
  rt::CostModel costs;
  DenseMap<Value, uint32_t> numbers;
};

} // namespace

LogicalResult Reader::chooseEngines(ir::InstructionOpInterface op, const isa::Instruction &inst,
                                    FlatInstruction &flat) {
  auto add = [&](isa::Engine engine) {
    rt::ComputeCost cost = flat.isDma ? rt::ComputeCost() : costs.compute(inst, engine);
    flat.choices.push_back({engine, cost.occupancy, cost.latency});
  };
  if (std::optional<isa::Engine> engine = op.getEngine()) {
    add(*engine);
    return success();
  }
  if (flat.isDma)
    return op->emitOpError("expected an issuing engine; run trn-assign-engines");
  const isa::Engine candidates[] = {isa::Engine::PE, isa::Engine::ACT, isa::Engine::DVE, isa::Engine::POOL,
                                    isa::Engine::SP};
  for (isa::Engine engine : candidates)
    if (isa::runsOn(inst, engine, device) && (engine != isa::Engine::POOL || flat.choices.empty()))
      add(engine);
  if (!flat.choices.empty()) {
    llvm::sort(flat.choices, [](const EngineChoice &a, const EngineChoice &b) { return a.latency < b.latency; });
    return success();
  }
  InFlightDiagnostic error = op->emitOpError("runs on no engine of ") << device.name;
  std::vector<isa::Violation> violations;
  for (isa::Engine engine : candidates)
    isa::validateEngine(inst, engine, device, violations);
  for (const isa::Violation &violation : violations)
    error.attachNote() << violation.message << " (" << violation.source << ")";
  return error;
}

LogicalResult Reader::readInstruction(ir::InstructionOpInterface op) {
  FailureOr<isa::Instruction> inst =
      op.toInstruction([&](Value base) -> FailureOr<ir::ResolvedBuffer> {
    return ir::ResolvedBuffer{numbers.lookup(base)};
  });
  if (failed(inst))
    return failure();
  FlatInstruction flat;
  flat.isDma = op.isDma();
  if (failed(chooseEngines(op, *inst, flat)))
    return failure();
  if (flat.isDma) {
    flat.ring = op.getRing().value_or(0);
    rt::DmaCost cost = costs.dma(*inst, flat.choices.front().engine);
    flat.transfer.issue = cost.issue;
    flat.transfer.startup = cost.startup - cost.issue;
    flat.transfer.transfer = cost.transfer;
    flat.transfer.completion = cost.completion + costs.handOff(isa::Engine::DVE);
    for (const rt::DmaShare &share : cost.shares)
      flat.transfer.byEngine.push_back(share.bytes() ? share.startOf(share.packets() - 1) : 0);
  }
  if (const auto *activation = std::get_if<isa::Activation>(&*inst))
    if (int32_t set = isa::info(activation->func).tableSet)
      flat.tableSet = set;
  flat.firstAccess = result.program.accesses.size();
  rt::forEachUse(*inst, [&](const rt::OperandUse &use, unsigned) {
    FlatAccess access;
    access.buffer = use.ap->buffer;
    access.reads = use.reads;
    access.writes = use.writes;
    access.region = ByteRegion::of(*use.ap);
    result.program.accesses.push_back(access);
  });
  flat.numAccesses = result.program.accesses.size() - flat.firstAccess;
  result.program.instructions.push_back(std::move(flat));
  result.operations.push_back(op);
  result.instructions.push_back(std::move(*inst));
  return success();
}

FailureOr<FunctionProgram> trn::readProgram(func::FuncOp function, const isa::DeviceInfo &device) {
  Reader reader(device);
  if (failed(reader.read(function)))
    return failure();
  return std::move(reader.result);
}
