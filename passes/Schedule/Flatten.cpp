//===- Flatten.cpp - unroll, inline, evaluate -----------------------------===//
//
// Owns `trn-flatten`: an interpreter of everything around instructions. It walks the program once in execution order,
// keeps integers and views of the current iteration in maps, and emits each instruction with access patterns on base
// buffers, so its cost is that of its output. It refuses control flow that data decides.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/PE.h"
#include "dialects/Trn/TrnOps.h"
#include "passes/Schedule/AccessPatterns.h"
#include "passes/Schedule/Passes.h"
#include "passes/Schedule/ReadProgram.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_TRNFLATTEN
#include "passes/Schedule/Passes.h.inc"
} // namespace trn

using namespace trn;

/// Operations and iterations that are interpreted: 32 for each instruction, a second or two in all.
static constexpr uint64_t kMaxSteps = kMaxInstructions * 32;

namespace {

class Flattener {
public:
  Flattener(ModuleOp module, func::FuncOp entry)
      : symbols(module), module(module), entry(entry), block(new Block), builder(module.getContext()) {
    builder.setInsertionPointToStart(block);
  }
  ~Flattener() { delete block; }

  LogicalResult run() {
    // In one walk: a search for the calls of each function would walk the module once per function.
    module.walk([&](func::CallOp call) { ++callCounts[call.getCallee()]; });
    if (failed(bindArguments()) || failed(runBlock(entry.getBody().front())))
      return failure();
    replaceBody();
    return success();
  }

private:
  LogicalResult bindArguments();
  std::string freshSymbol(StringRef name) const;
  void makeArgumentGlobals();
  void replaceBody();

  LogicalResult runBlock(Block &body);
  LogicalResult runOp(Operation *op);
  LogicalResult runFor(scf::ForOp loop);
  LogicalResult runIf(scf::IfOp branch);
  LogicalResult runCall(func::CallOp call);
  LogicalResult runAlloc(Operation *op);
  LogicalResult runGetGlobal(ir::GetGlobalOp op);
  LogicalResult runView(Operation *op);
  LogicalResult runInstruction(ir::InstructionOpInterface op);
  LogicalResult evaluate(Operation *op);

  /// Gives `to` what `from` stands for in the current iteration.
  LogicalResult bind(Value from, Value to, Operation *user);
  std::optional<int64_t> integer(Value value) const;
  std::optional<int64_t> integer(OpFoldResult value) const;
  bool integers(ArrayRef<OpFoldResult> values, SmallVectorImpl<int64_t> &result) const;
  Location locationOf(Operation *op) const;
  /// The base buffer for a memref type, as a `trn.get_global`, made once.
  Value getGlobal(Location loc, StringRef name, MemRefType type);

  SymbolTable symbols;
  ModuleOp module;
  func::FuncOp entry;
  Block *block;
  OpBuilder builder;
  DenseMap<Value, int64_t> ints;
  DenseMap<Value, View> views;
  llvm::StringMap<Value> globals;
  struct ArgumentGlobal {
    std::string symbol, name;
    Value base;
  };
  SmallVector<ArgumentGlobal> argumentGlobals;
  llvm::DenseSet<Value> written;
  DenseMap<StringRef, unsigned> callCounts;
  SmallVector<func::FuncOp> callStack;
  SmallVector<Location> callSites;
  uint64_t emitted = 0;
  uint64_t stepsLeft = kMaxSteps;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<int64_t> Flattener::integer(Value value) const {
  auto it = ints.find(value);
  if (it == ints.end())
    return std::nullopt;
  return it->second;
}

std::optional<int64_t> Flattener::integer(OpFoldResult value) const {
  if (auto attr = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(attr).getInt();
  return integer(cast<Value>(value));
}

bool Flattener::integers(ArrayRef<OpFoldResult> values, SmallVectorImpl<int64_t> &result) const {
  for (OpFoldResult value : values) {
    std::optional<int64_t> known = integer(value);
    if (!known)
      return false;
    result.push_back(*known);
  }
  return true;
}

LogicalResult Flattener::bind(Value from, Value to, Operation *user) {
  if (auto view = views.find(from); view != views.end()) {
    View copy = view->second;
    views[to] = std::move(copy);
    return success();
  }
  if (std::optional<int64_t> known = integer(from)) {
    ints[to] = *known;
    return success();
  }
  return user->emitOpError("passes a value that is neither a buffer nor a constant; only data could decide it");
}

Location Flattener::locationOf(Operation *op) const {
  if (callSites.empty())
    return op->getLoc();
  return CallSiteLoc::get(op->getLoc(), callSites.back());
}

//===----------------------------------------------------------------------===//
// Arguments and globals
//===----------------------------------------------------------------------===//

Value Flattener::getGlobal(Location loc, StringRef name, MemRefType type) {
  Value &value = globals[name];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    value = ir::GetGlobalOp::create(builder, loc, type, name);
  }
  return value;
}

/// A name of the model may be that of another symbol, such as a function.
std::string Flattener::freshSymbol(StringRef name) const {
  std::string symbol = name.str();
  for (unsigned suffix = 0; symbols.lookup(symbol) || globals.contains(symbol); ++suffix)
    symbol = (name + "_" + Twine(suffix)).str();
  return symbol;
}

LogicalResult Flattener::bindArguments() {
  llvm::StringMap<unsigned> numbers;
  for (BlockArgument argument : entry.getArguments()) {
    unsigned number = argument.getArgNumber();
    StringAttr name = entry.getArgAttrOfType<StringAttr>(number, "trn.name");
    if (!name)
      name = entry.getArgAttrOfType<StringAttr>(number, "onnx.name");
    std::string text = name ? name.str() : "arg" + std::to_string(number);
    auto [first, isNew] = numbers.try_emplace(text, number);
    if (!isNew)
      return entry.emitOpError("expected arguments of different names, but arguments ")
             << first->second << " and " << number << " are both named '" << text << "'";
    for (auto global : module.getOps<ir::GlobalOp>())
      if (global.getIoName() == StringRef(text))
        return entry.emitOpError("expected arguments and globals of different names, but argument ")
               << number << " and '@" << global.getSymName() << "' are both named '" << text << "'";
    std::string symbol = freshSymbol(text);
    auto type = cast<MemRefType>(argument.getType());
    Value base = getGlobal(argument.getLoc(), symbol, type);
    argumentGlobals.push_back({symbol, text, base});
    views[argument] = View::whole(base);
  }
  return success();
}

/// An argument that an instruction writes is an output.
void Flattener::makeArgumentGlobals() {
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  for (auto &[symbol, name, base] : argumentGlobals) {
    ir::GlobalKind kind = written.contains(base) ? ir::GlobalKind::Output : ir::GlobalKind::Input;
    ir::GlobalOp::create(top, base.getLoc(), top.getStringAttr(symbol), ir::GlobalKindAttr::get(top.getContext(), kind),
                         top.getStringAttr(name), TypeAttr(), ElementsAttr(), ArrayAttr(), FlatSymbolRefAttr(), IntegerAttr(),
                         TypeAttr::get(base.getType()));
  }
}

void Flattener::replaceBody() {
  func::ReturnOp::create(builder, entry.getLoc());
  makeArgumentGlobals();
  Region &body = entry.getBody();
  body.dropAllReferences();
  body.getBlocks().clear();
  body.push_back(block);
  block = nullptr;
  entry.setFunctionType(FunctionType::get(module.getContext(), {}, {}));
  entry.removeArgAttrsAttr();
  entry.removeResAttrsAttr();
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (function != entry)
      function.erase();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult Flattener::runBlock(Block &body) {
  for (Operation &op : body.without_terminator())
    if (failed(runOp(&op)))
      return failure();
  return success();
}

LogicalResult Flattener::runOp(Operation *op) {
  if (stepsLeft-- == 0)
    return op->emitOpError("cannot be flattened: more than ")
           << kMaxSteps << " operations and iterations would be evaluated";
  if (auto instruction = dyn_cast<ir::InstructionOpInterface>(op))
    return runInstruction(instruction);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return runIf(branch);
  if (auto call = dyn_cast<func::CallOp>(op))
    return runCall(call);
  if (llvm::isa<memref::AllocOp, ir::AllocOp>(op))
    return runAlloc(op);
  if (auto global = dyn_cast<ir::GetGlobalOp>(op))
    return runGetGlobal(global);
  if (llvm::isa<memref::DeallocOp>(op))
    return success();
  if (op->getNumResults() == 1 && llvm::isa<MemRefType>(op->getResult(0).getType()))
    return runView(op);
  return evaluate(op);
}

LogicalResult Flattener::runFor(scf::ForOp loop) {
  std::optional<int64_t> lower = integer(loop.getLowerBound()), upper = integer(loop.getUpperBound()),
                         step = integer(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return loop.emitOpError("expected bounds and a positive step that evaluate to constants; only data could decide "
                            "them");
  for (auto [init, argument] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs()))
    if (failed(bind(init, argument, loop)))
      return failure();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  uint64_t trips = *lower < *upper ? (uint64_t(*upper) - uint64_t(*lower) - 1) / uint64_t(*step) + 1 : 0;
  if (trips > stepsLeft)
    return loop.emitOpError("has ") << trips << " iterations; expected at most " << kMaxSteps
                                    << " evaluated operations and iterations in all";
  stepsLeft -= trips;
  for (uint64_t trip = 0; trip < trips; ++trip) {
    ints[loop.getInductionVar()] = int64_t(uint64_t(*lower) + trip * uint64_t(*step));
    if (failed(runBlock(*loop.getBody())))
      return failure();
    if (loop.getNumResults() == 0)
      continue;
    // Through the results, so that yields that permute the arguments see the old values.
    for (auto [value, result] : llvm::zip(yield.getOperands(), loop.getResults()))
      if (failed(bind(value, result, loop)))
        return failure();
    for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
      if (failed(bind(result, argument, loop)))
        return failure();
  }
  for (auto [argument, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
    if (failed(bind(argument, result, loop)))
      return failure();
  return success();
}

LogicalResult Flattener::runIf(scf::IfOp branch) {
  std::optional<int64_t> condition = integer(branch.getCondition());
  if (!condition)
    return branch.emitOpError("expected a condition that evaluates to a constant; only data could decide it");
  Region &region = *condition ? branch.getThenRegion() : branch.getElseRegion();
  if (region.empty())
    return success();
  if (failed(runBlock(region.front())))
    return failure();
  for (auto [value, result] : llvm::zip(region.front().getTerminator()->getOperands(), branch.getResults()))
    if (failed(bind(value, result, branch)))
      return failure();
  return success();
}

LogicalResult Flattener::runCall(func::CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return call.emitOpError("expected a function with a body, but got '") << call.getCallee() << "'";
  if (llvm::is_contained(callStack, callee))
    return call.emitOpError("calls '") << call.getCallee() << "' recursively";
  for (auto [operand, argument] : llvm::zip(call.getOperands(), callee.getArguments()))
    if (failed(bind(operand, argument, call)))
      return failure();

  // The body's own location names the node when it belongs to one call alone.
  bool shared = callCounts.lookup(callee.getSymName()) > 1;
  callStack.push_back(callee);
  if (shared)
    callSites.push_back(locationOf(call));
  LogicalResult result = runBlock(callee.getBody().front());
  if (shared)
    callSites.pop_back();
  callStack.pop_back();
  if (failed(result))
    return failure();
  for (auto [value, result] :
       llvm::zip(callee.getBody().front().getTerminator()->getOperands(), call.getResults()))
    if (failed(bind(value, result, call)))
      return failure();
  return success();
}

LogicalResult Flattener::runAlloc(Operation *op) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return op->emitOpError("expected a buffer of static shape and identity layout, but got ") << type;
  if (!ir::spaceOf(type))
    return op->emitOpError("expected a memory space (#trn.hbm, #trn.sbuf or #trn.psum), but got ") << type;
  Value base = ir::AllocOp::create(builder, locationOf(op), type, IntegerAttr());
  views[op->getResult(0)] = View::whole(base);
  return success();
}

LogicalResult Flattener::runGetGlobal(ir::GetGlobalOp op) {
  auto type = cast<MemRefType>(op.getResult().getType());
  views[op.getResult()] = View::whole(getGlobal(op.getLoc(), op.getName(), type));
  return success();
}

LogicalResult Flattener::runView(Operation *op) {
  auto source = views.find(op->getOperand(0));
  if (source == views.end())
    return op->emitOpError("expected a view of a known buffer");
  View view = source->second;
  SmallVector<int64_t> offsets, sizes, strides;
  bool known = true;
  if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    known = integers(subview.getMixedOffsets(), offsets) && integers(subview.getMixedSizes(), sizes) &&
            integers(subview.getMixedStrides(), strides);
    if (known && !view.slice(offsets, sizes, strides, subview.getDroppedDims()))
      return op->emitOpError("expected an offset and strides of at most 64 bits");
  } else if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    known = integers(cast.getMixedOffsets(), offsets) && integers(cast.getMixedSizes(), sizes) &&
            integers(cast.getMixedStrides(), strides);
    if (known)
      view.reinterpret(offsets.front(), sizes, strides);
  } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    if (!view.collapse(collapse.getReassociationIndices()))
      return op->emitOpError("expected dimensions that lie side by side");
  } else if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    view.expand(expand.getReassociationIndices(), expand.getResultType().getShape());
  } else if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    view.permute(transpose.getPermutation());
  } else if (auto bitcast = dyn_cast<ir::BitcastOp>(op)) {
    Type element = llvm::cast<MemRefType>(bitcast.getResult().getType()).getElementType();
    view.element = element == llvm::cast<MemRefType>(view.base.getType()).getElementType() ? Type() : element;
  } else if (!llvm::isa<memref::CastOp, memref::MemorySpaceCastOp>(op)) {
    return op->emitOpError("is no view that flattening knows");
  }
  if (!known)
    return op->emitOpError("expected offsets, sizes and strides that evaluate to constants");
  if (auto type = dyn_cast<MemRefType>(op->getResult(0).getType());
      !llvm::isa<ir::BitcastOp>(op) && type.getElementType() != cast<MemRefType>(op->getOperand(0).getType()).getElementType())
    return op->emitOpError("changes the element type of a buffer");
  views[op->getResult(0)] = std::move(view);
  return success();
}

LogicalResult Flattener::runInstruction(ir::InstructionOpInterface op) {
  if (++emitted > kMaxInstructions)
    return op->emitOpError("is instruction ") << emitted << "; expected at most " << kMaxInstructions;
  SmallVector<Value> operands;
  SmallVector<View *> operandViews;
  for (Value operand : op->getOperands()) {
    if (!llvm::isa<MemRefType>(operand.getType()))
      continue;
    auto view = views.find(operand);
    if (view == views.end())
      return op->emitOpError("uses a buffer that flattening does not know");
    operands.push_back(view->second.base);
    operandViews.push_back(&view->second);
  }

  std::optional<bool> accumulate;
  if (auto matmul = dyn_cast<ir::NcMatmulOp>(op.getOperation()); matmul && matmul.getAccumulateIf()) {
    std::optional<int64_t> known = integer(matmul.getAccumulateIf());
    if (!known)
      return op->emitOpError("expected 'accumulate_if' to evaluate to a constant");
    accumulate = *known != 0;
  }

  Operation *copy = builder.clone(*op.getOperation());
  copy->setLoc(locationOf(op));
  if (accumulate) {
    auto matmul = cast<ir::NcMatmulOp>(copy);
    matmul.getAccumulateIfMutable().clear();
    matmul.setAccumulate(*accumulate);
  }
  copy->setOperands(operands);
  auto instruction = cast<ir::InstructionOpInterface>(copy);
  if (failed(setAccessPatterns(instruction, operandViews)))
    return failure();
  for (OpOperand &operand : copy->getOpOperands())
    if (const isa::OperandInfo *info = instruction.getOperandInfo(operand.getOperandNumber());
        info && info->role != isa::Role::In)
      written.insert(operand.get());
  return success();
}

//===----------------------------------------------------------------------===//
// Integer arithmetic
//===----------------------------------------------------------------------===//

/// The operations that tiled code is full of, without attributes; everything else through its folder.
static std::optional<int64_t> evaluateFast(Operation *op, ArrayRef<int64_t> operands, bool &overflows) {
  int64_t result = 0;
  if (llvm::isa<arith::AddIOp>(op)) {
    overflows = llvm::AddOverflow(operands[0], operands[1], result);
    return result;
  }
  if (llvm::isa<arith::SubIOp>(op)) {
    overflows = llvm::SubOverflow(operands[0], operands[1], result);
    return result;
  }
  if (llvm::isa<arith::MulIOp>(op)) {
    overflows = llvm::MulOverflow(operands[0], operands[1], result);
    return result;
  }
  if (llvm::isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return operands[0];
  return std::nullopt;
}

LogicalResult Flattener::evaluate(Operation *op) {
  // A constant that no index needs has been left behind; whoever uses it is refused.
  if (llvm::isa<arith::ConstantOp>(op) && !op->getResult(0).getType().isIntOrIndex())
    return success();
  SmallVector<int64_t> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> known = integer(operand);
    if (!known)
      return op->emitOpError("cannot be evaluated while flattening: it depends on data");
    operands.push_back(*known);
  }
  bool isIndex = op->getNumResults() == 1 && op->getResult(0).getType().isIndex();
  bool overflows = false;
  if (isIndex)
    if (std::optional<int64_t> value = evaluateFast(op, operands, overflows)) {
      if (overflows)
        return op->emitOpError("overflows 64 bits: its operands are ") << operands[0] << " and " << operands[1];
      ints[op->getResult(0)] = *value;
      return success();
    }

  Builder attrs(op->getContext());
  SmallVector<Attribute> constants;
  for (auto [operand, value] : llvm::zip(op->getOperands(), operands))
    constants.push_back(attrs.getIntegerAttr(operand.getType(), value));
  SmallVector<OpFoldResult> folded;
  if (op->getNumRegions() != 0 || failed(op->fold(constants, folded)) || folded.size() != op->getNumResults())
    return op->emitOpError("cannot be evaluated while flattening");
  for (auto [result, value] : llvm::zip(op->getResults(), folded)) {
    std::optional<int64_t> known;
    if (auto attr = dyn_cast<Attribute>(value)) {
      if (auto integerAttr = dyn_cast<IntegerAttr>(attr))
        known = integerAttr.getType().isInteger(1) ? integerAttr.getValue().getZExtValue() : integerAttr.getInt();
    } else {
      known = integer(cast<Value>(value));
    }
    if (!known)
      return op->emitOpError("cannot be evaluated while flattening: expected an integer result");
    ints[result] = *known;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FlattenPass : trn::impl::TrnFlattenBase<FlattenPass> {
  void runOnOperation() override {
    func::FuncOp entry = findEntry(getOperation());
    if (!entry)
      return signalPassFailure();
    for (BlockArgument argument : entry.getArguments()) {
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type || !type.hasStaticShape() || ir::spaceOf(type) != isa::Space::HBM) {
        entry.emitOpError("expected arguments of type memref<…, #trn.hbm>, but argument ")
            << argument.getArgNumber() << " is " << argument.getType();
        return signalPassFailure();
      }
    }
    if (failed(Flattener(getOperation(), entry).run()))
      signalPassFailure();
  }
};
} // namespace
