//===- ImportFuzz.cpp - fuzzing the ONNX front ----------------------------===//
//
// Feeds any bytes to the importer and the graph passes. Every problem must have a reason.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/Report.h"
#include "test/fuzz/ModelMutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  trn::ModelReport report = trn::checkModel(llvm::ArrayRef<char>(reinterpret_cast<const char *>(data), size),
                                            trn::fuzz::bindSizes(data, size));
  for (const trn::Problem &problem : report.problems.problems())
    if (problem.reason.empty())
      __builtin_trap();
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return trn::fuzz::mutateModel(data, size, maxSize, seed);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t firstSize, const uint8_t *second,
                                            size_t secondSize, uint8_t *out, size_t maxSize, unsigned seed) {
  return trn::fuzz::crossModels(first, firstSize, second, secondSize, out, maxSize, seed);
}
