"""Writes a model y = relu(a:0 + 1), the same with a weight, the same of N rows, one of 64-bit integers and booleans, an unsupported one, and tensors into a folder."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]


def save(name, nodes, rows=2, one=np.float32(1)):
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("a:0", TensorProto.FLOAT, [rows, 3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 3])],
                              [numpy_helper.from_array(one, "one")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), f"{folder}/{name}.onnx")


net = [helper.make_node("Add", ["a:0", "one"], ["sum"], name="add"),
       helper.make_node("Relu", ["sum"], ["y"], name="relu")]
save("net", net)
save("rows", net, rows="N")
save("weighted", net, one=np.arange(6, dtype=np.float32).reshape(2, 3))
save("unknown", [helper.make_node("Mystery", ["a:0"], ["y"], name="mystery")])
integers = helper.make_graph(
    [helper.make_node("Add", ["ids", "two"], ["more"], name="more"),
     helper.make_node("Less", ["ids", "two"], ["few"], name="few")],
    "integers", [helper.make_tensor_value_info("ids", TensorProto.INT64, [2, 3])],
    [helper.make_tensor_value_info("more", TensorProto.INT64, [2, 3]),
     helper.make_tensor_value_info("few", TensorProto.BOOL, [2, 3])],
    [numpy_helper.from_array(np.int64(2), "two")])
onnx.save(helper.make_model(integers, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
          f"{folder}/integers.onnx")
rng = np.random.default_rng(0)
np.save(f"{folder}/a.npy", rng.standard_normal((2, 3)).astype(np.float32))
np.save(f"{folder}/infinite.npy", np.full((2, 3), np.inf, np.float32))
np.save(f"{folder}/finite.npy", np.ones((2, 3), np.float32))
np.save(f"{folder}/ids.npy", np.int64([[5000, 1, 2], [3, 4, 5]]))
np.save(f"{folder}/near_ids.npy", np.int64([[5003, 3, 4], [5, 6, 7]]))
np.save(f"{folder}/wrong.npy", np.zeros((3, 2), np.float32))
