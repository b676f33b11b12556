//===- Target.td - the option that names the device ------------*- tablegen -*-===//
//
// Owns the one option by which passes learn the device they compile for.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_PASSES_TARGET_TD
#define TRN_PASSES_TARGET_TD

include "mlir/Pass/PassBase.td"

class TargetOption<string what = "Device whose limits and costs count (a name of Devices.td); default trn2, the one "
                                 "with measured costs"> : Option<"target", "target", "std::string", "\"trn2\"", what>;

#endif
