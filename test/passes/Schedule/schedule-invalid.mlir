// RUN: %not trn-opt %s --trn-flatten --trn-split-buffers --trn-assign-engines --trn-schedule 2>&1 | %FileCheck %s

// What does not fit is listed, the largest buffer first, with the node that writes it.
// CHECK: error: {{.*}}'trn.dma_copy' op needs 240000 bytes of SBUF per partition alive at once, but 212984 are available, even in program order; tile the largest of these buffers, or keep it in HBM
// CHECK: schedule-invalid.mlir:[[@LINE+2]]:{{.*}}: note: 240000 bytes per partition: 'memref<128x60000xf32, #trn.sbuf>', written by node 'Conv_7'
func.func @too_large(%x: memref<128x60000xf32, #trn.hbm>, %y: memref<128x60000xf32, #trn.hbm>) {
  %t = memref.alloc() : memref<128x60000xf32, #trn.sbuf>
  trn.dma_copy outs(%t : memref<128x60000xf32, #trn.sbuf>) ins(%x : memref<128x60000xf32, #trn.hbm>) loc("Conv_7")
  trn.dma_copy outs(%y : memref<128x60000xf32, #trn.hbm>) ins(%t : memref<128x60000xf32, #trn.sbuf>)
  return
}
