//===- NodeNames.h - which ONNX node an operation comes from --------------===//
//
// Owns the reading of ONNX nodes out of locations, for messages and for the debug map. A node is a NameLoc; its child, a
// file location, holds the operator's name and the position of the node in the model.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/Location.h"
#include <string>

namespace trn {

struct NodeName {
  std::string node; ///< empty when the location names none
  std::string op;   ///< ONNX operator
  std::string note; ///< the source line of a kernel that was written by hand
};

/// Of several names the first one counts. Code that several calls share belongs to the call.
NodeName nodeOf(mlir::Location loc);

} // namespace trn
