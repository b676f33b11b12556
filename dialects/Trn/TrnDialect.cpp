//===- TrnDialect.cpp - the trn dialect -----------------------------------===//
//
// Owns registration, attributes and the translation between MLIR's types and those of the ISA library.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/TrnDialect.h"
#include "dialects/Trn/Formula.h"
#include "dialects/Trn/Registration.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trn;
using namespace trn::ir;

#include "dialects/Trn/TrnDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Trn/TrnAttrs.cpp.inc"

#include "dialects/Trn/TrnInterfaces.cpp.inc"

void TrnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Trn/TrnAttrs.cpp.inc"
      >();
}

void TrnDialect::initialize() {
  registerAttributes();
  addTrnOps(*this);
  addPEOps(*this);
  addACTOps(*this);
  addDVEOps(*this);
  addPOOLOps(*this);
  addLibraryOps(*this);
  addDMAOps(*this);
  addControlOps(*this);
  addProgramOps(*this);
}

LogicalResult TrnDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kModelMacs)
    return success();
  auto macs = dyn_cast<IntegerAttr>(attribute.getValue());
  if (llvm::isa<ModuleOp>(op) && macs && macs.getType().isInteger(64) && macs.getInt() >= 0)
    return success();
  return op->emitOpError("expected '") << kModelMacs << "' to be a count of type i64 on a module, but got "
                                       << attribute.getValue();
}

Operation *TrnDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

void trn::ir::registerTrnDialect(DialectRegistry &registry) { registry.insert<TrnDialect>(); }

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

const char *trn::ir::name(GlobalKind kind) {
  switch (kind) {
  case GlobalKind::Input:
    return "input";
  case GlobalKind::Output:
    return "output";
  case GlobalKind::Weight:
    return "weight";
  }
  return "?";
}

std::optional<GlobalKind> trn::ir::parseGlobalKind(std::string_view text) {
  for (GlobalKind kind : {GlobalKind::Input, GlobalKind::Output, GlobalKind::Weight})
    if (text == name(kind))
      return kind;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// #trn.ap
//===----------------------------------------------------------------------===//

int64_t APAttr::getElements() const {
  int64_t elements = 1;
  for (unsigned i = 0; i < getRank(); ++i)
    elements *= getDimCount(i);
  return elements;
}

LogicalResult APAttr::verify(function_ref<InFlightDiagnostic()> emitError, uint32_t start, uint32_t count,
                             int64_t offset, ArrayRef<int64_t> dims, int64_t rowStep, Type element) {
  if (element && !dtypeOf(element))
    return emitError() << "expected an element type of the machine, but got " << element;
  if (dims.size() % 2 != 0 || dims.size() / 2 > isa::kMaxRank)
    return emitError() << "expected up to " << isa::kMaxRank << " pairs of step and count, but got " << dims.size()
                       << " numbers";
  isa::AP ap;
  ap.space = isa::Space::HBM; // the space that may have a row step
  ap.partitions = count;
  ap.partitionStep = rowStep;
  ap.rank = static_cast<uint8_t>(dims.size() / 2);
  for (unsigned i = 0; i < ap.rank; ++i) {
    int64_t step = dims[2 * i], size = dims[2 * i + 1];
    if (step < INT32_MIN || step > INT32_MAX || size < 1 || size > UINT32_MAX)
      return emitError() << "expected a step of 32 bits and a count of at least 1, but got [" << step << ", " << size
                         << "]";
    ap.dims[i] = {static_cast<int32_t>(step), static_cast<uint32_t>(size)};
  }
  if (offset < 0 || start > UINT16_MAX)
    return emitError() << "expected an offset and a start partition of at least 0";
  std::string problem;
  if (!ap.wellFormed(&problem))
    return emitError() << problem;
  return success();
}

/// `<start = 0, count = 128, offset = 0, dims = [[1, 512]], row_step = 0>`; start, offset and row_step are left out
/// when 0, `as` when absent.
void APAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getStart())
    printer << "start = " << getStart() << ", ";
  printer << "count = " << getCount();
  if (getOffset())
    printer << ", offset = " << getOffset();
  printer << ", dims = [";
  for (unsigned i = 0; i < getRank(); ++i)
    printer << (i ? ", [" : "[") << getStep(i) << ", " << getDimCount(i) << "]";
  printer << "]";
  if (getRowStep())
    printer << ", row_step = " << getRowStep();
  if (getElement())
    printer << ", as = " << getElement();
  printer << ">";
}

Attribute APAttr::parse(AsmParser &parser, Type) {
  uint32_t start = 0, count = 0;
  int64_t offset = 0, rowStep = 0;
  Type element;
  SmallVector<int64_t, 8> dims;
  auto parsePair = [&]() -> ParseResult {
    int64_t step, size;
    if (parser.parseLSquare() || parser.parseInteger(step) || parser.parseComma() || parser.parseInteger(size) ||
        parser.parseRSquare())
      return failure();
    dims.append({step, size});
    return success();
  };
  auto parseField = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword) || parser.parseEqual())
      return failure();
    if (keyword == "start")
      return parser.parseInteger(start);
    if (keyword == "count")
      return parser.parseInteger(count);
    if (keyword == "offset")
      return parser.parseInteger(offset);
    if (keyword == "row_step")
      return parser.parseInteger(rowStep);
    if (keyword == "as")
      return parser.parseType(element);
    if (keyword == "dims")
      return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair);
    return parser.emitError(loc, "expected start, count, offset, dims, row_step or as, but got '") << keyword << "'";
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), start, count, offset, dims, rowStep, element);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<isa::Space> trn::ir::spaceOf(Type type) {
  Attribute space;
  if (auto memref = dyn_cast<BaseMemRefType>(type))
    space = memref.getMemorySpace();
  else if (auto tensor = dyn_cast<RankedTensorType>(type))
    space = tensor.getEncoding();
  if (isa_and_nonnull<HBMAttr>(space))
    return isa::Space::HBM;
  if (isa_and_nonnull<SBUFAttr>(space))
    return isa::Space::SBUF;
  if (isa_and_nonnull<PSUMAttr>(space))
    return isa::Space::PSUM;
  return std::nullopt;
}

Attribute trn::ir::spaceAttr(MLIRContext *context, isa::Space space) {
  switch (space) {
  case isa::Space::HBM:
    return HBMAttr::get(context);
  case isa::Space::SBUF:
    return SBUFAttr::get(context);
  case isa::Space::PSUM:
    return PSUMAttr::get(context);
  }
  return {};
}

std::optional<isa::DType> trn::ir::dtypeOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return isa::DType::BOOL;
    case 8:
      return isUnsigned ? isa::DType::U8 : isa::DType::I8;
    case 16:
      return isUnsigned ? isa::DType::U16 : isa::DType::I16;
    case 32:
      return isUnsigned ? isa::DType::U32 : isa::DType::I32;
    case 64:
      return isUnsigned ? isa::DType::U64 : isa::DType::I64;
    default:
      return std::nullopt;
    }
  }
  return llvm::TypeSwitch<Type, std::optional<isa::DType>>(type)
      .Case<Float64Type>([](auto) { return isa::DType::F64; })
      .Case<Float32Type>([](auto) { return isa::DType::F32; })
      .Case<BFloat16Type>([](auto) { return isa::DType::BF16; })
      .Case<Float16Type>([](auto) { return isa::DType::F16; })
      .Case<FloatTF32Type>([](auto) { return isa::DType::TF32; })
      .Case<Float8E3M4Type>([](auto) { return isa::DType::F8E3; })
      .Case<Float8E4M3Type>([](auto) { return isa::DType::F8E4; })
      .Case<Float8E4M3FNType>([](auto) { return isa::DType::F8E4FN; })
      .Case<Float8E5M2Type>([](auto) { return isa::DType::F8E5; })
      .Case<Float8E8M0FNUType>([](auto) { return isa::DType::F8E8; })
      .Default([](Type) { return std::nullopt; });
}

std::optional<isa::DType> trn::ir::hostDtypeOf(Type type) {
  bool isUnsigned = type.isUnsignedInteger();
  if (type.isInteger(4))
    return isUnsigned ? isa::DType::U4 : isa::DType::I4;
  if (type.isInteger(2))
    return isUnsigned ? isa::DType::U2 : isa::DType::I2;
  return llvm::TypeSwitch<Type, std::optional<isa::DType>>(type)
      .Case<Float8E4M3FNUZType>([](auto) { return isa::DType::F8E4FNUZ; })
      .Case<Float8E5M2FNUZType>([](auto) { return isa::DType::F8E5FNUZ; })
      .Case<Float4E2M1FNType>([](auto) { return isa::DType::F4E2; })
      .Default([](Type other) { return dtypeOf(other); });
}

Type trn::ir::elementTypeOf(MLIRContext *context, isa::DType type) {
  auto integer = [&](unsigned width, bool isUnsigned = false) {
    return IntegerType::get(context, width, isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  };
  switch (type) {
  case isa::DType::U64:
    return integer(64, true);
  case isa::DType::I8:
    return integer(8);
  case isa::DType::U8:
    return integer(8, true);
  case isa::DType::I16:
    return integer(16);
  case isa::DType::U16:
    return integer(16, true);
  case isa::DType::BF16:
    return BFloat16Type::get(context);
  case isa::DType::F16:
    return Float16Type::get(context);
  case isa::DType::I32:
    return integer(32);
  case isa::DType::U32:
    return integer(32, true);
  case isa::DType::F32:
    return Float32Type::get(context);
  case isa::DType::F64:
    return Float64Type::get(context);
  case isa::DType::F32R:
    return {};
  case isa::DType::I64:
    return integer(64);
  case isa::DType::F8E3:
    return Float8E3M4Type::get(context);
  case isa::DType::F8E4:
    return Float8E4M3Type::get(context);
  case isa::DType::F8E5:
    return Float8E5M2Type::get(context);
  case isa::DType::TF32:
    return FloatTF32Type::get(context);
  case isa::DType::F8E4FN:
    return Float8E4M3FNType::get(context);
  case isa::DType::F8E8:
    return Float8E8M0FNUType::get(context);
  case isa::DType::BOOL:
    return integer(1);
  case isa::DType::F8E4FNUZ:
    return Float8E4M3FNUZType::get(context);
  case isa::DType::F8E5FNUZ:
    return Float8E5M2FNUZType::get(context);
  case isa::DType::F4E2:
    return Float4E2M1FNType::get(context);
  case isa::DType::I4:
    return integer(4);
  case isa::DType::U4:
    return integer(4, true);
  case isa::DType::I2:
    return integer(2);
  case isa::DType::U2:
    return integer(2, true);
  }
  return {};
}

/// Merges neighbouring dimensions that are one run of memory, slowest first, until at most four are left.
static void mergeDims(SmallVectorImpl<int64_t> &dims) {
  for (size_t i = 0; dims.size() / 2 > isa::kMaxRank && i + 2 < dims.size();) {
    int64_t step = dims[i], count = dims[i + 1], nextStep = dims[i + 2], nextCount = dims[i + 3];
    bool oneRun = count == 1 || nextCount == 1 || step == nextStep * nextCount;
    if (!oneRun) {
      i += 2;
      continue;
    }
    dims[i] = nextCount == 1 ? step : nextStep;
    dims[i + 1] = count * nextCount;
    dims.erase(dims.begin() + i + 2, dims.begin() + i + 4);
  }
}

FailureOr<APAttr> trn::ir::accessPatternOf(MemRefType type, std::string &reason, bool anyOffset) {
  auto refuse = [&](std::string text) -> FailureOr<APAttr> {
    reason = std::move(text);
    return failure();
  };
  std::optional<isa::Space> space = spaceOf(type);
  if (!space)
    return refuse("expected memory space #trn.hbm, #trn.sbuf or #trn.psum");
  if (!type.hasStaticShape())
    return refuse("expected a static shape");
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return refuse("expected a strided layout");
  if (llvm::any_of(strides, ShapedType::isDynamic))
    return refuse("expected static strides");
  if (ShapedType::isDynamic(offset)) {
    if (!anyOffset)
      return refuse("expected a static offset");
    offset = 0;
  }
  bool isChip = *space != isa::Space::HBM;
  if (isChip && type.getRank() == 0)
    return refuse("expected dimension 0 to be the partition");
  int64_t rows = type.getRank() == 0 ? 1 : type.getDimSize(0), rowStep = type.getRank() == 0 ? 0 : strides[0];
  if (rows < 1 || rows > UINT32_MAX)
    return refuse("expected a non-empty dimension 0 of 32 bits");
  SmallVector<int64_t, 8> dims;
  for (int64_t i = 1; i < type.getRank(); ++i)
    dims.append({strides[i], type.getDimSize(i)});
  mergeDims(dims);
  if (dims.size() / 2 > isa::kMaxRank)
    return refuse("expected at most four free dimensions that are not one run of memory");
  uint32_t start = 0;
  if (isChip) {
    // Row 0 of a view begins at partition offset / row length of its base.
    if (rowStep > 0 && offset > 0) {
      start = static_cast<uint32_t>(offset / rowStep);
      offset %= rowStep;
    }
    rowStep = 0;
  }
  auto emitError = [&]() {
    InFlightDiagnostic none;
    return none;
  };
  if (failed(APAttr::verify(emitError, start, static_cast<uint32_t>(rows), offset, dims, rowStep, Type())))
    return refuse("expected sizes and steps of 32 bits");
  return APAttr::get(type.getContext(), start, static_cast<uint32_t>(rows), offset, dims, rowStep, Type());
}

FailureOr<APAttr> trn::ir::flatPatternOf(MemRefType type, std::string &reason) {
  SmallVector<int64_t> strides;
  int64_t offset = 0, elements = 1;
  bool adjacent = type.hasStaticShape() && succeeded(type.getStridesAndOffset(strides, offset)) &&
                  !ShapedType::isDynamic(offset) && spaceOf(type) == isa::Space::HBM;
  for (int64_t dim = type.getRank(); adjacent && dim-- > 0;) {
    adjacent = type.getDimSize(dim) == 1 || strides[dim] == elements;
    elements *= type.getDimSize(dim);
  }
  if (!adjacent || elements < 1 || elements > UINT32_MAX) {
    reason = "expected adjacent elements in #trn.hbm, row major and counted in 32 bits";
    return failure();
  }
  return APAttr::get(type.getContext(), 0, 1, offset, {1, elements}, 0, Type());
}

const isa::ScalarOpInfo *trn::ir::scalarOpInfo(Operation *op) { return isa::scalarOp(scalarKey(op)); }
