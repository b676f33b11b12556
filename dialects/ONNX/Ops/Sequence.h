//===- Sequence.h - the operations of Ops/Sequence.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Sequence.h.inc"
