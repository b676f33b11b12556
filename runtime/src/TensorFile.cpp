//===- TensorFile.cpp - tensors in .npy, .npz and .pb files ---------------===//
//
// Formats: NumPy's NEP 1 (.npy), zip and zip64 with stored or deflated members (.npz, through zlib), and the protobuf wire format
// of onnx-ml.proto's TensorProto, SequenceProto and OptionalProto. The wire reader is ours because the runtime does not
// link protobuf; field numbers are written beside their use.
//
//===----------------------------------------------------------------------===//
#include "runtime/src/TensorFile.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/src/OutputFile.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <zlib.h>

namespace trn::rt {

namespace {

struct TypeInfo {
  DataType type;
  unsigned bits, packed;
  const char *text, *numpy;
};
constexpr TypeInfo kTypes[] = {
#define TRN_DATA_TYPE(name, code, bits, packed, text, numpy) {DataType::name, bits, packed, text, numpy},
#include "runtime/src/DataTypes.def"
};

const TypeInfo *find(DataType type) {
  for (const TypeInfo &info : kTypes)
    if (info.type == type)
      return &info;
  return nullptr;
}

absl::Status bad(const std::string &what, const std::string &why) {
  return absl::InvalidArgumentError(absl::StrCat("'", what, "': ", why));
}

/// The byte count of `shape`, or an error on negative or overflowing sizes.
absl::StatusOr<uint64_t> byteCount(const std::string &what, absl::Span<const int64_t> shape, unsigned elementBytes) {
  // Signed, and refused even when a size of 0 follows: whoever multiplies the sizes in the same order is safe.
  int64_t count = elementBytes;
  for (int64_t dim : shape) {
    if (dim < 0)
      return bad(what, absl::StrCat("expected dimensions >= 0 but got ", dim));
    if (__builtin_mul_overflow(count, dim, &count))
      return bad(what, absl::StrCat("the shape [", absl::StrJoin(shape, ", "), "] overflows 64 bits"));
  }
  return static_cast<uint64_t>(count);
}

absl::StatusOr<std::vector<uint8_t>> readWhole(const std::string &path) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return absl::NotFoundError(absl::StrCat("'", path, "': ", std::strerror(errno)));
  struct stat info;
  if (fstat(fileno(file), &info) == 0 && (S_ISDIR(info.st_mode) || S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))) {
    std::fclose(file); // a device may never end
    return bad(path, "expected a file or a pipe but got a folder or a device");
  }
  std::vector<uint8_t> bytes;
  uint8_t chunk[1 << 16];
  size_t got;
  while ((got = std::fread(chunk, 1, sizeof chunk, file)) > 0)
    bytes.insert(bytes.end(), chunk, chunk + got);
  const bool failed = std::ferror(file);
  const int why = errno;
  std::fclose(file);
  if (failed)
    return absl::DataLossError(absl::StrCat("'", path, "': ", std::strerror(why)));
  return bytes;
}

absl::Status writeWhole(const std::string &path, absl::Span<const uint8_t> bytes) {
  OutputFile file;
  if (absl::Status status = file.open(path); !status.ok())
    return status;
  if (!file.write(bytes.data(), bytes.size()))
    return absl::ResourceExhaustedError(absl::StrCat("'", path, "': ", std::strerror(errno)));
  return file.commit();
}

template <class T> T little(const uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof value); // hosts are little endian (x86-64)
  return value;
}

template <class T> void put(std::vector<uint8_t> &out, T value) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

/// The value of `'key':` in the header's dict literal, up to the comma or brace that ends it at depth 0.
absl::StatusOr<std::string> headerField(const std::string &what, const std::string &header, const char *key) {
  size_t at = header.find(absl::StrCat("'", key, "'"));
  if (at == std::string::npos || (at = header.find(':', at)) == std::string::npos)
    return bad(what, absl::StrCat("the .npy header has no '", key, "'"));
  int depth = 0;
  bool quoted = false;
  size_t end = ++at;
  for (; end < header.size(); ++end) {
    char c = header[end];
    if (c == '\'')
      quoted = !quoted;
    if (quoted)
      continue;
    if (c == '(' || c == '[')
      ++depth;
    else if (c == ')' || c == ']')
      --depth;
    else if (depth == 0 && (c == ',' || c == '}'))
      break;
  }
  std::string value = header.substr(at, end - at);
  value.erase(0, value.find_first_not_of(' '));
  value.erase(value.find_last_not_of(' ') + 1);
  return value;
}

absl::StatusOr<DataType> typeOfDescr(const std::string &what, const std::string &descr, DataType expected) {
  std::string text = descr;
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    text = text.substr(1, text.size() - 2);
  if (text.empty())
    return bad(what, "the .npy header has an empty 'descr'");
  if (text.front() == '>')
    return bad(what, absl::StrCat("dtype ", descr, " is big endian; save it with .astype('<...')"));
  std::string kind = text.find_first_of("<|=") == 0 ? text.substr(1) : text;
  // Raw void data carries its type in the reader's expectation only.
  const TypeInfo *want = find(expected);
  if (want && kind == want->numpy)
    return expected;
  for (const TypeInfo &info : kTypes)
    if (kind == info.numpy)
      return info.type;
  return bad(what, absl::StrCat("dtype ", descr, " is not supported; expected a number or bool type"));
}

/// Row-major bytes of column-major ("fortran_order") data.
std::vector<uint8_t> toRowMajor(absl::Span<const uint8_t> data, absl::Span<const int64_t> shape, unsigned size) {
  std::vector<uint8_t> out(data.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t linear = 0; linear * size < data.size(); ++linear) {
    uint64_t source = 0;
    for (size_t d = shape.size(); d-- > 0;)
      source = source * shape[d] + index[d];
    std::memcpy(&out[linear * size], &data[source * size], size);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  return out;
}

std::vector<uint8_t> npyBytes(const HostTensor &tensor) {
  std::string shape;
  for (int64_t dim : tensor.shape)
    absl::StrAppend(&shape, dim, ",");
  const TypeInfo &info = *find(tensor.type);
  const char *order = info.bits == 8 ? "|" : "<";
  std::string header =
      absl::StrCat("{'descr': '", order, info.numpy, "', 'fortran_order': False, 'shape': (", shape, "), }");
  // Magic, version 1.0, 16-bit header length; data starts at a multiple of 64 (NEP 1).
  size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.resize(total - 11, ' ');
  header.push_back('\n');
  std::vector<uint8_t> out = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  put<uint16_t>(out, static_cast<uint16_t>(header.size()));
  out.insert(out.end(), header.begin(), header.end());
  out.insert(out.end(), tensor.bytes.begin(), tensor.bytes.end());
  return out;
}

//===----------------------------------------------------------------------===//
// zip (.npz)
//===----------------------------------------------------------------------===//

absl::StatusOr<std::vector<uint8_t>> inflateMember(const std::string &what, absl::Span<const uint8_t> packed,
                                                   uint64_t size) {
  // Deflate expands at most about 1032 times; a larger claim is a lie, and is refused before memory is taken.
  if (size > packed.size() * 1032 + 64)
    return bad(what, "a compressed member claims an impossible size");
  std::vector<uint8_t> out(size);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return absl::InternalError("zlib could not start");
  // zlib counts in 32 bits: larger members go through in pieces.
  constexpr uint64_t kPiece = 1u << 30;
  uint64_t consumed = 0, produced = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    const uint64_t in = std::min(packed.size() - consumed, kPiece), room = std::min(size - produced, kPiece);
    stream.next_in = const_cast<uint8_t *>(packed.data()) + consumed;
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = out.data() + produced;
    stream.avail_out = static_cast<uInt>(room);
    result = inflate(&stream, Z_NO_FLUSH); // no progress is Z_BUF_ERROR, which ends the loop
    consumed += in - stream.avail_in;
    produced += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || produced != size)
    return bad(what, "a compressed member is damaged");
  return out;
}

//===----------------------------------------------------------------------===//
// protobuf wire format
//===----------------------------------------------------------------------===//

/// A cursor over the fields of one message.
class Wire {
public:
  explicit Wire(absl::Span<const uint8_t> bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  /// Moves to the next field. False at the end or on damage (`damaged`).
  bool next() {
    if (at_ == end_ || damaged_)
      return false;
    uint64_t key;
    if (!varint(key))
      return false;
    number = key >> 3;
    type = key & 7;
    switch (type) {
    case 0:
      return varint(value);
    case 1:
      return fixed(8);
    case 5:
      return fixed(4);
    case 2: {
      uint64_t size;
      if (!varint(size))
        return false;
      if (size > static_cast<uint64_t>(end_ - at_))
        return fail();
      payload = absl::MakeConstSpan(at_, size);
      at_ += size;
      return true;
    }
    default:
      return fail();
    }
  }
  bool damaged() const { return damaged_; }

  uint64_t number = 0, value = 0;
  unsigned type = 0;
  absl::Span<const uint8_t> payload;

private:
  bool fail() {
    damaged_ = true;
    return false;
  }
  bool varint(uint64_t &out) {
    out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_)
        return fail();
      uint8_t byte = *at_++;
      out |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return true;
    }
    return fail();
  }
  bool fixed(unsigned size) {
    if (static_cast<uint64_t>(end_ - at_) < size)
      return fail();
    payload = absl::MakeConstSpan(at_, size);
    value = size == 8 ? little<uint64_t>(at_) : little<uint32_t>(at_);
    at_ += size;
    return true;
  }

  const uint8_t *at_, *end_;
  bool damaged_ = false;
};

/// All varints of a repeated field occurrence (packed or not).
bool varints(const Wire &wire, std::vector<int64_t> &out) {
  if (wire.type == 0) {
    out.push_back(static_cast<int64_t>(wire.value));
    return true;
  }
  if (wire.type != 2)
    return false;
  const uint8_t *at = wire.payload.data(), *end = at + wire.payload.size();
  while (at != end) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at == end || shift > 63)
        return false;
      uint8_t byte = *at++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        break;
    }
    out.push_back(static_cast<int64_t>(value));
  }
  return true;
}

/// Appends the fixed-size values of a repeated field occurrence.
bool fixeds(const Wire &wire, std::vector<uint8_t> &out, unsigned size) {
  if (wire.type == 0 || wire.payload.size() % size)
    return false;
  out.insert(out.end(), wire.payload.begin(), wire.payload.end());
  return true;
}

bool isSigned(DataType type) { return type == DataType::Int4 || type == DataType::Int2; }

/// One byte per element of what a .pb file packs, the first element in the low bits.
std::vector<uint8_t> unpack(const std::vector<uint8_t> &packed, uint64_t elements, unsigned bits, bool isSigned) {
  std::vector<uint8_t> out(elements);
  unsigned perByte = 8 / bits, unused = 8 - bits;
  for (uint64_t i = 0; i < elements; ++i) {
    uint8_t high = static_cast<uint8_t>(packed[i / perByte] >> (i % perByte * bits) << unused);
    out[i] = isSigned ? static_cast<uint8_t>(static_cast<int8_t>(high) >> unused) : high >> unused;
  }
  return out;
}

std::vector<uint8_t> pack(const std::vector<uint8_t> &bytes, unsigned bits) {
  unsigned perByte = 8 / bits;
  std::vector<uint8_t> out((bytes.size() + perByte - 1) / perByte);
  for (size_t i = 0; i < bytes.size(); ++i)
    out[i / perByte] |= static_cast<uint8_t>((bytes[i] & ((1u << bits) - 1)) << (i % perByte * bits));
  return out;
}

absl::StatusOr<HostTensor> parseTensorProto(absl::Span<const uint8_t> bytes, const std::string &what) {
  // TensorProto: dims 1, data_type 2, float_data 4, int32_data 5, int64_data 7, name 8, raw_data 9, double_data 10,
  // uint64_data 11, external_data 13, data_location 14.
  HostTensor tensor;
  std::vector<int64_t> integers;
  std::vector<uint8_t> fixed;
  bool raw = false, understood = true;
  Wire wire(bytes);
  while (understood && wire.next()) {
    switch (wire.number) {
    case 1:
      understood = varints(wire, tensor.shape);
      break;
    case 2:
      understood = wire.type == 0;
      tensor.type = wire.value < 256 ? static_cast<DataType>(wire.value) : DataType::Undefined;
      break;
    case 4:
      understood = fixeds(wire, fixed, 4);
      break;
    case 10:
      understood = fixeds(wire, fixed, 8);
      break;
    case 5:
    case 7:
    case 11:
      understood = varints(wire, integers);
      break;
    case 8:
      understood = wire.type == 2;
      if (understood)
        tensor.name.assign(reinterpret_cast<const char *>(wire.payload.data()), wire.payload.size());
      break;
    case 9:
      understood = wire.type == 2;
      if (understood)
        tensor.bytes.assign(wire.payload.begin(), wire.payload.end());
      raw = true;
      break;
    case 14:
      if (wire.value == 1)
        return bad(what, "the tensor's data lies in another file (external data), which is not supported here");
      break;
    }
  }
  if (!understood || wire.damaged())
    return bad(what, "expected a TensorProto but the bytes are damaged or of another kind");
  const TypeInfo *info = find(tensor.type);
  if (!info)
    return bad(what, absl::StrCat("element type ", static_cast<int>(tensor.type), " is not supported"));
  unsigned size = info->bits / 8;
  absl::StatusOr<uint64_t> expected = byteCount(what, tensor.shape, size);
  if (!expected.ok())
    return expected.status();
  if (!raw && !fixed.empty())
    tensor.bytes = std::move(fixed);
  else if (!raw)
    for (int64_t value : integers) {
      const auto *from = reinterpret_cast<const uint8_t *>(&value);
      tensor.bytes.insert(tensor.bytes.end(), from, from + size);
    }
  uint64_t elements = *expected / size;
  if (info->packed < 8) {
    const uint64_t perByte = 8 / info->packed; // a number of elements has no room for bits
    *expected = elements / perByte + (elements % perByte != 0);
    if (tensor.bytes.size() == *expected) {
      tensor.bytes = unpack(tensor.bytes, elements, info->packed, isSigned(tensor.type));
      return tensor;
    }
  }
  if (tensor.bytes.size() != *expected)
    return bad(what, absl::StrCat("expected ", *expected, " bytes for shape [", absl::StrJoin(tensor.shape, ", "),
                                  "] of ", info->text, " but got ", tensor.bytes.size()));
  return tensor;
}

void putVarint(std::vector<uint8_t> &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<uint8_t>(value) | 0x80);
  out.push_back(static_cast<uint8_t>(value));
}

void putBytes(std::vector<uint8_t> &out, unsigned number, absl::Span<const uint8_t> bytes) {
  putVarint(out, number << 3 | 2);
  putVarint(out, bytes.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::vector<uint8_t> protoBytes(const HostTensor &tensor) {
  std::vector<uint8_t> out;
  for (int64_t dim : tensor.shape) {
    putVarint(out, 1 << 3);
    putVarint(out, static_cast<uint64_t>(dim));
  }
  putVarint(out, 2 << 3);
  putVarint(out, static_cast<uint64_t>(tensor.type));
  if (!tensor.name.empty())
    putBytes(out, 8, absl::MakeConstSpan(reinterpret_cast<const uint8_t *>(tensor.name.data()), tensor.name.size()));
  const TypeInfo *info = find(tensor.type);
  putBytes(out, 9, info && info->packed < 8 ? pack(tensor.bytes, info->packed) : tensor.bytes);
  return out;
}

} // namespace

unsigned byteSize(DataType type) {
  const TypeInfo *info = find(type);
  return info ? info->bits / 8 : 0;
}

const char *dataTypeName(DataType type) {
  const TypeInfo *info = find(type);
  return info ? info->text : "undefined";
}

bool isNumpyType(DataType type) {
  const TypeInfo *info = find(type);
  return info && info->numpy[0] != 'V';
}

int64_t HostTensor::elements() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

absl::StatusOr<HostTensor> parseNpy(absl::Span<const uint8_t> bytes, const std::string &what, DataType expected) {
  static const uint8_t kMagic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (bytes.size() < 12 || std::memcmp(bytes.data(), kMagic, sizeof kMagic))
    return bad(what, "expected a .npy file but its first bytes are not NumPy's");
  unsigned major = bytes[6];
  if (major < 1 || major > 3)
    return bad(what, absl::StrCat("expected .npy version 1 to 3 but got ", major));
  size_t headerSize = major == 1 ? little<uint16_t>(bytes.data() + 8) : little<uint32_t>(bytes.data() + 8);
  size_t start = major == 1 ? 10 : 12;
  if (headerSize > bytes.size() - start)
    return bad(what, "the .npy header is cut off");
  std::string header(reinterpret_cast<const char *>(bytes.data() + start), headerSize);

  absl::StatusOr<std::string> descr = headerField(what, header, "descr");
  absl::StatusOr<std::string> fortran = headerField(what, header, "fortran_order");
  absl::StatusOr<std::string> shape = headerField(what, header, "shape");
  for (const auto *field : {&descr, &fortran, &shape})
    if (!field->ok())
      return field->status();
  HostTensor tensor;
  absl::StatusOr<DataType> type = typeOfDescr(what, *descr, expected);
  if (!type.ok())
    return type.status();
  tensor.type = *type;
  for (const char *at = shape->c_str(); *at;) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    char *end;
    errno = 0;
    tensor.shape.push_back(std::strtoll(at, &end, 10));
    if (errno == ERANGE)
      return bad(what, absl::StrCat("the shape ", *shape, " is out of range"));
    at = end;
  }
  absl::StatusOr<uint64_t> size = byteCount(what, tensor.shape, byteSize(tensor.type));
  if (!size.ok())
    return size.status();
  absl::Span<const uint8_t> data = bytes.subspan(start + headerSize);
  if (data.size() != *size)
    return bad(what, absl::StrCat("expected ", *size, " bytes of data for shape ", *shape, " but got ", data.size()));
  if (*fortran == "True" && tensor.shape.size() > 1)
    tensor.bytes = toRowMajor(data, tensor.shape, byteSize(tensor.type));
  else
    tensor.bytes.assign(data.begin(), data.end());
  return tensor;
}

absl::StatusOr<TensorFile> parseNpz(absl::Span<const uint8_t> bytes, const std::string &what, DataType expected) {
  // The end record is the last 22 bytes plus a comment of at most 64 KiB.
  const size_t kEnd = 22;
  size_t end = std::string::npos;
  for (size_t back = kEnd; back <= std::min<size_t>(bytes.size(), kEnd + 65535); ++back)
    if (little<uint32_t>(bytes.data() + (bytes.size() - back)) == 0x06054b50) {
      end = bytes.size() - back;
      break;
    }
  if (end == std::string::npos)
    return bad(what, "expected a .npz (zip) file but found no zip directory");
  uint64_t count = little<uint16_t>(bytes.data() + (end + 10)), at = little<uint32_t>(bytes.data() + (end + 16));
  // A zip64 locator before the end record names the record with the 64-bit values.
  if (end >= 20 && little<uint32_t>(bytes.data() + (end - 20)) == 0x07064b50) {
    const uint64_t record = little<uint64_t>(bytes.data() + (end - 12));
    if (end < 20 + 56 || record > end - 20 - 56 || little<uint32_t>(bytes.data() + record) != 0x06064b50)
      return bad(what, "the zip64 end record is damaged");
    count = little<uint64_t>(bytes.data() + (record + 32));
    at = little<uint64_t>(bytes.data() + (record + 48));
  }
  TensorFile file;
  file.kind = TensorFile::Kind::Named;
  uint64_t packedTotal = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 || little<uint32_t>(bytes.data() + at) != 0x02014b50)
      return bad(what, "the zip directory is damaged");
    const unsigned method = little<uint16_t>(bytes.data() + (at + 10));
    const uint32_t expectedCrc = little<uint32_t>(bytes.data() + (at + 16));
    uint64_t packed = little<uint32_t>(bytes.data() + (at + 20)), size = little<uint32_t>(bytes.data() + (at + 24));
    size_t nameSize = little<uint16_t>(bytes.data() + (at + 28)), extra = little<uint16_t>(bytes.data() + (at + 30)),
           comment = little<uint16_t>(bytes.data() + (at + 32));
    uint64_t local = little<uint32_t>(bytes.data() + (at + 42));
    if (bytes.size() - at - 46 < nameSize + extra)
      return bad(what, "the zip directory is cut off");
    std::string name(reinterpret_cast<const char *>(bytes.data() + (at + 46)), nameSize);
    // Members over 4 GiB (and NumPy's force_zip64) carry 64-bit sizes in extra field 1.
    for (size_t e = at + 46 + nameSize, stop = e + extra; e + 4 <= stop;) {
      size_t id = little<uint16_t>(bytes.data() + e), length = little<uint16_t>(bytes.data() + (e + 2)), field = e + 4;
      if (length > stop - field)
        break;
      if (id == 1)
        for (auto [value, marked] : {std::pair<uint64_t *, bool>{&size, size == 0xffffffff},
                                     {&packed, packed == 0xffffffff},
                                     {&local, local == 0xffffffff}})
          if (marked && field + 8 <= e + 4 + length) {
            *value = little<uint64_t>(bytes.data() + field);
            field += 8;
          }
      e += 4 + length;
    }
    at += 46 + nameSize + extra + comment;
    if (local > bytes.size() || bytes.size() - local < 30 || little<uint32_t>(bytes.data() + local) != 0x04034b50)
      return bad(what, absl::StrCat("member '", name, "' has no local header"));
    uint64_t data = local + 30 + little<uint16_t>(bytes.data() + (local + 26)) + little<uint16_t>(bytes.data() + (local + 28));
    if (data > bytes.size() || packed > bytes.size() - data)
      return bad(what, absl::StrCat("member '", name, "' is cut off"));
    // Many names for the same compressed bytes would unpack to far more than the file pays for.
    packedTotal += packed;
    if (packedTotal > bytes.size())
      return bad(what, "its members overlap");
    absl::Span<const uint8_t> member = bytes.subspan(data, packed);
    std::vector<uint8_t> unpacked;
    if (method == 8) {
      absl::StatusOr<std::vector<uint8_t>> inflated = inflateMember(what, member, size);
      if (!inflated.ok())
        return inflated.status();
      unpacked = std::move(*inflated);
      member = unpacked;
    } else if (method != 0) {
      return bad(what, absl::StrCat("member '", name, "' uses zip method ", method, "; expected stored or deflated"));
    }
    const auto crc = static_cast<uint32_t>(crc32_z(0, member.data(), member.size()));
    if (crc != expectedCrc)
      return bad(what, absl::StrCat("member '", name, "' is damaged: expected the checksum ",
                                    absl::Hex(expectedCrc, absl::kZeroPad8), " but got ", absl::Hex(crc, absl::kZeroPad8)));
    absl::StatusOr<HostTensor> tensor = parseNpy(member, absl::StrCat(what, ":", name), expected);
    if (!tensor.ok())
      return tensor.status();
    tensor->name = absl::EndsWith(name, ".npy") ? name.substr(0, name.size() - 4) : name;
    file.tensors.push_back(std::move(*tensor));
  }
  return file;
}

std::vector<uint8_t> npzBytes(const TensorFile &file, uint64_t zip64From) {
  constexpr uint32_t kIn64 = 0xffffffff; // "see the 64-bit field"
  std::vector<uint8_t> out, directory;
  for (const HostTensor &tensor : file.tensors) {
    std::vector<uint8_t> member = npyBytes(tensor);
    const std::string name = tensor.name + ".npy";
    const uint64_t offset = out.size(), size = member.size();
    const bool bigSize = size >= zip64From, bigOffset = offset >= zip64From;
    const auto crc = static_cast<uint32_t>(crc32_z(0, member.data(), member.size()));
    auto common = [&](std::vector<uint8_t> &to, unsigned extra) {
      put<uint16_t>(to, extra ? 45 : 20); // version needed
      put<uint16_t>(to, 0x800);           // names are UTF-8
      put<uint16_t>(to, 0);               // stored
      put<uint16_t>(to, 0);               // time
      put<uint16_t>(to, 0x0021);          // 1980-01-01
      put<uint32_t>(to, crc);
      put<uint32_t>(to, bigSize ? kIn64 : static_cast<uint32_t>(size));
      put<uint32_t>(to, bigSize ? kIn64 : static_cast<uint32_t>(size));
      put<uint16_t>(to, static_cast<uint16_t>(name.size()));
      put<uint16_t>(to, static_cast<uint16_t>(extra ? extra + 4 : 0));
    };
    auto put64 = [&](std::vector<uint8_t> &to, unsigned extra, bool withOffset) {
      if (!extra)
        return;
      put<uint16_t>(to, 1);
      put<uint16_t>(to, static_cast<uint16_t>(extra));
      if (bigSize) {
        put<uint64_t>(to, size);
        put<uint64_t>(to, size);
      }
      if (withOffset)
        put<uint64_t>(to, offset);
    };
    const unsigned localExtra = bigSize ? 16 : 0, extra = localExtra + (bigOffset ? 8 : 0);
    put<uint32_t>(out, 0x04034b50);
    common(out, localExtra);
    out.insert(out.end(), name.begin(), name.end());
    put64(out, localExtra, /*withOffset=*/false);
    out.insert(out.end(), member.begin(), member.end());
    put<uint32_t>(directory, 0x02014b50);
    put<uint16_t>(directory, extra ? 45 : 20);
    common(directory, extra);
    for (int i = 0; i < 3; ++i)
      put<uint16_t>(directory, 0); // comment, disk, internal attributes
    put<uint32_t>(directory, 0);
    put<uint32_t>(directory, bigOffset ? kIn64 : static_cast<uint32_t>(offset));
    directory.insert(directory.end(), name.begin(), name.end());
    put64(directory, extra, bigOffset);
  }
  const uint64_t start = out.size(), count = file.tensors.size();
  out.insert(out.end(), directory.begin(), directory.end());
  if (count >= 0xffff || start >= zip64From || directory.size() >= zip64From) {
    const uint64_t record = out.size();
    put<uint32_t>(out, 0x06064b50);
    put<uint64_t>(out, 44); // the rest of this record
    put<uint16_t>(out, 45);
    put<uint16_t>(out, 45);
    put<uint32_t>(out, 0);
    put<uint32_t>(out, 0);
    put<uint64_t>(out, count);
    put<uint64_t>(out, count);
    put<uint64_t>(out, directory.size());
    put<uint64_t>(out, start);
    put<uint32_t>(out, 0x07064b50);
    put<uint32_t>(out, 0);
    put<uint64_t>(out, record);
    put<uint32_t>(out, 1);
  }
  const auto shortCount = static_cast<uint16_t>(std::min<uint64_t>(count, 0xffff));
  put<uint32_t>(out, 0x06054b50);
  put<uint32_t>(out, 0);
  put<uint16_t>(out, shortCount);
  put<uint16_t>(out, shortCount);
  put<uint32_t>(out, directory.size() >= zip64From ? kIn64 : static_cast<uint32_t>(directory.size()));
  put<uint32_t>(out, start >= zip64From ? kIn64 : static_cast<uint32_t>(start));
  put<uint16_t>(out, 0);
  return out;
}

static absl::StatusOr<TensorFile> parseProto(absl::Span<const uint8_t> bytes, const std::string &what,
                                             bool inOptional) {
  TensorFile file;
  absl::StatusOr<HostTensor> tensor = parseTensorProto(bytes, what);
  if (tensor.ok() && !inOptional) {
    file.tensors.push_back(std::move(*tensor));
    return file;
  }
  // SequenceProto: name 1, elem_type 2 (1 = tensor), tensor_values 3.
  // OptionalProto: name 1, elem_type 2 (1 = tensor, 3 = sequence, 0 = absent), tensor_value 3, sequence_value 5. The two
  // share their field numbers; a message with exactly one tensor and no repetition is taken for a sequence of one, which
  // callers accept for both. An optional that has a sequence is that sequence.
  file.kind = TensorFile::Kind::Sequence;
  const absl::Status otherwise =
      tensor.ok() ? absl::InvalidArgumentError(absl::StrCat("'", what, "': expected a sequence in the optional"))
                  : tensor.status();
  Wire wire(bytes);
  while (wire.next()) {
    if (wire.number == 3 && wire.type == 2) {
      absl::StatusOr<HostTensor> element = parseTensorProto(wire.payload, what);
      if (!element.ok())
        return element.status();
      file.tensors.push_back(std::move(*element));
    } else if (wire.number == 5 && wire.type == 2 && !inOptional && file.tensors.empty()) {
      absl::StatusOr<TensorFile> sequence = parseProto(wire.payload, what, /*inOptional=*/true);
      if (!sequence.ok())
        return sequence.status();
      file.tensors = std::move(sequence->tensors);
    } else if (wire.number > 3 || (wire.number == 2 && wire.value > 1 && (wire.value != 3 || inOptional))) {
      return otherwise;
    }
  }
  if (wire.damaged())
    return otherwise;
  if (file.tensors.empty())
    file.kind = TensorFile::Kind::Optional;
  return file;
}

absl::StatusOr<TensorFile> parseProto(absl::Span<const uint8_t> bytes, const std::string &what) {
  return parseProto(bytes, what, /*inOptional=*/false);
}

absl::StatusOr<TensorFile> readTensorFile(const std::string &path, DataType expected) {
  absl::StatusOr<std::vector<uint8_t>> bytes = readWhole(path);
  if (!bytes.ok())
    return bytes.status();
  if (absl::EndsWith(path, ".npz"))
    return parseNpz(*bytes, path, expected);
  if (absl::EndsWith(path, ".pb"))
    return parseProto(*bytes, path);
  if (!absl::EndsWith(path, ".npy"))
    return bad(path, "expected a file name that ends in .npy, .npz or .pb");
  absl::StatusOr<HostTensor> tensor = parseNpy(*bytes, path, expected);
  if (!tensor.ok())
    return tensor.status();
  TensorFile file;
  file.tensors.push_back(std::move(*tensor));
  return file;
}

absl::Status writeTensorFile(const std::string &path, const TensorFile &file) {
  for (const HostTensor &tensor : file.tensors)
    if (!find(tensor.type))
      return bad(path, absl::StrCat("tensor '", tensor.name, "' has no storable element type"));
  if (absl::EndsWith(path, ".npz"))
    return writeWhole(path, npzBytes(file));
  if (absl::EndsWith(path, ".pb")) {
    if (file.kind == TensorFile::Kind::Tensor && file.tensors.size() == 1)
      return writeWhole(path, protoBytes(file.tensors.front()));
    std::vector<uint8_t> out;
    putVarint(out, 2 << 3);
    putVarint(out, file.tensors.empty() && file.kind == TensorFile::Kind::Optional ? 0 : 1);
    for (const HostTensor &tensor : file.tensors)
      putBytes(out, 3, protoBytes(tensor));
    return writeWhole(path, out);
  }
  if (!absl::EndsWith(path, ".npy"))
    return bad(path, "expected a file name that ends in .npy, .npz or .pb");
  if (file.tensors.size() != 1)
    return bad(path, absl::StrCat("a .npy file holds one tensor but got ", file.tensors.size(), "; use .npz"));
  return writeWhole(path, npyBytes(file.tensors.front()));
}

} // namespace trn::rt
