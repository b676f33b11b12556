//===- Profile.cpp - what a run of an executable cost ------------------------===//
//
// See Profile.h. Field names are those that AWS's profiler prints in its summary; where its definition is not public
// the meaning column says what is counted here.
//
//===----------------------------------------------------------------------===//
#include "runtime/profile/Profile.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "runtime/profile/Json.h"
#include "runtime/profile/Work.h"
#include "runtime/timing/Footprint.h"
#include "runtime/timing/Operands.h"
#include "runtime/timing/Unroll.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

namespace trn::rt {
namespace {

/// AWS's name of an engine.
const char *publicName(isa::Engine engine) {
  switch (engine) {
  case isa::Engine::PE:
    return "tensor";
  case isa::Engine::ACT:
    return "scalar";
  case isa::Engine::DVE:
    return "vector";
  case isa::Engine::POOL:
    return "gpsimd";
  case isa::Engine::SP:
    return "sync";
  }
  return "?";
}

double percent(double part, double whole) { return whole > 0 ? 100.0 * part / whole : 0; }

bool isDma(const isa::Command &command) { return isa::info(isa::opcode(command.inst)).isDma; }

/// Time covered by a set of intervals.
Ticks unionOf(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval &a, const Interval &b) { return a.begin < b.begin; });
  Ticks sum = 0, covered = INT64_MIN;
  for (const Interval &interval : intervals) {
    if (interval.end <= covered)
      continue;
    sum += interval.end - std::max(covered, interval.begin);
    covered = interval.end;
  }
  return sum;
}

/// Names that outlive the profile, so that Metric can hold plain pointers.
struct EngineNames {
  std::string activeTime, activePercent, count, time;
};
const std::array<EngineNames, isa::kNumEngines> &engineNames() {
  static const auto *names = [] {
    auto *table = new std::array<EngineNames, isa::kNumEngines>;
    for (unsigned e = 0; e < isa::kNumEngines; ++e) {
      const std::string engine = publicName(isa::Engine(e));
      (*table)[e] = {engine + "_engine_active_time", engine + "_engine_active_time_percent",
                     engine + "_engine_instruction_count", engine + "_engine_instruction_time"};
    }
    return table;
  }();
  return *names;
}

/// Bytes that instructions other than DMA move.
struct Traffic {
  uint64_t sbufRead = 0, sbufWrite = 0, psumRead = 0, psumWrite = 0, psumToSbuf = 0;
};

class Summary {
public:
  Summary(const exe::Executable &exe, const Timeline &timeline)
      : exe(exe), timeline(timeline), commands(exe), device(*isa::device(exe.device)), work(countWork(exe, device)) {}

  Profile run() {
    profile.device = device.name;
    profile.deviceTitle = device.title;
    profile.build.assign(exe.build.begin(), exe.build.end());
    profile.macsFrom = work.macsFromBuild ? "build facts" : "instructions";
    sumEngines();
    sumNodes();
    sumPath();
    addLimits();
    addSummary();
    addMemory();
    return std::move(profile);
  }

private:
  double seconds(Ticks ticks) const { return ticksToSeconds(ticks); }

  /// What a command keeps its engine doing: a transfer only its issue.
  Interval activity(CommandId id) const {
    const CommandTime &time = timeline.commands[id];
    return {time.start, isDma(commands[id]) ? time.busyUntil : std::max(time.end, time.busyUntil)};
  }

  void sumEngines() {
    std::array<std::vector<Interval>, isa::kNumEngines> intervals;
    std::vector<Interval> all;
    for (CommandId id = 0; id < commands.size(); ++id) {
      const Interval interval = activity(id);
      intervals[static_cast<unsigned>(commands[id].engine)].push_back(interval);
      all.push_back(interval);
    }
    for (const TransferTime &transfer : timeline.transfers)
      all.push_back({transfer.firstPacket, transfer.lastPacket});
    activeTime = seconds(unionOf(std::move(all)));
    for (unsigned e = 0; e < isa::kNumEngines; ++e) {
      const EngineTime &time = timeline.engines[e];
      auto stalled = [&](Stall stall) { return seconds(time.stalled[static_cast<unsigned>(stall)]); };
      for (const Interval &interval : intervals[e])
        instructionTime[e] += seconds(interval.end - interval.begin);
      profile.engines.push_back({isa::name(isa::Engine(e)), time.commands, seconds(unionOf(intervals[e])),
                                 seconds(time.busy), stalled(Stall::Semaphore), stalled(Stall::Dependence),
                                 stalled(Stall::Port), stalled(Stall::WeightLoad), seconds(time.idle(timeline.end))});
    }
  }

  NodeRow &rowOf(CommandId id) {
    const std::string &node = commands.node(id);
    auto [it, fresh] = nodeRows.emplace(node, profile.nodes.size());
    if (fresh) {
      NodeRow row;
      row.node = node;
      if (!node.empty())
        row.opType = exe.debug[commands[id].debug].opType;
      row.begin = seconds(timeline.end);
      profile.nodes.push_back(row);
    }
    return profile.nodes[it->second];
  }

  void sumPath() {
    std::map<std::pair<PathKind, isa::Engine>, Ticks> sums;
    for (const PathPiece &piece : criticalPath(commands, timeline)) {
      sums[{piece.kind, piece.engine}] += piece.end - piece.begin;
      rowOf(piece.command).critical += seconds(piece.end - piece.begin);
    }
    for (const auto &[key, sum] : sums)
      profile.path.push_back({name(key.first), isa::name(key.second), seconds(sum)});
    std::sort(profile.path.begin(), profile.path.end(),
              [](const PathRow &a, const PathRow &b) { return a.time > b.time; });
    // Rows were found by place until here.
    std::sort(profile.nodes.begin(), profile.nodes.end(),
              [](const NodeRow &a, const NodeRow &b) { return std::tie(a.begin, a.node) < std::tie(b.begin, b.node); });
  }

  void sumNodes() {
    for (CommandId id = 0; id < commands.size(); ++id) {
      const isa::Command &command = commands[id];
      const CommandTime &time = timeline.commands[id];
      NodeRow &row = rowOf(id);
      ++row.instructions;
      row.begin = std::min(row.begin, seconds(time.start));
      row.end = std::max(row.end, seconds(time.end));
      row.busy[static_cast<unsigned>(command.engine)] += seconds(time.busyUntil - time.start);
      row.stalled += seconds(time.start - time.ready);
      if (const auto *matmul = std::get_if<isa::NcMatmul>(&command.inst))
        row.flops += 2 * matmul->stationary.totalElements() * matmul->moving.elements();
    }
    for (const TransferTime &transfer : timeline.transfers) {
      NodeRow &row = rowOf(transfer.command);
      row.dmaTime += seconds(transfer.lastPacket - transfer.firstPacket);
      row.dmaBytes += transfer.bytes;
    }
  }

  void addLimits() {
    const Limits limits = limitsOf(work, device);
    profile.limits = {
        {"PE", limits.pe, "multiply-accumulates of the model on a full array"},
        {"HBM", limits.hbm, "each weight, input and output byte once at the core's share of HBM"},
        {"PSUM", limits.psum, "emptying each matmul result once"},
        {"ACT", limits.act, "transcendental evaluations"},
        {"DVE", limits.dve, "other elementwise work at the best rate, balanced over DVE and ACT"},
    };
    const LimitTerm *top = &profile.limits[0];
    for (const LimitTerm &term : profile.limits)
      if (term.seconds > top->seconds)
        top = &term;
    profile.limitTime = top->seconds;
    profile.limitBy = top->name;
    profile.limitPercent = percent(top->seconds, seconds(timeline.end));
    profile.practicalLimitTime = limits.practical;
    profile.practicalLimitPercent = percent(limits.practical, seconds(timeline.end));
  }

  Traffic countTraffic() const {
    Traffic traffic;
    for (CommandId id = 0; id < commands.size(); ++id) {
      if (isDma(commands[id]))
        continue;
      bool readsPsum = false;
      uint64_t toSbuf = 0;
      forEachUse(commands[id].inst, [&](const OperandUse &use, unsigned) {
        const uint64_t bytes = visitedBytes(*use.ap);
        const bool psum = use.ap->space == isa::Space::PSUM;
        if (use.reads) {
          (psum ? traffic.psumRead : traffic.sbufRead) += bytes;
          readsPsum |= psum;
        }
        if (use.writes) {
          (psum ? traffic.psumWrite : traffic.sbufWrite) += bytes;
          toSbuf += psum ? 0 : bytes;
        }
      });
      if (readsPsum)
        traffic.psumToSbuf += toSbuf;
    }
    return traffic;
  }

  void add(const char *name, double value, const char *meaning) {
    profile.summary.push_back({name, value, false, meaning});
  }
  void count(const char *name, uint64_t value, const char *meaning) {
    profile.summary.push_back({name, static_cast<double>(value), true, meaning});
  }

  void addSummary() {
    const double total = seconds(timeline.end);
    add("total_time", total, "from the start of the queues to the last completion, without launch overhead");
    add("launch_overhead_time", seconds(timeline.launch), "fixed preamble and epilogue of a run, not in total_time");
    add("total_active_time", activeTime, "at least one engine or DMA engine active");
    add("total_active_time_percent", percent(activeTime, total), "of total_time");
    addEngines(total);
    count("matmul_instruction_count", work.matmuls, "nc_matmul instructions");
    addDma(total);
    addMemoryTraffic();
    addFlops(total);
    addThrottle(total);
    count("neuroncore_cycle_count", static_cast<uint64_t>(std::llround(total * static_cast<double>(device.spHz))),
          "cycles of the sequencers' clock");
  }

  void addEngines(double total) {
    const auto &names = engineNames();
    for (isa::Engine engine :
         {isa::Engine::PE, isa::Engine::DVE, isa::Engine::ACT, isa::Engine::POOL, isa::Engine::SP}) {
      const auto e = static_cast<unsigned>(engine);
      const EngineRow &row = profile.engines[e];
      add(names[e].activeTime.c_str(), row.activeTime, "at least one instruction between start and completion");
      add(names[e].activePercent.c_str(), percent(row.activeTime, total), "of total_time");
      count(names[e].count.c_str(), row.instructions, "instructions, DMA triggers included");
      add(names[e].time.c_str(), instructionTime[e], "sum of the instructions' durations");
    }
  }

  void addDma(double total) {
    uint64_t bytes = 0, hardware = 0, software = 0;
    for (const TransferTime &transfer : timeline.transfers) {
      bytes += transfer.bytes;
      (transfer.software ? software : hardware) += transfer.packets;
    }
    const auto transfers = static_cast<double>(timeline.transfers.size());
    add("dma_active_time", seconds(timeline.dmaActive), "at least one DMA engine busy");
    add("dma_active_time_percent", percent(seconds(timeline.dmaActive), total), "of total_time");
    count("dma_transfer_count", timeline.transfers.size(), "DMA instructions");
    add("dma_transfer_average_bytes", transfers > 0 ? static_cast<double>(bytes) / transfers : 0, "bytes per transfer");
    add("dma_packet_time", seconds(timeline.dmaPacketTime), "sum over packets of the time on the wire");
    count("static_dma_packet_count", device.version < 3 ? hardware : 0, "packets with descriptors built by the host");
    count("hardware_dynamic_dma_packet_count", device.version < 3 ? 0 : hardware,
          "packets with descriptors of the hardware generator");
    count("software_dynamic_dma_packet_count", software, "packets with descriptors made by GpSimd");
  }

  void addMemoryTraffic() {
    uint64_t hbmRead = 0, hbmWrite = 0, sbufRead = 0, sbufWrite = 0, save = 0, reload = 0;
    for (const TransferTime &transfer : timeline.transfers) {
      hbmRead += transfer.hbmReadBytes;
      hbmWrite += transfer.hbmWriteBytes;
      sbufRead += transfer.sbufReadBytes;
      sbufWrite += transfer.sbufWriteBytes;
      isa::forEachOperand(commands[transfer.command].inst, [&](const isa::AP &ap, const isa::OperandInfo &info) {
        if (ap.space == isa::Space::HBM && ap.buffer < exe.buffers.size() &&
            exe.buffers[ap.buffer].kind == exe::BufferKind::Scratch)
          (info.role == isa::Role::In ? reload : save) += visitedBytes(ap);
      });
    }
    const Traffic traffic = countTraffic();
    hbmBytes = hbmRead + hbmWrite;
    count("hbm_read_bytes", hbmRead, "by DMA");
    count("hbm_write_bytes", hbmWrite, "by DMA");
    count("sbuf_read_bytes", sbufRead + traffic.sbufRead, "by DMA and engines");
    count("sbuf_write_bytes", sbufWrite + traffic.sbufWrite, "by DMA and engines");
    count("psum_read_bytes", traffic.psumRead, "by engines");
    count("psum_write_bytes", traffic.psumWrite, "by engines");
    count("psum_read_sbuf_write_bytes", traffic.psumToSbuf, "written to SBUF by instructions that read PSUM");
    count("spill_save_bytes", save, "written to scratch buffers in HBM");
    count("spill_reload_bytes", reload, "read from scratch buffers in HBM");
    count("weight_size_bytes", work.weightBytes, "weight buffers of the executable");
  }

  void addFlops(double total) {
    const double peak = 2.0 * static_cast<double>(device.partitions) * static_cast<double>(device.partitions) *
                        static_cast<double>(device.peHz);
    const double bandwidth = static_cast<double>(device.hbmBytesPerUs) * 1e6;
    const double model = 2.0 * static_cast<double>(work.modelMacs);
    const double weighted = model * work.passes();
    const double hardware = 2.0 * static_cast<double>(work.weightedMacs + work.transposeMacs);
    const double intensity = hbmBytes ? model / static_cast<double>(hbmBytes) : 0;
    count("model_flops", 2 * work.modelMacs, "algorithmic: no padding, no transposes, no recomputation");
    count("hardware_flops", 2 * (work.macs + work.transposeMacs), "of all matmul instructions and transposes");
    count("transpose_flops", 2 * work.transposeMacs, "of transposes");
    add("mfu_estimated_percent", percent(weighted, peak * total),
        "model flops against the bf16 peak, fp32 counts four times");
    add("hfu_estimated_percent", percent(hardware, peak * total),
        "hardware flops against the bf16 peak, fp32 counts four times");
    add("mbu_estimated_percent", percent(static_cast<double>(hbmBytes), bandwidth * total),
        "HBM bytes moved against the core's share");
    add("mfu_max_achievable_estimated_percent", std::min(100.0, percent(intensity * work.passes(), peak / bandwidth)),
        "the roofline at this arithmetic intensity");
    add("mm_arithmetic_intensity", intensity, "model flops per HBM byte moved");
    add("peak_flops_bandwidth_ratio", peak / bandwidth, "bf16 flops per HBM byte at the ridge");
  }

  void addThrottle(double total) {
    Ticks half = 0;
    for (const Interval &interval : timeline.halfClock)
      half += interval.end - interval.begin;
    add("throttle_avg_util_limit_nc0_percent", total > 0 ? 100.0 - percent(0.5 * seconds(half), total) : 100,
        "average clock that the Tensor engine was allowed, half while ramping");
    count("throttle_active_nc0_time_ns", static_cast<uint64_t>(std::llround(ticksToNs(half))),
          "matmuls ran at half clock");
  }

  /// Lives of values: from the start of the write to the completion of the last read, by bytes of a partition.
  void addMemory() {
    profile.sbufCapacity = device.sbufBytesUsable;
    profile.psumCapacity = device.psumBytes();
    std::vector<CommandId> byStart(commands.size());
    std::iota(byStart.begin(), byStart.end(), 0);
    std::sort(byStart.begin(), byStart.end(), [&](CommandId a, CommandId b) {
      return std::tie(timeline.commands[a].start, a) < std::tie(timeline.commands[b].start, b);
    });
    std::map<Ticks, std::pair<int64_t, int64_t>> changes;
    for (isa::Space space : {isa::Space::SBUF, isa::Space::PSUM})
      addLives(space, byStart, changes);
    MemoryPoint now{0, 0, 0};
    for (const auto &[time, change] : changes) {
      now.time = seconds(time);
      now.sbufBytes += change.first;
      now.psumBytes += change.second;
      profile.sbufPeak = std::max(profile.sbufPeak, now.sbufBytes);
      profile.psumPeak = std::max(profile.psumPeak, now.psumBytes);
      profile.memory.push_back(now);
    }
  }

  struct Life {
    int64_t end; ///< bytes
    Ticks birth, lastRead;
  };

  void addLives(isa::Space space, const std::vector<CommandId> &byStart,
                std::map<Ticks, std::pair<int64_t, int64_t>> &changes) {
    std::map<int64_t, Life> lives;
    auto split = [&](int64_t at) {
      auto next = lives.lower_bound(at);
      if (next == lives.begin())
        return next;
      auto before = std::prev(next);
      if (before->second.end <= at)
        return next;
      Life rest = before->second;
      before->second.end = at;
      return lives.emplace_hint(next, at, rest);
    };
    auto close = [&](int64_t begin, const Life &life) {
      if (life.lastRead <= life.birth)
        return;
      const int64_t bytes = life.end - begin;
      auto &up = changes[life.birth], &down = changes[life.lastRead];
      (space == isa::Space::SBUF ? up.first : up.second) += bytes;
      (space == isa::Space::SBUF ? down.first : down.second) -= bytes;
    };
    for (CommandId id : byStart) {
      const CommandTime &time = timeline.commands[id];
      forEachUse(commands[id].inst, [&](const OperandUse &use, unsigned) {
        if (use.ap->space != space)
          return;
        const Box box = boundingBox(*use.ap);
        auto first = split(box.begin), last = split(box.end);
        if (use.reads) {
          for (auto it = first; it != last; ++it)
            it->second.lastRead = std::max(it->second.lastRead, time.end);
          return;
        }
        for (auto it = first; it != last; ++it)
          close(it->first, it->second);
        lives.emplace_hint(lives.erase(first, last), box.begin, Life{box.end, time.start, time.start});
      });
    }
    for (const auto &[begin, life] : lives)
      close(begin, life);
  }

  const exe::Executable &exe;
  const Timeline &timeline;
  Commands commands;
  const isa::DeviceInfo &device;
  Work work;
  Profile profile;
  absl::flat_hash_map<std::string, size_t> nodeRows;
  double activeTime = 0;
  double instructionTime[isa::kNumEngines] = {};
  uint64_t hbmBytes = 0;
};

} // namespace

double Profile::operator[](const char *name) const {
  for (const Metric &metric : summary)
    if (std::strcmp(metric.name, name) == 0)
      return metric.value;
  return 0;
}

Profile summarize(const exe::Executable &exe, const Timeline &timeline, bool followsRun) {
  Profile profile = Summary(exe, timeline).run();
  const DecidedByData decided = followsRun ? DecidedByData() : decidedByData(exe);
  profile.assumedRounds = decided.loops ? Path().dataRounds : 0;
  profile.assumesFirstBodies = decided.branches;
  return profile;
}

std::string Profile::assumptions() const {
  const std::string rounds = absl::StrCat(assumedRounds, assumedRounds == 1 ? " round" : " rounds", " of each loop");
  if (assumedRounds == 0 && !assumesFirstBodies)
    return "";
  return absl::StrCat(assumedRounds > 0 ? rounds : "", assumedRounds > 0 && assumesFirstBodies ? " and " : "",
                      assumesFirstBodies ? "the first body of each branch" : "", " that data decides");
}

std::string writeJson(const Profile &profile) {
  Json json;
  json.beginObject();
  json.line().text("format", "trn-profile").integer("version", 1);
  json.line().text("device", profile.device).text("device_title", profile.deviceTitle);
  json.line().beginObject("build");
  for (const auto &[key, value] : profile.build)
    json.text(key, value);
  json.endObject();
  json.line().beginObject("summary");
  for (const Metric &metric : profile.summary) {
    json.line();
    metric.isCount ? json.integer(metric.name, std::llround(metric.value)) : json.number(metric.name, metric.value);
  }
  json.line().endObject();
  json.line().beginObject("limit");
  json.number("limit_time", profile.limitTime).number("limit_percent", profile.limitPercent);
  json.text("limit_by", profile.limitBy).text("macs_from", profile.macsFrom);
  if (profile.assumedRounds)
    json.integer("assumed_rounds", profile.assumedRounds);
  if (profile.assumesFirstBodies)
    json.text("assumed_branches", "first body");
  json.number("practical_limit_time", profile.practicalLimitTime)
      .number("practical_limit_percent", profile.practicalLimitPercent);
  json.beginObject("terms");
  for (const LimitTerm &term : profile.limits)
    json.number(term.name, term.seconds);
  json.endObject().endObject();
  json.line().beginArray("engines");
  for (const EngineRow &row : profile.engines) {
    json.line().beginObject().text("engine", row.name).integer("instructions", int64_t(row.instructions));
    for (const EngineColumn &column : kEngineColumns)
      json.number(column.name, row.*column.time);
    json.endObject();
  }
  json.line().endArray();
  json.line().beginArray("nodes");
  for (const NodeRow &row : profile.nodes) {
    json.line()
        .beginObject()
        .text("node", row.node)
        .text("op_type", row.opType)
        .integer("instructions", int64_t(row.instructions))
        .number("begin", row.begin)
        .number("end", row.end);
    for (unsigned e = 0; e < isa::kNumEngines; ++e)
      json.number(std::string(publicName(isa::Engine(e))) + "_busy_time", row.busy[e]);
    json.number("dma_time", row.dmaTime)
        .integer("dma_bytes", int64_t(row.dmaBytes))
        .integer("flops", int64_t(row.flops))
        .number("stalled_time", row.stalled)
        .number("critical_time", row.critical)
        .endObject();
  }
  json.line().endArray();
  json.line().beginArray("critical_path");
  for (const PathRow &row : profile.path)
    json.line().beginObject().text("kind", row.kind).text("engine", row.engine).number("time", row.time).endObject();
  json.line().endArray();
  json.line().beginObject("memory");
  json.integer("sbuf_peak_bytes_per_partition", profile.sbufPeak)
      .integer("sbuf_capacity_bytes_per_partition", profile.sbufCapacity)
      .integer("psum_peak_bytes_per_partition", profile.psumPeak)
      .integer("psum_capacity_bytes_per_partition", profile.psumCapacity)
      .endObject();
  json.line().endObject();
  return json.take() + "\n";
}

} // namespace trn::rt
