//===- LibraryCounted.cpp - library kernels with counted results ------------------===//
//
// Owns library_nonzero, library_unique and library_nms: each fills what is valid of its results from the front, the rest
// with zeros, and says in `count` how much that is.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Step.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace trn::rt {

namespace {

/// All elements of an operand, which is one row, as lanes.
struct Lanes {
  Lanes(const Kernels &kernels, const View &view)
      : kind(isa::laneClassOf(view.dtype)), isUnsigned(view.dtype == isa::DType::U64), bytes(view.elements * 8) {
    loadLanes(kernels, view.dtype, view.row(0), view.elementBytes, view.elements, bytes.data());
  }
  float real(size_t i) const { return reinterpret_cast<const float *>(bytes.data())[i]; }
  double wide(size_t i) const { return reinterpret_cast<const double *>(bytes.data())[i]; }
  int64_t integer(size_t i) const { return reinterpret_cast<const int64_t *>(bytes.data())[i]; }
  bool isZero(size_t i) const { return kind == 'f' ? real(i) == 0 : kind == 'd' ? wide(i) == 0 : integer(i) == 0; }

  /// Order of elements `a` and `b`: negative, 0 or positive. NaNs come last and are all alike.
  int compare(size_t a, size_t b) const {
    if (isUnsigned)
      return order(uint64_t(integer(a)), uint64_t(integer(b)));
    return kind == 'f' ? order(real(a), real(b)) : kind == 'd' ? order(wide(a), wide(b)) : order(integer(a), integer(b));
  }
  template <typename T> static int order(T a, T b) {
    if (a != a || b != b)
      return int(a != a) - int(b != b);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  char kind;
  bool isUnsigned; ///< of 64 bits: narrower ones are numbers of int64_t
  std::vector<char> bytes;
};

void zero(const View &view) { std::memset(view.row(0), 0, view.elements * view.elementBytes); }

void setInteger(const View &view, uint64_t index, int64_t value) {
  std::memcpy(view.row(0) + index * view.elementBytes, &value, view.elementBytes); // little endian
}

/// The views of all operands; each must be one row of adjacent elements.
template <size_t N>
absl::Status rows(Core &core, const std::pair<const isa::AP *, AccessMode> (&operands)[N], View (&views)[N]) {
  for (size_t i = 0; i < N; ++i) {
    absl::StatusOr<View> view = core.view(*operands[i].first, operands[i].second);
    if (!view.ok())
      return view.status();
    if (view->partitions != 1 || !view->contiguous())
      return absl::InvalidArgumentError("library kernel: expected operands that are one row of adjacent elements");
    views[i] = *view;
  }
  return absl::OkStatus();
}

absl::Status sizes(bool agree, const char *kernel) {
  return agree ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat(kernel, ": expected operands whose sizes agree"));
}

} // namespace

absl::StatusOr<Step> decode(Core &core, const isa::LibraryNonzero &inst, isa::Engine) {
  View views[3];
  if (absl::Status status = rows(core,
                                 {{&inst.indices, AccessMode::Write}, {&inst.count, AccessMode::Write}, {&inst.mask, AccessMode::Read}},
                                 views);
      !status.ok())
    return status;
  View indices = views[0], count = views[1], mask = views[2];
  uint64_t elements = 1;
  for (int32_t dim : inst.dims)
    elements *= uint64_t(std::max(dim, 0));
  if (absl::Status status = sizes(elements == mask.elements && indices.elements == elements * inst.dims.size() &&
                                      count.elements == 1 && count.elementBytes == 4,
                                  "library_nonzero");
      !status.ok())
    return status;
  return Step([&core, indices, count, mask, dims = inst.dims]() -> absl::Status {
    WatchedWork work(core.watch());
    Lanes values(core.kernels(), mask);
    zero(indices);
    uint64_t found = 0;
    for (uint64_t i = 0; i < mask.elements; ++i) {
      if (absl::Status status = work.add(1); !status.ok())
        return status;
      if (values.isZero(i))
        continue;
      uint64_t rest = i;
      for (size_t dim = dims.size(); dim-- > 0; rest /= uint64_t(dims[dim]))
        setInteger(indices, dim * mask.elements + found, int64_t(rest % uint64_t(dims[dim])));
      ++found;
    }
    setInteger(count, 0, int64_t(found));
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::LibraryUnique &inst, isa::Engine) {
  View views[6];
  if (absl::Status status = rows(core,
                                 {{&inst.values, AccessMode::Write},
                                  {&inst.first, AccessMode::Write},
                                  {&inst.inverse, AccessMode::Write},
                                  {&inst.counts, AccessMode::Write},
                                  {&inst.count, AccessMode::Write},
                                  {&inst.rows, AccessMode::Read}},
                                 views);
      !status.ok())
    return status;
  View values = views[0], first = views[1], inverse = views[2], counts = views[3], count = views[4], x = views[5];
  uint64_t items = uint64_t(std::max(inst.items, 1)), size = x.elements / items;
  if (absl::Status status = sizes(items * size == x.elements && values.elements == x.elements &&
                                      values.elementBytes == x.elementBytes && first.elements == items &&
                                      inverse.elements == items && counts.elements == items && count.elements == 1 &&
                                      count.elementBytes == 4,
                                  "library_unique");
      !status.ok())
    return status;
  return Step([&core, values, first, inverse, counts, count, x, items, size, sorted = inst.sorted]() -> absl::Status {
    WatchedWork work(core.watch());
    Lanes lanes(core.kernels(), x);
    auto compare = [&](uint64_t a, uint64_t b) {
      for (uint64_t i = 0; i < size; ++i)
        if (int order = lanes.compare(a * size + i, b * size + i))
          return order;
      return 0;
    };
    std::vector<uint64_t> order(items);
    std::iota(order.begin(), order.end(), uint64_t(0));
    absl::Status status = sortWatched(order, work, 1 + size, [&](uint64_t a, uint64_t b) {
      int relation = compare(a, b);
      return relation < 0 || (relation == 0 && a < b);
    });
    if (!status.ok())
      return status;
    // Runs of equal items; the first of a run is the earliest.
    std::vector<std::pair<uint64_t, uint64_t>> groups; // first item, begin in `order`
    for (uint64_t i = 0; i < items; ++i) {
      if (i == 0 || compare(order[i - 1], order[i]) != 0)
        groups.push_back({order[i], i});
      if (status = work.add(1 + size); !status.ok())
        return status;
    }
    std::vector<uint64_t> rank(groups.size());
    std::iota(rank.begin(), rank.end(), uint64_t(0));
    if (!sorted)
      status = sortWatched(rank, work, 1, [&](uint64_t a, uint64_t b) { return groups[a].first < groups[b].first; });
    if (!status.ok())
      return status;
    for (const View *view : {&values, &first, &inverse, &counts})
      zero(*view);
    for (uint64_t place = 0; place < rank.size(); ++place) {
      uint64_t group = rank[place], begin = groups[group].second,
               end = group + 1 < groups.size() ? groups[group + 1].second : items;
      std::memcpy(values.row(0) + place * size * values.elementBytes, x.row(0) + groups[group].first * size * x.elementBytes,
                  size * x.elementBytes);
      setInteger(first, place, int64_t(groups[group].first));
      setInteger(counts, place, int64_t(end - begin));
      for (uint64_t i = begin; i < end; ++i)
        setInteger(inverse, order[i], int64_t(place));
      if (status = work.add(end - begin + size); !status.ok())
        return status;
    }
    setInteger(count, 0, int64_t(rank.size()));
    return absl::OkStatus();
  });
}

namespace {

struct Box {
  float low[2], high[2];

  Box(const float *numbers, bool centered) {
    for (int axis = 0; axis < 2; ++axis) {
      // Corners come as y, x and in any order; centers as x, y with width and height.
      float a = centered ? numbers[axis] - numbers[axis + 2] / 2 : numbers[axis];
      float b = centered ? numbers[axis] + numbers[axis + 2] / 2 : numbers[axis + 2];
      low[axis] = std::min(a, b);
      high[axis] = std::max(a, b);
    }
  }
  float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
  bool overlapsMore(const Box &other, float threshold) const {
    float common = 1;
    for (int axis = 0; axis < 2; ++axis)
      common *= std::max(0.0f, std::min(high[axis], other.high[axis]) - std::max(low[axis], other.low[axis]));
    float all = area() + other.area() - common;
    return common > 0 && all > 0 && common / all > threshold;
  }
};

} // namespace

absl::StatusOr<Step> decode(Core &core, const isa::LibraryNms &inst, isa::Engine) {
  View views[7];
  if (absl::Status status = rows(core,
                                 {{&inst.selected, AccessMode::Write},
                                  {&inst.count, AccessMode::Write},
                                  {&inst.boxesIn, AccessMode::Read},
                                  {&inst.scores, AccessMode::Read},
                                  {&inst.limit, AccessMode::Read},
                                  {&inst.iouThreshold, AccessMode::Read},
                                  {&inst.scoreThreshold, AccessMode::Read}},
                                 views);
      !status.ok())
    return status;
  View selected = views[0], count = views[1];
  uint64_t batches = uint64_t(inst.batches), classes = uint64_t(inst.classes), boxes = uint64_t(inst.boxes);
  if (absl::Status status = sizes(
          views[2].elements == batches * boxes * 4 && views[3].elements == batches * classes * boxes &&
              views[4].elements == 1 && views[5].elements == 1 && views[6].elements == 1 && count.elements == 1 &&
              count.elementBytes == 4 && selected.elements % 3 == 0 && isa::isInteger(views[4].dtype) &&
              views[2].dtype == isa::DType::F32 && views[3].dtype == isa::DType::F32 &&
              views[5].dtype == isa::DType::F32 && views[6].dtype == isa::DType::F32,
          "library_nms");
      !status.ok())
    return status;
  std::vector<View> sources(views + 2, views + 7);
  bool centered = inst.centerPointBox != 0;
  return Step([&core, selected, count, sources, batches, classes, boxes, centered]() -> absl::Status {
    const Kernels &kernels = core.kernels();
    WatchedWork work(core.watch());
    Lanes numbers(kernels, sources[0]), scores(kernels, sources[1]), limits(kernels, sources[2]);
    float iou = Lanes(kernels, sources[3]).real(0), least = Lanes(kernels, sources[4]).real(0);
    const auto *corners = reinterpret_cast<const float *>(numbers.bytes.data());
    uint64_t limit = uint64_t(std::max<int64_t>(0, limits.integer(0))), room = selected.elements / 3, found = 0;
    zero(selected);
    for (uint64_t row = 0; row < batches * classes; ++row) {
      uint64_t batch = row / classes;
      std::vector<uint64_t> order;
      for (uint64_t box = 0; box < boxes; ++box)
        if (scores.real(row * boxes + box) > least)
          order.push_back(box);
      absl::Status status = sortWatched(order, work, 1, [&](uint64_t a, uint64_t b) {
        float x = scores.real(row * boxes + a), y = scores.real(row * boxes + b);
        return x > y || (x == y && a < b);
      });
      if (!status.ok())
        return status;
      std::vector<Box> kept;
      for (uint64_t box : order) {
        if (kept.size() >= limit || found == room)
          break;
        if (status = work.add(1 + 4 * kept.size()); !status.ok())
          return status;
        Box candidate(corners + (batch * boxes + box) * 4, centered);
        if (std::any_of(kept.begin(), kept.end(), [&](const Box &other) { return candidate.overlapsMore(other, iou); }))
          continue;
        kept.push_back(candidate);
        setInteger(selected, 3 * found, int64_t(batch));
        setInteger(selected, 3 * found + 1, int64_t(row % classes));
        setInteger(selected, 3 * found + 2, int64_t(box));
        ++found;
      }
    }
    setInteger(count, 0, int64_t(found));
    return absl::OkStatus();
  });
}

} // namespace trn::rt
