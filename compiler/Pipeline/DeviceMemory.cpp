//===- DeviceMemory.cpp - does a model fit the device at all? -------------===//
#include "compiler/Pipeline/DeviceMemory.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/TrnDialect.h"
#include "dialects/Trn/TrnOps.h"
#include "passes/Schedule/Passes.h"
#include "runtime/executable/Format.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace trn {

/// Bytes of a static tensor or buffer whose first `skip` dimensions do not count, as many as fit 64 bits; 0 for other
/// types.
static uint64_t bytesOf(Type type, unsigned skip = 0) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape() || !shaped.getElementType().isIntOrFloat())
    return 0;
  uint64_t bytes = (shaped.getElementTypeBitWidth() + 7) / 8;
  for (int64_t size : shaped.getShape().drop_front(std::min<size_t>(skip, shaped.getRank())))
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      return UINT64_MAX;
  return bytes;
}

namespace {

/// Bytes of tensors and buffers, and the largest of them. Sums stop at what 64 bits hold.
struct Footprint {
  uint64_t total = 0, largest = 0;
  Type largestType;
  Operation *largestOp = nullptr; ///< what makes it

  void add(Type type, Operation *op = nullptr) {
    uint64_t bytes = bytesOf(type);
    consider(bytes, type, op);
    add(bytes);
  }
  void add(const Footprint &other) {
    consider(other.largest, other.largestType, other.largestOp);
    add(other.total);
  }
  /// The reason when this is more than a core of `device` has; `what` says what was added up.
  std::optional<std::string> exceeds(const isa::DeviceInfo &device, StringRef what) const;

private:
  void consider(uint64_t bytes, Type type, Operation *op) {
    if (bytes <= largest)
      return;
    largest = bytes;
    largestType = type;
    largestOp = op;
  }
  void add(uint64_t bytes) { total = llvm::SaturatingAdd(total, bytes); }
};

} // namespace

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

std::optional<std::string> exceedsDeviceMemory(ArrayRef<ModuleOp> parts, const isa::DeviceInfo &device) {
  Footprint footprint;
  llvm::StringSet<> named;
  auto add = [&](Type type, Attribute name) {
    auto text = dyn_cast_if_present<StringAttr>(name);
    if (!text || named.insert(text.getValue()).second)
      footprint.add(type);
  };
  for (ModuleOp module : parts) {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.empty())
      continue;
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      add(main.getArgumentTypes()[i], main.getArgAttr(i, "onnx.name"));
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      add(main.getResultTypes()[i], main.getResultAttr(i, "onnx.name"));
    main.walk([&](onnx::WeightOp weight) {
      auto elements = dyn_cast<DenseElementsAttr>(weight.getValue());
      if (!elements || !elements.isSplat()) // a splat is made on the device
        footprint.add(weight.getType());
    });
  }
  return footprint.exceeds(device, "inputs, outputs and weights");
}

/// What the functions of `module` allocate in device memory in one run of its public ones.
static Footprint allocatedIn(ModuleOp module) {
  llvm::DenseMap<Operation *, Footprint> perCall;
  std::function<Footprint(func::FuncOp)> allocatedBy = [&](func::FuncOp function) {
    auto [known, isNew] = perCall.try_emplace(function); // nothing yet, for recursive calls, which flattening refuses
    if (!isNew)
      return known->second;
    Footprint footprint;
    function.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op); alloc && ir::spaceOf(alloc.getType()) == isa::Space::HBM)
        footprint.add(alloc.getType(), op);
      else if (auto call = dyn_cast<func::CallOp>(op))
        if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
          footprint.add(allocatedBy(callee));
    });
    perCall[function] = footprint;
    return footprint;
  };
  Footprint footprint;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      footprint.add(allocatedBy(function));
  return footprint;
}

LogicalResult verifyBuffersInDeviceMemory(ArrayRef<ModuleOp> parts, const isa::DeviceInfo &device) {
  Footprint footprint;
  llvm::StringSet<> named;
  for (ModuleOp module : parts) {
    for (auto global : module.getOps<ir::GlobalOp>())
      if (!global.getIoName() || named.insert(*global.getIoName()).second)
        footprint.add(global.getType(), global);
    footprint.add(allocatedIn(module));
  }
  std::optional<std::string> reason =
      footprint.exceeds(device, "inputs, outputs, weights and what is kept between them");
  if (!reason)
    return success();
  ModuleOp first = parts.front();
  Operation *at = footprint.largestOp ? footprint.largestOp : first.getOperation();
  return at->emitError(*reason) << "; use smaller sizes, or another --target";
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

LogicalResult verifyBuffersOnChip(ModuleOp module, const isa::DeviceInfo &device) {
  LogicalResult result = success();
  module.walk([&](Operation *op) {
    if (!llvm::isa<memref::AllocOp, ir::AllocOp>(op))
      return;
    Type type = op->getResult(0).getType();
    std::optional<isa::Space> space = ir::spaceOf(type);
    if (!space || *space == isa::Space::HBM)
      return;
    const uint64_t bytes = bytesOf(type, /*skip=*/1), limit = static_cast<uint64_t>(device.capacity(*space));
    if (bytes > limit)
      result = op->emitError("expected at most ")
               << limit << " bytes per partition, the " << (*space == isa::Space::SBUF ? "SBUF" : "PSUM") << " of "
               << device.name << ", but got " << bytes << " for " << type << "; use smaller sizes";
  });
  return result;
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
