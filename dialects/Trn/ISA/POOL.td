//===- POOL.td - instructions of the GpSimd engine -------------*- tablegen -*-===//
//
// POOL reads and writes SBUF only (A2). Elementwise instructions that it shares with DVE are in DVE.td. Sources: as
// PE.td. Costs: 150 cycles start-up (ISA26) plus the printed or suggested work (device guide 3.4, 3.6).
//
//===--------------------------------------------------------------------------===//
include "dialects/Trn/ISA/Inst.td"

defvar kSbuf = ["SBUF"];

class PoolOnlyCost<string work, string source>
    : Cost<"POOL", "interval(device, engine, device.poolStart + " # work # ")", "device.poolStart + " # work, source>;

def IotaOp : Inst<"iota", 0x60, [Out<"dst", kSbuf, kCompute>],
    [PatternAttr<"pattern">, IntAttr<"offset", -16777216, 16777216, 0>, IntAttr<"channel_multiplier", -16777216, 16777216, 0>],
    ["POOL"]> {
  let summary = "index pattern";
  let description = [{
    Element k of partition p becomes offset + p * channel_multiplier + sum over the pattern's dimensions of index * step,
    in int32, converted to the type of dst. The pattern has as many elements as a partition of dst, in order.
  }];
  let source = "ISA32 iota";
  let rules = [
    Rule<20, "pattern.elements() == dst.elements()",
         "expected a pattern of {dst.elements()} elements, but got {pattern.elements()}", "ISA32 iota">,
  ];
  let costs = [PoolOnlyCost<"int64_t(dst.elements())", "documented (ISA26)">];
}

def AffineSelectOp : Inst<"affine_select", 0x61, [Out<"dst", kSbuf, kCompute>, In<"on_true", kSbuf, kCompute>],
    [PatternAttr<"pattern">, AluAttr<"compare">, FloatAttr<"on_false">, IntAttr<"offset", -16777216, 16777216, 0>,
     IntAttr<"channel_multiplier", -16777216, 16777216, 0>], ["POOL"]> {
  let summary = "(index pattern compared with 0) ? on_true : on_false";
  let description = [{
    The affine value of `iota` is compared with zero; where that holds the element of on_true is taken, else the constant
    on_false. Causal masks and triangles need no mask in memory.
  }];
  let source = "ISA32 affine_select; KLR";
  let rules = [
    Rule<20, "dst.partitions == on_true.partitions && dst.elements() == on_true.elements()",
         "expected 'dst' and 'on_true' of one shape, but got {dst.partitions} x {dst.elements()} and {on_true.partitions} x {on_true.elements()}",
         "ISA32 affine_select">,
    Rule<21, "pattern.elements() == dst.elements()",
         "expected a pattern of {dst.elements()} elements, but got {pattern.elements()}", "ISA32 affine_select">,
    Rule<22, "compare == AluOp::IsGt || compare == AluOp::IsGe || compare == AluOp::IsEq || compare == AluOp::IsNe",
         "expected is_gt, is_ge, is_eq or is_ne, but got '{name(compare)}'", "KLR">,
  ];
  let costs = [PoolOnlyCost<"int64_t(dst.elements())", "documented (ISA26)">];
}

def PartitionReduceOp : Inst<"partition_reduce", 0x62, [Out<"dst", kSbuf, kCompute>, In<"src", kSbuf, kCompute>],
    [AluAttr<"op">], ["POOL"]> {
  let summary = "reduce across partitions";
  let description = "dst[0, k] = op over p of src[p, k], in order of p. Slow: prefer a matmul with ones.";
  let source = "ISA32 tensor_partition_reduce";
  let rules = [
    Rule<20, "dst.partitions == 1 && dst.elements() == src.elements()",
         "expected 'dst' of 1 partition of {src.elements()} elements, but got {dst.partitions} of {dst.elements()}",
         "ISA32 tensor_partition_reduce">,
    Rule<21, "op == AluOp::Add || op == AluOp::Average || op == AluOp::Max || op == AluOp::BitwiseOr || op == AluOp::BitwiseAnd",
         "expected add, average, max, bitwise_or or bitwise_and, but got '{name(op)}'", "ISA32 tensor_partition_reduce">,
    Rule<22, "!isBitwise(op) || (isInteger(dst.dtype) && dst.dtype == src.dtype)",
         "expected equal integer types with '{name(op)}', but got {name(dst.dtype)} and {name(src.dtype)}",
         "ISA32 tensor_partition_reduce">,
  ];
  let costs = [PoolOnlyCost<"8 * int64_t(src.elements())", "inferred (device guide 3.6)">];
}

def LocalGatherOp : Inst<"local_gather", 0x63,
    [Out<"dst", kSbuf, kCompute>, In<"src", kSbuf, kCompute>, In<"indices", kSbuf, ["U16"]>],
    [IntAttr<"elements_per_index", 1, 32>], ["POOL"]> {
  let summary = "gather along the free elements, 16 partitions at a time";
  let description = [{
    Each of the eight cores flattens the indices of its 16 partitions, partition first (index k lies in partition
    k mod 16 at position k / 16), and copies for each of its 16 partitions and each index i the elements
    src[p, i * e .. i * e + e) with e = elements_per_index. An index out of range is an error of the program.
  }];
  let source = "ISA32 local_gather";
  let rules = [
    Rule<20, "src.partitions % 16 == 0 && src.partitions == indices.partitions && dst.partitions == src.partitions",
         "expected equal multiples of 16 partitions, but got {dst.partitions}, {src.partitions} and {indices.partitions}",
         "ISA32 local_gather">,
    Rule<21, "dst.elements() == 16 * indices.elements() * uint64_t(elements_per_index)",
         "expected {16 * indices.elements() * uint64_t(elements_per_index)} elements per partition of 'dst', but got {dst.elements()}",
         "ISA32 local_gather">,
    Rule<22, "(elements_per_index & (elements_per_index - 1)) == 0",
         "expected a power of two per index, but got {elements_per_index}", "ISA32 local_gather">,
    Rule<23, "16 * indices.elements() <= 4096",
         "expected at most 4096 indices per core, but got {16 * indices.elements()}", "ISA32 local_gather">,
    Rule<24, "dst.dtype == src.dtype", "expected equal element types, but got {name(dst.dtype)} and {name(src.dtype)}",
         "ISA32 local_gather">,
    Rule<25, "src.elements() % uint64_t(elements_per_index) == 0",
         "expected whole groups of {elements_per_index} elements in 'src', but got {src.elements()} elements", "ours">,
  ];
  // The page prints 150 + n*e / C, but C behaves as cycles per element (device guide 3.4): n * e * C.
  let costs = [PoolOnlyCost<"localGatherWork(indices, elements_per_index, src.bytes())", "inferred (device guide 3.4)">];
}

def NcNGatherOp : Inst<"nc_n_gather", 0x64,
    [Out<"dst", kSbuf, kCompute>, In<"src", kSbuf, kCompute>, In<"indices", kSbuf, ["U32", "I32"]>], [], ["POOL"]> {
  let summary = "dst[p, j] = src[p, indices[p, j]]";
  let description = "An index out of range is an error of the program. int32 indices are ours.";
  let source = "ISA32 nc_n_gather";
  let rules = [
    Rule<20, "dst.partitions == indices.partitions && dst.elements() == indices.elements() && src.partitions == dst.partitions",
         "expected 'dst' and 'indices' of one shape on the partitions of 'src', but got {dst.partitions} x {dst.elements()}, {indices.partitions} x {indices.elements()} and {src.partitions} partitions",
         "ISA32 nc_n_gather">,
    Rule<21, "dst.dtype == src.dtype", "expected equal element types, but got {name(dst.dtype)} and {name(src.dtype)}",
         "ISA32 nc_n_gather">,
  ];
  let costs = [PoolOnlyCost<"(int64_t(dst.elements()) + 511) / 512 * device.poolStart - device.poolStart + 2 * int64_t(dst.elements())",
                            "inferred (device guide 3.6)">];
}
