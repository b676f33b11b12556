//===- DialectTest.cpp - operations as instructions -----------------------===//
//
// Owns the tests of what the dialect offers to passes: builders, access patterns of memref types, translation of an
// operation to its ISA struct, the instruction interface, memory effects.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/ACT.h"
#include "dialects/Trn/Control.h"
#include "dialects/Trn/DMA.h"
#include "dialects/Trn/DVE.h"
#include "dialects/Trn/PE.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace trn;
using namespace trn::ir;

namespace {

class Dialect : public ::testing::Test {
protected:
  Dialect() : module(ModuleOp::create(UnknownLoc::get(context()))), builder(module->getBodyRegion()) {}

  MLIRContext *context() {
    if (!loaded) {
      DialectRegistry registry;
      registerTrnDialect(registry);
      mlirContext.appendDialectRegistry(registry);
      mlirContext.loadAllAvailableDialects();
      loaded = true;
    }
    return &mlirContext;
  }
  MemRefType memref(ArrayRef<int64_t> shape, Type element, isa::Space space, MemRefLayoutAttrInterface layout = {}) {
    return MemRefType::get(shape, element, layout, spaceAttr(context(), space));
  }
  Value buffer(ArrayRef<int64_t> shape, isa::Space space = isa::Space::SBUF, Type element = {}) {
    return AllocOp::create(builder, loc(), memref(shape, element ? element : builder.getF32Type(), space),
                           IntegerAttr());
  }
  Location loc() { return UnknownLoc::get(context()); }
  FailureOr<APAttr> pattern(MemRefType type, bool anyOffset = false) {
    return accessPatternOf(type, reason, anyOffset);
  }

  MLIRContext mlirContext;
  bool loaded = false;
  OwningOpRef<ModuleOp> module;
  OpBuilder builder;
  std::string reason;
};

/// Every buffer lies at the same place.
FailureOr<ResolvedBuffer> atPlace(Value) { return ResolvedBuffer{7, 1024, 32}; }

TEST_F(Dialect, BuilderAndTranslation) {
  Value dst = buffer({64, 8}), src = buffer({64, 8}, isa::Space::PSUM), scale = buffer({64, 1});
  auto op = TensorScalarOp::create(builder, loc(), dst, src, ScalarArg(scale), ScalarArg(0.25f), isa::AluOp::Multiply,
                                   isa::AluOp::Subtract, /*reverse0=*/false, /*reverse1=*/true);
  ASSERT_TRUE(succeeded(verify(op)));
  FailureOr<isa::Instruction> inst = op.toInstruction(atPlace);
  ASSERT_TRUE(succeeded(inst));
  EXPECT_EQ(isa::disassemble(*inst),
            "tensor_scalar dst=sbuf[32:96]@1024 fp32 [1,8] src=psum[32:96]@1024 fp32 [1,8] operand0=sbuf[32:96]@1024 "
            "fp32 [1,1] operand1=0.25 op0=multiply op1=subtract reverse1");
  EXPECT_EQ(op.getOperandInfo(0)->role, isa::Role::Out);
  EXPECT_STREQ(op.getOperandInfo(2)->name, "operand0");
  EXPECT_EQ(op->getNumOperands(), 3u) << "an immediate is no operand";
}

TEST_F(Dialect, AccessPatternsCompleteBaseBuffers) {
  auto op = TensorCopyOp::create(builder, loc(), buffer({128, 512}, isa::Space::SBUF, builder.getBF16Type()),
                                 buffer({128, 512}, isa::Space::PSUM));
  InstructionOpInterface inst = op;
  EXPECT_FALSE(inst.getApsAttr());
  auto ap = [&](uint32_t start, uint32_t count, int64_t offset, ArrayRef<int64_t> dims) -> Attribute {
    return APAttr::get(context(), start, count, offset, dims, 0, Type());
  };
  inst.setApsAttr(builder.getArrayAttr({ap(64, 64, 16, {32, 4, 1, 16}), ap(0, 64, 0, {1, 64})}));
  inst.setEngine(isa::Engine::DVE);
  inst.setIssue(100);
  inst.setCompletion(220);
  inst.setWaitAttr(WaitAttr::get(context(), 3, 9));
  inst.setUpdateAttr(UpdateAttr::get(context(), 4, 1));
  ASSERT_TRUE(succeeded(verify(op)));
  FailureOr<isa::Instruction> result =
      op.toInstruction([](Value) -> FailureOr<ResolvedBuffer> { return ResolvedBuffer{0, 2048, 0}; });
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(isa::disassemble(*result),
            "tensor_copy dst=sbuf[64:128]@2080 bf16 [32,4][1,16] src=psum[0:64]@2048 fp32 [1,64]");
  EXPECT_EQ(inst.getEngine(), isa::Engine::DVE);
  EXPECT_EQ(inst.getIssue(), 100);
  EXPECT_EQ(inst.getCompletion(), 220);
  EXPECT_EQ(inst.getWaitAttr().getValue(), 9u);
  EXPECT_EQ(inst.getUpdateAttr().getAdd(), 1);
  EXPECT_FALSE(inst.isDma());
  EXPECT_EQ(inst.getOpcode(), isa::Opcode::TensorCopy);
}

TEST_F(Dialect, PatternOfViews) {
  Type f32 = builder.getF32Type();
  APAttr whole = *pattern(memref({128, 4, 8}, f32, isa::Space::SBUF));
  EXPECT_EQ(whole.getCount(), 128u);
  EXPECT_EQ(whole.getDims(), (ArrayRef<int64_t>{8, 4, 1, 8}));
  EXPECT_EQ(whole.getRowStep(), 0);
  EXPECT_EQ(whole.getElements(), 32);

  // Partitions 32 to 95 and columns 5 to 12 of a base of 128 x 64.
  auto layout = StridedLayoutAttr::get(context(), 32 * 64 + 5, {64, 1});
  APAttr view = *pattern(memref({64, 8}, f32, isa::Space::SBUF, layout));
  EXPECT_EQ(view.getStart(), 32u);
  EXPECT_EQ(view.getCount(), 64u);
  EXPECT_EQ(view.getOffset(), 5);

  // Device memory: rows, also repeated ones.
  APAttr rows = *pattern(memref({3, 64}, f32, isa::Space::HBM, StridedLayoutAttr::get(context(), 10, {100, 1})));
  EXPECT_EQ(rows.getRowStep(), 100);
  EXPECT_EQ(rows.getOffset(), 10);
  EXPECT_EQ(
      pattern(memref({128, 64}, f32, isa::Space::HBM, StridedLayoutAttr::get(context(), 0, {0, 1})))->getRowStep(), 0);

  // Five free dimensions merge where they are one run; where they are not, they are refused.
  EXPECT_EQ(pattern(memref({128, 2, 3, 4, 5, 6}, f32, isa::Space::SBUF))->getRank(), 4u);
  EXPECT_TRUE(failed(pattern(memref({1, 2, 2, 2, 2, 2}, f32, isa::Space::SBUF,
                                    StridedLayoutAttr::get(context(), 0, {900, 400, 180, 80, 30, 7})))));
  EXPECT_NE(reason.find("four free dimensions"), std::string::npos) << reason;

  auto dynamic = StridedLayoutAttr::get(context(), ShapedType::kDynamic, {64, 1});
  EXPECT_TRUE(failed(pattern(memref({64, 8}, f32, isa::Space::SBUF, dynamic))));
  EXPECT_TRUE(succeeded(pattern(memref({64, 8}, f32, isa::Space::SBUF, dynamic), /*anyOffset=*/true)));
  EXPECT_TRUE(failed(pattern(MemRefType::get({64, 8}, f32))));
  EXPECT_TRUE(failed(pattern(memref({64, ShapedType::kDynamic}, f32, isa::Space::SBUF))));
}

TEST_F(Dialect, ElementTypesTranslateBothWays) {
  for (unsigned code = 0; code < 64; ++code) {
    isa::DType type = static_cast<isa::DType>(code);
    if (!isa::isKnown(type) || type == isa::DType::F32R)
      continue;
    EXPECT_EQ(hostDtypeOf(elementTypeOf(context(), type)), type) << isa::name(type);
  }
  EXPECT_EQ(dtypeOf(Float80Type::get(context())), std::nullopt);
  EXPECT_EQ(dtypeOf(builder.getIntegerType(4)), std::nullopt);
  EXPECT_EQ(spaceOf(RankedTensorType::get({4}, builder.getF32Type(), PSUMAttr::get(context()))), isa::Space::PSUM);
  EXPECT_EQ(spaceOf(RankedTensorType::get({4}, builder.getF32Type())), std::nullopt);
}

TEST_F(Dialect, ScalarOpsHaveRows) {
  Value x = arith::ConstantOp::create(builder, loc(), builder.getF32FloatAttr(1.0f));
  EXPECT_EQ(scalarOpInfo(arith::AddFOp::create(builder, loc(), x, x))->alu, isa::AluOp::Add);
  EXPECT_EQ(scalarOpInfo(arith::CmpFOp::create(builder, loc(), arith::CmpFPredicate::OGE, x, x))->alu,
            isa::AluOp::IsGe);
  auto silu =
      ScalarOp::create(builder, loc(), x.getType(), ActivationFuncAttr::get(context(), isa::ActivationFunc::Silu), x);
  EXPECT_EQ(scalarOpInfo(silu)->activation, isa::ActivationFunc::Silu);
  EXPECT_EQ(scalarOpInfo(x.getDefiningOp()), nullptr);
}

/// Roles become effects: a matmul reads its destination only when it accumulates.
TEST_F(Dialect, MemoryEffects) {
  Value dst = buffer({64, 32}, isa::Space::PSUM), weights = buffer({128, 64}), input = buffer({128, 32});
  auto readsDestination = [&](NcMatmulOp op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    bool reads = false, writes = false;
    for (const MemoryEffects::EffectInstance &effect : effects) {
      bool isDst = effect.getValue() == dst;
      reads |= isDst && llvm::isa<MemoryEffects::Read>(effect.getEffect());
      writes |= isDst && llvm::isa<MemoryEffects::Write>(effect.getEffect());
    }
    EXPECT_TRUE(writes);
    return reads;
  };
  EXPECT_FALSE(readsDestination(NcMatmulOp::create(builder, loc(), dst, weights, input)));
  EXPECT_TRUE(readsDestination(NcMatmulOp::create(builder, loc(), dst, weights, input, /*accumulate=*/true)));
  Value predicate = arith::ConstantIntOp::create(builder, loc(), 1, 1);
  auto selected = NcMatmulOp::create(builder, loc(), dst, weights, input, false, true, predicate);
  EXPECT_TRUE(readsDestination(selected));
  EXPECT_EQ(selected.getOperandInfo(3), nullptr) << "the predicate is no memory";
}

TEST_F(Dialect, TranslationFailsWithAReason) {
  auto op = MemsetOp::create(builder, loc(), buffer({64, 8}), 0.0f);
  std::string message;
  ScopedDiagnosticHandler handler(context(), [&](Diagnostic &diag) {
    message = diag.str();
    return success();
  });
  EXPECT_TRUE(failed(op.toInstruction([](Value) -> FailureOr<ResolvedBuffer> { return failure(); })));
  EXPECT_NE(message.find("operand 'dst' has no place in memory"), std::string::npos) << message;
}

} // namespace
