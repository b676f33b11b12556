//===- Sequences.cpp - lists of tensors resolved while compiling ----------===//
#include "passes/Graph/Sequences.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Sequence.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

/// More parts than a program has use for.
static constexpr int64_t kMaxParts = 1 << 16;

bool trn::isSequence(Operation *op) {
  return llvm::isa<SequenceAtOp, SequenceInsertOp, SequenceEraseOp, SequenceLengthOp, SplitToSequenceOp,
                   ConcatFromSequenceOp, OptionalOp, OptionalGetElementOp, OptionalHasElementOp>(op);
}

using Elements = SmallVector<Value>;

bool trn::isAbsent(Value value) {
  auto optional = value.getDefiningOp<OptionalOp>();
  return optional && !optional.getX();
}

std::optional<Elements> trn::sequenceElements(Value sequence) {
  Operation *definition = sequence.getDefiningOp();
  if (auto construct = dyn_cast_if_present<SequenceConstructOp>(definition))
    return Elements(construct.getInputs());
  if (llvm::isa_and_nonnull<SequenceEmptyOp>(definition) || isAbsent(sequence))
    return Elements();
  return std::nullopt;
}

Value trn::writeSequence(OpBuilder &builder, Location loc, ValueRange elements, Type element) {
  if (!elements.empty())
    return buildOperation(builder, loc, "SequenceConstruct", SmallVector<Value>(elements))->getResult(0);
  return buildOperation(builder, loc, "SequenceEmpty", {}, builder.getNamedAttr("dtype", TypeAttr::get(element)))
      ->getResult(0);
}

namespace {

class Resolver {
public:
  Resolver(Operation *op, bool atRunTime) : op(op), atRunTime(atRunTime), builder(op), write(builder, op->getLoc()) {}

  Resolution run() {
    if (auto split = dyn_cast<SplitToSequenceOp>(op))
      return resolveSplit(split);
    if (llvm::isa<OptionalOp, OptionalGetElementOp, OptionalHasElementOp>(op))
      return resolveOptional();
    if (isAbsent(op->getOperand(0)))
      return withoutElement();
    std::optional<Elements> elements = sequenceElements(op->getOperand(0));
    if (!elements)
      return Resolution::NotYet; // What makes the sequence is refused itself.
    return llvm::TypeSwitch<Operation *, Resolution>(op)
        .Case([&](SequenceLengthOp) {
          return replace(write.integers({int64_t(elements->size())}, {}, builder.getI64Type()));
        })
        .Case([&](SequenceAtOp at) { return resolveAt(*elements, at.getPosition()); })
        .Case([&](SequenceInsertOp insert) {
          return resolveInsert(std::move(*elements), insert.getTensor(), insert.getPosition());
        })
        .Case([&](SequenceEraseOp erase) { return resolveErase(std::move(*elements), erase.getPosition()); })
        .Case([&](ConcatFromSequenceOp concat) { return resolveConcat(*elements, concat); });
  }

private:
  Resolution refuse(const Twine &reason) {
    emitError(op->getLoc()) << reason.str();
    return Resolution::Refused;
  }
  /// Not known: until the end it may become so.
  Resolution unknown(const char *what) {
    if (!atRunTime)
      return Resolution::NotYet;
    return refuse(Twine(what) + " is known at run time only; bind that input with --const-input");
  }
  Resolution replace(Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return Resolution::Resolved;
  }
  Resolution replaceByList(ArrayRef<Value> elements) {
    Type element = cast<SequenceType>(op->getResult(0).getType()).getElement();
    return replace(writeSequence(builder, op->getLoc(), elements, element));
  }

  Resolution withoutElement() {
    return atRunTime ? refuse("expected an optional with an element but it has none") : Resolution::NotYet;
  }
  Resolution resolveOptional() {
    if (llvm::isa<OptionalHasElementOp>(op)) {
      const bool present = op->getNumOperands() && !isAbsent(op->getOperand(0));
      if (present && isUnresolved(op->getOperand(0)))
        return Resolution::NotYet;
      auto type = RankedTensorType::get({}, builder.getI1Type());
      return replace(write.constant(DenseElementsAttr::get(type, present)));
    }
    if (op->getNumOperands() == 0)
      return Resolution::NotYet; // stays until nothing reads it
    Value element = op->getOperand(0);
    if (llvm::isa<OptionalGetElementOp>(op) && isAbsent(element))
      return withoutElement();
    return isUnresolved(element) ? Resolution::NotYet : replace(element);
  }
  /// Branches and loops decide whether what they give has an element.
  static bool isUnresolved(Value value) {
    Operation *definition = value.getDefiningOp();
    return definition && isControlFlow(definition);
  }

  /// A position, negative ones from the end; none when it is not constant. Out of [0, limit) it is -1.
  static std::optional<int64_t> positionOf(Value value, int64_t size, int64_t limit) {
    std::optional<Constant> constant = Constant::get(value);
    if (!constant || constant->size() != 1)
      return std::nullopt;
    int64_t position = constant->integer(0);
    position += position < 0 ? size : 0;
    return position >= 0 && position < limit ? position : -1;
  }
  Resolution outside(int64_t size) {
    return refuse("expected a position inside of a sequence of " + Twine(size) + " tensors");
  }

  Resolution resolveAt(ArrayRef<Value> elements, Value at) {
    std::optional<int64_t> position = positionOf(at, elements.size(), elements.size());
    if (!position)
      return unknown("the position");
    return *position < 0 ? outside(elements.size()) : replace(elements[*position]);
  }

  Resolution resolveInsert(Elements elements, Value tensor, Value at) {
    int64_t size = elements.size();
    std::optional<int64_t> position = at ? positionOf(at, size, size + 1) : size;
    if (!position)
      return unknown("the position");
    if (*position < 0)
      return outside(size);
    elements.insert(elements.begin() + *position, tensor);
    return replaceByList(elements);
  }

  Resolution resolveErase(Elements elements, Value at) {
    int64_t size = elements.size();
    std::optional<int64_t> position = at ? positionOf(at, size, size) : size - 1;
    if (!position)
      return unknown("the position");
    if (*position < 0)
      return outside(size);
    elements.erase(elements.begin() + *position);
    return replaceByList(elements);
  }

  static bool isStatic(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape();
  }

  Resolution resolveConcat(Elements elements, ConcatFromSequenceOp concat) {
    if (elements.empty())
      return refuse("expected tensors to join but the sequence is empty");
    if (!llvm::all_of(elements, isStatic))
      return Resolution::NotYet;
    int64_t rank = typeOf(elements.front()).getRank() + concat.getNewAxis(), axis = int64_t(concat.getAxis());
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      return refuse("expected an axis of a tensor of rank " + Twine(rank));
    ArrayRef<int64_t> first = typeOf(elements.front()).getShape();
    for (Value &element : elements) {
      SmallVector<int64_t> shape(typeOf(element).getShape());
      bool fits = shape.size() == first.size();
      for (size_t i = 0; fits && i < shape.size(); ++i)
        fits = shape[i] == first[i] || (!concat.getNewAxis() && int64_t(i) == axis);
      if (!fits)
        return refuse("expected tensors that differ along the axis only");
      if (!concat.getNewAxis())
        continue;
      shape.insert(shape.begin() + axis, 1);
      element = write.reshape(element, shape);
    }
    return replace(write.concat(elements, axis));
  }

  Resolution resolveSplit(SplitToSequenceOp split) {
    if (!isStatic(split.getX()))
      return Resolution::NotYet;
    int64_t axis = split.getAxis(), size = typeOf(split.getX()).getDimSize(axis);
    SmallVector<int64_t> sizes;
    if (split.getSplit()) {
      std::optional<Constant> constant = Constant::get(split.getSplit());
      if (!constant)
        return unknown("how to split");
      if (constant->type().getRank() == 0) {
        int64_t part = constant->integer(0);
        if (part < 1 || size / part > kMaxParts)
          return refuse("expected parts of a positive size, and at most " + Twine(kMaxParts) + " of them");
        for (int64_t done = 0; done < size; done += part)
          sizes.push_back(std::min(part, size - done));
      } else {
        for (int64_t i = 0; i < constant->size(); ++i)
          sizes.push_back(constant->integer(i));
      }
    } else {
      if (size > kMaxParts)
        return refuse("expected at most " + Twine(kMaxParts) + " parts but got " + Twine(size));
      sizes.assign(size, 1);
    }
    return replaceByParts(split, axis, size, sizes);
  }

  Resolution replaceByParts(SplitToSequenceOp split, int64_t axis, int64_t size, ArrayRef<int64_t> sizes) {
    Elements parts;
    int64_t start = 0;
    for (int64_t part : sizes) {
      if (part < 0 || part > size - start)
        return refuse("expected sizes that add up to " + Twine(size));
      Value x = write.slice(split.getX(), axis, start, start + part);
      if (!split.getSplit() && !split.getKeepdims()) {
        SmallVector<int64_t> shape(typeOf(x).getShape());
        shape.erase(shape.begin() + axis);
        x = write.reshape(x, shape);
      }
      parts.push_back(x);
      start += part;
    }
    if (start != size)
      return refuse("expected sizes that add up to " + Twine(size) + " but got " + Twine(start));
    return replaceByList(parts);
  }

  Operation *op;
  bool atRunTime;
  OpBuilder builder;
  GraphWriter write;
};

} // namespace

Resolution trn::resolveSequence(Operation *op, bool atRunTime) { return Resolver(op, atRunTime).run(); }
