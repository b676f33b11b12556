//===- NarrowTypes.cpp - element types that the device does not have ------===//
// Owns the types of small elements on the device: integers of less than a byte and booleans are bytes, floats of at most 8
// bits have 16. Types change in place: every arithmetic operation has the stored type too, only conversions between the two
// disappear.
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
  return integer.getWidth() < 8 ? IntegerType::get(element.getContext(), 8, integer.getSignedness()) : element;
}

/// The type of a value: scalars keep i1.
static Type narrowType(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(storedType(shaped.getElementType()));
  return type.isInteger(1) ? type : storedType(type);
}

static ElementsAttr narrowElements(ElementsAttr values) {
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
  std::vector<char> bytes(count * elementBytes(element));
  for (int64_t i = 0; i < count; ++i)
    writeInteger(element, constant->integer(i), bytes.data() + i * elementBytes(element));
  return makeConstant(RankedTensorType::get(constant->type().getShape(), element), std::move(bytes));
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
    function.walk([&](Operation *op) { narrowConstants(op); });
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

  void narrowConstants(Operation *op) {
    if (auto weight = dyn_cast<onnx::WeightOp>(op)) {
      Type element = cast<ShapedType>(weight.getType()).getElementType();
      if (storedType(element) != element)
        weight.setValueAttr(narrowElements(weight.getValue()));
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto elements = dyn_cast<ElementsAttr>(constant.getValue())) {
        if (narrowType(constant.getType()) != constant.getType())
          constant.setValueAttr(cast<TypedAttr>(narrowElements(elements)));
      } else if (auto integer = dyn_cast<IntegerAttr>(constant.getValue());
                 integer && narrowType(integer.getType()) != integer.getType()) {
        auto type = cast<IntegerType>(narrowType(integer.getType()));
        APInt value = integer.getValue();
        constant.setValueAttr(IntegerAttr::get(type, type.isUnsigned() ? value.zext(type.getWidth()) : value.sext(type.getWidth())));
      } else if (auto real = dyn_cast<FloatAttr>(constant.getValue());
                 real && narrowType(real.getType()) != real.getType()) {
        constant.setValueAttr(FloatAttr::get(narrowType(real.getType()), real.getValueAsDouble()));
      }
    }
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
