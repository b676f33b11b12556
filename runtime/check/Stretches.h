//===- Stretches.h - device memory on all ways at once ----------------------===//
//
// Owns the proof that device memory is written before it is read whatever data decides. At a barrier a program knows
// nothing but device memory, so what lies between two barriers, a *stretch*, is proved by itself; what is left is which
// bytes are written when a barrier is reached, on every way to it. That follows from the stretches that lead there, without
// regard to the decisions that led through them: ways are not counted, and combinations of decisions that no run has are
// proved too. Knows nothing of commands: who reads and writes is the caller's to say.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/container/btree_map.h"
#include "runtime/timing/Footprint.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trn::rt {

/// Bytes, as disjoint runs that do not touch.
class ByteSet {
public:
  void add(const ByteRun &run);
  /// Removes what `other` does not have.
  void intersect(const ByteSet &other);
  /// The first bytes of `run` that are not in the set; none when all are.
  std::optional<ByteRun> missing(const ByteRun &run) const;
  bool operator==(const ByteSet &other) const { return runs == other.runs; }

private:
  friend class Stretches;
  absl::btree_map<int64_t, int64_t> runs; ///< begin → end
};

/// Written bytes of each buffer.
using WrittenBytes = std::map<uint32_t, ByteSet>;

/// What one stretch does to device memory, in the order of its commands.
class Stretch {
public:
  struct Read {
    uint32_t buffer;
    ByteRun run;
    std::string reader;
  };
  void write(uint32_t buffer, const ByteRuns &runs);
  /// Bytes that the stretch has not written itself; `reader` is asked for its name when there are some.
  template <typename Name> void read(uint32_t buffer, const ByteRuns &runs, Name reader) {
    const ByteSet &own = written[buffer];
    for (ByteRun rest : runs)
      while (const std::optional<ByteRun> hole = own.missing(rest)) {
        reads.push_back({buffer, *hole, reader()});
        rest.begin = hole->end;
      }
  }

private:
  friend class Stretches;
  WrittenBytes written;
  std::vector<Read> reads;
};

/// The stretches of a program, as ways through it show them.
class Stretches {
public:
  /// A barrier, by its place in the program; the beginning and the end of the program.
  using Node = int64_t;
  static constexpr Node kBegin = -1, kEnd = -2;

  /// A stretch from one barrier to the next one. `trace` tells those apart that lead the same way with other commands.
  /// False when it is known already.
  bool isNew(Node from, Node to, std::vector<uint32_t> trace);
  void add(Node from, Node to, Stretch stretch);

  /// A read of bytes that not every way to it has written.
  using UnsetRead = Stretch::Read;
  std::vector<UnsetRead> unsetReads();
  /// The first bytes of `run` of `buffer` that not every way to the end has written; asked for behind `unsetReads`.
  std::optional<ByteRun> missingAtEnd(uint32_t buffer, const ByteRun &run) const;

private:
  struct Edge {
    Node from, to;
    Stretch stretch;
  };
  std::vector<Edge> edges;
  std::map<std::pair<Node, Node>, std::vector<std::vector<uint32_t>>> known;
  std::map<Node, WrittenBytes> reached; ///< what every way to a barrier has written
};

} // namespace trn::rt
