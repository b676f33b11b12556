//===- Indexing.h - the operations of Ops/Indexing.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Indexing.h.inc"
