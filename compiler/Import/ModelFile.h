//===- ModelFile.h - an ONNX file, parsed, with its data ------------------===//
//
// Owns the parsed messages of a model together with the memory that its tensors' data lies in: the mapped model file
// and the files of external data. Refuses external data outside the model's folder, and tensors whose data does not
// have the size that their shape says.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Import/Import.h"

#include "compiler/Import/WireSkeleton.h"
#include "compiler/Weights/MappedFile.h"

#include "mlir/IR/BuiltinAttributes.h"

// Protobuf's headers are not ours to keep free of warnings.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#include "compiler/Import/onnx-ml.pb.h"
#pragma clang diagnostic pop

namespace trn {

class ModelFile {
public:
  /// Maps and parses a file. On failure false, with a problem added.
  bool open(llvm::StringRef path, bool allowExternalLinks, Diagnostics &problems);
  /// Parses bytes that outlive every constant made of them.
  bool parse(llvm::ArrayRef<char> bytes, llvm::StringRef folder, bool allowExternalLinks, Diagnostics &problems);

  const ::onnx::ModelProto &model() const { return proto; }
  const std::string &name() const { return fileName; }

  /// The constant that a tensor message holds; none with `error` set when the message is wrong or not supported.
  mlir::ElementsAttr constant(mlir::MLIRContext &context, const ::onnx::TensorProto &tensor, llvm::StringRef name,
                              std::string &error);

private:
  struct Data {
    llvm::ArrayRef<char> bytes;
    std::shared_ptr<const void> owner;
  };
  bool parseBytes(llvm::ArrayRef<char> bytes, Diagnostics &problems);
  bool locateExternal(const ::onnx::TensorProto &tensor, Data &data, std::string &error);
  std::shared_ptr<const MappedFile> openExternal(llvm::StringRef location, std::string &error);

  std::string folder, fileName;
  bool externalAllowed = false, linksAllowed = false;
  std::shared_ptr<const MappedFile> file; // null for a model in memory
  WireSkeleton skeleton;
  ::onnx::ModelProto proto;
  std::map<std::string, std::shared_ptr<const MappedFile>> externals;
};

/// The MLIR type of ONNX's element type, null when it is not supported.
mlir::Type elementType(mlir::MLIRContext &context, int32_t dataType);
/// ONNX's name of an element type, for messages.
std::string dataTypeName(int32_t dataType);

} // namespace trn
