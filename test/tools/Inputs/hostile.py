"""Compiles models that are broken, absurd or built to hurt, and asserts exit code, message and bounded effort of each.

usage: hostile.py FOLDER   (an empty folder for the models; trnc on the PATH)

Every case ends within 30 s and 4 GB of address space, with the documented exit code and
a message that names the cause; none ends by a signal.
"""
import os
import pathlib
import resource
import subprocess
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, DOUBLE, INT32 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32
node = helper.make_node
cases = []


def case(name, code, message, nodes, inputs, outputs=(("y", FLOAT, None),), constants=(), functions=()):
    """A model with named inputs and outputs (name, type, shape) and what becomes of it."""
    def values(specs):
        return [helper.make_tensor_value_info(*spec) for spec in specs]

    tensors = [c if isinstance(c, TensorProto) else numpy_helper.from_array(c[1], c[0]) for c in constants]
    graph = helper.make_graph(nodes, name, values(inputs), values(outputs), tensors)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1), helper.make_opsetid("com.microsoft", 1)]
    cases.append((name, code, message, helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=functions)))


def relu(name, code, message, shape, dtype=FLOAT):
    case(name, code, message, [node("Relu", ["a"], ["y"])], [("a", dtype, shape)], [("y", dtype, shape)])


def sizes(*numbers):
    return ("s", np.array(numbers, np.int64))


def external(name, code, message, location, offset=None, length=None):
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    case(name, code, message, [node("Add", ["a", "w"], ["y"])], [("a", FLOAT, [4])], constants=[tensor])


def convolution(name, message, **attributes):
    case(name, 2, message, [node("Conv", ["a", "w"], ["y"], **attributes)], [("a", FLOAT, [1, 1, 8, 8])],
         constants=[("w", np.ones((1, 1, 3, 3), np.float32))])


# Sizes: products that overflow, tensors that no device holds.
relu("square", 1, "expected at most 12884901888 bytes, the memory of a core of trn2, but got 34359738368", [65536, 65536])
relu("wraps", 2, "at most 2^40 elements but got 1099511627776x1099511627776", [1 << 40, 1 << 40])
relu("wraps-late", 2, "at most 2^40 elements but got 2097152x2097152x2097152", [1 << 21] * 3)
relu("largest", 2, "at most 2^40 elements but got 9223372036854775807", [(1 << 63) - 1])
relu("negative", 1, "the sizes of these inputs are not bound: 'a'", [-5, 2])
relu("empty", 0, "", [0, 2])
relu("deep-rank", 2, "expected at most 64 dimensions of input 'a'", [1] * 300)
relu("rank-nine", 1, "input 'a': expected at most 8 dimensions but got 9", [2] * 9)
relu("rank-zero", 0, "", [])
relu("double", 0, "", [2, 3], DOUBLE)
case("square-product", 1, "the memory of a core of trn2", [node("MatMul", ["a", "a"], ["y"])], [("a", FLOAT, [65536, 65536])])
case("expand", 1, "the memory of a core of trn2", [node("Expand", ["a", "s"], ["y"])], [("a", FLOAT, [1])],
     constants=[sizes(1 << 35)])
# Two parts of a program: what is before the loop has an input, what is behind it an output that a core could hold alone.
case("parts", 1, "expected at most 12884901888 bytes, the memory of a core of trn2, but got 17179869",
     [node("ReduceMax", ["a"], ["before"], keepdims=0),
      node("Loop", ["n", "", "before"], ["looped"], body=helper.make_graph(
          [node("Sqrt", ["state"], ["next"]), node("Identity", ["go"], ["on"])], "round",
          [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
           helper.make_tensor_value_info("state", FLOAT, [])],
          [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("next", FLOAT, [])])),
      node("Expand", ["looped", "s"], ["y"])],
     [("a", FLOAT, [32768, 65536]), ("n", TensorProto.INT64, [])], [("y", FLOAT, [32768, 65536])],
     constants=[sizes(32768, 65536)])
case("tile", 1, "at most 2^40 elements", [node("Tile", ["a", "s"], ["y"])], [("a", FLOAT, [4])], constants=[sizes(1 << 60)])
case("pad", 1, "expected pads below 2^40", [node("Pad", ["a", "s"], ["y"])], [("a", FLOAT, [4])],
     constants=[sizes(1 << 62, 1 << 62)])
case("range", 1, "elements, because it is computed while compiling", [node("Range", ["s", "e", "d"], ["y"])], [],
     [("y", TensorProto.INT64, None)], [(n, np.array(v, np.int64)) for n, v in (("s", 0), ("e", 1 << 62), ("d", 1))])
case("endless_range", 1, "expected a 'delta' other than 0", [node("Range", ["s", "e", "d"], ["y"])], [],
     [("y", TensorProto.INT64, None)], [(n, np.array(v, np.int64)) for n, v in (("s", 0), ("e", 5), ("d", 0))])
# A constant of 600 MB takes a few bytes: it stays one value.
case("splat", 0, "", [node("ConstantOfShape", ["s"], ["c"], value=helper.make_tensor("v", FLOAT, [1], [2.0])),
                      node("ReduceSum", ["c"], ["r"], keepdims=1), node("Mul", ["a", "r"], ["y"])],
     [("a", FLOAT, [1])], constants=[sizes(150_000_000)])
case("splat-sum", 0, "", [node("ConstantOfShape", ["s"], ["c"], value=helper.make_tensor("v", FLOAT, [1], [0.5])),
                          node("Add", ["a", "c"], ["y"])], [("a", FLOAT, [1])], constants=[sizes(150_000_000)])
# Reductions whose whole operand is no tile: as long as they are, or refused by what they would take.
case("reduce-long", 0, "", [node("ReduceMax", ["a"], ["y"], keepdims=0)], [("a", FLOAT, [150_000_000])])
case("scan-long", 1, "instructions can do, but got 150000000x150000000", [node("CumSum", ["a", "s"], ["y"])],
     [("a", INT32, [150_000_000])], [("y", INT32, None)], constants=[("s", np.array(0, np.int64))])
# Inputs and outputs fit the device, what lies between them does not.
case("between", 1, "inputs, outputs, weights and what is kept between them: expected at most 12884901888 bytes",
     [node("Expand", ["a", "s"], ["b"]), node("Softmax", ["b"], ["c"], axis=0), node("Transpose", ["c"], ["d"]),
      node("Softmax", ["d"], ["e"], axis=0), node("Transpose", ["e"], ["f"]), node("Softmax", ["f"], ["g"], axis=0),
      node("ReduceSum", ["g", "x"], ["y"])],
     [("a", FLOAT, [30_000, 1])], constants=[sizes(30_000, 50_000), ("x", np.array([1], np.int64))])
# Functions that call each other twice, forty deep.
case("function-bomb", 1, "at most 1048576 nodes after inlining", [node("f39", ["a"], ["y"], domain="local")], [("a", FLOAT, [2])],
     functions=[helper.make_function("local", f"f{i}", ["x"], ["z"],
                                     [node(f"f{i - 1}", ["x"], ["u"], domain="local"), node(f"f{i - 1}", ["u"], ["z"], domain="local")]
                                     if i else [node("Relu", ["x"], ["z"], domain="")],
                                     [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]) for i in range(40)])
case("mutual-recursion", 2, "recursive?", [node("f", ["a"], ["y"], domain="local")], [("a", FLOAT, [2])],
     functions=[helper.make_function("local", one, ["x"], ["z"], [node(other, ["x"], ["z"], domain="local")],
                                     [helper.make_opsetid("local", 1)]) for one, other in ("fg", "gf")])
# Each node doubles its operand.
case("doubling", 2, "at most 2^40 elements", [node("Concat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], axis=0) for i in range(60)],
     [("v0", FLOAT, [4])], [("v60", FLOAT, None)])
# Windows.
convolution("far-pads", "expected 'pads'", pads=[1 << 40] * 4)
convolution("no-stride", "expected 'strides' of at least 1 but got 0", strides=[0, 0])
convolution("no-group", "expected 'group' to divide 1 output channels but got 0", group=0)
# Graphs.
case("cycle", 2, "depend on its own outputs", [node("Add", ["a", "y"], ["b"]), node("Relu", ["b"], ["y"])], [("a", FLOAT, [2])])
case("two-values", 2, "value 'y' is defined twice", [node("Relu", ["a"], ["y"]), node("Relu", ["a"], ["y"])], [("a", FLOAT, [2])])
case("two-inputs", 2, "input 'a' is defined twice", [node("Relu", ["a"], ["y"])], [("a", FLOAT, [2]), ("a", FLOAT, [2])])
case("two-outputs", 2, "output 'y' is defined twice", [node("Relu", ["a"], ["y"])], [("a", FLOAT, [2])],
     [("y", FLOAT, [2]), ("y", FLOAT, [2])])
case("no-output", 2, "the model has no outputs", [node("Relu", ["a"], ["y"])], [("a", FLOAT, [2])], [])
case("only-a-name", 0, "", [], [("a", FLOAT, [2])], [("a", FLOAT, [2])])
case("recursion", 2, "is 'f' recursive?", [node("f", ["a"], ["y"], domain="local")], [("a", FLOAT, [2])],
     functions=[helper.make_function("local", "f", ["x"], ["z"], [node("f", ["x"], ["z"], domain="local")],
                                     [helper.make_opsetid("local", 1)])])
case("class-weights", 2, "expected one weight for each of 5 classes but got 3x5", [node("SoftmaxCrossEntropyLoss", ["a", "t", "a"], ["y"])],
     [("a", FLOAT, [3, 5]), ("t", TensorProto.INT64, [3])])
case("class-targets", 2, "without its dimension 1 but got 4", [node("NegativeLogLikelihoodLoss", ["a", "t"], ["y"])],
     [("a", FLOAT, [3, 5]), ("t", TensorProto.INT64, [4])])
case("packed-sizes", 2, "expected 'K' and 'N' from 1 to 2^30",
     [node("MatMulNBits", ["a", "b", "s"], ["y"], domain="com.microsoft", K=2**32, N=2**32, bits=8, block_size=16)],
     [("a", FLOAT, [1, 4])], constants=[("b", np.zeros([0, 1, 16], np.uint8)), ("s", np.ones([1], np.float32))])
case("det-large", 1, "expected matrices of at most 32767 rows", [node("Det", ["a"], ["y"])], [("a", FLOAT, [40000, 40000])])
case("unique-items", 0, "", [node("Unique", ["a"], ["", "y"], axis=0)],
     [("a", FLOAT, [2, 0])], [("y", TensorProto.INT64, None)])
for name, attributes in (("compress-nothing", {}), ("compress-axis-nothing", {"axis": 1})):
    case(name, 0, "", [node("Compress", ["a", "c"], ["y"], **attributes)], [("a", FLOAT, [2, 3]), ("c", TensorProto.BOOL, [0])])
for name, boxes in (("nms-boxes", [2, 5, 4]), ("nms-batches", [3, 6, 4])):
    case(name, 2, "expected boxes [batches, boxes, 4] and scores [batches, classes, boxes] but got " + "x".join(map(str, boxes)),
         [node("NonMaxSuppression", ["a", "s", "k"], ["y"])], [("a", FLOAT, boxes), ("s", FLOAT, [2, 1, 6])],
         [("y", TensorProto.INT64, None)], [("k", np.array(3, np.int64))])
for name, attributes in (("compress-long", {}), ("compress-axis-long", {"axis": 1})):
    case(name, 2, "expected a condition of at most", [node("Compress", ["a", "c"], ["y"], **attributes)],
         [("a", FLOAT, [2, 3]), ("c", TensorProto.BOOL, [7])])
case("unique-of-a-count", 1, "the run decides how many elements of what node 'n' makes are valid",
     [node("NonZero", ["a"], ["n"], name="n"), node("Unique", ["n"], ["y"])], [("a", FLOAT, [3])], [("y", TensorProto.INT64, None)])
case("range-of-a-count", 1, "the size of the result depends on the value of an input",
     [node("NonZero", ["a"], ["n"]), node("Size", ["n"], ["s"]), node("Mul", ["s", "k"], ["m"]), node("Range", ["z", "m", "o"], ["y"])],
     [("a", FLOAT, [300])], [("y", TensorProto.INT64, None)],
     [("k", np.array(2**40)), ("z", np.array(0)), ("o", np.array(1))])
case("long-name", 0, "", [node("Relu", ["a"], ["y"], name="x" * 100000)], [("a", FLOAT, [2])])
# Long chains and wide nodes take time in proportion to their length.
case("chain", 0, "", [node("Sin", [f"v{i}"], [f"v{i + 1}"]) for i in range(5000)], [("v0", FLOAT, [2])], [("v5000", FLOAT, [2])])
case("wide", 0, "", [node("Sum", ["a"] * 8000, ["y"])], [("a", FLOAT, [2])])
# External data.
external("inside", 0, "", "w.bin")
external("above", 2, "inside the model's folder but got '../w.bin'", "../w.bin")
external("absolute", 2, "at a relative path but got '/etc/passwd'", "/etc/passwd")
external("link", 2, "a link out of the model's folder", "link.bin")
external("linked-folder", 2, "a link out of the model's folder", "outside/passwd")
external("dotted", 2, "inside the model's folder but got 'a/../../w.bin'", "a/../../w.bin")
external("device", 2, "at a relative path but got '/dev/zero'", "/dev/zero")
external("folder", 2, "external data '.'", ".")
external("missing", 2, "there is no such file", "nowhere.bin")
external("unnamed", 2, "at a relative path but got ''", "")
external("cut", 2, "expected 16 bytes of data for its shape but got 8", "w.bin", 8)
external("far-offset", 2, "expected external data inside 'w.bin' (16 bytes)", "w.bin", 1 << 63)
external("negative-offset", 2, "expected a number for 'offset'", "w.bin", -1)
external("far-length", 2, "expected external data inside 'w.bin' (16 bytes)", "w.bin", 0, 1 << 62)


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "w.bin").write_bytes(bytes(16))
    os.symlink("/etc/passwd", folder / "link.bin")
    os.symlink("/etc", folder / "outside")
    limit = 4 << 30
    wrong = []
    for name, code, message, model in cases:
        path = folder / f"{name}.onnx"
        path.write_bytes(model.SerializeToString())
        try:
            done = subprocess.run(["trnc", "compile", str(path), "-o", str(folder / "out.trnx"), "--quiet"], text=True,
                                  capture_output=True, timeout=30, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        except subprocess.TimeoutExpired:
            wrong.append(f"{name}: no end after 30 s")
            continue
        if done.returncode != code or message not in done.stderr:
            wrong.append(f"{name}: expected exit code {code} and '{message}' but got {done.returncode}: {done.stderr[:400]}")
    print(f"{len(cases)} models, {len(wrong)} wrong")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
