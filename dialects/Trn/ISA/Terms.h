//===- Terms.h - the vocabulary of record expressions ---------------------===//
//
// Owns the functions that rules and costs in the records call. Private to the ISA library. Numbers about machines are
// fields of DeviceInfo, never written here.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/Constants.h"
#include "dialects/Trn/ISA/ISA.h"
#include "dialects/Trn/ISA/LoopNest.h"
#include <algorithm>
#include <cstdlib>

namespace trn::isa {

//===----------------------------------------------------------------------===//
// Printing of values in messages
//===----------------------------------------------------------------------===//

inline std::string print(const char *text) { return text; }
inline std::string print(const std::string &text) { return text; }
template <class T, class = std::enable_if_t<std::is_integral_v<T>>> std::string print(T value) {
  return std::to_string(value);
}
std::string print(float value);

//===----------------------------------------------------------------------===//
// Types and operators
//===----------------------------------------------------------------------===//

/// fp32 and tf32, which PE multiplies only with each other.
inline bool isWide(DType type) { return type == DType::F32 || type == DType::TF32 || type == DType::F32R; }
/// 16-bit floating point.
inline bool isHalf(DType type) { return type == DType::BF16 || type == DType::F16; }
/// What every engine converts to and from fp32.
inline bool converts(DType type) {
  return type != DType::F32R && type != DType::F8E8 && type != DType::I64 && type != DType::U64 && type != DType::F64 &&
         isKnown(type);
}
inline bool isBitwise(AluOp op) { return info(op).kind == AluKind::Bitwise; }

/// True when the engine computes the operator elementwise (SH26 operator table); ACT from core version 3 on.
inline bool legalOn(AluOp op, Engine engine, const DeviceInfo &device) {
  return (info(op).engines & maskOf(engine)) && (engine != Engine::ACT || device.version >= 3);
}
/// ACT computes mul+add, mul and add only, from core version 3 on (ISA32 tensor_scalar).
inline bool tensorScalarLegalOn(AluOp op0, AluOp op1, bool reverse0, bool reverse1, Engine engine,
                                const DeviceInfo &device) {
  if (engine != Engine::ACT)
    return legalOn(op0, engine, device) && legalOn(op1, engine, device);
  if (device.version < 3)
    return false;
  return (op0 == AluOp::Multiply && (op1 == AluOp::Add || op1 == AluOp::Bypass)) ||
         (op0 == AluOp::Add && op1 == AluOp::Bypass);
}

//===----------------------------------------------------------------------===//
// Access patterns
//===----------------------------------------------------------------------===//

inline int64_t firstByte(const AP &ap) { return int64_t(ap.address) + ap.minOffset() * int64_t(ap.bytes()); }
inline int64_t lastByte(const AP &ap) {
  return int64_t(ap.address) + ap.maxOffset() * int64_t(ap.bytes()) + int64_t(ap.bytes()) - 1;
}
inline bool inOneBank(const DeviceInfo &device, const AP &ap) {
  return firstByte(ap) >= 0 && firstByte(ap) / device.psumBankBytes == lastByte(ap) / device.psumBankBytes;
}
/// Elements of the `count` innermost dimensions.
inline uint64_t innermost(const AP &ap, int32_t count) {
  uint64_t elements = 1;
  for (int32_t i = std::max<int32_t>(0, int32_t(ap.rank) - count); i < int32_t(ap.rank); ++i)
    elements *= ap.dims[i].count;
  return elements;
}
inline bool unitStride(const AP &ap) { return ap.innerStep() == 1; }
inline bool inPsum(const AP &ap) { return ap.space == Space::PSUM; }

inline bool shuffleInRange(const std::array<int32_t, nc_stream_shuffle::kGroup> &mask, uint32_t partitions) {
  auto group = static_cast<int32_t>(std::min<uint32_t>(partitions, nc_stream_shuffle::kGroup));
  return std::all_of(mask.begin(), mask.end(),
                     [&](int32_t entry) { return entry < group || entry == nc_stream_shuffle::kKeep; });
}

//===----------------------------------------------------------------------===//
// Costs, in cycles of the engine
//===----------------------------------------------------------------------===//

/// An instruction never starts sooner than MIN_II after its predecessor (ISA26).
inline int64_t interval(const DeviceInfo &device, Engine, int64_t work) { return std::max(device.minInterval, work); }

/// The measured fixed part of an instruction's duration.
inline int64_t fixed(const DeviceInfo &device, Engine engine) {
  switch (engine) {
  case Engine::PE:
    return device.cycles(engine, device.peFixedNs);
  case Engine::ACT:
    return device.cycles(engine, device.actFixedNs);
  case Engine::DVE:
    return device.cycles(engine, device.dveFixedNs);
  case Engine::POOL:
    return device.poolStart;
  case Engine::SP:
    return 0;
  }
  return 0;
}

/// PE passes of a matmul: four for fp32, one for all narrower types and tf32 (ISA26).
inline int64_t passes(DType a, DType b) { return a == DType::F32 || b == DType::F32 ? 4 : 1; }

/// 2 when the innermost stride is so wide that the operand streams at half rate (A2).
inline int64_t strideFactor(const DeviceInfo &device, const AP &ap) {
  return std::abs(int64_t(ap.innerStep())) * ap.bytes() > device.fullRateStrideBytes ? 2 : 1;
}

/// Work of `elements` elements at `rate` elements per cycle.
inline int64_t atRate(int64_t elements, int64_t rate) { return (elements + rate - 1) / rate; }

/// DVE with one tensor input: N cycles; on v3 and later 4 elements a cycle when both sides are contiguous 16-bit
/// floats in SBUF, 2 when they are not contiguous or one is in PSUM (A3), and the measured rate of contiguous fp32.
inline int64_t streamWork(const DeviceInfo &device, const AP &dst, const AP &src) {
  int64_t elements = int64_t(src.elements());
  int64_t slow = std::max(strideFactor(device, dst), strideFactor(device, src));
  if (!device.dvePerformanceModes)
    return elements * slow;
  bool sbuf = !inPsum(dst) && !inPsum(src), unit = unitStride(dst) && unitStride(src);
  if (isHalf(dst.dtype) && isHalf(src.dtype)) {
    if (sbuf)
      return atRate(elements, unit ? 4 : 2);
    return atRate(elements, unit ? 2 : 1) * slow;
  }
  if (sbuf && unit && dst.dtype == DType::F32 && src.dtype == DType::F32)
    return atRate(elements, device.dveFp32CopyRate);
  return elements * slow;
}

/// DVE with two tensor inputs: N when one is in PSUM, or when all are bf16 in SBUF with unit stride and the operator is
/// add, subtract or multiply; else 2 N (ISA26). v3 and later: N for 16-bit floats in SBUF (A3).
inline int64_t tensorTensorWork(const DeviceInfo &device, AluOp op, const AP &dst, const AP &lhs, const AP &rhs) {
  int64_t elements = int64_t(dst.elements());
  int64_t slow = std::max({strideFactor(device, dst), strideFactor(device, lhs), strideFactor(device, rhs)});
  if (inPsum(lhs) != inPsum(rhs))
    return elements * slow;
  bool linear = op == AluOp::Add || op == AluOp::Subtract || op == AluOp::Multiply;
  auto all = [&](auto predicate) { return predicate(dst) && predicate(lhs) && predicate(rhs); };
  bool bf16 = all([](const AP &ap) { return ap.dtype == DType::BF16 && !inPsum(ap) && unitStride(ap); });
  bool half =
      device.dvePerformanceModes && all([](const AP &ap) { return isHalf(ap.dtype); }) && !inPsum(lhs) && !inPsum(rhs);
  if ((bf16 && linear) || half)
    return elements * slow;
  return 2 * elements * slow;
}

/// N when both tensors are bf16, the operators subtract then multiply and N is even; else 2 N (ISA26).
inline int64_t scalarTensorTensorWork(const DeviceInfo &device, AluOp op0, AluOp op1, const AP &dst, const AP &src,
                                      const AP &rhs) {
  int64_t elements = int64_t(dst.elements());
  int64_t slow = std::max({strideFactor(device, dst), strideFactor(device, src), strideFactor(device, rhs)});
  bool fast = src.dtype == DType::BF16 && rhs.dtype == DType::BF16 && op0 == AluOp::Subtract &&
              op1 == AluOp::Multiply && elements % 2 == 0;
  return (fast ? 1 : 2) * elements * slow;
}

/// N / 2 when both are bf16 and the operator is add or max; else N (ISA26).
inline int64_t reduceWork(const DeviceInfo &device, AluOp op, const AP &dst, const AP &src) {
  int64_t elements = int64_t(src.elements()) * strideFactor(device, src);
  bool fast = dst.dtype == DType::BF16 && src.dtype == DType::BF16 && (op == AluOp::Add || op == AluOp::Max);
  return fast ? atRate(elements, 2) : elements;
}

/// N when source or predicate is in PSUM, 2 N when both are in SBUF (ISA26).
inline int64_t predicatedWork(const AP &src, const AP &predicate) {
  return (inPsum(src) != inPsum(predicate) ? 1 : 2) * int64_t(src.elements());
}

/// ACT: one element per lane and cycle (A2); 16-bit copies faster on v4 (A4).
inline int64_t actWork(const DeviceInfo &device, ActivationFunc func, const AP &dst, const AP &src) {
  int64_t elements = int64_t(src.elements());
  int64_t slow = std::max(strideFactor(device, dst), strideFactor(device, src));
  bool fast = func == ActivationFunc::Copy && isHalf(dst.dtype) && isHalf(src.dtype);
  return atRate(elements, fast ? device.act16BitCopyRate : 1) * slow;
}

/// A product of counts as work, or more than any run does.
inline int64_t workOf(std::initializer_list<uint64_t> factors) {
  double product = 1;
  for (uint64_t factor : factors)
    product *= double(factor);
  return int64_t(std::min(product, 1e15));
}
/// Library kernels: what all operands of an instruction hold.
template <class X> int64_t operandBytes(const X &x) {
  int64_t bytes = 0;
  forEachOperand(x, [&](const AP &ap, const OperandInfo &) { bytes += workOf({ap.totalElements(), ap.bytes()}); });
  return bytes;
}
/// A call: start, moving the operands, computing.
inline int64_t libraryTime(const DeviceInfo &device, int64_t bytes, int64_t work) {
  return device.libraryStart + atRate(bytes, device.libraryBytesPerCycle) + atRate(work, device.libraryLanes);
}

/// All elements side by side in one row, as library kernels take them.
inline bool isOneRow(const AP &ap) { return ap.partitions == 1 && ap.contiguous(); }
/// The product of extents; -1 when one is negative or it has more than 40 bits.
inline int64_t productOf(const std::vector<int32_t> &extents) {
  int64_t product = 1;
  for (int32_t extent : extents) {
    if (extent < 0 || (extent > 0 && product > (int64_t(1) << 40) / extent))
      return -1;
    product *= extent;
  }
  return product;
}

/// The sources that a library_loops has, in order; those after a missing one are left out.
inline std::vector<const AP *> sourcesOf(const LibraryLoops &x) {
  std::vector<const AP *> sources;
  for (const std::optional<AP> *source : {&x.source0, &x.source1, &x.source2, &x.source3, &x.source4, &x.source5}) {
    if (!*source)
      break;
    sources.push_back(&**source);
  }
  return sources;
}
/// What is wrong with the program, or nothing.
inline std::string loopProblem(const LibraryLoops &x) {
  LoopNest nest;
  std::string problem;
  return LoopNest::parse(x.dst, sourcesOf(x), x.bounds, x.offsets, x.strides, x.program, nest, problem) ? "" : problem;
}
inline bool startsFromLikeDst(const LibraryLoops &x) {
  std::vector<const AP *> sources = sourcesOf(x);
  if (x.startsFrom < 0)
    return true;
  return x.startsFrom < int32_t(sources.size()) && sources[x.startsFrom]->dtype == x.dst.dtype &&
         sources[x.startsFrom]->totalElements() == x.dst.totalElements();
}
/// Lane operations: a step of the program on 64 bits takes libraryWideCycles.
inline int64_t loopWork(const DeviceInfo &device, const LibraryLoops &x) {
  double iterations = 1, cycles = 1;
  for (int32_t bound : x.bounds)
    iterations *= bound;
  for (size_t at = 1; at + 1 < x.program.size(); at += kLoopStepWords)
    cycles += byteSize(DType(x.program[at + 1] & 0xFF)) == 8 ? double(device.libraryWideCycles) : 1;
  return int64_t(std::min(iterations * cycles, 1e15));
}

/// n indices of e elements at C = ((28 + 4e) / 4e) / min(4 / size, e) cycles per element (ISA26, read as n * e * C).
inline int64_t localGatherWork(const AP &indices, int64_t perIndex, int64_t bytes) {
  int64_t total = 16 * int64_t(indices.elements()) * perIndex;
  int64_t lanes = std::max<int64_t>(1, std::min(4 / std::max<int64_t>(1, bytes), perIndex));
  return total * (28 + 4 * perIndex) / (4 * perIndex) / lanes;
}

} // namespace trn::isa
