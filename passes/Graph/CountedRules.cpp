//===- CountedRules.cpp - how readers take counted tensors -----------------===//
//
// Owns the rules that records name in `counted`. A rule looks at an operation with at least one counted operand. It says
// which dimension of the results is counted then, puts neutral elements where the operation combines elements of the
// counted dimension, or keeps indices and writes within what is valid. The operation itself computes on the largest size.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/CountWriter.h"

#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/Ops/Reduction.h"
#include "dialects/ONNX/Ops/Signal.h"
#include "passes/Graph/Match.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <numeric>

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

ArrayRef<int64_t> sizesOf(Value value) { return typeOf(value).getShape(); }
int64_t rankOf(Value value) { return typeOf(value).getRank(); }
bool isStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

class Taker {
public:
  Taker(Operation *op, std::string &reason) : op(op), builder(op), write(builder, op->getLoc()), reason(reason) {}

  using Rule = bool (Taker::*)();
  /// The rule of a name; null when there is none.
  static Rule rule(StringRef name) {
    static const llvm::StringMap<Rule> rules = {
        {"elementwise", &Taker::elementwise}, {"transpose", &Taker::transpose},
        {"reshape", &Taker::reshape},         {"gather", &Taker::gather},
        {"gatherND", &Taker::gatherND},       {"gatherElements", &Taker::gatherElements},
        {"scatterND", &Taker::scatterND},     {"scatterElements", &Taker::scatterElements},
        {"slice", &Taker::slice},             {"concat", &Taker::concat},
        {"split", &Taker::split},             {"pad", &Taker::pad},
        {"expand", &Taker::expand},           {"tile", &Taker::tile},
        {"reduce", &Taker::reduce},           {"argReduce", &Taker::argReduce},
        {"cumulative", &Taker::cumulative},   {"softmax", &Taker::softmax},
        {"fromAxis", &Taker::fromAxis},       {"items", &Taker::items},
        {"channels", &Taker::channels},       {"matMul", &Taker::matMul},
        {"gemm", &Taker::gemm},               {"topK", &Taker::topK},
        {"oneHot", &Taker::oneHot},           {"nonZero", &Taker::nonZero},
        {"boxes", &Taker::boxes},             {"sizes", &Taker::sizes},
    };
    auto entry = rules.find(name);
    return entry == rules.end() ? nullptr : entry->second;
  }

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }

  std::optional<Counted> operand(unsigned number) const {
    return number < op->getNumOperands() ? countedOf(op->getOperand(number)) : std::nullopt;
  }
  int64_t attribute(StringRef name) const { return op->getAttrOfType<IntegerAttr>(name).getInt(); }
  bool flag(StringRef name) const { return op->getAttrOfType<BoolAttr>(name).getValue(); }
  /// An axis from 0 on.
  int64_t axisOf(Value x, StringRef name = "axis") const {
    const int64_t axis = attribute(name);
    return axis < 0 ? axis + rankOf(x) : axis;
  }

  /// The operation on the whole operands, with dimension `dim` of these results counted by `count`.
  bool take(int64_t dim, Value count, bool zeros, ArrayRef<Value> results) {
    takeWhole();
    builder.setInsertionPointAfter(op);
    for (Value result : results) {
      Value bound = bindCount(builder, op->getLoc(), {result, count, dim, zeros});
      result.replaceAllUsesExcept(bound, bound.getDefiningOp());
    }
    return true;
  }
  bool take(int64_t dim, Value count, bool zeros = false) { return take(dim, count, zeros, {op->getResult(0)}); }
  /// The same with all results.
  bool takeAll(int64_t dim, Value count, bool zeros = false) {
    return take(dim, count, zeros, SmallVector<Value>(op->getResults()));
  }
  /// The operation on the whole operands; its results have one size.
  bool takeWhole() {
    for (OpOperand &operand : op->getOpOperands())
      if (std::optional<Counted> counted = countedOf(operand.get()))
        operand.set(counted->whole);
    return true;
  }
  /// Another value in the place of the only result.
  bool replace(Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return true;
  }

  /// All operands that are counted must be so along the same dimension from the end, by one count, and the others have
  /// one element there; that dimension, from the end.
  std::optional<std::pair<int64_t, Value>> common(OperandRange operands) {
    std::optional<std::pair<int64_t, Value>> found;
    for (Value value : operands)
      if (std::optional<Counted> counted = countedOf(value)) {
        const int64_t fromEnd = rankOf(value) - counted->dim;
        if (found && (found->first != fromEnd || found->second != counted->count)) {
          refuse("the operands have different counts, or count different dimensions");
          return std::nullopt;
        }
        found = {fromEnd, counted->count};
      }
    for (Value value : operands) {
      if (countedOf(value) || !found)
        continue;
      const int64_t dim = rankOf(value) - found->first;
      if (dim >= 0 && sizesOf(value)[dim] != 1) {
        refuse("another operand has " + Twine(sizesOf(value)[dim]) + " elements along the same dimension");
        return std::nullopt;
      }
    }
    return found;
  }

  //===--------------------------------------------------------------------===//
  // Element by element, and movement
  //===--------------------------------------------------------------------===//

  bool elementwise() {
    auto at = common(op->getOperands());
    const bool zeros = llvm::isa<IdentityOp, CastOp>(op) && operand(0)->zeros;
    return at && takeAll(rankOf(op->getResult(0)) - at->first, at->second, zeros);
  }

  bool transpose() {
    Counted x = *operand(0);
    ArrayRef<int64_t> perm = *cast<TransposeOp>(op).getPerm();
    return take(llvm::find(perm, x.dim) - perm.begin(), x.count, x.zeros);
  }

  /// The dimensions fall into groups of the same number of elements. What is valid stays in front when the counted dimension
  /// is the first of its group that is longer than 1; the first of its group in the result is counted then.
  bool reshape() {
    if (!operand(0))
      return refuse("its shape counts on it");
    Counted x = *operand(0);
    ArrayRef<int64_t> from = sizesOf(x.whole), to = sizesOf(op->getResult(0));
    if (typeOf(x.whole).getNumElements() == 0)
      return refuse("the tensor has no elements");
    size_t i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
      const size_t i0 = i, j0 = j;
      int64_t a = 1, b = 1;
      do {
        if (i < from.size() && (a <= b || j == to.size()))
          a *= from[i++];
        else
          b *= to[j++];
      } while (a != b);
      if (int64_t(i0) > x.dim || x.dim >= int64_t(i))
        continue;
      int64_t before = std::accumulate(from.begin() + i0, from.begin() + x.dim, int64_t(1), std::multiplies<>());
      int64_t behind = std::accumulate(from.begin() + x.dim + 1, from.begin() + i, int64_t(1), std::multiplies<>());
      // The dimension that takes its place: where it has the same size, or else the first of the group.
      size_t place = j0;
      while (place < j && to[place] == 1 && from[x.dim] != 1)
        ++place;
      if (place >= j)
        return refuse("the dimension that is counted disappears");
      int64_t rest = std::accumulate(to.begin() + place + 1, to.begin() + j, int64_t(1), std::multiplies<>());
      if (before != 1 || (behind % rest != 0 && rest % behind != 0))
        return refuse("it joins or splits the dimension that is counted so that what is valid does not stay together");
      if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && reshape.getShape()) {
        const int64_t given = (*reshape.getShape())[place];
        if (given != -1 && !(given == 0 && !reshape.getAllowzero() && int64_t(place) == x.dim))
          return refuse("its shape fixes the dimension that would be counted");
      }
      return take(place, behind >= rest ? write.times(x.count, behind / rest) : write.quotient(x.count, rest / behind),
                  x.zeros);
    }
    return refuse("the dimension that is counted disappears");
  }

  /// Along other axes every operand has the same count; along the counted one, what is valid of each follows what is
  /// valid of those before it.
  bool concat() {
    auto concat = cast<ConcatOp>(op);
    const int64_t axis = axisOf(concat.getY());
    bool isAlong = false, isLast = true;
    for (auto [i, input] : llvm::enumerate(concat.getInputs()))
      if (std::optional<Counted> counted = countedOf(input)) {
        isAlong |= counted->dim == axis;
        isLast &= counted->dim == axis && i + 1 == concat.getInputs().size();
      }
    if (!isAlong) {
      auto at = common(op->getOperands());
      return at && take(rankOf(concat.getY()) - at->first, at->second);
    }
    if (sizesOf(concat.getY())[axis] > kMostCounted)
      return refuse("there may be more than 2^24 of them");
    Value total = write.number(0), from = write.positions(sizesOf(concat.getY())[axis]);
    Value position = from;
    for (auto [i, input] : llvm::enumerate(concat.getInputs())) {
      std::optional<Counted> counted = countedOf(input);
      const int64_t size = sizesOf(input)[axis];
      if (counted && counted->dim != axis)
        return refuse("an operand is counted along another dimension than it is joined");
      total = write.plus(total, counted ? counted->count : write.number(size));
      if (!counted || i + 1 == concat.getInputs().size())
        continue;
      // What follows comes this much earlier.
      Value skipped = write.sub(write.scalar(double(size), builder.getF32Type()), write.real(counted->count));
      Value isBehind = write.op("GreaterOrEqual", {from, write.real(total)});
      position = write.add(position, write.where(isBehind, skipped, write.scalar(0, builder.getF32Type())));
    }
    if (isLast)
      return take(axis, total);
    SmallVector<Value> wholes;
    for (Value input : concat.getInputs())
      wholes.push_back(countedOf(input) ? countedOf(input)->whole : input);
    Value all = write.concat(wholes, axis);
    position = write.op("Min", {position, write.scalar(double(sizesOf(all)[axis] - 1), builder.getF32Type())});
    Value result = write.op("Gather", {all, write.asIndices(position)}, write.integer("axis", axis));
    return replace(bindCount(builder, op->getLoc(), {result, total, axis, false}));
  }

  bool split() {
    Counted x = *operand(0);
    if (x.dim == axisOf(x.whole))
      return refuse("it splits the dimension that is counted");
    return takeAll(x.dim, x.count, x.zeros);
  }

  bool expand() {
    if (!operand(0))
      return refuse("its shape counts on it");
    Counted x = *operand(0);
    const int64_t dim = rankOf(op->getResult(0)) - (rankOf(x.whole) - x.dim);
    if (sizesOf(op->getResult(0))[dim] != sizesOf(x.whole)[x.dim])
      return refuse("it expands the dimension that is counted");
    return take(dim, x.count, x.zeros);
  }

  bool tile() {
    auto tile = cast<TileOp>(op);
    Counted x = *operand(0);
    if (!tile.getRepeats() || (*tile.getRepeats())[x.dim] != 1)
      return refuse("it repeats the dimension that is counted");
    return take(x.dim, x.count, x.zeros);
  }

  bool pad() {
    auto pad = cast<PadOp>(op);
    Counted x = *operand(0);
    const int64_t rank = rankOf(x.whole);
    if (!pad.getPads())
      return false;
    const int64_t begin = (*pad.getPads())[x.dim], end = (*pad.getPads())[rank + x.dim];
    if (begin == 0 && end == 0)
      return take(x.dim, x.count);
    if (begin < 0 || end < 0 || pad.getMode() != "constant" || pad.getValueOperand())
      return refuse("it pads the dimension that is counted by other than a constant, or cuts it");
    Value fill = pad.getValue() ? write.constant(DenseElementsAttr::get(
                                      RankedTensorType::get({}, typeOf(x.whole).getElementType()),
                                      ArrayRef<Attribute>(cast<Attribute>(*pad.getValue()))))
                                : write.scalar(0, x.whole);
    op->setOperand(0, write.masked(x, fill)); // what follows what is valid is padding
    return take(x.dim, write.plus(x.count, begin + end));
  }

  bool slice() {
    if (!operand(0))
      return refuse("its bounds count on it");
    auto slice = cast<SliceOp>(op);
    Counted x = *operand(0);
    if (!slice.getAxes() || llvm::is_contained(*slice.getAxes(), x.dim))
      return false; // before it was inferred (takeSlice)
    return take(x.dim, x.count, x.zeros);
  }

  //===--------------------------------------------------------------------===//
  // By index
  //===--------------------------------------------------------------------===//

  /// Indices of which what is not valid is in range, too.
  Value safeIndices(unsigned number) {
    std::optional<Counted> indices = operand(number);
    return indices ? write.maskedByZero(*indices) : op->getOperand(number);
  }

  /// Negative indices count from the end of what is valid: `size` is that of each index, or of each column of indices.
  Value fromTheEnd(Value indices, Value size) {
    if (std::optional<Constant> constant = Constant::get(indices)) {
      bool isNegative = false;
      for (int64_t i = 0; i < (constant->isSplat() ? 1 : constant->size()); ++i)
        isNegative |= constant->integer(i) < 0;
      if (!isNegative)
        return indices;
    }
    Value reals = write.cast(indices, builder.getF32Type()), zero = write.scalar(0, builder.getF32Type());
    Value moved = write.add(reals, write.where(write.op("Less", {reals, zero}), size, zero));
    return write.cast(write.op("Max", {moved, zero}), typeOf(indices).getElementType());
  }

  bool gather() {
    auto gather = cast<GatherOp>(op);
    std::optional<Counted> x = operand(0), indices = operand(1);
    const int64_t axis = axisOf(gather.getX());
    const bool isAlong = x && x->dim == axis;
    if (x && indices && !isAlong)
      return refuse("two dimensions of the result would be counted");
    Value chosen = safeIndices(1);
    op->setOperand(1, isAlong ? fromTheEnd(chosen, write.real(x->count)) : chosen);
    if (indices)
      return take(axis + indices->dim, indices->count);
    if (isAlong)
      return takeWhole();
    return take(x->dim < axis ? x->dim : x->dim - 1 + rankOf(gather.getIndices()), x->count, x->zeros);
  }

  bool gatherElements() {
    auto gather = cast<GatherElementsOp>(op);
    std::optional<Counted> x = operand(0), indices = operand(1);
    const int64_t axis = axisOf(gather.getX());
    const bool isAlong = x && x->dim == axis;
    if (x && !isAlong && indices && (indices->dim != x->dim || indices->count != x->count))
      return refuse("the operands have different counts, or count different dimensions");
    Value chosen = safeIndices(1);
    op->setOperand(1, isAlong ? fromTheEnd(chosen, write.real(x->count)) : chosen);
    return indices ? take(indices->dim, indices->count) : takeWhole();
  }

  /// A row of `width` numbers, all 0 but that of column `column`.
  Value inColumn(int64_t column, int64_t width, Value number) {
    std::vector<float> ones(width, 0);
    ones[column] = 1;
    std::vector<char> bytes(width * sizeof(float));
    std::memcpy(bytes.data(), ones.data(), bytes.size());
    Value row = write.constant(makeConstant(RankedTensorType::get({width}, builder.getF32Type()), std::move(bytes)));
    return width == 1 ? write.reshape(number, {1}) : write.mul(row, number);
  }

  bool gatherND() {
    auto gather = cast<GatherNDOp>(op);
    std::optional<Counted> x = operand(0), indices = operand(1);
    const int64_t batch = gather.getBatchDims(), rank = rankOf(gather.getIndices()), width = sizesOf(gather.getIndices()).back();
    if (indices && indices->dim == rank - 1)
      return refuse("the length of an index is counted");
    const bool isIndexed = x && x->dim >= batch && x->dim < batch + width;
    if (x && !isIndexed && (indices || x->dim < batch))
      return refuse("two dimensions of the result would be counted, or a batch is");
    Value chosen = safeIndices(1);
    if (isIndexed) {
      // The size of each column of the indices: the count, and what is known.
      Value size = inColumn(x->dim - batch, width, write.real(x->count));
      SmallVector<float> others;
      for (int64_t i = 0; i < width; ++i)
        others.push_back(batch + i == x->dim ? 0.0f : float(sizesOf(x->whole)[batch + i]));
      if (llvm::any_of(others, [](float size) { return size > float(kMostCounted); }))
        return refuse("another dimension that is indexed has more than 2^24 elements");
      if (width > 1)
        size = write.add(size, write.constant(DenseElementsAttr::get(RankedTensorType::get({width}, builder.getF32Type()),
                                                                     ArrayRef<float>(others))));
      chosen = fromTheEnd(chosen, size);
    }
    op->setOperand(1, chosen);
    if (indices)
      return take(indices->dim, indices->count);
    return isIndexed ? takeWhole() : take(rank - 1 + x->dim - batch - width, x->count, x->zeros);
  }

  /// One more element along an axis, for writes that are not valid.
  Value withSpare(Value x, int64_t axis) {
    SmallVector<int64_t> pads(2 * rankOf(x), 0);
    pads[rankOf(x) + axis] = 1;
    return write.op("Pad", {x}, write.ints("pads", pads));
  }

  /// Indices along a dimension of `size` elements: from 0 on, and `size` where they are not valid.
  Value toSpare(Value reals, Value isValid, Value size, Value spare) {
    Value zero = write.scalar(0, builder.getF32Type());
    Value moved = write.add(reals, write.where(write.op("Less", {reals, zero}), size, zero));
    return write.where(isValid, moved, spare);
  }

  bool scatterND() {
    std::optional<Counted> x = operand(0), indices = operand(1), updates = operand(2);
    Value index = op->getOperand(1);
    const int64_t rank = rankOf(index), width = sizesOf(index).back();
    if (x)
      return refuse("it writes into a tensor that is counted");
    if (!indices || indices->dim == rank - 1 || !updates || updates->dim != indices->dim ||
        updates->count != indices->count)
      return refuse("the indices and the updates have different counts");
    Value data = op->getOperand(0);
    if (llvm::any_of(sizesOf(data).take_front(width), [](int64_t size) { return size > kMostCounted; }))
      return refuse("it writes into more than 2^24 elements");
    Value isValid = write.valid(sizesOf(index)[indices->dim], indices->count, indices->dim, rank);
    Value reals = write.cast(indices->whole, builder.getF32Type());
    SmallVector<float> all, spares;
    for (int64_t i = 0; i < width; ++i) {
      all.push_back(float(sizesOf(data)[i]));
      spares.push_back(i == 0 ? float(sizesOf(data)[0]) : 0);
    }
    auto row = [&](ArrayRef<float> values) {
      return write.constant(DenseElementsAttr::get(RankedTensorType::get({width}, builder.getF32Type()), values));
    };
    Value moved = toSpare(reals, isValid, row(all), row(spares));
    Value result = write.op("ScatterND",
                            {withSpare(data, 0), write.asIndices(moved), updates->whole},
                            builder.getNamedAttr("reduction", op->getAttr("reduction")));
    return replace(write.slice(result, 0, 0, sizesOf(data)[0]));
  }

  bool scatterElements() {
    std::optional<Counted> x = operand(0), indices = operand(1), updates = operand(2);
    if (x)
      return refuse("it writes into a tensor that is counted");
    if (!indices || !updates || updates->dim != indices->dim || updates->count != indices->count)
      return refuse("the indices and the updates have different counts");
    Value data = op->getOperand(0), index = op->getOperand(1);
    const int64_t axis = axisOf(data);
    if (sizesOf(data)[axis] > kMostCounted)
      return refuse("it writes into more than 2^24 elements");
    Value isValid = write.valid(sizesOf(index)[indices->dim], indices->count, indices->dim, rankOf(index));
    Value size = write.scalar(double(sizesOf(data)[axis]), builder.getF32Type());
    Value moved = toSpare(write.cast(indices->whole, builder.getF32Type()), isValid, size, size);
    Value result = write.op("ScatterElements", {withSpare(data, axis), write.asIndices(moved), updates->whole},
                            {write.integer("axis", axis), builder.getNamedAttr("reduction", op->getAttr("reduction"))});
    return replace(write.slice(result, axis, 0, sizesOf(data)[axis]));
  }

  bool oneHot() {
    if (!operand(0))
      return refuse("its depth or values count on it");
    Counted x = *operand(0);
    const int64_t rank = rankOf(op->getResult(0)), axis = attribute("axis"), at = axis < 0 ? axis + rank : axis;
    return take(x.dim >= at ? x.dim + 1 : x.dim, x.count);
  }

  bool topK() {
    auto topK = cast<TopKOp>(op);
    if (!operand(0))
      return false;
    Counted x = *operand(0);
    if (x.dim != axisOf(x.whole))
      return takeAll(x.dim, x.count);
    Type element = typeOf(x.whole).getElementType();
    op->setOperand(0, write.masked(x, topK.getLargest() ? write.lowest(element) : write.highest(element)));
    return takeWhole();
  }

  bool nonZero() {
    op->setOperand(0, write.maskedByZero(*operand(0)));
    return true;
  }

  /// Boxes that are not valid have a score that no threshold lets pass.
  bool boxes() {
    std::optional<Counted> corners = operand(0), scores = operand(1);
    if ((corners && corners->dim != 1) || (scores && scores->dim != 2) || operand(2) || operand(3) || operand(4))
      return refuse("other than the number of boxes is counted");
    if (corners && scores && corners->count != scores->count)
      return refuse("boxes and scores have different counts");
    Counted all = scores ? *scores : Counted{op->getOperand(1), corners->count, 2, false};
    op->setOperand(1, write.masked(all, write.lowest(typeOf(all.whole).getElementType())));
    return takeWhole();
  }

  //===--------------------------------------------------------------------===//
  // Along dimensions
  //===--------------------------------------------------------------------===//

  /// A neutral element of the reduction that the operation is.
  Value neutral(Type element) {
    StringRef name = op->getName().stripDialect();
    if (name == "ReduceMax" || name == "ReduceLogSumExp")
      return write.lowest(element);
    if (name == "ReduceMin")
      return write.highest(element);
    return write.scalar(name == "ReduceProd" ? 1 : 0, element);
  }

  bool reduce() {
    if (!operand(0))
      return refuse("its axes count on it");
    Counted x = *operand(0);
    auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes");
    if (!axes)
      return false;
    if (!llvm::is_contained(axes.asArrayRef(), x.dim)) {
      const int64_t gone =
          flag("keepdims") ? 0 : llvm::count_if(axes.asArrayRef(), [&](int64_t axis) { return axis < x.dim; });
      return take(x.dim - gone, x.count);
    }
    Type element = typeOf(x.whole).getElementType();
    Value masked = write.masked(x, neutral(element));
    if (op->getName().stripDialect() != "ReduceMean") {
      op->setOperand(0, masked);
      return true;
    }
    // Neither the sum nor the count may leave the range of a narrow float.
    if (llvm::isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
      masked = write.cast(masked, builder.getF32Type());
    int64_t others = 1;
    for (int64_t axis : axes.asArrayRef())
      others *= axis == x.dim ? 1 : sizesOf(x.whole)[axis];
    Value sum = write.reduce("ReduceSum", masked, axes.asArrayRef(), flag("keepdims"));
    Value mean = write.div(sum, write.cast(write.times(x.count, others), typeOf(sum).getElementType()));
    return replace(write.cast(mean, element));
  }

  bool argReduce() {
    Counted x = *operand(0);
    const int64_t axis = axisOf(x.whole);
    if (x.dim != axis)
      return take(x.dim - (!flag("keepdims") && axis < x.dim ? 1 : 0), x.count);
    if (flag("select_last_index"))
      return refuse("it looks for the last of equal elements along the dimension that is counted");
    Type element = typeOf(x.whole).getElementType();
    op->setOperand(0, write.masked(x, llvm::isa<ArgMaxOp>(op) ? write.lowest(element) : write.highest(element)));
    return true;
  }

  bool cumulative() {
    if (!operand(0) || !op->getAttr("axis"))
      return refuse("its axis counts on it");
    Counted x = *operand(0);
    if (x.dim == axisOf(x.whole) && flag("reverse"))
      op->setOperand(0, write.masked(x, write.scalar(llvm::isa<CumProdOp>(op) ? 1 : 0, x.whole)));
    return take(x.dim, x.count);
  }

  bool softmax() {
    Counted x = *operand(0);
    if (x.dim == axisOf(x.whole))
      op->setOperand(0, write.masked(x, write.lowest(typeOf(x.whole).getElementType())));
    return take(x.dim, x.count);
  }

  /// Normalises over the dimensions from `axis` on, each row by itself.
  bool fromAxis() {
    std::optional<Counted> x = operand(0);
    if (!x || x->dim >= axisOf(x->whole))
      return refuse("it combines the elements of the dimension that is counted");
    return takeAll(x->dim, x->count);
  }

  /// Every item along dimension 0 by itself; boxes and what belongs to them, of operators that cut items by boxes.
  bool items() {
    const bool hasBoxes = llvm::isa<RoiAlignOp>(op);
    Value count;
    for (unsigned number = 0; number < op->getNumOperands(); ++number) {
      std::optional<Counted> counted = operand(number);
      const bool isItems = hasBoxes ? number == 1 || number == 2 : number == 0;
      if (isItems != counted.has_value())
        return refuse("the items are not what is counted");
      if (counted && (counted->dim != 0 || (count && count != counted->count)))
        return refuse("other than the number of items is counted, or they have different counts");
      count = counted ? counted->count : count;
    }
    auto training = op->getAttrOfType<BoolAttr>("training_mode");
    if (!hasBoxes && sizesOf(op->getResult(0))[0] != sizesOf(op->getOperand(0))[0])
      return refuse("it makes another number of items");
    if (training && training.getValue())
      return refuse("it combines the items");
    if (hasBoxes)
      op->setOperand(2, write.maskedByZero(*operand(2)));
    return takeAll(0, count);
  }

  /// Parameters for each element along `axis`, or for all.
  bool channels() {
    std::optional<Counted> x = operand(0);
    const bool hasMany = op->getNumOperands() > 1 && typeOf(op->getOperand(1)).getNumElements() > 1;
    if (!x || (hasMany && (x->dim == axisOf(x->whole) || attribute("block_size") != 0)))
      return refuse("it has parameters for each element of the dimension that is counted");
    return take(x->dim, x->count);
  }

  /// Rows by columns: rows or columns may be counted, or batches of both operands alike; what is summed over gets zeros.
  bool matMul() {
    std::optional<Counted> a = operand(0), b = operand(1);
    const int64_t ra = rankOf(op->getOperand(0)), rb = rankOf(op->getOperand(1)), ry = rankOf(op->getResult(0));
    const bool sumsA = a && a->dim == ra - 1, sumsB = b && b->dim == std::max<int64_t>(0, rb - 2);
    if (sumsA && sumsB && a->count == b->count) {
      op->setOperand(0, write.maskedByZero(*a));
      op->setOperand(1, write.maskedByZero(*b));
      return true;
    }
    if (sumsA || sumsB)
      return refuse("only one operand is counted along what is summed over, or they have different counts");
    if (a && a->dim == ra - 2 && !b)
      return take(rb == 1 ? ry - 1 : ry - 2, a->count);
    if (b && b->dim == rb - 1 && !a)
      return take(ry - 1, b->count);
    if ((a && a->dim >= ra - 2) || (b && b->dim >= rb - 2))
      return refuse("two dimensions of the result would be counted");
    auto at = common(op->getOperands());
    // A vector has no dimension in the result.
    return at && take(ry - at->first + (ra == 1 || rb == 1 ? 1 : 0), at->second);
  }

  bool gemm() {
    std::optional<Counted> a = operand(0), b = operand(1), c = operand(2);
    const int64_t rows = flag("transA") ? 1 : 0, columns = flag("transB") ? 0 : 1;
    const bool sumsA = a && a->dim != rows, sumsB = b && b->dim != columns;
    if (sumsA && sumsB && a->count == b->count && !c) {
      op->setOperand(0, write.maskedByZero(*a));
      op->setOperand(1, write.maskedByZero(*b));
      return true;
    }
    if (sumsA || sumsB || (a && b) || (!a && !b))
      return refuse("two dimensions of the result would be counted, or what is summed over is in one operand only");
    const int64_t dim = a ? 0 : 1;
    if (op->getNumOperands() > 2) {
      const int64_t at = rankOf(op->getOperand(2)) - 2 + dim;
      if (c ? c->dim != at || c->count != (a ? a : b)->count : at >= 0 && sizesOf(op->getOperand(2))[at] != 1)
        return refuse("what is added has another count");
    }
    return take(dim, (a ? a : b)->count);
  }

  /// Shapes and sizes are computed when nothing else has use for them (writeSizes).
  bool sizes() { return false; }

  Operation *op;
  OpBuilder builder;
  CountWriter write;
  std::string &reason;
};

//===----------------------------------------------------------------------===//
// Slices along what only the run knows
//===----------------------------------------------------------------------===//

/// One dimension of a Slice.
struct Cut {
  std::optional<int64_t> start, end; ///< none: `starts` and `ends` are values
  Value startValue, endValue;
  int64_t axis, step;
};

class Slicer {
public:
  explicit Slicer(SliceOp op) : op(op), builder(op), write(builder, op.getLoc()) {}

  bool run(bool mayBeOfRun) {
    if (!isStaticTensor(op.getX()) || (!mayBeOfRun && (!op.getStarts() || !op.getEnds())) || !readCuts())
      return false;
    std::optional<Counted> x = countedOf(op.getX());
    const Cut *byRun = nullptr;
    for (const Cut &cut : cuts) {
      const bool decided = cut.start && cut.end && !(x && x->dim == cut.axis);
      if (!decided && byRun)
        return false; // two dimensions would be counted
      byRun = decided ? byRun : &cut;
    }
    if (!byRun || (x && x->dim != byRun->axis))
      return false;
    Value whole = x ? x->whole : op.getX();
    for (const Cut &cut : cuts)
      if (&cut != byRun)
        whole = write.op("Slice", {whole}, {write.ints("starts", {*cut.start}), write.ints("ends", {*cut.end}),
                                            write.ints("axes", {cut.axis}), write.ints("steps", {cut.step})});
    const int64_t most = typeOf(whole).getDimSize(byRun->axis);
    if (most > kMostCounted)
      return false;
    Counted result = cutByRun(*byRun, whole, x ? x->count : write.number(most), most, x && x->zeros);
    op.replaceAllUsesWith(typeOf(result.whole).getDimSize(byRun->axis) == 0 ? result.whole
                                                                            : bindCount(builder, op.getLoc(), result));
    op.erase();
    return true;
  }

private:
  bool readCuts() {
    const int64_t rank = typeOf(op.getX()).getRank();
    if ((op.getAxesOperand() && !op.getAxes()) || (op.getStepsOperand() && !op.getSteps()))
      return false;
    auto lengthOf = [](std::optional<ArrayRef<int64_t>> list, Value operand) -> std::optional<int64_t> {
      if (list)
        return int64_t(list->size());
      if (!operand || !isStaticTensor(operand) || countedOf(operand))
        return std::nullopt;
      return typeOf(operand).getNumElements();
    };
    std::optional<int64_t> starts = lengthOf(op.getStarts(), op.getStartsOperand()),
                           ends = lengthOf(op.getEnds(), op.getEndsOperand());
    if (!starts || !ends || *starts != *ends || (op.getAxes() && int64_t(op.getAxes()->size()) != *starts) ||
        (op.getSteps() && int64_t(op.getSteps()->size()) != *starts))
      return false;
    for (int64_t i = 0; i < *starts; ++i) {
      Cut cut;
      cut.axis = op.getAxes() ? (*op.getAxes())[i] : i;
      cut.axis += cut.axis < 0 ? rank : 0;
      cut.step = op.getSteps() ? (*op.getSteps())[i] : 1;
      if (cut.axis < 0 || cut.axis >= rank || cut.step == 0 || std::abs(cut.step) > (int64_t(1) << 24))
        return false;
      if (op.getStarts())
        cut.start = (*op.getStarts())[i];
      else
        cut.startValue = bound(op.getStartsOperand(), i, cut.start);
      if (op.getEnds())
        cut.end = (*op.getEnds())[i];
      else
        cut.endValue = bound(op.getEndsOperand(), i, cut.end);
      cuts.push_back(cut);
    }
    return true;
  }

  /// One of the bounds that are values, as a constant if it is one.
  Value bound(Value list, int64_t i, std::optional<int64_t> &known) {
    Value value = write.element(list, i);
    if (std::optional<Constant> constant = Constant::get(value))
      known = constant->integer(0);
    return value;
  }

  /// A bound in [low, size], counted from the front.
  Value normal(std::optional<int64_t> known, Value value, Value size, int64_t low, int64_t behind) {
    if (known && *known >= 0)
      value = write.atMost(write.minus(size, behind), std::min<int64_t>(*known, std::numeric_limits<int32_t>::max()));
    else if (known)
      value = write.plus(size, std::max<int64_t>(*known, -std::numeric_limits<int32_t>::max()));
    else
      value = write.atMost(write.plus(value, write.where(write.op("Less", {value, write.number(0)}), size, write.number(0))),
                           write.minus(size, behind));
    return write.op("Max", {value, write.number(low)});
  }

  Counted cutByRun(const Cut &cut, Value whole, Value size, int64_t most, bool zeros) {
    // Where the start is known from the front, what is taken lies at known places.
    if (cut.step > 0 && cut.start && *cut.start >= 0) {
      const int64_t start = std::min(*cut.start, most);
      int64_t last = most;
      Value end = size;
      if (cut.end && *cut.end >= 0) {
        last = std::min(*cut.end, most);
        end = write.atMost(size, last);
      } else if (cut.end) {
        last = std::max<int64_t>(0, most + std::max(*cut.end, -most));
        end = write.plus(size, std::max(*cut.end, -most - 1));
      } else {
        end = normal(std::nullopt, cut.endValue, size, 0, 0);
      }
      last = std::max(last, start);
      Value taken = write.op("Slice", {whole}, {write.ints("starts", {start}), write.ints("ends", {last}),
                                                write.ints("axes", {cut.axis}), write.ints("steps", {cut.step})});
      Value length = write.quotient(write.least0(write.minus(end, start)), cut.step);
      return {taken, length, cut.axis, zeros && cut.end && *cut.end >= 0};
    }
    // Otherwise the places are computed.
    const bool forward = cut.step > 0;
    Value start = normal(cut.start, cut.startValue, size, 0, forward ? 0 : 1);
    if (!forward)
      start = write.atMost(start, write.minus(size, 1)); // before all if there is nothing
    Value end = forward ? normal(cut.end, cut.endValue, size, 0, 0) : normal(cut.end, cut.endValue, size, -1, 1);
    int64_t longest = llvm::divideCeil(most, std::abs(cut.step));
    if (forward && cut.start && *cut.start < 0)
      longest = std::min<int64_t>(longest, llvm::divideCeil(std::min<int64_t>(most, -std::max(*cut.start, -most)), cut.step));
    Value distance = write.least0(forward ? write.minus(end, start) : write.minus(start, end));
    Value length = write.quotient(distance, std::abs(cut.step));
    Value steps = write.mul(write.positions(longest), write.scalar(double(cut.step), builder.getF32Type()));
    Value places = write.add(steps, write.real(start));
    Value zero = write.scalar(0, builder.getF32Type());
    places = write.op("Max", {write.op("Min", {places, write.scalar(double(most - 1), builder.getF32Type())}), zero});
    Value taken = write.op("Gather", {whole, write.asIndices(places)}, write.integer("axis", cut.axis));
    return {taken, length, cut.axis, false};
  }

  SliceOp op;
  OpBuilder builder;
  CountWriter write;
  SmallVector<Cut> cuts;
};

} // namespace

bool trn::takeSlice(Operation *op, bool mayBeOfRun) { return Slicer(cast<SliceOp>(op)).run(mayBeOfRun); }

bool trn::takeCounted(Operation *op, bool isInferred, std::string &reason) {
  if (llvm::none_of(op->getOperands(), [](Value operand) { return countedOf(operand).has_value(); }))
    return false;
  const OpRecord *record = lookupRecord(op);
  if (!record || record->counted.empty()) {
    reason = record                     ? "'" + record->name.str() + "' takes no such operand"
             : llvm::isa<CountedOp>(op) ? "another of its dimensions is counted, too"
                                        : "it crosses the border of a loop or branch";
    return false;
  }
  if (!isInferred)
    return llvm::isa<SliceOp>(op) && countedOf(op->getOperand(0)) && takeSlice(op, /*mayBeOfRun=*/false);
  if (!llvm::all_of(op->getOperands(), isStaticTensor) || !llvm::all_of(op->getResults(), isStaticTensor)) {
    reason = "its result has no size that is known while compiling";
    return false;
  }
  for (Value operand : op->getOperands())
    if (std::optional<Counted> counted = countedOf(operand); counted && sizesOf(operand)[counted->dim] > kMostCounted) {
      reason = "there may be more than 2^24 of them";
      return false;
    }
  Taker taker(op, reason);
  Taker::Rule rule = Taker::rule(record->counted);
  assert(rule && "records name rules that exist");
  return (taker.*rule)();
}
