// RUN: trn-opt %s -tensor-narrow-types -split-input-file -verify-diagnostics=only-expected

#id = affine_map<(d0) -> (d0)>
func.func @weight(%ids: tensor<2xi64>) -> tensor<2xi64> {
  %w = onnx.weight dense<[7, 9223372036854775807]> : tensor<2xi64>
  %e = tensor.empty() : tensor<2xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%ids, %w : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    // expected-error@+1 {{expected integers of 32 bits, which are the device's widest, but got a constant that does not fit}}
    %s = arith.addi %a, %b : i64
    linalg.yield %s : i64
  } -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @scalar(%ids: tensor<2xi64>) -> tensor<2xi64> {
  %c = arith.constant -2147483649 : i64
  %e = tensor.empty() : tensor<2xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%ids : tensor<2xi64>) outs(%e : tensor<2xi64>) {
  ^bb0(%a: i64, %o: i64):
    // expected-error@+1 {{expected integers of 32 bits}}
    %s = arith.muli %a, %c : i64
    linalg.yield %s : i64
  } -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
