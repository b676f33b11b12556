//===- Shadow.h - who wrote and who read each byte -------------------------===//
//
// Owns the memory side of the race check: for every byte interval and partition interval the last writer and the
// readers since. A memory is cut into cells, byte-exact intervals that share one state; cells split where an access
// covers them in part and join again where one access leaves them equal. States are kept once however many cells have
// them, so an access judges each state that it meets once and only walks the cells: strided operands, which cut memory
// into single elements, cost little more than dense ones. Knows nothing of order: the caller judges each pair that it
// is shown.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/container/btree_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "runtime/timing/Commands.h"
#include "runtime/timing/Footprint.h"
#include <vector>

namespace trn::rt {

/// One operand of one command.
struct Access {
  CommandId command = kNoCommand;
  uint8_t operand = 0;
};
inline bool operator==(const Access &a, const Access &b) { return a.command == b.command && a.operand == b.operand; }

/// Bytes [begin, end) of partitions [firstPartition, endPartition).
struct Region {
  int64_t begin = 0, end = 0;
  int64_t firstPartition = 0, endPartition = 1;
};

/// Sorted, disjoint byte runs of partitions [firstPartition, endPartition): what one operand touches.
struct Footprint {
  ByteRuns runs;
  int64_t firstPartition = 0, endPartition = 1;
};

/// Shadow of one memory: SBUF, PSUM, or one HBM buffer (whose partitions are [0, 1)).
class Shadow {
public:
  Shadow() = default;
  Shadow(Shadow &&) = default; // no copies: `table` points into `interned`
  Shadow &operator=(Shadow &&) = default;

  using Visitor = absl::FunctionRef<void(Access, const Region &)>;

  /// Shows the last writers of `footprint` (a default Access: never written), each once for every state that it finds
  /// and with one region that has it, and records `reader`, whose earlier reads of the same `thread` it replaces.
  void read(const Footprint &footprint, Access reader, uint8_t thread, Visitor writer);
  /// Shows, in the same way, the last writers and the readers since of `footprint`; makes `writer` the last writer.
  void write(const Footprint &footprint, Access writer, Visitor earlierWriter, Visitor earlierReader);
  /// Shows what of `region` was never written.
  void unset(const Region &region, absl::FunctionRef<void(const Region &)> hole) const;
  /// How many there are at present.
  size_t cells() const { return map.size(); }
  size_t states() const { return interned.size(); }

private:
  struct Reader {
    Access access;
    uint8_t thread;
    bool operator==(const Reader &other) const { return access == other.access && thread == other.thread; }
  };
  /// Partitions [first, end) of a cell.
  struct Segment {
    int64_t first, end;
    Access writer;
    absl::InlinedVector<Reader, 2> readers; // by thread
    bool operator==(const Segment &other) const {
      return first == other.first && end == other.end && writer == other.writer && readers == other.readers;
    }
  };
  /// Sorted and disjoint; partitions that no segment has were never accessed.
  struct State {
    absl::InlinedVector<Segment, 1> segments;
    bool operator==(const State &other) const { return segments == other.segments; }
    template <typename H> friend H AbslHashValue(H hash, const State &state) {
      for (const Segment &segment : state.segments) {
        hash = H::combine(std::move(hash), segment.first, segment.end, segment.writer.command, segment.writer.operand);
        for (const Reader &reader : segment.readers)
          hash = H::combine(std::move(hash), reader.access.command, reader.access.operand, reader.thread);
      }
      return hash;
    }
  };
  struct Interned {
    const State *state = nullptr;
    size_t cells = 0;
  };
  using StateId = uint32_t;
  /// Where each cell begins, and its state; a cell ends where the next one begins.
  using Map = absl::btree_map<int64_t, StateId>;

  static void split(State &state, int64_t partition);
  Map::iterator split(int64_t at);
  StateId intern(State state);
  void acquire(StateId id) { ++table[id].cells; }
  void release(StateId id);
  void update(const Footprint &footprint, absl::FunctionRef<State(const State &, const Region &)> next);

  static constexpr StateId kNeverAccessed = 0; ///< the number of the empty state, which is not interned
  absl::node_hash_map<State, StateId> interned;
  std::vector<Interned> table = std::vector<Interned>(1);
  std::vector<StateId> unused;
  Map map;
};

} // namespace trn::rt
