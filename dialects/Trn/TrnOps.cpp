//===- TrnOps.cpp - buffers, globals and scalar functions -----------------===//
//
// Owns the verifiers, folders and syntax of the operations that are no instruction.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/TrnOps.h"
#include "dialects/Trn/Formula.h"
#include "dialects/Trn/ISA/ScalarFunctions.h"
#include "dialects/Trn/Registration.h"
#include "runtime/executable/Format.h"

using namespace mlir;
using namespace trn;
using namespace trn::ir;

//===----------------------------------------------------------------------===//
// trn.alloc, trn.global, trn.get_global
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  MemRefType type = cast<MemRefType>(getMemref().getType());
  std::optional<isa::Space> space = spaceOf(type);
  if (!space)
    return emitOpError("expected memory space #trn.sbuf, #trn.psum or #trn.hbm, but got type ") << type;
  if (!type.hasStaticShape())
    return emitOpError("expected a static shape, but got ") << type;
  if (!type.getLayout().isIdentity())
    return emitOpError("expected the default layout, but got ") << type;
  if (!dtypeOf(type.getElementType()))
    return emitOpError("expected an element type of the machine, but got ") << type;
  const isa::DeviceInfo &device = isa::widestDevice();
  if (*space != isa::Space::HBM && (type.getRank() == 0 || type.getDimSize(0) > device.partitions))
    return emitOpError("expected dimension 0 to be at most ")
           << device.partitions << " partitions (A2), but got " << type;
  if (std::optional<int64_t> address = getAddress(); address && *address < 0)
    return emitOpError("expected an address of at least 0, but got ") << *address;
  return success();
}

static ParseResult parseKindName(OpAsmParser &parser, GlobalKindAttr &kind) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<GlobalKind> value = parseGlobalKind(std::string_view(keyword.data(), keyword.size()));
  if (!value)
    return parser.emitError(loc, "expected input, output or weight, but got '") << keyword << "'";
  kind = GlobalKindAttr::get(parser.getContext(), *value);
  return success();
}

static void printKindName(OpAsmPrinter &printer, Operation *, GlobalKindAttr kind) {
  printer << ir::name(kind.getValue());
}

/// Whether the device computes with `narrow` where the model says `wide`.
static bool isNarrowed(isa::DType wide, isa::DType narrow) {
  switch (wide) {
  case isa::DType::I64:
    return narrow == isa::DType::I32;
  case isa::DType::U64:
    return narrow == isa::DType::U32;
  case isa::DType::BOOL:
    return isa::byteSize(narrow) == 1;
  case isa::DType::I4:
  case isa::DType::I2:
    return narrow == isa::DType::I8;
  case isa::DType::U4:
  case isa::DType::U2:
    return narrow == isa::DType::U8;
  case isa::DType::F8E4FN:
  case isa::DType::F8E5:
  case isa::DType::F8E4FNUZ:
  case isa::DType::F8E5FNUZ:
  case isa::DType::F4E2:
    return narrow == isa::DType::F16;
  case isa::DType::F8E8:
    return narrow == isa::DType::BF16;
  default:
    return false;
  }
}

LogicalResult GlobalOp::verify() {
  MemRefType type = getMemRefType();
  if (spaceOf(type) != isa::Space::HBM)
    return emitOpError("expected memory space #trn.hbm, but got type ") << type;
  if (!type.hasStaticShape())
    return emitOpError("expected a static shape, but got ") << type;
  if (!type.getLayout().isIdentity())
    return emitOpError("expected the default layout, but got ") << type;
  if (!dtypeOf(type.getElementType()))
    return emitOpError("expected an element type of the machine, but got ") << type;
  if (type.getRank() > exe::format::kMaxRank)
    return emitOpError("expected at most ") << exe::format::kMaxRank << " dimensions, as executables have, but got "
                                            << type;
  bool isWeight = getKind() == GlobalKind::Weight;
  if (isWeight != getValue().has_value())
    return emitOpError(isWeight ? "expected a 'value' for a weight" : "expected a 'value' for weights only");
  if (!isWeight && getTransforms())
    return emitOpError("expected 'transforms' for weights only");
  if (getCount().has_value() != getCountDim().has_value() || (getCount() && getKind() != GlobalKind::Output) ||
      (getCountDim() && *getCountDim() >= static_cast<uint64_t>(type.getRank())))
    return emitOpError("expected 'count' and, below ") << type.getRank() << ", 'count_dim' of outputs only";
  std::optional<Type> host = getHostType();
  if (!host)
    return success();
  if (isWeight)
    return emitOpError("expected 'host_type' for inputs and outputs only");
  std::optional<isa::DType> wide = hostDtypeOf(*host), narrow = dtypeOf(type.getElementType());
  if (!wide || !narrow || !isNarrowed(*wide, *narrow))
    return emitOpError("expected a 'host_type' that the device narrows to ")
           << type.getElementType() << " (64-bit integers to 32 bits, smaller ones and i1 to a byte, floats of at most 8 bits to 16), but got " << *host;
  return success();
}

LogicalResult GlobalOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (!getCount())
    return success();
  auto count = symbolTable.lookupNearestSymbolFrom<GlobalOp>(*this, getCountAttr());
  if (!count)
    return emitOpError("'") << *getCount() << "' does not name a trn.global";
  MemRefType type = count.getMemRefType();
  if (count.getKind() == GlobalKind::Output && type.getElementType().isInteger(32) && type.hasStaticShape() &&
      type.getNumElements() == 1)
    return success();
  InFlightDiagnostic diag = emitOpError("expected an output of one 32-bit integer as 'count', but got ") << type;
  diag.attachNote(count.getLoc()) << "the global is here";
  return diag;
}

LogicalResult GetGlobalOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto global = symbolTable.lookupNearestSymbolFrom<GlobalOp>(*this, getNameAttr());
  if (!global)
    return emitOpError("'") << getName() << "' does not name a trn.global";
  if (global.getType() == getMemref().getType())
    return success();
  InFlightDiagnostic diag = emitOpError("expected the type of the global, ")
                            << global.getType() << ", but got " << getMemref().getType();
  diag.attachNote(global.getLoc()) << "the global is here";
  return diag;
}

//===----------------------------------------------------------------------===//
// trn.kernel
//===----------------------------------------------------------------------===//

const isa::InstInfo *KernelOp::getKernelInfo() {
  std::optional<isa::Opcode> opcode = isa::parseOpcode(std::string_view(getKernel().data(), getKernel().size()));
  const isa::InstInfo *info = opcode ? &isa::info(*opcode) : nullptr;
  return info && info->isLibrary ? info : nullptr;
}

/// The record's operands that a call gives: its outputs, then its inputs; a call may leave out the last ones.
static LogicalResult verifyKernelOperands(KernelOp op, const isa::InstInfo &info) {
  size_t outputs = 0, required = 0;
  for (const isa::OperandInfo &operand : info.operands) {
    outputs += isa::writes(operand.role);
    required += !operand.optional;
  }
  size_t given = op.getOutputs().size() + op.getInputs().size();
  if (op.getOutputs().size() != outputs || given < required || given > info.operands.size())
    return op.emitOpError("expected ") << outputs << " outputs and " << required - outputs << " to "
                                       << info.operands.size() - outputs << " inputs of '" << info.mnemonic
                                       << "', but got " << op.getOutputs().size() << " and " << op.getInputs().size();
  SmallVector<Value> values(op.getOutputs());
  llvm::append_range(values, op.getInputs());
  for (auto [value, operand] : llvm::zip(values, info.operands)) {
    std::optional<isa::DType> type = dtypeOf(cast<ShapedType>(value.getType()).getElementType());
    if (!type || !(operand.dtypes & isa::maskOf(*type)))
      return op.emitOpError("operand '") << operand.name << "': expected an element type of its record, but got "
                                         << value.getType();
  }
  return success();
}

LogicalResult KernelOp::verify() {
  const isa::InstInfo *info = getKernelInfo();
  if (!info)
    return emitOpError("expected the name of a library kernel, but got '") << getKernel() << "'";
  if (failed(verifyKernelOperands(*this, *info)))
    return failure();
  for (NamedAttribute parameter : getParameters())
    if (llvm::none_of(info->attributes, [&](const isa::AttrInfo &attr) { return parameter.getName() == attr.name; }))
      return emitOpError("'") << getKernel() << "' has no parameter " << parameter.getName();
  bool onTensors = llvm::isa<RankedTensorType>(getOutputs().front().getType());
  SmallVector<Type> expected;
  if (onTensors)
    llvm::append_range(expected, getOutputs().getTypes());
  if (!llvm::equal(expected, getResultTypes()))
    return emitOpError("expected results of the types of the output tensors");
  return success();
}

void KernelOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (llvm::isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand, SideEffects::DefaultResource::get());
  for (OpOperand &operand : getOutputsMutable())
    if (llvm::isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, SideEffects::DefaultResource::get());
}

Operation *KernelOp::createInstruction(OpBuilder &builder, ValueRange buffers) {
  const isa::InstInfo &info = *getKernelInfo();
  OperationState state(getLoc(), ("trn." + getKernel()).str());
  state.addOperands(buffers.drop_front(getInputs().size()));
  state.addOperands(buffers.take_front(getInputs().size()));
  state.addAttributes(getParameters().getValue());
  if (llvm::any_of(info.operands, [](const isa::OperandInfo &operand) { return operand.optional; })) {
    SmallVector<int32_t> segments(info.operands.size(), 0);
    std::fill_n(segments.begin(), buffers.size(), 1);
    state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));
  }
  return builder.create(state);
}

//===----------------------------------------------------------------------===//
// trn.scalar
//===----------------------------------------------------------------------===//

static ParseResult parseActivationName(OpAsmParser &parser, ActivationFuncAttr &func) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<isa::ActivationFunc> value = isa::parseActivationFunc(std::string_view(keyword.data(), keyword.size()));
  if (!value)
    return parser.emitError(loc, "expected an activation function, but got '") << keyword << "'";
  func = ActivationFuncAttr::get(parser.getContext(), *value);
  return success();
}

static void printActivationName(OpAsmPrinter &printer, Operation *, ActivationFuncAttr func) {
  printer << isa::name(func.getValue());
}

Value BitcastOp::getViewSource() { return getSource(); }

LogicalResult BitcastOp::verify() {
  auto from = cast<MemRefType>(getSource().getType()), to = cast<MemRefType>(getResult().getType());
  if (MemRefType(MemRefType::Builder(from).setElementType(to.getElementType())) != to)
    return emitOpError("expected types that differ in their elements only, but got ") << from << " and " << to;
  if (from.getElementTypeBitWidth() != to.getElementTypeBitWidth())
    return emitOpError("expected elements of one size, but got ") << from.getElementType() << " and " << to.getElementType();
  return success();
}

LogicalResult ScalarOp::verify() {
  if (scalarOpInfo(*this))
    return success();
  return emitOpError("expected a function that arith and math do not have, but got '")
         << isa::name(getFunc()) << "'; use math." << isa::name(getFunc()) << " or an arith operation";
}

OpFoldResult ScalarOp::fold(FoldAdaptor adaptor) {
  auto constant = dyn_cast_or_null<FloatAttr>(adaptor.getOperand());
  if (!constant)
    return {};
  APFloat input = constant.getValue();
  bool lossy = false;
  input.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  std::optional<double> value = isa::evaluateReal(scalarKey(*this), input.convertToDouble());
  if (!value)
    return {};
  APFloat result(*value);
  result.convert(cast<FloatType>(getType()).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
  return FloatAttr::get(getType(), result);
}

#define GET_OP_CLASSES
#include "dialects/Trn/TrnOps.cpp.inc"

void trn::ir::addTrnOps(TrnDialect &dialect) {
  dialect.addOps<
#define GET_OP_LIST
#include "dialects/Trn/TrnOps.cpp.inc"
      >();
}
