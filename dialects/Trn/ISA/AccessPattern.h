//===- AccessPattern.h - operands of instructions -------------------------===//
//
// Owns the plain types that every instruction is made of: memory spaces, element types, engines, access patterns and
// scalar operands. Refuses to know any instruction, device limit or MLIR type. Rules: docs/generated/isa.md.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trn::isa {

/// Where an operand lies.
enum class Space : uint8_t { HBM, SBUF, PSUM };

/// Element types.
enum class DType : uint8_t {
#define TRN_DTYPE(id, code, bytes, kind, name) id = code,
#include "dialects/Trn/ISA/DTypes.def"
};

/// True for the codes of DTypes.def; every other value is hostile input.
bool isKnown(DType type);
/// Bytes of one element in memory; 0 for an unknown code.
unsigned byteSize(DType type);
/// "fp32", "bf16", ...; "?" for an unknown code.
const char *name(DType type);
std::optional<DType> parseDType(std::string_view text);
bool isFloat(DType type);
bool isInteger(DType type);
/// True for what only a caller's tensors have: no instruction takes it.
bool isHostOnly(DType type);
/// The bit that stands for `type` in a set of element types.
constexpr uint64_t maskOf(DType type) { return uint64_t(1) << static_cast<unsigned>(type); }

const char *name(Space space);
std::optional<Space> parseSpace(std::string_view text);
constexpr uint8_t maskOf(Space space) { return static_cast<uint8_t>(1u << static_cast<unsigned>(space)); }

/// The instruction queues of one core. A DMA instruction is issued by SP, ACT or POOL on a ring.
enum class Engine : uint8_t { PE, ACT, DVE, POOL, SP };
constexpr unsigned kNumEngines = 5;
const char *name(Engine engine);
std::optional<Engine> parseEngine(std::string_view text);
constexpr uint8_t maskOf(Engine engine) { return static_cast<uint8_t>(1u << static_cast<unsigned>(engine)); }

/// One dimension of an access pattern: `count` elements, `step` elements apart.
struct Dim {
  int32_t step = 1;
  uint32_t count = 1;
};
inline bool operator==(const Dim &a, const Dim &b) { return a.step == b.step && a.count == b.count; }
inline bool operator!=(const Dim &a, const Dim &b) { return !(a == b); }

/// Most dimensions that a free pattern has (device guide A2: four [step, num] pairs).
constexpr unsigned kMaxRank = 4;

/// One operand: where it lies and in which order its elements are visited. dims[0] varies slowest; rank 0 is one
/// element per partition. Element k of partition p lies at `address + byteSize * (offset of k)` inside partition
/// `startPartition + p` (SBUF, PSUM), or at `address + byteSize * (p * partitionStep + offset of k)` (HBM).
struct AP {
  Space space = Space::SBUF;
  DType dtype = DType::F32;
  uint8_t rank = 0;
  /// HBM: 0.
  uint16_t startPartition = 0;
  /// At most 128 on chip. HBM: the number of rows.
  uint32_t partitions = 1;
  /// HBM: index into the executable's buffer table. SBUF, PSUM: buffer id before allocation, 0 after.
  uint32_t buffer = 0;
  /// Bytes: inside a partition (SBUF, PSUM: absolute after allocation, inside the buffer before) or inside the buffer.
  uint64_t address = 0;
  /// HBM: elements between consecutive rows, 0 repeats the row. SBUF, PSUM: 0.
  int64_t partitionStep = 0;
  Dim dims[kMaxRank];

  /// Elements per partition.
  uint64_t elements() const;
  /// The same, by the documents' name.
  uint64_t free() const { return elements(); }
  /// Elements of all partitions.
  uint64_t totalElements() const { return elements() * partitions; }
  /// Bytes of one element.
  unsigned bytes() const { return byteSize(dtype); }
  /// True when the visited elements of a partition lie side by side, in order.
  bool contiguous() const;
  /// The step of the innermost dimension with more than one element; 1 when there is none.
  int32_t innerStep() const;
  /// Elements from `address` to the lowest and the highest element of one partition (or row).
  int64_t minOffset() const;
  int64_t maxOffset() const;
  /// The PSUM bank of the first byte.
  unsigned bank(uint64_t bankBytes) const { return static_cast<unsigned>(address / bankBytes); }
  /// "sbuf[0:128]@4096 fp32 [512,1][1,512]".
  std::string str() const;

  /// True when all arithmetic above is free of overflow: known codes, rank ≤ 4, no empty dimension, extents below
  /// 2^40 elements. `problem` says what is wrong. Decoded patterns always are.
  bool wellFormed(std::string *problem = nullptr) const;
};
bool operator==(const AP &a, const AP &b);
inline bool operator!=(const AP &a, const AP &b) { return !(a == b); }

/// A scalar operand: an immediate, or one fp32 per partition.
struct Scalar {
  bool isPointer = false;
  float immediate = 0.0f;
  AP pointer;

  static Scalar constant(float value) { return Scalar{false, value, AP()}; }
  static Scalar at(const AP &pointer) { return Scalar{true, 0.0f, pointer}; }
};
bool operator==(const Scalar &a, const Scalar &b);
inline bool operator!=(const Scalar &a, const Scalar &b) { return !(a == b); }

/// The affine index pattern of iota and affine_select: steps and counts, dims[0] slowest.
struct Pattern {
  uint8_t rank = 0;
  Dim dims[kMaxRank];

  uint64_t elements() const;
};
bool operator==(const Pattern &a, const Pattern &b);
inline bool operator!=(const Pattern &a, const Pattern &b) { return !(a == b); }

} // namespace trn::isa
