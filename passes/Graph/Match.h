//===- Match.h - what the graph patterns ask about values -----------------===//
//
// Owns small questions on onnx values that several patterns share.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/Value.h"

#include <optional>

namespace trn {

/// The single value of a constant whose elements are all equal.
std::optional<double> uniformConstant(mlir::Value value);
/// How far, relatively, a constant may be from the number that a pattern asks for: exporters write fp32, and a product
/// of a few of those is off by a few of its half units (6e-8 each).
constexpr double kConstantTolerance = 1e-6;
/// True when the value is such a constant, near `expected`.
bool isConstantNear(mlir::Value value, double expected);
bool isConstant(mlir::Value value);

/// Whether the operation gives its first operand's elements another shape, in their order.
bool isReshape(mlir::Operation *op);

mlir::RankedTensorType typeOf(mlir::Value value);
bool isReal(mlir::Value value);

/// A product taken apart: `constant` times the factors.
struct Product {
  double constant = 1;
  llvm::SmallVector<mlir::Value, 4> factors;
};
/// Takes Mul and Div by a uniform constant apart, as far as inner products have one use and the root's shape.
Product takeProductApart(mlir::Value root);

} // namespace trn
