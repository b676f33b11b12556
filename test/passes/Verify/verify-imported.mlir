// RUN: %python -c "print('func.func @main() -> (tensor<300xf32> {onnx.name = \"y\"}) {\n  %%0 = onnx.weight dense<[' + ', '.join(f'{i}.0' for i in range(300)) + ']> : tensor<300xf32>\n  return %%0 : tensor<300xf32>\n}')" > %t.mlir
// RUN: %not trn-opt %t.mlir --trn-verify-stage=stage=imported 2>&1 | %FileCheck %s
// CHECK: stage imported, M5: expected a resource for a weight of more than 1024 bytes, but got 1200 bytes in the attribute

// Shapes that are not known yet are fine at `imported`.
// RUN: trn-opt %s --trn-verify-stage=stage=imported
func.func @main(%x: tensor<?xf32> {onnx.name = "x"}) -> (tensor<?xf32> {onnx.name = "y"}) {
  %0 = onnx.Relu(%x) : (tensor<?xf32>) -> tensor<?xf32> loc("relu")
  return %0 : tensor<?xf32>
}
