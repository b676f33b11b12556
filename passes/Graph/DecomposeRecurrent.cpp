//===- DecomposeRecurrent.cpp - LSTM unrolled -----------------------------===//
//
// Owns the expansion of an LSTM layer into matrix products and elementwise operations, one group per step. The products
// with the input are one product for all steps. Refuses (leaves in place) peepholes, clipping, other activations than
// the standard's defaults, sequence lengths, and recurrences longer than asked for.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/Ops/Recurrent.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/Match.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

/// One direction of a layer, written step by step.
class LstmWriter {
public:
  LstmWriter(PatternRewriter &b, LSTMOp op) : b(b), loc(op.getLoc()), op(op) {
    ArrayRef<int64_t> x = typeOf(op.getX()).getShape();
    batchFirst = op.getLayout() != 0;
    steps = x[batchFirst];
    batch = x[!batchFirst];
    input = x[2];
    hidden = typeOf(op.getR()).getDimSize(2);
  }

  struct Result {
    SmallVector<Value> outputs; ///< [batch, hidden] for each step, in the order of the sequence
    Value lastHidden, lastCell;
  };

  Result write(int64_t direction, bool backward) {
    Value w = matrix(op.getW(), direction, {4 * hidden, input}), r = matrix(op.getR(), direction, {4 * hidden, hidden});
    Value h = state(op.getInitialH(), direction), c = state(op.getInitialC(), direction);
    Value gatesOfInput = inputGates(w, direction);
    Value rTransposed = make("Transpose", {r}, ints("perm", {1, 0}));
    Result result;
    result.outputs.resize(steps);
    for (int64_t i = 0; i < steps; ++i) {
      int64_t step = backward ? steps - 1 - i : i;
      Value gates = cut(gatesOfInput, 0, step * batch, (step + 1) * batch);
      // The first product with a zero state is zero.
      if (i > 0 || op.getInitialH())
        gates = make("Add", {gates, make("MatMul", {h, rTransposed})});
      // The standard's order of gates is input, output, forget, cell.
      Value in = make("Sigmoid", {gate(gates, 0)}), out = make("Sigmoid", {gate(gates, 1)});
      Value candidate = make("Tanh", {gate(gates, 3)});
      Value added = make("Mul", {in, candidate});
      if (i > 0 || op.getInitialC())
        added = make("Add", {make("Mul", {make("Sigmoid", {gate(gates, 2)}), c}), added});
      c = added;
      h = make("Mul", {out, make("Tanh", {c})});
      result.outputs[step] = h;
    }
    result.lastHidden = h;
    result.lastCell = c;
    return result;
  }

  Value make(StringRef name, ArrayRef<Value> operands, ArrayRef<NamedAttribute> attributes = {}) {
    return build(b, loc, name, operands, attributes);
  }
  NamedAttribute ints(StringRef name, ArrayRef<int64_t> values) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
  }
  Value reshape(Value x, ArrayRef<int64_t> shape) { return make("Reshape", {x}, ints("shape", shape)); }
  Value concat(ArrayRef<Value> values, int64_t axis) {
    return make("Concat", values, b.getNamedAttr("axis", b.getI64IntegerAttr(axis)));
  }

  bool batchFirst;
  int64_t steps, batch, input, hidden;

private:
  Value cut(Value x, int64_t axis, int64_t start, int64_t end) {
    return make("Slice", {x}, {ints("starts", {start}), ints("ends", {end}), ints("axes", {axis})});
  }
  Value gate(Value gates, int64_t i) { return cut(gates, 1, i * hidden, (i + 1) * hidden); }
  Value matrix(Value x, int64_t direction, ArrayRef<int64_t> shape) {
    return reshape(cut(x, 0, direction, direction + 1), shape);
  }
  Value state(Value x, int64_t direction) {
    if (!x)
      return {};
    return reshape(cut(x, batchFirst ? 1 : 0, direction, direction + 1), {batch, hidden});
  }

  /// `X · Wᵀ + Wb + Rb` for all steps, [steps · batch, 4 · hidden].
  Value inputGates(Value w, int64_t direction) {
    Value x = op.getX();
    if (batchFirst)
      x = make("Transpose", {x}, ints("perm", {1, 0, 2}));
    Value rows = reshape(x, {steps * batch, input});
    Value gates = make("MatMul", {rows, make("Transpose", {w}, ints("perm", {1, 0}))});
    if (!op.getB())
      return gates;
    Value both = matrix(op.getB(), direction, {2, 4 * hidden});
    Value bias = make("ReduceSum", {both}, {ints("axes", {0}), b.getNamedAttr("keepdims", b.getBoolAttr(false))});
    return make("Add", {gates, bias});
  }

  PatternRewriter &b;
  Location loc;
  LSTMOp op;
};

struct UnrollLstm : OpRewritePattern<LSTMOp> {
  UnrollLstm(MLIRContext *context, int64_t maxSteps) : OpRewritePattern(context), maxSteps(maxSteps) {}

  LogicalResult matchAndRewrite(LSTMOp op, PatternRewriter &b) const override {
    bool both = op.getDirection() == "bidirectional";
    if (op.getSequenceLens() || op.getP() || op.getClip() || op.getInputForget() || !hasDefaultActivations(op, both))
      return b.notifyMatchFailure(op, "has peepholes, clipping, lengths or other activations");
    LstmWriter write(b, op);
    if (write.steps < 1 || write.steps > maxSteps || write.batch < 1)
      return b.notifyMatchFailure(op, "has more steps than are unrolled");
    SmallVector<LstmWriter::Result> directions;
    if (both || op.getDirection() == "forward")
      directions.push_back(write.write(0, false));
    if (both || op.getDirection() == "reverse")
      directions.push_back(write.write(both ? 1 : 0, true));
    SmallVector<Value> results;
    if (op.getY())
      results.push_back(allSteps(write, directions));
    if (op.getYH())
      results.push_back(lastStep(write, directions, &LstmWriter::Result::lastHidden));
    if (op.getYC())
      results.push_back(lastStep(write, directions, &LstmWriter::Result::lastCell));
    b.replaceOp(op, results);
    return success();
  }

  static bool hasDefaultActivations(LSTMOp op, bool both) {
    if (!op.getActivations())
      return true;
    static const char *const byDefault[] = {"sigmoid", "tanh", "tanh"};
    for (auto [i, name] : llvm::enumerate(*op.getActivations()))
      if (cast<StringAttr>(name).getValue().lower() != byDefault[i % 3])
        return false;
    return op.getActivations()->size() == (both ? 6 : 3);
  }

  /// [steps, directions, batch, hidden], or [batch, steps, directions, hidden].
  static Value allSteps(LstmWriter &write, ArrayRef<LstmWriter::Result> directions) {
    SmallVector<Value> parts;
    for (const LstmWriter::Result &direction : directions) {
      SmallVector<Value> steps;
      for (Value output : direction.outputs)
        steps.push_back(write.reshape(output, {1, 1, write.batch, write.hidden}));
      parts.push_back(write.concat(steps, 0));
    }
    Value all = write.concat(parts, 1);
    return write.batchFirst ? write.make("Transpose", {all}, write.ints("perm", {2, 0, 1, 3})) : all;
  }

  /// [directions, batch, hidden], or [batch, directions, hidden].
  static Value lastStep(LstmWriter &write, ArrayRef<LstmWriter::Result> directions, Value LstmWriter::Result::*which) {
    SmallVector<Value> parts;
    for (const LstmWriter::Result &direction : directions)
      parts.push_back(write.batchFirst ? write.reshape(direction.*which, {write.batch, 1, write.hidden})
                                       : write.reshape(direction.*which, {1, write.batch, write.hidden}));
    return write.concat(parts, write.batchFirst ? 1 : 0);
  }

  int64_t maxSteps;
};

} // namespace

void trn::populateRecurrentPatterns(RewritePatternSet &patterns, int64_t maxSteps) {
  patterns.add<UnrollLstm>(patterns.getContext(), maxSteps);
}
