//===- Weight.h - the operations of Ops/Weight.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Weight.h.inc"
