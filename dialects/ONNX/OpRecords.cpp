//===- OpRecords.cpp - what the records say, as data ----------------------===//
//
// Owns the generated table and the look-ups in it.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/OpRecords.h"

#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <vector>

using namespace mlir;
using namespace trn::onnx;

namespace trn::onnx {
#include "dialects/ONNX/OpRecords.inc"
} // namespace trn::onnx

int OpRecord::versionFor(int opset) const {
  int version = 0;
  for (int candidate : since)
    if (candidate <= opset)
      version = candidate;
  return version;
}

ArrayRef<OpRecord> trn::onnx::records() {
  static const std::vector<OpRecord> sorted = [] {
    std::vector<OpRecord> copy(std::begin(recordTable), std::end(recordTable));
    llvm::sort(copy, [](const OpRecord &a, const OpRecord &b) {
      return std::pair<StringRef, StringRef>(a.domain, a.name) < std::pair<StringRef, StringRef>(b.domain, b.name);
    });
    return copy;
  }();
  return sorted;
}

const OpRecord *trn::onnx::findRecord(StringRef domain, StringRef name) {
  if (domain == "ai.onnx")
    domain = "";
  ArrayRef<OpRecord> all = records();
  auto key = std::pair<StringRef, StringRef>(domain, name);
  const OpRecord *it = llvm::partition_point(
      all, [&](const OpRecord &record) { return std::pair<StringRef, StringRef>(record.domain, record.name) < key; });
  return it != all.end() && it->domain == domain && it->name == name ? it : nullptr;
}

const OpRecord *trn::onnx::lookupRecord(Operation *op) {
  static const llvm::DenseMap<StringRef, const OpRecord *> byOperation = [] {
    llvm::DenseMap<StringRef, const OpRecord *> map;
    for (const OpRecord &record : records())
      if (!record.refused())
        map[record.operation] = &record;
    return map;
  }();
  return byOperation.lookup(op->getName().getStringRef());
}

OperandRange trn::onnx::operandGroup(Operation *op, unsigned index) {
  const OpRecord *record = lookupRecord(op);
  if (record->operandSegments) {
    auto sizes = cast<DenseI32ArrayAttr>(*op->getInherentAttr("operandSegmentSizes")).asArrayRef();
    unsigned begin = 0;
    for (unsigned i = 0; i < index; ++i)
      begin += sizes[i];
    return op->getOperands().slice(begin, sizes[index]);
  }
  // At most one operand is optional or variadic: it takes what the single ones leave.
  unsigned begin = 0, flexible = op->getNumOperands() - (record->operands.size() - 1);
  for (unsigned i = 0; i < index; ++i)
    begin += record->operands[i].arity == Arity::Single ? 1 : flexible;
  bool single = record->operands[index].arity == Arity::Single;
  return op->getOperands().slice(begin, single ? 1 : flexible);
}
