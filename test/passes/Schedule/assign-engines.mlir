// RUN: trn-opt %s --trn-assign-engines | %FileCheck %s

// One able queue: assigned. Two (ACT and DVE): left open. Every second short transfer goes to POOL, on a ring of its
// own; what SP stores leaves on ring 1; what is set stays.
// CHECK-LABEL: func.func @engines
trn.global @x kind(input) io_name "x" : memref<128x64xf32, #trn.hbm>
trn.global @y kind(output) io_name "y" : memref<128x64xf32, #trn.hbm>
func.func @engines() {
  %x = trn.get_global @x : memref<128x64xf32, #trn.hbm>
  %y = trn.get_global @y : memref<128x64xf32, #trn.hbm>
  %a = trn.alloc : memref<128x64xf32, #trn.sbuf>
  %b = trn.alloc : memref<128x64xf32, #trn.sbuf>
  %p = trn.alloc : memref<128x64xf32, #trn.psum>
  // CHECK: trn.dma_copy {{.*}}engine = #trn.engine<SP>, ring = 0
  trn.dma_copy outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.hbm>)
    {aps = [#trn.ap<count = 128, dims = [[1, 64]]>, #trn.ap<count = 128, dims = [[1, 64]], row_step = 64>]}
  // CHECK: trn.dma_copy {{.*}}engine = #trn.engine<POOL>, ring = 3
  trn.dma_copy outs(%b : memref<128x64xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.hbm>)
    {aps = [#trn.ap<count = 128, dims = [[1, 64]]>, #trn.ap<count = 128, dims = [[1, 64]], row_step = 64>]}
  // CHECK: trn.memset {{.*}}engine = #trn.engine<POOL>
  trn.memset outs(%b : memref<128x64xf32, #trn.sbuf>)
    {value = 0.0 : f32, aps = [#trn.ap<count = 128, dims = [[1, 64]]>]}
  // CHECK: trn.memset {{.*}}engine = #trn.engine<DVE>
  trn.memset outs(%b : memref<128x64xf32, #trn.sbuf>)
    {value = 0.0 : f32, engine = #trn.engine<DVE>, aps = [#trn.ap<count = 128, dims = [[1, 64]]>]}
  // CHECK: trn.activation {{.*}}engine = #trn.engine<ACT>
  trn.activation outs(%b : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>)
    {func = #trn.act<exp>, aps = [#trn.ap<count = 128, dims = [[1, 64]]>, #trn.ap<count = 128, dims = [[1, 64]]>]}
  // CHECK: trn.tensor_copy
  // CHECK-NOT: engine =
  // CHECK-SAME: {aps =
  trn.tensor_copy outs(%b : memref<128x64xf32, #trn.sbuf>) ins(%p : memref<128x64xf32, #trn.psum>)
    {aps = [#trn.ap<count = 128, dims = [[1, 64]]>, #trn.ap<count = 128, dims = [[1, 64]]>]}
  // CHECK: trn.dma_copy {{.*}}engine = #trn.engine<SP>, ring = 1
  trn.dma_copy outs(%y : memref<128x64xf32, #trn.hbm>) ins(%b : memref<128x64xf32, #trn.sbuf>)
    {aps = [#trn.ap<count = 128, dims = [[1, 64]], row_step = 64>, #trn.ap<count = 128, dims = [[1, 64]]>]}
  // CHECK: trn.dma_copy {{.*}}engine = #trn.engine<POOL>, ring = 3
  trn.dma_copy outs(%y : memref<128x64xf32, #trn.hbm>) ins(%b : memref<128x64xf32, #trn.sbuf>)
    {aps = [#trn.ap<count = 128, dims = [[1, 64]], row_step = 64>, #trn.ap<count = 128, dims = [[1, 64]]>]}
  return
}
