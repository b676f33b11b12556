//===- TypeNames.cpp - element types in the standard's words ----------------===//
#include "dialects/ONNX/TypeNames.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

std::string trn::onnx::typeName(Type element) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  if (element.isInteger(1))
    stream << "bool";
  else if (auto integer = dyn_cast<IntegerType>(element))
    stream << (integer.isUnsigned() ? "uint" : "int") << integer.getWidth();
  else if (element.isBF16())
    stream << "bfloat16";
  else if (llvm::isa<FloatType>(element) && element.getIntOrFloatBitWidth() >= 16)
    stream << "float" << element.getIntOrFloatBitWidth();
  else
    stream << element;
  return name;
}
