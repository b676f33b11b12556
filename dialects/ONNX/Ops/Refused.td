//===- Refused.td - operators that are known and turned down --------------===//
//
// Owns the reason and the hint for each operator of the standard that this version does not compile.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_REFUSED
#define TRN_DIALECTS_ONNX_OPS_REFUSED

include "dialects/ONNX/Ops/Base.td"

class Random<string onnxName, list<int> since>
    : ONNX_Refused<onnxName, since, "its result is random", "make the random tensor an input of the model">;
def : Random<"RandomNormal", [1, 22]>;
def : Random<"RandomNormalLike", [1, 22]>;
def : Random<"RandomUniform", [1, 22]>;
def : Random<"RandomUniformLike", [1, 22]>;
def : Random<"Multinomial", [7, 22]>;
def : Random<"Bernoulli", [15, 22]>;

class Strings<string onnxName, list<int> since>
    : ONNX_Refused<onnxName, since, "strings are not supported", "process text on the host">;
def : Strings<"StringNormalizer", [10]>;
def : Strings<"StringConcat", [20]>;
def : Strings<"StringSplit", [20]>;
def : Strings<"RegexFullMatch", [20]>;
def : Strings<"TfIdfVectorizer", [9]>;
def : ONNX_Refused<"ImageDecoder", [20], "image files are not decoded", "decode images on the host">;

#endif
