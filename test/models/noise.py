"""Inputs for a model of which only the file is known: noise that the model accepts.

Floats are normal; if asked, around a mean and with a spread that are drawn first: what saturates at one of them does not
at the next. Weights that are inputs (the second operand of a product) have the spread that keeps its results' size.
Integers stay below what they choose among: the rows of a table that they index, directly or through operators that only
move or cast them, or the depth of a OneHot. What indexes nothing is a byte if it has 8 bits, else a flag: 0 or 1, which
is right for masks and for parts of a text.
"""
import numpy as np
import onnx

MOVES = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Slice"}
TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64,
         "tensor(bool)": np.bool_, **{f"tensor({t})": np.dtype(t) for t in
                                      ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}}
# Of com.microsoft.EmbedLayerNormalization: input -> its table.
EMBEDDINGS = {0: 2, 1: 4, 8: 3}


def constants(graph):
    """The values of the graph that are known before it runs, by name."""
    values = {i.name: i for i in graph.initializer}
    values |= {n.output[0]: a.t for n in graph.node if n.op_type == "Constant" for a in n.attribute if a.name == "value"}
    return values


def choices(graph, name, known=None):
    """How many values the integers of `name` choose among, or None when they index nothing."""
    known = constants(graph) if known is None else known
    found = []
    for node in graph.node:
        for position in [i for i, value in enumerate(node.input) if value == name]:
            if node.op_type == "Gather" and position == 1 and node.input[0] in known:
                axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
                found.append(known[node.input[0]].dims[axis])
            elif node.op_type == "OneHot" and position == 0 and node.input[1] in known:
                found.append(int(onnx.numpy_helper.to_array(known[node.input[1]]).reshape(-1)[0]))
            elif node.op_type == "EmbedLayerNormalization" and position in EMBEDDINGS:
                found.append(known[node.input[EMBEDDINGS[position]]].dims[0])
            elif node.op_type in MOVES and position == 0:
                found.append(choices(graph, node.output[0], known))
    return min((f for f in found if f), default=None)


def is_weight(graph, name):
    """Whether the input multiplies another from the right."""
    return any(node.op_type in ("MatMul", "Gemm", "Attention") and list(node.input[1:2]) == [name]
               for node in graph.node)


def draw(rng, model, inputs, shapes, varied):
    """A value for each of a session's `inputs`, in the given `shapes` where they are named; with means and spreads that
    are drawn, too, if `varied`."""
    values = {}
    for one in inputs:
        shape, dtype = shapes.get(one.name, one.shape), np.dtype(TYPES[one.type])
        if dtype.kind == "f" and is_weight(model.graph, one.name):
            values[one.name] = (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(dtype)
        elif dtype.kind == "f":
            mean, spread = (rng.standard_normal(), 2 ** rng.uniform(-2, 1)) if varied else (0, 1)
            values[one.name] = np.asarray(mean + spread * rng.standard_normal(shape)).astype(dtype)
        else:
            high = choices(model.graph, one.name) or (256 if dtype.itemsize == 1 and dtype.kind == "u" else 2)
            values[one.name] = np.asarray(rng.integers(0, high, shape)).astype(dtype)
    return values
