//===- DecomposeRecurrent.cpp - LSTM, GRU and RNN unrolled ----------------===//
//
// Owns the expansion of recurrent layers into matrix products and elementwise operations, one group per step. The
// products with the input are one product for all steps. DynamicQuantizeLSTM (com.microsoft) is LSTM with products of
// quantised data. Refuses (leaves in place) recurrences longer than asked for
// and activation functions that the standard does not name.
//
//===----------------------------------------------------------------------===//
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Microsoft.h"
#include "dialects/ONNX/Ops/Recurrent.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"
#include "passes/Graph/RecurrentActivations.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

/// One of the activation functions that recurrent layers may name.
struct Activation {
  std::string name; ///< in lower case
  std::optional<float> alpha, beta;

  /// Null for a name that the standard does not have.
  Value apply(GraphWriter &write, Value x) const {
    SmallVector<NamedAttribute> attributes;
    if (alpha)
      attributes.push_back(write.b.getNamedAttr("alpha", write.b.getF32FloatAttr(*alpha)));
    if (beta)
      attributes.push_back(write.b.getNamedAttr("beta", write.b.getF32FloatAttr(*beta)));
    if (name == "affine")
      return write.add(write.mul(x, write.scalar(alpha.value_or(1), x)), write.scalar(beta.value_or(0), x));
    if (name == "scaledtanh")
      return write.mul(write.op("Tanh", {write.mul(x, write.scalar(beta.value_or(1), x))}),
                       write.scalar(alpha.value_or(1), x));
    StringRef op = operatorOf(name);
    return op.empty() ? Value() : write.op(op, {x}, attributes);
  }

  /// The operator of the same name, empty when there is none.
  static StringRef operatorOf(StringRef name) {
    return llvm::StringSwitch<StringRef>(name)
        .Case("relu", "Relu")
        .Case("tanh", "Tanh")
        .Case("sigmoid", "Sigmoid")
        .Case("leakyrelu", "LeakyRelu")
        .Case("thresholdedrelu", "ThresholdedRelu")
        .Case("hardsigmoid", "HardSigmoid")
        .Case("elu", "Elu")
        .Case("softsign", "Softsign")
        .Case("softplus", "Softplus")
        .Default("");
  }
  bool known() const { return name == "affine" || name == "scaledtanh" || !operatorOf(name).empty(); }
};

/// What a layer has when it names no activation functions.
ArrayRef<const char *> defaultActivations(LSTMOp) {
  static const char *const names[] = {"sigmoid", "tanh", "tanh"};
  return names;
}
ArrayRef<const char *> defaultActivations(MicrosoftDynamicQuantizeLSTMOp) { return defaultActivations(LSTMOp()); }
ArrayRef<const char *> defaultActivations(GRUOp) {
  static const char *const names[] = {"sigmoid", "tanh"};
  return names;
}
ArrayRef<const char *> defaultActivations(RNNOp) {
  static const char *const names[] = {"tanh"};
  return names;
}

/// The functions of all directions, each with the next parameters of its kind; empty when one is not known.
template <typename OpTy> SmallVector<Activation> activationsOf(OpTy op, int64_t directions) {
  ArrayRef<const char *> byDefault = defaultActivations(op);
  SmallVector<Activation> functions;
  for (int64_t i = 0, e = directions * int64_t(byDefault.size()); i < e; ++i)
    functions.push_back({byDefault[i % byDefault.size()], {}, {}});
  if (!op.getActivations())
    return functions;
  if (op.getActivations()->size() != functions.size())
    return {};
  ArrayRef<float> alphas = op.getActivationAlpha().value_or(ArrayRef<float>());
  ArrayRef<float> betas = op.getActivationBeta().value_or(ArrayRef<float>());
  for (auto [function, name] : llvm::zip_equal(functions, *op.getActivations())) {
    function.name = cast<StringAttr>(name).getValue().lower();
    if (!function.known())
      return {};
    if (takesAlpha(function.name) && !alphas.empty()) {
      function.alpha = alphas.front();
      alphas = alphas.drop_front();
    }
    if (takesBeta(function.name) && !betas.empty()) {
      function.beta = betas.front();
      betas = betas.drop_front();
    }
  }
  return functions;
}

/// One direction of a layer, written step by step.
template <typename OpTy> class LayerWriter {
public:
  static constexpr bool kQuantized = std::is_same_v<OpTy, MicrosoftDynamicQuantizeLSTMOp>;
  static constexpr bool kHasCell = std::is_same_v<OpTy, LSTMOp> || kQuantized;
  static constexpr int64_t kGates = kHasCell ? 4 : std::is_same_v<OpTy, GRUOp> ? 3 : 1;

  LayerWriter(PatternRewriter &b, OpTy op) : write(b, op.getLoc()), op(op) {
    ArrayRef<int64_t> x = typeOf(op.getX()).getShape();
    batchFirst = false;
    if constexpr (!kQuantized)
      batchFirst = op.getLayout() != 0;
    steps = x[batchFirst];
    batch = x[!batchFirst];
    input = x[2];
    hidden = typeOf(op.getR()).getDimSize(kQuantized ? 1 : 2);
  }

  struct Result {
    SmallVector<Value> outputs; ///< [batch, hidden] for each step, in the order of the sequence
    Value lastHidden, lastCell;
  };

  Result run(int64_t direction, bool backward, ArrayRef<Activation> functions) {
    activations = functions;
    GraphWriter::Factor w;
    if constexpr (kQuantized) {
      auto factor = [&](Value weights, int64_t rows, Value scale, Value zeroPoint) -> GraphWriter::Factor {
        return {matrix(weights, direction, {rows, kGates * hidden}), parameter(scale, direction),
                parameter(zeroPoint, direction)};
      };
      w = factor(op.getW(), input, op.getWScale(), op.getWZeroPoint());
      recurrence = factor(op.getR(), hidden, op.getRScale(), op.getRZeroPoint());
    } else {
      w.data = write.transpose(matrix(op.getW(), direction, {kGates * hidden, input}), {1, 0});
      recurrence.data = write.transpose(matrix(op.getR(), direction, {kGates * hidden, hidden}), {1, 0});
    }
    h = state(op.getInitialH(), direction);
    c = {};
    readParameters(direction);
    Value gates = inputGates(w);
    Result result;
    result.outputs.resize(steps);
    for (int64_t i = 0; i < steps; ++i) {
      int64_t step = backward ? steps - 1 - i : i;
      Value oldHidden = h, oldCell = c;
      doStep(write.slice(gates, 0, step * batch, (step + 1) * batch));
      result.outputs[step] = keepInside(step, oldHidden, oldCell);
    }
    result.lastHidden = h;
    result.lastCell = c;
    return result;
  }

  GraphWriter write;
  bool batchFirst;
  int64_t steps, batch, input, hidden;

private:
  Value matrix(Value x, int64_t direction, ArrayRef<int64_t> shape) {
    return write.reshape(write.slice(x, 0, direction, direction + 1), shape);
  }
  /// A parameter of a direction's quantised weights: one, or one for each column.
  Value parameter(Value x, int64_t direction) {
    int64_t columns = typeOf(x).getRank() == 2 ? typeOf(x).getDimSize(1) : 1;
    Value own = write.slice(x, 0, direction, direction + 1);
    return columns == 1 ? write.reshape(own, {}) : write.reshape(own, {columns});
  }
  /// `x` times a matrix of weights: all columns, or those of some gates.
  Value product(Value x, const GraphWriter::Factor &weights) {
    return weights.scale ? write.product(write.quantized(x), weights) : write.matMul(x, weights.data);
  }
  Value state(Value x, int64_t direction) {
    if (!x)
      return {};
    return write.reshape(write.slice(x, batchFirst ? 1 : 0, direction, direction + 1), {batch, hidden});
  }
  Value part(Value x, int64_t i, int64_t count = 1) {
    return write.slice(x, typeOf(x).getRank() - 1, i * hidden, (i + count) * hidden);
  }
  /// Null stands for zero.
  Value sum(Value a, Value b) { return !a ? b : !b ? a : write.add(a, b); }
  Value zeros() { return write.expand(write.scalar(0, op.getX()), {batch, hidden}); }

  /// The direction's cell state, peepholes and biases.
  void readParameters(int64_t direction) {
    if constexpr (kHasCell) {
      c = state(op.getInitialC(), direction);
      peepholes = op.getP() ? matrix(op.getP(), direction, {3 * hidden}) : Value();
    }
    bias = recurrentBias = {};
    if (!op.getB())
      return;
    Value both = matrix(op.getB(), direction, {2, kGates * hidden});
    bias = write.reduce("ReduceSum", both, {0}, /*keepDims=*/false);
    if constexpr (std::is_same_v<OpTy, GRUOp>) {
      if (!op.getLinearBeforeReset())
        return;
      // The last gate's recurrent bias is reset with the state.
      auto row = [&](int64_t i) { return write.reshape(write.slice(both, 0, i, i + 1), {kGates * hidden}); };
      recurrentBias = part(row(1), 2);
      bias = write.concat({part(bias, 0, 2), part(row(0), 2)}, 0);
    }
  }

  /// The product of `X` and the weights with the biases, for all steps: [steps · batch, gates · hidden].
  Value inputGates(const GraphWriter::Factor &w) {
    Value x = batchFirst ? write.transpose(op.getX(), {1, 0, 2}) : op.getX();
    Value rows = write.reshape(x, {steps * batch, input});
    return sum(product(rows, w), bias);
  }

  Value activate(unsigned function, Value x) {
    if (op.getClip()) {
      double bound = op.getClip()->convertToDouble();
      x = write.op("Min", {write.op("Max", {x, write.scalar(-bound, x)}), write.scalar(bound, x)});
    }
    return activations[function].apply(write, x);
  }
  Value peephole(Value gate, int64_t i, Value cell) {
    return peepholes && cell ? write.add(gate, write.mul(part(peepholes, i), cell)) : gate;
  }

  void doStep(Value fromInput) {
    if constexpr (kHasCell)
      stepLstm(fromInput);
    else if constexpr (std::is_same_v<OpTy, GRUOp>)
      stepGru(fromInput);
    else
      h = activate(0, sum(fromInput, h ? product(h, recurrence) : Value()));
  }

  /// The standard's order of gates is input, output, forget, cell; of peepholes input, output, forget.
  void stepLstm(Value fromInput) {
    Value gates = sum(fromInput, h ? product(h, recurrence) : Value());
    Value in = activate(0, peephole(part(gates, 0), 0, c));
    Value cell = write.mul(in, activate(1, part(gates, 3)));
    if (c) {
      bool coupled = false;
      if constexpr (kHasCell)
        coupled = op.getInputForget();
      Value forget = coupled ? write.sub(write.scalar(1, in), in) : activate(0, peephole(part(gates, 2), 2, c));
      cell = write.add(write.mul(forget, c), cell);
    }
    Value out = activate(0, peephole(part(gates, 1), 1, cell));
    c = cell;
    h = write.mul(out, activate(2, cell));
  }

  /// The standard's order of gates is update, reset, hidden.
  void stepGru(Value fromInput) {
    bool linear = false;
    if constexpr (std::is_same_v<OpTy, GRUOp>)
      linear = op.getLinearBeforeReset();
    // Without a product that waits for the reset gate, one product serves all gates.
    Value fromState = h ? write.matMul(h, linear ? recurrence.data : part(recurrence.data, 0, 2)) : Value();
    Value both = sum(part(fromInput, 0, 2), fromState ? part(fromState, 0, 2) : Value());
    Value update = activate(0, part(both, 0)), reset = activate(0, part(both, 1));
    Value remembered;
    if (linear) {
      remembered = sum(fromState ? part(fromState, 2) : Value(), recurrentBias);
      remembered = remembered ? write.mul(reset, remembered) : Value();
    } else if (h) {
      remembered = write.matMul(write.mul(reset, h), part(recurrence.data, 2));
    }
    Value candidate = activate(1, sum(part(fromInput, 2), remembered));
    Value fresh = write.mul(write.sub(write.scalar(1, update), update), candidate);
    h = h ? write.add(fresh, write.mul(update, h)) : fresh;
  }

  /// Behind the end of a sample's sequence the states stay, and the output is zero. Returns the output.
  Value keepInside(int64_t step, Value oldHidden, Value oldCell) {
    Value lengths = op.getSequenceLens();
    if (!lengths || isLongEnough(lengths, step))
      return h;
    Value position = write.scalar(double(step), lengths);
    Value inside = write.op("Less", {position, write.reshape(lengths, {batch, 1})});
    Value output = write.where(inside, h, zeros());
    h = oldHidden ? write.where(inside, h, oldHidden) : output;
    if (c)
      c = write.where(inside, c, oldCell ? oldCell : zeros());
    return output;
  }

  /// True when every sample is known to have this step.
  static bool isLongEnough(Value lengths, int64_t step) {
    std::optional<Constant> constant = Constant::get(lengths);
    if (!constant)
      return false;
    for (int64_t i = 0; i < constant->size(); ++i)
      if (constant->integer(i) <= step)
        return false;
    return true;
  }

  OpTy op;
  ArrayRef<Activation> activations;
  GraphWriter::Factor recurrence;
  Value peepholes, bias, recurrentBias, h, c;
};

template <typename OpTy> struct UnrollLayer : OpRewritePattern<OpTy> {
  using Writer = LayerWriter<OpTy>;
  UnrollLayer(MLIRContext *context, int64_t maxSteps) : OpRewritePattern<OpTy>(context), maxSteps(maxSteps) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &b) const override {
    bool both = op.getDirection() == "bidirectional";
    SmallVector<Activation> functions = activationsOf(op, both ? 2 : 1);
    Writer writer(b, op);
    if (functions.empty() || writer.steps < 1 || writer.steps > maxSteps || writer.batch < 1)
      return b.notifyMatchFailure(op, "has unknown activation functions, or more steps than are unrolled");
    ArrayRef<Activation> all = functions;
    size_t perDirection = functions.size() / (both ? 2 : 1);
    SmallVector<typename Writer::Result> directions;
    if (both || op.getDirection() == "forward")
      directions.push_back(writer.run(0, false, all.take_front(perDirection)));
    if (both || op.getDirection() == "reverse")
      directions.push_back(writer.run(both ? 1 : 0, true, all.take_back(perDirection)));
    SmallVector<Value> results;
    if (op.getY())
      results.push_back(allSteps(writer, directions));
    if (op.getYH())
      results.push_back(lastStep(writer, directions, &Writer::Result::lastHidden));
    if constexpr (Writer::kHasCell)
      if (op.getYC())
        results.push_back(lastStep(writer, directions, &Writer::Result::lastCell));
    b.replaceOp(op, results);
    return success();
  }

  /// [steps, directions, batch, hidden], or [batch, steps, directions, hidden].
  static Value allSteps(Writer &writer, ArrayRef<typename Writer::Result> directions) {
    GraphWriter &write = writer.write;
    SmallVector<Value> parts;
    for (const typename Writer::Result &direction : directions) {
      SmallVector<Value> steps;
      for (Value output : direction.outputs)
        steps.push_back(write.reshape(output, {1, 1, writer.batch, writer.hidden}));
      parts.push_back(write.concat(steps, 0));
    }
    Value all = write.concat(parts, 1);
    return writer.batchFirst ? write.transpose(all, {2, 0, 1, 3}) : all;
  }

  /// [directions, batch, hidden], or [batch, directions, hidden].
  static Value lastStep(Writer &writer, ArrayRef<typename Writer::Result> directions, Value Writer::Result::*which) {
    SmallVector<Value> parts;
    for (const typename Writer::Result &direction : directions)
      parts.push_back(writer.batchFirst ? writer.write.reshape(direction.*which, {writer.batch, 1, writer.hidden})
                                        : writer.write.reshape(direction.*which, {1, writer.batch, writer.hidden}));
    return writer.write.concat(parts, writer.batchFirst ? 1 : 0);
  }

  int64_t maxSteps;
};

} // namespace

void trn::populateRecurrentPatterns(RewritePatternSet &patterns, int64_t maxSteps) {
  patterns.add<UnrollLayer<LSTMOp>, UnrollLayer<MicrosoftDynamicQuantizeLSTMOp>, UnrollLayer<GRUOp>, UnrollLayer<RNNOp>>(
      patterns.getContext(), maxSteps);
}
