//===- Layers.h - the error of every layer --------------------------------===//
//
// Owns the report of `trnc verify --layers`: what each node of a model loses in the precision that it is compiled with.
// Compared are the values of stage `tensor`, where precision is decided, or of a later stage, where the same is
// computed in other layouts and orders. Refuses to judge nodes that have no value of their own there (movement that
// folded away, activations inside of others; behind `tensor` also what exists in pieces only).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/tools/trnc/StageValues.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace trn::driver {

/// What a node computes in fp32.
struct ExpectedLayer {
  std::vector<int64_t> shape;
  std::vector<double> values;
};
/// By node name.
using ExpectedLayers = std::map<std::string, ExpectedLayer>;

/// The values of the model's nodes in a file of scripts/node_values.py.
ExpectedLayers expectedLayers(const References &references);
/// The values of the nodes at stage `graph`.
ExpectedLayers expectedLayers(const StageValues &values);

/// The error of one node. Errors are shares of the largest expected value.
struct LayerError {
  NodeOrigin node;
  std::string storedAs;      ///< the element type of its value
  double error = 0;          ///< the largest difference
  double rms = 0;            ///< the root of the mean square difference, as a share of that of the expected values
  double added = 0;          ///< how much larger `error` is than that of the node's operands
  bool isReordered = false;  ///< movement was folded away: sorted values are compared, which says less
};

struct LayerReport {
  std::vector<LayerError> layers;        ///< the largest growth first
  std::vector<std::string> withoutValue; ///< nodes of the reference that have no value at the stage
};

/// How values flow from node to node at stage `tensor`; outlives the module that it was read from.
struct LayerFlow {
  struct Step {
    std::string node;
    bool isValueOfNode = false;           ///< what the node means, not a part of its way
    llvm::SmallVector<unsigned> operands; ///< earlier steps
  };
  std::vector<Step> steps; ///< in program order
};

/// The flow of @main at stage `tensor`.
LayerFlow layerFlow(mlir::ModuleOp module, const ExpectedLayers &expected);

/// Compares the values of a stage from `tensor` on.
LayerReport compareLayers(const StageValues &values, const LayerFlow &flow, const ExpectedLayers &expected);

/// Prints a table; with `limit`, layers beyond it are marked.
void printLayers(const LayerReport &report, std::optional<double> limit, llvm::raw_ostream &os);
llvm::json::Value layersJson(const LayerReport &report, std::optional<double> limit);

} // namespace trn::driver
