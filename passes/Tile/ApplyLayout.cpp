//===- ApplyLayout.cpp - rewrite @main from logical to physical tensors ----===//
// Owns tile-apply-layout: walks @main once, in order, and emits every operation as LayoutPlan says. Structured
// operations are in EmitStructured.cpp, storage and movement in LayoutEmitter.cpp; here are views, placements and the
// program's inputs and outputs.
#include "dialects/Trn/Target.h"
#include "dialects/Trn/TrnDialect.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/Tile/EmitStructured.h"
#include "passes/Tile/LayoutPasses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_APPLYLAYOUTPASS
#include "passes/Tile/LayoutPasses.h.inc"

using Role = PhysicalDim::Role;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

namespace {
class LayoutApplier {
public:
  LayoutApplier(func::FuncOp function, OpBuilder &builder, const LayoutPlan &plan)
      : function(function), builder(builder), emitter(function->getParentOfType<ModuleOp>(), builder, plan),
        plan(plan) {}

  LogicalResult run() {
    Block &block = function.getBody().front();
    Operation *terminator = block.getTerminator();
    SmallVector<Operation *> operations;
    for (Operation &op : block.without_terminator())
      operations.push_back(&op);
    // New operations go in front of the terminator; the old ones, all before them, are erased at the end.
    builder.setInsertionPoint(terminator);
    bindArguments();
    bindResults(terminator);
    for (Operation *op : operations)
      if (const LayoutCandidate *candidate = plan.of(op)) {
        if (failed(emit(op, *candidate)))
          return failure();
        storePiece(op->getResult(0));
      }
    storeResults();
    eraseOld(operations, terminator);
    return success();
  }

private:
  //===-- Inputs and outputs --------------------------------------------------===//

  static StringRef ioName(DictionaryAttr attributes) {
    auto name = attributes ? attributes.getAs<StringAttr>("onnx.name") : nullptr;
    return name ? name.getValue() : StringRef();
  }

  /// What the caller sees of an input or output whose elements are narrower on the device; null when they are not.
  static TypeAttr hostType(DictionaryAttr attributes) {
    return attributes ? attributes.getAs<TypeAttr>("onnx.host_type") : nullptr;
  }

  void bindArguments() {
    for (BlockArgument argument : function.getArguments()) {
      std::string fallback = ("input" + Twine(argument.getArgNumber())).str();
      DictionaryAttr attributes = function.getArgAttrDict(argument.getArgNumber());
      StringRef name = ioName(attributes);
      auto type = cast<RankedTensorType>(argument.getType());
      Value tensor = emitter.declareInput(argument.getLoc(), type, name.empty() ? StringRef(fallback) : name,
                                          hostType(attributes));
      SmallVector<PhysicalDim> dims = physicalDims(type.getShape(), Layout::hbm());
      emitter.bind(argument, Layout::hbm(), {tensor, dims, SmallVector<int64_t>(dims.size(), 0)});
    }
  }

  /// Whether `result` is made in HBM by its operation, or moved there, so that it can be made in the output itself.
  bool hasHbmStorage(Value result) const {
    const LayoutCandidate *candidate = result.getDefiningOp() ? plan.of(result.getDefiningOp()) : nullptr;
    return candidate && !(candidate->form == LayoutCandidate::Form::View && candidate->result.isHbm());
  }

  /// The value that `result` returns: before the view that makes it a scalar, since only the output's buffer is one.
  static Value returnedValue(Value result) {
    auto collapse = result.getDefiningOp<tensor::CollapseShapeOp>();
    return shapeOf(result).empty() && collapse ? collapse.getSrc() : result;
  }

  void bindResults(Operation *terminator) {
    llvm::SmallDenseSet<Value> taken;
    for (OpOperand &operand : terminator->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      std::string fallback = ("output" + Twine(index)).str();
      DictionaryAttr attributes = function.getResultAttrDict(index);
      StringRef name = ioName(attributes);
      auto type = cast<RankedTensorType>(operand.get().getType());
      Value result = returnedValue(operand.get());
      Location loc = result.getLoc();
      Value buffer = emitter.declareOutput(loc, type, name.empty() ? StringRef(fallback) : name,
                                           hostType(attributes));
      // Memory that transfers can name has a dimension.
      bool isScalar = type.getRank() == 0;
      if (isScalar)
        buffer =
            memref::ExpandShapeOp::create(builder, loc, ArrayRef<int64_t>{1}, buffer, ArrayRef<ReassociationIndices>());
      Value tensor = emitter.asTensor(loc, buffer, /*writable=*/true);
      bool direct = !(isScalar && result == operand.get()) && hasHbmStorage(result) && taken.insert(result).second;
      if (direct)
        emitter.bindOutput(result, tensor);
      outputs.push_back({result, buffer, tensor, direct, isScalar && result == operand.get()});
    }
    bindCounts();
  }

  /// The global of output `index`.
  ir::GlobalOp globalOf(unsigned index) const {
    Value buffer = outputs[index].buffer;
    if (auto expand = buffer.getDefiningOp<memref::ExpandShapeOp>())
      buffer = expand.getSrc();
    return function->getParentOfType<ModuleOp>().lookupSymbol<ir::GlobalOp>(
        buffer.getDefiningOp<ir::GetGlobalOp>().getName());
  }

  /// Tells outputs whose size the run decides where their counts are.
  void bindCounts() {
    for (unsigned index = 0; index < outputs.size(); ++index) {
      auto count = function.getResultAttrOfType<IntegerAttr>(index, "onnx.count");
      if (!count || count.getInt() >= int64_t(outputs.size()))
        continue;
      globalOf(index).setCountAttr(FlatSymbolRefAttr::get(globalOf(count.getInt()).getSymNameAttr()));
      globalOf(index).setCountDimAttr(function.getResultAttrOfType<IntegerAttr>(index, "onnx.count_dim"));
    }
  }

  /// Stores `value` inside the result of its concatenation in HBM, if it is made on chip for one.
  void storePiece(Value value) {
    if (const LayoutPlan::Piece *piece = plan.piece(value); piece && piece->layout != plan.home(value))
      emitter.read(value, piece->layout);
  }

  void storeResults() {
    for (const Output &output : outputs) {
      Location loc = output.result.getLoc();
      Laid region = emitter.read(output.result, Layout::hbm());
      Value stored = emitter.extract(loc, region);
      if (output.expands)
        stored = tensor::ExpandShapeOp::create(
            builder, loc, emitter.typeIn({1}, cast<RankedTensorType>(stored.getType()).getElementType(), Residence::Hbm),
            stored, ArrayRef<ReassociationIndices>());
      if (!output.direct)
        stored = linalg::CopyOp::create(builder, loc, stored, output.tensor).getResult(0);
      auto store = bufferization::MaterializeInDestinationOp::create(builder, loc, Type(), stored, output.buffer);
      store.setRestrict(true);
      store.setWritable(true);
    }
  }

  void eraseOld(ArrayRef<Operation *> operations, Operation *terminator) {
    builder.setInsertionPoint(terminator);
    func::ReturnOp::create(builder, terminator->getLoc());
    terminator->erase();
    for (Operation *op : llvm::reverse(operations)) {
      // Scalar constants may be used by the bodies of new operations.
      if (op->use_empty() || isMemoryEffectFree(op))
        if (op->use_empty())
          op->erase();
    }
    function.getBody().front().eraseArguments([](BlockArgument) { return true; });
    function.setType(builder.getFunctionType({}, {}));
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
  }

  //===-- Operations ----------------------------------------------------------===//

  LogicalResult emit(Operation *op, const LayoutCandidate &candidate) {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<linalg::FillOp>([&](linalg::FillOp fill) { return emitFill(fill, candidate); })
        .Case<tensor::EmptyOp>([&](Operation *) {
          emitter.define(op->getResult(0), candidate.result);
          return success();
        })
        .Case<linalg::LinalgOp>([&](linalg::LinalgOp linalgOp) { return emitStructured(linalgOp, candidate, emitter); })
        .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>([&](Operation *) { return emitReshape(op, candidate); })
        .Case<tensor::ExtractSliceOp>([&](tensor::ExtractSliceOp slice) { return emitSlice(slice, candidate); })
        .Case<tensor::PadOp>([&](tensor::PadOp pad) { return emitPad(pad, candidate); })
        .Case<tensor::ConcatOp>([&](tensor::ConcatOp concat) { return emitConcat(concat, candidate); })
        .Case<ir::KernelOp>([&](ir::KernelOp kernel) { return emitKernel(kernel); })
        .Default([&](Operation *) { return op->emitError("expected an operation with a layout"); });
  }

  /// Whether a tensor in HBM has all elements of its memory, in order.
  static bool isWholeBuffer(Value value) {
    while (value.getDefiningOp<tensor::ExpandShapeOp>() || value.getDefiningOp<tensor::CollapseShapeOp>())
      value = value.getDefiningOp()->getOperand(0);
    return !value.getDefiningOp<tensor::ExtractSliceOp>();
  }

  /// Library kernels take whole tensors in HBM: slices are copied for them.
  LogicalResult emitKernel(ir::KernelOp kernel) {
    Location loc = kernel.getLoc();
    SmallVector<Value> inputs, outputs;
    for (Value input : kernel.getInputs()) {
      Value tensor = emitter.extract(loc, emitter.read(input, Layout::hbm()));
      if (!isWholeBuffer(tensor)) {
        auto type = cast<RankedTensorType>(tensor.getType());
        Value memory = emitter.makeEmpty(loc, type.getShape(), type.getElementType(), Residence::Hbm);
        tensor = linalg::CopyOp::create(builder, loc, tensor, memory).getResult(0);
      }
      inputs.push_back(tensor);
    }
    for (Value result : kernel.getResults())
      outputs.push_back(emitter.define(result, Layout::hbm()).version());
    auto call = ir::KernelOp::create(builder, loc, TypeRange(ValueRange(outputs)), kernel.getKernelAttr(), inputs, outputs,
                                     kernel.getParametersAttr());
    for (auto [result, made] : llvm::zip_equal(kernel.getResults(), call.getResults()))
      emitter.storageOf(result, Layout::hbm())->version() = made;
    return success();
  }

  LogicalResult emitFill(linalg::FillOp fill, const LayoutCandidate &candidate) {
    FormStorage &storage = emitter.define(fill.getResult(0), candidate.result);
    fillWhole(fill.getLoc(), fill.getInputs()[0], storage);
    return success();
  }

  /// The result is the same bytes: in HBM the same reshape, on chip one of the free dimensions.
  LogicalResult emitReshape(Operation *op, const LayoutCandidate &candidate) {
    Location loc = op->getLoc();
    Value result = op->getResult(0);
    Value source = emitter.extract(loc, emitter.read(op->getOperand(0), candidate.operands[0]));
    auto type = cast<RankedTensorType>(source.getType());
    SmallVector<PhysicalDim> dims = physicalDims(shapeOf(result), candidate.result);
    SmallVector<int64_t> shape = llvm::map_to_vector(dims, [](const PhysicalDim &dim) { return dim.extent; });
    Value reshaped = reshape(loc, source, shape, type, candidate.result.isOnChip());
    if (!reshaped)
      return op->emitError("expected a reshape of free dimensions, but got one that moves elements between them");
    emitter.bind(result, candidate.result, {reshaped, dims, SmallVector<int64_t>(dims.size(), 0)});
    return success();
  }

  /// Reshapes `source`; on chip dimension 0 stays as it is. Expands, collapses, or collapses and expands.
  Value reshape(Location loc, Value source, ArrayRef<int64_t> shape, RankedTensorType type, bool onChip) {
    if (type.getShape() == shape)
      return source;
    unsigned fixed = onChip ? 1 : 0;
    auto groupsBetween = [&](ArrayRef<int64_t> fine, ArrayRef<int64_t> coarse) {
      std::optional<SmallVector<ReassociationIndices>> groups =
          getReassociationIndicesForReshape(RankedTensorType::get(fine.drop_front(fixed), type.getElementType()),
                                            RankedTensorType::get(coarse.drop_front(fixed), type.getElementType()));
      if (groups && fixed) {
        for (ReassociationIndices &group : *groups)
          for (int64_t &dim : group)
            ++dim;
        groups->insert(groups->begin(), ReassociationIndices{0});
      }
      return groups;
    };
    auto typeWith = [&](ArrayRef<int64_t> extents) {
      return RankedTensorType::get(extents, type.getElementType(), type.getEncoding());
    };
    if (onChip && type.getShape()[0] != shape[0])
      return nullptr;
    if (shape.size() < type.getShape().size())
      if (auto groups = groupsBetween(type.getShape(), shape))
        return tensor::CollapseShapeOp::create(builder, loc, typeWith(shape), source, *groups);
    if (shape.size() > type.getShape().size())
      if (auto groups = groupsBetween(shape, type.getShape()))
        return tensor::ExpandShapeOp::create(builder, loc, typeWith(shape), source, *groups);
    SmallVector<int64_t> flat(shape.take_front(fixed));
    flat.push_back(1);
    for (int64_t extent : shape.drop_front(fixed))
      flat.back() *= extent;
    if (flat == type.getShape() || flat == SmallVector<int64_t>(shape))
      return nullptr;
    Value collapsed = reshape(loc, source, flat, type, onChip);
    return collapsed ? reshape(loc, collapsed, shape, typeWith(flat), onChip) : nullptr;
  }

  LogicalResult emitSlice(tensor::ExtractSliceOp slice, const LayoutCandidate &candidate) {
    Location loc = slice.getLoc();
    Value result = slice.getResult();
    Laid source = emitter.read(slice.getSource(), candidate.operands[0]);
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<Window> windows;
    for (const PhysicalDim &dim : source.dims) {
      if (dim.logical < 0) {
        windows.push_back({0, 1, false, 1});
        continue;
      }
      int64_t offset = slice.getStaticOffsets()[dim.logical], size = slice.getStaticSizes()[dim.logical];
      if (dim.role == Role::Lane) {
        windows.push_back({0, dim.extent, false, 1});
      } else if (dim.role == Role::Chunk) {
        int64_t lanes = source.dims[0].extent, count = size / lanes;
        bool all = size == shapeOf(slice.getSource())[dim.logical];
        windows.push_back(all ? Window{0, dim.extent, false, 1} : Window{offset / lanes, count, count == 1, 1});
      } else {
        bool drop = candidate.operands[0].isHbm() ? dropped.test(dim.logical) : size == 1;
        windows.push_back({offset, size, drop, slice.getStaticStrides()[dim.logical]});
      }
    }
    Value part = emitter.extract(loc, source, windows);
    SmallVector<PhysicalDim> dims = physicalDims(shapeOf(result), candidate.result);
    emitter.bind(result, candidate.result, {part, dims, SmallVector<int64_t>(dims.size(), 0)});
    return success();
  }

  /// Lanes [0, lanes) of chunks [begin, begin + count) of a piece.
  struct PieceChunks {
    int64_t begin, count, lanes;
  };

  /// The chunks of a piece with `dims` of logical `sizes`: whole ones, and the last by itself when it has fewer lanes,
  /// because what lies in the other lanes is not set.
  static SmallVector<PieceChunks> chunksOf(ArrayRef<PhysicalDim> dims, ArrayRef<int64_t> sizes) {
    if (dims.empty() || dims[0].role != Role::Lane || dims[0].logical < 0)
      return {{0, 1, dims.empty() ? 1 : dims[0].extent}};
    int64_t lanes = dims[0].extent, size = sizes[dims[0].logical], whole = size / lanes;
    SmallVector<PieceChunks> chunks;
    if (whole > 0)
      chunks.push_back({0, whole, lanes});
    if (size % lanes != 0)
      chunks.push_back({whole, 1, size % lanes});
    return chunks;
  }

  /// The windows where `chunks` of a piece of logical `sizes` at `offsets` lie in a tensor with `dims`. Dimensions of one
  /// element have no physical dimension on chip.
  static SmallVector<Window> windowsAt(ArrayRef<PhysicalDim> dims, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                                       const PieceChunks &chunks, const Layout &layout) {
    SmallVector<Window> windows;
    for (const PhysicalDim &dim : dims) {
      if (dim.role == Role::Lane) {
        windows.push_back({0, chunks.lanes, false, 1});
      } else if (dim.role == Role::Chunk) {
        windows.push_back({offsets[dim.logical] / dims[0].extent + chunks.begin, chunks.count, chunks.count == 1, 1});
      } else {
        bool drop = layout.isOnChip() && sizes[dim.logical] == 1;
        windows.push_back({offsets[dim.logical], sizes[dim.logical], drop, 1});
      }
    }
    return windows;
  }

  /// Puts a piece at `offsets` of the partition dimension and others into `storage`, lane by lane where its chunks are not
  /// those of the whole.
  void placeLanes(Location loc, Value piece, ArrayRef<int64_t> offsets, FormStorage &storage, const Layout &layout,
                  const PartitionSplit &whole) {
    Laid source = emitter.read(piece, layout);
    ArrayRef<int64_t> sizes = shapeOf(piece);
    for (const LaneRun &run : laneRuns(partitionSplit(sizes, layout), offsets[layout.dim], whole)) {
      SmallVector<Window> from, to;
      for (const PhysicalDim &dim : source.dims) {
        if (dim.role == Role::Lane)
          from.push_back({run.fromLane, run.lanes, false, 1});
        else if (dim.role == Role::Chunk)
          from.push_back({run.fromChunk, 1, true, 1});
        else
          from.push_back({0, dim.extent, dim.extent == 1, 1});
      }
      for (const PhysicalDim &dim : storage.dims) {
        if (dim.role == Role::Lane)
          to.push_back({run.toLane, run.lanes, false, 1});
        else if (dim.role == Role::Chunk)
          to.push_back({run.toChunk, 1, true, 1});
        else
          to.push_back({offsets[dim.logical], sizes[dim.logical], sizes[dim.logical] == 1, 1});
      }
      Value part = emitter.extract(loc, source, from);
      Value destination = emitter.extract(loc, storage.region(), to);
      emitter.insert(loc, linalg::CopyOp::create(builder, loc, part, destination).getResult(0), storage, to);
    }
  }

  void place(Location loc, Value piece, ArrayRef<int64_t> offsets, FormStorage &storage, const Layout &layout) {
    Laid source = emitter.read(piece, layout);
    ArrayRef<int64_t> sizes = shapeOf(piece);
    SmallVector<int64_t> origin(sizes.size(), 0);
    for (const PieceChunks &chunks : chunksOf(source.dims, sizes)) {
      Value part = emitter.extract(loc, source, windowsAt(source.dims, origin, sizes, chunks, layout));
      SmallVector<Window> windows = windowsAt(storage.dims, offsets, sizes, chunks, layout);
      Value destination = emitter.extract(loc, storage.region(), windows);
      emitter.insert(loc, linalg::CopyOp::create(builder, loc, part, destination).getResult(0), storage, windows);
    }
  }

  LogicalResult emitPad(tensor::PadOp pad, const LayoutCandidate &candidate) {
    const Layout &layout = candidate.result;
    if (isPlacedByReaders(pad))
      return success();
    const TensorForm *form = plan.form(pad.getSource(), layout);
    if (form && !form->halo.empty() && haloCovers(form->halo, pad)) {
      Laid region = emitter.read(pad.getSource(), candidate.operands[0]);
      for (auto [index, dim] : llvm::enumerate(region.dims))
        if (dim.role == Role::Free) {
          region.offsets[index] -= pad.getStaticLow()[dim.logical];
          dim.extent += pad.getStaticLow()[dim.logical] + pad.getStaticHigh()[dim.logical];
        }
      emitter.bind(pad.getResult(), layout, region);
      return success();
    }
    Location loc = pad.getLoc();
    Value value = pad.getConstantPaddingValue();
    if (!value)
      return pad.emitError("expected a pad with one constant value");
    FormStorage &storage = emitter.define(pad.getResult(), layout);
    fillWhole(loc, value, storage);
    place(loc, pad.getSource(), pad.getStaticLow(), storage, layout);
    return success();
  }

  bool haloCovers(const Halo &halo, tensor::PadOp pad) const {
    if (scalarConstant(pad.getConstantPaddingValue()) != halo.fill)
      return false;
    for (size_t dim = 0; dim < halo.low.size(); ++dim)
      if (halo.low[dim] < pad.getStaticLow()[dim] || halo.high[dim] < pad.getStaticHigh()[dim])
        return false;
    return true;
  }

  /// The value of every border of `concat`'s padded pieces, if it is one and a constant.
  static TypedAttr commonBorder(tensor::ConcatOp concat) {
    TypedAttr border;
    for (Value input : concat.getInputs())
      if (auto pad = input.getDefiningOp<tensor::PadOp>()) {
        TypedAttr value = pad.getConstantPaddingValue() ? scalarConstant(pad.getConstantPaddingValue()) : nullptr;
        if (!value || (border && border != value))
          return nullptr;
        border = value;
      }
    return border;
  }

  /// Whether only concatenations read `pad`, which is in HBM, and put its border and its source into their results. On
  /// chip one border for the whole result is filled: partitions do not begin anywhere.
  bool isPlacedByReaders(tensor::PadOp pad) const {
    return plan.home(pad.getResult()).isHbm() && isPlacedByConcats(pad) && llvm::all_of(pad->getUses(), [&](OpOperand &use) {
             const LayoutCandidate *reader = plan.of(use.getOwner());
             return reader && reader->operands[use.getOperandNumber()].isHbm() &&
                    (reader->result.isHbm() || commonBorder(cast<tensor::ConcatOp>(use.getOwner())));
           });
  }

  /// The pad that makes `input` of a concatenation, if its border and its source are put into the result directly.
  tensor::PadOp padPlacedHere(Value input) const {
    auto pad = input.getDefiningOp<tensor::PadOp>();
    return pad && isPlacedByReaders(pad) ? pad : nullptr;
  }

  LogicalResult emitConcat(tensor::ConcatOp concat, const LayoutCandidate &candidate) {
    Location loc = concat.getLoc();
    // Pieces that are made in the result have begun its storage.
    FormStorage *begun = emitter.storageOf(concat.getResult(), candidate.result);
    FormStorage &storage = begun ? *begun : emitter.define(concat.getResult(), candidate.result);
    SmallVector<int64_t> offsets(concat.getResultType().getRank(), 0);
    bool places = llvm::any_of(concat.getInputs(), [&](Value input) { return padPlacedHere(input) != nullptr; });
    TypedAttr border = begun || !places ? nullptr : commonBorder(concat);
    if (border)
      fillWhole(loc, materializeScalar(builder, loc, border), storage);
    for (auto [input, layout] : llvm::zip_equal(concat.getInputs(), candidate.operands)) {
      SmallVector<int64_t> at(offsets);
      Value piece = input;
      if (auto pad = padPlacedHere(input)) {
        if (!border)
          fill(loc, pad.getConstantPaddingValue(), storage,
               windowsAt(storage.dims, at, shapeOf(input), {0, 1, 1}, candidate.result));
        for (size_t dim = 0; dim < at.size(); ++dim)
          at[dim] += pad.getStaticLow()[dim];
        piece = pad.getSource();
      }
      FormStorage *made = plan.piece(input) ? emitter.storageOf(input, layout) : nullptr;
      if (layout != candidate.result)
        load(loc, piece, at, storage);
      else if (isAcrossLanes(concat, input, offsets[concat.getDim()], layout))
        placeLanes(loc, piece, at, storage, layout, partitionSplit(concat.getResultType().getShape(), layout));
      else if (!made)
        place(loc, piece, at, storage, layout);
      offsets[concat.getDim()] += shapeOf(input)[concat.getDim()];
    }
    return success();
  }

  /// Whether `input`, at position `offset`, joins others along the partitions and its chunks are not chunks of the result.
  static bool isAcrossLanes(tensor::ConcatOp concat, Value input, int64_t offset, const Layout &layout) {
    int64_t dim = concat.getDim();
    if (layout.isHbm() || layout.dim != dim)
      return false;
    PartitionSplit part = partitionSplit(shapeOf(input), layout),
                   whole = partitionSplit(concat.getResultType().getShape(), layout);
    return part.lanes != whole.lanes || part.isRagged() || offset % whole.lanes != 0;
  }

  void fill(Location loc, Value value, FormStorage &storage, ArrayRef<Window> windows) {
    Value part = emitter.extract(loc, storage.region(), windows);
    emitter.insert(loc, linalg::FillOp::create(builder, loc, value, part).getResult(0), storage, windows);
  }

  void fillWhole(Location loc, Value value, FormStorage &storage) {
    fill(loc, value, storage, emitter.whole(storage.region()));
  }

  /// Places a piece from HBM into lanes of a tensor on chip.
  void load(Location loc, Value piece, ArrayRef<int64_t> offsets, FormStorage &storage) {
    Laid source = emitter.read(piece, Layout::hbm());
    ArrayRef<int64_t> sizes = shapeOf(piece);
    SmallVector<Window> to, from;
    SmallVector<int64_t> kept;
    for (const PhysicalDim &dim : storage.dims) {
      to.push_back({offsets[dim.logical], sizes[dim.logical], false, 1});
      kept.push_back(dim.logical);
    }
    SmallVector<int64_t> fromKept;
    for (const PhysicalDim &dim : source.dims) {
      bool drop = !llvm::is_contained(kept, dim.logical);
      from.push_back({0, dim.extent, drop, 1});
      if (!drop)
        fromKept.push_back(dim.logical);
    }
    SmallVector<int64_t> permutation;
    for (int64_t logical : kept)
      permutation.push_back(llvm::find(fromKept, logical) - fromKept.begin());
    Value part = emitter.extract(loc, source, from);
    Value destination = emitter.extract(loc, storage.region(), to);
    Value moved = isIdentityPermutation(permutation)
                      ? linalg::CopyOp::create(builder, loc, part, destination).getResult(0)
                      : linalg::TransposeOp::create(builder, loc, part, destination, permutation)->getResult(0);
    emitter.insert(loc, moved, storage, to);
  }

  struct Output {
    Value result, buffer, tensor;
    bool direct;
    bool expands; ///< a scalar that nothing of one dimension was made of
  };
  func::FuncOp function;
  OpBuilder &builder;
  LayoutEmitter emitter;
  const LayoutPlan &plan;
  SmallVector<Output> outputs;
};

struct ApplyLayoutPass : public impl::ApplyLayoutPassBase<ApplyLayoutPass> {
  using ApplyLayoutPassBase::ApplyLayoutPassBase;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || (main.getNumArguments() == 0 && main.getNumResults() == 0))
      return;
    const isa::DeviceInfo *device = findDevice(main, target);
    if (!device)
      return signalPassFailure();
    const LayoutPlan &plan = getChildAnalysis<LayoutAnalysis>(main).planFor(*device, residentPercent, *crowdedNodes);
    if (plan.failed()) {
      for (auto &[op, reason] : plan.problems)
        op->emitError("expected an operation with a layout, but ") << reason;
      return signalPassFailure();
    }
    OpBuilder builder(&getContext());
    if (failed(LayoutApplier(main, builder, plan).run()))
      signalPassFailure();
  }
};
} // namespace

} // namespace trn
