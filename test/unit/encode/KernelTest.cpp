// Kernels of stage `selected` through the whole bottom half, executed on the emulated device and compared with plain
// loops; their timelines compared with the schedule that the compiler believed in.
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Encode/Encode.h"
#include "passes/Schedule/Passes.h"
#include "passes/Verify/Passes.h"
#include "runtime/emulator/Functional.h"
#include "runtime/timing/Timing.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace trn;

namespace {

float fromBf16(uint16_t bits) {
  uint32_t word = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}
/// Of values that bf16 holds exactly.
uint16_t toBf16(float value) {
  uint32_t word;
  std::memcpy(&word, &value, 4);
  return word >> 16;
}

class Kernel : public ::testing::Test {
protected:
  Kernel() {
    DialectRegistry registry;
    registry.insert<affine::AffineDialect, arith::ArithDialect, func::FuncDialect, memref::MemRefDialect,
                    scf::SCFDialect>();
    ir::registerTrnDialect(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  void compile(StringRef name) {
    std::string path = std::string(KERNELS) + "/" + name.str() + ".mlir";
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
    ASSERT_TRUE(module);
    PassManager passes(&context);
    passes.addPass(createTrnFlatten());
    passes.addPass(createTrnSplitBuffers());
    passes.addPass(createTrnAssignEngines());
    passes.addPass(createTrnSchedule());
    passes.addPass(createTrnAllocate());
    passes.addPass(createTrnInsertSync());
    passes.addPass(createTrnVerifySync());
    ASSERT_TRUE(succeeded(passes.run(*module)));
    module->walk([&](ir::InstructionOpInterface op) { modelled = std::max(modelled, *op.getCompletion()); });
    FailureOr<exe::Executable> encoded = encodeModule(*module);
    ASSERT_TRUE(succeeded(encoded));
    executable = std::move(*encoded);
  }

  /// Buffers by their names in the kernel; outputs come back in place.
  void run(std::map<std::string, std::vector<uint8_t> *> named) {
    std::vector<rt::HbmBuffer> buffers;
    for (const exe::Buffer &buffer : executable.buffers) {
      ASSERT_TRUE(named.count(buffer.name)) << buffer.name;
      std::vector<uint8_t> &bytes = *named[buffer.name];
      ASSERT_EQ(bytes.size(), buffer.bytes) << buffer.name;
      buffers.push_back({bytes.data(), bytes.size()});
    }
    auto statistics = rt::runFunctional(executable, buffers, rt::RunOptions());
    ASSERT_TRUE(statistics.ok()) << statistics.status();
  }

  /// The device takes at most 10 % longer than the schedule assumed: beyond it the cost model of the scheduler is off.
  void expectTimeAsModelled() {
    rt::TimingOptions options;
    options.peRamp = false; // the schedule assumes a warm clock
    auto timeline = rt::simulate(executable, options);
    ASSERT_TRUE(timeline.ok()) << timeline.status();
    EXPECT_LE(timeline->end, modelled * 11 / 10);
    EXPECT_GE(timeline->end, modelled * 8 / 10);
  }

  MLIRContext context;
  exe::Executable executable;
  int64_t modelled = 0;
  std::mt19937 random{5};
};

TEST_F(Kernel, MatmulGivesTheProduct) {
  compile("matmul");
  std::vector<uint8_t> at(256 * 128 * 2), b(256 * 1024 * 2), c(128 * 1024 * 4);
  auto *atValues = reinterpret_cast<uint16_t *>(at.data());
  auto *bValues = reinterpret_cast<uint16_t *>(b.data());
  // Small integers: every order of the sum is exact.
  for (unsigned i = 0; i < 256 * 128; ++i)
    atValues[i] = toBf16(float(int(random() % 15) - 7));
  for (unsigned i = 0; i < 256 * 1024; ++i)
    bValues[i] = toBf16(float(int(random() % 15) - 7));
  run({{"at", &at}, {"b", &b}, {"c", &c}});
  const auto *result = reinterpret_cast<const float *>(c.data());
  for (unsigned m = 0; m < 128; ++m)
    for (unsigned n = 0; n < 1024; ++n) {
      float sum = 0;
      for (unsigned k = 0; k < 256; ++k)
        sum += fromBf16(atValues[k * 128 + m]) * fromBf16(bValues[k * 1024 + n]);
      ASSERT_EQ(result[m * 1024 + n], sum) << m << ", " << n;
    }
  EXPECT_EQ(executable.build["hardware_macs"], std::to_string(128 * 1024 * 256));
  expectTimeAsModelled();
}

TEST_F(Kernel, ConvolutionSumsNineTaps) {
  compile("conv3x3");
  std::vector<uint8_t> x(64 * 256 * 2), w(64 * 9 * 64 * 2), y(64 * 196 * 2);
  auto *xs = reinterpret_cast<uint16_t *>(x.data());
  auto *ws = reinterpret_cast<uint16_t *>(w.data());
  for (unsigned i = 0; i < 64 * 256; ++i)
    xs[i] = toBf16(float(int(random() % 3) - 1));
  for (unsigned i = 0; i < 64 * 9 * 64; ++i)
    ws[i] = toBf16(float(int(random() % 3) - 1) / 8);
  run({{"x", &x}, {"w", &w}, {"y", &y}});
  const auto *result = reinterpret_cast<const uint16_t *>(y.data());
  for (unsigned m = 0; m < 64; ++m)
    for (unsigned row = 0; row < 14; ++row)
      for (unsigned column = 0; column < 14; ++column) {
        float sum = 0;
        for (unsigned c = 0; c < 64; ++c)
          for (unsigned tap = 0; tap < 9; ++tap)
            sum += fromBf16(xs[c * 256 + (row + tap / 3) * 16 + column + tap % 3]) *
                   fromBf16(ws[(c * 9 + tap) * 64 + m]);
        // Sums are multiples of 1/8 below 72; above 32 bf16 rounds them to multiples of 1/4.
        ASSERT_NEAR(fromBf16(result[m * 196 + row * 14 + column]), std::max(sum, 0.0f), 0.125f);
      }
  expectTimeAsModelled();
}

TEST_F(Kernel, SoftmaxRowsSumToOne) {
  compile("softmax");
  std::vector<uint8_t> x(256 * 1000 * 4), y(256 * 1000 * 4);
  auto *values = reinterpret_cast<float *>(x.data());
  for (unsigned i = 0; i < 256 * 1000; ++i)
    values[i] = float(int(random() % 2001) - 1000) / 100;
  run({{"x", &x}, {"y", &y}});
  const auto *result = reinterpret_cast<const float *>(y.data());
  for (unsigned row = 0; row < 256; ++row) {
    double largest = *std::max_element(values + row * 1000, values + row * 1000 + 1000), sum = 0;
    for (unsigned i = 0; i < 1000; ++i)
      sum += std::exp(values[row * 1000 + i] - largest);
    for (unsigned i = 0; i < 1000; ++i) {
      double expected = std::exp(values[row * 1000 + i] - largest) / sum;
      ASSERT_NEAR(result[row * 1000 + i], expected, 1e-6 + 1e-5 * expected);
    }
  }
  expectTimeAsModelled();
}

} // namespace
