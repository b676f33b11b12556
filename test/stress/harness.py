"""Compiles a graph, runs it on the emulated device with every check on and compares it with ONNX Runtime.

A Case is a function from a random generator to a model and its inputs. What ONNX Runtime itself refuses is an error of
the case, never a success.
"""
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

# The largest difference allowed, as a share of the largest value: both sides add up in fp32, in different orders.
TOLERANCE = 1e-4


class Graph:
    """Builds a model node by node; `node` returns the name of its first output."""

    def __init__(self, opset=17):
        self.opset, self.nodes, self.weights, self.feeds, self.outputs = opset, [], [], {}, []

    def input(self, array, name=None):
        name = name or f"x{len(self.feeds)}"
        self.feeds[name] = np.asarray(array)
        return name

    def weight(self, array, name=None):
        name = name or f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op_type, *inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op_type, list(inputs), names, f"{op_type}_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def output(self, *names):
        self.outputs += names

    def model(self):
        inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                  for n, a in self.feeds.items()]
        outputs = [onnx.ValueInfoProto(name=n) for n in self.outputs]
        graph = helper.make_graph(self.nodes, "stress", inputs, outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        # Types of the outputs: known from the inputs; a graph that inference refuses is a fault of the case.
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        known = {v.name: v for v in [*inferred.graph.value_info, *inferred.graph.output, *inputs]}
        known.update({w.name: helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in self.weights})
        del model.graph.output[:]
        model.graph.output.extend(known[n] for n in self.outputs)
        return model


class Refused(Exception):
    """The compiler refused the model: `code` is its exit code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def shorten(text, lines=6):
    kept = [line for line in text.splitlines() if re.search(r"error|expected|problem", line)] or text.splitlines()
    return "\n    ".join(kept[:lines])


def launch(command, seconds):
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Refused(-1, f"{command[1]} did not end within {seconds} s") from None
    if done.returncode:
        raise Refused(done.returncode, f"{command[1]} ended with {done.returncode}\n    {shorten(done.stderr)}")
    return done


def difference(got, expected):
    """The largest difference as a share of the largest value; infinite where types, shapes or infinities differ."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return float("inf")
    if not expected.size:
        return 0.0
    if expected.dtype.kind != "f":
        return float(not np.array_equal(got, expected))
    finite = np.isfinite(expected)
    if not np.array_equal(np.where(finite, 0, got), np.where(finite, 0, expected), equal_nan=True):
        return float("inf")
    largest = float(np.abs(expected, where=finite, out=np.zeros_like(expected)).max()) or 1.0
    return float(np.abs(np.subtract(got, expected, where=finite, out=np.zeros_like(expected, np.float64))).max()) / largest


def check(graph, trnc, target, folder, seconds=120, flags=(), tolerance=TOLERANCE):
    """Problems of one graph as texts; raises Refused."""
    folder = pathlib.Path(folder)
    path, executable = folder / "model.onnx", folder / "model.trnx"
    model = graph.model()
    onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = list(dict.fromkeys(graph.outputs))
    expected = session.run(names, graph.feeds)
    launch([trnc, "compile", path, "-o", executable, f"--target={target}", *flags], seconds)
    arguments = []
    for index, (name, array) in enumerate(graph.feeds.items()):
        np.save(folder / f"in{index}.npy", array)
        arguments.append(f"--input={name}=@{folder}/in{index}.npy")
    saves = [f"--save={name}=@{folder}/out{i}.npy" for i, name in enumerate(names)]
    launch([trnc, "run", executable, *arguments, *saves], seconds)
    problems = []
    for index, (name, want) in enumerate(zip(names, expected)):
        error = difference(np.load(folder / f"out{index}.npy"), want)
        if not error <= tolerance:
            problems.append(f"output '{name}' differs by {error:.2e} of its largest value, allowed {tolerance:.0e}")
    return problems


def run_cases(cases, trnc, targets, seconds, run=check):
    """Runs the cases, a maker of a graph by name, on each target, prints a line for each; how many failed."""
    failed = 0
    for name, make in cases.items():
        for target in targets:
            start = time.perf_counter()
            with tempfile.TemporaryDirectory() as folder:
                try:
                    problems = run(make(np.random.default_rng(0)), trnc, target, folder, seconds=seconds)
                except Refused as error:
                    problems = [str(error)]
            print(f"{'FAILED' if problems else 'ok':<8}{name:<32}{target:<6}{time.perf_counter() - start:>7.1f} s",
                  flush=True)
            for problem in problems:
                print(f"    {problem}", flush=True)
            failed += bool(problems)
    return failed
