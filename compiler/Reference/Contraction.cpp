//===- Contraction.cpp - fast sums of products ----------------------------===//
// The loops of the nest fall into four kinds by the operands that they move: rows (lhs and out), columns (rhs and out),
// batch (all, or out alone) and depth (lhs and rhs, not out). Each operand's address is a sum of one term per kind, so
// the terms are tables, and packing reads lhs[row, depth] and rhs[depth, column] through them whatever the layout is: a
// convolution is packed straight from its image, without an im2col copy of it.
#include "compiler/Reference/Contraction.h"
#include <cstring>

using namespace mlir;
namespace trn {

namespace {
/// Packed panels: `kRows` rows of lhs side by side, `kColumns` columns of rhs side by side, per step of depth.
constexpr int kRows = 8, kColumns = 32, kDepthBlock = 256, kRowBlock = 96, kColumnBlock = 1024;

using Vector [[gnu::vector_size(kColumns * sizeof(float)), gnu::aligned(4)]] = float;
using UnalignedFloat [[gnu::aligned(1), gnu::may_alias]] = float;
using UnalignedHalf [[gnu::aligned(1), gnu::may_alias]] = uint16_t;

/// acc[r] += sum over k of lhs[k][r] * rhs[k][:]. Cloned for the vector units at hand; a Vector is two AVX-512
/// registers.
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) void
multiplyPanels(const float *lhs, const float *rhs, int64_t depth, float *acc) {
  Vector sums[kRows];
  for (int r = 0; r < kRows; ++r)
    sums[r] = *reinterpret_cast<Vector *>(acc + r * kColumns);
  for (int64_t k = 0; k < depth; ++k) {
#pragma clang fp contract(fast)
    Vector columns = *reinterpret_cast<const Vector *>(rhs + k * kColumns);
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      sums[r] += columns * lhs[k * kRows + r];
  }
  for (int r = 0; r < kRows; ++r)
    *reinterpret_cast<Vector *>(acc + r * kColumns) = sums[r];
}

/// The offsets (elements) of every combination of some loops, for one operand; loop 0 is the slowest.
std::vector<int64_t> offsetTable(ArrayRef<const Loop *> loops, unsigned operand) {
  std::vector<int64_t> table = {0};
  for (const Loop *loop : loops) {
    std::vector<int64_t> next;
    next.reserve(table.size() * loop->count);
    for (int64_t base : table)
      for (int64_t i = 0; i < loop->count; ++i)
        next.push_back(base + i * loop->steps[operand]);
    table = std::move(next);
  }
  return table;
}

struct Source {
  const char *base;
  Storage storage;

  float at(int64_t offset) const {
    if (storage == Storage::F32)
      return reinterpret_cast<const UnalignedFloat *>(base)[offset];
    if (storage == Storage::BF16 || storage == Storage::F16)
      return decodeFloat(storage, reinterpret_cast<const UnalignedHalf *>(base)[offset]);
    return decodeFloat(storage, reinterpret_cast<const uint8_t *>(base)[offset]);
  }
};

bool isContiguous(ArrayRef<int64_t> lines) {
  for (size_t i = 1; i < lines.size(); ++i)
    if (lines[i] != lines[0] + int64_t(i))
      return false;
  return true;
}

/// Packs lines (rows or columns) over `depth`, padding with zeros to `Lines`.
template <int Lines>
void packPanel(const Source &source, ArrayRef<int64_t> lines, ArrayRef<int64_t> depth, float *out) {
  if (lines.size() == Lines && source.storage == Storage::F32 && isContiguous(lines)) {
    for (int64_t offset : depth) {
      std::memcpy(out, source.base + (lines[0] + offset) * sizeof(float), Lines * sizeof(float));
      out += Lines;
    }
    return;
  }
  if (source.storage == Storage::F32) {
    auto *base = reinterpret_cast<const UnalignedFloat *>(source.base);
    for (int64_t offset : depth) {
      for (size_t i = 0; i < lines.size(); ++i)
        out[i] = base[lines[i] + offset];
      std::fill(out + lines.size(), out + Lines, 0.0f);
      out += Lines;
    }
    return;
  }
  for (int64_t offset : depth) {
    for (size_t i = 0; i < lines.size(); ++i)
      out[i] = source.at(lines[i] + offset);
    std::fill(out + lines.size(), out + Lines, 0.0f);
    out += Lines;
  }
}

/// The tables of one kind of loops for the operands that they move.
struct Axis {
  std::vector<int64_t> lhs, rhs, out;
  int64_t size() const { return out.empty() ? lhs.size() : out.size(); }
};

void accumulateTile(const float *tile, UnalignedFloat *out, ArrayRef<int64_t> rows, ArrayRef<int64_t> columns) {
  bool contiguous = isContiguous(columns);
  for (auto [r, row] : llvm::enumerate(rows)) {
    const float *line = tile + r * kColumns;
    UnalignedFloat *target = out + row;
    if (contiguous)
      for (size_t c = 0; c < columns.size(); ++c)
        target[columns[0] + c] += line[c];
    else
      for (size_t c = 0; c < columns.size(); ++c)
        target[columns[c]] += line[c];
  }
}

struct Panels {
  std::vector<float> lhs = std::vector<float>(size_t(kRowBlock) * kDepthBlock);
  std::vector<float> rhs = std::vector<float>(size_t(kColumnBlock) * kDepthBlock);
};

void multiply(const Source &lhs, const Source &rhs, UnalignedFloat *out, const Axis &rows, const Axis &columns,
              const Axis &depth, Panels &panels) {
  auto part = [](const std::vector<int64_t> &table, int64_t first, int64_t count) {
    return ArrayRef<int64_t>(table).slice(first, std::min<int64_t>(count, table.size() - first));
  };
  int64_t numRows = rows.out.size(), numColumns = columns.out.size(), numDepth = depth.lhs.size();
  alignas(64) float tile[kRows * kColumns];
  for (int64_t c0 = 0; c0 < numColumns; c0 += kColumnBlock) {
    int64_t blockColumns = std::min<int64_t>(kColumnBlock, numColumns - c0);
    for (int64_t k0 = 0; k0 < numDepth; k0 += kDepthBlock) {
      int64_t blockDepth = std::min<int64_t>(kDepthBlock, numDepth - k0);
      for (int64_t c = 0; c < blockColumns; c += kColumns)
        packPanel<kColumns>(rhs, part(columns.rhs, c0 + c, std::min<int64_t>(kColumns, blockColumns - c)),
                            part(depth.rhs, k0, blockDepth), panels.rhs.data() + c * blockDepth);
      for (int64_t r0 = 0; r0 < numRows; r0 += kRowBlock) {
        int64_t blockRows = std::min<int64_t>(kRowBlock, numRows - r0);
        for (int64_t r = 0; r < blockRows; r += kRows)
          packPanel<kRows>(lhs, part(rows.lhs, r0 + r, std::min<int64_t>(kRows, blockRows - r)),
                           part(depth.lhs, k0, blockDepth), panels.lhs.data() + r * blockDepth);
        for (int64_t c = 0; c < blockColumns; c += kColumns)
          for (int64_t r = 0; r < blockRows; r += kRows) {
            std::memset(tile, 0, sizeof(tile));
            multiplyPanels(panels.lhs.data() + r * blockDepth, panels.rhs.data() + c * blockDepth, blockDepth, tile);
            accumulateTile(tile, out, part(rows.out, r0 + r, std::min<int64_t>(kRows, blockRows - r)),
                           part(columns.out, c0 + c, std::min<int64_t>(kColumns, blockColumns - c)));
          }
      }
    }
  }
}

int64_t countOf(ArrayRef<const Loop *> loops) {
  int64_t count = 1;
  for (const Loop *loop : loops)
    count *= loop->count;
  return count;
}
} // namespace

bool runContraction(ArrayRef<Loop> loops, ArrayRef<Lane> operands, Storage lhsStorage, Storage rhsStorage) {
  SmallVector<const Loop *> rows, columns, batch, depth;
  bool lhsHoldsUnitStep = false;
  for (const Loop &loop : loops) {
    bool inLhs = loop.steps[0] != 0, inRhs = loop.steps[1] != 0;
    if (loop.reduction)
      depth.push_back(&loop);
    else if (inLhs && !inRhs)
      rows.push_back(&loop), lhsHoldsUnitStep |= loop.steps[2] == 1;
    else if (inRhs && !inLhs)
      columns.push_back(&loop);
    else
      batch.push_back(&loop);
  }
  // Depthwise convolutions and products with a vector have nothing to reuse a packed panel for.
  if (countOf(rows) < 4 || countOf(columns) < 4 || countOf(depth) < 4)
    return false;
  // Columns are the vectorised side: they should be the ones that are contiguous in the result.
  unsigned lhs = 0, rhs = 1;
  Source lhsSource{operands[0].address, lhsStorage}, rhsSource{operands[1].address, rhsStorage};
  if (lhsHoldsUnitStep) {
    std::swap(rows, columns);
    std::swap(lhs, rhs);
    std::swap(lhsSource, rhsSource);
  }
  Axis rowAxis{offsetTable(rows, lhs), {}, offsetTable(rows, 2)};
  Axis columnAxis{{}, offsetTable(columns, rhs), offsetTable(columns, 2)};
  Axis depthAxis{offsetTable(depth, lhs), offsetTable(depth, rhs), {}};
  Axis batchAxis{offsetTable(batch, lhs), offsetTable(batch, rhs), offsetTable(batch, 2)};
  Panels panels;
  auto *out = reinterpret_cast<UnalignedFloat *>(operands[2].address);
  for (size_t b = 0; b < batchAxis.out.size(); ++b) {
    Source lhsPart = lhsSource, rhsPart = rhsSource;
    lhsPart.base += batchAxis.lhs[b] * int64_t(byteSize(lhsSource.storage));
    rhsPart.base += batchAxis.rhs[b] * int64_t(byteSize(rhsSource.storage));
    multiply(lhsPart, rhsPart, out + batchAxis.out[b], rowAxis, columnAxis, depthAxis, panels);
  }
  return true;
}

} // namespace trn
