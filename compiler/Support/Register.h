//===- Register.h - all dialects and passes of the project ----------------===//
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace trn {

/// The dialects that a module of any stage may hold, ours and upstream's, with the interfaces that the pipeline needs.
void registerDialects(mlir::DialectRegistry &registry);

/// Every pass of ours and the upstream passes that are useful beside them, for `trn-opt` and textual pipelines.
void registerPasses();

} // namespace trn
