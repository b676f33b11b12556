//===- LongRecurrences.cpp - LSTM, GRU and RNN over long sequences --------===//
//
// Owns the form of recurrent layers that are too long to unroll: a Scan over the sequence for each direction, whose body
// is the layer itself with one step.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/Ops/Recurrent.h"
#include "passes/Graph/ControlFlow.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"
#include "passes/Graph/RecurrentActivations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

template <typename OpTy> class Scanner {
public:
  static constexpr bool kHasCell = std::is_same_v<OpTy, LSTMOp>;

  explicit Scanner(OpTy op) : op(op), builder(op), write(builder, op.getLoc()) {
    ArrayRef<int64_t> x = typeOf(op.getX()).getShape();
    batchFirst = op.getLayout() != 0;
    batch = x[!batchFirst];
    hidden = typeOf(op.getR()).getDimSize(2);
    directions = typeOf(op.getW()).getDimSize(0);
  }

  void run() {
    SmallVector<Value> rows, states, cells;
    for (int64_t direction = 0; direction < directions; ++direction) {
      ScanOp scan = writeScan(direction);
      states.push_back(scan.getResult(0));
      if (kHasCell)
        cells.push_back(scan.getResult(1));
      if (hasRows())
        rows.push_back(scan.getResult(1 + kHasCell));
    }
    SmallVector<Value> results;
    if (op.getY())
      results.push_back(hasRows() ? allSteps(rows) : op.getY()); // nothing reads it
    if (op.getYH())
      results.push_back(joined(states));
    if constexpr (kHasCell)
      if (op.getYC())
        results.push_back(joined(cells));
    op->replaceAllUsesWith(results);
    op->erase();
  }

private:
  /// Whether the state of every step is read: it takes a tensor of all steps, which each step writes.
  bool hasRows() { return op.getY() && !op.getY().use_empty(); }

  Value ofDirection(Value x, int64_t direction) {
    return x ? write.slice(x, 0, direction, direction + 1) : Value();
  }
  /// A state of one direction, [1, batch, hidden].
  Value initial(Value x, int64_t direction) {
    if (!x)
      return write.expand(write.scalar(0, op.getX()), {1, batch, hidden});
    Value one = write.slice(x, batchFirst ? 1 : 0, direction, direction + 1);
    return batchFirst ? write.transpose(one, {1, 0, 2}) : one;
  }

  ScanOp writeScan(int64_t direction) {
    const bool backward = direction == 1 || op.getDirection() == "reverse";
    SmallVector<Value> inputs = {initial(op.getInitialH(), direction)};
    if constexpr (kHasCell)
      inputs.push_back(initial(op.getInitialC(), direction));
    SmallVector<Value> parameters = {ofDirection(op.getW(), direction), ofDirection(op.getR(), direction),
                                     ofDirection(op.getB(), direction)};
    Value peepholes;
    if constexpr (kHasCell)
      peepholes = ofDirection(op.getP(), direction);
    SmallVector<Type> types;
    for (Value state : inputs)
      types.push_back(state.getType());
    ArrayRef<int64_t> x = typeOf(op.getX()).getShape();
    Type element = typeOf(op.getX()).getElementType();
    if (hasRows())
      types.push_back(RankedTensorType::get({x[batchFirst], batch, hidden}, element));
    const unsigned states = inputs.size();
    inputs.push_back(op.getX());
    SmallVector<int64_t> axes = {batchFirst}, backwards = {backward};
    if (op.getSequenceLens()) {
      inputs.push_back(write.op("Range", {write.scalar(0, builder.getF32Type()),
                                          write.scalar(double(x[batchFirst]), builder.getF32Type()),
                                          write.scalar(1, builder.getF32Type())}));
      axes.push_back(0);
      backwards.push_back(backward);
    }
    auto scan = ScanOp::create(builder, op.getLoc(), types, inputs, /*num_scan_inputs=*/axes.size(),
                               builder.getDenseI64ArrayAttr(axes), builder.getDenseI64ArrayAttr(backwards),
                               DenseI64ArrayAttr(),
                               hasRows() ? builder.getDenseI64ArrayAttr({backward}) : DenseI64ArrayAttr());
    Block &body = scan.getBody().emplaceBlock();
    for (unsigned i = 0; i < states; ++i)
      body.addArgument(types[i], op.getLoc());
    Value slice = body.addArgument(RankedTensorType::get({batch, x[2]}, element), op.getLoc());
    OpBuilder inner = OpBuilder::atBlockEnd(&body);
    GraphWriter in(inner, op.getLoc());
    Operation *step = writeStep(in, in.reshape(slice, {1, batch, x[2]}), parameters, body, peepholes, direction);
    SmallVector<Value> yielded = {step->getResult(1)};
    if (kHasCell)
      yielded.push_back(step->getResult(2));
    Value row = step->getResult(1);
    if (op.getSequenceLens()) {
      // A sequence that is not there yet, or no more, keeps its states and gives rows of 0.
      Value number = body.addArgument(RankedTensorType::get({}, builder.getF32Type()), op.getLoc());
      Value isThere = in.op("Less", {number, in.reshape(in.cast(op.getSequenceLens(), builder.getF32Type()), {1, batch, 1})});
      row = in.where(isThere, row, in.scalar(0, element));
      for (auto [i, state] : llvm::enumerate(yielded))
        state = in.where(isThere, state, body.getArgument(i));
    }
    if (hasRows())
      yielded.push_back(in.reshape(row, {batch, hidden}));
    YieldOp::create(inner, op.getLoc(), yielded);
    return scan;
  }

  /// The layer with one step, forward, of one direction.
  Operation *writeStep(GraphWriter &in, Value x, ArrayRef<Value> parameters, Block &body, Value peepholes,
                       int64_t direction) {
    OperationState state(op.getLoc(), op->getName());
    SmallVector<int32_t> operands, results;
    auto add = [&](Value value) {
      operands.push_back(value ? 1 : 0);
      if (value)
        state.addOperands(value);
    };
    add(x);
    llvm::for_each(parameters, add);
    add(Value()); // sequence_lens
    add(body.getArgument(0));
    if (kHasCell) {
      add(body.getArgument(1));
      add(peepholes);
    }
    Type element = typeOf(x).getElementType();
    state.addTypes(RankedTensorType::get({1, 1, batch, hidden}, element));
    state.addTypes(RankedTensorType::get({1, batch, hidden}, element));
    if (kHasCell)
      state.addTypes(RankedTensorType::get({1, batch, hidden}, element));
    results.assign(state.types.size(), 1);
    NamedAttrList attributes(op->getAttrs());
    attributes.set("direction", builder.getStringAttr("forward"));
    attributes.set("layout", builder.getI64IntegerAttr(0));
    if (op.getActivations()) {
      const size_t each = op.getActivations()->size() / directions;
      attributes.set("activations", builder.getArrayAttr(op.getActivations()->getValue().slice(direction * each, each)));
      setParameters(attributes, "activation_alpha", op.getActivationAlpha(), takesAlpha, direction * each, each);
      setParameters(attributes, "activation_beta", op.getActivationBeta(), takesBeta, direction * each, each);
    }
    attributes.set("operandSegmentSizes", builder.getDenseI32ArrayAttr(operands));
    attributes.set("resultSegmentSizes", builder.getDenseI32ArrayAttr(results));
    state.attributes = attributes;
    return in.b.create(state);
  }

  /// The parameters of `count` functions from number `first` on, of those of all functions.
  void setParameters(NamedAttrList &attributes, StringRef name, std::optional<ArrayRef<float>> all, bool (*takes)(StringRef),
                     size_t first, size_t count) {
    if (!all)
      return;
    auto functions = op.getActivations()->getValue();
    auto taken = [&](size_t begin, size_t end) {
      size_t number = 0;
      for (Attribute function : functions.slice(begin, end - begin))
        number += takes(cast<StringAttr>(function).getValue().lower());
      return number;
    };
    ArrayRef<float> own = all->drop_front(std::min(all->size(), taken(0, first)));
    attributes.set(name, builder.getDenseF32ArrayAttr(own.take_front(taken(first, first + count))));
  }

  /// [steps, directions, batch, hidden], or [batch, steps, directions, hidden].
  Value allSteps(ArrayRef<Value> rows) {
    SmallVector<Value> parts;
    for (Value row : rows)
      parts.push_back(write.reshape(row, {typeOf(row).getDimSize(0), 1, batch, hidden}));
    Value all = write.concat(parts, 1);
    return batchFirst ? write.transpose(all, {2, 0, 1, 3}) : all;
  }
  /// [directions, batch, hidden], or [batch, directions, hidden].
  Value joined(ArrayRef<Value> states) {
    Value all = write.concat(states, 0);
    return batchFirst ? write.transpose(all, {1, 0, 2}) : all;
  }

  OpTy op;
  OpBuilder builder;
  GraphWriter write;
  bool batchFirst;
  int64_t batch, hidden, directions;
};

template <typename OpTy> bool scanLayer(OpTy op) {
  auto isStatic = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape();
  };
  if (!llvm::all_of(op->getOperands(), isStatic) || typeOf(op.getX()).getDimSize(op.getLayout() != 0) <= kUnrolledSteps)
    return false;
  Scanner<OpTy>(op).run();
  return true;
}

} // namespace

bool trn::mayLoop(Operation *op) { return isControlFlow(op) || llvm::isa<LSTMOp, GRUOp, RNNOp>(op); }

bool trn::scanRecurrence(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<LSTMOp, GRUOp, RNNOp>([&](auto layer) { return scanLayer(layer); })
      .Default(false);
}
