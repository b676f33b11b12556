//===- Session.cpp - one execution context of a loaded executable ---------===//
#include "runtime/src/Session.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/check/Check.h"
#include "runtime/emulator/Functional.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/src/HostTypes.h"
#include <mutex>
#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace trn::rt {

namespace {

/// Zeroed memory of the host that stands for one buffer; aligned for vector loads.
class HostMemory {
public:
  bool allocate(uint64_t bytes) {
    data_.reset(static_cast<uint8_t *>(std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64)));
    if (data_)
      std::memset(data_.get(), 0, bytes);
    return data_ != nullptr;
  }
  uint8_t *get() const { return data_.get(); }

private:
  struct Free {
    void operator()(uint8_t *data) const { std::free(data); }
  };
  std::unique_ptr<uint8_t, Free> data_;
};

class EmulatedSession final : public Session {
public:
  EmulatedSession(std::shared_ptr<const exe::Executable> executable, const SessionOptions &options)
      : Session(std::move(executable)), options_(options) {}

  absl::Status start();
  absl::Status writeInput(size_t i, absl::Span<const uint8_t> data) override;
  absl::Status execute() override;
  absl::StatusOr<std::vector<int64_t>> outputShape(size_t i) const override;
  absl::Status readOutput(size_t i, absl::Span<uint8_t> data) const override;
  std::vector<std::vector<int32_t>> decisions() const override;
  void cancel() override { cancelled_ = true; }

private:
  absl::Status checkExecuted() const;
  /// outputShape for who holds `running_`.
  std::vector<int64_t> validShape(size_t i) const;

  SessionOptions options_;
  std::vector<HostMemory> memory_; ///< per buffer; weights have none
  std::vector<HbmBuffer> bound_;
  std::vector<bool> written_; ///< per input
  std::unique_ptr<FunctionalPlan> plan_;
  RunStatistics last_; ///< of the last execution that came to its end
  std::atomic<bool> cancelled_{false};
  bool executed_ = false; ///< whether the last execution came to its end, so that there are outputs
  mutable std::mutex running_; ///< held while memory is written or read
};

absl::Status EmulatedSession::start() {
  if (options_.check) {
    CheckReport report = check(*executable_);
    if (!report.ok())
      return absl::FailedPreconditionError(report.str());
  }
  if (absl::Status status = exe::verifyWeights(*executable_); !status.ok())
    return status;
  const std::vector<exe::Buffer> &buffers = executable_->buffers;
  memory_.resize(buffers.size());
  bound_.resize(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].kind == exe::BufferKind::Weight)
      continue; // stays where the executable has it
    if (!memory_[i].allocate(buffers[i].bytes))
      return absl::ResourceExhaustedError(
          absl::StrCat("buffer '", buffers[i].name, "' of ", buffers[i].bytes, " bytes does not fit host memory"));
    bound_[i] = {memory_[i].get(), buffers[i].bytes};
  }
  written_.assign(inputs_.size(), false);
  absl::StatusOr<HostPath> path = chooseHostPath();
  if (!path.ok())
    return path.status();
  CoreOptions core;
  core.path = *path;
  core.threads = options_.threads;
  absl::StatusOr<std::unique_ptr<FunctionalPlan>> plan = FunctionalPlan::create(*executable_, core);
  if (!plan.ok())
    return plan.status();
  plan_ = std::move(*plan);
  return absl::OkStatus();
}

absl::Status checkIndex(size_t i, size_t count, const char *what) {
  return i < count ? absl::OkStatus()
                   : absl::InvalidArgumentError(absl::StrCat("expected an ", what, " below ", count, " but got ", i));
}

absl::Status EmulatedSession::writeInput(size_t i, absl::Span<const uint8_t> data) {
  if (absl::Status status = checkIndex(i, inputs_.size(), "input"); !status.ok())
    return status;
  const exe::Buffer &to = buffer(inputs_[i]);
  if (data.size() != hostBytes(inputs_[i]))
    return absl::InvalidArgumentError(
        absl::StrCat("input '", to.name, "': expected ", hostBytes(inputs_[i]), " bytes but got ", data.size()));
  std::unique_lock<std::mutex> lock(running_, std::try_to_lock);
  if (!lock)
    return absl::AbortedError("the instance is executing");
  uint64_t elements = to.bytes / isa::byteSize(to.dtype);
  absl::Status status =
      toDevice(data.data(), to.hostDtype, bound_[inputs_[i]].data, to.dtype, elements, absl::StrCat("input ", to.name));
  written_[i] = status.ok(); // what was there before is overwritten in part
  return status;
}

absl::Status EmulatedSession::checkExecuted() const {
  return executed_ ? absl::OkStatus()
                   : absl::InvalidArgumentError("there are no outputs: no execution has come to its end");
}

absl::Status EmulatedSession::execute() {
  std::unique_lock<std::mutex> lock(running_, std::try_to_lock);
  if (!lock)
    return absl::AbortedError("the instance is executing");
  for (size_t i = 0; i < written_.size(); ++i)
    if (!written_[i])
      return absl::InvalidArgumentError(absl::StrCat("input '", buffer(inputs_[i]).name, "' has no value"));
  cancelled_ = false;
  executed_ = false;
  RunLimits limits;
  limits.cancel = &cancelled_;
  if (options_.timeoutSeconds > 0)
    limits.timeout = absl::Seconds(options_.timeoutSeconds);
  absl::StatusOr<RunStatistics> statistics = plan_->run(bound_, limits);
  executed_ = statistics.ok();
  last_ = statistics.ok() ? std::move(*statistics) : RunStatistics();
  return statistics.status();
}

std::vector<std::vector<int32_t>> EmulatedSession::decisions() const {
  std::vector<std::vector<int32_t>> found;
  for (const exe::Program &program : executable_->programs)
    found.push_back(last_.found[size_t(program.engine)]);
  return found;
}

std::vector<int64_t> EmulatedSession::validShape(size_t i) const {
  const exe::Buffer &of = buffer(outputs_[i]);
  std::vector<int64_t> shape = of.shape;
  if (of.countBuffer < 0)
    return shape;
  int32_t count = 0;
  std::memcpy(&count, bound_[static_cast<size_t>(of.countBuffer)].data, sizeof count);
  shape[of.countDim] = std::clamp<int64_t>(count, 0, shape[of.countDim]);
  return shape;
}

absl::StatusOr<std::vector<int64_t>> EmulatedSession::outputShape(size_t i) const {
  if (absl::Status status = checkIndex(i, outputs_.size(), "output"); !status.ok())
    return status;
  std::unique_lock<std::mutex> lock(running_, std::try_to_lock);
  if (!lock)
    return absl::AbortedError("the instance is executing");
  if (absl::Status status = checkExecuted(); !status.ok())
    return status;
  return validShape(i);
}

absl::Status EmulatedSession::readOutput(size_t i, absl::Span<uint8_t> data) const {
  if (absl::Status status = checkIndex(i, outputs_.size(), "output"); !status.ok())
    return status;
  const exe::Buffer &from = buffer(outputs_[i]);
  std::unique_lock<std::mutex> lock(running_, std::try_to_lock);
  if (!lock)
    return absl::AbortedError("the instance is executing");
  if (absl::Status status = checkExecuted(); !status.ok())
    return status;
  std::vector<int64_t> shape = validShape(i);
  if (uint64_t expected = outputBytes(i, shape); data.size() != expected)
    return absl::InvalidArgumentError(
        absl::StrCat("output '", from.name, "': expected ", expected, " bytes but got ", data.size()));
  uint64_t elements = data.size() / isa::byteSize(from.hostDtype);
  const uint8_t *valid = bound_[outputs_[i]].data;
  std::vector<uint8_t> packed;
  if (elements * isa::byteSize(from.dtype) != from.bytes && elements > 0) {
    // What is valid of each row, side by side.
    uint64_t row = isa::byteSize(from.dtype), rows = 1;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      (dim < from.countDim ? rows : row) *= static_cast<uint64_t>(dim == from.countDim ? 1 : shape[dim]);
    uint64_t kept = row * static_cast<uint64_t>(shape[from.countDim]);
    uint64_t step = row * static_cast<uint64_t>(from.shape[from.countDim]);
    for (uint64_t at = 0; at < rows; ++at)
      packed.insert(packed.end(), valid + at * step, valid + at * step + kept);
    valid = packed.data();
  }
  return toHost(valid, from.dtype, data.data(), from.hostDtype, elements,
                absl::StrCat("output ", from.name));
}

} // namespace

Session::Session(std::shared_ptr<const exe::Executable> executable) : executable_(std::move(executable)) {
  for (uint32_t i = 0; i < executable_->buffers.size(); ++i) {
    if (executable_->buffers[i].kind == exe::BufferKind::Input)
      inputs_.push_back(i);
    else if (executable_->buffers[i].kind == exe::BufferKind::Output && !executable_->isCount(i))
      outputs_.push_back(i);
  }
}

uint64_t Session::hostBytes(uint32_t index) const {
  const exe::Buffer &which = buffer(index);
  return which.bytes / isa::byteSize(which.dtype) * isa::byteSize(which.hostDtype);
}

uint64_t Session::outputBytes(size_t i, absl::Span<const int64_t> shape) const {
  uint64_t bytes = isa::byteSize(buffer(outputs_[i]).hostDtype);
  for (int64_t dim : shape)
    bytes *= static_cast<uint64_t>(dim);
  return bytes;
}

absl::StatusOr<std::unique_ptr<Session>> Session::create(std::shared_ptr<const exe::Executable> executable,
                                                         const SessionOptions &options) {
  auto session = std::make_unique<EmulatedSession>(std::move(executable), options);
  if (absl::Status status = session->start(); !status.ok())
    return status;
  return std::unique_ptr<Session>(std::move(session));
}

} // namespace trn::rt
