//===- Matmul.cpp - chains of matrix multiplications --------------------------------===//
//
// Owns packing, the packed-operand cache and the loop over panels. Work is split over threads by rows while packing and
// by column panels while multiplying; columns are independent, so results do not depend on the split.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Matmul.h"
#include "runtime/emulator/FpControl.h"
#include "runtime/emulator/Rows.h"
#include "runtime/emulator/Step.h"
#include "runtime/emulator/kernels/Tiles.h"
#include <cstdlib>

namespace trn::rt {

/// Matmuls of a chain whose packed operands are in the cache hierarchy at once: 4 x (64 + 256) KiB at full size.
static constexpr size_t kTogether = 4;
/// Fused multiply-adds below which a second thread does not pay.
static constexpr uint64_t kParallelWork = 1u << 20;
//===----------------------------------------------------------------------===//
// PackCache
//===----------------------------------------------------------------------===//

void PackCache::Free::operator()(float *p) const { std::free(p); }

PackCache::Buffer PackCache::allocate(size_t floats) {
  constexpr size_t kAlignment = 64;
  size_t bytes = (floats * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
  void *p = std::aligned_alloc(kAlignment, bytes);
  if (!p)
    std::abort(); // A few hundred KiB; there is nothing left to do.
  return Buffer(static_cast<float *>(p));
}

uint32_t PackCache::slotOf(const View &view, bool isStationary) {
  std::vector<int64_t> key = {isStationary, view.offset, view.partitions, int64_t(view.dtype), view.rank};
  for (unsigned d = 0; d < view.rank; ++d) {
    key.push_back(int64_t(view.dims[d].count));
    key.push_back(view.dims[d].stride);
  }
  auto [place, isNew] = slotIndex.try_emplace(std::move(key), uint32_t(slots.size()));
  if (isNew)
    slots.emplace_back();
  ++slots[place->second].uses;
  return place->second;
}

void PackCache::dropUnused() {
  while (held > budget && !recent.empty()) {
    Slot &last = slots[recent.back()];
    if (last.episode == episode)
      return; // Everything left is in use right now.
    held -= last.floats * sizeof(float);
    last.data.reset();
    recent.pop_back();
  }
}

PackCache::Entry PackCache::acquire(uint32_t slotNumber, uint64_t version, size_t floats, uint32_t scratchNumber) {
  Slot &slot = slots[slotNumber];
  if (slot.uses < 2) {
    if (scratches.size() <= scratchNumber)
      scratches.resize(scratchNumber + 1);
    Scratch &scratch = scratches[scratchNumber];
    if (scratch.floats < floats)
      scratch = {allocate(floats), floats};
    return {scratch.data.get(), false};
  }
  slot.episode = episode;
  bool valid = slot.data && slot.version == version;
  if (slot.data) {
    recent.splice(recent.begin(), recent, slot.place);
  } else {
    slot.data = allocate(floats);
    slot.floats = floats;
    held += floats * sizeof(float);
    recent.push_front(slotNumber);
    slot.place = recent.begin();
    dropUnused();
  }
  slot.version = version;
  return {slot.data.get(), valid};
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static bool isPairType(isa::DType type) {
  switch (type) {
  case isa::DType::BF16:
  case isa::DType::F8E3:
  case isa::DType::F8E4:
  case isa::DType::F8E5:
  case isa::DType::F8E4FN:
    return true;
  default:
    return false;
  }
}

bool MatmulOp::continues(const MatmulOp &previous) const {
  auto same = [](const View &a, const View &b) {
    if (a.offset != b.offset || a.partitions != b.partitions || a.dtype != b.dtype || a.rank != b.rank)
      return false;
    for (unsigned d = 0; d < a.rank; ++d)
      if (a.dims[d].count != b.dims[d].count || a.dims[d].stride != b.dims[d].stride)
        return false;
    return true;
  };
  return accumulate && same(dst, previous.dst);
}

absl::StatusOr<MatmulOp> decodeMatmul(const Core &core, const isa::NcMatmul &inst, PackCache &cache) {
  MatmulOp op;
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(stationary, core.view(inst.stationary, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(moving, core.view(inst.moving, AccessMode::Read));
  if (stationary.space != isa::Space::SBUF || moving.space != isa::Space::SBUF || dst.space != isa::Space::PSUM)
    return absl::InvalidArgumentError("nc_matmul: expected operands in sbuf and the result in psum");
  if (stationary.partitions != moving.partitions || stationary.elements != dst.partitions ||
      moving.elements != dst.elements)
    return absl::InvalidArgumentError("nc_matmul: expected dst[m, n], stationary[k, m] and moving[k, n]");
  op.dst = dst;
  op.stationary = stationary;
  op.moving = moving;
  op.accumulate = inst.accumulate;
  op.pairs = isPairType(stationary.dtype) && isPairType(moving.dtype);
  op.stationarySlot = cache.slotOf(stationary, true);
  op.movingSlot = cache.slotOf(moving, false);
  return op;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Floats of the stationary operand's blocks, which follow each other, or of the moving operand's panels: fp32, or bf16
/// tiles with the contraction filled up to whole groups.
static size_t blockFloats(const View &view, const PanelKernel &kernel, bool isStationary) {
  const size_t width = isStationary ? kernel.rows : kernel.cols;
  if (kernel.tiles)
    return width * tileGroups(view.partitions) * kTileDepth / 2;
  // Packing writes a row to many panels at once: at distances of whole pages they would meet in one set of the
  // first-level cache, so each panel begins a cache line later in its page than the one before it.
  constexpr size_t kPageFloats = 4096 / sizeof(float), kLineFloats = 64 / sizeof(float);
  const size_t floats = width * view.partitions;
  return !isStationary && floats % kPageFloats == 0 ? floats + kLineFloats : floats;
}
static size_t packedFloats(const View &view, const PanelKernel &kernel, bool isStationary) {
  const uint32_t width = isStationary ? kernel.rows : kernel.cols;
  return (view.elements + width - 1) / width * blockFloats(view, kernel, isStationary);
}

/// Copies `count` blocks of `width` floats that lie side by side to targets `stride` floats apart. Of the widths that
/// kernels have a block is a few vector moves; a call for each costs as much as packing a row should.
static void copyBlocks(const float *from, float *to, uint64_t stride, uint32_t width, uint64_t count) {
  auto copy = [&](auto floats) {
    for (uint64_t block = 0; block < count; ++block, from += floats(), to += stride)
      std::memcpy(to, from, floats() * sizeof(float));
  };
  switch (width) {
  case 6:
    return copy(std::integral_constant<uint32_t, 6>());
  case 12:
    return copy(std::integral_constant<uint32_t, 12>());
  case 16:
    return copy(std::integral_constant<uint32_t, 16>());
  case 32:
    return copy(std::integral_constant<uint32_t, 32>());
  default:
    return copy([width] { return width; });
  }
}

/// Packs row k of an operand: elements [i * width, (i + 1) * width) go to block i, row k; blocks lie `blockStride` floats
/// apart. The last block is filled up with zeros.
static void packRow(const Kernels &kernels, const View &view, uint32_t k, uint32_t width, uint64_t blockStride,
                    float *packed) {
  alignas(64) float buffer[kPiece];
  uint8_t *row = view.row(k);
  // Whole blocks per piece.
  const uint64_t piece = kPiece / width * width;
  for (uint64_t begin = 0; begin < view.elements; begin += piece) {
    uint64_t n = std::min(piece, view.elements - begin);
    const float *values = fetch(kernels, view, row, begin, n, buffer);
    float *target = packed + begin / width * blockStride + uint64_t(k) * width;
    const uint64_t whole = n / width, rest = n % width;
    copyBlocks(values, target, blockStride, width, whole);
    if (rest) {
      target += whole * blockStride;
      std::memcpy(target, values + whole * width, rest * sizeof(float));
      std::memset(target + rest, 0, (width - rest) * sizeof(float));
    }
  }
}

/// An operand that must be packed before its panels can run.
struct PackTask {
  const View *view;
  const PanelKernel *kernel;
  bool isStationary;
  float *packed;

  uint32_t width() const { return isStationary ? kernel->rows : kernel->cols; }
};

/// Packs row k of an operand as bf16 tiles. The buffer was zeroed.
static void packTileRow(const Kernels &kernels, const PackTask &task, uint32_t k) {
  uint16_t *packed = reinterpret_cast<uint16_t *>(task.packed);
  uint8_t *row = task.view->row(k);
  forPieces(task.view->elements, [&](uint64_t begin, uint64_t n) {
    alignas(64) float buffer[kPiece];
    const float *values = fetch(kernels, *task.view, row, begin, n, buffer);
    auto *pack = task.isStationary ? packTileStationary : packTileMoving;
    pack(values, uint32_t(begin), uint32_t(n), k, task.view->partitions, packed);
  });
}

static void packAll(const Core &core, const std::vector<PackTask> &tasks) {
  uint64_t rows = 0;
  for (const PackTask &task : tasks) {
    rows += task.view->partitions;
    if (task.kernel->tiles)
      std::memset(task.packed, 0, packedFloats(*task.view, *task.kernel, task.isStationary) * sizeof(float));
  }
  constexpr uint64_t kRowsPerGrain = 32;
  core.pool().parallelFor(rows, kRowsPerGrain, [&](uint64_t begin, uint64_t end) {
    uint64_t first = 0;
    for (const PackTask &task : tasks) {
      uint64_t low = std::max(begin, first), high = std::min(end, first + task.view->partitions);
      for (uint64_t row = low; row < high; ++row)
        if (task.kernel->tiles)
          packTileRow(core.kernels(), task, uint32_t(row - first));
        else
          packRow(core.kernels(), *task.view, uint32_t(row - first), task.width(),
                  blockFloats(*task.view, *task.kernel, task.isStationary), task.packed);
      first += task.view->partitions;
    }
  });
}

/// Where the results go: PSUM itself, or an fp32 copy if they do not lie side by side there as fp32.
class Accumulator {
public:
  Accumulator(const Core &core, const MatmulOp &op) : kernels(core.kernels()), view(op.dst) {
    bool isAligned = reinterpret_cast<uintptr_t>(view.row(0)) % alignof(float) == 0;
    if (isAligned && view.contiguous() && view.dtype == isa::DType::F32) {
      data = reinterpret_cast<float *>(view.row(0));
      stride = view.partitionStride / ptrdiff_t(sizeof(float));
      return;
    }
    copy.resize(uint64_t(view.partitions) * view.elements);
    data = copy.data();
    stride = ptrdiff_t(view.elements);
    if (op.accumulate)
      load();
  }

  /// Writes a copy back, and reads it again if more is to come: a bf16 result is rounded after every instruction.
  void flush() {
    if (copy.empty())
      return;
    for (uint32_t m = 0; m < view.partitions; ++m)
      forPieces(view.elements, [&](uint64_t begin, uint64_t n) {
        put(kernels, view, view.row(m), begin, n, data + m * stride + begin);
      });
  }
  void load() {
    for (uint32_t m = 0; m < view.partitions && !copy.empty(); ++m)
      forPieces(view.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float buffer[kPiece];
        std::copy_n(fetch(kernels, view, view.row(m), begin, n, buffer), n, data + m * stride + begin);
      });
  }
  bool isRounded() const { return view.dtype != isa::DType::F32; }

  float *data = nullptr;
  ptrdiff_t stride = 0;

private:
  const Kernels &kernels;
  const View &view;
  std::vector<float> copy;
};

/// A matmul with packed operands.
struct PackedMatmul {
  const PanelKernel *kernel;
  const float *a, *b;
  size_t panelFloats; ///< of one panel of b
  uint32_t k, rows, columns;
  bool pairs, accumulate;
};

/// All matmuls of a group, panel by panel, so that a panel's results stay in the first-level cache.
static void multiply(const Core &core, const std::vector<PackedMatmul> &group, float *c, ptrdiff_t stride) {
  const PackedMatmul &first = group.front();
  const uint32_t width = first.kernel->cols, panels = (first.columns + width - 1) / width;
  uint64_t work = 0;
  for (const PackedMatmul &matmul : group)
    work += uint64_t(matmul.k) * matmul.rows * matmul.columns;
  uint64_t grain = panels;
  if (work >= kParallelWork)
    grain = std::max<uint64_t>(1, panels / (core.pool().threads() * 2));
  core.pool().parallelFor(panels, grain, [&](uint64_t begin, uint64_t end) {
    for (const PackedMatmul &matmul : group) {
      ScopedFpControl control(matmul.pairs ? kFpFlush : kFpDefault);
      for (uint64_t panel = begin; panel < end; ++panel)
        matmul.kernel->run(matmul.a, matmul.b + panel * matmul.panelFloats, matmul.k, matmul.rows,
                           std::min(width, matmul.columns - uint32_t(panel) * width), c + panel * width, stride,
                           matmul.accumulate);
    }
  });
}

void runMatmuls(const Core &core, PackCache &cache, const MatmulOp *ops, size_t count) {
  const Kernels &kernels = core.kernels();
  Accumulator accumulator(core, ops[0]);
  // A chain may mix contracts, and a rounded result is rounded after every instruction.
  size_t limit = accumulator.isRounded() ? 1 : kTogether;
  for (size_t begin = 0; begin < count;) {
    std::vector<PackTask> tasks;
    std::vector<PackedMatmul> group;
    cache.newEpisode();
    size_t end = begin;
    for (; end < count && end - begin < limit && ops[end].pairs == ops[begin].pairs; ++end) {
      const MatmulOp &op = ops[end];
      const PanelKernel &kernel = op.pairs ? kernels.pairs : kernels.chain;
      const uint32_t scratch = uint32_t(end - begin) * 2;
      size_t aFloats = packedFloats(op.stationary, kernel, /*isStationary=*/true);
      size_t bFloats = packedFloats(op.moving, kernel, /*isStationary=*/false);
      PackCache::Entry a = cache.acquire(op.stationarySlot, core.version(op.stationary), aFloats, scratch);
      PackCache::Entry b = cache.acquire(op.movingSlot, core.version(op.moving), bFloats, scratch + 1);
      if (!a.valid)
        tasks.push_back({&op.stationary, &kernel, /*isStationary=*/true, a.data});
      if (!b.valid)
        tasks.push_back({&op.moving, &kernel, /*isStationary=*/false, b.data});
      group.push_back({&kernel, a.data, b.data, blockFloats(op.moving, kernel, /*isStationary=*/false), op.contraction(),
                       op.rows(), op.columns(), op.pairs, op.accumulate});
    }
    packAll(core, tasks);
    multiply(core, group, accumulator.data, accumulator.stride);
    begin = end;
    if (accumulator.isRounded() || begin == count)
      accumulator.flush();
    if (accumulator.isRounded() && begin < count)
      accumulator.load();
  }
}

/// A single matmul, outside of a plan: nothing to keep, nothing to join.
absl::StatusOr<Step> decode(Core &core, const isa::NcMatmul &inst, isa::Engine) {
  auto cache = std::make_shared<PackCache>(0);
  TRN_ASSIGN_OR_RETURN(op, decodeMatmul(core, inst, *cache));
  return Step([&core, cache, op] {
    runMatmuls(core, *cache, &op, 1);
    return absl::OkStatus();
  });
}

} // namespace trn::rt
