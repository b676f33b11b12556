//===- Deadlock.cpp - explaining programs that stand still -----------------===//
//
// See Deadlock.h. A waiting program points at the program that holds the first remaining signal of its semaphore;
// following these edges from any waiting program ends in a cycle or at a count that is out of reach.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/Deadlock.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <optional>

namespace trn::rt {
namespace {

/// What is left of the signals of one semaphore.
struct Remaining {
  int64_t amount = 0;
  CommandId first = kNoCommand;
};

Remaining remainingSignals(const Commands &commands, const Standstill &state, uint16_t semaphore) {
  Remaining remaining;
  for (unsigned program = 0; program < commands.programs(); ++program)
    for (uint32_t i = state.next[program]; i < commands.size(program); ++i) {
      const isa::Command &command = commands[commands.id(program, i)];
      if (!command.hasUpdate || command.update.semaphore != semaphore)
        continue;
      remaining.amount += command.update.add;
      if (remaining.first == kNoCommand)
        remaining.first = commands.id(program, i);
    }
  return remaining;
}

int64_t valueOf(const Standstill &state, uint16_t semaphore) {
  return semaphore < state.semaphores.size() ? state.semaphores[semaphore] : 0;
}

bool isBarrier(const Commands &commands, CommandId id) {
  return std::holds_alternative<isa::Barrier>(commands[id].inst);
}

std::string describeWait(const Commands &commands, const Standstill &state, CommandId id) {
  if (isBarrier(commands, id) && !commands[id].hasWait)
    return absl::StrCat(commands.describe(id), " waits for the other queues");
  const isa::Wait &wait = commands[id].wait;
  return absl::StrCat(commands.describe(id), " waits for semaphore ", wait.semaphore, " >= ", wait.value, " (it is ",
                      valueOf(state, wait.semaphore), ")");
}

/// A program that has not come to its barrier.
std::optional<unsigned> laterThan(const Commands &commands, const Standstill &state) {
  for (unsigned program = 0; program < commands.programs(); ++program)
    if (state.next[program] >= commands.size(program) ||
        !isBarrier(commands, commands.id(program, state.next[program])))
      return program;
  return std::nullopt;
}

} // namespace

StandstillReport explainStandstill(const Commands &commands, const Standstill &state) {
  StandstillReport report;
  constexpr unsigned kNone = ~0u;
  std::vector<unsigned> waitsOn(commands.programs(), kNone);
  std::vector<CommandId> signal(commands.programs(), kNoCommand);
  for (unsigned program = 0; program < commands.programs(); ++program) {
    if (state.next[program] >= commands.size(program))
      continue;
    CommandId head = commands.id(program, state.next[program]);
    const isa::Command &command = commands[head];
    if (isBarrier(commands, head) && !command.hasWait) {
      if (const std::optional<unsigned> late = laterThan(commands, state)) {
        if (state.next[*late] >= commands.size(*late)) {
          report.cycle = {head};
          report.message = absl::StrCat("deadlock: ", describeWait(commands, state, head), ", but the program of ",
                                        isa::name(commands.executable().programs[*late].engine), " ends without a barrier");
          return report;
        }
        signal[program] = commands.id(*late, state.next[*late]);
        waitsOn[program] = *late;
      }
      continue;
    }
    Remaining remaining = remainingSignals(commands, state, command.wait.semaphore);
    if (valueOf(state, command.wait.semaphore) + remaining.amount < int64_t(command.wait.value)) {
      report.cycle = {head};
      report.message =
          absl::StrCat("deadlock: ", describeWait(commands, state, head), ", but all signals of the program together",
                       " reach only ", valueOf(state, command.wait.semaphore) + remaining.amount);
      return report;
    }
    signal[program] = remaining.first;
    waitsOn[program] = commands.programOf(remaining.first);
  }
  unsigned start = 0;
  while (start < waitsOn.size() && waitsOn[start] == kNone)
    ++start;
  if (start == waitsOn.size()) {
    report.message = "no command waits";
    return report;
  }
  // Walk until a program repeats: the walk from there on is the cycle.
  std::vector<unsigned> path;
  unsigned at = start;
  while (std::find(path.begin(), path.end(), at) == path.end()) {
    path.push_back(at);
    at = waitsOn[at];
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), at));
  report.message = "deadlock: ";
  for (unsigned program : path) {
    CommandId head = commands.id(program, state.next[program]);
    report.cycle.push_back(head);
    absl::StrAppend(&report.message, report.cycle.size() > 1 ? "; " : "", describeWait(commands, state, head),
                    ", which ", commands.describe(signal[program]), " would signal");
    if (signal[program] != commands.id(waitsOn[program], state.next[waitsOn[program]]))
      absl::StrAppend(&report.message, " behind ",
                      commands.describe(commands.id(waitsOn[program], state.next[waitsOn[program]])));
  }
  return report;
}

} // namespace trn::rt
