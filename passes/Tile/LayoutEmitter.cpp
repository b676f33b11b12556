//===- LayoutEmitter.cpp - laid-out tensors while a plan is carried out ----===//
// Implements LayoutEmitter.h.
#include "passes/Tile/LayoutEmitter.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/Tile/Spaces.h"
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
  storage.version() = insert(loc, part, storage.region(), windows);
}

Value LayoutEmitter::insert(Location loc, Value part, const Laid &region, ArrayRef<Window> windows) {
  SliceArguments slice(builder, typeOf(region.tensor), region.offsets, windows);
  return slice.covers ? part
                      : tensor::InsertSliceOp::create(builder, loc, part, region.tensor, slice.offsets, slice.sizes,
                                                      slice.strides);
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

FormStorage &LayoutEmitter::allocatePiece(Value value, const LayoutPlan::Piece &piece, const Layout &layout) {
  FormStorage *whole = storageOf(piece.whole, layout);
  if (!whole)
    whole = &allocate(piece.whole, layout);
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  // In HBM nothing is split: pieces of a concatenation lie there in one.
  PartitionSplit split = layout.isOnChip() ? partitionSplit(shape, layout) : PartitionSplit();
  auto storage = std::make_unique<FormStorage>();
  storage->whole = whole;
  for (auto [dim, offset] : llvm::zip_equal(whole->dims, whole->offsets)) {
    PhysicalDim own = dim;
    int64_t begin = 0;
    if (dim.role == Role::Chunk) {
      own.extent = split.chunks;
      begin = piece.offsets[dim.logical] / split.lanes;
    } else if (dim.role == Role::Free) {
      own.extent = shape[dim.logical];
      begin = piece.offsets[dim.logical];
    }
    storage->dims.push_back(own);
    storage->offsets.push_back(offset + begin);
  }
  return *(storages[key(value, layout)] = std::move(storage));
}

FormStorage &LayoutEmitter::allocate(Value value, const Layout &layout) {
  if (const LayoutPlan::Piece *piece = plan.piece(value); piece && layout == piece->layout)
    return allocatePiece(value, *piece, layout);
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
  storage->version() = output ? output : makeEmpty(value.getLoc(), shape, type.getElementType(), residence);
  FormStorage &result = *storage;
  storages[key(value, layout)] = std::move(storage);
  if (form && !form->halo.empty())
    fillBorder(value.getLoc(), result, form->halo, layout);
  return result;
}

/// Fills the elements around the tensor: everything at once if that takes no more instructions' time than the sides, or
/// in HBM, where a side's few elements are slow to write.
void LayoutEmitter::fillBorder(Location loc, FormStorage &storage, const Halo &halo, const Layout &layout) {
  Value fill = materializeScalar(builder, loc, halo.fill);
  RankedTensorType type = typeOf(storage.version());
  auto fillWindow = [&](ArrayRef<Window> windows) {
    Laid all{storage.version(), {}, SmallVector<int64_t>(windows.size(), 0)};
    Value part = extract(loc, all, windows);
    Value filled = linalg::FillOp::create(builder, loc, fill, part).getResult(0);
    SliceArguments slice(builder, type, all.offsets, windows);
    storage.version() = slice.covers ? filled
                                   : tensor::InsertSliceOp::create(builder, loc, filled, storage.version(), slice.offsets,
                                                                   slice.sizes, slice.strides);
  };
  SmallVector<Window> all =
      llvm::map_to_vector(type.getShape(), [](int64_t extent) { return Window{0, extent, false, 1}; });
  // Sides, each cut by the ones before it so that nothing is filled twice.
  SmallVector<SmallVector<Window>> sides;
  SmallVector<Window> rest = all;
  double sideTime = 0;
  const LayoutCosts &costs = plan.costs;
  auto freeElements = [](ArrayRef<Window> windows) {
    double elements = 1;
    for (const Window &window : windows.drop_front())
      elements *= window.size;
    return elements;
  };
  for (size_t dim = layout.isHbm() ? 0 : 1; dim < all.size(); ++dim) {
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
  if (layout.isHbm() || costs.vector(freeElements(all)) <= sideTime)
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

//===-- Row-major tensors in HBM ---------------------------------------------------===//

/// Adjacent bytes in row-major HBM below which a DMA moves at less than half of its rate: such a tensor is put into the
/// order of its layout once, instead of at every load.
static constexpr int64_t kShortestRunBytes = 512;

bool LayoutEmitter::isRowMajorIn(Value value, const Layout &layout) {
  const TensorForm *form = plan.form(value, layout);
  if (!form || !form->spilled || !form->halo.empty() || layout.isOneLane() || bound.count(key(value, layout)) ||
      storageOf(value, layout))
    return false;
  RankedTensorType type = typeOf(value);
  PartitionSplit split = partitionSplit(type.getShape(), layout);
  int64_t run = storedBytes(type.getElementType());
  for (int64_t extent : type.getShape().drop_front(layout.dim + 1))
    run *= extent;
  if (run < kShortestRunBytes || split.isRagged())
    return false;
  Layout home = plan.home(value);
  if (home.isHbm())
    return !plan.waypoint(value, layout);
  // Made on chip: somebody wants it in row-major order anyway, and nobody but structured operations in another.
  const TensorForm *rowMajor = plan.form(value, Layout::hbm());
  return home == layout && rowMajor && rowMajor->halo.empty() && !plan.waypoint(value, Layout::hbm()) &&
         !plan.piece(value) && value.getDefiningOp<linalg::LinalgOp>() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
           const LayoutCandidate *reader = plan.of(use.getOwner());
           if (!reader || llvm::isa<linalg::LinalgOp>(use.getOwner()))
             return true;
           return llvm::all_of(llvm::zip_equal(layoutOperands(use.getOwner()), reader->operands), [&](auto operand) {
             return std::get<0>(operand)->get() != value || std::get<1>(operand).isHbm();
           });
         });
}

Laid LayoutEmitter::splitRowMajor(Value value, const Layout &layout) {
  RankedTensorType type = typeOf(value);
  PartitionSplit split = partitionSplit(type.getShape(), layout);
  Laid region = plan.home(value).isHbm() || storageOf(value, Layout::hbm()) ? read(value, Layout::hbm())
                                                                           : define(value, Layout::hbm()).region();
  Value source = extract(value.getLoc(), region);
  SmallVector<PhysicalDim> dims;
  SmallVector<ReassociationIndices> groups;
  for (const PhysicalDim &dim : region.dims) {
    groups.push_back({static_cast<int64_t>(dims.size())});
    if (dim.logical == layout.dim && split.chunks > 1) {
      dims.push_back({Role::Chunk, layout.dim, split.chunks});
      groups.back().push_back(dims.size());
    }
    dims.push_back(dim.logical == layout.dim ? PhysicalDim{Role::Lane, layout.dim, split.lanes} : dim);
  }
  if (split.chunks > 1)
    source = tensor::ExpandShapeOp::create(builder, value.getLoc(),
                                           typeIn(extentsOf(dims), type.getElementType(), Residence::Hbm), source, groups);
  return Laid{source, dims, SmallVector<int64_t>(dims.size(), 0)};
}

void LayoutEmitter::writeRowMajor(Value value, Value split) {
  FormStorage &storage = *storageOf(value, Layout::hbm());
  RankedTensorType type = typeOf(storage.version());
  if (auto groups = getReassociationIndicesForReshape(typeOf(split), type); groups && typeOf(split) != type)
    split = tensor::CollapseShapeOp::create(builder, value.getLoc(), type, split, *groups);
  storage.version() = split;
}

//===-- Movement --------------------------------------------------------------===//

void LayoutEmitter::convert(Value value, const Layout &from, const Layout &to) {
  assert(from != to && "nothing to convert: the value was never made");
  std::optional<Layout> middle = plan.waypoint(value, to);
  if (plan.turnsByBlocks(value, to) && !plan.form(value, *middle))
    return convertByBlocks(value, *middle, to);
  Layout source = middle.value_or(from);
  if (to.isHbm() && source.isOneLane() && !llvm::is_contained(typeOf(value).getShape(), 1))
    return storeLane(value, read(value, source));
  Laid region = read(value, source);
  FormStorage &target = allocate(value, to);
  moveBlocks(value.getLoc(), region, target);
}

/// Narrows `region` to `extent` elements from `begin` on of a logical dimension that no partitions are on.
static void narrow(SmallVectorImpl<PhysicalDim> &dims, SmallVectorImpl<int64_t> &offsets, int64_t logical, int64_t begin,
                   int64_t extent) {
  for (auto [dim, offset] : llvm::zip_equal(dims, offsets))
    if (dim.logical == logical) {
      dim.extent = extent;
      offset += begin;
    }
}

/// Storage for a tensor of logical `shape` in `layout` that no form stands for.
FormStorage LayoutEmitter::temporary(Location loc, ArrayRef<int64_t> shape, Type element, const Layout &layout) {
  FormStorage storage;
  storage.dims = physicalDims(shape, layout);
  storage.offsets.assign(storage.dims.size(), 0);
  storage.version() = makeEmpty(loc, extentsOf(storage.dims), element, Residence::Sbuf);
  return storage;
}

/// `split` with `count` of its chunks as one, if what every such block has is split like the whole.
static PartitionSplit grouped(const PartitionSplit &split, int64_t count) {
  PartitionSplit blocks = {split.extent, split.lanes * count, (split.chunks + count - 1) / count};
  auto isSplitAlike = [&](int64_t extent) {
    return extent <= split.lanes || splitOverPartitions(extent).lanes == split.lanes;
  };
  bool alike = (blocks.chunks == 1 || isSplitAlike(blocks.lanes)) && isSplitAlike(blocks.lastLanes());
  return alike || blocks.chunks == 1 ? blocks : split;
}

/// Chunks of rows that are turned together on their way to HBM: their columns are runs of 2 KiB there in bf16, which a
/// DMA moves at more than twice the rate of a single chunk's.
static constexpr int64_t kRowsOnTheWay = 8;

void LayoutEmitter::convertByBlocks(Value value, const Layout &middle, const Layout &to) {
  RankedTensorType type = typeOf(value);
  Laid source = read(value, Layout::hbm());
  FormStorage &target = allocate(value, to);
  PartitionSplit rows = partitionSplit(type.getShape(), middle), columns = partitionSplit(type.getShape(), to);
  int64_t room = LayoutPlan::kBlockBytes / LayoutPlan::blockBytes(value, middle, to), lanes = rows.lanes;
  if (ir::spaceOf(typeOf(target.version())) == isa::Space::HBM)
    rows = grouped(rows, std::min({rows.chunks, kRowsOnTheWay, room}));
  room /= (rows.lanes + lanes - 1) / lanes;
  columns = grouped(columns, std::clamp<int64_t>(room, 1, columns.chunks));
  for (int64_t row = 0; row < rows.chunks; ++row)
    for (int64_t column = 0; column < columns.chunks; ++column)
      convertBlock(value, source, target, middle, to, {row, rows}, {column, columns});
}

void LayoutEmitter::convertBlock(Value value, const Laid &source, FormStorage &target, const Layout &middle,
                                 const Layout &to, const ChunkOf &row, const ChunkOf &column) {
  Location loc = value.getLoc();
  Type element = typeOf(value).getElementType();
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[middle.dim] = row.lanes();
  shape[to.dim] = column.lanes();
  Laid part = source;
  narrow(part.dims, part.offsets, middle.dim, row.begin(), row.lanes());
  narrow(part.dims, part.offsets, to.dim, column.begin(), column.lanes());
  FormStorage loaded = temporary(loc, shape, element, middle);
  moveBlocks(loc, part, loaded);

  FormStorage piece;
  piece.dims = target.dims;
  piece.offsets = target.offsets;
  piece.whole = &target;
  narrow(piece.dims, piece.offsets, middle.dim, row.begin(), row.lanes());
  for (auto [dim, offset] : llvm::zip_equal(piece.dims, piece.offsets))
    if (dim.role == Role::Chunk)
      offset += column.begin() / piece.dims[0].extent;
  if (ir::spaceOf(typeOf(target.version())) != isa::Space::HBM)
    return moveBlocks(loc, loaded.region(), piece);
  // A DMA would store single elements: PE turns the block on chip first.
  FormStorage turned = temporary(loc, shape, element, to);
  moveBlocks(loc, loaded.region(), turned);
  copyChunks(loc, turned.region(), piece, partitionSplit(shape, to));
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
  target.version() = linalg::CopyOp::create(builder, loc, flat, target.version()).getResult(0);
}

/// One transfer per chunk lets the first consumer start early; past this many, they cost more than they hide, unless each
/// moves for longer than the issue of the next one takes.
static constexpr int64_t kMaxTransfersPerMove = 16;
static constexpr int64_t kLongTransferBytes = 1 << 20;

namespace {
/// Chunks of a split dimension that move as one, `lanes` of each; they begin at element `first` of the dimension.
struct ChunkRun {
  int64_t begin, count, lanes, first;
  int64_t elements() const { return count * lanes; }
};

/// The dimension that a side of a move has on partitions, and how it is split.
struct PartitionSide {
  int64_t dim = Layout::kOneLane;
  PartitionSplit split;

  /// Each chunk by itself, or the even ones as one run and the rest after them.
  SmallVector<ChunkRun> runs(bool together) const {
    SmallVector<ChunkRun> result;
    int64_t even = split.isRagged() ? split.chunks - 1 : split.chunks, step = together && even > 0 ? even : 1;
    for (int64_t chunk = 0; chunk < even; chunk += step)
      result.push_back({chunk, step, split.lanes, chunk * split.lanes});
    if (even < split.chunks)
      result.push_back({even, 1, split.lastLanes(), even * split.lanes});
    return result;
  }
};

/// A block of a move on one side: where it is in the region, and what each dimension of it stands for.
struct Block {
  SmallVector<Window> windows;
  SmallVector<int64_t> labels; // per dimension that is not dropped
};
} // namespace

/// The label of the chunks of a logical dimension; lanes and free dimensions have the logical dimension itself.
static int64_t chunkLabel(int64_t logical) { return Layout::kOneLane - 1 - logical; }

/// What a side with dimensions `dims` reads or writes when the runs of the two split dimensions move. `lane` stays true
/// until a dimension of one element stands for the lane of a one-lane side.
static Block blockOf(ArrayRef<PhysicalDim> dims, llvm::function_ref<const ChunkRun *(int64_t)> runOf, bool lane) {
  Block block;
  auto add = [&](Window window, int64_t label) {
    block.windows.push_back(window);
    if (!window.drop)
      block.labels.push_back(label);
  };
  for (const PhysicalDim &dim : dims) {
    const ChunkRun *run = runOf(dim.logical);
    if (dim.role == Role::Lane) {
      add({0, dim.logical < 0 ? 1 : run->lanes, false, 1}, dim.logical);
    } else if (dim.role == Role::Chunk) {
      add({run->begin, run->count, run->count == 1, 1}, chunkLabel(dim.logical));
    } else if (run) {
      add({run->first, run->elements(), false, 1}, dim.logical);
    } else if (dim.extent == 1 && lane) {
      lane = false;
      add({0, 1, false, 1}, Layout::kOneLane);
    } else {
      add({0, dim.extent, dim.extent == 1, 1}, dim.logical);
    }
  }
  return block;
}

/// Splits the free dimension that stands for `logical` into the chunks of `run` and their lanes. Returns the
/// reassociation; the tensor is a view of the same elements.
static SmallVector<ReassociationIndices> splitChunks(OpBuilder &builder, Location loc, Value &part, Block &block,
                                                     int64_t logical, const ChunkRun &run) {
  size_t position = llvm::find(block.labels, logical) - block.labels.begin();
  RankedTensorType type = typeOf(part);
  SmallVector<int64_t> shape(type.getShape());
  shape[position] = run.lanes;
  shape.insert(shape.begin() + position, run.count);
  block.labels.insert(block.labels.begin() + position, chunkLabel(logical));
  SmallVector<ReassociationIndices> groups;
  for (size_t dim = 0, next = 0; dim < static_cast<size_t>(type.getRank()); ++dim) {
    groups.emplace_back();
    for (size_t parts = dim == position ? 2 : 1; parts > 0; --parts)
      groups.back().push_back(next++);
  }
  part = tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType(), type.getEncoding()), part, groups);
  return groups;
}

void LayoutEmitter::moveBlocks(Location loc, const Laid &source, FormStorage &target) {
  // The logical extents, as far as partitions are concerned, from the side on which the dimension is free.
  llvm::DenseMap<int64_t, int64_t> extents;
  for (ArrayRef<PhysicalDim> dims : {ArrayRef<PhysicalDim>(source.dims), ArrayRef<PhysicalDim>(target.dims)})
    for (const PhysicalDim &dim : dims)
      if (dim.role == Role::Free)
        extents[dim.logical] = dim.extent;
  auto sideOf = [&](ArrayRef<PhysicalDim> dims) {
    PartitionSide side;
    if (!dims.empty() && dims[0].role == Role::Lane && dims[0].logical >= 0)
      side = {dims[0].logical, splitOverPartitions(extents.lookup(dims[0].logical))};
    return side;
  };
  auto isOneLane = [](ArrayRef<PhysicalDim> dims) {
    return !dims.empty() && dims[0].role == Role::Lane && dims[0].logical < 0;
  };
  PartitionSide from = sideOf(source.dims), to = sideOf(target.dims);
  bool lane = isOneLane(source.dims) || isOneLane(target.dims);
  int64_t transfers = from.split.chunks * to.split.chunks;
  int64_t bytes = storedBytes(typeOf(source.tensor).getElementType());
  for (const PhysicalDim &dim : source.dims)
    bytes *= dim.role == Role::Free ? dim.extent : 1;
  bytes *= from.split.extent;
  bool together = transfers > kMaxTransfersPerMove && bytes / transfers < kLongTransferBytes;

  for (const ChunkRun &fromRun : from.runs(together))
    for (const ChunkRun &toRun : to.runs(together)) {
      auto runOf = [&](int64_t logical) -> const ChunkRun * {
        return logical < 0 ? nullptr : logical == from.dim ? &fromRun : logical == to.dim ? &toRun : nullptr;
      };
      Block read = blockOf(source.dims, runOf, lane), written = blockOf(target.dims, runOf, lane);
      Value part = extract(loc, source, read.windows), destination = extract(loc, target.region(), written.windows);
      Value whole = destination;
      if (llvm::is_contained(written.labels, Layout::kOneLane) && !llvm::is_contained(read.labels, Layout::kOneLane)) {
        // HBM without a dimension for the lane.
        RankedTensorType type = typeOf(part);
        SmallVector<int64_t> shape = {1};
        llvm::append_range(shape, type.getShape());
        part = tensor::ExpandShapeOp::create(builder, loc,
                                             RankedTensorType::get(shape, type.getElementType(), type.getEncoding()),
                                             part, leadingUnit(type.getRank()));
        read.labels.insert(read.labels.begin(), Layout::kOneLane);
      }
      // Chunks of one side are part of a free dimension of the other.
      std::optional<SmallVector<ReassociationIndices>> groups;
      if (toRun.count > 1)
        splitChunks(builder, loc, part, read, to.dim, toRun);
      if (fromRun.count > 1)
        groups = splitChunks(builder, loc, destination, written, from.dim, fromRun);
      SmallVector<int64_t> permutation;
      for (int64_t label : written.labels)
        permutation.push_back(llvm::find(read.labels, label) - read.labels.begin());
      Value moved =
          isIdentityPermutation(permutation)
              ? linalg::CopyOp::create(builder, loc, part, destination).getResult(0)
              : linalg::TransposeOp::create(builder, loc, part, destination, permutation).getResult()[0];
      if (groups)
        moved = tensor::CollapseShapeOp::create(builder, loc, typeOf(whole), moved, *groups);
      insert(loc, moved, target, written.windows);
    }
}

void LayoutEmitter::copyChunks(Location loc, const Laid &source, FormStorage &target, const PartitionSplit &split) {
  for (const ChunkRun &run : PartitionSide{source.dims[0].logical, split}.runs(/*together=*/true)) {
    auto runOf = [&](int64_t logical) { return logical == source.dims[0].logical ? &run : nullptr; };
    Block read = blockOf(source.dims, runOf, /*lane=*/false), written = blockOf(target.dims, runOf, /*lane=*/false);
    Value part = extract(loc, source, read.windows), destination = extract(loc, target.region(), written.windows);
    insert(loc, linalg::CopyOp::create(builder, loc, part, destination).getResult(0), target, written.windows);
  }
}

} // namespace trn
