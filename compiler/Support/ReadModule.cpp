//===- ReadModule.cpp - reading IR that anybody may have written ----------===//
#include "compiler/Support/ReadModule.h"
#include "llvm/Support/CrashRecoveryContext.h"

using namespace mlir;

namespace trn {

/// Text that nests deeper than any real module would exhaust the parser's stack.
static constexpr int kMaxDepth = 256;

static bool nestsTooDeep(llvm::StringRef text) {
  int depth = 0;
  for (char c : text) {
    depth += llvm::StringRef("{([<").contains(c) ? 1 : llvm::StringRef("})]>").contains(c) ? -1 : 0;
    depth = std::max(depth, 0); // "->" closes what it did not open
    if (depth > kMaxDepth)
      return true;
  }
  return false;
}

/// Whether `groups` are dimensions 0 to `rank` - 1 in their order, each once.
static bool areConsecutive(ArrayAttr groups, int64_t rank) {
  int64_t next = 0;
  for (Attribute group : groups) {
    auto dimensions = dyn_cast<ArrayAttr>(group);
    if (!dimensions)
      return false;
    for (Attribute dimension : dimensions) {
      auto number = dyn_cast<IntegerAttr>(dimension);
      if (!number || number.getInt() != next++)
        return false;
    }
  }
  return next == rank;
}

/// The verifiers of MLIR's reshapes count dimensions, but do not look at which ones they are.
static LogicalResult verifyReassociations(ModuleOp module) {
  auto rankOf = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && shaped.hasRank() ? shaped.getRank() : 0;
  };
  WalkResult result = module.walk([&](Operation *op) {
    auto groups = op->getAttrOfType<ArrayAttr>("reassociation");
    // Without groups: from or to a scalar.
    if (!groups || groups.empty() || op->getNumOperands() == 0 || op->getNumResults() != 1)
      return WalkResult::advance();
    const int64_t rank = std::max(rankOf(op->getOperand(0).getType()), rankOf(op->getResult(0).getType()));
    if (areConsecutive(groups, rank))
      return WalkResult::advance();
    op->emitOpError("expected the dimensions 0 to ") << rank - 1 << " in their order, each once, but got " << groups;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

OwningOpRef<ModuleOp> readModule(llvm::SourceMgr &sources, const ParserConfig &config, std::string &reason) {
  if (nestsTooDeep(sources.getMemoryBuffer(sources.getMainFileID())->getBuffer())) {
    reason = "nests deeper than " + std::to_string(kMaxDepth) + " levels";
    return {};
  }
  // Parsers of MLIR's own operations follow null attributes on some texts (`permutation = [}` of linalg.transpose).
  OwningOpRef<ModuleOp> module;
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  bool finished = recovery.RunSafely([&] { module = parseSourceFile<ModuleOp>(sources, config); });
  llvm::CrashRecoveryContext::Disable();
  if (!finished)
    reason = "is malformed in a way that MLIR's parser does not survive";
  if (module && failed(verifyReassociations(*module)))
    return {};
  return module;
}

} // namespace trn
