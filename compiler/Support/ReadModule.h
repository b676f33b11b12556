//===- ReadModule.h - reading IR that anybody may have written ------------===//
#ifndef TRN_COMPILER_SUPPORT_READMODULE_H
#define TRN_COMPILER_SUPPORT_READMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include <string>

namespace trn {
/// Parses the main buffer of `sources` as a module. Null when it is none; `reason` says why when no diagnostic of the
/// parser did: the text nests deeper than any real module (the parser recurses), or the parser itself fails on it. The
/// context of `config` must not be used after the latter.
mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::SourceMgr &sources, const mlir::ParserConfig &config,
                                             std::string &reason);
} // namespace trn

#endif
