//===- RecordRules.h - entry to the generated rule checks -----------------===//
// Private to the ISA library: Rules.cpp calls it after the general rules.
#pragma once
#include "dialects/Trn/ISA/ISA.h"

namespace trn::isa {
/// Appends the record rules of the phase that are broken; `engine` matters in Phase::Engine only.
void checkRecordRules(const Instruction &inst, const DeviceInfo &device, Phase phase, Engine engine,
                      std::vector<Violation> &out);
} // namespace trn::isa
