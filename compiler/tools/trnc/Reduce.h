//===- Reduce.h - the smallest part of a model that still fails ----------===//
//
// Owns `verify --reduce`: which nodes of a failing model can be left out while it fails in the same way, by delta
// debugging. A failure is a compilation that ends with the same kind of problem, or outputs of the device that leave
// those of a reference. Deterministic. Refuses to judge a model that does not fail.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/StageValues.h"
#include "runtime/src/Session.h"
#include <functional>

namespace trn::driver {

/// The shortest list that `fails` still accepts, made by leaving out parts of `items`, which it accepts: none of the
/// items that are left can be left out alone.
std::vector<size_t> minimize(std::vector<size_t> items, const std::function<bool(llvm::ArrayRef<size_t>)> &fails);

struct ReduceOptions {
  CompileOptions compile;
  rt::SessionOptions session;
  std::vector<NamedFile> inputs;
  std::optional<uint64_t> seed;   ///< of the inputs without a value
  std::string data;               ///< a folder with input_N.pb, or ""
  std::string reference;          ///< the file of scripts/node_values.py, or "": the evaluator at stage `graph`
  double tolerance = 1e-4;        ///< of an output's largest value
  bool quiet = false;
};

/// Writes the smallest part of `model` that fails like it to `out`, and, when it computes wrong values, its inputs and
/// expected outputs into the folder `out` without ending + "_data". Prints what is left; returns the exit code of the
/// model's failure.
int reduceModel(const std::string &model, const std::string &out, const ReduceOptions &options);

} // namespace trn::driver
