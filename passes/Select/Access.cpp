//===- Access.cpp - how a device tile walks its buffers ---------------------===//
// Owns the composition of views with indexing maps, the merging of loops, and the views that instructions take.
#include "passes/Select/Access.h"
#include "dialects/Trn/TrnOps.h"
#include "passes/Tile/Spaces.h"
#include "passes/Tile/Structured.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trn {

int64_t Tile::elements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

/// Adds `value * scale` elements to the offset.
static void addOffset(Access &access, OpFoldResult value, int64_t scale) {
  if (auto constant = getConstantIntValue(value)) {
    access.offset += *constant * scale;
    return;
  }
  if (scale != 0)
    access.terms.push_back({cast<Value>(value), scale});
}

/// Follows views from `buffer` to its root and adds their offsets: subviews add to the offset of their source, and
/// reinterpretations state it anew. Refuses views of which it does not know that they keep it.
static LogicalResult resolveRoot(Value buffer, Access &access, std::string &reason) {
  while (Operation *definition = buffer.getDefiningOp()) {
    if (auto subview = dyn_cast<memref::SubViewOp>(definition)) {
      SmallVector<int64_t> strides;
      int64_t offset;
      if (failed(subview.getSourceType().getStridesAndOffset(strides, offset)) ||
          llvm::any_of(strides, ShapedType::isDynamic)) {
        reason = "a view of a buffer with dynamic strides";
        return failure();
      }
      for (auto [position, stride] : llvm::zip_equal(subview.getMixedOffsets(), strides))
        addOffset(access, position, stride);
      buffer = subview.getSource();
    } else if (auto reinterpret = dyn_cast<memref::ReinterpretCastOp>(definition)) {
      addOffset(access, reinterpret.getMixedOffsets()[0], 1);
      buffer = reinterpret.getSource();
      break;
    } else if (llvm::isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp, ir::BitcastOp>(definition)) {
      buffer = definition->getOperand(0);
    } else if (llvm::isa<ViewLikeOpInterface>(definition)) {
      reason = ("a view by '" + definition->getName().getStringRef() + "', whose offset is not known").str();
      return failure();
    } else {
      break;
    }
  }
  // What a reinterpretation states is relative to the start of the allocation, not of a view of it.
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  access.root = buffer;
  return success();
}

FailureOr<Access> accessOf(Value buffer, AffineMap map, std::string &reason) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)) || llvm::any_of(strides, ShapedType::isDynamic)) {
    reason = "an operand that is no buffer with static strides";
    return failure();
  }
  Access access;
  if (failed(resolveRoot(buffer, access, reason)))
    return failure();
  access.strides.assign(map.getNumDims(), 0);
  for (unsigned dim = 0, rank = map.getNumResults(); dim != rank; ++dim) {
    AffineExpr expr = map.getResult(dim);
    // A linear expression is its value at 0 plus a multiple of each loop.
    SmallVector<AffineExpr> zeros(map.getNumDims(), getAffineConstantExpr(0, map.getContext()));
    auto base = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(expr.replaceDims(zeros), 0, 0));
    if (!base || !expr.isPureAffine()) {
      reason = "an indexing map that is not linear";
      return failure();
    }
    access.offset += base.getValue() * strides[dim];
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop) {
      if (!expr.isFunctionOfDim(loop))
        continue;
      auto at = [&](int64_t value) {
        SmallVector<AffineExpr> point(zeros);
        point[loop] = getAffineConstantExpr(value, map.getContext());
        return dyn_cast<AffineConstantExpr>(simplifyAffineExpr(expr.replaceDims(point), 0, 0));
      };
      AffineConstantExpr one = at(1), two = at(2);
      if (!one || !two || two.getValue() - one.getValue() != one.getValue() - base.getValue()) {
        reason = "an indexing map that is not linear";
        return failure();
      }
      access.strides[loop] += (one.getValue() - base.getValue()) * strides[dim];
    }
  }
  return access;
}

/// On chip the partition loop, and it alone, walks dimension 0 of the root.
static LogicalResult checkOnChip(const Access &access, int64_t partitions, std::string &reason) {
  if (spaceOf(access.root) == isa::Space::HBM || partitions == 1)
    return success();
  int64_t row = freeElements(cast<MemRefType>(access.root.getType()));
  if (access.partitionStride == row)
    return success();
  reason = access.partitionStride == 0 ? "an operand on one partition that every partition needs"
                                       : "an operand whose partitions are not those of the result";
  return failure();
}

FailureOr<Tile> tileOf(linalg::LinalgOp op, std::optional<unsigned> partition, ArrayRef<unsigned> loops,
                       std::string &reason) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  Tile tile;
  tile.partitions = partition ? ranges[*partition] : 1;
  SmallVector<unsigned> kept;
  for (unsigned loop : loops)
    if (ranges[loop] != 1) {
      kept.push_back(loop);
      tile.sizes.push_back(ranges[loop]);
    }
  for (OpOperand &operand : op->getOpOperands()) {
    if (!llvm::isa<MemRefType>(operand.get().getType())) {
      reason = "an operand that is no buffer";
      return failure();
    }
    FailureOr<Access> access = accessOf(operand.get(), op.getMatchingIndexingMap(&operand), reason);
    if (failed(access))
      return failure();
    bool isUnused = op.isDpsInput(&operand) && !op.payloadUsesValueFromOperand(&operand);
    if (isUnused) // gives a window its shape
      access->strides.assign(access->strides.size(), 0);
    access->partitionStride = partition ? access->strides[*partition] : 0;
    if (!isUnused && failed(checkOnChip(*access, tile.partitions, reason)))
      return failure();
    access->strides = llvm::map_to_vector(kept, [&](unsigned loop) { return access->strides[loop]; });
    tile.accesses.push_back(std::move(*access));
  }
  return tile;
}

SmallVector<unsigned> mergeLoops(Tile &tile, ArrayRef<unsigned> borders) {
  SmallVector<unsigned> moved(borders);
  for (unsigned loop = 0; loop + 1 < tile.sizes.size();) {
    bool mergeable = !llvm::is_contained(moved, loop + 1) && llvm::all_of(tile.accesses, [&](const Access &access) {
      return access.strides[loop] == access.strides[loop + 1] * tile.sizes[loop + 1];
    });
    if (!mergeable) {
      ++loop;
      continue;
    }
    tile.sizes[loop] *= tile.sizes[loop + 1];
    tile.sizes.erase(tile.sizes.begin() + loop + 1);
    for (Access &access : tile.accesses)
      access.strides.erase(access.strides.begin() + loop);
    for (unsigned &border : moved)
      if (border > loop + 1)
        --border;
  }
  return moved;
}

void unrollOuterLoops(OpBuilder &builder, Location loc, Tile &tile, unsigned rank) {
  while (tile.sizes.size() > rank) {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value size = arith::ConstantIndexOp::create(builder, loc, tile.sizes.front());
    auto loop = scf::ForOp::create(builder, loc, zero, size, one);
    builder.setInsertionPointToStart(loop.getBody());
    for (Access &access : tile.accesses) {
      if (access.strides.front() != 0)
        access.terms.push_back({loop.getInductionVar(), access.strides.front()});
      access.strides.erase(access.strides.begin());
    }
    tile.sizes.erase(tile.sizes.begin());
  }
}

Value createView(OpBuilder &builder, Location loc, const Access &access, int64_t partitions, ArrayRef<int64_t> sizes) {
  auto rootType = cast<MemRefType>(access.root.getType());
  SmallVector<int64_t> shape = {partitions}, strides = {access.partitionStride};
  llvm::append_range(shape, sizes);
  llvm::append_range(strides, access.strides);
  if (sizes.empty()) {
    shape.push_back(1);
    strides.push_back(1);
  }
  AffineExpr sum = builder.getAffineConstantExpr(access.offset);
  SmallVector<OpFoldResult> values;
  for (auto [value, scale] : access.terms) {
    sum = sum + builder.getAffineDimExpr(values.size()) * scale;
    values.push_back(value);
  }
  OpFoldResult offset = affine::makeComposedFoldedAffineApply(
      builder, loc, AffineMap::get(values.size(), 0, sum), values);
  auto constant = getConstantIntValue(offset);
  auto layout = StridedLayoutAttr::get(builder.getContext(), constant.value_or(ShapedType::kDynamic), strides);
  MemRefType type = MemRefType::get(shape, rootType.getElementType(), layout, rootType.getMemorySpace());
  if (rootType.getShape() == type.getShape()) {
    SmallVector<int64_t> rootStrides;
    int64_t rootOffset;
    if (succeeded(rootType.getStridesAndOffset(rootStrides, rootOffset)) && rootStrides == strides &&
        constant == rootOffset)
      return access.root;
  }
  SmallVector<OpFoldResult> shapes = llvm::map_to_vector(
      shape, [&](int64_t size) -> OpFoldResult { return builder.getIndexAttr(size); });
  SmallVector<OpFoldResult> steps = llvm::map_to_vector(
      strides, [&](int64_t stride) -> OpFoldResult { return builder.getIndexAttr(stride); });
  return memref::ReinterpretCastOp::create(builder, loc, type, access.root, offset, shapes, steps);
}

Value createBroadcast(OpBuilder &builder, Location loc, Value column, ArrayRef<int64_t> sizes) {
  std::string reason;
  auto type = cast<MemRefType>(column.getType());
  FailureOr<Access> access = accessOf(column, builder.getMultiDimIdentityMap(type.getRank()), reason);
  assert(succeeded(access) && "columns are views that this library made");
  access->partitionStride = access->strides.front();
  access->strides.assign(sizes.size(), 0);
  Value everywhere = createView(builder, loc, *access, type.getDimSize(0), sizes);
  auto seen = cast<MemRefType>(everywhere.getType());
  if (seen.getElementType() == type.getElementType())
    return everywhere;
  // Of a column whose bits are read as another type.
  MemRefType element = MemRefType::Builder(seen).setElementType(type.getElementType());
  return ir::BitcastOp::create(builder, loc, element, everywhere);
}

Value createTemporary(OpBuilder &builder, Location loc, int64_t partitions, ArrayRef<int64_t> sizes, Type element,
                      isa::Space space) {
  SmallVector<int64_t> shape = {partitions};
  llvm::append_range(shape, sizes);
  if (sizes.empty())
    shape.push_back(1);
  if (element.isInteger(1))
    element = builder.getI8Type();
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                              ir::spaceAttr(builder.getContext(), space));
  return memref::AllocOp::create(builder, loc, type);
}

} // namespace trn
