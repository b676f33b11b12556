//===- Inference.cpp - normalised attributes and result types -------------===//
//
// Owns the running of shape rules, what rules share, and the verifier's comparison with declared types.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Shape/Inference.h"

#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/ONNX/OpRecords.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace trn::onnx;

/// More elements than any device memory holds: such a type is a broken or hostile model.
static constexpr int64_t kMaxElements = int64_t(1) << 40;

Inference::Inference(Operation *op) : op(op), resultTypes(op->getNumResults()) {}

LogicalResult Inference::run() {
  const OpRecord *record = lookupRecord(op);
  assert(record && "only operators have shape rules");
  if (failed(record->shape(*this)))
    return failure();
  assert(llvm::all_of(resultTypes, [](Type type) { return bool(type); }) && "a shape rule must type every result");
  return success();
}

bool Inference::commit() {
  bool changed = false;
  for (auto [name, value] : updates) {
    Attribute old = op->getAttr(name);
    if (old == value)
      continue;
    if (value)
      op->setAttr(name, value);
    else
      op->removeAttr(name);
    changed = true;
  }
  for (auto [result, type] : llvm::zip(op->getResults(), resultTypes)) {
    if (result.getType() == type)
      continue;
    result.setType(type);
    changed = true;
  }
  return changed;
}

std::optional<Sizes> Inference::sizes(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  return Sizes(type.getShape());
}

Type Inference::element(Value value) const { return getElementTypeOrSelf(value.getType()); }

LogicalResult Inference::result(Value value, Type element, std::optional<Sizes> sizes) {
  if (!value)
    return success();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (!sizes) {
    resultTypes[number] = UnrankedTensorType::get(element);
    return success();
  }
  for (int64_t size : *sizes)
    if (isStatic(size) && size < 0)
      return fail("expected sizes of at least 0 in the result but got " + printSizes(*sizes));
  if (allStatic(*sizes)) {
    std::optional<int64_t> count = elementCount(*sizes);
    if (!count || *count > kMaxElements)
      return fail("expected a result of at most 2^40 elements but got " + printSizes(*sizes));
  }
  resultTypes[number] = RankedTensorType::get(*sizes, element);
  return success();
}

void Inference::result(Value value, Type type) { resultTypes[cast<OpResult>(value).getResultNumber()] = type; }

void Inference::set(StringRef name, Attribute value) {
  updates.push_back({StringAttr::get(op->getContext(), name), value});
}

void Inference::set(StringRef name, ArrayRef<int64_t> values) {
  set(name, DenseI64ArrayAttr::get(op->getContext(), values));
}

void Inference::set(StringRef name, int64_t value) {
  set(name, IntegerAttr::get(IntegerType::get(op->getContext(), 64), value));
}

LogicalResult Inference::fail(const Twine &message) {
  text = message.str();
  return failure();
}

FailureOr<int64_t> Inference::axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return fail("expected an axis in [" + Twine(-rank) + ", " + Twine(rank - 1) + "] but got " + Twine(axis));
  return axis < 0 ? axis + rank : axis;
}

FailureOr<int64_t> Inference::setAxis(int64_t given, int64_t rank) {
  FailureOr<int64_t> normal = axis(given, rank);
  if (succeeded(normal))
    set("axis", *normal);
  return normal;
}

FailureOr<Sizes> Inference::axes(ArrayRef<int64_t> values, int64_t rank, bool sort) {
  Sizes normal;
  for (int64_t value : values) {
    FailureOr<int64_t> one = axis(value, rank);
    if (failed(one))
      return failure();
    if (llvm::is_contained(normal, *one))
      return fail("expected each axis once but got " + Twine(*one) + " twice");
    normal.push_back(*one);
  }
  if (sort)
    llvm::sort(normal);
  return normal;
}

LogicalResult Inference::sameElement(Value a, Value b) {
  if (element(a) == element(b))
    return success();
  std::string message;
  llvm::raw_string_ostream os(message);
  os << "expected equal element types but got '" << element(a) << "' and '" << element(b) << "'";
  return fail(message);
}

FailureOr<Sizes> trn::onnx::broadcastSizes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Sizes sizes(a);
  size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t &size = sizes[offset + i];
    if (size == b[i] || b[i] == 1)
      continue;
    if (size == 1 || (!isStatic(size)))
      size = b[i];
    else if (isStatic(b[i]))
      return failure();
  }
  return sizes;
}

std::string trn::onnx::printSizes(ArrayRef<int64_t> sizes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(sizes, os, [&](int64_t size) { isStatic(size) ? os << size : os << '?'; }, "x");
  return sizes.empty() ? "a scalar" : text;
}

bool trn::onnx::allStatic(ArrayRef<int64_t> sizes) { return llvm::all_of(sizes, isStatic); }

std::optional<int64_t> trn::onnx::elementCount(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  if (!allStatic(sizes))
    return std::nullopt;
  if (llvm::is_contained(sizes, 0))
    return 0;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(count, size, &count))
      return std::nullopt;
  return count;
}

/// True when a value of type `inferred` may be declared as `declared`.
static bool compatible(Type inferred, Type declared) {
  if (!llvm::isa<ShapedType>(inferred) || !llvm::isa<ShapedType>(declared))
    return inferred == declared;
  return getElementTypeOrSelf(inferred) == getElementTypeOrSelf(declared) &&
         succeeded(verifyCompatibleShape(inferred, declared));
}

LogicalResult trn::onnx::verifyInferredTypes(Operation *op) {
  Inference inference(op);
  if (failed(inference.run()))
    return op->emitOpError(inference.message());
  for (auto [result, inferred] : llvm::zip(op->getResults(), inference.types()))
    if (!compatible(inferred, result.getType()))
      return op->emitOpError("expected result ")
             << cast<OpResult>(result).getResultNumber() << " of type " << inferred << " but got " << result.getType();
  return success();
}
