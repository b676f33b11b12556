//===- CommandLine.h - one parsed call of trnc ----------------------------===//
//
// Owns parsing: the options are the records of Options.td. Finds every usage problem of a call, prints them all, and
// ends with exit code 3. Knows nothing of what the commands do.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include <string>
#include <utility>
#include <vector>

namespace trn::driver {

/// The exit codes of trnc.
enum ExitCode : int {
#define TRN_EXIT_CODE(id, code, name, when) id = code,
#include "compiler/tools/trnc/ExitCodes.def"
};

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "compiler/tools/trnc/Options.inc"
#undef OPTION
};

/// `name=@file` of --input, --save, --expect, --const-input. Everything before the last "=@" is the name, so that any
/// ONNX name works.
struct NamedFile {
  std::string name, file;
};

/// The name of an option, without dashes.
std::string optionName(OptionId id);

/// One call: the command, its options, its positional arguments.
class CommandLine {
public:
  CommandLine(llvm::opt::InputArgList args, std::string command)
      : args_(std::move(args)), command_(std::move(command)) {}

  const std::string &command() const { return command_; }
  bool has(OptionId id) const { return args_.hasArg(id); }
  std::string value(OptionId id, llvm::StringRef fallback = "") const { return args_.getLastArgValue(id, fallback).str(); }
  std::vector<std::string> values(OptionId id) const { return args_.getAllArgValues(id); }
  std::vector<std::string> positionals() const { return args_.getAllArgValues(OPT_INPUT); }

  /// The value of an option as a number or as one of `choices`; records a usage problem when it is neither.
  int64_t integer(OptionId id, int64_t fallback, int64_t low, int64_t high);
  double real(OptionId id, double fallback);
  std::string choice(OptionId id, llvm::StringRef fallback, llvm::ArrayRef<llvm::StringRef> choices);
  /// The `name=@file` pairs of an option, each name once.
  std::vector<NamedFile> namedFiles(OptionId id);
  /// `name=value` pairs (--dim, --shape), each name once.
  std::vector<std::pair<std::string, std::string>> pairs(OptionId id);
  /// Records a usage problem when an output (-o, --save, --html, --perfetto) would overwrite the file `input`, whatever
  /// its spelling, or another output; several saves may name one .npz file.
  void protectFiles(const std::string &input);
  /// Records a usage problem for each option of importing and compiling when `input` is an executable, which is compiled.
  void refuseCompileOptions(const std::string &input);
  /// The single positional file; records a usage problem when there is none or more than one.
  std::string file();

  /// The option as the call spells it.
  std::string spelling(OptionId id) const;

  void problem(std::string text) { problems_.push_back(std::move(text)); }
  /// Prints all usage problems; true when there are any.
  bool reportProblems(llvm::StringRef program) const;

private:
  /// Records that the option has two values for one name.
  void refuseSecond(OptionId id, llvm::StringRef name, llvm::StringRef first, llvm::StringRef second);

  llvm::opt::InputArgList args_;
  std::string command_;
  std::vector<std::string> problems_;
};

/// Parses `arguments` (without the program's name). Returns no value when the call ends here (help, version, wrong
/// usage), with `exitCode` set. `storage` keeps expanded @files alive.
std::optional<CommandLine> parseCommandLine(llvm::ArrayRef<const char *> arguments, llvm::StringSaver &storage,
                                            int &exitCode);

/// What `--version` prints.
std::string versionText();

} // namespace trn::driver
