//===- DeviceMemory.cpp - does a model fit the device at all? -------------===//
#include "compiler/Pipeline/DeviceMemory.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "runtime/executable/Format.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace trn {

/// Bytes of a static tensor, as many as fit 64 bits; 0 for other types.
static uint64_t tensorBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return 0;
  uint64_t bytes = (tensor.getElementTypeBitWidth() + 7) / 8;
  for (int64_t size : tensor.getShape())
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      return UINT64_MAX;
  return bytes;
}

static std::string shapeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::optional<std::string> exceedsDeviceMemory(ModuleOp module, const isa::DeviceInfo &device) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.empty())
    return std::nullopt;
  uint64_t total = 0, largest = 0;
  Type largestType;
  auto add = [&](Type type) {
    uint64_t bytes = tensorBytes(type);
    if (bytes > largest) {
      largest = bytes;
      largestType = type;
    }
    if (__builtin_add_overflow(total, bytes, &total))
      total = UINT64_MAX;
  };
  for (Type type : main.getArgumentTypes())
    add(type);
  for (Type type : main.getResultTypes())
    add(type);
  main.walk([&](onnx::WeightOp weight) {
    auto elements = dyn_cast<DenseElementsAttr>(weight.getValue());
    if (!elements || !elements.isSplat()) // a splat is made on the device
      add(weight.getType());
  });
  const uint64_t limit = static_cast<uint64_t>(device.hbmBytesPerCoreMiB) << 20;
  if (total <= limit)
    return std::nullopt;
  return llvm::formatv("inputs, outputs and weights: expected at most {0} bytes, the memory of a core of {1}, but got {2}; "
                       "the largest is {3}",
                       limit, device.name,
                       total == UINT64_MAX ? std::string("more than 64 bits count") : std::to_string(total),
                       shapeText(largestType))
      .str();
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
