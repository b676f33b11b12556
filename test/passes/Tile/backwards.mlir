// RUN: trn-opt %s --tile-stage-transfers --tile-split-destinations --tile-plan-schedule --split-input-file -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=PLAN
// RUN: trn-opt %s --tile-stage-transfers --tile-split-destinations --tile-apply-schedule --split-input-file | FileCheck-22 %s

// What reads a row from its end is no part of the nest that adds it, and stays whole itself: no tile of it can be cut. Read
// forwards, it is part of the nest.
#id = affine_map<(p, x) -> (p, x)>
#back = affine_map<(p, x) -> (p, -x + 16383)>
// PLAN: nest of map: tile [0, {{[0-9]+}}], order [0, 1], fused: nothing
// PLAN-NOT: nest of
// CHECK-LABEL: func private @backwards
// CHECK:         %[[FLIPPED:.*]] = linalg.generic
// CHECK:         -> tensor<64x16384xf32>
// CHECK:         scf.for
// CHECK:           extract_slice %[[FLIPPED]]
func.func private @backwards(%x: tensor<64x16384xf32, #trn.sbuf>, %y: tensor<64x16384xf32, #trn.sbuf>, %dst: tensor<64x16384xf32, #trn.sbuf>) -> tensor<64x16384xf32, #trn.sbuf> {
  %e = tensor.empty() : tensor<64x16384xf32>
  %f = linalg.generic {indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x16384xf32, #trn.sbuf>) outs(%e : tensor<64x16384xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<64x16384xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%f, %y : tensor<64x16384xf32>, tensor<64x16384xf32, #trn.sbuf>) outs(%dst : tensor<64x16384xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<64x16384xf32, #trn.sbuf>
  return %s : tensor<64x16384xf32, #trn.sbuf>
}

// -----

#id = affine_map<(p, x) -> (p, x)>
// PLAN: nest of map: tile [0, {{[0-9]+}}], order [0, 1], fused: map
func.func private @forwards(%x: tensor<64x16384xf32, #trn.sbuf>, %y: tensor<64x16384xf32, #trn.sbuf>, %dst: tensor<64x16384xf32, #trn.sbuf>) -> tensor<64x16384xf32, #trn.sbuf> {
  %e = tensor.empty() : tensor<64x16384xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x16384xf32, #trn.sbuf>) outs(%e : tensor<64x16384xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<64x16384xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%f, %y : tensor<64x16384xf32>, tensor<64x16384xf32, #trn.sbuf>) outs(%dst : tensor<64x16384xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<64x16384xf32, #trn.sbuf>
  return %s : tensor<64x16384xf32, #trn.sbuf>
}
