//===- TrnxDialect.cpp - the container as IR ------------------------------===//
//
// Owns the verifiers of the trnx dialect: every attribute must have a binary form.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trnx/TrnxDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trn;

#include "dialects/Trnx/TrnxDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Trnx/TrnxOps.cpp.inc"

void trnx::TrnxDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Trnx/TrnxOps.cpp.inc"
      >();
}

std::string trnx::encodeInstruction(const isa::Instruction &inst) {
  std::vector<uint8_t> bytes;
  isa::encode(inst, bytes);
  return llvm::toHex(bytes, /*LowerCase=*/true);
}

bool trnx::decodeInstruction(StringRef hex, isa::Instruction &inst, std::string &error) {
  std::string bytes;
  if (!llvm::tryGetFromHex(hex, bytes)) {
    error = "expected hexadecimal digits";
    return false;
  }
  const auto *next = reinterpret_cast<const uint8_t *>(bytes.data());
  const uint8_t *end = next + bytes.size();
  if (!isa::decode(next, end, inst, error))
    return false;
  if (next == end)
    return true;
  error = "expected one instruction, but " + std::to_string(end - next) + " bytes are left";
  return false;
}

LogicalResult trnx::InstOp::verify() {
  isa::Instruction inst;
  std::string error;
  if (!decodeInstruction(getEncoding(), inst, error))
    return emitOpError("does not decode: ") << error;
  std::string text = isa::disassemble(inst);
  if (getText() != text)
    return emitOpError("expected the text '") << text << "', but got '" << getText() << "'";
  if (getRing() > 255)
    return emitOpError("expected a ring below 256, but got ") << getRing();
  auto checkPair = [&](StringRef name, std::optional<ArrayRef<int64_t>> pair) -> LogicalResult {
    if (!pair || (pair->size() == 2 && (*pair)[0] >= 0 && (*pair)[0] <= 0xFFFF))
      return success();
    return emitOpError("expected '") << name << "' as [semaphore, value]";
  };
  return success(succeeded(checkPair("wait", getWait())) && succeeded(checkPair("update", getUpdate())));
}

LogicalResult trnx::ProgramOp::verify() {
  if (!isa::parseEngine({getEngine().data(), getEngine().size()}))
    return emitOpError("names no engine: '") << getEngine() << "'";
  return success();
}

LogicalResult trnx::FlowOp::verify() {
  if (getEdges().size() % 4)
    return emitOpError("expected groups of four numbers, but got ") << getEdges().size() << " numbers";
  for (auto [i, value] : llvm::enumerate(getEdges()))
    if (value < 0 || value > (i % 2 ? int64_t(UINT8_MAX) : int64_t(UINT32_MAX)))
      return emitOpError("expected a command or an operand, but got ") << value;
  return success();
}

LogicalResult trnx::BufferOp::verify() {
  for (StringRef dtype : {getDtype(), getHostDtype()})
    if (!isa::parseDType({dtype.data(), dtype.size()}))
      return emitOpError("names no element type: '") << dtype << "'";
  if (getKind() != "input" && getKind() != "output" && getKind() != "weight" && getKind() != "scratch")
    return emitOpError("expected input, output, weight or scratch, but got '") << getKind() << "'";
  return success();
}

LogicalResult trnx::WeightsOp::verify() {
  auto type = cast<ShapedType>(getValue().getType());
  if (!type.getElementType().isInteger(8) || type.getRank() != 1)
    return emitOpError("expected tensor<…xi8>, but got ") << type;
  return success();
}
