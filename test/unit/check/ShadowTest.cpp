//===- ShadowTest.cpp - who wrote and who read each byte -----------------===//
//
// Holds runtime/check/Shadow.h to a model of single bytes, and to its promise that equal bytes cost one cell.
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Shadow.h"
#include "gtest/gtest.h"
#include <map>
#include <random>
#include <set>

using namespace trn::rt;

namespace {

constexpr int64_t kBytes = 48, kPartitions = 6;

/// One byte of one partition.
struct Byte {
  CommandId writer = kNoCommand;
  std::map<uint8_t, CommandId> readers; ///< by thread
};

struct Model {
  Byte bytes[kBytes][kPartitions];

  template <typename F> void forEach(const Footprint &footprint, F f) {
    for (const ByteRun &run : footprint.runs)
      for (int64_t byte = run.begin; byte < run.end; ++byte)
        for (int64_t partition = footprint.firstPartition; partition < footprint.endPartition; ++partition)
          f(bytes[byte][partition]);
  }
};

Footprint randomFootprint(std::mt19937 &random) {
  Footprint footprint;
  footprint.firstPartition = random() % kPartitions;
  footprint.endPartition = footprint.firstPartition + 1 + random() % (kPartitions - footprint.firstPartition);
  int64_t begin = random() % kBytes, length = 1 + random() % 6, step = length + 1 + random() % 5;
  for (unsigned count = 1 + random() % 5; count && begin < kBytes; --count, begin += step)
    footprint.runs.push_back({begin, std::min(begin + length, kBytes)});
  return footprint;
}

} // namespace

TEST(Shadow, AgreesWithAModelOfSingleBytes) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    Shadow shadow;
    Model model;
    for (CommandId command = 0; command < 300; ++command) {
      Footprint footprint = randomFootprint(random);
      uint8_t thread = random() % 3;
      std::set<CommandId> writers, readers, expectedWriters, expectedReaders;
      if (random() % 2) {
        shadow.read(footprint, {command, 0}, thread, [&](Access a, const Region &) { writers.insert(a.command); });
        model.forEach(footprint, [&](Byte &byte) {
          expectedWriters.insert(byte.writer);
          if (byte.writer != kNoCommand) // what was never written keeps no readers: its read is an error already
            byte.readers[thread] = command;
        });
      } else {
        shadow.write(footprint, {command, 0}, [&](Access a, const Region &) { writers.insert(a.command); },
                     [&](Access a, const Region &) { readers.insert(a.command); });
        model.forEach(footprint, [&](Byte &byte) {
          if (byte.writer != kNoCommand)
            expectedWriters.insert(byte.writer);
          for (auto [_, reader] : byte.readers)
            expectedReaders.insert(reader);
          byte = {command, {}};
        });
      }
      ASSERT_EQ(writers, expectedWriters) << "seed " << seed << ", command " << command;
      ASSERT_EQ(readers, expectedReaders) << "seed " << seed << ", command " << command;
    }
    int64_t holes = 0, expectedHoles = 0;
    shadow.unset({0, kBytes, 0, 1}, [&](const Region &hole) { holes += hole.end - hole.begin; });
    for (auto &partitions : model.bytes)
      expectedHoles += std::all_of(std::begin(partitions), std::end(partitions),
                                   [](const Byte &byte) { return byte.writer == kNoCommand; });
    EXPECT_EQ(holes, expectedHoles);
  }
}

TEST(Shadow, ADenseAccessJoinsWhatStridedOnesCut) {
  Shadow shadow;
  auto nothing = [](Access, const Region &) {};
  shadow.write({{{0, 4096}}, 0, 128}, {0, 0}, nothing, nothing);
  Footprint even{{}, 0, 128};
  for (int64_t byte = 0; byte < 4096; byte += 8)
    even.runs.push_back({byte, byte + 4});
  unsigned asked = 0;
  shadow.read(even, {1, 0}, 1, [&](Access writer, const Region &) {
    EXPECT_EQ(writer.command, 0u);
    ++asked;
  });
  EXPECT_EQ(asked, 1u) << "512 runs of one state are judged once";
  EXPECT_GE(shadow.cells(), 1024u);
  EXPECT_EQ(shadow.states(), 2u);
  // The later read of the same thread leaves all of it equal.
  shadow.read({{{0, 4096}}, 0, 128}, {2, 0}, 1, nothing);
  EXPECT_LE(shadow.cells(), 2u) << "one cell, and the border behind it";
  EXPECT_EQ(shadow.states(), 1u);
}
