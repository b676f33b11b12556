//===- DecomposeAttention.cpp - the attention family by other operators ---===//
//
// Owns what Attention, RotaryEmbedding, LinearAttention, CausalConvWithState, TensorScatter, SwiGLU and AffineGrid
// mean. Query heads that share a key head are rows of one product, so that keys and values are never repeated. Masks
// that depend on positions only are constants. Refuses (leaves in place) recurrences and writes longer than asked for.
//
//===----------------------------------------------------------------------===//
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Composite.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

#include <cmath>

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

class AttentionWriter {
public:
  AttentionWriter(GraphWriter &write, AttentionOp op) : write(write), op(op) {
    q = write.splitHeads(op.getQ(), op.getQNumHeads().value_or(0));
    k = write.splitHeads(op.getK(), op.getKvNumHeads().value_or(0));
    v = write.splitHeads(op.getV(), op.getKvNumHeads().value_or(0));
    if (op.getPastKey()) {
      past = typeOf(op.getPastKey()).getDimSize(2);
      k = write.concat({op.getPastKey(), k}, 2);
      v = write.concat({op.getPastValue(), v}, 2);
    }
    ArrayRef<int64_t> queries = typeOf(q).getShape(), keys = typeOf(k).getShape();
    batch = queries[0], heads = queries[1], rows = queries[2], size = queries[3];
    kvHeads = keys[1], columns = keys[2];
  }

  SmallVector<Value> run() {
    Type element = typeOf(q).getElementType();
    Value scores = product();
    Value raw = scores;
    if (!op.getSoftcap().isZero()) {
      Value cap = write.scalar(op.getSoftcap().convertToDouble(), scores);
      scores = write.mul(write.op("Tanh", {write.div(scores, cap)}), cap);
    }
    Value capped = scores;
    scores = mask(scores);
    Value masked = scores;
    scores = write.cast(scores, op.getSoftmaxPrecision().value_or(element));
    Value weights = write.op("Softmax", {scores}, write.integer("axis", 3));
    if (op.getAttnMask() || op.getNonpadKvSeqlen()) {
      // A row without any allowed key gives zeros.
      Value highest = write.reduce("ReduceMax", scores, {3});
      Value alive = write.op("Greater", {highest, write.scalar(-INFINITY, highest)});
      weights = write.where(alive, weights, write.scalar(0, weights));
    }
    weights = write.cast(weights, element);
    int64_t grouped = heads / kvHeads * rows, vSize = typeOf(v).getDimSize(3);
    Value y = write.matMul(write.reshape(weights, {batch, kvHeads, grouped, columns}), write.cast(v, element));
    y = write.reshape(y, {batch, heads, rows, vSize});
    SmallVector<Value> results = {typeOf(op.getQ()).getRank() == 3 ? write.joinHeads(y) : y};
    if (op.getPresentKey())
      results.push_back(k);
    if (op.getPresentValue())
      results.push_back(v);
    if (op.getQkMatmulOutput()) {
      Value stages[] = {raw, capped, masked, weights};
      results.push_back(stages[op.getQkMatmulOutputMode()]);
    }
    return results;
  }

private:
  /// `scale · Q Kᵀ`, [batch, heads, rows, columns]. The heads of one group are rows of one matrix.
  Value product() {
    double scale = op.getScale() ? op.getScale()->convertToDouble() : 1 / std::sqrt(double(size));
    Value scaled = write.mul(q, write.scalar(scale, q));
    Value grouped = write.reshape(scaled, {batch, kvHeads, heads / kvHeads * rows, size});
    Value keys = write.transpose(write.cast(k, typeOf(q).getElementType()), {0, 1, 3, 2});
    return write.reshape(write.matMul(grouped, keys), {batch, heads, rows, columns});
  }

  Value mask(Value scores) {
    Value lowest = write.scalar(-INFINITY, scores);
    if (Value given = op.getAttnMask()) {
      given = padded(given);
      scores = isReal(given) ? write.add(scores, write.cast(given, typeOf(scores).getElementType()))
                             : write.where(given, scores, lowest);
    }
    if (Value allowed = allowedPositions())
      scores = write.where(allowed, scores, lowest);
    if (op.getNonpadKvSeqlen())
      scores = write.where(validKeys(), scores, lowest);
    return scores;
  }

  /// A mask may end before the keys do: what is behind its end is masked out.
  Value padded(Value given) {
    int64_t last = typeOf(given).getRank() - 1;
    if (typeOf(given).getDimSize(last) == 1)
      return given;
    return write.extend(given, last, columns, isReal(given) ? -INFINITY : 0.0);
  }

  /// Bounds on `column - row`: none where a side is open.
  std::pair<std::optional<int64_t>, std::optional<int64_t>> window() {
    std::optional<int64_t> left, right;
    int64_t leftSize = op.getLeftWindowSize(), rightSize = op.getRightWindowSize();
    if (leftSize >= 0)
      left = -leftSize;
    if (rightSize >= 0)
      right = rightSize;
    if (op.getIsCausal())
      right = right ? std::min<int64_t>(*right, 0) : 0;
    return {left, right};
  }

  /// What causality and the window allow; null when that is everything.
  Value allowedPositions() {
    auto [left, right] = window();
    if (!left && !right)
      return {};
    if (op.getNonpadKvSeqlen())
      return allowedPerSample(left, right);
    std::vector<char> bits;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        int64_t distance = column - (row + past);
        bits.push_back((!left || distance >= *left) && (!right || distance <= *right));
      }
    return write.constant(makeConstant(RankedTensorType::get({rows, columns}, write.b.getI1Type()), std::move(bits)));
  }

  /// The same where each sample has an offset of its own: its number of valid keys less the number of queries.
  Value allowedPerSample(std::optional<int64_t> left, std::optional<int64_t> right) {
    Type i64 = write.b.getI64Type();
    SmallVector<int64_t> distances;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        distances.push_back(column - row + rows);
    Value valid = write.reshape(op.getNonpadKvSeqlen(), {batch, 1, 1, 1});
    Value distance = write.sub(write.integers(distances, {rows, columns}, i64), valid);
    Value allowed;
    if (left)
      allowed = write.op("GreaterOrEqual", {distance, write.scalar(*left, i64)});
    if (right) {
      Value before = write.op("LessOrEqual", {distance, write.scalar(*right, i64)});
      allowed = allowed ? write.op("And", {allowed, before}) : before;
    }
    return allowed;
  }

  Value validKeys() {
    Value positions = write.positions(columns, {columns}, write.b.getI64Type());
    return write.op("Less", {positions, write.reshape(op.getNonpadKvSeqlen(), {batch, 1, 1, 1})});
  }

  GraphWriter &write;
  AttentionOp op;
  Value q, k, v;
  int64_t batch, heads, kvHeads, rows, columns, size, past = 0;
};

struct DecomposeAttention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    b.replaceOp(op, AttentionWriter(write, op).run());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// RotaryEmbedding
//===----------------------------------------------------------------------===//

struct DecomposeRotary : OpRewritePattern<RotaryEmbeddingOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RotaryEmbeddingOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    SmallVector<int64_t> shape(typeOf(op.getX()).getShape());
    // Heads stay where they are: [batch, sequence, heads, size] for rank 3, [batch, heads, sequence, size] for rank 4.
    bool headsLast = shape.size() == 3;
    int64_t heads = headsLast ? int64_t(op.getNumHeads()) : shape[1];
    SmallVector<int64_t> split = headsLast ? SmallVector<int64_t>{shape[0], shape[1], heads, shape[2] / heads} : shape;
    Value x = write.reshape(op.getX(), split);
    int64_t size = split[3], rotated = op.getRotaryEmbeddingDim() > 0 ? int64_t(op.getRotaryEmbeddingDim()) : size;
    Value turning = write.slice(x, 3, 0, rotated);
    auto [first, second] = halves(write, turning, op.getInterleaved());
    Value cos = angles(write, op, op.getCosCache(), headsLast), sin = angles(write, op, op.getSinCache(), headsLast);
    Value real = write.sub(write.mul(cos, first), write.mul(sin, second));
    Value imaginary = write.add(write.mul(sin, first), write.mul(cos, second));
    Value turned = join(write, real, imaginary, op.getInterleaved());
    if (rotated < size)
      turned = write.concat({turned, write.slice(x, 3, rotated, size)}, 3);
    b.replaceOp(op, write.reshape(turned, shape));
    return success();
  }

  static std::pair<Value, Value> halves(GraphWriter &write, Value x, bool interleaved) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    int64_t half = shape[3] / 2;
    if (!interleaved)
      return {write.slice(x, 3, 0, half), write.slice(x, 3, half, 2 * half)};
    Value pairs = write.reshape(x, {shape[0], shape[1], shape[2], half, 2});
    shape[3] = half;
    return {write.reshape(write.slice(pairs, 4, 0, 1), shape), write.reshape(write.slice(pairs, 4, 1, 2), shape)};
  }

  static Value join(GraphWriter &write, Value first, Value second, bool interleaved) {
    if (!interleaved)
      return write.concat({first, second}, 3);
    SmallVector<int64_t> shape(typeOf(first).getShape()), pair = shape;
    pair.push_back(1);
    shape[3] *= 2;
    return write.reshape(write.concat({write.reshape(first, pair), write.reshape(second, pair)}, 4), shape);
  }

  /// The cache's rows for each position, [batch, sequence, half], with a dimension for the heads.
  static Value angles(GraphWriter &write, RotaryEmbeddingOp op, Value cache, bool headsLast) {
    if (op.getPositionIds())
      cache = write.op("Gather", {cache, op.getPositionIds()}, write.integer("axis", 0));
    ArrayRef<int64_t> shape = typeOf(cache).getShape();
    return headsLast ? write.reshape(cache, {shape[0], shape[1], 1, shape[2]})
                     : write.reshape(cache, {shape[0], 1, shape[1], shape[2]});
  }
};

//===----------------------------------------------------------------------===//
// LinearAttention
//===----------------------------------------------------------------------===//

/// Step by step, in f32: the state fades, is corrected by what it holds for the key already, takes the key's value, and
/// is read by the queries.
struct UnrollLinearAttention : OpRewritePattern<LinearAttentionOp> {
  UnrollLinearAttention(MLIRContext *context, int64_t maxSteps) : OpRewritePattern(context), maxSteps(maxSteps) {}

  LogicalResult matchAndRewrite(LinearAttentionOp op, PatternRewriter &b) const override {
    ArrayRef<int64_t> shape = typeOf(op.getQuery()).getShape();
    int64_t batch = shape[0], steps = shape[1], kvHeads = op.getKvNumHeads(), qHeads = op.getQNumHeads();
    if (steps < 1 || steps > maxSteps)
      return b.notifyMatchFailure(op, "has more steps than are unrolled");
    GraphWriter write(b, op.getLoc());
    Type f32 = b.getF32Type();
    int64_t keySize = shape[2] / qHeads, valueSize = typeOf(op.getValue()).getDimSize(2) / kvHeads;
    auto at = [&](Value x, int64_t step, ArrayRef<int64_t> result) {
      return write.reshape(write.slice(write.cast(x, f32), 1, step, step + 1), result);
    };
    double scale = op.getScale().isZero() ? 1 / std::sqrt(double(keySize)) : op.getScale().convertToDouble();
    Value state;
    if (op.getPastState())
      state = write.cast(op.getPastState(), f32);
    SmallVector<Value> outputs;
    for (int64_t step = 0; step < steps; ++step) {
      Value q = at(op.getQuery(), step, {batch, kvHeads, qHeads / kvHeads, keySize});
      Value key = at(op.getKey(), step, {batch, kvHeads, keySize, 1});
      Value value = at(op.getValue(), step, {batch, kvHeads, 1, valueSize});
      if (op.getDecay() && state) {
        int64_t perHead = typeOf(op.getDecay()).getDimSize(2) / kvHeads;
        state = write.mul(state, write.op("Exp", {at(op.getDecay(), step, {batch, kvHeads, perHead, 1})}));
      }
      if (op.getBeta()) {
        if (state)
          value = write.sub(value, write.matMul(write.reshape(key, {batch, kvHeads, 1, keySize}), state));
        int64_t betas = typeOf(op.getBeta()).getDimSize(2);
        value = write.mul(value, at(op.getBeta(), step, {batch, betas, 1, 1}));
      }
      Value added = write.mul(key, value);
      state = state ? write.add(state, added) : added;
      Value read = write.matMul(write.mul(q, write.scalar(scale, q)), state);
      outputs.push_back(write.reshape(read, {batch, 1, qHeads * valueSize}));
    }
    b.replaceOp(op, {write.cast(write.concat(outputs, 1), typeOf(op.getOutput()).getElementType()),
                     write.cast(state, typeOf(op.getPresentState()).getElementType())});
    return success();
  }

  int64_t maxSteps;
};

//===----------------------------------------------------------------------===//
// CausalConvWithState, TensorScatter, SwiGLU
//===----------------------------------------------------------------------===//

struct DecomposeCausalConv : OpRewritePattern<CausalConvWithStateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CausalConvWithStateOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    ArrayRef<int64_t> shape = typeOf(op.getX()).getShape();
    int64_t batch = shape[0], channels = shape[1], length = shape[2], kernel = typeOf(op.getW()).getDimSize(2);
    Value padded = op.getX();
    if (kernel > 1) {
      Value state = op.getPastState() ? op.getPastState()
                                      : write.expand(write.scalar(0, op.getX()), {batch, channels, kernel - 1});
      padded = write.concat({state, op.getX()}, 2);
    }
    SmallVector<Value> operands = {padded, op.getW()};
    if (op.getB())
      operands.push_back(op.getB());
    Value y = write.op("Conv", operands, write.integer("group", channels));
    if (op.getActivation() != "none")
      y = write.op("Swish", {y});
    b.replaceOp(op, {y, write.slice(padded, 2, length, length + kernel - 1)});
    return success();
  }
};

/// Rows at a place that is known now are joined; else each row of the update is put where its position is.
struct DecomposeTensorScatter : OpRewritePattern<TensorScatterOp> {
  DecomposeTensorScatter(MLIRContext *context, int64_t maxRows) : OpRewritePattern(context), maxRows(maxRows) {}

  LogicalResult matchAndRewrite(TensorScatterOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    SmallVector<int64_t> shape(typeOf(op.getPastCache()).getShape());
    int64_t axis = op.getAxis(), length = shape[axis], rows = typeOf(op.getUpdate()).getDimSize(axis);
    Value cache = op.getPastCache(), update = op.getUpdate();
    if (!op.getWriteIndices()) {
      SmallVector<Value> parts = {update};
      if (rows < length)
        parts.push_back(write.slice(cache, axis, rows, length));
      b.replaceOp(op, write.concat(parts, axis));
      return success();
    }
    if (rows > maxRows)
      return b.notifyMatchFailure(op, "writes more rows than are unrolled");
    Type i64 = b.getI64Type();
    SmallVector<int64_t> ones(shape.size(), 1), alongAxis = ones, perSample = ones;
    alongAxis[axis] = length;
    perSample[0] = shape[0];
    Value positions = write.positions(length, alongAxis, i64);
    Value first = write.reshape(op.getWriteIndices(), perSample);
    for (int64_t row = 0; row < rows; ++row) {
      Value target = row ? write.add(first, write.scalar(row, i64)) : first;
      if (op.getMode() == "circular")
        target = write.op("Mod", {target, write.scalar(length, i64)});
      Value hit = write.op("Equal", {positions, target});
      cache = write.where(hit, write.slice(update, axis, row, row + 1), cache);
    }
    b.replaceOp(op, cache);
    return success();
  }

  int64_t maxRows;
};

struct DecomposeSwiGLU : OpRewritePattern<SwiGLUOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SwiGLUOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    Value gate = write.op("Swish", {op.getA()}, b.getNamedAttr("alpha", op.getAlphaAttr()));
    b.replaceOp(op, write.mul(gate, op.getB()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// AffineGrid
//===----------------------------------------------------------------------===//

/// One product of the maps with the constant positions of all pixels, in homogeneous coordinates.
struct DecomposeAffineGrid : OpRewritePattern<AffineGridOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AffineGridOp op, PatternRewriter &b) const override {
    if (!op.getSize())
      return failure();
    GraphWriter write(b, op.getLoc());
    ArrayRef<int64_t> sizes = op.getSize()->drop_front(2);
    int64_t rank = sizes.size(), count = 1;
    for (int64_t size : sizes)
      count *= size;
    Type element = typeOf(op.getTheta()).getElementType();
    unsigned width = elementBytes(element);
    std::vector<char> positions(size_t(count) * (rank + 1) * width);
    for (int64_t i = 0; i < count; ++i) {
      // The innermost dimension comes first: x, y, z, 1.
      int64_t rest = i;
      for (int64_t j = 0; j <= rank; ++j) {
        double value = 1;
        if (j < rank) {
          int64_t size = sizes[rank - 1 - j];
          value = coordinate(rest % size, size, op.getAlignCorners());
          rest /= size;
        }
        writeReal(element, value, positions.data() + (j * count + i) * width);
      }
    }
    Value pixels = write.constant(makeConstant(RankedTensorType::get({rank + 1, count}, element), positions));
    Value grid = write.transpose(write.matMul(op.getTheta(), pixels), {0, 2, 1});
    b.replaceOp(op, write.reshape(grid, typeOf(op.getGrid()).getShape()));
    return success();
  }

  static double coordinate(int64_t i, int64_t size, bool alignCorners) {
    if (alignCorners)
      return size > 1 ? -1 + 2.0 * double(i) / double(size - 1) : -1;
    return -1 + (2.0 * double(i) + 1) / double(size);
  }
};

} // namespace

void trn::populateAttentionPatterns(RewritePatternSet &patterns, int64_t maxSteps) {
  MLIRContext *context = patterns.getContext();
  patterns.add<DecomposeAffineGrid, DecomposeAttention, DecomposeRotary, DecomposeCausalConv, DecomposeSwiGLU>(context);
  patterns.add<UnrollLinearAttention, DecomposeTensorScatter>(context, maxSteps);
}
