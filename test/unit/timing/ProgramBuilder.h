//===- ProgramBuilder.h - executables by hand, for tests ---------------------===//
//
// Owns a short way to write programs for the timing, check and profile tests: operands, buffers, and commands appended
// to the queue of an engine with their wait and update.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/executable/Executable.h"
#include <string>

namespace trn::test {

using isa::AP;
using isa::DType;
using isa::Engine;

inline AP onChip(isa::Space space, uint64_t address, unsigned partitions, unsigned elements, DType dtype,
                 unsigned startPartition = 0) {
  AP ap;
  ap.space = space;
  ap.dtype = dtype;
  ap.startPartition = static_cast<uint16_t>(startPartition);
  ap.partitions = static_cast<uint16_t>(partitions);
  ap.address = address;
  ap.rank = 1;
  ap.dims[0] = {1, elements};
  return ap;
}
inline AP sbuf(uint64_t address, unsigned partitions, unsigned elements, DType dtype = DType::BF16,
               unsigned startPartition = 0) {
  return onChip(isa::Space::SBUF, address, partitions, elements, dtype, startPartition);
}
inline AP psum(unsigned bank, unsigned partitions, unsigned elements, DType dtype = DType::F32) {
  return onChip(isa::Space::PSUM, bank * 2048u, partitions, elements, dtype);
}
/// Rows that follow each other.
inline AP hbm(uint32_t buffer, unsigned rows, unsigned elements, DType dtype = DType::BF16, uint64_t address = 0) {
  AP ap = onChip(isa::Space::HBM, address, rows, elements, dtype);
  ap.buffer = buffer;
  ap.partitionStep = elements;
  return ap;
}

/// A command under construction.
class Cmd {
public:
  explicit Cmd(isa::Command &command) : command(command) {}
  Cmd &wait(uint16_t semaphore, uint32_t value) {
    command.hasWait = true;
    command.wait = {semaphore, value};
    return *this;
  }
  Cmd &signal(uint16_t semaphore, int32_t add = 1) {
    command.hasUpdate = true;
    command.update = {semaphore, add};
    return *this;
  }
  Cmd &from(uint32_t debug) {
    command.debug = debug;
    return *this;
  }

private:
  isa::Command &command;
};

class ProgramBuilder {
public:
  explicit ProgramBuilder(const char *device = "trn2") {
    exe.device = device;
    exe.debug.push_back({});
    for (Engine engine : {Engine::PE, Engine::ACT, Engine::DVE, Engine::POOL, Engine::SP})
      exe.programs.push_back({engine, {}});
  }

  exe::Executable exe;

  uint32_t buffer(exe::BufferKind kind, std::string name, uint64_t bytes) {
    exe::Buffer buffer;
    buffer.kind = kind;
    buffer.name = std::move(name);
    buffer.bytes = bytes;
    exe.buffers.push_back(std::move(buffer));
    return static_cast<uint32_t>(exe.buffers.size() - 1);
  }
  uint32_t input(std::string name, uint64_t bytes) { return buffer(exe::BufferKind::Input, std::move(name), bytes); }
  uint32_t weight(std::string name, uint64_t bytes) { return buffer(exe::BufferKind::Weight, std::move(name), bytes); }
  uint32_t output(std::string name, uint64_t bytes) { return buffer(exe::BufferKind::Output, std::move(name), bytes); }
  uint32_t scratch(std::string name, uint64_t bytes) {
    return buffer(exe::BufferKind::Scratch, std::move(name), bytes);
  }
  uint32_t node(std::string name, std::string op) {
    exe.debug.push_back({std::move(name), std::move(op), ""});
    return static_cast<uint32_t>(exe.debug.size() - 1);
  }

  Cmd add(Engine engine, isa::Instruction inst, uint8_t ring = 0) {
    auto &commands = exe.programs[static_cast<unsigned>(engine)].commands;
    isa::Command command;
    command.inst = std::move(inst);
    command.engine = engine;
    command.ring = ring;
    commands.push_back(std::move(command));
    return Cmd(commands.back());
  }
  Cmd matmul(AP dst, AP stationary, AP moving, bool accumulate = false, bool load = true) {
    isa::NcMatmul inst;
    inst.dst = dst;
    inst.stationary = stationary;
    inst.moving = moving;
    inst.accumulate = accumulate;
    inst.loadStationary = load;
    return add(Engine::PE, inst);
  }
  Cmd copy(Engine engine, AP dst, AP src) {
    isa::TensorCopy inst;
    inst.dst = dst;
    inst.src = src;
    return add(engine, inst);
  }
  Cmd activate(isa::ActivationFunc func, AP dst, AP src) {
    isa::Activation inst;
    inst.func = func;
    inst.dst = dst;
    inst.src = src;
    return add(Engine::ACT, inst);
  }
  Cmd addTensors(Engine engine, AP dst, AP lhs, AP rhs) {
    isa::TensorTensor inst;
    inst.op = isa::AluOp::Add;
    inst.dst = dst;
    inst.lhs = lhs;
    inst.rhs = rhs;
    return add(engine, inst);
  }
  Cmd memset(Engine engine, AP dst, float value = 0) {
    isa::Memset inst;
    inst.dst = dst;
    inst.value = value;
    return add(engine, inst);
  }
  Cmd dma(Engine engine, AP dst, AP src, uint8_t ring = 0) {
    isa::DmaCopy inst;
    inst.dst = dst;
    inst.src = src;
    return add(engine, inst, ring);
  }
  Cmd semaphoreWait(Engine engine) { return add(engine, isa::SemaphoreWait{}); }
};

/// load x, w; multiply; empty PSUM; store. Correctly synchronised.
inline exe::Executable smallProgram(const char *device = "trn2") {
  ProgramBuilder b(device);
  uint32_t x = b.input("x", 128 * 512 * 2), w = b.weight("w", 128 * 128 * 2), y = b.output("y", 128 * 512 * 2);
  uint32_t node = b.node("MatMul_0", "MatMul");
  b.dma(Engine::SP, sbuf(0, 128, 512), hbm(x, 128, 512), 0).signal(0, 16).from(node);
  b.dma(Engine::SP, sbuf(1024, 128, 128), hbm(w, 128, 128), 1).signal(1, 16).from(node);
  b.add(Engine::PE, isa::SemaphoreWait{}).wait(0, 16).from(node);
  b.matmul(psum(0, 128, 512), sbuf(1024, 128, 128), sbuf(0, 128, 512)).wait(1, 16).signal(2).from(node);
  b.copy(Engine::DVE, sbuf(2048, 128, 512), psum(0, 128, 512)).wait(2, 1).signal(3).from(node);
  b.dma(Engine::SP, hbm(y, 128, 512), sbuf(2048, 128, 512), 0).wait(3, 1).signal(4, 16).from(node);
  return b.exe;
}

} // namespace trn::test
