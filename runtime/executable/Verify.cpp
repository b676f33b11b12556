//===- Verify.cpp - is an executable safe to run? -------------------------===//
//
// The rules that need the whole executable: buffers, weights, rings, semaphores, engines. What one instruction may look
// like is the records' business (isa::validate). Collects every problem.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/ExecutableFile.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trn::exe {

namespace {

constexpr size_t kMaxProblems = 50;

class Verifier {
public:
  explicit Verifier(const Executable &executable) : exe_(executable), device_(isa::device(executable.device)) {}

  absl::Status run() {
    if (!device_)
      return absl::InvalidArgumentError(absl::StrCat("unknown device '", exe_.device, "'"));
    buffers();
    bool seen[isa::kNumEngines] = {};
    for (const Program &program : exe_.programs) {
      unsigned engine = static_cast<unsigned>(program.engine);
      if (engine >= isa::kNumEngines || seen[engine]) {
        problem(absl::StrCat("engine ", engine, " does not exist or has two programs"));
        continue;
      }
      seen[engine] = true;
      for (size_t i = 0; i < program.commands.size(); ++i)
        command(program, i);
    }
    if (problems_.empty())
      return absl::OkStatus();
    if (problems_.size() > kMaxProblems) {
      size_t more = problems_.size() - kMaxProblems;
      problems_.resize(kMaxProblems);
      problems_.push_back(absl::StrCat("... and ", more, " more"));
    }
    return absl::InvalidArgumentError(absl::StrJoin(problems_, "\n"));
  }

private:
  void problem(std::string text) { problems_.push_back(std::move(text)); }

  void buffers() {
    const uint64_t hbm = static_cast<uint64_t>(device_->hbmBytesPerCoreMiB) << 20;
    for (const Buffer &buffer : exe_.buffers) {
      uint64_t bytes = isa::byteSize(buffer.dtype);
      bool overflow = bytes == 0 || !isa::isKnown(buffer.hostDtype);
      for (int64_t dim : buffer.shape)
        overflow |= dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes);
      if (overflow || bytes != buffer.bytes)
        problem(absl::StrCat("buffer '", buffer.name, "': expected ", bytes, " bytes for [",
                             absl::StrJoin(buffer.shape, ", "), "] of ", isa::name(buffer.dtype), " but got ",
                             buffer.bytes));
      if (buffer.countBuffer >= 0) {
        const Buffer *count = static_cast<size_t>(buffer.countBuffer) < exe_.buffers.size()
                                  ? &exe_.buffers[static_cast<size_t>(buffer.countBuffer)]
                                  : nullptr;
        if (buffer.kind != BufferKind::Output || buffer.countDim >= buffer.shape.size() || !count ||
            count->kind != BufferKind::Output || count->dtype != isa::DType::I32 || count->bytes != 4 ||
            count->countBuffer >= 0)
          problem(absl::StrCat("buffer '", buffer.name, "': expected a count of a dimension of an output in another ",
                               "output of one int32, but got dimension ", buffer.countDim, " and buffer ",
                               buffer.countBuffer));
      }
      if (buffer.kind == BufferKind::Weight &&
          (buffer.weightOffset > exe_.weights.bytes || buffer.bytes > exe_.weights.bytes - buffer.weightOffset))
        problem(absl::StrCat("weight '", buffer.name, "' lies outside the ", exe_.weights.bytes, " bytes of weights"));
      if (__builtin_add_overflow(total_, buffer.bytes, &total_) || total_ > hbm) {
        problem(absl::StrCat("the buffers up to '", buffer.name, "' need more than the ", hbm,
                             " bytes of HBM that one core of ", exe_.device, " has"));
        total_ = 0;
      }
    }
  }

  void command(const Program &program, size_t index) {
    const isa::Command &command = program.commands[index];
    const isa::InstInfo &info = isa::info(isa::opcode(command.inst));
    auto report = [&](const std::string &why) {
      std::string where = absl::StrCat(isa::name(program.engine), "[", index, "] ", info.mnemonic);
      if (command.debug < exe_.debug.size() && !exe_.debug[command.debug].node.empty())
        absl::StrAppend(&where, " (node '", exe_.debug[command.debug].node, "')");
      problem(absl::StrCat(where, ": ", why));
    };
    if (command.engine != program.engine || !(info.engines & isa::maskOf(program.engine)))
      report(absl::StrCat("is not an instruction of this engine"));
    if (command.debug >= std::max<size_t>(1, exe_.debug.size()))
      report(absl::StrCat("names debug entry ", command.debug, " of ", exe_.debug.size()));
    const int64_t semaphores = device_->semaphores;
    if (command.hasWait && command.wait.semaphore >= semaphores)
      report(absl::StrCat("waits for semaphore ", command.wait.semaphore, " of ", semaphores));
    if (command.hasUpdate && command.update.semaphore >= semaphores)
      report(absl::StrCat("updates semaphore ", command.update.semaphore, " of ", semaphores));
    if (info.isDma && command.ring >= device_->dmaRings)
      report(absl::StrCat("uses ring ", command.ring, " of ", device_->dmaRings));
    if (info.isDma && command.hasUpdate && command.update.add != static_cast<int>(device_->dmaEngines))
      report(absl::StrCat("a transfer adds 1 per DMA engine: expected +", device_->dmaEngines, " but got +",
                          command.update.add));
    std::vector<isa::Violation> violations;
    isa::validate(command.inst, *device_, isa::Phase::Address, violations);
    for (const isa::Violation &violation : violations)
      report(absl::StrCat(violation.message, " [rule ", violation.number, ", ", violation.source, "]"));
    if (!violations.empty())
      return; // the patterns may be ill-formed
    isa::forEachOperand(command.inst, [&](const isa::AP &ap, const isa::OperandInfo &operand) {
      if (ap.space == isa::Space::HBM)
        hbm(ap, operand, report);
    });
  }

  template <class Report> void hbm(const isa::AP &ap, const isa::OperandInfo &operand, Report &&report) {
    if (ap.buffer >= exe_.buffers.size())
      return report(absl::StrCat("operand '", operand.name, "' names buffer ", ap.buffer, " of ", exe_.buffers.size()));
    const Buffer &buffer = exe_.buffers[ap.buffer];
    int64_t rows = static_cast<int64_t>(ap.partitions) - 1, row = ap.partitionStep;
    __int128 low = ap.minOffset(), high = ap.maxOffset();
    (row < 0 ? low : high) += static_cast<__int128>(row) * rows;
    low = low * ap.bytes() + ap.address;
    high = high * ap.bytes() + ap.address + ap.bytes();
    if (low < 0 || high > static_cast<__int128>(buffer.bytes))
      report(absl::StrCat("operand '", operand.name, "' reaches bytes ", static_cast<int64_t>(low), " to ",
                          static_cast<int64_t>(high), " of buffer '", buffer.name, "' (", buffer.bytes, " bytes)"));
    bool writes = operand.role != isa::Role::In;
    if (writes && (buffer.kind == BufferKind::Weight || buffer.kind == BufferKind::Input))
      report(absl::StrCat("operand '", operand.name, "' writes '", buffer.name, "', which is read-only"));
  }

  const Executable &exe_;
  const isa::DeviceInfo *device_;
  uint64_t total_ = 0;
  std::vector<std::string> problems_;
};

} // namespace

absl::Status verifyExecutable(const Executable &executable) { return Verifier(executable).run(); }

std::string disassembleExecutable(const Executable &executable) {
  std::string out;
  for (const Program &program : executable.programs) {
    absl::StrAppend(&out, isa::name(program.engine), ":\n");
    for (size_t i = 0; i < program.commands.size(); ++i) {
      const isa::Command &command = program.commands[i];
      absl::StrAppend(&out, "  ", i, ": ", isa::disassemble(command.inst));
      if (isa::info(isa::opcode(command.inst)).isDma)
        absl::StrAppend(&out, " ring ", command.ring);
      if (command.hasWait)
        absl::StrAppend(&out, " wait S[", command.wait.semaphore, "]>=", command.wait.value);
      if (command.hasUpdate)
        absl::StrAppend(&out, " S[", command.update.semaphore, "]+=", command.update.add, "@complete");
      if (command.debug < executable.debug.size() && !executable.debug[command.debug].node.empty())
        absl::StrAppend(&out, "  ; ", executable.debug[command.debug].node);
      out += '\n';
    }
  }
  return out;
}

} // namespace trn::exe
