//===- Compositions.td - scalars that no instruction computes -*- tablegen -*-===//
//
// Owns what a scalar operation of arith or math is made of when it has no row in ScalarOps.td, or when its row is right
// on a part of its domain only. trn-expand-scalars writes the formula into the bodies of stage `buffered`, in fp32
// whatever the type of the elements is, and the documentation is made of it.
// test/unit/select/ScalarAccuracyTest.cpp compares every record with its function in double precision, on the instructions,
// over the whole domain: infinities, NaN, zeros of both signs and denormals included.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_ISA_COMPOSITIONS_TD
#define TRN_ISA_COMPOSITIONS_TD

include "dialects/Trn/ISA/Accuracy.td"
include "dialects/Trn/ISA/Formula.td"
include "dialects/Trn/ISA/ScalarOps.td"

/// A scalar operation as a formula of `$x` (and `$y`). In it the operation itself is the instruction of its row in
/// ScalarOps.td; another operation that has a composition is composed too. Both sides of a `select` are computed: the one
/// that is not taken may be infinite or NaN.
class Composition<string key_, dag formula_, string doc_> {
  string key = key_;
  dag formula = formula_;
  /// The formula as it is read, with what it takes care of.
  string doc = doc_;
  /// How exact it is for arguments from `low` to `high`. An infinite or undefined result is so for every argument.
  Accuracy accuracy = Accuracy<"3">;
  string low = "-inf";
  string high = "inf";
  /// The row needs no composition for arguments that are known to be at least this: a sum with such a constant of what
  /// is not negative. Empty: it always does.
  string rowFrom = "";
}

/// A scalar operation whose composition depends on types: a C++ function of passes/Select/ExpandScalars.cpp.
class ComposedInCode<string key_, string function_, string doc_> {
  string key = key_;
  string function = function_;
  string doc = doc_;
}

defvar kTurn = "6.28318530717958647693";
defvar kHalfPi = "1.57079632679489661923";
defvar kLn2 = "0.69314718055994530942";

//===--------------------------------------------------------------------------===//
// Roots and logarithms
//===--------------------------------------------------------------------------===//

/// The argument times `scale` lies in the range of the function's table; `back` is what takes the result back.
class Rescaled<ActivationFunc table, string up, string down, dag upBack, dag downBack, int noBack> {
  dag scale = (select (lt $x, table.low), up, (select (gt $x, table.high), down, 1));
  dag back = (select (lt $x, table.low), upBack, (select (gt $x, table.high), downBack, noBack));
}

defvar sqrtScale = Rescaled<ActSqrt, "0x1p64", "0x1p-64", (div 1, "0x1p32"), (mul 1, "0x1p32"), 1>;
def : Composition<"math.sqrt", (mul (sqrt (mul $x, sqrtScale.scale)), sqrtScale.back),
                  "sqrt(4^n x) / 2^n, where 4^n takes x into the range of the table"> {
  let rowFrom = "0x1p-60";
}
defvar rsqrtScale = Rescaled<ActRsqrt, "0x1p64", "0x1p-64", (mul 1, "0x1p32"), (div 1, "0x1p32"), 1>;
def : Composition<"math.rsqrt", (mul (rsqrt (mul $x, rsqrtScale.scale)), rsqrtScale.back),
                  "rsqrt(4^n x) 2^n, where 4^n takes x into the range of the table"> {
  let rowFrom = "0x1p-60";
}

defvar logScale = Rescaled<ActLog, "0x1p86", "0x1p-64", (mul -86, kLn2), (mul 64, kLn2), 0>;
def : Composition<"math.log", (add (log (mul $x, logScale.scale)), logScale.back),
                  "log(2^n x) - n log(2), where 2^n takes x into the range of the table">;

defvar onePlus = (add $x, 1);
defvar kept = (add onePlus, -1);
def : Composition<"math.log1p",
                  (select (eq kept, 0), $x,
                          (select (gt $x, "0x1p24"), (log onePlus), (mul (log onePlus), (div $x, kept)))),
                  "log(1 + x) x / ((1 + x) - 1): the quotient gives back the digits of x that the sum loses; x itself "
                  "where it loses all, and the plain logarithm where it loses none that count">;

//===--------------------------------------------------------------------------===//
// Circular functions
//===--------------------------------------------------------------------------===//

/// x - k 2 pi, k the integer nearest to `turns`; 2 pi in three parts of few bits, so that its products with k are exact up to
/// |k| = 2^13.
class Turned<dag turns> {
  dag k = (round turns);
  dag rest = (sub (sub (sub $x, (mul k, "6.28125")), (mul k, "1.93500518798828125e-3")), (mul k, "3.0199157827e-7"));
}
defvar kPiHigh = "3.1415927410125732421875";
defvar kMinusPiHigh = "-3.1415927410125732421875";
defvar kPiLow = "-8.74227800037248567e-8";
defvar kQuarter = "1.5707963705062866"; // the fp32 beside pi / 2
defvar kMinusQuarter = "-1.5707963705062866";
/// The angle of the same sine in [-pi / 2, pi / 2]. Where `turns` is nearly half way between two integers its own rounding
/// decides between them, so an angle may leave [-pi, pi]: by 1e-3 for the largest arguments that are exact. Larger ones,
/// which no reduction of this precision brings into a turn, give the sine of some angle: none beyond 1.
class Mirrored<dag angle> {
  dag mirrored = (max (min angle, (add (sub kPiHigh, angle), kPiLow)), (sub (sub kMinusPiHigh, angle), kPiLow));
  dag value = (max (min mirrored, kQuarter), kMinusQuarter);
}

defvar turns = (mul $x, (div 1, kTurn));
def : Composition<"math.sin", (sinInRange Mirrored<Turned<turns>.rest>.value),
                  "sin(x - 2 pi k), k the nearest integer to x / 2 pi"> {
  let low = "-51471";
  let high = "51471";
  let accuracy = Accuracy<"4", "1">;
}
/// A quarter of a turn in two parts.
defvar kQuarterHigh = "1.57079637050628662109375";
defvar kQuarterLow = "-4.37113900018624283e-8";
defvar shifted = (add (add Turned<(add turns, "0.25")>.rest, kQuarterHigh), kQuarterLow);
def : Composition<"math.cos", (sinInRange Mirrored<shifted>.value),
                  "sin(x + pi / 2 - 2 pi k), k the nearest integer to x / 2 pi + 1 / 4"> {
  let low = "-51471";
  let high = "51471";
  let accuracy = Accuracy<"4", "1">;
}
/// The period is half a turn. Both sines are of small angles near their zeros, so zeros keep their digits, and the first poles
/// do; beside later ones the reduction has lost the digits of the distance to them.
defvar halfTurns = (round (mul $x, (div 2, kTurn)));
defvar reduced = (sub (sub (sub $x, (mul halfTurns, "3.140625")), (mul halfTurns, "9.67502593994140625e-4")),
                      (mul halfTurns, "1.50995789135e-7"));
defvar angle = (max (min reduced, kPiHigh), kMinusPiHigh);
defvar toQuarter = (add (sub kQuarterHigh, (abs angle)), kQuarterLow);
def : Composition<"math.tan", (div (sinInRange angle), (sinInRange toQuarter)),
                  "sin(r) / sin(pi / 2 - |r|), r = x - pi k, k the nearest integer to x / pi"> {
  let low = "-1.5";
  let high = "1.5";
}

defvar magnitude = (abs $x);
defvar folded = (arctanInRange (select (gt magnitude, 1), (div 1, magnitude), magnitude));
def : Composition<"math.atan", (mul (select (gt magnitude, 1), (sub kHalfPi, folded), folded), (sign $x)),
                  "sign(x) atan(|x|), which beyond 1 is pi / 2 - atan(1 / |x|)">;
def : Composition<"math.asin", (atan (div $x, (sqrt (mul (sub 1, $x), (add $x, 1))))),
                  "atan(x / sqrt((1 - x) (1 + x)))">;
def : Composition<"math.acos", (mul (atan (sqrt (div (sub 1, $x), (add $x, 1)))), 2),
                  "2 atan(sqrt((1 - x) / (1 + x))), which keeps its digits near 1">;

//===--------------------------------------------------------------------------===//
// Hyperbolic functions
//===--------------------------------------------------------------------------===//

/// e^|x| / 2 is e^(|x| / 2) squared and halved between, which neither overflows early nor rounds the exponent.
defvar root = (exp (mul magnitude, "0.5"));
defvar halfExp = (mul (mul root, "0.5"), root);
defvar square = (mul $x, $x);
defvar sinhSeries = (add (mul (add (mul (add (mul (add (mul (div 1, 362880), square), (div 1, 5040)), square),
                                             (div 1, 120)), square), (div 1, 6)), square), 1);
def : Composition<"math.sinh",
                  (select (gt magnitude, 1), (mul (sub halfExp, (div "0.25", halfExp)), (sign $x)),
                          (mul sinhSeries, $x)),
                  "sign(x) (e^|x| - e^-|x|) / 2; up to 1, where the difference loses digits, "
                  "x + x^3 / 6 + x^5 / 120 + x^7 / 5040 + x^9 / 362880">;
def : Composition<"math.cosh", (add halfExp, (div "0.25", halfExp)), "(e^|x| + e^-|x|) / 2, halved before it overflows">;

defvar bounded = (min magnitude, "0x1p28");
defvar asinhRest = (div (mul bounded, bounded), (add (sqrt (add (mul bounded, bounded), 1)), 1));
def : Composition<"math.asinh",
                  (mul (select (gt magnitude, "0x1p28"), (add (log magnitude), kLn2), (log1p (add bounded, asinhRest))),
                       (sign $x)),
                  "sign(x) log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))); beyond 2^28 log(|x|) + log(2)">;
/// Two roots, because the product is positive again below -1.
defvar above = (add (min $x, "0x1p28"), -1);
def : Composition<"math.acosh",
                  (select (gt $x, "0x1p28"), (add (log $x), kLn2),
                          (log1p (add above, (mul (sqrt above), (sqrt (add above, 2)))))),
                  "log1p(t + sqrt(t) sqrt(t + 2)), t = x - 1; beyond 2^28 log(x) + log(2)">;
/// Beyond 1 the quotient is below -1, whose logarithm is NaN, as it should be.
def : Composition<"math.atanh",
                  (mul (mul (log1p (div (mul magnitude, 2), (sub 1, magnitude))), "0.5"), (sign $x)),
                  "sign(x) log1p(2 |x| / (1 - |x|)) / 2">;

//===--------------------------------------------------------------------------===//
// Comparisons
//===--------------------------------------------------------------------------===//

// The ALU compares false with NaN, except is_ne (SH32): other unordered predicates are negations of ordered ones.
class Compared<string predicate, dag formula, string doc> : Composition<"arith.cmpf." # predicate, formula, doc> {
  let accuracy = Accuracy<"0">;
}
defvar differ = (or (lt $x, $y), (gt $x, $y));
def : Compared<"ult", (xor (ge $x, $y), 1), "not x >= y">;
def : Compared<"ule", (xor (gt $x, $y), 1), "not x > y">;
def : Compared<"ugt", (xor (le $x, $y), 1), "not x <= y">;
def : Compared<"uge", (xor (lt $x, $y), 1), "not x < y">;
def : Compared<"ueq", (xor differ, 1), "not (x < y or x > y)">;
def : Compared<"one", differ, "x < y or x > y">;
def : Compared<"ord", (and (eq $x, $x), (eq $y, $y)), "x = x and y = y">;
def : Compared<"uno", (or (ne $x, $x), (ne $y, $y)), "x differs from x, or y from y">;
def : Compared<"false", (lt $x, $x), "x < x">;
def : Compared<"true", (xor (lt $x, $x), 1), "not x < x">;

//===--------------------------------------------------------------------------===//
// Integers
//===--------------------------------------------------------------------------===//

class Division<string key> : ComposedInCode<key, "expandDivision",
    "long division by fp32 quotients, which truncate exactly below 2^24: one digit, of 32 bits two and a correction">;
def : Division<"arith.divsi">;
def : Division<"arith.divui">;
def : Division<"arith.remsi">;
def : Division<"arith.remui">;

class Narrow<string key> : ComposedInCode<key, "expandNarrow",
    "of fewer than 32 bits: the low bits of the result in 32, because engines saturate what they write">;
def : Narrow<"arith.addi">;
def : Narrow<"arith.subi">;
def : Narrow<"arith.muli">;
def : Narrow<"math.absi">;

#endif // TRN_ISA_COMPOSITIONS_TD
