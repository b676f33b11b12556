// RUN: trn-opt %s --tile-choose-layout=print-plan -o /dev/null 2>&1 | FileCheck-22 %s

// The plan says why what the program makes passes through HBM: a reshape that merges all dimensions has no way on
// chip. Inputs and results are no part of the list.
// CHECK: if every whole tensor stayed in SBUF: {{[0-9]+}} bytes per partition alive at '{{square|sum}}'
// CHECK: by way of HBM: 'square', 1048576 bytes: 'merge' moves elements between partitions
// CHECK-NOT: by way of HBM
#id = affine_map<(t, f) -> (t, f)>
#row = affine_map<(t, f) -> (t)>
func.func @main(%x: tensor<2048x128xf32>) -> tensor<512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x128xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2048x128xf32>) outs(%e : tensor<2048x128xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      linalg.yield %q : f32
  } -> tensor<2048x128xf32> loc("square")
  %flat = tensor.collapse_shape %s [[0, 1]] : tensor<2048x128xf32> into tensor<262144xf32> loc("merge")
  %merged = tensor.expand_shape %flat [[0, 1]] output_shape [512, 512] : tensor<262144xf32> into tensor<512x512xf32> loc("split")
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%merged : tensor<512x512xf32>) outs(%f : tensor<512xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %a, %o : f32
      linalg.yield %q : f32
  } -> tensor<512xf32> loc("sum")
  return %r : tensor<512xf32>
}
