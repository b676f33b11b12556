//===- Decompose.cpp - operators expressed by others ----------------------===//
//
// Owns `onnx-decompose` and its small decompositions; families of composites have files of their own.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Decompose.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Contraction.h"
#include "dialects/ONNX/Ops/Convolution.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/Ops/Normalization.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/ONNX/Shape/Inference.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/Positions.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace trn {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Graph/Passes.h.inc"
} // namespace trn

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

/// Squeeze, Unsqueeze and Flatten are Reshape.
template <typename OpTy> struct ToReshape : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &b) const override {
    b.replaceOp(op, GraphWriter(b, op.getLoc()).reshape(op.getX(), typeOf(op.getY()).getShape()));
    return success();
  }
};

/// In inference, or with nothing to drop, Dropout hands its operand on, and its mask is true everywhere.
struct DecomposeDropout : OpRewritePattern<DropoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DropoutOp op, PatternRewriter &b) const override {
    bool training = op.getTrainingModeOperand() || op.getTrainingMode().value_or(false);
    if (training && !(op.getRatio() && op.getRatio()->isZero()))
      return failure();
    SmallVector<Value> results = {op.getX()};
    if (op.getMask())
      results.push_back(WeightOp::create(b, op.getLoc(), DenseElementsAttr::get(typeOf(op.getMask()), true)));
    b.replaceOp(op, results);
    return success();
  }
};

/// OneHot and Trilu choose by position.
template <typename OpTy> struct ByPosition : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &b) const override {
    Value chosen = chooseByPosition(op, b);
    return chosen ? (b.replaceOp(op, chosen), success()) : failure();
  }
};

/// Zeros, with each maximum where its index says; a larger result has more zeros behind.
struct DecomposeMaxUnpool : OpRewritePattern<MaxUnpoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaxUnpoolOp op, PatternRewriter &b) const override {
    RankedTensorType x = typeOf(op.getX()), y = typeOf(op.getY());
    if (!x.hasStaticShape() || !y.hasStaticShape() || !op.getStrides() || !op.getPads())
      return failure();
    // The indices count in the shape that the windows make.
    size_t rank = op.getKernelShape().size();
    SmallVector<int64_t> shape(x.getShape()), pads(2 * (rank + 2), 0);
    int64_t elements = 1;
    for (size_t dim = 0; dim < rank + 2; ++dim) {
      if (dim >= 2)
        shape[dim] = (shape[dim] - 1) * (*op.getStrides())[dim - 2] + op.getKernelShape()[dim - 2] -
                     (*op.getPads())[dim - 2] - (*op.getPads())[rank + dim - 2];
      elements *= shape[dim];
      pads[rank + 2 + dim] = y.getDimSize(dim) - shape[dim];
      if (pads[rank + 2 + dim] < 0)
        return failure();
    }
    GraphWriter write(b, op.getLoc());
    auto flat = RankedTensorType::get({elements}, x.getElementType());
    Value zeros = write.constant(DenseElementsAttr::get(flat, b.getZeroAttr(x.getElementType())));
    Value result = write.op("ScatterElements", {zeros, write.reshape(op.getIndices(), {x.getNumElements()}),
                                                write.reshape(op.getX(), {x.getNumElements()})},
                            write.integer("axis", 0));
    result = write.reshape(result, shape);
    bool grows = llvm::any_of(pads, [](int64_t pad) { return pad != 0; });
    b.replaceOp(op, grows ? write.op("Pad", {result}, write.ints("pads", pads)) : result);
    return success();
  }
};

/// Axes that shrink are cut, axes that grow are filled with zeros; both around the middle.
struct DecomposeCenterCropPad : OpRewritePattern<CenterCropPadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CenterCropPadOp op, PatternRewriter &b) const override {
    if (!op.getShape())
      return failure();
    GraphWriter write(b, op.getLoc());
    ArrayRef<int64_t> from = typeOf(op.getX()).getShape(), to = typeOf(op.getY()).getShape();
    int64_t rank = from.size();
    SmallVector<int64_t> pads(2 * rank, 0);
    Value x = op.getX();
    for (int64_t axis = 0; axis < rank; ++axis) {
      int64_t cut = std::max<int64_t>(0, from[axis] - to[axis]), grown = std::max<int64_t>(0, to[axis] - from[axis]);
      x = write.slice(x, axis, cut / 2, from[axis] - (cut - cut / 2));
      pads[axis] = grown / 2;
      pads[rank + axis] = grown - grown / 2;
    }
    bool grows = llvm::any_of(pads, [](int64_t pad) { return pad != 0; });
    b.replaceOp(op, grows ? write.op("Pad", {x}, write.ints("pads", pads)) : x);
    return success();
  }
};

/// Diagonals of repeated letters are slices with a step, and more than two terms are taken two by two.
struct DecomposeEinsum : OpRewritePattern<EinsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(EinsumOp op, PatternRewriter &b) const override {
    std::string equation = op.getEquation().str();
    llvm::erase(equation, ' ');
    auto [left, right] = StringRef(equation).split("->");
    SmallVector<StringRef> given;
    left.split(given, ',');
    SmallVector<std::string> terms(given.begin(), given.end());
    std::string output = right.str();
    if (!StringRef(equation).contains("->"))
      for (char letter = 'A'; letter <= 'z'; ++letter)
        if (llvm::isAlpha(letter) && left.count(letter) == 1)
          output.push_back(letter);
    GraphWriter write(b, op.getLoc());
    SmallVector<Value> operands(op.getInputs());
    bool changed = false;
    for (auto [term, operand] : llvm::zip_equal(terms, operands))
      changed |= takeDiagonals(write, term, operand);
    if (!changed && terms.size() <= 2)
      return b.notifyMatchFailure(op, "is one sum of products");
    while (terms.size() > 2) {
      // What a later term or the result needs of the first two stays.
      std::string kept, later = output;
      for (const std::string &term : ArrayRef(terms).drop_front(2))
        later += term;
      for (char letter : terms[0] + terms[1])
        if (StringRef(later).contains(letter) && !StringRef(kept).contains(letter))
          kept.push_back(letter);
      operands[1] = einsum(write, {operands[0], operands[1]}, terms[0] + "," + terms[1] + "->" + kept);
      terms[1] = kept;
      terms.erase(terms.begin()), operands.erase(operands.begin());
    }
    b.replaceOp(op, einsum(write, operands, llvm::join(terms, ",") + "->" + output));
    return success();
  }

  static Value einsum(GraphWriter &write, ArrayRef<Value> operands, const std::string &equation) {
    return write.op("Einsum", operands, write.text("equation", equation));
  }

  /// Makes one dimension of two with the same letter, until each letter is there once.
  static bool takeDiagonals(GraphWriter &write, std::string &term, Value &x) {
    bool changed = false;
    for (size_t i = 0; i < term.size(); ++i)
      for (size_t j = term.find(term[i], i + 1); j != std::string::npos; j = term.find(term[i], i + 1), changed = true) {
        SmallVector<int64_t> order, shape;
        for (int64_t dim = 0; dim < int64_t(term.size()); ++dim)
          if (dim != int64_t(i) && dim != int64_t(j)) {
            order.push_back(dim);
            shape.push_back(typeOf(x).getDimSize(dim));
          }
        int64_t size = typeOf(x).getDimSize(i), axis = order.size();
        order.append({int64_t(i), int64_t(j)});
        shape.push_back(size * size);
        Value flat = write.reshape(write.transpose(x, order), shape);
        x = write.op("Slice", {flat}, {write.ints("starts", {0}), write.ints("ends", {size * size}),
                                       write.ints("axes", {axis}), write.ints("steps", {size + 1})});
        char letter = term[i];
        llvm::erase(term, letter);
        term.push_back(letter);
        i = 0;
      }
    return changed;
  }
};

/// The patterns rely on what shape rules establish, in IR written by hand too.
LogicalResult normalizeAttributes(func::FuncOp function) {
  for (Operation &op : function.front()) {
    if (!lookupRecord(&op))
      continue;
    Inference inference(&op);
    if (failed(inference.run()))
      return emitError(op.getLoc()) << inference.message();
    inference.commit();
    for (Value result : op.getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()); !type || !type.hasStaticShape())
        return emitError(op.getLoc()) << "expected static shapes but got " << result.getType();
  }
  return success();
}

struct DecomposePass : trn::impl::DecomposePassBase<DecomposePass> {
  using DecomposePassBase::DecomposePassBase;
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    if (getOperation().isExternal())
      return;
    if (failed(normalizeAttributes(getOperation())))
      return signalPassFailure();
    RewritePatternSet patterns(context);
    patterns.add<ToReshape<SqueezeOp>, ToReshape<UnsqueezeOp>, ToReshape<FlattenOp>, DecomposeCenterCropPad,
                 DecomposeMaxUnpool, DecomposeDropout, DecomposeEinsum, ByPosition<EyeLikeOp>, ByPosition<OneHotOp>, ByPosition<TriluOp>>(
        context);
    populateAttentionPatterns(patterns, maxSteps);
    populateMicrosoftPatterns(patterns);
    populateNormalizationPatterns(patterns);
    populateTrainingPatterns(patterns);
    populatePackedPatterns(patterns);
    populateQuantizedPatterns(patterns);
    populateRandomPatterns(patterns);
    populateSignalPatterns(patterns);
    populateSamplingPatterns(patterns);
    populateRecurrentPatterns(patterns, maxSteps);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
