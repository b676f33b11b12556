//===- CompileOptions.h - what a compilation is asked for -----------------===//
//
// Owns the options of one compilation. There are no global options: a session has one value of this type, and passes
// receive from it what they need.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Pipeline/OptLevel.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace trn {

/// Which fp32 operations may run in a narrower type (neuronx-cc's --auto-cast).
enum class AutoCast { None, Matmult, All };
/// The narrower type (neuronx-cc's --auto-cast-type).
enum class AutoCastType { BF16, FP16 };

struct CompileOptions {
  std::string target = "trn2"; ///< a device of Devices.td
  unsigned optLevel = kDefaultOptLevel; ///< a level of OptLevels.def
  AutoCast autoCast = AutoCast::None;
  AutoCastType autoCastType = AutoCastType::BF16;

  // Importing.
  std::map<std::string, int64_t> dims;                 ///< symbolic dimensions, by name
  std::map<std::string, std::vector<int64_t>> shapes;  ///< input shapes, by name
  std::set<std::string> absent;                        ///< optional inputs without an element
  std::map<std::string, std::string> constInputs;      ///< inputs bound while compiling: name → tensor file
  bool allowExternalLinks = false;                     ///< follow links out of the model's folder

  bool embedIr = false;    ///< keep the IR of stage `tensor` in the executable
  bool timing = false;     ///< print the time of every pass to stderr
  bool printPlans = false; ///< print the planners' plans (explain)
};

/// Sets the option that trnc calls `--name` (without dashes, "O" for -O) to `value` as it is written there: "target" to
/// "trn1", "shape" to "x=1x3x48x320". An option that has a value for each of several names is set for one of them.
/// Returns what is wrong with the value or the name, and nothing when it is set.
std::string setOption(CompileOptions &options, llvm::StringRef name, llvm::StringRef value);

} // namespace trn
