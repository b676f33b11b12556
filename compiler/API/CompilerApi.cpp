//===- CompilerApi.cpp - the C API over Compiler --------------------------===//
//
// Owns the handle and the way problems leave the compiler. No rule lives here: options, models and stages are judged by
// the classes below.
//
//===----------------------------------------------------------------------===//
#include "compiler/Pipeline/Compiler.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/src/OutputFile.h"
#include "trn/compiler.h"
#include "llvm/ADT/STLExtras.h"

using namespace trn;

struct trn_compilation {
  CompileOptions options;
  std::vector<Problem> problems; ///< of the last compilation, without remarks
  std::vector<uint8_t> executable;
  std::string message;
};

namespace {

trn_compile_status fail(trn_compilation *compilation, trn_compile_status status, std::string message) {
  compilation->message = std::move(message);
  return status;
}

trn_compile_status succeed(trn_compilation *compilation) { return fail(compilation, TRN_COMPILE_OK, ""); }

trn_compile_status statusOf(Compiler::Failure failure) {
  switch (failure) {
  case Compiler::Failure::None:
    return TRN_COMPILE_OK;
  case Compiler::Failure::Unsupported:
    return TRN_COMPILE_UNSUPPORTED;
  case Compiler::Failure::BadInput:
    return TRN_COMPILE_BAD_INPUT;
  case Compiler::Failure::Internal:
    return TRN_COMPILE_INTERNAL;
  }
  return TRN_COMPILE_INTERNAL;
}

/// Takes over the problems of a compilation that failed.
trn_compile_status failWithProblems(trn_compilation *compilation, const Compiler &compiler) {
  std::string message;
  for (const Problem &problem : compilation->problems)
    if (problem.severity == Problem::Severity::Error)
      message += (message.empty() ? "" : "\n") + problem.str();
  return fail(compilation, statusOf(compiler.failure()), std::move(message));
}

/// Compiles what `open` opens, and keeps problems and executable.
trn_compile_status compile(trn_compilation *compilation, llvm::function_ref<mlir::LogicalResult(Compiler &)> open) {
  compilation->problems.clear();
  compilation->executable.clear();
  Compiler compiler(compilation->options);
  mlir::FailureOr<exe::Executable> encoded = mlir::failure();
  if (llvm::succeeded(open(compiler)) && llvm::succeeded(compiler.advance(Stage::Synced)))
    encoded = compiler.encode();
  llvm::copy_if(compiler.problems().problems(), std::back_inserter(compilation->problems),
                [](const Problem &problem) { return problem.severity != Problem::Severity::Remark; });
  if (llvm::failed(encoded))
    return failWithProblems(compilation, compiler);
  absl::StatusOr<std::vector<uint8_t>> bytes = exe::serializeExecutable(*encoded);
  if (!bytes.ok())
    return fail(compilation, TRN_COMPILE_INTERNAL, std::string(bytes.status().message()));
  compilation->executable = std::move(*bytes);
  return succeed(compilation);
}

} // namespace

const char *trn_compiler_version() { return TRN_VERSION; }

trn_compilation *trn_compilation_create() { return new trn_compilation; }

void trn_compilation_free(trn_compilation *compilation) { delete compilation; }

trn_compile_status trn_compilation_set_option(trn_compilation *compilation, const char *name, const char *value) {
  if (!name || !value)
    return fail(compilation, TRN_COMPILE_USAGE, "expected the name and the value of an option but got NULL");
  std::string reason = setOption(compilation->options, name, value);
  if (!reason.empty())
    return fail(compilation, TRN_COMPILE_USAGE, "option '" + std::string(name) + "': " + reason);
  return succeed(compilation);
}

trn_compile_status trn_compilation_compile_file(trn_compilation *compilation, const char *path) {
  if (!path)
    return fail(compilation, TRN_COMPILE_USAGE, "expected the path of a model but got NULL");
  return compile(compilation, [&](Compiler &compiler) { return compiler.open(path, std::nullopt); });
}

trn_compile_status trn_compilation_compile_bytes(trn_compilation *compilation, const void *model, size_t size,
                                                 const char *folder) {
  if (!model && size)
    return fail(compilation, TRN_COMPILE_USAGE, "expected the bytes of a model but got NULL");
  return compile(compilation, [&](Compiler &compiler) {
    return compiler.open(llvm::ArrayRef(static_cast<const char *>(model), size), folder && *folder ? folder : ".");
  });
}

trn_compile_status trn_compilation_executable(trn_compilation *compilation, const void **bytes, size_t *size) {
  const bool isThere = !compilation->executable.empty();
  *bytes = isThere ? compilation->executable.data() : nullptr;
  *size = compilation->executable.size();
  return isThere ? succeed(compilation)
                 : fail(compilation, TRN_COMPILE_USAGE, "the last compilation made no executable");
}

trn_compile_status trn_compilation_write(trn_compilation *compilation, const char *path) {
  if (!path)
    return fail(compilation, TRN_COMPILE_USAGE, "expected the path of an executable but got NULL");
  if (compilation->executable.empty())
    return fail(compilation, TRN_COMPILE_USAGE, "the last compilation made no executable");
  rt::OutputFile file;
  absl::Status status = file.open(path);
  if (status.ok()) {
    file.write(compilation->executable.data(), compilation->executable.size()); // a failure shows at the end
    status = file.commit();
  }
  return status.ok() ? succeed(compilation) : fail(compilation, TRN_COMPILE_BAD_INPUT, std::string(status.message()));
}

size_t trn_compilation_num_problems(const trn_compilation *compilation) { return compilation->problems.size(); }

trn_compile_status trn_compilation_problem(const trn_compilation *compilation, size_t index, trn_problem *problem) {
  if (index >= compilation->problems.size())
    return TRN_COMPILE_USAGE;
  const Problem &found = compilation->problems[index];
  *problem = {found.severity == Problem::Severity::Error ? TRN_PROBLEM_ERROR : TRN_PROBLEM_WARNING,
              found.node.c_str(),
              found.op.c_str(),
              found.index,
              found.opset,
              found.reason.c_str(),
              found.hint.c_str()};
  return TRN_COMPILE_OK;
}

const char *trn_compilation_message(const trn_compilation *compilation) { return compilation->message.c_str(); }
