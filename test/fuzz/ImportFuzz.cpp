//===- ImportFuzz.cpp - libFuzzer target of the ONNX front ----------------===//
//
// Owns the entry point that feeds any bytes to the importer and the graph passes. Run it with
// `build/fuzz/test/import-fuzz -max_len=65536 corpus/`.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/Report.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)trn::checkModel(llvm::ArrayRef<char>(reinterpret_cast<const char *>(data), size), {});
  return 0;
}
