"""Models that fail in one node. usage: reduce.py FOLDER conv_net.onnx

wrong.onnx is the model with a LeakyRelu in place of one of its Relus, so that its values are those of a compiler that
takes one for the other; unknown.onnx has an operator that nobody knows in the middle of a chain; deep.onnx a tensor of
more dimensions than an executable's output may have; parts.onnx has sequences, inside and as its output. data is a test
folder as the standard's suite has them.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = pathlib.Path(sys.argv[1])
model = onnx.load(sys.argv[2])
victim = next(node for node in model.graph.node if node.name == "block.conv1.relu")
victim.op_type = "LeakyRelu"
victim.attribute.append(helper.make_attribute("alpha", 0.5))
onnx.save(model, folder / "wrong.onnx")


def tensor(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


def save(name, nodes, outputs, initializers=()):
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        outputs, list(initializers))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / f"{name}.onnx")


chain = [helper.make_node("Relu", ["x"], ["a"], name="first"), helper.make_node("Exp", ["a"], ["b"], name="second"),
         helper.make_node("Mystery", ["b"], ["c"], name="mystery"), helper.make_node("Neg", ["c"], ["y"], name="last"),
         helper.make_node("Abs", ["a"], ["z"], name="side")]
save("unknown", chain, [tensor("y"), tensor("z")])
shape = numpy_helper.from_array(np.array([2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4], np.int64), "shape")
save("deep", [helper.make_node("Relu", ["x"], ["a"], name="first"), helper.make_node("Abs", ["a"], ["b"], name="second"),
              helper.make_node("Reshape", ["b", "shape"], ["y"], name="reshape")], [tensor("y")], [shape])
save("parts", [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("SplitToSequence", ["a"], ["all"]),
               helper.make_node("SequenceErase", ["all"], ["y"])],
     [helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)])
save("fine", [helper.make_node("Relu", ["x"], ["y"], name="relu"), helper.make_node("Exp", ["x"], ["z"], name="exp")],
     [tensor("y"), tensor("z")])

data = folder / "test_data_set_0"
data.mkdir()
x = np.array([[-1, 2, -3, 4]], np.float32)
for name, value in (("input_0", x), ("output_0", np.maximum(x, 0)), ("output_1", np.exp(x))):
    (data / f"{name}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
