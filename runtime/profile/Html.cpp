//===- Html.cpp - the data of the HTML report --------------------------------===//
//
// See Profile.h (writeHtml). Writes the page of ReportPage.cpp with the run's data as one JSON value inside it; all
// drawing is the page's.
//
//===----------------------------------------------------------------------===//
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "runtime/profile/Json.h"
#include "runtime/profile/Profile.h"
#include "runtime/profile/ReportPage.h"
#include <map>

namespace trn::rt {
namespace {

/// More bars than this are joined where no screen could tell them apart.
constexpr size_t kMaxBars = 200'000;
constexpr size_t kMaxPoints = 4'000;

/// Numbers for strings, in order of first use.
class Names {
public:
  int64_t operator[](const std::string &name) {
    auto [it, fresh] = index.emplace(name, names.size());
    if (fresh)
      names.push_back(name);
    return static_cast<int64_t>(it->second);
  }
  std::vector<std::string> names;

private:
  absl::flat_hash_map<std::string, size_t> index;
};

struct Bar {
  Ticks begin, end;
  int64_t node, kind;
  int64_t stall; ///< Stall
  Ticks stalled;
};

int64_t toPs(Ticks ticks) { return std::llround(ticksToNs(ticks) * 1e3); }

void writeTrack(Json &json, const std::string &name, std::vector<Bar> bars, Ticks resolution) {
  json.line().beginObject().text("name", name).beginArray("bars");
  for (size_t i = 0; i < bars.size();) {
    Bar bar = bars[i++];
    while (resolution && i < bars.size() && bars[i].node == bar.node && bars[i].begin - bar.end < resolution)
      bar.end = std::max(bar.end, bars[i++].end);
    json.integer("", toPs(bar.begin))
        .integer("", toPs(bar.end - bar.begin))
        .integer("", bar.node)
        .integer("", bar.kind)
        .integer("", bar.stall)
        .integer("", toPs(bar.stalled));
  }
  json.endArray().endObject();
}

} // namespace

std::string writeHtml(const exe::Executable &exe, const Timeline &timeline, const Profile &profile) {
  Commands commands(exe);
  Names nodes, kinds;
  std::vector<std::vector<Bar>> engines(isa::kNumEngines);
  for (CommandId id = 0; id < commands.size(); ++id) {
    const isa::Command &command = commands[id];
    const CommandTime &time = timeline.commands[id];
    engines[static_cast<unsigned>(command.engine)].push_back(
        {time.start, time.busyUntil, nodes[commands.node(id)], kinds[isa::info(isa::opcode(command.inst)).mnemonic],
         static_cast<int64_t>(time.stall), time.start - time.ready});
  }
  std::map<unsigned, std::vector<Bar>> rings;
  for (const TransferTime &transfer : timeline.transfers)
    rings[transfer.ring].push_back({transfer.firstPacket, transfer.lastPacket, nodes[commands.node(transfer.command)],
                                    kinds[absl::StrCat("transfer of ", transfer.bytes, " bytes")], 0, 0});
  const size_t bars = commands.size() + timeline.transfers.size();
  const Ticks resolution = bars > kMaxBars ? timeline.end / 20'000 : 0;

  Json json;
  json.beginObject();
  json.text("device", profile.device).text("deviceTitle", profile.deviceTitle);
  json.text("assumptions", profile.assumptions());
  json.integer("end", toPs(timeline.end));
  json.line().beginArray("summary");
  for (const Metric &metric : profile.summary) {
    json.line()
        .beginArray()
        .text("", metric.name)
        .number("", metric.value)
        .integer("", metric.isCount)
        .text("", metric.meaning)
        .endArray();
  }
  json.endArray();
  json.line()
      .beginObject("limit")
      .number("time", profile.limitTime)
      .number("percent", profile.limitPercent)
      .text("by", profile.limitBy)
      .number("practicalTime", profile.practicalLimitTime)
      .number("practicalPercent", profile.practicalLimitPercent)
      .text("macsFrom", profile.macsFrom)
      .beginArray("terms");
  for (const LimitTerm &term : profile.limits)
    json.beginArray().text("", term.name).number("", term.seconds).text("", term.meaning).endArray();
  json.endArray().endObject();
  json.line().beginArray("build");
  for (const auto &[key, value] : profile.build)
    json.beginArray().text("", key).text("", value).endArray();
  json.endArray();
  json.line().beginArray("engines");
  for (const EngineRow &row : profile.engines) {
    json.line().beginArray().text("", row.name).integer("", int64_t(row.instructions));
    for (const EngineColumn &column : kEngineColumns)
      json.number("", row.*column.time);
    json.endArray();
  }
  json.endArray();
  json.line().beginArray("nodes");
  for (const NodeRow &row : profile.nodes) {
    json.line()
        .beginArray()
        .text("", row.node)
        .text("", row.opType)
        .integer("", int64_t(row.instructions))
        .number("", row.begin)
        .number("", row.end);
    for (double busy : row.busy)
      json.number("", busy);
    json.number("", row.dmaTime)
        .integer("", int64_t(row.dmaBytes))
        .integer("", int64_t(row.flops))
        .number("", row.stalled)
        .number("", row.critical)
        .endArray();
  }
  json.endArray();
  json.line().beginArray("path");
  for (const PathRow &row : profile.path)
    json.beginArray().text("", row.kind).text("", row.engine).number("", row.time).endArray();
  json.endArray();
  json.line()
      .beginObject("memory")
      .integer("sbufPeak", profile.sbufPeak)
      .integer("sbufCapacity", profile.sbufCapacity)
      .integer("psumPeak", profile.psumPeak)
      .integer("psumCapacity", profile.psumCapacity)
      .beginArray("points");
  const size_t group = profile.memory.size() / kMaxPoints + 1; // of each group the highest point
  for (size_t i = 0; i < profile.memory.size(); i += group) {
    MemoryPoint highest = profile.memory[i];
    for (size_t j = i; j < std::min(i + group, profile.memory.size()); ++j) {
      highest.sbufBytes = std::max(highest.sbufBytes, profile.memory[j].sbufBytes);
      highest.psumBytes = std::max(highest.psumBytes, profile.memory[j].psumBytes);
    }
    json.beginArray()
        .number("", highest.time * 1e12)
        .integer("", highest.sbufBytes)
        .integer("", highest.psumBytes)
        .endArray();
  }
  json.endArray().endObject();
  json.line().beginArray("half");
  for (const Interval &interval : timeline.halfClock)
    json.integer("", toPs(interval.begin)).integer("", toPs(interval.end));
  json.endArray();
  json.line().beginArray("tracks");
  for (unsigned e = 0; e < isa::kNumEngines; ++e)
    if (!engines[e].empty())
      writeTrack(json, isa::name(isa::Engine(e)), std::move(engines[e]), resolution);
  for (auto &[ring, list] : rings)
    writeTrack(json, absl::StrCat("ring ", ring), std::move(list), resolution);
  json.line().endArray();
  json.line().beginArray("nodeNames");
  for (const std::string &name : nodes.names)
    json.text("", name);
  json.endArray();
  json.line().beginArray("kinds");
  for (const std::string &name : kinds.names)
    json.text("", name);
  json.endArray();
  json.line().beginArray("stalls");
  for (unsigned i = 0; i < kStalls; ++i)
    json.text("", name(Stall(i)));
  json.endArray();
  json.endObject();

  std::string page = kReportPage;
  const std::string mark = "/*DATA*/null";
  page.replace(page.find(mark), mark.size(), json.take());
  return page;
}

} // namespace trn::rt
