//===- GroupedContract.cpp - what stage grouped promises -------------------===//
// Implements GroupedContract.h, and the pass that runs it.
#include "passes/Tile/GroupedContract.h"
#include "dialects/Trn/TrnDialect.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tile/Layout.h"
#include "passes/Tile/LayoutPasses.h"
#include "passes/Tile/Structure.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_VERIFYGROUPEDPASS
#include "passes/Tile/LayoutPasses.h.inc"

static bool isInHbm(Value value) { return ir::spaceOf(value.getType()) == isa::Space::HBM; }
/// Values of a group without a space are on chip, too.
static bool isOnChip(Value value) { return llvm::isa<RankedTensorType>(value.getType()) && !isInHbm(value); }
static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
class GroupedVerifier {
public:
  explicit GroupedVerifier(StringRef stage = "grouped") : stage(stage) {}

  LogicalResult run(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (function.getName() == "main")
        (void)verifyMain(function, "G1");
      else
        verifyGroup(function);
    }
    return success(ok);
  }

  LogicalResult verifyMain(func::FuncOp main, StringRef rule) {
    if (main.getNumArguments() != 0 || main.getNumResults() != 0)
      breach(main, rule) << "expected no arguments and no results, but got " << main.getNumArguments() << " and "
                         << main.getNumResults();
    for (Operation &op : main.getBody().front()) {
      bool view = llvm::isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(op) &&
                  isInHbm(op.getResult(0));
      if (!view &&
          !llvm::isa<ir::GetGlobalOp, memref::ExpandShapeOp, bufferization::ToTensorOp, tensor::EmptyOp, func::CallOp,
                     ir::KernelOp, func::ReturnOp, bufferization::MaterializeInDestinationOp, arith::ConstantOp,
                     UnrealizedConversionCastOp>(op))
        breach(&op, rule) << "expected no '" << op.getName() << "' outside of groups";
      if (llvm::isa<tensor::EmptyOp>(op))
        verifyBorder(&op, op.getResult(0).getType());
    }
    return success(ok);
  }

private:
  InFlightDiagnostic breach(Operation *op, StringRef rule) {
    ok = false;
    return op->emitError("stage ") << stage << ", " << rule << ": ";
  }

  void verifyBorder(Operation *op, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<isa::Space> space = tensor ? ir::spaceOf(tensor) : std::nullopt;
    if (!space || *space == isa::Space::PSUM) {
      breach(op, "G2") << "expected a tensor in HBM or SBUF, but got " << type;
      return;
    }
    if (*space == isa::Space::SBUF && (tensor.getRank() == 0 || tensor.getDimSize(0) > kPartitions))
      breach(op, "G2") << "expected 1 to " << kPartitions << " partitions in dimension 0, but got " << type;
  }

  /// Whether an operation computes on a tensor without elements, which has no structure. Only copies of nothing are left.
  static bool isEmpty(Operation &op) {
    return llvm::isa<linalg::GenericOp>(op) && llvm::any_of(op.getOperandTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
    });
  }

  void verifyGroup(func::FuncOp function) {
    for (Type type : function.getArgumentTypes())
      verifyBorder(function, type);
    for (Operation &op : function.getBody().front()) {
      if (isEmpty(op))
        breach(&op, "G3") << "expected tensors with elements in '" << op.getName() << "'";
      else if (auto structured = dyn_cast<linalg::LinalgOp>(op))
        verifyStructured(structured);
      else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        verifySlice(&op, slice.getSource(), slice.getType(), slice);
      else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
        verifySlice(&op, insertion.getDest(), insertion.getSourceType(), insertion);
      else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
        verifyReshape(&op, expand.getSrc(), expand.getReassociationIndices());
      else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
        verifyReshape(&op, collapse.getSrc(), collapse.getReassociationIndices());
      else if (!llvm::isa<tensor::EmptyOp, arith::ConstantOp, UnrealizedConversionCastOp, func::ReturnOp>(op))
        breach(&op, "G3") << "expected no '" << op.getName() << "' in a group";
    }
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &result : terminator->getOpOperands())
      if (!llvm::isa<BlockArgument>(destinationOf(result.get())))
        breach(terminator, "G4") << "expected result #" << result.getOperandNumber()
                                 << " to be written into an argument";
  }

  /// The tensor whose storage `value` is.
  static Value destinationOf(Value value) {
    while (Operation *producer = value.getDefiningOp()) {
      if (auto structured = dyn_cast<linalg::LinalgOp>(producer))
        value = structured.getDpsInits()[cast<OpResult>(value).getResultNumber()];
      else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(producer))
        value = insertion.getDest();
      else if (llvm::isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(producer))
        value = producer->getOperand(0);
      else
        break;
    }
    return value;
  }

  /// `part` is what the slice takes from `whole`, or puts into it.
  void verifySlice(Operation *op, Value whole, RankedTensorType part, OffsetSizeAndStrideOpInterface slice) {
    ArrayRef<int64_t> offsets = slice.getStaticOffsets(), strides = slice.getStaticStrides();
    if (!isOnChip(whole) || offsets.empty())
      return;
    // Of several dimensions with one element, which ones are dropped is not defined.
    if (part.getRank() == 0 || part.getDimSize(0) != slice.getStaticSizes()[0])
      breach(op, "G5") << "expected dimension 0, the partition, to be kept";
    if (strides[0] == 1 && isMovedByDma(op))
      return;
    if (strides[0] != 1 || offsets[0] % 32 != 0 || offsets[0] > 96 || offsets[0] < 0)
      breach(op, "G5") << "expected adjacent partitions from 0, 32, 64 or 96 on, but got offset " << offsets[0]
                       << " and stride " << strides[0];
  }

  /// Whether `op` is a region of an on-chip tensor that only copies read or write: DMA may start at any partition.
  static bool isMovedByDma(Operation *op) {
    auto isMovement = [](Operation *movement) {
      if (!movement || !llvm::isa<linalg::CopyOp, linalg::TransposeOp>(movement))
        return false;
      return isInHbm(movement->getOperand(0)) ||
             (llvm::isa<linalg::CopyOp>(movement) && typeOf(movement->getOperand(0)).getEncoding());
    };
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
      return isMovement(insertion.getSource().getDefiningOp());
    return llvm::all_of(op->getUsers(), isMovement);
  }

  void verifyReshape(Operation *op, Value source, ArrayRef<ReassociationIndices> groups) {
    // Dimensions of one element may join it or leave it.
    auto expanded = typeOf(llvm::isa<tensor::ExpandShapeOp>(op) ? op->getResult(0) : source);
    if (isOnChip(source) &&
        (groups.empty() || llvm::any_of(ArrayRef<int64_t>(groups[0]).drop_front(),
                                        [&](int64_t dim) { return expanded.getDimSize(dim) != 1; })))
      breach(op, "G5") << "expected dimension 0, the partition, to be left alone";
  }

  void verifyStructured(linalg::LinalgOp op) {
    if (llvm::isa<linalg::FillOp, linalg::CopyOp, linalg::TransposeOp>(op))
      return;
    if (!llvm::isa<linalg::GenericOp>(op)) {
      breach(op, "G3") << "expected linalg.generic, fill, copy or transpose, but got '" << op->getName() << "'";
      return;
    }
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    auto first = [&](AffineMap map) -> std::optional<unsigned> {
      if (map.getNumResults() == 0 || !llvm::isa<AffineDimExpr>(map.getResult(0)))
        return std::nullopt;
      return cast<AffineDimExpr>(map.getResult(0)).getPosition();
    };
    std::optional<unsigned> partition = first(maps.back());
    if (!partition || op.getIteratorTypesArray()[*partition] != utils::IteratorType::parallel) {
      breach(op, "G6") << "expected a parallel iterator in dimension 0 of the result";
      return;
    }
    bool drains = !ir::spaceOf(op.getDpsInits()[0].getType());
    if (drains && isContraction(op, maps, *partition))
      return;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value value = input->get();
      if (!isOnChip(value) || typeOf(value).getNumElements() == 1 || isShapeOnly(op, input->getOperandNumber()))
        continue;
      if (first(maps[input->getOperandNumber()]) != partition)
        breach(op, "G6") << "expected the iterator of the result's dimension 0 in dimension 0 of input #"
                         << input->getOperandNumber();
    }
  }

  /// Whether `op` multiplies and adds along a reduction iterator in dimension 0 of both inputs.
  static bool isContraction(linalg::LinalgOp op, ArrayRef<AffineMap> maps, unsigned partition) {
    if (op.getNumDpsInputs() != 2 || op.getNumReductionLoops() == 0)
      return false;
    for (AffineMap map : maps.take_front(2))
      if (map.getNumResults() == 0 || map.getResult(0) != maps[0].getResult(0))
        return false;
    auto contracted = dyn_cast<AffineDimExpr>(maps[0].getResult(0));
    return contracted && op.getIteratorTypesArray()[contracted.getPosition()] == utils::IteratorType::reduction &&
           maps[0].isFunctionOfDim(partition) != maps[1].isFunctionOfDim(partition);
  }

  StringRef stage;
  bool ok = true;
};

struct VerifyGroupedPass : public impl::VerifyGroupedPassBase<VerifyGroupedPass> {
  void runOnOperation() override {
    if (failed(verifyGrouped(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

LogicalResult verifyGrouped(ModuleOp module) { return GroupedVerifier().run(module); }

LogicalResult verifyOutsideOfGroups(func::FuncOp main, StringRef stage, StringRef rule) {
  return GroupedVerifier(stage).verifyMain(main, rule);
}

} // namespace trn
