//===- OrderTest.cpp - guaranteed order against random runs ------------------===//
//
// Tests runtime/check/Order.h by a machine that is free to do whatever the rules allow: engines issue at random, each
// of the sixteen DMA engines of a transfer signals at random, in ring order. What the order guarantees must hold in
// every such run (soundness), and for clear programs every order that all runs share should be found (completeness).
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Order.h"
#include "test/unit/timing/ProgramBuilder.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace trn;
using namespace trn::rt;
using namespace trn::test;

namespace {

using Random = std::mt19937;

/// A random program: each engine computes, signals and waits; SP moves data.
exe::Executable randomProgram(Random &random) {
  ProgramBuilder b;
  const uint32_t x = b.input("x", 128 * 64 * 2);
  const Engine engines[] = {Engine::DVE, Engine::POOL, Engine::ACT, Engine::SP};
  std::vector<int> value(6, 0);
  const int steps = 4 + static_cast<int>(random() % 7);
  for (int i = 0; i < steps; ++i) {
    const Engine engine = engines[random() % 4];
    const bool dma = engine == Engine::SP || (engine == Engine::POOL && random() % 3 == 0);
    Cmd command = dma ? b.dma(engine, sbuf(0, 128, 64), hbm(x, 128, 64),
                              static_cast<uint8_t>(engine == Engine::SP ? random() % 2 : 2))
                      : b.semaphoreWait(engine);
    if (random() % 3 != 0) {
      const unsigned s = random() % 6;
      if (value[s])
        command.wait(static_cast<uint16_t>(s), dma || random() % 2 ? value[s] : 1 + random() % value[s]);
    }
    if (random() % 4 != 0) {
      const unsigned s = random() % 6;
      const int add = dma ? 16 : 1 + static_cast<int>(random() % 2);
      command.signal(static_cast<uint16_t>(s), add);
      value[s] += add;
    }
  }
  return b.exe;
}

/// The programs as text, for failures.
std::string listing(const Commands &commands) {
  std::string text;
  for (CommandId id = 0; id < commands.size(); ++id) {
    const isa::Command &command = commands[id];
    text += commands.describe(id);
    if (command.hasWait)
      text += " wait S" + std::to_string(command.wait.semaphore) + ">=" + std::to_string(command.wait.value);
    if (command.hasUpdate)
      text += " S" + std::to_string(command.update.semaphore) + "+=" + std::to_string(command.update.add);
    text += "\n";
  }
  return text;
}

/// One run by whim. `log` receives, for every issue, the set of commands that were complete before it.
class WhimsicalMachine {
public:
  WhimsicalMachine(const Commands &commands, Random &random) : commands(commands), random(random) {
    next.resize(commands.programs());
    issued.resize(commands.size());
    complete.resize(commands.size());
    signals.resize(commands.size());
    semaphores.resize(16);
  }

  /// False when the run got stuck.
  bool run(std::vector<std::set<CommandId>> &completeBefore) {
    completeBefore.assign(commands.size(), {});
    for (;;) {
      std::vector<std::pair<int, uint32_t>> moves; // (-1, program): issue; (0, id): retire; (1 + g, id): DMA engine g
      for (unsigned p = 0; p < commands.programs(); ++p)
        if (next[p] < commands.size(p) && canIssue(commands.id(p, next[p])))
          moves.push_back({-1, p});
      for (CommandId id = 0; id < commands.size(); ++id)
        if (issued[id] && !complete[id])
          addCompletions(id, moves);
      if (moves.empty())
        break;
      auto [what, which] = moves[random() % moves.size()];
      if (what < 0)
        issue(commands.id(which, next[which]++), completeBefore);
      else
        advance(which, what);
    }
    for (unsigned p = 0; p < commands.programs(); ++p)
      if (next[p] < commands.size(p))
        return false;
    return true;
  }

private:
  bool isDma(CommandId id) const { return isa::info(isa::opcode(commands[id].inst)).isDma; }
  bool canIssue(CommandId id) const {
    const isa::Command &command = commands[id];
    return !command.hasWait || semaphores[command.wait.semaphore] >= static_cast<int64_t>(command.wait.value);
  }

  void addCompletions(CommandId id, std::vector<std::pair<int, uint32_t>> &moves) {
    if (!isDma(id)) {
      // Completions of an engine retire in order.
      for (CommandId before = id; before-- > 0;)
        if (commands[before].engine == commands[id].engine && !isDma(before) && !complete[before])
          return;
      moves.push_back({0, id});
      return;
    }
    for (int g = 0; g < 16; ++g) {
      if (signals[id] >> g & 1)
        continue;
      bool first = true; // in its ring, on this DMA engine
      for (CommandId before = 0; before < id; ++before)
        if (isDma(before) && commands[before].ring == commands[id].ring && !(signals[before] >> g & 1))
          first = false;
      if (first)
        moves.push_back({1 + g, id});
    }
  }

  void issue(CommandId id, std::vector<std::set<CommandId>> &completeBefore) {
    for (CommandId other = 0; other < commands.size(); ++other)
      if (complete[other])
        completeBefore[id].insert(other);
    issued[id] = true;
  }

  void advance(CommandId id, int what) {
    const isa::Command &command = commands[id];
    if (what == 0) {
      complete[id] = true;
      if (command.hasUpdate)
        semaphores[command.update.semaphore] += command.update.add;
      return;
    }
    signals[id] |= 1u << (what - 1);
    if (command.hasUpdate)
      ++semaphores[command.update.semaphore];
    complete[id] = signals[id] == 0xFFFF;
  }

  const Commands &commands;
  Random &random;
  std::vector<uint32_t> next;
  std::vector<char> issued, complete;
  std::vector<uint32_t> signals;
  std::vector<int64_t> semaphores;
};

} // namespace

TEST(Order, HoldsInEveryRunThatTheMachineAllows) {
  Random random(7);
  unsigned ordered = 0, programs = 0, alwaysOrdered = 0;
  for (int trial = 0; trial < 800; ++trial) {
    exe::Executable exe = randomProgram(random);
    Commands commands(exe);
    GuaranteedOrder order = GuaranteedOrder::compute(commands, *isa::device("trn2"));
    // Where a count is ambiguous that is the finding, and the order behind it means nothing.
    bool ambiguous = false;
    for (const SyncProblem &problem : order.problems())
      ambiguous |= problem.kind == SyncProblem::Kind::AmbiguousCount;
    if (order.deadlocked() || ambiguous)
      continue;
    ++programs;
    // Pairs (a, b): a was complete before b was issued, in all runs so far.
    std::set<std::pair<CommandId, CommandId>> always;
    bool first = true;
    for (int r = 0; r < 40; ++r) {
      std::vector<std::set<CommandId>> before;
      if (!WhimsicalMachine(commands, random).run(before))
        break; // some orders of this program deadlock: see the test below
      std::set<std::pair<CommandId, CommandId>> here;
      for (CommandId b = 0; b < commands.size(); ++b)
        for (CommandId a : before[b])
          here.insert({a, b});
      if (first)
        always = here;
      for (auto it = always.begin(); it != always.end();)
        it = here.count(*it) ? std::next(it) : always.erase(it);
      first = false;
    }
    if (first)
      continue;
    for (CommandId a = 0; a < commands.size(); ++a)
      for (CommandId b = 0; b < commands.size(); ++b) {
        const bool known = order[b].known[order[a].thread] >= order[a].position;
        ordered += known;
        alwaysOrdered += always.count({a, b});
        if (known)
          ASSERT_TRUE(always.count({a, b})) << "trial " << trial << ": " << commands.describe(a)
                                            << " is not always complete before " << commands.describe(b) << "\n"
                                            << listing(commands);
      }
  }
  EXPECT_GT(programs, 100u);
  EXPECT_GT(ordered, 300u);
  // Random runs cannot show all freedom, and ambiguous counts lose order on purpose; most must be found all the same.
  EXPECT_GT(ordered, alwaysOrdered * 6 / 10) << ordered << " of " << alwaysOrdered;
}

TEST(Order, FindsDeadlocksOfCountingPrograms) {
  // With signals that only count up, a program that one order completes is completed by every order.
  Random random(11);
  for (int trial = 0; trial < 300; ++trial) {
    exe::Executable exe = randomProgram(random);
    Commands commands(exe);
    const bool stuck = GuaranteedOrder::compute(commands, *isa::device("trn2")).deadlocked();
    for (int r = 0; r < 5; ++r) {
      std::vector<std::set<CommandId>> before;
      ASSERT_EQ(WhimsicalMachine(commands, random).run(before), !stuck) << trial;
    }
  }
}

TEST(Order, LinearOrderRespectsQueuesAndWaits) {
  exe::Executable exe = smallProgram();
  Commands commands(exe);
  GuaranteedOrder order = GuaranteedOrder::compute(commands, *isa::device("trn2"));
  ASSERT_EQ(order.linear().size(), commands.size());
  std::vector<uint32_t> position(commands.size());
  for (uint32_t i = 0; i < order.linear().size(); ++i)
    position[order.linear()[i]] = i;
  for (CommandId a = 0; a < commands.size(); ++a)
    for (CommandId b = 0; b < commands.size(); ++b)
      if (order.precedes(a, b))
        EXPECT_LT(position[a], position[b]);
}
