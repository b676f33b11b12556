//===- OpRecords.h - what the records say, as data ------------------------===//
//
// Owns the table that onnx-tblgen makes of Ops/*.td: which operators, versions, operands and attributes exist, which
// operands turn into attributes, how older versions are brought up to date, and how results are typed. The importer,
// inference, the lowerings and `trnc ops` read it. Nothing here knows protobuf.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/Accuracy.h"
#include "dialects/Trn/ISA/Formula.h"
#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace trn::onnx {

class Inference;

/// The newest opset and file format that the records were checked against.
constexpr int kNewestOpset = 28, kOldestOpset = 1;
constexpr int kNewestIR = 14, kOldestIR = 3;

/// `Own` is a result that no version of the standard has: models do not name it.
enum class Arity : uint8_t { Single, Optional, Variadic, Own };

/// How ONNX carries an attribute. Flag is an INT that means a bool, DataType an INT that names an element type,
/// Scalar a FLOAT that takes the operand's element type, ValueType the type of a value, Graph a body: a region of the
/// operation.
enum class AttributeKind : uint8_t {
  Int, Flag, Float, String, Ints, Floats, Strings, Tensor, DataType, Scalar, ValueType, Graph
};

struct OperandRecord {
  llvm::StringLiteral name;
  Arity arity;
  int from;                  ///< exists from this version on
  llvm::StringLiteral types; ///< of its elements, for people
};

struct ResultRecord {
  llvm::StringLiteral name;
  Arity arity;
};

struct AttributeRecord {
  llvm::StringLiteral name;
  AttributeKind kind;
  bool required;
  int from, until; ///< exists in the versions [from, until)
  bool legacy;     ///< not an attribute of the operation: an upgrade step consumes it
};

struct MoveRecord {
  unsigned operand;
  llvm::StringLiteral attribute;
  AttributeKind kind;
  bool mayStay; ///< a value that only the run knows is fine too
};

/// A first input that only older versions have, and that may be absent.
struct LegacyOperandRecord {
  llvm::StringLiteral name;
  int until;
};

struct UpgradeRecord {
  int before; ///< applies to nodes of a version below this one
  llvm::StringLiteral step;
};

/// One operator of the standard.
struct OpRecord {
  llvm::StringLiteral name;      ///< as the standard writes it
  llvm::StringLiteral operation; ///< the MLIR operation, empty when refused
  llvm::StringLiteral domain;
  mlir::ArrayRef<int> since;
  mlir::ArrayRef<OperandRecord> operands;
  mlir::ArrayRef<LegacyOperandRecord> legacyOperands; ///< before `operands`; an upgrade step consumes them
  mlir::ArrayRef<ResultRecord> results;
  mlir::ArrayRef<AttributeRecord> attributes;
  mlir::ArrayRef<MoveRecord> moves;
  mlir::ArrayRef<UpgradeRecord> upgrades;
  mlir::ArrayRef<unsigned> shapeOperands; ///< whose values must be known, besides those that move
  mlir::ArrayRef<unsigned> indexOperands; ///< positions in a dimension of the first operand
  bool operandSegments, resultSegments;
  bool makesCounts; ///< the run decides how much of a result is valid
  mlir::LogicalResult (*shape)(Inference &);
  llvm::StringLiteral floatScalar, intScalar, uintScalar;              ///< keys of ScalarOps.td
  Formula floatFormula, intFormula, uintFormula;      ///< of the operands and the float attributes
  Accuracy accuracy; ///< of `floatFormula`
  llvm::StringLiteral counted; ///< how an operand is taken whose size the run decides; empty: not at all
  llvm::StringLiteral library; ///< the library kernel that computes it, for any type
  llvm::StringLiteral limits;
  llvm::StringLiteral reason, hint; ///< set for an operator that is turned down

  bool refused() const { return !shape; }
  /// The version of this operator that a model of `opset` uses; 0 when the operator is younger or older than that.
  int versionFor(int opset) const;
};

/// All records, sorted by domain and name.
mlir::ArrayRef<OpRecord> records();
/// The record of an operator; "ai.onnx" and "" are one domain.
const OpRecord *findRecord(llvm::StringRef domain, llvm::StringRef name);
/// The record behind an operation of the dialect, null for `onnx.weight` and other dialects.
const OpRecord *lookupRecord(mlir::Operation *op);

/// The operands of `op` at position `index` of its record (empty when absent).
mlir::OperandRange operandGroup(mlir::Operation *op, unsigned index);

} // namespace trn::onnx
