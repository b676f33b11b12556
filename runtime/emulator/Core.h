//===- Core.h - one emulated core ----------------------------------------------===//
//
// Owns the state of a core: SBUF, PSUM, the binding of HBM buffers, the host kernels and threads that work on them. It
// is the only place that turns an access pattern into host addresses, and it checks every pattern completely: whatever
// bytes an executable holds, an instruction cannot touch memory outside the arrays and buffers of its core.
// Refuses to know queues, semaphores or executables (Functional.h).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dialects/Trn/ISA/ISA.h"
#include "runtime/emulator/HostPath.h"
#include "runtime/emulator/Memory.h"
#include "runtime/emulator/RunWatch.h"
#include "runtime/emulator/ThreadPool.h"
#include "runtime/emulator/View.h"
#include <memory>
#include <vector>

namespace trn::rt {

/// Host memory that stands for one buffer in HBM during a run.
struct HbmBuffer {
  uint8_t *data = nullptr;
  uint64_t bytes = 0;
};

/// What is known of a buffer in HBM before a run.
struct HbmDeclaration {
  uint64_t bytes = 0;
  /// False for weights and inputs: they may lie in read-only memory.
  bool writable = true;
};

struct CoreOptions {
  HostPath path = HostPath::Scalar;
  /// Threads that work on one large instruction, the caller's included. Results do not depend on it.
  unsigned threads = 1;
  /// Keeps a shadow of every on-chip byte: reading one that was never written is an error.
  bool checkPoison = false;
};

enum class AccessMode : uint8_t { Read, Write };

class Core {
public:
  static absl::StatusOr<std::unique_ptr<Core>> create(const isa::DeviceInfo &device, const CoreOptions &options);

  const isa::DeviceInfo &device() const { return deviceInfo; }
  const CoreOptions &options() const { return coreOptions; }
  const Kernels &kernels() const { return *kernelTable; }
  ThreadPool &pool() const { return *threadPool; }

  /// What may end the current run. Steps hold on to it.
  const RunWatch &watch() const { return runWatch; }
  void setWatch(const RunWatch &watch) { runWatch = watch; }

  /// Sets the buffers that access patterns in HBM may name. Views made before are void.
  void declareHbm(absl::Span<const HbmDeclaration> buffers);
  /// Gives the declared buffers their memory for the next run; too few or too small ones are an error.
  absl::Status bindHbm(absl::Span<const HbmBuffer> buffers);
  uint64_t hbmBytes(uint32_t buffer) const { return declarations[buffer].bytes; }

  /// Gives on-chip buffers that have no address yet host memory of their own, for evaluation before allocation: an
  /// on-chip access pattern with buffer n > 0 then lies in buffers[n - 1], whose partitions are `bytes` apart. An
  /// executable has none, so that its patterns must have addresses. Views made before are void.
  struct LooseBuffer {
    uint8_t *data = nullptr;
    uint32_t partitions = 0;
    uint64_t bytes = 0; ///< of one partition
  };
  void bindLoose(absl::Span<const LooseBuffer> buffers);

  /// SBUF or PSUM, for tests and for evaluation outside of an executable.
  const Memory &memory(isa::Space space) const { return space == isa::Space::PSUM ? psum : sbuf; }

  /// SBUF and PSUM to poison, as at the start of every execution. Only columns that markWritten was told of are filled.
  void reset();

  /// Resolves and checks an operand. Bounds, rank, element type, buffer index and writability: all of them, always.
  absl::StatusOr<View> view(const isa::AP &ap, AccessMode access) const;

  //===--------------------------------------------------------------------===//
  // Versions of columns, for caches of converted operands and for reset
  //===--------------------------------------------------------------------===//

  /// Tells that an instruction is about to write through `view`: call it before, so that a failing one counts too.
  void markWritten(const View &view);
  /// The time of the last write to any byte column that `view` covers, or of the last reset.
  uint64_t version(const View &view) const;

  //===--------------------------------------------------------------------===//
  // Shadow memory, with CoreOptions::checkPoison
  //===--------------------------------------------------------------------===//

  /// An error if an element of `view` was never written; HBM is always written.
  absl::Status checkWritten(const View &view) const;
  void shadowWritten(const View &view);

private:
  Core(const isa::DeviceInfo &device, const CoreOptions &options, Memory sbuf, Memory psum);
  absl::StatusOr<View> onChipView(const isa::AP &ap, const Memory &memory, uint8_t *const *origin) const;
  /// Whether versions and shadows are kept of what `view` shows: neither of HBM nor of loose buffers.
  bool isTracked(const View &view) const { return view.origin == &sbufOrigin || view.origin == &psumOrigin; }
  absl::StatusOr<View> hbmView(const isa::AP &ap, AccessMode access) const;

  const isa::DeviceInfo &deviceInfo;
  CoreOptions coreOptions;
  const Kernels *kernelTable;
  std::unique_ptr<ThreadPool> threadPool;
  RunWatch runWatch;
  Memory sbuf, psum;
  uint8_t *sbufOrigin, *psumOrigin;
  std::vector<HbmDeclaration> declarations;
  std::vector<uint8_t *> hbmOrigins;
  std::vector<LooseBuffer> loose;
  /// One entry per kGranule bytes of a partition, all partitions together.
  std::vector<uint64_t> sbufVersions, psumVersions;
  uint64_t writeClock = 0, lastReset = 0;
  /// One byte per on-chip byte, empty without checkPoison.
  std::vector<uint8_t> sbufShadow, psumShadow;
};

} // namespace trn::rt
