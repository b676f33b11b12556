//===- Spaces.h - questions about the memory of a value ---------------------===//
// Owns short forms of the dialect's `spaceOf` for values. Refuses nothing: a value without a space is in none.
#pragma once
#include "dialects/Trn/TrnDialect.h"
#include "mlir/IR/Value.h"

namespace trn {

using ir::spaceOf;
inline std::optional<isa::Space> spaceOf(mlir::Value value) { return ir::spaceOf(value.getType()); }

inline bool isInHbm(mlir::Value value) { return spaceOf(value) == isa::Space::HBM; }
inline bool isInSbuf(mlir::Value value) { return spaceOf(value) == isa::Space::SBUF; }
inline bool isInPsum(mlir::Value value) { return spaceOf(value) == isa::Space::PSUM; }

/// For messages.
inline llvm::StringRef spaceName(std::optional<isa::Space> space) { return space ? isa::name(*space) : "no memory"; }

} // namespace trn
