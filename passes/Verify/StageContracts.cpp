//===- StageContracts.cpp - the contract of any stage ---------------------===//
#include "passes/Verify/StageContracts.h"
#include "passes/Buffer/BufferedContract.h"
#include "passes/Select/SelectedContract.h"
#include "passes/Tile/GroupedContract.h"
#include "passes/Verify/Contracts.h"
#include "passes/Verify/ModelContracts.h"
#include "passes/Verify/TiledContract.h"

using namespace mlir;

LogicalResult trn::verifyStage(Stage stage, ModuleOp module, const isa::DeviceInfo &device) {
  switch (stage) {
  case Stage::Imported:
    return verifyImported(module);
  case Stage::Graph:
    return verifyGraph(module);
  case Stage::Tensor:
    return verifyTensor(module);
  case Stage::Grouped:
    return verifyGrouped(module);
  case Stage::Tiled:
    return verifyTiled(module);
  case Stage::Buffered:
    return verifyBuffered(module);
  case Stage::Selected:
    return verifySelected(module);
  case Stage::Scheduled:
    return verifyScheduled(module, device);
  case Stage::Allocated:
    return verifyAllocated(module, device);
  case Stage::Synced:
    return verifySynced(module, device);
  case Stage::Encoded:
    return success();
  }
  llvm_unreachable("all stages handled");
}
