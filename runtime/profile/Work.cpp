//===- Work.cpp - the algorithmic work of an executable ----------------------===//
//
// See Work.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/profile/Work.h"
#include "absl/strings/numbers.h"
#include <algorithm>
#include <vector>

namespace trn::rt {
namespace {

uint64_t passesOf(const isa::NcMatmul &matmul) {
  return matmul.stationary.dtype == isa::DType::F32 || matmul.moving.dtype == isa::DType::F32 ? 4 : 1;
}

class Counter {
public:
  Counter(const exe::Executable &exe, const isa::DeviceInfo &device)
      : exe(exe), device(device), read(exe.buffers.size()), written(exe.buffers.size()) {}

  Work run() {
    for (const exe::Program &program : exe.programs)
      for (const isa::Command &command : program.commands)
        count(command);
    for (size_t i = 0; i < exe.buffers.size(); ++i) {
      const exe::Buffer &buffer = exe.buffers[i];
      if (buffer.kind == exe::BufferKind::Weight)
        work.weightBytes += buffer.bytes;
      if (buffer.kind == exe::BufferKind::Weight || buffer.kind == exe::BufferKind::Input)
        work.compulsoryBytes += std::min(buffer.bytes, read[i]);
      if (buffer.kind == exe::BufferKind::Output)
        work.compulsoryBytes += std::min(buffer.bytes, written[i]);
    }
    work.modelMacs = work.macs;
    auto fact = exe.build.find("model_macs");
    if (uint64_t macs; fact != exe.build.end() && absl::SimpleAtoi(fact->second, &macs) && macs > 0) {
      work.modelMacs = macs;
      work.macsFromBuild = true;
    }
    return work;
  }

private:
  void count(const isa::Command &command) {
    if (const auto *matmul = std::get_if<isa::NcMatmul>(&command.inst)) {
      work.peCycles += isa::cost(command.inst, device, isa::Engine::PE).occupancy;
      return countMatmul(*matmul);
    }
    if (const auto *transpose = std::get_if<isa::NcTranspose>(&command.inst)) {
      work.transposeMacs += transpose->src.totalElements() * transpose->src.partitions;
      return;
    }
    if (isa::info(isa::opcode(command.inst)).isDma)
      return countTransfer(command.inst);
    const auto *activation = std::get_if<isa::Activation>(&command.inst);
    uint64_t elements = 0;
    bool emptiesPsum = false;
    isa::forEachOperand(command.inst, [&](const isa::AP &ap, const isa::OperandInfo &info) {
      elements = std::max(elements, ap.totalElements());
      emptiesPsum |= isa::reads(info.role) && ap.space == isa::Space::PSUM;
    });
    if (activation && isa::info(activation->func).tableSet != 0)
      work.transcendentals += elements;
    else if (!emptiesPsum)
      work.elementwise += elements;
  }

  void countMatmul(const isa::NcMatmul &matmul) {
    const uint64_t macs = matmul.stationary.totalElements() * matmul.moving.elements();
    ++work.matmuls;
    work.macs += macs;
    work.weightedMacs += macs * passesOf(matmul);
    if (!matmul.accumulate)
      work.psumElements += matmul.dst.totalElements();
  }

  void countTransfer(const isa::Instruction &inst) {
    // An indexed table is touched by as many rows as there are indices.
    if (const auto *gather = std::get_if<isa::DmaGather>(&inst))
      return add(read, gather->table.buffer, gather->dst.totalElements() * gather->dst.bytes());
    if (const auto *scatter = std::get_if<isa::DmaScatter>(&inst))
      return add(written, scatter->table.buffer, scatter->src.totalElements() * scatter->src.bytes());
    isa::forEachOperand(inst, [&](const isa::AP &ap, const isa::OperandInfo &info) {
      if (ap.space != isa::Space::HBM)
        return;
      const uint64_t rows = ap.partitionStep == 0 ? 1 : ap.partitions; // a repeated row is needed once
      add(info.role == isa::Role::In ? read : written, ap.buffer, ap.elements() * rows * ap.bytes());
    });
  }

  static void add(std::vector<uint64_t> &bytes, uint32_t buffer, uint64_t amount) {
    if (buffer < bytes.size())
      bytes[buffer] += amount;
  }

  const exe::Executable &exe;
  const isa::DeviceInfo &device;
  Work work;
  std::vector<uint64_t> read, written;
};

} // namespace

/// Bytes per second of all DMA engines with full packets.
static double sustainedDma(const isa::DeviceInfo &device) {
  const double packet = static_cast<double>(device.dmaPacketBytes);
  const double interval = static_cast<double>(device.dmaPacketStartPs) * 1e-12 +
                          packet / (static_cast<double>(device.dmaSustainedBytesPerUs) * 1e6);
  return static_cast<double>(device.dmaEngines) * packet / interval;
}

Work countWork(const exe::Executable &exe, const isa::DeviceInfo &device) { return Counter(exe, device).run(); }

Limits limitsOf(const Work &work, const isa::DeviceInfo &device) {
  const double lanes = static_cast<double>(device.partitions);
  const double pe = static_cast<double>(device.peHz), act = static_cast<double>(device.actHz),
               dve = static_cast<double>(device.dveHz);
  Limits limits;
  limits.pe = static_cast<double>(work.modelMacs) * work.passes() / (lanes * lanes) / pe;
  limits.hbm = static_cast<double>(work.compulsoryBytes) / (static_cast<double>(device.hbmBytesPerUs) * 1e6);
  // Where the port is shared the faster reader alone empties PSUM, elsewhere both do.
  limits.psum =
      static_cast<double>(work.psumElements) / lanes / (device.psumPortShared ? std::max(act, dve) : act + dve);
  limits.act = static_cast<double>(work.transcendentals) / lanes / act;
  // The rest at Vector's best rate, balanced over Vector and what Scalar has left.
  const double best = dve * (device.dvePerformanceModes ? 4 : 1);
  const double elementwise = static_cast<double>(work.elementwise) / lanes;
  limits.dve = std::min(elementwise / best, (elementwise + limits.act * act) / (best + act));
  limits.practical = std::max({limits.psum, limits.act, limits.dve, limits.hbm, static_cast<double>(work.peCycles) / pe,
                               static_cast<double>(work.compulsoryBytes) / sustainedDma(device)});
  return limits;
}

} // namespace trn::rt
