//===- Formula.td - scalar operations written as formulas -----*- tablegen -*-===//
//
// Owns the vocabulary of formulas: what a record says that an element of its result is, as a dag of scalar operations.
// Formulas stand in the records of ONNX operators (dialects/ONNX/Ops) and of scalar operations that no instruction
// computes (Compositions.td). Both generators read them with dialects/tblgen/Formulas.h, which refuses an
// operation with a wrong number of arguments and a name that the record does not have.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_ISA_FORMULA_TD
#define TRN_ISA_FORMULA_TD

/// One operation of formulas. `key` is that of ScalarOps.td: the MLIR operation, with the predicate of a comparison or the
/// function of trn.scalar. An argument is a dag, `$name` (an operand or a float attribute of the record), an integer, or a
/// string with a number that is none. Arithmetic of constants alone is done in double precision while compiling.
class FormulaOp<string key_, int arity_> {
  string key = key_;
  int arity = arity_;
}

// Arithmetic of floats.
def add : FormulaOp<"arith.addf", 2>;
def sub : FormulaOp<"arith.subf", 2>;
def mul : FormulaOp<"arith.mulf", 2>;
def div : FormulaOp<"arith.divf", 2>;
def neg : FormulaOp<"arith.negf", 1>;
def abs : FormulaOp<"math.absf", 1>;
def max : FormulaOp<"arith.maximumf", 2>;
def min : FormulaOp<"arith.minimumf", 2>;
/// To the nearest integer, ties to the even one.
def round : FormulaOp<"math.roundeven", 1>;

// Functions of a float.
def exp : FormulaOp<"math.exp", 1>;
def log : FormulaOp<"math.log", 1>;
def log1p : FormulaOp<"math.log1p", 1>;
def sqrt : FormulaOp<"math.sqrt", 1>;
def rsqrt : FormulaOp<"math.rsqrt", 1>;
def sin : FormulaOp<"math.sin", 1>;
def cos : FormulaOp<"math.cos", 1>;
def atan : FormulaOp<"math.atan", 1>;
def tanh : FormulaOp<"math.tanh", 1>;
def erf : FormulaOp<"math.erf", 1>;
def sign : FormulaOp<"trn.scalar.sign", 1>;
def sigmoid : FormulaOp<"trn.scalar.sigmoid", 1>;
/// The tables of ACT for sine and arctangent, on their own ranges (ScalarOps.td).
def sinInRange : FormulaOp<"trn.scalar.sin", 1>;
def arctanInRange : FormulaOp<"trn.scalar.arctan", 1>;

// Tests of floats, false with NaN but for `ne`; booleans; the second or third argument, as the first one says.
def lt : FormulaOp<"arith.cmpf.olt", 2>;
def le : FormulaOp<"arith.cmpf.ole", 2>;
def gt : FormulaOp<"arith.cmpf.ogt", 2>;
def ge : FormulaOp<"arith.cmpf.oge", 2>;
def eq : FormulaOp<"arith.cmpf.oeq", 2>;
def ne : FormulaOp<"arith.cmpf.une", 2>;
def and : FormulaOp<"arith.andi", 2>;
def or : FormulaOp<"arith.ori", 2>;
def xor : FormulaOp<"arith.xori", 2>;
def select : FormulaOp<"arith.select", 3>;

// Arithmetic of integers; signed where it matters.
def addInt : FormulaOp<"arith.addi", 2>;
def subInt : FormulaOp<"arith.subi", 2>;
def mulInt : FormulaOp<"arith.muli", 2>;
def maxInt : FormulaOp<"arith.maxsi", 2>;
def minInt : FormulaOp<"arith.minsi", 2>;
def minUnsigned : FormulaOp<"arith.minui", 2>;
def ltInt : FormulaOp<"arith.cmpi.slt", 2>;

#endif // TRN_ISA_FORMULA_TD
