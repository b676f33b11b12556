//===- RulesTest.cpp - every rule refuses what it must --------------------===//
//
// Owns one legal example of each instruction and, for each rule of the records and each general rule, an example that
// breaks it. A record rule without an example fails `EveryRecordRuleHasAnExample`.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/ISA/ISA.h"
#include "dialects/Trn/ISA/LoopNest.h"
#include "gtest/gtest.h"
#include <functional>
#include <set>

using namespace trn::isa;

namespace {

AP tile(Space space, DType type, uint32_t partitions, std::initializer_list<uint32_t> shape) {
  AP ap;
  ap.space = space;
  ap.dtype = type;
  ap.partitions = partitions;
  int32_t step = 1;
  for (uint32_t count : shape)
    ap.dims[ap.rank++].count = count;
  for (unsigned i = ap.rank; i-- > 0;) {
    ap.dims[i].step = step;
    step *= static_cast<int32_t>(ap.dims[i].count);
  }
  if (space == Space::HBM)
    ap.partitionStep = step;
  return ap;
}
AP sbuf(std::initializer_list<uint32_t> shape, DType type = DType::F32, uint32_t partitions = 128) {
  return tile(Space::SBUF, type, partitions, shape);
}
AP psum(std::initializer_list<uint32_t> shape, DType type = DType::F32, uint32_t partitions = 128) {
  return tile(Space::PSUM, type, partitions, shape);
}

//===----------------------------------------------------------------------===//
// Legal examples
//===----------------------------------------------------------------------===//

template <class X> X legal();

template <> NcMatmul legal() {
  NcMatmul x;
  x.dst = psum({512}, DType::F32, 64);
  x.stationary = sbuf({64}, DType::BF16);
  x.moving = sbuf({512}, DType::BF16);
  return x;
}
template <> NcTranspose legal() {
  NcTranspose x;
  x.dst = psum({128}, DType::F32, 64);
  x.src = sbuf({64});
  return x;
}
template <> Activation legal() {
  Activation x;
  x.dst = sbuf({64});
  x.src = psum({64});
  x.func = ActivationFunc::Exp;
  x.bias = Scalar::at(sbuf({1}));
  x.reduce = sbuf({1});
  return x;
}
template <> ActTableLoad legal() {
  ActTableLoad x;
  x.set = 1;
  return x;
}
template <> TensorTensor legal() {
  TensorTensor x;
  x.dst = x.lhs = x.rhs = sbuf({8, 8});
  return x;
}
template <> TensorScalar legal() {
  TensorScalar x;
  x.dst = x.src = sbuf({64});
  x.op0 = AluOp::Subtract;
  x.operand0 = Scalar::at(sbuf({1}));
  x.op1 = AluOp::Multiply;
  x.operand1 = Scalar::constant(2.0f);
  return x;
}
template <> ScalarTensorTensor legal() {
  ScalarTensorTensor x;
  x.dst = x.src = x.rhs = sbuf({64});
  return x;
}
template <> TensorReduce legal() {
  TensorReduce x;
  x.dst = sbuf({4});
  x.src = sbuf({4, 8, 2});
  x.axes = 2;
  return x;
}
template <> TensorCopy legal() {
  TensorCopy x;
  x.dst = x.src = sbuf({64});
  return x;
}
template <> Memset legal() {
  Memset x;
  x.dst = sbuf({64});
  return x;
}
template <> Reciprocal legal() {
  Reciprocal x;
  x.dst = x.src = sbuf({64});
  return x;
}
template <> Select legal() {
  Select x;
  x.dst = x.onTrue = x.onFalse = sbuf({64});
  x.predicate = sbuf({64}, DType::U8);
  return x;
}
template <> CopyPredicated legal() {
  CopyPredicated x;
  x.dst = x.src = sbuf({64});
  x.predicate = sbuf({64}, DType::U8);
  return x;
}
template <> Max8 legal() {
  Max8 x;
  x.dst = sbuf({8});
  x.src = sbuf({64});
  return x;
}
template <> FindIndex8 legal() {
  FindIndex8 x;
  x.dst = sbuf({8}, DType::U32);
  x.values = sbuf({8});
  x.src = sbuf({64});
  return x;
}
template <> MatchReplace8 legal() {
  MatchReplace8 x;
  x.dst = x.src = sbuf({64});
  x.values = sbuf({8});
  return x;
}
template <> BnStats legal() {
  BnStats x;
  x.dst = sbuf({6});
  x.src = sbuf({512});
  return x;
}
template <> BnAggr legal() {
  BnAggr x;
  x.dst = sbuf({2});
  x.src = sbuf({12});
  return x;
}
template <> NcStreamShuffle legal() {
  NcStreamShuffle x;
  x.dst = x.src = sbuf({64});
  x.mask.fill(255);
  return x;
}
template <> NcTransposeDve legal() {
  NcTransposeDve x;
  x.dst = x.src = sbuf({64});
  return x;
}
template <> TensorTensorScan legal() {
  TensorTensorScan x;
  x.dst = x.lhs = x.rhs = sbuf({64});
  return x;
}
template <> RangeSelect legal() {
  RangeSelect x;
  x.dst = x.onTrue = sbuf({64});
  x.bound0 = x.bound1 = Scalar::at(sbuf({1}));
  x.compare0 = AluOp::IsGe;
  x.compare1 = AluOp::IsLt;
  x.reduce = sbuf({1});
  return x;
}
template <> Iota legal() {
  Iota x;
  x.dst = sbuf({64}, DType::I32);
  x.pattern.rank = 1;
  x.pattern.dims[0] = {1, 64};
  return x;
}
template <> AffineSelect legal() {
  AffineSelect x;
  x.dst = x.onTrue = sbuf({64});
  x.pattern.rank = 1;
  x.pattern.dims[0] = {-1, 64};
  x.compare = AluOp::IsGe;
  return x;
}
template <> PartitionReduce legal() {
  PartitionReduce x;
  x.dst = sbuf({64}, DType::F32, 1);
  x.src = sbuf({64});
  return x;
}
template <> LocalGather legal() {
  LocalGather x;
  x.dst = sbuf({64});
  x.src = sbuf({32});
  x.indices = sbuf({2}, DType::U16);
  x.elementsPerIndex = 2;
  return x;
}
template <> NcNGather legal() {
  NcNGather x;
  x.dst = sbuf({16});
  x.src = sbuf({64});
  x.indices = sbuf({16}, DType::U32);
  return x;
}
/// dst[i] = source0[i] + source1[i].
template <> LibraryLoops legal() {
  LibraryLoops x;
  x.dst = tile(Space::HBM, DType::F64, 1, {8});
  x.source0 = x.source1 = x.dst;
  x.startsFrom = 1;
  x.bounds = {8};
  x.offsets = {0, 0, 0};
  x.strides = {1, 1, 1};
  int32_t types = int32_t(DType::F64) | int32_t(DType::F64) << 8;
  x.program = {3, kFirstLoopFunction + int32_t(ScalarFunction::addf), types, 0, 1, 0};
  return x;
}
AP row(DType type, uint32_t elements) { return tile(Space::HBM, type, 1, {elements}); }
template <> LibraryNonzero legal() {
  LibraryNonzero x;
  x.dims = {2, 3};
  x.mask = row(DType::BOOL, 6);
  x.indices = row(DType::I32, 12);
  x.count = row(DType::I32, 1);
  return x;
}
template <> LibraryUnique legal() {
  LibraryUnique x;
  x.items = 4;
  x.rows = x.values = row(DType::F32, 8);
  x.first = x.inverse = x.counts = row(DType::I32, 4);
  x.count = row(DType::I32, 1);
  return x;
}
template <> LibraryNms legal() {
  LibraryNms x;
  x.batches = 2;
  x.classes = 3;
  x.boxes = 5;
  x.boxesIn = row(DType::F32, 40);
  x.scores = row(DType::F32, 30);
  x.limit = x.count = row(DType::I32, 1);
  x.iouThreshold = x.scoreThreshold = row(DType::F32, 1);
  x.selected = row(DType::I32, 36);
  return x;
}
template <> LibraryDet legal() {
  LibraryDet x;
  x.size = 3;
  x.dst = row(DType::F64, 2);
  x.matrices = row(DType::F64, 18);
  return x;
}
template <> DmaCopy legal() {
  DmaCopy x;
  x.dst = sbuf({64});
  x.src = tile(Space::HBM, DType::F32, 128, {64});
  return x;
}
template <> DmaGather legal() {
  DmaGather x;
  x.dst = sbuf({64});
  x.table = tile(Space::HBM, DType::F32, 100000, {64});
  x.indices = sbuf({1}, DType::I32);
  return x;
}
template <> DmaScatter legal() {
  DmaScatter x;
  x.src = sbuf({64});
  x.table = tile(Space::HBM, DType::F32, 100000, {64});
  x.indices = sbuf({1}, DType::I32);
  return x;
}
template <> SemaphoreWait legal() { return {}; }
template <> Nop legal() { return {}; }
template <> RegisterMove legal() { return {}; }
template <> RegisterAdd legal() { return {}; }
template <> Branch legal() { return {}; }
template <> Loop legal() { return {}; }
template <> RegisterLoad legal() {
  RegisterLoad x;
  x.src = tile(Space::HBM, DType::I32, 1, {1});
  return x;
}
template <> Barrier legal() { return {}; }

template <size_t... I> std::vector<Instruction> legalInstructions(std::index_sequence<I...>) {
  return {Instruction(legal<std::variant_alternative_t<I, Instruction>>())...};
}
/// One of each; a new record without an example does not link.
std::vector<Instruction> legalInstructions() {
  return legalInstructions(std::make_index_sequence<std::variant_size_v<Instruction>>());
}

std::vector<Violation> check(const Instruction &inst, const DeviceInfo &target, Phase phase, Engine engine) {
  std::vector<Violation> violations;
  if (phase == Phase::Engine)
    validateEngine(inst, engine, target, violations);
  else
    validate(inst, target, phase, violations);
  return violations;
}

std::string textOf(const std::vector<Violation> &violations) {
  std::string text;
  for (const Violation &violation : violations)
    text += std::to_string(violation.number) + ": " + violation.message + "\n";
  return text;
}

TEST(Rules, LegalExamplesAreLegalOnSomeEngineOfEveryDeviceThatHasThem) {
  for (const Instruction &inst : legalInstructions())
    for (const DeviceInfo *target : allDevices()) {
      if (target->version < info(opcode(inst)).since)
        continue;
      EXPECT_EQ(textOf(check(inst, *target, Phase::Address, Engine::SP)), "") << disassemble(inst);
      bool runs = false;
      for (unsigned engine = 0; engine < kNumEngines; ++engine)
        runs |= runsOn(inst, static_cast<Engine>(engine), *target);
      EXPECT_TRUE(runs) << disassemble(inst) << " on " << target->name;
    }
}

//===----------------------------------------------------------------------===//
// Examples that break exactly one rule
//===----------------------------------------------------------------------===//

struct Example {
  Instruction inst;
  int number;
  Phase phase = Phase::Shape;
  std::string text; // part of the message
  const char *target = "trn2";
  Engine engine = Engine::DVE;
};

struct Examples {
  std::vector<Example> list;

  /// A legal instruction after `change`.
  template <class X>
  void add(int number, const std::string &text, const std::function<void(X &)> &change, Phase phase = Phase::Shape,
           const char *target = "trn2", Engine engine = Engine::DVE) {
    X x = legal<X>();
    change(x);
    list.push_back({x, number, phase, text, target, engine});
  }
};

/// Removes one element per partition.
void shrink(AP &ap) { ap.dims[0].count -= 1; }

void addPE(Examples &e) {
  e.add<NcMatmul>(20, "but got 128 and 64", [](NcMatmul &x) { x.moving.partitions = 64; });
  e.add<NcMatmul>(21, "(64), but got 63", [](NcMatmul &x) { x.dst.partitions = 63; });
  e.add<NcMatmul>(22, "(512), but got 511", [](NcMatmul &x) { shrink(x.dst); });
  e.add<NcMatmul>(23, "at most 128 columns of 'stationary', but got 129", [](NcMatmul &x) {
    x.stationary.dims[0].count = 129;
    x.dst.partitions = 129;
  });
  e.add<NcMatmul>(24, "at most 512 columns of 'moving', but got 513",
                  [](NcMatmul &x) { x.moving.dims[0].count = x.dst.dims[0].count = 513; });
  e.add<NcMatmul>(25, "but got bf16 and fp32", [](NcMatmul &x) { x.moving.dtype = DType::F32; });
  e.add<NcMatmul>(26, "but got bf16", [](NcMatmul &x) { x.dst.dtype = DType::BF16; });
  e.add<NcMatmul>(27, "spans bytes 2044 to 4091", [](NcMatmul &x) { x.dst.address = 2044; }, Phase::Address);
  e.add<NcTranspose>(20, "but got 129", [](NcTranspose &x) {
    x.src.dims[0].count = 129;
    x.dst.partitions = 129;
  });
  e.add<NcTranspose>(21, "of 64 partitions of 128 elements, but got 64 of 127", [](NcTranspose &x) { shrink(x.dst); });
  e.add<NcTranspose>(22, "but got bf16 and fp32", [](NcTranspose &x) { x.dst.dtype = DType::BF16; });
  e.add<NcTranspose>(23, "inside one PSUM bank", [](NcTranspose &x) { x.dst.address = 1800; }, Phase::Address);
}

void addACT(Examples &e) {
  e.add<Activation>(20, "128 x 63 and 128 x 64", [](Activation &x) { shrink(x.dst); });
  e.add<Activation>(
      21, "the immediate 0.5", [](Activation &x) { x.bias = Scalar::constant(0.5f); }, Phase::Shape, "trn1");
  e.add<Activation>(
      22, "no 'bias' with the reciprocal", [](Activation &x) { x.func = ActivationFunc::Reciprocal; }, Phase::Shape,
      "trn1");
  e.add<Activation>(23, "but got 128 of 2", [](Activation &x) { x.reduce->dims[0].count = 2; });
  e.add<ActTableLoad>(20, "but got 15", [](ActTableLoad &x) { x.set = 15; });
}

void addDVE(Examples &e) {
  e.add<TensorTensor>(20, "'dst' and 'lhs'", [](TensorTensor &x) { shrink(x.dst); });
  e.add<TensorTensor>(21, "'lhs' and 'rhs'", [](TensorTensor &x) { shrink(x.rhs); });
  e.add<TensorTensor>(22, "in psum", [](TensorTensor &x) { x.lhs.space = x.rhs.space = Space::PSUM; });
  e.add<TensorTensor>(23, "with 'bitwise_and'", [](TensorTensor &x) { x.op = AluOp::BitwiseAnd; });
  e.add<TensorTensor>(24, "but got 'bypass'", [](TensorTensor &x) { x.op = AluOp::Bypass; });
  e.add<TensorTensor>(
      25, "operator of POOL, but got 'max'", [](TensorTensor &x) { x.op = AluOp::Max; }, Phase::Engine, "trn2",
      Engine::POOL);
  e.add<TensorScalar>(20, "'dst' and 'src'", [](TensorScalar &x) { shrink(x.dst); });
  e.add<TensorScalar>(21, "op1 is 'bypass'", [](TensorScalar &x) { x.op1 = AluOp::Bypass; });
  e.add<TensorScalar>(21, "op1 is 'multiply'", [](TensorScalar &x) { x.operand1.reset(); });
  e.add<TensorScalar>(22, "two bitwise", [](TensorScalar &x) { x.op1 = AluOp::BitwiseOr; });
  e.add<TensorScalar>(23, "with 'bitwise_or'", [](TensorScalar &x) { x.op0 = x.op1 = AluOp::BitwiseOr; });
  e.add<TensorScalar>(24, "average", [](TensorScalar &x) { x.op0 = AluOp::Average; });
  e.add<TensorScalar>(25, "of ACT", [](TensorScalar &) {}, Phase::Engine, "trn2", Engine::ACT);
  e.add<TensorScalar>(25, "of POOL", [](TensorScalar &) {}, Phase::Engine, "trn2", Engine::POOL);
  e.add<TensorScalar>(25, "of DVE", [](TensorScalar &x) { x.op0 = AluOp::Power; }, Phase::Engine);
  e.add<ScalarTensorTensor>(20, "'dst' and 'src'", [](ScalarTensorTensor &x) { shrink(x.dst); });
  e.add<ScalarTensorTensor>(21, "'src' and 'rhs'", [](ScalarTensorTensor &x) { shrink(x.rhs); });
  e.add<ScalarTensorTensor>(22, "in psum", [](ScalarTensorTensor &x) { x.src.space = x.rhs.space = Space::PSUM; });
  e.add<ScalarTensorTensor>(23, "arithmetic", [](ScalarTensorTensor &x) { x.op1 = AluOp::BitwiseOr; });
  e.add<ScalarTensorTensor>(24, "of DVE", [](ScalarTensorTensor &x) { x.op0 = AluOp::Power; }, Phase::Engine);
  e.add<TensorReduce>(20, "128 partitions, but got 64", [](TensorReduce &x) { x.dst.partitions = 64; });
  e.add<TensorReduce>(21, "at most 3 reduced dimensions, but got 4", [](TensorReduce &x) { x.axes = 4; });
  e.add<TensorReduce>(22, "expected 4 elements per partition of 'dst', but got 3",
                      [](TensorReduce &x) { shrink(x.dst); });
  e.add<TensorReduce>(23, "but got 'is_gt'", [](TensorReduce &x) { x.op = AluOp::IsGt; });
  e.add<TensorReduce>(24, "with 'bitwise_xor'", [](TensorReduce &x) { x.op = AluOp::BitwiseXor; });
  e.add<TensorCopy>(20, "'dst' and 'src'", [](TensorCopy &x) { shrink(x.dst); });
  e.add<TensorCopy>(21, "but got fp32 and int64", [](TensorCopy &x) { x.src.dtype = DType::I64; });
  e.add<TensorCopy>(22, "use activation", [](TensorCopy &) {}, Phase::Engine, "trn1", Engine::ACT);
  e.add<Reciprocal>(20, "'dst' and 'src'", [](Reciprocal &x) { shrink(x.dst); });
  e.add<Select>(20, "'dst' and 'on_true'", [](Select &x) { shrink(x.onTrue); });
  e.add<Select>(21, "128 x 63 and 128 x 64", [](Select &x) { shrink(x.predicate); });
  e.add<Select>(22, "in psum", [](Select &x) { x.onTrue.space = x.predicate.space = Space::PSUM; });
  e.add<CopyPredicated>(20, "'dst' and 'src'", [](CopyPredicated &x) { shrink(x.dst); });
  e.add<CopyPredicated>(21, "'src' and 'predicate'", [](CopyPredicated &x) { shrink(x.predicate); });
  e.add<CopyPredicated>(22, "in psum", [](CopyPredicated &x) { x.src.space = x.predicate.space = Space::PSUM; });
  e.add<CopyPredicated>(23, "equal element types", [](CopyPredicated &x) { x.src.dtype = DType::BF16; });
  e.add<Max8>(20, "but got 128 of 7", [](Max8 &x) { shrink(x.dst); });
  e.add<Max8>(21, "8 to 16384", [](Max8 &x) { x.src.dims[0].count = 7; });
  e.add<FindIndex8>(20, "128 of 7", [](FindIndex8 &x) { shrink(x.values); });
  e.add<FindIndex8>(21, "8 to 16384", [](FindIndex8 &x) { x.src.dims[0].count = 16385; });
  e.add<MatchReplace8>(20, "'dst' and 'src'", [](MatchReplace8 &x) { shrink(x.dst); });
  e.add<MatchReplace8>(21, "8 to 16384", [](MatchReplace8 &x) { x.src.dims[0].count = x.dst.dims[0].count = 7; });
  e.add<MatchReplace8>(22, "128 of 7", [](MatchReplace8 &x) { shrink(x.values); });
  e.add<BnStats>(20, "128 of 5", [](BnStats &x) { shrink(x.dst); });
  e.add<BnStats>(21, "but got 513", [](BnStats &x) { x.src.dims[0].count = 513; });
  e.add<BnAggr>(20, "128 of 1", [](BnAggr &x) { shrink(x.dst); });
  e.add<BnAggr>(21, "but got 11 elements", [](BnAggr &x) { shrink(x.src); });
  e.add<NcStreamShuffle>(20, "'dst' and 'src'", [](NcStreamShuffle &x) { shrink(x.dst); });
  e.add<NcStreamShuffle>(21, "equal element types", [](NcStreamShuffle &x) { x.src.dtype = DType::I32; });
  e.add<NcStreamShuffle>(22, "32 partitions of a group", [](NcStreamShuffle &x) { x.mask[3] = 32; });
  e.add<NcTransposeDve>(20, "'dst' and 'src'", [](NcTransposeDve &x) { x.dst.dims[0].count = 32; });
  e.add<NcTransposeDve>(21, "whole blocks", [](NcTransposeDve &x) { x.dst.partitions = x.src.partitions = 48; });
  e.add<NcTransposeDve>(22, "equal element types", [](NcTransposeDve &x) { x.src.dtype = DType::I32; });
  e.add<TensorTensorScan>(20, "'dst' and 'lhs'", [](TensorTensorScan &x) { shrink(x.dst); });
  e.add<TensorTensorScan>(21, "'lhs' and 'rhs'", [](TensorTensorScan &x) { shrink(x.rhs); });
  e.add<TensorTensorScan>(22, "in psum", [](TensorTensorScan &x) { x.lhs.space = x.rhs.space = Space::PSUM; });
  e.add<TensorTensorScan>(23, "arithmetic", [](TensorTensorScan &x) { x.op0 = AluOp::ShiftLeft; });
  e.add<TensorTensorScan>(24, "of DVE", [](TensorTensorScan &x) { x.op0 = AluOp::Power; }, Phase::Engine);
  e.add<RangeSelect>(20, "'dst' and 'on_true'", [](RangeSelect &x) { shrink(x.onTrue); });
  e.add<RangeSelect>(21, "but got 'is_ge' and 'add'", [](RangeSelect &x) { x.compare1 = AluOp::Add; });
  e.add<RangeSelect>(22, "got an immediate", [](RangeSelect &x) { x.bound0 = Scalar::constant(3.0f); });
  e.add<RangeSelect>(23, "16777153 + 64", [](RangeSelect &x) { x.rangeStart = 16777216 - 63; });
  e.add<RangeSelect>(24, "but got 128 of 2", [](RangeSelect &x) { x.reduce->dims[0].count = 2; });
}

void addPOOL(Examples &e) {
  e.add<Iota>(20, "of 64 elements, but got 63", [](Iota &x) { x.pattern.dims[0].count = 63; });
  e.add<AffineSelect>(20, "'dst' and 'on_true'", [](AffineSelect &x) { shrink(x.onTrue); });
  e.add<AffineSelect>(21, "of 64 elements, but got 65", [](AffineSelect &x) { x.pattern.dims[0].count = 65; });
  e.add<AffineSelect>(22, "but got 'is_lt'", [](AffineSelect &x) { x.compare = AluOp::IsLt; });
  e.add<PartitionReduce>(20, "1 partition of 64 elements, but got 2 of 64",
                         [](PartitionReduce &x) { x.dst.partitions = 2; });
  e.add<PartitionReduce>(21, "but got 'min'", [](PartitionReduce &x) { x.op = AluOp::Min; });
  e.add<PartitionReduce>(22, "with 'bitwise_or'", [](PartitionReduce &x) { x.op = AluOp::BitwiseOr; });
  e.add<LocalGather>(20, "but got 128, 128 and 64", [](LocalGather &x) { x.indices.partitions = 64; });
  e.add<LocalGather>(21, "expected 64 elements", [](LocalGather &x) { shrink(x.dst); });
  e.add<LocalGather>(22, "power of two", [](LocalGather &x) {
    x.elementsPerIndex = 3;
    x.src.dims[0].count = 33;
    x.dst.dims[0].count = 96;
  });
  e.add<LocalGather>(23, "but got 4112", [](LocalGather &x) {
    x.indices.dims[0].count = 257;
    x.dst.dims[0].count = 16 * 257 * 2;
  });
  e.add<LocalGather>(24, "equal element types", [](LocalGather &x) { x.src.dtype = DType::BF16; });
  e.add<LocalGather>(25, "whole groups of 2", [](LocalGather &x) { shrink(x.src); });
  e.add<LibraryLoops>(20, "at most 12 loops, but got 13", [](LibraryLoops &x) { x.bounds.assign(13, 1); });
  e.add<LibraryLoops>(20, "a bound of 0", [](LibraryLoops &x) { x.bounds[0] = 0; });
  e.add<LibraryLoops>(20, "an offset for each of 3 operands", [](LibraryLoops &x) { x.offsets.pop_back(); });
  e.add<LibraryLoops>(20, "elements 0 to 7 of operand 1, but got 0 to 14", [](LibraryLoops &x) { x.strides[1] = 2; });
  e.add<LibraryLoops>(20, "one row of adjacent elements", [](LibraryLoops &x) { x.source0->dims[0].step = 2; });
  e.add<LibraryLoops>(20, "a program of one word", [](LibraryLoops &x) { x.program.pop_back(); });
  e.add<LibraryLoops>(20, "a scalar function, but got 9999",
                      [](LibraryLoops &x) { x.program[1] = kFirstLoopFunction + 9999; });
  e.add<LibraryLoops>(20, "a scalar function, but got -2147483664", [](LibraryLoops &x) { x.program[1] = INT32_MIN; });
  e.add<LibraryLoops>(20, "unknown types", [](LibraryLoops &x) { x.program[2] = 0; });
  e.add<LibraryLoops>(20, "a value below 3, but got 3", [](LibraryLoops &x) { x.program[3] = 3; });
  e.add<LibraryLoops>(20, "value 0 in lanes of 'd', but got 'f'", [](LibraryLoops &x) { x.source0->dtype = DType::F32; });
  e.add<LibraryLoops>(20, "'addi' takes no operands of type fp64", [](LibraryLoops &x) {
    x.program[1] = kFirstLoopFunction + int32_t(ScalarFunction::addi);
  });
  e.add<LibraryLoops>(20, "a source of the result's type, but got source 2", [](LibraryLoops &x) {
    x.program[1] = kLoopGather;
    x.program[3] = 2;
  });
  e.add<LibraryLoops>(21, "source 1 to have the type and elements of dst", [](LibraryLoops &x) {
    shrink(*x.source1);
    x.bounds[0] = 7;
  });
  e.add<LibraryNonzero>(20, "one row of adjacent elements", [](LibraryNonzero &x) { x.mask.dims[0].step = 2; });
  e.add<LibraryNonzero>(21, "a mask of 4 elements", [](LibraryNonzero &x) { x.dims[1] = 2; });
  e.add<LibraryNonzero>(21, "a mask of -1 elements", [](LibraryNonzero &x) { x.dims[1] = -3; });
  e.add<LibraryUnique>(20, "one row of adjacent elements", [](LibraryUnique &x) { x.rows.dims[0].step = 2; });
  e.add<LibraryUnique>(21, "8 fp32 and 8 fp64 in 4 rows", [](LibraryUnique &x) { x.rows.dtype = DType::F64; });
  e.add<LibraryUnique>(22, "4 positions and counts, and one count, but got 3", [](LibraryUnique &x) { shrink(x.first); });
  e.add<LibraryNms>(20, "one row of adjacent elements", [](LibraryNms &x) { x.scores.dims[0].step = 2; });
  e.add<LibraryNms>(21, "2 x 5 boxes and 3 scores, but got 39 and 30", [](LibraryNms &x) { shrink(x.boxesIn); });
  e.add<LibraryNms>(21, "1073741824 x 1073741824 boxes", [](LibraryNms &x) {
    x.batches = x.boxes = 1 << 30; // a product beyond 64 bits
    x.classes = 16;
  });
  e.add<LibraryNms>(22, "but got 35 and 1", [](LibraryNms &x) { shrink(x.selected); });
  e.add<LibraryDet>(20, "one row of adjacent elements", [](LibraryDet &x) { x.matrices.dims[0].step = 2; });
  e.add<LibraryDet>(21, "matrices of 3 x 3 for the 1 results, but got 18", [](LibraryDet &x) { shrink(x.dst); });
  e.add<NcNGather>(20, "128 x 16, 128 x 15", [](NcNGather &x) { shrink(x.indices); });
  e.add<NcNGather>(21, "equal element types", [](NcNGather &x) { x.src.dtype = DType::BF16; });
}

void addDMAAndControl(Examples &e) {
  e.add<DmaCopy>(20, "but got 8064 and 8192", [](DmaCopy &x) { shrink(x.dst); });
  e.add<DmaCopy>(21, "convert through fp32", [](DmaCopy &x) { x.src.dtype = DType::I64; });
  e.add<DmaGather>(20, "but got 128 x 2", [](DmaGather &x) { x.indices.dims[0].count = 2; });
  e.add<DmaGather>(21, "rows of 64 elements", [](DmaGather &x) { shrink(x.dst); });
  e.add<DmaGather>(22, "equal element types", [](DmaGather &x) { x.dst.dtype = DType::BF16; });
  e.add<DmaGather>(23, "expected POOL", [](DmaGather &) {}, Phase::Engine, "trn2", Engine::SP);
  e.add<DmaScatter>(20, "but got 64 x 1", [](DmaScatter &x) { x.indices.partitions = 64; });
  e.add<DmaScatter>(21, "rows of 64 elements", [](DmaScatter &x) { shrink(x.src); });
  e.add<DmaScatter>(22, "equal element types", [](DmaScatter &x) { x.src.dtype = DType::BF16; });
  e.add<DmaScatter>(23, "expected POOL", [](DmaScatter &) {}, Phase::Engine, "trn2", Engine::SP);
  e.add<RegisterLoad>(20, "expected one element, but got 2", [](RegisterLoad &x) { x.src.partitions = 2; });
  e.add<Branch>(20, "comparison or bypass, but got 'add'", [](Branch &x) { x.compare = AluOp::Add; });
}

/// General rules, on instructions without own rules about the same thing.
void addGeneral(Examples &e) {
  e.add<Memset>(1, "expected memory space sbuf or psum, but got hbm",
                [](Memset &x) { x.dst = tile(Space::HBM, DType::F32, 4, {4}); });
  e.add<Memset>(2, "element type int64 is not supported by memset", [](Memset &x) { x.dst.dtype = DType::I64; });
  e.add<Memset>(2, "core version 4 for fp8e4fn", [](Memset &x) { x.dst.dtype = DType::F8E4FN; });
  e.add<Max8>(3, "at most 3 free dimensions, but got 4", [](Max8 &x) { x.src = sbuf({2, 2, 2, 2}); });
  e.add<Memset>(4, "at most 128 partitions, but got 129", [](Memset &x) { x.dst.partitions = 129; });
  e.add<RangeSelect>(
      10, "expected core version 3 for 'range_select', but got 2", [](RangeSelect &) {}, Phase::Shape, "trn1");
  for (auto [start, count] : {std::pair<uint16_t, uint32_t>{16, 16}, {32, 33}, {64, 65}, {96, 33}, {128, 1}})
    e.add<Memset>(
        5, "but got start " + std::to_string(start),
        [=, s = start, c = count](Memset &x) {
          x.dst.startPartition = s;
          x.dst.partitions = c;
        },
        Phase::Address);
  e.add<DmaCopy>(5, "end within 128, but got start 1", [](DmaCopy &x) { x.dst.startPartition = 1; }, Phase::Address);
  e.add<Memset>(6, "at most 65536 elements per partition in sbuf, but got 65537",
                [](Memset &x) { x.dst = sbuf({1, 65537}, DType::U8); });
  e.add<Memset>(6, "at most 4096 elements per partition in psum, but got 4097",
                [](Memset &x) { x.dst = psum({4097}); });
  e.add<Memset>(7, "but got [32768, 2]", [](Memset &x) {
    x.dst.rank = 2;
    x.dst.dims[0] = {32768, 2};
    x.dst.dims[1] = {1, 1};
  });
  e.add<Memset>(7, "but got [-32769, 2]", [](Memset &x) { x.dst.dims[0] = {-32769, 2}; });
  e.add<Memset>(
      8, "bytes 0 to 212983 of sbuf, but got 212800 to 213055", [](Memset &x) { x.dst.address = 212800; },
      Phase::Address);
  e.add<Memset>(
      8, "but got -4 to 0",
      [](Memset &x) {
        x.dst = sbuf({2}, DType::I8);
        x.dst.dims[0].step = -4;
      },
      Phase::Address);
  e.add<Memset>(
      8, "of psum",
      [](Memset &x) {
        x.dst = psum({64});
        x.dst.address = 16384;
      },
      Phase::Address);
  e.add<Memset>(
      9, "a multiple of 4, but got 2",
      [](Memset &x) {
        x.dst = psum({64}, DType::BF16);
        x.dst.address = 2;
      },
      Phase::Address);
  e.add<Memset>(11, "written once", [](Memset &x) { x.dst.dims[0].step = 0; });
  e.add<DmaCopy>(11, "written once", [](DmaCopy &x) {
    std::swap(x.dst, x.src);
    x.dst.partitionStep = 0;
  });
  e.add<Activation>(12, "operand 'bias': expected one element on each of 128 partitions, but got 128 x 2",
                    [](Activation &x) { x.bias.pointer.dims[0].count = 2; });
  e.add<Memset>(16, "does not run on PE", [](Memset &) {}, Phase::Engine, "trn2", Engine::PE);
  e.add<Memset>(
      17, "expected sbuf on POOL, but got psum", [](Memset &x) { x.dst.space = Space::PSUM; }, Phase::Engine, "trn2",
      Engine::POOL);
}

std::vector<Example> examples() {
  Examples e;
  addPE(e);
  addACT(e);
  addDVE(e);
  addPOOL(e);
  addDMAAndControl(e);
  addGeneral(e);
  return e.list;
}

TEST(Rules, ExamplesAreRefusedForTheReasonNamed) {
  for (const Example &example : examples()) {
    std::vector<Violation> violations = check(example.inst, *device(example.target), example.phase, example.engine);
    bool found = false;
    for (const Violation &violation : violations) {
      found |= violation.number == example.number && violation.message.find(example.text) != std::string::npos;
      EXPECT_NE(std::string(violation.source), "");
    }
    EXPECT_TRUE(found) << disassemble(example.inst) << "\nexpected rule " << example.number << " with '" << example.text
                       << "' but got\n"
                       << textOf(violations);
  }
}

TEST(Rules, EveryRecordRuleHasAnExample) {
  std::set<std::pair<Opcode, int>> covered;
  for (const Example &example : examples())
    covered.insert({opcode(example.inst), example.number});
  for (const RuleInfo &rule : allRules())
    EXPECT_TRUE(covered.count({rule.opcode, rule.number})) << info(rule.opcode).mnemonic << " rule " << rule.number;
}

TEST(Rules, AddressRulesWaitForAddresses) {
  Memset x = legal<Memset>();
  x.dst.startPartition = 7;
  x.dst.address = 1 << 20;
  EXPECT_EQ(textOf(check(x, *device("trn2"), Phase::Shape, Engine::SP)), "");
}

TEST(Rules, TransfersStartAtAnyPartition) {
  DmaCopy x = legal<DmaCopy>();
  x.dst.startPartition = 5;
  x.dst.partitions = x.src.partitions = 100;
  EXPECT_EQ(textOf(check(x, *device("trn2"), Phase::Address, Engine::SP)), "");
}

TEST(Rules, GenerationsDiffer) {
  NcMatmul wide = legal<NcMatmul>();
  wide.moving = sbuf({4, 512}, DType::BF16);
  wide.dst = psum({2048}, DType::F32, 64);
  EXPECT_FALSE(check(wide, *device("trn2"), Phase::Address, Engine::PE).empty());
  EXPECT_EQ(textOf(check(wide, *device("trn3"), Phase::Address, Engine::PE)), "");
  TensorCopy copy = legal<TensorCopy>();
  EXPECT_FALSE(runsOn(copy, Engine::ACT, *device("inf2")));
  EXPECT_TRUE(runsOn(copy, Engine::ACT, *device("trn2")));
  TensorScalar scale = legal<TensorScalar>();
  scale.op0 = AluOp::Multiply;
  scale.op1 = AluOp::Add;
  EXPECT_TRUE(runsOn(scale, Engine::ACT, *device("trn2")));
  EXPECT_FALSE(runsOn(scale, Engine::ACT, *device("trn1")));
}

} // namespace
