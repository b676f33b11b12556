//===- ModelPrograms.h - programs of the size of models, for tests -----------===//
//
// Owns a generator of correctly synchronised programs shaped like a chain of matrix layers: weights stream in on a
// ring, matmuls accumulate in rotating PSUM banks, ACT and DVE empty them in turn, the result is stored. Buffers are
// reused, so that every hazard occurs. It stands in for the compiler's output in tests of speed, reports and the fault
// planter.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "test/unit/timing/ProgramBuilder.h"
#include <string>

namespace trn::test {

struct ChainShape {
  unsigned layers = 6;
  unsigned chunks = 4;    ///< 128-wide blocks of the hidden dimension
  unsigned columns = 256; ///< rows of the activation, moved through the array
};

/// y = W_n(... relu(W_1 x)): [chunks * 128] features on partitions, `columns` rows.
///
/// Semaphores: 0 weights (one transfer per layer in flight at a time per buffer), 1 input, 2 PE done, 3 ACT done,
/// 4 DVE done, 5 and 6 weights of even and odd layers, 7 output.
inline exe::Executable matrixChain(const char *device, ChainShape shape) {
  ProgramBuilder b(device);
  const unsigned C = shape.chunks, N = shape.columns, rowBytes = C * C * 128 * 2;
  const uint32_t x = b.input("x", uint64_t(C) * 128 * N * 2), y = b.output("y", uint64_t(C) * 128 * N * 2);
  const uint64_t activations[2] = {0, uint64_t(C) * N * 2},
                 weights[2] = {2 * uint64_t(C) * N * 2, 2 * uint64_t(C) * N * 2 + rowBytes};
  auto block = [&](uint64_t base, unsigned chunk) { return sbuf(base + uint64_t(chunk) * N * 2, 128, N); };
  const uint32_t inputNode = b.node("x", "Input");
  AP all = sbuf(activations[0], 128, C * N), from = hbm(x, 128, C * N);
  b.dma(Engine::SP, all, from, 1).signal(1, 16).from(inputNode);
  unsigned pe = 0, act = 0, dve = 0; // signals given so far
  for (unsigned layer = 0; layer < shape.layers; ++layer) {
    const uint32_t node = b.node("MatMul_" + std::to_string(layer), "MatMul");
    const uint32_t relu = b.node("Relu_" + std::to_string(layer), "Relu");
    const uint32_t w = b.weight("w" + std::to_string(layer), 128ull * rowBytes);
    const unsigned half = layer % 2;
    // The weights of layer - 2 are overwritten: its matmuls must be done.
    Cmd load = b.dma(Engine::SP, sbuf(weights[half], 128, rowBytes / 2), hbm(w, 128, rowBytes / 2), 0)
                   .signal(static_cast<uint16_t>(5 + half), 16)
                   .from(node);
    if (layer >= 2)
      load.wait(2, pe - C);
    const uint64_t in = activations[half], out = activations[1 - half];
    for (unsigned m = 0; m < C; ++m) {
      if (m == 0) {
        b.semaphoreWait(Engine::PE).wait(static_cast<uint16_t>(5 + half), 16 * (layer / 2 + 1)).from(node);
        if (layer == 0)
          b.semaphoreWait(Engine::PE).wait(1, 16).from(node);
        if (act)
          b.semaphoreWait(Engine::PE).wait(3, act).from(node);
      }
      for (unsigned k = 0; k < C; ++k) {
        Cmd matmul =
            b.matmul(psum(m % 8, 128, N), sbuf(weights[half] + (m * C + k) * 256, 128, 128), block(in, k), k > 0)
                .from(node);
        if (m == 0 && k == 0 && dve)
          matmul.wait(4, dve);
        if (k + 1 == C) {
          matmul.signal(2);
          ++pe;
        }
      }
      if (m % 2) {
        isa::TensorScalar scalar;
        scalar.dst = block(out, m);
        scalar.src = psum(m % 8, 128, N);
        scalar.operand0 = isa::Scalar::constant(0.0f);
        scalar.op0 = isa::AluOp::Max;
        b.add(Engine::DVE, scalar).wait(2, pe).signal(4).from(relu);
        ++dve;
      } else {
        isa::Activation relu_;
        relu_.func = isa::ActivationFunc::Relu;
        relu_.dst = block(out, m);
        relu_.src = psum(m % 8, 128, N);
        b.add(Engine::ACT, relu_).wait(2, pe).signal(3).from(relu);
        ++act;
      }
    }
  }
  b.semaphoreWait(Engine::SP).wait(3, act);
  AP last = sbuf(activations[shape.layers % 2], 128, C * N);
  Cmd store = b.dma(Engine::SP, hbm(y, 128, C * N), last, 1).signal(7, 16).from(b.node("y", "Output"));
  if (dve)
    store.wait(4, dve);
  b.exe.build["model"] = "matrix chain";
  b.exe.build["model_macs"] = std::to_string(uint64_t(shape.layers) * C * C * 128 * 128 * N);
  return b.exe;
}

} // namespace trn::test
