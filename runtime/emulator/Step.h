//===- Step.h - instructions decoded for a core -----------------------------------===//
//
// Owns the declaration of what every instruction does. `decode` checks an instruction once and turns it into a step: a
// function object with resolved operands that can run any number of times. There is one overload per instruction
// struct of the instruction set; a missing one is a build error in Functional.cpp.
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

absl::StatusOr<Step> decode(Core &, const isa::NcMatmul &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::NcTranspose &, isa::Engine);

absl::StatusOr<Step> decode(Core &, const isa::Activation &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::ActTableLoad &, isa::Engine);

absl::StatusOr<Step> decode(Core &, const isa::TensorTensor &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::TensorScalar &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::ScalarTensorTensor &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::TensorReduce &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::TensorCopy &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::Memset &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::Reciprocal &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::Select &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::CopyPredicated &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::Max8 &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::FindIndex8 &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::MatchReplace8 &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::BnStats &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::BnAggr &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::NcStreamShuffle &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::NcTransposeDve &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::TensorTensorScan &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::RangeSelect &, isa::Engine);

absl::StatusOr<Step> decode(Core &, const isa::Iota &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::AffineSelect &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::PartitionReduce &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::LocalGather &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::NcNGather &, isa::Engine);

// Library kernels: programs of the GpSimd cores.
absl::StatusOr<Step> decode(Core &, const isa::LibraryLoops &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::LibraryNonzero &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::LibraryUnique &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::LibraryNms &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::LibraryDet &, isa::Engine);

absl::StatusOr<Step> decode(Core &, const isa::DmaCopy &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::DmaGather &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::DmaScatter &, isa::Engine);

// Control flow is the queue's own business (Functional.cpp); here these do nothing.
absl::StatusOr<Step> decode(Core &, const isa::SemaphoreWait &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::Nop &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::RegisterMove &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::RegisterAdd &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::Branch &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::Loop &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::RegisterLoad &, isa::Engine);
absl::StatusOr<Step> decode(Core &, const isa::Barrier &, isa::Engine);

/// Checks `instruction` against the device's rules and decodes it. Errors name the rule and its source.
absl::StatusOr<Step> decode(Core &, const isa::Instruction &, isa::Engine);

/// Executes one instruction now, on the engine that the record names first unless another is given.
absl::Status execute(Core &, const isa::Instruction &, isa::Engine);

} // namespace trn::rt
