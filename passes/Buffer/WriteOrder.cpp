//===- WriteOrder.cpp - whether destinations can be written where they are -===//
// Implements WriteOrder.h.
//
// Every tensor value is a box of a buffer as of a position in that buffer's log of writes. A value may be read while no
// later entry of the log overlaps its box. Writing appends an entry; inserting what already lies in its place does not.
#include "passes/Buffer/WriteOrder.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace trn {

namespace {

/// Per dimension of the buffer the first index and the one after the last; an index that varies makes it the extent.
using Box = SmallVector<std::pair<int64_t, int64_t>>;

/// Entries that all reads of old versions look at before they count as unknown: bounds the walk's time, to some tens of
/// milliseconds.
constexpr size_t kMaxScanned = size_t(1) << 22;

bool overlap(const Box &a, const Box &b) {
  for (auto [x, y] : llvm::zip_equal(a, b))
    if (x.second <= y.first || y.second <= x.first)
      return false;
  return true;
}

/// The views, outermost first, that lead from a whole buffer to a value.
using Path = SmallVector<Operation *, 2>;

bool startsWith(ArrayRef<Operation *> path, ArrayRef<Operation *> prefix) {
  return path.size() >= prefix.size() && path.take_front(prefix.size()) == prefix;
}

/// One write: at most the elements of `box`, exactly those that `path` shows.
struct Entry {
  Box box;
  Path path;
};

struct Buffer {
  Box whole;
  bool writable = true;
  std::vector<Entry> log;
};

/// Where a value lies.
struct Place {
  unsigned buffer = 0;
  Box box;         ///< what the value covers at most: a slice of a view counts as all of the view
  Path path;
  size_t asOf = 0; ///< entries of the log that the value includes
};

class Walker {
public:
  Walker(func::FuncOp function, const llvm::DenseMap<Operation *, FunctionEffects> &callees, std::string &reason)
      : function(function), callees(callees), reason(reason) {}

  std::optional<FunctionEffects> run() {
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
      return refuse(function, "expected one block"), std::nullopt;
    for (BlockArgument argument : function.getArguments())
      if (llvm::isa<RankedTensorType>(argument.getType()))
        newBuffer(argument);
    if (!walk(function.getBody().front()))
      return std::nullopt;
    FunctionEffects effects;
    effects.written.resize(function.getNumArguments());
    llvm::SmallDenseMap<unsigned, unsigned> argumentOf;
    for (BlockArgument argument : function.getArguments())
      if (auto place = places.find(argument); place != places.end()) {
        effects.written[argument.getArgNumber()] = !buffers[place->second.buffer].log.empty();
        argumentOf[place->second.buffer] = argument.getArgNumber();
      }
    for (Value result : function.getBody().front().getTerminator()->getOperands()) {
      auto place = places.find(result);
      if (place == places.end())
        return refuse(function, "expected results that are tensors"), std::nullopt;
      auto argument = argumentOf.find(place->second.buffer);
      bool whole = llvm::all_of(place->second.path, llvm::IsaPred<tensor::ExpandShapeOp, tensor::CollapseShapeOp>);
      if (argument == argumentOf.end() || !whole)
        return refuse(function, "expected results that are whole arguments"), std::nullopt;
      effects.results.push_back({argument->second, place->second.path});
    }
    return effects;
  }

private:
  bool refuse(Operation *op, const Twine &why) {
    if (reason.empty())
      reason = ("'" + op->getName().getStringRef() + "': " + why).str();
    return false;
  }

  const Box &wholeOf(const Place &place) const { return buffers[place.buffer].whole; }
  size_t now(const Place &place) const { return buffers[place.buffer].log.size(); }

  Place &newBuffer(Value value, bool writable = true) {
    Buffer buffer;
    buffer.writable = writable;
    for (int64_t extent : cast<RankedTensorType>(value.getType()).getShape())
      buffer.whole.push_back({0, extent});
    Place place;
    place.buffer = buffers.size();
    place.box = buffer.whole;
    buffers.push_back(std::move(buffer));
    return places[value] = place;
  }

  /// The place of a tensor that the walk has seen.
  Place *placeOf(Value value) {
    auto found = places.find(value);
    return found == places.end() ? nullptr : &found->second;
  }

  /// A loop runs again: what it uses from outside must not be overwritten by any of its steps, which is checked at its
  /// end.
  void noteOutside(Value value, const Place &place) {
    Operation *owner = value.getParentBlock()->getParentOp();
    for (Loop &loop : loops)
      if (owner != loop.op && !loop.op->isProperAncestor(owner))
        loop.outside.push_back({place.buffer, place.box});
  }

  /// Whether nothing that `value` shows has been overwritten.
  bool read(Operation *op, Value value) {
    if (!llvm::isa<RankedTensorType>(value.getType()))
      return true;
    Place *place = placeOf(value);
    if (!place)
      return refuse(op, "expected an operand whose buffer is known");
    if (overwritten(*place))
      return refuse(op, "reads a version that may be overwritten");
    noteOutside(value, *place);
    return true;
  }

  /// Whether one of the writes to `place` since its version is as `matters` says; when there are too many to look at,
  /// that counts as one. A part of a buffer is often a slice of its first version, while other parts were written since.
  bool anyWrittenSince(const Place &place, llvm::function_ref<bool(const Entry &)> matters) {
    ArrayRef<Entry> entries = ArrayRef(buffers[place.buffer].log).drop_front(place.asOf);
    scanned += entries.size();
    return scanned > kMaxScanned || llvm::any_of(entries, [&](const Entry &entry) {
             return overlap(entry.box, place.box) && matters(entry);
           });
  }

  bool overwritten(const Place &place) {
    return anyWrittenSince(place, [](const Entry &) { return true; });
  }

  /// Writes the whole of `destination`; `result` is what it then holds.
  bool write(Operation *op, Value destination, Value result) {
    Place *place = placeOf(destination);
    if (!place)
      return refuse(op, "expected a destination whose buffer is known");
    Buffer &buffer = buffers[place->buffer];
    if (!buffer.writable)
      return refuse(op, "writes what it may only read");
    // Dimensions of a slice may be apart: to collapse them may take a copy.
    for (auto [index, view] : llvm::enumerate(place->path))
      if (index > 0 && llvm::isa<tensor::CollapseShapeOp>(view))
        return refuse(op, "writes through a collapsed slice");
    if (overwritten(*place))
      return refuse(op, "writes a version that may be overwritten");
    noteOutside(destination, *place);
    buffer.log.push_back({place->box, place->path});
    Place written = *place;
    written.asOf = buffer.log.size();
    if (result)
      places[result] = written;
    return true;
  }

  bool walk(Block &block) {
    for (Operation &op : block.without_terminator())
      if (!visit(&op))
        return false;
    Operation *terminator = block.getTerminator();
    for (Value value : terminator->getOperands())
      if (!read(terminator, value))
        return false;
    return true;
  }

  bool visit(Operation *op) {
    return TypeSwitch<Operation *, bool>(op)
        .Case<tensor::EmptyOp>([&](tensor::EmptyOp empty) { return newBuffer(empty.getResult()), true; })
        .Case<bufferization::ToTensorOp>(
            [&](bufferization::ToTensorOp load) { return newBuffer(load.getResult(), load.getWritable()), true; })
        .Case<bufferization::MaterializeInDestinationOp>([&](bufferization::MaterializeInDestinationOp store) {
          return store.getRestrict() && store->getNumResults() == 0 ? read(op, store.getSource())
                                                                    : refuse(op, "expected a restricted store");
        })
        .Case<tensor::ExtractSliceOp>([&](tensor::ExtractSliceOp slice) { return visitSlice(slice); })
        .Case<tensor::InsertSliceOp>([&](tensor::InsertSliceOp insertion) { return visitInsertion(insertion); })
        .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>([&](Operation *) { return visitReshape(op); })
        .Case<linalg::LinalgOp, ir::KernelOp>([&](Operation *) { return visitDestinationStyle(cast<DestinationStyleOpInterface>(op)); })
        .Case<scf::ForOp>([&](scf::ForOp loop) { return visitLoop(loop); })
        .Case<func::CallOp>([&](func::CallOp call) { return visitCall(call); })
        .Default([&](Operation *) {
          bool tensors = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
                         llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>) || op->getNumRegions() != 0;
          return tensors ? refuse(op, "expected an operation of stage 'tiled'") : true;
        });
  }

  bool visitSlice(tensor::ExtractSliceOp slice) {
    Place *source = placeOf(slice.getSource());
    if (!source)
      return refuse(slice, "expected an operand whose buffer is known");
    noteOutside(slice.getSource(), *source);
    Place place = *source;
    if (place.path.empty())
      place.box = boxOf(slice, wholeOf(place));
    place.path.push_back(slice);
    places[slice.getResult()] = place;
    return true;
  }

  static Box boxOf(tensor::ExtractSliceOp slice, const Box &whole) {
    Box box;
    for (auto [dim, extent] : llvm::enumerate(whole)) {
      int64_t offset = slice.getStaticOffsets()[dim], size = slice.getStaticSizes()[dim],
              stride = slice.getStaticStrides()[dim];
      if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) || ShapedType::isDynamic(stride) || size == 0)
        box.push_back(extent);
      else
        box.push_back({offset, offset + (size - 1) * stride + 1});
    }
    return box;
  }

  /// Whether `op` collapses what the last view of `path` expanded.
  static bool undoesLast(Operation *op, ArrayRef<Operation *> path) {
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
    auto expand = path.empty() ? nullptr : dyn_cast<tensor::ExpandShapeOp>(path.back());
    return collapse && expand && collapse.getReassociationIndices() == expand.getReassociationIndices() &&
           collapse.getResultType() == expand.getSrcType();
  }

  bool visitReshape(Operation *op) {
    Place *source = placeOf(op->getOperand(0));
    if (!source)
      return refuse(op, "expected an operand whose buffer is known");
    noteOutside(op->getOperand(0), *source);
    Place place = *source;
    if (undoesLast(op, place.path))
      place.path.pop_back();
    else
      place.path.push_back(op);
    places[op->getResult(0)] = place;
    return true;
  }

  bool visitDestinationStyle(DestinationStyleOpInterface op) {
    if (!op.hasPureTensorSemantics() || op->getNumResults() != op.getNumDpsInits())
      return refuse(op, "expected tensors");
    for (Value input : op.getDpsInputs())
      if (!read(op, input) || !apart(op, input))
        return false;
    bool captured = true;
    op->walk([&](Operation *nested) {
      if (nested != op)
        for (Value operand : nested->getOperands())
          captured &= !llvm::isa<RankedTensorType>(operand.getType()) || (read(op, operand) && apart(op, operand));
    });
    if (!captured)
      return false;
    for (auto [init, result] : llvm::zip_equal(op.getDpsInits(), op->getResults()))
      if (!write(op, init, result))
        return false;
    return true;
  }

  /// Whether `input` shares no element with what `op` writes while it reads.
  bool apart(DestinationStyleOpInterface op, Value input) {
    Place *in = placeOf(input);
    for (Value init : op.getDpsInits()) {
      Place *out = placeOf(init);
      if (in && out && in->buffer == out->buffer && overlap(in->box, out->box))
        return refuse(op, "reads what it writes");
    }
    return true;
  }

  static bool isSameSubset(tensor::ExtractSliceOp slice, tensor::InsertSliceOp insertion) {
    return slice.getMixedOffsets() == insertion.getMixedOffsets() &&
           slice.getMixedSizes() == insertion.getMixedSizes() &&
           slice.getMixedStrides() == insertion.getMixedStrides();
  }

  bool visitInsertion(tensor::InsertSliceOp insertion) {
    Place *source = placeOf(insertion.getSource()), *destination = placeOf(insertion.getDest());
    if (!source || !destination)
      return refuse(insertion, "expected operands whose buffers are known");
    if (!read(insertion, insertion.getSource()))
      return false;
    if (source->buffer != destination->buffer)
      return write(insertion, insertion.getDest(), insertion.getResult());
    auto slice = source->path.empty() ? nullptr : dyn_cast<tensor::ExtractSliceOp>(source->path.back());
    if (!slice || ArrayRef(source->path).drop_back() != ArrayRef(destination->path) || !isSameSubset(slice, insertion))
      return refuse(insertion, "moves elements inside one buffer");
    noteOutside(insertion.getDest(), *destination);
    // What was written of the destination since its version must be what is inserted.
    if (anyWrittenSince(*destination, [&](const Entry &entry) { return !startsWith(entry.path, source->path); }))
      return refuse(insertion, "inserts into a version that may be overwritten");
    Place result = *destination;
    result.asOf = now(result);
    places[insertion.getResult()] = result;
    return true;
  }

  bool visitLoop(scf::ForOp loop) {
    std::vector<size_t> before;
    for (const Buffer &buffer : buffers)
      before.push_back(buffer.log.size());
    SmallVector<Place> carried;
    for (auto [init, argument] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
      if (!read(loop, init) || !placeOf(init))
        return refuse(loop, "expected carried values whose buffers are known");
      Place inside = *placeOf(init);
      inside.asOf = now(inside);
      carried.push_back(inside);
      places[argument] = inside;
    }
    loops.push_back({loop, {}});
    if (!walk(*loop.getBody()))
      return false;
    Loop done = loops.pop_back_val();
    for (auto &[buffer, box] : done.outside)
      for (const Entry &entry : ArrayRef(buffers[buffer].log).drop_front(before[buffer]))
        if (overlap(entry.box, box))
          return refuse(loop, "uses what its next step may have overwritten");
    for (auto [place, yielded, result] : llvm::zip_equal(carried, loop.getYieldedValues(), loop.getResults())) {
      Place *last = placeOf(yielded);
      if (!last || last->buffer != place.buffer || last->path != place.path)
        return refuse(loop, "expected to carry one buffer");
      Place after = place;
      after.asOf = now(place);
      places[result] = after;
    }
    return true;
  }

  bool visitCall(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    auto effects = callees.find(callee);
    if (!callee || effects == callees.end())
      return refuse(call, "calls a function that is not known to write in order");
    for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
      if (!read(call, operand))
        return false;
      // Two arguments in one buffer: the callee has been looked at as if they were two.
      for (unsigned other = 0; other < index; ++other)
        if (effects->second.written[index] || effects->second.written[other])
          if (Place *a = placeOf(operand), *b = placeOf(call.getOperand(other));
              a && b && a->buffer == b->buffer && overlap(a->box, b->box))
            return refuse(call, "passes one buffer twice");
    }
    for (auto [index, operand] : llvm::enumerate(call.getOperands()))
      if (effects->second.written[index] && !write(call, operand, Value()))
        return false;
    for (auto [effect, result] : llvm::zip_equal(effects->second.results, call.getResults())) {
      Place place = *placeOf(call.getOperand(effect.argument));
      place.asOf = now(place);
      place.path.append(effect.reshapes);
      places[result] = place;
    }
    return true;
  }

  struct Loop {
    Operation *op;
    SmallVector<std::pair<unsigned, Box>> outside;
  };

  func::FuncOp function;
  const llvm::DenseMap<Operation *, FunctionEffects> &callees;
  std::string &reason;
  std::vector<Buffer> buffers;
  llvm::DenseMap<Value, Place> places;
  SmallVector<Loop> loops;
  size_t scanned = 0; ///< entries looked at so far
};
} // namespace

std::optional<FunctionEffects> writesInOrder(func::FuncOp function,
                                             const llvm::DenseMap<Operation *, FunctionEffects> &callees,
                                             std::string &reason) {
  return Walker(function, callees, reason).run();
}

} // namespace trn
