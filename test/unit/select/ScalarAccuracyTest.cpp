//===- ScalarAccuracyTest.cpp - what records compute, against doubles -----===//
// Every scalar of floats that has an instruction (ScalarOps.td) or a composition (Compositions.td) and every elementwise
// operator whose record has a scalar operation or a formula for floats is compiled down to instructions and run on the
// emulator's kernels, and compared with the same operation on doubles. The arguments cover the type: every exponent with
// both signs, denormals, both zeros, infinities, NaN, and numbers around small integers and quarters of turns, where
// functions have their zeros, poles and seams. Nothing here names an operation: a new record is compared as soon as it
// stands.
#include "compiler/Pipeline/Compiler.h"
#include "compiler/Reference/Evaluator.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/Trn/ISA/Compositions.h"
#include "mlir/Parser/Parser.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace mlir;
using namespace trn;

namespace {
/// What is compared: an operation and how exact it says it is.
struct Case {
  std::string name;
  bool isOperator;   ///< of the dialect onnx, on tensors; else a scalar one
  unsigned operands;
  bool isTest;       ///< its results are booleans; of a scalar operation 1 and 0
  Accuracy accuracy;
  double low, high;          ///< for these arguments
  bool isWhole = true;       ///< its special values are right for all arguments
};

bool isComparison(StringRef key) { return key.starts_with("arith.cmp"); }

std::vector<Case> compositionCases() {
  std::vector<Case> cases;
  for (const isa::Composition &row : isa::allCompositions())
    cases.push_back({row.key, false, isComparison(row.key) ? 2u : 1u, isComparison(row.key), row.accuracy, row.low,
                     row.high});
  return cases;
}

/// The rows of ScalarOps.td that need no composition, on the ranges of their tables.
std::vector<Case> instructionCases() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<Case> cases;
  for (const isa::ScalarOpInfo &row : isa::allScalarOps()) {
    StringRef key = row.key;
    bool isOfFloats = key.starts_with("arith.cmpf") || key.starts_with("trn.scalar") || key.ends_with("f") ||
                      (key.starts_with("math.") && key != "math.absi");
    if (!isOfFloats || isa::composition(row.key))
      continue;
    Case one{row.key, false, row.arity, isComparison(key), row.accuracy, -kInfinity, kInfinity, false};
    if (row.activation && !row.alu) {
      one.low = isa::info(*row.activation).low;
      one.high = isa::info(*row.activation).high;
    }
    cases.push_back(one);
  }
  return cases;
}

std::vector<Case> operatorCases() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<Case> cases;
  for (const onnx::OpRecord &record : onnx::records()) {
    const Formula &formula = record.floatFormula;
    if (record.floatScalar.empty() && formula.empty())
      continue;
    StringRef result = formula.empty() ? StringRef(record.floatScalar) : formula.steps[formula.size - 1].text;
    unsigned operands = record.operands[0].arity == onnx::Arity::Variadic ? 2 : record.operands.size();
    Case one{record.operation.str(), true, operands, isComparison(result), record.accuracy, -kInfinity, kInfinity};
    if (const isa::ScalarOpInfo *row = isa::scalarOp({result.data(), result.size()}); row && formula.empty())
      one.accuracy = row->accuracy;
    if (const isa::Composition *row = isa::composition({result.data(), result.size()}); row && formula.empty()) {
      one.accuracy = row->accuracy;
      one.low = row->low;
      one.high = row->high;
    }
    cases.push_back(one);
  }
  return cases;
}

/// A function `main` of vectors of `size` elements of the type.
std::string program(const Case &one, StringRef element, size_t size) {
  std::string vector = "tensor<" + std::to_string(size) + "x" + element.str() + ">", type = element.str();
  std::string result = one.isTest && one.isOperator ? "i1" : type, results = "tensor<" + std::to_string(size) + "x" + result + ">";
  bool two = one.operands == 2;
  std::string head = "func.func @main(%a: " + vector + (two ? ", %b: " + vector : "") + ") -> " + results + " {\n";
  std::string tail = "  return %r : " + results + "\n}\n";
  if (one.isOperator)
    return head + "  %r = " + one.name + "(%a" + (two ? ", %b" : "") + ") : (" + vector + (two ? ", " + vector : "") +
           ") -> " + results + "\n" + tail;
  auto [operation, predicate] = StringRef(one.name).rsplit('.');
  std::string scalar = operation == "trn.scalar" ? operation.str() + " " + predicate.str() : one.name;
  if (isComparison(one.name))
    scalar = operation.str() + " " + predicate.str() + ",";
  scalar += two ? " %x, %y" : " %x";
  std::string value = "%s";
  if (one.isTest) {
    value = "%v";
    type += "\n    %one = arith.constant 1.0 : " + type + "\n    %zero = arith.constant 0.0 : " + type +
            "\n    %v = arith.select %s, %one, %zero : " + type;
  }
  return "#id = affine_map<(d0) -> (d0)>\n" + head + "  %e = tensor.empty() : " + results +
         "\n  %r = linalg.generic {indexing_maps = [#id, #id" + (two ? ", #id" : "") +
         "], iterator_types = [\"parallel\"]} ins(%a" + (two ? ", %b" : "") + " : " + vector + (two ? ", " + vector : "") +
         ") outs(%e : " + results + ") {\n  ^bb0(%x: " + element.str() + (two ? ", %y: " + element.str() : "") + ", %o: " + result +
         "):\n    %s = " + scalar + " : " + type + "\n    linalg.yield " + value + " : " + result + "\n  } -> " + results + "\n" + tail;
}

/// Arguments over the whole type.
std::vector<float> arguments() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values{0.0f, -0.0f, kInfinity, -kInfinity, std::nanf("")};
  std::mt19937 random(1);
  for (uint32_t exponent = 0; exponent < 255; ++exponent)
    for (int i = 0; i < 60; ++i) {
      uint32_t fraction = i == 0 ? 0 : i == 1 ? 1 : i == 2 ? 0x7FFFFF : random() & 0x7FFFFF;
      for (uint32_t sign : {0u, 0x80000000u}) {
        uint32_t bits = sign | exponent << 23 | fraction;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        values.push_back(value);
      }
    }
  for (int i = -40; i <= 40; ++i)
    for (double step : {-1e-3, -1e-6, 0.0, 1e-7, 1e-4, 0.25, 0.5})
      values.push_back(static_cast<float>(i + step * std::max(1, std::abs(i))));
  // Beside quarters of turns, up to where circular functions are exact: zeros, poles, and the seams of reductions.
  for (int quarters = 1; quarters < 1 << 15; quarters += 1 + quarters / 50)
    for (double step : {-3e-4, -1e-7, 0.0, 1e-7, 3e-4})
      values.push_back(static_cast<float>(quarters * 1.57079632679489661923 * (1 + step / quarters)));
  return values;
}

/// Second operands: each one the same, a random other, infinite or no number.
std::vector<float> partners(const std::vector<float> &values) {
  std::vector<float> others = values;
  std::mt19937 random(2);
  for (size_t i = 0; i < others.size(); ++i)
    if (i % 4)
      others[i] = values[i % 16 == 1 ? random() % 5 : random() % values.size()];
  return others;
}

template <typename T> Tensor vectorOf(Type element, const std::vector<float> &values) {
  std::vector<T> converted(values.begin(), values.end());
  return Tensor::of<T>(element, {int64_t(values.size())}, ArrayRef<T>(converted));
}

/// The distance of `got` from the fp32 that is wanted, in units of its last place, or of that of `scale`.
double distance(double got, double want, double scale) {
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : std::numeric_limits<double>::infinity();
  // Beyond the largest number an infinity is as near as that.
  double limit = 0x1p128, bounded = std::clamp(want, -limit, limit);
  if (got == bounded || (std::isinf(got) && std::isinf(want)))
    return got == want || std::isinf(got) == std::isinf(want) || std::fabs(want) >= 0x1.ffffffp127 ? 0 : limit;
  double magnitude = std::max({std::fabs(bounded), scale, 0x1p-126});
  double unit = std::ldexp(1.0, std::ilogb(magnitude) - 23);
  return std::fabs(std::clamp(got, -limit, limit) - bounded) / unit;
}

class ScalarAccuracy : public testing::Test {
protected:
  /// What `one` is on doubles, and on the instructions in fp32.
  void compare(const Case &one) {
    SCOPED_TRACE(one.name);
    std::vector<float> x = arguments(), y = partners(x);
    Compiler compiler{CompileOptions()};
    MLIRContext &context = compiler.context();
    auto wide = parseSourceString<ModuleOp>(program(one, "f64", x.size()), &context);
    auto narrow = parseSourceString<ModuleOp>(program(one, "f32", x.size()), &context);
    ASSERT_TRUE(wide && narrow);
    Type f64 = Float64Type::get(&context), f32 = Float32Type::get(&context);
    SmallVector<Tensor> wideArguments{vectorOf<double>(f64, x)}, narrowArguments{vectorOf<float>(f32, x)};
    if (one.operands == 2) {
      wideArguments.push_back(vectorOf<double>(f64, y));
      narrowArguments.push_back(vectorOf<float>(f32, y));
    }
    auto want = evaluate(wide->lookupSymbol<func::FuncOp>("main"), wideArguments);
    ASSERT_TRUE(succeeded(want));
    compiler.adopt(std::move(narrow), one.isOperator ? Stage::Graph : Stage::Tensor);
    ASSERT_TRUE(succeeded(compiler.advance(Stage::Selected))) << compiler.problems().problems().front().str();
    auto got = evaluate(compiler.module().lookupSymbol<func::FuncOp>("main"), narrowArguments);
    ASSERT_TRUE(succeeded(got));
    check(one, x, y, want->front(), got->front());
  }

  void check(const Case &one, const std::vector<float> &x, const std::vector<float> &y, const Tensor &want,
             const Tensor &got) {
    double worst = 0, largest = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size() && one.isWhole && !(one.isTest && one.isOperator); ++i)
      if (double magnitude = std::fabs(want.floatAt(i)); !std::isnan(magnitude))
        largest = std::max(largest, magnitude);
    for (size_t i = 0; i < x.size(); ++i) {
      bool isBoolean = one.isTest && one.isOperator;
      double expected = isBoolean ? double(want.intAt(i)) : want.floatAt(i);
      double actual = isBoolean ? double(got.intAt(i)) : got.floatAt(i);
      bool isInside = x[i] >= one.low && x[i] <= one.high;
      // Everywhere: a result that is no number, or infinite, is so for the right arguments.
      bool isSpecial = one.isWhole && (!std::isfinite(expected) || !std::isfinite(actual) || !std::isfinite(x[i]));
      // Outside of where it is exact, a function keeps within its range.
      if (largest > 0 && std::fabs(actual) > largest * (1 + 0x1p-20))
        ADD_FAILURE() << "f(" << x[i] << ") is " << actual << ", but no value is beyond " << largest;
      bool isLeftOut = !one.accuracy.ofNan && (std::isnan(x[i]) || std::isnan(y[i]));
      double error = isLeftOut ? 0 : isInside || isSpecial ? distance(actual, expected, one.accuracy.scale) : 0;
      if (error > worst) {
        worst = error;
        at = i;
      }
    }
    RecordProperty(one.name, std::to_string(worst));
    EXPECT_LE(worst, one.accuracy.ulps) << "f(" << x[at] << (one.operands == 2 ? ", " + std::to_string(y[at]) : "") << ") is "
                               << got.floatAt(at) << ", but expected " << want.floatAt(at);
  }
};

TEST_F(ScalarAccuracy, OfCompositions) {
  std::vector<Case> cases = compositionCases();
  EXPECT_GT(cases.size(), 20u);
  for (const Case &one : cases)
    compare(one);
}

TEST_F(ScalarAccuracy, OfInstructions) {
  std::vector<Case> cases = instructionCases();
  EXPECT_GT(cases.size(), 20u);
  for (const Case &one : cases)
    compare(one);
}

TEST_F(ScalarAccuracy, OfOperators) {
  std::vector<Case> cases = operatorCases();
  EXPECT_GT(cases.size(), 40u);
  for (const Case &one : cases)
    compare(one);
}
} // namespace
