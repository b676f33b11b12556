//===- Check.cpp - the static checker of executables -----------------------===//
//
// See Check.h. Two passes: Order.cpp establishes what each command knows at issue; this file then walks the commands in
// one legal order, keeps a shadow of every memory, and asks for each pair of accesses that share bytes whether the
// earlier one is guaranteed to precede the later one.
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Check.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "runtime/check/Stretches.h"
#include "runtime/timing/Operands.h"
#include "runtime/timing/Unroll.h"
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace trn::rt {

const char *name(FindingKind kind) {
  switch (kind) {
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::AmbiguousCount:
    return "ambiguous-count";
  case FindingKind::BadUpdate:
    return "bad-update";
  case FindingKind::SharedRing:
    return "shared-ring";
  case FindingKind::ReadAfterWrite:
    return "race-read-after-write";
  case FindingKind::WriteAfterRead:
    return "race-write-after-read";
  case FindingKind::WriteAfterWrite:
    return "race-write-after-write";
  case FindingKind::UnsetRead:
    return "unset-read";
  case FindingKind::UnsetOutput:
    return "unset-output";
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::ReadOnlyWrite:
    return "read-only-write";
  case FindingKind::WrongAccumulate:
    return "wrong-accumulate";
  case FindingKind::SelfOverlap:
    return "self-overlap";
  case FindingKind::WrongTable:
    return "wrong-table";
  case FindingKind::WrongStationary:
    return "wrong-stationary";
  case FindingKind::IllegalInstruction:
    return "illegal-instruction";
  case FindingKind::WrongFlow:
    return "wrong-flow";
  case FindingKind::LeftoverSemaphore:
    return "leftover-semaphore";
  case FindingKind::OverBarrier:
    return "transfer-over-barrier";
  case FindingKind::Unsupported:
    return "unsupported";
  }
  return "?";
}

std::string CheckReport::str() const {
  std::string text;
  for (const Finding &finding : findings)
    absl::StrAppend(&text, finding.isError ? "error: " : "note: ", finding.message, " [", name(finding.kind), "]\n");
  const uint64_t described = findings.size();
  if (errors + notes > described)
    absl::StrAppend(&text, "… and ", errors + notes - described, " more\n");
  return text;
}

namespace {

FindingKind kindOf(SyncProblem::Kind kind) {
  switch (kind) {
  case SyncProblem::Kind::Deadlock:
    return FindingKind::Deadlock;
  case SyncProblem::Kind::AmbiguousCount:
    return FindingKind::AmbiguousCount;
  case SyncProblem::Kind::BadUpdate:
    return FindingKind::BadUpdate;
  case SyncProblem::Kind::SharedRing:
    return FindingKind::SharedRing;
  case SyncProblem::Kind::LeftoverSemaphore:
    return FindingKind::LeftoverSemaphore;
  case SyncProblem::Kind::OverBarrier:
    return FindingKind::OverBarrier;
  case SyncProblem::Kind::Unsupported:
    return FindingKind::Unsupported;
  }
  return FindingKind::Unsupported;
}

/// The stretches of one way, in their order; each with the barrier of the first queue behind it, none behind the last.
using WayStretches = std::vector<std::pair<Stretch, std::optional<uint32_t>>>;

class Checker {
public:
  /// `way`: where the stretches go; null when nobody asks.
  Checker(const exe::Executable &exe, const CheckOptions &options, WayStretches *way = nullptr)
      : exe(exe), options(options), way(way), commands(exe), device(isa::device(exe.device)),
        expected(options.expectedFlow ? options.expectedFlow : exe.flow.empty() ? nullptr : &exe.flow) {}

  CheckReport run() {
    report.commands = commands.size();
    if (!device) {
      add(FindingKind::Unsupported, kNoCommand, kNoCommand,
          absl::StrCat("expected a known device but got '", exe.device, "'"));
      return std::move(report);
    }
    if (options.legality)
      checkLegality();
    order = GuaranteedOrder::compute(commands, *device);
    for (const SyncProblem &problem : order.problems())
      add(kindOf(problem.kind), problem.command, problem.other, problem.message);
    // Memory is only judged when every operand stays inside it.
    if (!checkBounds())
      return finish();
    hbm.resize(exe.buffers.size());
    for (CommandId id : order.linear())
      visit(id);
    if (way)
      way->emplace_back(std::move(stretch), std::nullopt);
    if (!order.deadlocked())
      checkOutputs();
    compareFlow();
    return finish();
  }

private:
  CheckReport finish() {
    if (!options.recordFlow)
      report.flow.clear();
    return std::move(report);
  }

  /// Reports once per kind, pair of commands and `detail`.
  void add(FindingKind kind, CommandId command, CommandId other, std::string message, uint32_t detail = 0) {
    if (kind != FindingKind::Deadlock && !seen.insert({kind, command, other, detail}).second)
      return;
    const bool isError = kind != FindingKind::LeftoverSemaphore;
    (isError ? report.errors : report.notes) += 1;
    if (report.findings.size() < options.maxFindings)
      report.findings.push_back({kind, isError, command, other, std::move(message)});
  }

  void checkLegality() {
    std::vector<isa::Violation> violations;
    for (CommandId id = 0; id < commands.size(); ++id) {
      const isa::Command &command = commands[id];
      violations.clear();
      isa::validate(command.inst, *device, isa::Phase::Address, violations);
      isa::validateEngine(command.inst, command.engine, *device, violations);
      for (const isa::Violation &violation : violations)
        add(FindingKind::IllegalInstruction, id, kNoCommand,
            absl::StrCat(commands.describe(id), ": ", violation.message, " (rule ", violation.number, ", ",
                         violation.source ? violation.source : "ours", ")"),
            static_cast<uint32_t>(violation.number));
    }
  }

  /// Does every operand of every command lie in memory?
  bool checkBounds() {
    bool inside = true;
    for (CommandId id = 0; id < commands.size(); ++id)
      forEachUse(commands[id].inst, [&](const OperandUse &use, unsigned index) { inside &= isInside(id, use, index); });
    return inside;
  }

  bool isInside(CommandId id, const OperandUse &use, unsigned index) {
    const isa::AP &ap = *use.ap;
    auto outside = [&](std::string expected) {
      add(FindingKind::OutOfBounds, id, kNoCommand,
          absl::StrCat(commands.describe(id), ": operand '", use.name, "' ", ap.str(), ": expected ", expected), index);
      return false;
    };
    std::string problem;
    if (!ap.wellFormed(&problem))
      return outside(absl::StrCat("a well-formed access pattern but got ", problem));
    const Box box = boundingBox(ap);
    if (ap.space == isa::Space::HBM) {
      if (ap.buffer >= exe.buffers.size())
        return outside(absl::StrCat("a buffer below ", exe.buffers.size()));
      const exe::Buffer &buffer = exe.buffers[ap.buffer];
      if (box.begin < 0 || box.end > static_cast<int64_t>(buffer.bytes))
        return outside(absl::StrCat("bytes inside [0, ", buffer.bytes, ") of buffer '", buffer.name, "' but got [",
                                    box.begin, ", ", box.end, ")"));
      return true;
    }
    const int64_t bytes =
        ap.space == isa::Space::SBUF ? device->sbufBytesUsable : device->psumBanks * device->psumBankBytes;
    if (box.endPartition > static_cast<int64_t>(device->partitions))
      return outside(absl::StrCat("partitions inside [0, ", device->partitions, ") but got [", box.firstPartition, ", ",
                                  box.endPartition, ")"));
    if (box.begin < 0 || box.end > bytes)
      return outside(
          absl::StrCat("bytes inside [0, ", bytes, ") of each partition but got [", box.begin, ", ", box.end, ")"));
    return true;
  }

  void visit(CommandId id) {
    const isa::Command &command = commands[id];
    if (std::holds_alternative<isa::Barrier>(command.inst)) {
      forgetCore();
      if (way && commands.programOf(id) == 0)
        way->emplace_back(std::exchange(stretch, {}), commands.indexOf(id));
    }
    checkTable(id, command);
    checkStationary(id, command);
    checkSelfOverlap(id, command);
    // All reads come before all writes: an instruction may overwrite what it reads.
    forEachUse(command.inst, [&](const OperandUse &use, unsigned index) {
      if (use.reads)
        readOperand(id, use, static_cast<uint8_t>(index));
    });
    forEachUse(command.inst, [&](const OperandUse &use, unsigned index) {
      if (use.writes)
        writeOperand(id, use, static_cast<uint8_t>(index));
    });
  }

  /// Behind a barrier only device memory holds what it held.
  void forgetCore() {
    sbuf = Shadow();
    psum = Shadow();
    apart.clear();
    loadedTable = -1;
    loaded = nullptr;
  }

  /// Inputs and weights are set before the program starts and never change.
  bool isPreset(const isa::AP &ap) const {
    if (ap.space != isa::Space::HBM)
      return false;
    exe::BufferKind kind = exe.buffers[ap.buffer].kind;
    return kind == exe::BufferKind::Input || kind == exe::BufferKind::Weight;
  }

  Shadow &shadow(const isa::AP &ap) {
    if (options.buffersApart && ap.space != isa::Space::HBM)
      return apart[{ap.space, ap.buffer}];
    switch (ap.space) {
    case isa::Space::SBUF:
      return sbuf;
    case isa::Space::PSUM:
      return psum;
    case isa::Space::HBM:
      break;
    }
    return hbm[ap.buffer];
  }

  static Footprint footprint(const isa::AP &ap) {
    const bool onChip = ap.space != isa::Space::HBM;
    const int64_t first = onChip ? ap.startPartition : 0;
    return {byteRuns(ap), first, onChip ? first + ap.partitions : 1};
  }

  std::string place(const isa::AP &ap, const Region &region) const {
    if (ap.space == isa::Space::HBM)
      return absl::StrCat("bytes [", region.begin, ", ", region.end, ") of buffer '", exe.buffers[ap.buffer].name, "'");
    std::string text = absl::StrCat(isa::name(ap.space), " bytes [", region.begin, ", ", region.end,
                                    ") of partitions [", region.firstPartition, ", ", region.endPartition, ")");
    if (ap.space == isa::Space::PSUM)
      absl::StrAppend(&text, ", bank ", region.begin / static_cast<int64_t>(device->psumBankBytes));
    return text;
  }

  void readOperand(CommandId id, const OperandUse &use, uint8_t index) {
    if (isPreset(*use.ap))
      return;
    ++report.accesses;
    const bool accumulates = use.writes && use.ap->space == isa::Space::PSUM && device->version < 4;
    const Footprint bytes = footprint(*use.ap);
    if (way && use.ap->space == isa::Space::HBM)
      stretch.read(use.ap->buffer, bytes.runs, [&] { return commands.describe(id); });
    shadow(*use.ap).read(bytes, {id, index}, order[id].thread, [&](Access writer, const Region &part) {
      if (writer.command == kNoCommand) {
        add(FindingKind::UnsetRead, id, kNoCommand,
            absl::StrCat("unset read: ", commands.describe(id), " reads ", place(*use.ap, part), " (operand '",
                         use.name, "'), which nothing has written"),
            index);
        return;
      }
      flow({id, index, writer.command, writer.operand});
      if (!order.precedes(writer.command, id))
        race(FindingKind::ReadAfterWrite, writer.command, "write", id, "read", *use.ap, part);
      else if (accumulates && commands[id].engine == isa::Engine::PE &&
               commands[writer.command].engine != isa::Engine::PE)
        add(FindingKind::WrongAccumulate, id, writer.command,
            absl::StrCat(commands.describe(id), " accumulates onto ", place(*use.ap, part), ", which ",
                         commands.describe(writer.command),
                         " wrote: expected a matmul as the writer (ISA32 nc_matmul: undefined before v4)"));
    });
  }

  void writeOperand(CommandId id, const OperandUse &use, uint8_t index) {
    ++report.accesses;
    if (isPreset(*use.ap)) {
      const exe::Buffer &buffer = exe.buffers[use.ap->buffer];
      add(FindingKind::ReadOnlyWrite, id, kNoCommand,
          absl::StrCat(commands.describe(id), " writes ",
                       buffer.kind == exe::BufferKind::Weight ? "weight '" : "input '", buffer.name, "'"));
      return;
    }
    const Footprint bytes = footprint(*use.ap);
    if (way && use.ap->space == isa::Space::HBM)
      stretch.write(use.ap->buffer, bytes.runs);
    shadow(*use.ap).write(
        bytes, {id, index},
        [&](Access writer, const Region &part) {
          if (writer.command != id && !order.precedes(writer.command, id))
            race(FindingKind::WriteAfterWrite, writer.command, "write", id, "write", *use.ap, part);
        },
        [&](Access reader, const Region &part) {
          if (reader.command != id && !order.precedes(reader.command, id))
            race(FindingKind::WriteAfterRead, reader.command, "read", id, "write", *use.ap, part);
        });
  }

  void race(FindingKind kind, CommandId first, const char *firstDoes, CommandId second, const char *secondDoes,
            const isa::AP &ap, const Region &part) {
    add(kind, second, first,
        absl::StrCat("race: the ", firstDoes, " of ", commands.describe(first), " and the ", secondDoes, " of ",
                     commands.describe(second), " share ", place(ap, part),
                     ", and no semaphore orders the first before the second"));
  }

  void flow(FlowEdge edge) {
    if ((options.recordFlow || expected) && (report.flow.empty() || !(report.flow.back() == edge)))
      report.flow.push_back(edge);
  }

  void compareFlow() {
    std::sort(report.flow.begin(), report.flow.end());
    report.flow.erase(std::unique(report.flow.begin(), report.flow.end()), report.flow.end());
    if (!expected || order.deadlocked())
      return;
    std::vector<FlowEdge> strange, missing;
    std::set_difference(report.flow.begin(), report.flow.end(), expected->begin(), expected->end(),
                        std::back_inserter(strange));
    std::set_difference(expected->begin(), expected->end(), report.flow.begin(), report.flow.end(),
                        std::back_inserter(missing));
    for (const FlowEdge &edge : strange)
      add(FindingKind::WrongFlow, edge.reader, edge.writer,
          absl::StrCat("wrong data: operand ", int(edge.operand), " of ", commands.describe(edge.reader),
                       " reads what ", commands.describe(edge.writer), " wrote, which is not its source"));
    for (const FlowEdge &edge : missing)
      add(FindingKind::WrongFlow, edge.reader, edge.writer,
          absl::StrCat("wrong data: operand ", int(edge.operand), " of ", commands.describe(edge.reader),
                       " does not read what ", edge.writer < commands.size() ? commands.describe(edge.writer) : "?",
                       " wrote"));
  }

  void checkTable(CommandId id, const isa::Command &command) {
    if (const auto *load = std::get_if<isa::ActTableLoad>(&command.inst)) {
      loadedTable = load->set;
      return;
    }
    const auto *activation = std::get_if<isa::Activation>(&command.inst);
    if (!activation)
      return;
    const int needed = isa::info(activation->func).tableSet;
    if (needed != 0 && needed != loadedTable)
      add(FindingKind::WrongTable, id, kNoCommand,
          absl::StrCat(commands.describe(id), " needs activation table set ", needed, " but ",
                       loadedTable < 0 ? std::string("none") : absl::StrCat("set ", loadedTable), " is loaded"));
  }

  /// A destination may be a source exactly (each element is read before it is written), or share no byte with it.
  void checkSelfOverlap(CommandId id, const isa::Command &command) {
    absl::InlinedVector<OperandUse, 6> uses;
    isa::forEachOperand(command.inst, [&](const isa::AP &ap, const isa::OperandInfo &info) {
      uses.push_back({&ap, isa::reads(info.role), isa::writes(info.role), info.name});
    });
    for (size_t i = 0; i < uses.size(); ++i)
      for (size_t j = i + 1; j < uses.size(); ++j)
        if ((uses[i].writes || uses[j].writes) && !(*uses[i].ap == *uses[j].ap) && overlaps(*uses[i].ap, *uses[j].ap))
          add(FindingKind::SelfOverlap, id, kNoCommand,
              absl::StrCat(commands.describe(id), ": operands '", uses[i].name, "' ", uses[i].ap->str(), " and '",
                           uses[j].name, "' ", uses[j].ap->str(),
                           " overlap: expected equal or disjoint operands where one is written"),
              static_cast<uint32_t>(j));
  }

  /// A matmul that loads no weights must find its own in the array.
  void checkStationary(CommandId id, const isa::Command &command) {
    if (command.engine != isa::Engine::PE)
      return;
    const auto *matmul = std::get_if<isa::NcMatmul>(&command.inst);
    if (matmul && !matmul->loadStationary && !(loaded && matmul->stationary == *loaded))
      add(FindingKind::WrongStationary, id, kNoCommand,
          absl::StrCat(commands.describe(id), " loads no stationary operand, but the array holds ",
                       loaded ? loaded->str() : std::string("none"), ": expected ", matmul->stationary.str()));
    if (matmul)
      loaded = &matmul->stationary;
    else if (std::holds_alternative<isa::NcTranspose>(command.inst))
      loaded = nullptr;
  }

  void checkOutputs() {
    for (size_t i = 0; i < exe.buffers.size(); ++i) {
      const exe::Buffer &buffer = exe.buffers[i];
      if (buffer.kind != exe::BufferKind::Output)
        continue;
      hbm[i].unset({0, static_cast<int64_t>(buffer.bytes), 0, 1}, [&](const Region &hole) {
        add(FindingKind::UnsetOutput, kNoCommand, kNoCommand,
            absl::StrCat("output '", buffer.name, "': nothing writes bytes [", hole.begin, ", ", hole.end, ")"),
            static_cast<uint32_t>(i));
      });
    }
  }

  const exe::Executable &exe;
  const CheckOptions &options;
  WayStretches *way;
  Stretch stretch; ///< since the last barrier; of `way`
  Commands commands;
  const isa::DeviceInfo *device;
  const DataFlow *expected;
  GuaranteedOrder order;
  CheckReport report;
  Shadow sbuf, psum;
  std::vector<Shadow> hbm;
  std::map<std::pair<isa::Space, uint32_t>, Shadow> apart; ///< with CheckOptions::buffersApart
  int loadedTable = -1;
  const isa::AP *loaded = nullptr; ///< the stationary operand in the array
  absl::flat_hash_set<std::tuple<FindingKind, CommandId, CommandId, uint32_t>> seen;
};

/// The ways through a program that are looked at. From a *base*, each decision that is met on it is made otherwise,
/// alone. Bases are the ways on which all that data decides is taken, or nothing, and then, as long as some command was
/// reached on no base, ways to such commands: to many of them at once, if one way can. So every command is reached,
/// however deep it lies in branches and loops, and with each decision on its way made both ways.
class Ways {
public:
  explicit Ways(const exe::Executable &exe) : exe(exe), loads(countLoads(exe)) {
    for (const exe::Program &program : exe.programs) {
      reached.emplace_back(program.commands.size());
      based.emplace_back(program.commands.size());
    }
    for (bool taken : {true, false})
      addBase(std::vector<bool>(loads, taken));
  }

  /// The next way; none behind the last one.
  std::optional<Path> next() {
    if (at == ways.size())
      leadToLate();
    if (at == ways.size())
      return std::nullopt;
    Path path;
    path.dataRounds = path.barrierRounds = 2;
    path.loads = ways[at++].decisions;
    return path;
  }

  /// `unrolled` is the program on the way that was given last: adds those that follow from it.
  void follow(const exe::Executable &unrolled) {
    const Way way = ways[at - 1];
    std::vector<bool> met(loads);
    std::vector<Place> fresh;
    visit(unrolled, [&](Place place, std::optional<unsigned> load) {
      if (load)
        met[*load] = true;
      if (!reached[place.first][place.second])
        fresh.push_back(place);
      reached[place.first][place.second] = true;
      if (way.isBase)
        based[place.first][place.second] = true;
    });
    if (!way.isBase && !fresh.empty())
      late.push_back({way, std::move(fresh)});
    for (unsigned load = 0; way.isBase && load < loads; ++load) {
      Way other{way.decisions, /*isBase=*/false, load};
      other.decisions[load] = !other.decisions[load];
      if (met[load] && known.insert(other.decisions).second)
        ways.push_back(std::move(other));
    }
  }

private:
  using Place = std::pair<size_t, size_t>; ///< a queue, and a command of it
  struct Way {
    std::vector<bool> decisions;
    bool isBase;
    unsigned otherwise = 0; ///< the decision unlike those of the base before
  };
  struct Late {
    Way way;
    std::vector<Place> places; ///< which it was the first to reach
  };

  /// Calls for each command on the way, of a load with its number as Path counts.
  template <typename Function> void visit(const exe::Executable &unrolled, Function onWay) const {
    for (size_t queue = 0; queue < exe.programs.size(); ++queue) {
      const exe::Program &program = exe.programs[queue];
      std::vector<bool> executed(program.commands.size(), unrolled.programs[queue].positions.empty());
      for (uint32_t position : unrolled.programs[queue].positions)
        executed[position] = true;
      unsigned load = 0;
      for (size_t position = 0; position < executed.size(); ++position) {
        const bool isLoad = std::holds_alternative<isa::RegisterLoad>(program.commands[position].inst);
        if (executed[position])
          onWay(Place(queue, position), isLoad ? std::optional<unsigned>(load) : std::nullopt);
        load += isLoad;
      }
    }
  }

  /// The way that reached something first, with the decisions of all others like it; without them when that led
  /// elsewhere.
  void leadToLate() {
    late.erase(std::remove_if(late.begin(), late.end(),
                              [&](const Late &each) {
                                return std::all_of(each.places.begin(), each.places.end(),
                                                   [&](Place place) { return based[place.first][place.second]; });
                              }),
               late.end());
    if (late.empty())
      return;
    std::vector<bool> decisions = late.front().way.decisions;
    if (decisions != joined)
      for (const Late &each : late)
        decisions[each.way.otherwise] = each.way.decisions[each.way.otherwise];
    joined = late.front().way.decisions;
    addBase(std::move(decisions));
  }

  void addBase(std::vector<bool> decisions) {
    known.insert(decisions);
    ways.push_back({std::move(decisions), /*isBase=*/true});
  }

  const exe::Executable &exe;
  const unsigned loads;
  std::vector<std::vector<bool>> reached, based; ///< per queue, the commands of all ways, and of bases
  std::vector<Way> ways;
  std::vector<Late> late;
  std::vector<bool> joined; ///< the way that was joined with others last
  std::set<std::vector<bool>> known;
  size_t at = 0;
};

void addWay(Stretches &stretches, const exe::Executable &unrolled, WayStretches way) {
  const exe::Program &queue = unrolled.programs.front(); // all go the same way
  uint32_t begin = 0;
  Stretches::Node from = Stretches::kBegin;
  for (auto &[stretch, barrier] : way) {
    const uint32_t end = barrier ? *barrier + 1 : static_cast<uint32_t>(queue.commands.size());
    std::vector<uint32_t> trace;
    for (uint32_t i = begin; i < end; ++i)
      trace.push_back(queue.positions.empty() ? i : queue.positions[i]);
    const Stretches::Node to = barrier ? Stretches::Node(trace.back()) : Stretches::kEnd;
    if (stretches.isNew(from, to, std::move(trace)))
      stretches.add(from, to, std::move(stretch));
    from = to;
    begin = end;
  }
}

/// Whether device memory is written before it is read, and outputs are whole, on the ways that were not looked at, too.
void checkAllWays(const exe::Executable &exe, Stretches &stretches, const CheckOptions &options, CheckReport &report) {
  auto add = [&](FindingKind kind, std::string message) {
    ++report.errors;
    if (report.findings.size() < options.maxFindings)
      report.findings.push_back({kind, true, kNoCommand, kNoCommand, std::move(message)});
  };
  for (const Stretches::UnsetRead &read : stretches.unsetReads())
    add(FindingKind::UnsetRead, absl::StrCat("unset read: ", read.reader, " reads bytes [", read.run.begin, ", ", read.run.end,
                                             ") of buffer '", exe.buffers[read.buffer].name,
                                             "', which not every way there has written"));
  for (uint32_t i = 0; i < exe.buffers.size(); ++i)
    if (exe.buffers[i].kind == exe::BufferKind::Output)
      if (std::optional<ByteRun> hole = stretches.missingAtEnd(i, {0, static_cast<int64_t>(exe.buffers[i].bytes)}))
        add(FindingKind::UnsetOutput, absl::StrCat("output '", exe.buffers[i].name, "': not every way writes bytes [",
                                                   hole->begin, ", ", hole->end, ")"));
}

} // namespace

CheckReport check(const exe::Executable &exe, const CheckOptions &options) {
  if (!hasControlFlow(exe))
    return Checker(exe, options).run();
  CheckReport report;
  Ways ways(exe);
  Stretches stretches;
  while (const std::optional<Path> path = ways.next()) {
    absl::StatusOr<exe::Executable> unrolled = unroll(exe, *path);
    if (!unrolled.ok()) {
      report.errors = 1;
      report.findings.push_back(
          {FindingKind::Unsupported, true, kNoCommand, kNoCommand, std::string(unrolled.status().message())});
      return report;
    }
    WayStretches way;
    CheckReport one = Checker(*unrolled, options, &way).run();
    if (!one.ok())
      return one;
    ways.follow(*unrolled);
    addWay(stretches, *unrolled, std::move(way));
    if (one.commands > report.commands)
      report = std::move(one);
  }
  checkAllWays(exe, stretches, options, report);
  return report;
}

} // namespace trn::rt
