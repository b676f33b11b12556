//===- StageValues.h - what the module of a stage computes, by node -------===//
//
// Owns the evaluation of a module of any stage on a model's inputs, and the naming of the node at which its values leave
// those of a reference or of the stage before. Refuses to judge a stage: its outputs do that.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Pipeline/Stages.h"
#include "compiler/Reference/Tensor.h"
#include "compiler/Support/Problems.h"
#include "compiler/tools/trnc/Tensors.h"
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/src/TensorFile.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace trn::driver {

/// Expected values: of inputs and outputs and of every node's first output, by name.
struct References {
  std::map<std::string, const rt::HostTensor *> byValue, byNode;
  rt::TensorFile file;
  std::vector<rt::HostTensor> given; ///< inputs from elsewhere
};

/// Reads the file of scripts/node_values.py; its member `__nodes__` maps node names to values, as JSON. The text of a
/// problem, or "".
std::string readReferences(const std::string &path, References &references);

/// Where the inputs of a model, and expected values, come from: files by name, a folder of the ONNX suite, seeded noise for
/// what is left, and a file of scripts/node_values.py. The last two and the folder may be absent.
struct InputSources {
  std::vector<NamedFile> files;
  std::string data;
  std::optional<uint64_t> seed;
  std::string reference;
};

/// Fills `references` with the inputs of a module at stage `graph`, and with the values of its nodes when there is a
/// file of them. All problems as lines.
std::vector<std::string> collectReferences(const InputSources &sources, mlir::ModuleOp module, References &references);

/// A value that a node computes at some stage.
struct NodeValue {
  NodeOrigin node;
  uint64_t order = 0; ///< of its last change among all values of the evaluation
  /// Inside a group function: the next stage may compute it in other pieces.
  bool isInside = false;
  mlir::Operation *op = nullptr; ///< what computed it, while values are tensors
  Tensor values;
};

struct StageValues {
  std::map<std::string, std::vector<double>> outputs;   ///< by ONNX name, row major
  std::map<std::string, NodeOrigin> outputNodes;        ///< which node computes each
  std::vector<NodeValue> nodes;                         ///< in the order of their last change
};

/// Evaluates a model at `stage` on the inputs among `references`: @main of a module, or the parts of a program in the
/// order that data decides. Of outputs of which the run decides how much is valid, that. `withNodes` collects the values of
/// nodes, too, of a loop those of its last round: tensors of operations and calls, and from `buffered` on what each buffer
/// held when it died. Fails with an error at the operation that cannot be evaluated.
mlir::FailureOr<StageValues> evaluateStage(Stage stage, mlir::ModuleOp module, const References &references,
                                           const isa::DeviceInfo &device, bool withNodes);

/// The outputs of a model at stage `graph`, as callers see them. Fails like evaluateStage.
mlir::FailureOr<std::vector<rt::HostTensor>> evaluateOutputs(mlir::ModuleOp module, const References &references,
                                                             const isa::DeviceInfo &device);

/// Whether a tensor of `shape` is the front of one of shape `whole` along one dimension at most: what is valid of a tensor
/// whose size the run decides.
bool isFrontOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> whole);
/// That part, or the tensor itself when it has no such part.
Tensor validPart(const Tensor &whole, llvm::ArrayRef<int64_t> shape);

/// The elements of a tensor, row major.
std::vector<double> asDoubles(const Tensor &tensor);

/// Something that differs from what was expected.
struct Difference {
  NodeOrigin node;
  std::string output;          ///< when it was seen at an output only
  std::optional<double> error; ///< the largest difference as a share of the largest expected value
};

/// The first output outside the tolerance.
std::optional<Difference> wrongOutput(const StageValues &values, const References &references, double tolerance);

/// The first node outside the tolerance of its reference value, at the stages up to `tensor`. A node that others absorb
/// has another value than in the model (a convolution whose bias moved into its activation): it is not blamed when all
/// that is computed from it is right.
std::optional<Difference> wrongNode(Stage stage, const StageValues &values, const References &references,
                                    double tolerance);

/// The first value of the stage before that has counterparts at this stage, by node and size, none of which is equal.
std::optional<Difference> wrongNode(const StageValues &before, Stage stage, const StageValues &values,
                                    double tolerance);

/// Nodes whose operations lie in more than one part of a program, as those of a loop: none is the node's value.
llvm::StringSet<> nodesOfSeveralParts(mlir::ModuleOp module);

/// Nodes whose last scalar operation has moved into the structured operation of another node: what is left under
/// their name is no value of the model.
llvm::StringSet<> absorbedNodes(mlir::Operation *main);

/// The largest difference as a share of the largest expected value.
double relativeError(llvm::ArrayRef<double> got, llvm::ArrayRef<double> want);

} // namespace trn::driver
