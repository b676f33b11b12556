//===- Movement.h - the operations of Ops/Movement.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Movement.h.inc"
