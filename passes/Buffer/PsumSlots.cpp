//===- PsumSlots.cpp - elements of PSUM at addresses that it has -------------===//
// Owns the room of narrow elements in PSUM. An instruction's address there is a multiple of 4 bytes (device guide 1.2), so
// a part of a buffer of 2-byte elements may begin where nothing can. Refuses buffers that are only used whole: they begin
// where the allocator puts them.
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Buffer/Passes.h"
#include "passes/Tile/Spaces.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_PSUMSLOTSPASS
#include "passes/Buffer/Passes.h.inc"

namespace {

/// True when some view of `buffer` starts inside it.
bool isUsedInParts(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    return llvm::isa<memref::SubViewOp>(user) ||
           (llvm::isa<ViewLikeOpInterface>(user) && isUsedInParts(user->getResult(0)));
  });
}

/// Gives the views of `buffer`, whose strides have changed, the types that follow.
void retypeViews(Value buffer) {
  auto source = cast<MemRefType>(buffer.getType());
  for (Operation *user : buffer.getUsers()) {
    MemRefType type;
    if (auto slice = dyn_cast<memref::SubViewOp>(user))
      type = memref::SubViewOp::inferRankReducedResultType(slice.getType().getShape(), source, slice.getMixedOffsets(),
                                                           slice.getMixedSizes(), slice.getMixedStrides());
    else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(user))
      type = memref::CollapseShapeOp::computeCollapsedType(source, collapse.getReassociationIndices());
    else if (auto expand = dyn_cast<memref::ExpandShapeOp>(user))
      type = *memref::ExpandShapeOp::computeExpandedType(source, expand.getType().getShape(),
                                                         expand.getReassociationIndices());
    else
      continue;
    user->getResult(0).setType(type);
    retypeViews(user->getResult(0));
  }
}

struct PsumSlotsPass : impl::PsumSlotsPassBase<PsumSlotsPass> {
  void runOnOperation() override {
    SmallVector<memref::AllocOp> narrow;
    getOperation().walk([&](memref::AllocOp alloc) {
      if (isInPsum(alloc) && slotElements(alloc.getType()) > 1 && isUsedInParts(alloc))
        narrow.push_back(alloc);
    });
    for (memref::AllocOp alloc : narrow)
      widen(alloc);
  }

  /// How many elements fill the smallest addressable unit.
  static int64_t slotElements(MemRefType type) {
    return isa::widestDevice().psumAlignment * 8 / type.getElementTypeBitWidth();
  }

  /// The same buffer with a slot for each element, of which the first is used.
  static void widen(memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    SmallVector<int64_t> shape(type.getShape()), strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    shape.push_back(slotElements(type));
    for (int64_t &stride : strides)
      stride *= shape.back();
    OpBuilder b(alloc);
    auto slots = memref::AllocOp::create(b, alloc.getLoc(), MemRefType::Builder(type).setShape(shape));
    auto attributes = [&](ArrayRef<int64_t> values) {
      return llvm::map_to_vector(values, [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); });
    };
    SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
    shape.back() = 1;
    auto used = MemRefType::get(type.getShape(), type.getElementType(),
                                StridedLayoutAttr::get(b.getContext(), 0, strides), type.getMemorySpace());
    Value view = memref::SubViewOp::create(b, alloc.getLoc(), used, slots, attributes(zeros), attributes(shape),
                                           attributes(ones));
    alloc->replaceAllUsesWith(ValueRange(view));
    alloc.erase();
    retypeViews(view);
  }
};
} // namespace
} // namespace trn
