// RUN: trn-opt %s -split-input-file -verify-diagnostics --tile-verify-grouped

// expected-error@+1 {{stage grouped, G1: expected no arguments and no results, but got 1 and 0}}
func.func @main(%x: tensor<4x4xf32, #trn.hbm>) {
  return
}

// -----

// expected-error@+1 {{stage grouped, G2: expected a tensor in HBM or SBUF, but got 'tensor<4x4xf32>'}}
func.func private @no_space(%x: tensor<4x4xf32>) {
  return
}

// -----

// expected-error@+1 {{stage grouped, G2: expected 1 to 128 partitions in dimension 0, but got 'tensor<129x4xf32, #trn.sbuf>'}}
func.func private @too_many_partitions(%x: tensor<129x4xf32, #trn.sbuf>) {
  return
}

// -----

func.func private @not_structured(%x: tensor<4x4xf32, #trn.sbuf>, %i: tensor<4x4xf32, #trn.sbuf>) -> tensor<4x4xf32, #trn.sbuf> {
  %c = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  // expected-error@+1 {{stage grouped, G3: expected no 'tensor.insert' in a group}}
  %r = tensor.insert %f into %x[%c, %c] : tensor<4x4xf32, #trn.sbuf>
  return %x : tensor<4x4xf32, #trn.sbuf>
}

// -----

func.func private @without_elements(%x: tensor<4x0xf32, #trn.sbuf>, %y: tensor<4x0xf32, #trn.sbuf>) -> tensor<4x0xf32, #trn.sbuf> {
  // expected-error@+1 {{stage grouped, G3: expected tensors with elements in 'linalg.generic'}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x0xf32, #trn.sbuf>) outs(%y : tensor<4x0xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x0xf32, #trn.sbuf>
  return %r : tensor<4x0xf32, #trn.sbuf>
}

// -----

func.func private @no_destination(%x: tensor<4x4xf32, #trn.sbuf>) -> tensor<4x4xf32, #trn.sbuf> {
  %e = tensor.empty() : tensor<4x4xf32, #trn.sbuf>
  // expected-error@+1 {{stage grouped, G4: expected result #0 to be written into an argument}}
  return %e : tensor<4x4xf32, #trn.sbuf>
}

// -----

func.func private @start_partition(%x: tensor<128x4xf32, #trn.sbuf>) {
  // expected-error@+1 {{stage grouped, G5: expected adjacent partitions from 0, 32, 64 or 96 on, but got offset 16 and stride 1}}
  %s = tensor.extract_slice %x[16, 0] [64, 4] [1, 1] : tensor<128x4xf32, #trn.sbuf> to tensor<64x4xf32, #trn.sbuf>
  %e = tensor.empty() : tensor<64x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(p, i) -> (p, i)>, affine_map<(p, i) -> (p, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<64x4xf32, #trn.sbuf>) outs(%e : tensor<64x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<64x4xf32>
  return
}

// -----

// One partition stays one, whichever of its dimensions of one element is said to go; a partition of many does not.
func.func private @one_partition(%x: tensor<1x7x4xf32, #trn.sbuf>, %d: tensor<4x4xf32, #trn.sbuf>) {
  %s = tensor.extract_slice %x[0, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<1x7x4xf32, #trn.sbuf> to tensor<1x4xf32, #trn.sbuf>
  // expected-error@+1 {{stage grouped, G5: expected dimension 0, the partition, to be kept}}
  %t = tensor.extract_slice %d[0, 0] [1, 4] [1, 1] : tensor<4x4xf32, #trn.sbuf> to tensor<4xf32, #trn.sbuf>
  return
}

// -----

// Copies may begin anywhere: DMA carries them where an engine cannot.
func.func private @moved(%x: tensor<128x4xf32, #trn.sbuf>, %d: tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf> {
  %s = tensor.extract_slice %x[16, 0] [64, 4] [1, 1] : tensor<128x4xf32, #trn.sbuf> to tensor<64x4xf32, #trn.sbuf>
  %e = tensor.extract_slice %d[8, 0] [64, 4] [1, 1] : tensor<128x4xf32, #trn.sbuf> to tensor<64x4xf32, #trn.sbuf>
  %r = linalg.copy ins(%s : tensor<64x4xf32, #trn.sbuf>) outs(%e : tensor<64x4xf32, #trn.sbuf>) -> tensor<64x4xf32, #trn.sbuf>
  %i = tensor.insert_slice %r into %d[8, 0] [64, 4] [1, 1] : tensor<64x4xf32, #trn.sbuf> into tensor<128x4xf32, #trn.sbuf>
  return %i : tensor<128x4xf32, #trn.sbuf>
}

// -----

func.func private @reshape_of_partitions(%x: tensor<128x4xf32, #trn.sbuf>) {
  // expected-error@+1 {{stage grouped, G5: expected dimension 0, the partition, to be left alone}}
  %s = tensor.collapse_shape %x [[0, 1]] : tensor<128x4xf32, #trn.sbuf> into tensor<512xf32, #trn.sbuf>
  return
}

// -----

func.func private @other_partitions(%x: tensor<8x4xf32, #trn.sbuf>, %d: tensor<4x8xf32, #trn.sbuf>) -> tensor<4x8xf32, #trn.sbuf> {
  // expected-error@+1 {{stage grouped, G6: expected the iterator of the result's dimension 0 in dimension 0 of input #0}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x4xf32, #trn.sbuf>) outs(%d : tensor<4x8xf32, #trn.sbuf>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      linalg.yield %q : f32
  } -> tensor<4x8xf32, #trn.sbuf>
  return %r : tensor<4x8xf32, #trn.sbuf>
}
