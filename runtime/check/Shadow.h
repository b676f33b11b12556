//===- Shadow.h - who wrote and who read each byte -------------------------===//
//
// Owns the memory side of the race check: for every byte interval and partition interval the last writer and the
// readers since. Cells are byte-exact intervals that split where an access covers them in part and join again where
// one write covers them whole, so the cost follows the number of distinct accesses, not the number of bytes. Knows
// nothing of order: the caller judges each pair that it is shown.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "runtime/timing/Commands.h"
#include "runtime/timing/Footprint.h"
#include <map>

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

/// Shadow of one memory: SBUF, PSUM, or one HBM buffer (whose partitions are [0, 1)).
class Shadow {
public:
  using Visitor = absl::FunctionRef<void(Access, const Region &)>;

  /// Shows the last writers of `region` (a default Access: never written) and records `reader`, whose earlier reads
  /// of the same `thread` it replaces.
  void read(const Region &region, Access reader, uint8_t thread, Visitor writer);
  /// Shows the last writers and the readers since of `region` and makes `writer` the last writer.
  void write(const Region &region, Access writer, Visitor earlierWriter, Visitor earlierReader);
  /// Shows what of `region` was never written.
  void unset(const Region &region, absl::FunctionRef<void(const Region &)> hole) const;
  size_t cells() const { return map.size(); }

private:
  struct Reader {
    Access access;
    uint8_t thread;
  };
  /// Partitions [first, end) of a cell.
  struct Segment {
    int64_t first, end;
    Access writer;
    absl::InlinedVector<Reader, 2> readers;
  };
  struct Cell {
    int64_t end;
    absl::InlinedVector<Segment, 1> segments; // sorted, disjoint
  };
  using Map = std::map<int64_t, Cell>;

  Map::iterator split(int64_t at);
  static void split(Cell &cell, int64_t partition);

  Map map;
};

} // namespace trn::rt
