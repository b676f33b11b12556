//===- Problems.cpp - what a user is told about an input ------------------===//
#include "compiler/Support/Problems.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trn;

std::string Problem::str() const {
  std::string text;
  if (!node.empty() || !op.empty()) {
    std::string inside = op;
    auto append = [&](const std::string &part) { inside += (inside.empty() ? "" : ", ") + part; };
    if (opset)
      append("opset " + std::to_string(opset));
    if (index >= 0)
      append("#" + std::to_string(index));
    text = "node '" + node + "'" + (inside.empty() ? "" : " (" + inside + ")") + ": ";
  }
  text += reason;
  if (!hint.empty())
    text += "; " + hint;
  for (const std::string &note : notes)
    text += "\n  note: " + note;
  return text;
}

const char *Problem::severityName() const {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  }
  return "";
}

llvm::json::Value Problem::json() const {
  const char *kinds[] = {"unsupported", "broken", "unbound"};
  llvm::json::Object object{{"severity", severityName()}, {"reason", reason}};
  if (severity == Severity::Error)
    object["kind"] = kinds[static_cast<int>(kind)];
  if (!node.empty())
    object["node"] = node;
  if (!op.empty())
    object["op"] = op;
  if (index >= 0)
    object["index"] = index;
  if (opset)
    object["opset"] = opset;
  if (!hint.empty())
    object["hint"] = hint;
  if (!notes.empty())
    object["notes"] = llvm::json::Array(notes);
  return object;
}

void Diagnostics::add(Problem problem) { list.push_back(std::move(problem)); }

bool Diagnostics::hasErrors() const {
  return llvm::any_of(list, [](const Problem &problem) { return problem.severity == Problem::Severity::Error; });
}

bool Diagnostics::onlyExceedsSbuf() const {
  return hasErrors() && llvm::all_of(list, [](const Problem &problem) {
           return problem.severity != Problem::Severity::Error || problem.exceedsSbuf;
         });
}

void Diagnostics::retractErrors(bool keep, const std::string &hint) {
  llvm::erase_if(list, [&](Problem &problem) {
    if (problem.severity != Problem::Severity::Error)
      return false;
    problem.severity = Problem::Severity::Remark;
    problem.hint = hint;
    return !keep;
  });
}

// The importer writes a node as NameLoc("name", FileLineColLoc("operator", index, opset)); passes fuse and nest locations.
static bool findNode(LocationAttr location, NodeOrigin &origin) {
  return llvm::TypeSwitch<LocationAttr, bool>(location)
      .Case([&](NameLoc named) {
        origin.node = named.getName().str();
        if (auto child = dyn_cast<FileLineColLoc>(named.getChildLoc())) {
          origin.op = child.getFilename().str();
          origin.index = child.getLine();
          origin.opset = child.getColumn();
        }
        return true;
      })
      .Case([&](CallSiteLoc call) { return findNode(call.getCaller(), origin) || findNode(call.getCallee(), origin); })
      .Case([&](FusedLoc fused) {
        return llvm::any_of(fused.getLocations(), [&](Location part) { return findNode(part, origin); });
      })
      .Case([&](FileLineColLoc file) {
        if (origin.line < 0)
          origin.line = file.getLine();
        return false;
      })
      .Default([](LocationAttr) { return false; });
}

NodeOrigin trn::originOf(Location location) {
  NodeOrigin origin;
  if (findNode(location, origin))
    origin.line = -1;
  return origin;
}

static constexpr llvm::StringLiteral kExceedsSbuf = "exceeds-sbuf";

void trn::markExceedsSbuf(InFlightDiagnostic &diagnostic, llvm::ArrayRef<std::string> crowdedNodes) {
  Diagnostic *marked = diagnostic.getUnderlyingDiagnostic();
  OpBuilder builder(marked->getLocation().getContext());
  SmallVector<llvm::StringRef> nodes(crowdedNodes.begin(), crowdedNodes.end());
  NamedAttribute mark = builder.getNamedAttr(kExceedsSbuf, builder.getStrArrayAttr(nodes));
  marked->getMetadata().push_back(DiagnosticArgument(Attribute(builder.getDictionaryAttr(mark))));
}

/// Reads what markExceedsSbuf has written.
static void readExceedsSbuf(Diagnostic &diagnostic, Problem &problem) {
  for (const DiagnosticArgument &argument : diagnostic.getMetadata()) {
    if (argument.getKind() != DiagnosticArgument::DiagnosticArgumentKind::Attribute)
      continue;
    auto marks = dyn_cast<DictionaryAttr>(argument.getAsAttribute());
    auto nodes = marks ? marks.getAs<ArrayAttr>(kExceedsSbuf) : ArrayAttr();
    if (!nodes)
      continue;
    problem.exceedsSbuf = true;
    for (auto node : nodes.getAsRange<StringAttr>())
      problem.crowdedNodes.push_back(node.str());
  }
}

static std::string plainLocation(Location location) {
  auto file = dyn_cast<FileLineColLoc>(location);
  if (!file)
    return "";
  return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn()) + ": ";
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, Diagnostics &problems, bool remarks) : context(context) {
  handler = context->getDiagEngine().registerHandler([&problems, remarks](Diagnostic &diagnostic) {
    Problem problem;
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      problem.severity = Problem::Severity::Error;
    } else if (diagnostic.getSeverity() == DiagnosticSeverity::Warning) {
      problem.severity = Problem::Severity::Warning;
    } else {
      if (!remarks)
        return success();
      problem.severity = Problem::Severity::Remark;
    }
    NodeOrigin origin = originOf(diagnostic.getLocation());
    problem.node = origin.node;
    problem.op = origin.op;
    problem.index = origin.index;
    problem.opset = origin.opset;
    readExceedsSbuf(diagnostic, problem);
    problem.reason = (origin.node.empty() ? plainLocation(diagnostic.getLocation()) : "") + diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes()) {
      NodeOrigin at = originOf(note.getLocation());
      bool elsewhere = !at.node.empty() && at.node != origin.node;
      problem.notes.push_back((elsewhere ? "node '" + at.node + "': " : "") + note.str());
    }
    problems.add(std::move(problem));
    return success();
  });
}

DiagnosticCollector::~DiagnosticCollector() { context->getDiagEngine().eraseHandler(handler); }
