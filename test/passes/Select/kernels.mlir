// The hand-written kernels of the examples are at stage selected.
// RUN: trn-opt %root/examples/kernels/matmul.mlir --trn-verify-selected -o /dev/null
// RUN: trn-opt %root/examples/kernels/conv3x3.mlir --trn-verify-selected -o /dev/null
// RUN: trn-opt %root/examples/kernels/softmax.mlir --trn-verify-selected -o /dev/null
