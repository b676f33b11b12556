//===- DVE.td - instructions of the vector engine --------------*- tablegen -*-===//
//
// Most of them run on POOL as well, on SBUF only; some on ACT. Sources: as PE.td; SH32 = NKI shared tables of SDK 2.32,
// KLR = leanprover/KLR. Costs: ISA26 in cycles of the engine, plus the measured fixed part (M3, device guide 11.3).
// On POOL: 150 cycles start-up (ISA26) plus N, plus 2 N with two inputs (inferred, device guide 3.6).
//
//===--------------------------------------------------------------------------===//
include "dialects/Trn/ISA/Inst.td"

defvar kOnChip = ["SBUF", "PSUM"];

/// Rule 20 of most elementwise instructions.
class SameShape<string a, string b, string source>
    : Rule<20, a # ".partitions == " # b # ".partitions && " # a # ".elements() == " # b # ".elements()",
           "expected '" # a # "' and '" # b # "' of one shape, but got {" # a # ".partitions} x {" # a #
           ".elements()} and {" # b # ".partitions} x {" # b # ".elements()}", source>;
class SameShapeAlso<string a, string b, string source>
    : Rule<21, a # ".partitions == " # b # ".partitions && " # a # ".elements() == " # b # ".elements()",
           "expected '" # a # "' and '" # b # "' of one shape, but got {" # a # ".partitions} x {" # a #
           ".elements()} and {" # b # ".partitions} x {" # b # ".elements()}", source>;
class NotBothPsum<string a, string b, string source>
    : Rule<22, "!(" # a # ".space == Space::PSUM && " # b # ".space == Space::PSUM)",
           "expected at most one of '" # a # "' and '" # b # "' in psum", source>;
class PoolCost<string work, string source> : Cost<"POOL", "interval(device, engine, device.poolStart + " # work # ")",
    "device.poolStart + " # work, source>;

def TensorTensorOp : Inst<"tensor_tensor", 0x30,
    [Out<"dst", kOnChip, kCompute>, In<"lhs", kOnChip, kCompute>, In<"rhs", kOnChip, kCompute>],
    [AluAttr<"op">], ["DVE", "POOL"]> {
  let summary = "lhs op rhs";
  let description = [{
    Element by element in fp32, converted to the type of dst; bitwise operators work on raw integers of equal types.
    On POOL, int32 and uint32 operands are computed natively (exact); on DVE integers pass through fp32.
  }];
  let source = "ISA32 tensor_tensor";
  let rules = [
    SameShape<"dst", "lhs", "ISA32 tensor_tensor">, SameShapeAlso<"lhs", "rhs", "ISA32 tensor_tensor">,
    NotBothPsum<"lhs", "rhs", "ISA32 tensor_tensor">,
    Rule<23, "!isBitwise(op) || (isInteger(dst.dtype) && dst.dtype == lhs.dtype && lhs.dtype == rhs.dtype)",
         "expected equal integer types with '{name(op)}', but got {name(dst.dtype)}, {name(lhs.dtype)} and {name(rhs.dtype)}",
         "ISA32 tensor_tensor">,
    Rule<24, "op != AluOp::Bypass && op != AluOp::Average", "expected an operator of two operands, but got '{name(op)}'",
         "ISA32 tensor_tensor">,
    Rule<25, "legalOn(op, engine, device)", "expected an operator of {name(engine)}, but got '{name(op)}'",
         "SH26 operator table", "Engine">,
  ];
  let costs = [WorkCost<"DVE", "tensorTensorWork(device, op, dst, lhs, rhs)", "documented (ISA26, A3), fixed part measured (M3)">,
               PoolCost<"2 * int64_t(dst.elements())", "inferred (device guide 3.6)">];
}

def TensorScalarOp : Inst<"tensor_scalar", 0x31,
    [Out<"dst", kOnChip, kCompute>, In<"src", kOnChip, kCompute>, ScalarIn<"operand0">, OptionalScalarIn<"operand1">],
    [AluAttr<"op0">, DefaultAluAttr<"op1", AluBypass>, FlagAttr<"reverse0">, FlagAttr<"reverse1">],
    ["DVE", "ACT", "POOL"]> {
  let summary = "(src op0 operand0) op1 operand1";
  let description = [{
    Operands are immediates or one fp32 per partition; `reverse` swaps the sides of its operator. Both operators are
    arithmetic (fp32) or both bitwise (raw integers; operands are then converted to the integer type, exact to 2^24).
    Without operand1, op1 is bypass.
  }];
  let source = "ISA32 tensor_scalar";
  let rules = [
    SameShape<"dst", "src", "ISA32 tensor_scalar">,
    Rule<21, "op1 == AluOp::Bypass ? !operand1 : operand1.has_value()",
         "expected 'operand1' exactly when op1 is not bypass, but op1 is '{name(op1)}'", "ours">,
    Rule<22, "op1 == AluOp::Bypass || isBitwise(op0) == isBitwise(op1)",
         "expected two arithmetic or two bitwise operators, but got '{name(op0)}' and '{name(op1)}'",
         "ISA32 tensor_scalar">,
    Rule<23, "!isBitwise(op0) || (isInteger(dst.dtype) && dst.dtype == src.dtype)",
         "expected equal integer types with '{name(op0)}', but got {name(dst.dtype)} and {name(src.dtype)}",
         "ISA32 tensor_scalar">,
    Rule<24, "op0 != AluOp::Average && op1 != AluOp::Average", "expected an operator of two operands, but got 'average'",
         "KLR">,
    Rule<25, "tensorScalarLegalOn(op0, op1, reverse0, reverse1, engine, device)",
         "expected operators of {name(engine)}, but got '{name(op0)}' and '{name(op1)}'", "ISA32 tensor_scalar; SH26",
         "Engine">,
  ];
  let costs = [WorkCost<"DVE", "streamWork(device, dst, src)", "documented (ISA26, A3), measured (M3)">,
               WorkCost<"ACT", "actWork(device, ActivationFunc::Copy, dst, src)", "documented (ISA26, A4)">,
               PoolCost<"int64_t(dst.elements())", "inferred (device guide 3.6)">];
}

def ScalarTensorTensorOp : Inst<"scalar_tensor_tensor", 0x32,
    [Out<"dst", kOnChip, kCompute>, In<"src", kOnChip, kCompute>, ScalarIn<"operand0">, In<"rhs", kOnChip, kCompute>],
    [AluAttr<"op0">, AluAttr<"op1">, FlagAttr<"reverse0">, FlagAttr<"reverse1">], ["DVE"]> {
  let summary = "(src op0 operand0) op1 rhs";
  let description = "Arithmetic operators only, in fp32. `reverse` swaps the sides of its operator.";
  let source = "ISA32 scalar_tensor_tensor";
  let rules = [
    SameShape<"dst", "src", "ISA32 scalar_tensor_tensor">, SameShapeAlso<"src", "rhs", "ISA32 scalar_tensor_tensor">,
    NotBothPsum<"src", "rhs", "ISA32 scalar_tensor_tensor">,
    Rule<23, "!isBitwise(op0) && !isBitwise(op1) && op0 != AluOp::Average && op1 != AluOp::Average",
         "expected arithmetic operators, but got '{name(op0)}' and '{name(op1)}'", "ISA32 scalar_tensor_tensor">,
    Rule<24, "legalOn(op0, engine, device) && legalOn(op1, engine, device)",
         "expected operators of {name(engine)}, but got '{name(op0)}' and '{name(op1)}'", "SH26 operator table", "Engine">,
  ];
  let costs = [WorkCost<"DVE", "scalarTensorTensorWork(device, op0, op1, dst, src, rhs)", "documented (ISA26)">];
}

def TensorReduceOp : Inst<"tensor_reduce", 0x33, [Out<"dst", kOnChip, kCompute>, In<"src", kOnChip, kCompute>],
    [AluAttr<"op">, IntAttr<"axes", 1, 4>, FlagAttr<"negate">], ["DVE"]> {
  let summary = "reduce the innermost free dimensions";
  let description = [{
    Combines the elements of the `axes` innermost dimensions of the pattern of src with op, in order, in fp32 (bitwise
    operators: on raw integers); dst has one element for each position of the other dimensions. `negate` multiplies the
    results by -1. The partition is never reduced. A pattern of src must not merge reduced and kept dimensions.
  }];
  let source = "ISA32 tensor_reduce";
  let rules = [
    Rule<20, "dst.partitions == src.partitions",
         "expected 'dst' on {src.partitions} partitions, but got {dst.partitions}", "ISA32 tensor_reduce">,
    Rule<21, "axes <= src.rank", "expected at most {int(src.rank)} reduced dimensions, but got {axes}", "ISA32 tensor_reduce">,
    Rule<22, "axes > src.rank || dst.elements() * innermost(src, axes) == src.elements()",
         "expected {src.elements() / innermost(src, axes)} elements per partition of 'dst', but got {dst.elements()}",
         "ISA32 tensor_reduce">,
    Rule<23, "info(op).reducible", "expected an operator that reduces, but got '{name(op)}'", "SH32 supported operators">,
    Rule<24, "!isBitwise(op) || (isInteger(dst.dtype) && dst.dtype == src.dtype && !negate)",
         "expected equal integer types and no negation with '{name(op)}', but got {name(dst.dtype)} and {name(src.dtype)}",
         "ISA32 tensor_reduce">,
  ];
  let costs = [WorkCost<"DVE", "reduceWork(device, op, dst, src)", "documented (ISA26), fixed part measured (M3)">];
}

def TensorCopyOp : Inst<"tensor_copy", 0x34, [Out<"dst", kOnChip, kAllTypes>, In<"src", kOnChip, kAllTypes>], [],
    ["DVE", "ACT", "POOL"]> {
  let summary = "dst = src";
  let description = [{
    Equal element types are copied bit by bit (on ACT from core version 3 on, the only ones that have it); different
    types convert through fp32.
  }];
  let source = "ISA32 tensor_copy";
  let rules = [
    SameShape<"dst", "src", "ISA32 tensor_copy">,
    Rule<21, "dst.dtype == src.dtype || (converts(dst.dtype) && converts(src.dtype))",
         "expected types that convert through fp32, but got {name(dst.dtype)} and {name(src.dtype)}", "ISA32 tensor_copy">,
    Rule<22, "engine != Engine::ACT || device.version >= 3", "expected core version 3 for tensor_copy on ACT, but got {device.version}; use activation",
         "ISA32 tensor_copy", "Engine">,
  ];
  let costs = [WorkCost<"DVE", "streamWork(device, dst, src)", "documented (ISA26, A3), fixed part measured (M3)">,
               WorkCost<"ACT", "actWork(device, ActivationFunc::Copy, dst, src)", "documented (ISA26), measured (M3, M2)">,
               PoolCost<"int64_t(dst.elements())", "inferred (device guide 3.6)">];
}

def MemsetOp : Inst<"memset", 0x35, [Out<"dst", kOnChip, kCompute>], [FloatAttr<"value">], ["DVE", "POOL"]> {
  let summary = "fill with a constant";
  let description = "Every element becomes value, converted to the element type of dst.";
  let source = "ISA32 memset";
  let costs = [WorkCost<"DVE", "value == 0.0f && isHalf(dst.dtype) ? (int64_t(dst.elements()) + 1) / 2 : int64_t(dst.elements())",
                        "documented (ISA26)">,
               PoolCost<"int64_t(dst.elements())", "inferred (device guide 3.6)">];
}

def ReciprocalOp : Inst<"reciprocal", 0x36, [Out<"dst", kOnChip, kCompute>, In<"src", kOnChip, kCompute>], [], ["DVE"]> {
  let summary = "1 / src, correctly rounded";
  let description = "More accurate and eight times slower than the activation function.";
  let source = "ISA32 reciprocal; SH32";
  let rules = [SameShape<"dst", "src", "ISA32 reciprocal">];
  let costs = [WorkCost<"DVE", "8 * int64_t(src.elements())", "documented (ISA26, SH32)">];
}

def SelectOp : Inst<"select", 0x37,
    [Out<"dst", kOnChip, kCompute>, In<"predicate", kOnChip, kInts>, In<"on_true", kOnChip, kCompute>,
     In<"on_false", kOnChip, kCompute>], [], ["DVE"]> {
  let summary = "predicate ? on_true : on_false";
  let description = [{
    Where predicate is not zero the element of on_true, else that of on_false, converted to the type of dst. AWS
    documents a scalar on_false only (select_reduce); a tensor is ours, and costs a copy and a predicated copy.
  }];
  let source = "ISA32 select_reduce; tensor on_false ours";
  let rules = [
    SameShape<"dst", "on_true", "ISA32 select_reduce">,
    Rule<21, "predicate.partitions == dst.partitions && predicate.elements() == dst.elements() && on_false.partitions == dst.partitions && on_false.elements() == dst.elements()",
         "expected 'predicate' and 'on_false' of the shape of 'dst' ({dst.partitions} x {dst.elements()}), but got {predicate.partitions} x {predicate.elements()} and {on_false.partitions} x {on_false.elements()}",
         "ISA32 select_reduce">,
    NotBothPsum<"on_true", "predicate", "ISA32 select_reduce">,
  ];
  let costs = [WorkCost<"DVE", "int64_t(dst.elements()) + predicatedWork(on_true, predicate)", "inferred (device guide 3.6)">];
}

def CopyPredicatedOp : Inst<"copy_predicated", 0x38,
    [InOut<"dst", kOnChip, kCompute>, In<"src", kOnChip, kCompute>, In<"predicate", kOnChip, kInts>],
    [FlagAttr<"reverse">], ["DVE"]> {
  let summary = "overwrite dst where predicate holds";
  let description = "Where predicate is not zero (with `reverse`: is zero) dst becomes src, elsewhere it stays.";
  let source = "ISA32 tensor_copy_predicated";
  let rules = [
    SameShape<"dst", "src", "ISA32 tensor_copy_predicated">, SameShapeAlso<"src", "predicate", "ISA32 tensor_copy_predicated">,
    NotBothPsum<"src", "predicate", "ISA32 tensor_copy_predicated">,
    Rule<23, "dst.dtype == src.dtype", "expected equal element types, but got {name(dst.dtype)} and {name(src.dtype)}",
         "ISA32 tensor_copy_predicated">,
  ];
  let costs = [WorkCost<"DVE", "predicatedWork(src, predicate)", "documented (ISA26)">];
}

/// max8 and its companions: 8 to 16,384 elements per partition, eight values.
class EightRange<string src, string source>
    : Rule<21, src # ".elements() >= 8 && " # src # ".elements() <= 16384",
           "expected 8 to 16384 elements per partition of '" # src # "', but got {" # src # ".elements()}", source>;

def Max8Op : Inst<"max8", 0x39, [Out<"dst", kOnChip, kCompute>, In<"src", kOnChip, kCompute, 3>], [], ["DVE"]> {
  let summary = "the eight largest elements of each partition, descending";
  let description = "Equal elements count once each. NaN: undocumented; the emulator orders it above infinity (ours).";
  let source = "ISA32 max8";
  let rules = [
    Rule<20, "dst.partitions == src.partitions && dst.elements() == 8",
         "expected 'dst' of {src.partitions} partitions of 8 elements, but got {dst.partitions} of {dst.elements()}", "ISA32 max8">,
    EightRange<"src", "ISA32 max8">,
  ];
  let costs = [WorkCost<"DVE", "int64_t(src.elements())", "documented (ISA26)">];
}

def FindIndex8Op : Inst<"find_index8", 0x3A,
    [Out<"dst", kOnChip, ["U16", "U32", "I32"]>, In<"src", kOnChip, kCompute, 3>, In<"values", kOnChip, kCompute>], [], ["DVE"]> {
  let summary = "positions of eight values in each partition";
  let description = [{
    dst[i] is the position of the first element equal to values[i]; equal values take successive matches in ascending
    order; a value without a match gives all ones. int32 results are ours (the documents name uint16 and uint32).
  }];
  let source = "ISA32 nc_find_index8";
  let rules = [
    Rule<20, "dst.partitions == src.partitions && dst.elements() == 8 && values.partitions == src.partitions && values.elements() == 8",
         "expected 'dst' and 'values' of {src.partitions} partitions of 8 elements, but got {dst.partitions} of {dst.elements()} and {values.partitions} of {values.elements()}",
         "ISA32 nc_find_index8">,
    EightRange<"src", "ISA32 nc_find_index8">,
  ];
  let costs = [WorkCost<"DVE", "int64_t(src.elements())", "documented (ISA26)">];
}

def MatchReplace8Op : Inst<"match_replace8", 0x3B,
    [Out<"dst", kOnChip, kCompute>, In<"src", kOnChip, kCompute, 3>, In<"values", kOnChip, kCompute>],
    [FloatAttr<"replacement">], ["DVE"]> {
  let summary = "copy, with the first match of each of eight values replaced";
  let description = "Values are processed from 7 down to 0; each replaces the first remaining element equal to it.";
  let source = "ISA32 nc_match_replace8";
  let rules = [
    SameShape<"dst", "src", "ISA32 nc_match_replace8">, EightRange<"src", "ISA32 nc_match_replace8">,
    Rule<22, "values.partitions == src.partitions && values.elements() == 8",
         "expected 'values' of {src.partitions} partitions of 8 elements, but got {values.partitions} of {values.elements()}",
         "ISA32 nc_match_replace8">,
  ];
  let costs = [WorkCost<"DVE", "int64_t(src.elements())", "documented (SDK 2.22; 2.26 prints min, a misprint)">];
}

def BnStatsOp : Inst<"bn_stats", 0x3C, [Out<"dst", kOnChip, ["F32"]>, In<"src", kOnChip, kCompute>], [], ["DVE"]> {
  let summary = "count, mean and variance * count of even and odd elements";
  let description = [{
    dst = [count, mean, variance * count] of the elements at even positions, then of those at odd positions, for each
    partition. Variances are population variances.
  }];
  let source = "ISA32 bn_stats";
  let rules = [
    Rule<20, "dst.partitions == src.partitions && dst.elements() == 6",
         "expected 'dst' of {src.partitions} partitions of 6 elements, but got {dst.partitions} of {dst.elements()}", "ISA32 bn_stats">,
    Rule<21, "src.elements() <= 512", "expected at most 512 elements per partition of 'src', but got {src.elements()}", "ISA32 bn_stats">,
  ];
  let costs = [WorkCost<"DVE", "int64_t(src.elements())", "documented (ISA26)">];
}

def BnAggrOp : Inst<"bn_aggr", 0x3D, [Out<"dst", kOnChip, ["F32"]>, In<"src", kOnChip, ["F32"]>], [], ["DVE"]> {
  let summary = "combine (count, mean, variance * count) triples to mean and variance";
  let description = "dst = [mean, population variance] over all triples of each partition.";
  let source = "ISA32 bn_aggr";
  let rules = [
    Rule<20, "dst.partitions == src.partitions && dst.elements() == 2",
         "expected 'dst' of {src.partitions} partitions of 2 elements, but got {dst.partitions} of {dst.elements()}", "ISA32 bn_aggr">,
    Rule<21, "src.elements() % 3 == 0", "expected triples in 'src', but got {src.elements()} elements", "ISA32 bn_aggr">,
  ];
  let costs = [WorkCost<"DVE", "13 * int64_t(src.elements()) / 3", "documented (ISA26)">];
}

def ShuffleGroup : InstConstant<"kGroup", 32, "partitions among which data moves">;
def ShuffleKeep : InstConstant<"kKeep", 255, "the mask entry that keeps the destination">;
def NcStreamShuffleOp : Inst<"nc_stream_shuffle", 0x3E, [InOut<"dst", kOnChip, kAllTypes>, In<"src", kOnChip, kAllTypes>],
    [IntsAttr<"mask", ShuffleGroup.value, 0, ShuffleKeep.value>], ["DVE"]> {
  let summary = "permute or broadcast partitions inside each group of 32";
  let description = "Partition i of dst becomes partition mask[i mod 32] of the same group of 32 of src; 255 keeps dst.";
  let source = "ISA32 nc_stream_shuffle";
  let constants = [ShuffleGroup, ShuffleKeep];
  let rules = [
    SameShape<"dst", "src", "ISA32 nc_stream_shuffle">,
    Rule<21, "dst.dtype == src.dtype", "expected equal element types, but got {name(dst.dtype)} and {name(src.dtype)}",
         "ISA32 nc_stream_shuffle">,
    Rule<22, "shuffleInRange(mask, src.partitions)",
         "expected mask entries below the {std::min<uint32_t>(src.partitions, nc_stream_shuffle::kGroup)} partitions of a "
         "group, or {nc_stream_shuffle::kKeep}", "ISA32 nc_stream_shuffle">,
  ];
  let costs = [WorkCost<"DVE", "int64_t(dst.elements())", "documented (ISA26)">];
}

def NcTransposeDveOp : Inst<"nc_transpose_dve", 0x3F, [Out<"dst", kOnChip, kAllTypes>, In<"src", kOnChip, kAllTypes>], [], ["DVE"]> {
  let summary = "transpose each 32 x 32 block";
  let description = [{
    With q the group of 32 partitions and c the group of 32 free positions: dst[32q + i, 32c + j] = src[32q + j, 32c + i].
    Blocks stay where they are; only their inside is transposed.
  }];
  let source = "ISA32 nc_transpose (engine = vector); KLR";
  let rules = [
    SameShape<"dst", "src", "ISA32 nc_transpose">,
    Rule<21, "src.partitions % 32 == 0 && src.elements() % 32 == 0",
         "expected whole blocks of 32 x 32, but got {src.partitions} x {src.elements()}", "KLR">,
    Rule<22, "dst.dtype == src.dtype", "expected equal element types, but got {name(dst.dtype)} and {name(src.dtype)}",
         "ISA32 nc_transpose">,
  ];
  let costs = [WorkCost<"DVE", "int64_t(dst.elements())", "documented (ISA26)">];
}

def TensorTensorScanOp : Inst<"tensor_tensor_scan", 0x40,
    [Out<"dst", kOnChip, kCompute>, In<"lhs", kOnChip, kCompute>, In<"rhs", kOnChip, kCompute>, ScalarIn<"initial">],
    [AluAttr<"op0">, AluAttr<"op1">], ["DVE"]> {
  let summary = "s = (lhs op0 s) op1 rhs along the free elements";
  let description = "dst holds s after each element; s begins as initial, in fp32, one per partition.";
  let source = "ISA32 tensor_tensor_scan";
  let rules = [
    SameShape<"dst", "lhs", "ISA32 tensor_tensor_scan">, SameShapeAlso<"lhs", "rhs", "ISA32 tensor_tensor_scan">,
    NotBothPsum<"lhs", "rhs", "ISA32 tensor_tensor_scan">,
    Rule<23, "!isBitwise(op0) && !isBitwise(op1) && op0 != AluOp::Average && op1 != AluOp::Average",
         "expected arithmetic operators, but got '{name(op0)}' and '{name(op1)}'", "ISA32 tensor_tensor_scan">,
    Rule<24, "legalOn(op0, engine, device) && legalOn(op1, engine, device)",
         "expected operators of {name(engine)}, but got '{name(op0)}' and '{name(op1)}'", "SH26 operator table", "Engine">,
  ];
  let costs = [WorkCost<"DVE", "2 * int64_t(dst.elements())", "documented (ISA26)">];
}

def RangeSelectOp : Inst<"range_select", 0x42,
    [Out<"dst", kOnChip, kFloats>, In<"on_true", kOnChip, kFloats>, ScalarIn<"bound0">, ScalarIn<"bound1">,
     OptionalOut<"reduce", kOnChip, kFp32>],
    [AluAttr<"compare0">, AluAttr<"compare1">, IntAttr<"range_start", 0, 16777215>], ["DVE"]> {
  let summary = "on_true where the position compares with both bounds, else the lowest fp32; optionally with the row maxima";
  let description = [{
    With i the position of an element among the free elements of its partition and x = range_start + i: where both
    (x compare0 bound0) and (x compare1 bound1) hold the element of on_true, else the lowest finite fp32, which becomes
    minus infinity in narrower types. The bounds are one fp32 per partition. `reduce`, when present, receives the maximum
    over the free elements of each partition of the fp32 results before conversion; NaN if one is NaN (ours). Masks of
    attention, whose rows have bounds of their own, need no mask in memory.
  }];
  let source = "ISA32 range_select";
  let since = 3;
  let rules = [
    SameShape<"dst", "on_true", "ISA32 range_select">,
    Rule<21, "info(compare0).kind == AluKind::Compare && info(compare1).kind == AluKind::Compare",
         "expected two comparisons, but got '{name(compare0)}' and '{name(compare1)}'", "ISA32 range_select">,
    Rule<22, "bound0.isPointer && bound1.isPointer", "expected bounds of one value per partition, but got an immediate",
         "ISA32 range_select">,
    Rule<23, "range_start + int64_t(dst.elements()) <= 16777216",
         "expected positions below 2^24, but got {range_start} + {dst.elements()}", "ISA32 range_select">,
    Rule<24, "!reduce || (reduce->partitions == dst.partitions && reduce->elements() == 1)",
         "expected 'reduce' of {dst.partitions} partitions of one element, but got {reduce->partitions} of {reduce->elements()}",
         "ISA32 range_select">,
  ];
  let costs = [WorkCost<"DVE", "int64_t(dst.elements())", "documented (ISA26)">];
}
