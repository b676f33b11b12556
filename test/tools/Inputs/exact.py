"""Models of one elementwise node at the ends of its types. usage: exact.py write|check NAME FOLDER"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

command, name, folder = sys.argv[1:]
big = np.float32([1e10, -1e10, np.inf, -np.inf, np.nan, 2**23 + 1, -2**23 - 1, 2**31, -2**31, 2**24 + 2, 8388607.5,
                  -8388607.5, 4194303.5, 0.5, -0.5, 1.5, 2.5, -1.5, -2.7, 0.49999997, 0, 3, 1e38, -7.25])
rng = np.random.default_rng(3)
words = rng.integers(-2**31, 2**31, 64).astype(np.int32)
words[:8] = [16777217, -16777217, 2**31 - 1, -2**31, 16777217, 5, 0, -1]
others = rng.integers(-2**31, 2**31, 64).astype(np.int32)
others[:8] = [2, -2, 1, 2**31 - 1, 16777216, 5, 16777217, 1]
bytes_ = np.arange(256, dtype=np.uint8)


def extremes(dtype):
    """The ends of an integer type, then any of its values."""
    bounds = np.iinfo(dtype)
    ends = [bounds.min, bounds.min + 1, 0, 1, bounds.max - 1, bounds.max]
    return np.concatenate([np.array(ends, dtype), rng.integers(bounds.min, bounds.max + 1, 122).astype(dtype)])


narrow = {t: extremes(t) for t in (np.int8, np.uint8, np.int16, np.uint16)}
with np.errstate(all="ignore"):
    cases = {  # op, inputs, expected, attributes
        "floor": ("Floor", [big], np.floor(big), {}),
        "ceil": ("Ceil", [big], np.ceil(big), {}),
        "round": ("Round", [big], np.rint(big), {}),
        "add": ("Add", [words, others], words + others, {}),
        "sub": ("Sub", [words, others], words - others, {}),
        "mul": ("Mul", [words, others], words * others, {}),
        "max": ("Max", [words, others], np.maximum(words, others), {}),
        "min": ("Min", [words, others], np.minimum(words, others), {}),
        "abs": ("Abs", [words[:3]], np.abs(words[:3]), {}),
        "less": ("Less", [words, others], words < others, {}),
        "greater_equal": ("GreaterOrEqual", [words, others], words >= others, {}),
        "equal": ("Equal", [words, others], words == others, {}),
        "where": ("Where", [words > 0, words, others], np.where(words > 0, words, others), {}),
        "constant": ("Add", [words, np.int32(16777217)], words + np.int32(16777217), {}),
        "sum": ("ReduceSum", [words.reshape(4, 16), np.int64([1])], words.reshape(4, 16).sum(1, dtype=np.int32),
                {"keepdims": 0}),
        "long_sum": ("ReduceSum", [rng.integers(-2**31, 2**31, (2, 600)).astype(np.int32), np.int64([1])], None,
                     {"keepdims": 0}),
        "row_max": ("ReduceMax", [words.reshape(4, 16)], words.reshape(4, 16).max(1), {"axes": [1], "keepdims": 0}),
        "row_min": ("ReduceMin", [words.reshape(4, 16)], words.reshape(4, 16).min(1), {"axes": [1], "keepdims": 0}),
        "sum_of_nothing": ("ReduceSum", [words.reshape(4, 16), np.int64([])], words.reshape(4, 16),
                           {"noop_with_empty_axes": 1}),
        "float_sum_of_nothing": ("ReduceSum", [big, np.int64([])], big, {"noop_with_empty_axes": 1}),
        "u8_to_f32": ("Cast", [bytes_], bytes_.astype(np.float32), {"to": TensorProto.FLOAT}),
        "f32_to_u8": ("Cast", [bytes_ + np.float32(0.75)], bytes_, {"to": TensorProto.UINT8}),
        "u8_max": ("Max", [bytes_, bytes_[::-1].copy()], np.maximum(bytes_, bytes_[::-1]), {}),
        **{f"{name}_{t.__name__}": (op, [narrow[t], narrow[t][::-1].copy()], f(narrow[t], narrow[t][::-1]), {})
           for t in narrow
           for name, op, f in (("add", "Add", np.add), ("sub", "Sub", np.subtract), ("mul", "Mul", np.multiply))},
        **{f"{name}_{t.__name__}": (op, [narrow[t]], f(narrow[t]), {}) for t in (np.int8, np.int16)
           for name, op, f in (("neg", "Neg", np.negative), ("abs", "Abs", np.abs))},
        "i32_to_u8": ("Cast", [words], words.astype(np.uint8), {"to": TensorProto.UINT8}),
        "i32_to_i8": ("Cast", [words], words.astype(np.int8), {"to": TensorProto.INT8}),
    }
op, inputs, expected, attributes = cases[name]
if name == "long_sum":
    expected = inputs[0].sum(1, dtype=np.int32)
if command == "write":
    info = lambda n, a: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
    # Scalars and axes are constants of the model.
    constants = [onnx.numpy_helper.from_array(v, f"x{i}") for i, v in enumerate(inputs)
                 if v.ndim == 0 or v.dtype == np.int64]
    feeds = [(f"x{i}", v) for i, v in enumerate(inputs) if v.ndim and v.dtype != np.int64]
    node = helper.make_node(op, [f"x{i}" for i in range(len(inputs))], ["y"], name="node", **attributes)
    graph = helper.make_graph([node], name, [info(n, v) for n, v in feeds], [info("y", expected)], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), f"{folder}/{name}.onnx")
    for n, v in feeds:
        np.save(f"{folder}/{name}.{n}.npy", v)
    print(*[f"--input {n}=@{name}.{n}.npy" for n, _ in feeds])
else:
    actual = np.load(f"{folder}/{name}.y.npy")
    assert actual.dtype == expected.dtype, (name, actual.dtype, expected.dtype)
    np.testing.assert_array_equal(actual, expected, err_msg=name)
