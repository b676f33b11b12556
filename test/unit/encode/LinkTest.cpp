// Programs of several parts: registers of loops, and facts that count the rounds.
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "passes/Encode/Link.h"
#include "runtime/timing/Unroll.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace trn;

namespace {

constexpr const char *kPart = "module @part attributes {trn.model_macs = 5 : i64} { func.func @main() { return } }\n";

class Link : public ::testing::Test {
protected:
  Link() {
    DialectRegistry registry;
    registry.insert<func::FuncDialect>();
    ir::registerTrnDialect(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  FailureOr<exe::Executable> link(const std::string &body, bool *refused = nullptr) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        kPart + ("trn.program inputs([]) outputs([]) {" + body + "}"), &context);
    EXPECT_TRUE(module);
    if (!module)
      return failure();
    return linkModule(*module, {}, refused);
  }

  MLIRContext context;
};

std::string loops(unsigned number, const std::string &inner) {
  return number == 0 ? inner : "trn.repeat limit(2) carried([]) {" + loops(number - 1, inner) + "}\n";
}

} // namespace

TEST_F(Link, LoopsBehindOneAnotherShareRegisters) {
  std::string body;
  for (int i = 0; i < 200; ++i)
    body += loops(3, "trn.run @part ");
  FailureOr<exe::Executable> executable = link(body);
  ASSERT_TRUE(succeeded(executable));
  EXPECT_EQ(executable->build["model_macs"], std::to_string(200 * 8 * 5));
}

TEST_F(Link, DeepLoopsAreRefused) {
  EXPECT_TRUE(succeeded(link(loops(64, ""))));
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
  bool refused = false;
  EXPECT_TRUE(failed(link(loops(65, ""), &refused)));
  EXPECT_TRUE(refused);
  EXPECT_NE(message.find("expected at most 64 registers"), std::string::npos) << message;
  EXPECT_NE(message.find("but got 65"), std::string::npos) << message;
}

TEST_F(Link, WorkCountsTheRounds) {
  FailureOr<exe::Executable> executable =
      link("trn.run @part trn.repeat limit(7) carried([]) { trn.run @part trn.repeat limit(3) carried([]) { trn.run @part } }");
  ASSERT_TRUE(succeeded(executable));
  EXPECT_EQ(executable->build["model_macs"], std::to_string(5 * (1 + 7 + 21)));
}
