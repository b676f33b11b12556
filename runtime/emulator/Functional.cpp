//===- Functional.cpp - running an executable's numbers --------------------------===//
//
// Owns the interpretation of the queues: semaphores, registers, branches, the joining of matmuls, and the errors that
// name the ONNX node.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Functional.h"
#include "absl/strings/str_cat.h"
#include "runtime/emulator/FpControl.h"
#include "runtime/emulator/Matmul.h"
#include "runtime/emulator/Rows.h"
#include "runtime/emulator/Step.h"
#include "runtime/executable/Registers.h"
#include "runtime/timing/Operands.h"

namespace trn::rt {

/// Bytes of packed matmul operands that are kept between instructions.
static constexpr uint64_t kPackBudget = 24u << 20;
/// Instructions between two looks at the clock and the cancel flag.
static constexpr uint64_t kPollInterval = 64;

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static Step nothing() {
  return [] { return absl::OkStatus(); };
}
absl::StatusOr<Step> decode(Core &, const isa::SemaphoreWait &, isa::Engine) { return nothing(); }
absl::StatusOr<Step> decode(Core &, const isa::Nop &, isa::Engine) { return nothing(); }
absl::StatusOr<Step> decode(Core &, const isa::RegisterMove &, isa::Engine) { return nothing(); }
absl::StatusOr<Step> decode(Core &, const isa::RegisterAdd &, isa::Engine) { return nothing(); }
absl::StatusOr<Step> decode(Core &, const isa::Branch &, isa::Engine) { return nothing(); }
absl::StatusOr<Step> decode(Core &, const isa::Loop &, isa::Engine) { return nothing(); }
absl::StatusOr<Step> decode(Core &, const isa::Barrier &, isa::Engine) { return nothing(); }
/// The queue reads the element itself (readInteger), because the register is its own.
absl::StatusOr<Step> decode(Core &core, const isa::RegisterLoad &inst, isa::Engine) {
  if (absl::StatusOr<View> source = core.view(inst.src, AccessMode::Read); !source.ok())
    return source.status();
  return nothing();
}

/// What a `register_load` finds in memory.
static absl::StatusOr<int32_t> readInteger(Core &core, const isa::RegisterLoad &load) {
  absl::StatusOr<View> source = core.view(load.src, AccessMode::Read);
  if (!source.ok())
    return source.status();
  auto get = [&](auto element) {
    fetchRaw(*source, source->row(0), 0, 1, &element);
    return element;
  };
  switch (load.src.dtype) {
  case isa::DType::I8:
    return get(int8_t());
  case isa::DType::U8:
  case isa::DType::BOOL:
    return get(uint8_t());
  default:
    break;
  }
  const auto value = get(int32_t());
  if (load.src.dtype == isa::DType::U32 && value < 0)
    return absl::OutOfRangeError(
        absl::StrCat("expected an integer of at most 31 bits for a register, but got ", static_cast<uint32_t>(value)));
  return value;
}

/// All rules of the instruction's record that it breaks, as one error.
static absl::Status validated(const Core &core, const isa::Instruction &instruction, isa::Engine engine) {
  std::string problems;
  isa::forEachOperand(instruction, [&](const isa::AP &ap, const isa::OperandInfo &info) {
    std::string problem;
    if (!ap.wellFormed(&problem))
      absl::StrAppend(&problems, problems.empty() ? "" : "; ", "operand '", info.name, "': ", problem);
  });
  if (!problems.empty())
    return absl::InvalidArgumentError(problems);
  std::vector<isa::Violation> violations;
  isa::validate(instruction, core.device(), isa::Phase::Address, violations);
  isa::validateEngine(instruction, engine, core.device(), violations);
  for (const isa::Violation &violation : violations)
    absl::StrAppend(&problems, problems.empty() ? "" : "; ", violation.message, " (rule ", violation.number, ", ",
                    violation.source, ")");
  return problems.empty() ? absl::OkStatus() : absl::InvalidArgumentError(problems);
}

absl::StatusOr<Step> decode(Core &core, const isa::Instruction &instruction, isa::Engine engine) {
  if (absl::Status status = validated(core, instruction, engine); !status.ok())
    return status;
  return std::visit([&](const auto &inst) { return decode(core, inst, engine); }, instruction);
}

/// On-chip operands that an instruction reads and writes.
struct Operands {
  std::vector<View> reads, writes;
};

static Operands operandsOf(const Core &core, const isa::Instruction &instruction) {
  Operands operands;
  const auto *matmul = std::get_if<isa::NcMatmul>(&instruction);
  rt::forEachUse(instruction, [&](const rt::OperandUse &use, unsigned) {
    if (use.ap->space == isa::Space::HBM)
      return;
    absl::StatusOr<View> view = core.view(*use.ap, use.writes ? AccessMode::Write : AccessMode::Read);
    if (!view.ok())
      return; // decode has reported it.
    // Predicated instructions keep parts of their destination, set or not; only accumulation reads all of it.
    if (use.reads && (!use.writes || matmul))
      operands.reads.push_back(*view);
    if (use.writes)
      operands.writes.push_back(*view);
  });
  return operands;
}

absl::Status execute(Core &core, const isa::Instruction &instruction, isa::Engine engine) {
  absl::StatusOr<Step> step = decode(core, instruction, engine);
  if (!step.ok())
    return step.status();
  Operands operands = operandsOf(core, instruction);
  if (core.options().checkPoison)
    for (const View &view : operands.reads)
      if (absl::Status status = core.checkWritten(view); !status.ok())
        return status;
  for (const View &view : operands.writes)
    core.markWritten(view);
  ScopedFpControl control(kFpDefault);
  if (absl::Status status = (*step)(); !status.ok())
    return status;
  for (const View &view : operands.writes)
    if (core.options().checkPoison)
      core.shadowWritten(view);
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// One instruction of a queue.
struct Entry {
  const isa::Command *command = nullptr;
  Step step;
  Operands operands;
  /// Index into Queue::matmuls of a matmul, else -1.
  int32_t matmul = -1;
};

/// The state of one engine's queue.
struct Queue {
  isa::Engine engine = isa::Engine::SP;
  std::vector<Entry> entries;
  std::vector<MatmulOp> matmuls;
  size_t next = 0;
  exe::Registers registers;

  bool isDone() const { return next >= entries.size(); }
  bool isAtBarrier() const {
    return !isDone() && std::holds_alternative<isa::Barrier>(entries[next].command->inst);
  }
};

struct FunctionalPlan::State {
  explicit State(const exe::Executable &executable) : executable(executable) {}

  const exe::Executable &executable;
  std::unique_ptr<Core> core;
  PackCache cache{kPackBudget};
  std::vector<Queue> queues;
  std::vector<int64_t> semaphores;

  absl::Status decodeQueue(const exe::Program &program);
  absl::Status decodeEntry(Queue &queue, const isa::Command &command);
  absl::Status checkSemaphores(const isa::Command &command) const;
  std::string describe(const Queue &queue, size_t index) const;
  absl::Status annotate(const absl::Status &status, const Queue &queue, size_t index) const;

  bool canStart(const Entry &entry) const {
    const isa::Command &command = *entry.command;
    return !command.hasWait || semaphores[command.wait.semaphore] >= int64_t(command.wait.value);
  }
  absl::Status complete(Queue &queue, size_t index);
  absl::StatusOr<size_t> runMatmulsFrom(Queue &queue, RunStatistics &statistics);
  absl::StatusOr<uint64_t> runQueue(Queue &queue, RunStatistics &statistics, uint64_t maxInstructions);
  bool passBarrier(RunStatistics &statistics);
  absl::Status deadlock() const;
};

/// "node 'Conv_12' (Conv): PE instruction 37, nc_matmul".
std::string FunctionalPlan::State::describe(const Queue &queue, size_t index) const {
  const isa::Command &command = *queue.entries[index].command;
  std::string text;
  if (command.debug && command.debug < executable.debug.size()) {
    const exe::DebugEntry &entry = executable.debug[command.debug];
    absl::StrAppend(&text, "node '", entry.node, "' (", entry.opType, "): ");
  }
  absl::StrAppend(&text, isa::name(queue.engine), " instruction ", index, ", ",
                  isa::info(isa::opcode(command.inst)).mnemonic);
  return text;
}

absl::Status FunctionalPlan::State::annotate(const absl::Status &status, const Queue &queue, size_t index) const {
  return absl::Status(status.code(), absl::StrCat(describe(queue, index), ": ", status.message()));
}

absl::Status FunctionalPlan::State::checkSemaphores(const isa::Command &command) const {
  for (auto [used, semaphore] : {std::pair(command.hasWait, command.wait.semaphore),
                                 std::pair(command.hasUpdate, command.update.semaphore)})
    if (used && semaphore >= semaphores.size())
      return absl::InvalidArgumentError(
          absl::StrCat("expected a semaphore below ", semaphores.size(), ", but got ", semaphore));
  return absl::OkStatus();
}

absl::Status FunctionalPlan::State::decodeEntry(Queue &queue, const isa::Command &command) {
  Entry &entry = queue.entries.back();
  if (absl::Status status = checkSemaphores(command); !status.ok())
    return status;
  if (const auto *matmul = std::get_if<isa::NcMatmul>(&command.inst)) {
    if (absl::Status status = validated(*core, command.inst, queue.engine); !status.ok())
      return status;
    absl::StatusOr<MatmulOp> op = decodeMatmul(*core, *matmul, cache);
    if (!op.ok())
      return op.status();
    entry.matmul = int32_t(queue.matmuls.size());
    queue.matmuls.push_back(*op);
  } else {
    absl::StatusOr<Step> step = rt::decode(*core, command.inst, queue.engine);
    if (!step.ok())
      return step.status();
    entry.step = *std::move(step);
  }
  entry.operands = operandsOf(*core, command.inst);
  return absl::OkStatus();
}

absl::Status FunctionalPlan::State::decodeQueue(const exe::Program &program) {
  for (const Queue &other : queues)
    if (other.engine == program.engine)
      return absl::InvalidArgumentError(absl::StrCat("expected one program for ", isa::name(program.engine)));
  Queue &queue = queues.emplace_back();
  queue.engine = program.engine;
  queue.entries.reserve(program.commands.size());
  for (const isa::Command &command : program.commands) {
    queue.entries.emplace_back().command = &command;
    if (absl::Status status = decodeEntry(queue, command); !status.ok())
      return annotate(status, queue, queue.entries.size() - 1);
  }
  return absl::OkStatus();
}

FunctionalPlan::FunctionalPlan(std::unique_ptr<State> planState) : state(std::move(planState)) {}
FunctionalPlan::~FunctionalPlan() = default;
Core &FunctionalPlan::core() { return *state->core; }

absl::StatusOr<std::unique_ptr<FunctionalPlan>> FunctionalPlan::create(const exe::Executable &executable,
                                                                       const CoreOptions &options) {
  const isa::DeviceInfo *device = isa::device(executable.device);
  if (!device)
    return absl::InvalidArgumentError(absl::StrCat("unknown device '", executable.device, "'"));
  auto state = std::make_unique<State>(executable);
  absl::StatusOr<std::unique_ptr<Core>> core = Core::create(*device, options);
  if (!core.ok())
    return core.status();
  state->core = *std::move(core);
  state->semaphores.assign(device->semaphores, 0);
  std::vector<HbmDeclaration> declarations;
  for (const exe::Buffer &buffer : executable.buffers)
    declarations.push_back({buffer.bytes, buffer.kind == exe::BufferKind::Output ||
                                              buffer.kind == exe::BufferKind::Scratch});
  state->core->declareHbm(declarations);
  for (const exe::Program &program : executable.programs)
    if (absl::Status status = state->decodeQueue(program); !status.ok())
      return status;
  return std::unique_ptr<FunctionalPlan>(new FunctionalPlan(std::move(state)));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// What follows an executed instruction: its memory counts as set, its semaphore is updated.
absl::Status FunctionalPlan::State::complete(Queue &queue, size_t index) {
  const Entry &entry = queue.entries[index];
  if (core->options().checkPoison)
    for (const View &view : entry.operands.writes)
      core->shadowWritten(view);
  const isa::Command &command = *entry.command;
  if (!command.hasUpdate)
    return absl::OkStatus();
  int64_t &value = semaphores[command.update.semaphore];
  value += command.update.add;
  if (value < 0 || value > core->device().semaphoreMax)
    return annotate(absl::OutOfRangeError(absl::StrCat("semaphore ", command.update.semaphore, ": expected a value in [0, ",
                                                       core->device().semaphoreMax, "], but got ", value)),
                    queue, index);
  return absl::OkStatus();
}

/// Runs the matmul at the head of the queue and all that continue it and may start now; returns how many.
absl::StatusOr<size_t> FunctionalPlan::State::runMatmulsFrom(Queue &queue, RunStatistics &statistics) {
  size_t first = queue.next, end = first + 1;
  const MatmulOp *ops = &queue.matmuls[queue.entries[first].matmul];
  // With shadow checks each instruction is checked before it runs.
  while (!core->options().checkPoison && end < queue.entries.size() && queue.entries[end].matmul >= 0 &&
         ops[end - first].continues(ops[end - first - 1]) && canStart(queue.entries[end]))
    ++end;
  for (const View &view : queue.entries[first].operands.writes)
    core->markWritten(view); // All of them write the same tile.
  runMatmuls(*core, cache, ops, end - first);
  statistics.matmuls += end - first;
  ++statistics.matmulRuns;
  for (size_t index = first; index < end; ++index)
    if (absl::Status status = complete(queue, index); !status.ok())
      return status;
  queue.next = end;
  return end - first;
}

/// Runs a queue until it is done or waits; returns the number of instructions executed.
absl::StatusOr<uint64_t> FunctionalPlan::State::runQueue(Queue &queue, RunStatistics &statistics,
                                                         uint64_t maxInstructions) {
  uint64_t executed = 0;
  uint64_t sincePoll = kPollInterval; // Look at the clock before the first instruction.
  while (!queue.isDone() && !queue.isAtBarrier() && canStart(queue.entries[queue.next])) {
    if (statistics.instructions + executed >= maxInstructions)
      return absl::ResourceExhaustedError(
          absl::StrCat("stopped after ", maxInstructions, " instructions, at ", describe(queue, queue.next)));
    if (++sincePoll >= kPollInterval) {
      sincePoll = 0;
      if (absl::Status status = core->watch().status(); !status.ok())
        return annotate(status, queue, queue.next);
    }
    const size_t index = queue.next;
    Entry &entry = queue.entries[index];
    if (core->options().checkPoison)
      for (const View &view : entry.operands.reads)
        if (absl::Status status = core->checkWritten(view); !status.ok())
          return annotate(status, queue, index);
    if (entry.matmul >= 0) {
      absl::StatusOr<size_t> count = runMatmulsFrom(queue, statistics);
      if (!count.ok())
        return count.status();
      executed += *count;
      sincePoll += *count;
      continue;
    }
    for (const View &view : entry.operands.writes)
      core->markWritten(view);
    if (absl::Status status = entry.step(); !status.ok())
      return annotate(status, queue, index);
    int32_t loaded = 0;
    if (const auto *load = std::get_if<isa::RegisterLoad>(&entry.command->inst)) {
      absl::StatusOr<int32_t> read = readInteger(*core, *load);
      if (!read.ok())
        return annotate(read.status(), queue, index);
      loaded = *read;
      if (auto &found = statistics.found[size_t(queue.engine)]; found.size() < RunStatistics::kMostFound)
        found.push_back(loaded);
    }
    queue.next = queue.registers.next(entry.command->inst, index, queue.entries.size(), loaded);
    if (absl::Status status = complete(queue, index); !status.ok())
      return status;
    ++executed;
  }
  return executed;
}

/// Lets all queues go on when all have come to their barriers; false when one has not.
bool FunctionalPlan::State::passBarrier(RunStatistics &statistics) {
  for (const Queue &queue : queues)
    if (!queue.isAtBarrier() || !canStart(queue.entries[queue.next]))
      return false;
  std::fill(semaphores.begin(), semaphores.end(), 0);
  for (Queue &queue : queues) {
    ++queue.next;
    ++statistics.instructions;
    ++statistics.perEngine[size_t(queue.engine)];
  }
  return true;
}

/// No queue can go on: what each waits for.
absl::Status FunctionalPlan::State::deadlock() const {
  std::string text = "deadlock: no queue can continue";
  for (const Queue &queue : queues) {
    if (queue.isDone())
      continue;
    const isa::Command &command = *queue.entries[queue.next].command;
    if (queue.isAtBarrier()) {
      absl::StrAppend(&text, "; ", describe(queue, queue.next), " waits for the other queues");
      continue;
    }
    absl::StrAppend(&text, "; ", describe(queue, queue.next), " waits for semaphore ", command.wait.semaphore,
                    " >= ", command.wait.value, ", which is ", semaphores[command.wait.semaphore]);
  }
  return absl::FailedPreconditionError(text);
}

/// Weights come from the executable unless the caller has put them elsewhere.
static absl::StatusOr<std::vector<HbmBuffer>> withWeights(const exe::Executable &executable,
                                                          absl::Span<const HbmBuffer> buffers) {
  std::vector<HbmBuffer> all(buffers.begin(), buffers.end());
  for (size_t i = 0; i < std::min(all.size(), executable.buffers.size()); ++i) {
    const exe::Buffer &buffer = executable.buffers[i];
    if (buffer.kind != exe::BufferKind::Weight || all[i].data || buffer.bytes == 0)
      continue;
    const exe::WeightSource &weights = executable.weights;
    if (!weights.data || buffer.weightOffset > weights.bytes || buffer.bytes > weights.bytes - buffer.weightOffset)
      return absl::InvalidArgumentError(absl::StrCat("weight '", buffer.name, "': expected ", buffer.bytes,
                                                     " mapped bytes at ", buffer.weightOffset));
    // Never written: Core refuses write access to buffers that are declared so.
    all[i] = {const_cast<uint8_t *>(weights.data + buffer.weightOffset), buffer.bytes};
  }
  return all;
}

absl::StatusOr<RunStatistics> FunctionalPlan::run(absl::Span<const HbmBuffer> buffers, const RunLimits &limits) {
  absl::StatusOr<std::vector<HbmBuffer>> all = withWeights(state->executable, buffers);
  if (!all.ok())
    return all.status();
  if (absl::Status status = state->core->bindHbm(*all); !status.ok())
    return status;
  state->core->reset();
  std::fill(state->semaphores.begin(), state->semaphores.end(), 0);
  for (Queue &queue : state->queues) {
    queue.next = 0;
    queue.registers.clear();
  }
  ScopedFpControl control(kFpDefault);
  state->core->setWatch({limits.cancel, limits.timeout, absl::Now() + limits.timeout});
  RunStatistics statistics;
  while (true) {
    uint64_t progress = 0;
    bool allDone = true;
    for (Queue &queue : state->queues) {
      absl::StatusOr<uint64_t> executed = state->runQueue(queue, statistics, limits.instructions);
      if (!executed.ok())
        return executed.status();
      progress += *executed;
      statistics.instructions += *executed;
      statistics.perEngine[size_t(queue.engine)] += *executed;
      allDone &= queue.isDone();
    }
    if (allDone)
      return statistics;
    if (progress == 0 && !state->passBarrier(statistics))
      return state->deadlock();
  }
}

absl::StatusOr<RunStatistics> runFunctional(const exe::Executable &executable, absl::Span<const HbmBuffer> buffers,
                                            const RunOptions &options) {
  absl::StatusOr<std::unique_ptr<FunctionalPlan>> plan = FunctionalPlan::create(executable, options.core);
  if (!plan.ok())
    return plan.status();
  return (*plan)->run(buffers, options.limits);
}

} // namespace trn::rt
