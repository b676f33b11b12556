"""Compares random chains of integer operators with NumPy, in all integer types and at their ends.

usage: random_integers.py --build BUILD [--seeds FIRST..LAST] [--target DEVICE] [--jobs N] [-v]

A chain starts from inputs and constants of one or two integer types (8 to 64 bits, signed and unsigned) whose elements are
powers of two and their neighbours, the ends of the types, and numbers of any magnitude; up to 8 operators follow, each
allowed by the standard's schema for its type, casts among them. Integers wrap around in the width of their type, as in
NumPy; where the standard leaves a result undefined (division by 0, the smallest number by -1, shifts by the width) operands
are drawn so that it does not happen. A seed is a model of several chains, compiled and run with every check on; each chain
is an output of its own, and has to be right in every element. A model that differs is tried chain by chain, and the first
wrong chain is printed with its operators. The default seeds take less than a minute.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 23
TYPES = {f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
CHAINS = 6
SHAPES = ((), (1,), (5,), (3, 4), (129, 2), (2, 1, 7))


def onnx_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def allows(operator, dtype):
    """Whether the standard has `operator` for elements of `dtype`."""
    schema = onnx.defs.get_schema(operator, OPSET)
    parameter = schema.inputs[1] if operator == "Where" else schema.inputs[0]
    return f"tensor({np.dtype(dtype).name})" in parameter.types


def draw(rng, dtype, shape, nonzero=False):
    """Elements of an integer type: its ends, powers of two and their neighbours, small ones, and any."""
    info = np.iinfo(dtype)
    edges = [0, 1, 2, 3, 10, info.max, info.min]
    edges += [sign * 2 ** power + near for power in (7, 8, 15, 16, 24, 31, 32, 33, 53, 62, 63, 64) for near in (-1, 0, 1) for sign in (1, -1)]
    edges = [value for value in edges if info.min <= value <= info.max]
    values = []
    for _ in range(int(np.prod(shape))):
        kind = rng.random()
        if kind < 0.5:
            values.append(edges[int(rng.integers(len(edges)))])
        else:
            bits = int(rng.integers(1, info.bits + 1))
            value = int(rng.integers(0, 2 ** min(bits, 63), dtype=np.uint64)) * (-1 if info.min < 0 and rng.random() < 0.5 else 1)
            values.append(min(max(value, info.min), info.max))
        if nonzero and values[-1] in (0, -1):
            values[-1] = 3
    return np.array(values, dtype=dtype).reshape(shape)


class Chain:
    """Operators with the value that NumPy gives for each."""

    def __init__(self, rng, prefix):
        self.rng, self.prefix = rng, prefix
        self.nodes, self.inputs, self.constants, self.values, self.texts = [], {}, {}, [], []
        self.shape = SHAPES[int(rng.integers(len(SHAPES)))]
        for _ in range(int(rng.integers(1, 3))):
            dtype = self.any_type()
            self.values.append((self.operand(draw(rng, dtype, self.shape), constant=False), self.last))
        for _ in range(int(rng.integers(2, 9))):
            self.grow()
        self.result, self.value = self.values[-1]

    def any_type(self):
        # Half of the time 64 bits.
        names = list(TYPES)
        return TYPES[str(self.rng.choice(["int64", "uint64"] if self.rng.random() < 0.5 else names))]

    def operand(self, value, constant=None):
        """The name of an input or constant with a value."""
        constant = self.rng.random() < 0.6 if constant is None else constant
        name = f"{self.prefix}_{'c' if constant else 'x'}{len(self.inputs) + len(self.constants)}"
        (self.constants if constant else self.inputs)[name] = value
        self.last = value
        return name

    def fixed(self, *numbers):
        """A constant list of sizes, axes or positions."""
        return self.operand(np.array(numbers, np.int64), constant=True)

    def add(self, operator, names, value, text="", **attributes):
        name = f"{self.prefix}_v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, names, [name], **attributes))
        self.texts.append(operator + text)
        self.values.append((name, np.asarray(value)))

    def other(self, dtype, shape, **options):
        """A second operand: a value that is there, or a new one, perhaps of fewer dimensions."""
        there = [pair for pair in self.values if pair[1].dtype == dtype and pair[1].shape == shape]
        if there and not options and self.rng.random() < 0.4:
            return there[int(self.rng.integers(len(there)))]
        if self.rng.random() < 0.4:
            shape = shape[len(shape) // 2:] if self.rng.random() < 0.5 else ()
        value = draw(self.rng, dtype, shape, **options)
        return self.operand(value), value

    def grow(self):
        name, x = self.values[-1] if self.rng.random() < 0.8 else self.values[int(self.rng.integers(len(self.values)))]
        if x.dtype == np.bool_:
            to = self.any_type()
            return self.add("Cast", [name], x.astype(to), f"({to.name})", to=onnx_type(to))
        choices = [c for c in (self.binary, self.binary, self.binary, self.cast, self.cast, self.unary, self.compare, self.choose, self.clip,
                               self.shift, self.reduce, self.move, self.power, self.product)]
        choices[int(self.rng.integers(len(choices)))](name, x)

    def cast(self, name, x):
        to = self.any_type() if self.rng.random() < 0.9 else np.dtype(np.bool_)
        self.add("Cast", [name], x.astype(to), f"({to.name})", to=onnx_type(to))

    def binary(self, name, x):
        operator = str(self.rng.choice(["Add", "Sub", "Mul", "Div", "Mod", "Mod", "Min", "Max", "BitwiseAnd", "BitwiseOr", "BitwiseXor"]))
        if not allows(operator, x.dtype):
            return
        fmod = int(self.rng.integers(2))
        b, y = self.other(x.dtype, x.shape, **({"nonzero": True} if operator in ("Div", "Mod") else {}))
        if operator == "Div":
            value = (np.abs(x.astype(object)) // np.abs(y.astype(object)) * np.sign(x.astype(object)) * np.sign(y.astype(object)))
            value = np.asarray(value, dtype=object).astype(x.dtype)
        elif operator == "Mod":
            value = np.fmod(x, y) if fmod else np.mod(x, y)
        else:
            value = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum, "BitwiseAnd": np.bitwise_and,
                     "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}[operator](x, y)
        self.add(operator, [name, b], value, **({"fmod": fmod} if operator == "Mod" else {}))

    def unary(self, name, x):
        operator = str(self.rng.choice(["Neg", "Abs", "Sign", "BitwiseNot"]))
        if allows(operator, x.dtype):
            self.add(operator, [name], {"Neg": np.negative, "Abs": np.abs, "Sign": np.sign, "BitwiseNot": np.invert}[operator](x))

    def compare(self, name, x):
        operator = str(self.rng.choice(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]))
        b, y = self.other(x.dtype, x.shape)
        value = {"Equal": np.equal, "Less": np.less, "Greater": np.greater, "LessOrEqual": np.less_equal,
                 "GreaterOrEqual": np.greater_equal}[operator](x, y)
        self.add(operator, [name, b], value)

    def choose(self, name, x):
        condition = self.rng.integers(0, 2, x.shape).astype(np.bool_)
        b, y = self.other(x.dtype, x.shape)
        self.add("Where", [self.operand(condition), name, b], np.where(condition, x, y).astype(x.dtype))

    def clip(self, name, x):
        low, high = np.sort(draw(self.rng, x.dtype, (2,)))
        if self.rng.random() < 0.3:
            return self.add("Clip", [name, "", self.operand(np.asarray(high))], np.minimum(x, high))
        self.add("Clip", [name, self.operand(np.asarray(low)), self.operand(np.asarray(high))], np.clip(x, low, high))

    def shift(self, name, x):
        if x.dtype.kind != "u":
            return
        left = bool(self.rng.integers(2))
        y = self.rng.integers(0, x.dtype.itemsize * 8, x.shape).astype(x.dtype)
        self.add("BitShift", [name, self.operand(y)], np.left_shift(x, y) if left else np.right_shift(x, y), direction="LEFT" if left else "RIGHT")

    def reduce(self, name, x):
        operator = str(self.rng.choice(["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1", "CumSum"]))
        if x.ndim == 0 or not allows(operator, x.dtype):
            return
        axis = int(self.rng.integers(x.ndim))
        if operator == "CumSum":
            return self.add("CumSum", [name, self.operand(np.array(axis, np.int64), constant=True)], np.cumsum(x, axis, dtype=x.dtype))
        function = {"ReduceSum": lambda: np.sum(x, axis, dtype=x.dtype), "ReduceMax": lambda: np.max(x, axis),
                    "ReduceMin": lambda: np.min(x, axis), "ReduceProd": lambda: np.prod(x, axis, dtype=x.dtype),
                    "ReduceSumSquare": lambda: np.sum(x * x, axis, dtype=x.dtype),
                    "ReduceL1": lambda: np.sum(np.abs(x), axis, dtype=x.dtype)}[operator]
        self.add(operator, [name, self.fixed(axis)], function(), keepdims=0)

    def move(self, name, x):
        kind = int(self.rng.integers(6))
        if x.ndim == 0:
            self.add("Unsqueeze", [name, self.fixed(0)], x[None])
        elif kind == 0:
            self.add("Transpose", [name], x.T)
        elif kind == 1:
            self.add("Reshape", [name, self.fixed(-1)], x.reshape(-1))
        elif kind == 2:
            self.add("Slice", [name, self.fixed(-1), self.fixed(-2 ** 63 + 1), self.fixed(0), self.fixed(-1)], x[::-1])
        elif kind == 3:
            b, y = self.other(x.dtype, x.shape)
            y = np.broadcast_to(y, x.shape)
            if b in self.constants or b in self.inputs:
                (self.constants if b in self.constants else self.inputs)[b] = y.copy()
            self.add("Concat", [name, b], np.concatenate([x, y], 0), axis=0)
        elif kind == 4:
            filler = draw(self.rng, x.dtype, ())
            self.add("Pad", [name, self.fixed(*[1] * (2 * x.ndim)), self.operand(filler)], np.pad(x, 1, constant_values=filler))
        else:
            rows = self.rng.integers(-x.shape[0], x.shape[0], (3,))
            self.add("Gather", [name, self.operand(rows.astype(np.int64))], np.take(x, rows, 0), axis=0)

    def power(self, name, x):
        if allows("Pow", x.dtype):
            y = self.rng.integers(0, 70, x.shape).astype(x.dtype)
            self.add("Pow", [name, self.operand(y)], np.asarray(np.power(x, y)))

    def product(self, name, x):
        if x.ndim == 2 and allows("MatMul", x.dtype):
            y = draw(self.rng, x.dtype, (x.shape[1], 3))
            self.add("MatMul", [name, self.operand(y)], np.matmul(x, y))

    def text(self):
        kinds = " ".join(value.dtype.name + str(list(value.shape)) for value in [*self.inputs.values()])
        return f"{kinds}: {' '.join(self.texts)}"


def run(chains, trnc, target):
    """What is wrong with a model of chains: (chain, text), or None."""
    info = lambda name, value: helper.make_tensor_value_info(name, onnx_type(value.dtype), list(value.shape))
    inputs = {name: value for chain in chains for name, value in chain.inputs.items()}
    graph = helper.make_graph([node for chain in chains for node in chain.nodes], "chains", [info(*pair) for pair in inputs.items()],
                              [info(chain.result, chain.value) for chain in chains],
                              [numpy_helper.from_array(value, name) for chain in chains for name, value in chain.constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(model, folder / "model.onnx")
        arguments = []
        for name, value in inputs.items():
            np.save(folder / f"{name}.npy", value)
            arguments.append(f"--input={name}=@{folder / name}.npy")
        arguments += [f"--save={chain.result}=@{folder / chain.result}.npy" for chain in chains]
        try:
            done = subprocess.run([trnc, "run", folder / "model.onnx", f"--target={target}", "--quiet", *arguments], capture_output=True,
                                  text=True, errors="replace", timeout=300)
        except subprocess.TimeoutExpired:
            return chains[0], "longer than 300 s"
        if done.returncode:
            return chains[0], f"exit code {done.returncode}: {done.stderr.strip().splitlines()[0] if done.stderr.strip() else 'no message'}"
        for chain in chains:
            got = np.load(folder / f"{chain.result}.npy")
            if got.dtype != chain.value.dtype or got.shape != chain.value.shape:
                return chain, f"expected {chain.value.dtype}{list(chain.value.shape)} but got {got.dtype}{list(got.shape)}"
            wrong = np.argwhere(np.atleast_1d(got != chain.value))
            if len(wrong):
                at = tuple(wrong[0]) if chain.value.ndim else ()
                return chain, f"element {[int(i) for i in at]}: expected {chain.value[at]} but got {got[at]}"
    return None


def try_seed(seed, trnc, target):
    """The first wrong chain of a seed, as a text; None when all are right."""
    with np.errstate(all="ignore"):
        chains = [Chain(np.random.default_rng([seed, number]), f"c{number}") for number in range(CHAINS)]
    chains = [chain for chain in chains if chain.nodes and chain.result not in chain.inputs]
    found = run(chains, trnc, target) if chains else None
    if not found:
        return None
    for chain in chains:
        alone = run([chain], trnc, target)
        if alone:
            return f"seed {seed}, {chain.prefix}: {chain.text()}: {alone[1]}"
    return f"seed {seed}: all chains together: {found[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--seeds", default="0..60", help="FIRST..LAST, without the last")
    parser.add_argument("--target", default="trn2")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", action="store_true", help="print every seed")
    arguments = parser.parse_args()
    first, last = map(int, arguments.seeds.split(".."))
    trnc = (arguments.build / "bin/trnc").resolve()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for seed, text in zip(range(first, last), pool.map(lambda seed: try_seed(seed, trnc, arguments.target), range(first, last))):
            failed += text is not None
            if text or arguments.v:
                print(text or f"seed {seed}: right", flush=True)
    print(f"{last - first} models of {CHAINS} chains of integers: {failed} wrong")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
