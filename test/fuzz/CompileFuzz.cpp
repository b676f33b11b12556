//===- CompileFuzz.cpp - fuzzing the whole compiler -----------------------===//
//
// Takes any ONNX model as far as it goes. A model that compiles must give an executable that the writer accepts and that
// passes the checker; a model that does not must be refused with a reason, never as a defect of the compiler.
//
//===----------------------------------------------------------------------===//
#include "compiler/Pipeline/Compiler.h"
#include "compiler/Import/Import.h"
#include "runtime/check/Check.h"
#include "runtime/executable/ExecutableFile.h"
#include "test/fuzz/ModelMutator.h"
#include "llvm/Support/raw_ostream.h"

[[noreturn]] static void defect(const std::string &text) {
  llvm::errs() << "defect: " << text << "\n";
  __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace trn;
  Compiler compiler({});
  Diagnostics problems;
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> model =
      importModel(compiler.context(), llvm::ArrayRef<char>(reinterpret_cast<const char *>(data), size), "",
                  fuzz::bindSizes(data, size), problems);
  if (llvm::failed(model) || problems.hasErrors())
    return 0;
  compiler.adopt(std::move(*model), Stage::Imported);
  if (llvm::failed(compiler.advance(Stage::Synced))) {
    if (compiler.failure() == Compiler::Failure::Internal)
      defect(compiler.problems().problems().empty() ? "no reason" : compiler.problems().problems().back().str());
    return 0;
  }
  mlir::FailureOr<exe::Executable> executable = compiler.encode();
  if (llvm::failed(executable))
    defect("stage encoded");
  if (executable->weights.bytes < (16u << 20))
    if (absl::StatusOr<std::vector<uint8_t>> bytes = exe::serializeExecutable(*executable); !bytes.ok())
      defect(std::string(bytes.status().message()));
  if (rt::CheckReport report = rt::check(*executable); !report.ok())
    defect(report.str());
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return trn::fuzz::mutateModel(data, size, maxSize, seed);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t firstSize, const uint8_t *second,
                                            size_t secondSize, uint8_t *out, size_t maxSize, unsigned seed) {
  return trn::fuzz::crossModels(first, firstSize, second, secondSize, out, maxSize, seed);
}
