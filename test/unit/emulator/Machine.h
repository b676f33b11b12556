//===- Machine.h - a core under test and a naive model of its elements --------===//
//
// Owns what the instruction tests share: a core with a few HBM buffers, element access by the definition of an access
// pattern (no view, no merging, no vector code), element conversion by the definition of each format in double
// precision, random operands, and the comparison of two whole memories.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "HostPaths.h"
#include "runtime/emulator/Core.h"
#include "runtime/emulator/Step.h"
#include "gtest/gtest.h"
#include <cfenv>
#include <random>

namespace trn::rt {

using isa::AP;
using isa::DType;
using isa::Space;

//===----------------------------------------------------------------------===//
// Formats, by definition
//===----------------------------------------------------------------------===//

struct FloatFormat {
  int exponent, mantissa, bias;
  bool ieee;
};
inline bool floatFormat(DType type, FloatFormat &format) {
  switch (type) {
  case DType::F32:
  case DType::F32R:
    format = {8, 23, 127, true};
    return true;
  case DType::TF32:
    format = {8, 10, 127, true};
    return true;
  case DType::BF16:
    format = {8, 7, 127, true};
    return true;
  case DType::F16:
    format = {5, 10, 15, true};
    return true;
  case DType::F8E5:
    format = {5, 2, 15, true};
    return true;
  case DType::F8E4:
    format = {4, 3, 7, true};
    return true;
  case DType::F8E3:
    format = {3, 4, 3, true};
    return true;
  case DType::F8E4FN:
    format = {4, 3, 7, false};
    return true;
  default:
    return false;
  }
}

/// The value of the bits of a float format that is stored right-aligned.
inline double decodeFloat(FloatFormat f, uint64_t bits) {
  int64_t mantissa = int64_t(bits & ((1ull << f.mantissa) - 1));
  int exponent = int(bits >> f.mantissa) & ((1 << f.exponent) - 1);
  double sign = bits >> (f.mantissa + f.exponent) & 1 ? -1.0 : 1.0;
  int top = (1 << f.exponent) - 1;
  if (f.ieee && exponent == top)
    return mantissa ? NAN : sign * INFINITY;
  if (!f.ieee && exponent == top && mantissa == (1 << f.mantissa) - 1)
    return NAN;
  if (exponent == 0)
    return sign * std::ldexp(double(mantissa), 1 - f.bias - f.mantissa);
  return sign * std::ldexp(double(mantissa + (1ll << f.mantissa)), exponent - f.bias - f.mantissa);
}

inline uint64_t encodeFloat(FloatFormat f, double x) {
  uint64_t top = ((1ull << f.exponent) - 1) << f.mantissa;
  uint64_t nan = f.ieee ? top | 1ull << (f.mantissa - 1) : (1ull << (f.exponent + f.mantissa)) - 1;
  uint64_t infinity = f.ieee ? top : nan;
  if (std::isnan(x))
    return nan;
  uint64_t sign = uint64_t(std::signbit(x)) << (f.exponent + f.mantissa);
  double a = std::fabs(x);
  if (std::isinf(a))
    return sign | infinity;
  if (a == 0)
    return sign;
  int exponent = std::max(std::ilogb(a), 1 - f.bias);
  double quantum = std::ldexp(1.0, exponent - f.mantissa);
  double steps = std::nearbyint(a / quantum); // RNE; exact, both are powers of two apart
  // Denormals and normals are one ladder of codes.
  uint64_t code = uint64_t(steps) + (uint64_t(exponent + f.bias - 1) << f.mantissa);
  return sign | std::min(code, infinity);
}

inline bool isSignedInt(DType type) {
  return type == DType::I8 || type == DType::I16 || type == DType::I32 || type == DType::I64;
}

inline double decodeElement(DType type, uint64_t bits) {
  FloatFormat format;
  if (type == DType::TF32) // Kept in 32 bits; the low ones are rounded away on access.
    return decodeFloat({8, 10, 127, true}, encodeFloat({8, 10, 127, true}, decodeFloat({8, 23, 127, true}, bits)));
  if (floatFormat(type, format))
    return decodeFloat(format, bits);
  if (type == DType::F8E8)
    return bits == 255 ? NAN : std::ldexp(1.0, int(bits) - 127);
  if (type == DType::BOOL)
    return bits != 0;
  unsigned width = 8 * isa::byteSize(type);
  if (isSignedInt(type))
    return double(float(int64_t(bits << (64 - width)) >> (64 - width)));
  return double(float(bits));
}

/// The bits of `x` (already an fp32 value) in `type`.
inline uint64_t encodeElement(DType type, double x) {
  FloatFormat format;
  if (type == DType::TF32)
    return encodeFloat({8, 10, 127, true}, x) << 13;
  if (floatFormat(type, format))
    return encodeFloat(format, x);
  if (type == DType::BOOL)
    return x != 0;
  unsigned width = 8 * isa::byteSize(type);
  double low = isSignedInt(type) ? -std::ldexp(1.0, width - 1) : 0, high = std::ldexp(1.0, width - isSignedInt(type));
  double rounded = std::isnan(x) ? 0 : std::nearbyint(x);
  uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
  if (rounded >= high)
    return mask >> isSignedInt(type);
  if (rounded <= low)
    return isSignedInt(type) ? 1ull << (width - 1) : 0;
  return (rounded < 0 ? uint64_t(int64_t(rounded)) : uint64_t(rounded)) & mask;
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

inline constexpr DType kComputeTypes[] = {DType::F32, DType::BF16, DType::F16,  DType::TF32, DType::F8E3,
                                          DType::F8E4, DType::F8E5, DType::F8E4FN, DType::I8, DType::U8,
                                          DType::I16, DType::U16, DType::I32,  DType::U32,  DType::BOOL};

class Machine {
public:
  explicit Machine(HostPath path = HostPath::Scalar, unsigned threads = 1, bool checkPoison = false,
                   const char *device = "trn3") {
    CoreOptions options;
    options.path = path;
    options.threads = threads;
    options.checkPoison = checkPoison;
    auto created = Core::create(*isa::device(device), options);
    EXPECT_TRUE(created.ok()) << created.status();
    core = *std::move(created);
    for (auto &buffer : hbm)
      buffer.assign(kHbmBytes, 0);
    std::vector<HbmDeclaration> declarations = {{kHbmBytes, true}, {kHbmBytes, true}, {kHbmBytes, false}};
    std::vector<HbmBuffer> buffers;
    for (auto &buffer : hbm)
      buffers.push_back({buffer.data(), buffer.size()});
    core->declareHbm(declarations);
    EXPECT_TRUE(core->bindHbm(buffers).ok());
  }

  absl::Status run(const isa::Instruction &inst, isa::Engine engine) { return execute(*core, inst, engine); }

  /// Where element k of partition p lies, by the definition in AccessPattern.h.
  uint8_t *address(const AP &ap, uint64_t p, uint64_t k) {
    int64_t offset = 0;
    for (int d = ap.rank; d-- > 0;) {
      offset += int64_t(k % ap.dims[d].count) * ap.dims[d].step;
      k /= ap.dims[d].count;
    }
    if (ap.space == Space::HBM)
      return hbm[ap.buffer].data() + ap.address + (int64_t(p) * ap.partitionStep + offset) * int64_t(ap.bytes());
    const Memory &memory = core->memory(ap.space);
    return memory.data() + (ap.startPartition + p) * memory.stride() + ap.address + offset * int64_t(ap.bytes());
  }
  uint64_t raw(const AP &ap, uint64_t p, uint64_t k) {
    uint64_t bits = 0;
    std::memcpy(&bits, address(ap, p, k), ap.bytes());
    return bits;
  }
  void setRaw(const AP &ap, uint64_t p, uint64_t k, uint64_t bits) { std::memcpy(address(ap, p, k), &bits, ap.bytes()); }
  float value(const AP &ap, uint64_t p, uint64_t k) { return float(decodeElement(ap.dtype, raw(ap, p, k))); }
  void set(const AP &ap, uint64_t p, uint64_t k, double x) { setRaw(ap, p, k, encodeElement(ap.dtype, float(x))); }

  /// Random contents: numbers of ordinary size, and with `special` also infinities, NaNs, denormals and extremes.
  void fill(const AP &ap, std::mt19937 &random, bool special = true) {
    std::normal_distribution<double> normal(0, isa::isInteger(ap.dtype) ? 60 : 2);
    for (uint64_t p = 0; p < ap.partitions; ++p)
      for (uint64_t k = 0; k < ap.elements(); ++k) {
        uint64_t bits = encodeElement(ap.dtype, float(normal(random)));
        if (special && random() % 8 == 0)
          bits = random() & (ap.bytes() == 8 ? ~0ull : (1ull << (8 * ap.bytes())) - 1);
        if (ap.dtype == DType::BOOL)
          bits &= 1;
        setRaw(ap, p, k, bits);
      }
  }

  static constexpr uint64_t kHbmBytes = 1 << 20;
  std::unique_ptr<Core> core;
  std::vector<uint8_t> hbm[3];
};

/// Fails when any byte of the two machines' memories differs.
inline void expectSameMemories(Machine &a, Machine &b) {
  for (Space space : {Space::SBUF, Space::PSUM}) {
    const Memory &x = a.core->memory(space), &y = b.core->memory(space);
    for (unsigned p = 0; p < x.partitions(); ++p) {
      const uint8_t *left = x.data() + p * x.stride(), *right = y.data() + p * y.stride();
      if (std::memcmp(left, right, x.bytesPerPartition()) == 0)
        continue;
      uint64_t i = 0;
      while (left[i] == right[i])
        ++i;
      ADD_FAILURE() << isa::name(space) << " partition " << p << " differs at byte " << i;
      return;
    }
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(a.hbm[i], b.hbm[i]) << "hbm buffer " << i;
}

/// The bits that storing the fp32 result `x` must leave; floats of a NaN are canonical.
inline void expectElement(Machine &machine, const AP &ap, uint64_t p, uint64_t k, float x, const std::string &what) {
  uint64_t expected = encodeElement(ap.dtype, x), got = machine.raw(ap, p, k);
  ASSERT_EQ(expected, got) << what << ": partition " << p << " element " << k << " of " << ap.str() << ": expected " << x
                           << " but got " << machine.value(ap, p, k);
}

//===----------------------------------------------------------------------===//
// Random operands
//===----------------------------------------------------------------------===//

/// A pattern of `counts` at `address`, innermost last: contiguous, with gaps, reversed, or (inputs) with repeats.
enum class Layout { Contiguous, Strided, Reversed, Broadcast };
inline AP operand(Space space, DType type, uint64_t address, unsigned startPartition, unsigned partitions,
                  const std::vector<uint32_t> &counts, Layout layout = Layout::Contiguous) {
  AP ap;
  ap.space = space;
  ap.dtype = type;
  ap.startPartition = uint16_t(startPartition);
  ap.partitions = uint16_t(partitions);
  ap.rank = uint8_t(counts.size());
  ap.address = address;
  int64_t step = layout == Layout::Strided ? 2 : 1;
  for (size_t d = counts.size(); d-- > 0;) {
    ap.dims[d] = {int32_t(step), counts[d]};
    if (layout == Layout::Broadcast && d % 2 == 0)
      ap.dims[d].step = 0;
    else
      step *= counts[d] + (layout == Layout::Strided ? 1 : 0);
    if (layout == Layout::Reversed) {
      ap.address += uint64_t(ap.dims[d].step) * (counts[d] - 1) * ap.bytes();
      ap.dims[d].step = -ap.dims[d].step;
    }
  }
  if (space == Space::HBM)
    ap.partitionStep = int64_t(ap.maxOffset()) + 1;
  return ap;
}

/// Three places in SBUF that never overlap, for operands of up to 60 KiB.
inline constexpr uint64_t kPlaceA = 1024, kPlaceB = 65 * 1024 + 12, kPlaceC = 130 * 1024 + 36;

} // namespace trn::rt
