//===- Contraction.cpp - MatMul, Gemm, Einsum -----------------------------===//
// Every one is a single sum of products: transposition and broadcasting are in the indexing maps.
#include "dialects/ONNX/Ops/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

/// numpy.matmul: the last two dimensions multiply, those before broadcast, a vector is a row or a column.
static FailureOr<Value> lowerMatMul(onnx::MatMulOp op, LinalgBuilder &b) {
  Value lhs = op.getA(), rhs = op.getB();
  int64_t lhsRank = shapeOf(lhs).size(), rhsRank = shapeOf(rhs).size();
  bool hasRow = lhsRank > 1, hasColumn = rhsRank > 1;
  SmallVector<int64_t> shape(shapeOf(op.getY()));
  int64_t batchRank = int64_t(shape.size()) - hasRow - hasColumn;
  // Iterators: the result's dimensions in order, then the depth.
  int64_t rank = shape.size() + 1, depth = shape.size();
  auto operandMap = [&](Value &operand, ArrayRef<int64_t> inner) {
    ArrayRef<int64_t> own = shapeOf(operand);
    int64_t ownBatch = int64_t(own.size()) - int64_t(inner.size());
    SmallVector<int64_t> positions, dropped;
    for (int64_t dim = 0; dim < ownBatch; ++dim) {
      int64_t iterator = batchRank - ownBatch + dim;
      if (own[dim] == 1 && shape[iterator] != 1)
        dropped.push_back(dim);
      else
        positions.push_back(iterator);
    }
    llvm::append_range(positions, inner);
    operand = b.dropUnitDims(operand, dropped);
    return b.dims(rank, positions);
  };
  AffineMap lhsMap = hasRow ? operandMap(lhs, {batchRank, depth}) : operandMap(lhs, {depth});
  AffineMap rhsMap = hasColumn ? operandMap(rhs, {depth, depth - 1}) : operandMap(rhs, {depth});
  SmallVector<int64_t> result = llvm::to_vector(llvm::seq<int64_t>(0, depth));
  return b.contract(lhs, lhsMap, rhs, rhsMap, b.dims(rank, result), shape, elementTypeOf(op.getY()));
}

/// alpha * A' * B' + beta * C
static FailureOr<Value> lowerGemm(onnx::GemmOp op, LinalgBuilder &b) {
  double alpha = op.getAlpha().convertToFloat(), beta = op.getBeta().convertToFloat();
  Value y = op.getY();
  Type element = elementTypeOf(y);
  if (!isa<FloatType>(element) && (alpha != 1 || beta != 1))
    return op.emitOpError("integer elements with alpha or beta are not supported");
  AffineMap lhsMap = op.getTransA() ? b.dims(3, {2, 0}) : b.dims(3, {0, 2});
  AffineMap rhsMap = op.getTransB() ? b.dims(3, {1, 2}) : b.dims(3, {2, 1});
  Value product = b.contract(op.getA(), lhsMap, op.getB(), rhsMap, b.dims(3, {0, 1}), shapeOf(y), element);
  bool addsC = op.getC() && beta != 0;
  if (alpha == 1 && !addsC)
    return product;
  SmallVector<Value> inputs = {product};
  if (addsC)
    inputs.push_back(op.getC());
  return b.map(inputs, shapeOf(y), element, [&](Builder1 &b, ValueRange e) -> Value {
    auto scaled = [&](Value value, double factor) -> Value {
      return factor == 1 ? value
                         : arith::MulFOp::create(b, value, scalarConstant(b, value.getType(), factor)).getResult();
    };
    Value sum = scaled(e[0], alpha);
    if (!addsC)
      return sum;
    if (!isa<FloatType>(e[0].getType()))
      return arith::AddIOp::create(b, sum, e[1]);
    return arith::AddFOp::create(b, sum, scaled(e[1], beta));
  });
}

/// Einsum of one or two terms without repeated letters and ellipses.
static FailureOr<Value> lowerEinsum(onnx::EinsumOp op, LinalgBuilder &b) {
  std::string equation = llvm::join(llvm::split(op.getEquation(), ' '), "");
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (equation.find('.') != std::string::npos || terms.size() != op.getInputs().size() || terms.size() > 2)
    return op.emitOpError("expected one or two terms without ellipsis but got \"") << op.getEquation() << "\"";
  std::string output = right.str();
  if (equation.find("->") == std::string::npos)
    for (char letter = 'A'; letter <= 'z'; ++letter)
      if (left.count(letter) == 1 && llvm::isAlpha(letter))
        output.push_back(letter);
  // Iterators: the result's letters, then the others in order of appearance. A dimension of one element goes with any size.
  SmallString<16> letters(output);
  SmallVector<int64_t> sizes(output.size(), 1);
  for (auto [term, input] : llvm::zip_equal(terms, op.getInputs()))
    for (auto [letter, size] : llvm::zip_equal(term, shapeOf(input))) {
      if (term.count(letter) != 1)
        return op.emitOpError("expected each letter once per term but got \"") << op.getEquation() << "\"";
      size_t place = StringRef(letters).find(letter);
      if (place == StringRef::npos) {
        place = letters.size();
        letters.push_back(letter);
        sizes.push_back(1);
      }
      sizes[place] = size == 1 ? sizes[place] : size;
    }
  SmallVector<Value> operands(op.getInputs());
  SmallVector<AffineMap> maps;
  for (auto [term, operand] : llvm::zip_equal(terms, operands)) {
    SmallVector<int64_t> positions, dropped;
    for (auto [dim, letter] : llvm::enumerate(term)) {
      size_t place = StringRef(letters).find(letter);
      if (shapeOf(operand)[dim] == 1 && sizes[place] != 1)
        dropped.push_back(dim);
      else
        positions.push_back(place);
    }
    operand = b.dropUnitDims(operand, dropped);
    maps.push_back(b.dims(letters.size(), positions));
  }
  SmallVector<int64_t> results = llvm::to_vector(llvm::seq<int64_t>(0, output.size()));
  AffineMap result = b.dims(letters.size(), results);
  Value y = op.getY();
  if (terms.size() == 2)
    return b.contract(operands[0], maps[0], operands[1], maps[1], result, shapeOf(y), elementTypeOf(y));
  SmallVector<utils::IteratorType> iterators(letters.size(), utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), output.size(), utils::IteratorType::parallel);
  auto itself = [](Builder1 &, ValueRange e) -> Value { return e[0]; };
  if (letters.size() == output.size())
    return b.map(operands[0], maps[0], shapeOf(y), elementTypeOf(y), itself);
  return b.reduce(operands[0], {maps[0], result}, iterators, shapeOf(y), elementTypeOf(y), Reduction::Sum, itself);
}

static FailureOr<Value> lowerDet(onnx::DetOp op, LinalgBuilder &b) {
  // The library kernel takes floats of 32 and of 64 bits.
  Type element = elementTypeOf(op.getX()), wide = element.isF64() ? element : Type(b.getF32Type());
  int64_t size = shapeOf(op.getX()).back(), elements = tensorType(op.getX()).getNumElements();
  if (size == 0) // a product of no factors
    return b.filled(shapeOf(op.getY()), scalarConstant(b, element, 1));
  if (size > INT16_MAX)
    return op.emitOpError("expected matrices of at most 32767 rows, which the library kernel takes, but got ") << size;
  Value matrices = b.reshape(b.convert(op.getX(), wide), {elements});
  Value results = b.kernel("library_det", {matrices}, {RankedTensorType::get({elements / (size * size)}, wide)},
                           b.getNamedAttr("size", b.getI32IntegerAttr(int32_t(size))))[0];
  return b.reshape(b.convert(results, element), shapeOf(op.getY()));
}

void addContractionLowerings(LoweringTable &table) {
  table.add(lowerMatMul);
  table.add(lowerGemm);
  table.add(lowerEinsum);
  table.add(lowerDet);
}

} // namespace trn
