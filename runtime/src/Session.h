//===- Session.h - one execution context of a loaded executable -----------===//
//
// Owns device memory (HBM buffers, the core) for one executable and runs it. The C API and trnc are thin layers over
// this class. One execution at a time; `cancel` may be called from any thread.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/executable/Executable.h"
#include <atomic>
#include <memory>

namespace trn::rt {

struct SessionOptions {
  unsigned threads = 1;
  /// Refuse programs with races, unset reads, deadlocks or leftover semaphores before the first run.
  bool check = true;
  /// Wall-clock limit of one execution in seconds; 0 = none.
  double timeoutSeconds = 0;
};

class Session {
public:
  /// Takes the memory that `executable` needs and places its weights. Errors: FailedPrecondition when the checker finds
  /// a problem, ResourceExhausted when host memory does not suffice.
  static absl::StatusOr<std::unique_ptr<Session>> create(std::shared_ptr<const exe::Executable> executable,
                                                         const SessionOptions &options);
  virtual ~Session() = default;

  const exe::Executable &executable() const { return *executable_; }
  /// Buffers of the model's inputs and outputs, in the model's order.
  absl::Span<const uint32_t> inputs() const { return inputs_; }
  absl::Span<const uint32_t> outputs() const { return outputs_; }
  const exe::Buffer &buffer(uint32_t index) const { return executable_->buffers[index]; }
  /// Size in bytes of the host's tensor of an input or output; of an output whose size the run decides, the largest.
  uint64_t hostBytes(uint32_t index) const;

  /// Copies a whole host tensor into input `i` (0-based among the inputs). InvalidArgument on a wrong size or value.
  virtual absl::Status writeInput(size_t i, absl::Span<const uint8_t> data) = 0;
  /// Runs the program once. FailedPrecondition when an input was never written; Aborted when another execution runs.
  virtual absl::Status execute() = 0;
  /// The shape of output `i` after the last execution: that of its buffer, unless the run decides how much is valid.
  /// Aborted while an execution runs.
  virtual absl::StatusOr<std::vector<int64_t>> outputShape(size_t i) const = 0;
  /// Size in bytes of a host tensor of output `i` with that shape.
  uint64_t outputBytes(size_t i, absl::Span<const int64_t> shape) const;
  /// Copies output `i`, of the bytes of its shape, out as the host sees it. Aborted while an execution runs, as for writeInput.
  virtual absl::Status readOutput(size_t i, absl::Span<uint8_t> data) const = 0;
  /// What the `register_load`s of each program found in the last execution, in their order: the way that it went
  /// (rt::Path::found). Not to be asked while an execution runs.
  virtual std::vector<std::vector<int32_t>> decisions() const = 0;
  /// Asks a running execution to stop; it returns Cancelled.
  virtual void cancel() = 0;

protected:
  explicit Session(std::shared_ptr<const exe::Executable> executable);

  std::shared_ptr<const exe::Executable> executable_;
  std::vector<uint32_t> inputs_, outputs_;
};

} // namespace trn::rt
