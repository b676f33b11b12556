//===- Reader.cpp - the bytes of a .trnx file to Executable ---------------===//
//
// Every number in the file is checked before it is used. A file is read into memory, never mapped: what happens to it
// afterwards (another process truncates or rewrites it) can neither change nor end a run.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/Checksum.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/executable/Format.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace trn::exe {
using namespace format;

namespace {

absl::Status checkSum(absl::Span<const uint8_t> bytes, uint32_t expected, const char *section) {
  if (uint32_t sum = crc32c(bytes); sum != expected)
    return absl::DataLossError(absl::StrCat("section ", section, ": expected checksum ", absl::Hex(expected, absl::kZeroPad8),
                                            " but got ", absl::Hex(sum, absl::kZeroPad8),
                                            "; the file is damaged: copy it again, or compile the model again"));
  return absl::OkStatus();
}

/// A view of the file's bytes; reads beyond its end are errors, never accesses.
class Reader {
public:
  Reader(absl::Span<const uint8_t> bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {}

  absl::StatusOr<std::shared_ptr<Executable>> read();
  absl::Span<const uint8_t> weights() const { return sections_[kWeights]; }

private:
  absl::Status bad(const std::string &why) const {
    return absl::InvalidArgumentError(absl::StrCat("'", what_, "': ", why));
  }
  absl::Status readSections();
  absl::Status readNote();
  absl::Status readSums();
  absl::Status readStringsAndTables();
  absl::Status readBuffers();
  absl::Status readPrograms();
  absl::Status readCommands(const ProgramRecord &record, Program &program);
  absl::Status readFlow();

  /// Record `index` of a table, zero-extended when the file's records are shorter than ours is now.
  template <class Record> Record record(Section section, uint32_t index) const {
    const auto &[size, count] = tables_[section];
    Record out = {};
    std::memcpy(&out, copies_[section].data() + sizeof(TableHeader) + uint64_t(index) * size,
                std::min<size_t>(size, sizeof out));
    return out;
  }
  absl::Status checkTable(Section section, const char *name, uint32_t minimum);
  absl::StatusOr<std::string> string(uint32_t offset) const;

  absl::Span<const uint8_t> bytes_;
  std::string what_;
  absl::Span<const uint8_t> sections_[kSectionCount];
  bool found_[kSectionCount] = {};
  std::vector<uint8_t> copies_[kSectionCount];
  std::pair<uint32_t, uint32_t> tables_[kSectionCount]; ///< record size, count
  std::shared_ptr<Executable> out_ = std::make_shared<Executable>();
};

/// Does the section have bytes in the file? What offset and size of the others say means nothing.
bool isInFile(const Elf64_Shdr &header) { return header.sh_type != SHT_NULL && header.sh_type != SHT_NOBITS; }

absl::Status Reader::readSections() {
  Elf64_Ehdr elf;
  if (bytes_.size() < sizeof elf || std::memcmp(bytes_.data(), ELFMAG, SELFMAG))
    return bad("expected a .trnx executable but the file is not ELF");
  std::memcpy(&elf, bytes_.data(), sizeof elf);
  if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB)
    return bad("expected a 64-bit little-endian ELF file");
  if (elf.e_shentsize != sizeof(Elf64_Shdr) || elf.e_shoff > bytes_.size() ||
      (bytes_.size() - elf.e_shoff) / sizeof(Elf64_Shdr) < elf.e_shnum || elf.e_shstrndx >= elf.e_shnum)
    return bad("the section headers lie outside the file");
  std::vector<Elf64_Shdr> headers(elf.e_shnum);
  std::memcpy(headers.data(), bytes_.data() + elf.e_shoff, headers.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr &header : headers)
    if (isInFile(header) &&
        (header.sh_offset > bytes_.size() || header.sh_size > bytes_.size() - header.sh_offset))
      return bad(absl::StrCat("a section of ", header.sh_size, " bytes at ", header.sh_offset,
                              " lies outside the file of ", bytes_.size(), " bytes; is it truncated?"));
  const Elf64_Shdr &names = headers[elf.e_shstrndx];
  if (!isInFile(names))
    return bad("expected the table of section names to be in the file");
  absl::Span<const uint8_t> nameBytes = bytes_.subspan(names.sh_offset, names.sh_size);

  std::vector<std::pair<uint64_t, uint64_t>> taken;
  for (const Elf64_Shdr &header : headers) {
    if (header.sh_name >= nameBytes.size() || !isInFile(header))
      continue;
    const char *text = reinterpret_cast<const char *>(nameBytes.data()) + header.sh_name;
    std::string name(text, strnlen(text, nameBytes.size() - header.sh_name));
    for (unsigned s = 0; s < kSectionCount; ++s) {
      if (name != kSections[s].name)
        continue;
      if (found_[s])
        return bad(absl::StrCat("section ", name, " occurs twice"));
      found_[s] = true;
      sections_[s] = bytes_.subspan(header.sh_offset, header.sh_size);
      if (header.sh_size)
        taken.emplace_back(header.sh_offset, header.sh_offset + header.sh_size);
    }
  }
  std::sort(taken.begin(), taken.end());
  for (size_t i = 1; i < taken.size(); ++i)
    if (taken[i].first < taken[i - 1].second)
      return bad("two sections overlap");
  for (unsigned s = 0; s < kSectionCount; ++s)
    if (s != kWeights)
      copies_[s].assign(sections_[s].begin(), sections_[s].end());
  return absl::OkStatus();
}

absl::Status Reader::readNote() {
  if (!found_[kNote])
    return bad(absl::StrCat("section ", kSections[kNote].name, " is missing"));
  const std::vector<uint8_t> &bytes = copies_[kNote];
  Elf64_Nhdr header;
  constexpr size_t kOwner = (sizeof kNoteOwner + 3) / 4 * 4;
  Note note;
  if (bytes.size() < sizeof header + kOwner + sizeof note)
    return bad("the note in .note.trnx is cut off");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.n_namesz != sizeof kNoteOwner || header.n_type != kNoteType || header.n_descsz < sizeof note ||
      std::memcmp(bytes.data() + sizeof header, kNoteOwner, sizeof kNoteOwner))
    return bad("the note in .note.trnx is not this format's");
  std::memcpy(&note, bytes.data() + sizeof header + kOwner, sizeof note);
  if (note.major != kMajor)
    return bad(absl::StrCat("expected format version ", kMajor, ".x but got ", note.major, ".", note.minor,
                            "; compile the model again with this version"));
  if (note.required & ~kKnownRequired)
    return bad(absl::StrCat("the file needs features (bits ", absl::Hex(note.required & ~kKnownRequired),
                            ") that this version does not have"));
  for (unsigned s = 0; s < kSectionCount; ++s)
    if (!found_[s] && kSections[s].required && kSections[s].since <= note.minor)
      return bad(absl::StrCat("section ", kSections[s].name, " is missing"));
  out_->device.assign(note.device, strnlen(note.device, sizeof note.device));
  if (!isa::device(out_->device))
    return bad(absl::StrCat("unknown device '", out_->device, "'"));
  return absl::OkStatus();
}

/// The checksums of all sections but the weights, which are held to theirs before they are used (verifyWeights).
absl::Status Reader::readSums() {
  if (!found_[kSums])
    return absl::OkStatus();
  if (absl::Status status = checkTable(kSums, kSections[kSums].name, sizeof(SumRecord)); !status.ok())
    return status;
  std::optional<uint32_t> sums[kSectionCount];
  for (uint32_t i = 0; i < tables_[kSums].second; ++i) {
    SumRecord entry = record<SumRecord>(kSums, i);
    for (unsigned s = 0; s < kSectionCount; ++s) {
      char name[sizeof entry.section] = {};
      std::memcpy(name, kSections[s].name, std::strlen(kSections[s].name));
      if (std::memcmp(name, entry.section, sizeof name) == 0 && entry.reserved == 0)
        sums[s] = entry.crc32c;
    }
  }
  for (unsigned s = 0; s < kSectionCount; ++s) {
    if (!found_[s] || s == kSums)
      continue;
    if (!sums[s])
      return bad(absl::StrCat(kSections[kSums].name, " has no checksum of section ", kSections[s].name));
    if (s == kWeights)
      out_->weights.crc32c = sums[s];
    else if (absl::Status status = checkSum(sections_[s], *sums[s], kSections[s].name); !status.ok())
      return bad(std::string(status.message()));
  }
  return absl::OkStatus();
}

absl::Status Reader::checkTable(Section section, const char *name, uint32_t minimum) {
  const std::vector<uint8_t> &bytes = copies_[section];
  TableHeader header;
  if (bytes.size() < sizeof header)
    return bad(absl::StrCat(name, " has no table header"));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.recordSize < minimum || header.recordSize % 4)
    return bad(absl::StrCat(name, ": expected records of at least ", minimum, " bytes but got ", header.recordSize));
  if ((bytes.size() - sizeof header) / header.recordSize < header.count)
    return bad(absl::StrCat(name, ": ", header.count, " records do not fit its ", bytes.size(), " bytes"));
  tables_[section] = {header.recordSize, header.count};
  return absl::OkStatus();
}

absl::StatusOr<std::string> Reader::string(uint32_t offset) const {
  const std::vector<uint8_t> &bytes = copies_[kStrings];
  if (offset >= bytes.size())
    return bad(absl::StrCat("string offset ", offset, " lies outside .trnx.strings"));
  const void *end = std::memchr(bytes.data() + offset, 0, bytes.size() - offset);
  if (!end)
    return bad(absl::StrCat("the string at ", offset, " is not terminated"));
  const char *text = reinterpret_cast<const char *>(bytes.data()) + offset;
  return std::string(text, static_cast<const char *>(end));
}

absl::Status Reader::readStringsAndTables() {
  struct {
    Section section;
    uint32_t minimum;
  } tables[] = {{kPrograms, sizeof(ProgramRecord)}, {kRings, sizeof(RingRecord)},        {kBuffers, offsetof(BufferRecord, count)},
                {kWeightTable, sizeof(WeightRecord)}, {kIo, sizeof(IoRecord)},           {kBuild, sizeof(BuildRecord)},
                {kDebugMap, sizeof(DebugRecord)}};
  for (const auto &table : tables)
    if (absl::Status status = checkTable(table.section, kSections[table.section].name, table.minimum); !status.ok())
      return status;
  for (uint32_t i = 0; i < tables_[kBuild].second; ++i) {
    BuildRecord entry = record<BuildRecord>(kBuild, i);
    absl::StatusOr<std::string> key = string(entry.key), value = string(entry.value);
    if (!key.ok() || !value.ok())
      return key.ok() ? value.status() : key.status();
    out_->build[*key] = *value;
  }
  out_->debug.reserve(tables_[kDebugMap].second);
  for (uint32_t i = 0; i < tables_[kDebugMap].second; ++i) {
    DebugRecord entry = record<DebugRecord>(kDebugMap, i);
    absl::StatusOr<std::string> node = string(entry.node), op = string(entry.opType), note = string(entry.note);
    for (const auto *text : {&node, &op, &note})
      if (!text->ok())
        return text->status();
    out_->debug.push_back({*node, *op, *note});
  }
  out_->ir.assign(copies_[kDebugIr].begin(), copies_[kDebugIr].end());
  return absl::OkStatus();
}

absl::Status Reader::readBuffers() {
  for (uint32_t i = 0; i < tables_[kBuffers].second; ++i) {
    BufferRecord entry = record<BufferRecord>(kBuffers, i);
    absl::StatusOr<std::string> name = string(entry.name);
    if (!name.ok())
      return name.status();
    if (entry.kind > static_cast<uint8_t>(BufferKind::Scratch) || entry.rank > kMaxRank)
      return bad(absl::StrCat("buffer '", *name, "' has kind ", entry.kind, " and rank ", entry.rank,
                              "; expected kind <= 3 and rank <= ", kMaxRank));
    Buffer buffer;
    buffer.kind = static_cast<BufferKind>(entry.kind);
    buffer.name = *name;
    buffer.dtype = static_cast<isa::DType>(entry.dtype);
    buffer.hostDtype = static_cast<isa::DType>(entry.hostDtype);
    buffer.bytes = entry.bytes;
    buffer.shape.assign(entry.shape, entry.shape + entry.rank);
    if (entry.count > tables_[kBuffers].second)
      return bad(absl::StrCat("buffer '", *name, "' is counted by buffer ", entry.count - 1, " of ",
                              tables_[kBuffers].second));
    buffer.countBuffer = static_cast<int32_t>(entry.count) - 1;
    buffer.countDim = entry.countDim;
    out_->buffers.push_back(std::move(buffer));
  }
  std::vector<bool> placed(out_->buffers.size());
  for (uint32_t i = 0; i < tables_[kWeightTable].second; ++i) {
    WeightRecord entry = record<WeightRecord>(kWeightTable, i);
    if (entry.buffer >= out_->buffers.size() || out_->buffers[entry.buffer].kind != BufferKind::Weight ||
        placed[entry.buffer])
      return bad(absl::StrCat(".trnx.wtab record ", i, " names buffer ", entry.buffer,
                              ", which is no weight or has a place already"));
    Buffer &buffer = out_->buffers[entry.buffer];
    uint64_t size = sections_[kWeights].size();
    if (entry.bytes != buffer.bytes || entry.offset > size || entry.bytes > size - entry.offset)
      return bad(absl::StrCat("weight '", buffer.name, "' lies outside .trnx.weights"));
    buffer.weightOffset = entry.offset;
    placed[entry.buffer] = true;
  }
  for (size_t i = 0; i < placed.size(); ++i)
    if (out_->buffers[i].kind == BufferKind::Weight && !placed[i])
      return bad(absl::StrCat("weight '", out_->buffers[i].name, "' has no place in .trnx.wtab"));
  // The order of inputs and outputs is the order of the buffer table; .trnx.io repeats it for other readers.
  uint32_t last[2] = {0, 0};
  for (uint32_t i = 0; i < tables_[kIo].second; ++i) {
    IoRecord entry = record<IoRecord>(kIo, i);
    if (entry.direction > 1 || entry.buffer >= out_->buffers.size() || entry.buffer < last[entry.direction] ||
        out_->buffers[entry.buffer].kind != (entry.direction ? BufferKind::Output : BufferKind::Input))
      return bad(absl::StrCat(".trnx.io record ", i, " names buffer ", entry.buffer,
                              ", which is no such input or output or is out of order"));
    last[entry.direction] = entry.buffer;
  }
  return absl::OkStatus();
}

absl::Status Reader::readCommands(const ProgramRecord &record, Program &program) {
  const std::vector<uint8_t> &inst = copies_[kInst];
  if (record.offset > inst.size() || record.bytes > inst.size() - record.offset ||
      record.bytes / sizeof(CommandHeader) < record.count)
    return bad(absl::StrCat("the program of engine ", record.engine, " lies outside .trnx.inst"));
  program.commands.reserve(record.count);
  const uint8_t *at = inst.data() + record.offset, *end = at + record.bytes;
  for (uint32_t i = 0; i < record.count; ++i) {
    CommandHeader header;
    if (static_cast<uint64_t>(end - at) < sizeof header)
      return bad("a command is cut off");
    std::memcpy(&header, at, sizeof header);
    at += sizeof header;
    if (header.size > static_cast<uint64_t>(end - at))
      return bad("a command is cut off");
    if ((header.flags & ~(kWaits | kUpdates)) || header.reserved)
      return bad(absl::StrCat("command ", i, " of engine ", record.engine, " has unknown flags"));
    isa::Command command = {};
    const uint8_t *from = at;
    std::string why;
    if (!isa::decode(from, at + header.size, command.inst, why))
      return bad(absl::StrCat("command ", i, " of engine ", record.engine, ": ", why));
    at += header.size;
    if (static_cast<size_t>(at - from) >= 8 || std::any_of(from, at, [](uint8_t b) { return b != 0; }))
      return bad(absl::StrCat("command ", i, " of engine ", record.engine, " is longer than its instruction"));
    command.engine = program.engine;
    command.ring = header.ring;
    command.debug = header.debug;
    command.hasWait = header.flags & kWaits;
    command.hasUpdate = header.flags & kUpdates;
    command.wait = {header.waitSemaphore, header.waitValue};
    command.update = {header.updateSemaphore, header.updateAdd};
    if (command.debug >= std::max<size_t>(1, out_->debug.size()))
      return bad(absl::StrCat("command ", i, " of engine ", record.engine, " names debug entry ", command.debug,
                              " of ", out_->debug.size()));
    program.commands.push_back(std::move(command));
  }
  if (at != end)
    return bad(absl::StrCat("the program of engine ", record.engine, " has bytes behind its last command"));
  return absl::OkStatus();
}

absl::Status Reader::readPrograms() {
  for (uint32_t i = 0; i < tables_[kPrograms].second; ++i) {
    ProgramRecord entry = record<ProgramRecord>(kPrograms, i);
    if (entry.core != 0)
      return bad(absl::StrCat("program ", i, " is for core ", entry.core, "; expected core 0"));
    if (entry.engine > static_cast<uint16_t>(isa::Engine::SP))
      return bad(absl::StrCat("program ", i, " names engine ", entry.engine, ", which does not exist"));
    Program program;
    program.engine = static_cast<isa::Engine>(entry.engine);
    if (absl::Status status = readCommands(entry, program); !status.ok())
      return status;
    out_->programs.push_back(std::move(program));
  }
  return absl::OkStatus();
}

/// The edges name operands that exist, in order; what they say is the checker's business.
absl::Status Reader::readFlow() {
  if (sections_[kFlow].empty())
    return absl::OkStatus();
  if (absl::Status status = checkTable(kFlow, kSections[kFlow].name, sizeof(FlowRecord)); !status.ok())
    return status;
  std::vector<uint8_t> operands; // of each command, through all programs
  for (const Program &program : out_->programs)
    for (const isa::Command &command : program.commands) {
      uint8_t count = 0;
      isa::forEachOperand(command.inst, [&](const isa::AP &, const isa::OperandInfo &) { ++count; });
      operands.push_back(count);
    }
  out_->flow.reserve(tables_[kFlow].second);
  for (uint32_t i = 0; i < tables_[kFlow].second; ++i) {
    FlowRecord entry = record<FlowRecord>(kFlow, i);
    FlowEdge edge{entry.reader, entry.operand, entry.writer, entry.writerOperand};
    if (edge.reader >= operands.size() || edge.writer >= operands.size() || edge.operand >= operands[edge.reader] ||
        edge.writerOperand >= operands[edge.writer] || (i > 0 && !(out_->flow.back() < edge)))
      return bad(absl::StrCat(kSections[kFlow].name, " record ", i, " names operands that do not exist, or is out of order"));
    out_->flow.push_back(edge);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Executable>> Reader::read() {
  for (auto step : {&Reader::readSections, &Reader::readNote, &Reader::readSums, &Reader::readStringsAndTables, &Reader::readBuffers,
                    &Reader::readPrograms, &Reader::readFlow})
    if (absl::Status status = (this->*step)(); !status.ok())
      return status;
  out_->weights.bytes = sections_[kWeights].size();
  if (absl::Status status = verifyExecutable(*out_); !status.ok())
    return bad(std::string(status.message()));
  return out_;
}

/// The bytes of a whole file, aligned for vector loads. Not a vector: nothing clears them before they are read.
struct FileBytes {
  uint8_t *data = nullptr;
  size_t size = 0;
  ~FileBytes() { std::free(data); }
};

absl::StatusOr<std::shared_ptr<FileBytes>> readFile(int fd, size_t size, const std::string &what) {
  auto file = std::make_shared<FileBytes>();
  constexpr size_t kPage = 4096;
  file->data = static_cast<uint8_t *>(std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage));
  if (!file->data)
    return absl::ResourceExhaustedError(absl::StrCat("'", what, "': ", size, " bytes do not fit host memory"));
  while (file->size < size) {
    const ssize_t got = pread(fd, file->data + file->size, size - file->size, static_cast<off_t>(file->size));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return absl::DataLossError(absl::StrCat("'", what, "': ", std::strerror(errno)));
    if (got == 0)
      return absl::DataLossError(
          absl::StrCat("'", what, "': expected ", size, " bytes but the file ends after ", file->size));
    file->size += static_cast<size_t>(got);
  }
  return file;
}

} // namespace

absl::Status verifyWeights(const Executable &executable) {
  const WeightSource &weights = executable.weights;
  if (!weights.crc32c || !weights.data)
    return absl::OkStatus();
  return checkSum(absl::MakeConstSpan(weights.data, weights.bytes), *weights.crc32c, kSections[kWeights].name);
}

absl::StatusOr<std::shared_ptr<const Executable>> loadExecutable(absl::Span<const uint8_t> bytes,
                                                                 const std::string &what) {
  Reader reader(bytes, what);
  absl::StatusOr<std::shared_ptr<Executable>> loaded = reader.read();
  if (!loaded.ok())
    return loaded.status();
  auto weights = std::make_shared<std::vector<uint8_t>>(reader.weights().begin(), reader.weights().end());
  (*loaded)->weights.data = weights->data();
  (*loaded)->weights.owner = weights;
  return std::shared_ptr<const Executable>(std::move(*loaded));
}

absl::StatusOr<std::shared_ptr<const Executable>> loadExecutable(int fd, const std::string &what) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return absl::NotFoundError(absl::StrCat("'", what, "': ", std::strerror(errno)));
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat("'", what, "': expected a regular file"));
  if (info.st_size == 0)
    return absl::InvalidArgumentError(absl::StrCat("'", what, "': the file is empty"));
  absl::StatusOr<std::shared_ptr<FileBytes>> file = readFile(fd, static_cast<size_t>(info.st_size), what);
  if (!file.ok())
    return file.status();
  Reader reader(absl::MakeConstSpan((*file)->data, (*file)->size), what);
  absl::StatusOr<std::shared_ptr<Executable>> loaded = reader.read();
  if (!loaded.ok())
    return loaded.status();
  (*loaded)->weights.data = reader.weights().data();
  (*loaded)->weights.owner = *file;
  return std::shared_ptr<const Executable>(std::move(*loaded));
}

absl::StatusOr<std::shared_ptr<const Executable>> loadExecutable(const std::string &path) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return absl::NotFoundError(absl::StrCat("'", path, "': ", std::strerror(errno)));
  absl::StatusOr<std::shared_ptr<const Executable>> loaded = loadExecutable(fd, path);
  close(fd);
  return loaded;
}

} // namespace trn::exe
