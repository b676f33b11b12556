//===- CriticalPath.h - the chain that made a run as long as it was ----------===//
//
// Owns the walk from the last completion back to the start of a run, along what each command waited for last: a signal,
// a result of its own engine, a port, or the command before it in its queue. The pieces cover the run without gap or
// overlap, so their sums by kind and by ONNX node say where the time went. It explains one timeline and predicts
// nothing about another: shortening a piece may only make another chain the longest.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/timing/Timing.h"

namespace trn::rt {

enum class PathKind : uint8_t {
  Execute,     ///< an engine works: until its queue is free, or until the result that the next piece needs
  HandOff,     ///< a semaphore's way
  WeightLoad,  ///< the stationary operand enters the array, not hidden
  DmaIssue,    ///< a trigger occupies its queue
  DmaStart,    ///< from the trigger to the first packet
  DmaTransfer, ///< packets, with the wait for the DMA engines
  DmaFinish,   ///< from the last packet to the signal
};
constexpr unsigned kPathKinds = 7;
const char *name(PathKind kind);

struct PathPiece {
  PathKind kind;
  isa::Engine engine;
  CommandId command;
  Ticks begin, end;
};

/// The pieces in the order of time.
std::vector<PathPiece> criticalPath(const Commands &commands, const Timeline &timeline);

} // namespace trn::rt
