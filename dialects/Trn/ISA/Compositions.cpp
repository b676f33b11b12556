//===- Compositions.cpp - the table of compositions -----------------------===//
#include "dialects/Trn/ISA/Compositions.h"
#include <algorithm>
#include <iterator>
#include <limits>

namespace trn::isa {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

#include "dialects/Trn/ISA/Compositions.cpp.inc"

const Composition *composition(std::string_view key) {
  const Composition *end = std::end(kCompositions);
  const Composition *row = std::lower_bound(std::begin(kCompositions), end, key,
                                            [](const Composition &a, std::string_view b) { return a.key < b; });
  return row != end && key == row->key ? row : nullptr;
}

CompositionTable allCompositions() { return {std::begin(kCompositions), std::end(kCompositions)}; }

} // namespace trn::isa
