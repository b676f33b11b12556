//===- Executable.h - a compiled program in memory ------------------------===//
//
// Owns the in-memory form of a `.trnx` executable: per-engine programs, the buffer table, the debug map and the
// weights. The compiler's encoder fills it, the writer stores it, the reader restores it, the emulator, the timing
// simulation and the checker read it. It holds no addresses of the host and nothing of LLVM.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace trn::exe {

/// What a buffer in device memory (HBM) is for.
enum class BufferKind : uint8_t { Input, Output, Weight, Scratch };

/// One buffer in HBM. Operands name it by its index in `Executable::buffers`.
struct Buffer {
  BufferKind kind = BufferKind::Scratch;
  /// The ONNX name of an input or output; the initializer's name of a weight; free for scratch.
  std::string name;
  /// Element type and logical shape on the device; `bytes` = product of the shape times the element size.
  isa::DType dtype = isa::DType::F32;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  /// Weights only: where the bytes begin in `Executable::weights`.
  uint64_t weightOffset = 0;
  /// Inputs and outputs only: the element type that the caller sees (an int64 input is I32 on the device; the
  /// runtime converts, and refuses values that do not fit).
  isa::DType hostDtype = isa::DType::F32;
  /// Outputs of which the run decides how much is valid: the output that holds, as one int32, how many elements of
  /// dimension `countDim`. -1: all of it is valid.
  int32_t countBuffer = -1;
  uint32_t countDim = 0;
};

/// Where an instruction comes from.
struct DebugEntry {
  std::string node;   ///< ONNX node name
  std::string opType; ///< ONNX operator
  std::string note;   ///< what the compiler made of it, for example "evict" or "load weights"
};

/// "Operand `operand` of command `reader` reads what command `writer` wrote through its operand `writerOperand`."
/// Commands are numbered through all programs, in their order.
struct FlowEdge {
  uint32_t reader = 0;
  uint8_t operand = 0;
  uint32_t writer = 0;
  uint8_t writerOperand = 0;
};
inline bool operator<(const FlowEdge &a, const FlowEdge &b) {
  return std::tie(a.reader, a.operand, a.writer, a.writerOperand) < std::tie(b.reader, b.operand, b.writer, b.writerOperand);
}
inline bool operator==(const FlowEdge &a, const FlowEdge &b) {
  return std::tie(a.reader, a.operand, a.writer, a.writerOperand) == std::tie(b.reader, b.operand, b.writer, b.writerOperand);
}
/// All edges of a program, sorted and unique.
using DataFlow = std::vector<FlowEdge>;

/// The queue of one engine, in issue order.
struct Program {
  isa::Engine engine = isa::Engine::SP;
  std::vector<isa::Command> commands;
  /// Unrolled programs only (runtime/timing/Unroll.h): where each command stands in the program it comes from.
  std::vector<uint32_t> positions = {};
};

/// The bytes of all weights. A writer pulls them piece by piece through `read`, so that they are never held whole;
/// a loaded executable has them at `data`.
struct WeightSource {
  uint64_t bytes = 0;
  /// Fills `size` bytes from `offset` on; false when the source failed.
  std::function<bool(uint64_t offset, void *out, uint64_t size)> read;
  const uint8_t *data = nullptr;
  /// The checksum that the file states of `data` (Checksum.h); none when no file does.
  std::optional<uint32_t> crc32c;
  /// Keeps what `data` points into alive.
  std::shared_ptr<const void> owner;
};

/// A compiled program.
struct Executable {
  std::string device; ///< a name of Devices.td
  std::vector<Program> programs;
  std::vector<Buffer> buffers;
  std::vector<DebugEntry> debug; ///< `isa::Command::debug` is an index; entry 0 is "no node"
  WeightSource weights;
  /// The data flow that the compiler meant, from buffers before they had addresses; empty when nobody recorded it. The
  /// checker holds the program to it.
  DataFlow flow;
  /// Facts for reports: compiler version, options, `model_macs`, `weight_bytes`, ...
  std::map<std::string, std::string> build;
  std::string ir; ///< optional: textual IR of a stage, for inspection; never read by the runtime

  /// Bytes of all buffers of a kind, without what lies between them in the file.
  uint64_t bytesOf(BufferKind kind) const {
    uint64_t bytes = 0;
    for (const Buffer &buffer : buffers)
      bytes += buffer.kind == kind ? buffer.bytes : 0;
    return bytes;
  }

  /// Whether a buffer is the count of an output: it is none of the model's outputs itself.
  bool isCount(uint32_t buffer) const {
    for (const Buffer &other : buffers)
      if (other.countBuffer >= 0 && static_cast<uint32_t>(other.countBuffer) == buffer)
        return true;
    return false;
  }
};

} // namespace trn::exe
