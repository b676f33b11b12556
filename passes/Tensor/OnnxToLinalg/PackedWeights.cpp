//===- PackedWeights.cpp - products with weights of 2 and 4 bits ----------===//
// The weights stay packed in device memory: the bytes are shifted apart, scaled and multiplied on the engines, a piece of
// the columns at a time, so that what is unpacked never leaves SBUF. A row of the packed matrix is (part of) a block, so
// that a partition has one scale for each column. Fields hold the weight less the middle of its range, with its sign:
// shifting them out makes that number. What the zero points differ from the middle is a product of its own, of the sums
// over each row of the other operand.
#include "compiler/Weights/PackedWeights.h"
#include "dialects/ONNX/Ops/Microsoft.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

namespace {
/// Rows go to partitions: as many as there are, but not so short that their scales outweigh them.
constexpr int64_t kMostRows = 128, kShortestRow = 16;
/// Weights of a row that are unpacked at a time: 32 KiB of a partition as fp32.
constexpr int64_t kUnpackedPerRow = 8192;
/// Columns of a piece are a multiple of this: the most that one load of PE takes.
constexpr int64_t kColumnGroup = 128;

class PackedProduct {
public:
  PackedProduct(onnx::MicrosoftMatMulNBitsOp op, LinalgBuilder &b)
      : op(op), b(b), packed(PackedWeights::of(op)), weights(Constant::get(op.getB())),
        scales(Constant::get(op.getScales())) {
    if (op.getZeroPoints())
      points = Constant::get(op.getZeroPoints());
    length = packed.block;
    while (packed.depth / (length / 2) <= kMostRows && length / 2 >= kShortestRow)
      length /= 2;
    rows = packed.depth / length;
  }

  FailureOr<Value> run() {
    if (!weights || !scales || (op.getZeroPoints() && !points) || packed.depth != packed.paddedDepth() ||
        weights->size() != packed.weightBytes() || scales->size() != packed.columns * packed.blocks())
      return op.emitOpError("expected constant weights, scales and zero points in whole blocks");
    Value a = b.reshape(op.getA(), {tensorType(op.getA()).getNumElements() / packed.depth, rows, length});
    Value sums = op.getZeroPoints() ? b.reduce(b.convert(a, b.getF32Type()), {2}, Reduction::Sum) : Value();
    int64_t most = std::max(kColumnGroup, kUnpackedPerRow / length / kColumnGroup * kColumnGroup);
    SmallVector<Value> pieces;
    for (int64_t first = 0; first < packed.columns; first += most)
      pieces.push_back(piece(a, sums, first, std::min(most, packed.columns - first)));
    Value y = b.reshape(b.concat(pieces, 1), shapeOf(op.getY()));
    if (!op.getBias())
      return y;
    return b.map({y, op.getBias()}, shapeOf(y), elementTypeOf(y), [](Builder1 &b, ValueRange e) -> Value {
      return arith::AddFOp::create(b, e[0], e[1]);
    });
  }

private:
  /// Columns first … first + count of the result, [rows of a, count].
  Value piece(Value a, Value sums, int64_t first, int64_t count) {
    Type element = elementTypeOf(op.getA()), f32 = b.getF32Type();
    Value scale = perRow(first, count, [&](int64_t row, int64_t column) { return scaleAt(row, column); });
    Value matrix = b.map({unpacked(first, count), scale}, {b.identity(3), b.dims(3, {0, 2})}, {rows, length, count}, element,
                         [&](Builder1 &b, ValueRange e) -> Value {
                           Value real = arith::SIToFPOp::create(b, f32, e[0]);
                           return convertScalar(b, arith::MulFOp::create(b, real, e[1]), f32, element);
                         });
    // Iterators: rows of a, columns, rows of the weights, their elements.
    SmallVector<int64_t> shape = {shapeOf(a)[0], count};
    Value y = b.contract(a, b.dims(4, {0, 2, 3}), matrix, b.dims(4, {2, 3, 1}), b.dims(4, {0, 1}), shape,
                         sums ? f32 : element);
    if (!sums)
      return y;
    Value offset = perRow(first, count, [&](int64_t row, int64_t column) {
      double points = packed.zeroPoint(this->points, column, row * length / packed.block);
      return (points - double(packed.middle())) * scaleAt(row, column);
    });
    Value less = b.contract(sums, b.dims(3, {0, 2}), offset, b.dims(3, {2, 1}), b.dims(3, {0, 1}), shape, f32);
    return b.map({y, less}, shape, element, [&](Builder1 &b, ValueRange e) -> Value {
      return convertScalar(b, arith::SubFOp::create(b, e[0], e[1]), f32, element);
    });
  }

  double scaleAt(int64_t row, int64_t column) const {
    return scales->real(column * packed.blocks() + row * length / packed.block);
  }

  /// A constant with a number for each row and column.
  Value perRow(int64_t first, int64_t count, llvm::function_ref<double(int64_t, int64_t)> value) {
    std::vector<char> bytes(rows * count * sizeof(float));
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < count; ++column)
        writeReal(b.getF32Type(), value(row, first + column), bytes.data() + (row * count + column) * sizeof(float));
    return constant(RankedTensorType::get({rows, count}, b.getF32Type()), std::move(bytes));
  }

  /// The weights less the middle of their range, [rows, length, count] bytes.
  Value unpacked(int64_t first, int64_t count) {
    int64_t fields = 8 / packed.bits, bytes = length / fields;
    std::vector<char> data(rows * bytes * count);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t k = 0; k < length; ++k)
        for (int64_t column = 0; column < count; ++column) {
          int64_t value = packed.weight(*weights, first + column, row * length + k) - packed.middle();
          int64_t field = (value & ((1 << packed.bits) - 1)) << (k / bytes * packed.bits);
          data[(row * bytes + k % bytes) * count + column] |= char(field);
        }
    Type byte = b.getI8Type();
    Value all = constant(RankedTensorType::get({rows, bytes, count}, byte), std::move(data));
    SmallVector<Value> parts;
    for (int64_t field = 0; field < fields; ++field)
      parts.push_back(b.mapLike(all, [&](Builder1 &b, ValueRange e) -> Value {
        Value value = e[0];
        if (int64_t left = 8 - (field + 1) * packed.bits)
          value = arith::ShLIOp::create(b, value, scalarConstant(b, byte, double(left)));
        return arith::ShRSIOp::create(b, value, scalarConstant(b, byte, double(8 - packed.bits)));
      }));
    return b.concat(parts, 1);
  }

  Value constant(RankedTensorType type, std::vector<char> bytes) {
    return onnx::WeightOp::create(b, makeConstant(type, std::move(bytes), "packed"));
  }

  onnx::MicrosoftMatMulNBitsOp op;
  LinalgBuilder &b;
  PackedWeights packed;
  std::optional<Constant> weights, scales, points;
  int64_t rows, length;
};
} // namespace

static FailureOr<Value> lowerMatMulNBits(onnx::MicrosoftMatMulNBitsOp op, LinalgBuilder &b) {
  return PackedProduct(op, b).run();
}

void addPackedLowerings(LoweringTable &table) { table.add(lowerMatMulNBits); }

} // namespace trn
