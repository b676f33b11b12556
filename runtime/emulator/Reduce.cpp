//===- Reduce.cpp - reductions, statistics and scans -------------------------===//
//
// Owns tensor_reduce, partition_reduce, max8 and its companions, bn_stats, bn_aggr and tensor_tensor_scan.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Reduction.h"
#include "runtime/emulator/Integers.h"
#include "runtime/emulator/Rows.h"
#include "runtime/emulator/Step.h"
#include <numeric>
#include <vector>

namespace trn::rt {

using isa::AluOp;
using isa::DType;

//===----------------------------------------------------------------------===//
// tensor_reduce
//===----------------------------------------------------------------------===//

/// One result from elements [first, first + count) of the row.
static void reduceLong(const Kernels &kernels, AluOp op, const View &src, uint8_t *row, uint64_t first, uint64_t count,
                       float *result) {
  LaneSum sum(kernels, op);
  forPieces(count, [&](uint64_t begin, uint64_t n) {
    alignas(64) float buffer[kPiece];
    sum.add(fetch(kernels, src, row, first + begin, n, buffer), n);
  });
  *result = sum.finish();
}

/// At most 16 elements a result: lane r of all results is a row of its own (lanes[r] visits them), so the work is
/// vectorised over results. Combining with a lane that got no element is left out; it would not change a bit.
static void reduceShort(const Kernels &kernels, AluOp op, const std::vector<View> &lanes, uint32_t partition,
                        uint64_t first, uint64_t results, float *result) {
  alignas(64) float values[kReduceLanes][kPiece];
  const uint64_t count = lanes.size();
  for (uint64_t lane = 0; lane < count; ++lane) {
    const float *row = fetch(kernels, lanes[lane], lanes[lane].row(partition), first, results, values[lane]);
    kernels.binaryScalar(op, row, identityOf(op), /*reverse=*/true, values[lane], results);
  }
  for (uint64_t width = kReduceLanes / 2; width; width /= 2)
    for (uint64_t lane = 0; lane < width && lane + width < count; ++lane)
      kernels.binary(op, values[lane], values[lane + width], values[lane], results);
  std::copy_n(values[0], results, result);
}

/// The views of reduceShort: the kept dimensions of src, from each of its reduced positions on.
static absl::StatusOr<std::vector<View>> laneViews(const Core &core, const isa::AP &src, int axes, uint64_t count) {
  std::vector<View> lanes;
  for (uint64_t lane = 0; lane < count; ++lane) {
    isa::AP ap = src;
    uint64_t rest = lane;
    for (int d = src.rank; d-- > src.rank - axes;) {
      ap.address += uint64_t(int64_t(rest % src.dims[d].count) * src.dims[d].step * int64_t(src.bytes()));
      rest /= src.dims[d].count;
    }
    ap.rank = uint8_t(src.rank - axes);
    TRN_ASSIGN_OR_RETURN(view, core.view(ap, AccessMode::Read));
    lanes.push_back(view);
  }
  return lanes;
}

/// x0 - x1 - x2 ...: the only operator whose first element is special.
static void reduceSubtract(const Kernels &kernels, const View &src, uint8_t *row, uint64_t first, uint64_t count,
                           float *result) {
  float difference = 0.0f;
  forPieces(count, [&](uint64_t begin, uint64_t n) {
    alignas(64) float buffer[kPiece];
    const float *x = fetch(kernels, src, row, first + begin, n, buffer);
    for (uint64_t i = 0; i < n; ++i)
      difference = begin + i == 0 ? x[i] : difference - x[i];
  });
  *result = difference;
}

static Step integerReduce(const Core &core, AluOp op, const View &dst, const View &src, uint64_t count) {
  return [&core, op, dst, src, count, type = integerType(src.dtype)] {
    forPartitions(core, src.partitions, src.elements, [&](uint32_t p) {
      for (uint64_t j = 0; j < dst.elements; ++j) {
        uint32_t sum = 0;
        forPieces(count, [&](uint64_t begin, uint64_t n) {
          uint32_t x[kPiece];
          fetchRaw(src, src.row(p), j * count + begin, n, x);
          for (uint64_t i = 0; i < n; ++i)
            sum = begin + i == 0 ? x[i] : integerOp(op, sum, x[i], type);
        });
        putRaw(dst, dst.row(p), j, 1, &sum);
      }
    });
    return absl::OkStatus();
  };
}

absl::StatusOr<Step> decode(Core &core, const isa::TensorReduce &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (inst.axes < 1 || inst.axes > int(inst.src.rank))
    return absl::InvalidArgumentError(absl::StrCat("tensor_reduce: expected 1 to ", int(inst.src.rank),
                                                   " reduced dimensions, but got ", inst.axes));
  uint64_t count = 1;
  for (int d = inst.src.rank - inst.axes; d < inst.src.rank; ++d)
    count *= inst.src.dims[d].count;
  if (absl::Status status = expectShape(dst, src.partitions, src.elements / count); !status.ok())
    return status;
  if (isBitwiseOp(inst.op)) {
    if (dst.dtype != src.dtype || !isa::isInteger(dst.dtype) || dst.elementBytes > 4)
      return absl::InvalidArgumentError("tensor_reduce: expected equal integer types of at most 32 bits");
    return integerReduce(core, inst.op, dst, src, count);
  }
  std::vector<View> lanes;
  if (count <= kReduceLanes && inst.op != AluOp::Subtract) {
    TRN_ASSIGN_OR_RETURN(views, laneViews(core, inst.src, inst.axes, count));
    lanes = std::move(views);
  }
  return Step([&core, &kernels = core.kernels(), op = inst.op, dst, src, count, lanes, negate = inst.negate] {
    forPartitions(core, src.partitions, src.elements, [&](uint32_t p) {
      uint8_t *in = src.row(p), *out = dst.row(p);
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float result[kPiece];
        if (!lanes.empty())
          reduceShort(kernels, op, lanes, p, begin, n, result);
        else
          for (uint64_t j = 0; j < n; ++j)
            if (op == AluOp::Subtract)
              reduceSubtract(kernels, src, in, (begin + j) * count, count, result + j);
            else
              reduceLong(kernels, op, src, in, (begin + j) * count, count, result + j);
        if (negate)
          kernels.binaryScalar(AluOp::Multiply, result, -1.0f, false, result, n);
        put(kernels, dst, out, begin, n, result);
      });
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::PartitionReduce &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (absl::Status status = expectShape(dst, 1, src.elements); !status.ok())
    return status;
  if (isBitwiseOp(inst.op)) {
    if (dst.dtype != src.dtype || !isa::isInteger(dst.dtype) || dst.elementBytes > 4)
      return absl::InvalidArgumentError("partition_reduce: expected equal integer types of at most 32 bits");
    return Step([op = inst.op, dst, src, type = integerType(src.dtype)] {
      forPieces(src.elements, [&](uint64_t begin, uint64_t n) {
        uint32_t sum[kPiece], x[kPiece];
        fetchRaw(src, src.row(0), begin, n, sum);
        for (uint32_t p = 1; p < src.partitions; ++p) {
          fetchRaw(src, src.row(p), begin, n, x);
          for (uint64_t i = 0; i < n; ++i)
            sum[i] = integerOp(op, sum[i], x[i], type);
        }
        putRaw(dst, dst.row(0), begin, n, sum);
      });
      return absl::OkStatus();
    });
  }
  return Step([&kernels = core.kernels(), op = inst.op, dst, src] {
    AluOp step = op == AluOp::Average ? AluOp::Add : op;
    forPieces(src.elements, [&](uint64_t begin, uint64_t n) {
      alignas(64) float sum[kPiece], buffer[kPiece];
      std::copy_n(fetch(kernels, src, src.row(0), begin, n, buffer), n, sum);
      for (uint32_t p = 1; p < src.partitions; ++p)
        kernels.binary(step, sum, fetch(kernels, src, src.row(p), begin, n, buffer), sum, n);
      if (op == AluOp::Average)
        kernels.binaryScalar(AluOp::Divide, sum, float(src.partitions), false, sum, n);
      put(kernels, dst, dst.row(0), begin, n, sum);
    });
    return absl::OkStatus();
  });
}

//===----------------------------------------------------------------------===//
// Eight at a time
//===----------------------------------------------------------------------===//

/// A whole row as fp32.
static std::vector<float> fetchRow(const Kernels &kernels, const View &view, uint32_t p) {
  std::vector<float> row(view.elements);
  forPieces(view.elements, [&](uint64_t begin, uint64_t n) {
    alignas(64) float buffer[kPiece];
    std::copy_n(fetch(kernels, view, view.row(p), begin, n, buffer), n, row.begin() + begin);
  });
  return row;
}

/// NaN counts as larger than infinity (ours), so that it is seen.
static bool isLarger(float a, float b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

absl::StatusOr<Step> decode(Core &core, const isa::Max8 &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (absl::Status status = expectShape(dst, src.partitions, 8); !status.ok())
    return status;
  if (src.elements < 8)
    return absl::InvalidArgumentError("max8: expected at least 8 elements per partition");
  return Step([&core, &kernels = core.kernels(), dst, src] {
    forPartitions(core, src.partitions, src.elements, [&](uint32_t p) {
      std::vector<float> row = fetchRow(kernels, src, p);
      std::partial_sort(row.begin(), row.begin() + 8, row.end(), isLarger);
      put(kernels, dst, dst.row(p), 0, 8, row.data());
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::FindIndex8 &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(values, core.view(inst.values, AccessMode::Read));
  for (const View *view : {&dst, &values})
    if (absl::Status status = expectShape(*view, src.partitions, 8); !status.ok())
      return status;
  if (!isa::isInteger(dst.dtype) || dst.elementBytes > 4)
    return absl::InvalidArgumentError("find_index8: expected integer results of at most 32 bits");
  return Step([&core, &kernels = core.kernels(), dst, src, values] {
    forPartitions(core, src.partitions, src.elements, [&](uint32_t p) {
      std::vector<float> row = fetchRow(kernels, src, p), wanted = fetchRow(kernels, values, p);
      uint32_t index[8];
      for (unsigned v = 0; v < 8; ++v) {
        // Equal values take successive matches: begin behind the match of the last equal one.
        uint64_t from = 0;
        for (unsigned earlier = 0; earlier < v; ++earlier)
          if (wanted[earlier] == wanted[v])
            from = index[earlier] == UINT32_MAX ? row.size() : uint64_t(index[earlier]) + 1;
        auto found = std::find(row.begin() + std::min<uint64_t>(from, row.size()), row.end(), wanted[v]);
        index[v] = found == row.end() ? UINT32_MAX : uint32_t(found - row.begin());
      }
      putRaw(dst, dst.row(p), 0, 8, index);
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::MatchReplace8 &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(values, core.view(inst.values, AccessMode::Read));
  if (absl::Status status = expectShape(values, src.partitions, 8); !status.ok())
    return status;
  if (absl::Status status = expectShape(dst, src.partitions, src.elements); !status.ok())
    return status;
  return Step([&core, &kernels = core.kernels(), dst, src, values, replacement = inst.replacement] {
    forPartitions(core, src.partitions, src.elements, [&](uint32_t p) {
      std::vector<float> row = fetchRow(kernels, src, p), wanted = fetchRow(kernels, values, p);
      // A replaced element is matched no more, even if the replacement equals a later value.
      std::vector<bool> replaced(row.size(), false);
      for (unsigned v = 8; v-- > 0;)
        for (uint64_t i = 0; i < row.size(); ++i)
          if (!replaced[i] && row[i] == wanted[v]) {
            replaced[i] = true;
            break;
          }
      for (uint64_t i = 0; i < row.size(); ++i)
        if (replaced[i])
          row[i] = replacement;
      put(kernels, dst, dst.row(p), 0, row.size(), row.data());
    });
    return absl::OkStatus();
  });
}

//===----------------------------------------------------------------------===//
// Batch statistics
//===----------------------------------------------------------------------===//

/// Count, mean and sum of squared differences of every second element, in two passes in order of position.
static void statisticsOf(const std::vector<float> &row, unsigned parity, float *triple) {
  float count = 0, sum = 0, squares = 0;
  for (uint64_t i = parity; i < row.size(); i += 2) {
    sum += row[i];
    count += 1;
  }
  float mean = count == 0 ? 0.0f : sum / count;
  for (uint64_t i = parity; i < row.size(); i += 2) {
    float difference = row[i] - mean;
    squares = std::fma(difference, difference, squares);
  }
  triple[0] = count;
  triple[1] = mean;
  triple[2] = squares;
}

absl::StatusOr<Step> decode(Core &core, const isa::BnStats &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (absl::Status status = expectShape(dst, src.partitions, 6); !status.ok())
    return status;
  return Step([&core, &kernels = core.kernels(), dst, src] {
    forPartitions(core, src.partitions, src.elements, [&](uint32_t p) {
      std::vector<float> row = fetchRow(kernels, src, p);
      float result[6];
      statisticsOf(row, 0, result);
      statisticsOf(row, 1, result + 3);
      put(kernels, dst, dst.row(p), 0, 6, result);
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::BnAggr &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (absl::Status status = expectShape(dst, src.partitions, 2); !status.ok())
    return status;
  if (src.elements % 3 != 0)
    return absl::InvalidArgumentError("bn_aggr: expected whole triples");
  return Step([&core, &kernels = core.kernels(), dst, src] {
    forPartitions(core, src.partitions, src.elements, [&](uint32_t p) {
      std::vector<float> row = fetchRow(kernels, src, p);
      float count = 0, sum = 0, squares = 0;
      for (uint64_t i = 0; i < row.size(); i += 3) {
        count += row[i];
        sum = std::fma(row[i], row[i + 1], sum);
      }
      float mean = sum / count;
      // Within the groups, plus what the groups' means differ by.
      for (uint64_t i = 0; i < row.size(); i += 3) {
        float difference = row[i + 1] - mean;
        squares += std::fma(row[i] * difference, difference, row[i + 2]);
      }
      float result[2] = {mean, squares / count};
      put(kernels, dst, dst.row(p), 0, 2, result);
    });
    return absl::OkStatus();
  });
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

absl::StatusOr<Step> decode(Core &core, const isa::TensorTensorScan &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(lhs, core.view(inst.lhs, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(rhs, core.view(inst.rhs, AccessMode::Read));
  for (const View *view : {&lhs, &rhs})
    if (absl::Status status = expectShape(*view, dst.partitions, dst.elements); !status.ok())
      return status;
  TRN_ASSIGN_OR_RETURN(initial, scalarView(core, inst.initial, dst.partitions));
  return Step([&core, &kernels = core.kernels(), op0 = inst.op0, op1 = inst.op1, dst, lhs, rhs, initial] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      float state = initial.at(kernels, p);
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float left[kPiece], right[kPiece], result[kPiece];
        const float *a = fetch(kernels, lhs, lhs.row(p), begin, n, left);
        const float *b = fetch(kernels, rhs, rhs.row(p), begin, n, right);
        for (uint64_t i = 0; i < n; ++i) {
          kernels.binary(op0, a + i, &state, &state, 1);
          kernels.binary(op1, &state, b + i, &state, 1);
          result[i] = state;
        }
        put(kernels, dst, dst.row(p), begin, n, result);
      });
    });
    return absl::OkStatus();
  });
}

} // namespace trn::rt
