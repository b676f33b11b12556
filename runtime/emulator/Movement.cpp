//===- Movement.cpp - instructions that rearrange elements ---------------------===//
//
// Owns nc_stream_shuffle, the two transposes, the gathers inside SBUF, iota and affine_select. Rearranged elements are
// copied bit by bit. Instructions that could overlap their own input read all of it first.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/ISA/Constants.h"
#include "runtime/emulator/Rows.h"
#include "runtime/emulator/Step.h"
#include <vector>

namespace trn::rt {

/// All elements of an operand, row after row, zero-extended.
static std::vector<uint64_t> fetchAll(const View &view) {
  std::vector<uint64_t> values(view.partitions * view.elements);
  for (uint32_t p = 0; p < view.partitions; ++p)
    fetchRaw(view, view.row(p), 0, view.elements, values.data() + p * view.elements);
  return values;
}

absl::StatusOr<Step> decode(Core &core, const isa::NcStreamShuffle &inst, isa::Engine) {
  using namespace isa::nc_stream_shuffle;
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (absl::Status status = expectShape(src, dst.partitions, dst.elements); !status.ok())
    return status;
  // Source row of each destination row; the row itself is out of range where the destination stays.
  std::vector<uint32_t> sources(dst.partitions, dst.partitions);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    int32_t entry = inst.mask[p % kGroup];
    if (entry == kKeep)
      continue;
    uint32_t source = p / kGroup * kGroup + uint32_t(entry);
    if (entry < 0 || entry >= kGroup || source >= src.partitions)
      return absl::InvalidArgumentError(absl::StrCat("nc_stream_shuffle: mask entry ", p % kGroup, " is ", entry,
                                                     ": expected a partition of its group of ", kGroup, " or ", kKeep));
    sources[p] = source;
  }
  return Step([dst, src, sources] {
    std::vector<uint64_t> values = fetchAll(src);
    for (uint32_t p = 0; p < dst.partitions; ++p)
      if (sources[p] < dst.partitions)
        putRaw(dst, dst.row(p), 0, dst.elements, values.data() + sources[p] * src.elements);
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::NcTransposeDve &inst, isa::Engine) {
  constexpr uint64_t kBlock = 32;
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (absl::Status status = expectShape(src, dst.partitions, dst.elements); !status.ok())
    return status;
  if (dst.partitions % kBlock || dst.elements % kBlock || dst.dtype != src.dtype)
    return absl::InvalidArgumentError("nc_transpose_dve: expected whole 32 x 32 blocks of equal types");
  return Step([dst, src] {
    std::vector<uint64_t> values = fetchAll(src), row(dst.elements);
    for (uint64_t p = 0; p < dst.partitions; ++p) {
      uint64_t group = p / kBlock * kBlock, lane = p % kBlock;
      for (uint64_t k = 0; k < dst.elements; ++k)
        row[k] = values[(group + k % kBlock) * src.elements + k / kBlock * kBlock + lane];
      putRaw(dst, dst.row(uint32_t(p)), 0, dst.elements, row.data());
    }
    return absl::OkStatus();
  });
}

/// dst[k, p] = src[p, k], through a copy of src.
template <typename T> static Step transposeStep(const Core &core, const View &dst, const View &src) {
  return [&core, dst, src] {
    std::vector<T> values(src.partitions * src.elements);
    for (uint32_t p = 0; p < src.partitions; ++p)
      fetchRaw(src, src.row(p), 0, src.elements, values.data() + p * src.elements);
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        T row[kPiece];
        for (uint64_t k = 0; k < n; ++k)
          row[k] = values[(begin + k) * src.elements + p];
        putRaw(dst, dst.row(p), begin, n, row);
      });
    });
    return absl::OkStatus();
  };
}

absl::StatusOr<Step> decode(Core &core, const isa::NcTranspose &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (dst.dtype != src.dtype)
    return absl::InvalidArgumentError("nc_transpose: expected equal element types");
  if (absl::Status status = expectShape(dst, static_cast<uint32_t>(src.elements), src.partitions); !status.ok())
    return status;
  if (dst.elementBytes == 2)
    return transposeStep<uint16_t>(core, dst, src);
  if (dst.elementBytes == 4)
    return transposeStep<uint32_t>(core, dst, src);
  return absl::InvalidArgumentError("nc_transpose: expected elements of 2 or 4 bytes");
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

static absl::Status indexError(const char *what, uint32_t partition, uint64_t index, uint64_t limit) {
  return absl::OutOfRangeError(absl::StrCat(what, ": index ", index, " on partition ", partition,
                                            ": expected an index below ", limit));
}

absl::StatusOr<Step> decode(Core &core, const isa::LocalGather &inst, isa::Engine) {
  constexpr uint32_t kCorePartitions = 16;
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(indices, core.view(inst.indices, AccessMode::Read));
  if (inst.elementsPerIndex < 1 || src.partitions % kCorePartitions)
    return absl::InvalidArgumentError("local_gather: expected whole groups of 16 partitions");
  uint64_t length = uint64_t(inst.elementsPerIndex), count = kCorePartitions * indices.elements;
  if (indices.partitions != src.partitions || dst.dtype != src.dtype)
    return absl::InvalidArgumentError("local_gather: expected operands of equal partitions and types");
  if (absl::Status status = expectShape(dst, src.partitions, count * length); !status.ok())
    return status;
  return Step([dst, src, indices, length, count]() -> absl::Status {
    std::vector<uint64_t> values = fetchAll(src), all = fetchAll(indices), row(dst.elements);
    for (uint32_t p = 0; p < dst.partitions; ++p) {
      uint32_t first = p / kCorePartitions * kCorePartitions;
      for (uint64_t k = 0; k < count; ++k) {
        uint64_t index = all[(first + k % kCorePartitions) * indices.elements + k / kCorePartitions];
        if ((index + 1) * length > src.elements)
          return indexError("local_gather", p, index, src.elements / length);
        std::copy_n(values.begin() + p * src.elements + index * length, length, row.begin() + k * length);
      }
      putRaw(dst, dst.row(p), 0, dst.elements, row.data());
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::NcNGather &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(indices, core.view(inst.indices, AccessMode::Read));
  if (absl::Status status = expectShape(indices, dst.partitions, dst.elements); !status.ok())
    return status;
  if (src.partitions != dst.partitions || dst.dtype != src.dtype)
    return absl::InvalidArgumentError("nc_n_gather: expected operands of equal partitions and types");
  return Step([dst, src, indices]() -> absl::Status {
    std::vector<uint64_t> values(src.elements), chosen(dst.elements);
    std::vector<uint64_t> index(dst.elements);
    for (uint32_t p = 0; p < dst.partitions; ++p) {
      fetchRaw(src, src.row(p), 0, src.elements, values.data());
      fetchRaw(indices, indices.row(p), 0, dst.elements, index.data());
      for (uint64_t k = 0; k < dst.elements; ++k) {
        if (index[k] >= src.elements) // A negative int32 is a large number here.
          return indexError("nc_n_gather", p, index[k], src.elements);
        chosen[k] = values[index[k]];
      }
      putRaw(dst, dst.row(p), 0, dst.elements, chosen.data());
    }
    return absl::OkStatus();
  });
}

//===----------------------------------------------------------------------===//
// Index patterns
//===----------------------------------------------------------------------===//

/// The sum over the pattern's dimensions of index * step, for every element, in int32 (wrapping).
static std::vector<int32_t> patternValues(const isa::Pattern &pattern, uint64_t elements) {
  std::vector<int32_t> values(elements);
  for (uint64_t k = 0; k < elements; ++k) {
    uint64_t rest = k;
    uint32_t value = 0;
    for (unsigned d = pattern.rank; d-- > 0;) {
      value += uint32_t(rest % pattern.dims[d].count) * uint32_t(pattern.dims[d].step);
      rest /= pattern.dims[d].count;
    }
    values[k] = int32_t(value);
  }
  return values;
}

static absl::Status expectPattern(const isa::Pattern &pattern, uint64_t elements) {
  unsigned __int128 product = 1;
  for (unsigned d = 0; d < pattern.rank && pattern.rank <= isa::kMaxRank; ++d)
    product *= pattern.dims[d].count;
  if (pattern.rank > isa::kMaxRank || product != elements)
    return absl::InvalidArgumentError(absl::StrCat("expected an index pattern of ", elements, " elements"));
  return absl::OkStatus();
}

static int32_t affine(int32_t value, int32_t offset, int32_t multiplier, uint32_t partition) {
  return int32_t(uint32_t(value) + uint32_t(offset) + uint32_t(multiplier) * partition);
}

absl::StatusOr<Step> decode(Core &core, const isa::Iota &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  if (absl::Status status = expectPattern(inst.pattern, dst.elements); !status.ok())
    return status;
  return Step([&core, &kernels = core.kernels(), dst, pattern = inst.pattern, offset = inst.offset,
               multiplier = inst.channelMultiplier] {
    const std::vector<int32_t> values = patternValues(pattern, dst.elements);
    // 32-bit integers are exact; every other type passes through fp32.
    bool isWord = dst.dtype == isa::DType::I32 || dst.dtype == isa::DType::U32;
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        uint32_t words[kPiece];
        float floats[kPiece];
        for (uint64_t i = 0; i < n; ++i)
          words[i] = uint32_t(affine(values[begin + i], offset, multiplier, p));
        if (isWord)
          return putRaw(dst, dst.row(p), begin, n, words);
        for (uint64_t i = 0; i < n; ++i)
          floats[i] = float(int32_t(words[i]));
        put(kernels, dst, dst.row(p), begin, n, floats);
      });
    });
    return absl::OkStatus();
  });
}

static bool holds(isa::AluOp compare, int32_t value) {
  switch (compare) {
  case isa::AluOp::IsGt:
    return value > 0;
  case isa::AluOp::IsGe:
    return value >= 0;
  case isa::AluOp::IsEq:
    return value == 0;
  default:
    return value != 0;
  }
}

absl::StatusOr<Step> decode(Core &core, const isa::AffineSelect &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.onTrue, AccessMode::Read));
  if (absl::Status status = expectShape(src, dst.partitions, dst.elements); !status.ok())
    return status;
  if (absl::Status status = expectPattern(inst.pattern, dst.elements); !status.ok())
    return status;
  return Step([&core, &kernels = core.kernels(), dst, src, pattern = inst.pattern, offset = inst.offset,
               multiplier = inst.channelMultiplier, compare = inst.compare, otherwise = inst.onFalse] {
    const std::vector<int32_t> values = patternValues(pattern, dst.elements);
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float buffer[kPiece], result[kPiece];
        const float *x = fetch(kernels, src, src.row(p), begin, n, buffer);
        for (uint64_t i = 0; i < n; ++i)
          result[i] = holds(compare, affine(values[begin + i], offset, multiplier, p)) ? x[i] : otherwise;
        put(kernels, dst, dst.row(p), begin, n, result);
      });
    });
    return absl::OkStatus();
  });
}

} // namespace trn::rt
