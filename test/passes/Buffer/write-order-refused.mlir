// RUN: trn-opt %s --buffer-bufferize --split-input-file --verify-diagnostics -o /dev/null

// Every step reads what the first one overwrites: the order of writes does not show that no copy is needed.
// expected-remark @below {{copies are decided by the general analysis: 'linalg.exp': reads what it writes}}
func.func private @next_step(%d: tensor<128x8xf32, #trn.sbuf>) -> tensor<128x8xf32, #trn.sbuf> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %first = tensor.extract_slice %d[0, 0] [128, 1] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x1xf32, #trn.sbuf>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %d) -> (tensor<128x8xf32, #trn.sbuf>) {
    %as = tensor.extract_slice %a[0, %i] [128, 1] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x1xf32, #trn.sbuf>
    %e = linalg.exp ins(%first : tensor<128x1xf32, #trn.sbuf>) outs(%as : tensor<128x1xf32, #trn.sbuf>) -> tensor<128x1xf32, #trn.sbuf>
    %n = tensor.insert_slice %e into %a[0, %i] [128, 1] [1, 1] : tensor<128x1xf32, #trn.sbuf> into tensor<128x8xf32, #trn.sbuf>
    scf.yield %n : tensor<128x8xf32, #trn.sbuf>
  }
  return %r : tensor<128x8xf32, #trn.sbuf>
}

// -----

// The same through a buffer that every step writes.
// expected-remark @below {{copies are decided by the general analysis: 'scf.for': uses what its next step may have overwritten}}
func.func private @outside(%d: tensor<128x8xf32, #trn.sbuf>, %b: tensor<128x1xf32, #trn.sbuf>) -> tensor<128x8xf32, #trn.sbuf> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %first = tensor.extract_slice %d[0, 0] [128, 1] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x1xf32, #trn.sbuf>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %d) -> (tensor<128x8xf32, #trn.sbuf>) {
    %x = linalg.exp ins(%first : tensor<128x1xf32, #trn.sbuf>) outs(%b : tensor<128x1xf32, #trn.sbuf>) -> tensor<128x1xf32, #trn.sbuf>
    %as = tensor.extract_slice %a[0, %i] [128, 1] [1, 1] : tensor<128x8xf32, #trn.sbuf> to tensor<128x1xf32, #trn.sbuf>
    %e = linalg.exp ins(%x : tensor<128x1xf32, #trn.sbuf>) outs(%as : tensor<128x1xf32, #trn.sbuf>) -> tensor<128x1xf32, #trn.sbuf>
    %n = tensor.insert_slice %e into %a[0, %i] [128, 1] [1, 1] : tensor<128x1xf32, #trn.sbuf> into tensor<128x8xf32, #trn.sbuf>
    scf.yield %n : tensor<128x8xf32, #trn.sbuf>
  }
  return %r : tensor<128x8xf32, #trn.sbuf>
}
