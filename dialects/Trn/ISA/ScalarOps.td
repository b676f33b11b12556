//===- ScalarOps.td - scalar functions and their codes ---------*- tablegen -*-===//
//
// Owns the codes of the elementwise ALU operators and activation functions, and the table that says which scalar
// operation of arith, math or trn is computed by which of them. Elementwise selection reads only this table: a new
// scalar function is one row here and a kernel in runtime/emulator.
//
// Sources: SH32 = Neuron SDK 2.32 nki.api.shared.rst, SH26 = the same page of SDK 2.26 (operator to engine table),
// KLR = leanprover/KLR Core/Operators.lean. Code values and table sets are ours: the real encodings are not public.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_ISA_SCALAROPS_TD
#define TRN_ISA_SCALAROPS_TD

include "mlir/IR/EnumAttr.td"
include "dialects/Trn/ISA/Accuracy.td"
include "dialects/Trn/TrnBase.td"

//===--------------------------------------------------------------------------===//
// ALU operators of DVE and POOL (ACT runs add and multiply from v3 on)
//===--------------------------------------------------------------------------===//

/// kind: arith (fp32), compare (fp32 in, 0 or 1 out), logical (non-zero is true, 0 or 1 out), bitwise (raw integers).
class AluOp<string symbol, int number, string mnemonic, string kind_, list<string> engines_, bit reducible_,
            string doc_> : I32EnumAttrCase<symbol, number, mnemonic> {
  string kind = kind_;
  list<string> engines = engines_;
  bit reducible = reducible_; // legal in tensor_reduce (SH32 "reduction-legal")
  string doc = doc_;
}

// Engines: SH26. add and multiply: Vector, GpSimd, Scalar (v3+); power: GpSimd only; all others: Vector only.
def AluAdd       : AluOp<"Add", 0, "add", "arith", ["DVE", "POOL", "ACT"], 1, "a + b">;
def AluSubtract  : AluOp<"Subtract", 1, "subtract", "arith", ["DVE"], 1, "a - b">;
def AluMultiply  : AluOp<"Multiply", 2, "multiply", "arith", ["DVE", "POOL", "ACT"], 1, "a * b">;
def AluMax       : AluOp<"Max", 3, "max", "arith", ["DVE"], 1, "the larger; NaN if either is NaN (ours)">;
def AluMin       : AluOp<"Min", 4, "min", "arith", ["DVE"], 1, "the smaller; NaN if either is NaN (ours)">;
def AluDivide    : AluOp<"Divide", 5, "divide", "arith", ["DVE"], 0, "a / b, correctly rounded (KLR lists the operator)">;
def AluPower     : AluOp<"Power", 6, "power", "arith", ["POOL"], 0, "a to the power b">;
def AluMod       : AluOp<"Mod", 7, "mod", "arith", ["DVE"], 0, "a - b * floor(a / b): the sign of b (ours; KLR lists the operator)">;
def AluAbsMax    : AluOp<"AbsMax", 8, "abs_max", "arith", ["DVE"], 1, "max(|a|, |b|) (KLR)">;
def AluAverage   : AluOp<"Average", 9, "average", "arith", ["POOL"], 0, "mean; partition_reduce only (KLR)">;
def AluBypass    : AluOp<"Bypass", 10, "bypass", "arith", ["DVE", "POOL", "ACT"], 0, "a; the operand is ignored (KLR)">;
def AluIsEq      : AluOp<"IsEq", 16, "is_eq", "compare", ["DVE"], 0, "1 if a = b; 0 with NaN">;
def AluIsNe      : AluOp<"IsNe", 17, "is_ne", "compare", ["DVE"], 0, "1 if a differs from b; 1 with NaN">;
def AluIsGt      : AluOp<"IsGt", 18, "is_gt", "compare", ["DVE"], 0, "1 if a > b; 0 with NaN">;
def AluIsGe      : AluOp<"IsGe", 19, "is_ge", "compare", ["DVE"], 0, "1 if a >= b; 0 with NaN">;
def AluIsLt      : AluOp<"IsLt", 20, "is_lt", "compare", ["DVE"], 0, "1 if a < b; 0 with NaN">;
def AluIsLe      : AluOp<"IsLe", 21, "is_le", "compare", ["DVE"], 0, "1 if a <= b; 0 with NaN">;
def AluLogicalAnd : AluOp<"LogicalAnd", 24, "logical_and", "logical", ["DVE"], 1, "1 if both are non-zero">;
def AluLogicalOr  : AluOp<"LogicalOr", 25, "logical_or", "logical", ["DVE"], 1, "1 if one is non-zero">;
def AluLogicalXor : AluOp<"LogicalXor", 26, "logical_xor", "logical", ["DVE"], 1, "1 if exactly one is non-zero">;
def AluBitwiseAnd : AluOp<"BitwiseAnd", 32, "bitwise_and", "bitwise", ["DVE"], 1, "a & b">;
def AluBitwiseOr  : AluOp<"BitwiseOr", 33, "bitwise_or", "bitwise", ["DVE"], 1, "a | b">;
def AluBitwiseXor : AluOp<"BitwiseXor", 34, "bitwise_xor", "bitwise", ["DVE"], 1, "a ^ b">;
def AluShiftLeft  : AluOp<"ShiftLeft", 35, "shift_left", "bitwise", ["DVE"], 0, "a << b; 0 for b >= width">;
def AluShiftRight : AluOp<"ShiftRight", 36, "shift_right", "bitwise", ["DVE"], 0, "a >> b, zeros shifted in">;
def AluShiftRightArith : AluOp<"ShiftRightArith", 37, "shift_right_arith", "bitwise", ["DVE"], 0,
                               "a >> b, the sign shifted in (in KLR's enum; SH32 calls it unsupported)">;

def Trn_AluOp : I32EnumAttr<"AluOp", "elementwise ALU operator",
    [AluAdd, AluSubtract, AluMultiply, AluMax, AluMin, AluDivide, AluPower, AluMod, AluAbsMax, AluAverage, AluBypass,
     AluIsEq, AluIsNe, AluIsGt, AluIsGe, AluIsLt, AluIsLe, AluLogicalAnd, AluLogicalOr, AluLogicalXor,
     AluBitwiseAnd, AluBitwiseOr, AluBitwiseXor, AluShiftLeft, AluShiftRight, AluShiftRightArith]> {
  let cppNamespace = "::trn::isa";
  let genSpecializedAttr = 0;
  let stringToSymbolFnName = "parseAluOp";
  let symbolToStringFnName = "::trn::isa::name";
}

//===--------------------------------------------------------------------------===//
// Activation functions of ACT
//===--------------------------------------------------------------------------===//

/// tableSet: which set of polynomial tables must be loaded (act_table_load); 0 is always present. Which functions share
/// a set is not public; the grouping is ours: functions that models use side by side share one.
/// low, high: the input range outside of which AWS calls the result invalid (SH32); text, empty when unbounded.
class ActivationFunc<string symbol, int number, string mnemonic, int set, string doc_, string low_ = "",
                     string high_ = ""> : I32EnumAttrCase<symbol, number, mnemonic> {
  int tableSet = set;
  string doc = doc_;
  string low = low_;
  string high = high_;
}

def ActCopy       : ActivationFunc<"Copy", 0, "copy", 0, "x">;
def ActSquare     : ActivationFunc<"Square", 1, "square", 0, "x * x">;
def ActRelu       : ActivationFunc<"Relu", 2, "relu", 0, "max(x, 0)">;
def ActSign       : ActivationFunc<"Sign", 3, "sign", 0, "-1, 0 or 1; NaN stays (ours)">;
def ActAbs        : ActivationFunc<"Abs", 4, "abs", 0, "|x|">;
def ActExp        : ActivationFunc<"Exp", 5, "exp", 1, "e^x">;
def ActLog        : ActivationFunc<"Log", 6, "log", 1, "natural logarithm", "0x1p-64", "0x1p64">;
def ActSigmoid    : ActivationFunc<"Sigmoid", 7, "sigmoid", 2, "1 / (1 + e^-x)">;
def ActTanh       : ActivationFunc<"Tanh", 8, "tanh", 2, "hyperbolic tangent">;
def ActSilu       : ActivationFunc<"Silu", 9, "silu", 2, "x * sigmoid(x)">;
def ActGeluTanh   : ActivationFunc<"GeluTanh", 10, "gelu_tanh", 2,
                                   "x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) (SH32 gelu_apprx_tanh)">;
def ActGeluSigmoid : ActivationFunc<"GeluSigmoid", 11, "gelu_sigmoid", 2,
                                    "x * sigmoid(1.702 x), 1.702 in fp32 (SH32 gelu_apprx_sigmoid)">;
def ActMish       : ActivationFunc<"Mish", 12, "mish", 2, "x * tanh(log(1 + e^x))">;
def ActSoftplus   : ActivationFunc<"Softplus", 13, "softplus", 1, "log(1 + e^x)">;
def ActGelu       : ActivationFunc<"Gelu", 14, "gelu", 3, "x/2 * (1 + erf(x / sqrt(2)))">;
def ActErf        : ActivationFunc<"Erf", 15, "erf", 3, "error function">;
def ActSqrt       : ActivationFunc<"Sqrt", 16, "sqrt", 4, "square root", "0x1p-116", "0x1p118">;
def ActRsqrt      : ActivationFunc<"Rsqrt", 17, "rsqrt", 4, "1 / square root", "0x1p-87", "0x1p97">;
def ActReciprocal : ActivationFunc<"Reciprocal", 18, "reciprocal", 4, "1 / x, for magnitudes in the range",
                                   "0x1p-42", "0x1p42">;
def ActSin        : ActivationFunc<"Sin", 19, "sin", 5, "sine, no range reduction", "-0x1.921fb6p1", "0x1.921fb6p1">;
def ActArctan     : ActivationFunc<"Arctan", 20, "arctan", 5, "inverse tangent", "-0x1.921fb6p0", "0x1.921fb6p0">;

def Trn_ActivationFunc : I32EnumAttr<"ActivationFunc", "activation function",
    [ActCopy, ActSquare, ActRelu, ActSign, ActAbs, ActExp, ActLog, ActSigmoid, ActTanh, ActSilu, ActGeluTanh,
     ActGeluSigmoid, ActMish, ActSoftplus, ActGelu, ActErf, ActSqrt, ActRsqrt, ActReciprocal, ActSin, ActArctan]> {
  let cppNamespace = "::trn::isa";
  let genSpecializedAttr = 0;
  let stringToSymbolFnName = "parseActivationFunc";
  let symbolToStringFnName = "::trn::isa::name";
}

//===--------------------------------------------------------------------------===//
// Scalar operations of the compiler's IR
//===--------------------------------------------------------------------------===//

/// What an ALU operator must be given to compute a scalar operation: nothing for two-operand operations, an immediate
/// for one-operand ones (negation is a multiplication by -1).
class AluForm<AluOp op_, string immediate_ = "", bit reverse_ = 0> {
  AluOp op = op_;
  string immediate = immediate_;
  bit reverse = reverse_;
}

/// One scalar operation. `key` is the MLIR operation name; comparisons append the predicate (arith.cmpf.olt), the
/// functions of trn.scalar their name (trn.scalar.sigmoid). No row means: not elementwise on this machine; the lowering
/// must compose it. `bitwise`: an i1 value is 0 or 1 in a byte, so bitwise operators serve boolean ones.
class ScalarOp<string key_, int arity_, list<AluForm> alu_, list<ActivationFunc> activation_, Accuracy accuracy_> {
  string key = key_;
  int arity = arity_;
  list<AluForm> alu = alu_;                      // 0 or 1
  list<ActivationFunc> activation = activation_; // 0 or 1
  Accuracy accuracy = accuracy_;
}

defvar kExact = Accuracy<"0">;
defvar kRounded = Accuracy<"0.5", "0", "correctly rounded fp32">;
// Bounds of tables are the emulator's, in the documented range: AWS publishes none.
defvar kTable = Accuracy<"2">;
/// Products with an exponential, which lose digits where it is denormal.
defvar kProduct = Accuracy<"4", "0x1p-118">;
defvar kInt24 = Accuracy<"0", "0", "exact to 2^24 on DVE, exact on POOL">;
def MaxWithoutNan : Accuracy<"0", "0", "exact without NaN; NaN propagates"> { let ofNan = 0; }

class Binary<string key, AluOp op, Accuracy accuracy = kRounded> : ScalarOp<key, 2, [AluForm<op>], [], accuracy>;
class Unary<string key, ActivationFunc func, Accuracy accuracy = kTable> : ScalarOp<key, 1, [], [func], accuracy>;

def : Binary<"arith.addf", AluAdd>;
def : Binary<"arith.subf", AluSubtract>;
def : Binary<"arith.mulf", AluMultiply>;
def : Binary<"arith.divf", AluDivide>;
def : Binary<"arith.maximumf", AluMax, kExact>;
def : Binary<"arith.minimumf", AluMin, kExact>;
// maxnumf differs from max only where exactly one operand is NaN; the device has one max (device guide: NaN behaviour
// undocumented), which propagates.
def : Binary<"arith.maxnumf", AluMax, MaxWithoutNan>;
def : Binary<"arith.minnumf", AluMin, MaxWithoutNan>;
def : Binary<"math.powf", AluPower, kTable>;
def : Binary<"arith.addi", AluAdd, kInt24>;
def : Binary<"arith.subi", AluSubtract, kInt24>;
def : Binary<"arith.muli", AluMultiply, kInt24>;
def : Binary<"arith.maxsi", AluMax, kInt24>;
def : Binary<"arith.minsi", AluMin, kInt24>;
def : Binary<"arith.maxui", AluMax, kInt24>;
def : Binary<"arith.minui", AluMin, kInt24>;
def : Binary<"arith.andi", AluBitwiseAnd, kExact>;
def : Binary<"arith.ori", AluBitwiseOr, kExact>;
def : Binary<"arith.xori", AluBitwiseXor, kExact>;
def : Binary<"arith.shli", AluShiftLeft, kExact>;
def : Binary<"arith.shrui", AluShiftRight, kExact>;
def : Binary<"arith.shrsi", AluShiftRightArith, kExact>;
// Unordered comparisons other than une have no row: the ALU is false with NaN, except is_ne.
def : Binary<"arith.cmpf.oeq", AluIsEq, kExact>;
def : Binary<"arith.cmpf.une", AluIsNe, kExact>;
def : Binary<"arith.cmpf.ogt", AluIsGt, kExact>;
def : Binary<"arith.cmpf.oge", AluIsGe, kExact>;
def : Binary<"arith.cmpf.olt", AluIsLt, kExact>;
def : Binary<"arith.cmpf.ole", AluIsLe, kExact>;
def : Binary<"arith.cmpi.eq", AluIsEq, kInt24>;
def : Binary<"arith.cmpi.ne", AluIsNe, kInt24>;
def : Binary<"arith.cmpi.sgt", AluIsGt, kInt24>;
def : Binary<"arith.cmpi.sge", AluIsGe, kInt24>;
def : Binary<"arith.cmpi.slt", AluIsLt, kInt24>;
def : Binary<"arith.cmpi.sle", AluIsLe, kInt24>;
def : Binary<"arith.cmpi.ugt", AluIsGt, kInt24>;
def : Binary<"arith.cmpi.uge", AluIsGe, kInt24>;
def : Binary<"arith.cmpi.ult", AluIsLt, kInt24>;
def : Binary<"arith.cmpi.ule", AluIsLe, kInt24>;

def : ScalarOp<"arith.negf", 1, [AluForm<AluMultiply, "-1.0f">], [], kExact>;
def : ScalarOp<"math.absf", 1, [AluForm<AluAbsMax, "0.0f">], [ActAbs], kExact>;
def : ScalarOp<"math.absi", 1, [AluForm<AluAbsMax, "0.0f">], [ActAbs], kInt24>;
def : Unary<"math.exp", ActExp>;
def : Unary<"math.log", ActLog>;
def : Unary<"math.tanh", ActTanh>;
def : Unary<"math.erf", ActErf>;
def : ScalarOp<"math.sqrt", 1, [AluForm<AluPower, "0.5f">], [ActSqrt], kTable>;
def : ScalarOp<"math.rsqrt", 1, [AluForm<AluPower, "-0.5f">], [ActRsqrt], kTable>;
// Without range reduction; math.sin and math.atan are composed of these.
def : Unary<"trn.scalar.sin", ActSin>;
def : Unary<"trn.scalar.arctan", ActArctan>;
def : Unary<"trn.scalar.sigmoid", ActSigmoid>;
def : Unary<"trn.scalar.silu", ActSilu, kProduct>;
def : Unary<"trn.scalar.gelu", ActGelu, kProduct>;
def : Unary<"trn.scalar.gelu_tanh", ActGeluTanh, kProduct>;
def : Unary<"trn.scalar.gelu_sigmoid", ActGeluSigmoid, kProduct>;
def : Unary<"trn.scalar.mish", ActMish, kProduct>;
def : Unary<"trn.scalar.softplus", ActSoftplus>;
def : Unary<"trn.scalar.sign", ActSign, kExact>;
def : Unary<"trn.scalar.square", ActSquare, kRounded>;
def : ScalarOp<"trn.scalar.relu", 1, [AluForm<AluMax, "0.0f">], [ActRelu], kExact>;
def : ScalarOp<"trn.scalar.reciprocal", 1, [AluForm<AluDivide, "1.0f", 1>], [ActReciprocal], kTable>;

#endif // TRN_ISA_SCALAROPS_TD
