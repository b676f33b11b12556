//===- CostModel.h - what each command costs in time -----------------------===//
//
// Owns every formula that turns a command into time: engine occupancy and latency (through the instruction records),
// weight loads hidden behind the running matmul, hand-off between engines, shared ports, the clock ramp of the Tensor
// engine, and the packets of a DMA transfer. The event simulation (Timing.h) and the compiler's scheduler both call
// these functions and nothing else, so they cannot disagree. It has no queues and no global time.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "runtime/timing/Ticks.h"
#include <array>
#include <cstdint>

namespace trn::rt {

/// DMA engines of one core; each serves eight partitions of a 128-partition transfer (device guide §5).
constexpr unsigned kDmaEngines = 16;
/// Rings per DMA engine that any device has (Devices.td, dmaRings); arrays are this long.
constexpr unsigned kMaxRings = 16;
/// A DMA engine signals the end of its share by writing this many bytes to the semaphore (device guide §5).
constexpr unsigned kSignalBytes = 4;

/// A computing command on its engine, at full clock.
struct ComputeCost {
  Ticks occupancy = 0;  ///< until the next command of the queue can start
  Ticks latency = 0;    ///< from the start until the results are visible
  Ticks chainStart = 0; ///< added to the latency when the engine was not busy right before
  Ticks weightLoad = 0; ///< nc_matmul: loading the stationary operand, hidden while the previous matmul runs
};

/// The share of a transfer that one DMA engine moves: `descriptors` equal contiguous pieces, each cut into packets of
/// at most 4 KiB, then one 4-byte packet that signals the semaphore.
struct DmaShare {
  uint64_t descriptors = 0;
  uint64_t descriptorBytes = 0;
  uint64_t packetsPerDescriptor = 0;
  Ticks fullPacket = 0; ///< interval from the start of a full packet to the next start
  Ticks lastPacket = 0; ///< the same for the last packet of a descriptor
  uint32_t lastPacketBytes = 0;
  Ticks signal = 0;   ///< interval of the signal packet
  Ticks wireTime = 0; ///< sum over all packets of the time on the wire

  uint64_t bytes() const { return descriptors * descriptorBytes; }
  /// Packets including the signal.
  uint64_t packets() const { return descriptors * packetsPerDescriptor + 1; }
  /// From the start of packet 0 to the start of packet `index`; `packets()` gives the end of the share.
  Ticks startOf(uint64_t index) const;
  /// Bytes of data packet `index`.
  uint32_t bytesOf(uint64_t index) const;
};

/// A DMA transfer.
struct DmaCost {
  Ticks issue = 0;      ///< the issuing engine is busy
  Ticks startup = 0;    ///< from the issue to the first packet
  Ticks transfer = 0;   ///< first packet to last, with the rings to itself
  Ticks completion = 0; ///< from the last packet until the semaphore has its value (add the hand-off to a waiter)
  uint64_t bytes = 0;
  uint64_t hbmReadBytes = 0, hbmWriteBytes = 0, sbufReadBytes = 0, sbufWriteBytes = 0;
  bool software = false; ///< descriptors built by GpSimd instead of the hardware generator
  std::array<DmaShare, kDmaEngines> shares;

  /// From the issue until the semaphore has its value.
  Ticks latency() const { return startup + transfer + completion; }
};

/// The Tensor engine's clock (device guide §2.2, §9.12): in absolute windows of 8,192 cycles it runs at full rate only
/// if it was busy for at least half of the window before, otherwise at half rate. The rate is fixed at issue.
class PeClock {
public:
  /// `window` in ticks (0: no ramp), the busy share that arms the full clock in percent.
  PeClock(Ticks window, int64_t busyPercent) : window(window), threshold(busyPercent) {}
  /// Is the rate full for an instruction issued at `now`? Times never go back.
  bool fullRate(Ticks now) const;
  void addBusy(Ticks begin, Ticks end);

private:
  static constexpr int kWindows = 4; // the window before, the current one, and what one instruction can reach beyond
  int64_t busyIn(int64_t index) const;

  Ticks window;
  int64_t threshold;
  int64_t first = -1;
  Ticks busy[kWindows] = {0, 0, 0, 0};
};

/// Resources that two engines share; a command holds them while it occupies its engine (device guide §2.1.9, §9.13).
enum SharedPort : uint8_t {
  kPsumPort = 1,  ///< v2: Vector and Scalar cannot access PSUM at once
  kVectorBus = 2, ///< v2: Vector and GpSimd cannot access SBUF at once; v3 on: Vector's fast modes borrow GpSimd's bus
};
constexpr unsigned kSharedPorts = 2;

/// What loading the stationary operand costs the Tensor engine. The documents say a quarter of the moving rate, 32
/// cycles for 128 columns; profiles show 95 ns per load, of which the part that cannot overlap is unknown (device guide
/// §8, open). The measured reading is the upper bound.
enum class WeightLoads : uint8_t { Documented, Measured };

class CostModel {
public:
  explicit CostModel(const isa::DeviceInfo &device, WeightLoads weightLoads = WeightLoads::Documented);

  const isa::DeviceInfo &device() const { return info; }
  /// Ticks of one cycle of `engine`.
  Ticks cycle(isa::Engine engine) const { return cycles[static_cast<unsigned>(engine)]; }

  /// Cost of a command that is not a DMA transfer.
  ComputeCost compute(const isa::Instruction &inst, isa::Engine engine) const;
  /// Cost of a DMA instruction issued by `issuer`.
  DmaCost dma(const isa::Instruction &inst, isa::Engine issuer) const;
  /// Cost of a plain load of `rows` partitions of `rowBytes` contiguous bytes from HBM to SBUF, from partition 0 on.
  DmaCost dma(uint32_t rows, uint64_t rowBytes, isa::Engine issuer) const;

  /// From the completion of a producer until a consumer on `consumer` that waits for it starts: the semaphore's way
  /// (device guide §11.3: 35 ns, 53 ns into the Tensor engine). Also between dependent commands of one engine.
  Ticks handOff(isa::Engine consumer) const;
  /// The set of SharedPort that `inst` holds on `engine`.
  uint8_t ports(const isa::Instruction &inst, isa::Engine engine) const;
  PeClock peClock() const;
  /// The fixed time around a run (device guide §11.3: preamble and epilogue), not part of any program.
  Ticks launch() const;

private:
  DmaCost transfer(const isa::AP &dst, const isa::AP &src, uint64_t descriptors, isa::Engine issuer) const;
  DmaShare share(uint64_t descriptors, uint64_t descriptorBytes, unsigned hbmSides) const;
  Ticks packetInterval(uint64_t bytes, unsigned hbmSides) const;
  Ticks weightLoad(const isa::AP &stationary) const;
  void finish(DmaCost &cost, isa::Engine issuer) const;

  const isa::DeviceInfo &info;
  WeightLoads weightLoads;
  Ticks cycles[isa::kNumEngines];
};

/// Time that a packet of `bytes` is on the wire.
Ticks packetWireTime(const isa::DeviceInfo &device, uint64_t bytes);

} // namespace trn::rt
