// Random flat programs for the planners' property tests: tiles loaded from HBM, products into PSUM, evictions,
// elementwise work, stores.
#pragma once
#include "passes/Schedule/Analysis/Program.h"
#include <random>

namespace trn::test {

inline ByteRegion box(unsigned startPartition, unsigned partitions, uint64_t begin, uint64_t end) {
  ByteRegion region;
  region.partitions = PartitionMask::range(startPartition, partitions);
  region.begin = begin;
  region.end = end;
  region.run = end - begin;
  return region;
}

class ProgramBuilder {
public:
  FlatProgram program;

  uint32_t buffer(isa::Space space, uint64_t bytes, bool external = false) {
    program.buffers.push_back({space, bytes, external});
    return program.buffers.size() - 1;
  }
  ByteRegion whole(uint32_t id) const {
    ByteRegion region = box(0, 128, 0, program.buffers[id].bytes);
    if (program.buffers[id].space == isa::Space::HBM)
      region.partitions = PartitionMask::all();
    return region;
  }
  uint32_t compute(isa::Engine engine, Ticks occupancy, Ticks latency, llvm::ArrayRef<uint32_t> reads,
                   llvm::ArrayRef<uint32_t> writes, bool accumulate = false) {
    FlatInstruction inst;
    inst.choices.push_back({engine, occupancy, latency});
    return add(inst, reads, writes, accumulate);
  }
  uint32_t dma(Ticks transfer, llvm::ArrayRef<uint32_t> reads, llvm::ArrayRef<uint32_t> writes, uint8_t ring = 0) {
    FlatInstruction inst;
    inst.isDma = true;
    inst.ring = ring;
    inst.choices.push_back({isa::Engine::SP, 0, 0});
    inst.transfer.issue = 2000;
    inst.transfer.startup = 44000;
    inst.transfer.transfer = transfer;
    inst.transfer.completion = 12000;
    return add(inst, reads, writes, false);
  }

private:
  uint32_t add(FlatInstruction inst, llvm::ArrayRef<uint32_t> reads, llvm::ArrayRef<uint32_t> writes,
               bool accumulate) {
    inst.firstAccess = program.accesses.size();
    inst.numAccesses = reads.size() + writes.size();
    for (uint32_t id : reads)
      program.accesses.push_back({id, true, false, whole(id)});
    for (uint32_t id : writes)
      program.accesses.push_back({id, accumulate, true, whole(id)});
    program.instructions.push_back(inst);
    return program.instructions.size() - 1;
  }
};

inline Resources testResources() {
  Resources resources;
  resources.sbufBytes = 65536;
  resources.psumBanks = 8;
  resources.psumBankBytes = 2048;
  resources.semaphores = 64;
  resources.tableLoad = 43000;
  resources.semaphoreHop = 1176;
  resources.semaphoreHopToPE = 1781;
  return resources;
}

/// `layers` fully connected layers of `width` tiles each, with loads of weights placed where they are used.
inline ProgramBuilder layeredProgram(unsigned layers, unsigned width, uint64_t tileBytes) {
  ProgramBuilder builder;
  uint32_t weights = builder.buffer(isa::Space::HBM, uint64_t(layers) * width * tileBytes * 128, true);
  uint32_t output = builder.buffer(isa::Space::HBM, width * tileBytes * 128, true);
  uint32_t input = builder.buffer(isa::Space::HBM, width * tileBytes * 128, true);
  std::vector<uint32_t> tiles;
  for (unsigned i = 0; i < width; ++i) {
    tiles.push_back(builder.buffer(isa::Space::SBUF, tileBytes));
    builder.dma(5000, {input}, {tiles.back()});
  }
  for (unsigned layer = 0; layer < layers; ++layer) {
    std::vector<uint32_t> next;
    for (unsigned m = 0; m < width; ++m) {
      uint32_t weight = builder.buffer(isa::Space::SBUF, tileBytes * width / 2 + 64);
      builder.dma(20000, {weights}, {weight});
      uint32_t sum = builder.buffer(isa::Space::PSUM, 2048);
      for (unsigned k = 0; k < width; ++k)
        builder.compute(isa::Engine::PE, 7168, 12000, {tiles[k], weight}, {sum}, k != 0);
      next.push_back(builder.buffer(isa::Space::SBUF, tileBytes));
      builder.compute(m % 2 ? isa::Engine::ACT : isa::Engine::DVE, 16000, 20000, {sum}, {next.back()});
    }
    tiles = next;
  }
  for (uint32_t tile : tiles)
    builder.dma(5000, {tile}, {output}, 1);
  return builder;
}

} // namespace trn::test
