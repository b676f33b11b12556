//===- WeightStream.cpp - laid-out weights, piece by piece ----------------===//
//
// Owns the reading of WeightStream.h.
//
//===----------------------------------------------------------------------===//
#include "passes/Encode/WeightStream.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstring>

using namespace trn;

/// Offsets of weights are multiples of this: whole DMA words, and a cache line of the host.
static constexpr uint64_t kWeightAlignment = 64;
/// Elements that are laid out at once: a piece fits into the host's cache.
static constexpr uint64_t kPieceElements = 1 << 16;

uint64_t WeightStream::add(const Constant &value, WeightTransforms transforms) {
  uint64_t offset = llvm::alignTo(size, kWeightAlignment);
  unsigned elementBytes = trn::elementBytes(transforms.elementType());
  size = offset + uint64_t(transforms.elements()) * elementBytes;
  weights.push_back({offset, elementBytes, value, std::move(transforms)});
  return offset;
}

llvm::ArrayRef<char> WeightStream::sourceOf(const Weight &weight) const {
  llvm::ArrayRef<char> source = weight.value.bytes();
  if (!weight.value.isSplat())
    return source;
  if (repeatedFor != weight.offset) {
    repeated.resize(source.size() * weight.value.size());
    for (int64_t i = 0; i < weight.value.size(); ++i)
      std::memcpy(repeated.data() + i * source.size(), source.data(), source.size());
    repeatedFor = weight.offset;
  }
  return repeated;
}

bool WeightStream::readWeight(const Weight &weight, uint64_t begin, char *out, uint64_t count) const {
  llvm::ArrayRef<char> source = sourceOf(weight);
  std::vector<char> piece;
  while (count) {
    uint64_t first = begin / weight.elementBytes;
    uint64_t skipped = begin % weight.elementBytes;
    uint64_t elements = std::min(kPieceElements, llvm::divideCeil(skipped + count, weight.elementBytes));
    piece.resize(elements * weight.elementBytes);
    if (mlir::failed(weight.transforms.materialize(source, first, elements, piece.data())))
      return false;
    uint64_t bytes = std::min<uint64_t>(count, piece.size() - skipped);
    std::memcpy(out, piece.data() + skipped, bytes);
    out += bytes;
    begin += bytes;
    count -= bytes;
  }
  return true;
}

bool WeightStream::read(uint64_t offset, char *out, uint64_t count) const {
  if (offset > size || count > size - offset)
    return false;
  std::memset(out, 0, count);
  auto weight = std::upper_bound(weights.begin(), weights.end(), offset,
                                 [](uint64_t at, const Weight &w) { return at < w.offset; });
  if (weight != weights.begin())
    --weight;
  for (; weight != weights.end() && weight->offset < offset + count; ++weight) {
    uint64_t end = weight->offset + uint64_t(weight->transforms.elements()) * weight->elementBytes;
    uint64_t from = std::max(offset, weight->offset), to = std::min(offset + count, end);
    if (from < to && !readWeight(*weight, from - weight->offset, out + (from - offset), to - from))
      return false;
  }
  return true;
}
