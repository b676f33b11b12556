// RUN: not trnc compile %s --start-from tiled --stop-after buffered -o %t.mlir 2>&1 | FileCheck-22 %s

// A buffer that no memory on chip can hold is refused before anything is unrolled.
// CHECK: error: {{.*}}expected at most {{[0-9]+}} bytes per partition, the SBUF of trn2, but got 240000 for 'memref<128x60000xf32, #trn.sbuf>'; use smaller sizes
func.func private @group(%x: tensor<128x60000xf32, #trn.hbm>, %y: tensor<128x60000xf32, #trn.hbm>) -> tensor<128x60000xf32, #trn.hbm> {
  %e = tensor.empty() : tensor<128x60000xf32, #trn.sbuf>
  %l = linalg.copy ins(%x : tensor<128x60000xf32, #trn.hbm>) outs(%e : tensor<128x60000xf32, #trn.sbuf>) -> tensor<128x60000xf32, #trn.sbuf>
  %s = linalg.copy ins(%l : tensor<128x60000xf32, #trn.sbuf>) outs(%y : tensor<128x60000xf32, #trn.hbm>) -> tensor<128x60000xf32, #trn.hbm>
  return %s : tensor<128x60000xf32, #trn.hbm>
}

trn.global @x kind(input) io_name "x" : memref<128x60000xf32, #trn.hbm>
trn.global @y kind(output) io_name "y" : memref<128x60000xf32, #trn.hbm>
func.func @main() {
  %xm = trn.get_global @x : memref<128x60000xf32, #trn.hbm>
  %x = bufferization.to_tensor %xm restrict : memref<128x60000xf32, #trn.hbm> to tensor<128x60000xf32, #trn.hbm>
  %ym = trn.get_global @y : memref<128x60000xf32, #trn.hbm>
  %y = bufferization.to_tensor %ym restrict writable : memref<128x60000xf32, #trn.hbm> to tensor<128x60000xf32, #trn.hbm>
  %r = call @group(%x, %y) : (tensor<128x60000xf32, #trn.hbm>, tensor<128x60000xf32, #trn.hbm>) -> tensor<128x60000xf32, #trn.hbm>
  bufferization.materialize_in_destination %r in restrict writable %ym : (tensor<128x60000xf32, #trn.hbm>, memref<128x60000xf32, #trn.hbm>) -> ()
  return
}
