//===- PackedWeights.h - weights of a few bits in blocks ------------------===//
//
// Owns how the weights and zero points of MatMulNBits (com.microsoft) lie in their bytes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Weights/Constant.h"

namespace trn {

/// [columns, blocks, bytes of a block]: `bits` each, the first ones lowest, blocks of whole bytes; the zero points of a
/// column are packed likewise.
struct PackedWeights {
  int64_t depth, columns, bits, block;

  /// Products of two such numbers stay below 2^63.
  static constexpr int64_t kMost = int64_t(1) << 30;
  static bool isSupported(int64_t bits) { return bits == 2 || bits == 4 || bits == 8; }

  /// As the operation's attributes say.
  template <typename OpTy> static PackedWeights of(OpTy op) {
    return {int64_t(op.getK()), int64_t(op.getN()), int64_t(op.getBits()), int64_t(op.getBlockSize())};
  }

  int64_t blocks() const { return (depth + block - 1) / block; }
  int64_t paddedDepth() const { return blocks() * block; }
  int64_t blockBytes() const { return block * bits / 8; }
  int64_t zeroPointBytes() const { return (blocks() * bits + 7) / 8; }
  int64_t weightBytes() const { return columns * blocks() * blockBytes(); }
  /// The zero point of weights that have none.
  int64_t middle() const { return int64_t(1) << (bits - 1); }

  /// The weight of a column at a depth.
  int64_t weight(const Constant &weights, int64_t column, int64_t k) const {
    return field(weights, (column * blocks() + k / block) * blockBytes(), k % block);
  }
  /// The zero point of a column's block, packed or real.
  double zeroPoint(const std::optional<Constant> &points, int64_t column, int64_t atBlock) const {
    if (!points)
      return double(middle());
    return points->elementType().isInteger() ? double(field(*points, column * zeroPointBytes(), atBlock))
                                             : points->real(column * blocks() + atBlock);
  }

private:
  /// Number `index` among those packed from byte `start` on.
  int64_t field(const Constant &packed, int64_t start, int64_t index) const {
    int64_t first = index * bits;
    auto byte = static_cast<uint8_t>(packed.bytes()[packed.isSplat() ? 0 : start + first / 8]);
    return (byte >> (first % 8)) & ((1 << bits) - 1);
  }
};

} // namespace trn
