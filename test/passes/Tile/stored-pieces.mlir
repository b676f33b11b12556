// RUN: trnc compile %s --start-from tensor --stop-after grouped -o %t.mlir
// RUN: FileCheck-22 %s < %t.mlir

// Two maps on chip, one behind the other in an output along the dimension that is on the partitions: each is stored where
// it goes, and nothing is copied in HBM or moved between partitions.
#id = affine_map<(c, h) -> (c, h)>
// CHECK-LABEL: func.func private @g2
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [48, 8192] [1, 1] : tensor<88x8192xf32, #trn.hbm>
// CHECK-NEXT: linalg.copy ins({{.*}}#trn.sbuf>) outs({{.*}}#trn.hbm>)
// CHECK-LABEL: func.func private @g5
// CHECK: tensor.extract_slice %{{.*}}[48, 0] [40, 8192] [1, 1] : tensor<88x8192xf32, #trn.hbm>
// CHECK-NEXT: linalg.copy ins({{.*}}#trn.sbuf>) outs({{.*}}#trn.hbm>)
// CHECK-LABEL: func.func @main
// CHECK-NOT: tensor.empty() : tensor<{{.*}}#trn.hbm>
// CHECK: bufferization.materialize_in_destination
func.func @main(%x: tensor<48x8192xf32>, %y: tensor<40x8192xf32>) -> tensor<88x8192xf32> {
  %ex = tensor.empty() : tensor<48x8192xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<48x8192xf32>) outs(%ex : tensor<48x8192xf32>) {
    ^bb0(%i: f32, %o: f32):
      %q = math.exp %i : f32
      linalg.yield %q : f32
  } -> tensor<48x8192xf32> loc("a")
  %ey = tensor.empty() : tensor<40x8192xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<40x8192xf32>) outs(%ey : tensor<40x8192xf32>) {
    ^bb0(%i: f32, %o: f32):
      %q = math.tanh %i : f32
      linalg.yield %q : f32
  } -> tensor<40x8192xf32> loc("b")
  %r = tensor.concat dim(0) %a, %b : (tensor<48x8192xf32>, tensor<40x8192xf32>) -> tensor<88x8192xf32> loc("join")
  return %r : tensor<88x8192xf32>
}
