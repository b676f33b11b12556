// RUN: trn-opt %s --trn-flatten --split-input-file | %FileCheck %s

// A loop becomes its iterations; views become patterns of the base buffers; what is written is an output.
// CHECK-LABEL: module
// CHECK-DAG: trn.global @x kind({{ ?}}input) io_name "x" : memref<128x2x64xf32, #trn.hbm>
// CHECK-DAG: trn.global @arg1 kind({{ ?}}output) io_name "arg1"
// CHECK: func.func @loop() {
// CHECK-NOT: scf.for
// CHECK-NOT: memref.subview
// CHECK: trn.dma_copy {{.*}}aps = [#trn.ap<count = 128, dims = {{\[}}[1, 64]]>, #trn.ap<count = 128, dims = {{\[}}[1, 64]], row_step = 128>]
// CHECK: trn.dma_copy {{.*}}aps = [#trn.ap<count = 128, dims = {{\[}}[1, 64]]>, #trn.ap<count = 128, offset = 64, dims = {{\[}}[1, 64]], row_step = 128>]
func.func @loop(%x: memref<128x2x64xf32, #trn.hbm> {trn.name = "x"}, %y: memref<128x64xf32, #trn.hbm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %t = memref.alloc() : memref<128x64xf32, #trn.sbuf>
    %v = memref.subview %x[0, %i, 0] [128, 1, 64] [1, 1, 1]
      : memref<128x2x64xf32, #trn.hbm> to memref<128x64xf32, strided<[128, 1], offset: ?>, #trn.hbm>
    trn.dma_copy outs(%t : memref<128x64xf32, #trn.sbuf>)
                 ins(%v : memref<128x64xf32, strided<[128, 1], offset: ?>, #trn.hbm>)
    trn.dma_copy outs(%y : memref<128x64xf32, #trn.hbm>) ins(%t : memref<128x64xf32, #trn.sbuf>)
  }
  return
}

// -----

// What reads other elements than the buffer has says so in its pattern.
// CHECK-LABEL: func.func @bits
// CHECK: trn.tensor_copy {{.*}}ins(%{{.*}} : memref<128x64xf32, #trn.sbuf>){{.*}}#trn.ap<count = 128, dims = {{\[}}[1, 64]], as = i32>]
func.func @bits() {
  %x = memref.alloc() : memref<128x64xf32, #trn.sbuf>
  %y = memref.alloc() : memref<128x64xi32, #trn.sbuf>
  %bits = trn.bitcast %x : memref<128x64xf32, #trn.sbuf> to memref<128x64xi32, #trn.sbuf>
  trn.tensor_copy outs(%y : memref<128x64xi32, #trn.sbuf>) ins(%bits : memref<128x64xi32, #trn.sbuf>)
  return
}

// -----

// Views compose: a collapsed window of a slice, with the partition start kept apart from the offset.
// CHECK-LABEL: func.func @views
// CHECK: trn.tensor_copy {{.*}}aps = [#trn.ap<count = 32, dims = {{\[}}[1, 12]]>, #trn.ap<start = 64, count = 32, offset = 9, dims = {{\[}}[8, 3], [1, 4]]>]
func.func @views() {
  %x = memref.alloc() : memref<128x8x8xf32, #trn.sbuf>
  %y = memref.alloc() : memref<32x12xf32, #trn.sbuf>
  %a = memref.subview %x[64, 0, 0] [32, 6, 8] [1, 1, 1]
    : memref<128x8x8xf32, #trn.sbuf> to memref<32x6x8xf32, strided<[64, 8, 1], offset: 4096>, #trn.sbuf>
  %b = memref.subview %a[0, 1, 1] [32, 3, 4] [1, 1, 1]
    : memref<32x6x8xf32, strided<[64, 8, 1], offset: 4096>, #trn.sbuf>
    to memref<32x3x4xf32, strided<[64, 8, 1], offset: 4105>, #trn.sbuf>
  %c = memref.expand_shape %y [[0], [1, 2]] output_shape [32, 3, 4]
    : memref<32x12xf32, #trn.sbuf> into memref<32x3x4xf32, #trn.sbuf>
  trn.tensor_copy outs(%c : memref<32x3x4xf32, #trn.sbuf>)
                  ins(%b : memref<32x3x4xf32, strided<[64, 8, 1], offset: 4105>, #trn.sbuf>)
  return
}

// -----

// The predicate is evaluated; a shared function keeps the call in its location, a buffer inside belongs to the call.
// CHECK-LABEL: func.func @calls
// CHECK-COUNT-2: trn.alloc : memref<64x64xf32, #trn.psum>
// CHECK-NOT: accumulate
// CHECK: return
func.func private @product(%x: memref<128x64xbf16, #trn.sbuf>, %k: index) {
  %c0 = arith.constant 0 : index
  %acc = memref.alloc() : memref<64x64xf32, #trn.psum>
  %later = arith.cmpi ne, %k, %c0 : index
  trn.nc_matmul outs(%acc : memref<64x64xf32, #trn.psum>)
    ins(%x, %x : memref<128x64xbf16, #trn.sbuf>, memref<128x64xbf16, #trn.sbuf>) accumulate_if(%later)
  return
}
func.func @calls() {
  %c0 = arith.constant 0 : index
  %x = memref.alloc() : memref<128x64xbf16, #trn.sbuf>
  call @product(%x, %c0) : (memref<128x64xbf16, #trn.sbuf>, index) -> ()
  call @product(%x, %c0) : (memref<128x64xbf16, #trn.sbuf>, index) -> ()
  return
}

// -----

// Reduced dimensions stay apart from kept ones, and are counted again after merging.
// CHECK-LABEL: func.func @reduce
// CHECK: trn.tensor_reduce {{.*}}aps = [#trn.ap<count = 128, dims = {{\[}}[1, 4]]>, #trn.ap<count = 128, dims = {{\[}}[6, 4], [1, 6]]>]
// CHECK-NOT: axes
func.func @reduce() {
  // A constant that nothing indexes with is left behind.
  %unused = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<128x4x2x3xf32, #trn.sbuf>
  %y = memref.alloc() : memref<128x4xf32, #trn.sbuf>
  trn.tensor_reduce outs(%y : memref<128x4xf32, #trn.sbuf>) ins(%x : memref<128x4x2x3xf32, #trn.sbuf>)
    {op = #trn.alu<add>, axes = 2 : i32}
  return
}

// -----

// Rows of device memory follow the partitions of the other side.
// CHECK-LABEL: func.func @rows
// CHECK: #trn.ap<count = 128, dims = {{\[}}[1, 4]]>, #trn.ap<count = 128, dims = {{\[}}[1, 4]], row_step = 4>
// CHECK: #trn.ap<count = 1, dims = {{\[}}[1, 512]]>, #trn.ap<count = 1, dims = {{\[}}[1, 512]]>
func.func @rows(%x: memref<512xf32, #trn.hbm>) {
  %wide = memref.alloc() : memref<128x4xf32, #trn.sbuf>
  %row = memref.alloc() : memref<1x512xf32, #trn.sbuf>
  %v = memref.expand_shape %x [[0, 1]] output_shape [128, 4] : memref<512xf32, #trn.hbm> into memref<128x4xf32, #trn.hbm>
  trn.dma_copy outs(%wide : memref<128x4xf32, #trn.sbuf>) ins(%v : memref<128x4xf32, #trn.hbm>)
  %u = memref.expand_shape %x [[0, 1]] output_shape [1, 512] : memref<512xf32, #trn.hbm> into memref<1x512xf32, #trn.hbm>
  trn.dma_copy outs(%row : memref<1x512xf32, #trn.sbuf>) ins(%u : memref<1x512xf32, #trn.hbm>)
  return
}
