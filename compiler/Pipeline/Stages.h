//===- Stages.h - the stages of a compilation -----------------------------===//
//
// Owns the names and the order of the stages (Stages.def). A module at any stage can be dumped, reloaded and resumed.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace trn {

enum class Stage {
#define TRN_STAGE(id, name, contract) id,
#include "compiler/Pipeline/Stages.def"
};

/// All stages in order.
llvm::ArrayRef<Stage> allStages();
/// "imported", "graph", ...
llvm::StringRef stageName(Stage stage);
/// What holds at the stage, in a sentence.
llvm::StringRef stageContract(Stage stage);
std::optional<Stage> parseStage(llvm::StringRef name);

} // namespace trn
