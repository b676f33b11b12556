//===- Unroll.cpp - the commands that queues execute, one after the other -===//
#include "runtime/timing/Unroll.h"
#include "absl/strings/str_cat.h"
#include "runtime/executable/Registers.h"
#include <algorithm>
#include <bitset>
#include <limits>
#include <optional>
#include <set>

namespace trn::rt {

static bool branches(const isa::Command &command) {
  return std::holds_alternative<isa::Branch>(command.inst) || std::holds_alternative<isa::Loop>(command.inst);
}
/// Unrolled programs keep their branches as instructions that take time only.
static bool hasControlFlow(const exe::Program &program) {
  return program.positions.empty() && std::any_of(program.commands.begin(), program.commands.end(), branches);
}
bool hasControlFlow(const exe::Executable &exe) {
  return std::any_of(exe.programs.begin(), exe.programs.end(),
                     [](const exe::Program &program) { return hasControlFlow(program); });
}

unsigned countLoads(const exe::Executable &exe) {
  unsigned most = 0;
  for (const exe::Program &program : exe.programs) {
    unsigned loads = 0;
    for (const isa::Command &command : program.commands)
      loads += std::holds_alternative<isa::RegisterLoad>(command.inst);
    most = std::max(most, loads);
  }
  return most;
}

namespace {

using RegisterSet = std::bitset<isa::DeviceInfo::registers>;

/// Registers that hold data, or what was computed of it.
RegisterSet loadedRegisters(const exe::Program &program) {
  RegisterSet hasData;
  for (bool changed = true; changed;) {
    const RegisterSet before = hasData;
    for (const isa::Command &command : program.commands) {
      if (const auto *load = std::get_if<isa::RegisterLoad>(&command.inst))
        hasData.set(size_t(load->reg));
      if (const auto *sum = std::get_if<isa::RegisterAdd>(&command.inst); sum && hasData.test(size_t(sum->sourceReg)))
        hasData.set(size_t(sum->reg));
    }
    changed = hasData != before;
  }
  return hasData;
}

struct Jump {
  size_t target, reg;
  bool isConditional;
};
std::optional<Jump> jumpOf(const isa::Instruction &instruction) {
  if (const auto *branch = std::get_if<isa::Branch>(&instruction); branch && branch->target >= 0)
    return Jump{size_t(branch->target), size_t(branch->reg), branch->compare != isa::AluOp::Bypass};
  if (const auto *loop = std::get_if<isa::Loop>(&instruction); loop && loop->target >= 0)
    return Jump{size_t(loop->target), size_t(loop->reg), true};
  return std::nullopt;
}

/// A jump from `last` back to `first`, and how often it was taken since the loop was entered.
struct BackwardJump {
  size_t first, last;
  uint32_t maxRounds;
  uint32_t taken = 0;

  bool contains(size_t position) const { return position >= first && position <= last; }
};

class Walk {
public:
  /// `found` is what the program's loads found in a run; null without one.
  Walk(const exe::Program &program, const Path &path, const std::vector<int32_t> *found)
      : program(program), path(path), found(found), hasData(loadedRegisters(program)) {
    findJumps();
    for (const isa::Command &command : program.commands) {
      loadNumbers.push_back(loads);
      loads += std::holds_alternative<isa::RegisterLoad>(command.inst);
    }
  }

  /// The position behind `at`, on the path.
  size_t next(size_t at) {
    const size_t size = program.commands.size();
    const bool loads = std::holds_alternative<isa::RegisterLoad>(program.commands[at].inst);
    size_t to = registers.next(program.commands[at].inst, at, size, loads ? loaded(at) : 0);
    if (found)
      return to;
    for (BackwardJump &jump : jumps) {
      if (jump.last == at && to <= at && ++jump.taken >= jump.maxRounds)
        to = at + 1;
      if (!jump.contains(to))
        jump.taken = 0;
    }
    return to;
  }

private:
  int32_t loaded(size_t at) {
    if (found)
      return executedLoads < found->size() ? (*found)[executedLoads++] : 0;
    const unsigned number = loadNumbers[at];
    const bool taken = number < path.loads.size() ? path.loads[number] : path.others;
    return taken ? std::numeric_limits<int32_t>::max() : 0;
  }

  void findJumps() {
    for (size_t at = 0; at < program.commands.size(); ++at) {
      const std::optional<Jump> jump = jumpOf(program.commands[at].inst);
      if (!jump || jump->target > at)
        continue;
      // Data decides a loop when it counts the rounds, or decides a branch out of it.
      bool meets = false, onData = hasData.test(jump->reg);
      for (size_t i = jump->target; i < at; ++i) {
        meets |= std::holds_alternative<isa::Barrier>(program.commands[i].inst);
        const std::optional<Jump> exit = jumpOf(program.commands[i].inst);
        onData |= exit && exit->target > at && exit->isConditional && hasData.test(exit->reg);
      }
      jumps.push_back(
          {jump->target, at, std::min(onData ? path.dataRounds : UINT32_MAX, meets ? path.barrierRounds : UINT32_MAX)});
    }
  }

  const exe::Program &program;
  const Path &path;
  const std::vector<int32_t> *found;
  size_t executedLoads = 0;
  exe::Registers registers;
  const RegisterSet hasData;
  std::vector<BackwardJump> jumps;
  std::vector<unsigned> loadNumbers;
  unsigned loads = 0;
};

} // namespace

DecidedByData decidedByData(const exe::Executable &exe) {
  DecidedByData decided;
  for (const exe::Program &program : exe.programs) {
    const RegisterSet hasData = loadedRegisters(program);
    auto position = [&](size_t at) { return program.positions.empty() ? at : size_t(program.positions[at]); };
    // The ends of loops: where a jump leads back from, and whoever leaves the loop leads behind it.
    std::set<size_t> ends;
    for (size_t at = 0; at < program.commands.size(); ++at)
      if (std::optional<Jump> jump = jumpOf(program.commands[at].inst); jump && jump->target <= position(at)) {
        ends.insert(position(at));
        decided.loops |= jump->isConditional && hasData.test(jump->reg);
      }
    for (size_t at = 0; at < program.commands.size(); ++at) {
      std::optional<Jump> jump = jumpOf(program.commands[at].inst);
      if (!jump || !jump->isConditional || !hasData.test(jump->reg) || jump->target <= position(at))
        continue;
      const bool leavesLoop = ends.count(jump->target - 1) > 0;
      decided.loops |= leavesLoop;
      decided.branches |= !leavesLoop;
    }
  }
  return decided;
}

absl::StatusOr<exe::Executable> unroll(const exe::Executable &exe, const Path &path) {
  exe::Executable result = exe;
  if (hasControlFlow(exe))
    result.flow.clear();
  uint64_t executed = 0;
  for (size_t i = 0; i < exe.programs.size(); ++i) {
    const exe::Program &program = exe.programs[i];
    if (!hasControlFlow(program)) {
      executed += program.commands.size();
      continue;
    }
    exe::Program &straight = result.programs[i];
    straight.commands.clear();
    Walk walk(program, path, i < path.found.size() ? &path.found[i] : nullptr);
    for (size_t at = 0; at < program.commands.size(); at = walk.next(at)) {
      if (++executed > path.maxCommands)
        return absl::ResourceExhaustedError(absl::StrCat(isa::name(program.engine), " executes more than ",
                                                         path.maxCommands,
                                                         " commands, and no timing or check follows more; the program "
                                                         "itself has no such limit, if its loops end"));
      straight.commands.push_back(program.commands[at]);
      straight.positions.push_back(static_cast<uint32_t>(at));
    }
  }
  return result;
}

} // namespace trn::rt
