//===- TiledContract.cpp - what holds at stage tiled ----------------------===//
//
// Owns the checks of TiledContract.h.
//
//===----------------------------------------------------------------------===//
#include "passes/Verify/TiledContract.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Tile/GroupedContract.h"
#include "passes/Tile/Spaces.h"
#include "passes/Tile/Structured.h"

using namespace mlir;

namespace trn {
namespace {

class TiledVerifier {
public:
  LogicalResult run(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (function.getName() == "main") {
        ok &= succeeded(verifyOutsideOfGroups(function, "tiled", "L1"));
        continue;
      }
      for (Type type : function.getArgumentTypes())
        verifyType(function, type);
      function.getBody().walk([&](Operation *op) { verifyOperation(op); });
    }
    return success(ok);
  }

private:
  InFlightDiagnostic breach(Operation *op, StringRef rule) {
    ok = false;
    return op->emitError("stage tiled, ") << rule << ": ";
  }

  void verifyOperation(Operation *op) {
    if (llvm::isa_and_nonnull<linalg::LinalgOp>(op->getParentOp()))
      return; // bodies hold scalars
    if (!isShapeOnly(op))
      for (Type type : op->getResultTypes())
        verifyType(op, type);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      verifyLoop(loop);
    else if (!isAllowed(op))
      breach(op, "L3") << "expected no '" << op->getName() << "' in a group";
    if (isWrittenByPE(op))
      verifyWrittenByPE(cast<linalg::LinalgOp>(op));
    if (llvm::isa<tensor::EmptyOp, linalg::FillOp>(op))
      verifyDestination(op);
  }

  /// True for a window that only gives loops their ranges, as in MLIR's poolings: no buffer is made for it.
  static bool isShapeOnly(Operation *op) {
    return llvm::isa<tensor::EmptyOp>(op) && !op->use_empty() && llvm::all_of(op->getUses(), [](OpOperand &use) {
             auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
             return user && user.isDpsInput(&use) && !user.payloadUsesValueFromOperand(&use);
           });
  }

  static bool isAllowed(Operation *op) {
    // arith knows no unsigned integers: a cast gives a constant its type.
    if (llvm::isa<UnrealizedConversionCastOp>(op))
      return op->getNumOperands() == 1 && op->getOperand(0).getDefiningOp<arith::ConstantOp>();
    return llvm::isa<linalg::LinalgOp, tensor::EmptyOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
                     tensor::ExpandShapeOp, tensor::CollapseShapeOp, scf::YieldOp, func::ReturnOp>(op) ||
           llvm::isa_and_nonnull<arith::ArithDialect, affine::AffineDialect>(op->getDialect());
  }

  /// Whether each step of the outermost free dimensions is one bank, and half of the banks hold them all.
  static bool isWholeBanks(TensorType tensor, const isa::DeviceInfo &device) {
    int64_t banks = 1;
    for (int64_t dim = 1; dim + 1 < tensor.getRank() && banks * device.psumBankBytes < freeBytes(tensor); ++dim)
      banks *= tensor.getDimSize(dim);
    return banks <= device.psumBanks / 2 && freeBytes(tensor) == banks * device.psumBankBytes;
  }

  void verifyType(Operation *op, Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    if (!tensor)
      return;
    std::optional<isa::Space> space = spaceOf(type);
    if (!space || !tensor.hasStaticShape()) {
      breach(op, "L2") << "expected a static shape and a space, but got " << type;
      return;
    }
    if (*space == isa::Space::HBM)
      return;
    const isa::DeviceInfo &device = isa::widestDevice();
    if (tensor.getRank() == 0 || tensor.getDimSize(0) < 1 || tensor.getDimSize(0) > device.partitions)
      breach(op, "L2") << "expected 1 to " << device.partitions << " partitions in dimension 0, but got " << type;
    else if (*space == isa::Space::PSUM && freeBytes(tensor) > device.psumBankBytes && !isWholeBanks(tensor, device))
      breach(op, "L4") << "expected at most " << device.psumBankBytes << " bytes per partition, one bank of PSUM, or one of "
                       << "up to " << device.psumBanks / 2 << " banks for each step of the outer dimensions, but got "
                       << freeBytes(tensor) << " of " << type;
  }

  void verifyLoop(scf::ForOp loop) {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!getConstantIntValue(loop.getLowerBound()) || !getConstantIntValue(loop.getUpperBound()) || !step || *step <= 0)
      breach(loop, "L3") << "expected constant bounds and a positive step";
  }

  void verifyWrittenByPE(linalg::LinalgOp op) {
    for (Value init : op.getDpsInits())
      if (!isInPsum(init))
        breach(op, "L4") << "expected the result of a " << name(classify(op)) << " in psum, but got "
                         << spaceName(spaceOf(init));
  }

  /// Whether an operation writes into the value of `use`.
  static bool isDestination(OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      return structured.isDpsInit(&use);
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
      return use.get() == insertion.getDest();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return llvm::is_contained(loop.getInitArgs(), use.get());
    return false;
  }

  void verifyDestination(Operation *op) {
    Operation *first = nullptr;
    for (OpOperand &use : op->getUses()) {
      if (!isDestination(use))
        continue;
      if (first) {
        breach(op, "L5") << "expected one operation that writes it, but got several";
        return;
      }
      first = use.getOwner();
    }
  }

  bool ok = true;
};

} // namespace

LogicalResult verifyTiled(ModuleOp module) { return TiledVerifier().run(module); }

} // namespace trn
