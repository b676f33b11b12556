//===- Dma.cpp - transfers ---------------------------------------------------------===//
//
// Owns dma_copy, dma_gather and dma_scatter. Elements are visited partition by partition (HBM: row by row). Equal types
// are copied bit by bit, others convert through fp32. Indices come from data and are checked on every run.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Rows.h"
#include "runtime/emulator/Step.h"
#include <vector>

namespace trn::rt {

/// Copies n elements between two regular runs.
static void copyRun(uint8_t *to, int64_t toStride, const uint8_t *from, int64_t fromStride, unsigned bytes, uint64_t n) {
  if (toStride == bytes && fromStride == bytes) {
    std::memmove(to, from, n * bytes);
    return;
  }
  withElementBytes(bytes, [&](auto width) {
    for (uint64_t i = 0; i < n; ++i, to += toStride, from += fromStride)
      std::memmove(to, from, width());
  });
}

/// Moves `count` elements, from element `from` of a row of src to element `to` of a row of dst.
static void moveElements(const Kernels &kernels, const View &dst, uint8_t *dstRow, uint64_t to, const View &src,
                         uint8_t *srcRow, uint64_t from, uint64_t count) {
  if (dst.dtype == src.dtype) {
    forRuns(dst, dstRow, to, count, [&](uint8_t *target, uint64_t n, uint64_t done) {
      forRuns(src, srcRow, from + done, n, [&](uint8_t *source, uint64_t m, uint64_t inRun) {
        copyRun(target + int64_t(inRun) * dst.inner().stride, dst.inner().stride, source, src.inner().stride,
                dst.elementBytes, m);
      });
    });
    return;
  }
  forPieces(count, [&](uint64_t begin, uint64_t n) {
    alignas(64) float buffer[kPiece];
    put(kernels, dst, dstRow, to + begin, n, fetch(kernels, src, srcRow, from + begin, n, buffer));
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::DmaCopy &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (dst.partitions * dst.elements != src.partitions * src.elements)
    return absl::InvalidArgumentError(absl::StrCat("dma_copy: expected equally many elements, but got ",
                                                   dst.partitions * dst.elements, " and ",
                                                   src.partitions * src.elements));
  return Step([&core, &kernels = core.kernels(), dst, src] {
    if (dst.partitions == src.partitions) {
      forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
        moveElements(kernels, dst, dst.row(p), 0, src, src.row(p), 0, dst.elements);
      });
      return absl::OkStatus();
    }
    // Rows of different lengths: the longest pieces that stay inside a row on both sides.
    uint64_t total = dst.partitions * dst.elements;
    for (uint64_t done = 0; done < total;) {
      uint64_t to = done % dst.elements, from = done % src.elements;
      uint64_t n = std::min(dst.elements - to, src.elements - from);
      moveElements(kernels, dst, dst.row(uint32_t(done / dst.elements)), to, src,
                   src.row(uint32_t(done / src.elements)), from, n);
      done += n;
    }
    return absl::OkStatus();
  });
}

/// The row that an index names. The index is unsigned on purpose: a negative int32 is out of range.
static absl::StatusOr<uint32_t> indexedRow(const char *what, const View &indices, uint32_t partition, uint32_t rows) {
  uint32_t index = 0;
  fetchRaw(indices, indices.row(partition), 0, 1, &index);
  if (index >= rows)
    return absl::OutOfRangeError(absl::StrCat(what, ": index ", int32_t(index), " on partition ", partition,
                                              ": expected a row below ", rows));
  return index;
}

static absl::Status checkIndexed(const View &tile, const View &table, const View &indices) {
  if (absl::Status status = expectShape(indices, tile.partitions, 1); !status.ok())
    return status;
  if (indices.elementBytes != 4 || !isa::isInteger(indices.dtype))
    return absl::InvalidArgumentError("indices: expected 32-bit integers");
  if (tile.elements != table.elements || tile.dtype != table.dtype)
    return absl::InvalidArgumentError("table: expected rows of the tile's length and element type");
  return absl::OkStatus();
}

absl::StatusOr<Step> decode(Core &core, const isa::DmaGather &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(table, core.view(inst.table, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(indices, core.view(inst.indices, AccessMode::Read));
  if (absl::Status status = checkIndexed(dst, table, indices); !status.ok())
    return status;
  return Step([&kernels = core.kernels(), dst, table, indices]() -> absl::Status {
    for (uint32_t p = 0; p < dst.partitions; ++p) {
      absl::StatusOr<uint32_t> row = indexedRow("dma_gather", indices, p, table.partitions);
      if (!row.ok())
        return row.status();
      moveElements(kernels, dst, dst.row(p), 0, table, table.row(*row), 0, dst.elements);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::DmaScatter &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(table, core.view(inst.table, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(indices, core.view(inst.indices, AccessMode::Read));
  if (absl::Status status = checkIndexed(src, table, indices); !status.ok())
    return status;
  return Step([&kernels = core.kernels(), table, src, indices]() -> absl::Status {
    for (uint32_t p = 0; p < src.partitions; ++p) {
      absl::StatusOr<uint32_t> row = indexedRow("dma_scatter", indices, p, table.partitions);
      if (!row.ok())
        return row.status();
      moveElements(kernels, table, table.row(*row), 0, src, src.row(p), 0, src.elements);
    }
    return absl::OkStatus();
  });
}

} // namespace trn::rt
