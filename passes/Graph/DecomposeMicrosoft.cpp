//===- DecomposeMicrosoft.cpp - com.microsoft by the standard's operators -===//
//
// Owns what MultiHeadAttention, Attention, QAttention, GroupQueryAttention, RotaryEmbedding and EmbedLayerNormalization of
// com.microsoft mean. The attentions become the standard's, with padding and windows as its mask: one decomposition
// (DecomposeAttention.cpp) computes all of them.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Microsoft.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

/// What is added to the scores of [batch, heads, rows, keys]: 0 where a key takes part, `filter` elsewhere. The mask is
/// 1 for keys that do, [batch, keys] or [batch, rows, keys]; or the end of each sample's keys, and then, optionally,
/// their starts.
Value paddingFilter(GraphWriter &write, Value mask, int64_t batch, int64_t keys, double filter, Type element) {
  ArrayRef<int64_t> shape = typeOf(mask).getShape();
  Value takesPart;
  if (shape.size() == 1) {
    Value place = write.positions(keys, {keys}, typeOf(mask).getElementType());
    auto bound = [&](int64_t from) {
      return write.reshape(write.slice(mask, 0, from, from + batch), {batch, 1, 1, 1});
    };
    takesPart = write.op("Less", {place, bound(0)});
    if (shape[0] == 2 * batch)
      takesPart = write.op("And", {takesPart, write.op("GreaterOrEqual", {place, bound(batch)})});
  } else {
    int64_t rows = shape.size() == 3 ? shape[1] : 1;
    takesPart = write.op("Greater", {write.reshape(mask, {shape[0], 1, rows, keys}), write.scalar(0, mask)});
  }
  return write.where(takesPart, write.scalar(0, element), write.scalar(filter, element));
}

/// What the standard's Attention takes; queries, keys and values are [batch, heads, sequence, size].
struct Scores {
  Value q, k, v, mask, pastKey, pastValue;
  SmallVector<NamedAttribute> attributes;
};

/// Its results: the values, present keys and values, and the scores before they are normalised.
ResultRange attend(GraphWriter &write, const Scores &scores) {
  SmallVector<NamedAttribute> attributes = scores.attributes;
  attributes.push_back(write.integer("qk_matmul_output_mode", 2));
  return buildOperation(write.b, write.loc, "Attention",
                        {scores.q, scores.k, scores.v, scores.mask, scores.pastKey, scores.pastValue}, attributes, 4)
      ->getResults();
}

/// The scale of the scores; none, or 0, is 1/√size, which is the standard's too.
void addScale(GraphWriter &write, SmallVectorImpl<NamedAttribute> &attributes, const std::optional<APFloat> &scale) {
  if (scale && !scale->isZero())
    attributes.push_back(write.b.getNamedAttr("scale", write.b.getF32FloatAttr(scale->convertToFloat())));
}

/// The sum of two values that may be absent.
Value sumOf(GraphWriter &write, Value x, Value y) { return x && y ? write.add(x, y) : x ? x : y; }

//===----------------------------------------------------------------------===//
// MultiHeadAttention and Attention
//===----------------------------------------------------------------------===//

struct DecomposeMultiHead : OpRewritePattern<MicrosoftMultiHeadAttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MicrosoftMultiHeadAttentionOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    int64_t heads = op.getNumHeads();
    Type element = typeOf(op.getQuery()).getElementType();
    Scores scores;
    Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
    if (!k)
      v = part(write, q, 2), k = part(write, q, 1), q = part(write, q, 0);
    else if (!v)
      v = part(write, k, 1), k = part(write, k, 0);
    int64_t offset = 0;
    scores.q = projected(write, q, heads, op.getBias(), offset);
    scores.k = projected(write, k, heads, op.getBias(), offset);
    scores.v = projected(write, v, heads, op.getBias(), offset);
    scores.pastKey = op.getPastKey(), scores.pastValue = op.getPastValue();
    int64_t keys = typeOf(scores.k).getDimSize(2);
    if (scores.pastKey)
      keys += typeOf(scores.pastKey).getDimSize(2);
    if (op.getKeyPaddingMask())
      scores.mask = paddingFilter(write, op.getKeyPaddingMask(), typeOf(q).getDimSize(0), keys,
                                  op.getMaskFilterValue().convertToDouble(), element);
    scores.mask = sumOf(write, op.getAttentionBias(), scores.mask);
    scores.attributes = {write.flag("is_causal", op.getUnidirectional())};
    addScale(write, scores.attributes, op.getScale());
    ResultRange results = attend(write, scores);
    SmallVector<Value> values = {write.joinHeads(results[0])};
    const Value asked[] = {op.getPresentKey(), op.getPresentValue(), op.getQk()};
    for (auto [result, value] : llvm::zip_equal(asked, results.drop_front()))
      if (result)
        values.push_back(value);
    b.replaceOp(op, values);
    return success();
  }

  /// One of the tensors packed as [batch, sequence, heads, parts, size].
  static Value part(GraphWriter &write, Value packed, int64_t index) {
    ArrayRef<int64_t> shape = typeOf(packed).getShape();
    return write.reshape(write.slice(packed, 3, index, index + 1), {shape[0], shape[1], shape[2] * shape[4]});
  }

  /// Heads apart, with its piece of the bias added, unless they are apart already; `offset` moves behind the piece.
  static Value projected(GraphWriter &write, Value x, int64_t heads, Value bias, int64_t &offset) {
    if (typeOf(x).getRank() == 4)
      return x;
    int64_t hidden = typeOf(x).getDimSize(2);
    if (bias)
      x = write.add(x, write.slice(bias, 0, offset, offset + hidden));
    offset += hidden;
    return write.splitHeads(x, heads);
  }
};

/// What follows the projection `all` to queries, keys and values, which have `hidden` elements each.
template <typename OpTy>
void replaceByAttention(PatternRewriter &b, GraphWriter &write, OpTy op, Value all, ArrayRef<int64_t> hidden, Value bias) {
  int64_t heads = op.getNumHeads(), offset = 0;
  Scores scores;
  Value *const targets[] = {&scores.q, &scores.k, &scores.v};
  for (auto [size, target] : llvm::zip_equal(hidden, targets)) {
    *target = write.splitHeads(write.slice(all, 2, offset, offset + size), heads);
    offset += size;
  }
  int64_t keys = typeOf(scores.k).getDimSize(2);
  if (Value past = op.getPast()) {
    SmallVector<int64_t> shape(typeOf(past).getShape().drop_front());
    scores.pastKey = write.reshape(write.slice(past, 0, 0, 1), shape);
    scores.pastValue = write.reshape(write.slice(past, 0, 1, 2), shape);
    keys += shape[2];
  }
  if (op.getMaskIndex())
    scores.mask = paddingFilter(write, op.getMaskIndex(), typeOf(op.getInput()).getDimSize(0), keys,
                                op.getMaskFilterValue().convertToDouble(), typeOf(all).getElementType());
  scores.mask = sumOf(write, bias, scores.mask);
  scores.attributes = {write.flag("is_causal", op.getUnidirectional())};
  addScale(write, scores.attributes, op.getScale());
  ResultRange results = attend(write, scores);
  SmallVector<Value> values = {write.joinHeads(results[0])};
  if (op.getPresent()) {
    SmallVector<int64_t> shape(typeOf(results[1]).getShape());
    shape.insert(shape.begin(), 1);
    values.push_back(write.concat({write.reshape(results[1], shape), write.reshape(results[2], shape)}, 0));
  }
  b.replaceOp(op, values);
}

struct DecomposeMicrosoftAttention : OpRewritePattern<MicrosoftAttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MicrosoftAttentionOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    SmallVector<int64_t> hidden(3, typeOf(op.getWeights()).getDimSize(1) / 3);
    if (op.getQkvHiddenSizes())
      hidden.assign(op.getQkvHiddenSizes()->begin(), op.getQkvHiddenSizes()->end());
    Value all = sumOf(write, write.matMul(op.getInput(), op.getWeights()), op.getBias());
    replaceByAttention(b, write, op, all, hidden, op.getAttentionBias());
    return success();
  }
};

struct DecomposeQuantizedAttention : OpRewritePattern<MicrosoftQAttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MicrosoftQAttentionOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    Value product = write.product({op.getInput(), op.getInputScale(), op.getInputZeroPoint()},
                                  {op.getWeights(), op.getWeightScale(), op.getWeightZeroPoint()});
    SmallVector<int64_t> hidden(3, typeOf(op.getWeights()).getDimSize(1) / 3);
    replaceByAttention(b, write, op, write.add(product, op.getBias()), hidden, /*bias=*/{});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// GroupQueryAttention
//===----------------------------------------------------------------------===//

/// New keys follow each sample's past ones: their first position is the sample's length, `seqlens_k` + 1, less the
/// number of new ones. In a prompt, whose new keys are all keys, it is 0.
class GroupQueryWriter {
public:
  GroupQueryWriter(GraphWriter &write, MicrosoftGroupQueryAttentionOp op)
      : write(write), op(op), heads(op.getNumHeads()), kvHeads(op.getKvNumHeads()), index(write.b.getI32Type()) {
    ArrayRef<int64_t> shape = typeOf(op.getQuery()).getShape();
    batch = shape[0], rows = shape[1], size = shape[2] / (op.getKey() ? heads : heads + 2 * kvHeads);
    keys = *op.getTotalSequenceLength();
    prompt = !op.getPastKey() || keys == rows;
    if (op.getPastKey())
      keys = std::max(keys, typeOf(op.getPastKey()).getDimSize(2));
    if (!prompt) {
      Value length = write.add(write.cast(op.getSeqlensK(), index), write.scalar(1 - double(rows), index));
      first = write.op("Max", {write.reshape(length, {batch, 1}), write.scalar(0, index)});
    }
  }

  SmallVector<Value> run() {
    Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
    if (!k) {
      int64_t hidden = heads * size, kvHidden = kvHeads * size;
      v = write.slice(q, 2, hidden + kvHidden, hidden + 2 * kvHidden);
      k = write.slice(q, 2, hidden, hidden + kvHidden);
      q = write.slice(q, 2, 0, hidden);
    }
    if (op.getDoRotary()) {
      Value places = places64();
      q = rotated(q, heads, places), k = rotated(k, kvHeads, places);
    }
    Scores scores;
    scores.q = write.splitHeads(q, heads);
    Value presentKey = scores.k = placed(k, op.getPastKey());
    Value presentValue = scores.v = placed(v, op.getPastValue());
    scores.attributes = {write.b.getNamedAttr("softcap", op.getSoftcapAttr())};
    addScale(write, scores.attributes, op.getScale());
    addMask(scores);
    SmallVector<Value> values = {write.joinHeads(attend(write, scores)[0])};
    if (op.getPresentKey())
      values.push_back(presentKey);
    if (op.getPresentValue())
      values.push_back(presentValue);
    return values;
  }

private:
  /// The position of each new element, [batch, rows].
  Value places64() {
    if (op.getPositionIds())
      return op.getPositionIds();
    Type i64 = write.b.getI64Type();
    Value rowNumbers = write.positions(rows, {1, rows}, i64);
    Value places = first ? write.add(write.cast(first, i64), rowNumbers) : rowNumbers;
    return write.expand(places, {batch, rows});
  }

  Value rotated(Value x, int64_t count, Value places) {
    int64_t turned = 2 * typeOf(op.getCosCache()).getDimSize(1);
    return write.op("RotaryEmbedding", {x, op.getCosCache(), op.getSinCache(), places},
                    {write.flag("interleaved", op.getRotaryInterleaved()), write.integer("num_heads", count),
                     write.integer("rotary_embedding_dim", turned == size ? 0 : turned)});
  }

  /// [batch, heads, keys, size]: past ones, then the new ones, then zeros.
  Value placed(Value fresh, Value past) {
    if (prompt)
      return filled(write.splitHeads(fresh, kvHeads), keys);
    past = filled(past, keys);
    Value zero = write.scalar(0, fresh);
    // How far each position is behind the first new one.
    Value distance = write.sub(write.positions(keys, {1, keys}, index), first);
    auto perKey = [&](Value flags) { return write.reshape(flags, {batch, 1, keys, 1}); };
    Value isPast = perKey(write.op("Less", {distance, write.scalar(0, index)}));
    Value behind = write.op("GreaterOrEqual", {distance, write.scalar(double(rows), index)});
    Value spread = rows == 1 ? write.splitHeads(fresh, kvHeads) : write.splitHeads(gathered(fresh, distance), kvHeads);
    return write.where(isPast, past, write.where(perKey(behind), zero, spread));
  }

  /// The new row for each position, [batch, keys, hidden]; any row where there is none.
  Value gathered(Value fresh, Value distance) {
    Value row = write.op("Max", {distance, write.scalar(0, index)});
    row = write.op("Min", {row, write.scalar(double(rows - 1), index)});
    SmallVector<Value> samples;
    for (int64_t i = 0; i < batch; ++i)
      samples.push_back(
          write.op("Gather", {write.slice(fresh, 0, i, i + 1), write.reshape(write.slice(row, 0, i, i + 1), {keys})},
                   write.integer("axis", 1)));
    return write.concat(samples, 0);
  }

  /// `x` with zeros behind its end, up to `length` positions.
  Value filled(Value x, int64_t length) { return write.extend(x, 2, length, 0); }

  /// Which keys a query may attend to: those up to its own position, within the window, or all of its sample's.
  Value allowed() {
    Value key = write.positions(keys, {1, 1, 1, keys}, index);
    if (!op.getCausal()) {
      Value length = write.add(write.cast(op.getSeqlensK(), index), write.scalar(1, index));
      return write.op("Less", {key, write.reshape(length, {batch, 1, 1, 1})});
    }
    Value row = write.positions(rows, {1, 1, rows, 1}, index);
    if (first)
      row = write.add(row, write.reshape(first, {batch, 1, 1, 1}));
    Value flags = write.op("LessOrEqual", {key, row});
    if (int64_t window = op.getLocalWindowSize(); window > 0) {
      Value oldest = write.sub(row, write.scalar(double(window), index));
      flags = write.op("And", {flags, write.op("Greater", {key, oldest})});
    }
    return flags;
  }

  void addMask(Scores &scores) {
    bool sink = op.getHeadSink() || op.getSmoothSoftmax();
    if (prompt && op.getCausal() && !sink) {
      scores.attributes.push_back(write.flag("is_causal", true));
      if (int64_t window = op.getLocalWindowSize(); window > 0)
        scores.attributes.push_back(write.integer("left_window_size", window - 1));
      if (op.getAttentionBias())
        scores.mask = bias();
      return;
    }
    scores.mask = allowed();
    if (!op.getAttentionBias() && !sink)
      return;
    Type element = typeOf(op.getQuery()).getElementType();
    Value added = op.getAttentionBias() ? bias() : write.scalar(0, element);
    scores.mask = write.where(scores.mask, added, write.scalar(-INFINITY, element));
    if (sink)
      addSink(scores);
  }

  /// One number for each key; what is behind the bias's end is masked out anyway.
  Value bias() {
    return write.extend(op.getAttentionBias(), 3, keys, 0);
  }

  /// A sink takes its part of the weights and gives nothing: it is one more key whose score is its number (0 when the
  /// softmax is smooth) and whose value is zero.
  void addSink(Scores &scores) {
    scores.k = filled(scores.k, keys + 1), scores.v = filled(scores.v, keys + 1);
    ArrayRef<int64_t> shape = typeOf(scores.mask).getShape();
    Value sinks = op.getHeadSink() ? write.reshape(op.getHeadSink(), {1, heads, 1, 1}) : write.scalar(0, scores.mask);
    scores.mask = write.concat(
        {write.expand(scores.mask, {shape[0], heads, rows, keys}), write.expand(sinks, {shape[0], heads, rows, 1})}, 3);
  }

  GraphWriter &write;
  MicrosoftGroupQueryAttentionOp op;
  int64_t heads, kvHeads, batch, rows, size, keys;
  Type index;
  bool prompt;
  Value first; ///< [batch, 1]; null in a prompt
};

struct DecomposeGroupQuery : OpRewritePattern<MicrosoftGroupQueryAttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MicrosoftGroupQueryAttentionOp op, PatternRewriter &b) const override {
    if (!op.getTotalSequenceLength())
      return b.notifyMatchFailure(op, "needs the bound of the length");
    GraphWriter write(b, op.getLoc());
    b.replaceOp(op, GroupQueryWriter(write, op).run());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// RotaryEmbedding and EmbedLayerNormalization
//===----------------------------------------------------------------------===//

struct DecomposeMicrosoftRotary : OpRewritePattern<MicrosoftRotaryEmbeddingOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MicrosoftRotaryEmbeddingOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    ArrayRef<int64_t> shape = typeOf(op.getX()).getShape();
    int64_t batch = shape[0], rows = shape[shape.size() - 2], turned = op.getRotaryEmbeddingDim();
    Value places = op.getPositionIds();
    if (typeOf(places).getRank() < 2)
      places = write.expand(
          write.add(write.reshape(places, {1, 1}), write.positions(rows, {1, rows}, typeOf(places).getElementType())),
          {batch, rows});
    int64_t heads = op.getNumHeads();
    if (heads == 0 && shape.size() == 3) // Then the caches tell the head's size.
      heads = shape[2] / (2 * typeOf(op.getCosCache()).getDimSize(1));
    b.replaceOp(op, write.op("RotaryEmbedding", {op.getX(), op.getCosCache(), op.getSinCache(), places},
                             {write.flag("interleaved", op.getInterleaved()), write.integer("num_heads", heads),
                              write.integer("rotary_embedding_dim", turned)}));
    return success();
  }
};

struct DecomposeEmbed : OpRewritePattern<MicrosoftEmbedLayerNormalizationOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MicrosoftEmbedLayerNormalizationOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    auto rowsOf = [&](Value table, Value ids) { return write.op("Gather", {table, ids}, write.integer("axis", 0)); };
    ArrayRef<int64_t> shape = typeOf(op.getInputIds()).getShape();
    Value places = op.getPositionIds() ? rowsOf(op.getPositionEmbedding(), op.getPositionIds())
                                       : write.slice(op.getPositionEmbedding(), 0, 0, shape[1]);
    Value sum = write.add(rowsOf(op.getWordEmbedding(), op.getInputIds()), places);
    if (op.getSegmentIds())
      sum = write.add(sum, rowsOf(op.getSegmentEmbedding(), op.getSegmentIds()));
    SmallVector<Value> values = {write.op("LayerNormalization", {sum, op.getGamma(), op.getBeta()},
                                          b.getNamedAttr("epsilon", op.getEpsilonAttr()))};
    if (op.getMaskIndex())
      values.push_back(count(write, op.getMask(), shape[0], typeOf(op.getMaskIndex()).getElementType()));
    if (op.getEmbeddingSum())
      values.push_back(sum);
    b.replaceOp(op, values);
    return success();
  }

  /// How many entries of each row are 1; 0 without a mask.
  static Value count(GraphWriter &write, Value mask, int64_t batch, Type element) {
    if (!mask)
      return write.expand(write.scalar(0, element), {batch});
    Value ones = write.op("Equal", {mask, write.scalar(1, mask)});
    return write.reduce("ReduceSum", write.cast(ones, element), {1}, /*keepDims=*/false);
  }
};

} // namespace

void trn::populateMicrosoftPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeMultiHead, DecomposeMicrosoftAttention, DecomposeQuantizedAttention, DecomposeGroupQuery,
               DecomposeMicrosoftRotary, DecomposeEmbed>(patterns.getContext());
}
