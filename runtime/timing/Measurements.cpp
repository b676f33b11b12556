//===- Measurements.cpp - the cost model against measured hardware -----------===//
//
// See Measurements.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/Measurements.h"
#include "absl/strings/str_format.h"
#include "runtime/timing/Timing.h"
#include <algorithm>
#include <cstring>

namespace trn::rt {
namespace {

using isa::AP;
using isa::DType;
using isa::Engine;
using isa::Space;

constexpr const char *kHalfClockPipeline =
    "at half clock part of the pipeline slows down as well (163 to 207 ns measured); the model keeps it";
constexpr const char *kSmallPackets = "software descriptors on v2 make small packets slower; one packet law serves all";

AP onChip(Space space, uint64_t address, unsigned partitions, unsigned elements, DType dtype) {
  AP ap;
  ap.space = space;
  ap.dtype = dtype;
  ap.partitions = static_cast<uint16_t>(partitions);
  ap.address = address;
  ap.rank = 1;
  ap.dims[0] = {1, elements};
  return ap;
}
AP sbuf(unsigned elements, DType dtype, uint64_t address = 0, unsigned partitions = 128) {
  return onChip(Space::SBUF, address, partitions, elements, dtype);
}
AP psum(unsigned elements, unsigned bank = 0, unsigned partitions = 128) {
  return onChip(Space::PSUM, bank * 2048u, partitions, elements, DType::F32);
}
AP hbm(uint32_t buffer, unsigned rows, unsigned elements, DType dtype) {
  AP ap = onChip(Space::HBM, 0, rows, elements, dtype);
  ap.buffer = buffer;
  ap.partitionStep = elements;
  return ap;
}

isa::NcMatmul matmul(unsigned columns, DType dtype, unsigned bank = 0) {
  isa::NcMatmul inst;
  inst.dst = psum(columns, bank);
  inst.stationary = sbuf(128, dtype);
  inst.moving = sbuf(columns, dtype, 4096);
  return inst;
}
isa::NcTranspose transpose(DType dtype) {
  isa::NcTranspose inst;
  inst.dst = psum(128);
  inst.src = sbuf(128, dtype);
  return inst;
}
isa::TensorCopy copy(AP dst, AP src) {
  isa::TensorCopy inst;
  inst.dst = dst;
  inst.src = src;
  return inst;
}
isa::Activation activation(isa::ActivationFunc func, AP dst, AP src) {
  isa::Activation inst;
  inst.func = func;
  inst.dst = dst;
  inst.src = src;
  return inst;
}
isa::TensorReduce reduce(AP src) {
  isa::TensorReduce inst;
  inst.src = src;
  inst.dst = sbuf(1, DType::F32, 65536);
  inst.axes = 1;
  return inst;
}
isa::TensorScalar multiply(AP dst, AP src) {
  isa::TensorScalar inst;
  inst.dst = dst;
  inst.src = src;
  inst.op0 = isa::AluOp::Multiply;
  inst.operand0 = isa::Scalar::constant(2);
  return inst;
}
isa::Reciprocal reciprocal(unsigned elements) {
  isa::Reciprocal inst;
  inst.dst = sbuf(elements, DType::F32, 4096);
  inst.src = sbuf(elements, DType::F32);
  return inst;
}
isa::DmaCopy load(unsigned partitions, unsigned bytes) {
  isa::DmaCopy inst;
  inst.dst = sbuf(bytes, DType::U8, 0, partitions);
  inst.src = hbm(0, partitions, bytes, DType::U8);
  return inst;
}

/// A program of one core, for predictions that need the simulation.
class Program {
public:
  explicit Program(const char *device) {
    exe.device = device;
    for (unsigned e = 0; e < isa::kNumEngines; ++e)
      exe.programs.push_back({Engine(e), {}});
    exe::Buffer buffer;
    buffer.kind = exe::BufferKind::Scratch;
    buffer.bytes = uint64_t(1) << 32;
    exe.buffers.push_back(buffer);
  }
  isa::Command &add(Engine engine, isa::Instruction inst) {
    isa::Command command;
    command.inst = std::move(inst);
    command.engine = engine;
    auto &commands = exe.programs[static_cast<unsigned>(engine)].commands;
    commands.push_back(std::move(command));
    return commands.back();
  }
  Timeline run(TimingOptions options = {}) const { return simulate(exe, options).value(); }
  CommandTime time(const Timeline &timeline, Engine engine, uint32_t index) const {
    return timeline.commands[Commands(exe).id(static_cast<unsigned>(engine), index)];
  }

private:
  exe::Executable exe;
};

void wait(isa::Command &command, uint16_t semaphore, uint32_t value) {
  command.hasWait = true;
  command.wait = {semaphore, value};
}
void signal(isa::Command &command, uint16_t semaphore, int32_t add) {
  command.hasUpdate = true;
  command.update = {semaphore, add};
}

class Table {
public:
  std::vector<Measurement> rows;

  void add(std::string what, double measured, double predicted, const char *unit = "ns", const char *explanation = "") {
    rows.push_back({group, std::move(what), device, source, unit, measured, predicted, explanation});
  }
  void section(const char *newGroup, const char *newDevice, const char *newSource) {
    group = newGroup;
    device = newDevice;
    source = newSource;
  }
  CostModel costs() const { return CostModel(*isa::device(device)); }

  /// Duration of an instruction: from its start until its results are visible.
  double duration(const isa::Instruction &inst, Engine engine) const {
    return ticksToNs(costs().compute(inst, engine).latency);
  }
  double interval(const isa::Instruction &inst, Engine engine) const {
    return ticksToNs(costs().compute(inst, engine).occupancy);
  }

private:
  const char *group = "", *device = "", *source = "";
};

void addTensorV3(Table &t) {
  t.section("Tensor engine", "trn2", "11.3");
  const isa::Instruction bf16 = matmul(512, DType::BF16), wide = matmul(512, DType::F32),
                         narrow = matmul(128, DType::F32);
  const isa::Instruction flip = transpose(DType::BF16), wideFlip = transpose(DType::F32);
  auto duration = [&](const isa::Instruction &inst) { return t.duration(inst, Engine::PE); };
  auto interval = [&](const isa::Instruction &inst) { return t.interval(inst, Engine::PE); };
  t.add("matmul bf16, 512 columns, duration", 379, duration(bf16));
  t.add("matmul bf16, 512 columns, interval", 216, interval(bf16));
  t.add("matmul bf16, 512 columns, half clock, duration", 609.5, duration(bf16) + interval(bf16));
  t.add("matmul bf16, 512 columns, half clock, interval", 427, 2 * interval(bf16));
  t.add("transpose bf16, 128 columns, duration", 216, duration(flip));
  t.add("transpose bf16, 128 columns, interval", 56, interval(flip));
  t.add("transpose bf16, 128 columns, half clock, duration", 310, duration(flip) + interval(flip), "ns",
        kHalfClockPipeline);
  t.add("transpose bf16, 128 columns, half clock, interval", 107, 2 * interval(flip));
  // Profiles show two instructions per fp32 matmul; the record is one with both.
  t.add("matmul fp32, a pass of 512 columns, duration", 589, duration(wide) - interval(wide) / 2);
  t.add("matmul fp32, a pass of 512 columns, interval", 428.5, interval(wide) / 2);
  t.add("matmul fp32, a pass of 512 columns, half clock, duration", 1060, duration(wide));
  t.add("matmul fp32, a pass of 512 columns, half clock, interval", 853, interval(wide));
  t.add("matmul fp32, a pass of 128 columns, duration", 275, duration(narrow) - interval(narrow) / 2);
  t.add("matmul fp32, a pass of 128 columns, interval", 111.7, interval(narrow) / 2);
  t.add("matmul fp32, a pass of 128 columns, half clock, duration", 420, duration(narrow), "ns", kHalfClockPipeline);
  t.add("matmul fp32, a pass of 128 columns, half clock, interval", 213, interval(narrow));
  t.add("transpose fp32, 128 columns, duration", 270, duration(wideFlip));
  t.add("transpose fp32, 128 columns, interval", 109, interval(wideFlip));
  t.add("transpose fp32, 128 columns, half clock, duration", 420, duration(wideFlip) + interval(wideFlip), "ns",
        kHalfClockPipeline);
  t.add("transpose fp32, 128 columns, half clock, interval", 213, 2 * interval(wideFlip));
  const CostModel upper(*isa::device("trn2"), WeightLoads::Measured);
  t.add("load of 128 x 128 bf16 weights, upper bound reading", 97.5,
        ticksToNs(upper.compute(bf16, Engine::PE).weightLoad));
  t.add("load of 128 x 128 fp32 weights, upper bound reading", 188,
        ticksToNs(upper.compute(wide, Engine::PE).weightLoad));
}

void addScalarV3(Table &t) {
  using isa::ActivationFunc;
  t.section("Scalar engine", "trn2", "11.3");
  auto duration = [&](const isa::Instruction &inst) { return t.duration(inst, Engine::ACT); };
  t.add("copy PSUM to SBUF fp32, 128", 265, duration(copy(sbuf(128, DType::F32), psum(128))));
  t.add("copy PSUM to SBUF fp32, 512", 586, duration(copy(sbuf(512, DType::F32), psum(512))));
  isa::Activation exp = activation(ActivationFunc::Exp, sbuf(512, DType::F32, 4096), sbuf(512, DType::F32));
  exp.bias = isa::Scalar::at(sbuf(1, DType::F32, 16384));
  t.add("exp SBUF to SBUF fp32, 512, bias per partition", 705, duration(exp));
  t.add("exp PSUM to SBUF fp32, 512", 686, duration(activation(ActivationFunc::Exp, sbuf(512, DType::F32), psum(512))));
  t.add("load of an activation table set", 1283, duration(isa::ActTableLoad{}));
  t.section("Scalar engine", "trn2", "11.3 (DMA overview)");
  t.add("exp on [4, 4096] bf16", 3700,
        duration(activation(ActivationFunc::Exp, sbuf(4096, DType::BF16, 16384), sbuf(4096, DType::BF16))));
  t.add("exp on [128, 128] bf16", 400,
        duration(activation(ActivationFunc::Exp, sbuf(128, DType::BF16, 4096), sbuf(128, DType::BF16))));
}

void addVectorV3(Table &t) {
  t.section("Vector engine", "trn2", "11.3");
  auto duration = [&](const isa::Instruction &inst) { return t.duration(inst, Engine::DVE); };
  t.add("copy PSUM to SBUF fp32, 128", 291, duration(copy(sbuf(128, DType::F32), psum(128))));
  t.add("copy PSUM to SBUF fp32, 512", 690, duration(copy(sbuf(512, DType::F32), psum(512))));
  t.add("reduce fp32, 512 to 1", 680, duration(reduce(sbuf(512, DType::F32))));
  t.add("reduce fp32, 8 to 1", 157, duration(reduce(sbuf(8, DType::F32))));
  t.add("multiply by a scalar fp32 SBUF to SBUF, 512", 481,
        duration(multiply(sbuf(512, DType::F32, 4096), sbuf(512, DType::F32))), "ns",
        "between the documented rate (690) and twice it (424); one shape only");
  t.add("multiply by a scalar PSUM to SBUF, 128", 348, duration(multiply(sbuf(128, DType::F32), psum(128))), "ns",
        "58 ns above a copy of the same shape; a single kernel, cause unknown");
  t.add("reciprocal, 4", 178, duration(reciprocal(4)));
}

/// From a producer's completion to the start of a consumer that was waiting.
double handOff(Engine producer, Engine consumer, bool transfer = false) {
  Program p("trn2");
  isa::Command &first = producer == Engine::PE
                            ? p.add(producer, matmul(128, DType::BF16))
                            : p.add(producer, copy(sbuf(128, DType::F32, 32768), sbuf(128, DType::F32)));
  signal(first, 0, 1);
  isa::Instruction inst = copy(sbuf(128, DType::F32, 65536), sbuf(128, DType::F32, 32768));
  if (transfer)
    inst = load(128, 512);
  if (consumer == Engine::PE) {
    isa::NcMatmul second = matmul(128, DType::BF16);
    second.loadStationary = false;
    inst = second;
  }
  wait(p.add(consumer, inst), 0, 1);
  Timeline timeline = p.run();
  return ticksToNs(p.time(timeline, consumer, 0).start - p.time(timeline, producer, 0).end);
}

void addHandOffs(Table &t) {
  t.section("Hand-off between engines", "trn2", "11.3");
  t.add("Tensor to Scalar", 37, handOff(Engine::PE, Engine::ACT));
  t.add("Tensor to Vector", 38.5, handOff(Engine::PE, Engine::DVE));
  t.add("Vector to Scalar", 35, handOff(Engine::DVE, Engine::ACT));
  t.add("Scalar to Vector", 33, handOff(Engine::ACT, Engine::DVE));
  t.add("Scalar to Tensor", 53, handOff(Engine::ACT, Engine::PE));
  t.add("Vector to a DMA trigger on Scalar", 32, handOff(Engine::DVE, Engine::ACT, true));
  Program p("trn2");
  p.add(Engine::DVE, copy(sbuf(128, DType::F32, 32768), sbuf(128, DType::F32)));
  p.add(Engine::DVE, copy(sbuf(128, DType::F32, 65536), sbuf(128, DType::F32, 32768)));
  Timeline timeline = p.run();
  t.add("Vector to Vector, dependent", 35,
        ticksToNs(p.time(timeline, Engine::DVE, 1).start - p.time(timeline, Engine::DVE, 0).end));
}

/// Rate of one load of `pieces` contiguous pieces per partition, in GB/s.
double rate(const char *device, unsigned pieces, unsigned bytes) {
  isa::DmaCopy inst = load(128, pieces * bytes);
  inst.dst.rank = 2;
  inst.dst.dims[0] = {static_cast<int32_t>(bytes) + 16, pieces}; // apart in SBUF, so that pieces stay pieces
  inst.dst.dims[1] = {1, bytes};
  Program p(device);
  p.add(Engine::SP, inst);
  const Timeline timeline = p.run();
  const double ns = ticksToNs(timeline.transfers[0].lastPacket - timeline.transfers[0].firstPacket);
  return 128.0 * pieces * bytes / ns;
}

void addDma(Table &t) {
  t.section("DMA", "trn2", "11.3");
  const isa::DeviceInfo &v3 = *isa::device("trn2"), &v2 = *isa::device("inf2");
  auto packet = [](const isa::DeviceInfo &device, unsigned bytes) { return ticksToNs(packetWireTime(device, bytes)); };
  t.add("packet of 4,096 bytes", 158, packet(v3, 4096));
  t.add("packet of 2,048 bytes", 83, packet(v3, 2048));
  t.add("packet of 512 bytes", 27, packet(v3, 512));
  t.add("packet of 256 bytes, hardware descriptors", 17, packet(v3, 256));
  t.add("semaphore write of 4 bytes", 9, packet(v3, 4), "ns", "1.7 ns: below the resolution of the profile");
  const CostModel costs(v3);
  const DmaCost hardware = costs.dma(load(128, 2048), Engine::SP), software = costs.dma(load(128, 2048), Engine::POOL);
  t.add("trigger on Sync", 571, ticksToNs(hardware.issue));
  t.add("trigger on GpSimd, interval", 583, ticksToNs(software.issue));
  t.add("trigger to first packet, hardware descriptors", 1330, ticksToNs(hardware.startup));
  t.add("trigger to first packet, software descriptors", 695, ticksToNs(software.startup));
  Program p("trn2");
  signal(p.add(Engine::SP, load(128, 2048)), 0, 16);
  wait(p.add(Engine::DVE, copy(sbuf(128, DType::F32), psum(128))), 0, 16);
  Timeline timeline = p.run();
  t.add("last packet to the release of a waiting engine", 380,
        ticksToNs(p.time(timeline, Engine::DVE, 0).start - timeline.transfers[0].lastPacket));
  t.add("store of 256 KiB, trigger to release", 2047,
        ticksToNs(timeline.commands.empty() ? 0 : hardware.latency()) + 35, "ns",
        "start-up (1,330) and completion (380) leave 337 ns for its packets, less than their wire time: its start-up "
        "was a software "
        "one or overlapped");
  t.add("short bursts of 4 KiB packets", 248.5, rate("trn2", 4, 4096), "GB/s",
        "a short burst meets start-up effects of the engines that the sustained law does not have (device guide §5)");
  t.add("64 KiB as 128 x 512 bytes", 157, rate("trn2", 1, 512), "GB/s", "a short burst, as above");
  t.add("131 KB as packets of 256 bytes", 124, rate("trn2", 4, 256), "GB/s");
  t.section("DMA", "trn2", "5");
  t.add("sustained, tiles of 128 x 1,024 bytes", 259, rate("trn2", 64, 1024), "GB/s");
  t.add("sustained, tiles of 128 x 4,096 bytes", 354, rate("trn2", 16, 4096), "GB/s");
  isa::DmaCopy four = load(4, 8192);
  t.add("[4, 4096] bf16 on one engine", 1416, ticksToNs(costs.dma(four, Engine::SP).shares[0].startOf(9)));
  isa::DmaCopy square = load(128, 256);
  t.add("[128, 128] bf16 over 16 engines", 468, ticksToNs(costs.dma(square, Engine::SP).transfer), "ns",
        "the documented picture staggers the engines; the packet law gives each 8 packets of 256 bytes back to back");
  t.section("DMA", "inf2", "11.4");
  t.add("packet of 4,096 bytes", 164, packet(v2, 4096));
  t.add("packet of 2,048 bytes", 89, packet(v2, 2048));
  t.add("packet of 1,024 bytes", 94, packet(v2, 1024), "ns", kSmallPackets);
  t.add("packet of 512 bytes", 56, packet(v2, 512), "ns", kSmallPackets);
  t.add("semaphore write of 4 bytes", 7, packet(v2, 4));
}

void addV2(Table &t) {
  t.section("Tensor engine", "inf2", "11.4");
  const std::pair<unsigned, double> points[] = {{8, 145},   {24, 151},  {104, 189}, {152, 202}, {192, 218}, {280, 244},
                                                {320, 261}, {368, 279}, {408, 292}, {456, 309}, {496, 324}, {512, 350}};
  for (auto [columns, measured] : points)
    t.add(absl::StrFormat("matmul fp16, %u columns, duration", columns), measured,
          t.duration(matmul(columns, DType::F16), Engine::PE));
  const CostModel upper(*isa::device("inf2"), WeightLoads::Measured);
  t.add("load of 128 x 128 fp16 weights, upper bound reading", 83,
        ticksToNs(upper.compute(matmul(128, DType::F16), Engine::PE).weightLoad));
  t.section("Scalar engine", "inf2", "11.4");
  const isa::Instruction evict = activation(isa::ActivationFunc::Copy, sbuf(512, DType::F32), psum(512));
  const ComputeCost cost = t.costs().compute(evict, Engine::ACT);
  t.add("copy PSUM to SBUF fp32, 512, pipelined", 453, ticksToNs(cost.latency));
  t.add("copy PSUM to SBUF fp32, 512, first of a chain", 522, ticksToNs(cost.latency + cost.chainStart));
  t.add("load of an activation table set", 368, t.duration(isa::ActTableLoad{}, Engine::ACT));
  t.section("Scalar engine", "inf2", "11.2");
  Program p("inf2");
  for (int i = 0; i < 4; ++i)
    p.add(Engine::ACT, activation(isa::ActivationFunc::Copy, sbuf(1, DType::F32), sbuf(1, DType::F32)));
  Timeline timeline = p.run();
  t.add("interval of dependent one-element instructions", 189,
        ticksToNs(p.time(timeline, Engine::ACT, 3).start - p.time(timeline, Engine::ACT, 2).start));
  t.section("Sequencers", "inf2", "11.4");
  t.add("event semaphore instruction", 15.5, t.interval(isa::SemaphoreWait{}, Engine::SP));
  t.section("Launch", "trn2", "11.3");
  t.add("fixed time around a run", 15300, ticksToNs(t.costs().launch()));
}

/// out[128, N] = a[128, 128]^T b[128, N] in fp16 on Inferentia2, as the measured programs did it: two loads, matmuls of
/// 512 columns, copies by Scalar, one store per tile.
double smallMatmul(unsigned columns) {
  Program p("inf2");
  signal(p.add(Engine::SP, load(128, 256)), 0, 16);
  isa::DmaCopy moving = load(128, columns * 2);
  moving.dst.address = 4096;
  signal(p.add(Engine::SP, moving), 1, 16);
  wait(p.add(Engine::PE, isa::SemaphoreWait{}), 0, 16);
  unsigned tile = 0;
  for (unsigned at = 0; at < columns; at += 512, ++tile) {
    const unsigned n = std::min(512u, columns - at);
    isa::NcMatmul inst = matmul(n, DType::F16, tile);
    inst.moving.address = 4096 + at * 2;
    isa::Command &compute = p.add(Engine::PE, inst);
    if (at == 0)
      wait(compute, 1, 16);
    signal(compute, 2, 1);
    const AP result = sbuf(n, DType::F16, 65536 + at * 2);
    isa::Command &evict = p.add(Engine::ACT, activation(isa::ActivationFunc::Copy, result, psum(n, tile)));
    wait(evict, 2, tile + 1);
    signal(evict, 3, 1);
    isa::DmaCopy store;
    store.dst = hbm(0, 128, n, DType::F16);
    store.src = result;
    wait(p.add(Engine::SP, store), 3, tile + 1);
  }
  return ticksToNs(p.run().end);
}

/// TFLOP/s of back-to-back matmuls.
double matmulRate(unsigned count) {
  Program p("trn2");
  for (unsigned i = 0; i < count; ++i)
    p.add(Engine::PE, matmul(512, DType::BF16, i % 8));
  return 2.0 * count * 128 * 128 * 512 / ticksToNs(p.run().end) / 1e3;
}

/// Cycles per group of four matmuls: four sections of 512 matmuls with 32 rows of output, 64 columns, 32 rows of
/// contraction, and full.
double mixedTiles() {
  Program p("trn2");
  for (int section = 0; section < 4; ++section)
    for (int i = 0; i < 512; ++i) {
      isa::NcMatmul inst = matmul(section == 1 ? 64 : 512, DType::BF16, static_cast<unsigned>(i) % 8);
      if (section == 0) {
        inst.stationary.dims[0].count = 32;
        inst.dst.partitions = 32;
      }
      if (section == 2)
        inst.stationary.partitions = inst.moving.partitions = 32;
      p.add(Engine::PE, inst);
    }
  return ticksToNs(p.run().end) * 2.4 / 512;
}

void addKernels(Table &t) {
  t.section("Whole programs (checks, not fitted)", "trn2", "3.6");
  t.add("2,048 matmuls 128 x 128 x 512 bf16", 77.2, matmulRate(2048), "TFLOP/s");
  t.add(
      "groups of four mixed small tiles", 2122, mixedTiles(), "cycles",
      "half-filled arrays seem to run at half clock; the ramp counts busy time, not filled rows (device guide §9.12)");
  t.section("Whole programs (checks, not fitted)", "inf2", "11.4");
  const std::pair<unsigned, double> points[] = {{136, 5000}, {512, 6050}, {1024, 7230}, {2048, 10270}};
  for (auto [columns, measured] : points)
    t.add(absl::StrFormat("[128,128] x [128,%u] fp16, first trigger to last store", columns), measured,
          smallMatmul(columns));
}

} // namespace

std::vector<Measurement> compareWithMeasurements() {
  Table table;
  addTensorV3(table);
  addScalarV3(table);
  addVectorV3(table);
  addHandOffs(table);
  addDma(table);
  addV2(table);
  addKernels(table);
  return table.rows;
}

double medianError(const std::vector<Measurement> &rows) {
  std::vector<double> errors;
  for (const Measurement &row : rows)
    errors.push_back(std::abs(row.error()));
  if (errors.empty())
    return 0;
  std::sort(errors.begin(), errors.end());
  const size_t middle = errors.size() / 2;
  return errors.size() % 2 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
}

std::string costModelPage() {
  const std::vector<Measurement> rows = compareWithMeasurements();
  std::string page =
      "# The cost model against measured hardware\n\n"
      "Generated by `trn-cost-table`; do not edit. Measured values are those of public profiler dumps and "
      "of AWS's documents,\nas collected in the device guide (section in the last column). Predicted values "
      "come from the functions that the\ncompiler's scheduler and the emulated device use.\n\n";
  absl::StrAppendFormat(
      &page, "%u rows, median error %.1f %%, %u within 10 %%.\n", rows.size(), 100 * medianError(rows),
      std::count_if(rows.begin(), rows.end(), [](const Measurement &r) { return std::abs(r.error()) <= 0.1; }));
  const char *group = "";
  for (const Measurement &row : rows) {
    if (std::strcmp(group, row.group) != 0) {
      group = row.group;
      absl::StrAppendFormat(
          &page, "\n## %s\n\n| What | Device | Measured | Predicted | Error | Source |\n|---|---|---:|---:|---:|---|\n",
          group);
    }
    absl::StrAppendFormat(&page, "| %s | %s | %.4g %s | %.4g %s | %+.1f %% | %s |\n", row.what, row.device,
                          row.measured, row.unit, row.predicted, row.unit, 100 * row.error(), row.source);
  }
  page += "\n## Explained exceptions\n\n";
  for (const Measurement &row : rows)
    if (*row.explanation)
      absl::StrAppendFormat(&page, "- **%s** (%s, %s, %+.0f %%): %s.\n", row.what, row.device, row.group,
                            100 * row.error(), row.explanation);
  page +=
      "\nNot in the table, because no instruction of the set corresponds: DRAIN, NOTIFY, GpSimd TENSOR_LOAD, "
      "instruction "
      "fetch;\nbecause the program is not public: the fused kernels of section 11.3. The interval of a weight load is "
      "open (32 cycles\ndocumented, 95 ns measured as a duration); the simulation takes either "
      "(`TimingOptions::weightLoads`).\n";
  return page;
}

} // namespace trn::rt
