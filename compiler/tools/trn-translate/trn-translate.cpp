//===- trn-translate.cpp - between files and IR ---------------------------===//
//
// Owns the registrations: ONNX to MLIR (stage `imported`), executables to MLIR and back (dialect trnx).
//
//===----------------------------------------------------------------------===//
#include "backends/Trnx/Translation.h"
#include "compiler/Import/Import.h"
#include "compiler/Support/ProcessEnd.h"
#include "compiler/Support/Register.h"
#include "runtime/executable/ExecutableFile.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static void registerTranslations() {
  static TranslateToMLIRRegistration fromOnnx(
      "import-onnx", "ONNX model to stage `imported` (shapes must be static)",
      [](llvm::SourceMgr &sources, MLIRContext *context) -> OwningOpRef<Operation *> {
        trn::loadImportDialects(*context);
        const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
        llvm::ArrayRef<char> bytes(buffer->getBufferStart(), buffer->getBufferSize());
        trn::Diagnostics problems;
        FailureOr<OwningOpRef<ModuleOp>> module =
            trn::importModel(*context, bytes, /*folder=*/"", trn::ImportOptions(), problems);
        for (const trn::Problem &problem : problems.problems())
          llvm::errs() << problem.severityName() << ": " << problem.str() << "\n";
        if (failed(module))
          return {};
        return OwningOpRef<Operation *>(module->release().getOperation());
      },
      [](DialectRegistry &registry) { trn::registerDialects(registry); });
  static TranslateToMLIRRegistration fromTrnx(
      "trnx-to-mlir", "executable to the trnx dialect",
      [](llvm::SourceMgr &sources, MLIRContext *context) -> OwningOpRef<Operation *> {
        const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
        absl::StatusOr<std::shared_ptr<const trn::exe::Executable>> loaded = trn::exe::loadExecutable(
            absl::MakeConstSpan(reinterpret_cast<const uint8_t *>(buffer->getBufferStart()), buffer->getBufferSize()),
            buffer->getBufferIdentifier().str());
        absl::Status status = loaded.ok() ? trn::exe::verifyWeights(**loaded) : loaded.status();
        if (!status.ok()) {
          llvm::errs() << "error: " << std::string(status.message()) << "\n";
          return {};
        }
        context->loadDialect<trn::trnx::TrnxDialect>();
        FailureOr<OwningOpRef<ModuleOp>> module = trn::exportToTrnx(**loaded, context);
        return failed(module) ? OwningOpRef<Operation *>() : OwningOpRef<Operation *>(module->release().getOperation());
      },
      [](DialectRegistry &registry) { trn::registerDialects(registry); });
  static TranslateFromMLIRRegistration toTrnx(
      "mlir-to-trnx", "trnx dialect to an executable",
      [](ModuleOp module, llvm::raw_ostream &output) -> LogicalResult {
        FailureOr<trn::exe::Executable> executable = trn::importFromTrnx(module);
        if (failed(executable))
          return failure();
        absl::StatusOr<std::vector<uint8_t>> bytes = trn::exe::serializeExecutable(*executable);
        if (!bytes.ok())
          return module.emitError() << std::string(bytes.status().message());
        output.write(reinterpret_cast<const char *>(bytes->data()), bytes->size());
        return success();
      },
      [](DialectRegistry &registry) { trn::registerDialects(registry); });
}

int main(int argc, char **argv) {
  trn::endProcessCleanly(/*fatalCode=*/1, /*badFileCode=*/1);
  registerTranslations();
  return failed(mlirTranslateMain(argc, argv, "trn-mlir's translation driver"));
}
