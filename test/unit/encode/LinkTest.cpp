// Programs of several parts: registers of loops and branches, where queues meet, and facts that count the rounds.
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "backends/Trnx/Link.h"
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

  FailureOr<exe::Executable> link(const std::string &body, bool *refused = nullptr,
                                  const std::string &head = "trn.program inputs([]) outputs([])") {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kPart + (head + " {" + body + "}"), &context);
    EXPECT_TRUE(module);
    if (!module)
      return failure();
    return linkModule(*module, options, refused);
  }

  /// A program of inputs of such types, which a part declares and nothing reads. Returns what links it.
  FailureOr<exe::Executable> linkWith(const std::string &n, const std::string &body) {
    return link("trn.run @ports " + body, nullptr,
                "module @ports { trn.global @n kind(input) io_name \"n\" : memref<" + n + ", #trn.hbm> " + kRest +
                    " } trn.program inputs([\"n\"]) outputs([])");
  }
  static constexpr const char *kRest = "trn.global @left kind(output) io_name \"left\" : memref<1x40xf32, #trn.hbm> "
                                       "func.func @main() { %0 = trn.alloc : memref<1x20xf32, #trn.hbm> return }";

  EncodeOptions options;

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
  EXPECT_NE(message.find("too many loops and branches"), std::string::npos) << message;
  EXPECT_NE(message.find("expected at most 64 registers"), std::string::npos) << message;
  EXPECT_NE(message.find("but got 65"), std::string::npos) << message;
}

TEST_F(Link, WorkCountsTheRounds) {
  FailureOr<exe::Executable> executable =
      link("trn.run @part trn.repeat limit(7) carried([]) { trn.run @part trn.repeat limit(3) carried([]) { trn.run @part } }");
  ASSERT_TRUE(succeeded(executable));
  EXPECT_EQ(executable->build["model_macs"], std::to_string(5 * (1 + 7 + 21)));
}

TEST_F(Link, FactsOfTheCallerAreNoSums) {
  options.build = {{"opt_level", "2"}, {"compiler", "ours"}};
  FailureOr<exe::Executable> executable = link("trn.run @part trn.run @part trn.run @part");
  ASSERT_TRUE(succeeded(executable));
  EXPECT_EQ(executable->build["opt_level"], "2");
  EXPECT_EQ(executable->build["compiler"], "ours");
}

TEST_F(Link, ScratchIsWhatPartsHaveAndWhatTheyLeaveForEachOther) {
  FailureOr<exe::Executable> executable = linkWith("1x1xi32", "");
  ASSERT_TRUE(succeeded(executable));
  EXPECT_EQ(executable->build["scratch_bytes"], std::to_string(4 * (20 + 40)));
}

TEST_F(Link, InputsAndOutputsAreOfSomePart) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
  for (const char *head : {"trn.program inputs([\"nobody\"]) outputs([])", "trn.program inputs([]) outputs([\"nobody\"])"}) {
    message.clear();
    EXPECT_TRUE(failed(link("trn.run @part", nullptr, head)));
    EXPECT_NE(message.find("put \"nobody\" of the program"), std::string::npos) << message;
  }
}

TEST_F(Link, OneIntegerDecidesTheWay) {
  for (const char *type : {"1x1xi32", "1x1xi8"}) {
    EXPECT_TRUE(succeeded(linkWith(type, "trn.either condition(\"n\") { } else { }")));
    EXPECT_TRUE(succeeded(linkWith(type, "trn.repeat count(\"n\") limit(2147483647) carried([]) { }")));
  }
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
  for (const char *body :
       {"trn.either condition(\"n\") { } else { }", "trn.repeat count(\"n\") limit(2147483647) carried([]) { }",
        "trn.repeat limit(9) condition(\"n\") carried([]) { }"})
    for (const auto &[type, found] :
         {std::pair("2x8xf32", "got 16 elements of fp32"), std::pair("1x1xf32", "got 1 element of fp32"),
          std::pair("1x2xi32", "got 2 elements of int32"), std::pair("0x1xi32", "got 0 elements of int32")}) {
      message.clear();
      EXPECT_TRUE(failed(linkWith(type, body))) << body << type;
      EXPECT_NE(message.find("expected one integer or flag in buffer 'n' to decide the way"), std::string::npos)
          << message;
      EXPECT_NE(message.find(found), std::string::npos) << message;
    }
}

TEST_F(Link, QueuesMeetBehindWhatTheyReadToDecide) {
  // Behind a branch or loop of which no part was executed, the next part may write what decided.
  auto barriers = [](const exe::Executable &executable, bool taken) {
    rt::Path path;
    path.others = taken;
    absl::StatusOr<exe::Executable> way = rt::unroll(executable, path);
    EXPECT_TRUE(way.ok());
    unsigned count = 0;
    for (const isa::Command &command : way->programs.front().commands)
      count += std::holds_alternative<isa::Barrier>(command.inst);
    return count;
  };
  const std::string idle = "trn.repeat limit(0) carried([]) { }", part = "trn.run @part ";
  const std::string both = "trn.either condition(\"n\") { " + idle + " } else { }";
  for (const std::string &first : {std::string(), idle, part + idle, both, part}) {
    FailureOr<exe::Executable> executable =
        linkWith("1x1xi32", "trn.either condition(\"n\") { " + first + " } else { " + first + " }");
    ASSERT_TRUE(succeeded(executable));
    for (bool taken : {true, false})
      EXPECT_GE(barriers(*executable, taken), 2u + (first == part + idle)) << first; // one is behind @ports
  }
  FailureOr<exe::Executable> counted = linkWith("1x1xi32", "trn.repeat count(\"n\") limit(2147483647) carried([]) { }");
  ASSERT_TRUE(succeeded(counted));
  EXPECT_EQ(barriers(*counted, false), 2u);
}
