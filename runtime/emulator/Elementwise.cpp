//===- Elementwise.cpp - instructions without reductions or movement -----------===//
//
// Owns tensor_tensor, tensor_scalar, scalar_tensor_tensor, activation, tensor_copy, memset, reciprocal, select,
// copy_predicated, range_select and act_table_load. Everything is computed in fp32 on pieces of a row (device.md 4.2), except raw
// integers and bit copies.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Integers.h"
#include "runtime/emulator/Reduction.h"
#include "runtime/emulator/Rows.h"
#include "runtime/emulator/Step.h"

namespace trn::rt {

using isa::AluOp;
using isa::DType;

//===----------------------------------------------------------------------===//
// Raw integers
//===----------------------------------------------------------------------===//

static Step integerTensorTensor(const Core &core, AluOp op, const View &dst, const View &lhs, const View &rhs) {
  return [&core, op, dst, lhs, rhs, type = integerType(lhs.dtype)] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        uint32_t a[kPiece], b[kPiece];
        fetchRaw(lhs, lhs.row(p), begin, n, a);
        fetchRaw(rhs, rhs.row(p), begin, n, b);
        for (uint64_t i = 0; i < n; ++i)
          a[i] = integerOp(op, a[i], b[i], type);
        putRaw(dst, dst.row(p), begin, n, a);
      });
    });
    return absl::OkStatus();
  };
}

/// One stage of tensor_scalar: an operator and its scalar side.
struct ScalarStage {
  AluOp op = AluOp::Bypass;
  ScalarView operand;
  bool reverse = false;
};

static Step integerTensorScalar(const Core &core, const View &dst, const View &src, const ScalarStage &first,
                                const ScalarStage &second) {
  return [&core, dst, src, first, second, type = integerType(src.dtype)] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        uint32_t a[kPiece];
        fetchRaw(src, src.row(p), begin, n, a);
        for (const ScalarStage *stage : {&first, &second}) {
          if (stage->op == AluOp::Bypass)
            continue;
          uint32_t s = toInteger(stage->operand.at(core.kernels(), p), type);
          for (uint64_t i = 0; i < n; ++i)
            a[i] = stage->reverse ? integerOp(stage->op, s, a[i], type) : integerOp(stage->op, a[i], s, type);
        }
        putRaw(dst, dst.row(p), begin, n, a);
      });
    });
    return absl::OkStatus();
  };
}

//===----------------------------------------------------------------------===//
// fp32
//===----------------------------------------------------------------------===//

absl::StatusOr<Step> decode(Core &core, const isa::TensorTensor &inst, isa::Engine engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(lhs, core.view(inst.lhs, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(rhs, core.view(inst.rhs, AccessMode::Read));
  for (const View *view : {&lhs, &rhs})
    if (absl::Status status = expectShape(*view, dst.partitions, dst.elements); !status.ok())
      return status;
  bool sameType = dst.dtype == lhs.dtype && lhs.dtype == rhs.dtype;
  bool isWord = dst.dtype == DType::I32 || dst.dtype == DType::U32;
  bool native = engine == isa::Engine::POOL && sameType && isWord && hasIntegerForm(inst.op);
  if (native || isBitwiseOp(inst.op)) {
    if (!sameType || !isa::isInteger(dst.dtype) || dst.elementBytes > 4)
      return absl::InvalidArgumentError("tensor_tensor: expected equal integer types of at most 32 bits");
    return integerTensorTensor(core, inst.op, dst, lhs, rhs);
  }
  return Step([&core, &kernels = core.kernels(), op = inst.op, dst, lhs, rhs] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      uint8_t *a = lhs.row(p), *b = rhs.row(p), *d = dst.row(p);
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float left[kPiece], right[kPiece], buffer[kPiece];
        const float *x = fetch(kernels, lhs, a, begin, n, left), *y = fetch(kernels, rhs, b, begin, n, right);
        float *result = target(dst, d, begin, n, buffer, {x, y});
        kernels.binary(op, x, y, result, n);
        if (result == buffer)
          put(kernels, dst, d, begin, n, result);
      });
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::TensorScalar &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (absl::Status status = expectShape(src, dst.partitions, dst.elements); !status.ok())
    return status;
  TRN_ASSIGN_OR_RETURN(operand0, scalarView(core, inst.operand0, dst.partitions));
  ScalarStage first{inst.op0, operand0, inst.reverse0}, second;
  if (inst.operand1) {
    TRN_ASSIGN_OR_RETURN(operand1, scalarView(core, *inst.operand1, dst.partitions));
    second = {inst.op1, operand1, inst.reverse1};
  }
  if (isBitwiseOp(inst.op0) || isBitwiseOp(second.op)) {
    if (dst.dtype != src.dtype || !isa::isInteger(dst.dtype) || dst.elementBytes > 4)
      return absl::InvalidArgumentError("tensor_scalar: expected equal integer types of at most 32 bits");
    return integerTensorScalar(core, dst, src, first, second);
  }
  return Step([&core, &kernels = core.kernels(), dst, src, first, second] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      float s0 = first.operand.at(kernels, p), s1 = second.operand.at(kernels, p);
      uint8_t *s = src.row(p), *d = dst.row(p);
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float left[kPiece], buffer[kPiece];
        const float *x = fetch(kernels, src, s, begin, n, left);
        float *result = target(dst, d, begin, n, buffer, {x});
        kernels.binaryScalar(first.op, x, s0, first.reverse, result, n);
        if (second.op != AluOp::Bypass)
          kernels.binaryScalar(second.op, result, s1, second.reverse, result, n);
        if (result == buffer)
          put(kernels, dst, d, begin, n, result);
      });
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::ScalarTensorTensor &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(rhs, core.view(inst.rhs, AccessMode::Read));
  for (const View *view : {&src, &rhs})
    if (absl::Status status = expectShape(*view, dst.partitions, dst.elements); !status.ok())
      return status;
  TRN_ASSIGN_OR_RETURN(operand0, scalarView(core, inst.operand0, dst.partitions));
  ScalarStage first{inst.op0, operand0, inst.reverse0};
  return Step([&core, &kernels = core.kernels(), dst, src, rhs, first, op1 = inst.op1, reverse1 = inst.reverse1] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      float s0 = first.operand.at(kernels, p);
      uint8_t *a = src.row(p), *b = rhs.row(p), *d = dst.row(p);
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float left[kPiece], right[kPiece], between[kPiece], buffer[kPiece];
        const float *x = fetch(kernels, src, a, begin, n, left), *other = fetch(kernels, rhs, b, begin, n, right);
        // The first result may not replace `other`, which the second operation reads.
        kernels.binaryScalar(first.op, x, s0, first.reverse, between, n);
        float *result = target(dst, d, begin, n, buffer, {other});
        if (reverse1)
          kernels.binary(op1, other, between, result, n);
        else
          kernels.binary(op1, between, other, result, n);
        if (result == buffer)
          put(kernels, dst, d, begin, n, result);
      });
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::Activation &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (absl::Status status = expectShape(src, dst.partitions, dst.elements); !status.ok())
    return status;
  TRN_ASSIGN_OR_RETURN(scale, scalarView(core, inst.scale, dst.partitions));
  TRN_ASSIGN_OR_RETURN(bias, scalarView(core, inst.bias, dst.partitions));
  std::optional<View> sums;
  if (inst.reduce) {
    TRN_ASSIGN_OR_RETURN(view, core.view(*inst.reduce, AccessMode::Write));
    if (absl::Status status = expectShape(view, dst.partitions, 1); !status.ok())
      return status;
    sums = view;
  }
  return Step([&core, &kernels = core.kernels(), func = inst.func, dst, src, scale, bias, sums] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      float s = scale.at(kernels, p), b = bias.at(kernels, p);
      uint8_t *in = src.row(p), *out = dst.row(p);
      LaneSum sum(kernels, AluOp::Add);
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float left[kPiece], buffer[kPiece];
        const float *x = fetch(kernels, src, in, begin, n, left);
        float *result = target(dst, out, begin, n, buffer, {x});
        kernels.activation(func, x, s, b, result, n);
        if (result == buffer)
          put(kernels, dst, out, begin, n, result);
        if (sums)
          sum.add(result, n);
      });
      if (sums) {
        float total = sum.finish();
        put(kernels, *sums, sums->row(p), 0, 1, &total);
      }
    });
    return absl::OkStatus();
  });
}

// The emulator has all tables at hand; the load costs time only (timing library).
absl::StatusOr<Step> decode(Core &, const isa::ActTableLoad &, isa::Engine) {
  return Step([] { return absl::OkStatus(); });
}

absl::StatusOr<Step> decode(Core &core, const isa::Reciprocal &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (absl::Status status = expectShape(src, dst.partitions, dst.elements); !status.ok())
    return status;
  return Step([&core, &kernels = core.kernels(), dst, src] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float left[kPiece], buffer[kPiece];
        const float *x = fetch(kernels, src, src.row(p), begin, n, left);
        float *result = target(dst, dst.row(p), begin, n, buffer, {x});
        kernels.binaryScalar(AluOp::Divide, x, 1.0f, /*reverse=*/true, result, n);
        if (result == buffer)
          put(kernels, dst, dst.row(p), begin, n, result);
      });
    });
    return absl::OkStatus();
  });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static void copyRow(const View &dst, uint8_t *to, const View &src, uint8_t *from, uint64_t elements) {
  if (dst.contiguous() && src.contiguous()) {
    std::memmove(to, from, elements * dst.elementBytes);
    return;
  }
  withElementBytes(dst.elementBytes, [&](auto bytes) {
    using Element = std::conditional_t<bytes() == 8, uint64_t, std::conditional_t<bytes() == 4, uint32_t,
                                       std::conditional_t<bytes() == 2, uint16_t, uint8_t>>>;
    forPieces(elements, [&](uint64_t begin, uint64_t n) {
      Element buffer[kPiece];
      fetchRaw(src, from, begin, n, buffer);
      putRaw(dst, to, begin, n, buffer);
    });
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::TensorCopy &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  if (absl::Status status = expectShape(src, dst.partitions, dst.elements); !status.ok())
    return status;
  if (dst.dtype == src.dtype)
    return Step([&core, dst, src] {
      forPartitions(core, dst.partitions, dst.elements,
                    [&](uint32_t p) { copyRow(dst, dst.row(p), src, src.row(p), dst.elements); });
      return absl::OkStatus();
    });
  return Step([&core, &kernels = core.kernels(), dst, src] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      uint8_t *in = src.row(p), *out = dst.row(p);
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float buffer[kPiece];
        put(kernels, dst, out, begin, n, fetch(kernels, src, in, begin, n, buffer));
      });
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::Memset &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  return Step([&core, &kernels = core.kernels(), dst, value = inst.value] {
    alignas(64) float row[kPiece];
    std::fill_n(row, kPiece, value);
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      uint8_t *out = dst.row(p);
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) { put(kernels, dst, out, begin, n, row); });
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::Select &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(predicate, core.view(inst.predicate, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(onTrue, core.view(inst.onTrue, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(onFalse, core.view(inst.onFalse, AccessMode::Read));
  for (const View *view : {&predicate, &onTrue, &onFalse})
    if (absl::Status status = expectShape(*view, dst.partitions, dst.elements); !status.ok())
      return status;
  return Step([&core, &kernels = core.kernels(), dst, predicate, onTrue, onFalse] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float left[kPiece], right[kPiece], result[kPiece];
        uint64_t holds[kPiece];
        fetchRaw(predicate, predicate.row(p), begin, n, holds);
        const float *a = fetch(kernels, onTrue, onTrue.row(p), begin, n, left);
        const float *b = fetch(kernels, onFalse, onFalse.row(p), begin, n, right);
        for (uint64_t i = 0; i < n; ++i)
          result[i] = holds[i] ? a[i] : b[i];
        put(kernels, dst, dst.row(p), begin, n, result);
      });
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::CopyPredicated &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(src, core.view(inst.src, AccessMode::Read));
  TRN_ASSIGN_OR_RETURN(predicate, core.view(inst.predicate, AccessMode::Read));
  for (const View *view : {&src, &predicate})
    if (absl::Status status = expectShape(*view, dst.partitions, dst.elements); !status.ok())
      return status;
  if (src.dtype != dst.dtype)
    return absl::InvalidArgumentError("copy_predicated: expected equal element types");
  return Step([&core, dst, src, predicate, reverse = inst.reverse] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        uint64_t holds[kPiece], from[kPiece], to[kPiece];
        fetchRaw(predicate, predicate.row(p), begin, n, holds);
        fetchRaw(src, src.row(p), begin, n, from);
        fetchRaw(dst, dst.row(p), begin, n, to);
        for (uint64_t i = 0; i < n; ++i)
          to[i] = (holds[i] != 0) != reverse ? from[i] : to[i];
        putRaw(dst, dst.row(p), begin, n, to);
      });
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<Step> decode(Core &core, const isa::RangeSelect &inst, isa::Engine) {
  TRN_ASSIGN_OR_RETURN(dst, core.view(inst.dst, AccessMode::Write));
  TRN_ASSIGN_OR_RETURN(onTrue, core.view(inst.onTrue, AccessMode::Read));
  if (absl::Status status = expectShape(onTrue, dst.partitions, dst.elements); !status.ok())
    return status;
  TRN_ASSIGN_OR_RETURN(bound0, scalarView(core, inst.bound0, dst.partitions));
  TRN_ASSIGN_OR_RETURN(bound1, scalarView(core, inst.bound1, dst.partitions));
  std::optional<View> maxima;
  if (inst.reduce) {
    TRN_ASSIGN_OR_RETURN(view, core.view(*inst.reduce, AccessMode::Write));
    if (absl::Status status = expectShape(view, dst.partitions, 1); !status.ok())
      return status;
    maxima = view;
  }
  ScalarStage first{inst.compare0, bound0}, second{inst.compare1, bound1};
  return Step([&core, &kernels = core.kernels(), start = inst.rangeStart, dst, onTrue, first, second, maxima] {
    forPartitions(core, dst.partitions, dst.elements, [&](uint32_t p) {
      float low = first.operand.at(kernels, p), high = second.operand.at(kernels, p);
      LaneSum maximum(kernels, AluOp::Max);
      forPieces(dst.elements, [&](uint64_t begin, uint64_t n) {
        alignas(64) float position[kPiece], holds[kPiece], holdsToo[kPiece], buffer[kPiece], result[kPiece];
        for (uint64_t i = 0; i < n; ++i)
          position[i] = float(start + int64_t(begin + i)); // Exact: below 2^24.
        kernels.binaryScalar(first.op, position, low, /*reverse=*/false, holds, n);
        kernels.binaryScalar(second.op, position, high, /*reverse=*/false, holdsToo, n);
        const float *x = fetch(kernels, onTrue, onTrue.row(p), begin, n, buffer);
        for (uint64_t i = 0; i < n; ++i)
          result[i] = holds[i] != 0 && holdsToo[i] != 0 ? x[i] : std::numeric_limits<float>::lowest();
        put(kernels, dst, dst.row(p), begin, n, result);
        if (maxima)
          maximum.add(result, n);
      });
      if (maxima) {
        float row = maximum.finish();
        put(kernels, *maxima, maxima->row(p), 0, 1, &row);
      }
    });
    return absl::OkStatus();
  });
}

} // namespace trn::rt
