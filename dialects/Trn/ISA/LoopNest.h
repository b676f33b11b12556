//===- LoopNest.h - the program of a library_loops call -------------------===//
//
// Owns the meaning of the numbers that a `library_loops` instruction carries: loops, the elements that each operand
// visits, and a program of scalar steps for each element. `parse` proves all of it once (indices inside operands, values
// defined before they are used, types that agree), so that whoever runs a program checks only what data decides: the
// index of a gather. Refuses to run it: that is runtime/emulator/Library.cpp.
//
// The program is the number of the value that is stored, then five words for each step:
//   code, operand type | result type << 8 | predicate << 16, and three numbers a, b, c.
// Values are numbered: those of the sources, then the element of dst as it is, then the result of each step.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/AccessPattern.h"
#include "dialects/Trn/ISA/ScalarFunctions.h"
#include <string>
#include <vector>

namespace trn::isa {

/// Codes of steps; scalar functions follow with their numbers.
enum LoopCode : int32_t {
  kLoopConstant = 1,    ///< a, b: low and high half of the lane (double, or int64)
  kLoopIndex = 2,       ///< a: the loop whose position it is
  kLoopGather = 3,      ///< a: the source, b: the value with the index among its elements
  kLoopRound = 4,       ///< the value a of type float rounded to the result type
  kLoopCompareReal = 5, ///< a, b; predicate as in arith.cmpf
  kLoopCompareInt = 6,  ///< a, b; predicate as in arith.cmpi
  kLoopSelect = 7,      ///< a ? b : c
  kFirstLoopFunction = 16
};

constexpr unsigned kLoopStepWords = 5;
constexpr unsigned kMaxLoops = 12;
constexpr unsigned kMaxLoopSteps = 1024;

/// The class of lanes that hold values of a type: 'f' float, 'd' double, 'i' int64_t, sign-extended unless unsigned.
char laneClassOf(DType type);
/// Bits of an integer type; 1 for BOOL.
unsigned integerBits(DType type);

struct LoopStep {
  int32_t code = 0;
  DType operand = DType::F32, result = DType::F32;
  uint8_t predicate = 0;
  int32_t a = 0, b = 0, c = 0;
};

struct LoopNest {
  unsigned numSources = 0;
  std::vector<int64_t> bounds;
  /// By operand (dst, then the sources): the first element, and the step for each loop.
  std::vector<int64_t> offsets;
  std::vector<std::vector<int64_t>> strides;
  std::vector<LoopStep> steps;
  unsigned stored = 0;    ///< the value that goes to dst
  bool readsDst = false;

  /// Values that a step may name.
  unsigned numValues() const { return numSources + 1 + static_cast<unsigned>(steps.size()); }
  uint64_t iterations() const;

  /// Reads and proves the numbers of an instruction; false with a reason ("expected ... but got ...").
  static bool parse(const AP &dst, const std::vector<const AP *> &sources, const std::vector<int32_t> &bounds,
                    const std::vector<int32_t> &offsets, const std::vector<int32_t> &strides,
                    const std::vector<int32_t> &program, LoopNest &nest, std::string &problem);
};

} // namespace trn::isa
