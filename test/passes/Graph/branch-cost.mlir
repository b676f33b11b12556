// RUN: trn-opt %s --pass-pipeline='builtin.module(func.func(onnx-infer-fold{target=trn2}))' | %FileCheck %s --check-prefixes=CHECK,TRN2
// RUN: trn-opt %s --pass-pipeline='builtin.module(func.func(onnx-infer-fold{target=trn3}))' | %FileCheck %s --check-prefixes=CHECK,TRN3

// Whether a condition of the run selects or branches, just below and just above where both cost the same. What is not
// taken costs half of its own time; a branch its transfers, one behind the other, and what crosses its border. A change of
// what devices or operators are estimated to take moves the borders, and the sizes here with them.

// Products, at the rate of PE, against bytes, at that of HBM: trn3 has more of both.
// CHECK-LABEL: func @products_365
// CHECK-NOT: onnx.branch
// CHECK: onnx.Where
func.func @products_365(%c: tensor<i1>, %x: tensor<1024x365xf32>, %w: tensor<365x365xf32>) -> tensor<*xf32> {
  %y = onnx.If(%c) {
    %a = onnx.MatMul(%x, %w) : (tensor<1024x365xf32>, tensor<365x365xf32>) -> tensor<1024x365xf32>
    %b = onnx.MatMul(%a, %w) : (tensor<1024x365xf32>, tensor<365x365xf32>) -> tensor<1024x365xf32>
    onnx.yield %b : tensor<1024x365xf32>
  }, {
    onnx.yield %x : tensor<1024x365xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func @products_366
// TRN2-NOT: onnx.branch
// TRN2: onnx.Where
// TRN3-NOT: onnx.Where
// TRN3: onnx.branch
func.func @products_366(%c: tensor<i1>, %x: tensor<1024x366xf32>, %w: tensor<366x366xf32>) -> tensor<*xf32> {
  %y = onnx.If(%c) {
    %a = onnx.MatMul(%x, %w) : (tensor<1024x366xf32>, tensor<366x366xf32>) -> tensor<1024x366xf32>
    %b = onnx.MatMul(%a, %w) : (tensor<1024x366xf32>, tensor<366x366xf32>) -> tensor<1024x366xf32>
    onnx.yield %b : tensor<1024x366xf32>
  }, {
    onnx.yield %x : tensor<1024x366xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func @products_463
// TRN2-NOT: onnx.branch
// TRN2: onnx.Where
// TRN3-NOT: onnx.Where
// TRN3: onnx.branch
func.func @products_463(%c: tensor<i1>, %x: tensor<1024x463xf32>, %w: tensor<463x463xf32>) -> tensor<*xf32> {
  %y = onnx.If(%c) {
    %a = onnx.MatMul(%x, %w) : (tensor<1024x463xf32>, tensor<463x463xf32>) -> tensor<1024x463xf32>
    %b = onnx.MatMul(%a, %w) : (tensor<1024x463xf32>, tensor<463x463xf32>) -> tensor<1024x463xf32>
    onnx.yield %b : tensor<1024x463xf32>
  }, {
    onnx.yield %x : tensor<1024x463xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func @products_464
// CHECK-NOT: onnx.Where
// CHECK: onnx.branch
func.func @products_464(%c: tensor<i1>, %x: tensor<1024x464xf32>, %w: tensor<464x464xf32>) -> tensor<*xf32> {
  %y = onnx.If(%c) {
    %a = onnx.MatMul(%x, %w) : (tensor<1024x464xf32>, tensor<464x464xf32>) -> tensor<1024x464xf32>
    %b = onnx.MatMul(%a, %w) : (tensor<1024x464xf32>, tensor<464x464xf32>) -> tensor<1024x464xf32>
    onnx.yield %b : tensor<1024x464xf32>
  }, {
    onnx.yield %x : tensor<1024x464xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// Functions cost as many instructions as their compositions have: Sinh about ten times as many as Tanh, which is one.
// CHECK-LABEL: func @sinh_21
// CHECK-NOT: onnx.branch
// CHECK: onnx.Where
func.func @sinh_21(%c: tensor<i1>, %x: tensor<1024x21xf32>) -> tensor<*xf32> {
  %y = onnx.If(%c) {
    %a = onnx.Sinh(%x) : (tensor<1024x21xf32>) -> tensor<1024x21xf32>
    %b = onnx.Sinh(%a) : (tensor<1024x21xf32>) -> tensor<1024x21xf32>
    onnx.yield %b : tensor<1024x21xf32>
  }, {
    onnx.yield %x : tensor<1024x21xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func @sinh_26
// CHECK-NOT: onnx.Where
// CHECK: onnx.branch
func.func @sinh_26(%c: tensor<i1>, %x: tensor<1024x26xf32>) -> tensor<*xf32> {
  %y = onnx.If(%c) {
    %a = onnx.Sinh(%x) : (tensor<1024x26xf32>) -> tensor<1024x26xf32>
    %b = onnx.Sinh(%a) : (tensor<1024x26xf32>) -> tensor<1024x26xf32>
    onnx.yield %b : tensor<1024x26xf32>
  }, {
    onnx.yield %x : tensor<1024x26xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func @tanh_26
// CHECK-NOT: onnx.branch
// CHECK: onnx.Where
func.func @tanh_26(%c: tensor<i1>, %x: tensor<1024x26xf32>) -> tensor<*xf32> {
  %y = onnx.If(%c) {
    %a = onnx.Tanh(%x) : (tensor<1024x26xf32>) -> tensor<1024x26xf32>
    %b = onnx.Tanh(%a) : (tensor<1024x26xf32>) -> tensor<1024x26xf32>
    onnx.yield %b : tensor<1024x26xf32>
  }, {
    onnx.yield %x : tensor<1024x26xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// Formulas of operators cost their operations.
// CHECK-LABEL: func @elu_371
// CHECK-NOT: onnx.branch
// CHECK: onnx.Where
func.func @elu_371(%c: tensor<i1>, %x: tensor<1024x371xf32>) -> tensor<*xf32> {
  %y = onnx.If(%c) {
    %a = onnx.Elu(%x) : (tensor<1024x371xf32>) -> tensor<1024x371xf32>
    %b = onnx.Elu(%a) : (tensor<1024x371xf32>) -> tensor<1024x371xf32>
    onnx.yield %b : tensor<1024x371xf32>
  }, {
    onnx.yield %x : tensor<1024x371xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func @elu_460
// CHECK-NOT: onnx.Where
// CHECK: onnx.branch
func.func @elu_460(%c: tensor<i1>, %x: tensor<1024x460xf32>) -> tensor<*xf32> {
  %y = onnx.If(%c) {
    %a = onnx.Elu(%x) : (tensor<1024x460xf32>) -> tensor<1024x460xf32>
    %b = onnx.Elu(%a) : (tensor<1024x460xf32>) -> tensor<1024x460xf32>
    onnx.yield %b : tensor<1024x460xf32>
  }, {
    onnx.yield %x : tensor<1024x460xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
