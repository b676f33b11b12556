// RUN: trn-opt %s -tensor-narrow-types | %FileCheck %s
// RUN: trn-opt %s -tensor-narrow-types 2>&1 >/dev/null | %FileCheck %s --check-prefix=REMARK

#id = affine_map<(d0) -> (d0)>
// REMARK-DAG: remark: input 'flags': 'i1' is stored as 'i8'
// REMARK-DAG: remark: output 'same': 'i1' is stored as 'i8'
// CHECK: func.func @main(%{{.*}}: tensor<2xi8> {onnx.host_type = i1, onnx.name = "flags"}, %{{.*}}: tensor<2xi32>)
// CHECK-SAME: -> (tensor<2xi8> {onnx.host_type = i1, onnx.name = "same"})
func.func @main(%flags: tensor<2xi1> {onnx.name = "flags"}, %ids: tensor<2xi32>) -> (tensor<2xi1> {onnx.name = "same"}) {
  // CHECK: onnx.weight dense<[7, 5]> : tensor<2xi8>
  %n = onnx.weight dense<[7, 5]> : tensor<2xi4>
  %w = onnx.weight dense<[5, 6]> : tensor<2xi32>
  %e = tensor.empty() : tensor<2xi1>
  // CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i8):
  // CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[A]], %[[B]] : i32
  // CHECK: %[[STORED:.*]] = arith.extui %[[SAME]] : i1 to i8
  // CHECK: linalg.yield %[[STORED]] : i8
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%ids, %w : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi1>) {
  ^bb0(%a: i32, %b: i32, %o: i1):
    %s = arith.cmpi eq, %a, %b : i32
    linalg.yield %s : i1
  } -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
