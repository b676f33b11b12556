"""Writes y = x + w, where w is an input with the default value 1, in file format 8 and 3, and tensors into a folder."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
names = ["x", "w"]
for version in (8, 3):
    graph = helper.make_graph(
        [helper.make_node("Add", names, ["y"], name="add")], "defaults",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in names],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
        [numpy_helper.from_array(np.ones(3, np.float32), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=version),
              f"{folder}/format{version}.onnx")
np.save(f"{folder}/x.npy", np.float32([1, 2, 3]))
np.save(f"{folder}/w.npy", np.float32([10, 20, 30]))
