//===- Rows.h - visiting operands row by row -----------------------------------===//
//
// Owns what the instruction files share: moving pieces of a partition's elements between operands and fp32 buffers in
// the host's first-level cache, splitting the partitions over threads, scalar operands. A piece is read completely
// before anything of it is written, so an instruction may work in place.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/emulator/Core.h"
#include "runtime/emulator/View.h"
#include <cstring>
#include <initializer_list>
#include <type_traits>

namespace trn::rt {

/// Elements of one piece. A multiple of kReduceLanes; all host paths use the same.
constexpr uint64_t kPiece = 512;
/// Instructions with fewer elements than this run on one thread: handing work over costs about a microsecond.
constexpr uint64_t kParallelElements = 16384;

#define TRN_ASSIGN_OR_RETURN(variable, expression)                                                                     \
  auto variable##OrError = (expression);                                                                               \
  if (!variable##OrError.ok())                                                                                         \
    return variable##OrError.status();                                                                                 \
  auto variable = *std::move(variable##OrError)

/// Element `begin` of a partition whose elements lie side by side as fp32; null for other views.
inline float *inPlace(const View &view, uint8_t *row, uint64_t begin) {
  bool isFloat = view.dtype == isa::DType::F32 || view.dtype == isa::DType::F32R;
  bool isAligned = reinterpret_cast<uintptr_t>(row) % alignof(float) == 0;
  return isFloat && view.contiguous() && isAligned ? reinterpret_cast<float *>(row) + begin : nullptr;
}

/// Elements [begin, begin + n) of a partition as fp32: in place when they lie so, else converted into `buffer`.
inline const float *fetch(const Kernels &kernels, const View &view, uint8_t *row, uint64_t begin, uint64_t n,
                          float *buffer) {
  if (const float *place = inPlace(view, row, begin))
    return place;
  forRuns(view, row, begin, n, [&](uint8_t *run, uint64_t count, uint64_t done) {
    kernels.load(view.dtype, run, view.inner().stride, count, buffer + done);
  });
  return buffer;
}

/// Where kernels may compute elements [begin, begin + n) from `sources`: the elements themselves when they lie as fp32
/// and each source is all or nothing of them, else `buffer`, from where `put` brings them there.
inline float *target(const View &view, uint8_t *row, uint64_t begin, uint64_t n, float *buffer,
                     std::initializer_list<const float *> sources) {
  float *place = inPlace(view, row, begin);
  if (!place)
    return buffer;
  const auto first = reinterpret_cast<uintptr_t>(place), bytes = static_cast<uintptr_t>(n * sizeof(float));
  for (const float *source : sources) {
    const auto other = reinterpret_cast<uintptr_t>(source);
    if (other != first && other < first + bytes && first < other + bytes)
      return buffer;
  }
  return place;
}

/// Converts `values` to elements [begin, begin + n).
inline void put(const Kernels &kernels, const View &view, uint8_t *row, uint64_t begin, uint64_t n,
                const float *values) {
  forRuns(view, row, begin, n, [&](uint8_t *run, uint64_t count, uint64_t done) {
    kernels.store(view.dtype, values + done, run, view.inner().stride, count);
  });
}

/// Calls use(integral constant) with the element size, so that copies of one element are single moves.
template <typename Use> void withElementBytes(unsigned bytes, Use use) {
  switch (bytes) {
  case 1:
    return use(std::integral_constant<size_t, 1>());
  case 2:
    return use(std::integral_constant<size_t, 2>());
  case 4:
    return use(std::integral_constant<size_t, 4>());
  default:
    return use(std::integral_constant<size_t, 8>());
  }
}

/// Reads elements as they are, zero extended to T; sizeof(T) >= view.elementBytes.
template <typename T> void fetchRaw(const View &view, uint8_t *row, uint64_t begin, uint64_t n, T *values) {
  withElementBytes(view.elementBytes, [&](auto bytes) {
    forRuns(view, row, begin, n, [&](uint8_t *run, uint64_t count, uint64_t done) {
      const int64_t stride = view.inner().stride;
      if (bytes() == sizeof(T) && stride == int64_t(sizeof(T))) {
        std::memcpy(values + done, run, count * sizeof(T));
        return;
      }
      for (uint64_t i = 0; i < count; ++i, run += stride) {
        T value = 0;
        std::memcpy(&value, run, std::min(bytes(), sizeof(T)));
        values[done + i] = value;
      }
    });
  });
}
template <typename T> void putRaw(const View &view, uint8_t *row, uint64_t begin, uint64_t n, const T *values) {
  withElementBytes(view.elementBytes, [&](auto bytes) {
    forRuns(view, row, begin, n, [&](uint8_t *run, uint64_t count, uint64_t done) {
      const int64_t stride = view.inner().stride;
      if (bytes() == sizeof(T) && stride == int64_t(sizeof(T))) {
        std::memcpy(run, values + done, count * sizeof(T));
        return;
      }
      for (uint64_t i = 0; i < count; ++i, run += stride)
        std::memcpy(run, values + done + i, std::min(bytes(), sizeof(T)));
    });
  });
}

/// Calls body(partition) for all partitions, on several threads when there is enough work.
template <typename Body> void forPartitions(const Core &core, uint32_t partitions, uint64_t elements, Body body) {
  uint64_t grain = partitions;
  if (uint64_t(partitions) * elements >= kParallelElements)
    grain = std::max<uint64_t>(1, partitions / (core.pool().threads() * 4));
  core.pool().parallelFor(partitions, grain, [&](uint64_t begin, uint64_t end) {
    for (uint64_t p = begin; p < end; ++p)
      body(static_cast<uint32_t>(p));
  });
}

/// Calls body(begin, n) for the pieces of a row.
template <typename Body> void forPieces(uint64_t elements, Body body) {
  for (uint64_t begin = 0; begin < elements; begin += kPiece)
    body(begin, std::min(kPiece, elements - begin));
}

/// A scalar operand: one value for all partitions or one for each.
struct ScalarView {
  bool isPointer = false;
  float immediate = 0.0f;
  View pointer;

  float at(const Kernels &kernels, uint32_t partition) const {
    if (!isPointer)
      return immediate;
    float value;
    kernels.load(pointer.dtype, pointer.row(partition), 0, 1, &value);
    return value;
  }
};

inline absl::StatusOr<ScalarView> scalarView(const Core &core, const isa::Scalar &scalar, uint32_t partitions) {
  if (!scalar.isPointer)
    return ScalarView{false, scalar.immediate, View()};
  absl::StatusOr<View> view = core.view(scalar.pointer, AccessMode::Read);
  if (!view.ok())
    return view.status();
  if (view->elements != 1 || view->partitions != partitions)
    return absl::InvalidArgumentError(absl::StrCat("scalar operand: expected ", partitions, " partitions of 1 element, ",
                                                   "but got ", view->partitions, " of ", view->elements));
  return ScalarView{true, 0.0f, *view};
}

/// Kernels index all operands alike: whatever the rules of a record say, shapes must agree for that to be safe.
inline absl::Status expectShape(const View &view, uint32_t partitions, uint64_t elements) {
  if (view.partitions == partitions && view.elements == elements)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("operand: expected ", partitions, " partitions of ", elements,
                                                 " elements, but got ", view.partitions, " of ", view.elements));
}

} // namespace trn::rt
