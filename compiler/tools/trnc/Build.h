//===- Build.h - executables for the commands -----------------------------===//
//
// Owns the way from a file on the command line to an executable: a .trnx is loaded, everything else is compiled with the
// options of the call. Prints problems and knows the exit code that they mean.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Pipeline/Compiler.h"
#include "compiler/tools/trnc/CommandLine.h"

namespace trn::driver {

/// The compile options of a call; usage problems are recorded in `line`.
CompileOptions compileOptions(CommandLine &line);

/// The same options for a part of the model: what they say about inputs that it does not have is left out.
CompileOptions optionsForInputs(CompileOptions options, llvm::ArrayRef<std::string> inputs);

/// Prints problems to standard error: the severity, the model file, the node, the reason, the way out.
void printProblems(const std::string &file, const Diagnostics &problems, bool remarks = false);
/// `1 call`, `2 calls`.
std::string counted(int64_t count, llvm::StringRef thing);
/// One line on standard error.
void printError(const std::string &text);

/// The exit code that a compiler's failure means.
int exitCodeOf(Compiler::Failure failure);

/// The executable of a module at stage `synced`, with its weights in memory; null with problems of the compiler.
std::shared_ptr<const exe::Executable> encodeInMemory(Compiler &compiler);

/// An executable and what keeps it alive.
struct Built {
  std::unique_ptr<Compiler> compiler; ///< null when loaded from a file
  std::shared_ptr<const exe::Executable> executable;
};

/// Compiles `file` from stage `start` on, or loads it. Weights of a compiled executable lie in memory. Returns kOk, or the exit code with the
/// problems printed.
int obtainExecutable(const std::string &file, std::optional<Stage> start, const CompileOptions &options, Built &built);

/// The stage that the .mlir file is at (--start-from); a usage problem when it is none, or the file another kind.
std::optional<Stage> startStage(CommandLine &line, const std::string &file);

} // namespace trn::driver
