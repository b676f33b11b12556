//===- Evaluator.cpp - the walk of the reference evaluator ----------------===//
#include "compiler/Reference/Evaluator.h"
#include "compiler/Reference/Interpreter.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Transforms/RegionUtils.h"
#include <cstring>

using namespace mlir;
namespace trn {

/// Whether the instructions of a block are those of stage `synced`: then semaphores say what may run.
static bool waitsForSemaphores(Block &block) {
  return llvm::any_of(block, [](Operation &op) {
    auto instruction = dyn_cast<ir::InstructionOpInterface>(op);
    return instruction && (instruction.getWaitAttr() || instruction.getUpdateAttr());
  });
}

/// Calls nest at most this deep; the compiler's programs have two levels.
static constexpr unsigned kMaxCallDepth = 64;

Tensor Interpreter::take(Operation *op, Value value) {
  auto dying = lastUses(*op->getBlock()).find(op);
  bool dies = value.getParentBlock() == op->getBlock() && dying != lastUses(*op->getBlock()).end() &&
              llvm::is_contained(dying->second, value) && llvm::count(op->getOperands(), value) == 1;
  if (!dies)
    return tensor(value);
  Tensor result = std::move(tensors[value]);
  tensors.erase(value);
  return result;
}

int64_t Interpreter::integer(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(attribute).getInt();
  return integer(cast<Value>(value));
}

SmallVector<int64_t> Interpreter::integers(ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(values, [&](OpFoldResult value) { return integer(value); });
}

void Interpreter::forward(Value from, Value to) {
  if (llvm::isa<ShapedType>(from.getType()))
    set(to, Tensor(tensor(from)));
  else
    set(to, scalar(from));
}

Location Interpreter::locationOf(Operation *op) const {
  return sharedCalls.empty() ? op->getLoc() : CallSiteLoc::get(op->getLoc(), sharedCalls.back());
}

void Interpreter::allocate(Operation *op, MemRefType type) {
  Machine::Dying dying;
  if (options.bufferObserver)
    dying = [this, type, location = locationOf(op)](const char *base, const Tensor &values) {
      auto last = lastWrites.find(base);
      if (last == lastWrites.end())
        return;
      options.bufferObserver({type, location, last->second.location, last->second.time, values});
      lastWrites.erase(last);
    };
  auto alloc = dyn_cast<ir::AllocOp>(op);
  bool isPlaced = alloc && alloc.getAddress() && ir::spaceOf(type) != isa::Space::HBM;
  set(op->getResult(0), isPlaced ? machine.place(alloc, std::move(dying)) : machine.allocate(type, std::move(dying)));
}

void Interpreter::wrote(Operation *op, Value target) {
  if (!options.bufferObserver || !llvm::isa<MemRefType>(target.getType()))
    return;
  const char *base = machine.baseOf(tensor(target).bytes());
  LastWrite now{locationOf(op), writes++};
  if (auto [last, isNew] = lastWrites.try_emplace(base, now); !isNew)
    last->second = now;
}

void Interpreter::bindCaptures(ArrayRef<Value> captures, ScalarProgram::Frame &frame) {
  frame.scalars.resize(captures.size());
  frame.tensors.resize(captures.size());
  for (auto [number, value] : llvm::enumerate(captures)) {
    if (llvm::isa<ShapedType>(value.getType()))
      frame.tensors[number] = tensor(value);
    else
      frame.scalars[number] = scalar(value);
  }
}

LogicalResult Interpreter::runScalar(Operation *op) {
  std::unique_ptr<ScalarProgram> &program = scalarOps[op];
  if (!program) {
    FailureOr<ScalarProgram> compiled = ScalarProgram::compile(op, ValueRange(), op->getResults());
    if (failed(compiled))
      return failure();
    program = std::make_unique<ScalarProgram>(std::move(*compiled));
  }
  ScalarProgram::Frame frame;
  bindCaptures(program->captures(), frame);
  program->prepare(frame);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), program->runScalar(frame)))
    set(result, value);
  if (frame.outOfBounds)
    return op->emitError("an index computed from data is out of bounds");
  return success();
}

/// A structured operation whose inputs are splats and whose body does not ask for its position has a splat result.
static bool isUniform(linalg::LinalgOp op, const StructuredOp &structured, ArrayRef<Tensor> operands) {
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() || op.getNumParallelLoops() != op.getNumLoops() ||
      structured.readsInit(0) || op.hasIndexSemantics() || !structured.captures().empty())
    return false;
  return llvm::all_of(operands.take_front(op.getNumDpsInputs()), [](const Tensor &t) { return t.isSplat(); }) &&
         operands.back().elements() > 0;
}

Tensor scalarTensor(Type type, const ScalarValue &value) {
  Tensor result = Tensor::allocate(type, {});
  if (auto storage = result.storage(); storage == Storage::F64)
    *result.data<double>() = value.real;
  else if (storage == Storage::F32)
    *result.data<float>() = float(value.real);
  else if (isFloat(storage)) {
    uint32_t bits = encodeFloat(storage, float(value.real));
    std::memcpy(result.bytes(), &bits, byteSize(storage));
  } else {
    std::memcpy(result.bytes(), &value.integer, byteSize(storage));
  }
  return result;
}

LogicalResult Interpreter::runStructured(linalg::LinalgOp op) {
  std::unique_ptr<StructuredOp> &slot = structuredOps[op];
  if (!slot) {
    FailureOr<StructuredOp> compiled = StructuredOp::compile(op);
    if (failed(compiled))
      return failure();
    slot = std::make_unique<StructuredOp>(std::move(*compiled));
  }
  const StructuredOp &structured = *slot;
  SmallVector<Tensor> operands;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    operands.push_back(llvm::isa<ShapedType>(value.getType()) ? tensor(value) : scalarTensor(value.getType(), scalar(value)));
  }
  unsigned numInputs = operands.size();
  bool onTensors = op.hasPureTensorSemantics();
  for (OpOperand &init : op.getDpsInitsMutable())
    operands.push_back(onTensors ? take(op, init.get()) : tensor(init.get()));
  ScalarProgram::Frame frame;
  bindCaptures(structured.captures(), frame);
  bool uniform = isUniform(op, structured, operands);
  SmallVector<int64_t> shape(operands.back().shape());
  if (uniform) {
    Tensor &init = operands.back();
    init = Tensor::unset(init.elementType(), shape);
  } else if (onTensors) {
    for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
      operands[numInputs + i].makeUnique(/*keepValues=*/structured.readsInit(i));
  }
  if (uniform) {
    structured.runOnce(operands, frame);
  } else if (failed(structured.run(operands, frame, op))) {
    return failure();
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    wrote(op, init.get());
  for (auto [number, result] : llvm::enumerate(op->getResults()))
    set(result, std::move(operands[numInputs + number]));
  return success();
}

const DenseMap<Operation *, SmallVector<Value, 2>> &Interpreter::lastUses(Block &block) {
  auto &known = lastUsesOfBlock[&block];
  if (known)
    return *known;
  known = std::make_unique<DenseMap<Operation *, SmallVector<Value, 2>>>();
  DenseSet<Value> seen;
  for (Operation &op : llvm::reverse(block)) {
    SmallVector<Value, 2> dying;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block && llvm::isa<ShapedType>(operand.getType()) && seen.insert(operand).second)
          dying.push_back(operand);
    });
    for (Value result : op.getResults())
      if (llvm::isa<ShapedType>(result.getType()) && seen.insert(result).second)
        dying.push_back(result);
    if (!dying.empty())
      known->try_emplace(&op, std::move(dying));
  }
  return *known;
}

LogicalResult Interpreter::run(Operation *op) {
  for (auto family : {evaluateControlFlowOp, evaluateModelOp, evaluateTensorOp, evaluateMemRefOp, evaluateInstruction})
    if (std::optional<LogicalResult> done = family(*this, op))
      return *done;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return runStructured(structured);
  bool isScalar = op->getNumResults() > 0 && op->getNumRegions() == 0;
  for (Type type : op->getResultTypes())
    isScalar &= !llvm::isa<ShapedType>(type);
  if (isScalar)
    return runScalar(op);
  return op->emitError("the reference evaluator does not know the operation '") << op->getName() << "'";
}

Operation *Interpreter::runBlock(Block &block) {
  if (waitsForSemaphores(block))
    return succeeded(runQueues(block)) ? block.getTerminator() : nullptr;
  const auto &dying = lastUses(block);
  for (Operation &op : block.without_terminator()) {
    if (failed(run(&op)))
      return nullptr;
    if (options.observer && observing && op.getNumResults() > 0) {
      SmallVector<Tensor> results;
      for (Value result : op.getResults())
        if (llvm::isa<ShapedType>(result.getType()))
          results.push_back(tensor(result));
      options.observer(&op, results);
    }
    if (auto entry = dying.find(&op); entry != dying.end())
      for (Value value : entry->second)
        tensors.erase(value);
  }
  return block.getTerminator();
}

LogicalResult Interpreter::callFunction(func::FuncOp function, ArrayRef<Tensor> tensorArguments,
                                        ArrayRef<ScalarValue> scalarArguments, Operation *caller,
                                        SmallVectorImpl<Value> &returned) {
  if (function.isDeclaration())
    return caller->emitError("function '") << function.getName() << "' has no body";
  if (callDepth == kMaxCallDepth)
    return caller->emitError("calls nest deeper than ") << kMaxCallDepth;
  unsigned nextTensor = 0, nextScalar = 0;
  for (BlockArgument argument : function.getArguments()) {
    if (llvm::isa<ShapedType>(argument.getType()))
      set(argument, tensorArguments[nextTensor++]);
    else
      set(argument, scalarArguments[nextScalar++]);
  }
  if (callCounts.empty() && caller != function) // in one walk, not in one for each function
    function->getParentOp()->walk([&](func::CallOp call) { ++callCounts[call.getCallee()]; });
  bool fromSeveralPlaces = caller != function && callCounts.lookup(function.getSymName()) > 1;
  if (fromSeveralPlaces)
    sharedCalls.push_back(locationOf(caller));
  ++callDepth;
  Operation *terminator = runBlock(function.getBody().front());
  --callDepth;
  if (fromSeveralPlaces)
    sharedCalls.pop_back();
  if (!terminator)
    return failure();
  llvm::append_range(returned, terminator->getOperands());
  return success();
}

FailureOr<SmallVector<Tensor>> evaluate(func::FuncOp function, ArrayRef<Tensor> arguments,
                                        const EvaluateOptions &options) {
  Interpreter interpreter(options);
  SmallVector<Tensor> results;
  SmallVector<StringRef> outputs;
  bool usesGlobals = function.getNumArguments() == 0 && function.getNumResults() == 0;
  if (usesGlobals) {
    if (failed(bindGlobals(interpreter, function->getParentOfType<ModuleOp>(), arguments, outputs)))
      return failure();
    arguments = {};
  }
  if (arguments.size() != function.getNumArguments())
    return function.emitError("expected ") << function.getNumArguments() << " arguments but got " << arguments.size();
  for (auto [number, type, argument] : llvm::enumerate(function.getArgumentTypes(), arguments)) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || shaped.getShape() != argument.shape() || shaped.getElementType() != argument.elementType())
      return function.emitError("argument ") << number << ": expected " << type << " but got " << argument.tensorType();
  }
  SmallVector<Value> returned;
  if (failed(interpreter.callFunction(function, arguments, {}, function, returned)))
    return failure();
  for (Value value : returned)
    results.push_back(interpreter.tensor(value).dense());
  for (StringRef output : outputs)
    results.push_back(interpreter.globals[output]);
  return results;
}

/// Gives a clone the constants that it reads besides its tensor operands: scalars, and what its regions capture.
static LogicalResult cloneConstants(Operation *op, OpBuilder &builder, IRMapping &mapping) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  captured.insert_range(llvm::make_filter_range(
      op->getOperands(), [](Value operand) { return !llvm::isa<ShapedType>(operand.getType()); }));
  for (Value value : captured) {
    Operation *definition = value.getDefiningOp();
    if (!definition || !definition->hasTrait<OpTrait::ConstantLike>() || definition->getNumOperands() > 0)
      return failure();
    if (!mapping.contains(value))
      builder.clone(*definition, mapping);
  }
  return success();
}

FailureOr<SmallVector<Tensor>> evaluateOp(Operation *op, ArrayRef<Tensor> operands) {
  ScopedDiagnosticHandler silence(op->getContext(), [](Diagnostic &) { return success(); });
  if (llvm::isa<onnx::ONNXDialect>(op->getDialect()))
    return evaluateLowered(op, operands);
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(op->getLoc()));
  OpBuilder builder(scratch->getBodyRegion());
  SmallVector<Value> shaped =
      llvm::filter_to_vector(op->getOperands(), [](Value operand) { return llvm::isa<ShapedType>(operand.getType()); });
  assert(shaped.size() == operands.size() && "one tensor per shaped operand");
  auto function = func::FuncOp::create(builder, op->getLoc(), "main",
                                       builder.getFunctionType(TypeRange(ValueRange(shaped)), op->getResultTypes()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(shaped, function.getArguments());
  if (failed(cloneConstants(op, builder, mapping)))
    return failure();
  Operation *clone = builder.clone(*op, mapping);
  func::ReturnOp::create(builder, op->getLoc(), clone->getResults());
  EvaluateOptions options;
  Interpreter interpreter(options);
  SmallVector<Value> returned;
  if (failed(interpreter.callFunction(function, operands, {}, function, returned)))
    return failure();
  return llvm::map_to_vector(returned, [&](Value value) { return interpreter.tensor(value); });
}

} // namespace trn
