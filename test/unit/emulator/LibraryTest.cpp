//===- LibraryTest.cpp - library kernels ---------------------------------------===//
//
// Compares library kernels with their definitions, written plainly: exactly, bit for bit, also in 64-bit floats.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "dialects/Trn/ISA/LoopNest.h"
#include <cstring>

using namespace trn;
using namespace trn::rt;
using isa::Engine;
using isa::ScalarFunction;

namespace {

/// `elements` in HBM buffer 0 at `address`.
AP flat(DType type, uint64_t address, uint32_t elements) {
  AP ap;
  ap.space = Space::HBM;
  ap.dtype = type;
  ap.address = address;
  ap.rank = 1;
  ap.dims[0] = {1, elements};
  return ap;
}

template <typename T> T *memory(Machine &machine, const AP &ap) {
  return reinterpret_cast<T *>(machine.hbm[0].data() + ap.address);
}

void add(std::vector<int32_t> &program, int32_t code, DType from, DType to, int32_t a, int32_t b = 0, int32_t c = 0,
         uint32_t predicate = 0) {
  program.insert(program.end(), {code, int32_t(unsigned(from) | unsigned(to) << 8 | predicate << 16), a, b, c});
}
int32_t code(ScalarFunction function) { return isa::kFirstLoopFunction + int32_t(function); }

/// dst[i][j] = bias[j], plus the sum over k of lhs[i][k] * rhs[k][j] in order of k.
TEST(LibraryLoops, sumsProductsOfDoublesInOrder) {
  constexpr int kRows = 5, kColumns = 300, kInner = 7;
  Machine machine;
  std::mt19937 random(7);
  isa::LibraryLoops inst;
  inst.dst = flat(DType::F64, 0, kRows * kColumns);
  inst.source0 = flat(DType::F64, 16384, kRows * kInner);
  inst.source1 = flat(DType::F64, 32768, kInner * kColumns);
  inst.source2 = flat(DType::F64, 65536, kRows * kColumns);
  inst.startsFrom = 2;
  inst.bounds = {kRows, kInner, kColumns};
  inst.offsets = {0, 0, 0, 0};
  inst.strides = {kColumns, 0, 1, kInner, 1, 0, 0, kColumns, 1, 0, 0, 0};
  inst.program = {5};
  add(inst.program, code(ScalarFunction::mulf), DType::F64, DType::F64, 0, 1);
  add(inst.program, code(ScalarFunction::addf), DType::F64, DType::F64, 3, 4);
  std::normal_distribution<double> normal;
  for (const AP &ap : {*inst.source0, *inst.source1, *inst.source2})
    for (uint64_t i = 0; i < ap.elements(); ++i)
      memory<double>(machine, ap)[i] = normal(random);
  ASSERT_TRUE(machine.run(inst, Engine::POOL).ok()) << machine.run(inst, Engine::POOL);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      double sum = memory<double>(machine, *inst.source2)[i * kColumns + j];
      for (int k = 0; k < kInner; ++k)
        sum = sum + memory<double>(machine, *inst.source0)[i * kInner + k] *
                        memory<double>(machine, *inst.source1)[k * kColumns + j];
      ASSERT_EQ(sum, memory<double>(machine, inst.dst)[i * kColumns + j]) << i << ", " << j;
    }
}

/// A sum along the innermost loop: each step reads what the one before it wrote.
TEST(LibraryLoops, accumulatesAlongTheInnermostLoop) {
  Machine machine;
  isa::LibraryLoops inst;
  inst.dst = flat(DType::F64, 0, 2);
  inst.source0 = flat(DType::F32, 1024, 600);
  inst.bounds = {2, 300};
  inst.offsets = {0, 0};
  inst.strides = {1, 0, 300, 1};
  inst.program = {3};
  add(inst.program, code(ScalarFunction::extf64), DType::F32, DType::F64, 0);
  add(inst.program, code(ScalarFunction::addf), DType::F64, DType::F64, 1, 2);
  for (int i = 0; i < 600; ++i)
    memory<float>(machine, *inst.source0)[i] = 1.0f / float(i + 1);
  memory<double>(machine, inst.dst)[0] = 99; // not zero before: the call starts from zeros
  ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
  for (int row = 0; row < 2; ++row) {
    double sum = 0;
    for (int i = 0; i < 300; ++i)
      sum += double(1.0f / float(row * 300 + i + 1));
    EXPECT_EQ(sum, memory<double>(machine, inst.dst)[row]);
  }
}

/// dst[i] = i is even ? source1[source0[i]] : -1, with the elements between untouched.
TEST(LibraryLoops, gathersComparesAndSelects) {
  Machine machine;
  isa::LibraryLoops inst;
  inst.dst = flat(DType::I32, 0, 20);
  inst.source0 = flat(DType::I32, 1024, 10);
  inst.source1 = flat(DType::I32, 2048, 8);
  inst.source2 = flat(DType::I32, 4096, 20);
  inst.startsFrom = 2;
  inst.bounds = {10};
  inst.offsets = {1, 0, 0, 0};
  inst.strides = {2, 1, 0, 0};
  inst.program = {11};
  add(inst.program, isa::kLoopIndex, DType::I64, DType::I64, 0);                                    // 4: i
  add(inst.program, isa::kLoopConstant, DType::I64, DType::I64, 2);                                 // 5
  add(inst.program, code(ScalarFunction::remsi), DType::I64, DType::I64, 4, 5);                     // 6
  add(inst.program, isa::kLoopConstant, DType::I64, DType::I64, 0);                                 // 7
  add(inst.program, isa::kLoopCompareInt, DType::I64, DType::BOOL, 6, 7);                           // 8
  add(inst.program, isa::kLoopGather, DType::I32, DType::I32, 1, 0);                                // 9
  add(inst.program, isa::kLoopConstant, DType::I32, DType::I32, -1, -1);                            // 10
  add(inst.program, isa::kLoopSelect, DType::BOOL, DType::I32, 8, 9, 10);                           // 11
  for (int i = 0; i < 10; ++i)
    memory<int32_t>(machine, *inst.source0)[i] = (3 * i) % 8;
  for (int i = 0; i < 8; ++i)
    memory<int32_t>(machine, *inst.source1)[i] = 100 + i;
  for (int i = 0; i < 20; ++i)
    memory<int32_t>(machine, *inst.source2)[i] = -100 - i;
  absl::Status status = machine.run(inst, Engine::POOL);
  ASSERT_TRUE(status.ok()) << status;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(i % 2 == 0 ? 100 + (3 * i) % 8 : -1, memory<int32_t>(machine, inst.dst)[2 * i + 1]);
    EXPECT_EQ(-100 - 2 * i, memory<int32_t>(machine, inst.dst)[2 * i]);
  }
  memory<int32_t>(machine, *inst.source0)[4] = 8;
  status = machine.run(inst, Engine::POOL);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("index 8: expected an element below 8"), absl::string_view::npos) << status;
}

/// Every predicate of arith.cmpf by what it says of less, equal, greater and unordered.
TEST(LibraryLoops, comparesRealsByEveryPredicate) {
  const char *holds[16] = {"",  "=",  ">",  ">=",  "<",  "<=",  "<>",  "<=>",
                           "=?", ">?", ">=?", "<?", "<=?", "<>?", "?", "<=>?"};
  const double lhs[4] = {1, 2, 3, NAN}, rhs[4] = {2, 2, 2, 2};
  for (DType type : {DType::F32, DType::F64})
    for (unsigned predicate = 0; predicate < 16; ++predicate) {
      Machine machine;
      isa::LibraryLoops inst;
      inst.dst = flat(DType::U8, 0, 4);
      inst.source0 = flat(type, 1024, 4);
      inst.source1 = flat(type, 2048, 4);
      inst.bounds = {4};
      inst.offsets = {0, 0, 0};
      inst.strides = {1, 1, 1};
      inst.program = {3};
      add(inst.program, isa::kLoopCompareReal, type, DType::BOOL, 0, 1, 0, predicate);
      for (unsigned i = 0; i < 4; ++i) {
        if (type == DType::F64) {
          memory<double>(machine, *inst.source0)[i] = lhs[i];
          memory<double>(machine, *inst.source1)[i] = rhs[i];
        } else {
          memory<float>(machine, *inst.source0)[i] = float(lhs[i]);
          memory<float>(machine, *inst.source1)[i] = float(rhs[i]);
        }
      }
      ASSERT_TRUE(machine.run(inst, Engine::POOL).ok()) << machine.run(inst, Engine::POOL);
      for (unsigned i = 0; i < 4; ++i)
        EXPECT_EQ(std::strchr(holds[predicate], "<=>?"[i]) != nullptr, memory<uint8_t>(machine, inst.dst)[i] != 0)
            << "predicate " << predicate << ", relation " << "<=>?"[i];
    }
}

std::vector<int32_t> integers(Machine &machine, const AP &ap) {
  const int32_t *begin = memory<int32_t>(machine, ap);
  return std::vector<int32_t>(begin, begin + ap.elements());
}
void set(Machine &machine, const AP &ap, const std::vector<float> &values) {
  std::copy(values.begin(), values.end(), memory<float>(machine, ap));
}

TEST(LibraryNonzero, givesPositionsByDimension) {
  Machine machine;
  isa::LibraryNonzero inst;
  inst.dims = {2, 3};
  inst.mask = flat(DType::F32, 0, 6);
  inst.indices = flat(DType::I32, 1024, 12);
  inst.count = flat(DType::I32, 2048, 1);
  set(machine, inst.mask, {0, 2, -0.0f, -1, 0, NAN});
  ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
  EXPECT_EQ(integers(machine, inst.count), std::vector<int32_t>{3});
  EXPECT_EQ(integers(machine, inst.indices), (std::vector<int32_t>{0, 1, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0}));
}

TEST(LibraryUnique, ordersRowsOrKeepsTheirOrder) {
  for (int sorted : {1, 0}) {
    Machine machine;
    isa::LibraryUnique inst;
    inst.items = 5;
    inst.sorted = sorted;
    inst.rows = flat(DType::F32, 0, 10);
    inst.values = flat(DType::F32, 1024, 10);
    inst.first = flat(DType::I32, 2048, 5);
    inst.inverse = flat(DType::I32, 3072, 5);
    inst.counts = flat(DType::I32, 4096, 5);
    inst.count = flat(DType::I32, 5120, 1);
    set(machine, inst.rows, {2, 1, 1, 9, 2, 1, 1, 3, 2, 1});
    ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
    EXPECT_EQ(integers(machine, inst.count), std::vector<int32_t>{3});
    const float *values = memory<float>(machine, inst.values);
    std::vector<float> got(values, values + 10);
    if (sorted) {
      EXPECT_EQ(got, (std::vector<float>{1, 3, 1, 9, 2, 1, 0, 0, 0, 0}));
      EXPECT_EQ(integers(machine, inst.first), (std::vector<int32_t>{3, 1, 0, 0, 0}));
      EXPECT_EQ(integers(machine, inst.inverse), (std::vector<int32_t>{2, 1, 2, 0, 2}));
      EXPECT_EQ(integers(machine, inst.counts), (std::vector<int32_t>{1, 1, 3, 0, 0}));
    } else {
      EXPECT_EQ(got, (std::vector<float>{2, 1, 1, 9, 1, 3, 0, 0, 0, 0}));
      EXPECT_EQ(integers(machine, inst.first), (std::vector<int32_t>{0, 1, 3, 0, 0}));
      EXPECT_EQ(integers(machine, inst.inverse), (std::vector<int32_t>{0, 1, 0, 2, 0}));
      EXPECT_EQ(integers(machine, inst.counts), (std::vector<int32_t>{3, 1, 1, 0, 0}));
    }
  }
}

/// Two overlapping boxes and one apart: the lower of the two goes, unless the threshold is their overlap of 1/3.
TEST(LibraryNms, leavesOutWhatOverlaps) {
  for (float threshold : {0.3f, 0.34f}) {
    Machine machine;
    isa::LibraryNms inst;
    inst.boxes = 3;
    inst.boxesIn = flat(DType::F32, 0, 12);
    inst.scores = flat(DType::F32, 1024, 3);
    inst.limit = flat(DType::I32, 2048, 1);
    inst.iouThreshold = flat(DType::F32, 3072, 1);
    inst.scoreThreshold = flat(DType::F32, 4096, 1);
    inst.selected = flat(DType::I32, 5120, 9);
    inst.count = flat(DType::I32, 6144, 1);
    set(machine, inst.boxesIn, {0, 0, 1, 1, 1, 1.5f, 0, 0.5f, 5, 5, 6, 6}); // the corners of the second are exchanged
    set(machine, inst.scores, {0.5f, 0.9f, 0.7f});
    set(machine, inst.iouThreshold, {threshold});
    *memory<int32_t>(machine, inst.limit) = 3;
    ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
    bool all = threshold > 0.33f;
    EXPECT_EQ(integers(machine, inst.count), std::vector<int32_t>{all ? 3 : 2});
    EXPECT_EQ(integers(machine, inst.selected), (std::vector<int32_t>{0, 0, 1, 0, 0, 2, 0, 0, 0}));
  }
}

TEST(LibraryDet, eliminatesWithPivots) {
  Machine machine;
  isa::LibraryDet inst;
  inst.size = 3;
  inst.matrices = flat(DType::F64, 0, 18);
  inst.dst = flat(DType::F64, 1024, 2);
  const double values[] = {0, 2, 1, 1, 0, 3, 4, 1, 0, 1, 2, 3, 2, 4, 6, 0, 1, 5}; // the second is singular
  std::copy(std::begin(values), std::end(values), memory<double>(machine, inst.matrices));
  ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
  EXPECT_NEAR(memory<double>(machine, inst.dst)[0], 25, 1e-12);
  EXPECT_EQ(memory<double>(machine, inst.dst)[1], 0);
}

/// A double that lies between two fp16 numbers and rounds to another one by way of fp32.
TEST(LibraryLoops, roundsDoublesOnce) {
  Machine machine;
  isa::LibraryLoops inst;
  inst.dst = flat(DType::F16, 0, 1);
  inst.source0 = flat(DType::F64, 1024, 1);
  inst.offsets = {0, 0};
  inst.program = {2};
  add(inst.program, code(ScalarFunction::truncf64), DType::F64, DType::F16, 0);
  memory<double>(machine, *inst.source0)[0] = 1.0 + 0x1p-11 + 0x1p-40;
  ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
  EXPECT_EQ(0x3C01, memory<uint16_t>(machine, inst.dst)[0]);
}

/// Each kernel with so much work that it looks at the watch.
std::vector<std::pair<const char *, isa::Instruction>> longKernels(Machine &machine) {
  isa::LibraryLoops loops;
  loops.dst = flat(DType::F64, 0, 1);
  loops.bounds = {1 << 20};
  loops.offsets = {0};
  loops.strides = {0};
  loops.program = {2};
  add(loops.program, isa::kLoopIndex, DType::I64, DType::I64, 0);
  add(loops.program, code(ScalarFunction::sitofp64), DType::I64, DType::F64, 1);

  isa::LibraryNonzero nonzero;
  nonzero.dims = {1 << 18};
  nonzero.mask = flat(DType::U8, 0, 1 << 18);
  nonzero.indices = flat(DType::I32, 0, 1 << 18);
  nonzero.indices.buffer = 1;
  nonzero.count = flat(DType::I32, 1 << 19, 1);

  isa::LibraryUnique unique;
  unique.items = 40000;
  unique.rows = flat(DType::F32, 0, 40000);
  unique.first = flat(DType::I32, 1 << 18, 40000);
  unique.inverse = flat(DType::I32, 1 << 19, 40000);
  unique.counts = flat(DType::I32, 3 << 18, 40000);
  unique.count = flat(DType::I32, (1 << 20) - 4, 1);
  unique.values = flat(DType::F32, 0, 40000);
  unique.values.buffer = 1;

  isa::LibraryNms nms;
  nms.boxes = 10000;
  nms.boxesIn = flat(DType::F32, 0, 40000);
  nms.scores = flat(DType::F32, 1 << 18, 10000);
  nms.limit = flat(DType::I32, 1 << 19, 1);
  nms.iouThreshold = flat(DType::F32, (1 << 19) + 1024, 1);
  nms.scoreThreshold = flat(DType::F32, (1 << 19) + 2048, 1);
  nms.count = flat(DType::I32, (1 << 19) + 3072, 1);
  nms.selected = flat(DType::I32, 0, 30000);
  nms.selected.buffer = 1;
  std::fill_n(memory<float>(machine, nms.scores), 10000, 1.0f);
  *memory<int32_t>(machine, nms.limit) = 10000;

  isa::LibraryDet det;
  det.size = 128;
  det.matrices = flat(DType::F32, 0, 128 * 128);
  det.dst = flat(DType::F32, 1 << 19, 1);
  for (int i = 0; i < 128; ++i)
    memory<float>(machine, det.matrices)[129 * i] = 1;
  return {{"loops", loops}, {"nonzero", nonzero}, {"unique", unique}, {"nms", nms}, {"det", det}};
}

TEST(Library, StopsWithinAnInstruction) {
  std::atomic<bool> cancel{true};
  for (size_t number = 0; number < 5; ++number) {
    Machine machine; // of its own: the kernels' operands lie in the same places
    auto [name, instruction] = longKernels(machine)[number];
    machine.core->setWatch({});
    EXPECT_EQ(machine.run(instruction, Engine::POOL), absl::OkStatus()) << name;
    machine.core->setWatch({&cancel});
    EXPECT_EQ(machine.run(instruction, Engine::POOL).code(), absl::StatusCode::kCancelled) << name;
    machine.core->setWatch({nullptr, absl::Seconds(1), absl::Now() - absl::Seconds(1)});
    absl::Status status = machine.run(instruction, Engine::POOL);
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << name;
    EXPECT_EQ(status.message(), "stopped after 1s") << name;
  }
}

/// Sizes on both sides of the lengths at which runs are merged; equal keys keep the order that `less` gives them.
TEST(Library, SortsAsTheStandardLibraryDoes) {
  RunWatch watch;
  std::mt19937 random(3);
  for (size_t size : {0, 1, 1023, 1024, 1025, 2049, 5000}) {
    WatchedWork work(watch);
    std::vector<uint32_t> keys(size), order(size);
    for (size_t i = 0; i < size; ++i) {
      keys[i] = random() % 300;
      order[i] = uint32_t(i);
    }
    auto less = [&](uint32_t a, uint32_t b) { return keys[a] < keys[b] || (keys[a] == keys[b] && a < b); };
    std::vector<uint32_t> expected = order;
    std::sort(expected.begin(), expected.end(), less);
    EXPECT_EQ(sortWatched(order, work, 1, less), absl::OkStatus());
    EXPECT_EQ(order, expected) << size;
  }
}

} // namespace
