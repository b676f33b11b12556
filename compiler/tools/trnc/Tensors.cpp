//===- Tensors.cpp - tensor files on the command line ---------------------===//
#include "compiler/tools/trnc/Tensors.h"
#include "compiler/tools/trnc/Build.h"
#include "runtime/src/HostTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <map>
#include <random>

namespace trn::driver {

using rt::DataType;
using rt::HostTensor;

static std::string shapeText(const std::vector<int64_t> &shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t d) { return std::to_string(d); }), ", ") + "]";
}

absl::StatusOr<HostTensor> readNamedTensor(const std::string &file, const std::string &name, DataType expected) {
  std::string path = file, member;
  if (size_t at = file.rfind(".npz:"); at != std::string::npos) {
    path = file.substr(0, at + 4);
    member = file.substr(at + 5);
  }
  absl::StatusOr<rt::TensorFile> read = rt::readTensorFile(path, expected);
  if (!read.ok())
    return read.status();
  if (read->kind != rt::TensorFile::Kind::Named && read->tensors.size() == 1)
    return std::move(read->tensors.front());
  for (HostTensor &tensor : read->tensors)
    if (tensor.name == (member.empty() ? name : member))
      return std::move(tensor);
  if (member.empty() && read->tensors.size() == 1)
    return std::move(read->tensors.front());
  std::string names = llvm::join(llvm::map_range(read->tensors, [](const HostTensor &t) { return "'" + t.name + "'"; }),
                                 ", ");
  return absl::InvalidArgumentError(llvm::formatv("'{0}': holds {1} ({2}), none of them '{3}'; name one with "
                                                  "FILE.npz:member",
                                                  path, counted(static_cast<int64_t>(read->tensors.size()), "tensor"), names,
                                                  member.empty() ? name : member)
                                        .str());
}

/// The position of element `port` in sequence `sequence`: that of `x.3` in `x` is 3.
static std::optional<size_t> positionIn(llvm::StringRef sequence, llvm::StringRef port) {
  size_t position = 0;
  if (!port.consume_front(sequence) || !port.consume_front(".") || port.getAsInteger(10, position))
    return std::nullopt;
  return position;
}

/// Gives the elements of a sequence in one file to the ports `name.0`, `name.1`, …; false when `name` has no such ports
/// and the file holds something.
static bool spreadSequence(const NamedFile &file, const std::vector<InputPort> &ports,
                           std::map<std::string, HostTensor> &elements, std::vector<std::string> &problems) {
  size_t length = llvm::count_if(ports, [&](const InputPort &port) { return positionIn(file.name, port.name); });
  absl::StatusOr<rt::TensorFile> read = rt::readTensorFile(file.file);
  if (!read.ok()) {
    problems.push_back(std::string(read.status().message()));
    return true;
  }
  if (length == 0)
    return read->tensors.empty(); // A sequence or optional without elements has no port.
  if (read->tensors.size() != length)
    problems.push_back(llvm::formatv("input '{0}': expected a sequence of {1} but got {2}", file.name,
                                     counted(static_cast<int64_t>(length), "tensor"), read->tensors.size())
                           .str());
  for (const auto &[i, tensor] : llvm::enumerate(read->tensors))
    elements[file.name + "." + std::to_string(i)] = std::move(tensor);
  return true;
}

/// The floats of a type; null for integers.
static const llvm::fltSemantics *semanticsOf(DataType type) {
  switch (type) {
  case DataType::Float64:
    return &llvm::APFloat::IEEEdouble();
  case DataType::Float32:
    return &llvm::APFloat::IEEEsingle();
  case DataType::Float16:
    return &llvm::APFloat::IEEEhalf();
  case DataType::BFloat16:
    return &llvm::APFloat::BFloat();
  case DataType::Float8E4M3FN:
    return &llvm::APFloat::Float8E4M3FN();
  case DataType::Float8E4M3FNUZ:
    return &llvm::APFloat::Float8E4M3FNUZ();
  case DataType::Float8E5M2:
    return &llvm::APFloat::Float8E5M2();
  case DataType::Float8E5M2FNUZ:
    return &llvm::APFloat::Float8E5M2FNUZ();
  case DataType::Float4E2M1:
    return &llvm::APFloat::Float4E2M1FN();
  default:
    return nullptr;
  }
}

/// Seeded noise of the input's type: standard normal numbers, or integers 0 and 1.
static HostTensor noise(const InputPort &port, uint64_t seed) {
  HostTensor tensor{port.name, port.type, port.shape, {}};
  tensor.bytes.resize(tensor.elements() * rt::byteSize(port.type));
  std::mt19937_64 random(seed ^ std::hash<std::string>()(port.name));
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    uint8_t *at = &tensor.bytes[i * rt::byteSize(port.type)];
    if (const llvm::fltSemantics *semantics = semanticsOf(port.type)) {
      llvm::APFloat value(normal(random));
      bool losesInfo;
      value.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      uint64_t bits = value.bitcastToAPInt().getZExtValue();
      std::memcpy(at, &bits, rt::byteSize(port.type));
    } else {
      *at = random() & 1;
    }
  }
  return tensor;
}

static std::string mismatch(const HostTensor &tensor, const InputPort &port) {
  if (tensor.type != port.type)
    return llvm::formatv("input '{0}': expected {1} but got {2}; save it with .astype('{1}'){3}", port.name,
                         rt::dataTypeName(port.type), rt::dataTypeName(tensor.type),
                         rt::isNumpyType(port.type) ? "" : ", after 'import ml_dtypes'")
        .str();
  if (tensor.shape != port.shape)
    return llvm::formatv("input '{0}': expected shape {1} but got {2}", port.name, shapeText(port.shape),
                         shapeText(tensor.shape))
        .str();
  return "";
}

std::vector<HostTensor> collectInputs(const std::vector<InputPort> &ports, const std::vector<NamedFile> &files,
                                      std::optional<uint64_t> seed, std::vector<std::string> &problems) {
  std::vector<HostTensor> inputs;
  std::map<std::string, HostTensor> elements;
  auto names = llvm::map_range(ports, [](const InputPort &port) { return port.name; });
  for (const NamedFile &file : files)
    if (!llvm::is_contained(names, file.name) && !spreadSequence(file, ports, elements, problems))
      problems.push_back(llvm::formatv("the model has no input '{0}'; its inputs are '{1}'", file.name,
                                       llvm::join(names, "', '"))
                             .str());
  for (const InputPort &port : ports) {
    auto given = llvm::find_if(files, [&](const NamedFile &file) { return file.name == port.name; });
    HostTensor tensor;
    if (given != files.end()) {
      absl::StatusOr<HostTensor> read = readNamedTensor(given->file, port.name, port.type);
      if (!read.ok()) {
        problems.push_back(std::string(read.status().message()));
        continue;
      }
      tensor = std::move(*read);
    } else if (auto element = elements.find(port.name); element != elements.end()) {
      tensor = std::move(element->second);
    } else if (seed) {
      tensor = noise(port, *seed);
    } else {
      problems.push_back(llvm::formatv("input '{0}' ({1} {2}) has no value; give --input '{0}=@file.npy', or "
                                       "--random-inputs SEED for a trial",
                                       port.name, rt::dataTypeName(port.type), shapeText(port.shape))
                             .str());
      continue;
    }
    if (std::string wrong = mismatch(tensor, port); !wrong.empty()) {
      problems.push_back(wrong);
      continue;
    }
    tensor.name = port.name;
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

void addFolder(const std::string &folder, const char *prefix, llvm::ArrayRef<std::string> names,
               std::vector<NamedFile> &to) {
  for (size_t i = 0; i < names.size(); ++i) {
    std::string file = folder + "/" + prefix + "_" + std::to_string(i) + ".pb";
    bool given = llvm::any_of(to, [&](const NamedFile &each) { return each.name == names[i]; });
    if (!given && llvm::sys::fs::exists(file))
      to.push_back({names[i], file});
  }
}

std::vector<std::string> setInputs(rt::Session &session, const std::vector<NamedFile> &files,
                                   std::optional<uint64_t> seed) {
  std::vector<InputPort> ports;
  for (uint32_t index : session.inputs()) {
    const exe::Buffer &buffer = session.buffer(index);
    ports.push_back({buffer.name, rt::hostType(buffer.hostDtype), buffer.shape});
  }
  std::vector<std::string> problems;
  std::vector<HostTensor> inputs = collectInputs(ports, files, seed, problems);
  for (size_t i = 0; i < inputs.size() && problems.empty(); ++i)
    if (absl::Status status = session.writeInput(i, inputs[i].bytes); !status.ok())
      problems.push_back(std::string(status.message()));
  return problems;
}

absl::StatusOr<HostTensor> outputTensor(const rt::Session &session, size_t i) {
  uint32_t index = session.outputs()[i];
  const exe::Buffer &buffer = session.buffer(index);
  absl::StatusOr<std::vector<int64_t>> shape = session.outputShape(i);
  if (!shape.ok())
    return shape.status();
  HostTensor tensor{buffer.name, rt::hostType(buffer.hostDtype), *shape, {}};
  tensor.bytes.resize(session.outputBytes(i, *shape));
  if (absl::Status status = session.readOutput(i, absl::MakeSpan(tensor.bytes)); !status.ok())
    return status;
  return tensor;
}

std::vector<std::string> checkSaves(const rt::Session &session, const std::vector<NamedFile> &files) {
  std::vector<std::string> names, problems;
  for (uint32_t index : session.outputs())
    names.push_back(session.buffer(index).name);
  for (const NamedFile &file : files) {
    if (!llvm::is_contained(names, file.name) &&
        llvm::none_of(names, [&](llvm::StringRef name) { return positionIn(file.name, name).has_value(); }))
      problems.push_back(llvm::formatv("the model has no output '{0}'; its outputs are '{1}'", file.name,
                                       llvm::join(names, "', '"))
                             .str());
    llvm::StringRef path = file.file;
    if (!path.ends_with(".npy") && !path.ends_with(".npz") && !path.ends_with(".pb"))
      problems.push_back(llvm::formatv("'{0}': expected a file name that ends in .npy, .npz or .pb", path).str());
  }
  return problems;
}

std::vector<std::string> saveOutputs(const rt::Session &session, const std::vector<NamedFile> &files) {
  std::map<std::string, rt::TensorFile> byPath;
  std::vector<std::string> problems;
  for (const NamedFile &file : files)
    for (size_t i = 0; i < session.outputs().size(); ++i) {
      const std::string &name = session.buffer(session.outputs()[i]).name;
      const bool isElement = positionIn(file.name, name).has_value();
      if (name != file.name && !isElement)
        continue;
      absl::StatusOr<HostTensor> tensor = outputTensor(session, i);
      if (!tensor.ok()) {
        problems.push_back(std::string(tensor.status().message()));
        continue;
      }
      rt::TensorFile &to = byPath[file.file];
      to.kind = llvm::StringRef(file.file).ends_with(".npz") ? rt::TensorFile::Kind::Named
                : isElement                                    ? rt::TensorFile::Kind::Sequence
                                                               : rt::TensorFile::Kind::Tensor;
      to.tensors.push_back(std::move(*tensor));
    }
  for (const auto &[path, file] : byPath)
    if (absl::Status status = rt::writeTensorFile(path, file); !status.ok())
      problems.push_back(std::string(status.message()));
  return problems;
}

} // namespace trn::driver
