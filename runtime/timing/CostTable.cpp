//===- CostTable.cpp - writes docs/generated/cost-model.md -------------------===//
//
// The tool trn-cost-table: prints the page that compares the cost model with measurements. Takes no input.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/Measurements.h"
#include <cstdio>

int main() { return std::fputs(trn::rt::costModelPage().c_str(), stdout) < 0; }
