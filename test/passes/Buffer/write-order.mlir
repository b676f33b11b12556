// RUN: trn-opt %s --buffer-bufferize --split-input-file | FileCheck-22 %s

// A chain of insertions needs no copy: every version is read before the next is written.
// CHECK-LABEL: func.func private @chain
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func private @chain(%x: tensor<128x2x4xf32, #trn.sbuf>, %d: tensor<128x8xf32, #trn.sbuf>) -> tensor<128x8xf32, #trn.sbuf> {
  %x0 = tensor.extract_slice %x[0, 0, 0] [128, 1, 4] [1, 1, 1] : tensor<128x2x4xf32, #trn.sbuf> to tensor<128x4xf32, #trn.sbuf>
  %d0 = tensor.extract_slice %d[0, 0] [128, 4] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x4xf32, #trn.sbuf>
  %r0 = linalg.exp ins(%x0 : tensor<128x4xf32, #trn.sbuf>) outs(%d0 : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  %i0 = tensor.insert_slice %r0 into %d[0, 0] [128, 4] [1, 1] : tensor<128x4xf32, #trn.sbuf> into tensor<128x8xf32, #trn.sbuf>
  %x1 = tensor.extract_slice %x[0, 1, 0] [128, 1, 4] [1, 1, 1] : tensor<128x2x4xf32, #trn.sbuf> to tensor<128x4xf32, #trn.sbuf>
  %d1 = tensor.extract_slice %i0[0, 4] [128, 4] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x4xf32, #trn.sbuf>
  %r1 = linalg.exp ins(%x1 : tensor<128x4xf32, #trn.sbuf>) outs(%d1 : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  %i1 = tensor.insert_slice %r1 into %i0[0, 4] [128, 4] [1, 1] : tensor<128x4xf32, #trn.sbuf> into tensor<128x8xf32, #trn.sbuf>
  return %i1 : tensor<128x8xf32, #trn.sbuf>
}

// -----

// An old version is read where nothing has been written since: no copy.
// CHECK-LABEL: func.func private @disjoint
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func private @disjoint(%d: tensor<128x8xf32, #trn.sbuf>) -> tensor<128x8xf32, #trn.sbuf> {
  %d0 = tensor.extract_slice %d[0, 0] [128, 4] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x4xf32, #trn.sbuf>
  %c = arith.constant 0.0 : f32
  %r0 = linalg.fill ins(%c : f32) outs(%d0 : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  %i0 = tensor.insert_slice %r0 into %d[0, 0] [128, 4] [1, 1] : tensor<128x4xf32, #trn.sbuf> into tensor<128x8xf32, #trn.sbuf>
  %old = tensor.extract_slice %d[0, 4] [128, 4] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x4xf32, #trn.sbuf>
  %d1 = tensor.extract_slice %i0[0, 0] [128, 4] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x4xf32, #trn.sbuf>
  %r1 = linalg.exp ins(%old : tensor<128x4xf32, #trn.sbuf>) outs(%d1 : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  %i1 = tensor.insert_slice %r1 into %i0[0, 0] [128, 4] [1, 1] : tensor<128x4xf32, #trn.sbuf> into tensor<128x8xf32, #trn.sbuf>
  return %i1 : tensor<128x8xf32, #trn.sbuf>
}

// -----

// Two parts of one version are written in parts of their own, through reshaped views: no copy.
// CHECK-LABEL: func.func private @parts_of_views
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func private @parts_of_views(%d: tensor<128x2x6xf32, #trn.sbuf>) -> tensor<128x2x6xf32, #trn.sbuf> {
  %c = arith.constant 0.0 : f32
  %d0 = tensor.extract_slice %d[0, 0, 0] [128, 1, 6] [1, 1, 1] : tensor<128x2x6xf32, #trn.sbuf> to tensor<128x6xf32, #trn.sbuf>
  %v0 = tensor.expand_shape %d0 [[0], [1, 2]] output_shape [128, 3, 2] : tensor<128x6xf32, #trn.sbuf> into tensor<128x3x2xf32, #trn.sbuf>
  %p0 = tensor.extract_slice %v0[0, 0, 0] [128, 2, 2] [1, 1, 1] : tensor<128x3x2xf32, #trn.sbuf> to tensor<128x2x2xf32, #trn.sbuf>
  %f0 = linalg.fill ins(%c : f32) outs(%p0 : tensor<128x2x2xf32, #trn.sbuf>) -> tensor<128x2x2xf32, #trn.sbuf>
  %i0 = tensor.insert_slice %f0 into %v0[0, 0, 0] [128, 2, 2] [1, 1, 1] : tensor<128x2x2xf32, #trn.sbuf> into tensor<128x3x2xf32, #trn.sbuf>
  %w0 = tensor.collapse_shape %i0 [[0], [1, 2]] : tensor<128x3x2xf32, #trn.sbuf> into tensor<128x6xf32, #trn.sbuf>
  %n0 = tensor.insert_slice %w0 into %d[0, 0, 0] [128, 1, 6] [1, 1, 1] : tensor<128x6xf32, #trn.sbuf> into tensor<128x2x6xf32, #trn.sbuf>
  %d1 = tensor.extract_slice %d[0, 1, 0] [128, 1, 6] [1, 1, 1] : tensor<128x2x6xf32, #trn.sbuf> to tensor<128x6xf32, #trn.sbuf>
  %v1 = tensor.expand_shape %d1 [[0], [1, 2]] output_shape [128, 3, 2] : tensor<128x6xf32, #trn.sbuf> into tensor<128x3x2xf32, #trn.sbuf>
  %p1 = tensor.extract_slice %v1[0, 0, 0] [128, 2, 2] [1, 1, 1] : tensor<128x3x2xf32, #trn.sbuf> to tensor<128x2x2xf32, #trn.sbuf>
  %f1 = linalg.fill ins(%c : f32) outs(%p1 : tensor<128x2x2xf32, #trn.sbuf>) -> tensor<128x2x2xf32, #trn.sbuf>
  %i1 = tensor.insert_slice %f1 into %v1[0, 0, 0] [128, 2, 2] [1, 1, 1] : tensor<128x2x2xf32, #trn.sbuf> into tensor<128x3x2xf32, #trn.sbuf>
  %w1 = tensor.collapse_shape %i1 [[0], [1, 2]] : tensor<128x3x2xf32, #trn.sbuf> into tensor<128x6xf32, #trn.sbuf>
  %n1 = tensor.insert_slice %w1 into %n0[0, 1, 0] [128, 1, 6] [1, 1, 1] : tensor<128x6xf32, #trn.sbuf> into tensor<128x2x6xf32, #trn.sbuf>
  return %n1 : tensor<128x2x6xf32, #trn.sbuf>
}

// -----

// A group returns its destination reshaped; the caller sees the destination's buffer.
// CHECK-LABEL: func.func private @reshaped
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func.func @calls
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func private @reshaped(%d: tensor<128x8xf32, #trn.sbuf>) -> tensor<128x2x4xf32, #trn.sbuf> {
  %c = arith.constant 0.0 : f32
  %v = tensor.expand_shape %d [[0], [1, 2]] output_shape [128, 2, 4] : tensor<128x8xf32, #trn.sbuf> into tensor<128x2x4xf32, #trn.sbuf>
  %r = linalg.fill ins(%c : f32) outs(%v : tensor<128x2x4xf32, #trn.sbuf>) -> tensor<128x2x4xf32, #trn.sbuf>
  return %r : tensor<128x2x4xf32, #trn.sbuf>
}
func.func @calls(%d: tensor<128x8xf32, #trn.sbuf>, %o: tensor<128x8xf32, #trn.sbuf>) -> tensor<128x8xf32, #trn.sbuf> {
  %r = call @reshaped(%d) : (tensor<128x8xf32, #trn.sbuf>) -> tensor<128x2x4xf32, #trn.sbuf>
  %w = tensor.collapse_shape %r [[0], [1, 2]] : tensor<128x2x4xf32, #trn.sbuf> into tensor<128x8xf32, #trn.sbuf>
  %s = linalg.exp ins(%w : tensor<128x8xf32, #trn.sbuf>) outs(%o : tensor<128x8xf32, #trn.sbuf>) -> tensor<128x8xf32, #trn.sbuf>
  return %s : tensor<128x8xf32, #trn.sbuf>
}

// -----

// An old version is read after it was overwritten: it is kept in a copy.
// CHECK-LABEL: func.func private @old_version
// CHECK-SAME:    (%[[D:.*]]: memref<128x4xf32, #trn.sbuf>, %[[E:.*]]: memref<128x4xf32, #trn.sbuf>)
// CHECK:         %[[NEW:.*]] = memref.alloc() : memref<128x4xf32, #trn.sbuf>
// CHECK:         linalg.fill {{.*}} outs(%[[NEW]]
// CHECK:         linalg.exp ins(%[[D]] {{.*}}) outs(%[[E]]
func.func private @old_version(%d: tensor<128x4xf32, #trn.sbuf>, %e: tensor<128x4xf32, #trn.sbuf>) -> (tensor<128x4xf32, #trn.sbuf>, tensor<128x4xf32, #trn.sbuf>) {
  %c = arith.constant 0.0 : f32
  %r = linalg.fill ins(%c : f32) outs(%d : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  %s = linalg.exp ins(%d : tensor<128x4xf32, #trn.sbuf>) outs(%e : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  return %r, %s : tensor<128x4xf32, #trn.sbuf>, tensor<128x4xf32, #trn.sbuf>
}

// -----

// A step of a loop writes its own rows: no copy.
// CHECK-LABEL: func.func private @rows
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func private @rows(%x: tensor<128x8xf32, #trn.sbuf>, %d: tensor<128x8xf32, #trn.sbuf>) -> tensor<128x8xf32, #trn.sbuf> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %d) -> (tensor<128x8xf32, #trn.sbuf>) {
    %xs = tensor.extract_slice %x[0, %i] [128, 1] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x1xf32, #trn.sbuf>
    %as = tensor.extract_slice %a[0, %i] [128, 1] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x1xf32, #trn.sbuf>
    %e = linalg.exp ins(%xs : tensor<128x1xf32, #trn.sbuf>) outs(%as : tensor<128x1xf32, #trn.sbuf>) -> tensor<128x1xf32, #trn.sbuf>
    %n = tensor.insert_slice %e into %a[0, %i] [128, 1] [1, 1] : tensor<128x1xf32, #trn.sbuf> into tensor<128x8xf32, #trn.sbuf>
    scf.yield %n : tensor<128x8xf32, #trn.sbuf>
  }
  return %r : tensor<128x8xf32, #trn.sbuf>
}

// -----

// Two parts of one version are written before either is inserted, and the first insertion is read whole: the general
// analysis decides, and copies.
// CHECK-LABEL: func.func private @two_at_once
// CHECK:         memref.copy
func.func private @two_at_once(%d: tensor<128x8xf32, #trn.sbuf>, %o: tensor<128x8xf32, #trn.sbuf>) -> (tensor<128x8xf32, #trn.sbuf>, tensor<128x8xf32, #trn.sbuf>) {
  %c = arith.constant 0.0 : f32
  %d0 = tensor.extract_slice %d[0, 0] [128, 4] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x4xf32, #trn.sbuf>
  %d1 = tensor.extract_slice %d[0, 4] [128, 4] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x4xf32, #trn.sbuf>
  %r0 = linalg.fill ins(%c : f32) outs(%d0 : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  %r1 = linalg.fill ins(%c : f32) outs(%d1 : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  %i0 = tensor.insert_slice %r0 into %d[0, 0] [128, 4] [1, 1] : tensor<128x4xf32, #trn.sbuf> into tensor<128x8xf32, #trn.sbuf>
  %s = linalg.exp ins(%i0 : tensor<128x8xf32, #trn.sbuf>) outs(%o : tensor<128x8xf32, #trn.sbuf>) -> tensor<128x8xf32, #trn.sbuf>
  %i1 = tensor.insert_slice %r1 into %i0[0, 4] [128, 4] [1, 1] : tensor<128x4xf32, #trn.sbuf> into tensor<128x8xf32, #trn.sbuf>
  return %i1, %s : tensor<128x8xf32, #trn.sbuf>, tensor<128x8xf32, #trn.sbuf>
}

// -----

// What a callee writes is no longer what it was.
// CHECK-LABEL: func.func private @fill
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[X:.*]]: memref<128x4xf32, #trn.sbuf>, %{{.*}}: memref<128x4xf32, #trn.sbuf>)
// CHECK:         %[[NEW:.*]] = memref.alloc() : memref<128x4xf32, #trn.sbuf>
// CHECK:         call @fill(%[[NEW]])
// CHECK:         linalg.exp ins(%[[X]]
func.func private @fill(%d: tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf> {
  %c = arith.constant 0.0 : f32
  %r = linalg.fill ins(%c : f32) outs(%d : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  return %r : tensor<128x4xf32, #trn.sbuf>
}
func.func @main(%x: tensor<128x4xf32, #trn.sbuf>, %o: tensor<128x4xf32, #trn.sbuf>) -> (tensor<128x4xf32, #trn.sbuf>, tensor<128x4xf32, #trn.sbuf>) {
  %r = call @fill(%x) : (tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  %s = linalg.exp ins(%x : tensor<128x4xf32, #trn.sbuf>) outs(%o : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  return %r, %s : tensor<128x4xf32, #trn.sbuf>, tensor<128x4xf32, #trn.sbuf>
}
