//===- CommandLine.cpp - one parsed call of trnc --------------------------===//
#include "compiler/tools/trnc/CommandLine.h"
#include "compiler/Pipeline/OptLevel.h"
#include "dialects/Trn/ISA/ISA.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"

namespace trn::driver {

namespace {

#define OPTTABLE_STR_TABLE_CODE
#include "compiler/tools/trnc/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE
#define OPTTABLE_PREFIXES_TABLE_CODE
#include "compiler/tools/trnc/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE
#define OPTTABLE_SUBCOMMAND_IDS_TABLE_CODE
#include "compiler/tools/trnc/Options.inc"
#undef OPTTABLE_SUBCOMMAND_IDS_TABLE_CODE
#define OPTTABLE_SUBCOMMANDS_CODE
#include "compiler/tools/trnc/Options.inc"
#undef OPTTABLE_SUBCOMMANDS_CODE

using namespace llvm::opt;
constexpr OptTable::Info kInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "compiler/tools/trnc/Options.inc"
#undef OPTION
};

class Table : public GenericOptTable {
public:
  Table()
      : GenericOptTable(OptionStrTable, OptionPrefixesTable, kInfos, /*IgnoreCase=*/false, OptionSubCommands,
                        OptionSubCommandIDsTable) {}
};

const OptTable &table() {
  static const Table kTable;
  return kTable;
}

const OptTable::SubCommand *findCommand(llvm::StringRef name) {
  for (const OptTable::SubCommand &command : OptionSubCommands)
    if (name == command.Name)
      return &command;
  return nullptr;
}

/// "; did you mean 'x'?" for the name that is nearest to `text`, or nothing when all of them are far from it.
std::string suggestion(llvm::StringRef text, llvm::ArrayRef<std::string> names) {
  unsigned distance = std::min<unsigned>(2, static_cast<unsigned>(text.size()) / 3) + 1;
  const std::string *nearest = nullptr;
  for (const std::string &name : names)
    if (unsigned edits = text.edit_distance(name, /*AllowReplacements=*/true, distance); edits < distance) {
      distance = edits;
      nearest = &name;
    }
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

/// The options of a command, as they are written before a value.
std::vector<std::string> optionNames(llvm::StringRef command) {
  std::vector<std::string> names;
  for (unsigned id = 1; id <= table().getNumOptions(); ++id) {
    Option option = table().getOption(id);
    if (option.isValid() && option.getKind() != Option::InputClass && option.getKind() != Option::UnknownClass &&
        option.isRegisteredSC(command))
      names.push_back(option.getPrefixedName().rtrim('=').str());
  }
  return names;
}

/// Whether a first argument that names no command is a misspelt one, and not the file that `trnc model.onnx` compiles.
bool isMeantAsCommand(llvm::StringRef text) {
  return !text.starts_with("-") && text.find_first_of("./") == llvm::StringRef::npos && !llvm::sys::fs::exists(text);
}

std::string unknownCommand(llvm::StringRef text) {
  std::vector<std::string> names;
  for (const OptTable::SubCommand &command : OptionSubCommands)
    names.push_back(command.Name);
  std::string near = suggestion(text, names);
  return llvm::formatv("unknown command '{0}'{1}", text,
                       near.empty() ? "; expected a file or one of " + llvm::join(names, ", ") : near)
      .str();
}

void printHelp(llvm::StringRef command) {
  llvm::raw_ostream &os = llvm::outs();
  if (const OptTable::SubCommand *found = findCommand(command)) {
    table().printHelp(os, found->Usage, found->Name, false, false, Visibility(), command);
    return;
  }
  os << "trnc: the ahead-of-time compiler from ONNX to AWS Trainium\n\nUSAGE: trnc COMMAND [options]\n"
        "       trnc model.onnx      compiles with good defaults\n\nCOMMANDS:\n";
  for (const OptTable::SubCommand &each : OptionSubCommands)
    os << llvm::formatv("  {0,-10}{1}\n", each.Name, each.HelpText);
  os << "\n'trnc COMMAND --help' shows the options of a command.\n\nEXIT CODES:\n";
#define TRN_EXIT_CODE(id, code, name, when) os << llvm::formatv("  {0}  {1}: {2}\n", code, name, when);
#include "compiler/tools/trnc/ExitCodes.def"
  os << "\nOPTIMISATION LEVELS:\n";
  for (const OptLevel &level : allOptLevels())
    os << llvm::formatv("  -O{0}  {1}\n", level.level, level.summary);
}

} // namespace

std::string versionText() {
  std::string text = "trnc " TRN_VERSION " (LLVM 22), targets:";
  for (const isa::DeviceInfo *device : isa::allDevices())
    text += std::string(" ") + device->name;
  return text;
}

std::optional<CommandLine> parseCommandLine(llvm::ArrayRef<const char *> arguments, llvm::StringSaver &storage,
                                            int &exitCode) {
  llvm::SmallVector<const char *> expanded(arguments.begin(), arguments.end());
  exitCode = kUsage;
  llvm::BumpPtrAllocator allocator;
  // `--input x=@file` also contains '@': only an argument that begins with it is a flag file.
  llvm::cl::ExpansionContext expansion(storage.getAllocator(), llvm::cl::TokenizeGNUCommandLine);
  if (llvm::Error error = expansion.expandResponseFiles(expanded)) {
    llvm::errs() << "trnc: error: " << llvm::toString(std::move(error)) << "\n";
    return std::nullopt;
  }

  std::string command = "compile";
  bool named = !expanded.empty() && findCommand(expanded.front());
  if (!named && !expanded.empty() && isMeantAsCommand(expanded.front())) {
    llvm::errs() << "trnc: error: " << unknownCommand(expanded.front()) << "\n'trnc --help' shows the commands\n";
    return std::nullopt;
  }
  if (named) {
    command = expanded.front();
    expanded.erase(expanded.begin());
  }
  unsigned missingIndex, missingCount;
  InputArgList args = table().ParseArgs(expanded, missingIndex, missingCount);
  if (args.hasArg(OPT_help) || (arguments.empty() && !named)) {
    printHelp(named ? command : "");
    exitCode = arguments.empty() ? kUsage : kOk;
    return std::nullopt;
  }
  if (args.hasArg(OPT_version)) {
    llvm::outs() << versionText() << "\n";
    exitCode = kOk;
    return std::nullopt;
  }

  std::vector<std::string> problems;
  if (missingCount)
    problems.push_back(llvm::formatv("option '{0}' needs a value", args.getArgString(missingIndex)).str());
  for (const Arg *arg : args) {
    if (arg->getOption().matches(OPT_UNKNOWN)) {
      std::string text = llvm::formatv("unknown option '{0}'", arg->getSpelling()).str();
      problems.push_back(text + suggestion(arg->getSpelling().split('=').first, optionNames(command)));
    } else if (!arg->getOption().matches(OPT_INPUT) && !arg->getOption().isRegisteredSC(command)) {
      std::string text = llvm::formatv("option '{0}' is not one of 'trnc {1}', but of", arg->getSpelling(), command).str();
      for (const OptTable::SubCommand &each : OptionSubCommands)
        if (arg->getOption().isRegisteredSC(each.Name))
          text += llvm::formatv("{0} '{1}'", text.back() == 'f' ? "" : ",", each.Name).str();
      problems.push_back(text);
    }
  }
  CommandLine line(std::move(args), command);
  for (std::string &text : problems)
    line.problem(std::move(text));
  return line;
}

std::string optionName(OptionId id) { return table().getOption(id).getName().str(); }

std::string CommandLine::spelling(OptionId id) const {
  const llvm::opt::Arg *arg = args_.getLastArg(id);
  return arg ? arg->getSpelling().str() : "";
}

int64_t CommandLine::integer(OptionId id, int64_t fallback, int64_t low, int64_t high) {
  if (!has(id))
    return fallback;
  int64_t result;
  if (llvm::StringRef(value(id)).getAsInteger(10, result) || result < low || result > high) {
    problem(llvm::formatv("option '{0}': expected a number from {1} to {2} but got '{3}'", spelling(id), low, high,
                          value(id))
                .str());
    return fallback;
  }
  return result;
}

double CommandLine::real(OptionId id, double fallback) {
  if (!has(id))
    return fallback;
  double result;
  if (llvm::StringRef(value(id)).getAsDouble(result) || !(result >= 0)) {
    problem(llvm::formatv("option '{0}': expected a number >= 0 but got '{1}'", spelling(id), value(id)).str());
    return fallback;
  }
  return result;
}

std::string CommandLine::choice(OptionId id, llvm::StringRef fallback, llvm::ArrayRef<llvm::StringRef> choices) {
  std::string text = value(id, fallback);
  if (llvm::is_contained(choices, text))
    return text;
  problem(llvm::formatv("option '{0}': expected one of {1} but got '{2}'", spelling(id), llvm::join(choices, ", "), text)
              .str());
  return fallback.str();
}

void CommandLine::refuseSecond(OptionId id, llvm::StringRef name, llvm::StringRef first, llvm::StringRef second) {
  problem(llvm::formatv("option '--{0}': '{1}' is given twice, as '{2}' and as '{3}'; leave one of them out",
                        optionName(id), name, first, second)
              .str());
}

std::vector<NamedFile> CommandLine::namedFiles(OptionId id) {
  std::vector<NamedFile> result;
  for (const std::string &text : values(id)) {
    size_t at = text.rfind("=@");
    if (at == std::string::npos || at == 0 || at + 2 == text.size()) {
      problem(llvm::formatv("option '--{0}': expected NAME=@FILE but got '{1}'",
                            optionName(id), text)
                  .str());
      continue;
    }
    NamedFile named{text.substr(0, at), text.substr(at + 2)};
    for (const NamedFile &other : result)
      if (other.name == named.name)
        refuseSecond(id, named.name, "@" + other.file, "@" + named.file);
    result.push_back(std::move(named));
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> CommandLine::pairs(OptionId id) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const std::string &text : values(id)) {
    size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
      problem(llvm::formatv("option '--{0}': expected NAME=VALUE but got '{1}'",
                            optionName(id), text)
                  .str());
      continue;
    }
    std::string name = text.substr(0, at), value = text.substr(at + 1);
    for (const auto &[known, first] : result)
      if (known == name)
        refuseSecond(id, name, first, value);
    result.emplace_back(std::move(name), std::move(value));
  }
  return result;
}

std::string CommandLine::file() {
  std::vector<std::string> files = positionals();
  if (files.size() == 1)
    return files.front();
  problem(files.empty() ? "no file is named" : "expected one file but got '" + llvm::join(files, "', '") + "'");
  return "";
}

void CommandLine::protectFiles(const std::string &input) {
  std::vector<std::string> outputs;
  for (OptionId id : {OPT_o, OPT_output, OPT_reduce, OPT_html, OPT_perfetto})
    if (has(id))
      outputs.push_back(value(id));
  for (const std::string &text : values(OPT_save))
    if (size_t at = text.rfind("=@"); at != std::string::npos)
      outputs.push_back(text.substr(at + 2));
  auto same = [](const std::string &a, const std::string &b) {
    bool equivalent = false; // also by another path; fails where one of them does not exist
    return a == b || (!llvm::sys::fs::equivalent(a, b, equivalent) && equivalent);
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!input.empty() && same(outputs[i], input))
      problem("the output would overwrite the input '" + input + "'");
    for (size_t j = 0; j < i; ++j)
      if (same(outputs[i], outputs[j]) && !llvm::StringRef(outputs[i]).ends_with(".npz") &&
          !llvm::StringRef(outputs[i]).starts_with("/dev/"))
        problem("two outputs would be written to '" + outputs[i] + "'");
  }
}

void CommandLine::refuseCompileOptions(const std::string &input) {
  if (!llvm::StringRef(input).ends_with(".trnx"))
    return;
  for (OptionId id : {OPT_shape, OPT_dim, OPT_const_input, OPT_weights_links, OPT_target, OPT_lnc, OPT_logical_nc_config,
                      OPT_O, OPT_optlevel, OPT_auto_cast, OPT_auto_cast_type})
    if (has(id))
      problem(llvm::formatv("option '{0}' is for models; '{1}' is compiled already", spelling(id), input).str());
}

bool CommandLine::reportProblems(llvm::StringRef program) const {
  for (const std::string &text : problems_)
    llvm::errs() << program << ": error: " << text << "\n";
  if (!problems_.empty())
    llvm::errs() << "'trnc " << command_ << " --help' shows the options\n";
  return !problems_.empty();
}

} // namespace trn::driver
