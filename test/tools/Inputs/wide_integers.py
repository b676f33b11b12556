"""Writes model.onnx, an embedding of the rows `ids` times a mask, beside a sum of 64-bit integers, with inputs for it.

usage: wide_integers.py FOLDER
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = pathlib.Path(sys.argv[1])
info = helper.make_tensor_value_info
nodes = [helper.make_node("Gather", ["table", "ids"], ["rows"], "embedding"), helper.make_node("Cast", ["mask"], ["real"], "cast_mask", to=1),
         helper.make_node("Mul", ["rows", "real"], ["y"]), helper.make_node("Add", ["ids", "one"], ["next"], "next_id"),
         helper.make_node("Mul", ["n", "n"], ["square"], "square")]
graph = helper.make_graph(nodes, "g", [info("ids", TensorProto.INT64, [4]), info("mask", TensorProto.INT64, [4, 1]), info("n", TensorProto.INT64, [2])],
                          [info("y", TensorProto.FLOAT, [4, 8]), info("next", TensorProto.INT64, [4]), info("square", TensorProto.INT64, [2])],
                          [numpy_helper.from_array(np.arange(72, dtype=np.float32).reshape(9, 8), "table"), numpy_helper.from_array(np.int64([1]), "one")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), folder / "model.onnx")
np.save(folder / "ids.npy", np.int64([0, 8, -9, 3]))
np.save(folder / "beyond.npy", np.int64([0, 8, 2 ** 40, 3]))
np.save(folder / "mask.npy", np.int64([[1], [2 ** 40 + 1], [0], [-1]]))
np.save(folder / "n.npy", np.int64([3037000500, -2 ** 63]))
