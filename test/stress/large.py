"""Operators on tensors that exceed SBUF, compiled, run and compared with ONNX Runtime.

usage: large.py --build BUILD [--only NAME...] [--all] [--targets trn2,...]

Without --all only the cases run that end within seconds; these are the ones that every test run takes. A case passes
when the model compiles and its numbers agree; a case with `refused` passes when the compiler says so, in time, with the
text that the case names.
"""
import argparse
import pathlib
import sys
import time

import numpy as np

import harness


def unary(op_type, *shape, **attributes):
    def build(rng):
        graph = harness.Graph()
        graph.output(graph.node(op_type, graph.input(rng.standard_normal(shape).astype(np.float32)), **attributes))
        return graph
    return build


def binary(op_type, left, right):
    def build(rng):
        graph = harness.Graph()
        operands = [graph.input(rng.standard_normal(s).astype(np.float32)) for s in (left, right)]
        graph.output(graph.node(op_type, *operands))
        return graph
    return build


def softmax_chain(*shape):
    """Elementwise, normalisation over the last axis, elementwise."""
    def build(rng):
        graph = harness.Graph()
        x = graph.input(rng.standard_normal(shape).astype(np.float32))
        y = graph.node("Softmax", graph.node("Tanh", x), axis=-1)
        graph.output(graph.node("Add", y, x))
        return graph
    return build


def layer_norm(*shape):
    def build(rng):
        graph = harness.Graph()
        x = graph.input(rng.standard_normal(shape).astype(np.float32))
        scale, bias = (graph.weight(rng.standard_normal(shape[-1:]).astype(np.float32)) for _ in range(2))
        graph.output(graph.node("LayerNormalization", x, scale, bias, axis=-1))
        return graph
    return build


def instance_norm(*shape):
    def build(rng):
        graph = harness.Graph()
        x = graph.input(rng.standard_normal(shape).astype(np.float32))
        scale, bias = (graph.weight(rng.standard_normal(shape[1:2]).astype(np.float32)) for _ in range(2))
        graph.output(graph.node("InstanceNormalization", x, scale, bias))
        return graph
    return build


def gemm(rows, inner, columns, constant):
    def build(rng):
        graph = harness.Graph()
        x = graph.input(rng.standard_normal((rows, inner)).astype(np.float32))
        w = (rng.standard_normal((inner, columns)) / inner ** 0.5).astype(np.float32)
        graph.output(graph.node("Gemm", x, graph.weight(w) if constant else graph.input(w)))
        return graph
    return build


def conv(channels, height, width, filters, kernel, **attributes):
    def build(rng):
        graph = harness.Graph()
        x = graph.input(rng.standard_normal((1, channels, height, width)).astype(np.float32))
        inner = channels // attributes.get("group", 1)
        w = graph.weight((rng.standard_normal((filters, inner, kernel, kernel)) / kernel / inner ** 0.5).astype(np.float32))
        b = graph.weight(rng.standard_normal(filters).astype(np.float32))
        graph.output(graph.node("Relu", graph.node("Conv", x, w, b, **attributes)))
        return graph
    return build


def conv_1d(channels, length, filters, kernel, stride):
    def build(rng):
        graph = harness.Graph()
        x = graph.input(rng.standard_normal((1, channels, length)).astype(np.float32))
        w = graph.weight((rng.standard_normal((filters, channels, kernel)) / kernel ** 0.5).astype(np.float32))
        graph.output(graph.node("Conv", x, w, strides=[stride]))
        return graph
    return build


def reduce(op_type, *shape, axes=None):
    def build(rng):
        graph = harness.Graph(17)
        x = graph.input(rng.standard_normal(shape).astype(np.float32))
        if op_type == "ReduceSum":
            inputs = [x] if axes is None else [x, graph.weight(np.array(axes, np.int64))]
            graph.output(graph.node(op_type, *inputs))
        else:
            graph.output(graph.node(op_type, x, **({} if axes is None else {"axes": axes})))
        return graph
    return build


def normalized(*shape):
    """(x - min) / (max - min) over the whole tensor: two reductions to one number that every element needs."""
    def build(rng):
        graph = harness.Graph(17)
        x = graph.input(rng.standard_normal(shape).astype(np.float32))
        low = graph.node("ReduceMin", x)
        high = graph.node("ReduceMax", x)
        graph.output(graph.node("Div", graph.node("Sub", x, low), graph.node("Sub", high, low)))
        return graph
    return build


def concat(axis, *shapes):
    def build(rng):
        graph = harness.Graph()
        parts = [graph.input(rng.standard_normal(s).astype(np.float32)) for s in shapes]
        graph.output(graph.node("Relu", graph.node("Concat", *parts, axis=axis)))
        return graph
    return build


def concat_same(*order):
    """A tensor that stands in several places of the result, which its tiles do not divide."""
    def build(rng):
        graph = harness.Graph()
        parts = [graph.input(rng.standard_normal((n, 184, 500)).astype(np.float32)) for n in (1, 2)]
        graph.output(graph.node("Concat", *[parts[k] for k in order], axis=0))
        return graph
    return build


def residual(channels, height, width):
    """Two convolutions with a sum around them, at a size at which no activation stays on chip."""
    def build(rng):
        graph = harness.Graph()
        x = graph.input(rng.standard_normal((1, channels, height, width)).astype(np.float32))
        def layer(value):
            w = graph.weight((rng.standard_normal((channels, channels, 3, 3)) / 3 / channels ** 0.5).astype(np.float32))
            return graph.node("Conv", value, w, pads=[1, 1, 1, 1])
        graph.output(graph.node("Relu", graph.node("Add", x, layer(graph.node("Relu", layer(x))))))
        return graph
    return build


# name: (case, whether every test run takes it)
CASES = {
    "relu": (unary("Relu", 1, 64, 1024, 1024), False),
    "relu_small": (unary("Relu", 1, 64, 384, 384), True),
    "relu_one_lane": (unary("Relu", 300007), True),
    "exp_long": (unary("Exp", 3, 1000003), True),
    "softmax": (unary("Softmax", 1, 64, 1024, 1024, axis=-1), False),
    "softmax_channels": (unary("Softmax", 1, 64, 256, 256, axis=1), True),
    "softmax_long": (unary("Softmax", 4, 200000, axis=-1), True),
    "softmax_huge_row": (unary("Softmax", 1, 1000000, axis=-1), True),
    "softmax_chain": (softmax_chain(64, 100000), True),
    "layer_norm": (layer_norm(16, 65536), True),
    "layer_norm_rows": (layer_norm(2048, 1024), True),
    "instance_norm": (instance_norm(1, 32, 512, 512), False),
    "gemm_deep": (gemm(4, 50000, 16, True), True),
    "gemm_deep_input": (gemm(4, 50000, 16, False), True),
    "gemm_deep_square": (gemm(600, 30000, 200, False), False),
    "gemm_deep_held": (gemm(3, 50000, 128, True), True),
    "conv_long_window": (conv_1d(1, 44100, 36, 256, 256), True),
    "gemm_wide": (gemm(8, 64, 50000, True), True),
    "gemm_tall": (gemm(20000, 64, 32, True), True),
    "transpose": (unary("Transpose", 8192, 8192, perm=[1, 0]), False),
    "transpose_small": (unary("Transpose", 1500, 2500, perm=[1, 0]), True),
    "transpose_three": (unary("Transpose", 130, 300, 70, perm=[2, 0, 1]), True),
    "concat_channels": (concat(1, (1, 67, 256, 256), (1, 70, 256, 256)), True),
    "concat_rows": (concat(2, (1, 32, 300, 300), (1, 32, 411, 300)), True),
    "concat_same": (concat_same(0, 1, 0), True),
    "conv_1024": (conv(3, 1024, 1024, 16, 3, pads=[1, 1, 1, 1], strides=[2, 2]), False),
    "conv_384": (conv(3, 384, 384, 16, 3, pads=[1, 1, 1, 1]), True),
    "conv_depthwise": (conv(32, 300, 300, 32, 3, pads=[1, 1, 1, 1], group=32), True),
    "conv_block": (residual(16, 320, 320), True),
    "pool_large": (unary("MaxPool", 1, 64, 401, 401, kernel_shape=[3, 3], strides=[2, 2]), True),
    "pool_global": (unary("GlobalAveragePool", 1, 64, 500, 500), True),
    "reduce_all": (reduce("ReduceMin", 1, 500, 700), True),
    "reduce_all_vector": (reduce("ReduceMax", 1, 53767), True),
    "reduce_last": (reduce("ReduceSum", 70, 120000, axes=[1]), True),
    "reduce_first": (reduce("ReduceMean", 3000, 700, axes=[0]), True),
    "reduce_middle": (reduce("ReduceL2", 5, 4001, 190, axes=[1]), True),
    "normalized": (normalized(1, 172, 3, 99), True),
    "normalized_large": (normalized(1, 3, 900, 900), True),
    "broadcast_add": (binary("Add", (1, 128, 300, 300), (1, 128, 1, 1)), True),
    "broadcast_rows": (binary("Mul", (3000, 1, 77), (1, 500, 77)), False),
    "outer": (binary("Add", (3000, 1), (1, 2000)), True),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--targets", default="trn2")
    parser.add_argument("--seconds", type=int, default=120, help="for each command")
    arguments = parser.parse_args()
    unknown = set(arguments.only or ()) - set(CASES)
    if unknown:
        sys.exit(f"error: no case is named {', '.join(sorted(unknown))}")
    chosen = {name: build for name, (build, always) in CASES.items()
              if (name in arguments.only if arguments.only else always or arguments.all)}
    failed = harness.run_cases(chosen, arguments.build / "bin" / "trnc", arguments.targets.split(","), arguments.seconds)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
