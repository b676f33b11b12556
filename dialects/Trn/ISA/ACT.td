//===- ACT.td - instructions of the scalar engine --------------*- tablegen -*-===//
//
// Sources: as PE.td; SH32 = NKI shared tables of SDK 2.32.
//
//===--------------------------------------------------------------------------===//
include "dialects/Trn/ISA/Inst.td"

def ActivationOp : Inst<"activation", 0x20,
    [Out<"dst", ["SBUF", "PSUM"], kCompute>, In<"src", ["SBUF", "PSUM"], kCompute>,
     ScalarIn<"scale", kFp32, "1.0f">, ScalarIn<"bias", ["F32", "BF16", "F16", "F8E3", "F8E4", "F8E5"], "0.0f">,
     OptionalOut<"reduce", ["SBUF", "PSUM"], ["F32"]>],
    [ActAttr<"func">], ["ACT"]> {
  let summary = "func(src * scale + bias), optionally with the row sums";
  let description = [{
    dst = func(src * scale + bias) element by element in fp32, converted to the element type of dst. `scale` and `bias`
    are immediates (1 and 0 when absent) or one value per partition. `reduce`, when present, receives the sum over the
    free elements of each partition of the fp32 results before conversion. The function's table set must be loaded
    (act_table_load) when it is not set 0.
  }];
  let source = "ISA32 activation; A2";
  let rules = [
    Rule<20, "dst.partitions == src.partitions && dst.elements() == src.elements()",
         "expected 'dst' and 'src' of one shape, but got {dst.partitions} x {dst.elements()} and {src.partitions} x {src.elements()}",
         "ISA32 activation">,
    Rule<21, "device.version >= 3 || bias.isPointer || bias.immediate == 0.0f",
         "expected 'bias' as one value per partition on core version 2, but got the immediate {bias.immediate}",
         "ISA32 activation">,
    Rule<22, "device.version >= 3 || func != ActivationFunc::Reciprocal || (!bias.isPointer && bias.immediate == 0.0f)",
         "expected no 'bias' with the reciprocal on core version 2", "ISA32 activation">,
    Rule<23, "!reduce || (reduce->partitions == src.partitions && reduce->elements() == 1)",
         "expected 'reduce' of {src.partitions} partitions of one element, but got {reduce->partitions} of {reduce->elements()}",
         "ISA32 activation">,
  ];
  // Work N (ISA26), 0.836 ns per element measured at 1.2 GHz; read-out of the sums about 64 cycles (A2). The function
  // other than a copy adds device.actFunctionNs (M3: 278 against 157 ns).
  let costs = [Cost<"ACT",
      "interval(device, engine, actWork(device, func, dst, src)) + (reduce ? device.minInterval : 0)",
      "fixed(device, engine) + (func != ActivationFunc::Copy ? device.cycles(engine, device.actFunctionNs) : 0) + actWork(device, func, dst, src) + (reduce ? device.minInterval : 0)",
      "documented (ISA26, A2), measured (M3, M2)">];
}

def ActTableLoadOp : Inst<"act_table_load", 0x21, [], [IntAttr<"set", 0, 15>], ["ACT"]> {
  let summary = "load a set of activation tables";
  let description = [{
    Makes the functions of one table set (ScalarOps.td) computable; the compiler issues it where the set changes.
    Set 0 needs no load.
  }];
  let source = "M3, M2 (ACT_TABLE_LOAD in profiles)";
  let rules = [
    Rule<20, "set < kNumActivationTableSets",
         "expected a table set below {kNumActivationTableSets}, but got {set}", "ours (ScalarOps.td)">,
  ];
  let costs = [Cost<"ACT", "device.cycles(engine, device.actTableLoadNs)", "device.cycles(engine, device.actTableLoadNs)",
                    "measured (M3: 1283 ns always; M2: 368 ns)">];
}
