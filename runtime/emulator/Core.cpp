//===- Core.cpp - one emulated core --------------------------------------------===//
//
// Owns the resolution of access patterns. All arithmetic on offsets is done in 128 bits, so no pattern can wrap.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Core.h"
#include "absl/strings/str_cat.h"

namespace trn::rt {

using Wide = __int128;

/// Bytes of a partition that share one version number.
static constexpr uint64_t kGranule = 256;

absl::StatusOr<std::unique_ptr<Core>> Core::create(const isa::DeviceInfo &device, const CoreOptions &options) {
  if (!isSupported(options.path))
    return absl::FailedPreconditionError(absl::StrCat("this processor cannot run host path '", name(options.path), "'"));
  absl::StatusOr<Memory> sbuf = Memory::create(device.partitions, device.sbufBytesUsable);
  if (!sbuf.ok())
    return sbuf.status();
  absl::StatusOr<Memory> psum = Memory::create(device.partitions, uint64_t(device.psumBanks) * device.psumBankBytes);
  if (!psum.ok())
    return psum.status();
  return std::unique_ptr<Core>(new Core(device, options, *std::move(sbuf), *std::move(psum)));
}

Core::Core(const isa::DeviceInfo &device, const CoreOptions &options, Memory sbufMemory, Memory psumMemory)
    : deviceInfo(device), coreOptions(options), kernelTable(&kernelsOf(options.path)),
      threadPool(std::make_unique<ThreadPool>(options.threads)), sbuf(std::move(sbufMemory)),
      psum(std::move(psumMemory)), sbufOrigin(sbuf.data()), psumOrigin(psum.data()),
      sbufVersions((sbuf.bytesPerPartition() + kGranule - 1) / kGranule, 0),
      psumVersions((psum.bytesPerPartition() + kGranule - 1) / kGranule, 0) {
  if (options.checkPoison) {
    sbufShadow.assign(sbuf.bytesPerPartition() * sbuf.partitions(), 0);
    psumShadow.assign(psum.bytesPerPartition() * psum.partitions(), 0);
  }
}

void Core::declareHbm(absl::Span<const HbmDeclaration> buffers) {
  declarations.assign(buffers.begin(), buffers.end());
  hbmOrigins.assign(buffers.size(), nullptr);
}

absl::Status Core::bindHbm(absl::Span<const HbmBuffer> buffers) {
  if (buffers.size() != declarations.size())
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", declarations.size(), " device buffers, but got ", buffers.size()));
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].bytes < declarations[i].bytes || (!buffers[i].data && declarations[i].bytes))
      return absl::InvalidArgumentError(absl::StrCat("device buffer ", i, ": expected at least ", declarations[i].bytes,
                                                     " bytes, but got ", buffers[i].data ? buffers[i].bytes : 0));
    hbmOrigins[i] = buffers[i].data;
  }
  return absl::OkStatus();
}

void Core::bindLoose(absl::Span<const LooseBuffer> buffers) { loose.assign(buffers.begin(), buffers.end()); }

/// Poisons the columns that were written after `since`; they then have the version `now`.
static void poisonWritten(Memory &memory, std::vector<uint64_t> &versions, uint64_t since, uint64_t now) {
  for (size_t begin = 0; begin < versions.size();) {
    size_t end = begin;
    while (end < versions.size() && versions[end] > since)
      ++end;
    memory.poison(begin * kGranule, std::min<uint64_t>(end * kGranule, memory.bytesPerPartition()));
    begin = end + 1;
  }
  // Caches that were filled before stay invalid: time goes on.
  versions.assign(versions.size(), now);
}

void Core::reset() {
  ++writeClock;
  poisonWritten(sbuf, sbufVersions, lastReset, writeClock);
  poisonWritten(psum, psumVersions, lastReset, writeClock);
  lastReset = writeClock;
  std::fill(sbufShadow.begin(), sbufShadow.end(), 0);
  std::fill(psumShadow.begin(), psumShadow.end(), 0);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static absl::Status invalidOperand(const isa::AP &ap, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("operand ", ap.str(), ": ", problem));
}

/// Lowest and highest byte that the free pattern visits, relative to its first element; the last one is exclusive.
struct Extent {
  Wide low, high;
};
static Extent extentOf(const isa::AP &ap, unsigned bytes) {
  Extent extent{0, bytes};
  for (unsigned d = 0; d < ap.rank; ++d) {
    Wide reach = Wide(ap.dims[d].step) * (Wide(ap.dims[d].count) - 1) * bytes;
    (reach < 0 ? extent.low : extent.high) += reach;
  }
  return extent;
}

/// Fills what does not depend on the memory. The pattern is well formed.
static View freePattern(const isa::AP &ap) {
  View view;
  view.space = ap.space;
  view.dtype = ap.dtype;
  view.elementBytes = static_cast<uint8_t>(ap.bytes());
  view.partitions = ap.partitions;
  view.elements = 1;
  for (unsigned d = 0; d < ap.rank; ++d) {
    uint64_t count = ap.dims[d].count;
    int64_t stride = int64_t(ap.dims[d].step) * view.elementBytes;
    view.elements *= count;
    if (count == 1)
      continue;
    // A dimension whose step spans the next one exactly continues it.
    if (view.rank && view.dims[view.rank - 1].stride == stride * int64_t(count)) {
      view.dims[view.rank - 1] = {view.dims[view.rank - 1].count * count, stride};
      continue;
    }
    view.dims[view.rank++] = {count, stride};
  }
  if (view.rank == 0)
    view.dims[view.rank++] = {1, view.elementBytes};
  return view;
}

absl::StatusOr<View> Core::view(const isa::AP &ap, AccessMode access) const {
  std::string problem;
  if (!ap.wellFormed(&problem))
    return invalidOperand(ap, problem);
  if (ap.partitions == 0)
    return invalidOperand(ap, "expected at least one partition");
  switch (ap.space) {
  case isa::Space::SBUF:
    return onChipView(ap, sbuf, &sbufOrigin);
  case isa::Space::PSUM:
    return onChipView(ap, psum, &psumOrigin);
  case isa::Space::HBM:
    return hbmView(ap, access);
  }
  return invalidOperand(ap, "expected a known memory space");
}

absl::StatusOr<View> Core::onChipView(const isa::AP &ap, const Memory &memory, uint8_t *const *origin) const {
  uint32_t partitions = memory.partitions();
  uint64_t bytes = memory.bytesPerPartition();
  int64_t stride = memory.stride();
  if (ap.buffer != 0) {
    if (ap.buffer > loose.size())
      return invalidOperand(ap, absl::StrCat("expected an allocated address, but got buffer ", ap.buffer));
    const LooseBuffer &buffer = loose[ap.buffer - 1];
    origin = &buffer.data;
    partitions = buffer.partitions;
    bytes = buffer.bytes;
    stride = static_cast<int64_t>(buffer.bytes);
  }
  if (unsigned(ap.startPartition) + ap.partitions > partitions)
    return invalidOperand(ap, absl::StrCat("expected partitions below ", partitions));
  Extent extent = extentOf(ap, ap.bytes());
  if (Wide(ap.address) + extent.low < 0 || Wide(ap.address) + extent.high > Wide(bytes))
    return invalidOperand(ap, absl::StrCat("expected to stay inside the ", bytes, " bytes of a partition"));
  View view = freePattern(ap);
  view.origin = origin;
  view.partitionStride = stride;
  view.offset = int64_t(ap.address) + int64_t(ap.startPartition) * stride;
  return view;
}

absl::StatusOr<View> Core::hbmView(const isa::AP &ap, AccessMode access) const {
  if (ap.buffer >= declarations.size())
    return invalidOperand(ap, absl::StrCat("expected a buffer below ", declarations.size(), ", but got ", ap.buffer));
  const HbmDeclaration &buffer = declarations[ap.buffer];
  if (access == AccessMode::Write && !buffer.writable)
    return invalidOperand(ap, absl::StrCat("buffer ", ap.buffer, " is a weight or an input and cannot be written"));
  Extent extent = extentOf(ap, ap.bytes());
  Wide rows = Wide(ap.partitionStep) * (int(ap.partitions) - 1) * ap.bytes();
  (rows < 0 ? extent.low : extent.high) += rows;
  if (Wide(ap.address) + extent.low < 0 || Wide(ap.address) + extent.high > Wide(buffer.bytes))
    return invalidOperand(ap, absl::StrCat("expected to stay inside the ", buffer.bytes, " bytes of buffer ", ap.buffer));
  View view = freePattern(ap);
  view.origin = &hbmOrigins[ap.buffer];
  view.partitionStride = ap.partitions > 1 ? ap.partitionStep * int64_t(ap.bytes()) : 0;
  view.offset = int64_t(ap.address);
  return view;
}

//===----------------------------------------------------------------------===//
// Versions and shadow
//===----------------------------------------------------------------------===//

/// Columns of a partition that an on-chip view covers: first and one past the last byte.
static std::pair<uint64_t, uint64_t> columns(const View &view, int64_t memoryStride) {
  int64_t low = view.offset % memoryStride, high = low + view.elementBytes;
  for (unsigned d = 0; d < view.rank; ++d) {
    int64_t reach = view.dims[d].stride * int64_t(view.dims[d].count - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {uint64_t(low), uint64_t(high)};
}

void Core::markWritten(const View &view) {
  if (!isTracked(view))
    return;
  bool isPsum = view.space == isa::Space::PSUM;
  std::vector<uint64_t> &versions = isPsum ? psumVersions : sbufVersions;
  auto [low, high] = columns(view, memory(view.space).stride());
  uint64_t now = ++writeClock;
  for (uint64_t granule = low / kGranule; granule <= (high - 1) / kGranule; ++granule)
    versions[granule] = now;
}

uint64_t Core::version(const View &view) const {
  if (!isTracked(view))
    return 0;
  const std::vector<uint64_t> &versions = view.space == isa::Space::PSUM ? psumVersions : sbufVersions;
  auto [low, high] = columns(view, memory(view.space).stride());
  uint64_t latest = 0;
  for (uint64_t granule = low / kGranule; granule <= (high - 1) / kGranule; ++granule)
    latest = std::max(latest, versions[granule]);
  return latest;
}

/// Calls use(shadow index) with the first shadow byte of every element, until it returns false.
template <typename Use> static bool forShadow(const View &view, const Memory &memory, Use use) {
  for (uint32_t p = 0; p < view.partitions; ++p) {
    int64_t start = view.offset + int64_t(p) * view.partitionStride;
    int64_t index = start / memory.stride() * int64_t(memory.bytesPerPartition()) + start % memory.stride();
    bool goOn = true;
    forRuns(view, memory.data(), 0, view.elements, [&](uint8_t *run, uint64_t n, uint64_t) {
      int64_t offset = run - memory.data();
      for (uint64_t i = 0; goOn && i < n; ++i)
        goOn = use(uint64_t(index + offset + int64_t(i) * view.inner().stride), p);
    });
    if (!goOn)
      return false;
  }
  return true;
}

absl::Status Core::checkWritten(const View &view) const {
  if (!isTracked(view))
    return absl::OkStatus();
  bool isSbuf = view.space == isa::Space::SBUF;
  const std::vector<uint8_t> &shadow = isSbuf ? sbufShadow : psumShadow;
  const Memory &memory = isSbuf ? sbuf : psum;
  std::string problem;
  forShadow(view, memory, [&](uint64_t index, uint32_t p) {
    for (unsigned b = 0; b < view.elementBytes; ++b) {
      if (shadow[index + b])
        continue;
      problem = absl::StrCat("reads ", isSbuf ? "sbuf" : "psum", " partition ", index / memory.bytesPerPartition(),
                             " byte ", index % memory.bytesPerPartition() + b, " (row ", p,
                             " of the operand), which was never written");
      return false;
    }
    return true;
  });
  return problem.empty() ? absl::OkStatus() : absl::FailedPreconditionError(problem);
}

void Core::shadowWritten(const View &view) {
  if (!isTracked(view))
    return;
  std::vector<uint8_t> &shadow = view.space == isa::Space::SBUF ? sbufShadow : psumShadow;
  forShadow(view, view.space == isa::Space::SBUF ? sbuf : psum, [&](uint64_t index, uint32_t) {
    std::fill_n(shadow.begin() + index, view.elementBytes, 1);
    return true;
  });
}

} // namespace trn::rt
