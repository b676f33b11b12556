"""Writes models with seeded weights, for tests and benchmarks.

usage: make_models.py FOLDER [NAME...]      (no names: all)

Every weight comes from one generator with a fixed seed, scaled so that activations keep their size through the depth
(He for ReLU networks, 1/sqrt(fan in) for attention), so outputs depend on every input and no value is degenerate.
"""
import pathlib
import sys

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Graph:
    """Collects nodes and initializers; returns value names."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.initializers = [], []

    def op(self, op_type, *inputs, name=None, outputs=1, **attributes):
        name = name or f"{op_type}_{len(self.nodes)}"
        results = [f"{name}_out{i}" if i else f"{name}_out" for i in range(outputs)]
        self.nodes.append(helper.make_node(op_type, list(inputs), results, name=name, **attributes))
        return results[0] if outputs == 1 else results

    def constant(self, value, name=None):
        name = name or f"const_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def normal(self, name, *shape, scale):
        return self.constant((self.rng.standard_normal(shape) * scale).astype(np.float32), name)

    def conv(self, x, name, cin, cout, kernel, stride=1, relu=True):
        w = self.normal(f"{name}.weight", cout, cin, kernel, kernel, scale=np.sqrt(2.0 / (cin * kernel * kernel)))
        b = self.normal(f"{name}.bias", cout, scale=0.1)
        pad = kernel // 2
        y = self.op("Conv", x, w, b, name=name, kernel_shape=[kernel, kernel], strides=[stride, stride],
                    pads=[pad] * 4)
        return self.op("Relu", y, name=f"{name}.relu") if relu else y

    def linear(self, x, name, k, n):
        y = self.op("MatMul", x, self.normal(f"{name}.weight", k, n, scale=1 / np.sqrt(k)), name=name)
        return self.op("Add", y, self.normal(f"{name}.bias", n, scale=0.02), name=f"{name}.add")

    def layer_norm(self, x, name, size):
        scale = self.constant((1 + 0.1 * self.rng.standard_normal(size)).astype(np.float32), f"{name}.weight")
        return self.op("LayerNormalization", x, scale, self.normal(f"{name}.bias", size, scale=0.1), name=name, axis=-1,
                       epsilon=1e-5)

    def gelu(self, x, name):
        """The exact GELU in the primitive operators that exporters of opset 17 write."""
        half = self.op("Mul", x, self.constant(np.float32(0.5)), name=f"{name}.half")
        erf = self.op("Erf", self.op("Div", x, self.constant(np.float32(np.sqrt(2.0))), name=f"{name}.div"),
                      name=f"{name}.erf")
        return self.op("Mul", half, self.op("Add", erf, self.constant(np.float32(1)), name=f"{name}.plus1"), name=name)

    def attention(self, x, name, tokens, width, heads, mask=None):
        depth = width // heads

        def split(part, perm):
            y = self.linear(x, f"{name}.{part}", width, width)
            y = self.op("Reshape", y, self.constant(np.array([1, tokens, heads, depth], np.int64)),
                        name=f"{name}.{part}.split")
            return self.op("Transpose", y, name=f"{name}.{part}.heads", perm=perm)

        q, k, v = split("q", [0, 2, 1, 3]), split("k", [0, 2, 3, 1]), split("v", [0, 2, 1, 3])
        scores = self.op("MatMul", q, k, name=f"{name}.scores")
        scores = self.op("Div", scores, self.constant(np.float32(np.sqrt(depth))), name=f"{name}.scale")
        if mask is not None:
            scores = self.op("Add", scores, mask, name=f"{name}.mask")
        weights = self.op("Softmax", scores, name=f"{name}.softmax", axis=-1)
        y = self.op("Transpose", self.op("MatMul", weights, v, name=f"{name}.context"), name=f"{name}.merge",
                    perm=[0, 2, 1, 3])
        y = self.op("Reshape", y, self.constant(np.array([1, tokens, width], np.int64)), name=f"{name}.flat")
        return self.linear(y, f"{name}.out", width, width)

    def save(self, path, name, inputs, outputs):
        graph = helper.make_graph(self.nodes, name, [helper.make_tensor_value_info(*i) for i in inputs],
                                  [helper.make_tensor_value_info(*o) for o in outputs], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8,
                                  producer_name="trn-mlir make_models")
        onnx.save(model, path)


def conv_net(path):
    """3x3 conv 3→192, stride-2 3x3 conv 192→256, a residual block on 14x14 with its halo, pool, 1000 classes."""
    g = Graph(1)
    x = g.conv("image", "conv1", 3, 192, 3)
    x = g.conv(x, "conv2", 192, 256, 3, stride=2)
    y = g.conv(x, "block.conv1", 256, 256, 3)
    y = g.conv(y, "block.conv2", 256, 256, 3, relu=False)
    x = g.op("Relu", g.op("Add", x, y, name="block.add"), name="block.relu")
    x = g.op("GlobalAveragePool", x, name="pool")
    x = g.op("Flatten", x, name="flatten", axis=1)
    x = g.op("Gemm", x, g.normal("fc.weight", 1000, 256, scale=0.3), g.normal("fc.bias", 1000, scale=0.1), name="fc",
             transB=1)
    g.op("Softmax", x, name="softmax", axis=-1)
    g.save(path, "conv_net", [("image", TensorProto.FLOAT, [1, 3, 28, 28])],
           [("softmax_out", TensorProto.FLOAT, [1, 1000])])


def transformer(path, name, layers, tokens, width, heads, hidden, vocabulary, causal):
    """BERT's encoder (post-norm) or GPT-2's decoder (pre-norm, causal mask, tied head) with token ids as input."""
    g = Graph(2)
    table = g.normal("embedding.weight", vocabulary, width, scale=1.0 if not causal else 0.5)
    x = g.op("Gather", table, "ids", name="embedding")
    x = g.op("Add", x, g.normal("position.weight", 1, tokens, width, scale=0.3), name="position")
    mask = None
    if causal:
        mask = g.constant(np.triu(np.full((1, 1, tokens, tokens), -1e9, np.float32), 1), "causal_mask")
    else:
        x = g.layer_norm(x, "embedding.norm", width)

    def feed_forward(value, prefix):
        h = g.gelu(g.linear(value, f"{prefix}.up", width, hidden), f"{prefix}.gelu")
        return g.linear(h, f"{prefix}.down", hidden, width)

    for i in range(layers):
        p = f"layer{i}"
        if causal:
            y = g.attention(g.layer_norm(x, f"{p}.norm1", width), f"{p}.attention", tokens, width, heads, mask)
            x = g.op("Add", x, y, name=f"{p}.residual1")
            x = g.op("Add", x, feed_forward(g.layer_norm(x, f"{p}.norm2", width), p), name=f"{p}.residual2")
        else:
            x = g.layer_norm(g.op("Add", x, g.attention(x, f"{p}.attention", tokens, width, heads),
                                  name=f"{p}.residual1"), f"{p}.norm1", width)
            x = g.layer_norm(g.op("Add", x, feed_forward(x, p), name=f"{p}.residual2"), f"{p}.norm2", width)
    if causal:
        x = g.layer_norm(x, "norm", width)
        x = g.op("MatMul", x, g.op("Transpose", table, name="head.weight", perm=[1, 0]), name="head")
        out = [(x, TensorProto.FLOAT, [1, tokens, vocabulary])]
    else:
        out = [(x, TensorProto.FLOAT, [1, tokens, width])]
    g.save(path, name, [("ids", TensorProto.INT64, [1, tokens])], out)


def matmul(path, m, k, n):
    """One matrix multiplication with both operands as inputs."""
    g = Graph(3)
    y = g.op("MatMul", "a", "b", name="matmul")
    g.save(path, "matmul", [("a", TensorProto.FLOAT, [m, k]), ("b", TensorProto.FLOAT, [k, n])],
           [(y, TensorProto.FLOAT, [m, n])])


def weighted_matmul(path, m, k, n):
    """An input times a weight, in bf16 throughout."""
    g = Graph(4)
    weight = (g.rng.standard_normal((k, n), dtype=np.float32) / np.sqrt(k)).astype(ml_dtypes.bfloat16)
    g.initializers.append(helper.make_tensor("weight", TensorProto.BFLOAT16, [k, n], weight.tobytes(), raw=True))
    y = g.op("MatMul", "a", "weight", name="matmul")
    g.save(path, "matmul", [("a", TensorProto.BFLOAT16, [m, k])], [(y, TensorProto.BFLOAT16, [m, n])])


def product(path, m, k, n, element=TensorProto.BFLOAT16, turned="", batch=0):
    """The product of two inputs, `element` throughout; those named in `turned` are stored transposed."""
    g = Graph(4)
    outer = [batch] if batch else []
    a = [k, m] if "a" in turned else [m, k]
    b = [n, k] if "b" in turned else [k, n]
    if turned:
        y = g.op("Gemm", "a", "b", name="matmul", transA=int("a" in turned), transB=int("b" in turned))
    else:
        y = g.op("MatMul", "a", "b", name="matmul")
    g.save(path, "matmul", [("a", element, outer + a), ("b", element, outer + b)], [(y, element, outer + [m, n])])


MODELS = {
    "conv_net": conv_net,
    "bert_base": lambda p: transformer(p, "bert_base", 12, 128, 768, 12, 3072, 2048, False),
    "bert_tiny": lambda p: transformer(p, "bert_tiny", 2, 32, 128, 2, 512, 256, False),
    "gpt2_small": lambda p: transformer(p, "gpt2_small", 4, 64, 256, 4, 1024, 1000, True),
    "matmul_256": lambda p: matmul(p, 256, 256, 512),
    "matmul_2048": lambda p: matmul(p, 2048, 2048, 2048),
    "matmul_2048_bf16": lambda p: weighted_matmul(p, 2048, 2048, 2048),
    "matmul_8192_bf16": lambda p: weighted_matmul(p, 4096, 8192, 8192),
    "matmul_8192_inputs_bf16": lambda p: product(p, 4096, 8192, 8192),
}


def main(folder, *names):
    unknown = sorted(set(names) - set(MODELS))
    if unknown:
        sys.exit(f"make_models: unknown model {', '.join(unknown)}; expected one of {', '.join(MODELS)}")
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for name in names or MODELS:
        MODELS[name](str(pathlib.Path(folder) / f"{name}.onnx"))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
