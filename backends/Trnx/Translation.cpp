//===- Translation.cpp - executables as IR and back -----------------------===//
//
// Owns the record-by-record translation of Translation.h.
//
//===----------------------------------------------------------------------===//
#include "backends/Trnx/Translation.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>

using namespace mlir;
using namespace trn;

static StringRef nameOf(exe::BufferKind kind) {
  switch (kind) {
  case exe::BufferKind::Input:
    return "input";
  case exe::BufferKind::Output:
    return "output";
  case exe::BufferKind::Weight:
    return "weight";
  case exe::BufferKind::Scratch:
    return "scratch";
  }
  return "scratch";
}

static exe::BufferKind kindOf(StringRef name) {
  for (exe::BufferKind kind : {exe::BufferKind::Input, exe::BufferKind::Output, exe::BufferKind::Weight})
    if (nameOf(kind) == name)
      return kind;
  return exe::BufferKind::Scratch;
}

static isa::DType dtypeNamed(StringRef name) { return *isa::parseDType({name.data(), name.size()}); }

//===----------------------------------------------------------------------===//
// Executable to IR
//===----------------------------------------------------------------------===//

static void exportCommand(OpBuilder &builder, Location loc, const isa::Command &command) {
  auto pair = [&](bool present, int64_t semaphore, int64_t value) {
    return present ? builder.getDenseI64ArrayAttr({semaphore, value}) : DenseI64ArrayAttr();
  };
  trnx::InstOp::create(builder, loc, builder.getStringAttr(trnx::encodeInstruction(command.inst)),
                       builder.getStringAttr(isa::disassemble(command.inst)),
                       builder.getI32IntegerAttr(command.ring), builder.getI32IntegerAttr(command.debug),
                       pair(command.hasWait, command.wait.semaphore, command.wait.value),
                       pair(command.hasUpdate, command.update.semaphore, command.update.add));
}

/// All weights as one attribute.
static FailureOr<ElementsAttr> exportWeights(const exe::WeightSource &weights, MLIRContext *context) {
  std::vector<char> bytes(weights.bytes);
  if (weights.data)
    std::memcpy(bytes.data(), weights.data, bytes.size());
  else if (!bytes.empty() && (!weights.read || !weights.read(0, bytes.data(), bytes.size())))
    return failure();
  auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())}, IntegerType::get(context, 8));
  if (bytes.size() <= 64)
    return ElementsAttr(DenseElementsAttr::getFromRawBuffer(type, bytes));
  return ElementsAttr(
      DenseResourceElementsAttr::get(type, "weights", HeapAsmResourceBlob::allocateAndCopyInferAlign<char>(bytes)));
}

FailureOr<OwningOpRef<ModuleOp>> trn::exportToTrnx(const exe::Executable &executable, MLIRContext *context) {
  context->loadDialect<trnx::TrnxDialect>();
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  NamedAttrList build;
  for (const auto &[key, value] : executable.build)
    build.append(key, builder.getStringAttr(value));
  auto root = trnx::ExecutableOp::create(builder, loc, builder.getStringAttr(executable.device),
                                         build.getDictionary(context),
                                         executable.ir.empty() ? StringAttr() : builder.getStringAttr(executable.ir));
  builder.setInsertionPointToStart(&root.getBody().emplaceBlock());
  for (const exe::Buffer &buffer : executable.buffers)
    trnx::BufferOp::create(builder, loc, nameOf(buffer.kind), buffer.name, isa::name(buffer.dtype), buffer.shape,
                           buffer.bytes, isa::name(buffer.hostDtype), buffer.weightOffset,
                           buffer.countBuffer >= 0 ? builder.getI32IntegerAttr(buffer.countBuffer) : IntegerAttr(),
                           buffer.countBuffer >= 0 ? builder.getI32IntegerAttr(int32_t(buffer.countDim)) : IntegerAttr());
  for (const exe::DebugEntry &entry : executable.debug)
    trnx::DebugOp::create(builder, loc, entry.node, entry.opType, entry.note);
  if (!executable.flow.empty()) {
    SmallVector<int64_t> edges;
    for (const exe::FlowEdge &edge : executable.flow)
      edges.append({edge.reader, edge.operand, edge.writer, edge.writerOperand});
    trnx::FlowOp::create(builder, loc, edges);
  }
  if (executable.weights.bytes) {
    FailureOr<ElementsAttr> weights = exportWeights(executable.weights, context);
    if (failed(weights)) {
      emitError(loc, "the weights cannot be read");
      return failure();
    }
    trnx::WeightsOp::create(builder, loc, *weights);
  }
  for (const exe::Program &program : executable.programs) {
    auto op = trnx::ProgramOp::create(builder, loc, builder.getStringAttr(isa::name(program.engine)));
    OpBuilder body = OpBuilder::atBlockBegin(&op.getBody().emplaceBlock());
    for (const isa::Command &command : program.commands)
      exportCommand(body, loc, command);
  }
  return module;
}

//===----------------------------------------------------------------------===//
// IR to executable
//===----------------------------------------------------------------------===//

static isa::Command importCommand(trnx::InstOp op, isa::Engine engine) {
  isa::Command command;
  std::string error;
  [[maybe_unused]] bool decoded = trnx::decodeInstruction(op.getEncoding(), command.inst, error);
  assert(decoded && "the verifier has decoded it");
  command.engine = engine;
  command.ring = static_cast<uint8_t>(op.getRing());
  command.debug = op.getDebug();
  if (std::optional<ArrayRef<int64_t>> wait = op.getWait()) {
    command.hasWait = true;
    command.wait = {static_cast<uint16_t>((*wait)[0]), static_cast<uint32_t>((*wait)[1])};
  }
  if (std::optional<ArrayRef<int64_t>> update = op.getUpdate()) {
    command.hasUpdate = true;
    command.update = {static_cast<uint16_t>((*update)[0]), static_cast<int32_t>((*update)[1])};
  }
  return command;
}

static LogicalResult importWeights(trnx::WeightsOp op, exe::WeightSource &weights) {
  auto bytes = std::make_shared<std::vector<char>>();
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue())) {
    for (APInt value : dense.getValues<APInt>())
      bytes->push_back(static_cast<char>(value.getZExtValue()));
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
             resource && resource.getRawHandle().getBlob()) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    bytes->assign(data.begin(), data.end());
  }
  auto type = cast<ShapedType>(op.getValue().getType());
  if (static_cast<int64_t>(bytes->size()) != type.getNumElements())
    return op.emitOpError("holds ") << bytes->size() << " bytes, but its type says " << type.getNumElements()
                                    << "; was its resource elided?";
  weights.bytes = bytes->size();
  weights.data = reinterpret_cast<const uint8_t *>(bytes->data());
  weights.read = [bytes](uint64_t offset, void *out, uint64_t size) {
    if (offset > bytes->size() || size > bytes->size() - offset)
      return false;
    std::memcpy(out, bytes->data() + offset, size);
    return true;
  };
  weights.owner = std::move(bytes);
  return success();
}

static exe::Buffer importBuffer(trnx::BufferOp op) {
  exe::Buffer buffer;
  buffer.kind = kindOf(op.getKind());
  buffer.name = op.getName().str();
  buffer.dtype = dtypeNamed(op.getDtype());
  buffer.hostDtype = dtypeNamed(op.getHostDtype());
  buffer.shape.assign(op.getShape().begin(), op.getShape().end());
  buffer.bytes = op.getBytes();
  buffer.weightOffset = op.getWeightOffset();
  if (op.getCountBuffer())
    buffer.countBuffer = int32_t(*op.getCountBuffer());
  buffer.countDim = op.getCountDim().value_or(0);
  return buffer;
}

FailureOr<exe::Executable> trn::importFromTrnx(ModuleOp module) {
  auto roots = module.getOps<trnx::ExecutableOp>();
  if (!llvm::hasSingleElement(roots)) {
    module.emitError("expected one trnx.executable");
    return failure();
  }
  trnx::ExecutableOp root = *roots.begin();
  exe::Executable executable;
  executable.device = root.getDevice().str();
  if (root.getIr())
    executable.ir = root.getIr()->str();
  for (NamedAttribute fact : root.getFacts()) {
    auto value = dyn_cast<StringAttr>(fact.getValue());
    if (!value)
      return root.emitOpError("expected text for the build fact '") << fact.getName().getValue() << "'";
    executable.build[fact.getName().str()] = value.str();
  }
  for (Operation &op : root.getBody().front()) {
    if (auto buffer = dyn_cast<trnx::BufferOp>(op)) {
      executable.buffers.push_back(importBuffer(buffer));
    } else if (auto entry = dyn_cast<trnx::DebugOp>(op)) {
      executable.debug.push_back({entry.getNode().str(), entry.getOpType().str(), entry.getNote().str()});
    } else if (auto flow = dyn_cast<trnx::FlowOp>(op)) {
      ArrayRef<int64_t> edges = flow.getEdges();
      for (size_t i = 0; i < edges.size(); i += 4)
        executable.flow.push_back({static_cast<uint32_t>(edges[i]), static_cast<uint8_t>(edges[i + 1]),
                                   static_cast<uint32_t>(edges[i + 2]), static_cast<uint8_t>(edges[i + 3])});
    } else if (auto weights = dyn_cast<trnx::WeightsOp>(op)) {
      if (failed(importWeights(weights, executable.weights)))
        return failure();
    } else if (auto program = dyn_cast<trnx::ProgramOp>(op)) {
      isa::Engine engine = *isa::parseEngine({program.getEngine().data(), program.getEngine().size()});
      executable.programs.push_back({engine, {}});
      for (auto inst : program.getBody().getOps<trnx::InstOp>())
        executable.programs.back().commands.push_back(importCommand(inst, engine));
    } else {
      return op.emitOpError("is no part of an executable");
    }
  }
  return executable;
}
