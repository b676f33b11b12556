//===- Machine.h - executing instructions for the evaluator ---------------===//
// Runs one `trn` instruction after the other with the emulator's own kernels. Buffers without an address lie in host
// memory of their own; those with one lie in the memories of one emulated core, so that what shares bytes there overwrites
// each other as it would on the device. Owns the way from the evaluator's tensors to access patterns, before flattening
// has made them: it shares no code with trn-flatten, whose errors would hide otherwise. Refuses control flow: blocks,
// loops and queues are the interpreter's.
#pragma once
#include "compiler/Reference/Tensor.h"
#include "dialects/Trn/TrnDialect.h"
#include "dialects/Trn/TrnOps.h"
#include "runtime/emulator/Core.h"
#include <map>

namespace trn {

class Machine {
public:
  explicit Machine(const isa::DeviceInfo &device) : device(device) {}

  /// Called when the last name of a buffer has died, with its base (`baseOf`) and its final values. Not called for what
  /// outlives the machine.
  using Dying = std::function<void(const char *base, const Tensor &values)>;
  /// Memory for a buffer of `type`, all of it unset.
  Tensor allocate(mlir::MemRefType type, Dying dying);
  /// The buffer of a `trn.alloc` with an address. The tensor stands for it and has no values of its own.
  Tensor place(ir::AllocOp alloc, Dying dying);
  /// Makes memory known that lies elsewhere (inputs, outputs, weights); `memory` is row major and must stay alive.
  void know(mlir::MemRefType type, const Tensor &memory, bool writable);
  /// The beginning of the known memory that holds `address`; null for any other.
  const char *baseOf(const char *address) const;

  /// The values of an operand.
  using Lookup = llvm::function_ref<const Tensor &(mlir::Value)>;
  /// Executes `op` now. `accumulate` is the value of the predicate of a matmul that has one.
  mlir::LogicalResult execute(ir::InstructionOpInterface op, Lookup tensorOf, bool accumulate);

private:
  /// A buffer in HBM, or on chip with rows of `rowBytes`.
  struct Buffer {
    isa::Space space = isa::Space::HBM;
    isa::DType dtype = isa::DType::F32;
    uint64_t bytes = 0, rowBytes = 0;
    uint32_t partitions = 1;
    std::optional<uint64_t> address; ///< on chip, in the core's memory
    bool writable = true;
  };
  using Buffers = std::map<const char *, Buffer>; ///< by the first byte
  /// The buffers of one instruction, as the core numbers them.
  struct Binding;

  static Buffer describe(mlir::MemRefType type);
  Tensor own(mlir::MemRefType type, Tensor memory, Dying dying);
  Buffers::const_iterator find(const char *address) const;
  mlir::FailureOr<isa::AP> operandOf(mlir::Operation *op, const Buffer &buffer, int64_t offset, const Tensor &tensor,
                                     unsigned reducedDims, unsigned &reducedLeft) const;
  Tensor valuesAt(mlir::MemRefType type, const Buffer &buffer) const;
  mlir::LogicalResult makeCore(mlir::Operation *op);

  const isa::DeviceInfo &device;
  std::unique_ptr<rt::Core> core; ///< made for the first instruction
  std::shared_ptr<Buffers> buffers = std::make_shared<Buffers>(); ///< shared with buffers that may outlive the machine
};

} // namespace trn
