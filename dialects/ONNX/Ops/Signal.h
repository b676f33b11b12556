//===- Signal.h - the operations of Ops/Signal.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Signal.h.inc"
