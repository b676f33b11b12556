//===- Recurrent.h - the operations of Ops/Recurrent.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Recurrent.h.inc"
