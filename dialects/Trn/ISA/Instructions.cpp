//===- Instructions.cpp - tables, rules and costs of all records ----------===//
//
// Owns the generated tables and the look-ups over them.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/ISA/ISA.h"
#include "dialects/Trn/ISA/RecordRules.h"
#include "dialects/Trn/ISA/Terms.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>

namespace trn::isa {

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

#include "dialects/Trn/ISA/Instructions.cpp.inc"

std::string print(float value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

// A value that is no enumerator never gets here: decode refuses it.
const InstInfo &info(Opcode opcode) { return kInstructions[indexOf(opcode)]; }
const AluOpInfo &info(AluOp op) { return kAluOps[indexOf(op)]; }
const ActivationInfo &info(ActivationFunc func) { return kActivations[indexOf(func)]; }

TableRef<InstInfo> allInstructions() { return {kInstructions, std::size(kInstructions)}; }
TableRef<RuleInfo> allRules() { return {kRules, std::size(kRules)}; }
TableRef<ScalarOpInfo> allScalarOps() { return {kScalarOps, std::size(kScalarOps)}; }

std::optional<Opcode> parseOpcode(std::string_view mnemonic) {
  for (const InstInfo &entry : kInstructions)
    if (mnemonic == entry.mnemonic)
      return entry.opcode;
  return std::nullopt;
}

const ScalarOpInfo *scalarOp(std::string_view key) {
  const ScalarOpInfo *end = std::end(kScalarOps);
  const ScalarOpInfo *row = std::lower_bound(std::begin(kScalarOps), end, key,
                                             [](const ScalarOpInfo &a, std::string_view b) { return a.key < b; });
  return row != end && key == row->key ? row : nullptr;
}

Cost cost(const Instruction &inst, const DeviceInfo &device, Engine engine) {
  return std::visit([&](const auto &x) { return costOf(x, device, engine); }, inst);
}

void checkRecordRules(const Instruction &inst, const DeviceInfo &device, Phase phase, Engine engine,
                      std::vector<Violation> &out) {
  std::visit([&](const auto &x) { checkRules(x, device, phase, engine, out); }, inst);
}

} // namespace trn::isa
