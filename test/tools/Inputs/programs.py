"""Writes loop.onnx, whose loop data ends, found.onnx, which looks for what is not 0, branch.onnx, which does much or little,
and their inputs x.npy and small.npy."""
import numpy as np
import onnx
from onnx import helper, numpy_helper

FLOAT, INT, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def node(name, operator, inputs, output=None, **attributes):
    outputs = output if isinstance(output, list) else [output or name]
    return helper.make_node(operator, inputs, outputs, name=name, **attributes)


def save(name, nodes, outputs, **constants):
    graph = helper.make_graph(nodes, name, [info("x", FLOAT, [2, 4])], outputs,
                              [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), f"{name}.onnx")


body = helper.make_graph(
    [node("grown", "Mul", ["v", "two"]), node("top", "ReduceMax", ["grown"], keepdims=0), node("more", "Less", ["top", "limit"]),
     node("row", "Identity", ["grown"])],
    "body", [info("step", INT, []), info("go", BOOL, []), info("v", FLOAT, [2, 4])],
    [info("more", BOOL, []), info("grown", FLOAT, [2, 4]), info("row", FLOAT, [2, 4])],
    [numpy_helper.from_array(np.float32(2), "two"), numpy_helper.from_array(np.float32(50), "limit")])
save("loop", [node("before", "Sigmoid", ["x"]), node("again", "Loop", ["most", "", "before"], ["last", "rows"], body=body),
              node("sum", "ReduceSum", ["rows", "axis"], keepdims=0), node("scaled", "Mul", ["rows", "half"])],
     [info("last", FLOAT, None), info("sum", FLOAT, None), info("scaled", FLOAT, None)], most=np.array(40), axis=np.array([0]), half=np.float32(0.5))
save("found", [node("positions", "NonZero", ["x"]), node("rows", "Transpose", ["positions"], perm=[1, 0]), node("picked", "GatherND", ["x", "rows"]),
               node("scaled", "Mul", ["picked", "half"]), node("total", "ReduceSum", ["scaled"], keepdims=0)],
     [info("rows", INT, None), info("scaled", FLOAT, None), info("total", FLOAT, None)], half=np.float32(0.5))
long = helper.make_graph([node(f"d{i}", ("Sinh", "Asinh")[i % 2], [f"d{i - 1}" if i else "before"]) for i in range(12)], "long", [],
                         [info("d11", FLOAT, [2, 4])])
short = helper.make_graph([node("e", "Neg", ["before"])], "short", [], [info("e", FLOAT, [2, 4])])
save("branch", [node("before", "Sin", ["x"]), node("top", "ReduceMax", ["x"], keepdims=0), node("more", "Greater", ["top", "half"]),
                node("way", "If", ["more"], then_branch=long, else_branch=short), node("scaled", "Mul", ["way", "half"])],
     [info("scaled", FLOAT, None)], half=np.float32(0.5))
x = np.float32([[1, 0, -2, 0], [0.5, 3, 0, -1]])
np.save("x.npy", x)
np.save("small.npy", x / 10)
