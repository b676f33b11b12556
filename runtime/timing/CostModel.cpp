//===- CostModel.cpp - what each command costs in time ---------------------===//
//
// See CostModel.h. Numbers come from isa::DeviceInfo (Devices.td) and the cost expressions of the instruction records;
// none is written here.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/CostModel.h"
#include <algorithm>
#include <cassert>
#include <numeric>

namespace trn::rt {
namespace {

int64_t clockOf(const isa::DeviceInfo &device, isa::Engine engine) {
  switch (engine) {
  case isa::Engine::PE:
    return device.peHz;
  case isa::Engine::ACT:
    return device.actHz;
  case isa::Engine::DVE:
    return device.dveHz;
  case isa::Engine::POOL:
    return device.poolHz;
  case isa::Engine::SP:
    return device.spHz;
  }
  return device.spHz;
}

/// A fixed time in picoseconds plus bytes at a rate.
Ticks transferTime(int64_t fixedPs, int64_t bytesPerUs, uint64_t bytes) {
  return nsToTicks(static_cast<double>(fixedPs) / 1e3 +
                   static_cast<double>(bytes) * 1e3 / static_cast<double>(bytesPerUs));
}

/// Elements that lie side by side, in order, from the innermost dimension on.
uint64_t contiguousElements(const isa::AP &ap) {
  uint64_t length = 1;
  for (int i = ap.rank - 1; i >= 0; --i) {
    if (ap.dims[i].count == 1)
      continue;
    if (ap.dims[i].step != static_cast<int64_t>(length))
      return length;
    length *= ap.dims[i].count;
  }
  if (ap.space == isa::Space::HBM && ap.partitions > 1 && ap.partitionStep == static_cast<int64_t>(length))
    length *= ap.partitions;
  return length;
}

/// Descriptors of a copy: a piece ends where either side's contiguous piece ends.
uint64_t countDescriptors(const isa::AP &dst, const isa::AP &src) {
  const uint64_t total = dst.elements() * dst.partitions;
  const uint64_t a = contiguousElements(dst), b = contiguousElements(src);
  if (total == 0 || total % a || total % b)
    return total;
  const uint64_t common = a / std::gcd(a, b) * b;
  const uint64_t shared = common < total && total % common == 0 ? total / common : 1;
  return total / a + total / b - shared;
}

/// The partitions of `ap` that DMA engine `engine` serves.
unsigned partitionsOf(const isa::AP &ap, unsigned engine, unsigned perEngine) {
  const unsigned first = std::max<unsigned>(ap.startPartition, engine * perEngine);
  const unsigned end = std::min<unsigned>(ap.startPartition + ap.partitions, (engine + 1) * perEngine);
  return end > first ? end - first : 0;
}

/// Does a command of DVE run in a mode that borrows GpSimd's bus: faster than its ordinary rate?
bool inFastMode(const isa::Instruction &inst, int64_t occupancy) {
  uint64_t elements = 0, inputs = 0;
  bool psum = false;
  isa::forEachOperand(inst, [&](const isa::AP &ap, const isa::OperandInfo &info) {
    elements = std::max(elements, ap.elements());
    inputs += info.role == isa::Role::In && ap.elements() > 1;
    psum |= ap.space == isa::Space::PSUM;
  });
  const uint64_t ordinary = inputs > 1 && !psum ? 2 * elements : elements;
  return static_cast<uint64_t>(occupancy) < ordinary;
}

} // namespace

Ticks packetWireTime(const isa::DeviceInfo &device, uint64_t bytes) {
  return transferTime(device.dmaPacketWirePs, device.dmaWireBytesPerUs, bytes);
}

Ticks DmaShare::startOf(uint64_t index) const {
  const uint64_t data = uint64_t(descriptors) * packetsPerDescriptor;
  if (data == 0)
    return index ? signal : 0;
  const Ticks perDescriptor = fullPacket * (packetsPerDescriptor - 1) + lastPacket;
  if (index > data)
    return perDescriptor * descriptors + signal;
  return perDescriptor * static_cast<Ticks>(index / packetsPerDescriptor) +
         fullPacket * static_cast<Ticks>(index % packetsPerDescriptor);
}

uint32_t DmaShare::bytesOf(uint64_t index) const {
  if ((index + 1) % packetsPerDescriptor == 0)
    return lastPacketBytes;
  return (descriptorBytes - lastPacketBytes) / (packetsPerDescriptor - 1);
}

int64_t PeClock::busyIn(int64_t index) const {
  const int64_t slot = index - first;
  return slot >= 0 && slot < kWindows ? busy[slot] : 0;
}

bool PeClock::fullRate(Ticks now) const { return window == 0 || 100 * busyIn(now / window - 1) >= threshold * window; }

void PeClock::addBusy(Ticks begin, Ticks end) {
  if (window == 0)
    return;
  const int64_t from = begin / window - 1; // windows before this one are never asked for again
  if (from > first) {
    const int64_t shift = std::min<int64_t>(from - first, kWindows);
    std::move(busy + shift, busy + kWindows, busy);
    std::fill(busy + kWindows - shift, busy + kWindows, 0);
    first = from;
  }
  for (int slot = 0; slot < kWindows; ++slot) {
    const Ticks windowBegin = (first + slot) * window;
    busy[slot] += std::max<Ticks>(0, std::min(end, windowBegin + window) - std::max(begin, windowBegin));
  }
}

CostModel::CostModel(const isa::DeviceInfo &device, WeightLoads weightLoads) : info(device), weightLoads(weightLoads) {
  for (unsigned e = 0; e < isa::kNumEngines; ++e)
    cycles[e] = std::llround(kTicksPerSecond / static_cast<double>(clockOf(device, isa::Engine(e))));
}

PeClock CostModel::peClock() const {
  return PeClock(info.peRampCycles * cycle(isa::Engine::PE), info.peRampBusyPercent);
}

ComputeCost CostModel::compute(const isa::Instruction &inst, isa::Engine engine) const {
  const isa::Cost cost = isa::cost(inst, info, engine);
  ComputeCost result;
  result.occupancy = cost.occupancy * cycle(engine);
  result.latency = cost.latency * cycle(engine);
  if (engine == isa::Engine::ACT)
    result.chainStart = nsToTicks(static_cast<double>(info.actChainNs));
  const auto *matmul = std::get_if<isa::NcMatmul>(&inst);
  if (matmul && matmul->loadStationary)
    result.weightLoad = weightLoad(matmul->stationary);
  return result;
}

Ticks CostModel::weightLoad(const isa::AP &stationary) const {
  const bool wide = isa::byteSize(stationary.dtype) == 4;
  const auto columns = static_cast<int64_t>(stationary.elements());
  if (weightLoads == WeightLoads::Measured)
    return nsToTicks(static_cast<double>(wide ? info.loadStationaryFp32Ns : info.loadStationaryNs));
  // fp32 weights are loaded in two halves (device guide §11.3: LOW and HIGH).
  return (columns + info.loadStationaryColumnsPerCycle - 1) / info.loadStationaryColumnsPerCycle * (wide ? 2 : 1) *
         cycle(isa::Engine::PE);
}

Ticks CostModel::handOff(isa::Engine consumer) const {
  return nsToTicks(static_cast<double>(consumer == isa::Engine::PE ? info.semaphoreToPeNs : info.semaphoreNs));
}

uint8_t CostModel::ports(const isa::Instruction &inst, isa::Engine engine) const {
  const bool dve = engine == isa::Engine::DVE, pool = engine == isa::Engine::POOL, act = engine == isa::Engine::ACT;
  if (!dve && !pool && !act)
    return 0;
  if (!info.psumPortShared && !info.sbufPortShared && !info.dveModeBusShared)
    return 0;
  bool sbuf = false, psum = false;
  isa::forEachOperand(inst, [&](const isa::AP &ap, const isa::OperandInfo &) {
    sbuf |= ap.space == isa::Space::SBUF;
    psum |= ap.space == isa::Space::PSUM;
  });
  uint8_t ports = 0;
  if (info.psumPortShared && psum && (dve || act))
    ports |= kPsumPort;
  if (info.sbufPortShared && sbuf && (dve || pool))
    ports |= kVectorBus;
  if (info.dveModeBusShared && sbuf && (pool || (dve && inFastMode(inst, isa::cost(inst, info, engine).occupancy))))
    ports |= kVectorBus;
  return ports;
}

Ticks CostModel::packetInterval(uint64_t bytes, unsigned hbmSides) const {
  const Ticks interval = transferTime(info.dmaPacketStartPs, info.dmaSustainedBytesPerUs, bytes);
  // The core's share of HBM as a static stretch, so that DMA engines stay independent (device guide §9.11).
  const Ticks memory = transferTime(0, info.hbmBytesPerUs, kDmaEngines * bytes * hbmSides);
  return std::max(interval, memory);
}

DmaShare CostModel::share(uint64_t descriptors, uint64_t descriptorBytes, unsigned hbmSides) const {
  DmaShare share;
  share.signal = packetInterval(kSignalBytes, 0);
  share.wireTime = packetWireTime(info, kSignalBytes);
  if (descriptors == 0 || descriptorBytes == 0)
    return share;
  const auto packet = static_cast<uint64_t>(info.dmaPacketBytes);
  share.descriptors = descriptors;
  share.descriptorBytes = descriptorBytes;
  share.packetsPerDescriptor = (descriptorBytes + packet - 1) / packet;
  share.lastPacketBytes = static_cast<uint32_t>(descriptorBytes - (share.packetsPerDescriptor - 1) * packet);
  share.fullPacket = packetInterval(packet, hbmSides);
  share.lastPacket = packetInterval(share.lastPacketBytes, hbmSides);
  share.wireTime += static_cast<Ticks>(descriptors) *
                    (static_cast<Ticks>(share.packetsPerDescriptor - 1) * packetWireTime(info, packet) +
                     packetWireTime(info, share.lastPacketBytes));
  return share;
}

void CostModel::finish(DmaCost &cost, isa::Engine issuer) const {
  cost.software = issuer == isa::Engine::POOL;
  cost.issue = nsToTicks(static_cast<double>(cost.software ? info.dmaSoftwareIssueNs : info.dmaIssueNs));
  cost.startup = nsToTicks(static_cast<double>(cost.software ? info.dmaSoftwareStartNs : info.dmaStartNs));
  // Measured from the last packet to the release of a waiting engine, so the hand-off is part of it.
  cost.completion = nsToTicks(static_cast<double>(info.dmaCompletionNs - info.semaphoreNs));
  for (const DmaShare &share : cost.shares)
    cost.transfer = std::max(cost.transfer, share.startOf(share.packets() - 1) + packetWireTime(info, kSignalBytes));
}

DmaCost CostModel::transfer(const isa::AP &dst, const isa::AP &src, uint64_t descriptors, isa::Engine issuer) const {
  DmaCost cost;
  const unsigned size = std::max(dst.bytes(), src.bytes());
  cost.bytes = dst.totalElements() * size;
  auto count = [](const isa::AP &ap, uint64_t &hbm, uint64_t &sbuf) {
    (ap.space == isa::Space::HBM ? hbm : sbuf) += ap.totalElements() * ap.bytes();
  };
  count(dst, cost.hbmWriteBytes, cost.sbufWriteBytes);
  count(src, cost.hbmReadBytes, cost.sbufReadBytes);
  const unsigned hbmSides = (dst.space == isa::Space::HBM) + (src.space == isa::Space::HBM);
  const isa::AP *onChip = dst.space != isa::Space::HBM ? &dst : src.space != isa::Space::HBM ? &src : nullptr;
  descriptors = std::max<uint64_t>(1, descriptors);
  for (unsigned g = 0; g < kDmaEngines; ++g) {
    if (onChip) {
      // The engine that serves the partition moves its row.
      const uint64_t rows = partitionsOf(*onChip, g, info.dmaPartitionsPerEngine);
      const uint64_t own = (descriptors * rows + onChip->partitions - 1) / onChip->partitions;
      cost.shares[g] = share(own, own ? (onChip->elements() * rows * size + own - 1) / own : 0, hbmSides);
      continue;
    }
    // Between places in HBM: packets are dealt in equal numbers.
    const uint64_t bytes = (cost.bytes + descriptors - 1) / descriptors;
    const auto packet = static_cast<uint64_t>(info.dmaPacketBytes);
    const uint64_t pieces = descriptors * ((bytes + packet - 1) / packet);
    const uint64_t own = (pieces * (g + 1)) / kDmaEngines - pieces * g / kDmaEngines;
    cost.shares[g] = share(own, (cost.bytes + pieces - 1) / pieces, hbmSides);
  }
  finish(cost, issuer);
  return cost;
}

DmaCost CostModel::dma(const isa::Instruction &inst, isa::Engine issuer) const {
  if (const auto *copy = std::get_if<isa::DmaCopy>(&inst))
    return transfer(copy->dst, copy->src, countDescriptors(copy->dst, copy->src), issuer);
  // Gather and scatter: one row of the table per index, in as many pieces as either side has.
  auto indexed = [&](const isa::AP &table, const isa::AP &onChip, bool gathers) {
    isa::AP rows = table;
    rows.partitions = onChip.partitions;
    const uint64_t pieces = countDescriptors(onChip, rows);
    return gathers ? transfer(onChip, rows, std::max<uint64_t>(pieces, onChip.partitions), issuer)
                   : transfer(rows, onChip, std::max<uint64_t>(pieces, onChip.partitions), issuer);
  };
  if (const auto *gather = std::get_if<isa::DmaGather>(&inst))
    return indexed(gather->table, gather->dst, true);
  if (const auto *scatter = std::get_if<isa::DmaScatter>(&inst))
    return indexed(scatter->table, scatter->src, false);
  assert(false && "not a DMA instruction");
  return {};
}

DmaCost CostModel::dma(uint32_t rows, uint64_t rowBytes, isa::Engine issuer) const {
  isa::AP sbuf;
  sbuf.space = isa::Space::SBUF;
  sbuf.dtype = isa::DType::U8;
  sbuf.partitions = static_cast<uint16_t>(rows);
  sbuf.rank = 1;
  sbuf.dims[0] = {1, static_cast<uint32_t>(rowBytes)};
  isa::AP hbm = sbuf;
  hbm.space = isa::Space::HBM;
  hbm.partitionStep = static_cast<int64_t>(rowBytes);
  return transfer(sbuf, hbm, rows, issuer);
}

Ticks CostModel::launch() const { return nsToTicks(static_cast<double>(info.launchNs)); }

} // namespace trn::rt
