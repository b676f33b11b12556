//===- Profile.h - what a run of an executable cost -------------------------===//
//
// Owns the report on a simulated run: the summary under the field names of AWS's profiler, the physical limit and how
// close the run came to it, and tables by engine, by ONNX node and over time. Numbers come from the timeline and the
// executable alone; a report of the same program is byte for byte the same. Writers: JSON, a Perfetto trace, one HTML
// page. It predicts nothing itself and prints nothing.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/profile/CriticalPath.h"
#include "runtime/timing/Timing.h"
#include <string>
#include <vector>

namespace trn::rt {

/// One number of the summary. Times are in seconds unless the name says otherwise, shares are percentages if the name
/// ends in "_percent".
struct Metric {
  const char *name;
  double value;
  bool isCount; ///< printed as an integer
  const char *meaning;
};

/// One term of the physical limit.
struct LimitTerm {
  const char *name; ///< "PE", "HBM", "PSUM", "ACT", "DVE"
  double seconds;
  const char *meaning;
};

struct EngineRow {
  const char *name;
  uint64_t instructions;
  double activeTime; ///< at least one instruction between start and completion
  double busyTime;   ///< the queue could not start another
  double stallSemaphore, stallDependence, stallPort, stallWeightLoad, idle;
};

/// The times of an engine row, in the order of all reports.
struct EngineColumn {
  const char *name;
  double EngineRow::*time;
};
inline constexpr EngineColumn kEngineColumns[] = {
    {"active_time", &EngineRow::activeTime},
    {"busy_time", &EngineRow::busyTime},
    {"stall_semaphore_time", &EngineRow::stallSemaphore},
    {"stall_dependence_time", &EngineRow::stallDependence},
    {"stall_port_time", &EngineRow::stallPort},
    {"stall_weight_load_time", &EngineRow::stallWeightLoad},
    {"idle_time", &EngineRow::idle},
};

struct NodeRow {
  std::string node, opType; ///< "" : commands without a node
  uint64_t instructions = 0;
  double begin = 0, end = 0; ///< first start, last completion
  double busy[isa::kNumEngines] = {};
  double dmaTime = 0;               ///< first to last packet, transfers summed
  uint64_t dmaBytes = 0, flops = 0; ///< flops of its matmuls
  double stalled = 0;               ///< waiting of its instructions, all reasons
  double critical = 0;              ///< its pieces of the critical path; over all nodes the time of the run
};

/// Time of the critical path by kind of piece and engine.
struct PathRow {
  const char *kind;
  const char *engine;
  double time;
};

/// Bytes per partition that hold a value which is still read, over time.
struct MemoryPoint {
  double time;
  int64_t sbufBytes, psumBytes;
};

struct Profile {
  std::string device, deviceTitle;
  std::vector<Metric> summary;
  std::vector<LimitTerm> limits;
  double limitTime = 0;    ///< the largest term
  double limitPercent = 0; ///< of the run's time
  std::string limitBy;
  /// What this device could do with the program's own tiles and packets of DMA, everything overlapped: the matmuls'
  /// intervals at full clock against the compulsory bytes at the sustained DMA rate and the other terms.
  double practicalLimitTime = 0;
  double practicalLimitPercent = 0;
  uint32_t assumedRounds = 0;      ///< of each loop that data counts or ends; 0: no such loop, or as many as in a run
  bool assumesFirstBodies = false; ///< of each branch that data decides, unless the timeline is that of a run
  std::string macsFrom; ///< "build facts" or "instructions": where the algorithmic work comes from
  std::vector<EngineRow> engines;
  std::vector<NodeRow> nodes; ///< in order of their first start
  std::vector<PathRow> path;  ///< largest first
  std::vector<MemoryPoint> memory;
  int64_t sbufPeak = 0, psumPeak = 0, sbufCapacity = 0, psumCapacity = 0;
  std::vector<std::pair<std::string, std::string>> build; ///< facts of the executable

  /// What is assumed of data, in words; empty when nothing is.
  std::string assumptions() const;
  /// The summary's value of that name; 0 when there is none.
  double operator[](const char *name) const;
};

/// `followsRun`: `exe` was unrolled on the path of a run, so that nothing of it is assumed.
Profile summarize(const exe::Executable &exe, const Timeline &timeline, bool followsRun = false);

/// Stable key order, no dependence on locale or host.
std::string writeJson(const Profile &profile);
/// Chrome's JSON trace format: one track per engine and ring, counters for memory and DMA. Opens in ui.perfetto.dev.
std::string writePerfetto(const exe::Executable &exe, const Timeline &timeline, const Profile &profile);
/// One page without external resources.
std::string writeHtml(const exe::Executable &exe, const Timeline &timeline, const Profile &profile);

} // namespace trn::rt
