//===- Codec.cpp - instructions as bytes and as text ----------------------===//
//
// Owns the encoding, its decoder and the disassembler, once for all instructions, over the generated field visitors.
// The encoding is this project's own: the machine's is not public. The decoder trusts nothing: every byte is checked,
// reserved bytes must be zero, and every well-formed instruction has exactly one encoding.
//
// Little endian. One instruction:
//   u16 opcode, u8 present, u8 pointers, u32 size          bit i of present: operand i of the record is there;
//                                                          of pointers: operand i is a scalar in memory
//   operands in record order, those that are present       access pattern: 64 bytes; immediate: f32, u32 0
//   attributes in record order                             enumeration, bool, int, float: 4 bytes each; list: 4 bytes
//                                                          per entry; pattern: u32 rank, 4 x (i32 step, u32 count)
//   zeros up to a multiple of 8 bytes; `size` counts all
// Access pattern: u8 space, u8 dtype, u8 rank, u8 0, u16 start partition, u16 0, u32 partitions, u32 buffer,
//   u64 address, i64 partition step, 4 x (i32 step, u32 count), unused dimensions 0.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/ISA/ISA.h"
#include <cstdio>
#include <cstring>

namespace trn::isa {

namespace {

constexpr size_t kHeaderBytes = 8;

template <class T> void put(std::vector<uint8_t> &bytes, T value) {
  uint64_t raw = static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  uint8_t little[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i)
    little[i] = static_cast<uint8_t>(raw >> (8 * i));
  bytes.insert(bytes.end(), little, little + sizeof(T));
}

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

//===----------------------------------------------------------------------===//
// Encoder
//===----------------------------------------------------------------------===//

struct Encoder {
  std::vector<uint8_t> &bytes;
  uint8_t present = 0, pointers = 0;
  unsigned index = 0;

  void putAP(const AP &ap) {
    put(bytes, static_cast<uint8_t>(ap.space));
    put(bytes, static_cast<uint8_t>(ap.dtype));
    put(bytes, ap.rank);
    put(bytes, uint8_t(0));
    put(bytes, ap.startPartition);
    put(bytes, uint16_t(0));
    put(bytes, ap.partitions);
    put(bytes, ap.buffer);
    put(bytes, ap.address);
    put(bytes, ap.partitionStep);
    putDims(ap.dims, ap.rank);
  }
  void putDims(const Dim *dims, unsigned rank) {
    for (unsigned i = 0; i < kMaxRank; ++i) {
      put(bytes, i < rank ? dims[i].step : int32_t(0));
      put(bytes, i < rank ? dims[i].count : uint32_t(0));
    }
  }
  void putOperand(const AP &ap) { putAP(ap); }
  void putOperand(const Scalar &scalar) {
    if (scalar.isPointer) {
      pointers |= static_cast<uint8_t>(1u << index);
      return putAP(scalar.pointer);
    }
    put(bytes, bitsOf(scalar.immediate));
    put(bytes, uint32_t(0));
  }
  template <class T> void putOperand(const std::optional<T> &field) { putOperand(*field); }

  template <class T> static bool isPresent(const T &) { return true; }
  template <class T> static bool isPresent(const std::optional<T> &field) { return field.has_value(); }

  template <class T> void operand(const OperandInfo &, const T &field) {
    if (isPresent(field)) {
      present |= static_cast<uint8_t>(1u << index);
      putOperand(field);
    }
    ++index;
  }

  void attribute(const AttrInfo &, bool value) { put(bytes, uint32_t(value)); }
  void attribute(const AttrInfo &, int32_t value) { put(bytes, value); }
  void attribute(const AttrInfo &, float value) { put(bytes, bitsOf(value)); }
  void attribute(const AttrInfo &, const Pattern &value) {
    put(bytes, uint32_t(value.rank));
    putDims(value.dims, value.rank);
  }
  template <size_t N> void attribute(const AttrInfo &, const std::array<int32_t, N> &values) {
    for (int32_t value : values)
      put(bytes, value);
  }
  void attribute(const AttrInfo &, const std::vector<int32_t> &values) {
    put(bytes, static_cast<uint32_t>(values.size()));
    for (int32_t value : values)
      put(bytes, value);
  }
  template <class E> std::enable_if_t<std::is_enum_v<E>> attribute(const AttrInfo &, const E &value) {
    put(bytes, static_cast<uint32_t>(value));
  }
};

//===----------------------------------------------------------------------===//
// Decoder
//===----------------------------------------------------------------------===//

struct Decoder {
  const uint8_t *next, *end;
  uint8_t present, pointers;
  std::string &error;
  unsigned index = 0;
  bool ok = true;

  void fail(const std::string &text) {
    if (ok)
      error = text;
    ok = false;
  }
  template <class T> T get() {
    using U = std::make_unsigned_t<T>;
    if (!ok || static_cast<size_t>(end - next) < sizeof(T)) {
      fail("instruction is shorter than its fields");
      return T(0);
    }
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
      value |= uint64_t(next[i]) << (8 * i);
    next += sizeof(T);
    return static_cast<T>(static_cast<U>(value));
  }
  template <class T> void reserved() {
    if (get<T>() != 0)
      fail("a reserved field is not zero");
  }

  void getDims(Dim *dims, unsigned rank) {
    for (unsigned i = 0; i < kMaxRank; ++i) {
      int32_t step = get<int32_t>();
      uint32_t count = get<uint32_t>();
      if (i < rank)
        dims[i] = {step, count};
      else if (step != 0 || count != 0)
        fail("a dimension beyond the rank is not zero");
    }
  }
  void getAP(const OperandInfo &info, AP &ap) {
    ap.space = static_cast<Space>(get<uint8_t>());
    ap.dtype = static_cast<DType>(get<uint8_t>());
    ap.rank = get<uint8_t>();
    reserved<uint8_t>();
    ap.startPartition = get<uint16_t>();
    reserved<uint16_t>();
    ap.partitions = get<uint32_t>();
    ap.buffer = get<uint32_t>();
    ap.address = get<uint64_t>();
    ap.partitionStep = get<int64_t>();
    getDims(ap.dims, ap.rank);
    std::string problem;
    if (ok && !ap.wellFormed(&problem))
      fail(std::string("operand '") + info.name + "': " + problem);
  }
  void getOperand(const OperandInfo &info, AP &ap) { getAP(info, ap); }
  void getOperand(const OperandInfo &info, Scalar &scalar) {
    scalar.isPointer = pointers >> index & 1;
    pointers &= static_cast<uint8_t>(~(1u << index));
    if (scalar.isPointer)
      return getAP(info, scalar.pointer);
    scalar.immediate = floatOf(get<uint32_t>());
    reserved<uint32_t>();
  }
  template <class T> void getOperand(const OperandInfo &info, std::optional<T> &field) {
    field.emplace();
    getOperand(info, *field);
  }
  template <class T> void absent(const OperandInfo &info, T &) {
    fail(std::string("operand '") + info.name + "' is missing");
  }
  template <class T> void absent(const OperandInfo &, std::optional<T> &field) { field.reset(); }

  template <class T> void operand(const OperandInfo &info, T &field) {
    if (present >> index & 1)
      getOperand(info, field);
    else
      absent(info, field);
    present &= static_cast<uint8_t>(~(1u << index));
    ++index;
  }

  void range(const AttrInfo &info, int32_t value) {
    if (value < info.low || value > info.high)
      fail(std::string("attribute '") + info.name + "': expected " + std::to_string(info.low) + " to " +
           std::to_string(info.high) + " but got " + std::to_string(value));
  }
  void attribute(const AttrInfo &info, bool &value) {
    uint32_t raw = get<uint32_t>();
    if (raw > 1)
      fail(std::string("attribute '") + info.name + "': expected 0 or 1 but got " + std::to_string(raw));
    value = raw == 1;
  }
  void attribute(const AttrInfo &info, int32_t &value) { range(info, value = get<int32_t>()); }
  void attribute(const AttrInfo &, float &value) { value = floatOf(get<uint32_t>()); }
  void attribute(const AttrInfo &info, Pattern &value) {
    uint32_t rank = get<uint32_t>();
    if (rank > kMaxRank)
      return fail(std::string("attribute '") + info.name + "': expected at most 4 dimensions but got " +
                  std::to_string(rank));
    value.rank = static_cast<uint8_t>(rank);
    getDims(value.dims, rank);
    // The same limits as for an operand's pattern keep later arithmetic free of overflow.
    AP pattern;
    pattern.rank = value.rank;
    std::memcpy(pattern.dims, value.dims, sizeof(pattern.dims));
    std::string problem;
    if (ok && !pattern.wellFormed(&problem))
      fail(std::string("attribute '") + info.name + "': " + problem);
  }
  template <size_t N> void attribute(const AttrInfo &info, std::array<int32_t, N> &values) {
    for (int32_t &value : values)
      range(info, value = get<int32_t>());
  }
  void attribute(const AttrInfo &info, std::vector<int32_t> &values) {
    uint32_t count = get<uint32_t>();
    if (count > static_cast<size_t>(end - next) / sizeof(int32_t))
      return fail(std::string("attribute '") + info.name + "' is longer than the instruction");
    values.clear();
    for (uint32_t i = 0; i < count; ++i)
      values.push_back(get<int32_t>());
  }
  template <class E> std::enable_if_t<std::is_enum_v<E>> attribute(const AttrInfo &info, E &value) {
    uint32_t raw = get<uint32_t>();
    value = static_cast<E>(raw);
    if (!isKnown(value)) {
      fail(std::string("attribute '") + info.name + "' has the unknown code " + std::to_string(raw));
      value = E();
    }
  }
};

//===----------------------------------------------------------------------===//
// Disassembler and comparison
//===----------------------------------------------------------------------===//

struct Printer {
  std::string text;

  void field(const char *name, const std::string &value) { text += std::string(" ") + name + "=" + value; }
  static std::string number(float value) {
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), "%.9g", value);
    return buffer;
  }
  static std::string dims(const Dim *dims, unsigned rank) {
    std::string result;
    for (unsigned i = 0; i < rank; ++i)
      result += "[" + std::to_string(dims[i].step) + "," + std::to_string(dims[i].count) + "]";
    return result.empty() ? "[]" : result;
  }

  void operand(const OperandInfo &info, const AP &ap) { field(info.name, ap.str()); }
  void operand(const OperandInfo &info, const Scalar &scalar) {
    field(info.name, scalar.isPointer ? scalar.pointer.str() : number(scalar.immediate));
  }
  template <class T> void operand(const OperandInfo &info, const std::optional<T> &value) {
    if (value)
      operand(info, *value);
  }
  void attribute(const AttrInfo &info, bool value) {
    if (value)
      text += std::string(" ") + info.name;
  }
  void attribute(const AttrInfo &info, int32_t value) { field(info.name, std::to_string(value)); }
  void attribute(const AttrInfo &info, float value) { field(info.name, number(value)); }
  void attribute(const AttrInfo &info, const Pattern &value) { field(info.name, dims(value.dims, value.rank)); }
  template <size_t N> void attribute(const AttrInfo &info, const std::array<int32_t, N> &values) {
    numbers(info, values);
  }
  void attribute(const AttrInfo &info, const std::vector<int32_t> &values) { numbers(info, values); }
  template <class Numbers> void numbers(const AttrInfo &info, const Numbers &values) {
    std::string list;
    for (int32_t value : values)
      list += (list.empty() ? "" : ",") + std::to_string(value);
    field(info.name, list);
  }
  template <class E> std::enable_if_t<std::is_enum_v<E>> attribute(const AttrInfo &info, const E &value) {
    field(info.name, name(value));
  }
};

} // namespace

void encode(const Instruction &inst, std::vector<uint8_t> &bytes) {
  size_t begin = bytes.size();
  bytes.resize(begin + kHeaderBytes);
  Encoder encoder{bytes};
  std::visit([&](const auto &x) { visitFields(x, encoder); }, inst);
  while ((bytes.size() - begin) % 8 != 0)
    bytes.push_back(0);
  std::vector<uint8_t> header;
  put(header, static_cast<uint16_t>(opcode(inst)));
  put(header, encoder.present);
  put(header, encoder.pointers);
  put(header, static_cast<uint32_t>(bytes.size() - begin));
  std::copy(header.begin(), header.end(), bytes.begin() + static_cast<ptrdiff_t>(begin));
}

bool decode(const uint8_t *&next, const uint8_t *end, Instruction &inst, std::string &error) {
  Decoder header{next, end, 0, 0, error};
  uint16_t code = header.get<uint16_t>();
  uint8_t present = header.get<uint8_t>(), pointers = header.get<uint8_t>();
  uint32_t size = header.get<uint32_t>();
  if (!header.ok)
    return false;
  if (size < kHeaderBytes || size % 8 != 0 || size > static_cast<size_t>(end - next)) {
    error = "instruction has the impossible size " + std::to_string(size);
    return false;
  }
  Instruction result;
  if (!makeInstruction(code, result)) {
    error = "unknown instruction code " + std::to_string(code);
    return false;
  }
  Decoder decoder{header.next, next + size, present, pointers, error};
  std::visit([&](auto &x) { visitFields(x, decoder); }, result);
  if (decoder.ok && (decoder.present != 0 || decoder.pointers != 0))
    decoder.fail("presence bits name an operand that the instruction does not have");
  if (decoder.ok && decoder.end - decoder.next >= 8)
    decoder.fail("instruction is longer than its fields");
  while (decoder.ok && decoder.next != decoder.end)
    decoder.reserved<uint8_t>();
  if (!decoder.ok)
    return false;
  next += size;
  inst = std::move(result);
  return true;
}

std::string disassemble(const Instruction &inst) {
  Printer printer{info(opcode(inst)).mnemonic};
  std::visit([&](const auto &x) { visitFields(x, printer); }, inst);
  return printer.text;
}

bool equal(const Instruction &a, const Instruction &b) {
  if (a.index() != b.index())
    return false;
  // Well-formed instructions have one encoding each, and it holds every field.
  std::vector<uint8_t> left, right;
  encode(a, left);
  encode(b, right);
  return left == right;
}

} // namespace trn::isa
