//===- Elementwise.td - ONNX operators on corresponding elements ----------===//
//
// Owns unary, binary (with broadcasting) and variadic elementwise operators, Where, Cast and Clip.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_ELEMENTWISE
#define TRN_DIALECTS_ONNX_OPS_ELEMENTWISE

include "dialects/ONNX/Ops/ElementwiseBase.td"

class ONNX_Compare<string onnxName, list<int> since, string floatOp, string intOp, string uintOp = intOp,
                   TypeConstraint type = ONNX_NumTensor> : ONNX_Op<onnxName, since, "compare"> {
  let arguments = (ins type:$a, type:$b);
  let results = (outs ONNX_BoolTensor:$c);
  let legacy = ONNX_BroadcastAttributes;
  let upgrades = [Upgrade<7, "broadcastByAttribute">];
  let floatScalar = floatOp;
  let intScalar = intOp;
  let uintScalar = uintOp;
  let counted = "elementwise";
}

class ONNX_Variadic<string onnxName, list<int> since, string floatOp = "", string intOp = "", string uintOp = intOp>
    : ONNX_Op<onnxName, since, "broadcast"> {
  let arguments = (ins Variadic<ONNX_NumTensor>:$inputs);
  let legacy = [ONNX_ConsumedInputs];
  let results = (outs ONNX_NumTensor:$y);
  let floatScalar = floatOp;
  let intScalar = intOp;
  let uintScalar = uintOp;
  let counted = "elementwise";
}

// Unary, one scalar operation each.
def ONNX_AbsOp : ONNX_Unary<"Abs", [1, 6, 13], "math.absf", "math.absi", "", ONNX_NumTensor>;
def ONNX_NegOp : ONNX_Unary<"Neg", [1, 6, 13], "arith.negf", "", "", ONNX_NumTensor> {
  let intFormula = (subInt 0, $x);
  let uintFormula = (subInt 0, $x);
}
def ONNX_ExpOp : ONNX_Unary<"Exp", [1, 6, 13], "math.exp">;
def ONNX_LogOp : ONNX_Unary<"Log", [1, 6, 13], "math.log">;
def ONNX_SqrtOp : ONNX_Unary<"Sqrt", [1, 6, 13], "math.sqrt">;
def ONNX_ReciprocalOp : ONNX_Unary<"Reciprocal", [1, 6, 13]> { let floatFormula = (div 1, $x); }
def ONNX_TanhOp : ONNX_Unary<"Tanh", [1, 6, 13], "math.tanh">;
def ONNX_SigmoidOp : ONNX_Unary<"Sigmoid", [1, 6, 13], "trn.scalar.sigmoid">;
def ONNX_ErfOp : ONNX_Unary<"Erf", [9, 13], "math.erf", "", "", ONNX_NumTensor>;
def ONNX_SinOp : ONNX_Unary<"Sin", [7, 22], "math.sin">;
def ONNX_CosOp : ONNX_Unary<"Cos", [7, 22], "math.cos">;
def ONNX_TanOp : ONNX_Unary<"Tan", [7, 22], "math.tan">;
def ONNX_AsinOp : ONNX_Unary<"Asin", [7, 22], "math.asin">;
def ONNX_AcosOp : ONNX_Unary<"Acos", [7, 22], "math.acos">;
def ONNX_AtanOp : ONNX_Unary<"Atan", [7, 22], "math.atan">;
def ONNX_SinhOp : ONNX_Unary<"Sinh", [9, 22], "math.sinh">;
def ONNX_CoshOp : ONNX_Unary<"Cosh", [9, 22], "math.cosh">;
def ONNX_AsinhOp : ONNX_Unary<"Asinh", [9, 22], "math.asinh">;
def ONNX_AcoshOp : ONNX_Unary<"Acosh", [9, 22], "math.acosh">;
def ONNX_AtanhOp : ONNX_Unary<"Atanh", [9, 22], "math.atanh">;
def ONNX_FloorOp : ONNX_Unary<"Floor", [1, 6, 13], "math.floor">;
def ONNX_CeilOp : ONNX_Unary<"Ceil", [1, 6, 13], "math.ceil">;
/// Ties go to the even neighbour.
def ONNX_RoundOp : ONNX_Unary<"Round", [11, 22], "math.roundeven">;
def ONNX_SignOp : ONNX_Unary<"Sign", [9, 13], "trn.scalar.sign", "", "", ONNX_NumTensor> {
  let intFormula = (maxInt (minInt $x, 1), -1);
  let uintFormula = (minUnsigned $x, 1);
}
def ONNX_NotOp : ONNX_Unary<"Not", [1], "", "", "", ONNX_BoolTensor> {
  let legacy = [];
  let intFormula = (xor $x, 1);
}
def ONNX_BitwiseNotOp : ONNX_Unary<"BitwiseNot", [18], "", "", "", ONNX_IntTensor> {
  let intFormula = (xor $x, -1);
  let uintFormula = (xor $x, -1);
}
def ONNX_IdentityOp : ONNX_Unary<"Identity", [1, 13, 14, 16, 19, 21, 23, 24, 25], "", "", "",
                                 AnyTypeOf<[ONNX_Tensor, ONNX_Sequence]>> {
  let legacy = [];
  let upgrades = [Upgrade<1000, "identityOfTensors">];
}

// Tests.
def ONNX_IsNaNOp : ONNX_Op<"IsNaN", [9, 13, 20], "test"> {
  let arguments = (ins ONNX_FloatTensor:$x);
  let results = (outs ONNX_BoolTensor:$y);
  let floatFormula = (ne $x, $x);
  let counted = "elementwise";
}
def ONNX_IsInfOp : ONNX_Op<"IsInf", [10, 20], "test"> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<BoolAttr, "true">:$detect_negative,
                       DefaultValuedAttr<BoolAttr, "true">:$detect_positive);
  let results = (outs ONNX_BoolTensor:$y);
  let counted = "elementwise";
}

// Binary, numpy broadcasting.
def ONNX_AddOp : ONNX_Arithmetic<"Add", [1, 6, 7, 13, 14], "arith.addf", "arith.addi">;
def ONNX_SubOp : ONNX_Arithmetic<"Sub", [1, 6, 7, 13, 14], "arith.subf", "arith.subi">;
def ONNX_MulOp : ONNX_Arithmetic<"Mul", [1, 6, 7, 13, 14], "arith.mulf", "arith.muli">;
/// Integer division truncates.
def ONNX_DivOp : ONNX_Arithmetic<"Div", [1, 6, 7, 13, 14], "arith.divf", "arith.divsi", "arith.divui">;
/// The exponent may have another type; the result has the base's.
def ONNX_PowOp : ONNX_Binary<"Pow", [1, 7, 12, 13, 15], "math.powf"> { let shape = "pow"; }
def ONNX_ModOp : ONNX_Binary<"Mod", [10, 13]> {
  let arguments = (ins ONNX_NumTensor:$a, ONNX_NumTensor:$b, DefaultValuedAttr<BoolAttr, "false">:$fmod);
}
def ONNX_AndOp : ONNX_Binary<"And", [1, 7], "", "arith.andi", "arith.andi", ONNX_BoolTensor>;
def ONNX_OrOp : ONNX_Binary<"Or", [1, 7], "", "arith.ori", "arith.ori", ONNX_BoolTensor>;
def ONNX_XorOp : ONNX_Binary<"Xor", [1, 7], "", "arith.xori", "arith.xori", ONNX_BoolTensor>;
def ONNX_BitwiseAndOp : ONNX_Binary<"BitwiseAnd", [18], "", "arith.andi", "arith.andi", ONNX_IntTensor>;
def ONNX_BitwiseOrOp : ONNX_Binary<"BitwiseOr", [18], "", "arith.ori", "arith.ori", ONNX_IntTensor>;
def ONNX_BitwiseXorOp : ONNX_Binary<"BitwiseXor", [18], "", "arith.xori", "arith.xori", ONNX_IntTensor>;
/// Bits that leave are lost; shifts by the width or more leave nothing.
def ONNX_BitShiftOp : ONNX_Binary<"BitShift", [11], "", "", "", ONNX_IntTensor> {
  let arguments = (ins ONNX_IntTensor:$a, ONNX_IntTensor:$b, StrAttr:$direction);
}
def ONNX_EqualOp : ONNX_Compare<"Equal", [1, 7, 11, 13, 19], "arith.cmpf.oeq", "arith.cmpi.eq", "arith.cmpi.eq", ONNX_Tensor> {
  let limits = "no strings";
}
def ONNX_LessOp : ONNX_Compare<"Less", [1, 7, 9, 13], "arith.cmpf.olt", "arith.cmpi.slt", "arith.cmpi.ult">;
def ONNX_GreaterOp : ONNX_Compare<"Greater", [1, 7, 9, 13], "arith.cmpf.ogt", "arith.cmpi.sgt", "arith.cmpi.ugt">;
def ONNX_LessOrEqualOp : ONNX_Compare<"LessOrEqual", [12, 16], "arith.cmpf.ole", "arith.cmpi.sle", "arith.cmpi.ule">;
def ONNX_GreaterOrEqualOp : ONNX_Compare<"GreaterOrEqual", [12, 16], "arith.cmpf.oge", "arith.cmpi.sge", "arith.cmpi.uge">;

// Variadic: the scalar operation of the first two, of that and the third, and so on. A NaN wins.
def ONNX_MinOp : ONNX_Variadic<"Min", [1, 6, 8, 12, 13], "arith.minimumf", "arith.minsi", "arith.minui">;
def ONNX_MaxOp : ONNX_Variadic<"Max", [1, 6, 8, 12, 13], "arith.maximumf", "arith.maxsi", "arith.maxui">;
def ONNX_SumOp : ONNX_Variadic<"Sum", [1, 6, 8, 13], "arith.addf", "arith.addi">;
def ONNX_MeanOp : ONNX_Variadic<"Mean", [1, 6, 8, 13]>;

def ONNX_WhereOp : ONNX_Op<"Where", [9, 16], "where"> {
  let arguments = (ins ONNX_BoolTensor:$condition, ONNX_Tensor:$x, ONNX_Tensor:$y);
  let results = (outs ONNX_Tensor:$z);
  let counted = "elementwise";
}

def ONNX_CastOp : ONNX_Op<"Cast", [1, 6, 9, 13, 19, 21, 23, 24, 25], "convertTo"> {
  let arguments = (ins ONNX_Tensor:$x, TypeAttr:$to, DefaultValuedAttr<BoolAttr, "true">:$saturate,
                       OptionalAttr<StrAttr>:$round_mode);
  let results = (outs ONNX_Tensor:$y);
  let attributesFrom = [From<"to", 6>, From<"saturate", 19>, From<"round_mode", 24>];
  let legacy = [Legacy<"to", "STRING", 6>];
  let upgrades = [Upgrade<6, "castToNamedType">];
  let limits = "no strings, no complex numbers";
  let counted = "elementwise";
}
/// The bits as elements of another type of the same size.
def ONNX_BitCastOp : ONNX_Op<"BitCast", [26], "bitCast"> {
  let arguments = (ins ONNX_Tensor:$x, TypeAttr:$to);
  let results = (outs ONNX_Tensor:$y);
  let limits = "floats of 8 bits are not supported";
  let counted = "elementwise";
}
/// A Cast whose type is known while importing: the importer builds that.
def ONNX_CastLikeOp : ONNX_Op<"CastLike", [15, 19, 21, 23, 24, 25], "castLike"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_Tensor:$target, DefaultValuedAttr<BoolAttr, "true">:$saturate,
                       OptionalAttr<StrAttr>:$round_mode);
  let results = (outs ONNX_Tensor:$y);
  let attributesFrom = [From<"saturate", 19>, From<"round_mode", 24>];
  let upgrades = [Upgrade<1000, "castLikeToCast">];
}

/// 1 above the threshold, 0 elsewhere.
def ONNX_BinarizerOp : ONNX_DomainOp<"ai.onnx.ml", "ml", "Binarizer", [1], "sameAsFirst"> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "0.0f">:$threshold);
  let results = (outs ONNX_FloatTensor:$y);
  let floatFormula = (select (gt $x, $threshold), 1, 0);
  let counted = "elementwise";
  let limits = "floats only";
}

/// Bounds are scalars. An absent bound does not limit; a constant one is an attribute of the element's type.
def ONNX_ClipOp : ONNX_Op<"Clip", [1, 6, 11, 12, 13], "clip", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_NumTensor:$x, Optional<ONNX_NumTensor>:$min_operand, Optional<ONNX_NumTensor>:$max_operand,
                       OptionalAttr<TypedAttrInterface>:$min, OptionalAttr<TypedAttrInterface>:$max);
  let results = (outs ONNX_NumTensor:$y);
  let operandsFrom = [From<"min_operand", 11>, From<"max_operand", 11>];
  let attributesUntil = [Until<"min", 11>, Until<"max", 11>];
  let moves = [Move<"min_operand", "min", 1>, Move<"max_operand", "max", 1>];
  let legacy = [ONNX_ConsumedInputs];
  let counted = "elementwise";
}

#endif
