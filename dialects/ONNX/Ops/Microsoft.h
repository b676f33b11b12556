//===- Microsoft.h - the operations of Ops/Microsoft.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Microsoft.h.inc"
