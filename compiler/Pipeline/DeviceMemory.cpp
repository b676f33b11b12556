//===- DeviceMemory.cpp - does a model fit the device at all? -------------===//
#include "compiler/Pipeline/DeviceMemory.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/TrnOps.h"
#include "passes/Schedule/Passes.h"
#include "runtime/executable/Format.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace trn {

namespace {

/// Bytes of tensors and buffers, and the largest of them. Sums stop at what 64 bits hold.
struct Footprint {
  uint64_t total = 0, largest = 0;
  Type largestType;

  void add(Type type) {
    uint64_t bytes = bytesOf(type);
    if (bytes > largest) {
      largest = bytes;
      largestType = type;
    }
    add(bytes);
  }
  void add(const Footprint &other) {
    if (other.largest > largest) {
      largest = other.largest;
      largestType = other.largestType;
    }
    add(other.total);
  }
  /// The reason when this is more than a core of `device` has; `what` says what was added up.
  std::optional<std::string> exceeds(const isa::DeviceInfo &device, StringRef what) const;

private:
  void add(uint64_t bytes) {
    if (__builtin_add_overflow(total, bytes, &total))
      total = UINT64_MAX;
  }
  static uint64_t bytesOf(Type type);
};

} // namespace

/// 0 for what has no static size.
uint64_t Footprint::bytesOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape() || !shaped.getElementType().isIntOrFloat())
    return 0;
  uint64_t bytes = (shaped.getElementTypeBitWidth() + 7) / 8;
  for (int64_t size : shaped.getShape())
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      return UINT64_MAX;
  return bytes;
}

std::optional<std::string> Footprint::exceeds(const isa::DeviceInfo &device, StringRef what) const {
  const uint64_t limit = static_cast<uint64_t>(device.hbmBytesPerCoreMiB) << 20;
  if (total <= limit)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << what << ": expected at most " << limit << " bytes, the memory of a core of " << device.name << ", but got ";
  if (total == UINT64_MAX)
    os << "more than 64 bits count";
  else
    os << total;
  os << "; the largest is " << largestType;
  return text;
}

std::optional<std::string> exceedsDeviceMemory(ModuleOp module, const isa::DeviceInfo &device) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.empty())
    return std::nullopt;
  Footprint footprint;
  for (Type type : main.getArgumentTypes())
    footprint.add(type);
  for (Type type : main.getResultTypes())
    footprint.add(type);
  main.walk([&](onnx::WeightOp weight) {
    auto elements = dyn_cast<DenseElementsAttr>(weight.getValue());
    if (!elements || !elements.isSplat()) // a splat is made on the device
      footprint.add(weight.getType());
  });
  return footprint.exceeds(device, "inputs, outputs and weights");
}

std::optional<std::string> buffersExceedDeviceMemory(ModuleOp module, const isa::DeviceInfo &device) {
  llvm::DenseMap<Operation *, Footprint> perCall;
  std::function<Footprint(func::FuncOp)> allocatedBy = [&](func::FuncOp function) {
    auto [known, isNew] = perCall.try_emplace(function); // nothing yet, for recursive calls, which flattening refuses
    if (!isNew)
      return known->second;
    Footprint footprint;
    function.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op); alloc && ir::spaceOf(alloc.getType()) == isa::Space::HBM)
        footprint.add(alloc.getType());
      else if (auto call = dyn_cast<func::CallOp>(op))
        if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
          footprint.add(allocatedBy(callee));
    });
    perCall[function] = footprint;
    return footprint;
  };
  Footprint footprint;
  for (auto global : module.getOps<ir::GlobalOp>())
    footprint.add(global.getType());
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      footprint.add(allocatedBy(function));
  return footprint.exceeds(device, "inputs, outputs, weights and what is kept between them");
}

LogicalResult checkProgramSize(ModuleOp module, const isa::DeviceInfo &device) {
  // No instruction does more than one step for each byte of SBUF, or for each cell of the PE array and each fp32 column
  // of a PSUM bank.
  const uint64_t perInstruction =
      device.partitions * std::max<uint64_t>(device.sbufBytesUsable, device.partitions * device.psumBankBytes / 4);
  const uint64_t limit = kMaxInstructions * perInstruction;
  WalkResult result = module.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() == 0)
      return WalkResult::advance();
    uint64_t steps = 1;
    for (int64_t range : op.getStaticLoopRanges())
      if (ShapedType::isDynamic(range) || __builtin_mul_overflow(steps, static_cast<uint64_t>(range), &steps))
        steps = ShapedType::isDynamic(range) ? 0 : UINT64_MAX;
    if (steps <= limit)
      return WalkResult::advance();
    InFlightDiagnostic error = op->emitError("expected at most ");
    error << limit << " steps, what " << kMaxInstructions << " instructions can do, but got ";
    llvm::interleave(op.getStaticLoopRanges(), error, "x");
    error << "; split the operator, or use smaller sizes";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

std::optional<std::string> exceedsExecutableFormat(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.empty())
    return std::nullopt;
  std::optional<std::string> reason;
  auto check = [&](Type type, Attribute name, const char *what) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (reason || !tensor || tensor.getRank() <= int64_t(exe::format::kMaxRank))
      return;
    auto text = dyn_cast_if_present<StringAttr>(name);
    reason = llvm::formatv("{0} '{1}': expected at most {2} dimensions but got {3}", what, text ? text.getValue() : "",
                           exe::format::kMaxRank, tensor.getRank())
                 .str();
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    check(main.getArgumentTypes()[i], main.getArgAttr(i, "onnx.name"), "input");
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    check(main.getResultTypes()[i], main.getResultAttr(i, "onnx.name"), "output");
  return reason;
}

} // namespace trn
