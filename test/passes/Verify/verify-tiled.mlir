// RUN: trn-opt %s --split-input-file --verify-diagnostics --trn-verify-stage=stage=tiled

#lhs = affine_map<(m, n, k) -> (k, m)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func private @good(%x: tensor<128x64xf32, #trn.sbuf>, %w: tensor<128x512xf32, #trn.sbuf>, %y: tensor<64x1024xf32, #trn.sbuf>) -> tensor<64x1024xf32, #trn.sbuf> {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %0 = scf.for %i = %c0 to %c1024 step %c512 iter_args(%to = %y) -> (tensor<64x1024xf32, #trn.sbuf>) {
    %bank = tensor.empty() : tensor<64x512xf32, #trn.psum>
    %fill = linalg.fill ins(%zero : f32) outs(%bank : tensor<64x512xf32, #trn.psum>) -> tensor<64x512xf32, #trn.psum>
    %product = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<128x64xf32, #trn.sbuf>, tensor<128x512xf32, #trn.sbuf>) outs(%fill : tensor<64x512xf32, #trn.psum>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x512xf32, #trn.psum>
    %part = tensor.extract_slice %to[0, %i] [64, 512] [1, 1] : tensor<64x1024xf32, #trn.sbuf> to tensor<64x512xf32, #trn.sbuf>
    %copy = linalg.copy ins(%product : tensor<64x512xf32, #trn.psum>) outs(%part : tensor<64x512xf32, #trn.sbuf>) -> tensor<64x512xf32, #trn.sbuf>
    %whole = tensor.insert_slice %copy into %to[0, %i] [64, 512] [1, 1] : tensor<64x512xf32, #trn.sbuf> into tensor<64x1024xf32, #trn.sbuf>
    scf.yield %whole : tensor<64x1024xf32, #trn.sbuf>
  }
  return %0 : tensor<64x1024xf32, #trn.sbuf>
}

// -----

// A window that only gives loops their ranges needs no memory …
#pooled = affine_map<(p, x, r) -> (p, x + r)>
#window = affine_map<(p, x, r) -> (r)>
#kept = affine_map<(p, x, r) -> (p, x)>
func.func private @window_of_ranges(%x: tensor<64x10xf32, #trn.sbuf>, %y: tensor<64x8xf32, #trn.sbuf>) -> tensor<64x8xf32, #trn.sbuf> {
  %window = tensor.empty() : tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#pooled, #window, #kept], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %window : tensor<64x10xf32, #trn.sbuf>, tensor<3xf32>) outs(%y : tensor<64x8xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %w: f32, %acc: f32):
    %m = arith.maximumf %a, %acc : f32
    linalg.yield %m : f32
  } -> tensor<64x8xf32, #trn.sbuf>
  return %0 : tensor<64x8xf32, #trn.sbuf>
}

// -----

// … one whose elements are read does.
#pooled = affine_map<(p, x, r) -> (p, x + r)>
#window = affine_map<(p, x, r) -> (r)>
#kept = affine_map<(p, x, r) -> (p, x)>
func.func private @window_of_values(%x: tensor<64x10xf32, #trn.sbuf>, %y: tensor<64x8xf32, #trn.sbuf>) -> tensor<64x8xf32, #trn.sbuf> {
  // expected-error @+1 {{stage tiled, L2: expected a static shape and a space, but got 'tensor<3xf32>'}}
  %window = tensor.empty() : tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#pooled, #window, #kept], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %window : tensor<64x10xf32, #trn.sbuf>, tensor<3xf32>) outs(%y : tensor<64x8xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %w: f32, %acc: f32):
    %p = arith.mulf %a, %w : f32
    %m = arith.maximumf %p, %acc : f32
    linalg.yield %m : f32
  } -> tensor<64x8xf32, #trn.sbuf>
  return %0 : tensor<64x8xf32, #trn.sbuf>
}

// -----

// expected-error @+1 {{stage tiled, L1: expected no arguments and no results, but got 1 and 0}}
func.func @main(%x: tensor<4x4xf32, #trn.hbm>) {
  return
}

// -----

// expected-error @+1 {{stage tiled, L2: expected a static shape and a space, but got 'tensor<4x4xf32>'}}
func.func private @no_space(%x: tensor<4x4xf32>) {
  return
}

// -----

func.func private @too_many_partitions(%x: tensor<256x4xf32, #trn.hbm>) {
  // expected-error @+1 {{stage tiled, L2: expected 1 to 128 partitions in dimension 0, but got 'tensor<256x4xf32, #trn.sbuf>'}}
  %0 = tensor.empty() : tensor<256x4xf32, #trn.sbuf>
  return
}

// -----

func.func private @no_group_operation(%x: tensor<4x4xf32, #trn.sbuf>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{stage tiled, L3: expected no 'tensor.extract' in a group}}
  %0 = tensor.extract %x[%c0, %c0] : tensor<4x4xf32, #trn.sbuf>
  return
}

// -----

func.func private @bounds_from_data(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{stage tiled, L3: expected constant bounds and a positive step}}
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}

// -----

// A bank for each step of the outer dimensions, whichever of them has steps.
func.func private @banks_of_blocks() {
  %0 = tensor.empty() : tensor<128x1x4x512xf32, #trn.psum>
  return
}

// -----

func.func private @two_banks() {
  // expected-error @+1 {{stage tiled, L4: expected at most 2048 bytes per partition, one bank of PSUM, or one of up to 4 banks for each step of the outer dimensions, but got 4096 of 'tensor<64x1024xf32, #trn.psum>'}}
  %0 = tensor.empty() : tensor<64x1024xf32, #trn.psum>
  return
}

// -----

func.func private @transpose_into_sbuf(%x: tensor<32x64xf32, #trn.sbuf>, %y: tensor<64x32xf32, #trn.sbuf>) {
  // expected-error @+1 {{stage tiled, L4: expected the result of a transpose in psum, but got sbuf}}
  %0 = linalg.transpose ins(%x : tensor<32x64xf32, #trn.sbuf>) outs(%y : tensor<64x32xf32, #trn.sbuf>) permutation = [1, 0]
  return
}

// -----

func.func private @destination_used_twice(%x: tensor<4x4xf32, #trn.sbuf>) {
  // expected-error @+1 {{stage tiled, L5: expected one operation that writes it, but got several}}
  %0 = tensor.empty() : tensor<4x4xf32, #trn.sbuf>
  %1 = linalg.copy ins(%x : tensor<4x4xf32, #trn.sbuf>) outs(%0 : tensor<4x4xf32, #trn.sbuf>) -> tensor<4x4xf32, #trn.sbuf>
  %2 = linalg.copy ins(%x : tensor<4x4xf32, #trn.sbuf>) outs(%0 : tensor<4x4xf32, #trn.sbuf>) -> tensor<4x4xf32, #trn.sbuf>
  return
}
