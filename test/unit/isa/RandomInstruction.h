//===- RandomInstruction.h - pseudo-random contents for tests -------------===//
//
// Owns a filler for any instruction struct: every field gets a legal code or a value in its range, every access pattern
// is well formed. It does not try to satisfy the rules between operands.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include <random>

namespace trn::isa::test {

class RandomFiller {
public:
  explicit RandomFiller(uint32_t seed) : random(seed) {}

  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

  void operand(const OperandInfo &info, AP &ap) {
    do
      ap.space = static_cast<Space>(between(0, 2));
    while (!(info.spaces & maskOf(ap.space)));
    do
      ap.dtype = static_cast<DType>(between(0, 0x23));
    while (!isKnown(ap.dtype) || !(info.dtypes & maskOf(ap.dtype)));
    ap.rank = static_cast<uint8_t>(between(0, kMaxRank));
    ap.partitions = static_cast<uint32_t>(between(1, 128));
    ap.startPartition = ap.space == Space::HBM ? 0 : static_cast<uint16_t>(32 * between(0, 3));
    ap.buffer = static_cast<uint32_t>(between(0, 1000));
    ap.address = static_cast<uint64_t>(between(0, 1 << 20));
    ap.partitionStep = ap.space == Space::HBM ? between(-100000, 100000) : 0;
    fillDims(ap.dims, ap.rank);
  }
  void operand(const OperandInfo &info, Scalar &scalar) {
    scalar.isPointer = between(0, 1);
    scalar.immediate = scalar.isPointer ? 0.0f : static_cast<float>(between(-1000, 1000)) / 7.0f;
    if (scalar.isPointer)
      operand(info, scalar.pointer);
  }
  template <class T> void operand(const OperandInfo &info, std::optional<T> &field) {
    field.reset();
    if (between(0, 1))
      operand(info, field.emplace());
  }

  void attribute(const AttrInfo &, bool &value) { value = between(0, 1); }
  void attribute(const AttrInfo &info, int32_t &value) { value = static_cast<int32_t>(between(info.low, info.high)); }
  void attribute(const AttrInfo &, float &value) { value = static_cast<float>(between(-1000, 1000)) / 3.0f; }
  void attribute(const AttrInfo &, Pattern &value) {
    value.rank = static_cast<uint8_t>(between(0, kMaxRank));
    fillDims(value.dims, value.rank);
  }
  template <size_t N> void attribute(const AttrInfo &info, std::array<int32_t, N> &values) {
    for (int32_t &value : values)
      attribute(info, value);
  }
  void attribute(const AttrInfo &, std::vector<int32_t> &values) {
    values.resize(static_cast<size_t>(between(0, 9)));
    for (int32_t &value : values)
      value = static_cast<int32_t>(between(INT32_MIN, INT32_MAX));
  }
  template <class E> std::enable_if_t<std::is_enum_v<E>> attribute(const AttrInfo &, E &value) {
    do
      value = static_cast<E>(between(0, 63));
    while (!isKnown(value));
  }

private:
  void fillDims(Dim *dims, unsigned rank) {
    for (unsigned i = 0; i < rank; ++i)
      dims[i] = {static_cast<int32_t>(between(-512, 512)), static_cast<uint32_t>(between(1, 64))};
  }

  std::mt19937 random;
};

template <class X> X randomInstruction(uint32_t seed) {
  X x;
  RandomFiller filler(seed);
  visitFields(x, filler);
  return x;
}

} // namespace trn::isa::test
