"""What a model computes in real arithmetic, nearly: the onnx package's reference in float64.

For the cases in which ONNX Runtime and the device differ by more than rounding usually makes: some models enlarge it (a
variance as the difference of two large means), and then float64 tells who is nearer.
"""
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun


class GlobalMaxPool(OpRun):
    """The package's own drops a dimension of two-dimensional images and lines."""

    op_domain = ""

    def _run(self, x):
        return (x.max(axis=tuple(range(2, x.ndim)), keepdims=True),)


def widened(model):
    """The model with double for float, constants and casts included."""
    def widen(tensor):
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))

    for tensor in model.graph.initializer:
        widen(tensor)
    for value in [*model.graph.input, *model.graph.output]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    del model.graph.value_info[:]
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                raise NotImplementedError("subgraphs are not widened")
            if attribute.type == onnx.AttributeProto.TENSOR:
                widen(attribute.t)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
    return model


def evaluate(path, feeds, outputs):
    """The named outputs in float64, or None when the reference does not know an operator."""
    try:
        reference = ReferenceEvaluator(widened(onnx.load(path)), new_ops=[GlobalMaxPool])
        wide = {n: v.astype(np.float64) if v.dtype == np.float32 else v for n, v in feeds.items()}
        return reference.run(outputs, wide)
    except (NotImplementedError, RuntimeError, TypeError):
        return None
