//===- Composite.cpp - shape rules of operators made of others ------------===//
//
// Owns the rules of the attention family, the losses and the optimisers.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Composite.h"
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trn::onnx;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The sizes as [batch, heads, sequence, head]; fails when they do not divide.
static FailureOr<Sizes> splitHeads(Inference &in, const Sizes &sizes, std::optional<int64_t> heads) {
  if (sizes.size() == 4)
    return sizes;
  if (sizes.size() != 3)
    return in.fail("expected 3 or 4 dimensions but got " + printSizes(sizes));
  if (!heads || *heads < 1)
    return in.fail("expected the number of heads of a tensor of " + printSizes(sizes) + " as an attribute");
  int64_t hidden = sizes[2];
  if (isStatic(hidden) && hidden % *heads != 0)
    return in.fail("expected the last dimension to split into " + Twine(*heads) + " heads but got " +
                   printSizes(sizes));
  return Sizes{sizes[0], *heads, sizes[1], isStatic(hidden) ? hidden / *heads : kDynamic};
}

static int64_t plus(int64_t a, int64_t b) { return isStatic(a) && isStatic(b) ? a + b : kDynamic; }

static LogicalResult unknownResults(Inference &in) {
  for (Value result : in.operation()->getResults())
    if (failed(in.result(result, in.element(in.operation()->getOperand(0)), std::nullopt)))
      return failure();
  return success();
}

LogicalResult shape::attention(Inference &in) {
  auto op = cast<AttentionOp>(in.operation());
  std::optional<Sizes> q = in.sizes(op.getQ()), k = in.sizes(op.getK()), v = in.sizes(op.getV());
  if (bool(op.getPastKey()) != bool(op.getPastValue()))
    return in.fail("expected past keys and past values together");
  if (op.getNonpadKvSeqlen() && op.getPastKey())
    return in.fail("expected either past keys or numbers of valid keys but got both");
  if (op.getQkMatmulOutputMode() > 3)
    return in.fail("expected 'qk_matmul_output_mode' from 0 to 3 but got " + Twine(op.getQkMatmulOutputMode()));
  if (!q || !k || !v)
    return unknownResults(in);
  if (q->size() != k->size() || q->size() != v->size())
    return in.fail("expected Q, K and V of one rank but got " + printSizes(*q) + ", " + printSizes(*k) + " and " +
                   printSizes(*v));
  FailureOr<Sizes> queries = splitHeads(in, *q, op.getQNumHeads()), keys = splitHeads(in, *k, op.getKvNumHeads());
  FailureOr<Sizes> values = splitHeads(in, *v, op.getKvNumHeads());
  if (failed(queries) || failed(keys) || failed(values))
    return failure();
  int64_t qHeads = (*queries)[1], kvHeads = (*keys)[1], past = 0;
  if (isStatic(qHeads) && isStatic(kvHeads) && (kvHeads < 1 || qHeads % kvHeads != 0))
    return in.fail("expected a number of query heads that is a multiple of the number of key heads but got " +
                   Twine(qHeads) + " and " + Twine(kvHeads));
  if (isStatic((*queries)[3]) && isStatic((*keys)[3]) && (*queries)[3] != (*keys)[3])
    return in.fail("expected queries and keys of one head size but got " + Twine((*queries)[3]) + " and " +
                   Twine((*keys)[3]));
  if (op.getPastKey()) {
    std::optional<Sizes> cached = in.sizes(op.getPastKey());
    if (cached && cached->size() != 4)
      return in.fail("expected past keys of 4 dimensions but got " + printSizes(*cached));
    past = cached ? (*cached)[2] : kDynamic;
  }
  int64_t total = plus((*keys)[2], past);
  Type element = in.element(op.getQ());
  Sizes presentKey = *keys, presentValue = *values, result = *queries;
  presentKey[2] = presentValue[2] = total;
  result[3] = (*values)[3];
  if (q->size() == 3) {
    int64_t hidden = isStatic(result[1]) && isStatic(result[3]) ? result[1] * result[3] : kDynamic;
    result = {result[0], result[2], hidden};
  }
  if (failed(in.result(op.getPresentKey(), in.element(op.getK()), presentKey)) ||
      failed(in.result(op.getPresentValue(), in.element(op.getV()), presentValue)) ||
      failed(in.result(op.getQkMatmulOutput(), element, Sizes{(*queries)[0], qHeads, (*queries)[2], total})))
    return failure();
  return in.result(op.getY(), element, result);
}

LogicalResult shape::flexAttention(Inference &in) {
  auto op = cast<FlexAttentionOp>(in.operation());
  for (Region &body : op->getRegions()) {
    if (!FlexAttentionOp::isGiven(body))
      continue;
    if (!body.hasOneBlock() || !llvm::isa<YieldOp>(body.front().back()))
      return in.fail("expected a body of one block that ends in 'onnx.yield'");
    if (body.getNumArguments() != 1 || body.front().back().getNumOperands() != 1)
      return in.fail("expected a body with 1 input and 1 output but got " + Twine(body.getNumArguments()) + " and " +
                     Twine(body.front().back().getNumOperands()));
  }
  if (failed(in.sameElement(op.getQ(), op.getK())) || failed(in.sameElement(op.getQ(), op.getV())))
    return failure();
  std::optional<Sizes> q = in.sizes(op.getQ()), k = in.sizes(op.getK()), v = in.sizes(op.getV());
  if (!q || !k || !v)
    return unknownResults(in);
  if (q->size() != 4 || k->size() != 4 || v->size() != 4)
    return in.fail("expected Q, K and V of 4 dimensions but got " + printSizes(*q) + ", " + printSizes(*k) + " and " +
                   printSizes(*v));
  auto differ = [](int64_t a, int64_t b) { return isStatic(a) && isStatic(b) && a != b; };
  if (differ((*q)[0], (*k)[0]) || differ((*k)[0], (*v)[0]) || differ((*q)[3], (*k)[3]) || differ((*k)[1], (*v)[1]) ||
      differ((*k)[2], (*v)[2]))
    return in.fail("expected Q, K and V of sizes that fit but got " + printSizes(*q) + ", " + printSizes(*k) + " and " +
                   printSizes(*v));
  if (isStatic((*q)[1]) && isStatic((*k)[1]) && ((*k)[1] < 1 || (*q)[1] % (*k)[1] != 0))
    return in.fail("expected a number of query heads that is a multiple of the number of key heads but got " +
                   Twine((*q)[1]) + " and " + Twine((*k)[1]));
  return in.result(op.getY(), in.element(op.getQ()), Sizes{(*q)[0], (*q)[1], (*q)[2], (*v)[3]});
}

LogicalResult shape::rotaryEmbedding(Inference &in) {
  auto op = cast<RotaryEmbeddingOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (x) {
    std::optional<int64_t> heads = op.getNumHeads() > 0 ? std::optional<int64_t>(op.getNumHeads()) : std::nullopt;
    FailureOr<Sizes> split = splitHeads(in, *x, heads);
    if (failed(split))
      return failure();
    int64_t size = (*split)[3], rotated = op.getRotaryEmbeddingDim() > 0 ? op.getRotaryEmbeddingDim() : size;
    if (isStatic(size) && (rotated > size || rotated % 2 != 0))
      return in.fail("expected an even number of at most " + Twine(size) + " elements to rotate but got " +
                     Twine(rotated));
    int64_t rank = op.getPositionIds() ? 2 : 3;
    for (Value cache : {op.getCosCache(), op.getSinCache()}) {
      std::optional<Sizes> sizes = in.sizes(cache);
      if (sizes && int64_t(sizes->size()) != rank)
        return in.fail("expected a cache of " + Twine(rank) + " dimensions but got " + printSizes(*sizes));
      if (sizes && isStatic(sizes->back()) && isStatic(size) && sizes->back() != rotated / 2)
        return in.fail("expected a cache of " + Twine(rotated / 2) + " values for a position but got " +
                       printSizes(*sizes));
    }
  }
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::linearAttention(Inference &in) {
  auto op = cast<LinearAttentionOp>(in.operation());
  StringRef rule = op.getUpdateRule();
  bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear")
    return in.fail("expected 'update_rule' linear, gated, delta or gated_delta but got '" + rule + "'");
  if (gated != bool(op.getDecay()) || delta != bool(op.getBeta()))
    return in.fail("expected a decay for gated rules and a beta for delta rules only, but the rule is '" + rule + "'");
  int64_t qHeads = op.getQNumHeads(), kvHeads = op.getKvNumHeads();
  if (kvHeads < 1 || qHeads < 1 || qHeads % kvHeads != 0)
    return in.fail("expected a number of query heads that is a multiple of the number of key heads but got " +
                   Twine(qHeads) + " and " + Twine(kvHeads));
  std::optional<Sizes> q = in.sizes(op.getQuery()), k = in.sizes(op.getKey()), v = in.sizes(op.getValue());
  Type stateElement = in.element(op.getPastState() ? op.getPastState() : op.getQuery());
  if (!q || !k || !v) {
    if (failed(in.result(op.getPresentState(), stateElement, std::nullopt)))
      return failure();
    return in.result(op.getOutput(), in.element(op.getQuery()), std::nullopt);
  }
  for (const Sizes *sizes : {&*q, &*k, &*v})
    if (sizes->size() != 3)
      return in.fail("expected [batch, sequence, heads x size] but got " + printSizes(*sizes));
  FailureOr<Sizes> queries = splitHeads(in, *q, qHeads), keys = splitHeads(in, *k, kvHeads);
  FailureOr<Sizes> values = splitHeads(in, *v, kvHeads);
  if (failed(queries) || failed(keys) || failed(values))
    return failure();
  if (isStatic((*queries)[3]) && isStatic((*keys)[3]) && (*queries)[3] != (*keys)[3])
    return in.fail("expected queries and keys of one head size but got " + Twine((*queries)[3]) + " and " +
                   Twine((*keys)[3]));
  int64_t size = (*values)[3];
  if (failed(in.result(op.getPresentState(), stateElement, Sizes{(*q)[0], kvHeads, (*queries)[3], size})))
    return failure();
  return in.result(op.getOutput(), in.element(op.getQuery()),
                   Sizes{(*q)[0], (*q)[1], isStatic(size) ? size * qHeads : kDynamic});
}

LogicalResult shape::causalConv(Inference &in) {
  auto op = cast<CausalConvWithStateOp>(in.operation());
  StringRef activation = op.getActivation();
  if (activation != "none" && activation != "silu" && activation != "swish")
    return in.fail("expected 'activation' none, silu or swish but got '" + activation + "'");
  std::optional<Sizes> x = in.sizes(op.getX()), w = in.sizes(op.getW()), state;
  for (const std::optional<Sizes> &sizes : {x, w})
    if (sizes && sizes->size() != 3)
      return in.fail("expected 3 dimensions but got " + printSizes(*sizes));
  if (x && w)
    state = Sizes{(*x)[0], (*x)[1], isStatic((*w)[2]) ? (*w)[2] - 1 : kDynamic};
  if (failed(in.result(op.getPresentState(), in.element(op.getX()), state)))
    return failure();
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::tensorScatter(Inference &in) {
  auto op = cast<TensorScatterOp>(in.operation());
  if (op.getMode() != "linear" && op.getMode() != "circular")
    return in.fail("expected 'mode' linear or circular but got '" + op.getMode() + "'");
  std::optional<Sizes> cache = in.sizes(op.getPastCache()), update = in.sizes(op.getUpdate());
  if (failed(in.sameElement(op.getPastCache(), op.getUpdate())))
    return failure();
  if (cache) {
    FailureOr<int64_t> axis = in.setAxis(op.getAxis(), cache->size());
    if (failed(axis))
      return failure();
    if (*axis == 0)
      return in.fail("expected an axis other than the batch");
    if (update && (update->size() != cache->size() ||
                   (isStatic((*update)[*axis]) && isStatic((*cache)[*axis]) && (*update)[*axis] > (*cache)[*axis])))
      return in.fail("expected an update that fits into " + printSizes(*cache) + " but got " + printSizes(*update));
  }
  return in.result(op.getPresentCache(), in.element(op.getPastCache()), cache);
}

/// `size` is [batch, channels, depth?, height, width].
LogicalResult shape::affineGrid(Inference &in) {
  auto op = cast<AffineGridOp>(in.operation());
  if (!op.getSize())
    return in.result(op.getGrid(), in.element(op.getTheta()), std::nullopt);
  ArrayRef<int64_t> size = *op.getSize();
  int64_t spatial = int64_t(size.size()) - 2;
  if (spatial != 2 && spatial != 3)
    return in.fail("expected the size of an image or a volume, 4 or 5 numbers, but got " + Twine(size.size()));
  std::optional<Sizes> theta = in.sizes(op.getTheta());
  if (theta && (theta->size() != 3 || (isStatic((*theta)[1]) && (*theta)[1] != spatial) ||
                (isStatic((*theta)[2]) && (*theta)[2] != spatial + 1)))
    return in.fail("expected maps of " + Twine(spatial) + "x" + Twine(spatial + 1) + " but got " + printSizes(*theta));
  Sizes grid = {size[0]};
  grid.append(size.begin() + 2, size.end());
  grid.push_back(spatial);
  return in.result(op.getGrid(), in.element(op.getTheta()), grid);
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

LogicalResult shape::likelihoodLoss(Inference &in) {
  Operation *op = in.operation();
  Value x = op->getOperand(0), target = op->getOperand(1);
  StringRef reduction = cast<StringAttr>(op->getAttr("reduction")).getValue();
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return in.fail("expected 'reduction' none, sum or mean but got '" + reduction + "'");
  std::optional<Sizes> sizes = in.sizes(x), targets = in.sizes(target);
  if (sizes && sizes->size() < 2)
    return in.fail("expected samples and classes but got " + printSizes(*sizes));
  if (sizes && targets) {
    Sizes positions = *sizes;
    positions.erase(positions.begin() + 1);
    if (failed(verifyCompatibleShape(*targets, positions)))
      return in.fail("expected one target for each position of " + printSizes(*sizes) +
                     " without its dimension 1 but got " + printSizes(*targets));
  }
  std::optional<Sizes> weights = op->getNumOperands() > 2 ? in.sizes(op->getOperand(2)) : std::nullopt;
  if (sizes && weights && failed(verifyCompatibleShape(*weights, Sizes{(*sizes)[1]})))
    return in.fail("expected one weight for each of " + Twine((*sizes)[1]) + " classes but got " + printSizes(*weights));
  if (op->getNumResults() > 1 && failed(in.result(op->getResult(1), in.element(x), sizes)))
    return failure();
  return in.result(op->getResult(0), in.element(x), reduction == "none" ? targets : Sizes());
}

//===----------------------------------------------------------------------===//
// Optimisers
//===----------------------------------------------------------------------===//

/// Parameters, gradients and states in; parameters and states out.
LogicalResult shape::optimizer(Inference &in) {
  Operation *op = in.operation();
  int64_t groups = llvm::isa<AdamOp>(op) ? 4 : 3, tensors = op->getNumOperands() - 2, count = tensors / groups;
  if (auto momentum = dyn_cast<MomentumOp>(op);
      momentum && momentum.getMode() != "standard" && momentum.getMode() != "nesterov")
    return in.fail("expected 'mode' standard or nesterov but got '" + momentum.getMode() + "'");
  if (count < 1 || count * groups != tensors || int64_t(op->getNumResults()) != count * (groups - 1))
    return in.fail("expected " + Twine(groups) + " tensors and " + Twine(groups - 1) +
                   " results for each parameter but got " + Twine(tensors) + " and " + Twine(op->getNumResults()));
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t i = 0; i < count; ++i) {
      Value before = op->getOperand(2 + group * count + i), parameter = op->getOperand(2 + i);
      if (in.sizes(before) && in.sizes(parameter) && failed(verifyCompatibleShape(*in.sizes(before), *in.sizes(parameter))))
        return in.fail("expected gradients and states of the parameter's shape " + printSizes(*in.sizes(parameter)) +
                       " but got " + printSizes(*in.sizes(before)));
      if (group == 1)
        continue; // the gradients have no result
      Value after = op->getResult((group == 0 ? 0 : group - 1) * count + i);
      if (failed(in.result(after, in.element(before), in.sizes(before))))
        return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// The element type that the node asks for.
static Type drawnType(Inference &in, Type byDefault) {
  auto given = in.operation()->getAttrOfType<TypeAttr>("dtype");
  return given ? given.getValue() : byDefault;
}

/// Random numbers are part of the executable.
static LogicalResult checkDrawn(Inference &in, ArrayRef<int64_t> sizes) {
  constexpr int64_t kMost = int64_t(1) << 28;
  std::optional<int64_t> count = elementCount(sizes);
  if (allStatic(sizes) && (!count || *count > kMost))
    return in.fail("expected at most 2^28 random numbers but got " + printSizes(sizes) + "; make them an input of the model");
  return success();
}

LogicalResult shape::randomShape(Inference &in) {
  Operation *op = in.operation();
  ArrayRef<int64_t> sizes = cast<DenseI64ArrayAttr>(op->getAttr("shape")).asArrayRef();
  if (llvm::any_of(sizes, [](int64_t size) { return size < 0; }))
    return in.fail("expected sizes of at least 0 but got " + printSizes(sizes));
  if (failed(checkDrawn(in, sizes)))
    return failure();
  Type element = drawnType(in, Float32Type::get(op->getContext()));
  return in.result(op->getResult(0), element, Sizes(sizes));
}

LogicalResult shape::randomLike(Inference &in) {
  Operation *op = in.operation();
  Value x = op->getOperand(0);
  std::optional<Sizes> sizes = in.sizes(x);
  if (sizes && failed(checkDrawn(in, *sizes)))
    return failure();
  return in.result(op->getResult(0), drawnType(in, in.element(x)), sizes);
}

LogicalResult shape::multinomial(Inference &in) {
  auto op = cast<MultinomialOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if ((x && x->size() != 2) || int64_t(op.getSampleSize()) < 1)
    return in.fail("expected [batch, classes] and at least one sample but got " + (x ? printSizes(*x) : "any rank") + " and " +
                   Twine(int64_t(op.getSampleSize())));
  if (x && failed(checkDrawn(in, {(*x)[0], (*x)[1], int64_t(op.getSampleSize())})))
    return failure();
  Type element = drawnType(in, IntegerType::get(op.getContext(), 32));
  return in.result(op.getY(), element, Sizes{x ? (*x)[0] : kDynamic, int64_t(op.getSampleSize())});
}
