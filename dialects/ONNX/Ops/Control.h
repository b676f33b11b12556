//===- Control.h - the operations of Ops/Control.td --------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Control.h.inc"
