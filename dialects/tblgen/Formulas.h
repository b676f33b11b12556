//===- Formulas.h - formulas and accuracies of records as tables ----------===//
//
// Owns the translation of a formula (dialects/Trn/ISA/Formula.td) into the table that Formula points to, for
// trn-tblgen and onnx-tblgen, and that of an accuracy (Accuracy.td). Refuses an operation with a wrong number of arguments, a name that the record does not have,
// and an argument that is no number.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/TableGen/Record.h"
#include <string>

namespace llvm {
class raw_ostream;
}

namespace trn::tblgen {

/// A number of a record as C++, `kInfinity` for an infinity.
std::string numberLiteral(llvm::StringRef text, const llvm::Record &record);

/// The initializer of a trn::Accuracy.
std::string accuracyLiteral(const llvm::Record &accuracy);

/// Writes `static const ::trn::FormulaStep <name>[] = {…};`, one step for each different term of `formula`, which
/// stands in `record`. `$name` is an operand or, after those, a parameter. Returns the initializer of the Formula.
std::string writeFormula(const llvm::DagInit *formula, llvm::StringRef name, llvm::ArrayRef<std::string> operands,
                         llvm::ArrayRef<std::string> parameters, const llvm::Record &record, llvm::raw_ostream &os);

} // namespace trn::tblgen
