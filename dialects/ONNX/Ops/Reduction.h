//===- Reduction.h - the operations of Ops/Reduction.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Reduction.h.inc"
