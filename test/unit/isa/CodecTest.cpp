//===- CodecTest.cpp - encode, decode, disassemble ------------------------===//
#include "dialects/Trn/ISA/ISA.h"
#include "test/unit/isa/RandomInstruction.h"
#include "gtest/gtest.h"

using namespace trn::isa;
using trn::isa::test::randomInstruction;

namespace {

/// encode, decode, compare every field, disassemble; for many contents.
template <class X> void checkRoundTrip() {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    Instruction inst = randomInstruction<X>(seed);
    std::vector<uint8_t> bytes;
    encode(inst, bytes);
    EXPECT_EQ(bytes.size() % 8, 0u);
    const uint8_t *next = bytes.data();
    Instruction decoded;
    std::string error;
    ASSERT_TRUE(decode(next, bytes.data() + bytes.size(), decoded, error)) << error << "\n" << disassemble(inst);
    EXPECT_EQ(next, bytes.data() + bytes.size());
    EXPECT_TRUE(equal(inst, decoded)) << disassemble(inst) << "\n" << disassemble(decoded);
    EXPECT_EQ(opcode(decoded), X::kOpcode);
    std::string text = disassemble(inst);
    EXPECT_EQ(text.rfind(info(X::kOpcode).mnemonic, 0), 0u) << text;
    // The text shows every operand that is there.
    forEachOperand(decoded, [&](const AP &ap, const OperandInfo &info) {
      EXPECT_NE(text.find(std::string(info.name) + "=" + ap.str()), std::string::npos) << text;
    });
  }
}

#define TRN_INSTRUCTION(name)                                                                                          \
  TEST(RoundTrip, name) { checkRoundTrip<trn::isa::name>(); }
#include "dialects/Trn/ISA/InstructionList.inc"

std::vector<uint8_t> encoded(const Instruction &inst) {
  std::vector<uint8_t> bytes;
  encode(inst, bytes);
  return bytes;
}

bool decodes(const std::vector<uint8_t> &bytes, std::string &error) {
  const uint8_t *next = bytes.data();
  Instruction inst;
  return decode(next, bytes.data() + bytes.size(), inst, error);
}

TEST(Decode, TruncatedInstructionsAreRefused) {
  std::vector<uint8_t> bytes = encoded(randomInstruction<TensorScalar>(3));
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    std::string error;
    EXPECT_FALSE(decodes(cut, error)) << size;
    EXPECT_FALSE(error.empty());
  }
}

TEST(Decode, EveryFlippedBitIsRefusedOrADifferentInstruction) {
  Instruction inst = randomInstruction<Activation>(11);
  std::vector<uint8_t> bytes = encoded(inst);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::vector<uint8_t> flipped = bytes;
    flipped[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    const uint8_t *next = flipped.data();
    Instruction decoded;
    std::string error;
    if (decode(next, flipped.data() + flipped.size(), decoded, error)) {
      EXPECT_FALSE(equal(inst, decoded)) << "bit " << bit << " has no meaning but is accepted";
      // One encoding per instruction.
      EXPECT_EQ(encoded(decoded), std::vector<uint8_t>(static_cast<const uint8_t *>(flipped.data()), next));
    }
  }
}

TEST(Decode, RandomBytesNeverCrash) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes(random() % 400);
    for (uint8_t &byte : bytes)
      byte = static_cast<uint8_t>(random() % 4 ? random() % 8 : random());
    // A known instruction code and a plausible size reach the deeper checks.
    if (bytes.size() >= 8 && round % 2) {
      bytes[0] = static_cast<uint8_t>(allInstructions()[random() % allInstructions().size()].opcode);
      bytes[1] = 0;
      uint32_t size = static_cast<uint32_t>(bytes.size() & ~size_t(7));
      for (int i = 0; i < 4; ++i)
        bytes[4 + i] = static_cast<uint8_t>(size >> (8 * i));
    }
    std::string error;
    if (!decodes(bytes, error))
      EXPECT_FALSE(error.empty());
  }
}

TEST(Decode, UnknownCodesAndExtremePatternsAreRefused) {
  std::string error;
  std::vector<uint8_t> bytes = encoded(Nop());
  bytes[0] = 0xFF;
  EXPECT_FALSE(decodes(bytes, error));
  EXPECT_NE(error.find("unknown instruction code 255"), std::string::npos) << error;

  TensorCopy copy;
  copy.src.rank = 4;
  for (Dim &dim : copy.src.dims)
    dim = {INT32_MIN, UINT32_MAX};
  EXPECT_FALSE(decodes(encoded(copy), error));
  copy = TensorCopy();
  copy.src.dtype = static_cast<DType>(0x1F);
  EXPECT_FALSE(decodes(encoded(copy), error));
  EXPECT_NE(error.find("unknown element type code 31"), std::string::npos) << error;
  copy = TensorCopy();
  copy.dst.partitions = 0;
  EXPECT_FALSE(decodes(encoded(copy), error));
}

TEST(Decode, AttributesOutOfRangeAreRefused) {
  std::string error;
  TensorReduce reduce;
  reduce.axes = 5;
  EXPECT_FALSE(decodes(encoded(reduce), error));
  EXPECT_NE(error.find("expected 1 to 4 but got 5"), std::string::npos) << error;
  reduce.axes = 1;
  reduce.op = static_cast<AluOp>(11);
  EXPECT_FALSE(decodes(encoded(reduce), error));
}

TEST(Disassemble, ShowsOperandsAndAttributes) {
  TensorScalar x;
  x.dst.partitions = x.src.partitions = 128;
  x.dst.rank = x.src.rank = 1;
  x.dst.dims[0] = x.src.dims[0] = {1, 512};
  x.src.space = Space::PSUM;
  x.src.address = 2048;
  x.operand0 = Scalar::constant(0.5f);
  x.op0 = AluOp::Multiply;
  EXPECT_EQ(disassemble(x), "tensor_scalar dst=sbuf[0:128]@0 fp32 [1,512] src=psum[0:128]@2048 fp32 [1,512] "
                            "operand0=0.5 op0=multiply op1=bypass");
}

TEST(Operands, VisitIncludesPointersAndPresentOptionals) {
  Activation x;
  x.bias = Scalar::at(AP());
  std::vector<std::string> names;
  auto collect = [&](const AP &, const OperandInfo &info) { names.push_back(info.name); };
  forEachOperand(static_cast<const Activation &>(x), collect);
  EXPECT_EQ(names, (std::vector<std::string>{"dst", "src", "bias"}));
  x.reduce.emplace();
  Instruction inst = x;
  names.clear();
  forEachOperand(inst, [&](AP &ap, const OperandInfo &info) {
    ap.address = 64;
    collect(ap, info);
  });
  EXPECT_EQ(names, (std::vector<std::string>{"dst", "src", "bias", "reduce"}));
  EXPECT_EQ(std::get<Activation>(inst).bias.pointer.address, 64u);
}

} // namespace
