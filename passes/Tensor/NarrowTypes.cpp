//===- NarrowTypes.cpp - element types that the device does not have ------===//
// Owns the types of elements on the device: 64-bit integers to 32 bits, small integers and booleans to bytes, small floats
// to 16 bits. Types change in place: every arithmetic operation has the narrow type too,
// only conversions between the two widths disappear. Refuses constants that do not fit, except where the nearest end of
// the narrow type means the same.
#include "compiler/Reference/Tensor.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Tensor/Passes.h"
#include "llvm/ADT/DenseSet.h"

namespace trn {
#define GEN_PASS_DEF_NARROWTYPESPASS
#include "passes/Tensor/Passes.h.inc"

using namespace mlir;

/// The type of elements in memory.
static Type storedType(Type element) {
  // fp16 has all values of the floats of at most 8 bits, but for the powers of two, which bf16 has.
  if (auto real = dyn_cast<FloatType>(element)) {
    if (real.getWidth() > 8)
      return element;
    return llvm::isa<Float8E8M0FNUType>(element) ? Type(BFloat16Type::get(element.getContext()))
                                                 : Type(Float16Type::get(element.getContext()));
  }
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return element;
  if (integer.getWidth() == 64)
    return IntegerType::get(element.getContext(), 32, integer.getSignedness());
  return integer.getWidth() < 8 ? IntegerType::get(element.getContext(), 8, integer.getSignedness()) : element;
}

/// The type of a value: scalars keep i1.
static Type narrowType(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(storedType(shaped.getElementType()));
  return type.isInteger(1) ? type : storedType(type);
}

/// Converts an integer to a narrower type, to the nearest end if it does not fit.
static int64_t saturate(int64_t value, IntegerType type, bool &fits) {
  unsigned width = type.getWidth();
  int64_t low = type.isUnsigned() ? 0 : -(int64_t(1) << (width - 1));
  int64_t high = type.isUnsigned() ? (int64_t(1) << width) - 1 : (int64_t(1) << (width - 1)) - 1;
  fits &= value >= low && value <= high;
  return std::clamp(value, low, high);
}

static ElementsAttr narrowElements(ElementsAttr values, bool &fits) {
  std::optional<Constant> constant = Constant::get(values);
  if (!constant)
    return values;
  int64_t count = constant->isSplat() ? 1 : constant->size();
  if (auto real = dyn_cast<FloatType>(storedType(constant->elementType()))) {
    unsigned width = elementBytes(real);
    std::vector<char> bytes(count * width);
    for (int64_t i = 0; i < count; ++i)
      writeReal(real, constant->real(i), bytes.data() + i * width);
    return makeConstant(RankedTensorType::get(constant->type().getShape(), real), std::move(bytes));
  }
  auto element = cast<IntegerType>(storedType(constant->elementType()));
  SmallVector<int64_t> integers;
  for (int64_t i = 0; i < count; ++i)
    integers.push_back(saturate(constant->integer(i), element, fits));
  std::vector<char> bytes(integers.size() * elementBytes(element));
  for (auto [i, value] : llvm::enumerate(integers))
    writeInteger(element, value, bytes.data() + i * elementBytes(element));
  return makeConstant(RankedTensorType::get(constant->type().getShape(), element), std::move(bytes));
}

/// The first operation for which the nearest end of the narrow type is not as good as the number, or null. Bounds of
/// minima and maxima are as good, and with them where such reductions start: no narrow element is beyond that end.
static Operation *userOfExactValue(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner(), *found = nullptr;
    if (llvm::isa<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(user))
      continue;
    if (llvm::isa<linalg::FillOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, arith::SelectOp>(user))
      found = userOfExactValue(user->getResult(0));
    else if (auto generic = dyn_cast<linalg::GenericOp>(user))
      found = userOfExactValue(generic.getMatchingBlockArgument(&use));
    else
      found = user;
    if (found)
      return found;
  }
  return nullptr;
}

namespace {
class NarrowTypes : public impl::NarrowTypesPassBase<NarrowTypes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<Type> argumentTypes(function.getArgumentTypes()), resultTypes(function.getResultTypes());
    for (auto [number, type] : llvm::enumerate(argumentTypes))
      function.setArgAttrs(number, hostType(type, function.getArgAttrDict(number), "input"));
    for (auto [number, type] : llvm::enumerate(resultTypes))
      function.setResultAttrs(number, hostType(type, function.getResultAttrDict(number), "output"));
    bool complete = true;
    function.walk([&](Operation *op) { complete &= succeeded(narrowConstants(op)); });
    if (!complete)
      return signalPassFailure();
    // Bodies first see their booleans as bytes; then all types change.
    SmallVector<Operation *> conversions;
    function.walk([&](Operation *op) {
      convertBooleans(op);
      if (llvm::isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::ExtFOp, arith::TruncFOp>(op))
        conversions.push_back(op);
    });
    function.walk([&](Block *block) {
      for (BlockArgument argument : block->getArguments())
        argument.setType(narrowType(argument.getType()));
    });
    llvm::DenseSet<std::pair<Location, Type>> reported; // once per node and type
    function.walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        Type type = result.getType();
        result.setType(narrowType(type));
        if (auto tensor = dyn_cast<RankedTensorType>(type);
            tensor && type != result.getType() && reported.insert({op->getLoc(), tensor.getElementType()}).second)
          emitRemark(op->getLoc()) << tensor.getElementType() << " is stored as "
                                   << cast<RankedTensorType>(result.getType()).getElementType();
      }
    });
    for (Type &type : argumentTypes)
      type = narrowType(type);
    for (Type &type : resultTypes)
      type = narrowType(type);
    function.setFunctionType(FunctionType::get(&getContext(), argumentTypes, resultTypes));
    removeIdentities(conversions);
  }

  /// The attributes of an argument or result, with what the caller sees when its elements change.
  DictionaryAttr hostType(Type type, DictionaryAttr attributes, StringRef kind) {
    NamedAttrList list(attributes);
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || storedType(shaped.getElementType()) == shaped.getElementType() || list.get("onnx.host_type"))
      return list.getDictionary(&getContext());
    list.set("onnx.host_type", TypeAttr::get(shaped.getElementType()));
    auto name = dyn_cast_if_present<StringAttr>(list.get("onnx.name"));
    getOperation()->emitRemark() << kind << " '" << (name ? name.getValue() : "") << "': " << shaped.getElementType()
                                 << " is stored as " << storedType(shaped.getElementType());
    return list.getDictionary(&getContext());
  }

  LogicalResult narrowConstants(Operation *op) {
    bool fits = true;
    if (auto weight = dyn_cast<onnx::WeightOp>(op)) {
      Type element = cast<ShapedType>(weight.getType()).getElementType();
      if (storedType(element) != element)
        weight.setValueAttr(narrowElements(weight.getValue(), fits));
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto elements = dyn_cast<ElementsAttr>(constant.getValue())) {
        if (narrowType(constant.getType()) != constant.getType())
          constant.setValueAttr(cast<TypedAttr>(narrowElements(elements, fits)));
      } else if (auto integer = dyn_cast<IntegerAttr>(constant.getValue());
                 integer && narrowType(integer.getType()) != integer.getType()) {
        auto type = cast<IntegerType>(narrowType(integer.getType()));
        int64_t value = saturate(integer.getValue().getSExtValue(), type, fits);
        constant.setValueAttr(IntegerAttr::get(type, APInt(type.getWidth(), uint64_t(value), !type.isUnsigned())));
      } else if (auto real = dyn_cast<FloatAttr>(constant.getValue());
                 real && narrowType(real.getType()) != real.getType()) {
        constant.setValueAttr(FloatAttr::get(narrowType(real.getType()), real.getValueAsDouble()));
      }
    }
    Operation *user = fits ? nullptr : userOfExactValue(op->getResult(0));
    if (!user)
      return success();
    return emitError(user->getLoc())
           << "expected integers of 32 bits, which are the device's widest, but got a constant "
              "that does not fit";
  }

  /// Where elements of a boolean tensor enter scalar code they are compared with 0; where they leave it they are
  /// extended.
  void convertBooleans(Operation *op) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      Block *body = structured.getBlock();
      ImplicitLocOpBuilder b = ImplicitLocOpBuilder::atBlockBegin(op->getLoc(), body);
      for (BlockArgument argument : body->getArguments())
        if (argument.getType().isInteger(1))
          readBoolean(b, argument);
      Operation *yield = body->getTerminator();
      for (OpOperand &operand : yield->getOpOperands())
        if (operand.get().getType().isInteger(1))
          writeBoolean(operand, yield);
      // A scalar input of a fill is stored as it is.
      for (OpOperand *input : structured.getDpsInputOperands())
        if (input->get().getType().isInteger(1))
          writeBoolean(*input, op);
      return;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op); extract && extract.getType().isInteger(1)) {
      ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
      b.setInsertionPointAfter(op);
      readBoolean(b, extract.getResult());
    }
    if (llvm::isa<tensor::InsertOp, tensor::YieldOp, tensor::FromElementsOp, tensor::SplatOp>(op))
      for (OpOperand &operand : op->getOpOperands())
        if (operand.get().getType().isInteger(1))
          writeBoolean(operand, op);
  }

  static void readBoolean(ImplicitLocOpBuilder &b, Value value) {
    value.setType(b.getI8Type());
    if (value.use_empty())
      return;
    SmallVector<OpOperand *> uses = llvm::map_to_vector(value.getUses(), [](OpOperand &use) { return &use; });
    Value zero = arith::ConstantOp::create(b, b.getI8IntegerAttr(0));
    Value flag = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
    for (OpOperand *use : uses)
      use->set(flag);
  }
  static void writeBoolean(OpOperand &operand, Operation *before) {
    ImplicitLocOpBuilder b(before->getLoc(), before);
    operand.set(arith::ExtUIOp::create(b, b.getI8Type(), operand.get()));
  }

  /// Conversions between types that have become one.
  static void removeIdentities(ArrayRef<Operation *> conversions) {
    for (Operation *op : conversions) {
      if (op->getOperand(0).getType() != op->getResult(0).getType())
        continue;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  }
};
} // namespace
} // namespace trn
