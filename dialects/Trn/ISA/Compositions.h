//===- Compositions.h - scalar operations that no instruction computes ----===//
//
// Owns the table that trn-tblgen makes of Compositions.td.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/Accuracy.h"
#include "dialects/Trn/ISA/Formula.h"
#include <string_view>

namespace trn::isa {

/// A scalar operation that is computed by others: one record of Compositions.td.
struct Composition {
  const char *key;
  Formula formula;
  const char *doc;
  Accuracy accuracy;
  double low, high; ///< arguments for which it holds
  double rowFrom;   ///< arguments known to be at least this need no composition; infinity: all need it
};
/// The composition of that key, or null when instructions compute the operation on its whole domain.
const Composition *composition(std::string_view key);

struct CompositionTable {
  const Composition *first, *last;
  const Composition *begin() const { return first; }
  const Composition *end() const { return last; }
};
CompositionTable allCompositions();

} // namespace trn::isa
