//===- CriticalPath.cpp - the chain that made a run as long as it was --------===//
//
// See CriticalPath.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/profile/CriticalPath.h"
#include "absl/container/flat_hash_map.h"
#include <algorithm>

namespace trn::rt {

const char *name(PathKind kind) {
  switch (kind) {
  case PathKind::Execute:
    return "execute";
  case PathKind::HandOff:
    return "hand-off";
  case PathKind::WeightLoad:
    return "weight-load";
  case PathKind::DmaIssue:
    return "dma-issue";
  case PathKind::DmaStart:
    return "dma-start";
  case PathKind::DmaTransfer:
    return "dma-transfer";
  case PathKind::DmaFinish:
    return "dma-finish";
  }
  return "?";
}

namespace {

class Walk {
public:
  Walk(const Commands &commands, const Timeline &timeline) : commands(commands), timeline(timeline) {
    for (const TransferTime &transfer : timeline.transfers)
      transfers.emplace(transfer.command, &transfer);
  }

  std::vector<PathPiece> run() {
    CommandId last = kNoCommand;
    for (CommandId id = 0; id < commands.size(); ++id)
      if (last == kNoCommand || endOf(id) > endOf(last))
        last = id;
    if (last == kNoCommand)
      return {};
    Ticks until = endOf(last);
    for (CommandId at = last; at != kNoCommand;)
      at = stepFrom(at, until);
    std::reverse(pieces.begin(), pieces.end());
    return std::move(pieces);
  }

private:
  Ticks endOf(CommandId id) const { return std::max(timeline.commands[id].end, timeline.commands[id].busyUntil); }

  /// Adds [begin, until) and moves `until` to its begin.
  void add(PathKind kind, CommandId command, Ticks begin, Ticks &until) {
    begin = std::max<Ticks>(begin, 0);
    if (begin >= until)
      return;
    pieces.push_back({kind, commands[command].engine, command, begin, until});
    until = begin;
  }

  /// Covers a command from `until` back to its start, and what delayed that; returns who came before.
  CommandId stepFrom(CommandId id, Ticks &until) {
    const CommandTime &time = timeline.commands[id];
    auto transfer = transfers.find(id);
    if (transfer == transfers.end()) {
      add(PathKind::Execute, id, time.start, until);
    } else if (until > time.busyUntil) {
      add(PathKind::DmaFinish, id, transfer->second->lastPacket, until);
      add(PathKind::DmaTransfer, id, transfer->second->firstPacket, until);
      add(PathKind::DmaStart, id, time.start, until);
    } else {
      add(PathKind::DmaIssue, id, time.start, until);
    }
    Ticks released = time.start; // what it waited for had reached it
    if (time.stall == Stall::WeightLoad) {
      released = time.blocker == kNoCommand ? time.ready : std::max(time.ready, arrival(id));
      add(PathKind::WeightLoad, id, released, until);
    }
    if (time.blocker == kNoCommand || released <= time.ready)
      return commands.indexOf(id) == 0 ? kNoCommand : id - 1;
    const CommandTime &before = timeline.commands[time.blocker];
    add(PathKind::HandOff, id, time.stall == Stall::Port ? before.busyUntil : before.end, until);
    return time.blocker;
  }

  /// When the signal that a command waited for had reached its engine.
  Ticks arrival(CommandId id) const {
    return timeline.commands[timeline.commands[id].blocker].end +
           timeline.handOff[static_cast<unsigned>(commands[id].engine)];
  }

  const Commands &commands;
  const Timeline &timeline;
  absl::flat_hash_map<CommandId, const TransferTime *> transfers;
  std::vector<PathPiece> pieces;
};

} // namespace

std::vector<PathPiece> criticalPath(const Commands &commands, const Timeline &timeline) {
  return Walk(commands, timeline).run();
}

} // namespace trn::rt
