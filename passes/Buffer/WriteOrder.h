//===- WriteOrder.h - whether destinations can be written where they are ---===//
// Owns the question whether a function in destination style needs no copy when every destination is written in place:
// each read must see the version of its tensor that the IR names, although later versions share the buffer. One forward
// walk with a log of writes per buffer answers it in time linear in the function, where the general analysis of
// bufferisation takes the third power of the length of a chain of insertions.
//
// Refuses whatever it cannot show: other operations than those of stage `tiled`, writes through reshaped slices,
// reads of old versions that it cannot tell apart from what was written since. The general analysis decides those.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include <string>

namespace trn {

/// What a function does with the tensors that it gets.
struct FunctionEffects {
  /// Arguments whose buffer it writes.
  llvm::SmallBitVector written;
  /// A result: the whole buffer of an argument, seen through `reshapes`, outermost first.
  struct Result {
    unsigned argument;
    llvm::SmallVector<mlir::Operation *, 2> reshapes;
  };
  llvm::SmallVector<Result> results;
};

/// Whether `function` needs no copies if every destination is written in place. `callees` has the effects of the
/// functions it calls. On refusal writes the reason, for remarks.
std::optional<FunctionEffects>
writesInOrder(mlir::func::FuncOp function, const llvm::DenseMap<mlir::Operation *, FunctionEffects> &callees,
              std::string &reason);

} // namespace trn
