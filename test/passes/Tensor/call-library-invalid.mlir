// RUN: trn-opt %s -tensor-call-library -split-input-file -verify-diagnostics

func.func @rank(%x: tensor<2x2x2x2x2x2x2x2x2x2x2x2x2xf64>) -> tensor<1x2x2x2x2x2x2x2x2x2x2x2x2xf64> {
  // expected-error @+1 {{expected numbers of at most 32 bits, which the engines compute with, but got 64: a library kernel takes positions of 32 bits, at most 12 loops and 1024 scalar operations}}
  %0 = tensor.extract_slice %x[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] : tensor<2x2x2x2x2x2x2x2x2x2x2x2x2xf64> to tensor<1x2x2x2x2x2x2x2x2x2x2x2x2xf64>
  return %0 : tensor<1x2x2x2x2x2x2x2x2x2x2x2x2xf64>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @wide(%x: tensor<4xf64>, %z: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @+1 {{a library kernel's program has no values of type f128}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%z : tensor<4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %w = arith.extf %a : f64 to f128
    %s = arith.truncf %w : f128 to f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
