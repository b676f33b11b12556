//===- AccessPattern.cpp - operands of instructions -----------------------===//
//
// Owns the arithmetic of access patterns and the names of spaces, element types and engines.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/ISA/AccessPattern.h"
#include <cstring>

namespace trn::isa {

namespace {
enum class Kind : uint8_t { Integer, Float };

struct DTypeRow {
  DType type;
  uint8_t bytes;
  Kind kind;
  bool hostOnly;
  const char *name;
};

constexpr DTypeRow kDTypes[] = {
#define TRN_DTYPE(id, code, bytes, kind, name) {DType::id, bytes, Kind::kind, false, name},
#define TRN_HOST_DTYPE(id, code, bytes, kind, name) {DType::id, bytes, Kind::kind, true, name},
#include "dialects/Trn/ISA/DTypes.def"
};

/// 0 marks a code without a row. `byteSize` is asked for each operand of each instruction.
struct DTypeIndex {
  uint8_t rows[64] = {};

  constexpr DTypeIndex() {
    for (unsigned i = 0; i < sizeof(kDTypes) / sizeof(kDTypes[0]); ++i)
      rows[static_cast<unsigned>(kDTypes[i].type)] = static_cast<uint8_t>(i + 1);
  }
};
constexpr DTypeIndex kDTypeIndex;

const DTypeRow *find(DType type) {
  unsigned code = static_cast<unsigned>(type);
  unsigned row = code < 64 ? kDTypeIndex.rows[code] : 0;
  return row ? &kDTypes[row - 1] : nullptr;
}

constexpr const char *kSpaces[] = {"hbm", "sbuf", "psum"};
constexpr const char *kEngines[] = {"PE", "ACT", "DVE", "POOL", "SP"};

/// Largest extent of a pattern in elements: far above any device memory, far below overflow.
constexpr int64_t kMaxExtent = int64_t(1) << 40;

uint64_t product(const Dim *dims, unsigned rank) {
  uint64_t count = 1;
  for (unsigned i = 0; i < rank; ++i)
    count *= dims[i].count;
  return count;
}

bool equal(const Dim *a, const Dim *b, unsigned rank) {
  for (unsigned i = 0; i < rank; ++i)
    if (a[i] != b[i])
      return false;
  return true;
}
} // namespace

bool isKnown(DType type) { return find(type) != nullptr; }

unsigned byteSize(DType type) {
  const DTypeRow *row = find(type);
  return row ? row->bytes : 0;
}

const char *name(DType type) {
  const DTypeRow *row = find(type);
  return row ? row->name : "?";
}

std::optional<DType> parseDType(std::string_view text) {
  for (const DTypeRow &row : kDTypes)
    if (text == row.name)
      return row.type;
  return std::nullopt;
}

bool isFloat(DType type) {
  const DTypeRow *row = find(type);
  return row && row->kind == Kind::Float;
}

bool isInteger(DType type) {
  const DTypeRow *row = find(type);
  return row && row->kind == Kind::Integer;
}

bool isHostOnly(DType type) {
  const DTypeRow *row = find(type);
  return row && row->hostOnly;
}

const char *name(Space space) { return static_cast<unsigned>(space) < 3 ? kSpaces[static_cast<unsigned>(space)] : "?"; }

std::optional<Space> parseSpace(std::string_view text) {
  for (unsigned i = 0; i < 3; ++i)
    if (text == kSpaces[i])
      return static_cast<Space>(i);
  return std::nullopt;
}

const char *name(Engine engine) {
  return static_cast<unsigned>(engine) < kNumEngines ? kEngines[static_cast<unsigned>(engine)] : "?";
}

std::optional<Engine> parseEngine(std::string_view text) {
  for (unsigned i = 0; i < kNumEngines; ++i)
    if (text == kEngines[i])
      return static_cast<Engine>(i);
  return std::nullopt;
}

uint64_t AP::elements() const { return product(dims, rank); }

uint64_t Pattern::elements() const { return product(dims, rank); }

bool AP::contiguous() const {
  int64_t expected = 1;
  for (unsigned i = rank; i-- > 0;) {
    if (dims[i].count == 1)
      continue;
    if (dims[i].step != expected)
      return false;
    expected *= dims[i].count;
  }
  return true;
}

int32_t AP::innerStep() const {
  for (unsigned i = rank; i-- > 0;)
    if (dims[i].count > 1)
      return dims[i].step;
  return 1;
}

int64_t AP::minOffset() const {
  int64_t offset = 0;
  for (unsigned i = 0; i < rank; ++i)
    if (dims[i].step < 0)
      offset += int64_t(dims[i].step) * (int64_t(dims[i].count) - 1);
  return offset;
}

int64_t AP::maxOffset() const {
  int64_t offset = 0;
  for (unsigned i = 0; i < rank; ++i)
    if (dims[i].step > 0)
      offset += int64_t(dims[i].step) * (int64_t(dims[i].count) - 1);
  return offset;
}

std::string AP::str() const {
  std::string text = name(space);
  if (space == Space::HBM)
    text +=
        "#" + std::to_string(buffer) + "[" + std::to_string(partitions) + " x " + std::to_string(partitionStep) + "]";
  else
    text += "[" + std::to_string(startPartition) + ":" + std::to_string(startPartition + partitions) + "]";
  text += "@" + std::to_string(address) + " " + name(dtype);
  for (unsigned i = 0; i < rank && i < kMaxRank; ++i)
    text += (i ? "" : " ") + ("[" + std::to_string(dims[i].step) + "," + std::to_string(dims[i].count) + "]");
  return text;
}

static bool fail(std::string *problem, std::string text) {
  if (problem)
    *problem = std::move(text);
  return false;
}

bool AP::wellFormed(std::string *problem) const {
  if (static_cast<unsigned>(space) > static_cast<unsigned>(Space::PSUM))
    return fail(problem, "unknown space code " + std::to_string(static_cast<unsigned>(space)));
  if (!isKnown(dtype))
    return fail(problem, "unknown element type code " + std::to_string(static_cast<unsigned>(dtype)));
  if (rank > kMaxRank)
    return fail(problem, "expected at most 4 free dimensions but got " + std::to_string(rank));
  // Readers count partitions in int.
  if (partitions == 0 || partitions > INT32_MAX)
    return fail(problem, "expected 1 to 2147483647 partitions but got " + std::to_string(partitions));
  int64_t elements = 1, extent = 0;
  for (unsigned i = 0; i < rank; ++i) {
    int64_t count = dims[i].count, step = dims[i].step;
    if (count == 0)
      return fail(problem, "free dimension " + std::to_string(i) + " is empty");
    // Both factors are below 2^32 and the running values below 2^40, so no step of this loop can overflow
    // before it is refused.
    if (count > kMaxExtent / elements)
      return fail(problem, "pattern has too many elements");
    elements *= count;
    int64_t magnitude = step < 0 ? -step : step;
    if (magnitude != 0 && count - 1 > (kMaxExtent - extent) / magnitude)
      return fail(problem, "pattern reaches too far");
    extent += magnitude * (count - 1);
  }
  if (partitions > uint64_t(kMaxExtent) / elements)
    return fail(problem, "pattern has too many elements");
  if (partitionStep <= -kMaxExtent || partitionStep >= kMaxExtent)
    return fail(problem, "partition step is too large");
  int64_t rowStep = partitionStep < 0 ? -partitionStep : partitionStep;
  if (rowStep != 0 && partitions - 1 > uint64_t(kMaxExtent - extent) / rowStep)
    return fail(problem, "rows reach too far");
  if (address >= uint64_t(1) << 48)
    return fail(problem, "address is too large");
  if (space == Space::HBM && startPartition != 0)
    return fail(problem, "expected start partition 0 in HBM but got " + std::to_string(startPartition));
  if (space != Space::HBM && partitionStep != 0)
    return fail(problem, "expected partition step 0 on chip but got " + std::to_string(partitionStep));
  return true;
}

bool operator==(const AP &a, const AP &b) {
  return a.space == b.space && a.dtype == b.dtype && a.rank == b.rank && a.startPartition == b.startPartition &&
         a.partitions == b.partitions && a.buffer == b.buffer && a.address == b.address &&
         a.partitionStep == b.partitionStep && equal(a.dims, b.dims, a.rank);
}

bool operator==(const Pattern &a, const Pattern &b) { return a.rank == b.rank && equal(a.dims, b.dims, a.rank); }

bool operator==(const Scalar &a, const Scalar &b) {
  if (a.isPointer != b.isPointer)
    return false;
  return a.isPointer ? a.pointer == b.pointer : std::memcmp(&a.immediate, &b.immediate, sizeof(float)) == 0;
}

} // namespace trn::isa
