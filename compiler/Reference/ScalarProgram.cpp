//===- ScalarProgram.cpp - compiling and running scalar bodies -------------===//
#include "compiler/Reference/ScalarProgram.h"
#include "compiler/Reference/ScalarFunctions.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/emulator/ScalarFunctions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
namespace trn {

namespace {
/// Opcodes: first what moves values, then the functions of ScalarFunctions.def by number.
enum Code : uint16_t { kLoad, kIndex, kGather, kRound, kCompareFloat, kCompareInt, kSelect, kFirstFunction };

char laneClassOf(Type type) {
  if (type.isF64())
    return 'd';
  return llvm::isa<FloatType>(type) ? 'f' : 'i';
}

unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }
} // namespace

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

class ScalarCompiler {
public:
  ScalarCompiler(ValueRange arguments) {
    for (auto [number, argument] : llvm::enumerate(arguments))
      argumentNumbers[argument] = number;
    program.argumentRegister.assign(arguments.size(), -1);
  }

  FailureOr<ScalarProgram> compile(ArrayRef<Operation *> operations, ValueRange yielded) {
    for (Operation *op : operations) {
      for (Value result : op->getResults())
        if (!storageOf(result.getType()))
          return op->emitError("element type ") << result.getType() << " is unknown to the evaluator", failure();
      if (failed(compile(op)))
        return failure();
    }
    for (Value value : yielded) {
      program.resultRegisters.push_back(use(value));
      program.resultClasses.push_back(laneClassOf(value.getType()));
      program.resultStorages.push_back(*storageOf(value.getType()));
    }
    program.registerCount = nextRegister;
    return std::move(program);
  }

private:
  using Instruction = ScalarProgram::Instruction;

  uint16_t define(Value value) { return registers[value] = nextRegister++; }

  int capture(Value value) {
    auto *known = llvm::find(program.captured, value);
    if (known != program.captured.end())
      return known - program.captured.begin();
    program.captured.push_back(value);
    return program.captured.size() - 1;
  }

  /// The register of a value; loads arguments and captures at their first use.
  uint16_t use(Value value) {
    if (auto known = registers.find(value); known != registers.end())
      return known->second;
    uint16_t target = define(value);
    if (auto argument = argumentNumbers.find(value); argument != argumentNumbers.end()) {
      Instruction load;
      load.opcode = kLoad;
      load.laneClass = laneClassOf(value.getType());
      load.width = uint8_t(*storageOf(value.getType()));
      load.target = target;
      load.number = argument->second;
      program.argumentRegister[argument->second] = target;
      program.code.push_back(load);
      return target;
    }
    program.immediates.push_back({target, laneClassOf(value.getType()), {}, capture(value)});
    return target;
  }

  Instruction &emit(Operation *op, uint16_t opcode) {
    Instruction instruction;
    instruction.opcode = opcode;
    Type operandType = op->getNumOperands() ? op->getOperand(0).getType() : op->getResult(0).getType();
    instruction.laneClass = laneClassOf(operandType);
    if (instruction.laneClass == 'i')
      instruction.width = widthOf(operandType);
    if (op->getNumOperands() > 0)
      instruction.a = use(op->getOperand(0));
    if (op->getNumOperands() > 1)
      instruction.b = use(op->getOperand(1));
    if (op->getNumOperands() > 2)
      instruction.c = use(op->getOperand(2));
    instruction.target = define(op->getResult(0));
    program.code.push_back(instruction);
    roundResult(op->getResult(0));
    return program.code[program.code.size() - (needsRounding(op->getResult(0).getType()) ? 2 : 1)];
  }

  static bool needsRounding(Type type) { return llvm::isa<FloatType>(type) && !type.isF32() && !type.isF64(); }

  /// Values of narrow float types are kept as f32 lanes; every operation rounds its result to the type.
  void roundResult(Value result) {
    if (!needsRounding(result.getType()))
      return;
    Instruction round;
    round.opcode = kRound;
    round.width = uint8_t(*storageOf(result.getType()));
    round.a = registers[result];
    round.target = define(result);
    program.code.push_back(round);
  }

  LogicalResult constant(Operation *op, Attribute value) {
    ScalarProgram::Immediate immediate{define(op->getResult(0)), laneClassOf(op->getResult(0).getType()), {}, -1};
    if (auto real = dyn_cast<FloatAttr>(value)) {
      immediate.value.isFloat = true;
      immediate.value.real = real.getValueAsDouble();
    } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
      bool isBool = integer.getType().isInteger(1);
      immediate.value.integer = isBool ? integer.getValue().getZExtValue() : integer.getValue().getSExtValue();
    } else {
      return op->emitError("constant is not a scalar");
    }
    program.immediates.push_back(immediate);
    return success();
  }

  /// The affine expression as registers of int64 lanes.
  uint16_t affine(AffineExpr expr, unsigned numDims, ValueRange operands) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return use(operands[dim.getPosition()]);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return use(operands[numDims + symbol.getPosition()]);
    uint16_t target = nextRegister++;
    if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
      ScalarValue value;
      value.integer = number.getValue();
      program.immediates.push_back({target, 'i', value, -1});
      return target;
    }
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Instruction instruction;
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      instruction.opcode = kFirstFunction + unsigned(ScalarFunction::addi);
      break;
    case AffineExprKind::Mul:
      instruction.opcode = kFirstFunction + unsigned(ScalarFunction::muli);
      break;
    case AffineExprKind::FloorDiv:
      instruction.opcode = kFirstFunction + unsigned(ScalarFunction::floordivsi);
      break;
    case AffineExprKind::CeilDiv:
      instruction.opcode = kFirstFunction + unsigned(ScalarFunction::ceildivsi);
      break;
    default:
      instruction.opcode = kFirstFunction + unsigned(ScalarFunction::floormodsi);
      break;
    }
    instruction.laneClass = 'i';
    instruction.a = affine(binary.getLHS(), numDims, operands);
    instruction.b = affine(binary.getRHS(), numDims, operands);
    instruction.target = target;
    program.code.push_back(instruction);
    return target;
  }

  LogicalResult gather(Operation *op, Value source, ValueRange indices) {
    ScalarProgram::Gather gather{capture(source), {}};
    for (Value index : indices)
      gather.indices.push_back(use(index));
    Instruction instruction;
    instruction.opcode = kGather;
    instruction.laneClass = laneClassOf(op->getResult(0).getType());
    instruction.number = program.gathers.size();
    instruction.target = define(op->getResult(0));
    program.gathers.push_back(std::move(gather));
    program.code.push_back(instruction);
    return success();
  }

  LogicalResult compile(Operation *op) {
    if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
      return constant(op, constantOp.getValue());
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      Instruction instruction;
      instruction.opcode = kIndex;
      instruction.laneClass = 'i';
      instruction.number = index.getDim();
      instruction.target = define(index.getResult());
      program.code.push_back(instruction);
      program.hasIndex = true;
      return success();
    }
    if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
      emit(op, kCompareFloat).number = unsigned(compare.getPredicate());
      return success();
    }
    if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      emit(op, kCompareInt).number = unsigned(compare.getPredicate());
      return success();
    }
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      emit(op, kSelect).laneClass = laneClassOf(select.getType());
      return success();
    }
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
      AffineMap map = apply.getAffineMap();
      registers[apply.getResult()] = affine(map.getResult(0), map.getNumDims(), apply.getMapOperands());
      return success();
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      return gather(op, extract.getTensor(), extract.getIndices());
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return gather(op, load.getMemRef(), load.getIndices());
    if (llvm::isa<affine::AffineMinOp, affine::AffineMaxOp>(op))
      return affineMinMax(op);
    if (llvm::isa<UnrealizedConversionCastOp>(op) && op->getNumOperands() == 1 && op->getNumResults() == 1)
      return reinterpret(op);
    if (std::optional<ScalarFunction> function = scalarFunctionOf(op)) {
      Instruction &instruction = emit(op, kFirstFunction + unsigned(*function));
      // Conversions to integers wrap or clamp to the width of the result, not of the operand.
      if (llvm::isa<IntegerType, IndexType>(op->getResult(0).getType()))
        if (instruction.laneClass != 'i' || isa::hasResultWidth(*function))
          instruction.width = widthOf(op->getResult(0).getType());
      return success();
    }
    return op->emitError("operation is unknown to the evaluator in a scalar body");
  }

  LogicalResult affineMinMax(Operation *op) {
    bool isMin = llvm::isa<affine::AffineMinOp>(op);
    AffineMap map = isMin ? cast<affine::AffineMinOp>(op).getMap() : cast<affine::AffineMaxOp>(op).getMap();
    uint16_t best = affine(map.getResult(0), map.getNumDims(), op->getOperands());
    for (AffineExpr expr : map.getResults().drop_front()) {
      Instruction instruction;
      instruction.opcode = kFirstFunction + unsigned(isMin ? ScalarFunction::minsi : ScalarFunction::maxsi);
      instruction.laneClass = 'i';
      instruction.a = best;
      instruction.b = affine(expr, map.getNumDims(), op->getOperands());
      best = instruction.target = nextRegister++;
      program.code.push_back(instruction);
    }
    registers[op->getResult(0)] = best;
    return success();
  }

  /// A cast between an unsigned type and the signless type of its width: the lanes are sign- or zero-extended anew.
  LogicalResult reinterpret(Operation *op) {
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    if (!from.isInteger() || !to.isInteger() || widthOf(from) != widthOf(to))
      return op->emitError("cast is unknown to the evaluator");
    Instruction instruction;
    instruction.laneClass = 'i';
    instruction.opcode =
        kFirstFunction + unsigned(to.isUnsignedInteger() ? ScalarFunction::extui : ScalarFunction::trunci);
    instruction.width = widthOf(to);
    instruction.a = use(op->getOperand(0));
    instruction.target = define(op->getResult(0));
    program.code.push_back(instruction);
    return success();
  }

  ScalarProgram program;
  DenseMap<Value, unsigned> argumentNumbers;
  DenseMap<Value, uint16_t> registers;
  uint16_t nextRegister = 0;
};

FailureOr<ScalarProgram> ScalarProgram::compile(ArrayRef<Operation *> operations, ValueRange arguments,
                                                ValueRange yielded) {
  return ScalarCompiler(arguments).compile(operations, yielded);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// An alias would lose its attributes when T is a template's parameter.
template <typename T> struct [[gnu::packed, gnu::may_alias]] Unaligned {
  T value;
  operator T() const { return value; }
  void operator=(T other) { value = other; }
};

template <typename From, typename To>
[[gnu::always_inline]] inline void widen(const char *address, int64_t step, int n, To *out) {
  auto *in = reinterpret_cast<const Unaligned<From> *>(address);
  if (step == 1) {
    for (int i = 0; i < n; ++i)
      out[i] = To(in[i]);
  } else if (step == 0) {
    To value = To(in[0]);
    for (int i = 0; i < n; ++i)
      out[i] = value;
  } else {
    for (int i = 0; i < n; ++i)
      out[i] = To(in[i * step]);
  }
}

template <typename Bits> void decode(Storage storage, const char *address, int64_t step, int n, float *out) {
  auto *in = reinterpret_cast<const Unaligned<Bits> *>(address);
  for (int i = 0; i < n; ++i)
    out[i] = decodeFloat(storage, in[i * step]);
}

/// Reads `n` elements into lanes. Returns where they are: `lanes`, or in place when they already lie as lanes do.
char *loadLanes(Storage storage, Lane lane, int n, char *lanes) {
  bool isLane = storage == Storage::F32 || storage == Storage::F64 || storage == Storage::I64 || storage == Storage::U64;
  size_t alignment = storage == Storage::F32 ? alignof(float) : alignof(int64_t);
  if (lane.step == 1 && isLane && reinterpret_cast<uintptr_t>(lane.address) % alignment == 0)
    return lane.address;
  auto *f = reinterpret_cast<float *>(lanes);
  auto *i = reinterpret_cast<int64_t *>(lanes);
  switch (storage) {
  case Storage::F32:
    widen<float>(lane.address, lane.step, n, f);
    break;
  case Storage::F64:
    widen<double>(lane.address, lane.step, n, reinterpret_cast<double *>(lanes));
    break;
  case Storage::BF16:
  case Storage::F16:
    decode<uint16_t>(storage, lane.address, lane.step, n, f);
    break;
  case Storage::Bool:
  case Storage::U8:
    widen<uint8_t>(lane.address, lane.step, n, i);
    break;
  case Storage::I8:
    widen<int8_t>(lane.address, lane.step, n, i);
    break;
  case Storage::I16:
    widen<int16_t>(lane.address, lane.step, n, i);
    break;
  case Storage::U16:
    widen<uint16_t>(lane.address, lane.step, n, i);
    break;
  case Storage::I32:
    widen<int32_t>(lane.address, lane.step, n, i);
    break;
  case Storage::U32:
    widen<uint32_t>(lane.address, lane.step, n, i);
    break;
  case Storage::I64:
  case Storage::U64:
    widen<int64_t>(lane.address, lane.step, n, i);
    break;
  default:
    decode<uint8_t>(storage, lane.address, lane.step, n, f);
    break;
  }
  return lanes;
}

template <typename To, typename From> void narrow(const From *in, char *address, int64_t step, int n) {
  auto *out = reinterpret_cast<Unaligned<To> *>(address);
  if (step == 1)
    for (int i = 0; i < n; ++i)
      out[i] = To(in[i]);
  else
    for (int i = 0; i < n; ++i)
      out[i * step] = To(in[i]);
}

template <typename Bits> void encode(Storage storage, const float *in, char *address, int64_t step, int n) {
  auto *out = reinterpret_cast<Unaligned<Bits> *>(address);
  for (int i = 0; i < n; ++i)
    out[i * step] = Bits(encodeFloat(storage, in[i]));
}

void storeLanes(Storage storage, const char *lanes, Lane lane, int n) {
  auto *f = reinterpret_cast<const float *>(lanes);
  auto *i = reinterpret_cast<const int64_t *>(lanes);
  switch (storage) {
  case Storage::F32:
    return narrow<float>(f, lane.address, lane.step, n);
  case Storage::F64:
    return narrow<double>(reinterpret_cast<const double *>(lanes), lane.address, lane.step, n);
  case Storage::BF16:
  case Storage::F16:
    return encode<uint16_t>(storage, f, lane.address, lane.step, n);
  case Storage::Bool:
  case Storage::U8:
  case Storage::I8:
    return narrow<uint8_t>(i, lane.address, lane.step, n);
  case Storage::I16:
  case Storage::U16:
    return narrow<uint16_t>(i, lane.address, lane.step, n);
  case Storage::I32:
  case Storage::U32:
    return narrow<uint32_t>(i, lane.address, lane.step, n);
  case Storage::I64:
  case Storage::U64:
    return narrow<uint64_t>(i, lane.address, lane.step, n);
  default:
    return encode<uint8_t>(storage, f, lane.address, lane.step, n);
  }
}

void fillLanes(char laneClass, const ScalarValue &value, char *lanes, int n) {
  if (laneClass == 'f')
    std::fill_n(reinterpret_cast<float *>(lanes), n, float(value.isFloat ? value.real : double(value.integer)));
  else if (laneClass == 'd')
    std::fill_n(reinterpret_cast<double *>(lanes), n, value.isFloat ? value.real : double(value.integer));
  else
    std::fill_n(reinterpret_cast<int64_t *>(lanes), n, value.integer);
}

template <typename T, typename F>
[[gnu::always_inline]] inline void compareLanes(const T *a, const T *b, int64_t *out, int n, F f) {
  for (int i = 0; i < n; ++i)
    out[i] = f(a[i], b[i]);
}

template <typename T>
[[gnu::always_inline]] inline void compareFloats(arith::CmpFPredicate predicate, const T *a, const T *b, int64_t *out,
                                                 int n) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return compareLanes(a, b, out, n, [](T, T) { return false; });
  case P::OEQ:
    return compareLanes(a, b, out, n, [](T x, T y) { return x == y; });
  case P::OGT:
    return compareLanes(a, b, out, n, [](T x, T y) { return x > y; });
  case P::OGE:
    return compareLanes(a, b, out, n, [](T x, T y) { return x >= y; });
  case P::OLT:
    return compareLanes(a, b, out, n, [](T x, T y) { return x < y; });
  case P::OLE:
    return compareLanes(a, b, out, n, [](T x, T y) { return x <= y; });
  case P::ONE:
    return compareLanes(a, b, out, n, [](T x, T y) { return x < y || x > y; });
  case P::ORD:
    return compareLanes(a, b, out, n, [](T x, T y) { return x == x && y == y; });
  case P::UEQ:
    return compareLanes(a, b, out, n, [](T x, T y) { return !(x < y || x > y); });
  case P::UGT:
    return compareLanes(a, b, out, n, [](T x, T y) { return !(x <= y); });
  case P::UGE:
    return compareLanes(a, b, out, n, [](T x, T y) { return !(x < y); });
  case P::ULT:
    return compareLanes(a, b, out, n, [](T x, T y) { return !(x >= y); });
  case P::ULE:
    return compareLanes(a, b, out, n, [](T x, T y) { return !(x > y); });
  case P::UNE:
    return compareLanes(a, b, out, n, [](T x, T y) { return x != y; });
  case P::UNO:
    return compareLanes(a, b, out, n, [](T x, T y) { return x != x || y != y; });
  case P::AlwaysTrue:
    return compareLanes(a, b, out, n, [](T, T) { return true; });
  }
}

void compareInts(arith::CmpIPredicate predicate, unsigned width, const int64_t *a, const int64_t *b, int64_t *out,
                 int n) {
  using P = arith::CmpIPredicate;
  auto u = [width](int64_t v) { return uint64_t(v) & (width == 64 ? ~0ull : (1ull << width) - 1); };
  switch (predicate) {
  case P::eq:
    return compareLanes(a, b, out, n, [](int64_t x, int64_t y) { return x == y; });
  case P::ne:
    return compareLanes(a, b, out, n, [](int64_t x, int64_t y) { return x != y; });
  case P::slt:
    return compareLanes(a, b, out, n, [](int64_t x, int64_t y) { return x < y; });
  case P::sle:
    return compareLanes(a, b, out, n, [](int64_t x, int64_t y) { return x <= y; });
  case P::sgt:
    return compareLanes(a, b, out, n, [](int64_t x, int64_t y) { return x > y; });
  case P::sge:
    return compareLanes(a, b, out, n, [](int64_t x, int64_t y) { return x >= y; });
  case P::ult:
    return compareLanes(a, b, out, n, [u](int64_t x, int64_t y) { return u(x) < u(y); });
  case P::ule:
    return compareLanes(a, b, out, n, [u](int64_t x, int64_t y) { return u(x) <= u(y); });
  case P::ugt:
    return compareLanes(a, b, out, n, [u](int64_t x, int64_t y) { return u(x) > u(y); });
  case P::uge:
    return compareLanes(a, b, out, n, [u](int64_t x, int64_t y) { return u(x) >= u(y); });
  }
}

template <typename T>
[[gnu::always_inline]] inline void selectLanes(const int64_t *condition, const T *a, const T *b, T *out, int n) {
  for (int i = 0; i < n; ++i)
    out[i] = condition[i] ? a[i] : b[i];
}
} // namespace

void ScalarProgram::prepare(Frame &frame) const {
  frame.lanes.reset(new double[size_t(registerCount) * kBlock]);
  frame.registers.resize(registerCount);
  for (unsigned i = 0; i < registerCount; ++i)
    frame.registers[i] = reinterpret_cast<char *>(frame.lanes.get() + size_t(i) * kBlock);
  for (const Immediate &immediate : immediates)
    fillLanes(immediate.laneClass, immediate.capture < 0 ? immediate.value : frame.scalars[immediate.capture],
              frame.registers[immediate.target], kBlock);
}

static void runGather(const Tensor &source, ArrayRef<const int64_t *> indices, char laneClass, char *out, int n,
                      bool &outOfBounds) {
  for (int i = 0; i < n; ++i) {
    int64_t address = 0;
    bool inside = true;
    for (auto [dim, index] : llvm::enumerate(indices)) {
      inside &= index[i] >= 0 && index[i] < source.shape()[dim];
      address += index[i] * source.strides()[dim];
    }
    if (!inside) {
      outOfBounds = true;
      fillLanes(laneClass, {true, 0, std::numeric_limits<double>::quiet_NaN()}, out + i * (laneClass == 'f' ? 4 : 8),
                1);
      continue;
    }
    Lane lane{source.bytes() + address * byteSize(source.storage()), 0};
    loadLanes(source.storage(), lane, 1, out + i * (laneClass == 'f' ? 4 : 8));
  }
}

void ScalarProgram::execute(Frame &frame, int n, ArrayRef<Lane> arguments) const {
  char **registers = frame.registers.data();
  for (const Instruction &in : code) {
    char *target = registers[in.target];
    const char *a = registers[in.a], *b = registers[in.b];
    auto f = [](const char *lanes) { return reinterpret_cast<const float *>(lanes); };
    auto d = [](const char *lanes) { return reinterpret_cast<const double *>(lanes); };
    auto i64 = [](const char *lanes) { return reinterpret_cast<const int64_t *>(lanes); };
    switch (in.opcode) {
    case kLoad: {
      char *own = reinterpret_cast<char *>(frame.lanes.get() + size_t(in.target) * kBlock);
      registers[in.target] = loadLanes(Storage(in.width), arguments[in.number], n, own);
      break;
    }
    case kIndex: {
      auto *out = reinterpret_cast<int64_t *>(target);
      int64_t first = frame.indices[in.number], step = int(in.number) == frame.blockDim;
      for (int i = 0; i < n; ++i)
        out[i] = first + i * step;
      break;
    }
    case kGather: {
      const Gather &gather = gathers[in.number];
      SmallVector<const int64_t *, 6> indices;
      for (uint16_t index : gather.indices)
        indices.push_back(reinterpret_cast<const int64_t *>(registers[index]));
      runGather(frame.tensors[gather.capture], indices, in.laneClass, target, n, frame.outOfBounds);
      break;
    }
    case kRound: {
      auto *out = reinterpret_cast<float *>(target);
      for (int i = 0; i < n; ++i)
        out[i] = roundTo(Storage(in.width), f(a)[i]);
      break;
    }
    case kCompareFloat: {
      auto *out = reinterpret_cast<int64_t *>(target);
      auto predicate = arith::CmpFPredicate(in.number);
      if (in.laneClass == 'd')
        compareFloats(predicate, d(a), d(b), out, n);
      else
        compareFloats(predicate, f(a), f(b), out, n);
      break;
    }
    case kCompareInt:
      compareInts(arith::CmpIPredicate(in.number), in.width, i64(a), i64(b), reinterpret_cast<int64_t *>(target), n);
      break;
    case kSelect: {
      const char *c = registers[in.c];
      if (in.laneClass == 'f')
        selectLanes(i64(a), f(b), f(c), reinterpret_cast<float *>(target), n);
      else if (in.laneClass == 'd')
        selectLanes(i64(a), d(b), d(c), reinterpret_cast<double *>(target), n);
      else
        selectLanes(i64(a), i64(b), i64(c), reinterpret_cast<int64_t *>(target), n);
      break;
    }
    default:
      rt::runScalarFunction(ScalarFunction(in.opcode - kFirstFunction), in.laneClass, in.width, n, target, a, b,
                        registers[in.c]);
    }
  }
}

void ScalarProgram::run(Frame &frame, int n, ArrayRef<Lane> arguments, ArrayRef<Lane> results) const {
  // The last instruction may write its result where it belongs, when it is the only result and lies as lanes do.
  char *own = nullptr;
  if (resultRegisters.size() == 1 && !code.empty() && code.back().target == resultRegisters[0] &&
      code.back().opcode >= kRound && results[0].step == 1 &&
      (resultStorages[0] == Storage::F32 || resultStorages[0] == Storage::F64 || resultStorages[0] == Storage::I64)) {
    own = frame.registers[resultRegisters[0]];
    frame.registers[resultRegisters[0]] = results[0].address;
  }
  execute(frame, n, arguments);
  if (own) {
    frame.registers[resultRegisters[0]] = own;
    return;
  }
  for (auto [number, target] : llvm::enumerate(results))
    storeLanes(resultStorages[number], frame.registers[resultRegisters[number]], target, n);
}

char *ScalarProgram::runToRegister(Frame &frame, int n, ArrayRef<Lane> arguments) const {
  execute(frame, n, arguments);
  return frame.registers[resultRegisters[0]];
}

SmallVector<ScalarValue, 2> ScalarProgram::runScalar(Frame &frame) const {
  execute(frame, 1, {});
  SmallVector<ScalarValue, 2> values;
  for (auto [reg, laneClass] : llvm::zip_equal(resultRegisters, resultClasses)) {
    const char *lane = frame.registers[reg];
    ScalarValue value;
    value.isFloat = laneClass != 'i';
    if (laneClass == 'f')
      value.real = *reinterpret_cast<const float *>(lane);
    else if (laneClass == 'd')
      value.real = *reinterpret_cast<const double *>(lane);
    else
      value.integer = *reinterpret_cast<const int64_t *>(lane);
    values.push_back(value);
  }
  return values;
}

} // namespace trn
