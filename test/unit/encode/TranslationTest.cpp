#include "backends/Trnx/Translation.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace mlir;
using namespace trn;

namespace {

isa::AP onChip(isa::Space space, uint64_t address, uint32_t elements) {
  isa::AP ap;
  ap.space = space;
  ap.dtype = isa::DType::F32;
  ap.partitions = 64;
  ap.address = address;
  ap.rank = 1;
  ap.dims[0] = {1, elements};
  return ap;
}

/// One buffer of each kind, one command of several shapes, weights of `weightBytes`.
exe::Executable sample(uint64_t weightBytes) {
  exe::Executable executable;
  executable.device = "trn2";
  executable.build = {{"model_macs", "17"}, {"compiler", "test"}};
  executable.debug = {{}, {"Conv_1", "Conv", "load \"weights\""}};
  auto buffer = [&](exe::BufferKind kind, const char *name, isa::DType host) {
    exe::Buffer buffer;
    buffer.kind = kind;
    buffer.name = name;
    buffer.dtype = isa::DType::I32;
    buffer.hostDtype = host;
    buffer.shape = {2, 3};
    buffer.bytes = 24;
    executable.buffers.push_back(buffer);
  };
  buffer(exe::BufferKind::Input, "ids", isa::DType::I64);
  buffer(exe::BufferKind::Output, "y", isa::DType::I32);
  buffer(exe::BufferKind::Weight, "w", isa::DType::I32);
  executable.buffers.back().weightOffset = 64;
  buffer(exe::BufferKind::Scratch, "scratch3", isa::DType::I32);

  isa::TensorCopy copy;
  copy.dst = onChip(isa::Space::SBUF, 4096, 32);
  copy.src = onChip(isa::Space::PSUM, 2048, 32);
  isa::Command command;
  command.inst = copy;
  command.engine = isa::Engine::DVE;
  command.hasWait = true;
  command.wait = {7, 48};
  command.hasUpdate = true;
  command.update = {2, 1};
  command.debug = 1;
  executable.programs.push_back({isa::Engine::DVE, {command}});

  isa::DmaCopy load;
  load.dst = onChip(isa::Space::SBUF, 0, 32);
  load.src = onChip(isa::Space::HBM, 0, 32);
  load.src.buffer = 2;
  load.src.partitionStep = 32;
  isa::Command dma;
  dma.inst = load;
  dma.engine = isa::Engine::SP;
  dma.ring = 1;
  dma.hasUpdate = true;
  dma.update = {9, 16};
  executable.programs.push_back({isa::Engine::SP, {dma, dma}});

  auto bytes = std::make_shared<std::vector<uint8_t>>(weightBytes);
  for (uint64_t i = 0; i < weightBytes; ++i)
    (*bytes)[i] = static_cast<uint8_t>(i * 37 + 11);
  executable.weights.bytes = weightBytes;
  executable.weights.read = [bytes](uint64_t offset, void *out, uint64_t size) {
    std::memcpy(out, bytes->data() + offset, size);
    return true;
  };
  return executable;
}

void expectEqual(const exe::Executable &a, const exe::Executable &b) {
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.build, b.build);
  EXPECT_EQ(a.ir, b.ir);
  ASSERT_EQ(a.buffers.size(), b.buffers.size());
  for (size_t i = 0; i < a.buffers.size(); ++i) {
    const exe::Buffer &x = a.buffers[i], &y = b.buffers[i];
    EXPECT_EQ(std::tie(x.kind, x.name, x.dtype, x.shape, x.bytes, x.weightOffset, x.hostDtype),
              std::tie(y.kind, y.name, y.dtype, y.shape, y.bytes, y.weightOffset, y.hostDtype));
  }
  ASSERT_EQ(a.debug.size(), b.debug.size());
  for (size_t i = 0; i < a.debug.size(); ++i)
    EXPECT_EQ(std::tie(a.debug[i].node, a.debug[i].opType, a.debug[i].note),
              std::tie(b.debug[i].node, b.debug[i].opType, b.debug[i].note));
  ASSERT_EQ(a.programs.size(), b.programs.size());
  for (size_t p = 0; p < a.programs.size(); ++p) {
    EXPECT_EQ(a.programs[p].engine, b.programs[p].engine);
    ASSERT_EQ(a.programs[p].commands.size(), b.programs[p].commands.size());
    for (size_t i = 0; i < a.programs[p].commands.size(); ++i) {
      const isa::Command &x = a.programs[p].commands[i], &y = b.programs[p].commands[i];
      EXPECT_TRUE(isa::equal(x.inst, y.inst));
      EXPECT_EQ(std::tie(x.engine, x.ring, x.hasWait, x.hasUpdate, x.debug),
                std::tie(y.engine, y.ring, y.hasWait, y.hasUpdate, y.debug));
      EXPECT_EQ(std::tie(x.wait.semaphore, x.wait.value, x.update.semaphore, x.update.add),
                std::tie(y.wait.semaphore, y.wait.value, y.update.semaphore, y.update.add));
    }
  }
  ASSERT_EQ(a.weights.bytes, b.weights.bytes);
  std::vector<uint8_t> bytesA(a.weights.bytes), bytesB(b.weights.bytes);
  ASSERT_TRUE(a.weights.bytes == 0 || a.weights.read(0, bytesA.data(), bytesA.size()));
  ASSERT_TRUE(b.weights.bytes == 0 || b.weights.read(0, bytesB.data(), bytesB.size()));
  EXPECT_EQ(bytesA, bytesB);
}

TEST(TrnxTranslation, TextHoldsEverything) {
  for (uint64_t weightBytes : {0, 24, 5000}) {
    MLIRContext context;
    exe::Executable before = sample(weightBytes);
    before.ir = weightBytes ? "a \"quoted\"\nline" : "";
    FailureOr<OwningOpRef<ModuleOp>> module = exportToTrnx(before, &context);
    ASSERT_TRUE(succeeded(module));
    ASSERT_TRUE(succeeded(verify(**module)));
    std::string text;
    llvm::raw_string_ostream stream(text);
    (*module)->print(stream);

    OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(parsed) << text;
    FailureOr<exe::Executable> after = importFromTrnx(*parsed);
    ASSERT_TRUE(succeeded(after));
    expectEqual(before, *after);
  }
}

TEST(TrnxTranslation, UnreadableWeightsAreAnError) {
  MLIRContext context;
  unsigned errors = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &) {
    ++errors;
    return success();
  });
  exe::Executable executable = sample(100);
  executable.weights.read = [](uint64_t, void *, uint64_t) { return false; };
  EXPECT_TRUE(failed(exportToTrnx(executable, &context)));
  EXPECT_EQ(errors, 1u);
}

TEST(TrnxTranslation, TextThatLiesIsRefused) {
  MLIRContext context;
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  FailureOr<OwningOpRef<ModuleOp>> module = exportToTrnx(sample(0), &context);
  ASSERT_TRUE(succeeded(module));
  (*module)->walk([](trnx::InstOp op) { op.setText("nop"); });
  EXPECT_TRUE(failed(verify(**module)));
  EXPECT_NE(message.find("expected the text 'tensor_copy"), std::string::npos) << message;

  message.clear();
  (*module)->walk([](trnx::InstOp op) { op.setEncoding("zz"); });
  EXPECT_TRUE(failed(verify(**module)));
  EXPECT_NE(message.find("hexadecimal"), std::string::npos) << message;
}

} // namespace
