//===- Library.cpp - library kernels of the GpSimd cores ------------------------===//
//
// Owns library_loops: a scalar program for each step of a loop nest. Its numbers are proved when the instruction is
// decoded (LoopNest.h); what is left to check in each run is the index of a gather. Values are lanes of 8 bytes, a block of
// steps of the innermost loop at a time, unless a step reads what the one before it wrote.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/ScalarFunctions.h"
#include "runtime/emulator/Step.h"
#include <algorithm>
#include <cmath>
#include <vector>

namespace trn::rt {

namespace {

constexpr size_t kBlock = 256;
using LaneBlock = std::vector<char>; // kBlock lanes of 8 bytes

/// arith.cmpf: bits 0 to 2 of an ordered predicate (1 to 6) say equal, greater, less; 7 is ordered. The same follow from 8 on
/// for which unordered is true, too, and 14, which is unordered.
template <typename T> bool compareReal(unsigned predicate, T a, T b) {
  if (predicate == 0)
    return false;
  if (predicate == 15)
    return true;
  bool unordered = a != a || b != b;
  if (predicate == 7 || predicate == 14)
    return unordered == (predicate == 14);
  if (unordered)
    return predicate >= 8;
  unsigned relation = predicate < 8 ? predicate : predicate - 7;
  return ((relation & 1) && a == b) || ((relation & 2) && a > b) || ((relation & 4) && a < b);
}

/// arith.cmpi: eq, ne, then less, less or equal, greater, greater or equal: signed, unsigned.
bool compareInt(unsigned predicate, unsigned bits, int64_t a, int64_t b) {
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1, x = uint64_t(a) & mask, y = uint64_t(b) & mask;
  switch (predicate) {
  case 0:
    return x == y;
  case 1:
    return x != y;
  case 2:
    return a < b;
  case 3:
    return a <= b;
  case 4:
    return a > b;
  case 5:
    return a >= b;
  case 6:
    return x < y;
  case 7:
    return x <= y;
  case 8:
    return x > y;
  default:
    return x >= y;
  }
}

/// A float from which any narrower type rounds as from the double: what is cut off stays visible in the last bit.
float roundToOdd(double value) {
  float nearest = float(value);
  if (double(nearest) == value || value != value || std::isinf(nearest))
    return nearest;
  float toZero = std::fabs(double(nearest)) > std::fabs(value) ? std::nextafterf(nearest, 0) : nearest;
  uint32_t bits;
  std::memcpy(&bits, &toZero, sizeof bits);
  bits |= 1;
  std::memcpy(&toZero, &bits, sizeof bits);
  return toZero;
}

/// One call of library_loops.
class LoopRun {
public:
  LoopRun(const Core &core, const isa::LoopNest &nest, const View &dst, const std::vector<View> &sources)
      : kernels(core.kernels()), work(core.watch()), nest(nest), dst(dst), sources(sources),
        lanes(nest.numValues(), LaneBlock(kBlock * 8)) {}

  absl::Status run(int startsFrom) {
    if (startsFrom < 0)
      std::memset(dst.row(0), 0, dst.elements * dst.elementBytes);
    else
      std::memmove(dst.row(0), sources[startsFrom].row(0), dst.elements * dst.elementBytes);
    fillConstants();
    position.assign(nest.bounds.size(), 0);
    uint64_t inner = nest.bounds.empty() ? 1 : uint64_t(nest.bounds.back());
    bool oneByOne = nest.readsDst && (nest.bounds.empty() || nest.strides[0].back() == 0);
    for (uint64_t outer = nest.iterations() / inner; outer > 0; --outer) {
      for (uint64_t begin = 0, n; begin < inner; begin += n) {
        n = oneByOne ? 1 : std::min<uint64_t>(kBlock, inner - begin);
        if (!position.empty())
          position.back() = int64_t(begin);
        if (absl::Status status = block(n); !status.ok())
          return status;
        if (absl::Status status = work.add(n * (nest.numValues() + 1)); !status.ok())
          return status;
      }
      if (!position.empty())
        position.back() = 0;
      for (size_t loop = position.size(); loop-- > 1;) {
        if (++position[loop - 1] < nest.bounds[loop - 1])
          break;
        position[loop - 1] = 0;
      }
    }
    return absl::OkStatus();
  }

private:
  /// Element number of operand `index` (0: dst) at the position, and the step of the innermost loop.
  int64_t element(size_t index) const {
    int64_t at = nest.offsets[index];
    for (size_t loop = 0; loop < position.size(); ++loop)
      at += nest.strides[index][loop] * position[loop];
    return at;
  }
  int64_t innerStride(size_t index) const { return nest.bounds.empty() ? 0 : nest.strides[index].back(); }

  void fillConstants() {
    for (size_t i = 0; i < nest.steps.size(); ++i) {
      const isa::LoopStep &step = nest.steps[i];
      if (step.code != isa::kLoopConstant)
        continue;
      uint64_t bits = uint64_t(uint32_t(step.a)) | uint64_t(uint32_t(step.b)) << 32;
      char *to = lanes[sources.size() + 1 + i].data();
      double real;
      std::memcpy(&real, &bits, sizeof real);
      for (size_t lane = 0; lane < kBlock; ++lane) {
        if (isa::laneClassOf(step.result) == 'f')
          reinterpret_cast<float *>(to)[lane] = float(real);
        else
          std::memcpy(to + 8 * lane, &bits, 8);
      }
    }
  }

  absl::Status block(size_t n) {
    for (size_t i = 0; i < sources.size(); ++i)
      load(sources[i], i + 1, n, lanes[i].data());
    if (nest.readsDst)
      load(dst, 0, n, lanes[sources.size()].data());
    for (size_t i = 0; i < nest.steps.size(); ++i)
      if (absl::Status status = execute(nest.steps[i], n, lanes[sources.size() + 1 + i].data()); !status.ok())
        return status;
    storeLanes(kernels, dst.dtype, lanes[nest.stored].data(), dst.row(0) + element(0) * dst.elementBytes,
               innerStride(0) * dst.elementBytes, n);
    return absl::OkStatus();
  }

  void load(const View &view, size_t index, size_t n, char *to) {
    loadLanes(kernels, view.dtype, view.row(0) + element(index) * view.elementBytes,
              innerStride(index) * view.elementBytes, n, to);
  }

  absl::Status execute(const isa::LoopStep &step, size_t n, char *to) {
    char from = isa::laneClassOf(step.operand);
    auto value = [&](int32_t number) -> const char * {
      return number >= 0 && size_t(number) < lanes.size() ? lanes[number].data() : to;
    };
    auto *out = reinterpret_cast<int64_t *>(to);
    auto ints = [&](int32_t number) { return reinterpret_cast<const int64_t *>(value(number)); };
    switch (step.code) {
    case isa::kLoopConstant:
      return absl::OkStatus();
    case isa::kLoopIndex:
      for (size_t i = 0; i < n; ++i)
        out[i] = position[step.a] + (size_t(step.a) + 1 == position.size() ? int64_t(i) : 0);
      return absl::OkStatus();
    case isa::kLoopGather:
      return gather(sources[step.a], ints(step.b), n, to);
    case isa::kLoopRound:
      std::memcpy(to, value(step.a), n * sizeof(float));
      round(step.result, n, to);
      return absl::OkStatus();
    case isa::kLoopCompareReal:
      for (size_t i = 0; i < n; ++i)
        out[i] = from == 'd' ? compareReal(step.predicate, reinterpret_cast<const double *>(value(step.a))[i],
                                           reinterpret_cast<const double *>(value(step.b))[i])
                             : compareReal(step.predicate, reinterpret_cast<const float *>(value(step.a))[i],
                                           reinterpret_cast<const float *>(value(step.b))[i]);
      return absl::OkStatus();
    case isa::kLoopCompareInt:
      for (size_t i = 0; i < n; ++i)
        out[i] = compareInt(step.predicate, isa::integerBits(step.operand), ints(step.a)[i], ints(step.b)[i]);
      return absl::OkStatus();
    case isa::kLoopSelect: {
      size_t bytes = isa::laneClassOf(step.result) == 'f' ? 4 : 8;
      for (size_t i = 0; i < n; ++i)
        std::memcpy(to + i * bytes, value(ints(step.a)[i] ? step.b : step.c) + i * bytes, bytes);
      return absl::OkStatus();
    }
    default:
      break;
    }
    auto function = static_cast<isa::ScalarFunction>(step.code - isa::kFirstLoopFunction);
    bool widthOfResult = from != 'i' || isa::hasResultWidth(function);
    if (function == isa::ScalarFunction::truncf64 && step.result != isa::DType::F32) {
      auto *doubles = reinterpret_cast<const double *>(value(step.a));
      for (size_t i = 0; i < n; ++i)
        reinterpret_cast<float *>(to)[i] = roundToOdd(doubles[i]);
      round(step.result, n, to);
      return absl::OkStatus();
    }
    runScalarFunction(function, from, isa::integerBits(widthOfResult ? step.result : step.operand), int(n), to,
                      value(step.a), value(step.b), value(step.c));
    if (isa::laneClassOf(step.result) == 'f')
      round(step.result, n, to);
    return absl::OkStatus();
  }

  /// Rounds lanes of float to a narrower type.
  void round(isa::DType type, size_t n, char *values) {
    if (type == isa::DType::F32)
      return;
    uint8_t narrow[kBlock * 4];
    auto *floats = reinterpret_cast<float *>(values);
    int64_t bytes = isa::byteSize(type);
    kernels.store(type, floats, narrow, bytes, n);
    kernels.load(type, narrow, bytes, n, floats);
  }

  absl::Status gather(const View &view, const int64_t *indices, size_t n, char *to) {
    size_t bytes = isa::laneClassOf(view.dtype) == 'f' ? 4 : 8;
    for (size_t i = 0; i < n; ++i) {
      if (indices[i] < 0 || uint64_t(indices[i]) >= view.elements)
        return absl::OutOfRangeError(absl::StrCat("library_loops: index ", indices[i], ": expected an element below ",
                                                  view.elements));
      loadLanes(kernels, view.dtype, view.row(0) + indices[i] * view.elementBytes, 0, 1, to + i * bytes);
    }
    return absl::OkStatus();
  }

  const Kernels &kernels;
  WatchedWork work;
  const isa::LoopNest &nest;
  const View &dst;
  const std::vector<View> &sources;
  std::vector<LaneBlock> lanes; ///< of each value
  std::vector<int64_t> position;
};

} // namespace

absl::StatusOr<Step> decode(Core &core, const isa::LibraryLoops &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  std::vector<View> sources;
  std::vector<const isa::AP *> patterns;
  for (const std::optional<isa::AP> *source :
       {&inst.source0, &inst.source1, &inst.source2, &inst.source3, &inst.source4, &inst.source5}) {
    if (!*source)
      break;
    TRN_ASSIGN_OR_RETURN(view, core.view(**source, AccessMode::Read));
    sources.push_back(view);
    patterns.push_back(&**source);
  }
  isa::LoopNest nest;
  std::string problem;
  if (!isa::LoopNest::parse(inst.dst, patterns, inst.bounds, inst.offsets, inst.strides, inst.program, nest, problem))
    return absl::InvalidArgumentError("library_loops: " + problem);
  int from = inst.startsFrom;
  if (from >= int(sources.size()) ||
      (from >= 0 && (sources[from].elements != dst.elements || sources[from].elementBytes != dst.elementBytes)))
    return absl::InvalidArgumentError("library_loops: expected a source like dst to start from");
  return Step([&core, nest, dst, sources, from] { return LoopRun(core, nest, dst, sources).run(from); });
}

/// The determinant of a matrix, which is destroyed.
static absl::StatusOr<double> determinant(double *matrix, size_t size, WatchedWork &work) {
  double product = 1;
  for (size_t column = 0; column < size; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < size; ++row)
      if (std::fabs(matrix[row * size + column]) > std::fabs(matrix[pivot * size + column]))
        pivot = row;
    if (pivot != column) {
      std::swap_ranges(matrix + pivot * size, matrix + (pivot + 1) * size, matrix + column * size);
      product = -product;
    }
    double head = matrix[column * size + column];
    product *= head;
    if (head == 0)
      return 0.0;
    for (size_t row = column + 1; row < size; ++row) {
      double factor = matrix[row * size + column] / head;
      for (size_t k = column; k < size; ++k)
        matrix[row * size + k] -= factor * matrix[column * size + k];
      if (absl::Status status = work.add(size - column); !status.ok())
        return status;
    }
  }
  return product;
}

absl::StatusOr<Step> decode(Core &core, const isa::LibraryDet &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(matrices, core.view(inst.matrices, AccessMode::Read));
  size_t size = size_t(std::max(inst.size, 1));
  if (dst.partitions != 1 || matrices.partitions != 1 || !dst.contiguous() || !matrices.contiguous() ||
      dst.elements * size * size != matrices.elements)
    return absl::InvalidArgumentError("library_det: expected one number for each matrix");
  return Step([&core, dst, matrices, size]() -> absl::Status {
    const Kernels &kernels = core.kernels();
    WatchedWork work(core.watch());
    std::vector<char> lanes(8 * size * size);
    std::vector<double> matrix(size * size);
    for (uint64_t number = 0; number < dst.elements; ++number) {
      loadLanes(kernels, matrices.dtype, matrices.row(0) + number * size * size * matrices.elementBytes,
                matrices.elementBytes, size * size, lanes.data());
      for (size_t i = 0; i < size * size; ++i)
        matrix[i] = matrices.dtype == isa::DType::F64 ? reinterpret_cast<const double *>(lanes.data())[i]
                                                      : double(reinterpret_cast<const float *>(lanes.data())[i]);
      absl::StatusOr<double> result = determinant(matrix.data(), size, work);
      if (!result.ok())
        return result.status();
      float narrow = float(*result);
      storeLanes(kernels, dst.dtype, dst.dtype == isa::DType::F64 ? reinterpret_cast<const char *>(&*result)
                                                                 : reinterpret_cast<const char *>(&narrow),
                 dst.row(0) + number * dst.elementBytes, dst.elementBytes, 1);
    }
    return absl::OkStatus();
  });
}

} // namespace trn::rt
