//===- Instruction.cpp - what all instruction operations share ------------===//
//
// Owns the translation of an instruction operation to its ISA struct, its verifier and its memory effects. The checks
// are those of the ISA library: nothing is stated twice.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/TrnDialect.h"

using namespace mlir;
using namespace trn;
using namespace trn::ir;
using namespace trn::ir::detail;

//===----------------------------------------------------------------------===//
// InstReader
//===----------------------------------------------------------------------===//

InstReader::InstReader(Operation *op, ArrayRef<Value> groups, OperandResolver *resolve)
    : op(op), groups(groups), resolve(resolve), aps(cast<InstructionOpInterface>(op).getApsAttr()) {}

InFlightDiagnostic InstReader::error() {
  ok = false;
  return op->emitOpError();
}

Attribute InstReader::get(const std::string &name) { return op->getInherentAttr(name).value_or(Attribute()); }

bool InstReader::isPresent(const isa::OperandInfo &info) {
  return groups[index] || (info.scalar && get(std::string(info.name) + "_imm"));
}

void InstReader::checkWellFormed(const isa::OperandInfo &info, const isa::AP &ap) {
  if (std::string problem; !ap.wellFormed(&problem))
    error() << "operand '" << info.name << "': " << problem;
}

void InstReader::readAP(const isa::OperandInfo &info, Value value, isa::AP &ap) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type) {
    error() << "operand '" << info.name << "': expected a ranked memref, but got " << value.getType();
    return;
  }
  ResolvedBuffer base;
  if (resolve) {
    FailureOr<ResolvedBuffer> resolved = (*resolve)(value);
    if (failed(resolved)) {
      error() << "operand '" << info.name << "' has no place in memory";
      return;
    }
    base = *resolved;
  }
  if (base.operand) {
    ap = *base.operand;
    checkWellFormed(info, ap);
    return;
  }
  std::string reason;
  APAttr pattern;
  if (!aps) {
    bool flat = cast<InstructionOpInterface>(op).getInstInfo().isLibrary;
    FailureOr<APAttr> whole =
        flat ? flatPatternOf(type, reason) : accessPatternOf(type, reason, /*anyOffset=*/!resolve);
    if (failed(whole)) {
      error() << "operand '" << info.name << "': " << reason << ", but got " << type;
      return;
    }
    pattern = *whole;
  } else {
    if (memrefIndex < aps.size())
      pattern = dyn_cast<APAttr>(aps[memrefIndex]);
    if (!pattern) {
      error() << "expected one #trn.ap in 'aps' per memref operand, but operand '" << info.name << "' has none";
      return;
    }
  }
  std::optional<isa::DType> dtype = dtypeOf(type.getElementType());
  if (std::optional<isa::DType> other = pattern.getElement() ? dtypeOf(pattern.getElement()) : std::nullopt) {
    if (!dtype || isa::byteSize(*dtype) != isa::byteSize(*other)) {
      error() << "operand '" << info.name << "': expected a type of the size of " << type.getElementType() << ", but got "
              << pattern.getElement();
      return;
    }
    dtype = other;
  }
  std::optional<isa::Space> space = spaceOf(type);
  if (!dtype || !space) {
    error() << "operand '" << info.name << "': expected "
            << (dtype ? "memory space #trn.hbm, #trn.sbuf or #trn.psum" : "an element type of the machine")
            << ", but got " << type;
    return;
  }
  ap.space = *space;
  ap.dtype = *dtype;
  ap.rank = static_cast<uint8_t>(pattern.getRank());
  ap.startPartition = static_cast<uint16_t>(base.startPartition + pattern.getStart());
  ap.partitions = pattern.getCount();
  ap.buffer = base.buffer;
  ap.address = base.address + static_cast<uint64_t>(pattern.getOffset()) * isa::byteSize(*dtype);
  ap.partitionStep = pattern.getRowStep();
  for (unsigned i = 0; i < ap.rank; ++i)
    ap.dims[i] = {static_cast<int32_t>(pattern.getStep(i)), static_cast<uint32_t>(pattern.getDimCount(i))};
  checkWellFormed(info, ap);
}

void InstReader::operand(const isa::OperandInfo &info, isa::AP &ap) {
  if (ok)
    readAP(info, groups[index], ap);
  ++index;
  ++memrefIndex;
}

void InstReader::operand(const isa::OperandInfo &info, isa::Scalar &scalar) {
  Value value = groups[index];
  auto immediate = dyn_cast_or_null<FloatAttr>(get(std::string(info.name) + "_imm"));
  if (value && immediate)
    error() << "expected either a memref or an immediate for '" << info.name << "', but got both";
  else if (!value && !immediate && !info.hasDefault)
    error() << "expected a memref or '" << info.name << "_imm' for '" << info.name << "', but got neither";
  if (value)
    scalar.isPointer = true;
  if (immediate)
    scalar.immediate = immediate.getValue().convertToFloat();
  if (!value) {
    ++index;
    return;
  }
  scalar.immediate = 0.0f;
  operand(info, scalar.pointer);
}

void InstReader::attribute(const isa::AttrInfo &info, bool &value) {
  Attribute attr = get(info.name);
  if (auto flag = dyn_cast_or_null<BoolAttr>(attr))
    value = flag.getValue();
  else if (isa_and_nonnull<UnitAttr>(attr))
    value = true;
}

void InstReader::attribute(const isa::AttrInfo &info, int32_t &value) {
  if (auto attr = dyn_cast_or_null<IntegerAttr>(get(info.name)))
    value = static_cast<int32_t>(attr.getInt());
  if (value < info.low || value > info.high)
    error() << "attribute '" << info.name << "': expected " << info.low << " to " << info.high << ", but got " << value;
}

void InstReader::attribute(const isa::AttrInfo &info, float &value) {
  if (auto attr = dyn_cast_or_null<FloatAttr>(get(info.name)))
    value = attr.getValue().convertToFloat();
}

void InstReader::attribute(const isa::AttrInfo &info, isa::Pattern &value) {
  auto attr = dyn_cast_or_null<DenseI64ArrayAttr>(get(info.name));
  ArrayRef<int64_t> numbers = attr ? attr.asArrayRef() : ArrayRef<int64_t>();
  // The limits of an access pattern are those of an index pattern.
  auto emitError = [&] { return error() << "attribute '" << info.name << "': "; };
  if (failed(APAttr::verify(emitError, 0, 1, 0, numbers, 0, Type())))
    return;
  value.rank = static_cast<uint8_t>(numbers.size() / 2);
  for (unsigned i = 0; i < value.rank; ++i)
    value.dims[i] = {static_cast<int32_t>(numbers[2 * i]), static_cast<uint32_t>(numbers[2 * i + 1])};
}

void InstReader::attribute(const isa::AttrInfo &info, isa::AluOp &value) {
  if (auto attr = dyn_cast_or_null<AluOpAttr>(get(info.name)))
    value = attr.getValue();
}

void InstReader::attribute(const isa::AttrInfo &info, isa::ActivationFunc &value) {
  if (auto attr = dyn_cast_or_null<ActivationFuncAttr>(get(info.name)))
    value = attr.getValue();
}

void InstReader::attribute(const isa::AttrInfo &info, std::vector<int32_t> &values) {
  if (auto attr = dyn_cast_or_null<DenseI32ArrayAttr>(get(info.name)))
    values.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
}

void InstReader::readInts(const isa::AttrInfo &info, MutableArrayRef<int32_t> values) {
  auto attr = dyn_cast_or_null<DenseI32ArrayAttr>(get(info.name));
  if (!attr || attr.size() != static_cast<int64_t>(values.size())) {
    error() << "attribute '" << info.name << "': expected " << values.size() << " numbers, but got "
            << (attr ? attr.size() : 0);
    return;
  }
  for (auto [value, number] : llvm::zip(values, attr.asArrayRef())) {
    value = number;
    if (value < info.low || value > info.high) {
      error() << "attribute '" << info.name << "': expected " << info.low << " to " << info.high << ", but got "
              << value;
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Reports the first violation as the error and the others as notes.
static LogicalResult report(Operation *op, ArrayRef<isa::Violation> violations) {
  if (violations.empty())
    return success();
  auto text = [](const isa::Violation &v) {
    return v.message + " (rule " + std::to_string(v.number) + ", " + v.source + ")";
  };
  InFlightDiagnostic diag = op->emitOpError(text(violations.front()));
  for (const isa::Violation &violation : violations.drop_front())
    diag.attachNote() << "also: " << text(violation);
  return diag;
}

/// The attributes that scheduling and synchronisation add.
static LogicalResult verifyDeclaredAttributes(InstructionOpInterface op, const isa::DeviceInfo &device) {
  unsigned memrefs = llvm::count_if(op->getOperandTypes(), [](Type type) { return llvm::isa<BaseMemRefType>(type); });
  if (ArrayAttr aps = op.getApsAttr(); aps && aps.size() != memrefs)
    return op->emitOpError("expected one #trn.ap in 'aps' per memref operand (")
           << memrefs << "), but got " << aps.size();
  if (std::optional<uint32_t> ring = op.getRing(); ring && (!op.isDma() || *ring >= device.dmaRings))
    return op->emitOpError("expected a ring below ")
           << device.dmaRings << " on DMA instructions only, but got " << *ring;
  WaitAttr wait = op.getWaitAttr();
  if (wait && (wait.getSemaphore() >= device.semaphores || wait.getValue() > device.semaphoreMax))
    return op->emitOpError("expected a semaphore below ")
           << device.semaphores << " and a value of at most " << device.semaphoreMax << ", but got " << wait;
  UpdateAttr update = op.getUpdateAttr();
  if (update && update.getSemaphore() >= device.semaphores)
    return op->emitOpError("expected a semaphore below ") << device.semaphores << ", but got " << update;
  if (update && op.isDma() && update.getAdd() != device.dmaEngines)
    return op->emitOpError("expected a DMA to add ")
           << device.dmaEngines << " (1 by each DMA engine, DMAO), but got " << update.getAdd();
  return success();
}

LogicalResult trn::ir::detail::verifyInstruction(InstructionOpInterface op, const isa::Instruction &inst) {
  // The target is not known here: limits are the widest of all targets, and stage contracts check the real ones.
  const isa::DeviceInfo &device = isa::widestDevice();
  if (failed(verifyDeclaredAttributes(op, device)))
    return failure();
  std::vector<isa::Violation> violations;
  isa::validate(inst, device, isa::Phase::Shape, violations);
  if (std::optional<isa::Engine> engine = op.getEngine())
    isa::validateEngine(inst, *engine, device, violations);
  return report(op, violations);
}

//===----------------------------------------------------------------------===//
// Memory effects
//===----------------------------------------------------------------------===//

void trn::ir::detail::instructionEffects(InstructionOpInterface op, bool readsDestination,
                                         SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  bool touchesMemory = false;
  for (OpOperand &operand : op->getOpOperands()) {
    const isa::OperandInfo *info = op.getOperandInfo(operand.getOperandNumber());
    if (!info)
      continue;
    touchesMemory = true;
    // An InOut destination is read unless the record says when.
    if (info->role == isa::Role::In || (info->role == isa::Role::InOut && readsDestination))
      effects.emplace_back(MemoryEffects::Read::get(), &operand, SideEffects::DefaultResource::get());
    if (isa::writes(info->role))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, SideEffects::DefaultResource::get());
  }
  if (!touchesMemory)
    effects.emplace_back(MemoryEffects::Write::get(), EngineStateResource::get());
}
