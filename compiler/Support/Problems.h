//===- Problems.h - what a user is told about an input --------------------===//
//
// Owns the form in which problems reach people and programs: one value per problem, with the ONNX node first, from the
// importer's checks and from MLIR diagnostics alike. Decides nothing about what is a problem.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace trn {

/// One thing that is wrong with an input, or worth saying about it.
struct Problem {
  enum class Severity : uint8_t { Error, Warning, Remark };
  /// Whose fault it is: an unsupported model is right but beyond us, a broken one violates the standard.
  enum class Kind : uint8_t { Unsupported, Broken, Unbound };
  Severity severity = Severity::Error;
  Kind kind = Kind::Unsupported;
  std::string node;   ///< the node's name, or its first output when it has none; empty for the model itself
  std::string op;     ///< operator, with its domain unless that is ai.onnx
  int64_t index = -1; ///< the node's position in the file
  int64_t opset = 0;  ///< the model's version of the operator's domain; 0 when it does not matter
  std::string reason, hint;
  std::vector<std::string> notes; ///< the other end of a conflict
  /// A program that keeps fewer whole tensors in SBUF may not have the problem; where: at these nodes, if they are known.
  bool exceedsSbuf = false;
  std::vector<std::string> crowdedNodes;

  /// `node 'Conv_12' (Conv, opset 17, #37): reason; hint`, notes on lines of their own.
  std::string str() const;
  /// "error", "warning", "remark".
  const char *severityName() const;
  llvm::json::Value json() const;
};

/// Collects the problems of one model.
class Diagnostics {
public:
  void add(Problem problem);
  const std::vector<Problem> &problems() const { return list; }
  /// True when some problem is an error.
  bool hasErrors() const;
  /// True when every error is one of memory in SBUF, and there is one.
  bool onlyExceedsSbuf() const;
  /// Takes back the errors, because another attempt is made: each becomes a remark with `hint` when `keep` is set.
  void retractErrors(bool keep, const std::string &hint);

private:
  std::vector<Problem> list;
};

/// What a location says about the node: its name, operator, position and opset, as far as known. Of several names the first one
/// counts; code that several calls share belongs to the call.
struct NodeOrigin {
  std::string node, op;
  int64_t index = -1;
  int64_t opset = 0;
  int64_t line = -1; ///< without a node: the line of the file, of a kernel that was written by hand
};
NodeOrigin originOf(mlir::Location location);

/// Marks `diagnostic` as one that a program with fewer whole tensors in SBUF may not have (Problem::exceedsSbuf), at
/// `crowdedNodes`.
void markExceedsSbuf(mlir::InFlightDiagnostic &diagnostic, llvm::ArrayRef<std::string> crowdedNodes);

/// Adds the diagnostics of a context to `problems` while it lives; nothing is printed. Remarks are kept only when asked
/// for.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, Diagnostics &problems, bool remarks = false);
  ~DiagnosticCollector();
  DiagnosticCollector(const DiagnosticCollector &) = delete;

private:
  mlir::MLIRContext *context;
  mlir::DiagnosticEngine::HandlerID handler;
};

} // namespace trn
