//===- StructuredOp.cpp - running linalg structured operations ------------===//
#include "compiler/Reference/StructuredOp.h"
#include "compiler/Reference/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
namespace trn {

/// Adds `expr` times `factor` to the coefficients of the loops and the constant; false if it is not an affine sum.
static bool addLinear(AffineExpr expr, int64_t factor, MutableArrayRef<int64_t> coefficients, int64_t &constant) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += factor;
    return true;
  }
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * number.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), factor, coefficients, constant) &&
           addLinear(binary.getRHS(), factor, coefficients, constant);
  if (binary.getKind() != AffineExprKind::Mul)
    return false;
  if (auto number = dyn_cast<AffineConstantExpr>(binary.getRHS()))
    return addLinear(binary.getLHS(), factor * number.getValue(), coefficients, constant);
  if (auto number = dyn_cast<AffineConstantExpr>(binary.getLHS()))
    return addLinear(binary.getRHS(), factor * number.getValue(), coefficients, constant);
  return false;
}

FailureOr<StructuredOp> StructuredOp::compile(linalg::LinalgOp op) {
  StructuredOp result;
  result.numInputs = op.getNumDpsInputs();
  for (int64_t count : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(count))
      return op->emitError("dynamic shapes cannot be evaluated");
    result.counts.push_back(count);
  }
  for (utils::IteratorType iterator : op.getIteratorTypesArray())
    result.reductions.push_back(iterator == utils::IteratorType::reduction);
  result.maps = op.getIndexingMapsArray();
  for (AffineMap map : result.maps)
    for (AffineExpr expr : map.getResults()) {
      SmallVector<int64_t> coefficients(map.getNumDims());
      int64_t constant = 0;
      if (!addLinear(expr, 1, coefficients, constant))
        return op->emitError("indexing map is not an affine sum, got ") << AffineMapAttr::get(map);
    }
  Block &body = *op.getBlock();
  SmallVector<Operation *> operations;
  for (Operation &inner : body.without_terminator())
    operations.push_back(&inner);
  FailureOr<ScalarProgram> program =
      ScalarProgram::compile(operations, body.getArguments(), body.getTerminator()->getOperands());
  if (failed(program))
    return failure();
  result.program = std::move(*program);
  result.outStorage = *storageOf(getElementTypeOrSelf(op.getDpsInits()[0].getType()));
  if (op.getNumDpsInits() == 1) {
    result.matchReduction(body);
    result.matchContraction(body);
  }
  return result;
}

/// Finds `yield combine(out, partial)` with `out` used there only.
void StructuredOp::matchReduction(Block &body) {
  BlockArgument out = body.getArgument(body.getNumArguments() - 1);
  Value yielded = body.getTerminator()->getOperand(0);
  Operation *last = yielded.getDefiningOp();
  if (!last || last->getBlock() != &body || !out.hasOneUse() || *out.user_begin() != last)
    return;
  Combine found = llvm::TypeSwitch<Operation *, Combine>(last)
                      .Case<arith::AddFOp>([](auto) { return Combine::Add; })
                      .Case<arith::MulFOp>([](auto) { return Combine::Mul; })
                      .Case<arith::MaximumFOp>([](auto) { return Combine::Max; })
                      .Case<arith::MinimumFOp>([](auto) { return Combine::Min; })
                      .Case<arith::MaxNumFOp>([](auto) { return Combine::MaxNum; })
                      .Case<arith::MinNumFOp>([](auto) { return Combine::MinNum; })
                      .Default([](Operation *) { return Combine::None; });
  // Narrow accumulators round at every step, and the destination must be what is accumulated in.
  if (found == Combine::None || !out.getType().isF32() || outStorage != Storage::F32)
    return;
  Value partial = last->getOperand(0) == out ? last->getOperand(1) : last->getOperand(0);
  SmallVector<Operation *> operations;
  for (Operation &inner : body.without_terminator())
    if (&inner != last)
      operations.push_back(&inner);
  FailureOr<ScalarProgram> program = ScalarProgram::compile(operations, body.getArguments(), partial);
  if (failed(program) || program->captures() != this->program.captures())
    return;
  partialProgram = std::move(*program);
  combine = found;
}

/// Looks through a widening of a block argument.
static BlockArgument argumentUnderExtension(Value value) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    value = extension.getIn();
  return dyn_cast<BlockArgument>(value);
}

/// Finds `yield out + lhs * rhs` in f32, the factors possibly widened.
void StructuredOp::matchContraction(Block &body) {
  if (numInputs != 2 || combine != Combine::Add || body.getOperations().size() > 5)
    return;
  auto sum = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  BlockArgument out = body.getArgument(2);
  auto factor = (sum.getLhs() == out ? sum.getRhs() : sum.getLhs()).getDefiningOp<arith::MulFOp>();
  if (!factor)
    return;
  BlockArgument lhs = argumentUnderExtension(factor.getLhs()), rhs = argumentUnderExtension(factor.getRhs());
  isContraction = lhs && rhs && lhs.getOwner() == &body && rhs.getOwner() == &body && lhs != rhs &&
                  lhs.getArgNumber() < 2 && rhs.getArgNumber() < 2 && factor.getType().isF32();
}

SmallVector<Loop> StructuredOp::loopsFor(ArrayRef<Tensor> operands, SmallVectorImpl<int64_t> &offsets) const {
  SmallVector<Loop> loops;
  for (unsigned dim = 0; dim < counts.size(); ++dim)
    loops.push_back({counts[dim], SmallVector<int64_t, 4>(operands.size(), 0), reductions[dim], int(dim)});
  offsets.assign(operands.size(), 0);
  for (auto [number, operand] : llvm::enumerate(operands)) {
    AffineMap map = maps[number];
    for (auto [position, expr] : llvm::enumerate(map.getResults())) {
      SmallVector<int64_t> coefficients(counts.size());
      int64_t constant = 0;
      addLinear(expr, 1, coefficients, constant);
      int64_t stride = operand.strides()[position];
      offsets[number] += constant * stride;
      for (unsigned dim = 0; dim < counts.size(); ++dim)
        loops[dim].steps[number] += coefficients[dim] * stride;
    }
  }
  // Loops that run once do nothing; neighbours that every operand walks as one are one.
  llvm::erase_if(loops, [](const Loop &loop) { return loop.count == 1; });
  if (program.usesIndex())
    return loops;
  SmallVector<Loop> merged;
  for (Loop &loop : loops) {
    bool joins = !merged.empty() && merged.back().reduction == loop.reduction;
    for (unsigned i = 0; joins && i < operands.size(); ++i)
      joins = merged.back().steps[i] == loop.steps[i] * loop.count;
    if (!joins) {
      merged.push_back(std::move(loop));
      continue;
    }
    merged.back().count *= loop.count;
    merged.back().steps = loop.steps;
    merged.back().dim = -1;
  }
  return merged;
}

/// The loop along which blocks run: few blocks, and unit steps. A reduction loop only if its combination is known.
int StructuredOp::chooseBlockLoop(ArrayRef<Loop> loops) const {
  double bestCost = std::numeric_limits<double>::infinity();
  int best = -1;
  for (auto [number, loop] : llvm::enumerate(loops)) {
    if (loop.reduction && combine == Combine::None)
      continue;
    double perElement = loop.reduction ? 0.5 : 1;
    for (int64_t step : loop.steps)
      perElement += step == 0 || step == 1 ? 0.5 : 2;
    double perBlock = 40 + (loop.reduction ? 20 : 0);
    double cost = perElement + perBlock / std::min<int64_t>(loop.count, ScalarProgram::kBlock);
    if (cost < bestCost) {
      bestCost = cost;
      best = number;
    }
  }
  return best;
}

static void advance(MutableArrayRef<Lane> lanes, ArrayRef<int64_t> steps, ArrayRef<unsigned> bytes, int64_t times) {
  for (unsigned i = 0; i < lanes.size(); ++i)
    lanes[i].address += steps[i] * times * int64_t(bytes[i]);
}

/// Runs a loop whose iterations are independent in blocks.
void StructuredOp::runBlocks(const Loop &loop, ArrayRef<Lane> start, ArrayRef<unsigned> bytes,
                             ScalarProgram::Frame &frame) const {
  SmallVector<Lane, 6> lanes(start);
  for (unsigned i = 0; i < lanes.size(); ++i)
    lanes[i].step = loop.steps[i];
  int64_t firstIndex = loop.dim >= 0 ? frame.indices[loop.dim] : 0;
  for (int64_t done = 0; done < loop.count; done += ScalarProgram::kBlock) {
    int n = std::min<int64_t>(ScalarProgram::kBlock, loop.count - done);
    if (loop.dim >= 0)
      frame.indices[loop.dim] = firstIndex + done;
    program.run(frame, n, lanes, ArrayRef(lanes).drop_front(numInputs));
    advance(lanes, loop.steps, bytes, n);
  }
  if (loop.dim >= 0)
    frame.indices[loop.dim] = firstIndex;
}

/// Folds `n` lanes into `initial`; sums go through 8 partial sums in double, so that the order costs no accuracy.
template <typename F> static float foldLanes(const float *lanes, int n, float initial, F f) {
  float result = initial;
  for (int i = 0; i < n; ++i)
    result = f(result, lanes[i]);
  return result;
}

static double sumLanes(const float *lanes, int n) {
  double partial[8] = {};
  int i = 0;
  for (; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; ++j)
      partial[j] += lanes[i + j];
  for (; i < n; ++i)
    partial[0] += lanes[i];
  return ((partial[0] + partial[4]) + (partial[1] + partial[5])) +
         ((partial[2] + partial[6]) + (partial[3] + partial[7]));
}

/// Runs a reduction loop in blocks of its partial body, folding each block into the one destination element.
void StructuredOp::reduceBlocks(const Loop &loop, ArrayRef<Lane> start, ArrayRef<unsigned> bytes,
                                ScalarProgram::Frame &frame) const {
  SmallVector<Lane, 6> lanes(start);
  for (unsigned i = 0; i < lanes.size(); ++i)
    lanes[i].step = loop.steps[i];
  using Unaligned [[gnu::aligned(1), gnu::may_alias]] = float;
  auto *out = reinterpret_cast<Unaligned *>(lanes.back().address);
  double sum = *out;
  float result = *out;
  int64_t firstIndex = loop.dim >= 0 ? frame.indices[loop.dim] : 0;
  for (int64_t done = 0; done < loop.count; done += ScalarProgram::kBlock) {
    int n = std::min<int64_t>(ScalarProgram::kBlock, loop.count - done);
    if (loop.dim >= 0)
      frame.indices[loop.dim] = firstIndex + done;
    auto *values = reinterpret_cast<const float *>(partialProgram->runToRegister(frame, n, lanes));
    switch (combine) {
    case Combine::Add:
      sum += sumLanes(values, n);
      break;
    case Combine::Mul:
      result = foldLanes(values, n, result, [](float x, float y) { return x * y; });
      break;
    case Combine::Max:
      result = foldLanes(values, n, result, [](float x, float y) { return x > y || x != x ? x : y; });
      break;
    case Combine::Min:
      result = foldLanes(values, n, result, [](float x, float y) { return x < y || x != x ? x : y; });
      break;
    case Combine::MaxNum:
      result = foldLanes(values, n, result, [](float x, float y) { return x > y || y != y ? x : y; });
      break;
    case Combine::MinNum:
      result = foldLanes(values, n, result, [](float x, float y) { return x < y || y != y ? x : y; });
      break;
    case Combine::None:
      llvm_unreachable("not chosen as the block loop");
    }
    advance(lanes, loop.steps, bytes, n);
  }
  if (loop.dim >= 0)
    frame.indices[loop.dim] = firstIndex;
  *out = combine == Combine::Add ? float(sum) : result;
}

void StructuredOp::runLoops(ArrayRef<Loop> loops, int blockLoop, MutableArrayRef<Lane> lanes, ArrayRef<unsigned> bytes,
                            ScalarProgram::Frame &frame) const {
  // An odometer over all loops but the block loop.
  SmallVector<const Loop *> outer;
  for (auto [number, loop] : llvm::enumerate(loops))
    if (int(number) != blockLoop)
      outer.push_back(&loop);
  Loop once{1, SmallVector<int64_t, 4>(lanes.size(), 0), false, -1};
  const Loop &inner = blockLoop < 0 ? once : loops[blockLoop];
  frame.blockDim = inner.dim;
  SmallVector<int64_t> position(outer.size(), 0);
  while (true) {
    if (inner.reduction)
      reduceBlocks(inner, lanes, bytes, frame);
    else
      runBlocks(inner, lanes, bytes, frame);
    int depth = int(outer.size()) - 1;
    for (; depth >= 0; --depth) {
      const Loop &loop = *outer[depth];
      if (loop.dim >= 0)
        ++frame.indices[loop.dim];
      advance(lanes, loop.steps, bytes, 1);
      if (++position[depth] < loop.count)
        break;
      if (loop.dim >= 0)
        frame.indices[loop.dim] -= loop.count;
      advance(lanes, loop.steps, bytes, -loop.count);
      position[depth] = 0;
    }
    if (depth < 0)
      return;
  }
}

LogicalResult StructuredOp::run(ArrayRef<Tensor> operands, ScalarProgram::Frame &frame, Operation *op) const {
  if (llvm::is_contained(counts, 0))
    return success();
  SmallVector<int64_t> offsets;
  SmallVector<Loop> loops = loopsFor(operands, offsets);
  SmallVector<Lane, 6> lanes;
  SmallVector<unsigned, 6> bytes;
  for (auto [operand, offset] : llvm::zip_equal(operands, offsets)) {
    bytes.push_back(byteSize(operand.storage()));
    lanes.push_back({operand.bytes() + offset * int64_t(bytes.back()), 0});
  }
  if (isContraction && runContraction(loops, lanes, operands[0].storage(), operands[1].storage()))
    return success();
  int blockLoop = chooseBlockLoop(loops);
  frame.indices.assign(counts.size(), 0);
  program.prepare(frame);
  if (blockLoop >= 0 && loops[blockLoop].reduction)
    partialProgram->prepare(frame);
  runLoops(loops, blockLoop, lanes, bytes, frame);
  if (frame.outOfBounds)
    return op->emitError("an index computed from data is out of bounds");
  return success();
}

void StructuredOp::runOnce(ArrayRef<Tensor> operands, ScalarProgram::Frame &frame) const {
  SmallVector<Lane, 6> lanes;
  for (const Tensor &operand : operands)
    lanes.push_back({operand.bytes(), 0});
  frame.indices.assign(counts.size(), 0);
  program.prepare(frame);
  program.run(frame, 1, lanes, ArrayRef(lanes).drop_front(numInputs));
}

} // namespace trn
