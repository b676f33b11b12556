//===- ConstantFolder.cpp - the value of an operation on constants --------===//
//
// Owns the choice of what is folded, and the operators whose value follows from shapes alone (Shape, Size,
// ConstantOfShape, EyeLike, Range). Every other value is the reference evaluator's: an operator has one meaning, its
// lowering.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/ConstantFolder.h"

#include "compiler/Reference/Evaluator.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/Ops/Signal.h"
#include "passes/Graph/Counted.h"
#include "passes/Graph/Match.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {
class Folder {
public:
  Folder(Operation *op, int64_t maxElements) : op(op), maxElements(maxElements) {}

  SmallVector<ElementsAttr> run() {
    if (auto shape = dyn_cast<ShapeOp>(op))
      return one(foldShape(shape));
    if (auto size = dyn_cast<SizeOp>(op))
      return one(foldSize(size));
    if (auto constant = dyn_cast<ConstantOfShapeOp>(op))
      return one(foldConstantOfShape(constant));
    if (auto eye = dyn_cast<EyeLikeOp>(op))
      return one(foldEye(eye));
    // Their results have the largest size, whatever the count is.
    if (const OpRecord *record = lookupRecord(op); record && record->makesCounts)
      return {};
    for (Value operand : op->getOperands()) {
      std::optional<Constant> constant = Constant::get(operand);
      if (!constant)
        return {};
      operands.push_back(*constant);
    }
    if (operands.empty())
      return {};
    if (auto range = dyn_cast<RangeOp>(op))
      return one(foldRange(range));
    if (auto mel = dyn_cast<MelWeightMatrixOp>(op))
      return one(foldMelWeights(mel));
    if (!allowed())
      return {};
    // The elements stay where they are.
    if (isReshape(op) || llvm::isa<IdentityOp>(op))
      return one(reshapeConstant(operands[0].attribute(), type().getShape()));
    return evaluate();
  }

private:
  static SmallVector<ElementsAttr> one(ElementsAttr value) {
    return value ? SmallVector<ElementsAttr>{value} : SmallVector<ElementsAttr>{};
  }

  RankedTensorType type(unsigned result = 0) const {
    auto type = dyn_cast<RankedTensorType>(op->getResult(result).getType());
    return type && type.hasStaticShape() ? type : RankedTensorType();
  }

  /// Static results that do not grow the module. A map of splats is a splat, whatever its size.
  bool allowed() const {
    int64_t limit = maxElements;
    bool splats = recordLowering(op).has_value() ||
                  isReshape(op) || llvm::isa<CastOp, WhereOp, IdentityOp>(op);
    for (const Constant &operand : operands) {
      limit = std::max(limit, operand.isSplat() ? 1 : operand.size());
      splats &= operand.isSplat();
    }
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (!type(i) || elementBytes(type(i).getElementType()) == 0 || (!splats && type(i).getNumElements() > limit))
        return false;
    return true;
  }

  SmallVector<ElementsAttr> evaluate() {
    SmallVector<Tensor> tensors;
    for (const Constant &operand : operands) {
      FailureOr<Tensor> tensor = Tensor::view(operand.attribute());
      if (failed(tensor))
        return {};
      tensors.push_back(std::move(*tensor));
    }
    if (!hasLowering(op))
      return {};
    FailureOr<SmallVector<Tensor>> values = evaluateOp(op, tensors);
    if (failed(values))
      return {};
    SmallVector<ElementsAttr> results;
    for (auto [number, value] : llvm::enumerate(*values)) {
      if (!value || byteSize(value.storage()) != elementBytes(type(number).getElementType()))
        return {};
      results.push_back(constantOf(type(number), value));
    }
    return results;
  }

  //===--------------------------------------------------------------------===//
  // From shapes
  //===--------------------------------------------------------------------===//

  ElementsAttr foldShape(ShapeOp shape) {
    auto x = dyn_cast<RankedTensorType>(shape.getX().getType());
    if (!x || !shape.getEnd() || countedOf(shape.getX()))
      return {};
    int64_t start = shape.getStart(), end = *shape.getEnd();
    ArrayRef<int64_t> sizes = start < end ? x.getShape().slice(start, end - start) : ArrayRef<int64_t>();
    if (llvm::is_contained(sizes, ShapedType::kDynamic))
      return {};
    return makeIntegers(RankedTensorType::get({int64_t(sizes.size())}, IntegerType::get(op->getContext(), 64)), sizes);
  }

  ElementsAttr foldSize(SizeOp size) {
    auto x = dyn_cast<RankedTensorType>(size.getX().getType());
    if (!x || !x.hasStaticShape() || countedOf(size.getX()))
      return {};
    return makeIntegers(RankedTensorType::get({}, IntegerType::get(op->getContext(), 64)), {x.getNumElements()});
  }

  ElementsAttr foldConstantOfShape(ConstantOfShapeOp constant) {
    if (!type() || type().getNumElements() == 0)
      return type() ? makeConstant(type(), {}) : ElementsAttr();
    std::vector<char> bytes(elementBytes(type().getElementType()));
    if (constant.getValue()) {
      std::optional<Constant> value = Constant::get(*constant.getValue());
      if (!value)
        return {};
      bytes.assign(value->bytes().begin(), value->bytes().end());
    }
    return makeConstant(type(), std::move(bytes));
  }

  ElementsAttr foldEye(EyeLikeOp eye) {
    if (!type() || type().getNumElements() > maxElements)
      return {};
    Type element = type().getElementType();
    int64_t width = elementBytes(element), columns = type().getDimSize(1);
    std::vector<char> bytes(size_t(type().getNumElements()) * width);
    for (int64_t row = 0; row < type().getDimSize(0); ++row) {
      int64_t column = row + int64_t(eye.getK());
      if (column >= 0 && column < columns)
        writeInteger(element, 1, bytes.data() + (row * columns + column) * width);
    }
    return makeConstant(type(), std::move(bytes));
  }

  /// Triangles over the bins of a spectrum, evenly spaced in mel: rising to the next center, falling to the one after it.
  ElementsAttr foldMelWeights(MelWeightMatrixOp mel) {
    if (llvm::any_of(operands, [](const Constant &operand) { return operand.size() != 1; }))
      return {};
    int64_t bins = operands[0].integer(0), length = operands[1].integer(0), rate = operands[2].integer(0);
    int64_t rows = length / 2 + 1;
    if (bins < 1 || length < 1 || rate < 1 || bins > maxElements || rows > maxElements / bins)
      return {};
    auto toMel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    double low = toMel(operands[3].real(0)), step = (toMel(operands[4].real(0)) - low) / double(bins + 2);
    SmallVector<int64_t> edges;
    for (int64_t bin = 0; bin < bins + 2; ++bin) {
      double hertz = 700 * (std::pow(10, (double(bin) * step + low) / 2595) - 1);
      edges.push_back(int64_t(std::floor(double(length + 1) * hertz / double(rate))));
      if (edges.back() < 0 || edges.back() > rows)
        return {};
    }
    Type element = cast<RankedTensorType>(mel.getY().getType()).getElementType();
    size_t width = elementBytes(element);
    std::vector<char> bytes(size_t(rows * bins) * width);
    auto set = [&](int64_t row, int64_t bin, double value) {
      if (row >= rows)
        return;
      char *at = bytes.data() + size_t(row * bins + bin) * width;
      if (llvm::isa<FloatType>(element))
        writeReal(element, value, at);
      else
        writeInteger(element, int64_t(value), at);
    };
    for (int64_t bin = 0; bin < bins; ++bin) {
      int64_t lower = edges[bin], center = edges[bin + 1], upper = edges[bin + 2];
      if (lower == center)
        set(center, bin, 1);
      for (int64_t row = lower; row <= center && lower != center; ++row)
        set(row, bin, double(row - lower) / double(center - lower));
      for (int64_t row = center; row < upper; ++row)
        set(row, bin, double(upper - row) / double(upper - center));
    }
    return makeConstant(RankedTensorType::get({rows, bins}, element), std::move(bytes));
  }

  ElementsAttr foldRange(RangeOp range) {
    Type element = operands[0].elementType();
    size_t width = elementBytes(element);
    bool real = llvm::isa<FloatType>(element);
    if (llvm::any_of(operands, [](const Constant &operand) { return operand.size() != 1; }))
      return {};
    double start = operands[0].real(0), limit = operands[1].real(0), delta = operands[2].real(0);
    if (delta == 0)
      return {};
    double count = std::max(0.0, std::ceil((limit - start) / delta));
    if (!(count <= double(maxElements)))
      return {};
    std::vector<char> bytes(size_t(count) * width);
    for (int64_t i = 0; i < int64_t(count); ++i) {
      if (real)
        writeReal(element, start + double(i) * delta, bytes.data() + i * width);
      else
        writeInteger(element, int64_t(uint64_t(operands[0].integer(0)) + uint64_t(i) * operands[2].integer(0)),
                     bytes.data() + i * width);
    }
    return makeConstant(RankedTensorType::get({int64_t(count)}, element), std::move(bytes));
  }

  Operation *op;
  int64_t maxElements;
  SmallVector<Constant> operands;
};
} // namespace

SmallVector<ElementsAttr> trn::foldConstants(Operation *op, int64_t maxElements) {
  SmallVector<ElementsAttr> results = Folder(op, maxElements).run();
  return llvm::is_contained(results, ElementsAttr()) ? SmallVector<ElementsAttr>{} : results;
}
