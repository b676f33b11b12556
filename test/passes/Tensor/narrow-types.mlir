// RUN: trn-opt %s -tensor-narrow-types | %FileCheck %s
// RUN: trn-opt %s -tensor-narrow-types 2>&1 >/dev/null | %FileCheck %s --check-prefix=REMARK

#id = affine_map<(d0) -> (d0)>
// REMARK-DAG: remark: input 'ids': 'i64' is stored as 'i32'
// REMARK-DAG: remark: output 'same': 'i1' is stored as 'i8'
// CHECK: func.func @main(%{{.*}}: tensor<2xi32> {onnx.host_type = i64, onnx.name = "ids"})
// CHECK-SAME: -> (tensor<2xi8> {onnx.host_type = i1, onnx.name = "same"})
func.func @main(%ids: tensor<2xi64> {onnx.name = "ids"}) -> (tensor<2xi1> {onnx.name = "same"}) {
  // CHECK: onnx.weight dense<[7, -8]> : tensor<2xi32>
  %w = onnx.weight dense<[7, -8]> : tensor<2xi64>
  %e = tensor.empty() : tensor<2xi1>
  // CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i8):
  // CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[A]], %[[B]] : i32
  // CHECK: %[[STORED:.*]] = arith.extui %[[SAME]] : i1 to i8
  // CHECK: linalg.yield %[[STORED]] : i8
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%ids, %w : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi1>) {
  ^bb0(%a: i64, %b: i64, %o: i1):
    %s = arith.cmpi eq, %a, %b : i64
    linalg.yield %s : i1
  } -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// A bound that nothing reaches is the nearest end.
// CHECK-LABEL: func @bounds
// CHECK: %[[HIGH:.*]] = arith.constant 2147483647 : i32
// CHECK: arith.minsi %{{.*}}, %[[HIGH]] : i32
func.func @bounds(%ids: tensor<2xi64>) -> tensor<2xi64> {
  %high = arith.constant 9223372036854775807 : i64
  %e = tensor.empty() : tensor<2xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%ids : tensor<2xi64>) outs(%e : tensor<2xi64>) {
  ^bb0(%a: i64, %o: i64):
    %s = arith.minsi %a, %high : i64
    linalg.yield %s : i64
  } -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
