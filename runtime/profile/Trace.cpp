//===- Trace.cpp - the Perfetto trace ----------------------------------------===//
//
// See Profile.h (writePerfetto). Chrome's JSON trace format: complete events in microseconds on one track per engine
// and ring, counters for live bytes. Packets appear under their DMA engine when the timeline recorded them.
//
//===----------------------------------------------------------------------===//
#include "absl/strings/str_cat.h"
#include "runtime/profile/Json.h"
#include "runtime/profile/Profile.h"
#include <set>

namespace trn::rt {
namespace {

constexpr int kCore = 1, kPackets = 2; // processes of the trace
constexpr int kRingTrack = 100;        // tracks of rings follow those of the engines

void nameTrack(Json &json, int process, int track, std::string_view name) {
  json.line()
      .beginObject()
      .text("ph", "M")
      .text("name", "thread_name")
      .integer("pid", process)
      .integer("tid", track)
      .beginObject("args")
      .text("name", name)
      .endObject()
      .endObject();
  json.line()
      .beginObject()
      .text("ph", "M")
      .text("name", "thread_sort_index")
      .integer("pid", process)
      .integer("tid", track)
      .beginObject("args")
      .integer("sort_index", track)
      .endObject()
      .endObject();
}

void beginEvent(Json &json, int process, int track, std::string_view name, Ticks begin, Ticks end) {
  json.line()
      .beginObject()
      .text("ph", "X")
      .text("name", name)
      .integer("pid", process)
      .integer("tid", track)
      .number("ts", ticksToUs(begin))
      .number("dur", ticksToUs(end - begin))
      .beginObject("args");
}

void endEvent(Json &json) { json.endObject().endObject(); }

} // namespace

std::string writePerfetto(const exe::Executable &exe, const Timeline &timeline, const Profile &profile) {
  Commands commands(exe);
  Json json;
  json.beginObject();
  json.text("displayTimeUnit", "ns");
  json.line().beginArray("traceEvents");
  json.line()
      .beginObject()
      .text("ph", "M")
      .text("name", "process_name")
      .integer("pid", kCore)
      .beginObject("args")
      .text("name", absl::StrCat("NeuronCore (", profile.device, ", modelled)"))
      .endObject()
      .endObject();
  for (unsigned e = 0; e < isa::kNumEngines; ++e)
    nameTrack(json, kCore, static_cast<int>(e) + 1, isa::name(isa::Engine(e)));
  std::set<int> rings;
  for (const TransferTime &transfer : timeline.transfers)
    rings.insert(transfer.ring);
  for (int ring : rings)
    nameTrack(json, kCore, kRingTrack + ring, absl::StrCat("ring ", ring));
  for (CommandId id = 0; id < commands.size(); ++id) {
    const isa::Command &command = commands[id];
    const CommandTime &time = timeline.commands[id];
    const isa::InstInfo &info = isa::info(isa::opcode(command.inst));
    beginEvent(json, kCore, static_cast<int>(command.engine) + 1, info.mnemonic, time.start, time.busyUntil);
    json.text("node", commands.node(id)).integer("index", commands.indexOf(id));
    json.number("completion_us", ticksToUs(time.end));
    if (time.stall != Stall::None) {
      json.text("stall", name(time.stall)).number("stalled_us", ticksToUs(time.start - time.ready));
      if (time.blocker != kNoCommand)
        json.text("waited_for", commands.describe(time.blocker));
    }
    endEvent(json);
  }
  for (const TransferTime &transfer : timeline.transfers) {
    const std::string &node = commands.node(transfer.command);
    beginEvent(json, kCore, kRingTrack + transfer.ring, node.empty() ? "transfer" : node, transfer.firstPacket,
               transfer.lastPacket);
    json.integer("bytes", int64_t(transfer.bytes)).integer("packets", int64_t(transfer.packets));
    json.text("command", commands.describe(transfer.command));
    endEvent(json);
  }
  for (const MemoryPoint &point : profile.memory)
    json.line()
        .beginObject()
        .text("ph", "C")
        .text("name", "live bytes per partition")
        .integer("pid", kCore)
        .number("ts", point.time * 1e6)
        .beginObject("args")
        .integer("sbuf", point.sbufBytes)
        .integer("psum", point.psumBytes)
        .endObject()
        .endObject();
  if (!timeline.packets.empty()) {
    json.line()
        .beginObject()
        .text("ph", "M")
        .text("name", "process_name")
        .integer("pid", kPackets)
        .beginObject("args")
        .text("name", "DMA engines")
        .endObject()
        .endObject();
    for (unsigned g = 0; g < kDmaEngines; ++g)
      nameTrack(json, kPackets, static_cast<int>(g), absl::StrCat("DMA engine ", g));
    for (const DmaPacket &packet : timeline.packets) {
      beginEvent(json, kPackets, packet.engine, packet.bytes ? "packet" : "signal", packet.begin, packet.end);
      json.integer("ring", packet.ring).integer("bytes", packet.bytes);
      json.text("node", commands.node(timeline.transfers[packet.transfer].command));
      endEvent(json);
    }
  }
  json.line().endArray().endObject();
  return json.take() + "\n";
}

} // namespace trn::rt
