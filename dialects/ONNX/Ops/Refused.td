//===- Refused.td - operators that are known and turned down --------------===//
//
// Owns the reason and the hint for each operator of the standard that this version does not compile.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_REFUSED
#define TRN_DIALECTS_ONNX_OPS_REFUSED

include "dialects/ONNX/Ops/Base.td"

class Strings<string onnxName, list<int> since>
    : ONNX_Refused<onnxName, since, "strings are not supported", "process text on the host">;
def : Strings<"StringNormalizer", [10]>;
def : Strings<"StringConcat", [20]>;
def : Strings<"StringSplit", [20]>;
def : Strings<"RegexFullMatch", [20]>;
def : Strings<"TfIdfVectorizer", [9]>;
def : ONNX_Refused<"ImageDecoder", [20], "image files are not decoded", "decode images on the host">;

#endif
