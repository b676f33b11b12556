//===- DecomposePacked.cpp - operators on packed weights ------------------===//
//
// Owns MatMulNBits and GatherBlockQuantized as products and gathers of dequantised data. Large constant weights of less
// than a byte are left in place: the lowering to linalg keeps them packed (passes/Tensor/OnnxToLinalg/PackedWeights.cpp).
//
//===----------------------------------------------------------------------===//
#include "compiler/Weights/PackedWeights.h"
#include "dialects/ONNX/Ops/Microsoft.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

/// Fewer weights are as fast unpacked, and what multiplies with them has more layouts to choose from.
constexpr int64_t kLeastPacked = 65536;

/// Whether the lowering to linalg can keep the weights packed: whole blocks of constants.
bool staysPacked(MicrosoftMatMulNBitsOp op, const PackedWeights &packed) {
  bool constants = Constant::get(op.getScales()) && (!op.getZeroPoints() || Constant::get(op.getZeroPoints()));
  return packed.bits < 8 && constants && packed.depth == packed.paddedDepth() &&
         packed.depth * packed.columns > kLeastPacked;
}

struct DecomposeMatMulNBits : OpRewritePattern<MicrosoftMatMulNBitsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MicrosoftMatMulNBitsOp op, PatternRewriter &b) const override {
    PackedWeights packed = PackedWeights::of(op);
    std::optional<Constant> weights = Constant::get(op.getB());
    if (!weights || staysPacked(op, packed))
      return b.notifyMatchFailure(op, "the weights stay packed");
    GraphWriter write(b, op.getLoc());
    Type byte = b.getIntegerType(8, /*isSigned=*/false);
    auto bytes = [&](int64_t rows, llvm::function_ref<int64_t(int64_t, int64_t)> value) {
      std::vector<char> data(rows * packed.columns);
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < packed.columns; ++column)
          data[row * packed.columns + column] = char(value(row, column));
      return write.constant(makeConstant(RankedTensorType::get({rows, packed.columns}, byte), std::move(data), "weights"));
    };
    // Behind the end of the depth are the blocks' last entries, which nothing reads.
    Value values = bytes(packed.paddedDepth(), [&](int64_t k, int64_t column) {
      return k < packed.depth ? packed.weight(*weights, column, k) : 0;
    });
    Value scales = blocksFirst(write, packed, op.getScales());
    NamedAttribute attributes[] = {write.integer("axis", 0), write.integer("block_size", packed.block)};
    Value matrix;
    if (op.getZeroPoints() && isa<FloatType>(typeOf(op.getZeroPoints()).getElementType())) {
      // Zero points between two numbers: (b - z) · s = b · s - z · s, the second one the same within a block.
      Value offsets = write.mul(blocksFirst(write, packed, op.getZeroPoints()), scales);
      Value ones = bytes(packed.paddedDepth(), [](int64_t, int64_t) { return 1; });
      matrix = write.sub(write.op("DequantizeLinear", {values, scales}, attributes),
                         write.op("DequantizeLinear", {ones, offsets}, attributes));
    } else {
      std::optional<Constant> points = op.getZeroPoints() ? Constant::get(op.getZeroPoints()) : std::nullopt;
      Value zeroPoints = bytes(packed.blocks(), [&](int64_t block, int64_t column) {
        return int64_t(packed.zeroPoint(points, column, block));
      });
      matrix = write.op("DequantizeLinear", {values, scales, zeroPoints}, attributes);
    }
    Value y = write.matMul(op.getA(), write.slice(matrix, 0, 0, packed.depth));
    b.replaceOp(op, op.getBias() ? write.add(y, op.getBias()) : y);
    return success();
  }

  /// [columns, blocks], flat or not, as [blocks, columns].
  static Value blocksFirst(GraphWriter &write, const PackedWeights &packed, Value x) {
    return write.transpose(write.reshape(x, {packed.columns, packed.blocks()}), {1, 0});
  }
};

/// Gathers data, scales and zero points; what was gathered is unpacked and dequantised.
struct DecomposeGatherBlocks : OpRewritePattern<MicrosoftGatherBlockQuantizedOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MicrosoftGatherBlockQuantizedOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    int64_t axis = op.getQuantizeAxis(), more = typeOf(op.getIndices()).getRank() - 1;
    if (op.getGatherAxis() < op.getQuantizeAxis())
      axis += more;
    auto gathered = [&](Value x) {
      return write.op("Gather", {x, op.getIndices()}, write.integer("axis", op.getGatherAxis()));
    };
    bool inBytes = typeOf(op.getData()).getElementType().isInteger(8);
    auto values = [&](Value x) { return inBytes && op.getBits() == 4 ? halves(write, x) : x; };
    Value x = values(gathered(op.getData())), scales = gathered(op.getScales()), zeroPoints;
    if (op.getZeroPoints()) {
      zeroPoints = values(gathered(op.getZeroPoints()));
      zeroPoints = write.slice(zeroPoints, axis, 0, typeOf(scales).getDimSize(axis)); // the last byte may be half full
    } else if (inBytes) {
      zeroPoints = write.expand(write.scalar(double(int64_t(1) << (op.getBits() - 1)), x), typeOf(scales).getShape());
    }
    b.replaceOp(op, write.op("DequantizeLinear", {x, scales, zeroPoints},
                             {write.integer("axis", axis), write.integer("block_size", op.getBlockSize())}));
    return success();
  }

  /// Two numbers of 4 bits in place of each byte, the lower one first.
  static Value halves(GraphWriter &write, Value x) {
    SmallVector<int64_t> shape(typeOf(x).getShape()), apart = shape;
    apart.push_back(1);
    Value low = write.op("BitwiseAnd", {x, write.scalar(15, x)});
    Value high = write.op("BitShift", {x, write.scalar(4, x)}, write.text("direction", "RIGHT"));
    Value both = write.concat({write.reshape(low, apart), write.reshape(high, apart)}, shape.size());
    shape.back() *= 2;
    return write.reshape(both, shape);
  }
};
} // namespace

void trn::populatePackedPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeMatMulNBits, DecomposeGatherBlocks>(patterns.getContext());
}
