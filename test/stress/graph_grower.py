"""Grows random valid ONNX models whose numbers are known at every node.

A graph grows node by node. Each step draws an operator from STEPS, its operands from the values at hand, and its
attributes; ONNX Runtime then computes the node alone. What it refuses, what overflows and what is ill-conditioned is
dropped, so that every graph is valid, of the opset that it says, and has a result worth comparing.

Every value is carried in several copies: the exact one, and others in which each node's result was moved by what fp32
(or the narrower type in use) may be off by. Their spread is what the graph's own conditioning makes of such errors, and
thereby the tolerance of a comparison: see `tolerated`.
"""
import dataclasses
import math

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOAT, HALF, DOUBLE = np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.float64)
FLOATS = (FLOAT, HALF, DOUBLE)
BOOL, INT32, INT64, INT8, UINT8 = (np.dtype(t) for t in (np.bool_, np.int32, np.int64, np.int8, np.uint8))
# What one node of each type may be off by: rounding, another order of sums, and the tables of the device's functions.
NOISE = {FLOAT: 4e-6, HALF: 1.5e-3, DOUBLE: 1e-13}
# Moved copies that every value is carried in while the graph grows.
COPIES = 3
# The largest share of its own size by which a value may move before the node that makes it is dropped.
CONDITIONING = {FLOAT: 2e-3, HALF: 5e-2, DOUBLE: 1e-8}
# Larger numbers are dropped: sums of their squares, and integers as floats, stay exact enough to compare.
LARGEST = {"f": 2000.0, "i": 100000, "u": 100000, "b": 1}


def session_options():
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return options


def info(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


@dataclasses.dataclass
class Value:
    """A tensor: its exact copy first. `origin` is input, weight or node."""
    copies: list
    origin: str

    @property
    def array(self):
        return self.copies[0]


def spread(copies):
    """How far the moved copies are from the exact one, per element; None where their shapes differ."""
    exact = copies[0].astype(np.float64)
    if any(c.shape != copies[0].shape for c in copies[1:]):
        raise Unfit
    with np.errstate(all="ignore"):
        moved = [np.abs(c.astype(np.float64) - exact) for c in copies[1:]]
        moved = [np.where(c.astype(np.float64) == exact, 0, np.where(np.isnan(m), np.inf, m)) for c, m in zip(copies[1:], moved)]
    return np.max(moved, axis=0) if moved else np.zeros_like(exact)


def size_of(array):
    """The root of the mean square of the finite elements."""
    finite = array[np.isfinite(array)].astype(np.float64) if array.dtype.kind == "f" else array.astype(np.float64)
    return float(np.sqrt(np.mean(finite ** 2))) if finite.size else 0.0


def tolerated(copies, noise=None):
    """The difference allowed per element: rounding of the element itself, of the tensor's size, and the spread."""
    exact = copies[0]
    if exact.dtype.kind != "f":
        # Quantised data is computed in floats, whose type the caller may have narrowed.
        return spread(copies) + (1 + noise * np.abs(exact.astype(np.float64)) if noise and exact.dtype in (INT8, UINT8) else 0)
    noise = noise or NOISE[exact.dtype]
    moved = spread(copies)
    finite = moved[np.isfinite(moved)]
    usual = float(np.sqrt(np.mean(finite ** 2))) if finite.size else 0.0
    own = np.abs(np.where(np.isfinite(exact), exact, 0).astype(np.float64))
    return 2 * noise * own + 0.5 * noise * size_of(exact) + 8 * moved + 6 * usual


class Model:
    """Nodes, weights, inputs and outputs, with the value of each name; what a finding is reduced to is one, too."""

    def __init__(self, opset):
        self.opset, self.nodes, self.values, self.outputs = opset, [], {}, []

    def names(self, origin):
        return [n for n, v in self.values.items() if v.origin == origin]

    def proto(self):
        used = {i for n in self.nodes for i in reads(n)} | set(self.outputs)
        inputs = [info(n, self.values[n].array) for n in self.names("input") if n in used]
        weights = [numpy_helper.from_array(self.values[n].array, n) for n in self.names("weight") if n in used]
        outputs = [info(n, self.values[n].array) for n in self.outputs]
        graph = helper.make_graph(self.nodes, "random", inputs, outputs, weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)

    def feeds(self):
        used = {i for n in self.nodes for i in reads(n)} | set(self.outputs)
        return {n: self.values[n].array for n in self.names("input") if n in used}

    def recomputed(self, copies, noise, seed, narrow=False):
        """The outputs' values in `copies` moved copies more, with the given noise for floats; `narrow` moves inputs, too."""
        rng = np.random.default_rng(seed)
        values = {n: [v.array] + [moved(v.array, rng, noise) if narrow else v.array for _ in range(copies)]
                  for n, v in self.values.items() if v.origin != "node"}
        for node in self.nodes:
            outputs = compute(node, self.opset, {n: Value(values[n], self.values[n].origin) for n in reads(node)}, rng, noise)
            values.update(outputs)
        return [values[n] for n in self.outputs]


def reads(node):
    """The names that a node reads, those of its bodies included."""
    names = [i for i in node.input if i]
    for attribute in node.attribute:
        if attribute.HasField("g"):
            inner = {o for n in attribute.g.node for o in n.output} | {i.name for i in attribute.g.input}
            inner |= {i.name for i in attribute.g.initializer}
            names += [i for n in attribute.g.node for i in reads(n) if i not in inner]
            names += [o.name for o in attribute.g.output if o.name not in inner]
    return list(dict.fromkeys(names))


def compute(node, opset, values, rng, noise=None):
    """The outputs of one node in every copy: name to list. Copies that read the same are computed once."""
    weights = [numpy_helper.from_array(v.array, n) for n, v in values.items() if v.origin == "weight"]
    inputs = [info(n, v.array) for n, v in values.items() if v.origin != "weight"]
    outputs = [o for o in node.output if o]
    graph = helper.make_graph([node], "node", inputs, [onnx.ValueInfoProto(name=o) for o in outputs], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), session_options(), providers=["CPUExecutionProvider"])
    copies = len(next(iter(values.values())).copies) if values else COPIES + 1
    results = {o: [] for o in outputs}
    for copy in range(copies):
        feeds = {n: v.copies[copy] for n, v in values.items() if v.origin != "weight"}
        if copy and all(f is v.array for f, v in zip(feeds.values(), (v for v in values.values() if v.origin != "weight"))):
            computed = [results[o][0] for o in outputs]
        else:
            computed = session.run(outputs, feeds)
        for name, array in zip(outputs, computed):
            results[name].append(moved(np.asarray(array), rng, noise) if copy and node.op_type not in EXACT else np.asarray(array))
    return results


# Nodes that move data only: what they give is exact.
EXACT = {"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile", "Concat", "Split", "Slice", "Pad", "Gather",
         "GatherElements", "GatherND", "Where", "Identity", "DepthToSpace", "SpaceToDepth", "MaxPool", "Relu", "Neg", "Abs",
         "Max", "Min", "Sign", "Floor", "Ceil", "Round"}


WINDOWS = {"Conv", "ConvInteger", "QLinearConv", "MaxPool", "AveragePool", "LpPool"}


def moved(array, rng, noise):
    """A copy of floats, each moved by a share of itself and a smaller one of the tensor's size."""
    if array.dtype not in NOISE:
        return array
    noise = max(noise or 0, NOISE[array.dtype])
    shift = rng.standard_normal(array.shape) * noise * array + rng.standard_normal(array.shape) * 0.1 * noise * size_of(array)
    with np.errstate(all="ignore"):
        return np.where(array == 0, array, array + shift).astype(array.dtype)


@dataclasses.dataclass
class Scale:
    """How large a graph is: what its sizes are drawn from, and the bounds of a tensor and of a node's products."""
    sizes: tuple
    elements: int
    products: int
    nodes: tuple
    rank: int


SCALES = {
    "small": Scale((1, 2, 3, 4, 5, 7, 8, 11, 16, 17), 20_000, 4_000_000, (3, 25), 5),
    "edges": Scale((1, 2, 3, 31, 32, 33, 64, 65, 127, 128, 129, 257, 513), 300_000, 40_000_000, (3, 12), 4),
    "picture": Scale((1, 3, 16, 56, 64, 96, 112, 130, 200, 224, 300), 1_200_000, 120_000_000, (4, 12), 4),
    "long": Scale((1, 2, 5, 1000, 1021, 4096, 5003, 20000), 400_000, 40_000_000, (3, 10), 3),
}


class Unfit(Exception):
    """A step that cannot be taken: no operand fits, or the node is not worth having."""


class Grower:
    """One random graph of a seed."""

    def __init__(self, seed, only=None):
        self.rng = np.random.default_rng(seed)
        self.noise_rng = np.random.default_rng(seed + 1_000_000_007)
        self.opset = self.pick(*range(9, 22), 13, 13, 17, 17, 17, 18, 18, 20, 21, 21)
        self.kind = self.draw({"small": 58, "edges": 20, "picture": 14, "long": 8})
        self.scale = SCALES[self.kind]
        self.type = self.draw({FLOAT: 88, HALF: 7, DOUBLE: 5})
        self.model = Model(self.opset)
        self.log = []
        self.only = only

    # Draws.
    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def draw(self, weights):
        total = np.cumsum(list(weights.values()))
        return list(weights)[int(np.searchsorted(total, self.rng.random() * total[-1], side="right"))]

    def chance(self, share):
        return self.rng.random() < share

    def size(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def dimension(self):
        return int(self.pick(*self.scale.sizes)) if self.chance(0.8) else self.size(1, max(self.scale.sizes) // 2)

    def shape(self, rank=None, budget=None):
        rank = self.draw({0: 1, 1: 8, 2: 22, 3: 28, 4: 36, 5: 5}) if rank is None else rank
        rank = min(rank, max(self.scale.rank, 2))
        budget = budget or self.scale.elements // 2
        dims = [1 if self.chance(0.1) else self.dimension() for _ in range(rank)]
        if rank >= 3 and self.chance(0.6):
            dims[0] = self.pick(1, 1, 2, 3)
        while math.prod(dims) > budget:
            k = int(np.argmax(dims))
            dims[k] = max(1, dims[k] // self.pick(2, 3))
        if dims and self.chance(0.006):
            dims[self.size(0, rank - 1)] = 0
        return tuple(dims)

    def floats(self, shape, dtype=None):
        values = self.rng.standard_normal(shape)
        if self.chance(0.15):
            values = np.round(values * 2)
        return np.asarray(values, dtype or self.type)

    def numbers(self, shape, dtype):
        if dtype.kind == "f":
            return self.floats(shape, dtype)
        if dtype == BOOL:
            return np.asarray(self.rng.random(shape) < 0.5)
        low, high = {"i": (-9, 10), "u": (0, 20)}[dtype.kind]
        return np.asarray(self.rng.integers(low, high, shape), dtype)

    # Values.
    def fresh(self, array, origin):
        name = f"{'x' if origin == 'input' else 'w'}{len(self.model.values)}"
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        self.model.values[name] = Value([array] * (COPIES + 1), origin)
        return name

    def weight(self, array):
        return self.fresh(array, "weight")

    def ints(self, *values):
        return self.weight(np.array(values, np.int64))

    def parameter(self, array):
        """A weight, or now and then an input."""
        return self.fresh(array, "input" if self.chance(0.08) else "weight")

    def input(self, shape, dtype=None):
        return self.fresh(self.numbers(shape, dtype or self.type), "input")

    def of(self, name):
        return self.model.values[name].array

    def known(self, accept):
        return [n for n, v in self.model.values.items() if v.origin != "weight" and accept(v.array)]

    def operand(self, accept=lambda a: a.dtype.kind == "f", make=None):
        """A value at hand that fits, recent ones more often; else a new input."""
        names = self.known(accept)
        if names and not (make and self.chance(0.06)):
            back = min(int(self.rng.exponential(1.6)), len(names) - 1) if self.chance(0.8) else self.size(0, len(names) - 1)
            return names[-1 - back]
        if not make:
            raise Unfit
        return make()

    def tensor(self, low=0, high=9, dtype=None, accept=None):
        """A float tensor of a rank between the two."""
        fits = lambda a: (a.dtype.kind == "f" if dtype is None else a.dtype == dtype) and low <= a.ndim <= high and (accept is None or accept(a))
        def make():
            for _ in range(20):
                shape = self.shape()
                if low <= len(shape) <= high and (accept is None or accept(np.empty(shape))):
                    return self.input(shape, dtype)
            raise Unfit
        return self.operand(fits, make)

    def partner(self, name, dtype=None):
        """An operand that broadcasts with `name`: one at hand, a weight or an input."""
        array = self.of(name)
        dtype = dtype or array.dtype
        def fits(other):
            if other.dtype != dtype:
                return False
            try:
                return math.prod(np.broadcast_shapes(array.shape, other.shape)) <= self.scale.elements
            except ValueError:
                return False
        names = self.known(fits)
        if names and self.chance(0.6):
            return self.pick(*names)
        shape = list(array.shape)
        for k in range(len(shape)):
            if self.chance(0.3):
                shape[k] = 1
        shape = shape[self.size(0, len(shape)) if self.chance(0.4) else 0:]
        if self.chance(0.1):
            shape = [self.pick(1, 2, 3)] * (array.ndim - len(shape) + 1) + shape
        elif array.ndim and array.shape and self.chance(0.15):
            shape = [self.dimension() if n == 1 else d for n, d in zip(array.shape, ([1] * array.ndim + shape)[-array.ndim:])]
        if math.prod(shape) > self.scale.elements:
            shape = []
        return self.fresh(self.numbers(tuple(shape), dtype), "weight" if self.chance(0.6) else "input")

    def bound(self, *names):
        """Refuses operands that do not broadcast, or to more than a tensor may have."""
        try:
            shape = np.broadcast_shapes(*[self.of(n).shape for n in names])
        except ValueError:
            raise Unfit from None
        if math.prod(shape) > self.scale.elements:
            raise Unfit

    # Nodes.
    def node(self, op_type, *inputs, outputs=1, **attributes):
        """The first output's name, or all."""
        count = len(self.model.nodes)
        names = [f"v{count}_{i}" for i in range(outputs)]
        node = helper.make_node(op_type, list(inputs), names, f"{op_type}_{count}", **attributes)
        read = {n: self.model.values[n] for n in reads(node)}
        try:
            computed = compute(node, self.opset, read, self.noise_rng)
        except Exception as error:  # whatever ONNX Runtime has against the node
            self.log.append(f"{op_type}: {str(error).splitlines()[0][:160]}")
            raise Unfit from None
        for copies in computed.values():
            # A window that is larger than the picture leaves nothing, which the standard does not allow.
            left = copies[0].size or op_type not in WINDOWS
            if not left or not self.worth(copies):
                self.log.append(f"{op_type}: dropped")
                raise Unfit
        self.model.nodes.append(node)
        for name, copies in computed.items():
            self.model.values[name] = Value(copies, "node")
        return names[0] if outputs == 1 else names

    def worth(self, copies):
        exact = copies[0]
        if exact.size > self.scale.elements or exact.dtype.kind not in LARGEST or exact.ndim > 7:
            return False
        moved = spread(copies)
        if moved is None:
            return False
        if not exact.size:
            return True
        finite = np.isfinite(exact) if exact.dtype.kind == "f" else np.ones(exact.shape, bool)
        if not finite.all() and not (exact.dtype == FLOAT and finite.mean() > 0.3 and self.chance(0.04)):
            return False
        if not finite.any() or np.abs(exact[finite].astype(np.float64)).max() > LARGEST[exact.dtype.kind]:
            return False
        if exact.dtype.kind != "f":
            return (moved != 0).mean() < 0.02
        tiny = np.abs(exact[finite])
        tiny = tiny[tiny > 0]
        if tiny.size and (tiny.max() < 1e-6 or tiny.min() < 1e-28):
            return False  # denormals are a device's own affair
        return float(np.sqrt(np.mean(np.square(moved[finite])))) <= CONDITIONING[exact.dtype] * (size_of(exact) or 1)

    def grow(self):
        """Grows the graph; False when nothing came of it."""
        target = self.size(*self.scale.nodes)
        names = [s for s in STEPS if self.only is None or s in self.only]
        # A graph is of some operators more than of others: pairs that matter meet more often.
        favourite = set(self.rng.choice(names, size=min(len(names), 8), replace=False))
        weights = {n: STEPS[n][1] * (4 if n in favourite else 1) for n in names}
        for _ in range(target * 4):
            if len(self.model.nodes) >= target:
                break
            function, _, lowest = STEPS[self.draw(weights)]
            if self.opset >= lowest:
                try:
                    function(self)
                except Unfit:
                    pass
        if not self.model.nodes:
            return False
        read = {i for n in self.model.nodes for i in reads(n)}
        made = [o for n in self.model.nodes for o in n.output if o]
        ends = [o for o in made if o not in read]
        inner = [o for o in made if o in read and self.chance(0.06)]
        self.model.outputs = ends + inner
        return True


# name: (step, weight, lowest opset)
STEPS = {}


def step(weight=1.0, opset=9, name=None):
    def register(function):
        STEPS[name or function.__name__] = (function, weight, opset)
        return function
    return register


def unary(op_type, opset=9, weight=0.5, **choices):
    """An elementwise function; an attribute is drawn from the choices of its name, or left out."""
    def run(g):
        attributes = {k: g.pick(*v) for k, v in choices.items() if g.chance(0.7)}
        return g.node(op_type, g.tensor(), **attributes)
    STEPS[op_type] = (run, weight, opset)


for plain in ("Abs Neg Relu Sigmoid Tanh Exp Log Sqrt Reciprocal Floor Ceil Erf Sin Cos Tan Atan Asin Acos Sinh Cosh Asinh Acosh Atanh "
              "Sign Softplus Softsign Identity").split():
    unary(plain)
unary("Relu", weight=2)
unary("Sigmoid", weight=1)
unary("Tanh", weight=1)
unary("Round", 11)
unary("IsNaN", weight=0.1)
unary("IsInf", 10, weight=0.1)
unary("Elu", alpha=(0.5, 1.5))
unary("Selu", alpha=(1.2, 1.7), gamma=(0.9, 1.1))
unary("Celu", 12, alpha=(0.5, 2.0))
unary("LeakyRelu", alpha=(0.1, 0.3, 1.5, -0.2))
unary("HardSigmoid", alpha=(0.1, 0.3), beta=(0.4, 0.6))
unary("HardSwish", 14)
# Bounds that all types have: the standard compares in the type of the elements, ONNX Runtime in fp32.
unary("ThresholdedRelu", 10, alpha=(0.25, 0.75))
unary("Shrink", bias=(0.0, 0.25), lambd=(0.25, 0.625))
unary("Gelu", 20, approximate=("none", "tanh"))
unary("Mish", 18)
unary("GlobalAveragePool")
unary("GlobalMaxPool")


@step()
def clip(g):
    x = g.tensor()
    low, high = -g.rng.random(), g.rng.random()
    if g.opset < 11:
        return g.node("Clip", x, min=float(low), max=float(high))
    bound = lambda v: g.parameter(np.array(v, g.of(x).dtype))
    return g.node("Clip", x, *g.pick(lambda: [bound(low), bound(high)], lambda: [bound(low)], lambda: ["", bound(high)])())


@step()
def prelu(g):
    x = g.tensor(1)
    shape = list(g.of(x).shape)
    slope = g.pick([1], shape[1:] and [shape[1]] + [1] * (len(shape) - 2) or [1], shape)
    return g.node("PRelu", x, g.parameter(g.floats(slope, g.of(x).dtype)))


@step(4)
def arithmetic(g):
    x = g.tensor()
    pair = [x, g.partner(x)]
    if g.chance(0.4):
        pair.reverse()
    return g.node(g.pick("Add", "Add", "Mul", "Mul", "Sub", "Div"), *pair)


@step(1)
def extremes(g):
    x = g.tensor()
    operands = [x] + [g.partner(x) for _ in range(g.size(0, 3))]
    g.bound(*operands)
    return g.node(g.pick("Max", "Min", "Sum", "Mean"), *operands)


@step(0.5)
def power(g):
    x = g.tensor()
    if g.chance(0.6):
        return g.node("Pow", x, g.weight(np.array(g.pick(2.0, 3.0, 0.5, -1.0, 4.0, 1.0), g.of(x).dtype)))
    base = g.node("Abs", x)
    return g.node("Pow", base, g.partner(base))


@step(0.4, 10)
def remainder(g):
    x = g.tensor()
    return g.node("Mod", x, g.partner(x), fmod=1)


@step(1.2)
def comparison(g):
    x = g.tensor()
    names = ["Less", "Greater"] + (["Equal"] if g.opset >= 11 else []) + (["LessOrEqual", "GreaterOrEqual"] if g.opset >= 12 else [])
    return g.node(g.pick(*names), x, g.partner(x))


@step(1)
def logic(g):
    x = g.operand(lambda a: a.dtype == BOOL)
    if g.chance(0.2):
        return g.node("Not", x)
    return g.node(g.pick("And", "Or", "Xor"), x, g.partner(x))


@step(1.5)
def where(g):
    condition = g.operand(lambda a: a.dtype == BOOL, lambda: g.input(g.shape(), BOOL))
    shape = g.of(condition).shape
    x = g.partner(condition, g.type)
    y = g.partner(condition, g.type)
    g.bound(condition, x, y)
    return g.node("Where", condition, x, y)


@step(1.2)
def cast(g):
    x = g.operand(lambda a: True)
    target = g.pick(FLOAT, FLOAT, INT32, INT64, BOOL, HALF, UINT8, INT8, DOUBLE)
    array = g.of(x)
    if target == g.type or target.kind != "f" or g.chance(0.3):
        # Numbers that the type does not hold are undefined.
        if target in (UINT8, INT8) and array.dtype != BOOL and array.size and (array.min() < (0 if target == UINT8 else -128) or array.max() > 127):
            raise Unfit
        return g.node("Cast", x, to=helper.np_dtype_to_tensor_dtype(target))
    raise Unfit


@step(0.6)
def back_to_float(g):
    x = g.operand(lambda a: a.dtype.kind != "f")
    return g.node("Cast", x, to=helper.np_dtype_to_tensor_dtype(g.type))


@step(0.8)
def integers(g):
    dtype = g.pick(INT32, INT64, INT64)
    x = g.operand(lambda a: a.dtype == dtype, lambda: g.input(g.shape(), dtype))
    kind = g.pick("Add", "Sub", "Mul", "Neg", "Abs", "Max", "Min", "Equal", "Less", "Div", "Mod")
    if kind in ("Neg", "Abs"):
        return g.node(kind, x)
    if kind in ("Max", "Min") and g.opset < 12:
        raise Unfit
    y = g.partner(x)
    if kind in ("Div", "Mod"):
        if g.opset < 14 and kind == "Div" or g.opset < 10:
            raise Unfit
        array = g.of(y)
        if g.model.values[y].origin == "node":
            raise Unfit
        y = g.weight(np.where(array == 0, 3, array))
    return g.node(kind, x, y)


@step(0.3, 18)
def bits(g):
    x = g.operand(lambda a: a.dtype in (INT32, UINT8), lambda: g.input(g.shape(), g.pick(INT32, UINT8)))
    return g.node(g.pick("BitwiseAnd", "BitwiseOr", "BitwiseXor"), x, g.partner(x)) if g.chance(0.8) else g.node("BitwiseNot", x)


def window(g, spatial, kernel):
    """Random attributes of a sliding window over `spatial`, which is at least the kernel."""
    rank = len(spatial)
    attributes = {"kernel_shape": kernel}
    if g.chance(0.45):
        attributes["strides"] = [g.pick(1, 2, 2, 3) for _ in range(rank)]
    mode = g.draw({"none": 4, "same": 3, "random": 4, "auto": 2})
    if mode == "same":
        attributes["pads"] = [k // 2 for k in kernel] * 2
    elif mode == "random":
        attributes["pads"] = [g.size(0, k - 1) for k in kernel * 2]
    elif mode == "auto":
        attributes["auto_pad"] = g.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    return attributes


def picture(g, low=3, high=5):
    """A tensor [N, C, spatial…]."""
    return g.tensor(low, high, accept=lambda a: a.size > 0 and all(a.shape))


@step(4)
def conv(g):
    x = picture(g)
    shape = g.of(x).shape
    channels, spatial = shape[1], shape[2:]
    group = g.pick(1, 1, 1, channels, g.pick(*[d for d in range(1, channels + 1) if channels % d == 0]))
    filters = group * max(1, (g.dimension() if g.chance(0.7) else channels) // group)
    if group == channels and g.chance(0.7):
        filters = channels * g.pick(1, 1, 2)
    kernel = [min(g.pick(1, 3, 3, 2, 4, 5, 7), s + 1) for s in spatial]
    if g.chance(0.4):
        kernel = [1 if g.chance(0.5) else min(3, s) for s in spatial]
    attributes = window(g, spatial, kernel)
    if g.chance(0.15):
        attributes["dilations"] = [g.pick(1, 2, 3) for _ in spatial]
    if filters * channels // group * math.prod(kernel) * math.prod(spatial) * shape[0] > g.scale.products:
        filters = group
        if filters * channels // group * math.prod(kernel) * math.prod(spatial) * shape[0] > g.scale.products:
            raise Unfit
    inner = channels // group
    w = g.floats((filters, inner, *kernel)) / math.sqrt(inner * math.prod(kernel))
    operands = [x, g.parameter(w.astype(g.of(x).dtype))]
    if g.chance(0.6):
        operands.append(g.parameter(g.floats((filters,), g.of(x).dtype)))
    y = g.node("Conv", *operands, group=group, **attributes)
    return (g.node("Relu", y) if g.chance(0.3) else batch_norm(g, y) if g.chance(0.2) else y)


@step(1)
def conv_transpose(g):
    x = picture(g)
    shape = g.of(x).shape
    channels, spatial = shape[1], shape[2:]
    group = g.pick(1, 1, g.pick(*[d for d in range(1, channels + 1) if channels % d == 0]))
    each = max(1, min(g.dimension(), 64) // group)
    kernel = [g.pick(1, 2, 3, 4) for _ in spatial]
    strides = [g.pick(1, 2, 2, 3) for _ in spatial]
    attributes = {"strides": strides, "kernel_shape": kernel}
    if g.chance(0.5):
        attributes["pads"] = [g.size(0, max(0, (k - 1) // 2)) for k in kernel * 2]
    elif g.chance(0.3):
        # Windows smaller than their stride would need a negative border for the standard's size; ONNX Runtime cuts it off.
        attributes["auto_pad"] = g.pick("SAME_UPPER", "SAME_LOWER") if all(k >= s for k, s in zip(kernel, strides)) else "VALID"
    if g.chance(0.2):
        attributes["output_padding"] = [g.size(0, s - 1) for s in strides]
    if g.chance(0.15):
        attributes["dilations"] = [g.pick(1, 2) for _ in spatial]
    if (each * channels * math.prod(kernel) * math.prod(spatial) * shape[0] > g.scale.products or
            shape[0] * each * group * math.prod(spatial) * math.prod(strides) > g.scale.elements):
        raise Unfit
    w = g.floats((channels, each, *kernel)) / math.sqrt(channels // group * math.prod(kernel))
    operands = [x, g.parameter(w.astype(g.of(x).dtype))]
    if g.chance(0.5):
        operands.append(g.parameter(g.floats((each * group,), g.of(x).dtype)))
    return g.node("ConvTranspose", *operands, group=group, **attributes)


@step(2)
def pool(g):
    x = picture(g)
    spatial = g.of(x).shape[2:]
    kernel = [min(g.pick(1, 2, 2, 3, 3, 4, 5), s) for s in spatial]
    attributes = window(g, spatial, kernel)
    op_type = g.pick("MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool")
    if op_type == "LpPool":
        if g.chance(0.6):
            attributes["p"] = g.pick(1, 2, 3)
    elif g.opset >= 10 and g.chance(0.35):
        attributes["ceil_mode"] = 1
    if op_type == "AveragePool" and g.chance(0.5):
        attributes["count_include_pad"] = 1
    lowest = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[op_type]
    if g.opset >= lowest and g.chance(0.25):
        attributes["dilations"] = [g.pick(1, 2, 3) for _ in spatial]
    if op_type == "MaxPool" and g.chance(0.15):
        return g.node(op_type, x, outputs=2, **attributes)
    return g.node(op_type, x, **attributes)


@step(0.3)
def pool_global(g):
    x = picture(g)
    return g.node(g.pick("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), x)


def batches_fit(x, y):
    """Whether what stands before the matrices broadcasts."""
    try:
        np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        return True
    except ValueError:
        return False


@step(3)
def matmul(g):
    x = g.tensor(1, 5, accept=lambda a: a.size > 0)
    array = g.of(x)
    inner = array.shape[-1]
    others = g.known(lambda a: a.dtype == array.dtype and a.ndim >= 2 and a.shape[-2] == inner and a.size and batches_fit(array, a))
    if others and g.chance(0.6):
        y = g.pick(*others)
    else:
        columns = g.dimension()
        if array.size * columns > g.scale.products:
            columns = 3
        batch = array.shape[:-2] if g.chance(0.3) else ()
        if batch and g.chance(0.4):
            batch = tuple(1 if g.chance(0.5) else b for b in batch)
        shape = (inner,) if g.chance(0.08) else (*batch, inner, columns)
        if math.prod(shape) > g.scale.elements:
            raise Unfit
        y = g.parameter((g.floats(shape) / math.sqrt(inner)).astype(array.dtype))
    other = g.of(y)
    batch = math.prod(np.broadcast_shapes(array.shape[:-2], other.shape[:-2]))
    rows = array.shape[-2] if array.ndim > 1 else 1
    columns = other.shape[-1] if other.ndim > 1 else 1
    if batch * rows * columns > g.scale.elements or batch * rows * columns * inner > g.scale.products:
        raise Unfit
    z = g.node("MatMul", x, y)
    return (g.node("Add", z, g.partner(z)) if g.chance(0.4) else z)


@step(1.5)
def gemm(g):
    x = g.tensor(2, 2, accept=lambda a: a.size > 0)
    array = g.of(x)
    a_turned, b_turned = int(g.chance(0.4)), int(g.chance(0.5))
    rows, inner = array.shape[::-1] if a_turned else array.shape
    columns = g.dimension()
    if rows * inner * columns > g.scale.products or inner * columns > g.scale.elements:
        raise Unfit
    shape = (columns, inner) if b_turned else (inner, columns)
    operands = [x, g.parameter((g.floats(shape) / math.sqrt(inner)).astype(array.dtype))]
    if g.opset < 11 or g.chance(0.7):
        c = g.pick((columns,), (1, columns), (rows, 1), (rows, columns), (1,))
        operands.append(g.parameter(g.floats(c, array.dtype)))
    attributes = {"transA": a_turned, "transB": b_turned}
    if g.chance(0.3):
        attributes["alpha"] = g.pick(0.5, 2.0, -1.0)
    if g.chance(0.3):
        attributes["beta"] = g.pick(0.5, 2.0, 0.0, -1.0)
    return g.node("Gemm", *operands, **attributes)


@step(0.7, 12)
def einsum(g):
    """Letters of one tensor at hand, with a weight whose letters share some of them."""
    x = g.tensor(1, 4, accept=lambda a: a.size > 0)
    shape = g.of(x).shape
    letters = list("abcd"[:len(shape)])
    sizes = dict(zip(letters, shape))
    sizes["e"] = g.pick(1, 2, 3, 5)
    if g.chance(0.2):
        kept = [c for c in g.rng.permutation(letters) if g.chance(0.7)]
        return g.node("Einsum", x, equation=f"{''.join(letters)}->{''.join(kept)}")
    other = [c for c in g.rng.permutation(letters + ["e"]) if g.chance(0.6)]
    if not other or math.prod(sizes[c] for c in other) > g.scale.elements:
        raise Unfit
    out = [c for c in g.rng.permutation(sorted(set(letters + other))) if g.chance(0.65)]
    if math.prod(sizes[c] for c in set(letters + other)) > g.scale.products:
        raise Unfit
    y = g.parameter(g.floats([sizes[c] for c in other], g.of(x).dtype))
    return g.node("Einsum", x, y, equation=f"{''.join(letters)},{''.join(other)}->{''.join(out)}")


@step(1.5)
def softmax(g):
    x = g.tensor(1, accept=lambda a: a.size > 0)
    rank = g.of(x).ndim
    axis = g.size(0, rank - 1) - (rank if g.chance(0.4) and g.opset >= 11 else 0)
    return g.node(g.pick("Softmax", "Softmax", "Softmax", "LogSoftmax", "Hardmax"), x, axis=axis)


@step(0.3)
def mean_variance(g):
    x = g.tensor(1, accept=lambda a: a.size > 0)
    rank = g.of(x).ndim
    axes = sorted(int(a) for a in g.rng.choice(rank, g.size(1, rank), replace=False))
    return g.node("MeanVarianceNormalization", x, axes=axes)


@step(1)
def batch_norm(g, x=None):
    x = x or g.tensor(2, 5)
    channels, dtype = g.of(x).shape[1], g.of(x).dtype
    statistics = [g.weight(g.floats((channels,), dtype)) for _ in range(3)]
    variance = g.weight((np.abs(g.floats((channels,))) + 0.3).astype(dtype))
    return g.node("BatchNormalization", x, *statistics, variance, epsilon=g.pick(1e-5, 1e-3))


@step(1.2)
def normalization(g):
    x = g.tensor(2, 5, accept=lambda a: a.size > 0)
    shape, dtype = g.of(x).shape, g.of(x).dtype
    kind = g.pick("Layer", "Layer", "Instance", "Group", "Lp", "Lrn")
    if kind == "Layer" and g.opset >= 17:
        axis = g.size(0, len(shape) - 1)
        operands = [g.parameter(g.floats(shape[axis:], dtype)) for _ in range(g.size(1, 2))]
        return g.node("LayerNormalization", x, *operands, axis=axis - (len(shape) if g.chance(0.5) else 0))
    if kind == "Instance" and len(shape) >= 3:
        return g.node("InstanceNormalization", x, *[g.parameter(g.floats((shape[1],), dtype)) for _ in range(2)])
    if kind == "Group" and g.opset >= 21 and len(shape) >= 3:
        groups = g.pick(*[d for d in range(1, shape[1] + 1) if shape[1] % d == 0])
        return g.node("GroupNormalization", x, *[g.parameter(g.floats((shape[1],), dtype)) for _ in range(2)], num_groups=groups)
    if kind == "Lp":
        return g.node("LpNormalization", x, axis=g.size(0, len(shape) - 1) if g.chance(0.7) else -1, p=g.pick(1, 2))
    if kind == "Lrn" and len(shape) == 4:
        return g.node("LRN", x, size=g.pick(1, 3, 5), alpha=g.pick(0.01, 0.1), beta=0.75, bias=g.pick(1.0, 2.0))
    raise Unfit


@step(2.5)
def reduction(g):
    x = g.tensor(1, accept=lambda a: a.size > 0)
    rank = g.of(x).ndim
    op_type = g.pick("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                     "ReduceLogSumExp", "ReduceLogSum", "ReduceSum", "ReduceMean", "ReduceMax")
    attributes = {} if g.chance(0.3) else {"keepdims": int(g.chance(0.5))}
    axes = sorted(int(a) for a in g.rng.choice(rank, g.size(1, rank), replace=False))
    if g.opset >= 11 and g.chance(0.3):
        axes = [a - rank if g.chance(0.5) else a for a in axes]
    if g.chance(0.12):
        return g.node(op_type, x, **attributes)
    if g.opset >= (13 if op_type == "ReduceSum" else 18):
        return g.node(op_type, x, g.ints(*axes), **attributes)
    return g.node(op_type, x, axes=axes, **attributes)


@step(0.7)
def arg(g):
    x = g.tensor(1, accept=lambda a: a.size > 0)
    attributes = {"axis": g.size(0, g.of(x).ndim - 1), "keepdims": g.size(0, 1)}
    if g.opset >= 12 and g.chance(0.3):
        attributes["select_last_index"] = 1
    return g.node(g.pick("ArgMax", "ArgMin"), x, **attributes)


@step(0.7, 10)
def topk(g):
    x = g.tensor(1, accept=lambda a: a.size > 0)
    axis = g.size(0, g.of(x).ndim - 1)
    attributes = {"axis": axis}
    if g.opset >= 11:
        attributes["largest"] = g.size(0, 1)
    return g.node("TopK", x, g.ints(g.size(1, min(g.of(x).shape[axis], 40))), outputs=2, **attributes)


@step(0.8, 11)
def cumsum(g):
    x = g.tensor(1, accept=lambda a: a.size > 0)
    axis = g.size(0, g.of(x).ndim - 1)
    return g.node("CumSum", x, g.weight(np.array(axis, np.int64)), exclusive=g.size(0, 1), reverse=g.size(0, 1))


def anything(g, low=0, high=6, accept=None):
    """A tensor of any type."""
    return g.operand(lambda a: low <= a.ndim <= high and (accept is None or accept(a)),
                     lambda: g.tensor(low, high, accept=accept))


@step(3)
def transpose(g):
    x = anything(g, 1)
    if g.chance(0.1):
        return g.node("Transpose", x)
    return g.node("Transpose", x, perm=[int(p) for p in g.rng.permutation(g.of(x).ndim)])


def factors(g, count, rank):
    """A random shape of `count` elements."""
    shape = []
    for _ in range(rank - 1):
        divisors = [d for d in range(1, min(count, 600) + 1) if count % d == 0]
        shape.append(int(g.pick(*divisors)))
        count //= shape[-1]
    shape.append(count)
    return [int(s) for s in g.rng.permutation(shape)]


@step(3)
def reshape(g):
    x = anything(g, 0, accept=lambda a: a.size > 0)
    array = g.of(x)
    target = factors(g, array.size, g.size(1, 5))
    if array.ndim >= 2 and g.chance(0.4):
        # Neighbouring dimensions become one, or one becomes two.
        k = g.size(0, array.ndim - 2)
        target = [*array.shape[:k], array.shape[k] * array.shape[k + 1], *array.shape[k + 2:]]
    elif array.ndim and g.chance(0.5):
        k = g.size(0, array.ndim - 1)
        target = [*array.shape[:k], *factors(g, array.shape[k], 2), *array.shape[k + 1:]]
    if g.chance(0.3):
        target[g.size(0, len(target) - 1)] = -1
    elif g.chance(0.2):
        for k in range(min(len(target), array.ndim)):
            if target[k] == array.shape[k]:
                target[k] = 0
    return g.node("Reshape", x, g.ints(*target))


@step(0.6, 9)
def reshape_computed(g):
    """The target is computed from the operand's own shape, as exporters write it."""
    x = anything(g, 2, accept=lambda a: a.size > 0)
    shape = g.node("Shape", x)
    first = g.node("Gather", shape, g.ints(0), axis=0)
    target = g.node("Concat", first, g.ints(-1), axis=0)
    return g.node("Reshape", x, target)


@step(0.7)
def flatten(g):
    x = g.tensor(1)
    rank = g.of(x).ndim
    return g.node("Flatten", x, axis=g.size(0, rank) if g.opset < 11 or g.chance(0.6) else g.size(-rank, -1))


@step(1)
def squeeze(g):
    x = anything(g, 1)
    ones = [k for k, d in enumerate(g.of(x).shape) if d == 1]
    if not ones:
        raise Unfit
    axes = sorted(int(a) for a in g.rng.choice(ones, g.size(1, len(ones)), replace=False))
    if g.chance(0.2):
        return g.node("Squeeze", x)
    return g.node("Squeeze", x, g.ints(*axes)) if g.opset >= 13 else g.node("Squeeze", x, axes=axes)


@step(1)
def unsqueeze(g):
    x = anything(g, 0, 4)
    rank = g.of(x).ndim + g.size(1, 2)
    axes = sorted(int(a) for a in g.rng.choice(rank, rank - g.of(x).ndim, replace=False))
    if g.opset >= 11 and g.chance(0.3):
        axes = [a - rank for a in axes]
    return g.node("Unsqueeze", x, g.ints(*axes)) if g.opset >= 13 else g.node("Unsqueeze", x, axes=axes)


@step(0.8)
def expand(g):
    x = anything(g, 0)
    shape = [g.pick(2, 3, g.dimension()) if d == 1 and g.chance(0.7) else 1 if g.chance(0.2) else d for d in g.of(x).shape]
    if g.chance(0.3):
        shape = [g.pick(1, 2, 3)] + shape
    if not shape or math.prod(np.broadcast_shapes(shape, g.of(x).shape)) > g.scale.elements:
        raise Unfit
    return g.node("Expand", x, g.ints(*shape))


@step(0.7)
def tile(g):
    x = anything(g, 1)
    repeats = [g.pick(1, 1, 2, 3) for _ in g.of(x).shape]
    if g.of(x).size * math.prod(repeats) > g.scale.elements:
        raise Unfit
    return g.node("Tile", x, g.ints(*repeats))


@step(2.5)
def concat(g):
    x = anything(g, 1)
    array = g.of(x)
    axis = g.size(0, array.ndim - 1)
    drop = lambda s: s[:axis] + s[axis + 1:]
    fits = lambda a: a.dtype == array.dtype and a.ndim == array.ndim and drop(a.shape) == drop(array.shape)
    parts = [x]
    for _ in range(g.size(1, 3)):
        if g.chance(0.7):
            parts.append(g.pick(*g.known(fits)))
        else:
            shape = list(array.shape)
            shape[axis] = g.dimension()
            if math.prod(shape) > g.scale.elements:
                continue
            parts.append(g.fresh(g.numbers(tuple(shape), array.dtype), g.pick("weight", "input")))
    if sum(g.of(p).size for p in parts) > g.scale.elements:
        raise Unfit
    parts = [parts[int(k)] for k in g.rng.permutation(len(parts))]
    return g.node("Concat", *parts, axis=axis - (array.ndim if g.opset >= 11 and g.chance(0.3) else 0))


@step(1.5)
def split(g):
    x = anything(g, 1)
    shape = g.of(x).shape
    axes = [k for k, d in enumerate(shape) if d >= 2]
    if not axes:
        raise Unfit
    axis = g.pick(*axes)
    parts = g.size(2, min(4, shape[axis]))
    if g.chance(0.4) and shape[axis] % parts == 0:
        sizes = None
    else:
        cuts = sorted(int(c) for c in g.rng.choice(shape[axis] - 1, parts - 1, replace=False) + 1)
        sizes = [b - a for a, b in zip([0] + cuts, cuts + [shape[axis]])]
    if sizes is None:
        return g.node("Split", x, outputs=parts, axis=axis, **({"num_outputs": parts} if g.opset >= 18 else {}))
    if g.opset >= 13:
        return g.node("Split", x, g.ints(*sizes), outputs=parts, axis=axis)
    return g.node("Split", x, outputs=parts, axis=axis, split=sizes)


@step(2.5)
def slice_(g):
    x = anything(g, 1)
    shape = g.of(x).shape
    axes = sorted(int(a) for a in g.rng.choice(len(shape), g.size(1, len(shape)), replace=False))
    starts, ends, steps = [], [], []
    for a in axes:
        stride = g.pick(1, 1, 1, 2, 3, -1, -2) if g.opset >= 10 else 1
        low = g.size(0, max(shape[a] - 1, 0) // 2)
        high = g.size(low + 1, max(shape[a], low + 1))
        start, end = (low, high) if stride > 0 else (high - 1, low - 1 - shape[a] if low == 0 else low - 1)
        if g.chance(0.2) and stride > 0:
            end = 2 ** 31 - 1 if g.chance(0.5) else 2 ** 63 - 1
        elif g.chance(0.2) and stride > 0 and start:
            start -= shape[a]
        elif g.chance(0.3) and stride < 0:
            end = -(2 ** 31)
        starts.append(start), ends.append(end), steps.append(stride)
    if g.opset < 10:
        return g.node("Slice", x, axes=axes, starts=starts, ends=ends)
    operands = [g.ints(*starts), g.ints(*ends), g.ints(*axes)]
    return g.node("Slice", x, *operands, *([g.ints(*steps)] if any(s != 1 for s in steps) or g.chance(0.3) else []))


@step(1.5)
def pad(g):
    x = g.tensor(1, accept=lambda a: a.size > 0)
    shape = g.of(x).shape
    mode = g.pick("constant", "constant", "reflect", "edge") if g.opset < 19 else g.pick("constant", "reflect", "edge", "wrap")
    limit = lambda d: min(d - 1, 3) if mode in ("reflect", "wrap") else 3
    pads = [g.size(0, max(limit(d), 0)) if g.chance(0.6) else 0 for d in shape * 2]
    if mode == "constant" and g.chance(0.15):
        pads = [-1 if g.chance(0.3) and d > 2 else p for p, d in zip(pads, shape * 2)]
    if g.opset < 11:
        return g.node("Pad", x, pads=pads, mode=mode, **({"value": 0.5} if g.chance(0.4) else {}))
    operands = [x, g.ints(*pads)]
    if mode == "constant" and g.chance(0.5):
        operands.append(g.parameter(np.array(0.5, g.of(x).dtype)))
    return g.node("Pad", *operands, mode=mode)


def indices(g, limit, shape):
    """Indices below `limit`, some from the end."""
    low = -limit if g.opset >= 11 and g.chance(0.4) else 0
    return g.fresh(np.asarray(g.rng.integers(low, limit, shape), g.pick(INT64, INT64, INT32)), g.pick("weight", "input"))


@step(1.5)
def gather(g):
    x = anything(g, 1, accept=lambda a: a.size > 0)
    array = g.of(x)
    axis = g.size(0, array.ndim - 1)
    shape = g.pick((), (1,), (3,), (2, 3), (g.dimension(),), (1, 4))
    if array.size // array.shape[axis] * math.prod(shape) > g.scale.elements:
        raise Unfit
    return g.node("Gather", x, indices(g, array.shape[axis], shape), axis=axis)


@step(0.8, 11)
def gather_elements(g):
    x = anything(g, 1, accept=lambda a: a.size > 0)
    array = g.of(x)
    axis = g.size(0, array.ndim - 1)
    shape = [g.size(1, d) if k != axis else g.pick(1, 3, d) for k, d in enumerate(array.shape)]
    return g.node("GatherElements", x, indices(g, array.shape[axis], shape), axis=axis)


@step(0.6, 11)
def gather_nd(g):
    x = anything(g, 1, 4, accept=lambda a: a.size > 0)
    array = g.of(x)
    batch = g.size(0, array.ndim - 1) if g.opset >= 12 and g.chance(0.3) else 0
    depth = g.size(1, array.ndim - batch)
    outer = (*array.shape[:batch], *g.pick((), (3,), (2, 2))) or (2,)
    parts = [g.rng.integers(0, d, outer) for d in array.shape[batch:batch + depth]]
    index = np.stack(parts, -1).astype(np.int64)
    if math.prod(outer) * math.prod(array.shape[batch + depth:]) > g.scale.elements:
        raise Unfit
    return g.node("GatherND", x, g.fresh(index, g.pick("weight", "input")), **({"batch_dims": batch} if batch else {}))


def reductions(g, since):
    """A reduction of scattered updates; without one the indices must be unique."""
    choices = ["none"] + (["add", "mul"] if g.opset >= since else []) + (["max", "min"] if g.opset >= 18 else [])
    return g.pick(*choices)


@step(0.7, 11)
def scatter_elements(g):
    x = g.tensor(1, 4, accept=lambda a: a.size > 0)
    array = g.of(x)
    axis = g.size(0, array.ndim - 1)
    shape = [g.size(1, d) if k != axis else g.size(1, min(d, 5)) for k, d in enumerate(array.shape)]
    reduction = reductions(g, 16)
    if reduction == "none":
        order = g.rng.permutation(array.shape[axis])[:shape[axis]]
        index = np.broadcast_to(order.reshape([-1 if k == axis else 1 for k in range(array.ndim)]), shape)
    else:
        index = g.rng.integers(0, array.shape[axis], shape)
    updates = g.fresh(g.floats(tuple(shape), array.dtype), g.pick("weight", "input"))
    index = g.fresh(index.astype(np.int64), g.pick("weight", "input"))
    return g.node("ScatterElements", x, index, updates, axis=axis, **({} if reduction == "none" else {"reduction": reduction}))


@step(0.7, 11)
def scatter_nd(g):
    x = g.tensor(1, 4, accept=lambda a: a.size > 0)
    array = g.of(x)
    depth = g.size(1, array.ndim)
    places = math.prod(array.shape[:depth])
    count = g.size(1, min(places, 6))
    reduction = reductions(g, 16)
    flat = g.rng.choice(places, count, replace=reduction != "none")
    index = np.stack(np.unravel_index(flat, array.shape[:depth]), -1).astype(np.int64)
    updates = g.fresh(g.floats((count, *array.shape[depth:]), array.dtype), g.pick("weight", "input"))
    index = g.fresh(index, g.pick("weight", "input"))
    return g.node("ScatterND", x, index, updates, **({} if reduction == "none" else {"reduction": reduction}))


@step(0.4)
def one_hot(g):
    depth = g.pick(2, 5, 10)
    index = g.operand(lambda a: a.dtype == INT64 and a.size and a.min() >= 0 and a.max() < depth,
                      lambda: g.fresh(g.rng.integers(0, depth, g.shape(g.size(1, 2), 200)), "input"))
    if g.of(index).size * depth > g.scale.elements:
        raise Unfit
    return g.node("OneHot", index, g.weight(np.array([depth], np.int64)), g.weight(np.array([0.0, 1.0], np.float32)), axis=g.pick(-1, 0))


@step(1.2, 10)
def resize(g):
    x = g.tensor(2, 5, accept=lambda a: a.size > 0)
    shape = g.of(x).shape
    factor = lambda: g.pick(2.0, 2.0, 0.5, 1.5, 3.0, 1.25, 0.7)
    scales = [1.0, 1.0] + [factor() for _ in shape[2:]] if len(shape) > 2 else [factor() for _ in shape]
    if math.prod(shape) * math.prod(scales) > g.scale.elements or any(int(d * s) < 1 for d, s in zip(shape, scales)):
        raise Unfit
    if any(int(d * s) == d and s != 1 for d, s in zip(shape, scales)):
        raise Unfit  # ONNX Runtime copies what keeps its size; the standard samples by the scale
    scales = np.array(scales, np.float32)
    if g.opset == 10:
        if scales.min() < 1:
            raise Unfit  # which way such coordinates round, version 10 does not say
        return g.node("Resize", x, g.weight(scales), mode=g.pick("nearest", "linear"))
    attributes = {"mode": g.pick("nearest", "nearest", "linear", "linear", "cubic"),
                  "coordinate_transformation_mode": g.pick("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")}
    if max(shape) > 1000 and attributes["coordinate_transformation_mode"] == "align_corners":
        raise Unfit  # ONNX Runtime's coordinates of long rows are rounded to the element before
    if attributes["mode"] == "nearest":
        attributes["nearest_mode"] = g.pick("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    if attributes["mode"] == "cubic":
        if len(shape) != 4:
            raise Unfit
        attributes["cubic_coeff_a"] = g.pick(-0.5, -0.75)
        attributes["exclude_outside"] = g.size(0, 1)
    if attributes["mode"] == "linear" and g.opset >= 18 and g.chance(0.4):
        attributes["antialias"] = 1
    roi = g.weight(np.zeros(0, np.float32)) if g.opset < 13 else ""
    # The standard's tests align the corners of the fractional size that a scale gives, ONNX Runtime those of the whole one.
    whole = all(float(d * s).is_integer() for d, s in zip(shape, scales))
    if g.chance(0.3) or attributes["coordinate_transformation_mode"] == "align_corners" and not whole:
        sizes = [int(d * s) for d, s in zip(shape, scales)]
        empty = g.weight(np.zeros(0, np.float32)) if g.opset < 13 else ""
        return g.node("Resize", x, roi, empty, g.ints(*sizes), **attributes)
    return g.node("Resize", x, roi, g.weight(scales), **attributes)


@step(0.3)
def upsample(g):
    x = picture(g, 4, 4)
    if g.opset != 9:
        raise Unfit
    return g.node("Upsample", x, g.weight(np.array([1, 1, 2, g.pick(2, 3)], np.float32)), mode=g.pick("nearest", "linear"))


@step(0.8)
def blocks(g):
    x = picture(g, 4, 4)
    _, channels, height, width = g.of(x).shape
    b = g.pick(2, 3)
    if channels % (b * b) == 0 and g.chance(0.6):
        return g.node("DepthToSpace", x, blocksize=b, **({"mode": g.pick("DCR", "CRD")} if g.opset >= 11 else {}))
    if height % b == 0 and width % b == 0:
        return g.node("SpaceToDepth", x, blocksize=b)
    raise Unfit


@step(0.3, 14)
def triangle(g):
    x = g.tensor(2)
    operands = [x] + ([g.weight(np.array(g.size(-3, 3), np.int64))] if g.chance(0.5) else [])
    return g.node("Trilu", *operands, upper=g.size(0, 1))


@step(0.25, 16)
def grid_sample(g):
    x = picture(g, 4, 4)
    if g.opset > 19 and g.chance(0.5):
        raise Unfit
    batch = g.of(x).shape[0]
    grid = g.input((batch, g.pick(1, 3, 7), g.pick(2, 5), 2), g.of(x).dtype)
    mode = g.pick("linear", "nearest") if g.opset >= 20 else g.pick("bilinear", "nearest")
    return g.node("GridSample", x, grid, mode=mode, padding_mode=g.pick("zeros", "border"), align_corners=g.size(0, 1))


@step(0.3, 17)
def dft(g):
    x = g.tensor(1, 3, accept=lambda a: 0 < a.size <= 4000 and a.ndim and a.shape[-1] <= 130)
    real = g.node("Unsqueeze", x, g.ints(g.of(x).ndim))
    axis = g.of(x).ndim - 1
    if g.of(real).ndim < 3:
        raise Unfit
    onesided = int(g.chance(0.4))
    if g.opset >= 20:
        return g.node("DFT", real, "", g.weight(np.array(axis, np.int64)), onesided=onesided)
    return g.node("DFT", real, axis=axis, onesided=onesided)


@step(1.2)
def attention(g):
    """Queries, keys and values of one tensor, heads, softmax."""
    x = g.tensor(3, 3, FLOAT, accept=lambda a: 0 < a.size and a.shape[1] <= 300 and a.shape[2] % 2 == 0)
    batch, length, width = g.of(x).shape
    heads = g.pick(*[h for h in (1, 2, 4, 8) if width % h == 0])
    if batch * heads * length * length > g.scale.elements or batch * length * width * width > g.scale.products or width * width > g.scale.elements:
        raise Unfit
    parts = []
    for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        y = g.node("MatMul", x, g.weight((g.floats((width, width)) / math.sqrt(width)).astype(np.float32)))
        y = g.node("Reshape", y, g.ints(0, 0, heads, width // heads))
        y = g.node("Transpose", y, perm=perm)
        parts.append(y)
    q, k, v = parts
    scores = g.node("MatMul", q, k)
    scores = g.node("Mul", scores, g.weight(np.array((width // heads) ** -0.5, np.float32)))
    if scores and g.chance(0.4):
        mask = np.triu(np.full((length, length), -1000, np.float32), 1)
        scores = g.node("Add", scores, g.weight(mask))
    weights = g.node("Softmax", scores, axis=-1 if g.opset >= 13 else 3)
    y = g.node("MatMul", weights, v)
    y = g.node("Transpose", y, perm=[0, 2, 1, 3])
    y = g.node("Reshape", y, g.ints(0, 0, width))
    return g.node("Add", y, x)


@step(0.6)
def recurrent(g):
    x = g.tensor(3, 3, FLOAT, accept=lambda a: 0 < a.size and a.shape[0] <= 40)
    length, batch, width = g.of(x).shape
    kind, gates = g.pick(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    hidden = g.pick(1, 3, 8, 16, 33)
    direction = g.pick("forward", "reverse", "bidirectional")
    directions = 2 if direction == "bidirectional" else 1
    if directions * gates * hidden * (width + hidden) > g.scale.elements:
        raise Unfit
    small = lambda *s: g.weight((g.floats(s, FLOAT) * 0.4).astype(np.float32))
    operands = [x, small(directions, gates * hidden, width), small(directions, gates * hidden, hidden)]
    operands.append(small(directions, 2 * gates * hidden) if g.chance(0.6) else "")
    lengths = np.sort(g.rng.integers(1, length + 1, batch))[::-1].astype(np.int32)
    operands.append(g.fresh(lengths, g.pick("weight", "input")) if g.chance(0.25) else "")
    operands.append(small(directions, batch, hidden) if g.chance(0.4) else "")
    if kind == "LSTM":
        operands.append(small(directions, batch, hidden) if g.chance(0.4) else "")
        operands.append(small(directions, 3 * hidden) if g.chance(0.3) else "")
    attributes = {"hidden_size": hidden, "direction": direction}
    if kind == "GRU":
        attributes["linear_before_reset"] = g.size(0, 1)
    # The standard clips what goes into every activation, ONNX Runtime not the cell's on its way to the result.
    if g.chance(0.15) and kind != "LSTM":
        attributes["clip"] = 0.8
    return g.node(kind, *operands, outputs=3 if kind == "LSTM" else 2, **attributes)


def body(g, name, captured, extra_inputs=(), lead=()):
    """A body of one to three elementwise nodes on a captured value; all keep its shape."""
    nodes, value = [], captured
    for k in range(g.size(1, 3)):
        out = f"{name}_{k}"
        if g.chance(0.5):
            nodes.append(helper.make_node(g.pick("Tanh", "Sigmoid", "Relu", "Neg", "Abs"), [value], [out]))
        else:
            nodes.append(helper.make_node(g.pick("Add", "Mul", "Sub"), [value, captured], [out]))
        value = out
    return nodes, value


@step(0.4, 11)
def branch(g):
    """If with a condition of the run; both branches read what is outside."""
    x = g.tensor()
    condition = g.operand(lambda a: a.dtype == BOOL and a.size == 1, lambda: g.input((), BOOL))
    if g.of(condition).ndim and g.of(condition).shape != (1,):
        raise Unfit
    array = g.of(x)
    graphs = []
    for name in ("then", "else"):
        nodes, value = body(g, f"{name}{len(g.model.nodes)}", x)
        graphs.append(helper.make_graph(nodes, name, [], [info(value, array)]))
    return g.node("If", condition, then_branch=graphs[0], else_branch=graphs[1])


@step(0.4, 11)
def loop(g):
    """Loop with a count of the run and one value that is carried."""
    x = g.tensor(0, 4)
    array = g.of(x)
    count = g.fresh(np.array(g.size(0, 4), np.int64), g.pick("input", "input", "weight"))
    here = f"l{len(g.model.nodes)}"
    nodes, value = [helper.make_node("Identity", [f"{here}_c"], [f"{here}_co"])], f"{here}_v"
    for k in range(g.size(1, 3)):
        out = f"{here}_{k}"
        if g.chance(0.5):
            nodes.append(helper.make_node(g.pick("Tanh", "Sigmoid", "Neg"), [value], [out]))
        else:
            nodes.append(helper.make_node(g.pick("Add", "Mul", "Sub"), [value, x if g.chance(0.6) else f"{here}_v"], [out]))
        value = out
    carried = helper.make_tensor_value_info
    dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
    outputs = [carried(f"{here}_co", TensorProto.BOOL, ()), carried(value, dtype, array.shape)]
    scanned = g.chance(0.25) and g.of(count) and g.model.values[count].origin == "weight"
    if scanned:
        nodes.append(helper.make_node("Identity", [value], [f"{here}_s"]))
        outputs.append(carried(f"{here}_s", dtype, array.shape))
    graph = helper.make_graph(nodes, "body", [carried(f"{here}_i", TensorProto.INT64, ()), carried(f"{here}_c", TensorProto.BOOL, ()),
                                              carried(f"{here}_v", dtype, array.shape)], outputs)
    return g.node("Loop", count, "", x, outputs=2 if scanned else 1, body=graph)


@step(1, 10)
def quantize(g):
    """To integers and back, per tensor or per channel."""
    x = g.tensor(1, dtype=FLOAT, accept=lambda a: a.size > 0)
    array = g.of(x)
    dtype = g.pick(UINT8, INT8)
    attributes, shape = {}, ()
    if g.opset >= 13 and g.chance(0.3):
        attributes["axis"] = g.size(0, array.ndim - 1)
        shape = (array.shape[attributes["axis"]],)
    # Scales that are no multiples of what values are: few elements lie halfway between two integers.
    scale = g.weight(np.asarray(0.0137 + 0.031 * g.rng.random(shape), np.float32))
    point = g.weight(np.asarray(g.rng.integers(100, 140, shape) if dtype == UINT8 else g.rng.integers(-9, 9, shape), dtype))
    q = g.node("QuantizeLinear", x, scale, point, **attributes)
    if q and (g.type == FLOAT and g.chance(0.8)):
        return g.node("DequantizeLinear", q, scale, point, **attributes)
    return q


@step(0.5, 11)
def quantize_dynamically(g):
    x = g.tensor(1, dtype=FLOAT, accept=lambda a: a.size > 0)
    made = g.node("DynamicQuantizeLinear", x, outputs=3)
    return g.node("DequantizeLinear", *made)


@step(0.5, 10)
def quantized_product(g):
    x = g.operand(lambda a: a.dtype in (UINT8, INT8) and a.ndim >= 2 and a.size > 0,
                  lambda: g.input(g.shape(2, 20000), UINT8))
    array = g.of(x)
    if array.ndim < 2 or not array.size:
        raise Unfit
    inner, columns = array.shape[-1], g.pick(1, 3, 17, 64)
    if inner * columns > g.scale.elements:
        raise Unfit
    w = g.weight(g.rng.integers(0 if array.dtype == UINT8 else -100, 100, (inner, columns)).astype(array.dtype))
    point = lambda t: g.weight(np.array(g.size(0, 20), t))
    if g.chance(0.5):
        return g.node("MatMulInteger", x, w, *([point(array.dtype), point(array.dtype)] if g.chance(0.7) else []))
    scale = lambda low: g.weight(np.array(low * (1 + g.rng.random()), np.float32))
    return g.node("QLinearMatMul", x, scale(0.01), point(array.dtype), w, scale(0.01), point(array.dtype),
                  scale(0.03 * math.sqrt(inner)), point(array.dtype))


@step(0.5, 10)
def quantized_conv(g):
    x = g.operand(lambda a: a.dtype == UINT8 and a.ndim == 4 and a.size > 0, lambda: g.input(g.shape(4, 20000), UINT8))
    array = g.of(x)
    if array.ndim != 4 or not array.size:
        raise Unfit
    channels, spatial = array.shape[1], array.shape[2:]
    filters, kernel = g.pick(1, 4, 9, 32), [min(g.pick(1, 3), s) for s in spatial]
    if array.size * filters * math.prod(kernel) > g.scale.products:
        raise Unfit
    dtype = g.pick(INT8, UINT8)
    w = g.weight(g.rng.integers(-60 if dtype == INT8 else 0, 60, (filters, channels, *kernel)).astype(dtype))
    attributes = window(g, spatial, kernel)
    point = lambda t, high=20: g.weight(np.array(g.size(0, high), t))
    if g.chance(0.4):
        w_point = g.weight(np.array(g.size(0, 20), dtype))
        return g.node("ConvInteger", x, w, point(UINT8), w_point, **attributes)
    per_channel = g.chance(0.4) and dtype == INT8
    shape = (filters,) if per_channel else ()
    scale = lambda low, s=(): g.weight(np.asarray(low * (1 + g.rng.random(s)), np.float32))
    w_point = g.weight(np.zeros(shape, dtype)) if per_channel else point(dtype)
    operands = [x, scale(0.01), point(UINT8), w, scale(0.01, shape), w_point, scale(0.02 * math.sqrt(channels * math.prod(kernel))), point(UINT8, 128)]
    if g.chance(0.5):
        operands.append(g.weight(g.rng.integers(-500, 500, filters).astype(np.int32)))
    return g.node("QLinearConv", *operands, **attributes)


@step(1)
def residual(g):
    """Adds a value of long ago to one of now: the skip connection of a block."""
    x = g.tensor(2, 5)
    array = g.of(x)
    same = g.known(lambda a: a.shape == array.shape and a.dtype == array.dtype)
    return g.node(g.pick("Add", "Add", "Mul", "Sub"), x, same[0])


@step(0.4)
def dropout(g):
    return g.node("Dropout", g.tensor())


@step(0.3)
def random_eye(g):
    x = g.tensor(2, 2)
    return g.node("EyeLike", x, k=g.size(-2, 2), dtype=TensorProto.FLOAT)
