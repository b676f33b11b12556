//===- Unroll.cpp - the commands that queues execute, one after the other -===//
#include "runtime/timing/Unroll.h"
#include "absl/strings/str_cat.h"
#include "runtime/executable/Registers.h"
#include <algorithm>

namespace trn::rt {

static bool branches(const isa::Command &command) {
  return std::holds_alternative<isa::Branch>(command.inst) || std::holds_alternative<isa::Loop>(command.inst);
}
static bool hasControlFlow(const exe::Program &program) {
  return std::any_of(program.commands.begin(), program.commands.end(), branches);
}
bool hasControlFlow(const exe::Executable &exe) {
  return std::any_of(exe.programs.begin(), exe.programs.end(),
                     [](const exe::Program &program) { return hasControlFlow(program); });
}

absl::StatusOr<exe::Executable> unroll(const exe::Executable &exe, uint64_t maxCommands) {
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
    exe::Registers registers;
    for (size_t at = 0; at < program.commands.size();) {
      if (++executed > maxCommands)
        return absl::ResourceExhaustedError(absl::StrCat(isa::name(program.engine), " executes more than ", maxCommands,
                                                         " commands: a loop may never end"));
      straight.commands.push_back(program.commands[at]);
      straight.positions.push_back(static_cast<uint32_t>(at));
      at = registers.next(program.commands[at].inst, at, program.commands.size());
    }
  }
  return result;
}

} // namespace trn::rt
