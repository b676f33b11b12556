"""Writes a model y = relu(a:0 + 1), an unsupported one, and tensors into a folder."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]


def save(name, nodes):
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("a:0", TensorProto.FLOAT, [2, 3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
                              [numpy_helper.from_array(np.float32(1), "one")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), f"{folder}/{name}.onnx")


save("net", [helper.make_node("Add", ["a:0", "one"], ["sum"], name="add"),
             helper.make_node("Relu", ["sum"], ["y"], name="relu")])
save("unknown", [helper.make_node("Mystery", ["a:0"], ["y"], name="mystery")])
rng = np.random.default_rng(0)
np.save(f"{folder}/a.npy", rng.standard_normal((2, 3)).astype(np.float32))
np.save(f"{folder}/wrong.npy", np.zeros((3, 2), np.float32))
