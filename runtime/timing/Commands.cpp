//===- Commands.cpp - naming the commands of an executable -----------------===//
//
// See Commands.h. A debug index outside the map names no node: reports must survive a stripped executable.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/Commands.h"
#include "absl/strings/str_cat.h"
#include <algorithm>

namespace trn::rt {

Commands::Commands(const exe::Executable &exe) : exe(exe) {
  for (const exe::Program &program : exe.programs) {
    first.push_back(total);
    total += static_cast<uint32_t>(program.commands.size());
  }
}

unsigned Commands::programOf(CommandId id) const {
  return static_cast<unsigned>(std::upper_bound(first.begin(), first.end(), id) - first.begin() - 1);
}

const isa::Command &Commands::operator[](CommandId id) const {
  unsigned program = programOf(id);
  return exe.programs[program].commands[id - first[program]];
}

const std::string &Commands::node(CommandId id) const {
  static const std::string none;
  uint32_t debug = (*this)[id].debug;
  return debug < exe.debug.size() ? exe.debug[debug].node : none;
}

std::string Commands::describe(CommandId id) const {
  const isa::Command &command = (*this)[id];
  const isa::InstInfo &info = isa::info(isa::opcode(command.inst));
  const std::vector<uint32_t> &positions = exe.programs[programOf(id)].positions;
  uint32_t index = indexOf(id);
  std::string text = absl::StrCat(isa::name(command.engine), " #", index < positions.size() ? positions[index] : index,
                                  " ", info.mnemonic);
  if (info.isDma)
    absl::StrAppend(&text, " on ring ", command.ring);
  if (command.debug >= exe.debug.size() || exe.debug[command.debug].node.empty())
    return text;
  const exe::DebugEntry &entry = exe.debug[command.debug];
  absl::StrAppend(&text, " (node '", entry.node, "'");
  if (!entry.opType.empty())
    absl::StrAppend(&text, ", ", entry.opType);
  if (!entry.note.empty())
    absl::StrAppend(&text, ": ", entry.note);
  return text + ")";
}

} // namespace trn::rt
