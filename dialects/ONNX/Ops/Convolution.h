//===- Convolution.h - the operations of Ops/Convolution.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Convolution.h.inc"
