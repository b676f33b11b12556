//===- CompileOptions.cpp - options by their names ------------------------===//
#include "compiler/Pipeline/CompileOptions.h"
#include "dialects/Trn/ISA/ISA.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace trn {

namespace {

using llvm::StringRef;

std::string unexpected(StringRef expected, StringRef value) {
  return llvm::formatv("expected {0} but got '{1}'", expected, value).str();
}

/// Sets `field` to the choice that is named `value`.
template <typename T> std::string choose(T &field, StringRef value, llvm::ArrayRef<std::pair<StringRef, T>> choices) {
  for (const auto &[name, choice] : choices)
    if (name == value) {
      field = choice;
      return "";
    }
  return unexpected("one of " + llvm::join(llvm::map_range(choices, [](auto &choice) { return choice.first; }), ", "),
                    value);
}

/// `NAME=VALUE`, cut at the last '=' so that any ONNX name works; an empty name when there is none.
std::pair<std::string, std::string> namedValue(StringRef text, StringRef separator) {
  size_t at = text.rfind(separator);
  if (at == StringRef::npos || at == 0 || at + separator.size() == text.size())
    return {};
  return {text.take_front(at).str(), text.drop_front(at + separator.size()).str()};
}

std::string setTarget(CompileOptions &options, StringRef value) {
  llvm::SmallVector<std::pair<StringRef, std::string>> targets;
  for (const isa::DeviceInfo *device : isa::allDevices())
    targets.emplace_back(device->name, device->name);
  return choose<std::string>(options.target, value, targets);
}

std::string setLogicalCores(CompileOptions &, StringRef value) {
  return value == "1" ? "" : unexpected("1, since logical cores of several physical cores are not supported,", value);
}

std::string setLevel(CompileOptions &options, StringRef value) {
  unsigned level;
  if (value.getAsInteger(10, level) || level >= allOptLevels().size())
    return unexpected(llvm::formatv("a number from 0 to {0}", allOptLevels().size() - 1).str(), value);
  options.optLevel = level;
  return "";
}

std::string setCast(CompileOptions &options, StringRef value) {
  return choose<AutoCast>(options.autoCast, value,
                          {{"none", AutoCast::None}, {"matmult", AutoCast::Matmult}, {"all", AutoCast::All}});
}

std::string setCastType(CompileOptions &options, StringRef value) {
  return choose<AutoCastType>(options.autoCastType, value,
                              {{"bf16", AutoCastType::BF16}, {"fp16", AutoCastType::FP16}});
}

std::string setLinks(CompileOptions &options, StringRef value) {
  return choose<bool>(options.allowExternalLinks, value, {{"allow", true}, {"deny", false}});
}

std::string setDim(CompileOptions &options, StringRef value) {
  auto [name, text] = namedValue(value, "=");
  if (name.empty())
    return unexpected("NAME=VALUE", value);
  int64_t number;
  if (StringRef(text).getAsInteger(10, number) || number < 0)
    return llvm::formatv("expected a number >= 0 for '{0}' but got '{1}'", name, text).str();
  options.dims[name] = number;
  return "";
}

std::string setShape(CompileOptions &options, StringRef value) {
  auto [name, text] = namedValue(value, "=");
  if (name.empty())
    return unexpected("NAME=VALUE", value);
  if (text == "none") {
    options.absent.insert(name);
    options.shapes.erase(name);
    return "";
  }
  llvm::SmallVector<StringRef> parts;
  if (text != "scalar")
    StringRef(text).split(parts, 'x');
  std::vector<int64_t> shape(parts.size());
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].getAsInteger(10, shape[i]) || shape[i] < 0)
      return llvm::formatv("expected sizes like 1x3x48x320 for '{0}' but got '{1}'", name, text).str();
  options.shapes[name] = std::move(shape);
  options.absent.erase(name);
  return "";
}

std::string setConstInput(CompileOptions &options, StringRef value) {
  auto [name, file] = namedValue(value, "=@");
  if (name.empty())
    return unexpected("NAME=@FILE", value);
  options.constInputs[name] = file;
  return "";
}

constexpr struct {
  StringRef name;
  std::string (*set)(CompileOptions &options, StringRef value);
} kOptions[] = {
    {"target", setTarget},
    {"lnc", setLogicalCores},
    {"logical-nc-config", setLogicalCores},
    {"O", setLevel},
    {"optlevel", setLevel},
    {"auto-cast", setCast},
    {"auto-cast-type", setCastType},
    {"weights-links", setLinks},
    {"dim", setDim},
    {"shape", setShape},
    {"const-input", setConstInput},
};

} // namespace

std::string setOption(CompileOptions &options, StringRef name, StringRef value) {
  for (const auto &option : kOptions)
    if (option.name == name)
      return option.set(options, value);
  return "expected the name of an option of compiling, one of " +
         llvm::join(llvm::map_range(kOptions, [](auto &option) { return option.name; }), ", ");
}

} // namespace trn
