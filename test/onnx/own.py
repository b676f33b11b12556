"""Tests of our own in the suite's layout: parts of operators that the standard's tests leave out.

Each case is one model with its inputs; the expected values come from NumPy in float64 (or exact integers), never from the
compiler. `write(folder)` makes `folder/own/test_<name>/{model.onnx,test_data_set_0}`.
"""
import math

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CASES = []


def case(name, operator, inputs, expected, opset=22, **attributes):
    """One node; inputs and outputs by position (None: absent)."""
    CASES.append((name, operator, inputs, expected, opset, attributes))


def elementwise(name, operator, function, *inputs):
    """A function of floats, expected in double precision."""
    with np.errstate(all="ignore"):
        wide = function(*(x.astype(np.float64) for x in inputs))
    case(name, operator, inputs, [wide.astype(inputs[0].dtype)])


def float32(*values):
    return np.array(values, np.float32)


# The whole domain of functions whose tables on the device cover a part of it.
SPECIAL = float32(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-7, -1e-7, 3e-5, 1e4, -1e4, math.inf, -math.inf, math.nan)
POSITIVE = float32(1e-45, 1e-40, 1.2e-38, 1e-30, 1e-20, 1e-10, 0.5, 1.0, 1.0000001, 2.0, 1e10, 1e20, 1e30, 3.4e38, 0.0, math.inf,
                   math.nan, -1.0)
ANGLES = float32(0.0, 0.1, -0.1, 1.5, 3.1, -3.1, 3.2, 6.28, 100.0, -100.0, 1234.5, -9876.5, 20000.25)
elementwise("log_domain", "Log", np.log, POSITIVE)
elementwise("sqrt_domain", "Sqrt", np.sqrt, POSITIVE)
elementwise("sin_domain", "Sin", np.sin, ANGLES)
elementwise("cos_domain", "Cos", np.cos, ANGLES)
elementwise("tan_domain", "Tan", np.tan, ANGLES)
elementwise("atan_domain", "Atan", np.arctan, SPECIAL)
elementwise("asin_domain", "Asin", np.arcsin, float32(-1, -0.999999, -0.5, -1e-6, 0, 1e-6, 0.3, 0.999999, 1, 1.5, math.nan))
elementwise("acos_domain", "Acos", np.arccos, float32(-1, -0.999999, -0.5, 0, 0.3, 0.999999, 1, 1.5, math.nan))
elementwise("asinh_domain", "Asinh", np.arcsinh, float32(*SPECIAL, 1e15, -1e30, 3e38))
elementwise("acosh_domain", "Acosh", np.arccosh, float32(1, 1.0000001, 1.001, 2, 1e4, 1e12, 3e38, math.inf, 0.5))
elementwise("atanh_domain", "Atanh", np.arctanh, float32(-1, -0.5, -1e-6, 0, 1e-6, 0.5, 0.999999, 1, 1.5))
elementwise("sinh_domain", "Sinh", np.sinh, float32(*SPECIAL[:-6], 0.999, -1.001, 10, -80, 89, -89.4, math.inf, -math.inf, math.nan))
elementwise("cosh_domain", "Cosh", np.cosh, float32(0, 1e-4, 1, -1, 10, -80, 89, math.inf))
# Infinities reach the sums that they are part of, and no others.
WITH_INFINITY = np.array([[1, 2, math.inf, 3], [1, -math.inf, 2, 0], [math.inf, 1, -math.inf, 2]], np.float32)
for reverse in (0, 1):
    for exclusive in (0, 1):
        with np.errstate(all="ignore"):
            sums = np.cumsum(WITH_INFINITY[:, ::-1 if reverse else 1], 1)
        if exclusive:
            sums = np.concatenate([np.zeros((3, 1)), sums[:, :-1]], 1)
        case(f"cumsum_infinity_{reverse}{exclusive}", "CumSum", [WITH_INFINITY, np.int64(1)],
             [np.ascontiguousarray(sums[:, ::-1 if reverse else 1]).astype(np.float32)], reverse=reverse, exclusive=exclusive)
ROWS = np.array([[-math.inf] * 3, [math.inf, 1, 2], [math.inf, -math.inf, 0], [-math.inf, 1, 2], [1e4, 1e4, 0], [math.nan, 1, 2]],
                np.float32)
with np.errstate(all="ignore"):
    case("reduce_log_sum_exp_infinity", "ReduceLogSumExp", [ROWS, np.array([1])],
         [np.logaddexp.reduce(ROWS.astype(np.float64), 1).astype(np.float32)], keepdims=0)
# Constants that have no inverse of their type.
TINY = float32(1e-45, 1.2e-38, 3e38, math.inf, 0.0, 2.0)
with np.errstate(all="ignore"):
    case("div_by_tiny", [helper.make_node("Div", ["x0", "tiny"], ["y0"])], [float32(0, 1e-38, 2e38, 1, 0, 3)],
         [float32(0, 1e-38, 2e38, 1, 0, 3) / TINY], tiny=TINY)
# More operands than a library kernel takes.
MANY = [np.arange(5.0) * (-1) ** i + i for i in range(10)]
for operator, function in (("Sum", sum), ("Max", lambda x: np.max(x, 0)), ("Min", lambda x: np.min(x, 0))):
    case(f"{operator.lower()}_many_doubles", operator, MANY, [function(MANY)])
case("pad_of_nothing", "Pad", [np.zeros((0, 2), np.float32), np.array([1, 0, 0, 0])], [np.zeros((1, 2), np.float32)])
case("transpose_of_nothing", "Transpose", [np.zeros((1, 0, 3), np.float32)], [np.zeros((0, 1, 3), np.float32)], perm=[1, 0, 2])
LARGE_BYTES = np.array([128, 200, 255, 0], np.uint8)
case("relu_of_constant_uint8", [helper.make_node("Relu", ["c"], ["y0"])], [], [LARGE_BYTES], c=LARGE_BYTES)
# Nothing, in rows that fill more than a tile.
elementwise("relu_of_nothing", "Relu", lambda x: np.maximum(x, 0), np.zeros((0, 70000), np.float32))

# Integers beyond 2^24, where fp32 is not exact, and at the ends of the type.
WORDS = np.array([2147483647, -2147483648, 2147483646, -2147483647, 123456789, -123456789, 16777217, -16777217, 7, -7, 0, 1],
                 np.int32)
DIVISORS = np.array([3, 3, -46341, 65537, 12345, -7, 16777216, 2, -2, -2, 5, -2147483648], np.int32)


def truncated(x, y):
    """The quotient of integers, toward zero."""
    x, y = x.astype(object), y.astype(object)
    return np.array([abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x, y)])


case("div_int32", "Div", [WORDS, DIVISORS], [truncated(WORDS, DIVISORS).astype(np.int32)], opset=14)
case("mod_int32", "Mod", [WORDS, DIVISORS], [np.mod(WORDS.astype(np.int64), DIVISORS).astype(np.int32)], opset=13)
case("mod_int32_fmod", "Mod", [WORDS, DIVISORS], [np.fmod(WORDS.astype(np.int64), DIVISORS).astype(np.int32)], opset=13, fmod=1)
UNSIGNED, UNSIGNED_DIVISORS = WORDS.view(np.uint32), np.array([1, 2, 3, 4294967295, 2147483648, 65537, 10, 1000003, 7, 9, 5, 6], np.uint32)
case("div_uint32", "Div", [UNSIGNED, UNSIGNED_DIVISORS], [UNSIGNED // UNSIGNED_DIVISORS], opset=14)
case("mod_uint32", "Mod", [UNSIGNED, UNSIGNED_DIVISORS], [UNSIGNED % UNSIGNED_DIVISORS], opset=13)
BYTES = np.arange(-128, 128, dtype=np.int16).astype(np.int8)
case("div_int8", "Div", [BYTES, np.full(256, -7, np.int8)], [truncated(BYTES, np.full(256, -7)).astype(np.int8)], opset=14)
case("clip_negative_int32", "Max", [WORDS, np.int32(-1)], [np.maximum(WORDS, -1)], opset=13)

# Not a number among the elements: the first one is the extreme, as in NumPy.
MISSING = np.array([[1, math.nan, 3, math.nan], [4, 2, 4, 1]], np.float32)
case("argmax_nan", "ArgMax", [MISSING], [np.argmax(MISSING, 1, keepdims=True)], opset=13, axis=1)
case("argmin_nan", "ArgMin", [MISSING], [np.argmin(MISSING, 1, keepdims=True)], opset=13, axis=1)

# Small floats: ties, denormals, the ends of the range, zeros of both signs.
TIES = float32(0, -0.0, 1, 1.0625, 1.1875, -1.0625, 0.0009765625, 0.0015, 0.0029296875, 0.0048828125, 447, 449, 463, 464, 465, 1e30,
               -1e30, 57344, 61439, 61440, 3.3, -0.017, 2.5, 3.5, 5, 5.1, 0.25, 0.75, math.inf, -math.inf, math.nan)
for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"):
    small = np.dtype(getattr(ml_dtypes, name))
    largest = float(ml_dtypes.finfo(small).max)
    code = helper.np_dtype_to_tensor_dtype(small)
    with np.errstate(all="ignore"):
        case(f"cast_{name}", "Cast", [TIES], [np.clip(TIES, -largest, largest).astype(small)], to=code)
        case(f"cast_{name}_unsaturated", "Cast", [TIES], [TIES.astype(small)], to=code, saturate=0)
    every = np.arange(256, dtype=np.uint8).view(small)
    case(f"cast_{name}_back", "Cast", [every], [every.astype(np.float32)], to=1)
WIDE = np.arange(-300, 300, 7, dtype=np.int32)
for name in ("int4", "uint4", "int2", "uint2"):
    small = np.dtype(getattr(ml_dtypes, name))
    bits = int(name[-1])
    wrapped = WIDE & ((1 << bits) - 1)
    wrapped = wrapped - ((wrapped >> (bits - 1)) << bits) if name.startswith("int") else wrapped
    case(f"cast_{name}", "Cast", [WIDE], [wrapped.astype(small)], opset=25, to=helper.np_dtype_to_tensor_dtype(small))

case("bitcast_negative_zero", "BitCast", [float32(-0.0, 1.5, math.inf)], [float32(-0.0, 1.5, math.inf).view(np.int32)], opset=26, to=6)

# Order, with equal elements and infinities.
RNG = np.random.default_rng(0)
MIXED = np.array([[3, 1, 3, -math.inf, 2, 3, 0], [-math.inf, -math.inf, 5, 5, math.inf, 1, -0.5]], np.float32)
for largest in (0, 1):
    order = np.argsort(-MIXED if largest else MIXED, axis=1, kind="stable")[:, :6]
    case(f"topk_ties_{largest}", "TopK", [MIXED, np.array([6])], [np.take_along_axis(MIXED, order, 1), order], opset=11,
         largest=largest)
LONG = np.array([[5, 2**31 - 1, -(2**31), 7, 7]])
case("topk_int64", "TopK", [LONG, np.array([4])], [np.array([[2**31 - 1, 7, 7, 5]]), np.array([[1, 3, 4, 0]])], opset=11)

# The last of several updates counts; reductions take all of them.
DATA, WHERE, NEW = RNG.random((4, 5)).astype(np.float32), np.array([[1, 1, -1], [0, 4, 0]]), RNG.random((2, 3)).astype(np.float32)
for reduction in ("none", "add", "mul", "max", "min"):
    after = DATA.copy()
    for (i, j), to in np.ndenumerate(WHERE):
        old, new = after[i, to], NEW[i, j]
        after[i, to] = {"none": new, "add": old + new, "mul": old * new, "max": max(old, new), "min": min(old, new)}[reduction]
    case(f"scatter_elements_{reduction}", "ScatterElements", [DATA, WHERE, NEW], [after], opset=18, axis=1, reduction=reduction)
POINTS = np.array([[[0, 1], [3, -1]], [[0, 1], [2, 0]]])
for reduction in ("none", "add", "max"):
    after, new = DATA.copy(), RNG.random((2, 2)).astype(np.float32)
    for i in np.ndindex(2, 2):
        at = tuple(POINTS[i])
        after[at] = {"none": new[i], "add": after[at] + new[i], "max": max(after[at], new[i])}[reduction]
    case(f"scatter_nd_{reduction}", "ScatterND", [DATA, POINTS, new], [after], opset=18, reduction=reduction)
CUBE = RNG.random((3, 4, 5)).astype(np.float32)
case("gather_nd_rows", "GatherND", [CUBE, np.array([[[1], [-1]], [[0], [2]], [[3], [3]]])],
     [np.stack([CUBE[i][[a, b]] for i, (a, b) in enumerate(((1, -1), (0, 2), (3, 3)))])], opset=13, batch_dims=1)
PLACES = RNG.integers(-4, 4, (3, 6, 5))
case("gather_elements_axis1", "GatherElements", [CUBE, PLACES], [np.take_along_axis(CUBE, PLACES, 1)], opset=13, axis=1)

# Sums of products of bytes beyond 2^24, where fp32 alone would round.
LEFT, RIGHT = RNG.integers(0, 256, (3, 2000)).astype(np.uint8), RNG.integers(0, 256, (2000, 4)).astype(np.uint8)
case("matmul_integer_long", "MatMulInteger", [LEFT, RIGHT], [(LEFT.astype(np.int64) @ RIGHT).astype(np.int32)], opset=10)

# Fourier transforms of lengths that are not those of the data, forward and back.
WAVES = RNG.random((2, 7, 2)).astype(np.float32)


def parts(x):
    """The real and the imaginary part as the last dimension."""
    return np.stack([x.real, x.imag], -1).astype(np.float32)


COMPLEX = WAVES[..., 0] + 1j * WAVES[..., 1]
case("dft_padded", "DFT", [WAVES, np.array(9), np.array(1)], [parts(np.fft.fft(COMPLEX, 9, 1))], opset=20)
case("dft_cut_inverse", "DFT", [WAVES, np.array(5), np.array(1)], [parts(np.fft.ifft(COMPLEX, 5, 1))], opset=20, inverse=1)
case("dft_real_odd", "DFT", [WAVES, np.array(11), np.array(1)], [np.fft.irfft(COMPLEX, 11, 1)[..., None].astype(np.float32)],
     opset=20, inverse=1, onesided=1)

# The input of the suite's test_dft_inverse, whose expected values have the roundings of a transform in fp32: 1.9e-7 where
# the exact number is 0.
RAMP = np.stack([np.arange(100).reshape(1, 10, 10), np.zeros((1, 10, 10))], -1).astype(np.float32)
case("dft_inverse_ramp", "DFT", [RAMP, None, np.array(1)], [parts(np.fft.ifft(RAMP[..., 0].astype(np.float64), axis=1))], opset=20, inverse=1)

# Sums of products by letters: ellipses that broadcast, diagonals, more than two terms, implicit outputs.
for name, equation, shapes in (("ellipsis", "...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 6)]), ("diagonal", "ijj,jk->ik", [(3, 4, 4), (4, 5)]),
                               ("trace", "ii", [(5, 5)]), ("diagonals", "iijj->ji", [(3, 3, 4, 4)]), ("three", "ij,jk,kl->li", [(3, 4), (4, 5), (5, 6)]),
                               ("ellipsis_inside", "i...j->j...", [(3, 2, 5, 4)]), ("implicit", "b...i,ij", [(2, 3, 4), (4, 5)]),
                               ("one_goes_with_all", "ab,ab->a", [(3, 1), (3, 4)])):
    TERMS = [RNG.standard_normal(shape).astype(np.float32) for shape in shapes]
    WIDE = np.einsum(equation, *(term.astype(np.float64) for term in TERMS))
    case(f"einsum_{name}", "Einsum", TERMS, [WIDE.astype(np.float32)], opset=12, equation=equation)

# Doubles, which library kernels compare, also where the result is a boolean or an index.
WIDES = np.array([[1, 3, -2, 0], [2, math.nan, 5, 5]])
case("argmax_double", "ArgMax", [WIDES], [np.argmax(WIDES, 1, keepdims=True)], opset=13, axis=1)
case("argmin_double", "ArgMin", [WIDES[:1]], [np.argmin(WIDES[:1], 1, keepdims=True)], opset=13, axis=1)
LINE = np.array([[[1, 3, -2, 0.0]]])
case("maxpool_double", "MaxPool", [LINE], [np.array([[[3, 3, 0.0]]]), np.array([[[1, 1, 3]]])], kernel_shape=[2])
case("isnan_double", "IsNaN", [WIDES], [np.isnan(WIDES)], opset=20)
HUGE = np.array([math.inf, -math.inf, 1e300, math.nan, 0])
case("isinf_double", "IsInf", [HUGE], [np.isinf(HUGE)], opset=20)
OTHERS = np.array([[1, 0, -2, math.nan], [3, math.nan, 5, 4]])
for operator, function in (("Greater", np.greater), ("GreaterOrEqual", np.greater_equal), ("Less", np.less),
                           ("LessOrEqual", np.less_equal), ("Equal", np.equal)):
    case(f"{operator.lower()}_double", operator, [WIDES, OTHERS], [function(WIDES, OTHERS)], opset=19)
case("cast_double_bool", "Cast", [WIDES], [WIDES.astype(bool)], opset=19, to=9)
case("det_empty", "Det", [np.zeros((2, 0, 0))], [np.ones(2)], opset=22)

# A kernel with gaps that the run gives: each element of the input adds it to the result, from where its stride begins.
PICTURE, KERNEL = RNG.standard_normal((1, 3, 5, 4)).astype(np.float32), RNG.standard_normal((3, 2, 3, 2)).astype(np.float32)
for name, strides, dilations in (("gaps", (1, 1), (2, 3)), ("gaps_and_steps", (2, 3), (3, 2))):
    heights, widths = ((n - 1) * s + (k - 1) * d + 1 for n, k, s, d in zip((5, 4), (3, 2), strides, dilations))
    added = np.zeros((1, 2, heights, widths))
    for i, j, k, l in np.ndindex(5, 4, 3, 2):
        at = added[..., i * strides[0] + k * dilations[0], j * strides[1] + l * dilations[1]]
        at += PICTURE[..., i, j].astype(np.float64) @ KERNEL[..., k, l]
    case(f"convtranspose_{name}", "ConvTranspose", [PICTURE, KERNEL], [added.astype(np.float32)], strides=strides, dilations=dilations)

# Scans and norms.
ROWS = RNG.random((2, 9)).astype(np.float32) + 0.5
case("cumprod_reverse", "CumProd", [ROWS, np.array(1)], [np.cumprod(ROWS[:, ::-1].astype(np.float64), 1)[:, ::-1].astype(np.float32)],
     opset=26, reverse=1)
MAP = (RNG.random((1, 2, 6, 6)) - 0.5).astype(np.float32)
case("global_lp_pool_3", "GlobalLpPool", [MAP], [(np.abs(MAP.astype(np.float64)) ** 3).sum((2, 3), keepdims=True) ** (1 / 3)], p=3)
CASES[-1][3][0] = CASES[-1][3][0].astype(np.float32)
case("bitshift_all_out", "BitShift", [np.array([255, 129, 1], np.uint8), np.array([8, 7, 9], np.uint8)], [np.array([0, 1, 0], np.uint8)],
     opset=11, direction="RIGHT")


# Loops that the device runs: the number of their steps is known at run time only, or it is large.
def body(inputs, outputs, *nodes, **constants):
    """The body of a loop; inputs and outputs as (name, element type, shape)."""
    def infos(rows):
        return [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape) for name, kind, shape in rows]

    return helper.make_graph([helper.make_node(op, i, o, **attributes) for op, i, o, attributes in nodes], "body", infos(inputs),
                             infos(outputs), [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])


STEP, FLAG = ("step", np.int64, []), ("more", bool, [])
GROWING = body([STEP, FLAG, ("v", np.float32, [3, 4]), ("sum", np.float32, [])], [("more", bool, []), ("w", np.float32, [3, 4]),
               ("total", np.float32, [])], ("Cast", ["step"], ["n"], {"to": 1}), ("Mul", ["v", "half"], ["h"], {}),
               ("Add", ["h", "n"], ["w"], {}), ("ReduceMax", ["w"], ["top"], {"keepdims": 0}), ("Add", ["sum", "top"], ["total"], {}),
               half=np.float32(0.5))
for trips in (0, 1, 7):
    value, total = RNG.random((3, 4)).astype(np.float32), np.float32(0)
    given = value
    for i in range(trips):
        value = value * np.float32(0.5) + np.float32(i)
        total = total + value.max()
    case(f"loop_of_{trips}_steps", "Loop", [np.array(trips), np.array(True), given, np.float32(0)], [value, total], body=GROWING)
DOUBLING = body([STEP, FLAG, ("v", np.float32, [5])], [("again", bool, []), ("w", np.float32, [5])], ("Add", ["v", "v"], ["w"], {}),
                ("ReduceMax", ["w"], ["top"], {"keepdims": 0}), ("Less", ["top", "limit"], ["again"], {}), limit=np.float32(1000))
for name, go in (("while", True), ("while_not", False)):
    value = given = float32(1, 2, 3, 0.5, -4)
    while go:
        value, go = value + value, (value + value).max() < 1000
    case(f"loop_{name}", "Loop", [None, np.array(name == "while"), given], [value], body=DOUBLING)
    case(f"loop_{name}_of_4", "Loop", [np.array(4), np.array(name == "while"), given], [given * (16 if name == "while" else 1)], body=DOUBLING)
STOPPING = body([STEP, FLAG, ("v", np.float32, [5])], [("again", bool, []), ("w", np.float32, [5])], ("Add", ["v", "v"], ["w"], {}),
                ("Not", ["yes"], ["again"], {}), yes=np.array(True))
for trips in (0, 5):
    given = float32(1, 2, 3, 0.5, -4)
    case(f"loop_of_{trips}_steps_that_stops", "Loop", [np.array(trips), None, given], [given * (2 if trips else 1)], body=STOPPING)
COLLECTING = body([STEP, FLAG, ("v", np.float32, [4])], [("more", bool, []), ("w", np.float32, [4]), ("row", np.float32, [4])],
                  ("Mul", ["v", "keep"], ["w"], {}), ("Add", ["w", "one"], ["row"], {}), keep=np.float32(0.5), one=np.float32(1))
halves = float32(3, -2, 1, 8) * np.float32(0.5) ** np.arange(1, 201, dtype=np.float32)[:, None]
case("loop_of_200_collected_rows", "Loop", [np.array(200), None, float32(3, -2, 1, 8)], [halves[-1], halves + np.float32(1)], body=COLLECTING)
CARRYING = body([STEP, FLAG, ("v", np.float32, [2, 3])], [("more", bool, []), ("w", np.float32, [2, 3]), ("row", np.float32, [2, 3])],
                ("Add", ["v", "one"], ["w"], {}), ("Identity", ["v"], ["row"], {}), one=np.float32(1))
rows = np.arange(6, dtype=np.float32).reshape(2, 3) + np.arange(1001, dtype=np.float32)[:, None, None]
case("loop_of_1000_collected_states", "Loop", [np.array(1000), None, rows[0]], [rows[-1], rows[:-1]], body=CARRYING)
# Branches that only the run decides: taken when they are long, alone and in one another and in a loop.
WIDE = (RNG.random((6, 256, 256)) / 16 - 1 / 32).astype(np.float32)
LAYERS = [node for i in range(6) for node in (("MatMul", [f"t{i}" if i else "x", f"w{i}"], [f"a{i}"], {}), ("Tanh", [f"a{i}"], [f"t{i + 1}"], {}))]
DEEP = body([], [("t6", np.float32, [1024, 256])], *LAYERS, **{f"w{i}": w for i, w in enumerate(WIDE)})
SHALLOW = body([], [("e", np.float32, [1024, 256])], ("Neg", ["x"], ["e"], {}))


def deep(x):
    for w in WIDE:
        x = np.tanh(x.astype(np.float64) @ w)
    return x


BRANCHING = body([STEP, FLAG, ("x", np.float32, [1024, 256])], [("more", bool, []), ("w", np.float32, [1024, 256])],
                 ("Mod", ["step", "two"], ["odd"], {}), ("Cast", ["odd"], ["is_odd"], {"to": 9}),
                 ("If", ["is_odd"], ["w"], {"then_branch": DEEP, "else_branch": SHALLOW}), two=np.array(2))
x = (RNG.random((1024, 256)) - 0.5).astype(np.float32)
value = -x
for trips in (1, 2, 3):
    case(f"loop_of_{trips}_branches", "Loop", [np.array(trips), None, x], [value.astype(np.float32)], body=BRANCHING)
    value = deep(value) if trips % 2 else -value
# Cheap ones select: the condition is an input on one partition that all others need.
for flag in (True, False):
    for kind in (np.float32, np.int32, np.uint8, bool):
        first, second = np.arange(600).reshape(200, 3).astype(kind), np.arange(600)[::-1].reshape(200, 3).astype(kind)
        case(f"if_{np.dtype(kind).name}_{'first' if flag else 'second'}", "If", [np.array(flag)], [first if flag else second],
             then_branch=body([], [("a", kind, [200, 3])], ("Identity", ["first"], ["a"], {}), first=first),
             else_branch=body([], [("b", kind, [200, 3])], ("Identity", ["second"], ["b"], {}), second=second))
SERIES = (RNG.random((150, 2, 3)) - 0.5).astype(np.float32)
DECAY = body([("s", np.float32, [2, 3]), ("x", np.float32, [2, 3])], [("t", np.float32, [2, 3]), ("y", np.float32, [2, 3])],
             ("Mul", ["s", "keep"], ["k"], {}), ("Add", ["k", "x"], ["t"], {}), ("Tanh", ["t"], ["y"], {}), keep=np.float32(0.9))
for name, backwards in (("forward", 0), ("backward", 1)):
    state, rows = np.zeros((2, 3)), []
    for x in SERIES[::-1] if backwards else SERIES:
        state = state * np.float64(np.float32(0.9)) + x
        rows.append(np.tanh(state))
    rows = np.stack(rows[::-1] if backwards else rows, 1)
    case(f"scan_of_150_steps_{name}", "Scan", [np.zeros((2, 3), np.float32), SERIES], [state.astype(np.float32), rows.astype(np.float32)],
         body=DECAY, num_scan_inputs=1, scan_input_directions=[backwards], scan_output_directions=[backwards], scan_output_axes=[1])


def weights_of(directions, gates, hidden, size):
    """W, R and B of a recurrent layer."""
    shapes = (directions, gates * hidden, size), (directions, gates * hidden, hidden), (directions, 2 * gates * hidden)
    return [(RNG.random(shape) - 0.5).astype(np.float32) for shape in shapes]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, w, r, b):
    """Outputs and last states of one direction."""
    h = c = np.zeros((x.shape[1], r.shape[1]))
    rows = []
    for step in x.astype(np.float64):
        i, o, f, g = np.split(step @ w.T + h @ r.T + b[:len(b) // 2] + b[len(b) // 2:], 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        rows.append(h)
    return np.stack(rows), h, c


W, R, B = weights_of(2, 4, 4, 3)
there, back = lstm(SERIES, W[0], R[0], B[0]), lstm(SERIES[::-1], W[1], R[1], B[1])
case("lstm_of_150_steps", "LSTM", [SERIES, W, R, B],
     [a.astype(np.float32) for a in (np.stack([there[0], back[0][::-1]], 1), np.stack([there[1], back[1]]), np.stack([there[2], back[2]]))],
     hidden_size=4, direction="bidirectional")
W, R, B = weights_of(1, 4, 4, 3)
LONG = (RNG.random((1000, 1, 3)) - 0.5).astype(np.float32)
steps, h, c = lstm(LONG, W[0], R[0], B[0])
case("lstm_of_1000_steps", "LSTM", [LONG, W, R, B], [steps[:, None].astype(np.float32)], hidden_size=4)
case("lstm_of_1000_steps_last_state", "LSTM", [LONG, W, R, B], [None, h[None].astype(np.float32), c[None].astype(np.float32)], hidden_size=4)
W, R, B = weights_of(1, 1, 4, 3)
state = np.zeros((2, 4))
for x in SERIES[::-1].astype(np.float64):
    state = np.tanh(x @ W[0].T + state @ R[0].T + B[0, :4] + B[0, 4:])
case("rnn_of_150_steps_batch_first", "RNN", [SERIES.transpose(1, 0, 2), W, R, B], [None, state[:, None].astype(np.float32)], hidden_size=4,
     direction="reverse", layout=1)


# Tensors of which the run decides how much is valid, past what models do with them.
def chain(name, nodes, inputs, expected, opset=18, **constants):
    """A case of several nodes, from x0, x1, … to y0, y1, …."""
    CASES.append((name, [helper.make_node(op, i, o, **attributes) for op, i, o, attributes in nodes], inputs, expected, opset, constants))


# Numbers with a sign that are read without one, and the other way round, inside of one instruction.
SIGNED_WORDS = np.array([-3, 0, -1505, -128, 255, -603, 32767, -32768], np.int16)
chain("remainder_of_sign_extended", [("Cast", ["x0"], ["a"], {"to": onnx.TensorProto.UINT32}), ("Mod", ["a", "c"], ["y0"], {})], [SIGNED_WORDS],
      [SIGNED_WORDS.astype(np.uint32) % np.uint32(154)], c=np.array([154], np.uint32))
chain("greater_than_sign_extended", [("Cast", ["x0"], ["a"], {"to": onnx.TensorProto.UINT32}), ("Less", ["a", "c"], ["y0"], {})], [SIGNED_WORDS],
      [SIGNED_WORDS.astype(np.uint32) < np.uint32(154)], c=np.array([154], np.uint32))
POSITIVE_WORDS = np.abs(SIGNED_WORDS.astype(np.int32)).clip(0, 300).astype(np.int16)
chain("positive_sign_extended", [("Max", ["x0", "c"], ["a"], {}), ("Cast", ["a"], ["b"], {"to": onnx.TensorProto.UINT64}),
                                 ("ReduceSumSquare", ["b", "axes"], ["y0"], {"keepdims": 0})],
      [POSITIVE_WORDS.reshape(2, 4)], [np.sum(POSITIVE_WORDS.reshape(2, 4).astype(np.uint64) ** 2, 1)], c=np.array(0, np.int16), axes=np.array([1]))
chain("signed_remainder_of_unsigned", [("Equal", ["x0", "x1"], ["a"], {}), ("Cast", ["a"], ["b"], {"to": onnx.TensorProto.UINT64}),
                                       ("Cast", ["b"], ["d"], {"to": onnx.TensorProto.INT64}), ("Mod", ["d", "c"], ["y0"], {})],
      [SIGNED_WORDS, np.flip(SIGNED_WORDS).copy()], [np.zeros(8, np.int64)], c=np.array([3], np.int64))
# Integers of 64 bits that 32 do not have.
WIDE_INTEGERS = np.array([2 ** 31, -2 ** 31 - 1, 2 ** 32, 2 ** 53 + 1, 2 ** 63 - 1, -2 ** 63, -1, 7], np.int64)
chain("wide_sums_and_products", [("Add", ["x0", "c"], ["y0"], {}), ("Mul", ["x0", "x0"], ["y1"], {}), ("Cast", ["x0"], ["y2"], {"to": onnx.TensorProto.FLOAT}),
                                 ("Cast", ["x0"], ["y3"], {"to": onnx.TensorProto.UINT64}), ("Cast", ["x0"], ["y4"], {"to": onnx.TensorProto.INT32}),
                                 ("Cast", ["x0"], ["y5"], {"to": onnx.TensorProto.BOOL})],
      [WIDE_INTEGERS], [WIDE_INTEGERS + np.int64(1), WIDE_INTEGERS * WIDE_INTEGERS, WIDE_INTEGERS.astype(np.float32), WIDE_INTEGERS.astype(np.uint64),
                        WIDE_INTEGERS.astype(np.int32), WIDE_INTEGERS != 0], c=np.array([1], np.int64))
# An index that is computed with 64 bits, and one that the model gives.
chain("wide_index", [("Div", ["x0", "c"], ["i"], {}), ("Gather", ["x1", "i"], ["y0"], {"axis": 0}), ("Gather", ["x1", "x2"], ["y1"], {"axis": 0})],
      [np.array([2 ** 40, 0, 3 * 2 ** 40, -2 ** 40]), np.arange(20, dtype=np.float32).reshape(4, 5), np.array([-1, 2])],
      [np.arange(20, dtype=np.float32).reshape(4, 5)[[1, 0, 3, -1]], np.arange(20, dtype=np.float32).reshape(4, 5)[[-1, 2]]],
      c=np.array([2 ** 40], np.int64))


# A resize that keeps the aspect ratio has one factor, with which it goes on where a rounded size has another.
def kept_ratio(x, sizes, policy, mode):
    """The last two dimensions resized by the smallest or largest factor, half pixel."""
    factor = (min if policy == "not_larger" else max)(size / n for size, n in zip(sizes, x.shape[-2:]))
    y = x.astype(np.float64)
    for axis in (2, 3):
        n = x.shape[axis]
        at = (np.arange(math.floor(factor * n + 0.5)) + 0.5) / factor - 0.5
        if mode == "nearest":
            y = np.take(y, np.clip(np.ceil(at - 0.5).astype(int), 0, n - 1), axis)
            continue
        low = np.floor(at).astype(int)
        part = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        y = (1 - part) * np.take(y, np.clip(low, 0, n - 1), axis) + part * np.take(y, np.clip(low + 1, 0, n - 1), axis)
    return y.astype(x.dtype)


RECTANGLE = np.random.default_rng(9).standard_normal((1, 2, 4, 5)).astype(np.float32)
for sizes in ((9, 7), (3, 10), (6, 11)):
    for policy in ("not_larger", "not_smaller"):
        for mode in ("linear", "nearest"):
            CASES.append((f"resize_{policy}_{sizes[0]}x{sizes[1]}_{mode}",
                          [helper.make_node("Resize", ["x0", "", "", "sizes"], ["y0"], mode=mode, axes=[2, 3],
                                            keep_aspect_ratio_policy=policy)],
                          [RECTANGLE], [kept_ratio(RECTANGLE, sizes, policy, mode)], 19, {"sizes": np.array(sizes)}))
FLOAT, FLOAT16, BFLOAT16 = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16
INT64 = onnx.TensorProto.INT64


# Each node rounds by itself, in the order of the graph: what comes close to a whole number, a difference of close numbers or
# the ends of the range shows it.
def steps(name, dtype, x, *operations, narrow=False):
    """A chain of operations with one constant (or none) each, computed in the type itself."""
    x = value = np.array(x, dtype)
    nodes, constants = [], {}
    functions = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Floor": np.floor, "Round": np.rint,
                 "Pow": np.power, "Reciprocal": np.reciprocal}
    for i, (operator, *constant) in enumerate(operations):
        operands = [np.array(c, dtype) for c in constant]
        with np.errstate(all="ignore"):
            value = functions[operator](value, *operands).astype(dtype)
        nodes.append((operator, [f"t{i}" if i else "x0"] + [f"c{i}"] * len(operands),
                      ["y0" if i + 1 == len(operations) else f"t{i + 1}"], {}))
        constants.update({f"c{i}": c for c in operands})
    chain(name, nodes, [x], [value], **constants)


WHOLE = np.arange(-300, 2048)
BORDERS = (np.arange(-128, 128)[:, None] + [0, 0.5]).ravel()
for divisor in (41, 49, 3, 0.1):
    steps(f"floor_of_quotient_{divisor}", np.float32, WHOLE, ("Div", divisor), ("Floor",))
    steps(f"floor_of_float64_quotient_{divisor}", np.float64, WHOLE, ("Div", divisor), ("Floor",))
for scale in (0.003, 0.05, 1 / 3, 0.7):
    steps(f"round_of_quotient_{scale:.3f}", np.float32, BORDERS * np.float32(scale), ("Div", scale), ("Round",))
steps("quotient_of_itself", np.float32, [41, 47, 55, 61, 82], ("Div", [41, 47, 55, 61, 82]), ("Floor",))
# The quotient in twice as many digits, and then rounded to whole numbers, is exact: all digits of the quotient are compared.
steps("quotient_float16_by_3", np.float16, np.arange(2048), ("Div", 3), ("Mul", 1024), ("Floor",))
steps("quotient_by_power_of_two", np.float32, [3e-38, 1.5e-45, 3e38, -7, math.inf, math.nan], ("Div", -0.25))
chain("bucket_of_integer", [("Cast", ["x0"], ["f"], {"to": FLOAT}), ("Div", ["f", "c"], ["q"], {}), ("Cast", ["q"], ["y0"], {"to": INT64})],
      [WHOLE], [np.trunc(WHOLE.astype(np.float32) / np.float32(41)).astype(np.int64)], c=np.float32(41))
MAGIC = 12582912  # 1.5 · 2^23: its sum with a small number is a whole one
steps("rounded_by_addition", np.float32, [0.3, 1.7, -2.6, 100.5], ("Add", MAGIC), ("Add", -MAGIC))
steps("rounded_by_subtraction", np.float32, [0.3, 1.7, -2.6, 100.5], ("Add", MAGIC), ("Sub", MAGIC))
steps("difference_scaled", np.float32, [1000001, 1000002.5, 999999.5], ("Add", -1e6), ("Mul", 0.1))
steps("difference_divided", np.float32, [1.7e9, 1.7e9 + 256, 1.7e9 + 86400], ("Sub", 1.7e9), ("Div", 86400))
steps("difference_scaled_up", np.float32, [3e38, 3.01e38], ("Add", -3e38), ("Mul", 10))
steps("factors_beyond_range", np.float32, [1e-30, 0, 1e-35, -1e-31], ("Mul", 1e30), ("Mul", 1e30))
steps("factors_below_range", np.float32, [1e30, 3e38, math.inf], ("Mul", 1e-25), ("Mul", 1e-25))
steps("factors_beyond_float16", np.float16, [0, 1e-3, 0.5, 6e-3], ("Mul", 300), ("Mul", 300))
# The root of -inf is none, and that of -0 is -0; NumPy takes roots here, and C's pow does not.
for dtype in (np.float32, np.float64):
    chain(f"power_half_{np.dtype(dtype)}", [("Pow", ["x0", "half"], ["y0"], {}), ("Reciprocal", ["y0"], ["y1"], {})],
          [np.array([-math.inf, -0.0, 0, 4, math.inf, -1], dtype)],
          [np.array([math.inf, 0, 0, 2, math.inf, math.nan], dtype), np.array([0, math.inf, math.inf, 0.5, 0, math.nan], dtype)],
          half=dtype(0.5))
steps("power_3_float16", np.float16, [1e-3, 0.02, 4, 33, 7.7, -40], ("Pow", 3))


def behind(name, dtype, product, x, weight, bias, *operations):
    """Sums and products by channel behind a Conv, Gemm or MatMul with one weight."""
    spread = (1, 1, 1, -1) if product == "Conv" else (-1, 1)
    x, weight, bias = np.array(x, dtype).reshape(spread), np.array(weight, dtype), bias if bias is None else np.array(bias, dtype)
    value = (x * weight).astype(dtype)
    if bias is not None:
        value = (value + bias).astype(dtype)
    nodes = [(product, ["x0", "w"] + ["b"] * (bias is not None), ["t0"], {})]
    constants = {"w": weight.reshape((1,) * len(spread)), **({} if bias is None else {"b": bias.reshape(1)})}
    for i, (operator, constant) in enumerate(operations):
        constants[f"c{i}"] = np.array(constant, dtype).reshape((1,) * (len(spread) - 1))
        with np.errstate(all="ignore"):
            value = (value * constants[f"c{i}"] if operator == "Mul" else value + constants[f"c{i}"]).astype(dtype)
        nodes.append((operator, [f"t{i}", f"c{i}"], ["y0" if i + 1 == len(operations) else f"t{i + 1}"], {}))
    chain(name, nodes, [x], [value], **constants)


for product in ("Conv", "Gemm"):
    behind(f"rounded_behind_{product}", np.float32, product, [0.3, 1.7], 1, MAGIC, ("Add", -MAGIC))
    behind(f"difference_behind_{product}", np.float32, product, [1000001, 1000002.5], 1, -1e6, ("Mul", 0.1))
    behind(f"scales_beyond_range_behind_{product}", np.float32, product, [1e-30, 2e-30, 0, 1e-35], 1e25, None, ("Mul", 1e25))
    behind(f"scales_beyond_float16_behind_{product}", np.float16, product, [1e-3, 2e-3, 0, 1e-2], 300, None, ("Mul", 300))
    behind(f"scales_below_float16_behind_{product}", np.float16, product, [1e4, 2e4, 100, 6e4], 1e-4, None, ("Mul", 1e-4))
behind("difference_behind_MatMul", np.float32, "MatMul", [1000001, 1000002.5], 1, None, ("Add", -1e6), ("Mul", 0.1))


def normalized(name, dtype, x, weight, scale, mean, variance):
    """BatchNormalization behind a convolution of one channel."""
    x = np.array(x, dtype).reshape(1, 1, 1, -1)
    product = (x * dtype(weight)).astype(np.float64)
    expected = (product - mean) * scale / np.sqrt(np.float64(variance) + np.float32(1e-5)) + 0.5
    chain(name, [("Conv", ["x0", "w"], ["t"], {}), ("BatchNormalization", ["t", "s", "b", "m", "v"], ["y0"], {})], [x],
          [expected.astype(dtype)], w=np.array([[[[weight]]]], dtype),
          **{key: np.array([number], dtype) for key, number in zip("sbmv", (scale, 0.5, mean, variance))})


normalized("normalized_float16", np.float16, [0.01, 0.02], 100, 3, 0, 0)
normalized("normalized_beyond_range", np.float32, [1e-30, -2e-31], 1e30, 1e10, 0, 0)
normalized("normalized_below_range", np.float32, [1e30, -2e31], 1e-30, 1e-10, 1, 4)
normalized("normalized_by_zero", np.float32, [1, -2], 3, 0, 1, 4)

# An infinity reaches the results that it is part of, whatever taps the phases of a transposed convolution lack.
INFINITE_ROW = float32(1, 2, math.inf, 4, 5)
TAPS = float32(1, 2, 3, 4, 5)
for width, stride, dilation in ((3, 2, 1), (5, 3, 1), (2, 3, 1), (3, 1, 2), (4, 2, 1)):
    reached = np.zeros((width - 1) * dilation + 1 + 4 * stride, np.float32)
    for i, number in enumerate(INFINITE_ROW):
        for tap in range(width):
            reached[i * stride + tap * dilation] += number * TAPS[tap]
    case(f"convtranspose_infinity_{width}_{stride}_{dilation}", "ConvTranspose", [INFINITE_ROW[None, None], TAPS[None, None, :width]],
         [reached[None, None]], strides=[stride], dilations=[dilation])
# The mean of equal whole numbers is that number, and is so in a half float whose range the sum leaves.
NUMBERS = np.arange(1, 200, dtype=np.float32)
chain("floor_of_mean", [("ReduceMean", ["x0"], ["m"], {"axes": [1], "keepdims": 0}), ("Floor", ["m"], ["y0"], {})],
      [np.repeat(NUMBERS[:, None], 41, 1)], [NUMBERS], opset=13)
chain("floor_of_average", [("AveragePool", ["x0"], ["m"], {"kernel_shape": [7, 7], "strides": [7, 7]}), ("Floor", ["m"], ["y0"], {})],
      [np.tile(NUMBERS[None, :, None, None], (1, 1, 7, 7))], [NUMBERS[None, :, None, None]])
chain("floor_of_padded_average", [("AveragePool", ["x0"], ["m"], {"kernel_shape": [3], "pads": [1, 1]}), ("Floor", ["m"], ["y0"], {})],
      [np.tile(NUMBERS[None, :, None], (1, 1, 7))], [np.tile(NUMBERS[None, :, None], (1, 1, 7))])
chain("floor_of_global_average", [("GlobalAveragePool", ["x0"], ["m"], {}), ("Floor", ["m"], ["y0"], {})],
      [np.tile(NUMBERS[None, :, None, None], (1, 1, 7, 7))], [NUMBERS[None, :, None, None]])
# Rows of one number leave nothing where their mean is taken out, however small what is added to the deviation.
case("layer_normalization_of_one_number", "LayerNormalization",
     [np.repeat(NUMBERS[:, None], 41, 1), np.ones(41, np.float32), np.full(41, 0.25, np.float32)], [np.full((199, 41), 0.25, np.float32)],
     opset=17, epsilon=1e-12)
HALVES = np.array([[30000, 20000, 10000, 40000], [300, 400, 0, 0], [3e-5, 4e-5, 0, 0]], np.float16)
WIDE_HALVES = HALVES.astype(np.float64)
case("mean_float16_range", "ReduceMean", [HALVES], [WIDE_HALVES.mean(1).astype(np.float16)], opset=13, axes=[1], keepdims=0)
case("norm_float16_range", "ReduceL2", [HALVES], [np.sqrt(np.square(WIDE_HALVES).sum(1)).astype(np.float16)], opset=13, axes=[1], keepdims=0)
case("log_sum_float16_range", "ReduceLogSum", [HALVES], [np.log(WIDE_HALVES.sum(1)).astype(np.float16)], opset=13, axes=[1], keepdims=0)
case("normalized_to_unit_float16_range", "LpNormalization", [HALVES],
     [(WIDE_HALVES / np.sqrt(np.square(WIDE_HALVES).sum(1, keepdims=True))).astype(np.float16)], axis=1)
PICTURES = HALVES[:2, :, None].repeat(4, 2)[None]
case("average_float16_range", "AveragePool", [PICTURES], [PICTURES.astype(np.float64).reshape(1, 2, 2, 2, 2, 2).mean((3, 5)).astype(np.float16)],
     kernel_shape=[2, 2], strides=[2, 2])
case("global_average_float16_range", "GlobalAveragePool", [PICTURES], [PICTURES.astype(np.float64).mean((2, 3), keepdims=True).astype(np.float16)])

# Narrow floats round what passes through them: at the ends of their range, where nothing else gives these values.
LARGE = float32(100.9, -0.3, 65519, 65520, -70000, 1e30, 1 + 2.0 ** -8, 3 + 3 * 2.0 ** -7)
TINY = float32(1e-9, 3 + 3 * 2.0 ** -7)[None]


def through(x, narrow):
    with np.errstate(over="ignore"):
        return x.astype(narrow).astype(np.float32)


for kind, code, narrow in (("float16", FLOAT16, np.float16), ("bfloat16", BFLOAT16, ml_dtypes.bfloat16)):
    BACK = [("Cast", ["q"], ["y0"], {"to": FLOAT})]
    chain(f"rounded_to_{kind}", [("Cast", ["x0"], ["q"], {"to": code})] + BACK, [LARGE], [through(LARGE, narrow)])
    chain(f"rounded_between_to_{kind}", [("Abs", ["x0"], ["a"], {}), ("Cast", ["a"], ["b"], {"to": code}), ("Identity", ["b"], ["c"], {}),
                                         ("Reshape", ["c", "shape"], ["q"], {})] + BACK, [LARGE], [through(np.abs(LARGE), narrow).reshape(2, 4)],
          shape=np.array([2, 4]))
    chain(f"product_rounded_to_{kind}", [("MatMul", ["x0", "w"], ["p"], {}), ("Cast", ["p"], ["q"], {"to": code})] + BACK, [LARGE.reshape(4, 2)],
          [through(LARGE.reshape(4, 2), narrow)], w=np.eye(2, dtype=np.float32))
    chain(f"product_of_rounded_to_{kind}", [("Cast", ["x0"], ["q"], {"to": code}), ("Cast", ["q"], ["r"], {"to": FLOAT}), ("MatMul", ["r", "w"], ["y0"], {})],
          [TINY], [through(TINY, narrow) * float32(1e9, 1)], w=np.diag(float32(1e9, 1)))
    SIZES = np.array([[300, 3, 255], [7, 1000, 257]], np.float32).astype(narrow)
    with np.errstate(over="ignore"):
        SQUARES = SIZES * SIZES
    chain(f"{kind}_square", [("Mul", ["x0", "x0"], ["q"], {})] + BACK, [SIZES], [SQUARES.astype(np.float32)])
    chain(f"{kind}_square_and_root", [("Mul", ["x0", "x0"], ["p"], {}), ("Sqrt", ["p"], ["q"], {})] + BACK, [SIZES],
          [np.sqrt(SQUARES).astype(np.float32)])
    FACTOR, SHIFT = np.array(300, narrow), np.array(-50000 if kind == "float16" else -2080, narrow)
    with np.errstate(over="ignore"):
        MOVED = SIZES * FACTOR + SHIFT
    chain(f"{kind}_times_and_plus", [("Mul", ["x0", "k"], ["p"], {}), ("Add", ["p", "b"], ["q"], {})] + BACK, [SIZES], [MOVED.astype(np.float32)],
          k=FACTOR, b=SHIFT)
    COUNTS = np.array([100001, -65536, 7, 257], np.int32)
    chain(f"integers_rounded_to_{kind}", [("Cast", ["x0"], ["q"], {"to": code})] + BACK, [COUNTS], [through(COUNTS, narrow)])

# Unsigned words in more results than there are partitions.
COLUMN_OF, LATER = np.array([[2], [0], [5]]), np.array([[3], [2], [1]])
for name, dtype in (("uint32", np.uint32), ("uint64", np.uint64), ("int32", np.int32)):
    MANY = np.concatenate([np.tile(COLUMN_OF, 65), np.tile(LATER, 64)], 1).astype(dtype)
    for operator, function in (("ArgMin", np.argmin), ("ArgMax", np.argmax)):
        case(f"{operator.lower()}_{name}_of_129", operator, [MANY], [function(MANY, 0, keepdims=True)], opset=18, axis=0)
        case(f"{operator.lower()}_{name}_of_129_rows", operator, [np.ascontiguousarray(MANY.T)], [function(MANY.T, 1, keepdims=True)], opset=18, axis=1)

# A product of one column, of which each element is its own extreme.
THIN, WEIGHT = RNG.standard_normal((2, 128)).astype(np.float32), RNG.standard_normal((2, 1)).astype(np.float32)
TURNED = [("Transpose", ["x0"], ["t"], {"perm": [1, 0]}), ("MatMul", ["t", "w"], ["h"], {}), ("Transpose", ["h"], ["u"], {"perm": [1, 0]})]
chain("one_column_less_its_maximum", TURNED + [("ReduceMax", ["u"], ["m"], {"axes": [0]}), ("Sub", ["u", "m"], ["y0"], {})], [THIN], [np.zeros((1, 128), np.float32)],
      opset=17, w=WEIGHT)
chain("one_column_softmax", TURNED + [("Softmax", ["u"], ["y0"], {"axis": 0})], [THIN], [np.ones((1, 128), np.float32)], w=WEIGHT)

SPARSE = RNG.standard_normal((4, 6)).astype(np.float32)
SPARSE[SPARSE < 0.3] = 0
FOUND, PICKED = np.argwhere(SPARSE), SPARSE[SPARSE != 0]
AT = [("NonZero", ["x0"], ["z"], {}), ("Transpose", ["z"], ["at"], {"perm": [1, 0]})]
PICK = AT + [("GatherND", ["x0", "at"], ["g"], {})]
chain("counted_gather_nd", AT + [("GatherND", ["x0", "at"], ["y0"], {})], [SPARSE], [PICKED])
for kind, value in (("Sum", PICKED.sum()), ("Mean", PICKED.mean()), ("Max", PICKED.max()), ("Min", PICKED.min()),
                    ("Prod", PICKED.prod()), ("L2", np.sqrt((PICKED ** 2).sum())), ("LogSumExp", np.log(np.exp(PICKED).sum()))):
    chain(f"counted_reduce_{kind.lower()}", PICK + [(f"Reduce{kind}", ["g"], ["y0"], {"keepdims": 0})], [SPARSE],
          [np.array(value, np.float32)], opset=13)
chain("counted_sizes", AT + [("Shape", ["at"], ["y0"], {}), ("Size", ["at"], ["y1"], {}), ("Gather", ["y0", "first"], ["n"], {}),
                             ("Cast", ["n"], ["f"], {"to": 1}), ("Div", ["one", "f"], ["y2"], {})], [SPARSE],
      [np.array(FOUND.shape), np.array(FOUND.size), np.array(1 / len(FOUND), np.float32)], first=np.array(0), one=np.float32(1))
chain("counted_constant_of_shape", PICK + [("Shape", ["at"], ["s"], {}), ("Slice", ["s", "zero", "one"], ["n"], {}),
                                           ("ConstantOfShape", ["n"], ["c"], {"value": numpy_helper.from_array(float32(2.5))}),
                                           ("Add", ["c", "g"], ["y0"], {})], [SPARSE], [PICKED + np.float32(2.5)],
      zero=np.array([0]), one=np.array([1]))
chain("counted_range", AT + [("Shape", ["at"], ["s"], {}), ("Gather", ["s", "zero"], ["n"], {}), ("Range", ["zero", "n", "one"], ["r"], {}),
                             ("Unsqueeze", ["r", "ones"], ["u"], {}), ("Concat", ["at", "u"], ["y0"], {"axis": 1})], [SPARSE],
      [np.concatenate([FOUND, np.arange(len(FOUND))[:, None]], 1)], zero=np.array(0), one=np.array(1), ones=np.array([1]))
for name, cut in (("front", slice(0, 2)), ("back", slice(-3, None)), ("but_the_last", slice(0, -1)), ("reversed", slice(None, None, -1)),
                  ("every_second", slice(1, -1, 2)), ("beyond", slice(2, 100)), ("last", slice(-1, None)), ("none", slice(5, 2))):
    far = 2 ** 31 - 1
    step = cut.step or 1
    start, end = (cut.start if cut.start is not None else -1), (cut.stop if cut.stop is not None else far * (1 if step > 0 else -1))
    chain(f"counted_slice_{name}", AT + [("Slice", ["at", "start", "end", "axis", "step"], ["y0"], {})], [SPARSE], [FOUND[cut]],
          start=np.array([start]), end=np.array([end]), axis=np.array([0]), step=np.array([step]))
chain("counted_reshape", AT + [("Reshape", ["at", "all"], ["y0"], {}), ("Reshape", ["y0", "pairs"], ["y1"], {})], [SPARSE],
      [FOUND.reshape(-1), FOUND], all=np.array([-1]), pairs=np.array([-1, 2]))
chain("counted_concat", PICK + [("Concat", ["g", "k", "g"], ["y0"], {"axis": 0})], [SPARSE],
      [np.concatenate([PICKED, float32(9, 8), PICKED])], k=float32(9, 8))
chain("counted_pad", PICK + [("Pad", ["g", "pads", "fill"], ["y0"], {})], [SPARSE],
      [np.pad(PICKED, (2, 1), constant_values=7)], pads=np.array([2, 1]), fill=np.float32(7))
TABLE, CHOSEN = RNG.standard_normal((24, 5)).astype(np.float32), RNG.random(24) < 0.4
KEPT, FACTORS = TABLE[CHOSEN], RNG.standard_normal((5, 3)).astype(np.float32)
KEEP = [("Compress", ["x0", "x1"], ["c"], {"axis": 0})]


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


for axis in (0, 1):
    chain(f"counted_softmax_{axis}", KEEP + [("MatMul", ["c", "w"], ["m"], {}), ("Softmax", ["m"], ["y0"], {"axis": axis})],
          [TABLE, CHOSEN], [softmax(KEPT @ FACTORS, axis)], w=FACTORS)
chain("counted_covariance", KEEP + [("ReduceMean", ["c"], ["m"], {"axes": [0]}), ("Sub", ["c", "m"], ["d"], {}),
                                    ("Transpose", ["d"], ["t"], {"perm": [1, 0]}), ("MatMul", ["t", "d"], ["y0"], {})],
      [TABLE, CHOSEN], [(KEPT - KEPT.mean(0)).T @ (KEPT - KEPT.mean(0))], opset=17)
chain("counted_gemm", KEEP + [("Gemm", ["c", "w", "b"], ["y0"], {})], [TABLE, CHOSEN], [KEPT @ FACTORS + float32(1, 2, 3)],
      w=FACTORS, b=float32(1, 2, 3))
ORDER = np.argsort(-KEPT.sum(1), kind="stable")
chain("counted_top_k", KEEP + [("ReduceSum", ["c", "axis"], ["s"], {"keepdims": 0}), ("Shape", ["s"], ["n"], {}), ("Min", ["n", "four"], ["k"], {}),
                               ("TopK", ["s", "k"], ["v", "i"], {}), ("Gather", ["c", "i"], ["y0"], {}), ("ArgMax", ["s"], ["y1"], {})],
      [TABLE, CHOSEN], [KEPT[ORDER[:4]], ORDER[:1]], axis=np.array([1]), four=np.array([4]))
for reduction in ("none", "add"):
    after = TABLE.copy()
    after[CHOSEN] = -KEPT + (KEPT if reduction == "add" else 0)
    chain(f"counted_scatter_nd_{reduction}", KEEP + [("NonZero", ["x1"], ["z"], {}), ("Transpose", ["z"], ["t"], {"perm": [1, 0]}), ("Neg", ["c"], ["n"], {}),
                                                     ("ScatterND", ["x0", "t", "n"], ["y0"], {"reduction": reduction})], [TABLE, CHOSEN], [after])
chain("counted_from_the_end", KEEP + [("Gather", ["c", "i"], ["y0"], {})], [TABLE, CHOSEN], [KEPT[[-1, 0, -2]]], i=np.array([-1, 0, -2]))
chain("counted_none", KEEP + [("ReduceSum", ["c"], ["y0"], {"keepdims": 0}), ("Relu", ["c"], ["y1"], {})], [TABLE, np.zeros(24, bool)],
      [np.float32(0), np.zeros((0, 5), np.float32)])
# What reads a counted result at once, before anything else does.
SOME = [("Compress", ["x0", "x1"], ["c"], {})]
KEPT_ONES = TABLE.ravel()[RNG.random(TABLE.size) < 0.4]
PICKS = np.isin(TABLE.ravel(), KEPT_ONES)
KEPT_ONES = TABLE.ravel()[PICKS]
chain("counted_size_at_once", SOME + [("Size", ["c"], ["y0"], {}), ("Shape", ["c"], ["y1"], {})], [TABLE, PICKS],
      [np.int64(KEPT_ONES.size), np.array([KEPT_ONES.size])])
chain("counted_last_three", SOME + [("Slice", ["c", "from", "to"], ["y0"], {})], [TABLE, PICKS], [KEPT_ONES[-3:]],
      **{"from": np.array([-3]), "to": np.array([99999])})
for name, mask in (("some", PICKS), ("none", np.zeros_like(PICKS))):
    chain(f"counted_backwards_{name}", SOME + [("Slice", ["c", "from", "to", "axis", "step"], ["y0"], {})], [TABLE, mask],
          [TABLE.ravel()[mask][::-2]], **{"from": np.array([-1]), "to": np.array([-9999]), "axis": np.array([0]), "step": np.array([-2])})
PLACES = np.nonzero(PICKS)[0]
chain("counted_extremes_of_integers",
      [("NonZero", ["x0"], ["z"], {}), ("Squeeze", ["z", "axis"], ["p"], {}), ("ReduceMax", ["p", "axis"], ["y0"], {"keepdims": 0}),
       ("ReduceMin", ["p", "axis"], ["y1"], {"keepdims": 0}), ("ArgMax", ["p"], ["y2"], {"keepdims": 0}), ("TopK", ["p", "two"], ["y3", ""], {})],
      [PICKS], [PLACES.max(), PLACES.min(), np.int64(PLACES.size - 1), PLACES[::-1][:2]], axis=np.array([0]), two=np.array([2]))
# A reshape whose open size the run decides; eight rows of four numbers at most, and four of them.
EIGHT, FOUR = np.arange(32, dtype=np.float32).reshape(8, 4), np.arange(8) % 2 == 1
ROWS_OF = [("Compress", ["x0", "x1"], ["c"], {"axis": 0})]
for name, shape in (("open_first", [-1, 2]), ("copy", [0, 2, 2])):
    chain(f"counted_reshape_{name}", ROWS_OF + [("Reshape", ["c", "shape"], ["y0"], {})], [EIGHT, FOUR],
          [EIGHT[FOUR].reshape([4 if size == 0 else size for size in shape])], shape=np.array(shape))
chain("counted_reshape_count_first",
      ROWS_OF + [("Shape", ["c"], ["s"], {}), ("Slice", ["s", "zero", "one"], ["n"], {}), ("Concat", ["n", "open"], ["shape"], {"axis": 0}),
                 ("Reshape", ["c", "shape"], ["y0"], {})], [EIGHT, FOUR], [EIGHT[FOUR]], open=np.array([-1]), zero=np.array([0]), one=np.array([1]))
chain("counted_gather_nd_from_the_end", ROWS_OF + [("GatherND", ["c", "at"], ["y0"], {})], [EIGHT, FOUR],
      [EIGHT[FOUR][[-1, 0, -4], [-2, -1, 1]]], at=np.array([[-1, -2], [0, -1], [-4, 1]]))
CUBES = RNG.standard_normal((8, 4, 3)).astype(np.float32)
chain("counted_batch_by_vector", ROWS_OF + [("MatMul", ["c", "v"], ["y0"], {}), ("MatMul", ["w", "c"], ["y1"], {})], [CUBES, FOUR],
      [CUBES[FOUR] @ np.float32([1, -2, 3]), np.float32([1, 2, 3, 4]) @ CUBES[FOUR]], v=np.float32([1, -2, 3]), w=np.float32([1, 2, 3, 4]))
chain("counted_of_nothing", KEEP + [("Relu", ["c"], ["y0"], {})], [np.zeros((24, 0), np.float32), CHOSEN], [np.zeros((CHOSEN.sum(), 0), np.float32)])
chain("unique_of_nothing", [("Unique", ["x0"], ["y0", "y1", "y2", "y3"], {"axis": 0})], [np.zeros((4, 0), np.float32)],
      [np.zeros((1, 0), np.float32), np.array([0]), np.zeros(4, np.int64), np.array([4])])
SPOTS = np.concatenate([RNG.random((1, 30, 2)), RNG.random((1, 30, 2)) / 4 + 1], -1).astype(np.float32)
SPOTS[0, :, 2:] = SPOTS[0, :, :2] + np.float32(0.01)  # nothing overlaps much
RATED = RNG.random((1, 1, 30)).astype(np.float32)
BEST = [i for i in np.argsort(-RATED[0, 0], kind="stable") if RATED[0, 0, i] > 0.5]
chain("counted_boxes", [("NonMaxSuppression", ["x0", "x1", "most", "iou", "least"], ["sel"], {}), ("Gather", ["sel", "two"], ["col"], {"axis": 1}),
                        ("Slice", ["col", "zero", "five", "zero"], ["few"], {}), ("Squeeze", ["few", "one"], ["few1"], {}),
                        ("Squeeze", ["x0", "zero"], ["all"], {}), ("Gather", ["all", "few1"], ["y0"], {}), ("GatherND", ["x1", "sel"], ["y1"], {})],
      [SPOTS, RATED], [SPOTS[0, BEST[:5]], RATED[0, 0, BEST]], most=np.array([30]), iou=np.float32([0.9]), least=np.float32([0.5]),
      two=np.array([2]), zero=np.array([0]), five=np.array([5]), one=np.array([1]))

# Results to which the run decides how many steps add.
STEEP = float32(3, -2, 1, 8)
for trips in (0, 1, 7, 10):
    rows = STEEP * np.float32(0.5) ** np.arange(1, trips + 1, dtype=np.float32)[:, None]
    chain(f"loop_of_at_most_10_collects_{trips}", [("Min", ["x0", "ten"], ["n"], {}), ("Loop", ["n", "", "x1"], ["y0", "y1"], {"body": COLLECTING})],
          [np.array(trips), STEEP], [rows[-1] if trips else STEEP, rows + np.float32(1)], ten=np.array(10))
ENDING = body([STEP, FLAG, ("v", np.float32, [4])], [("again", bool, []), ("w", np.float32, [4]), ("row", np.float32, [4])],
              ("Mul", ["v", "keep"], ["w"], {}), ("Add", ["w", "one"], ["row"], {}), ("ReduceMax", ["w"], ["top"], {"keepdims": 0}),
              ("Greater", ["top", "limit"], ["again"], {}), keep=np.float32(0.5), one=np.float32(1), limit=np.float32(0.3))
for most in (3, 40):
    done = min(most, 5)  # 8 / 2^5 is the first that is not above the limit
    rows = STEEP * np.float32(0.5) ** np.arange(1, done + 1, dtype=np.float32)[:, None]
    for go in (True, False):
        chain(f"loop_of_at_most_{most}_steps_ends_{'early' if go else 'before'}", [("Loop", ["most", "x0", "x1"], ["y0", "y1"], {"body": ENDING})],
              [np.array(go), STEEP], [rows[-1] if go else STEEP, rows + np.float32(1) if go else rows[:0]], most=np.array(most))
chain("loop_collected_and_summed", [("Loop", ["most", "", "x0"], ["w", "rows"], {"body": ENDING}), ("ReduceSum", ["rows", "axis"], ["y0"], {"keepdims": 0}),
                                    ("Shape", ["rows"], ["y1"], {})], [STEEP],
      [(STEEP * np.float32(0.5) ** np.arange(1, 6, dtype=np.float32)[:, None] + np.float32(1)).sum(0), np.array([5, 4])], most=np.array(40), axis=np.array([0]))
chain("loop_of_no_step_collects_nothing", [("Loop", ["none", "", "x0"], ["y0", "y1"], {"body": COLLECTING})], [STEEP], [STEEP, np.zeros((0, 4), np.float32)],
      none=np.array(0))
case("scan_of_nothing", "Scan", [np.ones((2, 3), np.float32), np.zeros((0, 2, 3), np.float32)], [np.ones((2, 3), np.float32), np.zeros((2, 0, 3), np.float32)],
     body=DECAY, num_scan_inputs=1, scan_output_axes=[1])

# Branches of other sizes.
FRONT = body([], [("f", np.float32, None)], ("Slice", ["x1", "zero", "two", "zero"], ["f"], {}), zero=np.array([0]), two=np.array([2]))
ROWS_OF = body([], [("p", np.float32, None)], ("Compress", ["x1", "which"], ["p"], {"axis": 0}), which=np.array([True, False, True, True]))
COLUMNS = (RNG.random((4, 3)) - 0.5).astype(np.float32)
for flag in (True, False):
    chain(f"branches_of_other_sizes_{flag}".lower(), [("If", ["x0"], ["r"], {"then_branch": FRONT, "else_branch": ROWS_OF}), ("Relu", ["r"], ["y0"], {}),
                                                      ("ReduceSum", ["r"], ["y1"], {"keepdims": 0})], [np.array(flag), COLUMNS],
          [np.maximum(COLUMNS[:2] if flag else COLUMNS[[0, 2, 3]], 0), (COLUMNS[:2] if flag else COLUMNS[[0, 2, 3]]).sum()])

# Long sequences of other lengths, forward and back.
LENGTHS = np.array([150, 90], np.int32)
W, R, B = weights_of(2, 4, 4, 3)
y, h, c = np.zeros((150, 2, 2, 4)), np.zeros((2, 2, 4)), np.zeros((2, 2, 4))
for sample, length in enumerate(LENGTHS):
    for direction, order in enumerate((slice(None), slice(None, None, -1))):
        steps, state, cell = lstm(SERIES[:length, sample:sample + 1][order], W[direction], R[direction], B[direction])
        y[:length, direction, sample], h[direction, sample], c[direction, sample] = steps[order][:, 0], state[0], cell[0]
case("lstm_of_150_steps_of_other_lengths", "LSTM", [SERIES, W, R, B, LENGTHS], [v.astype(np.float32) for v in (y, h, c)], hidden_size=4, direction="bidirectional")

# Rows that are not a multiple of any number of partitions: results of several steps, of which the last rows stand apart.
UNEVEN = RNG.standard_normal((513, 128)).astype(np.float32)
SMALLEST = np.argsort(UNEVEN, axis=1, kind="stable")[:, :26]
case("topk_uneven_rows", "TopK", [UNEVEN, np.array([26])], [np.take_along_axis(UNEVEN, SMALLEST, 1), SMALLEST], opset=11, largest=0)

# Scans of samples, as version 8 has them: one forward, one back.
SUMS = body([("s", np.float32, [2]), ("a", np.float32, [2]), ("b", np.float32, [2])], [("t", np.float32, [2]), ("u", np.float32, [2])],
            ("Mul", ["a", "b"], ["c"], {}), ("Add", ["s", "c"], ["t"], {}), ("Identity", ["t"], ["u"], {}))
START, FORTH, BACK = RNG.random((3, 2)), RNG.random((3, 5, 2)), RNG.random((3, 5, 2))
STEPS = START[:, None] + np.cumsum(FORTH * BACK[:, ::-1], 1)
chain("scan_of_samples", [("Scan", ["", "x0", "x1", "x2"], ["y0", "y1"], {"body": SUMS, "num_scan_inputs": 2, "directions": [0, 1]})],
      [v.astype(np.float32) for v in (START, FORTH, BACK)], [STEPS[:, -1].astype(np.float32), STEPS.astype(np.float32)], opset=8)

# ai.onnx.ml.
TABLE = np.array([[1, -2, 0, 4], [0, 0, 0, 0], [3, 0.5, -7, 2]], np.float32)
WHOLE = np.array([[1, -2, 0, 4], [0, 0, 0, 0], [3, 5, -7, 2]])


def learned(name, operator, inputs, expected, opset=3, **attributes):
    """One node of ai.onnx.ml."""
    outputs = [f"y{i}" for i in range(len(expected))]
    CASES.append((name, [helper.make_node(operator, [f"x{i}" for i in range(len(inputs))], outputs, domain="ai.onnx.ml", **attributes)],
                  inputs, expected, {"ai.onnx.ml": opset, "": 21}, {}))


for kind, norm in (("MAX", np.abs(TABLE).max(1)), ("L1", np.abs(TABLE).sum(1)), ("L2", np.sqrt(np.square(TABLE.astype(np.float64)).sum(1)))):
    learned(f"normalizer_{kind.lower()}", "Normalizer", [TABLE], [(TABLE / np.where(norm == 0, 1, norm)[:, None]).astype(np.float32)], norm=kind)
learned("scaler_of_integers", "Scaler", [WHOLE], [((WHOLE - 0.5) * np.array([1, 2, 0.25, -1])).astype(np.float32)], offset=[0.5], scale=[1.0, 2.0, 0.25, -1.0])
learned("array_feature_extractor_of_a_row", "ArrayFeatureExtractor", [TABLE[0], np.array([3, 3, 0])], [TABLE[:1, [3, 3, 0]]])

# The same row several times, which the model says; and the only row there is.
TABLE = RNG.standard_normal((5, 4, 6)).astype(np.float32)
case("gather_equal_rows", [helper.make_node("Gather", ["x0", "w"], ["y0"], axis=1)], [TABLE], [TABLE[:, [[2, 2]]]], w=np.array([[2, 2]]))
case("gathernd_equal_rows", [helper.make_node("GatherND", ["x0", "w"], ["y0"])], [TABLE], [TABLE[[3, 3]]], w=np.array([[3], [3]]))
case("gathernd_only_row", [helper.make_node("GatherND", ["x0", "w"], ["y0"])], [TABLE[:1]], [TABLE[[0, 0]]], w=np.array([[0], [0]]))
# A product without a sum is a map like any other.
TURNED = RNG.standard_normal((6, 5, 4)).astype(np.float32)
case("einsum_without_sum", [helper.make_node("Einsum", ["x0", "x1"], ["z"], equation="abc,cab->cab"), helper.make_node("Asinh", ["z"], ["y0"])],
     [TABLE, TURNED], [np.arcsinh(TABLE.astype(np.float64).transpose(2, 0, 1) * TURNED).astype(np.float32)])

# 70 elements by 0.7 are 49, and the middle one between two stays that, though no f32 is 0.7.
SEVENTY = RNG.standard_normal((2, 70)).astype(np.float32)
PLACES = [math.ceil(((2 * i + 1) * 70 - 49) / 98 - 0.5) for i in range(49)]
case("resize_of_70_by_0.7", [helper.make_node("Resize", ["x0", "", "scales"], ["y0"])], [SEVENTY], [SEVENTY[:, PLACES]], scales=float32(1, 0.7))
# Too many elements for a constant.
case("eyelike_large", "EyeLike", [np.zeros((260, 300), np.float32)], [np.eye(260, 300, 7, np.float32)], k=7)


# An input that is stored in 32 bits, because it is an index, is an output of 64 bits, too.
INDICES = np.array([[1, -8, 7], [0, 2, 3]])
ROWS_OF_8 = RNG.standard_normal((2, 8)).astype(np.float32)
case("index_is_output", [helper.make_node("GatherElements", ["x0", "x1"], ["y0"], axis=1),
                         helper.make_node("Slice", ["x1", "begin", "end", "begin"], ["y1"])], [ROWS_OF_8, INDICES],
     [np.take_along_axis(ROWS_OF_8, INDICES, 1), INDICES], opset=17, begin=np.array([0]), end=np.array([2]))


def graph_of(name, nodes, inputs, outputs):
    """The body of a node: inputs and outputs as (name, element type, shape)."""
    return helper.make_graph(nodes, name, [helper.make_tensor_value_info(*i) for i in inputs],
                             [helper.make_tensor_value_info(*o) for o in outputs])


# An index that only the way reads which is not gone may be any number.
case("index_of_other_way",
     [helper.make_node("If", ["x0"], ["y0"],
                       then_branch=graph_of("then", [helper.make_node("ScatterElements", ["x1", "x2", "x1"], ["t"])], [],
                                            [("t", TensorProto.FLOAT, [4])]),
                       else_branch=graph_of("else", [helper.make_node("Clip", ["x2", "low", "high"], ["c"]),
                                                     helper.make_node("Cast", ["c"], ["e"], to=1)], [],
                                            [("e", TensorProto.FLOAT, [4])]))],
     [np.array(False), float32(1, 2, 3, 4), np.array([1000, -1000, 2**40, 3])], [float32(20, -20, 20, 3)], opset=17,
     low=np.array(-20), high=np.array(20))
# A counter that leaves 32 bits.
case("loop_counts_beyond_32_bits",
     [helper.make_node("Loop", ["rounds", "", "start"], ["y0"],
                       body=graph_of("body", [helper.make_node("Identity", ["c"], ["on"]), helper.make_node("Add", ["a", "one"], ["more"]),
                                              helper.make_node("Less", ["more", "x0"], ["go"])],
                                     [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []), ("a", TensorProto.INT64, [])],
                                     [("go", TensorProto.BOOL, []), ("more", TensorProto.INT64, [])]))],
     [np.array(2**31 + 4)], [np.array(2**31 + 4)], opset=17, rounds=np.array(50), start=np.array(2**31 - 10), one=np.array(1))


def nested_ifs(depth):
    """Ifs in the branches of Ifs: as deep as protobuf's readers take. The innermost branch negates."""
    def branch(operator, name):
        return helper.make_graph([helper.make_node(operator, ["x1"], [name])], name, [],
                                 [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3])])

    body = branch("Neg", "innermost")
    for level in range(depth, 0, -1):
        result = "y0" if level == 1 else f"then{level}"
        node = helper.make_node("If", ["x0"], [result], then_branch=body, else_branch=branch("Abs", f"else{level}"))
        body = helper.make_graph([node], result, [], [helper.make_tensor_value_info(result, TensorProto.FLOAT, [3])])
    return [node]


case("if_nested_30", nested_ifs(30), [np.array(True), float32(1, -2, 3)], [float32(-1, 2, -3)], opset=17)
case("if_nested_30_else", nested_ifs(30), [np.array(False), float32(1, -2, 3)], [float32(1, 2, 3)], opset=17)

# Five dimensions that become nine on the way, more than a file writes of a buffer.
FIVE = RNG.standard_normal((1, 2, 4, 1, 1)).astype(np.float32)
case("tile_of_five_dimensions", [helper.make_node("Tile", ["x0", "repeats"], ["y0"])], [FIVE], [np.tile(FIVE, (2, 3, 1, 2, 2))],
     repeats=np.array([2, 3, 1, 2, 2]))
# Dimensions of one element on both sides of 513: a slice of the picture drops one of them, and no other.
HALVES = RNG.standard_normal((1, 513, 1, 122)).astype(np.float16)
case("reduce_max_of_transposed", [helper.make_node("Transpose", ["x0"], ["t"], perm=[3, 1, 0, 2]),
                                  helper.make_node("ReduceMax", ["t"], ["y0"], axes=[0, 1, 2, 3])], [HALVES],
     [HALVES.max(keepdims=True)], opset=13)


# Parameters of the functions of two directions, over more steps than are unrolled.
def rnn(x, w, r, b, function):
    h, rows = np.zeros((x.shape[1], r.shape[1])), []
    for step in x.astype(np.float64):
        h = function(step @ w.T + h @ r.T + b[:len(b) // 2] + b[len(b) // 2:])
        rows.append(h)
    return np.stack(rows), h


SIDES = np.random.default_rng(5)
LONGER, W, R, B = [(SIDES.random(shape) - 0.5).astype(np.float32) for shape in ((150, 2, 3), (2, 4, 3), (2, 4, 4), (2, 8))]
there = rnn(LONGER, W[0], R[0], B[0], lambda v: np.where(v < 0, np.float32(0.3) * v, v))
back = rnn(LONGER[::-1], W[1], R[1], B[1], lambda v: np.float32(0.7) * np.tanh(np.float32(0.5) * v))
case("rnn_of_150_steps_with_parameters", "RNN", [LONGER, W, R, B],
     [np.stack([there[0], back[0][::-1]], 1).astype(np.float32), np.stack([there[1], back[1]]).astype(np.float32)], hidden_size=4,
     direction="bidirectional", activations=["LeakyRelu", "ScaledTanh"], activation_alpha=[0.3, 0.7], activation_beta=[0.5])


def model_of(operator, inputs, expected, opset, attributes):
    """The model of one node, or of several, whose constants `attributes` are then."""
    def info(name, value):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)

    names = ["" if value is None else f"x{i}" for i, value in enumerate(inputs)]
    outputs = ["" if value is None else f"y{i}" for i, value in enumerate(expected)]
    single = isinstance(operator, str)
    nodes = [helper.make_node(operator, names, outputs, **attributes)] if single else operator
    constants = [] if single else [numpy_helper.from_array(np.asarray(v), n) for n, v in attributes.items()]
    graph = helper.make_graph(nodes, operator if single else "chain", [info(n, np.asarray(v)) for n, v in zip(names, inputs) if n],
                              [info(n, np.asarray(v)) for n, v in zip(outputs, expected) if n], constants)
    opsets = opset if isinstance(opset, dict) else {"": opset}
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*entry) for entry in opsets.items()], ir_version=10)


def write(folder):
    """Makes the cases under `folder`; returns their folders."""
    made = []
    for name, operator, inputs, expected, opset, attributes in CASES:
        at = folder / "own" / f"test_{name}"
        data = at / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        onnx.save(model_of(operator, inputs, expected, opset, attributes), at / "model.onnx")
        for kind, values in (("input", inputs), ("output", expected)):
            for i, value in enumerate(value for value in values if value is not None):
                (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(value)).SerializeToString())
        made.append(at)
    return made
