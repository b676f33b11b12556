"""Models that gather by indices known at run time only. usage: gather.py write|check FOLDER"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# name: table shape, index shape, axis, whether the table is an input, type of the indices; `each`: GatherElements, an
# index for each element
CASES = {
    "embedding": ((300, 40), (2, 9), 0, False, np.int64),
    "ragged": ((50, 24), (150,), 0, False, np.int64),
    "batch": ((50, 8), (3, 200), 0, False, np.int32),
    "scalar": ((10, 6, 5), (), 0, False, np.int64),
    "one": ((10, 16), (1, 1), 0, False, np.int64),
    "columns": ((4, 7, 6), (5,), 1, False, np.int64),
    "elements": ((90,), (3, 20), 0, False, np.int64),
    "computed": ((64, 12), (33,), 0, True, np.int64),
    "each": ((8, 4), (3, 4), 0, False, np.int64),
}


def data(name):
    shape, index_shape, axis, _, index_type = CASES[name]
    rng = np.random.default_rng(list(CASES).index(name))
    table = rng.standard_normal(shape).astype(np.float32)
    # Negative indices count from the end.
    indices = rng.integers(-shape[axis], shape[axis], index_shape).astype(index_type)
    return table, np.asarray(indices)


def expected(name):
    table, indices = data(name)
    gather = np.take_along_axis if name == "each" else np.take
    # A copy and one rounded addition: exact.
    return gather(table, indices, CASES[name][2]) + np.float32(1)


def write(folder, name):
    table, indices = data(name)
    axis, is_input, index_type = CASES[name][2:]
    result = expected(name).shape
    inputs = [helper.make_tensor_value_info("i", TensorProto.INT32 if index_type is np.int32 else TensorProto.INT64,
                                            indices.shape)]
    nodes = [helper.make_node("GatherElements" if name == "each" else "Gather", ["table", "i"], ["g"], axis=axis, name="gather"),
             helper.make_node("Add", ["g", "one"], ["y"], name="add")]
    constants = [numpy_helper.from_array(np.float32(1), "one")]
    if is_input:
        inputs.append(helper.make_tensor_value_info("t", TensorProto.FLOAT, table.shape))
        nodes.insert(0, helper.make_node("Neg", ["t"], ["table"], name="table"))
        np.save(f"{folder}/{name}.t.npy", -table)
    else:
        constants.append(numpy_helper.from_array(table, "table"))
    graph = helper.make_graph(nodes, name, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)],
                              constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, f"{folder}/{name}.onnx")
    np.save(f"{folder}/{name}.i.npy", indices)


command, folder = sys.argv[1:]
for name in CASES:
    if command == "write":
        write(folder, name)
        continue
    got, want = np.load(f"{folder}/{name}.y.npy"), expected(name)
    if got.shape != want.shape or not np.array_equal(got, want):
        sys.exit(f"{name}: expected {want.shape} but got {got.shape}, largest error {np.abs(got - want).max()}")
