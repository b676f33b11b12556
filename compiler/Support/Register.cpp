//===- Register.cpp - all dialects and passes of the project --------------===//
#include "compiler/Support/Register.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/Trn/TrnDialect.h"
#include "dialects/Trnx/TrnxDialect.h"
#include "mlir/InitAllPasses.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "passes/Buffer/Passes.h"
#include "passes/Graph/Passes.h"
#include "passes/Schedule/Passes.h"
#include "passes/Select/Passes.h"
#include "passes/Tensor/Passes.h"
#include "passes/Tile/LayoutPasses.h"
#include "passes/Tile/SchedulePasses.h"
#include "passes/Verify/Passes.h"

namespace trn {

void registerDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<onnx::ONNXDialect, trnx::TrnxDialect>();
  ir::registerTrnDialect(registry);
  registerKernelBufferization(registry);
}

void registerPasses() {
  mlir::registerAllPasses();
  registerGraphPasses();
  registerGraphPipeline();
  registerTensorPasses();
  registerTensorPipeline();
  registerTileLayoutPasses();
  registerTileSchedulePasses();
  registerTilePipeline();
  registerBufferPasses();
  registerBufferPipeline();
  registerSelectPasses();
  registerSelectPipeline();
  registerTrnSchedulePasses();
  registerTrnVerifyPasses();
}

} // namespace trn
