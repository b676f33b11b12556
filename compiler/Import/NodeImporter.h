//===- NodeImporter.h - from one ONNX node to operations ------------------===//
//
// Owns the translation of one node by its operator's record: version, arity, attributes, upgrade steps. Refuses every
// attribute, input and output that the record does not list for the node's version.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Import/FlatGraph.h"
#include "dialects/ONNX/OpRecords.h"

#include "mlir/IR/Builders.h"

namespace trn {

/// Values by name. A name that maps to null belongs to a node that has a problem.
using ValueMap = std::map<std::string, mlir::Value>;

class NodeImporter {
public:
  using Groups = llvm::SmallVector<llvm::SmallVector<mlir::Value, 1>, 4>;

  /// Imports a body of a node, whose operands have these types, into an empty region.
  using ImportBody = llvm::function_ref<mlir::LogicalResult(const ::onnx::GraphProto &, const FlatNode &,
                                                            mlir::TypeRange, mlir::Region &)>;

  NodeImporter(mlir::OpBuilder &builder, ModelFile &file, const FlatNode &node, ValueMap &values, Diagnostics &problems,
               ImportBody importBody);

  /// Checks the node against its record and builds its operations; every problem is reported. All outputs are defined
  /// afterwards, as null when the node could not be built.
  void run();

  // What upgrade steps use.
  mlir::OpBuilder &builder;
  mlir::NamedAttrList attributes;
  std::map<std::string, mlir::Attribute> legacy;
  std::map<std::string, mlir::Value> legacyOperands;
  Groups operands; ///< one group for each operand of the record

  mlir::Location location() const { return loc; }
  /// The operand of a group that holds at most one, null when it is absent.
  mlir::Value operand(unsigned group) const;
  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) const;
  /// Builds the node's own operation and defines its outputs.
  mlir::LogicalResult buildDefault();
  /// Types the results of an operation by its record's rule and verifies it; after a problem it is gone.
  mlir::Operation *finish(mlir::Operation *op, const onnx::OpRecord &record, const Groups &operands);
  /// Builds `record`'s operation with one result for each true entry of `results`, or null after a problem.
  mlir::Operation *create(const onnx::OpRecord &record, const Groups &operands,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes, llvm::ArrayRef<bool> results);
  /// `create` for an operator with single operands and one result. Null, too, when a required operand is null: what makes
  /// it has failed.
  mlir::Value createSimple(llvm::StringRef op, llvm::ArrayRef<mlir::Value> operands,
                           llvm::ArrayRef<mlir::NamedAttribute> attributes);
  /// A constant.
  mlir::Value constant(mlir::ElementsAttr value);
  /// Defines an output of the node, if the node names it.
  mlir::LogicalResult define(mlir::Value value, size_t output = 0);
  /// Whether the node names an output, and its value (null when it is not named or not defined yet).
  bool hasOutput(size_t output) const;
  size_t outputCount() const { return node.outputs.size(); }
  mlir::Value output(size_t output) const;
  mlir::LogicalResult problem(Problem::Kind kind, std::string reason, std::string hint = "");
  const onnx::OpRecord &record() const { return *recordOf; }
  /// The version of the operator that the model's opset selects.
  int version() const { return nodeVersion; }

private:
  bool checkRecord();
  bool importConstant();
  bool readOperands();
  bool readAttributes();
  mlir::Attribute convert(const ::onnx::AttributeProto &attribute, onnx::AttributeKind kind);
  void defineAll(mlir::Value value);

  ModelFile &file;
  const FlatNode &node;
  ValueMap &values;
  Diagnostics &problems;
  ImportBody importBody;
  std::map<std::string, const ::onnx::GraphProto *> bodies;
  mlir::Location loc;
  const onnx::OpRecord *recordOf = nullptr;
  int nodeVersion = 0;
  bool poisoned = false; ///< an input belongs to a node with a problem
};

/// The location of a node: its name over its operator, its position in the model and the opset (read back by originOf).
mlir::Location nodeLocation(mlir::MLIRContext &context, llvm::StringRef name, llvm::StringRef op, int64_t index,
                            int64_t opset);

namespace upgrade {
#define ONNX_UPGRADE(name) mlir::LogicalResult name(NodeImporter &node);
#include "dialects/ONNX/Upgrades.inc"
#undef ONNX_UPGRADE
} // namespace upgrade

} // namespace trn
