//===- Contraction.h - fast sums of products ------------------------------===//
// Runs `out += lhs * rhs` over any affine loop nest (matrix products, batched, convolutions with any stride, dilation
// and grouping) as blocked matrix products on packed panels. Accumulates in fp32 with fused multiply-add.
#pragma once
#include "compiler/Reference/StructuredOp.h"

namespace trn {

/// Operands of the lanes: lhs, rhs, out (f32). Returns false if the nest is better left to the general loops.
bool runContraction(llvm::ArrayRef<Loop> loops, llvm::ArrayRef<Lane> operands, Storage lhs, Storage rhs);

} // namespace trn
