//===- ModelMutator.h - changing ONNX models for the fuzzers --------------===//
//
// Owns the structure-aware mutations of ONNX models: a mutated model still parses, so that the fuzzer's time goes to the
// importer and not to protobuf. Refuses to know what the importer does with the result.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Import/Import.h"
#include <cstddef>
#include <cstdint>

namespace trn::fuzz {

/// Small values for what a model leaves open: symbolic dimensions, whole shapes, lengths of sequences. So the passes
/// behind the importer see models that a caller would have to bind.
ImportOptions bindSizes(const uint8_t *data, size_t size);

/// libFuzzer's custom mutator: changes the model in `data` (or its bytes, when they are no model) in place and returns
/// the new size, at most `maxSize`.
size_t mutateModel(uint8_t *data, size_t size, size_t maxSize, unsigned seed);

/// libFuzzer's custom crossover: a model with parts of both.
size_t crossModels(const uint8_t *first, size_t firstSize, const uint8_t *second, size_t secondSize, uint8_t *out,
                   size_t maxSize, unsigned seed);

} // namespace trn::fuzz
