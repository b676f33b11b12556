//===- Sequences.h - lists of tensors resolved while compiling ------------===//
//
// Owns sequences in inference: the elements of each are known, so that what reads one becomes its elements, and what
// changes one becomes another list. Refuses positions and sizes that only the run knows.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/Graph/ControlFlow.h"
#include "mlir/IR/Builders.h"
#include <optional>

namespace trn {

bool isSequence(mlir::Operation *op);
/// Whether `value` is an optional without an element.
bool isAbsent(mlir::Value value);
/// The tensors of a sequence, when they are known. An optional without an element has none.
std::optional<mlir::SmallVector<mlir::Value>> sequenceElements(mlir::Value sequence);
/// A sequence of `elements`, which have the type `element`.
mlir::Value writeSequence(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange elements, mlir::Type element);
/// Resolves an operation that reads, changes or splits into a sequence. Lists stay until nothing reads them. With
/// `atRunTime`, what is not known by now is refused.
Resolution resolveSequence(mlir::Operation *op, bool atRunTime);

} // namespace trn
