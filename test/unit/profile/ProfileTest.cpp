//===- ProfileTest.cpp - what a run cost -------------------------------------===//
//
// Tests runtime/profile: the summary adds up, the limit is what the performance guide defines, the writers are
// deterministic and well formed.
//
//===----------------------------------------------------------------------===//
#include "runtime/profile/Profile.h"
#include "runtime/profile/Work.h"
#include "runtime/timing/Unroll.h"
#include "test/unit/profile/ModelPrograms.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cctype>
#include <cstdlib>

using namespace trn;
using namespace trn::rt;
using namespace trn::test;
using testing::HasSubstr;

static Timeline run(const exe::Executable &exe, TimingOptions options = {}) {
  absl::StatusOr<Timeline> timeline = simulate(exe, options);
  EXPECT_TRUE(timeline.ok()) << timeline.status();
  return timeline.ok() ? *timeline : Timeline();
}

namespace {

/// A JSON reader that only says whether the text is one value.
class JsonSyntax {
public:
  explicit JsonSyntax(const std::string &text) : at(text.c_str()) {}
  bool valid() { return value() && (skip(), *at == 0); }

private:
  void skip() {
    while (std::isspace(static_cast<unsigned char>(*at)))
      ++at;
  }
  bool word(const char *w) {
    while (*w)
      if (*at++ != *w++)
        return false;
    return true;
  }
  bool string() {
    if (*at++ != '"')
      return false;
    while (*at != '"') {
      if (static_cast<unsigned char>(*at) < 0x20)
        return false;
      at += *at == '\\' ? 2 : 1;
    }
    ++at;
    return true;
  }
  bool list(char end, bool keys) {
    ++at;
    skip();
    if (*at == end)
      return ++at, true;
    for (;;) {
      skip();
      if (keys && !(string() && (skip(), *at++ == ':')))
        return false;
      if (!value())
        return false;
      skip();
      if (*at == end)
        return ++at, true;
      if (*at++ != ',')
        return false;
    }
  }
  bool value() {
    skip();
    switch (*at) {
    case '{':
      return list('}', true);
    case '[':
      return list(']', false);
    case '"':
      return string();
    case 't':
      return word("true");
    case 'f':
      return word("false");
    case 'n':
      return word("null");
    default: {
      char *end;
      std::strtod(at, &end);
      if (end == at)
        return false;
      at = end;
      return true;
    }
    }
  }
  const char *at;
};

} // namespace

TEST(Profile, SummaryAddsUp) {
  exe::Executable exe = matrixChain("trn2", {6, 4, 256});
  Timeline timeline = run(exe);
  Profile profile = summarize(exe, timeline);
  EXPECT_DOUBLE_EQ(profile["total_time"], ticksToSeconds(timeline.end));
  EXPECT_LE(profile["total_active_time"], profile["total_time"]);
  EXPECT_EQ(profile["matmul_instruction_count"], 6 * 4 * 4);
  EXPECT_EQ(profile["dma_transfer_count"], 8);
  EXPECT_EQ(profile["hbm_read_bytes"], 4 * 128 * 256 * 2 + 6 * 128 * 4 * 4 * 128 * 2);
  EXPECT_EQ(profile["hbm_write_bytes"], 4 * 128 * 256 * 2);
  EXPECT_EQ(profile["weight_size_bytes"], 6 * 128 * 4 * 4 * 128 * 2);
  EXPECT_EQ(profile["model_flops"], 2.0 * 6 * 16 * 128 * 128 * 256);
  EXPECT_EQ(profile["hardware_flops"], profile["model_flops"]);
  EXPECT_EQ(profile["spill_save_bytes"], 0);
  // PSUM is written by the matmuls, fp32, and emptied once per accumulation group.
  EXPECT_EQ(profile["psum_read_bytes"], 6 * 4 * 128 * 256 * 4 + 6 * 4 * 3 * 128 * 256 * 4);
  double commands = 0;
  for (const EngineRow &row : profile.engines) {
    commands += static_cast<double>(row.instructions);
    EXPECT_LE(row.busyTime, profile["total_time"] * 1.0000001) << row.name;
    EXPECT_GE(row.idle, -1e-12) << row.name;
    EXPECT_NEAR(row.busyTime + row.stallSemaphore + row.stallDependence + row.stallPort + row.stallWeightLoad +
                    row.idle,
                profile["total_time"], 1e-12)
        << row.name;
  }
  uint64_t nodeCommands = 0, flops = 0, bytes = 0;
  for (const NodeRow &row : profile.nodes) {
    nodeCommands += row.instructions;
    flops += row.flops;
    bytes += row.dmaBytes;
  }
  EXPECT_EQ(static_cast<double>(nodeCommands), commands);
  EXPECT_EQ(static_cast<double>(flops), profile["hardware_flops"]);
  EXPECT_EQ(static_cast<double>(bytes), profile["hbm_read_bytes"] + profile["hbm_write_bytes"]);
}

TEST(Profile, LimitIsTheLargestTerm) {
  exe::Executable exe = matrixChain("trn2", {6, 4, 256});
  Profile profile = summarize(exe, run(exe));
  const double macs = 6.0 * 16 * 128 * 128 * 256, peakMacs = 128.0 * 128 * 2.4e9;
  const double bytes = 6.0 * 16 * 128 * 128 * 2 + 2.0 * 4 * 128 * 256 * 2;
  ASSERT_EQ(profile.limits.size(), 5u);
  EXPECT_NEAR(profile.limits[0].seconds, macs / peakMacs, 1e-15);
  EXPECT_NEAR(profile.limits[1].seconds, bytes / 362.5e9, 1e-15);
  EXPECT_NEAR(profile.limits[2].seconds, 6.0 * 4 * 256 / (1.2e9 + 0.96e9), 1e-15);
  EXPECT_EQ(profile.limits[3].seconds, 0); // relu is no transcendental
  EXPECT_EQ(profile.limitBy, "PE");
  EXPECT_NEAR(profile.limitPercent, 100 * profile.limitTime / profile["total_time"], 1e-9);
  EXPECT_LT(profile.limitPercent, 100);
  EXPECT_GT(profile.limitPercent, 5);
}

TEST(Profile, MacsComeFromTheBuildFactsOrTheMatmuls) {
  exe::Executable exe = matrixChain("trn2", {2, 2, 128});
  EXPECT_EQ(summarize(exe, run(exe)).macsFrom, "build facts");
  const Work stated = countWork(exe, *isa::device("trn2"));
  exe.build["model_macs"] = std::to_string(stated.macs / 2); // half of the array's work is padding
  Profile padded = summarize(exe, run(exe));
  EXPECT_EQ(padded["model_flops"] * 2, padded["hardware_flops"]);
  exe.build.erase("model_macs");
  Profile counted = summarize(exe, run(exe));
  EXPECT_EQ(counted.macsFrom, "instructions");
  EXPECT_EQ(counted["model_flops"], static_cast<double>(2 * stated.macs));
}

TEST(Profile, Fp32CountsFourTimesAgainstThePeak) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 1024, DType::F32)).signal(0);
  b.matmul(psum(0, 128, 512), sbuf(0, 128, 128, DType::F32), sbuf(512, 128, 512, DType::F32)).wait(0, 1);
  const Work work = countWork(b.exe, *isa::device("trn2"));
  EXPECT_EQ(work.passes(), 4);
  EXPECT_NEAR(limitsOf(work, *isa::device("trn2")).pe, 4 * 512 / 2.4e9, 1e-15);
}

TEST(Profile, CompulsoryBytesCountTouchedDataOnce) {
  ProgramBuilder b;
  uint32_t w = b.weight("w", 1 << 20), unused = b.weight("unused", 1 << 20);
  (void)unused;
  for (int i = 0; i < 3; ++i)
    b.dma(Engine::SP, sbuf(4096u * i, 128, 64), hbm(w, 128, 64)).signal(static_cast<uint16_t>(i), 16);
  AP row = hbm(w, 128, 64);
  row.partitionStep = 0; // one row for all partitions
  b.dma(Engine::SP, sbuf(65536, 128, 64), row).signal(3, 16);
  EXPECT_EQ(countWork(b.exe, *isa::device("trn2")).compulsoryBytes, 3u * 128 * 64 * 2 + 64 * 2);
  for (int i = 0; i < 100; ++i)
    b.dma(Engine::SP, sbuf(0, 128, 4096), hbm(w, 128, 4096));
  EXPECT_EQ(countWork(b.exe, *isa::device("trn2")).compulsoryBytes, 1u << 20);
  EXPECT_EQ(countWork(b.exe, *isa::device("trn2")).weightBytes, 2u << 20);
}

TEST(Profile, ScratchTrafficIsSpill) {
  ProgramBuilder b;
  uint32_t s = b.scratch("s", 128 * 64 * 2);
  b.memset(Engine::DVE, sbuf(0, 128, 64)).signal(0);
  b.dma(Engine::SP, hbm(s, 128, 64), sbuf(0, 128, 64)).wait(0, 1).signal(1, 16);
  b.dma(Engine::SP, sbuf(1024, 128, 64), hbm(s, 128, 64)).wait(1, 16).signal(2, 16);
  Profile profile = summarize(b.exe, run(b.exe));
  EXPECT_EQ(profile["spill_save_bytes"], 128 * 64 * 2);
  EXPECT_EQ(profile["spill_reload_bytes"], 128 * 64 * 2);
}

TEST(Profile, LiveBytesRiseAndFall) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 512), 1);
  b.copy(Engine::DVE, sbuf(4096, 128, 256), sbuf(0, 128, 256));
  b.copy(Engine::DVE, sbuf(8192, 128, 256), sbuf(4096, 128, 256));
  Profile profile = summarize(b.exe, run(b.exe));
  // The first 512 bytes are read by the first copy, the rest of the constant and the last copy by nobody.
  EXPECT_EQ(profile.sbufPeak, 512 + 512);
  ASSERT_FALSE(profile.memory.empty());
  EXPECT_EQ(profile.memory.back().sbufBytes, 0);
  EXPECT_EQ(profile.psumPeak, 0);
}

TEST(Profile, WritersAreDeterministicAndWellFormed) {
  exe::Executable exe = matrixChain("trn2", {3, 4, 256});
  exe.debug[2].node = "odd <name> \"with\" \\ everything\n\x01 </script>";
  TimingOptions options;
  options.recordPackets = true;
  Timeline timeline = run(exe, options);
  Profile profile = summarize(exe, timeline);
  const std::string json = writeJson(profile), trace = writePerfetto(exe, timeline, profile),
                    html = writeHtml(exe, timeline, profile);
  EXPECT_TRUE(JsonSyntax(json).valid()) << json.substr(0, 2000);
  EXPECT_TRUE(JsonSyntax(trace).valid());
  EXPECT_EQ(json, writeJson(summarize(exe, run(exe, options))));
  EXPECT_EQ(html, writeHtml(exe, timeline, profile));
  for (const char *field : {"\"total_time\":", "\"tensor_engine_active_time_percent\":", "\"hbm_read_bytes\":",
                            "\"mfu_estimated_percent\":", "\"throttle_active_nc0_time_ns\":", "\"limit_percent\":",
                            "\"limit_by\":", "\"neuroncore_cycle_count\":"})
    EXPECT_THAT(json, HasSubstr(field));
  EXPECT_THAT(trace, HasSubstr("\"DMA engine 15\""));
  // The page is one file, and no name can end its script.
  for (const char *outside : {"http://", "https://", "src=", "@import", "url("})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_EQ(html.find("</script>"), html.rfind("</script>"));
  EXPECT_EQ(html.find("/*DATA*/null"), std::string::npos);
}

TEST(Profile, CriticalPathCoversTheRun) {
  for (const char *device : {"trn1", "trn2", "trn3"})
    for (ChainShape shape : {ChainShape{1, 1, 64}, ChainShape{4, 3, 128}, ChainShape{6, 4, 512}}) {
      exe::Executable exe = matrixChain(device, shape);
      Timeline timeline = run(exe);
      Commands commands(exe);
      Ticks at = 0;
      for (const PathPiece &piece : criticalPath(commands, timeline)) {
        EXPECT_EQ(piece.begin, at) << name(piece.kind) << " of " << commands.describe(piece.command);
        EXPECT_GT(piece.end, piece.begin);
        at = piece.end;
      }
      EXPECT_EQ(at, timeline.end);
      Profile profile = summarize(exe, timeline);
      double byKind = 0, byNode = 0;
      for (const PathRow &row : profile.path)
        byKind += row.time;
      for (const NodeRow &row : profile.nodes)
        byNode += row.critical;
      EXPECT_NEAR(byKind, profile["total_time"], 1e-12);
      EXPECT_NEAR(byNode, profile["total_time"], 1e-12);
    }
}

TEST(Profile, CriticalPathFollowsTheWaits) {
  ProgramBuilder b;
  uint32_t x = b.input("x", 128 * 4096);
  b.dma(Engine::SP, sbuf(0, 128, 2048), hbm(x, 128, 2048)).signal(0, 16);
  b.memset(Engine::POOL, sbuf(65536, 128, 8)).signal(1); // early, on no path
  b.copy(Engine::DVE, sbuf(16384, 128, 2048), sbuf(0, 128, 2048)).wait(0, 16);
  Timeline timeline = run(b.exe);
  std::vector<PathKind> kinds;
  for (const PathPiece &piece : criticalPath(Commands(b.exe), timeline))
    kinds.push_back(piece.kind);
  EXPECT_THAT(kinds, testing::ElementsAre(PathKind::DmaStart, PathKind::DmaTransfer, PathKind::DmaFinish,
                                          PathKind::HandOff, PathKind::Execute));
}

TEST(Profile, PracticalLimitLiesBetweenTheLimitAndTheRun) {
  exe::Executable exe = matrixChain("trn2", {24, 6, 512});
  Profile profile = summarize(exe, run(exe));
  EXPECT_GE(profile.practicalLimitTime, profile.limitTime * 0.9999999);
  EXPECT_LE(profile.practicalLimitTime, profile["total_time"]);
  // 64 columns at least: matmuls of 16 columns pay four times their work.
  exe::Executable narrow = matrixChain("trn2", {4, 4, 16});
  Work work = countWork(narrow, *isa::device("trn2"));
  EXPECT_EQ(work.peCycles, 4u * 16 * 64);
}

TEST(Profile, EmptyProgram) {
  ProgramBuilder b;
  Timeline timeline = run(b.exe);
  Profile profile = summarize(b.exe, timeline);
  EXPECT_EQ(profile["total_time"], 0);
  EXPECT_TRUE(JsonSyntax(writeJson(profile)).valid());
  EXPECT_TRUE(JsonSyntax(writePerfetto(b.exe, timeline, profile)).valid());
  EXPECT_FALSE(writeHtml(b.exe, timeline, profile).empty());
}

/// DVE counts the rounds of a loop by data, or skips an instruction by it, or neither.
static exe::Executable decidedProgram(bool loops, bool branches) {
  ProgramBuilder b;
  const uint32_t n = b.input("n", 4);
  isa::RegisterLoad load;
  load.src = hbm(n, 1, 1, DType::I32);
  isa::Branch exit;
  isa::Loop back;
  b.memset(Engine::DVE, sbuf(0, 128, 8));
  if (loops) {
    b.add(Engine::DVE, load);
    exit.compare = isa::AluOp::IsLe;
    exit.target = 5;
    b.add(Engine::DVE, exit);
    b.memset(Engine::DVE, sbuf(0, 128, 8));
    back.target = 3;
    b.add(Engine::DVE, back);
  }
  if (branches) {
    b.add(Engine::DVE, load);
    exit.compare = isa::AluOp::IsEq;
    exit.target = loops ? 8 : 4;
    b.add(Engine::DVE, exit);
    b.memset(Engine::DVE, sbuf(0, 128, 8));
    b.memset(Engine::DVE, sbuf(0, 128, 8));
  }
  return b.exe;
}

TEST(Profile, SaysWhatItAssumes) {
  const char *texts[2][2] = {{"", "the first body of each branch that data decides"},
                             {"1 round of each loop that data decides",
                              "1 round of each loop and the first body of each branch that data decides"}};
  for (bool loops : {false, true})
    for (bool branches : {false, true}) {
      const exe::Executable exe = *unroll(decidedProgram(loops, branches));
      const Timeline timeline = run(exe);
      const Profile profile = summarize(exe, timeline);
      EXPECT_EQ(profile.assumptions(), texts[loops][branches]);
      const std::string json = writeJson(profile), page = writeHtml(exe, timeline, profile);
      EXPECT_EQ(json.find("\"assumed_rounds\":1") != std::string::npos, loops) << json;
      EXPECT_EQ(json.find("\"assumed_branches\":\"first body\"") != std::string::npos, branches) << json;
      EXPECT_NE(page.find("\"assumptions\":\"" + std::string(texts[loops][branches]) + "\""), std::string::npos);
      EXPECT_EQ(summarize(exe, timeline, /*followsRun=*/true).assumptions(), "");
    }
}
