"""Tests the operators that draw random numbers: their distributions, and what follows from the seed.

usage: random_numbers.py --build BUILD

Every model is compiled for trn2 and run on the emulated device. Distributions are compared by the largest distance of the
cumulative ones (Kolmogorov and Smirnov's, at a level of 0.1 %) and by frequencies, within four deviations. The seeds are
fixed, so an outcome is the same every time.
"""
import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

COUNT = 20000


def run(trnc, nodes, outputs, inputs=()):
    """The outputs, [(name, element type, shape)], of the nodes on the inputs, {name: array}."""
    inputs = dict(inputs)
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in inputs.items()]
    graph = helper.make_graph(nodes, "random", infos, [helper.make_tensor_value_info(*output) for output in outputs])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), folder / "model.onnx")
        arguments = []
        for name, value in inputs.items():
            (folder / f"{name}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
            arguments.append(f"--input={name}=@{folder / name}.pb")
        arguments += [f"--save={name}=@{folder / name}.pb" for name, *_ in outputs]
        done = subprocess.run([trnc, "run", folder / "model.onnx", "--target=trn2", "--quiet", *arguments], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return [numpy_helper.to_array(onnx.TensorProto.FromString((folder / f"{name}.pb").read_bytes())) for name, *_ in outputs]


def distance(values, cumulative):
    """The largest distance of the values' cumulative distribution from `cumulative`, as a share of what is allowed."""
    x = np.sort(values.astype(np.float64).ravel())
    expected = cumulative(x)
    steps = np.arange(len(x) + 1) / len(x)
    return max(np.abs(expected - steps[1:]).max(), np.abs(expected - steps[:-1]).max()) * math.sqrt(len(x)) / 1.95


def uniform(low, high):
    return lambda x: np.clip((x - low) / (high - low), 0, 1)


def normal(mean, scale):
    return np.vectorize(lambda x: 0.5 * (1 + math.erf((x - mean) / scale / math.sqrt(2))))


def frequency(hits, share):
    """By how much a frequency is off, as a share of four deviations."""
    return abs(np.mean(hits) - share) / (4 * math.sqrt(share * (1 - share) / np.size(hits)))


def distributions(trnc):
    """(what, share of what is allowed) of each operator."""
    shape = [COUNT // 100, 100]
    node = helper.make_node
    like = np.zeros(shape, np.float32)
    u, un, n, nn = run(trnc, [node("RandomUniform", [], ["u"], shape=shape, low=-2.0, high=3.0, seed=1.0),
                              node("RandomUniformLike", ["x"], ["v"], seed=2.0),
                              node("RandomNormal", [], ["n"], shape=shape, mean=1.5, scale=2.0, seed=3.0),
                              node("RandomNormalLike", ["x"], ["m"], seed=4.0)],
                       [(name, TensorProto.FLOAT, shape) for name in "uvnm"], {"x": like})
    yield "RandomUniform", distance(u, uniform(-2, 3))
    yield "RandomUniformLike", distance(un, uniform(0, 1))
    yield "RandomNormal", distance(n, normal(1.5, 2))
    yield "RandomNormalLike", distance(nn, normal(0, 1))
    # Neighbours, and the same places of two nodes, have nothing to do with each other.
    for what, a, b in (("neighbours", nn.ravel()[:-1], nn.ravel()[1:]), ("nodes", nn.ravel(), (n.ravel() - 1.5) / 2)):
        yield f"correlation of {what}", abs(np.mean(a * b)) * math.sqrt(COUNT) / 4
    for kind, name in ((np.float16, "fp16"), (ml_dtypes.bfloat16, "bf16"), (np.float64, "double")):
        number = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        (y,) = run(trnc, [node("RandomNormal", [], ["y"], shape=shape, seed=5.0, dtype=number)], [("y", number, shape)])
        yield f"RandomNormal in {name}", distance(y.astype(np.float64) + np.random.default_rng(0).uniform(-1, 1, shape) * 2.0**-9, normal(0, 1))
    chances = np.linspace(0.1, 0.9, 5).astype(np.float32)
    (y,) = run(trnc, [node("Bernoulli", ["p"], ["y"], seed=6.0, dtype=TensorProto.INT32)], [("y", TensorProto.INT32, [COUNT, 5])],
               {"p": np.broadcast_to(chances, (COUNT, 5)).copy()})
    for i, chance in enumerate(chances):
        yield f"Bernoulli at {chance:.1f}", frequency(y[:, i], float(chance))
    scores = np.log(np.array([[1, 2, 5, 0.5], [3, 3, 3, 1]], np.float32))
    (y,) = run(trnc, [node("Multinomial", ["x"], ["y"], seed=7.0, sample_size=COUNT)], [("y", TensorProto.INT32, [2, COUNT])], {"x": scores})
    for row, shares in zip(y, np.exp(scores) / np.exp(scores).sum(1, keepdims=True)):
        for i, share in enumerate(shares):
            yield f"Multinomial at {share:.2f}", frequency(row == i, float(share))
    x = np.random.default_rng(1).uniform(1, 2, shape).astype(np.float32)
    y, kept = run_dropout(trnc, x, 0.3)
    yield "Dropout's mask", frequency(kept, 0.7)
    yield "Dropout's values", np.abs(y - np.where(kept, x / np.float32(0.7), 0)).max() / 1e-6


def run_dropout(trnc, x, ratio):
    """Dropout in training."""
    shape = list(x.shape)
    constants = [helper.make_node("Constant", [], ["ratio"], value_float=ratio),
                 helper.make_node("Constant", [], ["training"], value=helper.make_tensor("t", TensorProto.BOOL, [], [True]))]
    return run(trnc, constants + [helper.make_node("Dropout", ["x", "ratio", "training"], ["y", "mask"], seed=8)],
               [("y", TensorProto.FLOAT, shape), ("mask", TensorProto.BOOL, shape)], {"x": x})


def seeds(trnc):
    """(what, whether it holds): the same seed draws the same numbers, every other one and every other node others."""
    shape = [500]

    def draw(*given):
        nodes = [helper.make_node("RandomUniform", [], [f"y{i}"], shape=shape, name=f"draw{i}", **({} if s is None else {"seed": s}))
                 for i, s in enumerate(given)]
        return run(trnc, nodes, [(f"y{i}", TensorProto.FLOAT, shape) for i in range(len(given))])

    first = draw(1.0, 1.0, 2.0, None, None)
    yield "equal seeds", np.array_equal(first[0], first[1])
    yield "different seeds", np.mean(first[0] == first[2]) < 0.01
    yield "nodes without a seed", np.mean(first[3] == first[4]) < 0.01
    yield "another run", all(np.array_equal(a, b) for a, b in zip(first, draw(1.0, 1.0, 2.0, None, None)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("-v", action="store_true", help="print every check")
    arguments = parser.parse_args()
    trnc = (arguments.build / "bin/trnc").resolve()
    checks = [(what, f"{share:.2f} of what is allowed", share < 1) for what, share in distributions(trnc)]
    checks += [(what, "as it has to be" if holds else "not as it has to be", holds) for what, holds in seeds(trnc)]
    for what, text, holds in checks:
        if arguments.v or not holds:
            print(f"{'pass' if holds else 'failed':<8}{what}: {text}")
    failed = sum(not holds for *_, holds in checks)
    print(f"random numbers: {len(checks) - failed} of {len(checks)} checks hold")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
