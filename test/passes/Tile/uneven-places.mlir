// RUN: trnc compile %s --start-from tensor --stop-after grouped -o %t.mlir
// RUN: FileCheck-22 %s < %t.mlir
// RUN: trnc compile %s --start-from tensor -o %t.trnx

// 197 rows are chunks of 99 and 98 lanes. What is placed beside another tensor is copied lane by lane: the last lane of
// the second chunk holds nothing, and reading it is an error that the checks of the program would find.
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [99, 1, 30] [1, 1, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0] [98, 1, 30] [1, 1, 1]
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<197x30xf32>, %y: tensor<197x40xf32>) -> (tensor<197xf32>, tensor<197xf32>) {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<197x30xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<197x30xf32>) outs(%ex : tensor<197x30xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = math.exp %p : f32
    linalg.yield %q : f32
  } -> tensor<197x30xf32>
  %ey = tensor.empty() : tensor<197x40xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<197x40xf32>) outs(%ey : tensor<197x40xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = math.exp %p : f32
    linalg.yield %q : f32
  } -> tensor<197x40xf32>
  %c = tensor.concat dim(1) %a, %b : (tensor<197x30xf32>, tensor<197x40xf32>) -> tensor<197x70xf32>
  %e = tensor.empty() : tensor<197xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<197xf32>) -> tensor<197xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<197x70xf32>) outs(%f : tensor<197xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<197xf32>
  %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<197x30xf32>) outs(%f : tensor<197xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<197xf32>
  return %s, %t : tensor<197xf32>, tensor<197xf32>
}
