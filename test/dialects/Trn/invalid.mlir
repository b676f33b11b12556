// RUN: trn-opt %s --split-input-file --verify-diagnostics

trn.program inputs([]) outputs([]) {
  // expected-error @+1 {{expected a limit from 0 to 2147483647 but got 2147483648}}
  trn.repeat limit(2147483648) carried([]) {
  }
}

// -----

trn.program inputs([]) outputs([]) {
  // expected-error @+1 {{expected a limit from 0 to 2147483647 but got -1}}
  trn.repeat limit(-1) carried([]) {
  }
}

// -----

trn.program inputs(["n"]) outputs([]) {
  // expected-error @+1 {{expected a limit of 2147483647 beside a count but got 5; bound the count where it is computed}}
  trn.repeat count("n") limit(5) carried([]) {
  }
}

// -----

trn.program inputs([]) outputs([]) {
  // expected-error @+1 {{expected a module 'part0' beside the program}}
  trn.run @part0
}

// -----

func.func @part0() {
  return
}
trn.program inputs([]) outputs([]) {
  trn.repeat limit(3) carried([]) {
    // expected-error @+1 {{expected a module 'part0' beside the program}}
    trn.run @part0
  }
}

// -----

// expected-error @+1 {{expected an element type of the machine, but got 'memref<4x4xindex, #trn.hbm>'}}
trn.global @x kind(input) io_name "x" : memref<4x4xindex, #trn.hbm>

// -----

// expected-error @+1 {{expected at most 8 dimensions, as executables have, but got}}
trn.global @x kind(input) io_name "x" : memref<1x1x1x1x1x1x1x1x4xf32, #trn.hbm>

// -----

// expected-error @+1 {{expected the default layout, but got}}
trn.global @x kind(input) io_name "x" : memref<4x4xf32, strided<[1, 4]>, #trn.hbm>

// -----

func.func @alloc_of_index() {
  // expected-error @+1 {{expected an element type of the machine, but got 'memref<4xindex, #trn.hbm>'}}
  %0 = trn.alloc : memref<4xindex, #trn.hbm>
  return
}

// -----

func.func @order_in_a_function() {
  // expected-error @+1 {{expects parent op to be one of 'trn.program, trn.repeat, trn.either'}}
  trn.run @order_in_a_function
  return
}

// -----

func.func @space(%d: memref<64x32xf32, #trn.sbuf>, %s: memref<128x64xbf16, #trn.sbuf>, %m: memref<128x32xbf16, #trn.sbuf>) {
  // expected-error @+1 {{'trn.nc_matmul' op operand 'dst': expected memory space psum, but got sbuf (rule 1, A2 memory access table)}}
  trn.nc_matmul outs(%d : memref<64x32xf32, #trn.sbuf>) ins(%s, %m : memref<128x64xbf16, #trn.sbuf>, memref<128x32xbf16, #trn.sbuf>)
  return
}

// -----

func.func @contraction(%d: memref<64x32xf32, #trn.psum>, %s: memref<128x64xbf16, #trn.sbuf>, %m: memref<96x32xbf16, #trn.sbuf>) {
  // expected-error @+1 {{'trn.nc_matmul' op expected stationary and moving on equally many partitions (the contraction), but got 128 and 96 (rule 20, ISA32 nc_matmul)}}
  trn.nc_matmul outs(%d : memref<64x32xf32, #trn.psum>) ins(%s, %m : memref<128x64xbf16, #trn.sbuf>, memref<96x32xbf16, #trn.sbuf>)
  return
}

// -----

// Several rules at once: the first is the error, the others are notes.
func.func @several(%d: memref<64x33xf32, #trn.psum>, %s: memref<128x64xbf16, #trn.sbuf>, %m: memref<96x32xf32, #trn.sbuf>) {
  // expected-error @+3 {{(rule 20, ISA32 nc_matmul)}}
  // expected-note @+2 {{also: expected as many elements per partition of 'dst' as columns of 'moving' (32), but got 33 (rule 22, ISA32 nc_matmul)}}
  // expected-note @+1 {{also: expected fp32 or tf32 only together, but got bf16 and fp32 (rule 25, ISA32 nc_matmul)}}
  trn.nc_matmul outs(%d : memref<64x33xf32, #trn.psum>) ins(%s, %m : memref<128x64xbf16, #trn.sbuf>, memref<96x32xf32, #trn.sbuf>)
  return
}

// -----

func.func @no_space(%d: memref<64x32xf32>, %s: memref<64x32xf32, #trn.sbuf>) {
  // expected-error @+1 {{'trn.tensor_copy' op operand 'dst': expected memory space #trn.hbm, #trn.sbuf or #trn.psum, but got 'memref<64x32xf32>'}}
  trn.tensor_copy outs(%d : memref<64x32xf32>) ins(%s : memref<64x32xf32, #trn.sbuf>)
  return
}

// -----

func.func @partitions(%d: memref<129x32xf32, #trn.sbuf>) {
  // expected-error @+1 {{'trn.memset' op operand 'dst': expected at most 128 partitions, but got 129 (rule 4, A2)}}
  trn.memset outs(%d : memref<129x32xf32, #trn.sbuf>) {value = 0.0 : f32}
  return
}

// -----

func.func @dynamic(%d: memref<128x?xf32, #trn.sbuf>) {
  // expected-error @+1 {{'trn.memset' op operand 'dst': expected a static shape, but got 'memref<128x?xf32, #trn.sbuf>'}}
  trn.memset outs(%d : memref<128x?xf32, #trn.sbuf>) {value = 0.0 : f32}
  return
}

// -----

func.func @element_type(%d: memref<128x4xf80, #trn.sbuf>) {
  // expected-error @+1 {{'trn.memset' op operand 'dst': expected an element type of the machine, but got 'memref<128x4xf80, #trn.sbuf>'}}
  trn.memset outs(%d : memref<128x4xf80, #trn.sbuf>) {value = 0.0 : f32}
  return
}

// -----

func.func @rank(%d: memref<128x2x2x2x2x2xf32, strided<[1000, 500, 200, 90, 40, 3]>, #trn.sbuf>) {
  // expected-error @+1 {{expected at most four free dimensions that are not one run of memory}}
  trn.memset outs(%d : memref<128x2x2x2x2x2xf32, strided<[1000, 500, 200, 90, 40, 3]>, #trn.sbuf>) {value = 0.0 : f32}
  return
}

// -----

func.func @merges(%d: memref<128x2x2x2x2x2xf32, #trn.sbuf>) {
  trn.memset outs(%d : memref<128x2x2x2x2x2xf32, #trn.sbuf>) {value = 0.0 : f32}
  return
}

// -----

func.func @scalar_neither(%a: memref<128x64xf32, #trn.sbuf>) {
  // expected-error @+1 {{expected a memref or 'operand0_imm' for 'operand0', but got neither}}
  trn.tensor_scalar outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>) {op0 = #trn.alu<add>}
  return
}

// -----

func.func @scalar_both(%a: memref<128x64xf32, #trn.sbuf>, %c: memref<128x1xf32, #trn.sbuf>) {
  // expected-error @+1 {{expected either a memref or an immediate for 'operand0', but got both}}
  trn.tensor_scalar outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>) operand0(%c : memref<128x1xf32, #trn.sbuf>) {op0 = #trn.alu<add>, operand0_imm = 1.0 : f32}
  return
}

// -----

func.func @scalar_shape(%a: memref<128x64xf32, #trn.sbuf>, %c: memref<64x1xf32, #trn.sbuf>) {
  // expected-error @+1 {{operand 'operand0': expected one element on each of 128 partitions, but got 64 x 1 (rule 12, ISA32)}}
  trn.tensor_scalar outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>) operand0(%c : memref<64x1xf32, #trn.sbuf>) {op0 = #trn.alu<add>}
  return
}

// -----

func.func @broadcast_write(%a: memref<128x64xf32, strided<[64, 0]>, #trn.sbuf>) {
  // expected-error @+1 {{operand 'dst': expected each element written once, but the pattern has a step of 0 (rule 11, ours)}}
  trn.memset outs(%a : memref<128x64xf32, strided<[64, 0]>, #trn.sbuf>) {value = 0.0 : f32}
  return
}

// -----

func.func @axes(%a: memref<128x64xf32, #trn.sbuf>, %c: memref<128xf32, #trn.sbuf>) {
  // expected-error @+1 {{attribute 'axes': expected 1 to 4, but got 5}}
  trn.tensor_reduce outs(%c : memref<128xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>) {op = #trn.alu<add>, axes = 5 : i32}
  return
}

// -----

func.func @mask(%a: memref<32x64xf32, #trn.sbuf>) {
  // expected-error @+1 {{attribute 'mask': expected 32 numbers, but got 2}}
  trn.nc_stream_shuffle outs(%a : memref<32x64xf32, #trn.sbuf>) ins(%a : memref<32x64xf32, #trn.sbuf>) {mask = array<i32: 0, 1>}
  return
}

// -----

func.func @pattern(%a: memref<32x64xf32, #trn.sbuf>) {
  // expected-error @+1 {{attribute 'pattern': expected up to 4 pairs of step and count, but got 3 numbers}}
  trn.iota outs(%a : memref<32x64xf32, #trn.sbuf>) {pattern = array<i64: 1, 64, 2>}
  return
}

// -----

func.func @engine(%a: memref<128x64xf32, #trn.sbuf>) {
  // expected-error @+1 {{'reciprocal' does not run on ACT (rule 16, SH26 operator table)}}
  trn.reciprocal outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>) {engine = #trn.engine<ACT>}
  return
}

// -----

func.func @pool_psum(%a: memref<128x64xf32, #trn.sbuf>, %p: memref<128x64xf32, #trn.psum>) {
  // expected-error @+1 {{operand 'src': expected sbuf on POOL, but got psum (rule 17, A2 memory access table)}}
  trn.tensor_copy outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%p : memref<128x64xf32, #trn.psum>) {engine = #trn.engine<POOL>}
  return
}

// -----

func.func @aps_count(%a: memref<128x64xf32, #trn.sbuf>) {
  // expected-error @+1 {{expected one #trn.ap in 'aps' per memref operand}}
  trn.tensor_copy outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>) {aps = [#trn.ap<count = 128, dims = [[1, 64]]>]}
  return
}

// -----

func.func @ring(%a: memref<128x64xf32, #trn.sbuf>) {
  // expected-error @+1 {{expected a ring below 16 on DMA instructions only, but got 1}}
  trn.tensor_copy outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>) {ring = 1 : i32}
  return
}

// -----

func.func @dma_update(%a: memref<128x64xf32, #trn.sbuf>, %h: memref<128x64xf32, #trn.hbm>) {
  // expected-error @+1 {{expected a DMA to add 16 (1 by each DMA engine, DMAO), but got 1}}
  trn.dma_copy outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%h : memref<128x64xf32, #trn.hbm>) {update = #trn.update<0, 1>}
  return
}

// -----

func.func @semaphore() {
  // expected-error @+1 {{expected a semaphore below 256 and a value of at most 65535, but got #trn.wait<256, 1>}}
  trn.nop {wait = #trn.wait<256, 1>}
  return
}

// -----

func.func @alloc_space() {
  // expected-error @+1 {{expected memory space #trn.sbuf, #trn.psum or #trn.hbm, but got type 'memref<4xf32>'}}
  %0 = trn.alloc : memref<4xf32>
  return
}

// -----

func.func @alloc_partitions() {
  // expected-error @+1 {{expected dimension 0 to be at most 128 partitions (A2), but got 'memref<256x4xf32, #trn.sbuf>'}}
  %0 = trn.alloc : memref<256x4xf32, #trn.sbuf>
  return
}

// -----

// expected-error @+1 {{expected a 'value' for a weight}}
trn.global @w kind(weight) : memref<2x8xf32, #trn.hbm>

// -----

// expected-error @+1 {{expected memory space #trn.hbm, but got type 'memref<2x8xf32, #trn.sbuf>'}}
trn.global @x kind(input) : memref<2x8xf32, #trn.sbuf>

// -----

// expected-error @+1 {{expected a 'host_type' that the device narrows to 'i16' (64-bit integers to 32 bits, smaller ones and i1 to a byte, floats of at most 8 bits to 16), but got 'i64'}}
trn.global @x kind(input) host_type(i64) : memref<2x8xi16, #trn.hbm>

// -----

// expected-error @+1 {{expected 'host_type' for inputs and outputs only}}
trn.global @x kind(weight) host_type(i64) value(dense<1> : tensor<2x8xi32>) : memref<2x8xi32, #trn.hbm>

// -----

// expected-error @+1 {{expected 'trn.model_macs' to be a count of type i64 on a module, but got -1 : i64}}
module attributes {trn.model_macs = -1 : i64} {}

// -----

// expected-note @+1 {{the global is here}}
trn.global @x kind(input) : memref<2x8xf32, #trn.hbm>
func.func @get_global() {
  // expected-error @+1 {{expected the type of the global, 'memref<2x8xf32, #trn.hbm>', but got 'memref<2x9xf32, #trn.hbm>'}}
  %0 = trn.get_global @x : memref<2x9xf32, #trn.hbm>
  return
}

// -----

func.func @no_global() {
  // expected-error @+1 {{'y' does not name a trn.global}}
  %0 = trn.get_global @y : memref<2x9xf32, #trn.hbm>
  return
}

// -----

// expected-error @+1 {{'n' does not name a trn.global}}
trn.global @y kind(output) io_name "y" {count = @n, count_dim = 1 : i64} : memref<2x12xi32, #trn.hbm>

// -----

// expected-error @+1 {{expected an output of one 32-bit integer as 'count', but got 'memref<2xi32, #trn.hbm>'}}
trn.global @y kind(output) io_name "y" {count = @n, count_dim = 1 : i64} : memref<2x12xi32, #trn.hbm>
// expected-note @+1 {{the global is here}}
trn.global @n kind(output) io_name "n" : memref<2xi32, #trn.hbm>

// -----

func.func @scalar_has_math(%x: f32) -> f32 {
  // expected-error @+1 {{expected a function that arith and math do not have, but got 'exp'; use math.exp or an arith operation}}
  %0 = trn.scalar exp %x : f32
  return %0 : f32
}

// -----

func.func @scalar_unknown(%x: f32) -> f32 {
  // expected-error @+1 {{expected an activation function, but got 'frobnicate'}}
  %0 = trn.scalar frobnicate %x : f32
  return %0 : f32
}

// -----

// expected-error @+1 {{expected start, count, offset, dims, row_step or as, but got 'size'}}
func.func private @ap_field() attributes {a = #trn.ap<size = 3>}

// -----

// expected-error @+1 {{expected a step of 32 bits and a count of at least 1, but got [1, 0]}}
func.func private @ap_empty() attributes {a = #trn.ap<count = 1, dims = [[1, 0]]>}

// -----

func.func @bits_of_another_size(%x: memref<128x64xf32, #trn.sbuf>) {
  // expected-error @+1 {{expected elements of one size, but got 'f32' and 'i16'}}
  %0 = trn.bitcast %x : memref<128x64xf32, #trn.sbuf> to memref<128x64xi16, #trn.sbuf>
  return
}

// -----

func.func @bits_of_another_shape(%x: memref<128x64xf32, #trn.sbuf>) {
  // expected-error @+1 {{expected types that differ in their elements only}}
  %0 = trn.bitcast %x : memref<128x64xf32, #trn.sbuf> to memref<128x32xi32, #trn.sbuf>
  return
}

// -----

func.func @read_as_another_size(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xi16, #trn.sbuf>) {
  // expected-error @+1 {{operand 'src': expected a type of the size of 'f32', but got 'i16'}}
  trn.tensor_copy outs(%y : memref<128x64xi16, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) {aps = [#trn.ap<count = 128, dims = [[1, 64]]>, #trn.ap<count = 128, dims = [[1, 64]], as = i16>]}
  return
}
