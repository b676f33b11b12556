//===- InferFold.cpp - shapes and constants in one fixpoint ---------------===//
//
// Owns `onnx-infer-fold`. Shapes decide constants (Shape) and constants decide shapes (Reshape), so one walk in order
// does both; graphs are acyclic and in order, so one walk finds nearly all and the next confirms it.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Passes.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/ONNX/Shape/Inference.h"
#include "dialects/Trn/Target.h"
#include "dialects/Trn/TrnDialect.h"
#include "passes/Graph/ConstantFolder.h"
#include "passes/Graph/ControlFlow.h"
#include "passes/Graph/Counted.h"
#include "passes/Graph/Positions.h"
#include "passes/Graph/Sequences.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace trn {
#define GEN_PASS_DEF_INFERFOLDPASS
#include "passes/Graph/Passes.h.inc"
} // namespace trn

using namespace mlir;
using namespace trn;
using onnx::AttributeKind;
using onnx::MoveRecord;
using onnx::OpRecord;

namespace {
/// Walks after this many rounds mean that a rule is not idempotent.
constexpr unsigned kMaxRounds = 8;

/// A constant as the attribute that a record moves it to; null when it does not fit.
Attribute attributeOf(const Constant &constant, AttributeKind kind, Builder builder) {
  Type element = constant.elementType();
  if (kind == AttributeKind::Ints) {
    SmallVector<int64_t> values;
    for (int64_t i = 0; i < constant.size(); ++i)
      values.push_back(constant.integer(i));
    return builder.getDenseI64ArrayAttr(values);
  }
  if (kind == AttributeKind::Floats) {
    SmallVector<float> values;
    for (int64_t i = 0; i < constant.size(); ++i)
      values.push_back(float(constant.real(i)));
    return builder.getDenseF32ArrayAttr(values);
  }
  if (constant.size() != 1)
    return {};
  switch (kind) {
  case AttributeKind::Int:
    return builder.getI64IntegerAttr(constant.integer(0));
  case AttributeKind::Flag:
    return builder.getBoolAttr(constant.integer(0) != 0);
  case AttributeKind::Float:
    return builder.getF32FloatAttr(float(constant.real(0)));
  case AttributeKind::Scalar:
    if (llvm::isa<FloatType>(element))
      return FloatAttr::get(element, constant.real(0));
    return IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), constant.integer(0), /*isSigned=*/true,
                                           /*implicitTrunc=*/true));
  default:
    return {};
  }
}

class InferFold {
public:
  InferFold(func::FuncOp function, int64_t maxElements, const isa::DeviceInfo &device)
      : function(function), maxElements(maxElements), device(device) {}

  LogicalResult run() {
    for (unsigned round = 0; round < kMaxRounds; ++round) {
      bool changed = false;
      for (Operation &op : llvm::make_early_inc_range(function.front()))
        changed |= visit(&op);
      // What constants do not decide, the run does.
      if (!wrong && !changed && (resolveAtRunTime() || sizesAtRunTime())) {
        changed = true;
        round = 0;
      }
      if (wrong)
        return failure();
      if (!changed)
        break;
    }
    if (failed(expandOutputs()) || failed(endCounts(function)))
      return failure();
    dropUnused();
    LogicalResult isStatic = checkStatic(), isConstant = checkConstantOperands();
    return success(succeeded(isStatic) && succeeded(isConstant));
  }

private:
  /// One operation; true when something changed.
  bool visit(Operation *op) {
    const OpRecord *record = onnx::lookupRecord(op);
    if (!record || isPoisoned(op))
      return false;
    bool changed = moveConstants(op, *record);
    std::string stays; // reported at the end, if it still does
    if (takeCounted(op, /*isInferred=*/false, stays))
      return true;
    onnx::Inference inference(op);
    if (failed(inference.run())) {
      // A size that is counted is the largest one: it contradicts nothing, but there is nothing to compute with either.
      if (std::string counted = countedWords(op); !counted.empty())
        emitError(op->getLoc()) << "expected operands whose sizes are known, but " << counted << ", and of the most of them: "
                                << inference.message() << "; end the model before this node";
      else
        emitError(op->getLoc()) << inference.message();
      poison(op);
      return false;
    }
    changed |= inference.commit();
    Operation *previous = op->getPrevNode(), *next = op->getNextNode();
    if (makeCount(op)) {
      // What it wrote is counted before anything reads it: sizes of its result must not be taken for known ones.
      for (Operation *written = previous ? previous->getNextNode() : &function.front().front(); written != next;) {
        Operation *following = written->getNextNode();
        visit(written);
        written = following;
      }
      return true;
    }
    if (takeCounted(op, /*isInferred=*/true, stays) || scanRecurrence(op))
      return true;
    if (isControlFlow(op) || isSequence(op))
      return resolve(op, /*atRunTime=*/false) || changed;
    SmallVector<ElementsAttr> values = foldConstants(op, maxElements);
    if (values.empty())
      return expandConstant(op) || changed;
    OpBuilder builder(op);
    for (auto [result, value] : llvm::zip(op->getResults(), values))
      result.replaceAllUsesWith(onnx::WeightOp::create(builder, op->getLoc(), value).getResult());
    op->erase();
    return true;
  }

  /// An operator on constants that has a meaning by others only: those are folded in its place.
  bool expandConstant(Operation *op) {
    struct Written : OpBuilder::Listener {
      SmallVector<Operation *> operations;
      void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { operations.push_back(op); }
    } written;
    auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
    if (!type || !type.hasStaticShape() || type.getNumElements() > maxElements ||
        !llvm::all_of(op->getOperands(), [](Value operand) { return operand.getDefiningOp<onnx::WeightOp>(); }))
      return false;
    OpBuilder builder(op, &written);
    Value value = chooseByPosition(op, builder);
    if (!value)
      return false;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    for (Operation *operation : written.operations)
      visit(operation);
    return true;
  }

  /// Resolves an operation with bodies; true when it is gone.
  bool resolve(Operation *op, bool atRunTime) {
    auto visitWritten = [this](Operation *written) { visit(written); };
    switch (isSequence(op) ? resolveSequence(op, atRunTime) : resolveControlFlow(op, atRunTime, visitWritten, device)) {
    case Resolution::NotYet:
      return false;
    case Resolution::Resolved:
      return true;
    case Resolution::Refused:
      poison(op);
      return false;
    }
    llvm_unreachable("covered switch");
  }

  /// The first operation that only the run decides; what follows it is inferred before the next one is looked at.
  bool resolveAtRunTime() {
    for (Operation &op : llvm::make_early_inc_range(function.front()))
      if (isControlFlow(&op) || isSequence(&op) ? resolve(&op, /*atRunTime=*/true) : boundSizes(&op))
        return true;
    return false;
  }

  /// Sizes that are no shapes of anything, but data.
  bool sizesAtRunTime() {
    bool changed = false;
    for (Operation &op : llvm::make_early_inc_range(function.front()))
      changed |= writeSizes(&op);
    return changed;
  }

  /// Operands that the record moves, and that are constant, become attributes.
  bool moveConstants(Operation *op, const OpRecord &record) {
    bool changed = false;
    Builder builder(op->getContext());
    for (const MoveRecord &move : record.moves) {
      OperandRange group = onnx::operandGroup(op, move.operand);
      std::optional<Constant> constant = group.empty() ? std::nullopt : Constant::get(group.front());
      if (!constant)
        continue;
      Attribute value = attributeOf(*constant, move.kind, builder);
      if (!value)
        continue;
      op->setAttr(move.attribute, value);
      eraseGroup(op, record, move.operand);
      changed = true;
    }
    return changed;
  }

  static void eraseGroup(Operation *op, const OpRecord &record, unsigned group) {
    unsigned position = onnx::operandGroup(op, group).getBeginOperandIndex();
    if (record.operandSegments) {
      SmallVector<int32_t> sizes(cast<DenseI32ArrayAttr>(*op->getInherentAttr("operandSegmentSizes")).asArrayRef());
      sizes[group] = 0;
      op->eraseOperand(position);
      op->setAttr("operandSegmentSizes", DenseI32ArrayAttr::get(op->getContext(), sizes));
      return;
    }
    op->eraseOperand(position);
  }

  /// Operations behind a wrong one are not looked at: their errors would be consequences.
  bool isPoisoned(Operation *op) {
    if (poisoned.contains(op))
      return true;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && poisoned.contains(producer)) {
        poisoned.insert(op);
        return true;
      }
    return false;
  }

  void poison(Operation *op) {
    poisoned.insert(op);
    wrong = true;
  }

  void dropUnused() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
      if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() && op.getDialect()->getNamespace() == "onnx")
        op.erase();
  }

  /// Outputs as the function returns them. The elements of a sequence are outputs of their own, `y.0`, `y.1`, …; an
  /// optional without an element is none.
  LogicalResult expandOutputs() {
    Operation *terminator = function.front().getTerminator();
    Builder builder(function.getContext());
    SmallVector<Value> values;
    SmallVector<Attribute> attributes;
    auto add = [&](Value value, DictionaryAttr named) {
      values.push_back(value);
      attributes.push_back(named ? named : builder.getDictionaryAttr({}));
    };
    for (auto [number, value] : llvm::enumerate(terminator->getOperands())) {
      DictionaryAttr named = function.getResultAttrDict(number);
      std::optional<SmallVector<Value>> elements = sequenceElements(value);
      if (!elements && !llvm::isa<onnx::SequenceType>(value.getType())) {
        add(value, named);
        continue;
      }
      auto name = named ? named.getAs<StringAttr>("onnx.name") : StringAttr();
      if (!elements) {
        emitError(value.getLoc()) << "the length of output '" << (name ? name.getValue() : "")
                                  << "' is known at run time only; bind what decides it with --const-input";
        return failure();
      }
      for (auto [i, element] : llvm::enumerate(*elements)) {
        NamedAttrList list(named);
        if (name)
          list.set("onnx.name", builder.getStringAttr(name.getValue() + "." + Twine(i)));
        add(element, list.getDictionary(function.getContext()));
      }
    }
    if (values.empty() && terminator->getNumOperands() > 0) {
      emitError(function.getLoc()) << "no output has a tensor: there is nothing to compute";
      return failure();
    }
    terminator->setOperands(values);
    function.removeResAttrsAttr(); // they are as many as the results were
    function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                       SmallVector<Type>(terminator->getOperandTypes())));
    if (llvm::any_of(attributes, [](Attribute named) { return !cast<DictionaryAttr>(named).empty(); }))
      function.setAllResultAttrs(attributes);
    return success();
  }

  static bool isStaticValue(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape();
  }

  /// A Range that never ends.
  static bool isEndless(Operation &op) {
    auto range = dyn_cast<onnx::RangeOp>(op);
    auto delta = range ? range.getDelta().getDefiningOp<onnx::WeightOp>() : onnx::WeightOp();
    std::optional<Constant> value = delta ? Constant::get(delta.getValue()) : std::nullopt;
    return value && value->size() == 1 && value->real(0) == 0;
  }

  /// Reports the operations whose own result is not static although all they read is.
  LogicalResult checkStatic() {
    LogicalResult result = success();
    for (Operation &op : function.front()) {
      if (llvm::all_of(op.getResults(), isStaticValue) || !llvm::all_of(op.getOperands(), isStaticValue))
        continue;
      bool known = llvm::all_of(op.getOperands(), [](Value value) { return value.getDefiningOp<onnx::WeightOp>(); });
      if (known && isEndless(op))
        emitError(op.getLoc()) << "expected a 'delta' other than 0, with which no element reaches the limit";
      else if (known)
        emitError(op.getLoc()) << "expected a result of at most " << maxElements
                               << " elements, because it is computed while compiling; use smaller sizes, or make it an input";
      else
        emitError(op.getLoc()) << "the size of the result depends on the value of an input; bind that input with "
                                  "--const-input";
      result = failure();
    }
    return result;
  }

  /// Reports operands that must have become attributes.
  LogicalResult checkConstantOperands() {
    LogicalResult result = success();
    for (Operation &op : function.front()) {
      const OpRecord *record = onnx::lookupRecord(&op);
      for (const MoveRecord &move : record ? record->moves : ArrayRef<MoveRecord>()) {
        // A result without a static size was reported with a better reason.
        if (move.mayStay || onnx::operandGroup(&op, move.operand).empty() ||
            !llvm::all_of(op.getResults(), isStaticValue))
          continue;
        emitError(op.getLoc()) << "expected '" << move.attribute.str()
                               << "' to be constant but it depends on the value of an input; bind that input with "
                                  "--const-input";
        result = failure();
      }
    }
    return result;
  }

  func::FuncOp function;
  int64_t maxElements;
  const isa::DeviceInfo &device;
  llvm::DenseSet<Operation *> poisoned;
  bool wrong = false;
};

struct InferFoldPass : trn::impl::InferFoldPassBase<InferFoldPass> {
  using InferFoldPassBase::InferFoldPassBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    const isa::DeviceInfo *device = findDevice(getOperation(), target);
    if (!device || failed(InferFold(getOperation(), maxElements, *device).run()))
      signalPassFailure();
  }
};
} // namespace
