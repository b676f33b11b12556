//===- Commands.h - naming the commands of an executable -------------------===//
//
// Owns the numbering that timing, checker and reports share: every command of every engine's program has one id, in
// the order (program, index). Owns the text by which messages name a command; refuses to own any state of a run.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/executable/Executable.h"
#include <cstdint>
#include <string>
#include <vector>

namespace trn::rt {

using CommandId = uint32_t;
constexpr CommandId kNoCommand = UINT32_MAX;

/// The commands of one executable under one numbering. Keeps a reference to the executable.
class Commands {
public:
  explicit Commands(const exe::Executable &exe);

  uint32_t size() const { return total; }
  unsigned programs() const { return static_cast<unsigned>(exe.programs.size()); }
  uint32_t size(unsigned program) const { return static_cast<uint32_t>(exe.programs[program].commands.size()); }
  CommandId id(unsigned program, uint32_t index) const { return first[program] + index; }
  unsigned programOf(CommandId id) const;
  uint32_t indexOf(CommandId id) const { return id - first[programOf(id)]; }
  const isa::Command &operator[](CommandId id) const;
  const exe::Executable &executable() const { return exe; }

  /// "PE #12 nc_matmul (node 'Conv_3', Conv: evict)".
  std::string describe(CommandId id) const;
  /// The ONNX node, or "" when the command belongs to none.
  const std::string &node(CommandId id) const;

private:
  const exe::Executable &exe;
  std::vector<uint32_t> first;
  uint32_t total = 0;
};

} // namespace trn::rt
