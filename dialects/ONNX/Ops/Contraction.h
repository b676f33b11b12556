//===- Contraction.h - the operations of Ops/Contraction.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Contraction.h.inc"
