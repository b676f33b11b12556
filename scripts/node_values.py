"""Writes the value of every node of a model, computed by ONNX Runtime without its graph optimisations.

usage: node_values.py MODEL OUT.npz [--input NAME=@FILE.npy]... [--shape NAME=AxBxC]... [--seed N]

Inputs without a file are filled with seeded noise (their shape from the model or --shape). The file holds each input and
each node output under its ONNX name, and `__nodes__`, a JSON map from node to output; `trnc bisect` and `trnc verify --reference` read it.
"""
import argparse
import json
import sys

import numpy as np
import onnx
import onnxruntime

NUMPY = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(double)": np.float64,
         "tensor(float16)": np.float16, "tensor(bool)": np.bool_, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8}


def feeds_of(session, files, shapes, seed):
    rng = np.random.default_rng(seed)
    feeds = {}
    for value in session.get_inputs():
        if value.name in files:
            feeds[value.name] = np.load(files[value.name])
            continue
        shape = shapes.get(value.name, value.shape)
        if not all(isinstance(d, int) for d in shape):
            sys.exit(f"error: input '{value.name}' has shape {shape}; bind it with --shape {value.name}=AxB")
        dtype = NUMPY[value.type]
        noise = rng.standard_normal(shape) if np.issubdtype(dtype, np.floating) else rng.integers(0, 2, shape)
        feeds[value.name] = noise.astype(dtype)
    return feeds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    files = dict(text.rsplit("=@", 1) for text in arguments.input)
    shapes = {n: [int(d) for d in s.split("x")] for n, s in (text.rsplit("=", 1) for text in arguments.shape)}

    model = onnx.load(arguments.model)
    names = [o for node in model.graph.node for o in node.output if o]
    known = {o.name for o in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = feeds_of(session, files, shapes, arguments.seed)
    outputs = [o.name for o in session.get_outputs()]
    values = dict(zip(outputs, session.run(outputs, feeds)))
    nodes = {node.name or node.output[0]: node.output[0] for node in model.graph.node if node.output}
    values["__nodes__"] = np.frombuffer(json.dumps(nodes).encode(), np.uint8)
    np.savez(arguments.out, **feeds, **{n: v for n, v in values.items() if isinstance(v, np.ndarray)})


if __name__ == "__main__":
    main()
