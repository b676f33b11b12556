//===- Constants.h - numbers in the meaning of instructions ----------------===//
// Owns nothing: makes the constants of the instructions' records (`constants` in Inst.td) known to C++, each in a namespace
// of its instruction's mnemonic.
#pragma once
#include <cstdint>

#include "dialects/Trn/ISA/Constants.h.inc"
