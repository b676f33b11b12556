// RUN: trn-opt %s --tiled-to-buffered | FileCheck-22 %s

// Spaces are in the signature, results are destinations, and nothing is copied.
// CHECK-LABEL: func.func private @group
// CHECK-SAME:    (%[[X:.*]]: memref<128x4xf32, #trn.sbuf>, %[[D:.*]]: memref<128x4xf32, #trn.sbuf>) {
// CHECK:         linalg.exp ins(%[[X]] : memref<128x4xf32, #trn.sbuf>) outs(%[[D]] : memref<128x4xf32, #trn.sbuf>)
func.func private @group(%x: tensor<128x4xf32, #trn.sbuf>, %dst: tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf> {
  %q = linalg.exp ins(%x : tensor<128x4xf32, #trn.sbuf>) outs(%dst : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  return %q : tensor<128x4xf32, #trn.sbuf>
}

trn.global @x kind(input) io_name "x" : memref<128x4xf32, #trn.hbm>
trn.global @y kind(output) io_name "y" : memref<128x4xf32, #trn.hbm>
// CHECK-LABEL: func.func @main()
// CHECK:         %[[XM:.*]] = trn.get_global @x
// CHECK:         %[[A:.*]] = memref.alloc() : memref<128x4xf32, #trn.sbuf>
// CHECK:         linalg.copy ins(%[[XM]] : memref<128x4xf32, #trn.hbm>) outs(%[[A]] : memref<128x4xf32, #trn.sbuf>)
// CHECK:         %[[B:.*]] = memref.alloc() : memref<128x4xf32, #trn.sbuf>
// CHECK:         call @group(%[[A]], %[[B]])
// CHECK:         %[[YM:.*]] = trn.get_global @y
// CHECK:         linalg.copy ins(%[[B]] : memref<128x4xf32, #trn.sbuf>) outs(%[[YM]] : memref<128x4xf32, #trn.hbm>)
// CHECK-NOT:     copy
// CHECK:         return
func.func @main() {
  %xm = trn.get_global @x : memref<128x4xf32, #trn.hbm>
  %x = bufferization.to_tensor %xm restrict : memref<128x4xf32, #trn.hbm> to tensor<128x4xf32, #trn.hbm>
  %e0 = tensor.empty() : tensor<128x4xf32, #trn.sbuf>
  %x0 = linalg.copy ins(%x : tensor<128x4xf32, #trn.hbm>) outs(%e0 : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  %e1 = tensor.empty() : tensor<128x4xf32, #trn.sbuf>
  %r = call @group(%x0, %e1) : (tensor<128x4xf32, #trn.sbuf>, tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  %ym = trn.get_global @y : memref<128x4xf32, #trn.hbm>
  %y = bufferization.to_tensor %ym restrict writable : memref<128x4xf32, #trn.hbm> to tensor<128x4xf32, #trn.hbm>
  %s = linalg.copy ins(%r : tensor<128x4xf32, #trn.sbuf>) outs(%y : tensor<128x4xf32, #trn.hbm>) -> tensor<128x4xf32, #trn.hbm>
  bufferization.materialize_in_destination %s in restrict writable %ym : (tensor<128x4xf32, #trn.hbm>, memref<128x4xf32, #trn.hbm>) -> ()
  return
}
