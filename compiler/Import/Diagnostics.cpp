//===- Diagnostics.cpp - a model's problems -------------------------------===//
//
// Owns how a problem reads.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/Import.h"

#include "llvm/ADT/STLExtras.h"

using namespace trn;

std::string Problem::str() const {
  std::string text;
  if (!node.empty() || !op.empty()) {
    text = "node '" + node + "' (" + op;
    if (opset)
      text += ", opset " + std::to_string(opset);
    if (index >= 0)
      text += ", #" + std::to_string(index);
    text += "): ";
  }
  text += reason;
  if (!hint.empty())
    text += "; " + hint;
  return text;
}

void Diagnostics::add(Problem problem) { list.push_back(std::move(problem)); }

bool Diagnostics::hasErrors() const {
  return llvm::any_of(list, [](const Problem &problem) { return problem.severity == Problem::Severity::Error; });
}
