//===- Format.h - the bytes of a .trnx file -------------------------------===//
//
// Owns every record that lies in a `.trnx` file. A `.trnx` is an ELF64 file, little endian, so that `readelf` and its
// friends read it; what lies in its sections is ours and described here and in docs/executable-format.md. All records
// have fixed sizes, all offsets are relative to their section, all reserved bytes are zero.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace trn::exe::format {

/// The version of the format. A reader refuses a major version that is not its own, and reads every minor version.
constexpr uint16_t kMajor = 1, kMinor = 3;

/// Features that a reader must know to run the file (a set bit that it does not know is an error).
enum RequiredFeature : uint64_t { kKnownRequired = 0 };
/// Features that a reader may ignore.
enum OptionalFeature : uint64_t { kHasDebugMap = 1, kHasIr = 2, kHasFlow = 4 };

/// The note in `.note.trnx`: owner "trn-mlir", type 1; its descriptor is one `Note`.
constexpr char kNoteOwner[] = "trn-mlir";
constexpr uint32_t kNoteType = 1;
struct Note {
  uint16_t major, minor;
  uint32_t reserved;
  uint64_t required, optional;
  char device[16]; ///< name of the target, padded with zeros
};
static_assert(sizeof(Note) == 40);

/// Begins every table section; `recordSize` lets a later minor version append fields.
struct TableHeader {
  uint32_t recordSize, count;
};
static_assert(sizeof(TableHeader) == 8);

/// `.trnx.programs`: one queue of one engine of one core.
struct ProgramRecord {
  uint16_t core, engine;
  uint32_t count;          ///< commands
  uint64_t offset, bytes;  ///< in `.trnx.inst`
};
static_assert(sizeof(ProgramRecord) == 24);

/// Begins every command in `.trnx.inst`; the encoded instruction (dialects/Trn/ISA) follows in `size` bytes.
struct CommandHeader {
  uint16_t size;   ///< bytes of the instruction that follows, a multiple of 8 with padding
  uint8_t flags;   ///< 1: waits, 2: updates
  uint8_t ring;    ///< DMA only
  uint16_t waitSemaphore, updateSemaphore;
  uint32_t waitValue;
  int32_t updateAdd;
  uint32_t debug;  ///< index in `.trnx.debug.map`
  uint32_t reserved;
};
static_assert(sizeof(CommandHeader) == 24);
enum CommandFlag : uint8_t { kWaits = 1, kUpdates = 2 };

/// `.trnx.rings`: one DMA ring that the programs use.
struct RingRecord {
  uint8_t ring, engine; ///< the engine that issues on it; 255 when several do
  uint16_t reserved;
  uint32_t transfers;
};
static_assert(sizeof(RingRecord) == 8);

constexpr unsigned kMaxRank = 8;

/// `.trnx.buffers`: one buffer in device memory.
struct BufferRecord {
  uint8_t kind, dtype, hostDtype, rank;
  uint32_t name; ///< in `.trnx.strings`
  uint64_t bytes;
  int64_t shape[kMaxRank];
  uint32_t count;    ///< 1 + the output that says how much is valid; 0: all of it (since 1.2)
  uint32_t countDim; ///< of which dimension
};
static_assert(sizeof(BufferRecord) == 88);

/// `.trnx.wtab`: where the bytes of a weight lie.
struct WeightRecord {
  uint32_t buffer, reserved;
  uint64_t offset, bytes; ///< in `.trnx.weights`
};
static_assert(sizeof(WeightRecord) == 24);

/// `.trnx.io`: the model's inputs, then its outputs, in the model's order.
struct IoRecord {
  uint32_t buffer, direction; ///< 0 input, 1 output
};
static_assert(sizeof(IoRecord) == 8);

/// `.trnx.debug.map`: where an instruction comes from; offsets in `.trnx.strings`.
struct DebugRecord {
  uint32_t node, opType, note;
};
static_assert(sizeof(DebugRecord) == 12);

/// `.trnx.flow`: which command's data an operand reads (Executable.h, FlowEdge), sorted. Absent or empty: not recorded.
struct FlowRecord {
  uint32_t reader, writer;
  uint8_t operand, writerOperand;
  uint16_t reserved;
};
static_assert(sizeof(FlowRecord) == 12);

/// `.trnx.build`: facts as pairs of strings.
struct BuildRecord {
  uint32_t key, value;
};
static_assert(sizeof(BuildRecord) == 8);

/// `.trnx.sums` (since 1.3): the checksum of each section in the file but this one.
struct SumRecord {
  char section[16]; ///< name of the section, padded with zeros
  uint32_t crc32c, reserved;
};
static_assert(sizeof(SumRecord) == 24);

/// The sections, in file order: TRN_SECTION(id, name, required by the runtime, minor version that it came with).
#define TRN_SECTIONS(TRN_SECTION)                                                                                      \
  TRN_SECTION(Note, ".note.trnx", true, 0)                                                                             \
  TRN_SECTION(Programs, ".trnx.programs", true, 0)                                                                     \
  TRN_SECTION(Inst, ".trnx.inst", true, 0)                                                                             \
  TRN_SECTION(Rings, ".trnx.rings", true, 0)                                                                           \
  TRN_SECTION(Buffers, ".trnx.buffers", true, 0)                                                                       \
  TRN_SECTION(WeightTable, ".trnx.wtab", true, 0)                                                                      \
  TRN_SECTION(Io, ".trnx.io", true, 0)                                                                                 \
  TRN_SECTION(Strings, ".trnx.strings", true, 0)                                                                       \
  TRN_SECTION(Build, ".trnx.build", true, 0)                                                                           \
  TRN_SECTION(DebugMap, ".trnx.debug.map", true, 0)                                                                    \
  TRN_SECTION(Flow, ".trnx.flow", false, 0)                                                                            \
  TRN_SECTION(DebugIr, ".trnx.debug.ir", false, 0)                                                                     \
  TRN_SECTION(Weights, ".trnx.weights", true, 0)                                                                       \
  TRN_SECTION(Sums, ".trnx.sums", true, 3)

enum Section : unsigned {
#define TRN_SECTION(id, name, required, since) k##id,
  TRN_SECTIONS(TRN_SECTION)
#undef TRN_SECTION
      kSectionCount
};
struct SectionInfo {
  const char *name;
  bool required;  ///< by the runtime: `strip` keeps it
  uint16_t since; ///< minor version
};
constexpr SectionInfo kSections[] = {
#define TRN_SECTION(id, name, required, since) {name, required, since},
    TRN_SECTIONS(TRN_SECTION)
#undef TRN_SECTION
};

/// Weights begin at a multiple of this in the file, so that they can be mapped with huge pages.
constexpr uint64_t kWeightsAlignment = 2 << 20;
/// Each weight begins at a multiple of this inside the section.
constexpr uint64_t kWeightAlignment = 64;

} // namespace trn::exe::format
