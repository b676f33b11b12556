//===- Stages.cpp - the stages of a compilation ---------------------------===//
#include "compiler/Pipeline/Stages.h"

namespace trn {

llvm::ArrayRef<Stage> allStages() {
  static const Stage kStages[] = {
#define TRN_STAGE(id, name, contract) Stage::id,
#include "compiler/Pipeline/Stages.def"
  };
  return kStages;
}

llvm::StringRef stageName(Stage stage) {
  switch (stage) {
#define TRN_STAGE(id, name, contract)                                                                                  \
  case Stage::id:                                                                                                      \
    return name;
#include "compiler/Pipeline/Stages.def"
  }
  return "";
}

llvm::StringRef stageContract(Stage stage) {
  switch (stage) {
#define TRN_STAGE(id, name, contract)                                                                                  \
  case Stage::id:                                                                                                      \
    return contract;
#include "compiler/Pipeline/Stages.def"
  }
  return "";
}

std::optional<Stage> parseStage(llvm::StringRef name) {
  for (Stage stage : allStages())
    if (stageName(stage) == name)
      return stage;
  return std::nullopt;
}

} // namespace trn
