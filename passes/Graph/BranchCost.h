//===- BranchCost.h - whether to branch or to select ----------------------===//
//
// Owns the rule by which an If whose condition only the run knows becomes a branch of the device, or computes both
// bodies and selects between their results. To branch costs transfers one behind the other, for what crosses the border
// of a part does so through device memory: the condition out and into registers, operands in, results out and in again.
// To select costs the body that is not taken, on the average half of both. The smaller one is done; a body with a loop
// or branch of the device in it is always branched around.
//
// What a body costs is counted in what its operators are lowered to, at the rates of the device's record.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/Device.h"
#include "mlir/IR/Block.h"

namespace trn {

/// Whether to branch costs less on `device` than to compute both bodies, whose values have static types.
bool isBranchWorth(mlir::Block &taken, mlir::Block &other, const isa::DeviceInfo &device);

} // namespace trn
