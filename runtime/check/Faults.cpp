//===- Faults.cpp - planting faults to measure the checker -----------------===//
//
// See Faults.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Faults.h"
#include "runtime/timing/Unroll.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <map>
#include <numeric>

namespace trn::rt {

const char *name(FaultKind kind) {
  switch (kind) {
  case FaultKind::DropWait:
    return "dropped wait";
  case FaultKind::MoveBuffer:
    return "moved buffer";
  case FaultKind::RemoveLoad:
    return "removed load";
  }
  return "?";
}

const char *name(Outcome outcome) {
  switch (outcome) {
  case Outcome::Caught:
    return "caught";
  case Outcome::CaughtByFlow:
    return "caught-by-flow";
  case Outcome::Harmless:
    return "harmless";
  case Outcome::Missed:
    return "missed";
  }
  return "?";
}

namespace {

constexpr unsigned kOperandBits = 4; // no instruction has more than 16 operands in memory

uint32_t key(const Access &access) { return access.command << kOperandBits | access.operand; }

const isa::AP *operandOf(const isa::Instruction &inst, unsigned operand) {
  const isa::AP *found = nullptr;
  unsigned index = 0;
  isa::forEachOperand(inst, [&](const isa::AP &ap, const isa::OperandInfo &) {
    if (index++ == operand)
      found = &ap;
  });
  return found;
}

isa::AP *operandOf(isa::Instruction &inst, unsigned operand) {
  isa::AP *found = nullptr;
  unsigned index = 0;
  isa::forEachOperand(inst, [&](isa::AP &ap, const isa::OperandInfo &) {
    if (index++ == operand)
      found = &ap;
  });
  return found;
}

/// The operands of one buffer: connected by data flow.
struct Web {
  std::vector<Access> accesses;
  Box box;
  uint32_t firstUse = UINT32_MAX, lastUse = 0; ///< positions in one legal order
};

class Webs {
public:
  Webs(const Commands &commands, const DataFlow &flow, const std::vector<uint32_t> &position) {
    for (const FlowEdge &edge : flow)
      parent[root(key({edge.reader, edge.operand}))] = root(key({edge.writer, edge.writerOperand}));
    std::map<uint32_t, Web> byRoot;
    std::vector<uint32_t> keys;
    for (const auto &entry : parent)
      keys.push_back(entry.first);
    for (uint32_t k : keys) {
      Access access{k >> kOperandBits, static_cast<uint8_t>(k & ((1u << kOperandBits) - 1))};
      const isa::AP *ap = operandOf(commands[access.command].inst, access.operand);
      if (!ap || ap->space == isa::Space::HBM)
        continue;
      add(byRoot[root(k)], access, boundingBox(*ap), position[access.command]);
    }
    for (auto &entry : byRoot)
      webs.push_back(std::move(entry.second));
  }

  std::vector<Web> webs;

private:
  uint32_t root(uint32_t k) {
    auto it = parent.emplace(k, k).first;
    while (it->second != it->first)
      it = parent.find(it->second);
    return it->first;
  }

  static void add(Web &web, const Access &access, const Box &box, uint32_t position) {
    if (web.accesses.empty()) {
      web.box = box;
    } else {
      web.box.firstPartition = std::min(web.box.firstPartition, box.firstPartition);
      web.box.endPartition = std::max(web.box.endPartition, box.endPartition);
      web.box.begin = std::min(web.box.begin, box.begin);
      web.box.end = std::max(web.box.end, box.end);
    }
    web.accesses.push_back(access);
    web.firstUse = std::min(web.firstUse, position);
    web.lastUse = std::max(web.lastUse, position);
  }

  std::map<uint32_t, uint32_t> parent;
};

bool isLoad(const exe::Executable &exe, const isa::Command &command) {
  const auto *copy = std::get_if<isa::DmaCopy>(&command.inst);
  return copy && copy->src.space == isa::Space::HBM && copy->dst.space == isa::Space::SBUF &&
         copy->src.buffer < exe.buffers.size();
}

void addMoves(const exe::Executable &exe, const Commands &commands, std::vector<Fault> &faults) {
  const isa::DeviceInfo *device = isa::device(exe.device);
  CheckOptions options;
  options.recordFlow = true;
  CheckReport report = check(exe, options);
  GuaranteedOrder order = GuaranteedOrder::compute(commands, *device);
  std::vector<uint32_t> position(commands.size(), 0);
  for (uint32_t i = 0; i < order.linear().size(); ++i)
    position[order.linear()[i]] = i;
  Webs webs(commands, report.flow, position);
  for (const Web &web : webs.webs) {
    const int64_t capacity = web.box.space == isa::Space::SBUF ? int64_t(device->sbufBytesUsable)
                                                               : int64_t(device->psumBanks) * device->psumBankBytes;
    // The next buffer that is live at the same time, elsewhere, on shared partitions, and roomy enough for the move.
    for (const Web &victim : webs.webs) {
      const int64_t move = victim.box.begin - web.box.begin;
      if (&victim == &web || victim.box.space != web.box.space || move == 0 || web.box.overlaps(victim.box) ||
          web.box.firstPartition >= victim.box.endPartition || victim.box.firstPartition >= web.box.endPartition ||
          victim.lastUse < web.firstUse || web.lastUse < victim.firstUse || web.box.end + move > capacity)
        continue;
      Fault fault{FaultKind::MoveBuffer, web.accesses[0].command, web.accesses, move, ""};
      fault.description = absl::StrCat("the buffer of ", commands.describe(web.accesses[0].command), " moved by ", move,
                                       " bytes onto that of ", commands.describe(victim.accesses[0].command));
      faults.push_back(std::move(fault));
      break;
    }
  }
}

} // namespace

FaultCounts FaultReport::total() const {
  FaultCounts sum;
  for (const FaultCounts &one : counts) {
    sum.planted += one.planted;
    sum.caught += one.caught;
    sum.caughtByFlow += one.caughtByFlow;
    sum.harmless += one.harmless;
    sum.missed += one.missed;
  }
  return sum;
}

std::string FaultReport::str() const {
  std::string text;
  auto line = [&](const char *title, const FaultCounts &c) {
    absl::StrAppend(&text, title, ": ", c.planted, " planted, ", c.caught, " caught, ", c.caughtByFlow,
                    " caught by data flow, ", c.harmless, " proved harmless, ", c.missed, " missed\n");
  };
  for (unsigned kind = 0; kind < kFaultKinds; ++kind)
    line(name(FaultKind(kind)), counts[kind]);
  line("all", total());
  for (const PlantedFault &fault : faults)
    if (fault.outcome == Outcome::Missed)
      absl::StrAppend(&text, "missed: ", fault.description, "\n");
  return text;
}

std::vector<Fault> enumerateFaults(const exe::Executable &exe) {
  std::vector<Fault> faults;
  Commands commands(exe);
  for (CommandId id = 0; id < commands.size(); ++id) {
    const isa::Command &command = commands[id];
    if (command.hasWait)
      faults.push_back(
          {FaultKind::DropWait, id, {}, 0, absl::StrCat("the wait of ", commands.describe(id), " dropped")});
  }
  addMoves(exe, commands, faults);
  for (CommandId id = 0; id < commands.size(); ++id)
    if (isLoad(exe, commands[id]))
      faults.push_back({FaultKind::RemoveLoad, id, {}, 0, absl::StrCat(commands.describe(id), " removed")});
  return faults;
}

exe::Executable plant(const exe::Executable &exe, const Fault &fault) {
  exe::Executable broken = exe;
  Commands ids(exe);
  auto command = [&](CommandId id) -> isa::Command & {
    return broken.programs[ids.programOf(id)].commands[ids.indexOf(id)];
  };
  switch (fault.kind) {
  case FaultKind::DropWait:
    command(fault.command).hasWait = false;
    break;
  case FaultKind::MoveBuffer:
    for (const Access &access : fault.accesses)
      if (isa::AP *ap = operandOf(command(access.command).inst, access.operand))
        ap->address += static_cast<uint64_t>(fault.move);
    break;
  case FaultKind::RemoveLoad:
    command(fault.command).inst = isa::Nop{}; // the semaphores stay as they were
    break;
  }
  return broken;
}

bool allConflictsOrdered(const exe::Executable &exe) {
  const isa::DeviceInfo *device = isa::device(exe.device);
  if (!device)
    return false;
  Commands commands(exe);
  GuaranteedOrder order = GuaranteedOrder::compute(commands, *device);
  struct Use {
    CommandId command;
    const isa::AP *ap;
    Box box;
    bool writes;
  };
  std::vector<Use> uses;
  for (CommandId id = 0; id < commands.size(); ++id)
    isa::forEachOperand(commands[id].inst, [&](const isa::AP &ap, const isa::OperandInfo &info) {
      uses.push_back({id, &ap, boundingBox(ap), info.role != isa::Role::In});
    });
  for (size_t i = 0; i < uses.size(); ++i)
    for (size_t j = i + 1; j < uses.size(); ++j) {
      const Use &a = uses[i], &b = uses[j];
      if ((!a.writes && !b.writes) || a.command == b.command || !a.box.overlaps(b.box))
        continue;
      if (!order.precedes(a.command, b.command) && !order.precedes(b.command, a.command) && overlaps(*a.ap, *b.ap))
        return false;
    }
  return !order.deadlocked();
}

/// The first error that the plain check alone would report, or else the first of the comparison of data flow.
static const Finding *firstError(const CheckReport &report, bool plain) {
  for (const Finding &finding : report.findings)
    if (finding.isError && (finding.kind != FindingKind::WrongFlow) == plain)
      return &finding;
  return nullptr;
}

static PlantedFault judge(const Fault &fault, const exe::Executable &broken, const CheckReport &report) {
  if (const Finding *finding = firstError(report, /*plain=*/true))
    return {fault.kind, Outcome::Caught, fault.description, finding->message};
  if (const Finding *finding = firstError(report, /*plain=*/false))
    return {fault.kind, Outcome::CaughtByFlow, fault.description, finding->message};
  return {fault.kind, allConflictsOrdered(broken) ? Outcome::Harmless : Outcome::Missed, fault.description, ""};
}

void FaultReport::add(PlantedFault fault) {
  FaultCounts &sum = counts[static_cast<unsigned>(fault.kind)];
  ++sum.planted;
  sum.caught += fault.outcome == Outcome::Caught;
  sum.caughtByFlow += fault.outcome == Outcome::CaughtByFlow;
  sum.harmless += fault.outcome == Outcome::Harmless;
  sum.missed += fault.outcome == Outcome::Missed;
  faults.push_back(std::move(fault));
}

absl::StatusOr<FaultReport> plantFaults(const exe::Executable &given, const FaultOptions &options) {
  FaultReport report;
  // Faults of loops are those of two rounds (Unroll.h).
  Path path;
  path.dataRounds = path.barrierRounds = 2;
  absl::StatusOr<exe::Executable> unrolled = unroll(given, path);
  if (!unrolled.ok())
    return unrolled.status();
  const exe::Executable &exe = *unrolled;
  CheckOptions record;
  record.recordFlow = true;
  const CheckReport original = check(exe, record);
  if (!original.ok())
    return absl::FailedPreconditionError("the program does not pass the check:\n" + original.str());
  CheckOptions expect;
  expect.expectedFlow = &original.flow;
  unsigned seen[kFaultKinds] = {0, 0, 0};
  for (const Fault &fault : enumerateFaults(exe)) {
    if (seen[static_cast<unsigned>(fault.kind)]++ % options.every)
      continue;
    const exe::Executable broken = plant(exe, fault);
    const CheckReport outcome = check(broken, expect);
    report.add(judge(fault, broken, outcome));
  }
  return report;
}

} // namespace trn::rt
