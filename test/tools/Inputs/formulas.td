include "dialects/Trn/ISA/Compositions.td"

#ifdef ARITY
def : Composition<"math.cbrt", (add $x), "">;
#endif
#ifdef NAME
def : Composition<"math.cbrt", (add $z, 1), "">;
#endif
#ifdef NUMBER
def : Composition<"math.cbrt", (add $x, "half"), "">;
#endif
#ifdef OPERATION
def other;
def : Composition<"math.cbrt", (other $x), "">;
#endif
#ifdef TWICE
def : Composition<"math.sinh", (add $x, 1), "">;
#endif
