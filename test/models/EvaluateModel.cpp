//===- EvaluateModel.cpp - a model's outputs at a stage, for comparison ---===//
// evaluate-model <model.onnx> <stage> <inputs.bin> <outputs.bin> [name=AxBxC ...] [--auto-cast=all] [--dump]
// Reads the inputs' elements one after the other as the model declares them, evaluates the module at stage imported,
// graph or tensor, and writes the outputs' elements in the same way. Used by scripts/compare_models.py.
#include "compiler/Import/Import.h"
#include "compiler/Reference/Evaluator.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Graph/Passes.h"
#include "passes/Tensor/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace trn;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "evaluate-model: " << message << "\n";
  return 1;
}

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What the caller sees of a tensor whose elements the compiler stores in another integer type.
static Type hostElement(RankedTensorType type, TypeAttr attribute) {
  return attribute ? attribute.getValue() : type.getElementType();
}

/// The integers of a tensor under another type.
static Tensor convert(const Tensor &tensor, Type element) {
  if (tensor.elementType() == element)
    return tensor;
  Tensor result = Tensor::allocate(element, tensor.shape());
  for (int64_t i = 0; i < tensor.elements(); ++i)
    writeInteger(element, tensor.intAt(i), result.bytes() + i * byteSize(result.storage()));
  return result;
}

int main(int argc, char **argv) {
  if (argc < 5)
    return fail("expected <model.onnx> <stage> <inputs.bin> <outputs.bin> [name=AxBxC ...] [--auto-cast=all] [--dump]");
  MLIRContext context;
  loadImportDialects(context);
  context.loadDialect<affine::AffineDialect, arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                      scf::SCFDialect, tensor::TensorDialect, ir::TrnDialect>();
  ImportOptions options;
  TensorPipelineOptions tensorOptions;
  bool dumps = false;
  for (int i = 5; i < argc; ++i) {
    if (llvm::StringRef(argv[i]) == "--dump") {
      dumps = true;
      continue;
    }
    if (llvm::StringRef mode(argv[i]); mode.consume_front("--auto-cast=")) {
      tensorOptions.autoCast = mode.str();
      continue;
    }
    auto [name, text] = llvm::StringRef(argv[i]).rsplit('=');
    llvm::SmallVector<llvm::StringRef> sizes;
    text.split(sizes, 'x');
    for (llvm::StringRef size : sizes)
      options.shapes[name.str()].push_back(std::stoll(size.str()));
  }
  auto start = std::chrono::steady_clock::now();
  Diagnostics problems;
  auto module = importModel(context, argv[1], options, problems);
  for (const Problem &problem : problems.problems())
    llvm::errs() << problem.str() << "\n";
  if (failed(module))
    return 1;
  llvm::StringRef stage = argv[2];
  PassManager manager(&context);
  if (stage != "imported")
    buildGraphPipeline(manager);
  if (stage == "tensor")
    buildTensorPipeline(manager, tensorOptions);
  if (failed(manager.run(**module)))
    return 1;
  llvm::errs() << "compiled in " << llvm::format("%.3f", secondsSince(start)) << " s\n";
  if (dumps)
    (*module)->print(llvm::errs(), OpPrintingFlags().elideLargeElementsAttrs(16).elideLargeResourceString(16));

  auto function = (*module)->lookupSymbol<func::FuncOp>("main");
  auto inputs = llvm::MemoryBuffer::getFile(argv[3]);
  if (!inputs)
    return fail("cannot read the inputs");
  llvm::SmallVector<Tensor> arguments;
  size_t offset = 0;
  for (unsigned number = 0; number < function.getNumArguments(); ++number) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[number]);
    Type host = hostElement(type, function.getArgAttrOfType<TypeAttr>(number, "onnx.host_type"));
    Tensor argument = Tensor::allocate(host, type.getShape());
    size_t bytes = size_t(argument.elements()) * byteSize(argument.storage());
    if (offset + bytes > (*inputs)->getBufferSize())
      return fail("the inputs are too short");
    std::memcpy(argument.bytes(), (*inputs)->getBufferStart() + offset, bytes);
    offset += bytes;
    arguments.push_back(convert(argument, type.getElementType()));
  }
  if (offset != (*inputs)->getBufferSize())
    return fail("the inputs are too long");
  start = std::chrono::steady_clock::now();
  auto results = evaluate(function, arguments);
  if (failed(results))
    return 1;
  llvm::errs() << "evaluated in " << llvm::format("%.3f", secondsSince(start)) << " s\n";
  std::error_code error;
  llvm::raw_fd_ostream out(argv[4], error);
  for (auto [number, result] : llvm::enumerate(*results)) {
    TypeAttr attribute = function.getResultAttrOfType<TypeAttr>(number, "onnx.host_type");
    Tensor host = convert(result, hostElement(result.tensorType(), attribute));
    out.write(host.bytes(), size_t(host.elements()) * byteSize(host.storage()));
  }
  return error ? fail("cannot write the outputs") : 0;
}
