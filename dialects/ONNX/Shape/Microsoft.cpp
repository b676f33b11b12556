//===- Microsoft.cpp - shape rules of com.microsoft -----------------------===//
//
// Owns the rules of the operators of com.microsoft that stay operations until they are written out. Refuses operands
// whose sizes contradict each other.
//
//===----------------------------------------------------------------------===//
#include "compiler/Weights/PackedWeights.h"
#include "dialects/ONNX/Ops/Microsoft.h"
#include "dialects/ONNX/Shape/Inference.h"
#include "dialects/ONNX/TypeNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace trn::onnx;

/// `size` · `factor` and `size` / `factor`, unknown where the size is.
static int64_t times(int64_t size, int64_t factor) { return isStatic(size) ? size * factor : kDynamic; }
static int64_t over(int64_t size, int64_t divisor) { return isStatic(size) ? size / divisor : kDynamic; }
static int64_t plus(int64_t a, int64_t b) { return isStatic(a) && isStatic(b) ? a + b : kDynamic; }

static bool contradict(int64_t a, int64_t b) { return isStatic(a) && isStatic(b) && a != b; }

/// How many elements a value has, where its sizes are known.
static std::optional<int64_t> countOf(Inference &in, Value value) {
  std::optional<Sizes> sizes = in.sizes(value);
  int64_t count = 1;
  for (int64_t size : sizes ? *sizes : Sizes{kDynamic})
    if (!isStatic(size) || llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

/// Types every result with the first operand's element and no known size.
static LogicalResult unknownResults(Inference &in) {
  Operation *op = in.operation();
  for (Value result : op->getResults())
    if (failed(in.result(result, in.element(op->getOperand(0)), std::nullopt)))
      return failure();
  return success();
}

static LogicalResult checkHeads(Inference &in, int64_t hidden, int64_t heads) {
  if (heads < 1)
    return in.fail("expected at least one head but got " + Twine(heads));
  if (isStatic(hidden) && hidden % heads != 0)
    return in.fail("expected " + Twine(hidden) + " elements to split into " + Twine(heads) + " heads");
  return success();
}

/// A mask's last dimension is the number of keys, unless it holds positions only.
static LogicalResult checkMask(Inference &in, Value mask, int64_t batch, int64_t columns, bool starts) {
  std::optional<Sizes> sizes = mask ? in.sizes(mask) : std::nullopt;
  if (!sizes)
    return success();
  if (sizes->empty() || sizes->size() > 3)
    return in.fail("expected a mask of 1, 2 or 3 dimensions but got " + printSizes(*sizes));
  if (sizes->size() == 1 && contradict((*sizes)[0], batch) && (!starts || contradict((*sizes)[0], times(batch, 2))))
    return in.fail("expected one " + Twine(starts ? "or two positions" : "position") + " for each of " + Twine(batch) +
                   " samples but got a mask of " + printSizes(*sizes));
  if (sizes->size() > 1 && contradict(sizes->back(), columns))
    return in.fail("expected a mask of " + Twine(columns) + " keys but got " + printSizes(*sizes));
  return success();
}

namespace {
/// What is known of queries, keys and values: sizes of the tensors by their layout.
struct Projected {
  int64_t batch = kDynamic, rows = kDynamic, size = kDynamic, columns = kDynamic, valueSize = kDynamic;
};
} // namespace

/// Reads [batch, sequence, heads · size], packed tensors of 5 dimensions, and keys as [batch, heads, sequence, size].
static FailureOr<Projected> readProjected(Inference &in, MicrosoftMultiHeadAttentionOp op) {
  int64_t heads = op.getNumHeads();
  Projected known;
  std::optional<Sizes> q = in.sizes(op.getQuery()), k, v;
  if (op.getKey())
    k = in.sizes(op.getKey());
  if (op.getValue())
    v = in.sizes(op.getValue());
  if (q) {
    if (q->size() != 3 && (q->size() != 5 || op.getKey()))
      return in.fail("expected queries of 3 dimensions, or packed ones of 5 without keys, but got " + printSizes(*q));
    known.batch = (*q)[0], known.rows = (*q)[1];
    if (q->size() == 3 && failed(checkHeads(in, (*q)[2], heads)))
      return failure();
    known.size = q->size() == 5 ? (*q)[4] : over((*q)[2], heads);
    if (!op.getKey()) {
      if (q->size() != 5 || contradict((*q)[2], heads) || contradict((*q)[3], 3))
        return in.fail("expected keys, or queries of [batch, sequence, " + Twine(heads) + ", 3, size], but got " +
                       printSizes(*q));
      known.columns = known.rows, known.valueSize = known.size;
    }
  }
  if (k) {
    if (k->size() < 3 || k->size() > 5)
      return in.fail("expected keys of 3, 4 or 5 dimensions but got " + printSizes(*k));
    known.columns = (*k)[k->size() == 4 ? 2 : 1];
    int64_t size = k->size() == 3 ? over((*k)[2], heads) : k->back();
    if (contradict(size, known.size))
      return in.fail("expected queries and keys of one head size but got " + Twine(known.size) + " and " + Twine(size));
    if (k->size() == 5)
      known.valueSize = size;
    if ((k->size() == 5) == bool(op.getValue()))
      return in.fail("expected values, unless they are packed with the keys");
  }
  if (v) {
    if (k && v->size() != k->size())
      return in.fail("expected keys and values of one rank but got " + printSizes(*k) + " and " + printSizes(*v));
    if (v->size() == 3 && failed(checkHeads(in, (*v)[2], heads)))
      return failure();
    known.valueSize = v->size() == 3 ? over((*v)[2], heads) : v->back();
  }
  return known;
}

LogicalResult shape::microsoftMultiHead(Inference &in) {
  auto op = cast<MicrosoftMultiHeadAttentionOp>(in.operation());
  if (bool(op.getPastKey()) != bool(op.getPastValue()))
    return in.fail("expected past keys and past values together");
  FailureOr<Projected> known = readProjected(in, op);
  if (failed(known))
    return failure();
  int64_t heads = op.getNumHeads(), total = known->columns;
  if (op.getPastKey()) {
    std::optional<Sizes> past = in.sizes(op.getPastKey());
    if (past && past->size() != 4)
      return in.fail("expected past keys of 4 dimensions but got " + printSizes(*past));
    total = past ? plus(total, (*past)[2]) : kDynamic;
  }
  if (failed(checkMask(in, op.getKeyPaddingMask(), known->batch, total, /*starts=*/false)))
    return failure();
  Type element = in.element(op.getQuery());
  if (failed(in.result(op.getPresentKey(), element, Sizes{known->batch, heads, total, known->size})) ||
      failed(in.result(op.getPresentValue(), element, Sizes{known->batch, heads, total, known->valueSize})) ||
      failed(in.result(op.getQk(), element, Sizes{known->batch, heads, known->rows, total})))
    return failure();
  return in.result(op.getOutput(), element, Sizes{known->batch, known->rows, times(known->valueSize, heads)});
}

/// The rule of attention with its projection; `sizes` are those of queries, keys and values, equal when not given.
template <typename OpTy>
static LogicalResult projectedAttention(Inference &in, OpTy op, std::optional<ArrayRef<int64_t>> sizes, Type element) {
  std::optional<Sizes> x = in.sizes(op.getInput()), w = in.sizes(op.getWeights());
  if (!x || !w) {
    for (Value result : op->getResults())
      if (failed(in.result(result, element, std::nullopt)))
        return failure();
    return success();
  }
  if (x->size() != 3 || w->size() != 2 || contradict((*x)[2], (*w)[0]))
    return in.fail("expected an input of [batch, sequence, hidden] and weights of [hidden, projections] but got " +
                   printSizes(*x) + " and " + printSizes(*w));
  int64_t heads = op.getNumHeads();
  SmallVector<int64_t> hidden(3, over((*w)[1], 3));
  if (sizes)
    hidden.assign(sizes->begin(), sizes->end());
  if (hidden.size() != 3 || contradict(hidden[0], hidden[1]) ||
      contradict((*w)[1], plus(plus(hidden[0], hidden[1]), hidden[2])))
    return in.fail("expected weights of [hidden, queries + keys + values], as many queries as keys, but got " +
                   printSizes(*w));
  if (failed(checkHeads(in, hidden[0], heads)) || failed(checkHeads(in, hidden[2], heads)))
    return failure();
  int64_t total = (*x)[1];
  if (op.getPast()) {
    std::optional<Sizes> past = in.sizes(op.getPast());
    if (past && past->size() != 5)
      return in.fail("expected a past of [2, batch, heads, sequence, size] but got " + printSizes(*past));
    if (contradict(hidden[0], hidden[2]))
      return in.fail("expected values as large as keys together with a past but got " + Twine(hidden[2]) + " and " +
                     Twine(hidden[0]));
    total = past ? plus(total, (*past)[3]) : kDynamic;
  }
  if (failed(checkMask(in, op.getMaskIndex(), (*x)[0], total, /*starts=*/true)))
    return failure();
  if (failed(in.result(op.getPresent(), element, Sizes{2, (*x)[0], heads, total, over(hidden[2], heads)})))
    return failure();
  return in.result(op.getOutput(), element, Sizes{(*x)[0], (*x)[1], hidden[2]});
}

LogicalResult shape::microsoftAttention(Inference &in) {
  auto op = cast<MicrosoftAttentionOp>(in.operation());
  return projectedAttention(in, op, op.getQkvHiddenSizes(), in.element(op.getInput()));
}

LogicalResult shape::microsoftQuantizedAttention(Inference &in) {
  auto op = cast<MicrosoftQAttentionOp>(in.operation());
  std::optional<Sizes> weights = in.sizes(op.getWeights());
  int64_t columns = weights && weights->size() == 2 ? (*weights)[1] : kDynamic;
  for (Value parameter : {Value(op.getWeightScale()), Value(op.getWeightZeroPoint())})
    if (std::optional<int64_t> count = parameter ? countOf(in, parameter) : std::nullopt;
        count && *count != 1 && contradict(*count, columns))
      return in.fail("expected one scale or zero point of the weights, or one for each of " + Twine(columns) +
                     " columns, but got " + Twine(*count));
  return projectedAttention(in, op, std::nullopt, in.element(op.getBias()));
}

/// Values have the shape and the element type of their keys.
static LogicalResult valuesLikeKeys(Inference &in, Value keys, Value values) {
  if (!keys || !values)
    return success();
  std::optional<Sizes> k = in.sizes(keys), v = in.sizes(values);
  if (k && v &&
      (k->size() != v->size() || llvm::any_of(llvm::zip(*k, *v), [](auto pair) {
         return contradict(std::get<0>(pair), std::get<1>(pair));
       })))
    return in.fail("expected values of the keys' shape " + printSizes(*k) + " but got " + printSizes(*v));
  return in.sameElement(keys, values);
}

LogicalResult shape::microsoftGroupQuery(Inference &in) {
  auto op = cast<MicrosoftGroupQueryAttentionOp>(in.operation());
  int64_t heads = op.getNumHeads(), kvHeads = op.getKvNumHeads();
  if (kvHeads < 1 || heads % kvHeads != 0)
    return in.fail("expected a number of query heads that is a multiple of the number of key heads but got " +
                   Twine(heads) + " and " + Twine(kvHeads));
  if (bool(op.getPastKey()) != bool(op.getPastValue()) || bool(op.getKey()) != bool(op.getValue()))
    return in.fail("expected keys together with values, of the past and new");
  if (!op.getCausal() && op.getLocalWindowSize() > 0)
    return in.fail("expected no 'local_window_size' without 'causal'");
  if (op.getDoRotary() && (!op.getCosCache() || !op.getSinCache()))
    return in.fail("expected a cosine and a sine cache with 'do_rotary'");
  std::optional<Sizes> q = in.sizes(op.getQuery());
  if (!q)
    return unknownResults(in);
  int64_t parts = op.getKey() ? heads : heads + 2 * kvHeads;
  if (q->size() != 3)
    return in.fail("expected queries of 3 dimensions but got " + printSizes(*q));
  if (failed(checkHeads(in, (*q)[2], parts)))
    return failure();
  int64_t size = over((*q)[2], parts), columns = kDynamic;
  std::optional<Sizes> k = op.getKey() ? in.sizes(op.getKey()) : std::nullopt;
  if (k && (k->size() != 3 || contradict((*k)[1], (*q)[1]) || contradict((*k)[2], times(size, kvHeads))))
    return in.fail("expected as many new keys as queries, each of " + Twine(kvHeads) + " heads, but got " +
                   printSizes(*k) + " for queries of " + printSizes(*q));
  std::optional<Sizes> past = op.getPastKey() ? in.sizes(op.getPastKey()) : std::nullopt;
  if (past && past->size() != 4)
    return in.fail("expected past keys of 4 dimensions but got " + printSizes(*past));
  if (past && (contradict((*past)[0], (*q)[0]) || contradict((*past)[1], kvHeads) || contradict((*past)[3], size)))
    return in.fail("expected past keys of the new ones' heads but got " + printSizes(*past) + " for queries of " +
                   printSizes(*q));
  if (failed(valuesLikeKeys(in, op.getKey(), op.getValue())) ||
      failed(valuesLikeKeys(in, op.getPastKey(), op.getPastValue())))
    return failure();
  for (Value other : {op.getKey(), op.getPastKey()})
    if (other && failed(in.sameElement(op.getQuery(), other)))
      return failure();
  for (Value cache : {op.getCosCache(), op.getSinCache()})
    if (std::optional<Sizes> sizes = cache ? in.sizes(cache) : std::nullopt; sizes && sizes->size() != 2)
      return in.fail("expected cosine and sine caches of 2 dimensions but got " + printSizes(*sizes));
  if (std::optional<Sizes> lengths = in.sizes(op.getSeqlensK());
      lengths && allStatic(*lengths) && isStatic((*q)[0]) && elementCount(*lengths) != (*q)[0])
    return in.fail("expected a length for each of " + Twine((*q)[0]) + " samples but got " + printSizes(*lengths));
  if (std::optional<int64_t> total = op.getTotalSequenceLength()) {
    if (isStatic((*q)[1]) && *total < (*q)[1])
      return in.fail("expected 'total_sequence_length' of at least " + Twine((*q)[1]) + ", the new ones, but got " +
                     Twine(*total));
    columns = !op.getPastKey() ? *total : past && isStatic((*past)[2]) ? std::max(*total, (*past)[2]) : kDynamic;
  }
  Type element = in.element(op.getQuery());
  if (failed(in.result(op.getPresentKey(), element, Sizes{(*q)[0], kvHeads, columns, size})) ||
      failed(in.result(op.getPresentValue(), element, Sizes{(*q)[0], kvHeads, columns, size})) ||
      failed(in.result(op.getOutputQk(), element, Sizes{(*q)[0], heads, (*q)[1], columns})))
    return failure();
  return in.result(op.getOutput(), element, Sizes{(*q)[0], (*q)[1], times(size, heads)});
}

LogicalResult shape::microsoftEmbed(Inference &in) {
  auto op = cast<MicrosoftEmbedLayerNormalizationOp>(in.operation());
  if (bool(op.getSegmentIds()) != bool(op.getSegmentEmbedding()))
    return in.fail("expected segment ids and a segment embedding together");
  std::optional<Sizes> ids = in.sizes(op.getInputIds()), words = in.sizes(op.getWordEmbedding()), sum, count;
  if (ids && ids->size() != 2)
    return in.fail("expected ids of [batch, sequence] but got " + printSizes(*ids));
  if (words && words->size() != 2)
    return in.fail("expected an embedding of [words, hidden] but got " + printSizes(*words));
  if (ids)
    sum = Sizes{(*ids)[0], (*ids)[1], words ? (*words)[1] : kDynamic}, count = Sizes{(*ids)[0]};
  Type element = in.element(op.getWordEmbedding());
  if (failed(in.result(op.getMaskIndex(), in.element(op.getInputIds()), count)) ||
      failed(in.result(op.getEmbeddingSum(), element, sum)))
    return failure();
  return in.result(op.getOutput(), element, sum);
}

LogicalResult shape::matMulNBits(Inference &in) {
  auto op = cast<MicrosoftMatMulNBitsOp>(in.operation());
  std::optional<Sizes> a = in.sizes(op.getA());
  const auto packed = PackedWeights::of(op);
  const int64_t most = PackedWeights::kMost, block = packed.block;
  if (packed.depth < 1 || packed.depth > most || packed.columns < 1 || packed.columns > most)
    return in.fail("expected 'K' and 'N' from 1 to 2^30 but got " + Twine(packed.depth) + " and " + Twine(packed.columns));
  if (block < 16 || block > most || (block & (block - 1)) != 0)
    return in.fail("expected a 'block_size' that is a power of 2 from 16 to 2^30 but got " + Twine(block));
  if (!PackedWeights::isSupported(packed.bits))
    return in.fail("expected weights of 2, 4 or 8 bits but got " + Twine(packed.bits));
  if (a && (a->empty() || contradict(a->back(), packed.depth)))
    return in.fail("expected rows of " + Twine(packed.depth) + " elements, as 'K' says, but got " + printSizes(*a));
  const int64_t scales = packed.columns * packed.blocks();
  if (!in.element(op.getB()).isInteger(8))
    return in.fail("expected bytes of weights but got elements of type " + typeName(in.element(op.getB())));
  if (std::optional<int64_t> count = countOf(in, op.getB()); count && *count != packed.weightBytes())
    return in.fail("expected " + Twine(packed.weightBytes()) + " bytes of weights but got " + Twine(*count));
  if (std::optional<int64_t> count = countOf(in, op.getScales()); count && *count != scales)
    return in.fail("expected " + Twine(scales) + " scales but got " + Twine(*count));
  if (Value zeroPoints = op.getZeroPoints()) {
    Type element = in.element(zeroPoints);
    if (!isa<FloatType>(element) && !element.isInteger(8))
      return in.fail("expected zero points that are bytes or floats but got elements of type " + typeName(element));
    const int64_t expected = isa<FloatType>(element) ? scales : packed.columns * packed.zeroPointBytes();
    if (std::optional<int64_t> count = countOf(in, zeroPoints); count && *count != expected)
      return in.fail("expected " + Twine(expected) + " zero points or bytes of them but got " + Twine(*count));
  }
  if (std::optional<Sizes> bias = op.getBias() ? in.sizes(op.getBias()) : std::nullopt;
      bias && (bias->size() != 1 || contradict((*bias)[0], packed.columns)))
    return in.fail("expected a bias of [" + Twine(packed.columns) + "] but got " + printSizes(*bias));
  if (a)
    a->back() = op.getN();
  return in.result(op.getY(), in.element(op.getA()), a);
}

LogicalResult shape::gatherBlockQuantized(Inference &in) {
  auto op = cast<MicrosoftGatherBlockQuantizedOp>(in.operation());
  Type element = in.element(op.getScales()), stored = in.element(op.getData());
  std::optional<Sizes> data = in.sizes(op.getData()), indices = in.sizes(op.getIndices());
  if (!data || !indices)
    return in.result(op.getY(), element, std::nullopt);
  int64_t rank = data->size();
  if (rank < 2)
    return in.fail("expected data of rank 2 or more but got " + printSizes(*data));
  FailureOr<int64_t> gather = in.axis(op.getGatherAxis(), rank), quantize = in.axis(op.getQuantizeAxis(), rank);
  if (failed(gather) || failed(quantize))
    return failure();
  in.set("gather_axis", *gather), in.set("quantize_axis", *quantize);
  bool packed = stored.isInteger(8) && op.getBits() == 4;
  if (op.getBits() != 4 && (op.getBits() != 8 || !stored.isInteger(8)))
    return in.fail("expected 4 bits, or 8 in bytes, but got " + Twine(op.getBits()));
  if (*gather == *quantize || (packed && *gather + 1 == rank))
    return in.fail("expected to gather along another axis than the one that is quantised or packed");
  if (packed && *quantize + 1 != rank)
    return in.fail("expected bytes of two numbers along the last axis to be quantised there");
  if (packed)
    data->back() = times(data->back(), 2);
  int64_t size = (*data)[*quantize], block = op.getBlockSize();
  if (block < 1 || (isStatic(size) && size % block != 0))
    return in.fail("expected blocks that divide " + Twine(size) + " elements but got " + Twine(block));
  // One scale for each block, and one zero point, packed as the data are.
  Sizes blocks(data->begin(), data->end());
  blocks[*quantize] = isStatic(size) ? size / block : kDynamic;
  auto agree = [](ArrayRef<int64_t> wanted, ArrayRef<int64_t> got) {
    return wanted.size() == got.size() && llvm::all_of(llvm::zip(wanted, got), [](auto pair) {
             auto [a, b] = pair;
             return !isStatic(a) || !isStatic(b) || a == b;
           });
  };
  if (std::optional<Sizes> scales = in.sizes(op.getScales()); scales && !agree(blocks, *scales))
    return in.fail("expected scales of " + printSizes(blocks) + ", one for each block, but got " + printSizes(*scales));
  if (Value points = op.getZeroPoints()) {
    if (packed && isStatic(blocks.back()))
      blocks.back() = (blocks.back() + 1) / 2;
    if (std::optional<Sizes> sizes = in.sizes(points); sizes && !agree(blocks, *sizes))
      return in.fail("expected zero points of " + printSizes(blocks) + ", one for each block, but got " + printSizes(*sizes));
  }
  Sizes result(data->begin(), data->begin() + *gather);
  llvm::append_range(result, *indices);
  result.append(data->begin() + *gather + 1, data->end());
  return in.result(op.getY(), element, result);
}
