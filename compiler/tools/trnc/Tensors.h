//===- Tensors.h - tensor files on the command line -----------------------===//
//
// Owns the way between `--input name=@file`, `--save name=@file` and a session's inputs and outputs. Every mismatch
// (unknown name, missing input, wrong type or shape) is collected; nothing runs before all inputs are right.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/tools/trnc/CommandLine.h"
#include "runtime/src/Session.h"
#include "runtime/src/TensorFile.h"

namespace trn::driver {

/// Reads the one tensor that `file` means for `name`: a .npy, a .pb, a member of a .npz (`file.npz:member`, or the member
/// called `name`, or the only one).
absl::StatusOr<rt::HostTensor> readNamedTensor(const std::string &file, const std::string &name, rt::DataType expected);

/// An input as its caller sees it.
struct InputPort {
  std::string name;
  rt::DataType type;
  std::vector<int64_t> shape;
};

/// The values of all `ports`, in their order, from `files`; those without a file are noise when `seed` is given. Adds
/// every problem as a line; inputs with a problem are left out.
std::vector<rt::HostTensor> collectInputs(const std::vector<InputPort> &ports, const std::vector<NamedFile> &files,
                                          std::optional<uint64_t> seed, std::vector<std::string> &problems);

/// Adds `prefix`_N.pb of a test folder of the ONNX suite, in the order of `names`, unless the name has a file already.
void addFolder(const std::string &folder, const char *prefix, llvm::ArrayRef<std::string> names,
               std::vector<NamedFile> &to);

/// Writes the session's inputs from `files`; inputs without a file are filled with noise when `seed` is given. Returns
/// all problems as lines; empty when all inputs are set.
std::vector<std::string> setInputs(rt::Session &session, const std::vector<NamedFile> &files,
                                   std::optional<uint64_t> seed);

/// The value of output `i` as a tensor named after it.
absl::StatusOr<rt::HostTensor> outputTensor(const rt::Session &session, size_t i);

/// Problems of `--save` names that are no outputs.
std::vector<std::string> checkSaves(const rt::Session &session, const std::vector<NamedFile> &files);
/// Writes outputs; several saves may name one .npz file, which then holds them all.
std::vector<std::string> saveOutputs(const rt::Session &session, const std::vector<NamedFile> &files);

} // namespace trn::driver
