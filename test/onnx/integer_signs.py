"""Compares how integers are read, with and without a sign, with NumPy.

usage: integer_signs.py --build BUILD [--only REGEX] [--target DEVICE] [--level N] [-v]

Every case makes integers of one type of 8, 16 or 32 bits whose bits are more than the sum, product, difference or conversion
of a machine that computes in numbers would give (they wrap around, or were of the other sign), and reads them with one
operator: in one case alone, in the other beside a second reader that takes the same bits with the other sign. All cases of a
type are one model; each has inputs of its own, so that the compiler fuses it into one body. NumPy says what is right, in
every element.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 23
SHAPE = (3, 67)
TYPES = [np.dtype(f"{sign}int{bits}") for bits in (8, 16, 32) for sign in ("", "u")]


def onnx_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def other_sign(dtype):
    return np.dtype(dtype.name[1:] if dtype.kind == "u" else "u" + dtype.name)


def allows(operator, dtype):
    """Whether the standard has `operator` for elements of `dtype`."""
    schema = onnx.defs.get_schema(operator, OPSET)
    parameter = schema.inputs[1] if operator == "Where" else schema.inputs[0]
    return f"tensor({dtype.name})" in parameter.types


def draw(rng, dtype, nonzero=False):
    """Elements of an integer type: its ends, what is next to them and to the other sign's, and any."""
    info = np.iinfo(dtype)
    middle = 2 ** (info.bits - 1)
    edges = np.array([info.min, info.max, info.min + 1, info.max - 1, middle % (info.max + 1), 0, 1, 2], dtype)
    values = rng.integers(info.min, info.max, SHAPE, dtype=dtype, endpoint=True)
    values = np.where(rng.random(SHAPE) < 0.2, rng.choice(edges, SHAPE), values)
    if nonzero:
        values = np.where((values == 0) | (values == np.array(-1).astype(dtype)), np.array(3, dtype), values)
    return values.astype(dtype)


class Cases:
    """The cases of one type: a model, its inputs, and what each output has to be."""

    def __init__(self, dtype):
        self.dtype, self.rng = dtype, np.random.default_rng(7)
        self.nodes, self.inputs, self.constants, self.expected, self.names = [], {}, {}, {}, {}
        self.wide = other_sign(np.dtype(np.int32 if dtype.kind == "i" else np.uint32))
        self.chosen = self.input("chosen", self.rng.random(SHAPE) < 0.5)
        self.shift = self.input("shift", self.rng.integers(0, dtype.itemsize * 8, SHAPE).astype(dtype))
        makers = {"sum": self.sum, "product": self.product, "difference": self.difference, "other sign": self.from_other,
                  "wider": self.from_wide, "sum of other sign": self.from_other_sum}
        for maker, make in makers.items():
            for reader in self.readers():
                for beside in (False, True):
                    made = make()
                    read = reader(made)
                    if read is None:
                        continue
                    operator, to = self.nodes[-1].op_type, read[1].dtype
                    if beside:
                        read = self.beside(made, read)
                    text = f"{dtype.name} {maker}, {operator}{' ' + to.name if operator == 'Cast' else ''}"
                    self.output(read, f"{text}, {'beside another reader' if beside else 'alone'}")

    def input(self, name, value):
        self.inputs[name] = value
        return name, value

    def constant(self, value, dtype=None):
        value = np.array(value).astype(dtype or self.dtype)
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name, value

    def node(self, operator, operands, value, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, [operand[0] for operand in operands], [name], **attributes))
        return name, np.asarray(value)

    def cast(self, operand, dtype):
        return self.node("Cast", [operand], operand[1].astype(dtype), to=onnx_type(dtype))

    def output(self, value, text):
        self.expected[value[0]] = value[1]
        self.names[value[0]] = text

    # What makes the integers.

    def drawn(self, dtype, nonzero=False):
        return self.as_input(draw(self.rng, dtype, nonzero))

    def sum(self):
        x, k = self.drawn(self.dtype), self.constant(7)
        return self.node("Add", [x, k], x[1] + k[1])

    def product(self):
        x, y = self.drawn(self.dtype), self.drawn(self.dtype)
        return self.node("Mul", [x, y], x[1] * y[1])

    def difference(self):
        x, k = self.drawn(self.dtype), self.constant(3)
        return self.node("Sub", [k, x], k[1] - x[1])

    def from_other(self):
        return self.cast(self.drawn(other_sign(self.dtype)), self.dtype)

    def from_wide(self):
        return self.cast(self.drawn(self.wide), self.dtype)

    def from_other_sum(self):
        x, k = self.drawn(other_sign(self.dtype)), self.constant(5, other_sign(self.dtype))
        return self.cast(self.node("Add", [x, k], x[1] + k[1]), self.dtype)

    # What reads them. Null for what the standard does not have.

    def readers(self):
        for dtype in (np.float32, np.bool_, *TYPES):
            if dtype != self.dtype:
                yield lambda made, dtype=dtype: self.cast(made, dtype)
        for operator, function in {"Less": np.less, "GreaterOrEqual": np.greater_equal, "Max": np.maximum, "Min": np.minimum,
                                   "BitwiseAnd": np.bitwise_and, "BitwiseXor": np.bitwise_xor, "Add": np.add,
                                   "Mul": np.multiply}.items():
            for other in (self.as_input, self.as_sum):
                yield lambda made, operator=operator, function=function, other=other: self.binary(operator, made, other(self.any()),
                                                                                                 function)
        for other in (self.as_input, self.as_sum):
            yield lambda made, other=other: self.binary("Equal", made, other(self.mixed(made)), np.equal)
            yield lambda made, other=other: self.binary("Div", made, other(self.any(nonzero=True)), self.quotient)
            yield lambda made, other=other: self.binary("Mod", made, other(self.any(nonzero=True)), np.mod)
            yield lambda made, other=other: self.choose(made, other(self.any()))
        yield self.clip
        for operator, function in {"Abs": np.abs, "Neg": np.negative, "Sign": np.sign, "BitwiseNot": np.invert}.items():
            yield lambda made, operator=operator, function=function: self.unary(operator, made, function)
        yield self.shifted
        yield self.constant_compare

    def unary(self, operator, made, function):
        return self.node(operator, [made], function(made[1])) if allows(operator, self.dtype) else None

    def binary(self, operator, made, other, function):
        return self.node(operator, [made, other], function(made[1], other[1])) if allows(operator, self.dtype) else None

    def quotient(self, x, y):
        x, y = x.astype(np.int64), y.astype(np.int64)
        return (np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))).astype(self.dtype)

    def choose(self, made, other):
        return self.node("Where", [self.chosen, made, other], np.where(self.chosen[1], made[1], other[1]))

    def any(self, nonzero=False):
        return draw(self.rng, self.dtype, nonzero)

    def mixed(self, made):
        """Elements of which about half are what was made."""
        return np.where(self.rng.random(SHAPE) < 0.5, made[1], self.any())

    # Second operands: read from memory, or made by a sum that wraps around.

    def as_input(self, value):
        return self.input(f"x{len(self.inputs)}", value)

    def as_sum(self, value):
        k = self.constant(np.iinfo(self.dtype).max // 2)
        return self.node("Add", [self.as_input(value - k[1]), k], value)

    def clip(self, made):
        info = np.iinfo(self.dtype)
        low, high = self.constant(info.min // 3 * 2 if info.min else 5), self.constant(info.max // 3 * 2)
        return self.node("Clip", [made, low, high], np.clip(made[1], low[1], high[1]))

    def shifted(self, made):
        if not allows("BitShift", self.dtype):
            return None
        return self.node("BitShift", [made, self.shift], np.right_shift(made[1], self.shift[1]), direction="RIGHT")

    def constant_compare(self, made):
        k = self.constant(np.iinfo(self.dtype).max // 3 * 2)
        return self.node("Greater", [made, k], made[1] > k[1])

    def beside(self, made, read):
        """Both readings as floats, in turns."""
        signed = self.cast(self.cast(made, other_sign(self.dtype)), np.float32)
        number = read if read[1].dtype == np.float32 else self.cast(read, np.float32)
        return self.node("Where", [self.chosen, number, signed], np.where(self.chosen[1], number[1], signed[1]))

    def model(self):
        info = lambda name, value: helper.make_tensor_value_info(name, onnx_type(value.dtype), list(value.shape))
        graph = helper.make_graph(self.nodes, "signs", [info(*pair) for pair in self.inputs.items()],
                                  [info(*pair) for pair in self.expected.items()],
                                  [numpy_helper.from_array(value, name) for name, value in self.constants.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def run(cases, trnc, flags):
    """The texts of what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(cases.model(), folder / "model.onnx")
        for name, value in cases.inputs.items():
            np.save(folder / f"{name}.npy", value)
        arguments = [f"--input={name}=@{folder / name}.npy" for name in cases.inputs]
        arguments += [f"--save={name}=@{folder / name}.npy" for name in cases.expected]
        done = subprocess.run([trnc, "run", folder / "model.onnx", "--quiet", *flags, *arguments], capture_output=True, text=True,
                              errors="replace", timeout=600)
        if done.returncode:
            return [f"{cases.dtype.name}: exit code {done.returncode}: {done.stderr.strip()[:400] or 'no message'}"]
        wrong = []
        for name, value in cases.expected.items():
            got = np.load(folder / f"{name}.npy")
            if got.dtype != value.dtype or got.shape != value.shape:
                wrong.append(f"{cases.names[name]}: expected {value.dtype}{list(value.shape)} but got {got.dtype}{list(got.shape)}")
                continue
            at = np.argwhere(got != value)
            if len(at):
                first = tuple(at[0])
                wrong.append(f"{cases.names[name]}: {len(at)} of {value.size} elements; expected {value[first]} but got {got[first]}")
        return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="", help="a pattern for names of types")
    parser.add_argument("--target", default="trn2")
    parser.add_argument("--level", type=int, default=2, help="the optimisation level, 0 to 3")
    parser.add_argument("-v", action="store_true", help="print every type")
    arguments = parser.parse_args()
    trnc = (arguments.build / "bin/trnc").resolve()
    count = wrong = 0
    for dtype in TYPES:
        if not re.search(arguments.only, dtype.name):
            continue
        with np.errstate(all="ignore"):
            cases = Cases(dtype)
        texts = run(cases, trnc, [f"--target={arguments.target}", f"-O{arguments.level}"])
        count, wrong = count + len(cases.expected), wrong + len(texts)
        for text in texts or [f"{dtype.name}: right"] * arguments.v:
            print(text, flush=True)
    print(f"{count} readings of integers: {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
