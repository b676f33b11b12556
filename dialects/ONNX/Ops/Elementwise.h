//===- Elementwise.h - the operations of Ops/Elementwise.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Elementwise.h.inc"
