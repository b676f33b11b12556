// RUN: trn-opt %s | trn-opt | FileCheck-22 %s
// RUN: trn-opt %s --mlir-print-op-generic | trn-opt | FileCheck-22 %s

// The one assembly form: outs, ins, optional and scalar operands by name, attributes.

// CHECK-LABEL: func.func @matmul
func.func @matmul(%d: memref<64x512xf32, #trn.psum>, %s: memref<128x64xbf16, #trn.sbuf>,
                  %m: memref<128x2x256xbf16, #trn.sbuf>, %first: i1) {
  // CHECK: trn.nc_matmul outs(%{{.*}} : memref<64x512xf32, #trn.psum>) ins(%{{.*}}, %{{.*}} : memref<128x64xbf16, #trn.sbuf>, memref<128x2x256xbf16, #trn.sbuf>) accumulate_if(%{{.*}})
  trn.nc_matmul outs(%d : memref<64x512xf32, #trn.psum>) ins(%s, %m : memref<128x64xbf16, #trn.sbuf>, memref<128x2x256xbf16, #trn.sbuf>) accumulate_if(%first)
  // CHECK: trn.nc_matmul {{.*}} {accumulate, load_stationary = false}
  trn.nc_matmul outs(%d : memref<64x512xf32, #trn.psum>) ins(%s, %m : memref<128x64xbf16, #trn.sbuf>, memref<128x2x256xbf16, #trn.sbuf>) {accumulate, load_stationary = false}
  return
}

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%a: memref<128x64xf32, #trn.sbuf>, %p: memref<128x64xf32, #trn.psum>,
                       %c: memref<128x1xf32, #trn.sbuf>, %r: memref<128xf32, #trn.sbuf>, %i: memref<128x64xi8, #trn.sbuf>) {
  // CHECK: trn.tensor_tensor outs({{.*}}) ins({{.*}}) {op = #trn.alu<subtract>}
  trn.tensor_tensor outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%a, %p : memref<128x64xf32, #trn.sbuf>, memref<128x64xf32, #trn.psum>) {op = #trn.alu<subtract>}
  // CHECK: trn.tensor_scalar outs({{.*}}) ins({{.*}}) operand1(%{{.*}} : memref<128x1xf32, #trn.sbuf>) {op0 = #trn.alu<multiply>, op1 = #trn.alu<add>, operand0_imm = 5.000000e-01 : f32}
  trn.tensor_scalar outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%p : memref<128x64xf32, #trn.psum>) operand1(%c : memref<128x1xf32, #trn.sbuf>) {op0 = #trn.alu<multiply>, op1 = #trn.alu<add>, operand0_imm = 0.5 : f32}
  // CHECK: trn.activation outs({{.*}}) ins({{.*}}) bias(%{{.*}} : memref<128x1xf32, #trn.sbuf>) reduce(%{{.*}} : memref<128xf32, #trn.sbuf>) {func = #trn.act<exp>, scale_imm = -1.000000e+00 : f32}
  trn.activation outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%p : memref<128x64xf32, #trn.psum>) bias(%c : memref<128x1xf32, #trn.sbuf>) reduce(%r : memref<128xf32, #trn.sbuf>) {func = #trn.act<exp>, scale_imm = -1.0 : f32}
  // CHECK: trn.activation outs({{.*}}) ins({{.*}}) {func = #trn.act<relu>}
  trn.activation outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%p : memref<128x64xf32, #trn.psum>) {func = #trn.act<relu>}
  // CHECK: trn.select
  trn.select outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%i, %a, %a : memref<128x64xi8, #trn.sbuf>, memref<128x64xf32, #trn.sbuf>, memref<128x64xf32, #trn.sbuf>)
  // CHECK: trn.memset outs({{.*}}) {value = 0.000000e+00 : f32}
  trn.memset outs(%a : memref<128x64xf32, #trn.sbuf>) {value = 0.0 : f32}
  // CHECK: trn.tensor_reduce outs({{.*}}) ins({{.*}}) {op = #trn.alu<max>}
  trn.tensor_reduce outs(%c : memref<128x1xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>) {op = #trn.alu<max>}
  // CHECK: trn.iota outs({{.*}}) {channel_multiplier = 64 : i32, pattern = array<i64: 1, 64>}
  trn.iota outs(%a : memref<128x64xf32, #trn.sbuf>) {pattern = array<i64: 1, 64>, channel_multiplier = 64 : i32}
  return
}

// Views and strides: a subview of free dimensions, a pooling window, a broadcast row of device memory.
// CHECK-LABEL: func.func @views
func.func @views(%x: memref<128x14x14xbf16, #trn.sbuf>, %d: memref<128x12x12xbf16, #trn.sbuf>, %h: memref<1x64xf32, #trn.hbm>, %b: memref<128x64xf32, #trn.sbuf>) {
  %v = memref.subview %x[0, 1, 1][128, 12, 12][1, 1, 1] : memref<128x14x14xbf16, #trn.sbuf> to memref<128x12x12xbf16, strided<[196, 14, 1], offset: 15>, #trn.sbuf>
  // CHECK: trn.tensor_copy
  trn.tensor_copy outs(%d : memref<128x12x12xbf16, #trn.sbuf>) ins(%v : memref<128x12x12xbf16, strided<[196, 14, 1], offset: 15>, #trn.sbuf>)
  %r = memref.reinterpret_cast %h to offset: [0], sizes: [128, 64], strides: [0, 1] : memref<1x64xf32, #trn.hbm> to memref<128x64xf32, strided<[0, 1]>, #trn.hbm>
  // CHECK: trn.dma_copy
  trn.dma_copy outs(%b : memref<128x64xf32, #trn.sbuf>) ins(%r : memref<128x64xf32, strided<[0, 1]>, #trn.hbm>)
  return
}

// CHECK-LABEL: func.func @scheduled
func.func @scheduled() {
  // CHECK: trn.alloc {address = 4096 : i64} : memref<128x4x512xf32, #trn.sbuf>
  %0 = trn.alloc {address = 4096 : i64} : memref<128x4x512xf32, #trn.sbuf>
  %1 = trn.alloc {address = 2048 : i64} : memref<128x512xf32, #trn.psum>
  // CHECK: trn.tensor_copy {{.*}} {aps = [#trn.ap<count = 64, offset = 512, dims = {{\[\[}}1, 512]]>, #trn.ap<start = 64, count = 64, dims = {{\[\[}}1, 512]]>], completion = 4000 : i64, engine = #trn.engine<DVE>, issue = 100 : i64, update = #trn.update<4, 1>, wait = #trn.wait<3, 7>}
  trn.tensor_copy outs(%0 : memref<128x4x512xf32, #trn.sbuf>) ins(%1 : memref<128x512xf32, #trn.psum>) {aps = [#trn.ap<count = 64, offset = 512, dims = [[1, 512]]>, #trn.ap<start = 64, count = 64, offset = 0, dims = [[1, 512]], row_step = 0>], engine = #trn.engine<DVE>, issue = 100 : i64, completion = 4000 : i64, wait = #trn.wait<3, 7>, update = #trn.update<4, 1>}
  // CHECK: trn.semaphore_wait {engine = #trn.engine<PE>, wait = #trn.wait<9, 2>}
  trn.semaphore_wait {engine = #trn.engine<PE>, wait = #trn.wait<9, 2>}
  // CHECK: trn.act_table_load {set = 2 : i32}
  trn.act_table_load {set = 2 : i32}
  return
}

// CHECK-LABEL: func.func @bits
func.func @bits(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xi32, #trn.sbuf>) {
  // CHECK: trn.bitcast %{{.*}} : memref<128x64xf32, #trn.sbuf> to memref<128x64xi32, #trn.sbuf>
  %0 = trn.bitcast %x : memref<128x64xf32, #trn.sbuf> to memref<128x64xi32, #trn.sbuf>
  trn.tensor_copy outs(%y : memref<128x64xi32, #trn.sbuf>) ins(%0 : memref<128x64xi32, #trn.sbuf>)
  // CHECK: trn.tensor_copy {{.*}}as = i32>]
  trn.tensor_copy outs(%y : memref<128x64xi32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) {aps = [#trn.ap<count = 128, dims = [[1, 64]]>, #trn.ap<count = 128, dims = [[1, 64]], as = i32>]}
  return
}

// CHECK: trn.global @q kind(input) io_name "q" host_type(f8E4M3FNUZ) : memref<2x8xf16, #trn.hbm>
trn.global @q kind(input) io_name "q" host_type(f8E4M3FNUZ) : memref<2x8xf16, #trn.hbm>
// CHECK: trn.global @x kind(input) io_name "x:0" : memref<2x8xf32, #trn.hbm>
trn.global @x kind(input) io_name "x:0" : memref<2x8xf32, #trn.hbm>
// CHECK: trn.global @ids kind(input) io_name "ids" host_type(i64) : memref<2x8xi32, #trn.hbm>
trn.global @ids kind(input) io_name "ids" host_type(i64) : memref<2x8xi32, #trn.hbm>
// CHECK: trn.global @w kind(weight) value(dense<1.000000e+00> : tensor<2x8xf32>) transforms([0]) : memref<2x8xf32, #trn.hbm>
trn.global @w kind(weight) value(dense<1.0> : tensor<2x8xf32>) transforms([0]) : memref<2x8xf32, #trn.hbm>
// CHECK-LABEL: func.func @globals
func.func @globals() {
  // CHECK: trn.get_global @x : memref<2x8xf32, #trn.hbm>
  %0 = trn.get_global @x : memref<2x8xf32, #trn.hbm>
  return
}

// CHECK-LABEL: func.func private @encodings
// CHECK-SAME: tensor<128x64xf32, #trn.sbuf>
func.func private @encodings(tensor<128x64xf32, #trn.sbuf>, tensor<4xf32, #trn.hbm>)
