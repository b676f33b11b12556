//===- BoundsTest.cpp - hostile operands ------------------------------------------===//
//
// Feeds random and extreme access patterns to the core: each is either refused, or every element of the view lies inside
// the memory it names. Executables come from files; this is the line that keeps them inside.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"

using namespace trn;
using namespace trn::rt;

namespace {

/// Extreme numbers as often as ordinary ones.
template <typename T> T hostile(std::mt19937_64 &random) {
  switch (random() % 8) {
  case 0:
    return T(random());
  case 1:
    return std::numeric_limits<T>::max() - T(random() % 3);
  case 2:
    return std::numeric_limits<T>::min() + T(random() % 3);
  case 3:
    return T(random() % 300);
  default:
    return T(random() % 6) - T(std::is_signed_v<T> ? random() % 4 : 0);
  }
}

AP hostilePattern(std::mt19937_64 &random) {
  AP ap;
  ap.space = Space(random() % (random() % 50 ? 3 : 6));
  constexpr uint8_t kTypes[] = {1, 2, 6, 8, 10, 12, 14, 0x20, 0x22, 0x23, 0, 77};
  ap.dtype = DType(kTypes[random() % (random() % 20 ? 10 : 12)]);
  ap.rank = uint8_t(random() % (random() % 20 ? 5 : 256));
  ap.startPartition = random() % 2 ? hostile<uint16_t>(random) : uint16_t(random() % 4 * 32);
  ap.partitions = random() % 2 ? hostile<uint16_t>(random) : uint16_t(random() % 128);
  ap.buffer = random() % 2 ? 0 : hostile<uint32_t>(random) % 5;
  ap.address = random() % 2 ? hostile<uint64_t>(random) : random() % 300000;
  ap.partitionStep = hostile<int64_t>(random);
  for (isa::Dim &dim : ap.dims) {
    dim.step = hostile<int32_t>(random);
    dim.count = random() % 3 ? uint32_t(random() % 9) : hostile<uint32_t>(random);
  }
  return ap;
}

/// Lowest and highest byte of one partition, from the corners of the pattern.
std::pair<int64_t, int64_t> extremes(const View &view, uint32_t p) {
  int64_t low = view.offset + int64_t(p) * view.partitionStride, high = low + view.elementBytes;
  for (unsigned d = 0; d < view.rank; ++d) {
    int64_t reach = view.dims[d].stride * int64_t(view.dims[d].count - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

TEST(Bounds, holdForEveryPatternThatIsAccepted) {
  Machine machine;
  std::mt19937_64 random(51);
  uint64_t accepted = 0, refused = 0;
  for (int i = 0; i < 400000; ++i) {
    AP ap = hostilePattern(random);
    absl::StatusOr<View> view = machine.core->view(ap, random() % 2 ? AccessMode::Read : AccessMode::Write);
    if (!view.ok()) {
      ++refused;
      continue;
    }
    ++accepted;
    uint64_t elements = 1;
    for (unsigned d = 0; d < view->rank; ++d)
      elements *= view->dims[d].count;
    ASSERT_EQ(elements, view->elements);
    ASSERT_GT(view->elements, 0u);
    for (uint32_t p : {0u, view->partitions - 1}) {
      auto [low, high] = extremes(*view, p);
      if (ap.space == Space::HBM) {
        ASSERT_GE(low, 0);
        ASSERT_LE(high, int64_t(Machine::kHbmBytes));
        continue;
      }
      const Memory &memory = machine.core->memory(ap.space);
      int64_t row = int64_t(ap.startPartition + p) * memory.stride();
      ASSERT_LT(ap.startPartition + p, memory.partitions());
      ASSERT_GE(low, row);
      ASSERT_LE(high, row + int64_t(memory.bytesPerPartition()));
    }
  }
  // The generator must exercise both sides.
  EXPECT_GT(accepted, 2000u);
  EXPECT_GT(refused, 5000u);
}

TEST(Bounds, areExactAtTheEdges) {
  Machine machine;
  uint64_t bytes = machine.core->memory(Space::SBUF).bytesPerPartition();
  auto fits = [&](const AP &ap) { return machine.core->view(ap, AccessMode::Write).ok(); };
  AP ap = operand(Space::SBUF, DType::F32, bytes - 400, 0, 128, {100});
  EXPECT_TRUE(fits(ap));
  ap.address += 1;
  EXPECT_FALSE(fits(ap));
  ap = operand(Space::SBUF, DType::F32, 0, 0, 128, {100}, Layout::Reversed);
  EXPECT_TRUE(fits(ap));
  ap.address -= 1;
  EXPECT_FALSE(fits(ap));
  ap = operand(Space::PSUM, DType::F32, 16384 - 4, 96, 32, {});
  EXPECT_TRUE(fits(ap));
  ap.partitions = 33;
  EXPECT_FALSE(fits(ap));
  ap = operand(Space::HBM, DType::F32, Machine::kHbmBytes - 4000, 0, 10, {100});
  EXPECT_TRUE(fits(ap));
  ap.partitionStep = 101;
  EXPECT_FALSE(fits(ap));
  ap = operand(Space::HBM, DType::F32, 0, 0, 1, {100});
  ap.buffer = 2;
  EXPECT_FALSE(fits(ap)) << "not writable";
  EXPECT_TRUE(machine.core->view(ap, AccessMode::Read).ok());
  ap.buffer = 3;
  EXPECT_FALSE(machine.core->view(ap, AccessMode::Read).ok());
}

TEST(Bounds, areCheckedByEveryInstruction) {
  Machine machine;
  // Each operand in turn is moved beyond its memory; the instruction must be refused, not executed.
  for (const isa::InstInfo &info : isa::allInstructions()) {
    isa::Instruction inst;
    ASSERT_TRUE(isa::makeInstruction(uint16_t(info.opcode), inst));
    size_t operands = 0;
    isa::forEachOperand(inst, [&](AP &ap, const isa::OperandInfo &) { ++operands; });
    for (size_t which = 0; which < operands; ++which) {
      size_t i = 0;
      isa::forEachOperand(inst, [&](AP &ap, const isa::OperandInfo &operandInfo) {
        ap = AP();
        ap.space = operandInfo.spaces & maskOf(Space::SBUF) ? Space::SBUF
                   : operandInfo.spaces & maskOf(Space::PSUM) ? Space::PSUM
                                                              : Space::HBM;
        ap.rank = 1;
        ap.dims[0] = {1, 8};
        ap.address = i++ == which ? uint64_t(1) << 40 : 0;
      });
      absl::Status status =
          std::visit([&](const auto &x) { return decode(*machine.core, x, isa::Engine::POOL).status(); }, inst);
      EXPECT_FALSE(status.ok()) << info.mnemonic << " operand " << which;
    }
  }
}

} // namespace
