//===- FunctionalTest.cpp - queues, semaphores, limits ------------------------===//
//
// Builds small executables by hand and runs them: data through all queues, every way to stop, registers and loops,
// poison, weights, and errors that name the ONNX node.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Functional.h"
#include "Machine.h"
#include <thread>

using namespace trn;
using namespace trn::rt;
using isa::AluOp;
using isa::Command;
using isa::Engine;

namespace {

/// Writes an executable instruction by instruction.
class Builder {
public:
  explicit Builder(const char *device = "trn2") {
    exe.device = device;
    exe.debug.push_back({});
  }
  uint32_t buffer(exe::BufferKind kind, uint64_t bytes, uint64_t weightOffset = 0) {
    exe::Buffer buffer;
    buffer.kind = kind;
    buffer.bytes = bytes;
    buffer.weightOffset = weightOffset;
    exe.buffers.push_back(buffer);
    return uint32_t(exe.buffers.size() - 1);
  }
  Command &add(Engine engine, isa::Instruction inst) {
    for (exe::Program &program : exe.programs)
      if (program.engine == engine)
        return append(program, inst);
    exe.programs.push_back({engine, {}});
    return append(exe.programs.back(), inst);
  }

  exe::Executable exe;

private:
  Command &append(exe::Program &program, const isa::Instruction &inst) {
    Command command;
    command.engine = program.engine;
    command.inst = inst;
    program.commands.push_back(command);
    return program.commands.back();
  }
};

Command &waits(Command &command, uint16_t semaphore, uint32_t value) {
  command.hasWait = true;
  command.wait = {semaphore, value};
  return command;
}
Command &updates(Command &command, uint16_t semaphore, int32_t add) {
  command.hasUpdate = true;
  command.update = {semaphore, add};
  return command;
}

AP hbm(uint32_t buffer, DType type, unsigned rows, uint32_t columns) {
  AP ap = operand(Space::HBM, type, 0, 0, rows, {columns});
  ap.buffer = buffer;
  return ap;
}
isa::DmaCopy copy(const AP &dst, const AP &src) {
  isa::DmaCopy inst;
  inst.dst = dst;
  inst.src = src;
  return inst;
}
isa::Memset memset(const AP &dst, float value) {
  isa::Memset inst;
  inst.dst = dst;
  inst.value = value;
  return inst;
}

absl::StatusOr<RunStatistics> run(const exe::Executable &exe, std::vector<std::vector<uint8_t>> &storage,
                                  CoreOptions options = {}, RunLimits limits = {}) {
  std::vector<HbmBuffer> buffers;
  storage.resize(exe.buffers.size());
  for (size_t i = 0; i < storage.size(); ++i) {
    bool isWeight = exe.buffers[i].kind == exe::BufferKind::Weight;
    if (!isWeight)
      storage[i].resize(exe.buffers[i].bytes);
    buffers.push_back({isWeight ? nullptr : storage[i].data(), storage[i].size()});
  }
  return runFunctional(exe, buffers, {options, limits});
}

/// relu(w^T x + b) with all queues: DMA on SP, matmul on PE, bias and relu on ACT, doubling on DVE, store on SP.
struct Network {
  static constexpr unsigned K = 96, M = 64, N = 200;
  Builder builder;
  std::vector<uint8_t> weights;

  Network() {
    std::mt19937 random(61);
    std::normal_distribution<float> normal;
    weights.resize(K * M * 4 + M * 4);
    for (size_t i = 0; i < weights.size(); i += 4) {
      float w = normal(random);
      std::memcpy(&weights[i], &w, 4);
    }
    builder.exe.weights.bytes = weights.size();
    builder.exe.weights.data = weights.data();
    builder.exe.debug.push_back({"Gemm_3", "Gemm", ""});
    uint32_t x = builder.buffer(exe::BufferKind::Input, K * N * 4);
    uint32_t w = builder.buffer(exe::BufferKind::Weight, K * M * 4, 0);
    uint32_t b = builder.buffer(exe::BufferKind::Weight, M * 4, K * M * 4);
    uint32_t y = builder.buffer(exe::BufferKind::Output, M * N * 4);
    AP xs = operand(Space::SBUF, DType::F32, 0, 0, K, {N}), ws = operand(Space::SBUF, DType::F32, 4096, 0, K, {M});
    AP bs = operand(Space::SBUF, DType::F32, 8192, 0, M, {1}), ps = operand(Space::PSUM, DType::F32, 0, 0, M, {N});
    AP ys = operand(Space::SBUF, DType::F32, 12288, 0, M, {N});
    updates(builder.add(Engine::SP, copy(xs, hbm(x, DType::F32, K, N))), 0, 16);
    updates(builder.add(Engine::SP, copy(ws, hbm(w, DType::F32, K, M))), 1, 16);
    updates(builder.add(Engine::SP, copy(bs, hbm(b, DType::F32, M, 1))), 2, 16);
    // The contraction in three pieces of 32 partitions, so that matmuls are joined.
    for (unsigned k = 0; k < 3; ++k) {
      isa::NcMatmul matmul;
      matmul.stationary = ws;
      matmul.moving = xs;
      matmul.stationary.startPartition = matmul.moving.startPartition = uint16_t(k * 32);
      matmul.stationary.partitions = matmul.moving.partitions = 32;
      matmul.dst = ps;
      matmul.accumulate = k > 0;
      Command &command = builder.add(Engine::PE, matmul);
      command.debug = 1;
      if (k < 2)
        waits(command, uint16_t(k), 16);
      else
        updates(command, 3, 1);
    }
    isa::Activation relu;
    relu.func = isa::ActivationFunc::Relu;
    relu.src = ps;
    relu.dst = ys;
    relu.bias = isa::Scalar::at(bs);
    waits(builder.add(Engine::ACT, isa::SemaphoreWait()), 2, 16);
    updates(waits(builder.add(Engine::ACT, relu), 3, 1), 4, 1);
    isa::TensorScalar twice;
    twice.src = twice.dst = ys;
    twice.op0 = AluOp::Multiply;
    twice.operand0 = isa::Scalar::constant(2.0f);
    updates(waits(builder.add(Engine::DVE, twice), 4, 1), 5, 1);
    waits(builder.add(Engine::SP, copy(hbm(y, DType::F32, M, N), ys)), 5, 1);
  }

  float weight(size_t i) const {
    float w;
    std::memcpy(&w, &weights[i * 4], 4);
    return w;
  }
};

std::vector<uint8_t> randomInput(unsigned count) {
  std::mt19937 random(62);
  std::normal_distribution<float> normal;
  std::vector<uint8_t> bytes(count * 4);
  for (unsigned i = 0; i < count; ++i) {
    float x = normal(random);
    std::memcpy(&bytes[i * 4], &x, 4);
  }
  return bytes;
}

class FunctionalPaths : public HostPathTest {};

TEST_P(FunctionalPaths, runANetworkThroughAllQueues) {
  Network network;
  constexpr unsigned K = Network::K, M = Network::M, N = Network::N;
  std::vector<std::vector<uint8_t>> storage = {randomInput(K * N)};
  std::vector<uint8_t> first;
  for (unsigned threads : {1u, 3u}) {
    CoreOptions options;
    options.path = GetParam();
    options.threads = threads;
    auto statistics = run(network.builder.exe, storage, options);
    ASSERT_TRUE(statistics.ok()) << statistics.status();
    EXPECT_EQ(statistics->instructions, 10u);
    EXPECT_EQ(statistics->matmuls, 3u);
    EXPECT_EQ(statistics->matmulRuns, 1u) << "one chain into one PSUM tile";
    EXPECT_EQ(statistics->perEngine[size_t(Engine::SP)], 4u);
    for (unsigned m = 0; m < M; ++m)
      for (unsigned n = 0; n < N; ++n) {
        float sum = 0, x, y;
        for (unsigned k = 0; k < K; ++k) {
          std::memcpy(&x, &storage[0][(k * N + n) * 4], 4);
          sum = std::fma(network.weight(k * M + m), x, sum);
        }
        sum += network.weight(K * M + m);
        std::memcpy(&y, &storage[3][(m * N + n) * 4], 4);
        ASSERT_EQ(2 * std::max(sum, 0.0f), y) << m << " " << n;
      }
    if (first.empty())
      first = storage[3];
    EXPECT_EQ(first, storage[3]);
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, FunctionalPaths, testing::ValuesIn(allPaths()), pathName);

TEST(Functional, runsAPlanAgainWithOtherBuffers) {
  Network network;
  auto plan = FunctionalPlan::create(network.builder.exe, CoreOptions());
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<uint8_t> x = randomInput(Network::K * Network::N), zero(x.size()), y1(Network::M * Network::N * 4), y2 = y1, y3 = y1;
  auto buffers = [&](std::vector<uint8_t> &in, std::vector<uint8_t> &out) {
    return std::vector<HbmBuffer>{{in.data(), in.size()}, {}, {}, {out.data(), out.size()}};
  };
  ASSERT_TRUE((*plan)->run(buffers(x, y1)).ok());
  ASSERT_TRUE((*plan)->run(buffers(zero, y2)).ok());
  ASSERT_TRUE((*plan)->run(buffers(x, y3)).ok());
  EXPECT_NE(y1, y2);
  EXPECT_EQ(y1, y3) << "packed operands of an earlier run must not survive";
}

TEST(Functional, refusesMissingAndShortBuffers) {
  Network network;
  auto plan = FunctionalPlan::create(network.builder.exe, CoreOptions());
  ASSERT_TRUE(plan.ok());
  std::vector<uint8_t> x(Network::K * Network::N * 4), y(Network::M * Network::N * 4);
  EXPECT_EQ((*plan)->run({}).status().code(), absl::StatusCode::kInvalidArgument);
  std::vector<HbmBuffer> shortOutput = {{x.data(), x.size()}, {}, {}, {y.data(), y.size() - 1}};
  EXPECT_EQ((*plan)->run(shortOutput).status().code(), absl::StatusCode::kInvalidArgument);
  network.builder.exe.weights.bytes -= 1;
  std::vector<HbmBuffer> good = {{x.data(), x.size()}, {}, {}, {y.data(), y.size()}};
  EXPECT_EQ((*plan)->run(good).status().code(), absl::StatusCode::kInvalidArgument) << "truncated weights";
}

TEST(Functional, namesTheNodeOfAnIllegalInstruction) {
  Network network;
  auto &matmul = std::get<isa::NcMatmul>(network.builder.exe.programs[1].commands[1].inst);
  matmul.dst.address = 16000; // 800 bytes there leave PSUM.
  auto plan = FunctionalPlan::create(network.builder.exe, CoreOptions());
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.status().message().find("node 'Gemm_3' (Gemm): PE instruction 1, nc_matmul"), absl::string_view::npos)
      << plan.status();
}

TEST(Functional, refusesUnknownDevicesEnginesAndSemaphores) {
  Builder unknown("trn9");
  EXPECT_FALSE(FunctionalPlan::create(unknown.exe, CoreOptions()).ok());
  Builder semaphore;
  waits(semaphore.add(Engine::SP, isa::Nop()), 256, 1);
  EXPECT_FALSE(FunctionalPlan::create(semaphore.exe, CoreOptions()).ok());
  Builder engine; // Matmul belongs to PE.
  engine.add(Engine::ACT, isa::NcMatmul());
  EXPECT_FALSE(FunctionalPlan::create(engine.exe, CoreOptions()).ok());
  Builder twice;
  twice.add(Engine::SP, isa::Nop());
  twice.exe.programs.push_back(twice.exe.programs[0]);
  EXPECT_FALSE(FunctionalPlan::create(twice.exe, CoreOptions()).ok());
}

TEST(Functional, refusesToWriteWeightsAndInputs) {
  for (exe::BufferKind kind : {exe::BufferKind::Weight, exe::BufferKind::Input}) {
    Builder builder;
    uint32_t target = builder.buffer(kind, 512);
    builder.add(Engine::SP, copy(hbm(target, DType::F32, 128, 1), operand(Space::SBUF, DType::F32, 0, 0, 128, {1})));
    auto plan = FunctionalPlan::create(builder.exe, CoreOptions());
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(plan.status().message().find("cannot be written"), absl::string_view::npos) << plan.status();
  }
}

TEST(Functional, reportsADeadlockWithWhatEachQueueWaitsFor) {
  Builder builder;
  updates(waits(builder.add(Engine::ACT, isa::Nop()), 1, 1), 2, 1);
  updates(waits(builder.add(Engine::DVE, isa::Nop()), 2, 1), 1, 1);
  std::vector<std::vector<uint8_t>> storage;
  absl::Status status = run(builder.exe, storage).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("ACT instruction 0, nop waits for semaphore 1 >= 1, which is 0"), absl::string_view::npos)
      << status;
  EXPECT_NE(status.message().find("DVE instruction 0, nop waits for semaphore 2 >= 1"), absl::string_view::npos) << status;
}

TEST(Functional, doesNotJoinMatmulsAcrossAWaitThatNeedsTheFirst) {
  // The second matmul waits for weights that are loaded into the place the first one read: joining them would deadlock
  // or read the wrong weights.
  Builder builder;
  AP a = operand(Space::SBUF, DType::F32, 0, 0, 32, {16}), b = operand(Space::SBUF, DType::F32, 1024, 0, 32, {8});
  AP c = operand(Space::PSUM, DType::F32, 0, 0, 16, {8});
  uint32_t out = builder.buffer(exe::BufferKind::Output, 16 * 8 * 4);
  isa::NcMatmul matmul;
  matmul.stationary = a;
  matmul.moving = b;
  matmul.dst = c;
  builder.add(Engine::DVE, memset(a, 1.0f));
  updates(builder.add(Engine::DVE, memset(b, 1.0f)), 0, 1);
  updates(waits(builder.add(Engine::PE, matmul), 0, 1), 1, 1);
  updates(waits(builder.add(Engine::DVE, memset(a, 3.0f)), 1, 1), 2, 1);
  matmul.accumulate = true;
  updates(waits(builder.add(Engine::PE, matmul), 2, 1), 3, 1);
  isa::TensorCopy evict;
  evict.src = c;
  evict.dst = operand(Space::SBUF, DType::F32, 4096, 0, 16, {8});
  updates(waits(builder.add(Engine::DVE, evict), 3, 1), 4, 1);
  waits(builder.add(Engine::SP, copy(hbm(out, DType::F32, 16, 8), evict.dst)), 4, 1);
  std::vector<std::vector<uint8_t>> storage;
  auto statistics = run(builder.exe, storage);
  ASSERT_TRUE(statistics.ok()) << statistics.status();
  EXPECT_EQ(statistics->matmulRuns, 2u);
  float y;
  std::memcpy(&y, storage[out].data(), 4);
  EXPECT_EQ(y, 32.0f + 96.0f);
}

/// One round of: DVE adds 1 to x, SP stores x. Memory says how many rounds; both queues meet before and in each round.
Builder countedByMemory(DType type) {
  Builder builder;
  const uint32_t n = builder.buffer(exe::BufferKind::Input, isa::byteSize(type));
  const uint32_t out = builder.buffer(exe::BufferKind::Output, 4);
  const AP x = operand(Space::SBUF, DType::F32, 0, 0, 1, {1});
  isa::TensorScalar increment;
  increment.src = increment.dst = x;
  increment.operand0 = isa::Scalar::constant(1.0f);
  isa::RegisterLoad load;
  load.reg = 3;
  load.src = hbm(n, type, 1, 1);
  isa::Branch none;
  none.compare = AluOp::IsLe;
  none.reg = 3;
  isa::Loop back;
  back.reg = 3;
  builder.add(Engine::DVE, memset(x, 0.0f)); // 0
  builder.add(Engine::DVE, isa::Barrier());
  builder.add(Engine::DVE, load);
  none.target = 7;
  builder.add(Engine::DVE, none);
  updates(builder.add(Engine::DVE, increment), 0, 1); // 4
  builder.add(Engine::DVE, isa::Barrier());
  back.target = 4;
  builder.add(Engine::DVE, back);
  builder.add(Engine::SP, isa::Barrier()); // 0
  builder.add(Engine::SP, load);
  none.target = 6;
  builder.add(Engine::SP, none);
  updates(waits(builder.add(Engine::SP, copy(hbm(out, DType::F32, 1, 1), x)), 0, 1), 1, 16); // 3
  waits(builder.add(Engine::SP, isa::Barrier()), 1, 16);
  back.target = 3;
  builder.add(Engine::SP, back);
  return builder;
}

TEST(Functional, roundsThatMemoryCounts) {
  for (auto [type, rounds] : {std::pair(DType::I32, 3), {DType::I32, 0}, {DType::I32, -2}, {DType::U8, 200}}) {
    Builder builder = countedByMemory(type);
    auto plan = FunctionalPlan::create(builder.exe, {});
    ASSERT_TRUE(plan.ok()) << plan.status();
    int32_t n = rounds;
    float y = -1;
    const std::vector<HbmBuffer> buffers = {{reinterpret_cast<uint8_t *>(&n), isa::byteSize(type)},
                                            {reinterpret_cast<uint8_t *>(&y), 4}};
    auto statistics = (*plan)->run(buffers, {});
    ASSERT_TRUE(statistics.ok()) << statistics.status();
    EXPECT_EQ(y, rounds > 0 ? float(rounds) : -1.0f);
    EXPECT_EQ(statistics->perEngine[size_t(Engine::SP)], 3u + 3 * std::max(rounds, 0));
  }
}

TEST(Functional, registersHoldIntegersOf31Bits) {
  Builder builder = countedByMemory(DType::U32);
  std::vector<std::vector<uint8_t>> storage = {{0, 0, 0, 0x80}};
  EXPECT_EQ(run(builder.exe, storage).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(Functional, queuesWaitAtBarriersForAll) {
  Builder builder;
  builder.add(Engine::DVE, isa::Barrier());
  builder.add(Engine::SP, isa::Nop());
  std::vector<std::vector<uint8_t>> storage;
  EXPECT_NE(std::string(run(builder.exe, storage).status().message())
                .find("DVE instruction 0, barrier waits for the other queues"),
            std::string::npos);
}

TEST(Functional, runsCountedLoopsAndBranches) {
  // for r1 = 5; r1 > 0; --r1: add 1 to x; then a branch skips over an instruction that would spoil it.
  Builder builder;
  uint32_t out = builder.buffer(exe::BufferKind::Output, 4);
  AP x = operand(Space::SBUF, DType::F32, 0, 0, 1, {1});
  isa::RegisterMove move;
  move.reg = 1;
  move.value = 2;
  isa::RegisterAdd add;
  add.reg = 7;
  add.sourceReg = 1;
  add.value = 3;
  isa::TensorScalar increment;
  increment.src = increment.dst = x;
  increment.operand0 = isa::Scalar::constant(1.0f);
  isa::Loop loop;
  loop.reg = 7;
  loop.target = 3;
  isa::Branch branch;
  branch.compare = AluOp::IsEq;
  branch.reg = 7;
  branch.value = 0;
  branch.target = 7;
  builder.add(Engine::DVE, memset(x, 0.0f));
  builder.add(Engine::DVE, move);
  builder.add(Engine::DVE, add);
  builder.add(Engine::DVE, increment); // 3
  builder.add(Engine::DVE, loop);
  builder.add(Engine::DVE, branch);
  builder.add(Engine::DVE, memset(x, -1.0f)); // 6: skipped
  updates(builder.add(Engine::DVE, isa::Nop()), 0, 1);
  waits(builder.add(Engine::SP, copy(hbm(out, DType::F32, 1, 1), x)), 0, 1);
  std::vector<std::vector<uint8_t>> storage;
  auto statistics = run(builder.exe, storage);
  ASSERT_TRUE(statistics.ok()) << statistics.status();
  float y;
  std::memcpy(&y, storage[out].data(), 4);
  EXPECT_EQ(y, 5.0f);
  EXPECT_EQ(statistics->perEngine[size_t(Engine::DVE)], 3u + 5 * 2 + 2);
}

/// A program that never ends.
exe::Executable endless() {
  Builder builder;
  isa::Branch branch;
  branch.target = 0;
  builder.add(Engine::SP, isa::Nop());
  builder.add(Engine::SP, branch);
  return builder.exe;
}

TEST(Functional, stopsAtTheInstructionBudget) {
  std::vector<std::vector<uint8_t>> storage;
  RunLimits limits;
  limits.instructions = 1000;
  EXPECT_EQ(run(endless(), storage, {}, limits).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(Functional, stopsAtTheTimeOut) {
  std::vector<std::vector<uint8_t>> storage;
  RunLimits limits;
  limits.timeout = absl::Milliseconds(20);
  EXPECT_EQ(run(endless(), storage, {}, limits).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(Functional, stopsWhenCancelled) {
  std::vector<std::vector<uint8_t>> storage;
  std::atomic<bool> cancel{false};
  RunLimits limits;
  limits.cancel = &cancel;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    cancel = true;
  });
  EXPECT_EQ(run(endless(), storage, {}, limits).status().code(), absl::StatusCode::kCancelled);
  other.join();
}

TEST(Functional, refusesSemaphoreOverflow) {
  Builder builder;
  updates(builder.add(Engine::SP, isa::Nop()), 0, -1);
  std::vector<std::vector<uint8_t>> storage;
  EXPECT_EQ(run(builder.exe, storage).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(Functional, resetsSemaphoresAndRegistersForTheNextRun) {
  Network network;
  auto plan = FunctionalPlan::create(network.builder.exe, CoreOptions());
  ASSERT_TRUE(plan.ok());
  std::vector<uint8_t> x = randomInput(Network::K * Network::N), y(Network::M * Network::N * 4);
  std::vector<HbmBuffer> buffers = {{x.data(), x.size()}, {}, {}, {y.data(), y.size()}};
  RunLimits limits;
  limits.instructions = 6;
  EXPECT_FALSE((*plan)->run(buffers, limits).ok());
  auto statistics = (*plan)->run(buffers);
  ASSERT_TRUE(statistics.ok());
  EXPECT_EQ(statistics->instructions, 10u);
}

TEST(Poison, showsInResultsAndIsReportedWhenChecked) {
  Builder builder;
  uint32_t out = builder.buffer(exe::BufferKind::Output, 128 * 4);
  AP x = operand(Space::SBUF, DType::BF16, 640, 0, 128, {2}), y = operand(Space::SBUF, DType::F32, 0, 0, 128, {2});
  builder.exe.debug.push_back({"Add_9", "Add", ""});
  AP half = x;
  half.partitions = 64;
  updates(builder.add(Engine::DVE, memset(half, 1.0f)), 0, 1);
  isa::TensorCopy widen;
  widen.src = x;
  widen.dst = y;
  Command &command = waits(builder.add(Engine::ACT, widen), 0, 1);
  command.debug = 1;
  updates(command, 1, 1);
  AP column = y;
  column.dims[0].count = 1;
  waits(builder.add(Engine::SP, copy(hbm(out, DType::F32, 128, 1), column)), 1, 1);
  std::vector<std::vector<uint8_t>> storage;
  ASSERT_TRUE(run(builder.exe, storage).ok());
  float set, unset;
  std::memcpy(&set, &storage[out][63 * 4], 4);
  std::memcpy(&unset, &storage[out][64 * 4], 4);
  EXPECT_EQ(set, 1.0f);
  EXPECT_TRUE(std::isnan(unset));
  CoreOptions checked;
  checked.checkPoison = true;
  absl::Status status = run(builder.exe, storage, checked).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("node 'Add_9' (Add): ACT instruction 0, tensor_copy: reads sbuf partition 64 byte 640"),
            absl::string_view::npos)
      << status;
}

TEST(Poison, isRestoredByResetWhereAnythingWrote) {
  Machine machine, fresh;
  std::mt19937 random(63);
  for (unsigned i = 0; i < 40; ++i) {
    uint64_t address = random() % 200000;
    ASSERT_TRUE(machine.run(memset(operand(Space::SBUF, DType::U8, address, 0, 128, {1 + uint32_t(random() % 999)}), 1), Engine::DVE).ok());
  }
  ASSERT_TRUE(machine.run(memset(operand(Space::PSUM, DType::F32, 2048, 0, 128, {512}), 1), Engine::DVE).ok());
  // An instruction that fails half way has written too: index 99 is beyond the 10 rows of the table.
  isa::DmaGather gather;
  gather.table = operand(Space::HBM, DType::F32, 0, 0, 10, {16});
  gather.indices = operand(Space::SBUF, DType::I32, 210000, 0, 2, {1});
  gather.dst = operand(Space::SBUF, DType::F32, 205000, 0, 2, {16});
  ASSERT_TRUE(machine.run(memset(gather.indices, 0), Engine::DVE).ok());
  machine.setRaw(gather.indices, 1, 0, 99);
  ASSERT_FALSE(machine.run(gather, Engine::POOL).ok());
  machine.core->reset();
  expectSameMemories(fresh, machine);
}

TEST(Poison, acceptsAProgramThatWritesBeforeItReads) {
  Network network;
  std::vector<std::vector<uint8_t>> storage = {randomInput(Network::K * Network::N)};
  CoreOptions checked;
  checked.checkPoison = true;
  auto statistics = run(network.builder.exe, storage, checked);
  EXPECT_TRUE(statistics.ok()) << statistics.status();
}

TEST(HostPathChoice, followsTheEnvironment) {
  ASSERT_EQ(setenv("TRN_ISA", "scalar", 1), 0);
  auto path = chooseHostPath();
  ASSERT_TRUE(path.ok());
  EXPECT_EQ(*path, HostPath::Scalar);
  setenv("TRN_ISA", "neon", 1);
  EXPECT_EQ(chooseHostPath().status().code(), absl::StatusCode::kInvalidArgument);
  unsetenv("TRN_ISA");
  path = chooseHostPath();
  ASSERT_TRUE(path.ok());
  EXPECT_TRUE(isSupported(*path));
}

} // namespace
