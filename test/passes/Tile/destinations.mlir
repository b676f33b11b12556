// RUN: trn-opt %s --tile-split-destinations --split-input-file | FileCheck-22 %s --check-prefix=SPLIT
// RUN: trn-opt %s --tile-reuse-destinations --canonicalize --split-input-file | FileCheck-22 %s --check-prefix=REUSE

// One destination for two values would be one buffer for both.
// SPLIT-LABEL: func private @shared
// SPLIT:         %[[A:.*]] = tensor.empty()
// SPLIT:         linalg.exp {{.*}} outs(%[[A]] :
// SPLIT:         %[[B:.*]] = tensor.empty()
// SPLIT:         linalg.log {{.*}} outs(%[[B]] :
func.func private @shared(%x: tensor<128x16xf32, #trn.sbuf>) -> (tensor<128x16xf32, #trn.sbuf>, tensor<128x16xf32, #trn.sbuf>) {
  %e = tensor.empty() : tensor<128x16xf32, #trn.sbuf>
  %a = linalg.exp ins(%x : tensor<128x16xf32, #trn.sbuf>) outs(%e : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  %b = linalg.log ins(%x : tensor<128x16xf32, #trn.sbuf>) outs(%e : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  return %a, %b : tensor<128x16xf32, #trn.sbuf>, tensor<128x16xf32, #trn.sbuf>
}

// -----

// A value that is inserted into a padded tensor is computed there.
// REUSE-LABEL: func private @padded
// REUSE-NOT:     tensor.empty
// REUSE:         %[[S:.*]] = tensor.extract_slice %{{.*}}[0, 1]
// REUSE:         linalg.exp {{.*}} outs(%[[S]] :
func.func private @padded(%x: tensor<128x16xf32, #trn.sbuf>, %dst: tensor<128x18xf32, #trn.sbuf>) -> tensor<128x18xf32, #trn.sbuf> {
  %e = tensor.empty() : tensor<128x16xf32, #trn.sbuf>
  %a = linalg.exp ins(%x : tensor<128x16xf32, #trn.sbuf>) outs(%e : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  %r = tensor.insert_slice %a into %dst[0, 1] [128, 16] [1, 1] : tensor<128x16xf32, #trn.sbuf> into tensor<128x18xf32, #trn.sbuf>
  return %r : tensor<128x18xf32, #trn.sbuf>
}

// -----

// The HBM side of a store is no destination of a computation.
// REUSE-LABEL: func private @stored
// REUSE:         %[[E:.*]] = tensor.empty() : tensor<128x16xf32, #trn.sbuf>
// REUSE:         linalg.exp {{.*}} outs(%[[E]] :
func.func private @stored(%x: tensor<128x16xf32, #trn.sbuf>, %dst: tensor<128x16xf32, #trn.hbm>) -> tensor<128x16xf32, #trn.hbm> {
  %e = tensor.empty() : tensor<128x16xf32, #trn.sbuf>
  %a = linalg.exp ins(%x : tensor<128x16xf32, #trn.sbuf>) outs(%e : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  %r = linalg.copy ins(%a : tensor<128x16xf32, #trn.sbuf>) outs(%dst : tensor<128x16xf32, #trn.hbm>) -> tensor<128x16xf32, #trn.hbm>
  return %r : tensor<128x16xf32, #trn.hbm>
}

// -----

// What waits in PSUM keeps its tensor, in long chains of insertions too: those are not even analysed.
// REUSE-LABEL: func private @through_psum
// REUSE:         %[[E:.*]] = tensor.empty() : tensor<16x128xf32, #trn.psum>
// REUSE:         linalg.transpose {{.*}} outs(%[[E]] :
func.func private @through_psum(%x: tensor<128x16xf32, #trn.sbuf>, %dst: tensor<16x256xf32, #trn.sbuf>) -> tensor<16x256xf32, #trn.sbuf> {
  %e = tensor.empty() : tensor<16x128xf32, #trn.psum>
  %s = tensor.extract_slice %dst[0, 128] [16, 128] [1, 1] : tensor<16x256xf32, #trn.sbuf> to tensor<16x128xf32, #trn.sbuf>
  %t = linalg.transpose ins(%x : tensor<128x16xf32, #trn.sbuf>) outs(%e : tensor<16x128xf32, #trn.psum>) permutation = [1, 0]
  %c = linalg.copy ins(%t : tensor<16x128xf32, #trn.psum>) outs(%s : tensor<16x128xf32, #trn.sbuf>) -> tensor<16x128xf32, #trn.sbuf>
  %r = tensor.insert_slice %c into %dst[0, 128] [16, 128] [1, 1] : tensor<16x128xf32, #trn.sbuf> into tensor<16x256xf32, #trn.sbuf>
  return %r : tensor<16x256xf32, #trn.sbuf>
}

// -----

// A value and its copy are one tensor when nobody writes into either.
// REUSE-LABEL: func private @copied
// REUSE-SAME:    %[[DST:[^:]*]]: tensor<128x16xf32, #trn.sbuf>)
// REUSE:         %[[A:.*]] = linalg.exp {{.*}} outs(%{{.*}} :
// REUSE-NOT:     linalg.copy
// REUSE:         linalg.sub ins(%[[A]], %[[A]] : {{.*}}) outs(%[[DST]] :
func.func private @copied(%x: tensor<128x16xf32, #trn.sbuf>, %dst: tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf> {
  %e = tensor.empty() : tensor<128x16xf32, #trn.sbuf>
  %a = linalg.exp ins(%x : tensor<128x16xf32, #trn.sbuf>) outs(%e : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  %f = tensor.empty() : tensor<128x16xf32, #trn.sbuf>
  %b = linalg.copy ins(%a : tensor<128x16xf32, #trn.sbuf>) outs(%f : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  %r = linalg.sub ins(%a, %b : tensor<128x16xf32, #trn.sbuf>, tensor<128x16xf32, #trn.sbuf>) outs(%dst : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  return %r : tensor<128x16xf32, #trn.sbuf>
}

// -----

// A copy that is written into stays a copy while its source is read.
// REUSE-LABEL: func private @changed_copy
// REUSE:         %[[E:.*]] = tensor.empty()
// REUSE:         %[[F:.*]] = tensor.empty()
// REUSE:         %[[A:.*]] = linalg.exp {{.*}} outs(%[[E]] :
// REUSE:         %[[B:.*]] = linalg.copy ins(%[[A]] : {{.*}}) outs(%[[F]] :
// REUSE:         %[[C:.*]] = linalg.add {{.*}} outs(%[[B]] :
// REUSE:         linalg.sub ins(%[[A]], %[[C]] :
func.func private @changed_copy(%x: tensor<128x16xf32, #trn.sbuf>, %dst: tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf> {
  %e = tensor.empty() : tensor<128x16xf32, #trn.sbuf>
  %f = tensor.empty() : tensor<128x16xf32, #trn.sbuf>
  %a = linalg.exp ins(%x : tensor<128x16xf32, #trn.sbuf>) outs(%e : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  %b = linalg.copy ins(%a : tensor<128x16xf32, #trn.sbuf>) outs(%f : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  %c = linalg.add ins(%x, %x : tensor<128x16xf32, #trn.sbuf>, tensor<128x16xf32, #trn.sbuf>) outs(%b : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  %r = linalg.sub ins(%a, %c : tensor<128x16xf32, #trn.sbuf>, tensor<128x16xf32, #trn.sbuf>) outs(%dst : tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf>
  return %r : tensor<128x16xf32, #trn.sbuf>
}
