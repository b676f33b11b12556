//===- Activation.h - the operations of Ops/Activation.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Activation.h.inc"
