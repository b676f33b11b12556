//===- Quantization.h - the operations of Ops/Quantization.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Quantization.h.inc"
