// RUN: trn-opt %s -split-input-file --tile-normalize-structure | FileCheck-22 %s --check-prefix=NORMAL
// RUN: trn-opt %s -split-input-file --tile-normalize-structure --tile-choose-layout=print-plan -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=PLAN

#ids = affine_map<(b, s, c) -> (b, s)>
#id = affine_map<(b, s, c) -> (b, s, c)>
// An embedding with an addition behind it: the row numbers are computed apart, the gather computes nothing, the
// addition reads what it gave.
// NORMAL-LABEL: func @main
// NORMAL:         %[[ROWS:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x300xi32>)
// NORMAL:           arith.cmpi slt
// NORMAL:           arith.select
// NORMAL:         %[[G:.*]] = linalg.generic {{.*}} ins(%[[ROWS]] : tensor<1x300xi32>) outs(%{{.*}} : tensor<1x300x64xf32>)
// NORMAL-NEXT:    ^bb0(%[[I:.*]]: i32, %{{.*}}: f32):
// NORMAL:           %[[AT:.*]] = arith.index_cast %[[I]]
// NORMAL:           %[[E:.*]] = tensor.extract %{{.*}}[%[[AT]], %{{.*}}]
// NORMAL-NEXT:      linalg.yield %[[E]]
// NORMAL:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %[[G]] :
// NORMAL-NOT:       tensor.extract
// PLAN: linalg.generic 'rows': gather, operands (dim 1, hbm) -> dim 1 [100x3x64]
func.func @main(%ids: tensor<1x300xi32>, %p: tensor<1x300x64xf32>) -> tensor<1x300x64xf32> {
  %table = arith.constant dense<1.0> : tensor<500x64xf32>
  %zero = arith.constant 0 : i32
  %size = arith.constant 500 : i32
  %e = tensor.empty() : tensor<1x300x64xf32>
  %r = linalg.generic {indexing_maps = [#ids, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids, %p : tensor<1x300xi32>, tensor<1x300x64xf32>) outs(%e : tensor<1x300x64xf32>) {
  ^bb0(%i: i32, %q: f32, %o: f32):
    %c = linalg.index 2 : index
    %n = arith.cmpi slt, %i, %zero : i32
    %w = arith.addi %i, %size : i32
    %s = arith.select %n, %w, %i : i32
    %at = arith.index_cast %s : i32 to index
    %x = tensor.extract %table[%at, %c] : tensor<500x64xf32> loc("rows")
    %y = arith.addf %x, %q : f32
    linalg.yield %y : f32
  } -> tensor<1x300x64xf32> loc("add")
  return %r : tensor<1x300x64xf32>
}

// -----

#row = affine_map<(i, c) -> (i)>
#id = affine_map<(i, c) -> (i, c)>
// A gather that is one already stays as it is.
// NORMAL-LABEL: func @main
// NORMAL:         linalg.generic
// NORMAL:           tensor.extract
// NORMAL-NOT:     linalg.generic
// NORMAL:         return
// PLAN: linalg.generic 'alone': gather, operands (dim 0, hbm) -> dim 0 [7x64]
func.func @main(%ids: tensor<7xi32>, %table: tensor<50x64xf32>) -> tensor<7x64xf32> {
  %e = tensor.empty() : tensor<7x64xf32>
  %r = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<7xi32>) outs(%e : tensor<7x64xf32>) {
  ^bb0(%i: i32, %o: f32):
    %c = linalg.index 1 : index
    %at = arith.index_cast %i : i32 to index
    %x = tensor.extract %table[%at, %c] : tensor<50x64xf32>
    linalg.yield %x : f32
  } -> tensor<7x64xf32> loc("alone")
  return %r : tensor<7x64xf32>
}
