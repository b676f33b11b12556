//===- LayoutEmitter.cpp - laid-out tensors while a plan is carried out ----===//
// Implements LayoutEmitter.h.
#include "passes/Tile/LayoutEmitter.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trn {

using Role = PhysicalDim::Role;

LayoutEmitter::LayoutEmitter(ModuleOp module, OpBuilder &builder, const LayoutPlan &plan)
    : builder(builder), plan(plan), module(module) {}

LayoutEmitter::Key LayoutEmitter::key(Value value, const Layout &layout) {
  return {value.getAsOpaquePointer(), layout.isHbm() ? Layout::kOneLane - 1 : layout.dim};
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static SmallVector<int64_t> extentsOf(ArrayRef<PhysicalDim> dims) {
  return llvm::map_to_vector(dims, [](const PhysicalDim &dim) { return dim.extent; });
}

//===-- Types, globals -------------------------------------------------------===//

RankedTensorType LayoutEmitter::typeIn(ArrayRef<int64_t> shape, Type element, Residence residence) const {
  isa::Space space = residence == Residence::Hbm ? isa::Space::HBM : isa::Space::SBUF;
  return RankedTensorType::get(shape, element, ir::spaceAttr(builder.getContext(), space));
}

Value LayoutEmitter::makeEmpty(Location loc, ArrayRef<int64_t> shape, Type element, Residence residence) {
  return tensor::EmptyOp::create(builder, loc, typeIn(shape, element, residence), ValueRange());
}

Value LayoutEmitter::asTensor(Location loc, Value buffer, bool writable) {
  auto type = cast<MemRefType>(buffer.getType());
  return bufferization::ToTensorOp::create(builder, loc, typeIn(type.getShape(), type.getElementType(), Residence::Hbm),
                                           buffer,
                                           /*restrict=*/true, writable);
}

//===-- Regions ---------------------------------------------------------------===//

SmallVector<Window> LayoutEmitter::whole(const Laid &region) const {
  return llvm::map_to_vector(region.dims, [](const PhysicalDim &dim) { return Window{0, dim.extent, false, 1}; });
}

namespace {
/// Operands of a slice operation.
struct SliceArguments {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> shape; ///< of the slice, dropped dimensions left out
  bool covers;                ///< the whole tensor, undropped

  SliceArguments(OpBuilder &builder, RankedTensorType type, ArrayRef<int64_t> base, ArrayRef<Window> windows) {
    covers = true;
    for (auto [dim, window] : llvm::enumerate(windows)) {
      offsets.push_back(builder.getIndexAttr(base[dim] + window.offset));
      sizes.push_back(builder.getIndexAttr(window.size));
      strides.push_back(builder.getIndexAttr(window.stride));
      covers &= !window.drop && window.size == type.getDimSize(dim);
      if (!window.drop)
        shape.push_back(window.size);
    }
  }
};
} // namespace

Value LayoutEmitter::extract(Location loc, const Laid &region, ArrayRef<Window> windows) {
  RankedTensorType type = typeOf(region.tensor);
  SliceArguments slice(builder, type, region.offsets, windows);
  if (slice.covers)
    return region.tensor;
  return tensor::ExtractSliceOp::create(builder, loc,
                                        RankedTensorType::get(slice.shape, type.getElementType(), type.getEncoding()),
                                        region.tensor, slice.offsets, slice.sizes, slice.strides);
}

void LayoutEmitter::insert(Location loc, Value part, FormStorage &storage, ArrayRef<Window> windows) {
  SliceArguments slice(builder, typeOf(storage.current), storage.offsets, windows);
  storage.current = slice.covers ? part
                                 : tensor::InsertSliceOp::create(builder, loc, part, storage.current, slice.offsets,
                                                                 slice.sizes, slice.strides);
}

//===-- Constants -------------------------------------------------------------===//

Value LayoutEmitter::layOutConstant(Value constant, ArrayRef<PhysicalDim> dims) {
  std::optional<ConstantTensor> weight = constantTensor(constant);
  assert(weight && "only constants are laid out while compiling");
  SmallVector<int64_t> logical = weight->transforms.shape();
  // Physical dimensions of each logical one, slowest first, and the elements that splitting adds.
  SmallVector<SmallVector<unsigned>> factors(logical.size());
  SmallVector<unsigned> added;
  for (Role role : {Role::Chunk, Role::Lane, Role::Free})
    for (auto [index, dim] : llvm::enumerate(dims))
      if (dim.role == role) {
        if (dim.logical < 0)
          added.push_back(index);
        else
          factors[dim.logical].push_back(index);
      }
  SmallVector<int64_t> padding(logical.size(), 0), split;
  SmallVector<unsigned> order;
  for (auto [dim, parts] : llvm::enumerate(factors)) {
    int64_t extent = 1;
    for (unsigned part : parts) {
      extent *= dims[part].extent;
      split.push_back(dims[part].extent);
      order.push_back(part);
    }
    padding[dim] = extent - logical[dim];
  }
  for (unsigned part : added) {
    split.push_back(1);
    order.push_back(part);
  }
  SmallVector<int64_t> permutation;
  for (unsigned index = 0; index < dims.size(); ++index)
    permutation.push_back(llvm::find(order, index) - order.begin());

  WeightTransforms &transforms = weight->transforms;
  LogicalResult applied = success();
  if (llvm::any_of(padding, [](int64_t zeros) { return zeros != 0; }))
    applied = transforms.pad(padding);
  if (succeeded(applied) && transforms.shape() != split)
    applied = transforms.reshape(split);
  if (succeeded(applied) && !isIdentityPermutation(permutation))
    applied = transforms.transpose(permutation);
  if (failed(applied)) {
    emitError(constant.getLoc()) << "expected a constant whose dimensions can be split for the partitions, but its "
                                    "transforms tear them apart";
    return nullptr;
  }
  ArrayAttr attribute = transforms.toAttribute(builder.getContext());
  auto [entry, isNew] = constants.insert({{weight->value.getAsOpaquePointer(), attribute.getAsOpaquePointer()}, {}});
  if (isNew)
    entry->second = declareWeight(constant.getLoc(), weight->value, attribute,
                                  typeIn(transforms.shape(), transforms.elementType(), Residence::Hbm));
  return entry->second;
}

//===-- FormStorage ---------------------------------------------------------------===//

void LayoutEmitter::bind(Value value, const Layout &layout, Laid region) { bound[key(value, layout)] = region; }

FormStorage *LayoutEmitter::storageOf(Value value, const Layout &layout) {
  auto found = storages.find(key(value, layout));
  return found == storages.end() ? nullptr : found->second.get();
}

FormStorage &LayoutEmitter::allocate(Value value, const Layout &layout) {
  RankedTensorType type = typeOf(value);
  auto storage = std::make_unique<FormStorage>();
  storage->dims = physicalDims(type.getShape(), layout);
  storage->offsets.assign(storage->dims.size(), 0);
  SmallVector<int64_t> shape = extentsOf(storage->dims);
  const TensorForm *form = plan.form(value, layout);
  if (form && !form->halo.empty())
    for (auto [index, dim] : llvm::enumerate(storage->dims))
      if (dim.role == Role::Free) {
        storage->offsets[index] = form->halo.low[dim.logical];
        shape[index] += form->halo.low[dim.logical] + form->halo.high[dim.logical];
      }
  Residence residence = layout.isHbm() || (form && form->spilled) ? Residence::Hbm : Residence::Sbuf;
  Value output = layout.isHbm() ? outputs.lookup(value) : Value();
  storage->current = output ? output : makeEmpty(value.getLoc(), shape, type.getElementType(), residence);
  FormStorage &result = *storage;
  storages[key(value, layout)] = std::move(storage);
  if (form && !form->halo.empty())
    fillBorder(value.getLoc(), result, form->halo, layout);
  return result;
}

/// Fills the elements around the tensor: everything at once if that takes no more instructions' time than the sides.
void LayoutEmitter::fillBorder(Location loc, FormStorage &storage, const Halo &halo, const Layout &layout) {
  Value fill = arith::ConstantOp::create(builder, loc, halo.fill);
  RankedTensorType type = typeOf(storage.current);
  auto fillWindow = [&](ArrayRef<Window> windows) {
    Laid all{storage.current, {}, SmallVector<int64_t>(windows.size(), 0)};
    Value part = extract(loc, all, windows);
    Value filled = linalg::FillOp::create(builder, loc, fill, part).getResult(0);
    SliceArguments slice(builder, type, all.offsets, windows);
    storage.current = slice.covers ? filled
                                   : tensor::InsertSliceOp::create(builder, loc, filled, storage.current, slice.offsets,
                                                                   slice.sizes, slice.strides);
  };
  SmallVector<Window> all =
      llvm::map_to_vector(type.getShape(), [](int64_t extent) { return Window{0, extent, false, 1}; });
  // Sides, each cut by the ones before it so that nothing is filled twice.
  SmallVector<SmallVector<Window>> sides;
  SmallVector<Window> rest = all;
  double sideTime = 0;
  LayoutCosts costs;
  auto freeElements = [](ArrayRef<Window> windows) {
    double elements = 1;
    for (const Window &window : windows.drop_front())
      elements *= window.size;
    return elements;
  };
  for (size_t dim = 1; dim < all.size(); ++dim) {
    int64_t low = storage.offsets[dim], high = type.getDimSize(dim) - low - storage.dims[dim].extent;
    for (auto [offset, size] : {std::make_pair(int64_t(0), low), std::make_pair(type.getDimSize(dim) - high, high)})
      if (size > 0) {
        SmallVector<Window> side = rest;
        side[dim] = {offset, size, false, 1};
        sideTime += costs.vector(freeElements(side));
        sides.push_back(side);
      }
    rest[dim] = {low, storage.dims[dim].extent, false, 1};
  }
  if (costs.vector(freeElements(all)) <= sideTime)
    sides.assign(1, all);
  for (ArrayRef<Window> side : sides)
    fillWindow(side);
}

FormStorage &LayoutEmitter::define(Value value, const Layout &layout) { return allocate(value, layout); }

Laid LayoutEmitter::read(Value value, const Layout &layout) {
  if (auto found = bound.find(key(value, layout)); found != bound.end())
    return found->second;
  if (FormStorage *storage = storageOf(value, layout))
    return storage->region();
  if (isConstantTensor(value)) {
    SmallVector<PhysicalDim> dims = physicalDims(typeOf(value).getShape(), layout);
    Laid region{layOutConstant(value, dims), dims, SmallVector<int64_t>(dims.size(), 0)};
    bind(value, layout, region);
    return region;
  }
  convert(value, plan.home(value), layout);
  return read(value, layout);
}

//===-- Movement --------------------------------------------------------------===//

void LayoutEmitter::convert(Value value, const Layout &from, const Layout &to) {
  assert(from != to && "nothing to convert: the value was never made");
  Layout source = plan.waypoint(value, to).value_or(from);
  if (to.isHbm() && source.isOneLane() && !llvm::is_contained(typeOf(value).getShape(), 1))
    return storeLane(value, read(value, source));
  Laid region = read(value, source);
  FormStorage &target = allocate(value, to);
  moveBlocks(value.getLoc(), region, target);
}

/// The reassociation that adds a dimension of one element in front.
static SmallVector<ReassociationIndices> leadingUnit(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank; ++dim)
    groups.push_back(dim == 0 ? ReassociationIndices{0, 1} : ReassociationIndices{dim + 1});
  return groups;
}

/// Stores a tensor that lies in one lane and has no dimension of one element that could stand for the lane.
void LayoutEmitter::storeLane(Value value, const Laid &source) {
  Location loc = value.getLoc();
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, type.getShape());
  Value buffer = makeEmpty(loc, shape, type.getElementType(), Residence::Hbm);
  Value stored = linalg::CopyOp::create(builder, loc, extract(loc, source), buffer).getResult(0);
  Value flat =
      tensor::CollapseShapeOp::create(builder, loc, typeIn(type.getShape(), type.getElementType(), Residence::Hbm),
                                      stored, leadingUnit(type.getRank()));
  SmallVector<PhysicalDim> dims = physicalDims(type.getShape(), Layout::hbm());
  Laid region{flat, dims, SmallVector<int64_t>(dims.size(), 0)};
  if (!outputs.count(value))
    return bind(value, Layout::hbm(), region);
  FormStorage &target = allocate(value, Layout::hbm());
  target.current = linalg::CopyOp::create(builder, loc, flat, target.current).getResult(0);
}

/// One transfer per chunk lets the first consumer start early; past this many, they cost more than they hide.
static constexpr int64_t kMaxTransfersPerMove = 16;

bool LayoutEmitter::loadChunksAtOnce(Location loc, const Laid &source, FormStorage &target) {
  const PhysicalDim *chunk =
      llvm::find_if(target.dims, [](const PhysicalDim &dim) { return dim.role == Role::Chunk; });
  if (chunk == target.dims.end() || chunk->extent <= kMaxTransfersPerMove ||
      ir::spaceOf(typeOf(source.tensor)) != isa::Space::HBM ||
      typeOf(source.tensor).getShape() != ArrayRef<int64_t>(extentsOf(source.dims)) ||
      llvm::any_of(source.dims, [](const PhysicalDim &dim) { return dim.role != Role::Free; }))
    return false;
  int64_t split = chunk->logical, lanes = target.dims[0].extent;
  if (source.dims[split].extent != chunk->extent * lanes)
    return false; // the last chunk is shorter
  // In HBM a split dimension is a view; on chip, lanes come first.
  constexpr int64_t kChunkLabel = -2;
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape, labels, targetLabels;
  SmallVector<Window> windows, targetWindows;
  auto add = [&](int64_t extent, int64_t label) {
    groups.back().push_back(shape.size());
    shape.push_back(extent);
    bool drop = extent == 1 && label != split;
    windows.push_back({0, extent, drop, 1});
    if (!drop)
      labels.push_back(label);
  };
  for (const PhysicalDim &dim : source.dims) {
    groups.emplace_back();
    if (dim.logical == split)
      add(chunk->extent, kChunkLabel);
    add(dim.logical == split ? lanes : dim.extent, dim.logical);
  }
  for (const PhysicalDim &dim : target.dims) {
    bool drop = dim.role == Role::Free && dim.extent == 1;
    targetWindows.push_back({0, dim.extent, drop, 1});
    if (!drop)
      targetLabels.push_back(dim.role == Role::Chunk ? kChunkLabel : dim.logical);
  }
  RankedTensorType type = typeOf(source.tensor);
  Laid view{tensor::ExpandShapeOp::create(
                builder, loc, RankedTensorType::get(shape, type.getElementType(), type.getEncoding()), source.tensor,
                groups),
            {},
            SmallVector<int64_t>(shape.size(), 0)};
  SmallVector<int64_t> permutation;
  for (int64_t label : targetLabels)
    permutation.push_back(llvm::find(labels, label) - labels.begin());
  Value moved = linalg::TransposeOp::create(builder, loc, extract(loc, view, windows),
                                            extract(loc, target.region(), targetWindows), permutation)
                    .getResult()[0];
  insert(loc, moved, target, targetWindows);
  return true;
}

void LayoutEmitter::moveBlocks(Location loc, const Laid &source, FormStorage &target) {
  if (loadChunksAtOnce(loc, source, target))
    return;
  // The logical extents, as far as partitions are concerned, from the side on which the dimension is free.
  llvm::DenseMap<int64_t, int64_t> extents;
  for (ArrayRef<PhysicalDim> dims : {ArrayRef<PhysicalDim>(source.dims), ArrayRef<PhysicalDim>(target.dims)})
    for (const PhysicalDim &dim : dims)
      if (dim.role == Role::Free)
        extents[dim.logical] = dim.extent;
  auto splitOf = [&](ArrayRef<PhysicalDim> dims) -> std::pair<int64_t, PartitionSplit> {
    if (dims.empty() || dims[0].role != Role::Lane || dims[0].logical < 0)
      return {Layout::kOneLane, PartitionSplit()};
    int64_t dim = dims[0].logical;
    return {dim, splitOverPartitions(extents.lookup(dim))};
  };
  int64_t fromDim, toDim;
  PartitionSplit from, to;
  std::tie(fromDim, from) = splitOf(source.dims);
  std::tie(toDim, to) = splitOf(target.dims);
  bool lane = (!source.dims.empty() && source.dims[0].role == Role::Lane && source.dims[0].logical < 0) ||
              (!target.dims.empty() && target.dims[0].role == Role::Lane && target.dims[0].logical < 0);

  for (int64_t fromChunk = 0; fromChunk < from.chunks; ++fromChunk)
    for (int64_t toChunk = 0; toChunk < to.chunks; ++toChunk) {
      auto range = [&](int64_t logical) -> std::optional<std::pair<int64_t, int64_t>> {
        for (auto [dim, split, chunk] :
             {std::make_tuple(fromDim, from, fromChunk), std::make_tuple(toDim, to, toChunk)})
          if (dim >= 0 && dim == logical)
            return std::make_pair(chunk * split.lanes, chunk + 1 == split.chunks ? split.lastLanes() : split.lanes);
        return std::nullopt;
      };
      auto windowsOf = [&](ArrayRef<PhysicalDim> dims, int64_t chunk, SmallVectorImpl<int64_t> &labels) {
        SmallVector<Window> windows;
        bool laneTaken = !lane;
        for (const PhysicalDim &dim : dims) {
          std::optional<std::pair<int64_t, int64_t>> part = range(dim.logical);
          if (dim.role == Role::Lane) {
            windows.push_back({0, dim.logical < 0 ? 1 : part->second, false, 1});
            labels.push_back(dim.logical);
          } else if (dim.role == Role::Chunk) {
            windows.push_back({chunk, 1, true, 1});
          } else if (part) {
            windows.push_back({part->first, part->second, false, 1});
            labels.push_back(dim.logical);
          } else if (dim.extent == 1 && !laneTaken) {
            // This dimension of one element stands for the lane of the other side.
            laneTaken = true;
            windows.push_back({0, 1, false, 1});
            labels.push_back(Layout::kOneLane);
          } else {
            windows.push_back({0, dim.extent, dim.extent == 1, 1});
            if (dim.extent != 1)
              labels.push_back(dim.logical);
          }
        }
        return windows;
      };
      SmallVector<int64_t> fromLabels, toLabels;
      SmallVector<Window> fromWindows = windowsOf(source.dims, fromChunk, fromLabels),
                          toWindows = windowsOf(target.dims, toChunk, toLabels);
      Value part = extract(loc, source, fromWindows);
      if (fromLabels.size() < toLabels.size()) {
        // HBM without a dimension for the lane.
        RankedTensorType type = typeOf(part);
        SmallVector<int64_t> shape = {1};
        llvm::append_range(shape, type.getShape());
        part = tensor::ExpandShapeOp::create(builder, loc,
                                             RankedTensorType::get(shape, type.getElementType(), type.getEncoding()),
                                             part, leadingUnit(type.getRank()));
        fromLabels.insert(fromLabels.begin(), Layout::kOneLane);
      }
      SmallVector<int64_t> permutation;
      for (int64_t label : toLabels)
        permutation.push_back(llvm::find(fromLabels, label) - fromLabels.begin());
      Value destination = extract(loc, target.region(), toWindows);
      Value moved = isIdentityPermutation(permutation)
                        ? linalg::CopyOp::create(builder, loc, part, destination).getResult(0)
                        : linalg::TransposeOp::create(builder, loc, part, destination, permutation).getResult()[0];
      insert(loc, moved, target, toWindows);
    }
}

} // namespace trn
