#!/usr/bin/env python3
"""Compares models, evaluated at a compiler stage, with ONNX Runtime.

    compare_models.py [--tool build/release/bin/evaluate-model] [--stage tensor] model.onnx[:name=1x3x48x320] ...

Inputs are random with a fixed seed (integers are 0 or 1, so that they are legal indices). A light model whose weights are constant fills is rewritten
first with `--seed-weights`: every ConstantOfShape that feeds weights becomes a tensor of small seeded numbers, since
constant weights hide most errors. Prints a table: the largest difference relative to the largest output, and seconds.
Exits 1 if a model differs by more than --tolerance.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def seed_weights(model, rng):
    """Replaces constant fills by random initializers: He-scaled for matrices and kernels, positive near 1 for vectors."""
    nodes = list(model.graph.node)
    shapes = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    shapes.update({n.output[0]: numpy_helper.to_array(n.attribute[0].t) for n in nodes if n.op_type == "Constant"})
    for node in nodes:
        if node.op_type != "ConstantOfShape" or node.input[0] not in shapes:
            continue
        shape = [int(d) for d in shapes[node.input[0]]]
        if len(shape) > 1:
            scale = np.sqrt(2.0 / np.prod(shape[1:]))
            values = (rng.standard_normal(shape) * scale).astype(np.float32)
        else:
            values = (rng.random(shape) * 0.5 + 0.75).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(values, node.output[0]))
        model.graph.node.remove(node)
    # Random weights saturate the last Softmax, which hides differences: what it reads becomes an output too.
    results = {output.name for output in model.graph.output}
    for node in nodes:
        if node.op_type == "Softmax" and node.output[0] in results:
            model.graph.output.append(onnx.helper.make_tensor_value_info(node.input[0], onnx.TensorProto.FLOAT, None))


def make_inputs(session, shapes, rng):
    inputs = {}
    for value in session.get_inputs():
        shape = shapes.get(value.name) or [d if isinstance(d, int) else 1 for d in value.shape]
        dtype = re.sub(r"tensor\((.*)\)", r"\1", value.type).replace("float16", "half").replace("double", "float64")
        dtype = {"float": "float32", "half": "float16"}.get(dtype, dtype)
        if dtype.startswith("float"):
            inputs[value.name] = rng.standard_normal(shape).astype(dtype)
        else:
            inputs[value.name] = rng.integers(0, 2, shape).astype(dtype)
    return inputs


def run_ort(path, shapes, rng):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = make_inputs(session, shapes, rng)
    return inputs, session.run(None, inputs)


def compare(tool, stage, path, shapes, auto_cast, seeded):
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        if seeded:
            model = onnx.load(path)
            seed_weights(model, rng)
            path = os.path.join(folder, "model.onnx")
            onnx.save(model, path)
        try:
            inputs, expected = run_ort(path, shapes, rng)
        except Exception as error:  # ONNX Runtime's exceptions have no common base class.
            return None, {}, ["ONNX Runtime: " + str(error)]
        with open(os.path.join(folder, "in"), "wb") as file:
            for value in inputs.values():
                file.write(np.ascontiguousarray(value).tobytes())
        command = [tool, path, stage, os.path.join(folder, "in"), os.path.join(folder, "out")]
        command += [f"{name}={'x'.join(map(str, value.shape))}" for name, value in inputs.items()]
        command.append("--auto-cast=" + auto_cast)
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        seconds = dict(re.findall(r"(compiled|evaluated) in ([\d.]+)", done.stderr))
        if done.returncode != 0:
            return None, seconds, done.stderr.strip().splitlines()[-3:]
        data = open(os.path.join(folder, "out"), "rb").read()
    worst, offset = 0.0, 0
    for value in expected:
        value = np.asarray(value)
        got = np.frombuffer(data, value.dtype, value.size, offset).reshape(value.shape)
        offset += value.nbytes
        largest = max(float(np.max(np.abs(value.astype(np.float64)))) if value.size else 0.0, 1e-30)
        difference = np.abs(got.astype(np.float64) - value.astype(np.float64))
        if value.size:
            worst = max(worst, float(np.nan_to_num(np.max(difference), nan=np.inf)) / largest)
    if offset != len(data):
        return None, seconds, [f"expected {offset} bytes of outputs but got {len(data)}"]
    return worst, seconds, []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--tool", default="build/release/bin/evaluate-model")
    parser.add_argument("--stage", default="tensor")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--auto-cast", default="none")
    parser.add_argument("--seed-weights", action="store_true")
    arguments = parser.parse_args()
    bad = 0
    print(f"{'model':44} {'stage':9} {'relative error':>14} {'compile s':>10} {'evaluate s':>10}")
    for item in arguments.models:
        path, *specs = item.split(":")
        shapes = {}
        for spec in specs:
            name, text = spec.rsplit("=", 1)
            shapes[name] = [int(d) for d in text.split("x")]
        worst, seconds, errors = compare(arguments.tool, arguments.stage, path, shapes, arguments.auto_cast,
                                         arguments.seed_weights)
        good = worst is not None and worst <= arguments.tolerance
        bad += not good
        error = "failed" if worst is None else f"{worst:.2e}"
        print(f"{os.path.basename(path):44} {arguments.stage:9} {error:>14} {seconds.get('compiled', '-'):>10} "
              f"{seconds.get('evaluated', '-'):>10}{'' if good else '  <-- BAD'}", flush=True)
        for line in errors:
            print("    " + line[:300])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
