//===- Report.h - what a model is and what is wrong with it ---------------===//
//
// Owns the reports behind `trnc check`, `trnc inspect` and `trnc ops`: plain data that is made of a model or of the
// records of operators, and its JSON form. Nothing here stops at the first problem.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Import/Import.h"

#include "llvm/Support/JSON.h"

namespace trn {

/// An input or output as the file declares it.
struct TensorInfo {
  std::string name;
  std::string type;               ///< ONNX's name of the element type, or "not a tensor"
  std::vector<std::string> sizes; ///< numbers, symbols, "?" for unknown
  bool hasShape = true;

  std::string str() const; ///< `float[1, 3, H, W]`
};

/// How often a model uses one version of an operator.
struct OpCount {
  std::string op; ///< with its domain unless that is ai.onnx
  int64_t opset = 0;
  int64_t version = 0; ///< the version of the operator that the opset selects; 0 when not supported
  int64_t count = 0;
};

struct ModelReport {
  std::string path, producer, producerVersion;
  int64_t irVersion = 0;
  std::map<std::string, int64_t> opsets; ///< by domain; "ai.onnx" for the standard's own
  std::vector<TensorInfo> inputs, outputs;
  std::vector<OpCount> ops; ///< most frequent first, model-local functions inlined
  int64_t nodes = 0, weights = 0, weightBytes = 0;
  Diagnostics problems;

  /// True when the model can be compiled as far as the graph stage knows.
  bool supported() const { return !problems.hasErrors(); }
  llvm::json::Value json() const;
};

/// What the file says, and the problems of reading it. Sizes need not be bound.
ModelReport inspectModel(llvm::StringRef path);
/// Every problem on the way to stage `graph`, with sizes bound by the options.
ModelReport checkModel(llvm::StringRef path, const ImportOptions &options);
ModelReport checkModel(llvm::ArrayRef<char> bytes, const ImportOptions &options);

/// One row of the support table.
struct OpSupport {
  std::string name, domain;
  std::vector<int> versions; ///< since-versions that are covered
  bool supported = false;
  std::string limits;       ///< what of a supported operator is missing
  std::string reason, hint; ///< why it is turned down
};

/// Every operator that the records know, sorted by domain and name.
std::vector<OpSupport> ops();
llvm::json::Value json(const OpSupport &op);

} // namespace trn
