//===- CutModel.h - parts of an ONNX model as models of their own ---------===//
//
// Owns cutting: of the nodes of a model's main graph it makes a model with only some, whose inputs and outputs are what
// crosses the cut. Works on the file's messages, before anything is imported, so that a model that the compiler refuses
// can be cut too. Refuses to cut where the type of a crossing value is not known, and leaves bodies and functions whole.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trn {

/// The type of a tensor at a cut.
struct CutType {
  int32_t dataType = 0; ///< ONNX's TensorProto.DataType
  std::vector<int64_t> shape;
};

/// A part of a model.
struct CutModel {
  std::string bytes; ///< the file
  std::vector<std::string> inputs, outputs;
};

class ModelCutter {
public:
  ModelCutter();
  ~ModelCutter();

  /// Reads a model; the text of a problem, or "".
  std::string open(const std::string &path);

  size_t numNodes() const;
  /// "'name' (Operator)" of a node; its first output where it has no name.
  std::string nodeName(size_t node) const;
  /// Nodes that need a value of one of `nodes`, these included, in the model's order.
  std::vector<size_t> dependents(llvm::ArrayRef<size_t> nodes) const;

  /// The model of the nodes `kept` (in order). Its inputs are what they read from elsewhere: those of the model as they
  /// are, unless `types` knows them; others by their entry in `types`, without which there is no model. Its outputs are
  /// the values that no kept node reads and the model's own, or every value with `allOutputs`.
  std::optional<CutModel> cut(llvm::ArrayRef<size_t> kept, const std::map<std::string, CutType> &types,
                              bool allOutputs = false) const;
  /// Whether data of a cut model lies in other files: it is read from the folder of the model that was opened.
  static bool hasExternalData(const CutModel &model);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace trn
