//===- Composite.h - the operations of Ops/Composite.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Composite.h.inc"
