//===- Machine.cpp - executing instructions for the evaluator -------------===//
#include "compiler/Reference/Machine.h"
#include "dialects/Trn/DVE.h"
#include "runtime/emulator/Step.h"
#include <cstring>

using namespace mlir;
namespace trn {

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Machine::Buffer Machine::describe(MemRefType type) {
  Buffer buffer;
  buffer.space = ir::spaceOf(type).value_or(isa::Space::HBM);
  buffer.dtype = ir::dtypeOf(type.getElementType()).value_or(isa::DType::F32);
  buffer.bytes = uint64_t(type.getNumElements()) * byteSize(*storageOf(type.getElementType()));
  if (buffer.space != isa::Space::HBM && type.getRank() > 0 && type.getDimSize(0) > 0) {
    buffer.partitions = type.getDimSize(0);
    buffer.rowBytes = buffer.bytes / buffer.partitions;
  } else {
    buffer.rowBytes = buffer.bytes;
  }
  return buffer;
}

/// Registers `memory`, and forgets it when the last tensor of it dies.
Tensor Machine::own(MemRefType type, Tensor memory, Dying dying) {
  char *begin = memory.bytes();
  std::weak_ptr<Buffers> alive = buffers;
  std::shared_ptr<void> owner(begin, [this, alive, type, memory, dying = std::move(dying)](void *at) {
    std::shared_ptr<Buffers> known = alive.lock();
    if (!known)
      return;
    auto buffer = known->find(static_cast<const char *>(at));
    if (dying)
      dying(buffer->first, buffer->second.address ? valuesAt(type, buffer->second) : memory);
    known->erase(buffer);
  });
  return Tensor::view(type.getElementType(), type.getShape(), std::move(owner), begin, /*writable=*/true);
}

Tensor Machine::allocate(MemRefType type, Dying dying) {
  Tensor memory = Tensor::allocate(type.getElementType(), type.getShape());
  memory.assign(Tensor::unset(type.getElementType(), type.getShape()));
  (*buffers)[memory.bytes()] = describe(type);
  return own(type, std::move(memory), std::move(dying));
}

Tensor Machine::place(ir::AllocOp alloc, Dying dying) {
  auto type = cast<MemRefType>(alloc.getMemref().getType());
  Buffer buffer = describe(type);
  buffer.address = static_cast<uint64_t>(*alloc.getAddress());
  // One element of memory is the buffer's name.
  Tensor name = Tensor::allocate(type.getElementType(), {1});
  buffer.bytes = 1;
  (*buffers)[name.bytes()] = buffer;
  return own(type, std::move(name), std::move(dying));
}

void Machine::know(MemRefType type, const Tensor &memory, bool writable) {
  Buffer buffer = describe(type);
  buffer.writable = writable;
  (*buffers)[memory.bytes()] = buffer;
}

Machine::Buffers::const_iterator Machine::find(const char *address) const {
  auto next = buffers->upper_bound(address);
  if (next == buffers->begin())
    return buffers->end();
  --next;
  return address < next->first + std::max<uint64_t>(next->second.bytes, 1) ? next : buffers->end();
}

const char *Machine::baseOf(const char *address) const {
  auto buffer = find(address);
  return buffer == buffers->end() ? nullptr : buffer->first;
}

/// A copy of what the core's memory holds where a buffer lies.
Tensor Machine::valuesAt(MemRefType type, const Buffer &buffer) const {
  Tensor values = Tensor::allocate(type.getElementType(), type.getShape());
  if (!core) {
    values.assign(Tensor::unset(type.getElementType(), type.getShape()));
    return values;
  }
  const rt::Memory &memory = core->memory(buffer.space);
  for (uint32_t row = 0; row < buffer.partitions; ++row)
    std::memcpy(values.bytes() + row * buffer.rowBytes, memory.data() + row * memory.stride() + *buffer.address,
                buffer.rowBytes);
  return values;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Appends dimensions to a pattern, joining those that continue each other from `first` on.
static bool appendDims(isa::AP &ap, unsigned first, ArrayRef<int64_t> shape, ArrayRef<int64_t> steps) {
  for (auto [count, step] : llvm::zip_equal(shape, steps)) {
    if (count == 1)
      continue;
    if (ap.rank > first && ap.dims[ap.rank - 1].step == step * count) {
      ap.dims[ap.rank - 1] = {static_cast<int32_t>(step), static_cast<uint32_t>(ap.dims[ap.rank - 1].count * count)};
      continue;
    }
    if (ap.rank == isa::kMaxRank)
      return false;
    ap.dims[ap.rank++] = {static_cast<int32_t>(step), static_cast<uint32_t>(count)};
  }
  return true;
}

/// The pattern of a view that begins `offset` elements inside its buffer. The innermost `reducedDims` dimensions stay
/// apart from the others; `reducedLeft` of them are left.
FailureOr<isa::AP> Machine::operandOf(Operation *op, const Buffer &buffer, int64_t offset, const Tensor &tensor,
                                      unsigned reducedDims, unsigned &reducedLeft) const {
  isa::AP ap{};
  ap.space = buffer.space;
  ap.dtype = buffer.dtype;
  if (cast<ir::InstructionOpInterface>(op).getInstInfo().isLibrary) {
    // One row of all elements.
    if (!tensor.isDense())
      return op->emitError("expected an operand of adjacent elements");
    ap.address = offset * byteSize(tensor.storage());
    ap.rank = 1;
    ap.dims[0] = {1, static_cast<uint32_t>(tensor.elements())};
    return ap;
  }
  unsigned size = byteSize(tensor.storage());
  ArrayRef<int64_t> shape = tensor.shape(), steps = tensor.strides();
  ap.partitions = shape.empty() ? 1 : static_cast<uint32_t>(shape[0]);
  int64_t partitionStep = ap.partitions > 1 ? steps[0] : 0;
  if (buffer.space == isa::Space::HBM) {
    ap.address = offset * size;
    ap.partitionStep = partitionStep;
  } else {
    int64_t row = buffer.rowBytes / size;
    if (ap.partitions > 1 && partitionStep != row)
      return op->emitError("steps over partitions by ")
             << partitionStep << " elements, but a row of its buffer has " << row;
    ap.startPartition = static_cast<uint16_t>(offset / row);
    ap.address = offset % row * size;
  }
  unsigned kept = shape.empty() ? 0 : shape.size() - 1;
  unsigned reduced = std::min(reducedDims, kept);
  kept -= reduced;
  shape = shape.take_back(kept + reduced);
  steps = steps.take_back(kept + reduced);
  bool fits = appendDims(ap, 0, shape.take_front(kept), steps.take_front(kept));
  unsigned first = ap.rank;
  fits = fits && appendDims(ap, first, shape.drop_front(kept), steps.drop_front(kept));
  if (fits && reducedDims && ap.rank == first) {
    fits = ap.rank < isa::kMaxRank;
    if (fits)
      ap.dims[ap.rank++] = {1, 1};
  }
  if (!fits)
    return op->emitError("needs more than ") << isa::kMaxRank << " dimensions for one operand";
  reducedLeft = ap.rank - first;
  return ap;
}

struct Machine::Binding {
  SmallVector<rt::HbmDeclaration, 4> declarations;
  SmallVector<rt::HbmBuffer, 4> hbm;
  SmallVector<rt::Core::LooseBuffer, 4> loose;

  /// The number of a buffer among those of its kind.
  uint32_t add(const char *begin, const Buffer &buffer) {
    auto *data = reinterpret_cast<uint8_t *>(const_cast<char *>(begin));
    if (buffer.address)
      return 0;
    if (buffer.space == isa::Space::HBM) {
      declarations.push_back({buffer.bytes, buffer.writable});
      hbm.push_back({data, buffer.bytes});
      return hbm.size() - 1;
    }
    loose.push_back({data, buffer.partitions, buffer.rowBytes});
    return loose.size();
  }
};

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

LogicalResult Machine::makeCore(Operation *op) {
  if (core)
    return success();
  rt::CoreOptions options;
  absl::StatusOr<rt::HostPath> path = rt::chooseHostPath();
  if (!path.ok())
    return op->emitError(std::string(path.status().message()));
  options.path = *path;
  absl::StatusOr<std::unique_ptr<rt::Core>> made = rt::Core::create(device, options);
  if (!made.ok())
    return op->emitError(std::string(made.status().message()));
  core = *std::move(made);
  return success();
}

/// The queue of an instruction that has not been given one yet: the first that its record allows.
static std::optional<isa::Engine> engineOf(ir::InstructionOpInterface op, const isa::Instruction &inst,
                                           const isa::DeviceInfo &device) {
  if (std::optional<isa::Engine> engine = op.getEngine())
    return engine;
  for (unsigned engine = 0; engine < isa::kNumEngines; ++engine)
    if (isa::runsOn(inst, static_cast<isa::Engine>(engine), device))
      return static_cast<isa::Engine>(engine);
  return std::nullopt;
}

LogicalResult Machine::execute(ir::InstructionOpInterface op, Lookup tensorOf, bool accumulate) {
  if (failed(makeCore(op)))
    return failure();
  Binding binding;
  auto reduce = dyn_cast<ir::TensorReduceOp>(op.getOperation());
  std::optional<unsigned> axes;
  FailureOr<isa::Instruction> inst = op.toInstruction([&](Value value) -> FailureOr<ir::ResolvedBuffer> {
    const Tensor &tensor = tensorOf(value);
    auto known = find(tensor.bytes());
    if (known == buffers->end())
      return failure();
    const auto &[begin, buffer] = *known;
    uint32_t number = binding.add(begin, buffer);
    ir::ResolvedBuffer result{number, buffer.address.value_or(0)};
    if (op.getApsAttr())
      return result;
    unsigned reducedLeft = 0;
    bool isReduced = reduce && value == reduce.getSrc();
    FailureOr<isa::AP> ap = operandOf(op, buffer, (tensor.bytes() - begin) / byteSize(tensor.storage()), tensor,
                                      isReduced ? reduce.getAxes() : 0, reducedLeft);
    if (failed(ap))
      return failure();
    if (isReduced)
      axes = reducedLeft;
    ap->buffer = number;
    ap->address += result.address;
    result.operand = *ap;
    return result;
  });
  if (failed(inst))
    return failure();
  if (auto *matmul = std::get_if<isa::NcMatmul>(&*inst))
    matmul->accumulate |= accumulate;
  if (axes)
    std::get<isa::TensorReduce>(*inst).axes = static_cast<int32_t>(*axes);
  std::optional<isa::Engine> engine = engineOf(op, *inst, device);
  if (!engine)
    return op->emitError("runs on no engine of ") << device.name;
  core->declareHbm(binding.declarations);
  absl::Status status = core->bindHbm(binding.hbm);
  core->bindLoose(binding.loose);
  if (status.ok())
    status = rt::execute(*core, *inst, *engine);
  if (!status.ok())
    return op->emitError(std::string(status.message()));
  return success();
}

} // namespace trn
