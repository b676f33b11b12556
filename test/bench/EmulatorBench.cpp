//===- EmulatorBench.cpp - speed of the emulator's instructions -----------------===//
//
// Measures chains of matrix multiplications as convolutions and fully connected layers issue them, evictions, and loads,
// on every host path that the processor has. `--benchmark_format=json --benchmark_out=file` writes the numbers; the
// targets are in docs of the project's performance plan: 75 to 85 of 93 GFLOP/s on an AVX2 host.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Core.h"
#include "runtime/emulator/FpControl.h"
#include "runtime/emulator/Matmul.h"
#include "runtime/emulator/Step.h"
#include <benchmark/benchmark.h>
#include <cstring>
#include <random>

using namespace trn;
using namespace trn::rt;
using isa::AP;
using isa::DType;
using isa::Space;

static std::unique_ptr<Core> makeCore(HostPath path, unsigned threads) {
  CoreOptions options;
  options.path = path;
  options.threads = threads;
  auto core = Core::create(*isa::device("trn2"), options);
  if (!core.ok())
    return nullptr;
  // Ordinary numbers everywhere; bf16 and fp32 patterns of the same bytes are both ordinary.
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (Space space : {Space::SBUF, Space::PSUM}) {
    const Memory &memory = (*core)->memory(space);
    for (unsigned p = 0; p < memory.partitions(); ++p)
      for (uint64_t i = 0; i + 4 <= memory.bytesPerPartition(); i += 4) {
        float x = normal(random);
        uint32_t bits;
        std::memcpy(&bits, &x, 4);
        bits = (bits & 0xffff0000u) | bits >> 16;
        std::memcpy(memory.data() + p * memory.stride() + i, &bits, 4);
      }
  }
  return *std::move(core);
}

static AP tile(Space space, DType type, uint64_t address, unsigned partitions, uint32_t rows, uint32_t columns,
               int32_t pitch) {
  AP ap;
  ap.space = space;
  ap.dtype = type;
  ap.partitions = uint16_t(partitions);
  ap.address = address;
  ap.rank = 2;
  ap.dims[0] = {pitch, rows};
  ap.dims[1] = {1, columns};
  return ap;
}

/// One PSUM tile of a convolution: `taps` matmuls of 128 x 128 x (rows x columns) on windows `pitch` apart, for `outputs`
/// groups of output channels that read the same input.
static void matmulChain(benchmark::State &state, HostPath path, DType type, unsigned taps, uint32_t rows, uint32_t columns,
                        int32_t pitch, unsigned outputs, unsigned threads) {
  std::unique_ptr<Core> core = makeCore(path, threads);
  PackCache cache(24u << 20);
  std::vector<std::vector<MatmulOp>> chains(outputs);
  for (unsigned output = 0; output < outputs; ++output)
    for (unsigned tap = 0; tap < taps; ++tap) {
      isa::NcMatmul inst;
      unsigned bytes = isa::byteSize(type);
      inst.stationary = tile(Space::SBUF, type, (output * taps + tap) % 64 * 128 * bytes, 128, 1, 128, 128);
      inst.moving = tile(Space::SBUF, type, 65536 + (tap % 3 + tap / 3 * unsigned(pitch)) % 4096 * bytes, 128, rows, columns, pitch);
      inst.dst = tile(Space::PSUM, DType::F32, output % 8 * 2048, 128, 1, rows * columns, 1);
      inst.accumulate = tap > 0;
      auto op = decodeMatmul(*core, inst, cache);
      if (!op.ok())
        return state.SkipWithError(std::string(op.status().message()).c_str());
      chains[output].push_back(*op);
    }
  ScopedFpControl control(kFpDefault);
  for (auto _ : state) {
    // A new input, as in a run: what is reused is reused inside the layer.
    auto input = core->view(tile(Space::SBUF, type, 0, 128, 1, 50000, 1), AccessMode::Write);
    core->markWritten(*input);
    for (const std::vector<MatmulOp> &chain : chains)
      runMatmuls(*core, cache, chain.data(), chain.size());
  }
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * 128 * 128 * double(rows) * columns * taps * outputs,
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

static void instruction(benchmark::State &state, HostPath path, const isa::Instruction &inst, isa::Engine engine,
                        double elements, std::vector<uint8_t> *hbm = nullptr) {
  std::unique_ptr<Core> core = makeCore(path, 1);
  if (hbm) {
    core->declareHbm({HbmDeclaration{hbm->size(), true}});
    if (!core->bindHbm({HbmBuffer{hbm->data(), hbm->size()}}).ok())
      return state.SkipWithError("no buffer");
  }
  auto step = decode(*core, inst, engine);
  if (!step.ok())
    return state.SkipWithError(std::string(step.status().message()).c_str());
  ScopedFpControl control(kFpDefault);
  for (auto _ : state)
    if (!(*step)().ok())
      return state.SkipWithError("failed");
  state.counters["ns/element"] =
      benchmark::Counter(elements * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

static void addPath(HostPath path) {
  auto label = [&](std::string what) { return what + "/" + name(path); };
  struct Chain {
    const char *what;
    unsigned taps;
    uint32_t rows, columns;
    int32_t pitch;
    unsigned outputs;
  };
  const Chain chains[] = {{"full-128x128x512", 9, 1, 512, 512, 1}, {"fc-128x128x128-x6", 6, 1, 128, 128, 6},
                          {"conv3x3-14x28", 9, 14, 28, 30, 1},     {"conv3x3-14x14-x2", 18, 14, 14, 16, 2},
                          {"conv3x3-7x7-x4", 36, 7, 7, 9, 4}};
  for (DType type : {DType::BF16, DType::F32})
    for (const Chain &c : chains)
      for (unsigned threads : {1u, 2u})
        benchmark::RegisterBenchmark(
            label(std::string(c.what) + "/" + isa::name(type) + "/threads:" + std::to_string(threads)).c_str(),
            [=](benchmark::State &state) {
              matmulChain(state, path, type, c.taps, c.rows, c.columns, c.pitch, c.outputs, threads);
            })
            ->MeasureProcessCPUTime()
            ->Unit(benchmark::kMicrosecond);
  for (isa::ActivationFunc func : {isa::ActivationFunc::Relu, isa::ActivationFunc::Exp, isa::ActivationFunc::Gelu,
                                   isa::ActivationFunc::Sigmoid, isa::ActivationFunc::Tanh}) {
    isa::Activation evict;
    evict.func = func;
    evict.src = tile(Space::PSUM, DType::F32, 0, 128, 1, 512, 512);
    evict.dst = tile(Space::SBUF, DType::BF16, 0, 128, 1, 512, 512);
    AP bias = tile(Space::SBUF, DType::F32, 4096, 128, 1, 1, 1);
    evict.bias = isa::Scalar::at(bias);
    benchmark::RegisterBenchmark(label(std::string("evict-128x512-bias-bf16-") + isa::name(func)).c_str(),
                                 [=](benchmark::State &state) {
                                   instruction(state, path, evict, isa::Engine::ACT, 128 * 512);
                                 })
        ->Unit(benchmark::kMicrosecond);
  }
  isa::TensorTensor add;
  add.lhs = tile(Space::SBUF, DType::BF16, 0, 128, 1, 512, 512);
  add.rhs = tile(Space::PSUM, DType::F32, 0, 128, 1, 512, 512);
  add.dst = tile(Space::SBUF, DType::BF16, 8192, 128, 1, 512, 512);
  benchmark::RegisterBenchmark(label("add-128x512-bf16-psum").c_str(), [=](benchmark::State &state) {
    instruction(state, path, add, isa::Engine::DVE, 128 * 512);
  })->Unit(benchmark::kMicrosecond);
  isa::TensorReduce pool;
  pool.op = isa::AluOp::Max;
  pool.axes = 2;
  pool.src = tile(Space::SBUF, DType::BF16, 0, 128, 28, 28, 112);
  pool.src.rank = 4;
  pool.src.dims[0] = {2 * 58, 28};
  pool.src.dims[1] = {2, 28};
  pool.src.dims[2] = {58, 3};
  pool.src.dims[3] = {1, 3};
  pool.dst = tile(Space::SBUF, DType::BF16, 65536, 128, 28, 28, 28);
  benchmark::RegisterBenchmark(label("maxpool3x3s2-128x28x28").c_str(), [=](benchmark::State &state) {
    instruction(state, path, pool, isa::Engine::DVE, 128 * 28 * 28);
  })->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark(label("load-128x4096-bytes").c_str(), [=](benchmark::State &state) {
    std::vector<uint8_t> hbm(128 * 4096);
    isa::DmaCopy load;
    load.dst = tile(Space::SBUF, DType::BF16, 0, 128, 1, 2048, 2048);
    load.src = tile(Space::HBM, DType::BF16, 0, 128, 1, 2048, 2048);
    load.src.partitionStep = 2048;
    instruction(state, path, load, isa::Engine::SP, 128 * 2048, &hbm);
  })->Unit(benchmark::kMicrosecond);
}

int main(int argc, char **argv) {
  for (HostPath path : {HostPath::Scalar, HostPath::Avx2, HostPath::Avx512, HostPath::Amx})
    if (isSupported(path))
      addPath(path);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
}
