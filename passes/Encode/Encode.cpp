//===- Encode.cpp - from synced instructions to an executable -------------===//
//
// Owns the walk of Encode.h over a synced module.
//
//===----------------------------------------------------------------------===//
#include "passes/Encode/Encode.h"
#include "compiler/Support/Problems.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Encode/WeightStream.h"
#include "passes/Schedule/ReadProgram.h"
#include "runtime/check/Check.h"
#include "runtime/executable/Format.h"

using namespace mlir;
using namespace trn;

namespace {

class Encoder {
public:
  Encoder(ModuleOp module, const EncodeOptions &options) : module(module), options(options) {}

  LogicalResult run() {
    const isa::DeviceInfo *device = findDevice(module, options.target);
    func::FuncOp entry = device ? findEntry(module) : func::FuncOp();
    if (!entry)
      return failure();
    exe.device = device->name;
    exe.debug.emplace_back();
    for (unsigned engine = 0; engine < isa::kNumEngines; ++engine)
      exe.programs.push_back({static_cast<isa::Engine>(engine), {}});
    for (auto global : module.getOps<ir::GlobalOp>())
      if (failed(addGlobal(global)))
        return failure();
    for (Operation &op : entry.getBody().front().without_terminator())
      if (failed(addOperation(&op)))
        return failure();
    recordFlow();
    finish();
    return success();
  }

  exe::Executable exe;

private:
  LogicalResult addGlobal(ir::GlobalOp global);
  LogicalResult addWeight(ir::GlobalOp global, exe::Buffer &buffer);
  LogicalResult addOperation(Operation *op);
  LogicalResult addCommand(ir::InstructionOpInterface op);
  void addScratch(ir::AllocOp alloc);
  uint32_t debugIndex(Location loc);
  void recordFlow();
  void finish();

  ModuleOp module;
  const EncodeOptions &options;
  WeightStream stream;
  llvm::StringMap<uint32_t> globals;
  std::vector<std::pair<size_t, std::string>> counts; ///< buffers whose count is that global
  DenseMap<Value, ir::ResolvedBuffer> places;
  std::map<std::tuple<std::string, std::string, std::string>, uint32_t> debugEntries;
  uint64_t scratchBytes = 0, macs = 0;
  uint32_t onChipBuffers = 0;
};

exe::Buffer describe(MemRefType type, exe::BufferKind kind, StringRef name) {
  exe::Buffer buffer;
  buffer.kind = kind;
  buffer.name = name.str();
  buffer.dtype = *ir::dtypeOf(type.getElementType());
  buffer.hostDtype = buffer.dtype;
  buffer.shape.assign(type.getShape().begin(), type.getShape().end());
  // The shape of what no caller sees is a note for people: what a file has no room for is one dimension there.
  bool isSeen = kind == exe::BufferKind::Input || kind == exe::BufferKind::Output;
  while (!isSeen && buffer.shape.size() > exe::format::kMaxRank) {
    buffer.shape[1] *= buffer.shape[0];
    buffer.shape.erase(buffer.shape.begin());
  }
  buffer.bytes = uint64_t(type.getNumElements()) * isa::byteSize(buffer.dtype);
  return buffer;
}

} // namespace

LogicalResult Encoder::addWeight(ir::GlobalOp global, exe::Buffer &buffer) {
  auto value = dyn_cast_or_null<ElementsAttr>(global.getValueAttr());
  if (!value)
    return global.emitOpError("expected a value for a weight");
  std::optional<Constant> constant = Constant::get(value);
  if (!constant)
    return global.emitOpError("holds no readable elements: its resource was elided from the IR text");
  FailureOr<WeightTransforms> transforms =
      WeightTransforms::get(constant->type(), global.getTransformsAttr(), [&] { return global.emitOpError(); });
  if (failed(transforms))
    return failure();
  MemRefType type = global.getMemRefType();
  if (transforms->elements() != type.getNumElements() || transforms->elementType() != type.getElementType())
    return global.emitOpError("expected transforms that give ") << type << ", but got " << transforms->elements()
                                                                << " elements of " << transforms->elementType();
  buffer.weightOffset = stream.add(*constant, std::move(*transforms));
  return success();
}

LogicalResult Encoder::addGlobal(ir::GlobalOp global) {
  MemRefType type = global.getMemRefType();
  exe::BufferKind kind = global.getKind() == ir::GlobalKind::Input    ? exe::BufferKind::Input
                         : global.getKind() == ir::GlobalKind::Output ? exe::BufferKind::Output
                                                                      : exe::BufferKind::Weight;
  exe::Buffer buffer = describe(type, kind, global.getIoName().value_or(global.getSymName()));
  if (std::optional<Type> host = global.getHostType())
    buffer.hostDtype = *ir::hostDtypeOf(*host);
  if (kind == exe::BufferKind::Weight && options.weights && failed(addWeight(global, buffer)))
    return failure();
  if (global.getCount()) {
    counts.push_back({exe.buffers.size(), global.getCount()->str()});
    buffer.countDim = static_cast<uint32_t>(*global.getCountDim());
  }
  globals[global.getSymName()] = exe.buffers.size();
  exe.buffers.push_back(std::move(buffer));
  return success();
}

void Encoder::addScratch(ir::AllocOp alloc) {
  places[alloc.getMemref()] = {static_cast<uint32_t>(exe.buffers.size())};
  exe.buffers.push_back(describe(cast<MemRefType>(alloc.getMemref().getType()), exe::BufferKind::Scratch,
                                 "scratch" + std::to_string(exe.buffers.size())));
  scratchBytes += exe.buffers.back().bytes;
}

LogicalResult Encoder::addOperation(Operation *op) {
  if (auto get = dyn_cast<ir::GetGlobalOp>(op)) {
    auto global = globals.find(get.getName());
    if (global == globals.end())
      return op->emitOpError("names an unknown global '") << get.getName() << "'";
    places[get.getMemref()] = {global->second};
    return success();
  }
  if (auto alloc = dyn_cast<ir::AllocOp>(op)) {
    if (ir::spaceOf(cast<MemRefType>(alloc.getMemref().getType())) == isa::Space::HBM) {
      addScratch(alloc);
      return success();
    }
    if (!alloc.getAddress())
      return op->emitOpError("expected an address; run trn-allocate");
    // Until the flow is recorded an operand names its buffer.
    places[alloc.getMemref()] = {++onChipBuffers, static_cast<uint64_t>(*alloc.getAddress())};
    return success();
  }
  if (auto instruction = dyn_cast<ir::InstructionOpInterface>(op))
    return addCommand(instruction);
  return op->emitOpError("cannot be encoded: expected only buffers and instructions");
}

uint32_t Encoder::debugIndex(Location loc) {
  NodeOrigin origin = originOf(loc);
  if (origin.node.empty() && origin.line < 0)
    return 0;
  // A kernel that was written by hand has lines instead of nodes.
  std::string note = origin.node.empty() ? "line " + std::to_string(origin.line) : "";
  auto [entry, isNew] = debugEntries.try_emplace({origin.node, origin.op, note}, exe.debug.size());
  if (isNew)
    exe.debug.push_back({origin.node, origin.op, note});
  return entry->second;
}

LogicalResult Encoder::addCommand(ir::InstructionOpInterface op) {
  if (!op.getEngine())
    return op->emitOpError("expected an engine; run trn-schedule");
  FailureOr<isa::Instruction> inst = op.toInstruction([&](Value base) -> FailureOr<ir::ResolvedBuffer> { return places.lookup(base); });
  if (failed(inst))
    return failure();
  isa::Command command;
  command.inst = std::move(*inst);
  command.engine = *op.getEngine();
  command.ring = op.getRing().value_or(0);
  if (ir::WaitAttr wait = op.getWaitAttr()) {
    command.hasWait = true;
    command.wait = {static_cast<uint16_t>(wait.getSemaphore()), wait.getValue()};
  }
  if (ir::UpdateAttr update = op.getUpdateAttr()) {
    command.hasUpdate = true;
    command.update = {static_cast<uint16_t>(update.getSemaphore()), update.getAdd()};
  }
  command.debug = debugIndex(op->getLoc());
  if (const auto *matmul = std::get_if<isa::NcMatmul>(&command.inst))
    macs += matmul->moving.elements() * matmul->stationary.elements() * matmul->moving.partitions;
  exe.programs[static_cast<unsigned>(command.engine)].commands.push_back(std::move(command));
  return success();
}

/// Records who reads whose data while buffers are apart from each other, then lets the addresses speak alone.
void Encoder::recordFlow() {
  rt::CheckOptions check;
  check.legality = false;
  check.recordFlow = check.buffersApart = true;
  rt::CheckReport report = rt::check(exe, check);
  if (report.ok()) // a program that is wrong as such is judged by the contract of stage `synced`
    exe.flow = std::move(report.flow);
  for (exe::Program &program : exe.programs)
    for (isa::Command &command : program.commands)
      isa::forEachOperand(command.inst, [](isa::AP &operand, const isa::OperandInfo &) {
        if (operand.space != isa::Space::HBM)
          operand.buffer = 0;
      });
}

void Encoder::finish() {
  for (auto &[buffer, count] : counts)
    exe.buffers[buffer].countBuffer = static_cast<int32_t>(globals.lookup(count));
  uint64_t instructions = 0;
  for (const exe::Program &program : exe.programs)
    instructions += program.commands.size();
  exe.build = options.build;
  if (auto macs = module->getAttrOfType<IntegerAttr>(ir::kModelMacs))
    exe.build["model_macs"] = std::to_string(macs.getInt());
  exe.build["instructions"] = std::to_string(instructions);
  exe.build["hardware_macs"] = std::to_string(macs);
  exe.build["scratch_bytes"] = std::to_string(scratchBytes);
  exe.build["weight_bytes"] = std::to_string(exe.bytesOf(exe::BufferKind::Weight));
  if (options.keepIr) {
    llvm::raw_string_ostream text(exe.ir);
    OpPrintingFlags flags;
    flags.elideLargeElementsAttrs(16).elideLargeResourceString(64);
    module.print(text, flags);
  }
  auto shared = std::make_shared<WeightStream>(std::move(stream));
  exe.weights.bytes = shared->bytes();
  exe.weights.read = [shared](uint64_t offset, void *out, uint64_t size) {
    return shared->read(offset, static_cast<char *>(out), size);
  };
}

FailureOr<exe::Executable> trn::encodeModule(ModuleOp module, const EncodeOptions &options) {
  Encoder encoder(module, options);
  if (failed(encoder.run()))
    return failure();
  return std::move(encoder.exe);
}
