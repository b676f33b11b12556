"""Operators on pictures and signals larger than a partition of SBUF, compiled, run and compared with ONNX Runtime.

usage: planes.py --build BUILD [--only PATTERN...] [--all] [--compile-only] [--targets trn2,...]

The table is operators × sizes: every operator that has planes takes each size. Without --all only the cases run that end
within seconds; these are the ones that every test run takes.
"""
import argparse
import fnmatch
import pathlib
import sys
import time

import numpy as np
import onnx

import harness

# Planes; a partition of SBUF has 53,248 numbers of fp32.
SIZES = {"512": (512, 512), "720p": (720, 1280), "1024": (1024, 1024), "photo": (1500, 2000), "odd": (701, 1034)}


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def one(op_type, *weights, **attributes):
    """One node on the plane; `weights` are arrays or None (absent)."""
    def build(graph, rng, x):
        names = ["" if w is None else graph.weight(w) for w in weights]
        return graph.node(op_type, x, *names, **attributes)
    return build


def conv(inner, filters, kernel, op_type="Conv", **attributes):
    def build(graph, rng, x):
        group = attributes.get("group", 1)
        shape = (filters, inner // group, kernel, kernel) if op_type == "Conv" else (inner, filters // group, kernel, kernel)
        w = graph.weight(normal(rng, *shape) / kernel / inner ** 0.5)
        return graph.node(op_type, x, w, graph.weight(normal(rng, filters)), **attributes)
    return build


def norm(op_type, channels):
    def build(graph, rng, x):
        weights = [graph.weight(normal(rng, channels)) for _ in range(2)]
        if op_type == "BatchNormalization":
            weights += [graph.weight(normal(rng, channels)), graph.weight(np.square(normal(rng, channels)) + 0.1)]
        return graph.node(op_type, x, *weights)
    return build


def pad_with(mode):
    return one("Pad", np.array([0, 0, 3, 5, 0, 0, 7, 2]), mode=mode)


def concat(axis):
    def build(graph, rng, x):
        return graph.node("Concat", x, graph.node("Relu", x), axis=axis)
    return build


def added(graph, rng, x):
    return graph.node("Add", graph.node("Tanh", x), x)


def flipped_sum(graph, rng, x):
    """The last axis backwards, added to what is made of it forwards."""
    steps = [graph.weight(np.array([value])) for value in (-1, -10000000, 1, -1)]
    return graph.node("Add", graph.node("Slice", x, *steps), graph.node("Tanh", x))


def resize(mode, *scales, **attributes):
    return one("Resize", None, np.array([1, 1, *scales], np.float32), mode=mode, **attributes)


# Operator: (channels, build).
PLANE = {
    "conv3x3": (3, conv(3, 32, 3, pads=[1, 1, 1, 1])),
    "conv3x3_stride2": (3, conv(3, 32, 3, pads=[1, 1, 1, 1], strides=[2, 2])),
    "conv7x7_stride2": (3, conv(3, 16, 7, pads=[3, 3, 3, 3], strides=[2, 2])),
    "conv1x1": (16, conv(16, 8, 1)),
    "conv3x3_dilated": (8, conv(8, 8, 3, pads=[2, 2, 2, 2], dilations=[2, 2])),
    "conv_depthwise": (8, conv(8, 8, 3, pads=[1, 1, 1, 1], group=8)),
    "conv_groups": (8, conv(8, 16, 3, pads=[1, 1, 1, 1], group=2)),
    "conv_transpose": (4, conv(4, 3, 2, "ConvTranspose", strides=[2, 2])),
    "conv_transpose3x3": (4, conv(4, 3, 3, "ConvTranspose", strides=[2, 2], pads=[1, 1, 1, 1])),
    "max_pool2x2": (3, one("MaxPool", kernel_shape=[2, 2], strides=[2, 2])),
    "max_pool3x3": (3, one("MaxPool", kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])),
    "max_pool_dilated": (3, one("MaxPool", kernel_shape=[5, 5], strides=[2, 2], pads=[2, 2, 2, 2], dilations=[2, 2])),
    "average_pool": (3, one("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])),
    "global_average_pool": (3, one("GlobalAveragePool")),
    "global_max_pool": (3, one("GlobalMaxPool")),
    "batch_norm": (3, norm("BatchNormalization", 3)),
    "instance_norm": (3, norm("InstanceNormalization", 3)),
    "lrn": (5, one("LRN", size=3)),
    "resize_nearest": (3, resize("nearest", 2, 2)),
    "resize_linear": (3, resize("linear", 2, 2)),
    "resize_linear_half": (3, resize("linear", 0.5, 0.5)),
    "resize_align_corners": (1, resize("linear", 2, 2, coordinate_transformation_mode="align_corners")),
    "resize_cubic": (1, resize("cubic", 2, 2)),
    "pad": (3, pad_with("constant")),
    "pad_reflect": (3, pad_with("reflect")),
    "pad_edge": (3, pad_with("edge")),
    "concat_channels": (3, concat(1)),
    "concat_rows": (3, concat(2)),
    "concat_columns": (3, concat(3)),
    "softmax_channels": (19, one("Softmax", axis=1)),
    "argmax_channels": (19, one("ArgMax", axis=1)),
    "depth_to_space": (4, one("DepthToSpace", blocksize=2)),
    "space_to_depth": (1, one("SpaceToDepth", blocksize=2)),
    "transpose_nhwc": (3, one("Transpose", perm=[0, 2, 3, 1])),
    "sigmoid": (3, one("Sigmoid")),
    "add": (3, added),
    "slice_step": (3, one("Slice", np.array([1, 0]), np.array([10000, 10000]), np.array([2, 3]), np.array([2, 2]))),
    "flip": (3, one("Slice", np.array([-1]), np.array([-10000]), np.array([3]), np.array([-1]))),
    "reduce_mean_rows": (3, one("ReduceMean", axes=[2], keepdims=0)),
    "reduce_max_columns": (3, one("ReduceMax", axes=[3])),
    "cumsum": (1, one("CumSum", np.array(3))),
}


def plane(operator, size):
    channels, build = PLANE[operator]

    def make(rng):
        graph = harness.Graph(17)
        x = graph.input(normal(rng, 1, channels, *SIZES[size]))
        graph.output(build(graph, rng, x))
        return graph
    return make


def single(build, *shape):
    """One operator on a tensor of any shape."""
    def make(rng):
        graph = harness.Graph(17)
        results = build(graph, rng, graph.input(normal(rng, *shape)))
        graph.output(*([results] if isinstance(results, str) else results))
        return graph
    return make


def product(rows, inner, columns):
    def build(graph, rng, x):
        return graph.node("Gemm", x, graph.weight(normal(rng, inner, columns) / np.float32(inner ** 0.5)))
    return single(build, rows, inner)


def conv_of(shape, filters, kernel, **attributes):
    def build(graph, rng, x):
        w = normal(rng, filters, shape[1] // attributes.get("group", 1), *kernel) / np.float32(np.prod(kernel) ** 0.5)
        return graph.node("Conv", x, graph.weight(w), **attributes)
    return single(build, *shape)


def layer_norm(*shape):
    def build(graph, rng, x):
        return graph.node("LayerNormalization", x, graph.weight(normal(rng, shape[-1])), graph.weight(normal(rng, shape[-1])), axis=-1)
    return single(build, *shape)


# Every test run takes these; the others take minutes.
QUICK = {"batch64_conv", "conv1x1_1024", "conv1x1_odd", "conv3x3_512", "flip_add_row_100k", "flip_odd", "flip_photo", "flip_row_500k", "lrn_odd", "max_pool3x3_1024",
         "max_pool_dilated_512"}
CASES = {f"{operator}_{size}": plane(operator, size) for operator in PLANE for size in SIZES
         if (operator, size) != ("space_to_depth", "odd")}
for columns in (50000, 100000, 500000):
    CASES[f"layer_norm_row_{columns}"] = layer_norm(2, columns)
    CASES[f"softmax_row_{columns}"] = single(one("Softmax", axis=-1), 2, columns)
    CASES[f"argmax_row_{columns}"] = single(one("ArgMax", axis=-1), 2, columns)
    CASES[f"cumsum_row_{columns}"] = single(one("CumSum", np.array(1)), 2, columns)
CASES |= {
    "gemm_inner_100k": product(4, 100000, 16),
    "gemm_columns_100k": product(4, 32, 100000),
    "gemm_rows_100k": product(100000, 32, 16),
    "conv1d_500k": conv_of((1, 1, 500000), 16, (9,), pads=[4, 4]),
    "conv1d_500k_channels": conv_of((1, 16, 500000), 16, (3,), pads=[1, 1]),
    "conv1d_500k_stride": conv_of((1, 2, 500000), 32, (25,), strides=[5]),
    "conv1d_500k_dilated": conv_of((1, 4, 500000), 4, (3,), pads=[512, 512], dilations=[512]),
    "conv1d_500k_depthwise": conv_of((1, 4, 500000), 4, (5,), pads=[2, 2], group=4),
    "max_pool1d_500k": single(one("MaxPool", kernel_shape=[4], strides=[4]), 1, 4, 500000),
    "conv3d": conv_of((1, 1, 64, 128, 128), 8, (3, 3, 3), pads=[1] * 6),
    "conv3d_stride": conv_of((1, 3, 32, 224, 224), 16, (3, 7, 7), strides=[1, 2, 2], pads=[1, 3, 3, 1, 3, 3]),
    "max_pool3d": single(one("MaxPool", kernel_shape=[2, 2, 2], strides=[2, 2, 2]), 1, 2, 64, 128, 128),
    "average_pool3d": single(one("AveragePool", kernel_shape=[3, 3, 3], strides=[2, 2, 2], pads=[1] * 6), 1, 2, 64, 128, 128),
    "batch64_conv": conv_of((64, 3, 112, 112), 16, (3, 3), pads=[1] * 4),
    "batch64_max_pool": single(one("MaxPool", kernel_shape=[2, 2], strides=[2, 2]), 64, 16, 112, 112),
    "batch64_gap": single(one("GlobalAveragePool"), 64, 32, 112, 112),
    "gather_rows_100k": single(one("Gather", np.arange(0, 100000, 7), axis=0), 100000, 8),
    "gather_columns_100k": single(one("Gather", np.arange(0, 100000, 7), axis=1), 2, 100000),
    "tile_100k": single(one("Tile", np.array([3, 1])), 2, 100000),
    "flip_row_500k": single(one("Slice", np.array([-1]), np.array([-1000000]), np.array([1]), np.array([-1])), 2, 500000),
    "flip_add_row_100k": single(flipped_sum, 3, 100000),
    "flatten_plane": single(one("Flatten"), 1, 3, 512, 512),
    "reshape_patches": single(one("Reshape", np.array([1, 3, 32, 16, 32, 16])), 1, 3, 512, 512),
}


def compile_only(graph, trnc, target, folder, seconds):
    path = pathlib.Path(folder) / "model.onnx"
    onnx.save(graph.model(), path)
    harness.launch([trnc, "compile", path, "-o", path.with_suffix(".trnx"), f"--target={target}"], seconds)
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", help="names, with * and ?")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--targets", default="trn2")
    parser.add_argument("--seconds", type=int, default=120, help="for each command")
    arguments = parser.parse_args()
    chosen = [name for name in CASES
              if (any(fnmatch.fnmatch(name, p) for p in arguments.only) if arguments.only else arguments.all or name in QUICK)]
    if not chosen:
        sys.exit(f"error: no case is named {' or '.join(arguments.only)}")
    failed = harness.run_cases({name: CASES[name] for name in chosen}, arguments.build / "bin" / "trnc",
                               arguments.targets.split(","), arguments.seconds,
                               compile_only if arguments.compile_only else harness.check)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
