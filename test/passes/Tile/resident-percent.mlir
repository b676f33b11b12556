// RUN: trn-opt %s --tile-choose-layout="print-plan" -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=WIDE
// RUN: trn-opt %s --tile-choose-layout="print-plan resident-percent=10" -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=NARROW
// RUN: trn-opt %s --tile-choose-layout="print-plan resident-percent=60 crowded-nodes=square,square,square" -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=CROWDED

// Three tensors of 20,000 bytes per partition stay in SBUF when they may take 85 % of it. In 10 % there is room for none of
// them.
#id = affine_map<(c, x) -> (c, x)>
// WIDE: layout plan: {{.*}} peak 60000 of 153190 bytes per partition
// WIDE: 'square'
// WIDE-NOT: spilled
// WIDE-NOT: by way of HBM
// NARROW: layout plan: {{.*}} of 18022 bytes per partition
// NARROW: 'square': {{.*}} spilled
// NARROW: if every whole tensor stayed in SBUF: 60000 bytes per partition alive at 'sum', 7680000 bytes in all partitions
// NARROW: by way of HBM: 'square', 2560000 bytes: no room at 'square', where 20000 bytes per partition would be alive
// In 60 %, with three times 15 % less at one node, there is room for one of them there.
// CROWDED: layout plan: {{.*}} peak 40000 of 108134 bytes per partition
func.func @main(%x: tensor<128x5000xf32>) -> tensor<128x5000xf32> {
  %e = tensor.empty() : tensor<128x5000xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<128x5000xf32>) outs(%e : tensor<128x5000xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      linalg.yield %q : f32
  } -> tensor<128x5000xf32> loc("square")
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %x : tensor<128x5000xf32>, tensor<128x5000xf32>) outs(%e : tensor<128x5000xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %q = arith.addf %a, %b : f32
      linalg.yield %q : f32
  } -> tensor<128x5000xf32> loc("sum")
  return %r : tensor<128x5000xf32>
}
