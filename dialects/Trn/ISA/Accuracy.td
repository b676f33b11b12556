//===- Accuracy.td - how exact a scalar operation is ----------*- tablegen -*-===//
//
// Owns how records state accuracy: of scalar operations with an instruction (ScalarOps.td), of those that are composed
// (Compositions.td) and of operators with a formula (dialects/ONNX/Ops). test/unit/select/ScalarAccuracyTest.cpp holds all
// of them to it.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_ISA_ACCURACY_TD
#define TRN_ISA_ACCURACY_TD

/// The largest error, in units in the last place of the fp32 result; results smaller in magnitude than `scale` are as exact
/// as `scale` is. `text` replaces that in the documentation.
class Accuracy<string ulps_, string scale_ = "0", string text_ = ""> {
  string ulps = ulps_;
  string scale = scale_;
  string text = text_;
  /// False where a result for NaN differs from the function's.
  bit ofNan = 1;
}

#endif // TRN_ISA_ACCURACY_TD
