//===- Writer.cpp - Executable to the bytes of a .trnx file ---------------===//
//
// The sizes of all sections are known before the first byte is written: header and tables go out first, then the
// weights are pulled from their source piece by piece and never held.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/Checksum.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/executable/Format.h"
#include "runtime/src/OutputFile.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <set>

namespace trn::exe {
using namespace format;

namespace {

/// Section contents under construction: a table header, then records.
class Table {
public:
  explicit Table(uint32_t recordSize) : recordSize_(recordSize) { bytes_.resize(sizeof(TableHeader)); }
  template <class Record> void add(const Record &record) {
    const auto *from = reinterpret_cast<const uint8_t *>(&record);
    bytes_.insert(bytes_.end(), from, from + sizeof record);
    ++count_;
  }
  std::vector<uint8_t> take() {
    TableHeader header{recordSize_, count_};
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }

private:
  uint32_t recordSize_, count_ = 0;
  std::vector<uint8_t> bytes_;
};

/// `.trnx.strings`: each string once, zero-terminated; offset 0 is the empty string.
class Strings {
public:
  Strings() : bytes_(1, 0) { offsets_[""] = 0; }
  uint32_t operator()(const std::string &text) {
    auto [at, added] = offsets_.try_emplace(text, static_cast<uint32_t>(bytes_.size()));
    if (added)
      bytes_.insert(bytes_.end(), text.c_str(), text.c_str() + text.size() + 1);
    return at->second;
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

private:
  absl::flat_hash_map<std::string, uint32_t> offsets_;
  std::vector<uint8_t> bytes_;
};

struct Image {
  std::vector<uint8_t> sections[kSectionCount]; ///< kWeights stays empty, kSums is filled last
  std::vector<uint8_t> head;                    ///< ELF header, section headers, section names
  uint64_t offsets[kSectionCount] = {}, sizes[kSectionCount] = {};
};

uint64_t alignTo(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

std::vector<uint8_t> noteBytes(const Executable &executable) {
  Note note = {};
  note.major = kMajor;
  note.minor = kMinor;
  note.optional = (executable.debug.empty() ? 0 : kHasDebugMap) | (executable.ir.empty() ? 0 : kHasIr) |
                  (executable.flow.empty() ? 0 : kHasFlow);
  std::strncpy(note.device, executable.device.c_str(), sizeof note.device);
  Elf64_Nhdr header = {sizeof kNoteOwner, sizeof note, kNoteType};
  std::vector<uint8_t> bytes(sizeof header + alignTo(sizeof kNoteOwner, 4) + sizeof note);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, kNoteOwner, sizeof kNoteOwner);
  std::memcpy(bytes.data() + sizeof header + alignTo(sizeof kNoteOwner, 4), &note, sizeof note);
  return bytes;
}

void addPrograms(const Executable &executable, Image &image) {
  Table programs(sizeof(ProgramRecord));
  std::vector<uint8_t> &inst = image.sections[kInst];
  std::map<unsigned, std::pair<std::set<unsigned>, uint32_t>> rings; // ring → issuing engines, transfers
  for (const Program &program : executable.programs) {
    ProgramRecord record = {};
    record.engine = static_cast<uint16_t>(program.engine);
    record.count = static_cast<uint32_t>(program.commands.size());
    record.offset = inst.size();
    for (const isa::Command &command : program.commands) {
      size_t at = inst.size();
      inst.resize(at + sizeof(CommandHeader));
      isa::encode(command.inst, inst);
      inst.resize(alignTo(inst.size(), 8));
      CommandHeader header = {};
      header.size = static_cast<uint16_t>(inst.size() - at - sizeof header);
      header.debug = command.debug;
      if (isa::info(isa::opcode(command.inst)).isDma) {
        header.ring = command.ring;
        rings[command.ring].first.insert(static_cast<unsigned>(command.engine));
        ++rings[command.ring].second;
      }
      if (command.hasWait) {
        header.flags |= kWaits;
        header.waitSemaphore = command.wait.semaphore;
        header.waitValue = command.wait.value;
      }
      if (command.hasUpdate) {
        header.flags |= kUpdates;
        header.updateSemaphore = command.update.semaphore;
        header.updateAdd = command.update.add;
      }
      std::memcpy(&inst[at], &header, sizeof header);
    }
    record.bytes = inst.size() - record.offset;
    programs.add(record);
  }
  image.sections[kPrograms] = programs.take();
  Table ringTable(sizeof(RingRecord));
  for (const auto &[ring, use] : rings) {
    RingRecord record = {};
    record.ring = static_cast<uint8_t>(ring);
    record.engine = use.first.size() == 1 ? static_cast<uint8_t>(*use.first.begin()) : 255;
    record.transfers = use.second;
    ringTable.add(record);
  }
  image.sections[kRings] = ringTable.take();
}

void addTables(const Executable &executable, Image &image) {
  Strings strings;
  Table buffers(sizeof(BufferRecord)), weights(sizeof(WeightRecord)), io(sizeof(IoRecord));
  Table build(sizeof(BuildRecord)), debug(sizeof(DebugRecord)), flow(sizeof(FlowRecord));
  for (uint32_t i = 0; i < executable.buffers.size(); ++i) {
    const Buffer &buffer = executable.buffers[i];
    BufferRecord record = {};
    record.kind = static_cast<uint8_t>(buffer.kind);
    record.dtype = static_cast<uint8_t>(buffer.dtype);
    record.hostDtype = static_cast<uint8_t>(buffer.hostDtype);
    record.rank = static_cast<uint8_t>(buffer.shape.size());
    record.name = strings(buffer.name);
    record.bytes = buffer.bytes;
    std::copy(buffer.shape.begin(), buffer.shape.end(), record.shape);
    record.count = static_cast<uint32_t>(buffer.countBuffer + 1);
    record.countDim = buffer.countDim;
    buffers.add(record);
    if (buffer.kind == BufferKind::Weight)
      weights.add(WeightRecord{i, 0, buffer.weightOffset, buffer.bytes});
  }
  for (uint32_t direction : {0u, 1u})
    for (uint32_t i = 0; i < executable.buffers.size(); ++i)
      if (executable.buffers[i].kind == (direction ? BufferKind::Output : BufferKind::Input) && !executable.isCount(i))
        io.add(IoRecord{i, direction});
  for (const auto &[key, value] : executable.build)
    build.add(BuildRecord{strings(key), strings(value)});
  for (const DebugEntry &entry : executable.debug)
    debug.add(DebugRecord{strings(entry.node), strings(entry.opType), strings(entry.note)});
  for (const FlowEdge &edge : executable.flow)
    flow.add(FlowRecord{edge.reader, edge.writer, edge.operand, edge.writerOperand, 0});
  image.sections[kFlow] = flow.take();
  image.sections[kBuffers] = buffers.take();
  image.sections[kWeightTable] = weights.take();
  image.sections[kIo] = io.take();
  image.sections[kBuild] = build.take();
  image.sections[kDebugMap] = debug.take();
  image.sections[kDebugIr].assign(executable.ir.begin(), executable.ir.end());
  image.sections[kStrings] = strings.take();
}

/// Room for the checksum of each section, which is known when the section is written.
void reserveSums(Image &image) {
  Table sums(sizeof(SumRecord));
  for (unsigned s = 0; s < kSectionCount; ++s)
    if (s != kSums) {
      SumRecord record = {};
      std::memcpy(record.section, kSections[s].name, std::strlen(kSections[s].name));
      sums.add(record);
    }
  image.sections[kSums] = sums.take();
}

void setSum(Image &image, unsigned section, uint32_t crc) {
  static_assert(kSums == kSectionCount - 1, "records stand in the order of the sections");
  std::memcpy(image.sections[kSums].data() + sizeof(TableHeader) + section * sizeof(SumRecord) +
                  offsetof(SumRecord, crc32c),
              &crc, sizeof crc);
}

/// Lays the sections out and writes the ELF headers for them.
void addHeaders(const Executable &executable, Image &image) {
  std::string nameTable(1, '\0');
  uint32_t nameOffsets[kSectionCount];
  for (unsigned s = 0; s < kSectionCount; ++s) {
    nameOffsets[s] = static_cast<uint32_t>(nameTable.size());
    nameTable.append(kSections[s].name, std::strlen(kSections[s].name) + 1);
  }
  uint32_t ownName = static_cast<uint32_t>(nameTable.size());
  nameTable.append(".shstrtab", 10);

  constexpr unsigned kHeaders = kSectionCount + 2; // the null section first, the section names last
  uint64_t tableAt = sizeof(Elf64_Ehdr), namesAt = tableAt + kHeaders * sizeof(Elf64_Shdr);
  uint64_t at = namesAt + nameTable.size();
  std::vector<Elf64_Shdr> headers(kHeaders);
  for (unsigned s = 0; s < kSectionCount; ++s) {
    uint64_t size = s == kWeights ? executable.weights.bytes : image.sections[s].size();
    // An empty section has no bytes to align, and must not lie behind the end of the file.
    uint64_t alignment = size == 0 ? 1 : s == kWeights ? kWeightsAlignment : s == kNote ? 4 : 8;
    at = alignTo(at, alignment);
    image.offsets[s] = at;
    image.sizes[s] = size;
    Elf64_Shdr &header = headers[s + 1];
    header.sh_name = nameOffsets[s];
    header.sh_type = s == kNote ? SHT_NOTE : SHT_PROGBITS;
    header.sh_flags = kSections[s].required ? SHF_ALLOC : 0; // or `strip` would remove it
    header.sh_offset = at;
    header.sh_size = size;
    header.sh_addralign = alignment;
    at += size;
  }
  Elf64_Shdr &last = headers.back();
  last.sh_name = ownName;
  last.sh_type = SHT_STRTAB;
  last.sh_offset = namesAt;
  last.sh_size = nameTable.size();
  last.sh_addralign = 1;

  Elf64_Ehdr elf = {};
  std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  elf.e_ident[EI_DATA] = ELFDATA2LSB;
  elf.e_ident[EI_VERSION] = EV_CURRENT;
  elf.e_ident[EI_OSABI] = ELFOSABI_STANDALONE;
  elf.e_type = ET_REL;
  elf.e_machine = EM_NONE;
  elf.e_version = EV_CURRENT;
  elf.e_shoff = tableAt;
  elf.e_ehsize = sizeof elf;
  elf.e_shentsize = sizeof(Elf64_Shdr);
  elf.e_shnum = kHeaders;
  elf.e_shstrndx = kHeaders - 1;

  image.head.resize(namesAt + nameTable.size());
  std::memcpy(image.head.data(), &elf, sizeof elf);
  std::memcpy(image.head.data() + tableAt, headers.data(), headers.size() * sizeof(Elf64_Shdr));
  std::memcpy(image.head.data() + namesAt, nameTable.data(), nameTable.size());
}

/// Hands the bytes of a section to `take`, those of weights piece by piece, until it fails.
template <class Take>
absl::Status forEachPiece(const Executable &executable, const Image &image, unsigned section, Take &&take) {
  if (section != kWeights)
    return take(image.sections[section].data(), image.sections[section].size());
  const WeightSource &weights = executable.weights;
  if (weights.data)
    return take(weights.data, weights.bytes);
  std::vector<uint8_t> piece(std::min<uint64_t>(weights.bytes, 1 << 20));
  for (uint64_t done = 0; done < weights.bytes; done += piece.size()) {
    piece.resize(std::min<uint64_t>(piece.size(), weights.bytes - done));
    if (!weights.read(done, piece.data(), piece.size()))
      return absl::DataLossError(absl::StrCat("the source of the weights failed at byte ", done));
    if (absl::Status status = take(piece.data(), piece.size()); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

/// Hands all bytes of the file, in order, to `sink`, which returns false to stop.
template <class Sink> absl::Status emit(const Executable &executable, Sink &&sink) {
  if (absl::Status legal = verifyExecutable(executable); !legal.ok())
    return legal;
  for (const Buffer &buffer : executable.buffers)
    if (buffer.shape.size() > kMaxRank)
      return absl::InvalidArgumentError(absl::StrCat("buffer '", buffer.name, "': expected rank <= ", kMaxRank,
                                                     " but got ", buffer.shape.size()));
  Image image;
  image.sections[kNote] = noteBytes(executable);
  addPrograms(executable, image);
  addTables(executable, image);
  reserveSums(image);
  addHeaders(executable, image);

  uint64_t at = 0;
  auto put = [&](const uint8_t *bytes, uint64_t size) {
    at += size;
    return size == 0 || sink(bytes, size);
  };
  auto padTo = [&](uint64_t offset) {
    static const uint8_t kZeros[4096] = {};
    while (at < offset)
      if (!put(kZeros, std::min<uint64_t>(sizeof kZeros, offset - at)))
        return false;
    return true;
  };
  absl::Status stopped = absl::ResourceExhaustedError("cannot write");
  if (!put(image.head.data(), image.head.size()))
    return stopped;
  for (unsigned s = 0; s < kSectionCount; ++s) {
    if (image.sizes[s] == 0)
      continue;
    if (!padTo(image.offsets[s]))
      return stopped;
    uint32_t crc = 0;
    absl::Status status = forEachPiece(executable, image, s, [&](const uint8_t *bytes, uint64_t size) {
      crc = crc32c(absl::MakeConstSpan(bytes, size), crc);
      return put(bytes, size) ? absl::OkStatus() : stopped;
    });
    if (!status.ok())
      return status;
    if (s == kWeights && executable.weights.crc32c.value_or(crc) != crc)
      return verifyWeights(executable);
    if (s != kSums)
      setSum(image, s, crc);
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::vector<uint8_t>> serializeExecutable(const Executable &executable) {
  std::vector<uint8_t> bytes;
  absl::Status status = emit(executable, [&](const uint8_t *from, uint64_t size) {
    bytes.insert(bytes.end(), from, from + size);
    return true;
  });
  if (!status.ok())
    return status;
  return bytes;
}

absl::Status writeExecutable(const Executable &executable, const std::string &path) {
  rt::OutputFile file;
  if (absl::Status status = file.open(path); !status.ok())
    return status;
  absl::Status status =
      emit(executable, [&](const uint8_t *from, uint64_t size) { return file.write(from, size); });
  if (absl::IsResourceExhausted(status))
    return absl::ResourceExhaustedError(absl::StrCat("'", path, "': ", std::strerror(errno)));
  return status.ok() ? file.commit() : status;
}

} // namespace trn::exe
