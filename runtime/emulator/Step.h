//===- Step.h - instructions decoded for a core -----------------------------------===//
//
// Owns the declaration of what every instruction does. `decode` checks an instruction once and turns it into a step: a
// function object with resolved operands that can run any number of times. A record without a definition of its overload
// does not link.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/statusor.h"
#include "dialects/Trn/ISA/ISA.h"
#include "runtime/emulator/Core.h"
#include <functional>

namespace trn::rt {

/// A decoded instruction. Running it can fail only through data, an index out of range, and through the watch of the run.
using Step = std::function<absl::Status()>;

// One overload per record. Control flow is the queue's own business (Functional.cpp): those of its instructions do nothing.
#define TRN_INSTRUCTION(name) absl::StatusOr<Step> decode(Core &, const isa::name &, isa::Engine);
#include "dialects/Trn/ISA/InstructionList.inc"
#undef TRN_INSTRUCTION

/// Checks `instruction` against the device's rules and decodes it. Errors name the rule and its source.
absl::StatusOr<Step> decode(Core &, const isa::Instruction &, isa::Engine);

/// Executes one instruction now, on the engine that the record names first unless another is given.
absl::Status execute(Core &, const isa::Instruction &, isa::Engine);

} // namespace trn::rt
