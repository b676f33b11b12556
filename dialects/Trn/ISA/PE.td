//===- PE.td - instructions of the tensor engine ---------------*- tablegen -*-===//
//
// Sources: A2, A3 = NKI architecture guides v2, v3; ISA32, ISA26 = NKI ISA reference of SDK 2.32 and 2.26;
// M3, M2 = measured on Trn2 and Inf2 from public profiler dumps (device guide 11.3, 11.4).
//
//===--------------------------------------------------------------------------===//
include "dialects/Trn/ISA/Inst.td"

defvar kMatmulIn = ["BF16", "F16", "F32", "TF32", "F8E3", "F8E4", "F8E5", "F8E4FN"];

def NcMatmulOp : Inst<"nc_matmul", 0x10,
    [InOut<"dst", ["PSUM"], ["F32", "BF16"]>, In<"stationary", ["SBUF"], kMatmulIn>, In<"moving", ["SBUF"], kMatmulIn>],
    [FlagAttr<"accumulate">, TrueByDefaultAttr<"load_stationary">], ["PE"],
    "accumulate_if"> {
  let summary = "matrix multiplication into PSUM";
  let description = [{
    dst[m, n] (+)= sum over k of stationary[k, m] * moving[k, n], with k the partition of both inputs, m the partition
    of dst and the free position in stationary, n the free position in moving and dst. Products and sums are fp32.
    Without `accumulate` dst is overwritten. `load_stationary` is false when the array already holds the same stationary
    operand from the previous matmul of the queue. In the stage `selected` the predicate `accumulate_if`, over the
    enclosing loops, stands in for `accumulate`.
  }];
  let source = "ISA32 nc_matmul; A2";
  let readsDestination = "op.getAccumulate() || op.getAccumulateIf()";
  let rules = [
    Rule<20, "stationary.partitions == moving.partitions",
         "expected stationary and moving on equally many partitions (the contraction), but got {stationary.partitions} and {moving.partitions}",
         "ISA32 nc_matmul">,
    Rule<21, "dst.partitions == stationary.elements()",
         "expected one partition of 'dst' per column of 'stationary' ({stationary.elements()}), but got {dst.partitions}",
         "ISA32 nc_matmul">,
    Rule<22, "dst.elements() == moving.elements()",
         "expected as many elements per partition of 'dst' as columns of 'moving' ({moving.elements()}), but got {dst.elements()}",
         "ISA32 nc_matmul">,
    Rule<23, "stationary.elements() <= uint64_t(device.partitions)",
         "expected at most {device.partitions} columns of 'stationary', but got {stationary.elements()}", "ISA32 nc_matmul">,
    Rule<24, "moving.elements() <= uint64_t(device.matmulMovingMax)",
         "expected at most {device.matmulMovingMax} columns of 'moving', but got {moving.elements()}; tile the free dimension",
         "ISA32 nc_matmul">,
    Rule<25, "isWide(stationary.dtype) == isWide(moving.dtype)",
         "expected fp32 or tf32 only together, but got {name(stationary.dtype)} and {name(moving.dtype)}",
         "ISA32 nc_matmul">,
    Rule<26, "dst.dtype == DType::F32 || device.version >= 4",
         "expected an fp32 'dst' before core version 4, but got {name(dst.dtype)}", "ISA32 nc_matmul; A4">,
    Rule<27, "device.version >= 4 || inOneBank(device, dst)",
         "expected 'dst' inside one PSUM bank of {device.psumBankBytes} bytes, but it spans bytes {firstByte(dst)} to {lastByte(dst)}",
         "ISA32 nc_matmul", "Address">,
  ];
  // Interval: A2 states max(N, 64), ISA26 max(min(64, M), N); A2 is the safer one. Measured 216 ns for N = 512 bf16
  // (519 cycles) and 428.5 ns for one of the two fp32 instructions of 512 columns (M3). Latency: M3 duration minus
  // moving / clock = 163 ns; M2 141.5 + 0.407 N.
  let costs = [Cost<"PE",
      "std::max<int64_t>(device.minInterval, moving.elements()) * passes(stationary.dtype, moving.dtype)",
      "fixed(device, engine) + int64_t(moving.elements()) * passes(stationary.dtype, moving.dtype)",
      "documented (A2, ISA26), measured (M3, M2)">];
}

def NcTransposeOp : Inst<"nc_transpose", 0x11,
    [Out<"dst", ["PSUM"], ["BF16", "F16", "F32"]>, In<"src", ["SBUF"], ["BF16", "F16", "F32"]>], [], ["PE"]> {
  let summary = "transpose partitions and free elements through the tensor engine";
  let description = [{
    dst[f, p] = src[p, f] for up to 128 x 128 elements; the free dimensions of src are flattened in order. Values are
    passed through unchanged (the transpose mode of v3; on v2 a multiplication by the identity, which smears NaN and
    infinity over a row: the emulator passes them through there too, ours).
  }];
  let source = "ISA32 nc_transpose; A3";
  let rules = [
    Rule<20, "src.elements() <= uint64_t(device.partitions)",
         "expected at most {device.partitions} elements per partition of 'src', but got {src.elements()}", "ISA32 nc_transpose">,
    Rule<21, "dst.partitions == src.elements() && dst.elements() == src.partitions",
         "expected a 'dst' of {src.elements()} partitions of {src.partitions} elements, but got {dst.partitions} of {dst.elements()}",
         "ISA32 nc_transpose">,
    Rule<22, "dst.dtype == src.dtype",
         "expected equal element types, but got {name(dst.dtype)} and {name(src.dtype)}", "ISA32 nc_transpose">,
    Rule<23, "device.version >= 4 || inOneBank(device, dst)",
         "expected 'dst' inside one PSUM bank of {device.psumBankBytes} bytes, but it spans bytes {firstByte(dst)} to {lastByte(dst)}",
         "A2", "Address">,
  ];
  // ISA26 max(P, min(64, F)); the interval never falls below 64 (A2). fp32: four passes on v2, two in the transpose
  // mode of v3 (A3; M3: 109 ns for 128 columns fp32, 56 ns bf16).
  let costs = [Cost<"PE",
      "std::max<int64_t>(device.minInterval, src.partitions) * (isWide(src.dtype) ? device.fp32TransposePasses : 1)",
      "fixed(device, engine) + int64_t(src.partitions) * (isWide(src.dtype) ? device.fp32TransposePasses : 1)",
      "documented (ISA26, A3), measured (M3)">];
}
