"""Models with several problems. usage: check.py FOLDER

many.onnx has an operator that nobody knows, shapes that do not broadcast, which is seen when shapes are inferred, the size of
what the run counts, which is seen behind them, and a tensor larger than the device's memory, which is seen when buffers are
made; no one of them depends on another.
"""
import sys

import onnx
from onnx import TensorProto, helper

nodes = [helper.make_node("Mystery", ["x"], ["a"], name="mystery"), helper.make_node("Relu", ["a"], ["p"], name="behind"),
         helper.make_node("Add", ["x", "y"], ["b"], name="shapes"), helper.make_node("Relu", ["b"], ["q"], name="behind_too"),
         helper.make_node("Mul", ["column", "row"], ["outer"], name="outer"),
         helper.make_node("Transpose", ["outer"], ["turned"], name="turn", perm=[1, 0]),
         helper.make_node("MatMul", ["turned", "column"], ["s"], name="product"),
         helper.make_node("NonZero", ["x"], ["places"], name="places"), helper.make_node("Unique", ["places"], ["t"], name="counted")]
inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
          for name, shape in (("x", [4, 4]), ("y", [3, 4]), ("column", [65536, 1]), ("row", [1, 65536]))]
outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "pqs"]
outputs.append(helper.make_tensor_value_info("t", TensorProto.INT64, None))
onnx.save(helper.make_model(helper.make_graph(nodes, "many", inputs, outputs), ir_version=8,
                            opset_imports=[helper.make_opsetid("", 17)]), f"{sys.argv[1]}/many.onnx")
