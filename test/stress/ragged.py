"""Random graphs with sizes that divide nothing, compiled, run with every check on and compared with ONNX Runtime.

usage: ragged.py --build BUILD [--count N] [--first SEED] [--targets trn2,...] [--seconds S]

Each seed gives one graph: one to four operators (convolution, pooling, padding, concatenation, reduction, transposition,
slicing, softmax, products, elementwise) on tensors with 1 to 300 channels and odd spatial sizes. A graph passes when it
compiles and its numbers agree. The seeds of --first and --count are the same on every machine.
"""
import argparse
import pathlib
import sys
import tempfile
import time

import numpy as np

import harness

LARGEST = 120000  # elements of one tensor: a graph ends in about a second


class Ragged:
    """One random graph. Every step takes and returns a value with its shape."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.graph = harness.Graph(17)
        self.steps = []

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def size(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def floats(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def shape(self):
        channels = self.pick(self.size(1, 8), self.size(9, 128), self.size(129, 300))
        return (1, channels, self.pick(1, 3, 5, 7, 9, 11, 13), self.pick(1, 5, 7, 11, 13, 17))

    def build(self):
        shape = self.shape()
        value = self.graph.input(self.floats(*shape))
        operators = [self.conv, self.pool, self.pad, self.concat, self.reduce, self.transpose, self.slice, self.softmax,
                     self.matmul, self.elementwise, self.broadcast, self.flatten]
        for _ in range(self.size(1, 4)):
            step = self.pick(*operators)
            if not shape:
                break  # a scalar has nothing to cut
            done = step(value, shape)
            if done and np.prod(done[1]) <= LARGEST:
                value, shape = done
                self.steps.append(f"{step.__name__}{list(shape)}")
        self.graph.output(value if self.graph.nodes else self.graph.node("Relu", value))
        return self.graph

    def conv(self, value, shape):
        if len(shape) != 4:
            return None
        channels = shape[1]
        group = self.pick(1, 1, channels)
        kernel = [self.pick(1, min(3, shape[2])), self.pick(1, min(3, shape[3]))]
        filters = channels if group > 1 else self.size(1, 140)
        weight = self.graph.weight(self.floats(filters, channels // group, *kernel) / (channels // group) ** 0.5)
        strides, pads = [self.size(1, 2), self.size(1, 2)], [self.size(0, 1) for _ in range(4)]
        result = self.graph.node("Conv", value, weight, strides=strides, pads=pads, group=group)
        return result, (1, filters, *((shape[2 + i] + pads[i] + pads[2 + i] - kernel[i]) // strides[i] + 1
                                      for i in range(2)))

    def pool(self, value, shape):
        if len(shape) != 4:
            return None
        kernel = [self.size(1, min(3, shape[2])), self.size(1, min(3, shape[3]))]
        strides = [self.size(1, 3), self.size(1, 3)]
        pads = [self.size(0, k - 1) for k in kernel] * 2
        ceil = self.size(0, 1)
        attributes = {"kernel_shape": kernel, "strides": strides, "pads": pads, "ceil_mode": ceil}
        kind = self.pick("MaxPool", "AveragePool")
        if kind == "AveragePool":
            attributes["count_include_pad"] = self.size(0, 1)
        extents = []
        for i in range(2):
            room = shape[2 + i] + 2 * pads[i] - kernel[i]
            steps = (room + ceil * (strides[i] - 1)) // strides[i] + 1
            if (steps - 1) * strides[i] >= shape[2 + i] + pads[i]:
                return None  # whether a window that begins behind the data counts differs between versions
            extents.append(steps)
        return self.graph.node(kind, value, **attributes), (1, shape[1], *extents)

    def pad(self, value, shape):
        mode = self.pick("constant", "reflect", "edge")
        low, high = [0] * len(shape), [0] * len(shape)
        for axis in range(1, len(shape)):
            if self.size(0, 1):
                most = shape[axis] - 1 if mode == "reflect" else 3
                low[axis], high[axis] = self.size(0, min(3, most)), self.size(0, min(3, most))
        inputs = [value, self.graph.weight(np.array(low + high, np.int64))]
        if mode == "constant":
            inputs.append(self.graph.weight(np.float32(0.5)))
        return self.graph.node("Pad", *inputs, mode=mode), tuple(s + a + b for s, a, b in zip(shape, low, high))

    def concat(self, value, shape):
        axis = self.size(0, len(shape) - 1)
        other = list(shape)
        other[axis] = self.size(1, 70)
        parts = [value, self.graph.input(self.floats(*other))]
        if self.size(0, 1):
            parts.reverse()
        total = list(shape)
        total[axis] += other[axis]
        return self.graph.node("Concat", *parts, axis=axis), tuple(total)

    def reduce(self, value, shape):
        if len(shape) < 2:
            return None
        axes = sorted(self.rng.choice(len(shape), self.size(1, len(shape)), replace=False).tolist())
        keep = self.size(0, 1)
        kind = self.pick("ReduceMax", "ReduceMean", "ReduceL2", "ReduceMin")
        kept = [1 if a in axes else s for a, s in enumerate(shape) if keep or a not in axes]
        return self.graph.node(kind, value, axes=axes, keepdims=keep), tuple(kept)

    def transpose(self, value, shape):
        order = self.rng.permutation(len(shape)).tolist()
        return self.graph.node("Transpose", value, perm=order), tuple(shape[i] for i in order)

    def slice(self, value, shape):
        begins = [self.size(0, s // 2) for s in shape]
        ends = [self.size(b + 1, s) for b, s in zip(begins, shape)]
        steps = [self.size(1, 2) for _ in shape]
        inputs = [self.graph.weight(np.array(v, np.int64)) for v in (begins, ends, range(len(shape)), steps)]
        return self.graph.node("Slice", value, *inputs), tuple(-(-(e - b) // s) for b, e, s in zip(begins, ends, steps))

    def softmax(self, value, shape):
        return self.graph.node("Softmax", value, axis=self.size(0, len(shape) - 1)), shape

    def matmul(self, value, shape):
        if len(shape) < 2:
            return None
        columns = self.size(1, 140)
        weight = self.floats(shape[-1], columns) / shape[-1] ** 0.5
        operand = self.graph.weight(weight) if self.size(0, 1) else self.graph.input(weight)
        return self.graph.node("MatMul", value, operand), (*shape[:-1], columns)

    def elementwise(self, value, shape):
        return self.graph.node(self.pick("Relu", "Tanh", "Sigmoid", "Abs", "Neg"), value), shape

    def broadcast(self, value, shape):
        other = [s if self.size(0, 1) else 1 for s in shape]
        kind = self.pick("Add", "Mul", "Sub", "Max")
        array = self.floats(*other)
        return self.graph.node(kind, value, self.pick(self.graph.weight, self.graph.input)(array)), shape

    def flatten(self, value, shape):
        if len(shape) < 2:
            return None
        axis = self.size(1, len(shape) - 1)
        return (self.graph.node("Flatten", value, axis=axis),
                (int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--targets", default="trn2")
    parser.add_argument("--seconds", type=int, default=60, help="for each command")
    parser.add_argument("--verbose", action="store_true", help="a line for graphs that pass, too")
    arguments = parser.parse_args()
    failed = 0
    start = time.perf_counter()
    for seed in range(arguments.first, arguments.first + arguments.count):
        for target in arguments.targets.split(","):
            case = Ragged(seed)
            graph = case.build()
            with tempfile.TemporaryDirectory() as folder:
                try:
                    problems = harness.check(graph, arguments.build / "bin" / "trnc", target, folder, arguments.seconds)
                except harness.Refused as error:
                    problems = [str(error)]
            if problems or arguments.verbose:
                print(f"{'FAILED' if problems else 'ok':<8}seed {seed} on {target}: {' '.join(case.steps)}", flush=True)
            for problem in problems:
                print(f"    {problem}", flush=True)
            failed += bool(problems)
    print(f"{arguments.count} random graphs, {failed} failed, {time.perf_counter() - start:.1f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
