//===- ModelFile.cpp - an ONNX file, parsed, with its data ----------------===//
//
// Owns parsing, the data of tensors in all their encodings, and the rules for external data.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/ModelFile.h"

#include "compiler/Weights/Constant.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace trn;
using ::onnx::TensorProto;

static void addProblem(Diagnostics &problems, Problem::Kind kind, std::string reason, std::string hint = "") {
  Problem problem;
  problem.kind = kind;
  problem.reason = std::move(reason);
  problem.hint = std::move(hint);
  problems.add(std::move(problem));
}

bool ModelFile::open(StringRef path, bool allowExternalLinks, Diagnostics &problems) {
  std::string error;
  file = MappedFile::open(path, /*followLinks=*/true, error);
  if (!file) {
    addProblem(problems, Problem::Kind::Broken, error);
    return false;
  }
  SmallString<256> absolute(path);
  llvm::sys::fs::make_absolute(absolute);
  folder = llvm::sys::path::parent_path(absolute).str();
  fileName = llvm::sys::path::filename(path).str();
  externalAllowed = true;
  linksAllowed = allowExternalLinks;
  return parseBytes(file->bytes(), problems);
}

bool ModelFile::parse(ArrayRef<char> bytes, StringRef dataFolder, bool allowExternalLinks, Diagnostics &problems) {
  folder = dataFolder.str();
  fileName = "model.onnx";
  externalAllowed = !dataFolder.empty();
  linksAllowed = allowExternalLinks;
  return parseBytes(bytes, problems);
}

bool ModelFile::parseBytes(ArrayRef<char> bytes, Diagnostics &problems) {
  std::string error;
  if (bytes.empty()) {
    addProblem(problems, Problem::Kind::Broken, "the file is empty");
    return false;
  }
  if (!makeWireSkeleton(bytes, skeleton, error)) {
    addProblem(problems, Problem::Kind::Broken, "the file is not an ONNX model: " + error,
               "download or export the file again");
    return false;
  }
  if (skeleton.bytes.size() > size_t(INT32_MAX) || !proto.ParseFromString(skeleton.bytes)) {
    addProblem(problems, Problem::Kind::Broken, "the file is not an ONNX model: its messages do not parse",
               "download or export the file again");
    return false;
  }
  skeleton.bytes.clear();
  return true;
}

Type trn::elementType(MLIRContext &context, int32_t dataType) {
  Builder b(&context);
  auto unsignedType = [&](unsigned bits) { return IntegerType::get(&context, bits, IntegerType::Unsigned); };
  switch (dataType) {
  case TensorProto::FLOAT:
    return b.getF32Type();
  case TensorProto::DOUBLE:
    return b.getF64Type();
  case TensorProto::FLOAT16:
    return b.getF16Type();
  case TensorProto::BFLOAT16:
    return b.getBF16Type();
  case TensorProto::INT8:
    return b.getI8Type();
  case TensorProto::INT16:
    return b.getI16Type();
  case TensorProto::INT32:
    return b.getI32Type();
  case TensorProto::INT64:
    return b.getI64Type();
  case TensorProto::UINT8:
    return unsignedType(8);
  case TensorProto::UINT16:
    return unsignedType(16);
  case TensorProto::UINT32:
    return unsignedType(32);
  case TensorProto::UINT64:
    return unsignedType(64);
  case TensorProto::BOOL:
    return b.getI1Type();
  case TensorProto::FLOAT8E4M3FN:
    return Float8E4M3FNType::get(&context);
  case TensorProto::FLOAT8E4M3FNUZ:
    return Float8E4M3FNUZType::get(&context);
  case TensorProto::FLOAT8E5M2:
    return Float8E5M2Type::get(&context);
  case TensorProto::FLOAT8E5M2FNUZ:
    return Float8E5M2FNUZType::get(&context);
  case TensorProto::FLOAT8E8M0:
    return Float8E8M0FNUType::get(&context);
  case TensorProto::FLOAT4E2M1:
    return Float4E2M1FNType::get(&context);
  case TensorProto::INT4:
    return b.getIntegerType(4);
  case TensorProto::UINT4:
    return unsignedType(4);
  case TensorProto::INT2:
    return b.getIntegerType(2);
  case TensorProto::UINT2:
    return unsignedType(2);
  default:
    return {};
  }
}

std::string trn::dataTypeName(int32_t dataType) {
  static const char *const names[] = {
      "undefined", "float",      "uint8",      "int8",         "uint16",         "int16",      "int32",
      "int64",     "string",     "bool",       "float16",      "double",         "uint32",     "uint64",
      "complex64", "complex128", "bfloat16",   "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",     "int4",       "float4e2m1", "float8e8m0",   "uint2",          "int2"};
  if (dataType >= 0 && dataType < int32_t(std::size(names)))
    return names[dataType];
  return "number " + std::to_string(dataType);
}

/// Copies a repeated field into elements of `width` bytes.
template <typename Field> static std::vector<char> packField(const Field &field, Type element) {
  size_t width = elementBytes(element);
  std::vector<char> bytes(size_t(field.size()) * width);
  for (int i = 0; i < field.size(); ++i) {
    auto value = field.Get(i);
    // 16-bit floats lie in int32_data as bits; everything else converts by its low bytes.
    std::memcpy(bytes.data() + size_t(i) * width, &value, std::min(width, sizeof(value)));
  }
  return bytes;
}

/// The typed field that holds a tensor's elements when there is no raw data.
static std::vector<char> packTyped(const TensorProto &tensor, Type element) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return packField(tensor.float_data(), element);
  case TensorProto::DOUBLE:
    return packField(tensor.double_data(), element);
  case TensorProto::INT64:
    return packField(tensor.int64_data(), element);
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return packField(tensor.uint64_data(), element);
  default:
    return packField(tensor.int32_data(), element);
  }
}

/// The tensor's shape; fails on negative sizes, absurd ranks and element counts.
static FailureOr<RankedTensorType> tensorType(const TensorProto &tensor, Type element, std::string &error) {
  if (tensor.dims_size() > 64) {
    error = "expected at most 64 dimensions but got " + std::to_string(tensor.dims_size());
    return failure();
  }
  int64_t bytes = elementBytes(element);
  for (int64_t size : tensor.dims()) {
    if (size < 0 || (size > 0 && __builtin_mul_overflow(bytes, size, &bytes)) || bytes > (int64_t(1) << 46)) {
      error = "expected sensible sizes but got " + std::to_string(size) + " in a constant";
      return failure();
    }
  }
  return RankedTensorType::get(SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end()), element);
}

/// One byte per element of what the file packs, the first element in the low bits, the sign extended.
static std::vector<char> unpack(ArrayRef<char> packed, size_t elements, Type element) {
  unsigned bits = element.getIntOrFloatBitWidth(), perByte = 8 / bits, unused = 8 - bits;
  std::vector<char> bytes(elements);
  for (size_t i = 0; i < elements; ++i) {
    uint8_t high = uint8_t(uint8_t(packed[i / perByte]) >> (i % perByte * bits) << unused);
    bytes[i] = element.isSignlessInteger() ? char(int8_t(high) >> unused) : char(high >> unused);
  }
  return bytes;
}

ElementsAttr ModelFile::constant(MLIRContext &context, const TensorProto &tensor, StringRef name, std::string &error) {
  Type element = elementType(context, tensor.data_type());
  if (!element) {
    error = "constants of type " + dataTypeName(tensor.data_type()) + " are not supported";
    return {};
  }
  if (tensor.has_segment()) {
    error = "tensors in segments are not supported";
    return {};
  }
  FailureOr<RankedTensorType> type = tensorType(tensor, element, error);
  if (failed(type))
    return {};
  size_t wanted = size_t(type->getNumElements()) * elementBytes(element);
  Data data;
  std::vector<char> copy;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    if (!locateExternal(tensor, data, error))
      return {};
  } else if (tensor.trn_payload() > 0 && tensor.trn_payload() <= skeleton.payloads.size()) {
    data = {skeleton.payloads[tensor.trn_payload() - 1], file};
  } else if (tensor.has_raw_data()) {
    copy.assign(tensor.raw_data().begin(), tensor.raw_data().end());
  } else {
    copy = packTyped(tensor, element);
  }
  size_t got = data.bytes.empty() ? copy.size() : data.bytes.size();
  if (unsigned bits = element.getIntOrFloatBitWidth(); bits > 1 && bits < 8 && got == (wanted * bits + 7) / 8) {
    copy = unpack(data.bytes.empty() ? ArrayRef<char>(copy) : data.bytes, wanted, element);
    data = {};
    got = wanted;
  }
  if (got != wanted) {
    error = "expected " + std::to_string(wanted) + " bytes of data for its shape but got " + std::to_string(got);
    return {};
  }
  // A bool is one byte, and any byte but zero is true.
  bool isBool = element.isInteger(1);
  if (data.bytes.empty() || isBool) {
    if (!data.bytes.empty())
      copy.assign(data.bytes.begin(), data.bytes.end());
    if (isBool)
      for (char &byte : copy)
        byte = byte != 0;
    return makeConstant(*type, std::move(copy), name);
  }
  return makeMappedConstant(*type, data.bytes, data.owner, name);
}

bool ModelFile::locateExternal(const TensorProto &tensor, Data &data, std::string &error) {
  std::string location;
  uint64_t offset = 0, length = 0;
  bool hasLength = false;
  for (const auto &entry : tensor.external_data()) {
    bool bad = false;
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      bad = StringRef(entry.value()).getAsInteger(10, offset);
    else if (entry.key() == "length")
      bad = StringRef(entry.value()).getAsInteger(10, length), hasLength = true;
    if (bad) {
      error = "expected a number for '" + entry.key() + "' of external data but got '" + entry.value() + "'";
      return false;
    }
  }
  std::shared_ptr<const MappedFile> mapped = openExternal(location, error);
  if (!mapped)
    return false;
  ArrayRef<char> bytes = mapped->bytes();
  if (offset > bytes.size() || (hasLength && length > bytes.size() - offset)) {
    error = "expected external data inside '" + location + "' (" + std::to_string(bytes.size()) +
            " bytes) but got offset " + std::to_string(offset) + " and length " + std::to_string(length);
    return false;
  }
  data = {hasLength ? bytes.slice(offset, length) : bytes.drop_front(offset), mapped};
  return true;
}

/// External data lies in the model's folder: a relative path, and inside after every link is resolved. A link out of
/// the folder is followed only when the caller allows it.
std::shared_ptr<const MappedFile> ModelFile::openExternal(StringRef location, std::string &error) {
  namespace path = llvm::sys::path;
  if (auto it = externals.find(location.str()); it != externals.end())
    return it->second;
  if (!externalAllowed) {
    error = "external data needs a model file, not a model in memory";
    return nullptr;
  }
  if (location.empty() || location.contains('\0') || path::is_absolute(location) || location.contains('\\')) {
    error = "expected external data at a relative path but got '" + location.str() + "'";
    return nullptr;
  }
  for (StringRef part : llvm::make_range(path::begin(location), path::end(location)))
    if (part == "..") {
      error = "expected external data inside the model's folder but got '" + location.str() + "'";
      return nullptr;
    }
  SmallString<256> wanted(folder), real, realFolder;
  path::append(wanted, location);
  if (llvm::sys::fs::real_path(wanted, real) || llvm::sys::fs::real_path(folder, realFolder)) {
    error = "expected external data in '" + location.str() + "' but there is no such file";
    return nullptr;
  }
  realFolder += "/";
  if (!StringRef(real).starts_with(realFolder) && !linksAllowed) {
    error = "external data '" + location.str() + "' is a link out of the model's folder; allow such links to follow it";
    return nullptr;
  }
  std::shared_ptr<const MappedFile> mapped = MappedFile::open(real, /*followLinks=*/false, error);
  if (mapped)
    externals[location.str()] = mapped;
  return mapped;
}
