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
  return module;
}

} // namespace trn
