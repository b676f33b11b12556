//===- StandardFunctions.cpp - operators that the standard defines by others =//
#include "compiler/Import/StandardFunctions.h"

#include "dialects/ONNX/OpRecords.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdlib>
#include <map>
#include <vector>

using namespace trn;

/// A ModelProto (scripts/make_function_bodies.py).
static const unsigned char functionBytes[] = {
#include "compiler/Import/FunctionBodies.inc"
};

namespace {
struct Body {
  int64_t since, opset; ///< versions: of the operator, and of the operators that the body uses
  const ::onnx::FunctionProto *function;
};
using Bodies = std::map<std::string, std::vector<Body>>;
} // namespace

static const Bodies &bodies() {
  static const auto *model = new ::onnx::ModelProto; // never destroyed: other threads may still read it at the end
  static const Bodies table = [] {
    Bodies result;
    auto *mutableModel = const_cast<::onnx::ModelProto *>(model);
    if (!mutableModel->ParseFromArray(functionBytes, sizeof(functionBytes)))
      return result;
    for (const auto &function : model->functions()) {
      char *end = nullptr;
      int64_t since = std::strtoll(function.overload().c_str(), &end, 10);
      result[function.name()].push_back({since, std::strtoll(end, nullptr, 10), &function});
    }
    return result;
  }();
  return table;
}

std::vector<InlinedOperator> trn::inlinedOperators() {
  std::vector<InlinedOperator> result;
  for (const auto &[name, versions] : bodies()) {
    if (onnx::findRecord("", name))
      continue;
    InlinedOperator &entry = result.emplace_back();
    entry.name = name;
    for (const Body &body : versions)
      if (!llvm::is_contained(entry.since, static_cast<int>(body.since)))
        entry.since.push_back(static_cast<int>(body.since));
    llvm::sort(entry.since);
  }
  return result;
}

const ::onnx::FunctionProto *trn::standardFunction(const std::string &name, int64_t opset) {
  auto entry = bodies().find(name);
  if (entry == bodies().end())
    return nullptr;
  const Body *best = nullptr;
  for (const Body &body : entry->second) {
    if (body.since > opset)
      continue;
    // The operator's newest version; of its bodies, the newest that the model's opset has operators for.
    bool newer = !best || body.since > best->since;
    bool closer = best && body.since == best->since && body.opset <= opset && body.opset > best->opset;
    if (newer || closer)
      best = &body;
  }
  return best ? best->function : nullptr;
}
