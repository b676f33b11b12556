//===- Normalization.h - the operations of Ops/Normalization.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Normalization.h.inc"
