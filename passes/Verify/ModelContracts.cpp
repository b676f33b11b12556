//===- ModelContracts.cpp - what holds at the stages imported to tensor ---===//
//
// Owns the checks of ModelContracts.h.
//
//===----------------------------------------------------------------------===//
#include "passes/Verify/ModelContracts.h"
#include "compiler/Support/Problems.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace trn {
namespace {

class ModelVerifier {
public:
  ModelVerifier(ModuleOp module, StringRef stage) : module(module), stage(stage) {}

  LogicalResult imported() {
    if (findMain()) {
      verifySignature();
      verifyNames();
      main.walk([&](Operation *op) {
        verifyIsOnnx(op);
        verifyLocation(op);
        verifyWeight(op);
      });
    }
    return success(ok);
  }

  LogicalResult graph() {
    if (failed(imported()))
      return failure();
    forEachType([&](Operation *op, Type type) { verifyStatic(op, type, /*mustBeTensor=*/true); });
    verifyCounts();
    return success(ok);
  }

  LogicalResult tensor() {
    if (!findMain())
      return failure();
    main.walk([&](Operation *op) {
      verifyIsStructured(op);
      verifyHasWork(op);
      verifyWeight(op);
    });
    forEachType([&](Operation *op, Type type) {
      verifyStatic(op, type, /*mustBeTensor=*/llvm::isa<func::FuncOp>(op));
      verifyLogical(op, type);
      verifyElements(op, type);
    });
    return success(ok);
  }

private:
  InFlightDiagnostic breach(Operation *op, StringRef rule) {
    ok = false;
    return op->emitError("stage ") << stage << ", " << rule << ": ";
  }

  bool findMain() {
    for (Operation &op : *module.getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function || function.getName() != "main" || main)
        breach(&op, "M1") << "expected one function @main and nothing beside it";
      else
        main = function;
    }
    if (!main && ok)
      breach(module, "M1") << "expected a function @main";
    if (ok && !llvm::hasSingleElement(main.getBody()))
      breach(main, "M1") << "expected a body of one block";
    return ok;
  }

  void verifySignature() {
    auto check = [&](Type type) {
      if (!llvm::isa<TensorType, onnx::SequenceType>(type))
        breach(main, "M7") << "expected inputs and outputs that are tensors or sequences of them, but got " << type;
    };
    llvm::for_each(main.getArgumentTypes(), check);
    llvm::for_each(main.getResultTypes(), check);
    if (!llvm::isa<func::ReturnOp>(main.front().getTerminator()))
      breach(main, "M7") << "expected a body that ends in 'func.return'";
  }

  void verifyNames() {
    llvm::StringSet<> inputs;
    auto check = [&](StringRef kind, unsigned number, StringAttr name) {
      if (!name || name.getValue().empty())
        breach(main, "M2") << "expected a name of " << kind << " #" << number << " ('onnx.name')";
      else if (kind == "input" && !inputs.insert(name.getValue()).second)
        breach(main, "M2") << "expected inputs of different names, but two are named '" << name.getValue() << "'";
    };
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      check("input", i, main.getArgAttrOfType<StringAttr>(i, "onnx.name"));
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      check("output", i, main.getResultAttrOfType<StringAttr>(i, "onnx.name"));
  }

  void verifyIsOnnx(Operation *op) {
    if (!llvm::isa_and_nonnull<onnx::ONNXDialect>(op->getDialect()) && !llvm::isa<func::FuncOp, func::ReturnOp>(op))
      breach(op, "M3") << "expected operations of ONNX only, but got '" << op->getName() << "'";
  }

  void verifyLocation(Operation *op) {
    bool isNode = llvm::isa_and_nonnull<onnx::ONNXDialect>(op->getDialect()) && !llvm::isa<onnx::WeightOp>(op);
    if (isNode && originOf(op->getLoc()).node.empty())
      breach(op, "M4") << "expected the name of the ONNX node in the location of '" << op->getName() << "'";
  }

  void verifyWeight(Operation *op) {
    auto weight = dyn_cast<onnx::WeightOp>(op);
    auto inlined = weight ? dyn_cast<DenseElementsAttr>(weight.getValue()) : DenseElementsAttr();
    if (inlined && !inlined.isSplat() && inlined.getRawData().size() > kInlineBytes)
      breach(op, "M5") << "expected a resource for a weight of more than " << kInlineBytes << " bytes, but got "
                       << inlined.getRawData().size() << " bytes in the attribute";
  }

  void verifyIsStructured(Operation *op) {
    bool known = llvm::isa_and_nonnull<linalg::LinalgDialect, tensor::TensorDialect, arith::ArithDialect,
                                       math::MathDialect, scf::SCFDialect, affine::AffineDialect>(op->getDialect());
    // arith knows no unsigned integers: casts stand where the body of an operation takes or gives them, and
    // give constants their type.
    bool isOfConstant = op->getNumOperands() == 1 && op->getOperand(0).getDefiningOp<arith::ConstantOp>();
    known |= llvm::isa<UnrealizedConversionCastOp>(op) && (isOfConstant || op->getParentOfType<linalg::LinalgOp>());
    if (!known && !llvm::isa<func::FuncOp, func::ReturnOp, onnx::WeightOp, ir::ScalarOp, ir::KernelOp>(op))
      breach(op, "T1") << "expected linalg, tensor, arith, math, scf, library kernels and weights only, but got '" << op->getName() << "'";
  }

  void verifyHasWork(Operation *op) {
    auto isEmpty = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
    };
    if (llvm::isa<linalg::LinalgOp>(op) && llvm::any_of(op->getOperandTypes(), isEmpty))
      breach(op, "T4") << "expected tensors with elements in '" << op->getName() << "'";
  }

  /// Visits the type of every value once, with the operation that defines it.
  void forEachType(llvm::function_ref<void(Operation *, Type)> visit) {
    main.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        visit(op, type);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Type type : block.getArgumentTypes())
            visit(op, type);
    });
  }

  void verifyStatic(Operation *op, Type type, bool mustBeTensor) {
    auto tensor = dyn_cast<TensorType>(type);
    if (tensor ? !(tensor.hasRank() && tensor.hasStaticShape()) : mustBeTensor)
      breach(op, "M6") << "expected a tensor of static shape, but got " << type;
  }

  /// An output of which the run decides how much is valid names the output that counts it.
  void verifyCounts() {
    for (unsigned i = 0; i < main.getNumResults(); ++i) {
      Attribute count = main.getResultAttr(i, "onnx.count"), dim = main.getResultAttr(i, "onnx.count_dim");
      if (!count && !dim)
        continue;
      auto number = dyn_cast_if_present<IntegerAttr>(count), counted = dyn_cast_if_present<IntegerAttr>(dim);
      if (!number || !counted || number.getValue().uge(main.getNumResults()) ||
          counted.getValue().uge(cast<TensorType>(main.getResultTypes()[i]).getRank())) {
        breach(main, "M8") << "expected the number of an output as 'onnx.count' of output #" << i
                           << ", and one of its dimensions as 'onnx.count_dim'";
        continue;
      }
      auto type = cast<TensorType>(main.getResultTypes()[number.getInt()]);
      if (!type.getElementType().isInteger(32) || type.getNumElements() != 1)
        breach(main, "M8") << "expected one 32-bit integer as the count of output #" << i << ", but got " << type;
    }
  }

  void verifyLogical(Operation *op, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (llvm::isa<BaseMemRefType>(type) || (tensor && tensor.getEncoding()))
      breach(op, "T2") << "expected a tensor without a place in memory, but got " << type;
  }

  void verifyElements(Operation *op, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return;
    std::optional<isa::DType> element = ir::dtypeOf(tensor.getElementType());
    // Library kernels compute in 64 bits; reshapes of their operands are views.
    bool wide = op->hasTrait<OpTrait::ConstantLike>() ||
                llvm::isa<func::FuncOp, onnx::WeightOp, ir::KernelOp, tensor::EmptyOp, tensor::ExpandShapeOp,
                          tensor::CollapseShapeOp>(op);
    if (!element || *element == isa::DType::BOOL || isa::byteSize(*element) > (wide ? 8 : 4))
      breach(op, "T3") << "expected elements of at most 32 bits that the device has (64 bits: in library kernels), but got " << type;
  }

  ModuleOp module;
  StringRef stage;
  func::FuncOp main;
  bool ok = true;
};

} // namespace

LogicalResult verifyImported(ModuleOp module) { return ModelVerifier(module, "imported").imported(); }
LogicalResult verifyGraph(ModuleOp module) { return ModelVerifier(module, "graph").graph(); }
LogicalResult verifyTensor(ModuleOp module) { return ModelVerifier(module, "tensor").tensor(); }

} // namespace trn
