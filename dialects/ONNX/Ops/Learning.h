//===- Learning.h - the operations of Ops/Learning.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Learning.h.inc"
