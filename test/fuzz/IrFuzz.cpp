//===- IrFuzz.cpp - fuzzing textual IR of every stage ---------------------===//
//
// Feeds any text to the parser, the verifiers and the stages' contracts. What verifies must print as text that parses
// again; a module that keeps the contract of a stage is compiled from there to the end, one of stage `encoded` is
// translated to an executable. Nothing that is wrong with the text may be called a defect of the compiler.
//
//===----------------------------------------------------------------------===//
#include "backends/Trnx/Translation.h"
#include "compiler/Pipeline/Compiler.h"
#include "compiler/Support/ReadModule.h"
#include "dialects/Trn/Program.h"
#include "passes/Verify/StageContracts.h"
#include "runtime/executable/ExecutableFile.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <cctype>
#include <optional>
#include <random>

using namespace trn;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

[[noreturn]] static void defect(const std::string &text) {
  llvm::errs() << "defect: " << text << "\n";
  __builtin_trap();
}

/// Sanitized frames are large: less depth than readModule allows exhausts the stack.
static bool nestsTooDeep(llvm::StringRef text) {
  int depth = 0;
  for (char c : text) {
    depth += llvm::StringRef("{([<").contains(c) ? 1 : llvm::StringRef("})]>").contains(c) ? -1 : 0;
    depth = std::max(depth, 0);
    if (depth > 64)
      return true;
  }
  return false;
}

/// Parsers and verifiers of MLIR's own operations do not survive all texts, so readModule does in their place. Ours have
/// to survive by themselves: they are called outside of it, too.
static mlir::OwningOpRef<mlir::ModuleOp> read(llvm::StringRef text, const mlir::ParserConfig &config) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text), llvm::SMLoc());
  std::string reason;
  return readModule(sources, config, reason);
}

/// Compiles a module that is at `stage` to the end.
static void compileFrom(Stage stage, llvm::StringRef text) {
  Compiler compiler({});
  mlir::ParserConfig config(&compiler.context());
  compiler.adopt(mlir::parseSourceString<mlir::ModuleOp>(text, config), stage);
  if (llvm::failed(compiler.advance(Stage::Synced))) {
    if (compiler.problems().problems().empty())
      defect("refused without a reason");
    return;
  }
  mlir::FailureOr<exe::Executable> encoded = compiler.encode();
  if (llvm::succeeded(encoded))
    if (absl::Status legal = exe::verifyExecutable(*encoded); !legal.ok())
      defect(std::string(legal.message()));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (nestsTooDeep(text))
    return 0;
  Compiler compiler({});
  mlir::OwningOpRef<mlir::ModuleOp> unverified =
      read(text, mlir::ParserConfig(&compiler.context(), /*verifyAfterParse=*/false));
  if (!unverified)
    return 0;
  unverified->walk([](mlir::Operation *op) {
    if (llvm::is_contained({"onnx", "trn", "trnx"}, op->getName().getDialectNamespace()))
      (void)mlir::verify(op, /*verifyRecursively=*/false);
  });
  mlir::ParserConfig config(&compiler.context());
  mlir::OwningOpRef<mlir::ModuleOp> module = read(text, config);
  if (!module)
    return 0;
  std::string printed;
  llvm::raw_string_ostream os(printed);
  module->print(os);
  if (!mlir::parseSourceString<mlir::ModuleOp>(printed, config))
    defect("what was printed does not parse");

  const isa::DeviceInfo &device = *isa::device("trn2");
  mlir::FailureOr<exe::Executable> executable = importFromTrnx(*module);
  if (llvm::succeeded(executable))
    (void)exe::serializeExecutable(*executable);
  // A module that keeps a stage's contract is taken further, the longest way that there is.
  std::optional<Stage> from;
  for (Stage stage : llvm::reverse(allStages()))
    if (stage < Stage::Encoded && llvm::all_of(ir::partsOf(*module), [&](mlir::ModuleOp part) {
          return llvm::succeeded(verifyStage(stage, part, device));
        }))
      from = stage;
  if (from)
    compileFrom(*from, text);
  return 0;
}

/// Changes numbers, words and lines; bytes only now and then.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  std::string text(reinterpret_cast<const char *>(data), size);
  if (text.empty() || below(12) == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  // Tokens: runs of word characters, and single others.
  std::vector<std::pair<size_t, size_t>> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    if (word(text[i]))
      while (end < text.size() && word(text[end]))
        ++end;
    if (!std::isspace(static_cast<unsigned char>(text[i])))
      tokens.emplace_back(i, end);
    i = end;
  }
  if (tokens.empty())
    return LLVMFuzzerMutate(data, size, maxSize);
  auto token = [&](size_t i) { return text.substr(tokens[i].first, tokens[i].second - tokens[i].first); };
  static const char *const kNumbers[] = {"0", "1", "2", "-1", "127", "128", "129", "512", "2048", "65536", "4294967296",
                                         "9223372036854775807", "-9223372036854775808", "1000000000000"};
  size_t which = below(tokens.size());
  if (random() % 2) // numbers decide more than anything else
    for (size_t i = 0; i < tokens.size(); ++i) {
      size_t candidate = (which + i) % tokens.size();
      if (std::isdigit(static_cast<unsigned char>(text[tokens[candidate].first]))) {
        which = candidate;
        break;
      }
    }
  auto [from, to] = tokens[which];
  size_t lineBegin = text.rfind('\n', from), lineEnd = text.find('\n', from);
  lineBegin = lineBegin == std::string::npos ? 0 : lineBegin + 1;
  lineEnd = lineEnd == std::string::npos ? text.size() : lineEnd + 1;
  std::string line = text.substr(lineBegin, lineEnd - lineBegin);
  if (std::isdigit(static_cast<unsigned char>(text[from])) && below(4)) {
    size_t x = text.find('x', from); // the first size of a shape, or a whole number
    text.replace(from, (x != std::string::npos && x < to ? x : to) - from, kNumbers[below(std::size(kNumbers))]);
  } else {
    switch (below(6)) {
    case 0:
      text.erase(lineBegin, line.size());
      break;
    case 1:
      text.insert(lineEnd, line);
      break;
    case 2:
      text.erase(from, to - from);
      break;
    case 3: { // a line of another place
      auto other = tokens[below(tokens.size())];
      size_t begin = text.rfind('\n', other.first), end = text.find('\n', other.first);
      begin = begin == std::string::npos ? 0 : begin + 1;
      text.insert(lineBegin, text.substr(begin, (end == std::string::npos ? text.size() : end + 1) - begin));
      break;
    }
    default:
      text.replace(from, to - from, token(below(tokens.size())));
    }
  }
  if (text.size() > maxSize)
    return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
