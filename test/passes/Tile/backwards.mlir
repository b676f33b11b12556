// RUN: trn-opt %s --tile-stage-transfers --tile-split-destinations --tile-plan-schedule --split-input-file -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=PLAN
// RUN: trn-opt %s --tile-stage-transfers --tile-split-destinations --tile-apply-schedule --split-input-file | FileCheck-22 %s

// What reads a row from its end is part of the nest that adds it: a tile of it reads the slice that lies as far from the
// end, and that backwards.
#id = affine_map<(p, x) -> (p, x)>
#back = affine_map<(p, x) -> (p, -x + 16383)>
// PLAN: nest of map: tile [0, 2048], order [0, 1], fused: map
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0) -> (-d0 + 14336)>
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 2047)>
// CHECK-LABEL: func private @backwards
// CHECK:         scf.for %[[I:[a-z0-9]+]] =
// CHECK:           %[[AT:[a-z0-9]+]] = affine.apply #[[FROM]](%[[I]])
// CHECK:           %[[X:[a-z0-9_]+]] = tensor.extract_slice %arg0[0, %[[AT]]] [64, 2048]
// CHECK:           %[[F:[a-z0-9]+]] = linalg.generic {indexing_maps = [#[[BACK]],
// CHECK-SAME:        ins(%[[X]]
// CHECK:           %[[Y:[a-z0-9_]+]] = tensor.extract_slice %arg1[0, %[[I]]] [64, 2048]
// CHECK:           linalg.generic
// CHECK-SAME:        ins(%[[F]], %[[Y]]
// CHECK:           tensor.insert_slice
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

// Rows that the tile does not divide leave a last tile of their own.
#id = affine_map<(p, x) -> (p, x)>
#back = affine_map<(p, x) -> (p, -x + 16999)>
// CHECK-LABEL: func private @uneven
// CHECK:         scf.for
// CHECK:           tensor.extract_slice %arg0[0, %{{.*}}] [64, [[TILE:[0-9]+]]]
// CHECK:         }
// CHECK:         tensor.extract_slice %arg0[0, 0] [64, [[REST:[0-9]+]]]
func.func private @uneven(%x: tensor<64x17000xf32, #trn.sbuf>, %dst: tensor<64x17000xf32, #trn.sbuf>) -> tensor<64x17000xf32, #trn.sbuf> {
  %f = linalg.generic {indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x17000xf32, #trn.sbuf>) outs(%dst : tensor<64x17000xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<64x17000xf32, #trn.sbuf>
  return %f : tensor<64x17000xf32, #trn.sbuf>
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
