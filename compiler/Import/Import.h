//===- Import.h - from an ONNX file to the onnx dialect -------------------===//
//
// Owns the entry points of the ONNX front: import, check, inspect and the table of operators. A model is read without
// copying its weights, checked completely (every problem of the model in one run, never only the first) and turned
// into one `func.func @main` in the canonical form of the onnx dialect. Refuses what it cannot compile, with the node,
// the reason and a hint; never crashes on a broken or hostile file.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Support/Problems.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace trn {

/// A tensor given by the caller: the value of an input that is bound while compiling.
struct BoundTensor {
  int32_t dataType = 0; ///< ONNX's TensorProto.DataType
  std::vector<int64_t> shape;
  std::string bytes; ///< little endian, row-major
};

struct ImportOptions {
  /// Values of symbolic dimensions: `--dim batch=1`.
  std::map<std::string, int64_t> dims;
  /// Whole shapes of inputs: `--shape x=1x3x224x224`. The elements of a sequence are inputs `x.0`, `x.1`, …: the sequence
  /// has as many as have a shape here, or as `--shape x=2` says. An input with a default value (an initializer of its
  /// name) is that constant unless it has a shape here, or a value in `constInputs`.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Optional inputs that have no element: `--shape x=none`.
  std::set<std::string> absent;
  /// Inputs that become constants: `--const-input`.
  std::map<std::string, BoundTensor> constInputs;
  /// Allow external data behind symbolic links that leave the model's folder (model hubs store files that way).
  bool allowExternalLinks = false;
};

/// Imports a model file: stage `imported`. Every problem is added to `problems`; on any error the result is failure.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext &context, llvm::StringRef path,
                                                               const ImportOptions &options, Diagnostics &problems);
/// The same for a model in memory, which must outlive the module. External data is looked for in `folder`; with an
/// empty folder it is refused.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext &context, llvm::ArrayRef<char> bytes,
                                                               llvm::StringRef folder, const ImportOptions &options,
                                                               Diagnostics &problems);

/// An operator that the importer replaces by its definition in the standard, which fits every node.
struct InlinedOperator {
  std::string name;
  std::vector<int> since; ///< the versions with such a definition
};
/// All of them that have no record of their own, by name.
std::vector<InlinedOperator> inlinedOperators();

/// The dialects that an imported module needs.
void loadImportDialects(mlir::MLIRContext &context);

} // namespace trn
