//===- DecomposeNormalization.cpp - BatchNormalization in training --------===//
//
// Owns the training form of BatchNormalization: the batch's statistics, and the running ones moved towards them.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Normalization.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

struct WriteOutTraining : OpRewritePattern<BatchNormalizationOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormalizationOp op, PatternRewriter &b) const override {
    if (!op.getTrainingMode())
      return failure();
    GraphWriter write(b, op.getLoc());
    RankedTensorType type = typeOf(op.getX());
    SmallVector<int64_t> axes, perChannel(type.getRank(), 1);
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (axis != 1)
        axes.push_back(axis);
    // Statistics are computed in their own type, in which they are handed on.
    Value x = write.cast(op.getX(), typeOf(op.getMean()).getElementType());
    Value mean = write.reduce("ReduceMean", x, axes), centered = write.sub(x, mean);
    Value variance = write.reduce("ReduceMean", write.mul(centered, centered), axes, /*keepDims=*/false);
    mean = write.reshape(mean, typeOf(op.getMean()).getShape());
    Value y = write.op("BatchNormalization", {op.getX(), op.getScale(), op.getB(), mean, variance},
                       b.getNamedAttr("epsilon", op.getEpsilonAttr()));
    double momentum = op.getMomentum().convertToDouble();
    auto moved = [&](Value running, Value current) {
      return write.add(write.mul(running, write.scalar(momentum, running)),
                       write.mul(current, write.scalar(1 - momentum, current)));
    };
    SmallVector<Value> results = {y};
    if (op.getRunningMean())
      results.push_back(moved(op.getMean(), mean));
    if (op.getRunningVar())
      results.push_back(moved(op.getVar(), variance));
    b.replaceOp(op, results);
    return success();
  }
};

} // namespace

void trn::populateNormalizationPatterns(RewritePatternSet &patterns) {
  patterns.add<WriteOutTraining>(patterns.getContext());
}
