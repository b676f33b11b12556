//===- CallLibrary.cpp - what library kernels compute ----------------------===//
// Owns the choice of operations that library kernels compute, by the types of their elements. The programs of the calls are
// LoopProgram.cpp's.
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "passes/Tensor/LoopProgram.h"
#include "passes/Tensor/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace trn {
#define GEN_PASS_DEF_CALLLIBRARYPASS
#include "passes/Tensor/Passes.h.inc"

using namespace mlir;

namespace {

/// Whether a value or the elements of a tensor have 64 bits; positions do not count.
bool isWide(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 64;
}

/// Whether engines cannot compute `op`: it reads, writes or computes numbers of 64 bits.
bool needsLibrary(Operation *op) {
  if (op->getNumResults() == 1 && !llvm::isa<RankedTensorType>(op->getResult(0).getType()))
    return false; // a scalar outside of bodies is a constant
  bool wide = false;
  op->walk([&](Operation *inner) {
    wide |= llvm::any_of(inner->getOperands(), isWide) || llvm::any_of(inner->getResults(), isWide);
  });
  return wide && !llvm::isa<func::ReturnOp, onnx::WeightOp, tensor::EmptyOp, tensor::ExpandShapeOp,
                            tensor::CollapseShapeOp, ir::KernelOp>(op);
}

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The box `offsets`, `steps` of a tensor.
LoopRegion boxOf(RankedTensorType type, ArrayRef<int64_t> offsets, ArrayRef<int64_t> steps = {}) {
  LoopRegion region;
  for (auto [dim, stride] : llvm::enumerate(computeSuffixProduct(type.getShape()))) {
    region.offset += offsets[dim] * stride;
    region.strides.push_back(stride * (steps.empty() ? 1 : steps[dim]));
  }
  return region;
}

LoopRegion wholeOf(RankedTensorType type) { return boxOf(type, SmallVector<int64_t>(type.getRank(), 0)); }

class CallLibrary : public impl::CallLibraryPassBase<CallLibrary> {
  void runOnOperation() override {
    bool ok = true;
    // Readers first: an initial value that is zeros needs no call when its reader starts from zeros.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front()))) {
      if (!needsLibrary(&op))
        continue;
      if (isOpTriviallyDead(&op)) {
        op.erase();
        continue;
      }
      OpBuilder builder(&op);
      std::string reason;
      Value value = replacement(builder, &op, reason);
      if (!value) {
        op.emitError("expected numbers of at most 32 bits, which the engines compute with, but got 64: ")
            << (reason.empty() ? "no library kernel computes this operation" : reason);
        ok = false;
        continue;
      }
      op.getResult(0).replaceAllUsesWith(value);
      op.erase();
    }
    if (!ok)
      return signalPassFailure();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  static Value replacement(OpBuilder &builder, Operation *op, std::string &reason) {
    Location loc = op->getLoc();
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case<arith::ConstantOp>([&](arith::ConstantOp constant) -> Value {
          auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
          return dense ? onnx::WeightOp::create(builder, loc, dense).getResult() : Value();
        })
        .Case<linalg::LinalgOp>([&](linalg::LinalgOp structured) { return callLoops(builder, structured, reason); })
        .Case<tensor::ExtractSliceOp>([&](tensor::ExtractSliceOp slice) { return sliced(builder, slice, reason); })
        .Case<tensor::InsertSliceOp>([&](tensor::InsertSliceOp insertion) { return inserted(builder, insertion, reason); })
        .Case<tensor::PadOp>([&](tensor::PadOp pad) { return padded(builder, pad, reason); })
        .Case<tensor::ConcatOp>([&](tensor::ConcatOp concat) { return concatenated(builder, concat, reason); })
        .Default([](Operation *) { return Value(); });
  }

  static Value sliced(OpBuilder &builder, tensor::ExtractSliceOp slice, std::string &reason) {
    auto full = RankedTensorType::get(slice.getStaticSizes(), slice.getType().getElementType());
    LoopRegion from = boxOf(slice.getSourceType(), slice.getStaticOffsets(), slice.getStaticStrides());
    return callCopy(builder, slice.getLoc(), slice.getType(), nullptr, slice.getSource(), full.getShape(), from,
                    wholeOf(full), reason);
  }

  static Value inserted(OpBuilder &builder, tensor::InsertSliceOp insertion, std::string &reason) {
    auto full = RankedTensorType::get(insertion.getStaticSizes(), insertion.getDestType().getElementType());
    LoopRegion to = boxOf(insertion.getDestType(), insertion.getStaticOffsets(), insertion.getStaticStrides());
    return callCopy(builder, insertion.getLoc(), insertion.getDestType(), insertion.getDest(), insertion.getSource(),
                    full.getShape(), wholeOf(full), to, reason);
  }

  static Value padded(OpBuilder &builder, tensor::PadOp pad, std::string &reason) {
    Value padding = pad.getConstantPaddingValue();
    TypedAttr value;
    if (auto cast = padding ? padding.getDefiningOp<UnrealizedConversionCastOp>() : UnrealizedConversionCastOp())
      padding = cast.getOperand(0);
    if (!padding || !matchPattern(padding, m_Constant(&value)))
      return nullptr;
    Value start = matchPattern(padding, m_PosZeroFloat()) || matchPattern(padding, m_Zero())
                      ? Value()
                      : callFill(builder, pad.getLoc(), pad.getResultType(), value, reason);
    if (!start && !reason.empty())
      return nullptr;
    return callCopy(builder, pad.getLoc(), pad.getResultType(), start, pad.getSource(), pad.getSourceType().getShape(),
                    wholeOf(pad.getSourceType()), boxOf(pad.getResultType(), pad.getStaticLow()), reason);
  }

  static Value concatenated(OpBuilder &builder, tensor::ConcatOp concat, std::string &reason) {
    Value result;
    SmallVector<int64_t> offsets(concat.getResultType().getRank(), 0);
    for (Value piece : concat.getInputs()) {
      result = callCopy(builder, concat.getLoc(), concat.getResultType(), result, piece, typeOf(piece).getShape(),
                        wholeOf(typeOf(piece)), boxOf(concat.getResultType(), offsets), reason);
      if (!result)
        return nullptr;
      offsets[concat.getDim()] += typeOf(piece).getDimSize(concat.getDim());
    }
    return result;
  }
};
} // namespace
} // namespace trn
