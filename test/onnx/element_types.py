"""Runs every operator in every element type that the standard allows, and compares with what defines the operator.

usage: element_types.py --build BUILD [--only OPERATOR...] [--types TYPE...] [--all] [--target DEVICE] [--update] [-v]

The table of this file says for each operator on which shapes and attributes it is tried; the element types are those of
the wheel's schema, and the operators those that the compiler's records name. A *form* is one node: an operator, a type, and
a set of operands. All forms of an operator in a type are one model, compiled for trn2 and run with every check on; when it
fails each form is tried by itself. A form ends as one of these:

  matches   integers and booleans exactly, floats within a few units of the last place of their type (TOLERANCE)
  refused   exit code 1 with a reason; test/onnx/element_types.tsv lists them all
  wrong     it ran and a value differs, or it ended in any other way

This program fails when a form is wrong, or is refused and not in the list, or is in the list and no longer refused.

Who is right: ONNX Runtime (unoptimised) and the standard's reference implementation both compute what they can of a form.
Where both do and differ, ARGUED says which one is followed and why; a difference that is not in it fails. Where neither
knows the type the operator is computed in a wider one: half floats in fp32 and rounded once, integers in int64 and taken
modulo 2^width, which is right for what the standard says of them (sums and products wrap around; all else fits).
Operands stay where the standard defines the result: no division by 0, no shift by the width or more.

By default each operator is tried in its types on a part of its shapes (STRESS), so that it takes about a minute of two
cores; --all takes all of them.
"""
import argparse
import concurrent.futures
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFUSALS = ROOT / "test/onnx/element_types.tsv"
OPSET = 23
TYPES = {"float": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "double": np.float64, "bool": np.bool_,
         **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}").type for sign in ("", "u") for bits in (8, 16, 32, 64)}}
NAMES = {np.dtype(value): name for name, value in TYPES.items()}
# Units of the last place of the type, relative to the element and to 1 or the largest element, whichever is smaller.
TOLERANCE = {"float": 2e-5, "double": 1e-12, "float16": 2 ** -9, "bfloat16": 2 ** -6}
onnxruntime.set_default_logger_severity(4)


class Known:
    """An operand that is a constant of the model."""

    def __init__(self, value, dtype=np.int64):
        self.value = np.asarray(value, dtype)


@dataclasses.dataclass
class Form:
    """One node."""
    name: str
    operator: str
    inputs: list
    attributes: dict
    outputs: int = 1
    opset: int = OPSET
    type: str = ""


#===----------------------------------------------------------------------===#
# Values
#===----------------------------------------------------------------------===#

RNG = np.random.default_rng(0)
# Doubles, in which ONNX Runtime and the reference compute some operators of integers, have all integers up to it.
DOUBLES = 2 ** 53


def is_float(dtype):
    return np.dtype(dtype).kind == "f" or np.dtype(dtype) == ml_dtypes.bfloat16


def draw(dtype, *shape, low=-2.0, high=2.0, limit=None, nonzero=False):
    """Elements of a type. Floats lie between `low` and `high`. Half of the integers are anywhere in the type, half of them
    small, and both ends come first; `limit` bounds their magnitude."""
    count = int(np.prod(shape))
    if np.dtype(dtype) == np.bool_:
        return RNG.integers(0, 2, shape).astype(np.bool_)
    if is_float(dtype):
        values = RNG.uniform(low, high, shape)
        return np.where(values == 0, 0.5, values).astype(dtype) if nonzero else values.astype(dtype)
    info = np.iinfo(dtype)
    first, last = int(info.min), int(info.max)
    if limit is not None:
        first, last = max(first, -limit), min(last, limit)
    anywhere = RNG.integers(first, last, count, dtype=np.int64 if first < 0 else np.uint64, endpoint=True).astype(dtype)
    small = RNG.integers(max(first, -3), min(last, 3), count, endpoint=True).astype(dtype)
    values = np.where(RNG.random(count) < 0.5, anywhere, small)
    ends = np.array([last, first, last - 1, min(last, 1)], dtype)[:count]
    values[:len(ends)] = ends
    if nonzero:
        values = np.where(values == 0, np.asarray(1, dtype), values)
    return values.reshape(shape)


def distinct(dtype, *shape):
    """Elements of which none is twice, where the type has that many."""
    count = int(np.prod(shape))
    if is_float(dtype) or np.dtype(dtype) == np.bool_:
        return RNG.permutation(count).reshape(shape).astype(dtype)
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    step = max(1, (high - low) // max(1, count - 1))
    return (low + RNG.permutation(count).astype(object) * step).astype(np.int64 if low < 0 else np.uint64).astype(dtype).reshape(shape)


#===----------------------------------------------------------------------===#
# The table: operator -> function of the type that yields (name, inputs, attributes[, outputs[, opset]])
#===----------------------------------------------------------------------===#

TABLE = {}
SHAPES = {"scalar": (), "one": (1,), "row": (5,), "rows129": (129, 3), "rows300": (300, 2), "rank4": (2, 3, 4, 5), "none": (0, 3)}
PAIRS = {"scalars": ((), ()), "same": ((2, 3, 4, 5), (2, 3, 4, 5)), "to129": ((129, 3), ()), "from300": ((1,), (300, 2)),
         "outer": ((300, 1), (1, 5)), "inner": ((2, 3, 4, 5), (3, 1, 5)), "column": ((129, 3), (129, 1)), "row": ((129, 3), (3,)),
         "vector": ((1,), (129,)), "none": ((0, 3), (1, 3))}
# What a run without --all leaves out.
STRESS = {"one", "row", "same", "to129", "vector"}


def forms(*operators):
    def register(function):
        for operator in operators:
            TABLE[operator] = function
        return function

    return register


def unary(low=-2.0, high=2.0, nonzero=False, limit=None, **attributes):
    def make(dtype):
        for name, shape in SHAPES.items():
            yield name, [draw(dtype, *shape, low=low, high=high, nonzero=nonzero, limit=limit)], attributes
    return make


for operator in ("Abs", "Asinh", "Atan", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish",
                 "Identity", "LeakyRelu", "Mish", "Neg", "Not", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin",
                 "Sinh", "Softplus", "Softsign", "Swish", "Tan", "Tanh", "ThresholdedRelu", "IsNaN", "Shape", "Size"):
    TABLE[operator] = unary()
TABLE["Shrink"] = unary(limit=DOUBLES)
for operator in ("Acos", "Asin", "Atanh"):
    TABLE[operator] = unary(-0.9, 0.9)
TABLE["Acosh"] = unary(1.0, 4.0)
TABLE["Log"] = TABLE["Sqrt"] = unary(0.1, 5.0)
TABLE["Reciprocal"] = unary(0.2, 5.0)


@forms("IsInf")
def is_inf(dtype):
    value = np.array([1, np.inf, -np.inf, np.nan]).astype(dtype)
    yield "row", [value], {}
    yield "rank4", [value.reshape(1, 2, 1, 2)], {"detect_negative": 0}


def binary(left=None, right=None, **attributes):
    def make(dtype):
        for name, (a, b) in PAIRS.items():
            yield name, [draw(dtype, *a, **(left or {})), draw(dtype, *b, **(right or {}))], attributes
    return make


for operator in ("And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Add", "Sub", "Mul"):
    TABLE[operator] = binary()
TABLE["BitwiseNot"] = unary()


@forms("PRelu")
def prelu(dtype):
    for name, (a, b) in PAIRS.items():
        if np.broadcast_shapes(a, b) == a:
            yield name, [draw(dtype, *a), draw(dtype, *b)], {}


@forms("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
def compare(dtype):
    for name, (a, b) in PAIRS.items():
        x, y = draw(dtype, *a), draw(dtype, *b)
        if a == b and a:
            y.flat[1::3] = x.flat[1::3]
        yield name, [x, y], {}
    if not is_float(dtype) and np.dtype(dtype) != np.bool_:
        top = int(np.iinfo(dtype).max)
        x = np.array([top, top - 1, top, 0, 1, top // 2 + 1, top // 2], dtype)
        yield "near", [x, np.roll(x, 1)], {}


@forms("Div")
def div(dtype):
    for name, (a, b) in PAIRS.items():
        x, y = draw(dtype, *a), draw(dtype, *b, nonzero=True, low=0.5, high=2.0)
        if np.dtype(dtype).kind == "i":
            y = np.where(y == -1, np.asarray(3, dtype), y)  # the most negative number by -1 has no quotient
        yield name, [x, y], {}


@forms("Mod")
def mod(dtype):
    for fmod in (0, 1):
        if fmod == 0 and is_float(dtype):
            continue
        for name, inputs, _ in div(dtype):
            yield f"{name}{'_fmod' if fmod else ''}", inputs, {"fmod": fmod}


@forms("BitShift")
def bit_shift(dtype):
    for direction in ("LEFT", "RIGHT"):
        for name, (a, b) in PAIRS.items():
            shift = RNG.integers(0, np.iinfo(dtype).bits, b).astype(dtype)
            yield f"{name}_{direction.lower()}", [draw(dtype, *a), shift], {"direction": direction}


@forms("Pow")
def power(dtype):
    if is_float(dtype):
        for name, (a, b) in PAIRS.items():
            yield name, [draw(dtype, *a, low=0.1, high=3.0), draw(dtype, *b)], {}
    for exponent in ("float", "int32", "int64", "uint8", "float16"):
        base = draw(dtype, 129, 3, limit=7) if not is_float(dtype) else draw(dtype, 129, 3)
        yield f"by_{exponent}", [base, RNG.integers(0, 4, (3,)).astype(TYPES[exponent])], {}
    if not is_float(dtype):
        yield "wraps", [np.array([3, -3, 2, -2, 7, 10, 46341, 2, 3], dtype), np.array([3, 19, 30, 31, 11, 9, 2, 0, 1], dtype)], {}
        if np.dtype(dtype).itemsize == 8:
            yield "wide", [np.array([3, -3, 2, -2, 7, 3037000500, 3], dtype), np.array([63, 39, 62, 63, 22, 2, 70], dtype)], {}


@forms("Max", "Min")
def extreme(dtype):
    yield from binary()(dtype)
    yield "single", [draw(dtype, 7)], {}
    yield "three", [draw(dtype, 129, 3), draw(dtype, 1), draw(dtype, 3)], {}


@forms("Sum", "Mean")
def variadic(dtype):
    yield "single", [draw(dtype, 7)], {}
    yield "three", [draw(dtype, 129, 3), draw(dtype, 1), draw(dtype, 3)], {}


@forms("Clip")
def clip(dtype):
    low, high = (np.asarray(v).astype(dtype) for v in ((-0.5, 1.25) if is_float(dtype) else (1, 100)))
    for name, shape in SHAPES.items():
        yield name, [draw(dtype, *shape), low, high], {}
    yield "low_only", [draw(dtype, 129, 3), Known(low, dtype)], {}
    yield "high_only", [draw(dtype, 129, 3), None, Known(high, dtype)], {}
    yield "crossed", [draw(dtype, 9), high, low], {}


@forms("Where")
def where(dtype):
    for name, (a, b) in PAIRS.items():
        yield name, [draw(np.bool_, *np.broadcast_shapes(a, b)), draw(dtype, *a), draw(dtype, *b)], {}
    yield "condition", [draw(np.bool_, 300, 1), draw(dtype), draw(dtype, 3)], {}


TO = ["float", "float16", "bfloat16", "double", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@forms("Cast")
def cast(dtype):
    for to in TO:
        # A float outside of the integer's range has no defined value.
        if is_float(dtype):
            # nor has a double beside the middle of two half floats the one rounding of it
            value = np.round(draw(dtype, 129, 3, low=0, high=100) * 4) / 4 if to in TYPES and not is_float(TYPES[to]) else draw(dtype, 129, 3)
        else:
            value = draw(dtype, 129, 3)
            if to == "float16":
                value = draw(dtype, 129, 3, limit=60000) if np.dtype(dtype) != np.bool_ else value
        yield f"to_{to}", [value.astype(dtype)], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[to]))}


@forms("CastLike")
def cast_like(dtype):
    for to in ("float", "int8", "uint8", "int32"):
        yield f"to_{to}", [draw(dtype, 5, low=0, high=100, limit=100), draw(TYPES[to], 1)], {}


REDUCED = {"inner": ((2, 3, 4), [1], 0), "last": ((300, 7), [1], 1), "first": ((129, 5), [0], 1), "all": ((2, 3, 4, 5), [0, 1, 2, 3], 0),
           "two": ((3, 4, 5), [0, 2], 0), "scalar": ((), [], 1), "single": ((1, 1), [1], 0), "middle": ((4, 129, 2), [1], 0),
           "ofnone": ((3, 0), [1], 1), "none": ((0, 3), [1], 0)}


def reduce(small=False, identity=True, positive=False, limit=None):
    def make(dtype):
        for name, (shape, axes, keep) in REDUCED.items():
            if not identity and name == "ofnone":
                continue
            value = draw(dtype, *shape, low=0.2 if positive else -2.0, limit=2 if small else limit)
            if positive and not is_float(dtype):
                value = np.where(value <= 0, np.asarray(1, dtype), value)
            yield name, [value] + ([Known(axes)] if shape else []), {"keepdims": keep}
        value = draw(dtype, 5, 3, low=0.2 if positive else -2.0, limit=2 if small else 2 ** 7 - 1, nonzero=positive)
        yield "unnamed", [np.abs(value) if positive else value], {}
        yield "no_op", [np.abs(draw(dtype, 5, 3, low=0.2, limit=2, nonzero=positive)), Known([])], {"noop_with_empty_axes": 1}
    return make


TABLE["ReduceMax"] = TABLE["ReduceMin"] = reduce(identity=False)
TABLE["ReduceSum"] = TABLE["ReduceL1"] = reduce()
TABLE["ReduceProd"] = reduce(small=True)
TABLE["ReduceMean"] = reduce(identity=False, limit=DOUBLES // 512)  # so that doubles have their sums
TABLE["ReduceSumSquare"] = TABLE["ReduceL2"] = reduce(small=True)
TABLE["ReduceLogSum"] = reduce(small=True, positive=True, identity=False)
TABLE["ReduceLogSumExp"] = reduce(small=True, identity=False)


@forms("ArgMax", "ArgMin")
def arg(dtype):
    for name, (shape, axes, keep) in REDUCED.items():
        if name in ("inner", "last", "first", "middle", "single", "none"):
            yield name, [draw(dtype, *shape)], {"axis": axes[0], "keepdims": keep}
    yield "last_index", [draw(dtype, 5, 9, limit=2)], {"axis": 1, "select_last_index": 1}
    yield "close", [distinct(dtype, 3, 40)], {"axis": -1}


@forms("TopK")
def top_k(dtype):
    for name, shape, axis, k in (("row", (9,), 0, 4), ("last", (129, 7), 1, 3), ("first", (7, 5), 0, 7), ("middle", (2, 9, 3), 1, 2),
                                 ("none", (0, 4), 1, 2)):
        for largest in (1, 0):
            yield f"{name}_{'largest' if largest else 'smallest'}", [distinct(dtype, *shape), Known([k])], {"axis": axis, "largest": largest}, 2
    yield "ties", [draw(dtype, 3, 20, limit=1), Known([5])], {}, 2


@forms("CumSum", "CumProd")
def cumulative(dtype):
    limit = 2 if TABLE_NAME[0] == "CumProd" else None
    for name, shape, axis in (("row", (9,), 0), ("last", (129, 6), 1), ("first", (6, 5), 0), ("middle", (2, 9, 3), 1), ("none", (0, 3), 1)):
        value = draw(dtype, *shape, limit=limit)
        yield name, [value, Known(axis)], {}
        yield f"{name}_other", [value, Known(axis)], {"exclusive": 1, "reverse": 1}


@forms("Concat")
def concat(dtype):
    yield "row", [draw(dtype, 3), draw(dtype, 5)], {"axis": 0}
    yield "inner", [draw(dtype, 129, 2), draw(dtype, 129, 3), draw(dtype, 129, 0)], {"axis": 1}
    yield "first", [draw(dtype, 129, 2), draw(dtype, 171, 2)], {"axis": 0}
    yield "rank4", [draw(dtype, 2, 3, 4, 5), draw(dtype, 2, 1, 4, 5)], {"axis": -3}


@forms("Split")
def split(dtype):
    yield "equal", [draw(dtype, 6, 4)], {"axis": 0, "num_outputs": 3}, 3
    yield "parts", [draw(dtype, 300, 5), Known([1, 4])], {"axis": 1}, 2
    yield "first", [draw(dtype, 300, 2), Known([129, 171])], {"axis": 0}, 2


@forms("Slice")
def slices(dtype):
    yield "row", [draw(dtype, 9), Known([2]), Known([8])], {}
    yield "back", [draw(dtype, 5, 9), Known([-1]), Known([-10]), Known([1]), Known([-2])], {}
    yield "rows300", [draw(dtype, 300, 4), Known([129, 1]), Known([300, 3])], {}
    yield "none", [draw(dtype, 5, 3), Known([2]), Known([2])], {}


INDEX = {"row": ((9,), (4,), 0), "rows300": ((300, 3), (5,), 0), "inner": ((129, 7), (2, 2), 1), "scalar": ((5, 3), (), 0),
         "back": ((3, 4, 5), (2,), -1)}


@forms("Gather")
def gather(dtype):
    for name, (shape, index, axis) in INDEX.items():
        n = shape[axis]
        yield name, [draw(dtype, *shape), np.asarray(RNG.integers(-n, n, index), np.int64)], {"axis": axis}
    yield "int32", [draw(dtype, 9, 2), RNG.integers(-9, 9, (3,)).astype(np.int32)], {}
    yield "known", [draw(dtype, 9, 2), Known([3, -1])], {}


@forms("GatherElements")
def gather_elements(dtype):
    yield "row", [draw(dtype, 9), RNG.integers(-9, 9, (5,))], {}
    yield "first", [draw(dtype, 7, 4), RNG.integers(-7, 7, (3, 4))], {"axis": 0}
    yield "last", [draw(dtype, 129, 4), RNG.integers(-4, 4, (129, 2))], {"axis": 1}


@forms("GatherND")
def gather_nd(dtype):
    yield "elements", [draw(dtype, 5, 4), RNG.integers(0, 4, (6, 2))], {}
    yield "rows", [draw(dtype, 5, 4), RNG.integers(-5, 5, (3, 1))], {}
    yield "batch", [draw(dtype, 2, 5, 4), RNG.integers(0, 5, (2, 3, 1))], {"batch_dims": 1}


def reductions(dtype):
    if np.dtype(dtype) == np.bool_:
        return ("none",)
    return ("none", "add", "mul", "max", "min")


@forms("ScatterElements")
def scatter_elements(dtype):
    for kind in reductions(dtype):
        index = np.stack([RNG.permutation(7)[:3] for _ in range(4)], 1)
        yield f"first_{kind}", [draw(dtype, 7, 4), index, draw(dtype, 3, 4)], {"axis": 0, "reduction": kind}
    yield "last", [draw(dtype, 129, 4), RNG.integers(-4, 4, (129, 1)), draw(dtype, 129, 1)], {"axis": 1}


@forms("Scatter")
def scatter(dtype):
    yield "first", [draw(dtype, 7, 4), np.stack([RNG.permutation(7)[:3] for _ in range(4)], 1), draw(dtype, 3, 4)], {"axis": 0}, 1, 10


@forms("ScatterND")
def scatter_nd(dtype):
    for kind in reductions(dtype):
        yield f"rows_{kind}", [draw(dtype, 9, 4), RNG.permutation(9)[:3].reshape(3, 1), draw(dtype, 3, 4)], {"reduction": kind}
        yield f"one_{kind}", [draw(dtype, 9, 4), np.array([[4]]), draw(dtype, 1, 4)], {"reduction": kind}
    yield "elements", [draw(dtype, 9, 4), np.array([[0, 1], [8, 3], [-1, 0]]), draw(dtype, 3)], {}


@forms("Tile")
def tile(dtype):
    yield "row", [draw(dtype, 3), Known([4])], {}
    yield "rows", [draw(dtype, 3, 2), Known([50, 2])], {}
    yield "one", [draw(dtype, 1), Known([300])], {}


@forms("Expand")
def expand(dtype):
    for name, (a, b) in PAIRS.items():
        yield name, [draw(dtype, *a), Known(list(b))], {}
    yield "scalar300", [draw(dtype), Known([300, 2])], {}


@forms("Reshape")
def reshape(dtype):
    yield "flat", [draw(dtype, 6, 50), Known([-1])], {}
    yield "rows", [draw(dtype, 2, 3, 4, 5), Known([0, -1, 2])], {}
    yield "scalar", [draw(dtype, 1, 1), Known([])], {}


@forms("Transpose")
def transpose(dtype):
    yield "rows", [draw(dtype, 300, 3)], {}
    yield "back", [draw(dtype, 3, 300)], {}
    yield "rank4", [draw(dtype, 2, 3, 4, 5)], {"perm": [3, 1, 0, 2]}
    yield "none", [draw(dtype, 0, 3)], {}


@forms("Squeeze")
def squeeze(dtype):
    yield "row", [draw(dtype, 1, 129, 1), Known([0, 2])], {}


@forms("Unsqueeze")
def unsqueeze(dtype):
    yield "row", [draw(dtype, 129), Known([0, 2])], {}
    yield "scalar", [draw(dtype), Known([0])], {}


@forms("Flatten")
def flatten(dtype):
    yield "rank4", [draw(dtype, 2, 3, 4, 5)], {"axis": 2}
    yield "whole", [draw(dtype, 129, 3)], {"axis": 0}


@forms("DepthToSpace", "SpaceToDepth")
def depth(dtype):
    shape = (1, 8, 3, 2) if TABLE_NAME[0] == "DepthToSpace" else (1, 2, 6, 4)
    yield "rank4", [draw(dtype, *shape)], {"blocksize": 2}


@forms("Pad")
def pad(dtype):
    for mode in ("constant", "edge", "reflect", "wrap"):
        yield mode, [draw(dtype, 129, 4), Known([1, 2, 0, 1])] + ([draw(dtype)] if mode == "constant" else []), {"mode": mode}
    yield "zero", [draw(dtype, 5), Known([2, 1])], {}
    yield "known", [draw(dtype, 5, 3), Known([0, 2, 1, 0]), Known(draw(dtype), dtype)], {}
    yield "cut", [draw(dtype, 5, 3), Known([-1, 0, 2, -1])], {}


@forms("Trilu")
def trilu(dtype):
    for upper in (0, 1):
        yield f"square_{upper}", [draw(dtype, 5, 5)], {"upper": upper}
        yield f"tall_{upper}", [draw(dtype, 2, 129, 4), Known(1)], {"upper": upper}
    yield "none", [draw(dtype, 0, 4)], {}


@forms("ReverseSequence")
def reverse_sequence(dtype):
    yield "rows", [draw(dtype, 4, 3, 2), Known([4, 2, 1])], {"time_axis": 0, "batch_axis": 1}
    yield "run_time", [draw(dtype, 4, 3, 2), np.array([4, 2, 1])], {"time_axis": 0, "batch_axis": 1}


@forms("OneHot")
def one_hot(dtype):
    off_on = draw(np.float32, 2)
    limit = 5 if is_float(dtype) or np.dtype(dtype).kind == "i" else 0
    yield "row", [RNG.integers(-5 if limit else 0, 5, (4,)).astype(dtype), Known(5), off_on], {}
    yield "first", [RNG.integers(0, 5, (129, 2)).astype(dtype), Known(5), off_on], {"axis": 0}
    for values in ("int32", "int64", "uint8", "float16", "bool", "int8"):
        yield f"of_{values}", [RNG.integers(0, 5, (4,)).astype(dtype), Known(5), np.array([0, 1]).astype(TYPES[values])], {}


@forms("EyeLike")
def eye_like(dtype):
    yield "square", [draw(dtype, 4, 4)], {}
    yield "tall", [draw(dtype, 129, 3)], {"k": -1}
    yield "to_uint8", [draw(dtype, 4, 4)], {"dtype": 2}


@forms("Range")
def ranges(dtype):
    yield "up", [Known(1, dtype), Known(9, dtype), Known(2, dtype)], {}
    yield "start", [draw(dtype, limit=1), Known(9, dtype), Known(2, dtype)], {}


@forms("ConstantOfShape")
def constant_of_shape(dtype):
    for name, value in TYPES.items():
        if name != "bfloat16":
            yield f"of_{name}", [Known([129, 2])], {"value": numpy_helper.from_array(draw(value, 1))}


@forms("Compress")
def compress(dtype):
    yield "rows", [draw(dtype, 9, 3), Known(draw(np.bool_, 9), np.bool_)], {"axis": 0}


@forms("NonZero")
def non_zero(dtype):
    yield "known_size", [np.ones((2, 3)).astype(dtype)], {}
    yield "mixed", [draw(dtype, 4, 3, limit=1)], {}


@forms("Unique")
def unique(dtype):
    yield "sorted", [draw(dtype, 20, limit=3)], {}
    yield "ends", [draw(dtype, 9)], {}


@forms("MatMul")
def mat_mul(dtype):
    for name, a, b in (("plain", (3, 4), (4, 5)), ("vectors", (7,), (7,)), ("rows300", (300, 5), (5, 3)), ("batch", (2, 1, 3, 4), (5, 4, 2)),
                       ("deep", (3, 300), (300, 2)), ("square", (130, 140), (140, 135))):
        yield name, [draw(dtype, *a), draw(dtype, *b)], {}
    yield "weight", [draw(dtype, 5, 4), Known(draw(dtype, 4, 3), dtype)], {}


@forms("Gemm")
def gemm(dtype):
    yield "plain", [draw(dtype, 3, 4), draw(dtype, 4, 5), draw(dtype, 5)], {}
    yield "turned", [draw(dtype, 4, 300), draw(dtype, 5, 4), draw(dtype, 300, 1)], {"transA": 1, "transB": 1}
    if is_float(dtype):
        yield "scaled", [draw(dtype, 3, 4), draw(dtype, 4, 5), draw(dtype)], {"alpha": 0.5, "beta": 2.0}


@forms("Einsum")
def einsum(dtype):
    yield "product", [draw(dtype, 3, 4), draw(dtype, 4, 5)], {"equation": "ij,jk->ik"}
    yield "batch", [draw(dtype, 2, 3, 4), draw(dtype, 2, 4, 5)], {"equation": "bij,bjk->bki"}
    yield "sum", [draw(dtype, 3, 4)], {"equation": "ij->j"}


@forms("Softmax", "LogSoftmax", "Hardmax")
def softmax(dtype):
    yield "last", [draw(dtype, 129, 7)], {}
    yield "middle", [draw(dtype, 2, 5, 3)], {"axis": 1}
    yield "none", [draw(dtype, 0, 3)], {}


@forms("MaxPool")
def max_pool(dtype):
    yield "plain", [draw(dtype, 1, 2, 6, 6)], {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield "padded", [draw(dtype, 1, 2, 5, 5)], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    yield "indices", [distinct(dtype, 1, 1, 5, 5)], {"kernel_shape": [2, 2]}, 2


@forms("AveragePool", "LpPool")
def average_pool(dtype):
    yield "plain", [draw(dtype, 1, 2, 6, 6)], {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield "padded", [draw(dtype, 1, 2, 5, 5)], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}


TABLE["GlobalAveragePool"] = TABLE["GlobalMaxPool"] = TABLE["GlobalLpPool"] = lambda dtype: iter([("plain", [draw(dtype, 2, 3, 4, 5)], {})])
TABLE["InstanceNormalization"] = lambda dtype: iter([("plain", [draw(dtype, 2, 3, 4, 5), draw(dtype, 3), draw(dtype, 3)], {})])
TABLE["LRN"] = lambda dtype: iter([("plain", [draw(dtype, 2, 5, 4, 3)], {"size": 3})])
TABLE["MeanVarianceNormalization"] = TABLE["LpNormalization"] = lambda dtype: iter([("plain", [draw(dtype, 2, 3, 4, 5)], {})])
TABLE["Dropout"] = lambda dtype: iter([("plain", [draw(dtype, 129, 3)], {})])
TABLE["Det"] = lambda dtype: iter([("plain", [draw(dtype, 2, 3, 3)], {})])


@forms("LayerNormalization", "RMSNormalization")
def layer_normalization(dtype):
    bias = [draw(dtype, 7)] if TABLE_NAME[0] == "LayerNormalization" else []
    yield "last", [draw(dtype, 129, 7), draw(dtype, 7), *bias], {}


@forms("GroupNormalization")
def group_normalization(dtype):
    yield "plain", [draw(dtype, 2, 4, 3, 5), draw(dtype, 4), draw(dtype, 4)], {"num_groups": 2}


@forms("BatchNormalization")
def batch_normalization(dtype):
    yield "plain", [draw(dtype, 2, 3, 4, 5), *(draw(dtype, 3) for _ in range(3)), draw(dtype, 3, low=0.5)], {}


@forms("Conv", "ConvTranspose")
def conv(dtype):
    swap = TABLE_NAME[0] == "ConvTranspose"
    yield "plain", [draw(dtype, 1, 3, 6, 6), draw(dtype, *((3, 4) if swap else (4, 3)), 3, 3), draw(dtype, 4)], {}
    yield "weight", [draw(dtype, 1, 3, 6, 6), Known(draw(dtype, *((3, 4) if swap else (4, 3)), 3, 3), dtype)], {"pads": [1, 1, 1, 1]}


@forms("ConvInteger")
def conv_integer(dtype):
    for weight in ("uint8", "int8"):
        w = Known(draw(TYPES[weight], 2, 3, 3, 3), TYPES[weight])
        yield f"by_{weight}", [draw(dtype, 1, 3, 5, 5), w], {}
        yield f"points_{weight}", [draw(dtype, 1, 3, 5, 5), w, Known(3, dtype), Known(2, TYPES[weight])], {}


@forms("MatMulInteger")
def mat_mul_integer(dtype):
    for other in ("uint8", "int8"):
        yield f"by_{other}", [draw(dtype, 5, 7), draw(TYPES[other], 7, 3)], {}
        yield f"points_{other}", [draw(dtype, 5, 7), draw(TYPES[other], 7, 3), Known(3, dtype), Known(2, TYPES[other])], {}


@forms("QLinearMatMul")
def q_linear_mat_mul(dtype):
    scale = Known(0.0625, np.float32)
    yield "plain", [draw(dtype, 5, 7), scale, Known(3, dtype), draw(dtype, 7, 4), scale, Known(2, dtype), Known(8, np.float32), Known(5, dtype)], {}, 1, 20


@forms("QLinearConv")
def q_linear_conv(dtype):
    scale = Known(0.0625, np.float32)
    yield "plain", [draw(dtype, 1, 3, 5, 5), scale, Known(3, dtype), Known(draw(dtype, 2, 3, 3, 3), dtype), scale, Known(2, dtype),
                    Known(8, np.float32), Known(5, dtype)], {}


@forms("QuantizeLinear")
def quantize(dtype):
    scale = dtype if is_float(dtype) else np.float32
    for to in ("uint8", "int8", "uint16", "int16"):
        yield f"to_{to}", [draw(dtype, 129, 3, low=-200, high=200, limit=2 ** 20), Known(0.5, scale), Known(3, TYPES[to])], {}
    yield "axis", [draw(dtype, 4, 3, low=-20, high=20, limit=2 ** 20), Known([0.5, 0.25, 1], scale), Known([0, 1, 2], np.uint8)], {"axis": 1}


@forms("DequantizeLinear")
def dequantize(dtype):
    zero = [Known(0 if np.dtype(dtype) == np.int32 else 3, dtype)]
    yield "scalar", [draw(dtype, 129, 3), Known(0.5, np.float32), *zero], {}
    yield "axis", [draw(dtype, 4, 3), Known([0.5, 0.25, 1], np.float32)], {"axis": 1}


TABLE["DynamicQuantizeLinear"] = lambda dtype: iter([("rows", [draw(dtype, 129, 3)], {}, 3), ("row", [draw(dtype, 9, low=0.5)], {}, 3)])


@forms("Resize")
def resize(dtype):
    for mode in ("nearest", "linear", "cubic"):
        yield mode, [draw(dtype, 1, 2, 4, 4, limit=DOUBLES if mode == "nearest" else 100), None, Known([1, 1, 2, 2], np.float32)], {"mode": mode}
    yield "down", [draw(dtype, 1, 2, 6, 6, limit=DOUBLES), None, None, Known([1, 2, 3, 3])], {"mode": "nearest"}


@forms("Upsample")
def upsample(dtype):
    yield "nearest", [draw(dtype, 1, 2, 4, 4), Known([1, 1, 2, 2], np.float32)], {"mode": "nearest"}, 1, 9


@forms("CenterCropPad")
def center_crop_pad(dtype):
    yield "both", [draw(dtype, 129, 4), Known([100, 7])], {}


@forms("Col2Im")
def col2im(dtype):
    yield "plain", [draw(dtype, 1, 4, 16), Known([5, 5]), Known([2, 2])], {}


@forms("TensorScatter")
def tensor_scatter(dtype):
    yield "linear", [draw(dtype, 2, 1, 6, 3), draw(dtype, 2, 1, 2, 3), np.array([1, 3])], {}, 1, 24


@forms("BitCast")
def bit_cast(dtype):
    size = np.dtype(dtype).itemsize
    for to in TO:
        if np.dtype(TYPES[to]).itemsize == size and "bool" not in (to, NAMES[np.dtype(dtype)]):
            yield f"to_{to}", [draw(dtype, 129, 3)], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[to]))}, 1, 26


@forms("Attention")
def attention(dtype):
    yield "plain", [draw(dtype, 1, 2, 5, 8), draw(dtype, 1, 2, 7, 8), draw(dtype, 1, 2, 7, 8)], {}


@forms("RotaryEmbedding")
def rotary(dtype):
    yield "run_time", [draw(dtype, 2, 3, 5, 8), draw(dtype, 16, 4), draw(dtype, 16, 4), RNG.integers(0, 16, (2, 5))], {}
    yield "one", [draw(dtype, 1, 3, 1, 8), draw(dtype, 16, 4), draw(dtype, 16, 4), np.array([[5]])], {}


@forms("LSTM", "GRU", "RNN")
def recurrent(dtype):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[TABLE_NAME[0]]
    yield "plain", [draw(dtype, 3, 2, 4), draw(dtype, 1, gates * 5, 4), draw(dtype, 1, gates * 5, 5)], {"hidden_size": 5}, 1, 22


@forms("GridSample")
def grid_sample(dtype):
    # Integers between others are computed in fp32.
    yield "plain", [draw(dtype, 1, 2, 4, 4, limit=2 ** 16), draw(np.float32, 1, 3, 3, 2, low=-0.9, high=0.9)], {}


@forms("SoftmaxCrossEntropyLoss")
def cross_entropy(dtype):
    yield "plain", [draw(dtype, 5, 7), RNG.integers(0, 7, (5,))], {}


@forms("NegativeLogLikelihoodLoss")
def likelihood(dtype):
    yield "plain", [draw(dtype, 5, 7), RNG.integers(0, 7, (5,))], {}


@forms("MaxUnpool")
def max_unpool(dtype):
    yield "plain", [distinct(dtype, 1, 1, 2, 2), np.array([[[[0, 3], [9, 15]]]])], {"kernel_shape": [2, 2], "strides": [2, 2]}


@forms("RoiAlign")
def roi_align(dtype):
    boxes = np.array([[0.5, 0.5, 4.5, 3.5], [1, 0, 3, 4]]).astype(dtype)
    yield "plain", [draw(dtype, 2, 3, 6, 6), boxes, np.array([1, 0])], {"output_height": 2, "output_width": 2, "sampling_ratio": 2}, 1, 22


@forms("DFT")
def dft(dtype):
    yield "rows", [draw(dtype, 3, 8, 1)], {}
    yield "pairs", [draw(dtype, 3, 8, 2), None, Known(1)], {"inverse": 1}


@forms("AffineGrid")
def affine_grid(dtype):
    yield "plain", [draw(dtype, 2, 2, 3), Known([2, 3, 4, 5])], {}


@forms("HannWindow", "HammingWindow", "BlackmanWindow")
def window(dtype):
    # At the top the last place of a cosine decides whether an integer is 0 or 1.
    for to in ("float", "float16", "double"):
        yield f"of_{to}", [Known(10, dtype)], {"output_datatype": helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[to]))}


@forms("NonMaxSuppression")
def suppression(dtype):
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]]]).astype(dtype)
    yield "plain", [boxes, np.array([[[0.9, 0.75, 0.6]]]).astype(dtype), Known(3), Known(0.5, np.float32), Known(0.0, np.float32)], {}


TABLE_NAME = [""]  # the operator whose forms are made, for functions of several


#===----------------------------------------------------------------------===#
# Who is right
#===----------------------------------------------------------------------===#

# (operator pattern, type pattern, form pattern) -> which of "runtime", "reference", "wide" is followed, and why.
ARGUED = [
    ("ReduceMean", "int32", "*", "reference", "the sum, in the type, by the count; ONNX Runtime's sum is wider"),
    ("ReduceMean", "uint32", "*", "mean", "the sum, in the type, by the count; the reference divides in floats"),
    ("Reduce[!L]*", "*int32", "*", "wide", "sums and products wrap around; ONNX Runtime's are saturated, and the reference's of another type"),
    ("ReduceSum", "int64", "*", "reference", "sums wrap around; ONNX Runtime's are saturated, and rounded to doubles"),
    ("ReduceL1", "int64", "*", "reference", "sums wrap around; ONNX Runtime's are saturated, and rounded to doubles"),
    ("Einsum", "int64", "*", "reference", "sums wrap around; ONNX Runtime's are saturated, and rounded to doubles"),
    ("Gemm", "*int*", "*", "exact", "products wrap around; both multiply in floats"),
    ("Resize", "*int*", "*", "truncated", "the standard does not say how; ONNX Runtime truncates, and the reference computes in the integers"),
    ("GridSample", "*int*", "*", "truncated", "ONNX Runtime has no integers, and the reference computes in them"),
    ("ReduceL[12]", "*int32", "*", "wide", "sums wrap around; ONNX Runtime's are saturated"),
    ("ReduceLogSum*", "*int*", "*", "truncated", "the reference gives floats"),
    ("Attention", "double", "*", "reference", "ONNX Runtime computes in floats"),
    ("GroupNormalization", "double", "*", "runtime", "the reference computes in floats"),
    ("Shrink", "double", "*", "reference", "ONNX Runtime computes in floats"),
    ("Shrink", "*int*", "*", "reference", "ONNX Runtime computes in floats"),
    ("AffineGrid", "double", "*", "runtime", "the reference gives floats"),
    ("QLinearMatMul", "*", "*", "runtime", "a quotient of floats may lie on either side of a tie"),
    ("LRN", "*", "*", "runtime", "the reference divides alpha by another number of channels at the ends"),
    ("MaxPool", "*", "indices", "runtime", "the reference does not count indices in the whole input"),
    ("Einsum", "int32", "*", "wide", "sums wrap around; ONNX Runtime's are saturated"),
    ("Pow", "int*", "*", "reference", "powers of integers are integers and wrap around; ONNX Runtime's are floats"),
]


# (operator, type) -> tolerance, and why it is not that of the type.
ROUGH = {
    ("Erf", "double"): (1e-6, "both compute in floats"),
    ("Gelu", "double"): (1e-6, "both compute in floats"),
    ("HardSwish", "double"): (1e-6, "a sixth is a float in both"),
    ("GridSample", "double"): (1e-5, "positions are floats in ONNX Runtime"),
    ("GroupNormalization", "double"): (1e-6, "its definition normalises in floats"),
    ("HannWindow", "int*"): (1e-6, "coefficients are floats"),
    ("HammingWindow", "int*"): (1e-6, "coefficients are floats"),
    ("BlackmanWindow", "int*"): (1e-6, "coefficients are floats"),
    ("LRN", "double"): (1e-8, "alpha is a float"),
    ("Tan", "float"): (1e-3, "near a pole the argument's last place is the whole result"),
}


def rough(form):
    return next((tolerance for (operator, name), (tolerance, _) in ROUGH.items()
                 if operator == form.operator and fnmatch.fnmatch(form.type, name)), None)


def decided(form, name):
    for operator, type_name, pattern, who, _ in ARGUED:
        if fnmatch.fnmatch(form.operator, operator) and fnmatch.fnmatch(name, type_name) and fnmatch.fnmatch(form.name, pattern):
            return who
    return None


def retyped(form, old, new):
    """The form in another type."""
    def convert(value):
        if isinstance(value, Known):
            # Axes are 64-bit integers and no elements.
            return value if old == np.int64 or value.value.dtype != old else Known(value.value, new)
        return value.astype(new) if value is not None and value.dtype == old else value
    return dataclasses.replace(form, inputs=[convert(value) for value in form.inputs])


def model_of(forms_, types=None):
    """A model of the forms, its operands by name; `types` are those of the outputs, form by form."""
    nodes, infos, outputs, weights, given = [], [], [], [], {}
    for i, form in enumerate(forms_):
        names = []
        for j, value in enumerate(form.inputs):
            name = "" if value is None else f"x{i}_{j}"
            names.append(name)
            if isinstance(value, Known):
                weights.append(numpy_helper.from_array(value.value, name))
            elif value is not None:
                given[name] = value
                infos.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
        results = [f"y{i}_{k}" for k in range(form.outputs)]
        nodes.append(helper.make_node(form.operator, names, results, name=form.name, **form.attributes))
        for k, result in enumerate(results):
            value = types[i][k] if types else None
            outputs.append(helper.make_empty_tensor_value_info(result) if value is None else
                           helper.make_tensor_value_info(result, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    graph = helper.make_graph(nodes, "forms", infos, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", forms_[0].opset)], ir_version=11), given


def by_runtime(form):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        model, given = model_of([form])
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, given)
    except Exception:  # does not know the type
        return None


def by_reference(form):
    try:
        model, given = model_of([form])
        with np.errstate(all="ignore"):
            return [np.asarray(value) for value in ReferenceEvaluator(model).run(None, given)]
    except Exception:  # does not know the type, or is no NumPy
        return None


def by_wider(form, name):
    """In a wider type, and back."""
    old = np.dtype(TYPES[name])
    new = np.dtype(np.float32 if is_float(old) else np.int64)
    if old == np.bool_ or old.itemsize >= new.itemsize or name == "float":
        return None
    wide = retyped(form, old, new)
    values = by_runtime(wide) or by_reference(wide)
    if values is None:
        return None
    if form.operator == "OneHot":
        return [value.astype(form.inputs[2].dtype) for value in values]
    with np.errstate(all="ignore"):
        return [value.astype(old) if value.dtype == new and form.operator not in ("ArgMax", "ArgMin") else value for value in values]


def by_real(form, name):
    """In double precision, truncated to the integers."""
    wide = retyped(form, np.dtype(TYPES[name]), np.dtype(np.float64))
    values = by_runtime(wide) or by_reference(wide)
    if values is None:
        return None
    info = np.iinfo(TYPES[name])
    return [np.array([min(max(int(v), int(info.min)), int(info.max)) for v in np.trunc(value).ravel()], TYPES[name]).reshape(value.shape)
            for value in values]


def by_mean(form, name):
    """The sum, modulo 2^width, by the count."""
    x, axes = form.inputs[0], tuple(form.inputs[1].value) if len(form.inputs) > 1 else ()
    if form.attributes.get("noop_with_empty_axes"):
        return [x]
    axes = axes or tuple(range(x.ndim))
    count = int(np.prod([x.shape[axis] for axis in axes]))
    return [np.asarray(np.sum(x, axis=axes, dtype=x.dtype, keepdims=bool(form.attributes.get("keepdims", 1))) // max(count, 1), x.dtype)]


def by_objects(form, name):
    """Gemm of integers, which neither wrap nor round in between."""
    a, b, *c = [np.asarray(value).astype(object) for value in form.inputs]
    product = (a.T if form.attributes.get("transA") else a) @ (b.T if form.attributes.get("transB") else b)
    width = 8 * np.dtype(TYPES[name]).itemsize
    return [((product + (c[0] if c else 0)) % (1 << width)).astype(np.uint64).astype(f"uint{width}").view(TYPES[name])]


def expected(form, name):
    """The values of a form, or a text that says why they are not known."""
    if name in ("float16", "bfloat16") and form.operator not in ("Cast", "CastLike", "BitCast"):
        values = by_wider(form, name)
        return values if values is not None else by_reference(form) or "nobody computes it"
    found = {"runtime": by_runtime(form), "reference": by_reference(form)}
    who = decided(form, name)
    if who:
        values = found[who] if who in found else {"wide": by_wider, "truncated": by_real, "exact": by_objects, "mean": by_mean}[who](form, name)
        return values if values is not None else "nobody computes it"
    runtime, reference = found["runtime"], found["reference"]
    if runtime is None and reference is None:
        return by_wider(form, name) or "nobody computes it"
    if runtime is None or reference is None:
        return reference if runtime is None else runtime
    text = differences(reference, runtime, rough(form))
    return Undecided(f"the reference and ONNX Runtime differ: {text}", reference, runtime) if text else runtime


class Undecided(list):
    """Values of ONNX Runtime that the reference does not confirm."""

    def __init__(self, text, reference, runtime):
        super().__init__(runtime)
        self.text, self.reference = text, reference


def differences(got, want, tolerance=None):
    """What is different between the outputs of a form, as a text; None when they agree."""
    return next((text for text in (difference(a, b, tolerance) for a, b in zip(got, want)) if text), None)


def difference(got, want, tolerance=None):
    """What is different, as a text; None when the values agree."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"expected {want.dtype.name}{list(want.shape)} but got {got.dtype.name}{list(got.shape)}"
    if not is_float(want.dtype):
        wrong = got != want
    else:
        tolerance = max(tolerance or 0, TOLERANCE[NAMES[want.dtype]])
        with np.errstate(invalid="ignore"):
            a, b = got.astype(np.float64), want.astype(np.float64)
            largest = np.abs(b[np.isfinite(b)]).max(initial=0)
            wrong = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance * (np.abs(b) + min(1, largest))))
            wrong |= np.isinf(b) & (a != b)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return f"{int(wrong.sum())} of {wrong.size} elements, first at {list(at)}: expected {want[at]} but got {got[at]}"


#===----------------------------------------------------------------------===#
# Running
#===----------------------------------------------------------------------===#

def reason_of(stderr):
    """The first error of a call, without the node that it names."""
    lines = [line for line in stderr.splitlines() if line.startswith("error: ")] or stderr.splitlines() or [""]
    text = re.sub(r"^error: (?:\S*model\.onnx: )?(?:node '[^']*' \([^)]*\): )?", "", lines[0])
    return re.sub(r"\s+", " ", text)[:240]


def run_model(forms_, values, trnc, target):
    """How a model of forms ends: one (end, text) for each, or a single one when it did not run."""
    model, given = model_of(forms_, values)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(model, folder / "model.onnx")
        arguments = []
        for key, value in given.items():
            (folder / f"{key}.pb").write_bytes(numpy_helper.from_array(value, key).SerializeToString())
            arguments.append(f"--input={key}=@{folder / key}.pb")
        arguments += [f"--save={info.name}=@{folder / info.name}.pb" for info in model.graph.output]
        try:
            done = subprocess.run([trnc, "run", folder / "model.onnx", f"--target={target}", "--quiet", *arguments], capture_output=True,
                                  text=True, errors="replace", timeout=120)
        except subprocess.TimeoutExpired:
            return ("wrong", "longer than 120 s")
        if done.returncode == 1 and done.stderr.startswith("error: "):
            return ("refused", reason_of(done.stderr))
        if done.returncode:
            return ("wrong", f"exit code {done.returncode}: {reason_of(done.stderr)}")
        ends = []
        for i, (form, want) in enumerate(zip(forms_, values)):
            got = [numpy_helper.to_array(onnx.TensorProto.FromString((folder / f"y{i}_{k}.pb").read_bytes())) for k in range(form.outputs)]
            tolerance = rough(form)
            text = differences(got, want, tolerance)
            if isinstance(want, Undecided):
                same = [name for name, values in (("ONNX Runtime", want), ("the reference", want.reference)) if not differences(got, values, tolerance)]
                text = f"{want.text}; the result is that of {' and '.join(same) or 'neither'}"
            ends.append(("wrong", text) if text else ("matches", ""))
        return ends


def run_group(operator, name, forms_, refused, trnc, target):
    """The forms of an operator in a type: (operator, type, form) -> (end, text)."""
    ends, ready = {}, []
    for form in forms_:
        values = expected(form, name)
        if isinstance(values, str):
            ends[operator, name, form.name] = ("unknown" if values.startswith("nobody") else "wrong", values)
        else:
            ready.append((form, values))
    # Forms that are refused, and those of other opsets, are models of their own.
    alone = [pair for pair in ready if (operator, name, pair[0].name) in refused or pair[0].opset != ready[0][0].opset]
    together = [pair for pair in ready if not any(pair is other for other in alone)]
    if together:
        found = run_model([form for form, _ in together], [values for _, values in together], trnc, target)
        if isinstance(found, list):
            ends.update({(operator, name, form.name): end for (form, _), end in zip(together, found)})
        elif len(together) == 1:
            ends[operator, name, together[0][0].name] = found
        else:
            alone += together
    for form, values in alone:
        found = run_model([form], [values], trnc, target)
        ends[operator, name, form.name] = found[0] if isinstance(found, list) else found
    return ends


def types_of(operator, opset):
    """The types of the first operand that the standard allows, or of the result when there is none."""
    try:
        schema = onnx.defs.get_schema(operator, opset)
    except onnx.defs.SchemaError:
        return []
    parameter = (schema.inputs or schema.outputs)[0]
    for candidate in schema.inputs:
        # Where's type is that of its branches.
        if operator == "Where" and candidate.name == "X":
            parameter = candidate
    allowed = {text.removeprefix("tensor(").removesuffix(")") for text in parameter.types}
    return [name for name in TYPES if name in allowed]


def all_groups(trnc, arguments):
    """(operator, type, forms) that are asked for."""
    done = subprocess.run([trnc, "ops", "--json"], capture_output=True, text=True, check=True)
    supported = {row["name"] for row in json.loads(done.stdout) if row["domain"] == "ai.onnx" and row["supported"]}
    for operator, make in sorted(TABLE.items()):
        if operator not in supported or arguments.only and not any(fnmatch.fnmatch(operator, p) for p in arguments.only):
            continue
        opset = {"Scatter": 10, "Upsample": 9, "BitCast": 26, "TensorScatter": 24, "CumProd": 26, "Swish": 24}.get(operator, OPSET)
        for name in types_of(operator, opset):
            if arguments.types and name not in arguments.types:
                continue
            global RNG
            RNG = np.random.default_rng(zlib.crc32(f"{operator} {name}".encode()))
            TABLE_NAME[0] = operator
            made = [Form(row[0], operator, list(row[1]), row[2], *row[3:]) for row in make(TYPES[name])]
            for form in made:
                form.type = name
                form.opset = max(form.opset, opset) if opset > OPSET else min(form.opset, opset) if opset < OPSET else form.opset
            yield operator, name, [form for form in made if arguments.all or form.name not in STRESS]


def read_refusals():
    """(operator, type, form) -> reason, as committed."""
    if not REFUSALS.exists():
        return {}
    rows = (line.split("\t") for line in REFUSALS.read_text().splitlines() if line and not line.startswith("#"))
    return {(operator, name, form): reason for operator, name, forms_, reason in rows for form in forms_.split(",")}


def write_refusals(refusals):
    merged = {}
    for (operator, name, form), reason in refusals.items():
        merged.setdefault((operator, name, reason), []).append(form)
    lines = ["# Written by test/onnx/element_types.py --update: operator, type, forms that are refused, reason"]
    lines += ["\t".join((operator, name, ",".join(forms_), reason)) for (operator, name, reason), forms_ in sorted(merged.items())]
    REFUSALS.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", help="name patterns of operators")
    parser.add_argument("--types", nargs="*", help="element types, as the standard names them")
    parser.add_argument("--all", action="store_true", help="all shapes")
    parser.add_argument("--target", default="trn2")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--update", action="store_true", help="write the list of refusals")
    parser.add_argument("-v", action="store_true", help="print every form that does not match")
    arguments = parser.parse_args()
    trnc = (arguments.build / "bin/trnc").resolve()
    refused, ends = read_refusals(), {}
    groups = list(all_groups(trnc, arguments))
    if not groups:
        sys.exit("error: no operator is named like that")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(lambda group: run_group(*group, refused, trnc, arguments.target), groups):
            ends.update(found)
            for key, (end, text) in found.items():
                if arguments.v and end != "matches":
                    print(f"{end:<8}{' '.join(key)}: {text}", flush=True)
    wrong = {key: text for key, (end, text) in ends.items() if end == "wrong"}
    now = {key: text for key, (end, text) in ends.items() if end == "refused"}
    counts = {end: sum(1 for found, _ in ends.values() if found == end) for end in ("matches", "refused", "unknown", "wrong")}
    print(f"{len(groups)} operators in a type, {len(ends)} forms: " + ", ".join(f"{count} {end}" for end, count in counts.items() if count))
    if arguments.update:
        write_refusals({**{key: text for key, text in refused.items() if key not in ends}, **now})
        sys.exit(1 if wrong else 0)
    problems = [f"wrong: {' '.join(key)}: {text}" for key, text in wrong.items()]
    problems += [f"refused: {' '.join(key)}: {text}" for key, text in now.items() if key not in refused]
    problems += [f"no longer refused (--update takes it off the list): {' '.join(key)}" for key in refused
                 if key in ends and ends[key][0] == "matches"]
    for text in problems:
        print(text, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
