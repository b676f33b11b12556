// RUN: trn-opt %s --trn-fuse-reductions --canonicalize --split-input-file | FileCheck-22 %s

// Softmax: the negated maximum is one instruction, the exponentials and their sum another.
// CHECK-LABEL: func @softmax
// CHECK:         trn.tensor_reduce outs(%[[M:.*]] : {{.*}}) {{.*}} {negate, op = #trn.alu<max>}
// CHECK:         trn.activation outs(%[[E:.*]] : {{.*}}) {{.*}} bias(%[[M]] : {{.*}}) reduce(%[[S:.*]] : memref<128x1xf32, #trn.sbuf>) {func = #trn.act<exp>}
// CHECK-NEXT:    trn.tensor_scalar outs(%{{.*}} : {{.*}}) ins(%[[E]] : {{.*}}) operand0(%[[S]] : {{.*}}) {op0 = #trn.alu<divide>}
func.func @softmax(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  %max = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  trn.tensor_reduce outs(%max : memref<128x1xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) {op = #trn.alu<max>}
  %minus = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  trn.tensor_scalar outs(%minus : memref<128x1xf32, #trn.sbuf>) ins(%max : memref<128x1xf32, #trn.sbuf>) {op0 = #trn.alu<multiply>, operand0_imm = -1.0 : f32}
  %e = memref.alloc() : memref<128x64xf32, #trn.sbuf>
  trn.activation outs(%e : memref<128x64xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) bias(%minus : memref<128x1xf32, #trn.sbuf>) {func = #trn.act<exp>}
  %sum = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  trn.tensor_reduce outs(%sum : memref<128x1xf32, #trn.sbuf>) ins(%e : memref<128x64xf32, #trn.sbuf>) {op = #trn.alu<add>}
  trn.tensor_scalar outs(%y : memref<128x64xf32, #trn.sbuf>) ins(%e : memref<128x64xf32, #trn.sbuf>) operand0(%sum : memref<128x1xf32, #trn.sbuf>) {op0 = #trn.alu<divide>}
  return
}

// -----

// The sum of rounded values is not the sum that the activation takes.
// CHECK-LABEL: func @rounded
// CHECK:         trn.activation
// CHECK-NEXT:    trn.tensor_reduce
func.func @rounded(%x: memref<128x64xf32, #trn.sbuf>, %e: memref<128x64xbf16, #trn.sbuf>, %sum: memref<128x1xf32, #trn.sbuf>) {
  trn.activation outs(%e : memref<128x64xbf16, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) {func = #trn.act<exp>}
  trn.tensor_reduce outs(%sum : memref<128x1xf32, #trn.sbuf>) ins(%e : memref<128x64xbf16, #trn.sbuf>) {op = #trn.alu<add>}
  return
}

// -----

// The maximum is read twice: its sign stays.
// CHECK-LABEL: func @read_twice
// CHECK:         trn.tensor_reduce {{.*}} {op = #trn.alu<max>}
func.func @read_twice(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x1xf32, #trn.sbuf>, %z: memref<128x64xf32, #trn.sbuf>) {
  %max = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  trn.tensor_reduce outs(%max : memref<128x1xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) {op = #trn.alu<max>}
  %minus = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  trn.tensor_scalar outs(%minus : memref<128x1xf32, #trn.sbuf>) ins(%max : memref<128x1xf32, #trn.sbuf>) {op0 = #trn.alu<multiply>, operand0_imm = -1.0 : f32}
  trn.tensor_copy outs(%y : memref<128x1xf32, #trn.sbuf>) ins(%max : memref<128x1xf32, #trn.sbuf>)
  trn.activation outs(%z : memref<128x64xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) bias(%minus : memref<128x1xf32, #trn.sbuf>) {func = #trn.act<exp>}
  return
}

// -----

// The negated maximum's buffer holds something else before: it stays.
// CHECK-LABEL: func @read_before
// CHECK:         trn.tensor_reduce {{.*}} {op = #trn.alu<max>}
// CHECK:         trn.tensor_scalar {{.*}} {op0 = #trn.alu<multiply>
func.func @read_before(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x1xf32, #trn.sbuf>, %z: memref<128x64xf32, #trn.sbuf>) {
  %minus = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  trn.memset outs(%minus : memref<128x1xf32, #trn.sbuf>) {value = 1.0 : f32}
  %max = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  trn.tensor_reduce outs(%max : memref<128x1xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) {op = #trn.alu<max>}
  trn.tensor_copy outs(%y : memref<128x1xf32, #trn.sbuf>) ins(%minus : memref<128x1xf32, #trn.sbuf>)
  trn.tensor_scalar outs(%minus : memref<128x1xf32, #trn.sbuf>) ins(%max : memref<128x1xf32, #trn.sbuf>) {op0 = #trn.alu<multiply>, operand0_imm = -1.0 : f32}
  trn.activation outs(%z : memref<128x64xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) bias(%minus : memref<128x1xf32, #trn.sbuf>) {func = #trn.act<exp>}
  return
}

// -----

// The maximum's buffer does not live where the negated one is read.
// CHECK-LABEL: func @read_outside
// CHECK:         trn.tensor_scalar {{.*}} {op0 = #trn.alu<multiply>
func.func @read_outside(%x: memref<128x64xf32, #trn.sbuf>, %z: memref<128x64xf32, #trn.sbuf>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %minus = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  scf.for %i = %c0 to %c2 step %c1 {
    %max = memref.alloc() : memref<128x1xf32, #trn.sbuf>
    trn.tensor_reduce outs(%max : memref<128x1xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) {op = #trn.alu<max>}
    trn.tensor_scalar outs(%minus : memref<128x1xf32, #trn.sbuf>) ins(%max : memref<128x1xf32, #trn.sbuf>) {op0 = #trn.alu<multiply>, operand0_imm = -1.0 : f32}
  }
  trn.activation outs(%z : memref<128x64xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) bias(%minus : memref<128x1xf32, #trn.sbuf>) {func = #trn.act<exp>}
  return
}

// -----

// The sum is a row of a larger buffer, at an index that another block computes.
// CHECK-LABEL: func @index_outside
// CHECK:         trn.activation {{.*}} reduce(%{{.*}} : memref<128x1xf32,
func.func @index_outside(%x: memref<128x64xf32, #trn.sbuf>, %sums: memref<128x4xf32, #trn.sbuf>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %j = arith.addi %i, %c1 : index
    scf.for %k = %c0 to %c2 step %c1 {
      %e = memref.alloc() : memref<128x64xf32, #trn.sbuf>
      trn.activation outs(%e : memref<128x64xf32, #trn.sbuf>) ins(%x : memref<128x64xf32, #trn.sbuf>) {func = #trn.act<exp>}
      %sum = memref.subview %sums[0, %j] [128, 1] [1, 1] : memref<128x4xf32, #trn.sbuf> to memref<128x1xf32, strided<[4, 1], offset: ?>, #trn.sbuf>
      trn.tensor_reduce outs(%sum : memref<128x1xf32, strided<[4, 1], offset: ?>, #trn.sbuf>) ins(%e : memref<128x64xf32, #trn.sbuf>) {op = #trn.alu<add>}
    }
  }
  return
}
