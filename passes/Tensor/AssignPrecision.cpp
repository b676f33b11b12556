//===- AssignPrecision.cpp - narrower floats where asked for --------------===//
// Owns the meaning of --auto-cast: which f32 tensors become bf16 or fp16. Arithmetic stays f32: bodies widen what they
// read and round what they store; sums of products and reductions accumulate in f32, except that the largest or the
// smallest of narrow elements is one of them, and stays narrow. Casts that this pass inserts are maps, which fuse with
// their producers, or fold into weights. Numbers that become positions in a tensor are no data: they stay f32. Refuses to
// touch f64 and integers.
#include "dialects/ONNX/Ops/Weight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tensor/OnnxToLinalg/LinalgBuilder.h"
#include "passes/Tensor/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace trn {
#define GEN_PASS_DEF_ASSIGNPRECISIONPASS
#include "passes/Tensor/Passes.h.inc"

using namespace mlir;

static bool holds(Value value, Type element) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType() == element;
}

static bool isMap(linalg::GenericOp op) { return op.getNumParallelLoops() == op.getNumLoops(); }

/// A body that adds a product to its one destination.
static bool isContraction(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || isMap(op))
    return false;
  auto sum = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  Value out = op.getBody()->getArgument(2);
  Value product = sum.getLhs() == out ? sum.getRhs() : sum.getLhs();
  return (sum.getLhs() == out || sum.getRhs() == out) && product.getDefiningOp<arith::MulFOp>();
}

/// A reduction to the largest or the smallest element of its first operand, from a constant on.
static bool selectsElements(linalg::GenericOp op) {
  if (isMap(op) || op.getNumDpsInits() != 1 || op.getNumDpsInputs() == 0 || op.getBody()->getOperations().size() != 2)
    return false;
  Operation *combine = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!llvm::isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(combine))
    return false;
  Value element = op.getBody()->getArgument(0), result = op.getRegionOutputArgs()[0];
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill && fill.getInputs()[0].getDefiningOp<arith::ConstantOp>() &&
         ((combine->getOperand(0) == element && combine->getOperand(1) == result) ||
          (combine->getOperand(0) == result && combine->getOperand(1) == element));
}

/// Slices, reshapes, transposes, pads and concatenations hold what their source holds.
static bool isMovement(Operation *op) {
  return llvm::isa_and_nonnull<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::CollapseShapeOp,
                               tensor::ExpandShapeOp, tensor::PadOp, tensor::ConcatOp, linalg::TransposeOp>(op);
}

/// True when sums of products are all that reads the value, or what moves it.
static bool isOnlyMultiplied(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return generic ? isContraction(generic) : isMovement(user) && isOnlyMultiplied(user->getResult(0));
  });
}

/// Whether the body makes integers of floats.
static bool roundsToIntegers(linalg::GenericOp op) {
  return llvm::any_of(*op.getBody(), [](Operation &inner) { return llvm::isa<arith::FPToSIOp, arith::FPToUIOp>(inner); });
}

/// The inputs of `op` that the indices of elements it reads are computed of.
static SmallVector<Value> indicesOf(linalg::GenericOp op) {
  SmallVector<Value> pending, inputs;
  for (tensor::ExtractOp extract : op.getBody()->getOps<tensor::ExtractOp>())
    llvm::append_range(pending, extract.getIndices());
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == op.getBody() && argument.getArgNumber() < op.getNumDpsInputs())
        inputs.push_back(op.getDpsInputs()[argument.getArgNumber()]);
    } else {
      llvm::append_range(pending, value.getDefiningOp()->getOperands());
    }
  }
  return inputs;
}

/// The maps and movements that positions come by: from the indices of what reads elements back through integers to the floats that
/// were rounded to them, and through the maps that made those. What chooses between positions (ArgMax) computes none.
static DenseSet<Operation *> mapsToPositions(Block &body) {
  SmallVector<Value> pending;
  for (auto generic : body.getOps<linalg::GenericOp>())
    llvm::append_range(pending, indicesOf(generic));
  DenseSet<Operation *> maps;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
    if (isMovement(op)) {
      if (maps.insert(op).second)
        llvm::append_range(pending, op->getOperands());
    } else if (generic && isMap(generic) && maps.insert(op).second) {
      bool isFloat = llvm::isa<FloatType>(getElementTypeOrSelf(value.getType()));
      for (Value input : generic.getDpsInputs())
        if (isFloat || roundsToIntegers(generic) || !llvm::isa<FloatType>(getElementTypeOrSelf(input.getType())))
          pending.push_back(input);
    }
  }
  return maps;
}

namespace {
class AssignPrecision : public impl::AssignPrecisionPassBase<AssignPrecision> {
  using AssignPrecisionPassBase::AssignPrecisionPassBase;

  void runOnOperation() override {
    if (autoCast == "none")
      return;
    if (autoCast != "matmult" && autoCast != "all") {
      getOperation()->emitError("expected auto-cast none, matmult or all but got '") << autoCast << "'";
      return signalPassFailure();
    }
    if (autoCastType != "bf16" && autoCastType != "fp16") {
      getOperation()->emitError("expected auto-cast-type bf16 or fp16 but got '") << autoCastType << "'";
      return signalPassFailure();
    }
    wide = Float32Type::get(&getContext());
    narrow = autoCastType == "bf16" ? Type(BFloat16Type::get(&getContext())) : Type(Float16Type::get(&getContext()));
    casts.clear();
    inserted.clear();
    reported.clear();
    contractions = 0;
    Block &body = getOperation().getBody().front();
    if (autoCast == "all") {
      positions = mapsToPositions(body);
      castArguments(body);
    }
    for (Operation &op : llvm::make_early_inc_range(body))
      assign(&op);
    getOperation()->emitRemark() << contractions << " sums of products multiply " << narrow << " and add in f32";
  }

  /// Says that a value changes its type: once per node and reason.
  void report(Location location, StringRef reason) {
    if (reported.insert({location, reason}).second)
      emitRemark(location) << wide << " is " << reason << " " << narrow;
  }

  void castArguments(Block &body) {
    for (BlockArgument argument : body.getArguments()) {
      if (!holds(argument, wide))
        continue;
      report(argument.getLoc(), "read as");
      LinalgBuilder b(argument.getLoc(), &body, body.begin());
      Value cast = b.convert(argument, narrow);
      argument.replaceUsesWithIf(cast, [&](OpOperand &use) {
        return use.getOwner() != cast.getDefiningOp() && !positions.contains(use.getOwner());
      });
      casts[argument] = cast;
      inserted.insert(cast.getDefiningOp());
    }
  }

  void assign(Operation *op) {
    if (inserted.contains(op))
      return;
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return assignGeneric(generic);
    if (autoCast == "all" && llvm::isa<func::ReturnOp>(op))
      return widenOperands(op);
    if (autoCast == "all" && op->getNumResults() == 1 && holds(op->getResult(0), wide))
      assignMovement(op);
  }

  /// The value in the narrow type, by a map right behind it; one per value. What is moved and then only multiplied is
  /// rounded before it moves: half the bytes move, and the map fuses with what computed the value.
  Value castOf(Value value) {
    if (Value known = casts.lookup(value))
      return known;
    if (Operation *movement = value.getDefiningOp(); isMovement(movement) && isOnlyMultiplied(value)) {
      OpBuilder b(movement->getContext());
      b.setInsertionPointAfter(movement);
      Operation *moved = b.clone(*movement);
      inserted.insert(moved);
      narrowMovement(moved);
      return casts[value] = moved->getResult(0);
    }
    // Behind the definition, so that every later user can have it.
    report(value.getLoc(), "multiplied as");
    LinalgBuilder b(value.getLoc(), value.getContext());
    b.setInsertionPointAfterValue(value);
    Value cast = b.convert(value, narrow);
    inserted.insert(cast.getDefiningOp());
    return casts[value] = cast;
  }

  void assignGeneric(linalg::GenericOp op) {
    bool multiplies = isContraction(op) && holds(op.getResult(0), wide);
    if (multiplies) {
      ++contractions;
      for (OpOperand *input : op.getDpsInputOperands())
        if (holds(input->get(), wide))
          input->set(castOf(input->get()));
    }
    if (autoCast == "all" && selectsElements(op) && holds(op->getOperand(0), narrow) && holds(op.getResult(0), wide))
      return selectNarrow(op);
    readNarrow(op);
    if (autoCast == "all" && isMap(op) && !positions.contains(op))
      storeNarrow(op);
  }

  /// The same selection among narrow elements. Rounding keeps the order, so a rounded identity is one.
  void selectNarrow(linalg::GenericOp op) {
    report(op.getLoc(), "selected as");
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto identity = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>().getInputs()[0].getDefiningOp<arith::ConstantOp>();
    APFloat value = cast<FloatAttr>(identity.getValue()).getValue();
    bool inexact;
    value.convert(cast<FloatType>(narrow).getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    auto type = cast<RankedTensorType>(op.getResult(0).getType()).clone(narrow);
    Value start = arith::ConstantOp::create(b, FloatAttr::get(narrow, value));
    Value empty = tensor::EmptyOp::create(b, type.getShape(), narrow);
    op.getDpsInitsMutable()[0].set(linalg::FillOp::create(b, start, empty).getResult(0));
    op.getBody()->getArgument(0).setType(narrow);
    op.getRegionOutputArgs()[0].setType(narrow);
    op.getBody()->getTerminator()->getOperand(0).setType(narrow);
    op.getResult(0).setType(type);
  }

  /// Block arguments take the types of the operands; the body goes on with the widened values.
  void readNarrow(linalg::GenericOp op) {
    Block *body = op.getBody();
    ImplicitLocOpBuilder b = ImplicitLocOpBuilder::atBlockBegin(op.getLoc(), body);
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = body->getArgument(input->getOperandNumber());
      if (!holds(input->get(), narrow) || argument.getType() != wide)
        continue;
      argument.setType(narrow);
      widenUses(b, argument);
    }
    for (tensor::ExtractOp extract : llvm::make_early_inc_range(body->getOps<tensor::ExtractOp>())) {
      if (!holds(extract.getTensor(), narrow) || extract.getType() != wide)
        continue;
      extract.getResult().setType(narrow);
      b.setInsertionPointAfter(extract);
      widenUses(b, extract.getResult());
    }
  }
  void widenUses(ImplicitLocOpBuilder &b, Value value) {
    if (value.use_empty())
      return;
    auto extension = arith::ExtFOp::create(b, wide, value);
    value.replaceAllUsesExcept(extension, extension);
  }

  /// The results of a map, rounded.
  void storeNarrow(linalg::GenericOp op) {
    Operation *yield = op.getBody()->getTerminator();
    ImplicitLocOpBuilder inner(op.getLoc(), yield);
    ImplicitLocOpBuilder outer(op.getLoc(), op);
    for (OpResult result : op->getResults()) {
      if (!holds(result, wide))
        continue;
      unsigned number = result.getResultNumber();
      BlockArgument out = op.getBody()->getArgument(op.getNumDpsInputs() + number);
      if (!out.use_empty())
        continue; // A map that reads its destination keeps the destination's type.
      report(op.getLoc(), "stored as");
      auto type = cast<RankedTensorType>(result.getType()).clone(narrow);
      op.getDpsInitsMutable()[number].set(tensor::EmptyOp::create(outer, type.getShape(), narrow));
      out.setType(narrow);
      result.setType(type);
      Value value = yield->getOperand(number);
      yield->setOperand(number, arith::TruncFOp::create(inner, narrow, value));
    }
  }

  void assignMovement(Operation *op) {
    if (isMovement(op) && llvm::any_of(op->getOperands(), [&](Value operand) { return holds(operand, narrow); }))
      narrowMovement(op);
  }

  /// The same movement of narrow elements.
  void narrowMovement(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!holds(operand.get(), wide))
        continue;
      auto empty = operand.get().getDefiningOp<tensor::EmptyOp>();
      operand.set(empty ? tensor::EmptyOp::create(b, empty.getType().getShape(), narrow).getResult()
                        : castOf(operand.get()));
    }
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      Operation *yield = pad.getBody()->getTerminator();
      ImplicitLocOpBuilder inner(op->getLoc(), yield);
      yield->setOperand(0, arith::TruncFOp::create(inner, narrow, yield->getOperand(0)));
    }
    if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
      for (BlockArgument argument : transpose.getRegion().getArguments())
        argument.setType(narrow);
    op->getResult(0).setType(cast<RankedTensorType>(op->getResult(0).getType()).clone(narrow));
  }

  /// What the caller gets is f32.
  void widenOperands(Operation *op) {
    func::FuncOp function = getOperation();
    for (auto [operand, type] : llvm::zip_equal(op->getOpOperands(), function.getResultTypes())) {
      if (operand.get().getType() == type)
        continue;
      LinalgBuilder b(operand.get().getLoc(), op->getContext());
      b.setInsertionPoint(op);
      operand.set(b.convert(operand.get(), wide));
    }
  }

  Type wide, narrow;
  DenseMap<Value, Value> casts;
  DenseSet<Operation *> inserted, positions;
  DenseSet<std::pair<Location, StringRef>> reported;
  unsigned contractions = 0;
};
} // namespace
} // namespace trn
