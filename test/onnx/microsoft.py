"""Compares the operators of com.microsoft with ONNX Runtime, which defines them.

usage: microsoft.py --build BUILD [--only PATTERN...] [-v]

Each case of the table is a model of one node. It is compiled for trn2, run on the emulated device with every check on, and
its outputs are compared with those that ONNX Runtime computes from the same inputs. Floats may differ by 1e-4 of the
largest value; quantised outputs of operators that ONNX Runtime computes by tables or in another order by one step, where
the two round a tie differently; all others are equal.

Cases of float operators are tried in fp16 and bf16, too, as far as the operator's schema takes these types. What is right
is what ONNX Runtime's kernel of that type says, or without one, its fp32 kernel on the same numbers (NARROW has what may
differ: the device rounds what one operator hands to another to 16 bits).

Large packed weights have to stay packed: the bytes read from device memory are asserted. What is not supported is in a
table of its own, with the reason that a user reads.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as ort_state

CASES = []
RNG = np.random.default_rng(7)


class Weight:
    """An input that is a constant of the model."""

    def __init__(self, value):
        self.value = np.asarray(value)


def case(name, operator, inputs, outputs=1, compare=None, **attributes):
    """One node; inputs by position (None: absent), outputs as a number or as flags of which are named, or their types where
    ONNX Runtime infers none. `compare` maps an output's number to the part of it that the operator defines."""
    CASES.append((name, operator, inputs, [1] * outputs if isinstance(outputs, int) else outputs, compare or {}, attributes))


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def float32(*values):
    return np.array(values, np.float32)


def integers(low, high, *shape, dtype=np.int64):
    return RNG.integers(low, high, shape).astype(dtype)


# Activations and normalisations.
X = normal(2, 5, 24)
case("gelu", "Gelu", [X])
case("bias_gelu", "BiasGelu", [X, normal(24)])
case("fast_gelu", "FastGelu", [X])
case("fast_gelu_bias", "FastGelu", [X, normal(24)])
case("quick_gelu", "QuickGelu", [X])
case("quick_gelu_alpha", "QuickGelu", [X], alpha=0.7)
case("skip_layer_norm", "SkipLayerNormalization", [X, normal(2, 5, 24), normal(24), normal(24), normal(24)], [1, 0, 0, 1],
     epsilon=1e-5)
case("skip_layer_norm_plain", "SkipLayerNormalization", [X, normal(2, 5, 24), normal(24)])
case("skip_layer_norm_broadcast", "SkipLayerNormalization", [X, normal(5, 24), normal(24), normal(24)])
case("skip_simplified", "SkipSimplifiedLayerNormalization", [X, normal(2, 5, 24), normal(24), normal(24)], [1, 0, 0, 1])
case("skip_simplified_plain", "SkipSimplifiedLayerNormalization", [X, normal(2, 5, 24), normal(24)])

# Products.
A, B = normal(2, 3, 5, 7), normal(2, 3, 7, 4)
case("fused_matmul", "FusedMatMul", [A, B], alpha=0.25)
case("fused_matmul_swapped", "FusedMatMul", [A.swapaxes(2, 3).copy(), B.swapaxes(2, 3).copy()], transA=1, transB=1)
case("fused_matmul_batch_a", "FusedMatMul", [np.moveaxis(A, 2, 0).copy(), B], transBatchA=1)
case("fused_matmul_batch_b", "FusedMatMul", [A, np.moveaxis(B, 2, 0).copy()], transBatchB=1, alpha=-2.0)
case("fused_matmul_batch_both", "FusedMatMul",
     [np.moveaxis(A.swapaxes(2, 3), 2, 0).copy(), np.moveaxis(B.swapaxes(2, 3), 2, 0).copy()], transA=1, transB=1,
     transBatchA=1, transBatchB=1)
case("fused_matmul_vector", "FusedMatMul", [normal(7), normal(7, 4)], transA=1)
for activation, parameters in (("Relu", {}), ("Tanh", {}), ("Sigmoid", {}), ("LeakyRelu", {"activation_alpha": 0.3}),
                               ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4}),
                               ("Elu", {"activation_alpha": 0.7}), ("Softplus", {}), ("Softsign", {})):
    case(f"fused_gemm_{activation.lower()}", "FusedGemm", [normal(5, 6), normal(4, 6), normal(4)], transB=1, alpha=0.5, beta=1.5,
         activation=activation, **parameters)
PICTURE, KERNEL = normal(1, 4, 9, 9), Weight(normal(6, 4, 3, 3))
for activation, parameters in (("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 1.5]),
                               ("HardSigmoid", [0.25, 0.4])):
    given = {"activation_params": parameters} if parameters else {}
    case(f"fused_conv_{activation.lower()}", "FusedConv", [PICTURE, KERNEL, Weight(normal(6))], activation=activation, pads=[1] * 4,
         **given)
case("fused_conv_sum", "FusedConv", [PICTURE, KERNEL, Weight(normal(6)), normal(1, 6, 5, 5)], activation="Relu", strides=[2, 2],
     pads=[1] * 4)


def packed(values, bits, block):
    """[N, K] numbers as MatMulNBits packs them, and rows of zero points likewise with one block."""
    n, k = values.shape
    blocks = -(-k // block)
    padded = np.zeros((n, blocks * block), np.uint8)
    padded[:, :k] = values
    per_byte = 8 // bits
    pieces = padded.reshape(n, blocks, -1, per_byte)
    return sum((pieces[..., i] << (bits * i)).astype(np.uint8) for i in range(per_byte)).astype(np.uint8)


def packed_points(values, bits):
    n, blocks = values.shape
    per_byte = 8 // bits
    return packed(values, bits, -(-blocks // per_byte) * per_byte).reshape(n, -1)


def many_bits(name, k, n, bits, block, points=None, bias=False, rows=(3,), dtype=np.float32, level=1):
    blocks = -(-k // block)
    inputs = [normal(*rows, k, dtype=dtype), Weight(packed(integers(0, 1 << bits, n, k, dtype=np.uint8), bits, block)),
              Weight((RNG.random((n, blocks)) * 0.2 + 0.01).astype(dtype))]
    zero_points = {None: None, "packed": lambda: Weight(packed_points(integers(0, 1 << bits, n, blocks, dtype=np.uint8), bits)),
                   "real": lambda: Weight((RNG.random((n, blocks)) * (1 << bits)).astype(dtype))}[points]
    inputs.append(zero_points() if zero_points else None)
    if bias:
        inputs += [None, Weight(normal(n, dtype=dtype))]
    case(f"matmul_bits_{name}", "MatMulNBits", inputs, K=k, N=n, bits=bits, block_size=block, accuracy_level=level)


many_bits("4", 64, 24, 4, 32)
many_bits("4_points", 96, 24, 4, 32, "packed")
many_bits("4_real_points", 64, 16, 4, 16, "real")
many_bits("4_ragged", 70, 24, 4, 32, "packed", bias=True, rows=(2, 3))
many_bits("4_odd_blocks", 80, 8, 4, 16, "packed", rows=(1,))
many_bits("8", 64, 24, 8, 32)
many_bits("8_points", 128, 24, 8, 64, "packed", bias=True)
many_bits("2", 64, 16, 2, 32)
many_bits("4_large", 256, 640, 4, 128, "packed", rows=(1,))
# Weights that stay packed: rows of 128 and fewer partitions, blocks in one piece and in several, ragged columns.
many_bits("packed", 2048, 384, 4, 32)
many_bits("packed_points", 1024, 200, 4, 32, "packed", bias=True, rows=(2, 3))
many_bits("packed_real_points", 512, 256, 4, 64, "real", rows=(5,))
many_bits("packed_long_blocks", 1024, 300, 4, 256, "packed", rows=(1,))
many_bits("packed_2", 1024, 256, 2, 64, "packed")

# Attention.
case("mha_self", "MultiHeadAttention", [normal(2, 6, 32), normal(2, 6, 32), normal(2, 6, 32)], num_heads=4)
case("mha_cross", "MultiHeadAttention", [normal(2, 3, 32), normal(2, 7, 32), normal(2, 7, 16), normal(80)], num_heads=4)
case("mha_causal", "MultiHeadAttention", [normal(1, 6, 32), normal(1, 6, 32), normal(1, 6, 32)], num_heads=2, unidirectional=1)
case("mha_scale", "MultiHeadAttention", [normal(1, 6, 32), normal(1, 6, 32), normal(1, 6, 32)], num_heads=2, scale=0.3)
case("mha_lengths", "MultiHeadAttention",
     [normal(2, 6, 32), normal(2, 6, 32), normal(2, 6, 32), None, np.array([4, 6], np.int32)], num_heads=4)
MASK = np.array([[1, 1, 1, 0, 0, 1], [1, 1, 1, 1, 1, 0]], np.int32)
case("mha_padding", "MultiHeadAttention", [normal(2, 6, 32), normal(2, 6, 32), normal(2, 6, 32), None, MASK], num_heads=4)
case("mha_padding_filter", "MultiHeadAttention", [normal(2, 6, 32), normal(2, 6, 32), normal(2, 6, 32), None, MASK], num_heads=4,
     mask_filter_value=-1.5, unidirectional=1)
case("mha_padding_rows", "MultiHeadAttention",
     [normal(2, 6, 32), normal(2, 6, 32), normal(2, 6, 32), None, integers(0, 2, 2, 6, 6, dtype=np.int32)], num_heads=4)
for batch, heads in ((2, 4), (1, 4), (1, 1)):
    case(f"mha_bias_{batch}_{heads}", "MultiHeadAttention",
         [normal(2, 6, 32), normal(2, 6, 32), normal(2, 6, 32), normal(96), MASK, normal(batch, heads, 6, 6)], num_heads=4)
case("mha_past", "MultiHeadAttention",
     [normal(2, 1, 32), normal(2, 1, 32), normal(2, 1, 32), None, None, None, normal(2, 4, 5, 8), normal(2, 4, 5, 8)], 3, num_heads=4)
case("mha_past_causal", "MultiHeadAttention",
     [normal(1, 3, 32), normal(1, 3, 32), normal(1, 3, 32), normal(96), None, None, normal(1, 4, 5, 8), normal(1, 4, 5, 8)], 3,
     num_heads=4, unidirectional=1)
case("mha_heads_apart", "MultiHeadAttention", [normal(2, 3, 32), normal(2, 4, 7, 8), normal(2, 4, 7, 8), normal(96)], num_heads=4)
case("mha_scores", "MultiHeadAttention", [normal(2, 6, 32), normal(2, 6, 32), normal(2, 6, 32)], [1, 0, 0, np.float32], num_heads=4)


def attention(name, inputs, outputs=1, hidden=16, sizes=None, **attributes):
    width = sum(sizes) if sizes else 3 * hidden
    given = {"qkv_hidden_sizes": sizes} if sizes else {}
    case(f"attention_{name}", "Attention", [normal(2, 5, 12), Weight(normal(12, width)), Weight(normal(width)), *inputs], outputs,
         num_heads=4, **given, **attributes)


MASK5 = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
attention("plain", [])
attention("sizes", [], sizes=[16, 16, 24])
attention("causal", [], unidirectional=1)
attention("mask", [MASK5])
attention("mask_causal", [MASK5], unidirectional=1)
attention("mask_rows", [integers(0, 2, 2, 5, 5, dtype=np.int32)], mask_filter_value=-2.0)
attention("ends", [np.array([3, 5], np.int32)])
attention("ends_and_starts", [np.array([5, 4, 2, 0], np.int32)])
attention("past", [None, normal(2, 2, 4, 3, 4)], 2, unidirectional=1)
attention("bias", [None, None, normal(1, 4, 5, 5)], scale=0.4)

CACHE = [RNG.random((16, 8)).astype(np.float32) for _ in range(2)]


def group_query(name, rows, total, lengths, past=None, packed_qkv=False, bias=None, sink=False, rotary=False,
                heads=4, kv_heads=2, size=16, outputs=3, dtype=np.float32, known=False, **attributes):
    batch = len(lengths)
    inputs = [normal(batch, rows, (heads + 2 * kv_heads) * size, dtype=dtype), None, None] if packed_qkv else [
        normal(batch, rows, heads * size, dtype=dtype), *(normal(batch, rows, kv_heads * size, dtype=dtype) for _ in range(2))]
    inputs += [normal(batch, kv_heads, past, size, dtype=dtype) for _ in range(2)] if past is not None else [None, None]
    last = np.array(lengths, np.int32) - 1
    inputs += [Weight(last) if known else last, Weight(np.array(total, np.int32))]
    inputs += CACHE if rotary else [None, None]
    inputs += [None, bias, normal(heads) if sink else None]
    # What ONNX Runtime gives for queries behind a sample's end, and keeps behind it, is not defined.
    end = {0: lambda y: [y[i, :max(1, min(rows, lengths[i]))] for i in range(batch)]}
    for i in (1, 2):
        end[i] = lambda y: [y[i, :, :lengths[i]] for i in range(batch)]
    case(f"group_query_{name}", "GroupQueryAttention", inputs, outputs, end, num_heads=heads, kv_num_heads=kv_heads,
         do_rotary=int(rotary), **attributes)


group_query("prompt", 6, 6, [6])
group_query("prompt_lengths", 6, 6, [4, 6])
group_query("prompt_packed", 6, 6, [6, 6], packed_qkv=True)
group_query("prompt_rotary", 6, 6, [6, 5], rotary=True)
group_query("prompt_interleaved", 6, 6, [6], rotary=True, rotary_interleaved=1)
group_query("prompt_window", 8, 8, [8], local_window_size=3)
group_query("prompt_softcap", 6, 6, [6], softcap=1.5, scale=0.7)
group_query("prompt_smooth", 6, 6, [6, 6], smooth_softmax=1)
group_query("prompt_sink", 6, 6, [6], sink=True)
group_query("prompt_bias", 6, 6, [6], bias=normal(1, 4, 6, 6))
group_query("prompt_into_buffer", 6, 6, [6], past=10)
group_query("step", 1, 6, [6, 6], past=5)
group_query("step_lengths", 1, 8, [8, 5], past=7)
group_query("step_buffer", 1, 6, [6, 4], past=12, rotary=True)
group_query("step_window", 1, 9, [9, 4], past=12, local_window_size=3)
group_query("step_packed", 1, 6, [6, 6], past=5, packed_qkv=True, rotary=True)
group_query("step_sink", 1, 6, [6, 3], past=8, sink=True)
group_query("step_bias", 1, 6, [6, 6], past=5, bias=normal(1, 4, 1, 6))
group_query("chunk", 3, 9, [9], past=6, rotary=True, known=True)
group_query("chunk_buffer", 3, 9, [9], past=12, rotary=True, local_window_size=4, known=True)
group_query("one_kv_head", 4, 4, [4], kv_heads=1)

# Rotations.
COS, SIN = (cache[:, :4].copy() for cache in CACHE)
case("rotary", "RotaryEmbedding", [normal(2, 5, 24), integers(0, 16, 2, 5), COS, SIN])
case("rotary_from", "RotaryEmbedding", [normal(2, 5, 24), Weight(np.array([3])), COS, SIN])
case("rotary_interleaved", "RotaryEmbedding", [normal(2, 3, 5, 8), integers(0, 16, 2, 5), COS, SIN], interleaved=1)
case("rotary_part", "RotaryEmbedding", [normal(2, 5, 24), integers(0, 16, 2, 5), COS[:, :2].copy(), SIN[:, :2].copy()],
     rotary_embedding_dim=4, num_heads=3)

# Embeddings.
WORDS, PLACES, KINDS = Weight(normal(20, 16)), Weight(normal(9, 16)), Weight(normal(2, 16))
IDS, SEGMENTS = integers(0, 20, 2, 6, dtype=np.int32), integers(0, 2, 2, 6, dtype=np.int32)
NORM = [Weight(normal(16)), Weight(normal(16))]
case("embed", "EmbedLayerNormalization", [IDS, SEGMENTS, WORDS, PLACES, KINDS, *NORM, MASK], 2)
case("embed_no_mask", "EmbedLayerNormalization", [IDS, SEGMENTS, WORDS, PLACES, KINDS, *NORM], [1, 1, 1], epsilon=1e-5)
case("embed_no_segments", "EmbedLayerNormalization", [IDS, None, WORDS, PLACES, None, *NORM], 2)
case("embed_positions", "EmbedLayerNormalization",
     [IDS, None, WORDS, PLACES, None, *NORM, None, integers(0, 9, 2, 6, dtype=np.int32)], [1, 1])


# Quantised data: every byte, and both signs.
def scalar(value):
    return Weight(np.float32(value))


for dtype, zero in ((np.uint8, 128), (np.int8, -3)):
    kind = np.dtype(dtype).name
    limits = np.iinfo(dtype)
    every = np.arange(limits.min, limits.max + 1).astype(dtype)
    point, out = Weight(dtype(zero)), Weight(dtype(zero + 5))
    other = integers(limits.min, limits.max + 1, 4, 256, dtype=dtype)
    case(f"qlinear_add_{kind}", "QLinearAdd", [every, scalar(0.03), point, other, scalar(0.02), out, scalar(0.04), point])
    case(f"qlinear_mul_{kind}", "QLinearMul", [other, scalar(0.03), point, every, scalar(0.02), out, scalar(0.07), out])
    case(f"qlinear_sigmoid_{kind}", "QLinearSigmoid", [every, scalar(0.05), point, scalar(1 / 256), Weight(dtype(limits.min))])
    case(f"qlinear_leaky_relu_{kind}", "QLinearLeakyRelu", [every, scalar(0.05), point, scalar(0.03), out], alpha=0.2)
    case(f"qlinear_concat_{kind}", "QLinearConcat", [scalar(0.05), out, other, scalar(0.05), point, other[:, :7].copy(), scalar(0.02), out],
         axis=1)
    image = integers(limits.min, limits.max + 1, 1, 3, 8, 8, dtype=dtype)
    case(f"qlinear_pool_{kind}", "QLinearAveragePool", [image, scalar(0.03), point, scalar(0.02), out], kernel_shape=[3, 3],
         strides=[2, 2], pads=[1] * 4)
    case(f"qlinear_pool_pads_{kind}", "QLinearAveragePool", [image, scalar(0.03), point, scalar(0.02), out], kernel_shape=[3, 3],
         pads=[1] * 4, count_include_pad=1)
    case(f"qlinear_global_pool_{kind}", "QLinearGlobalAveragePool", [image, scalar(0.03), point, scalar(0.02), out])
    case(f"qlinear_softmax_{kind}", "QLinearSoftmax", [other, scalar(0.03), point, scalar(1 / 256), Weight(dtype(limits.min))], opset=13)
case("qlinear_pool_last", "QLinearAveragePool",
     [integers(0, 256, 1, 8, 8, 3, dtype=np.uint8), scalar(0.03), Weight(np.uint8(100)), scalar(0.02), Weight(np.uint8(120))],
     kernel_shape=[2, 2], channels_last=1)
case("qlinear_global_pool_last", "QLinearGlobalAveragePool",
     [integers(0, 256, 1, 8, 8, 3, dtype=np.uint8), scalar(0.03), Weight(np.uint8(100)), scalar(0.02), Weight(np.uint8(120))],
     channels_last=1)
case("qlinear_softmax_flat", "QLinearSoftmax",
     [integers(0, 256, 2, 3, 4, dtype=np.uint8), scalar(0.03), Weight(np.uint8(100)), scalar(1 / 256), Weight(np.uint8(0))], opset=11, axis=1)

case("qlinear_mean", "QLinearReduceMean",
     [integers(0, 256, 3, 5, 16, dtype=np.uint8), scalar(0.03), Weight(np.uint8(100)), scalar(0.02), Weight(np.uint8(120))], axes=[1],
     keepdims=0)
case("qlinear_where", "QLinearWhere",
     [integers(0, 2, 4, 16, dtype=bool), integers(0, 256, 4, 16, dtype=np.uint8), scalar(0.03), Weight(np.uint8(100)),
      integers(0, 256, 16, dtype=np.uint8), scalar(0.05), Weight(np.uint8(90)), scalar(0.06), Weight(np.uint8(128))])

# Products of quantised data with real results, and the other way around.
for dtype in (np.uint8, np.int8):
    limits, kind = np.iinfo(dtype), np.dtype(dtype).name
    B8 = Weight(integers(limits.min, limits.max + 1, 40, 24, dtype=dtype))
    per_column = Weight((RNG.random(24) * 0.02 + 0.001).astype(np.float32))
    points = Weight(integers(limits.min, limits.max + 1, 24, dtype=dtype))
    A8 = integers(0, 256, 5, 40, dtype=np.uint8)
    case(f"integer_to_float_{kind}", "MatMulIntegerToFloat", [A8, B8, scalar(0.02), scalar(0.01), Weight(np.uint8(120)), Weight(dtype(3))])
    case(f"integer_to_float_columns_{kind}", "MatMulIntegerToFloat",
         [A8, B8, scalar(0.02), per_column, Weight(np.uint8(120)), points, Weight(normal(24))])
    case(f"dynamic_matmul_{kind}", "DynamicQuantizeMatMul", [normal(2, 5, 40), B8, scalar(0.01), Weight(dtype(3)), Weight(normal(24))])
    case(f"dynamic_matmul_columns_{kind}", "DynamicQuantizeMatMul", [normal(5, 40), B8, per_column, points])
    case(f"qgemm_{kind}", "QGemm",
         [A8, scalar(0.02), Weight(np.uint8(120)), B8, scalar(0.01), Weight(dtype(3)), Weight(integers(-900, 900, 24, dtype=np.int32)),
          scalar(0.05), Weight(np.uint8(128))], alpha=0.7)
    case(f"qgemm_real_{kind}", "QGemm",
         [A8.T.copy(), scalar(0.02), Weight(np.uint8(120)), Weight(B8.value.T.copy()), per_column, points, None], transA=1, transB=1)
    case(f"dynamic_lstm_{kind}", "DynamicQuantizeLSTM",
         [normal(5, 2, 12), Weight(integers(limits.min, limits.max + 1, 2, 12, 64, dtype=dtype)),
          Weight(integers(limits.min, limits.max + 1, 2, 16, 64, dtype=dtype)), Weight(normal(2, 128)), None, np.zeros((2, 2, 16), np.float32),
          normal(2, 2, 16), None, Weight(float32(0.004, 0.003)), Weight(np.array([3, 7], dtype)), Weight(float32(0.002, 0.005)),
          Weight(np.array([1, 2], dtype))], 3, direction="bidirectional", hidden_size=16)
case("dynamic_lstm_columns", "DynamicQuantizeLSTM",
     [normal(4, 1, 12), Weight(integers(-128, 128, 1, 12, 64, dtype=np.int8)), Weight(integers(-128, 128, 1, 16, 64, dtype=np.int8)),
      Weight(normal(1, 128)), None, None, None, Weight(normal(1, 48)), Weight((RNG.random((1, 64)) * 0.01).astype(np.float32)),
      Weight(np.zeros((1, 64), np.int8)), Weight((RNG.random((1, 64)) * 0.01).astype(np.float32)), Weight(np.zeros((1, 64), np.int8))], [0, 1, 1],
     hidden_size=16, direction="reverse")


def quantized_attention(name, inputs, columns=1, outputs=1, **attributes):
    scale = scalar(0.01) if columns == 1 else Weight((RNG.random(columns) * 0.02 + 0.001).astype(np.float32))
    case(f"qattention_{name}", "QAttention",
         [integers(0, 256, 2, 5, 12, dtype=np.uint8), Weight(integers(0, 256, 12, 48, dtype=np.uint8)), Weight(normal(48)), scalar(0.02), scale,
          *inputs], outputs, num_heads=4, **attributes)


quantized_attention("plain", [None, Weight(np.uint8(120)), Weight(np.uint8(130))])
quantized_attention("mask", [MASK5, Weight(np.uint8(120)), Weight(np.uint8(130))], unidirectional=1)
quantized_attention("past", [None, Weight(np.uint8(120)), Weight(np.uint8(130)), normal(2, 2, 4, 3, 4)], outputs=2)


def gather_blocks(name, data, bits=4, block=16, points=None, gather_axis=0, quantize_axis=-1, indices=None, dtype=np.float32):
    count = list(data.shape)
    if data.dtype == np.uint8 and bits == 4:
        count[-1] *= 2
    count[quantize_axis] //= block
    scales = (RNG.random(count) * 0.2 + 0.01).astype(dtype)
    indices = integers(0, data.shape[gather_axis], 2, 3) if indices is None else indices
    case(f"gather_blocks_{name}", "GatherBlockQuantized", [Weight(data), indices, Weight(scales), points and Weight(points(count))],
         bits=bits, block_size=block, gather_axis=gather_axis, quantize_axis=quantize_axis)


def packed_last(count):
    """Zero points of 4 bits, two in a byte, the last one perhaps alone."""
    return integers(0, 256, *count[:-1], -(-count[-1] // 2), dtype=np.uint8)


gather_blocks("bytes", integers(0, 256, 20, 24, dtype=np.uint8))
gather_blocks("bytes_points", integers(0, 256, 20, 24, dtype=np.uint8), points=packed_last)
gather_blocks("8", integers(0, 256, 20, 64, dtype=np.uint8), bits=8, block=32, points=lambda count: integers(0, 256, *count, dtype=np.uint8))
gather_blocks("uint4", integers(0, 16, 20, 64, dtype=np.uint8).astype(ml_dtypes.uint4), block=32)
gather_blocks("int4_points", integers(-8, 8, 20, 64, dtype=np.int8).astype(ml_dtypes.int4), block=32,
              points=lambda count: integers(-8, 8, *count, dtype=np.int8).astype(ml_dtypes.int4))
gather_blocks("int4_axes", integers(-8, 8, 32, 20, 3, dtype=np.int8).astype(ml_dtypes.int4), gather_axis=1, quantize_axis=0,
              indices=integers(0, 20, 4, dtype=np.int32))

# Parts that are refused, by what the message must say.
REFUSED = []


def refused(name, text, operator, inputs, outputs=1, **attributes):
    REFUSED.append((name, text, operator, inputs, [1] * outputs if isinstance(outputs, int) else outputs, attributes))


BITS = Weight(np.zeros((8, 2, 16), np.uint8))
SCALES = Weight(np.ones((8, 2), np.float32))
refused("bits_3", "weights of 3 bits are not supported", "MatMulNBits", [normal(2, 64), Weight(np.zeros((8, 2, 12), np.uint8)), SCALES],
        K=64, N=8, bits=3, block_size=32)
refused("bits_g_idx", "'g_idx' is not supported", "MatMulNBits", [normal(2, 64), BITS, SCALES, None, Weight(np.zeros(64, np.int32))],
        K=64, N=8, bits=4, block_size=32)
refused("bits_run_time", "weights that are not constant", "MatMulNBits", [normal(2, 64), BITS.value, SCALES], K=64, N=8, bits=4,
        block_size=32)
refused("bits_size", "expected 512 bytes of weights but got 256", "MatMulNBits", [normal(2, 128), BITS, SCALES], K=128, N=8, bits=4,
        block_size=32)
refused("bits_scales", "expected 16 scales but got 15", "MatMulNBits", [normal(2, 64), BITS, Weight(np.ones(15, np.float32))],
        K=64, N=8, bits=4, block_size=32)
refused("bits_bias", "expected a bias of [8] but got", "MatMulNBits",
        [normal(2, 64), BITS, SCALES, None, None, Weight(np.ones((7, 1, 8), np.float32))], K=64, N=8, bits=4, block_size=32)
for rank, sizes in enumerate(((), (3,), (1, 5), (1, 1, 1))):
    refused(f"dynamic_lstm_scales_{rank}", "expected scales and zero points of [directions]", "DynamicQuantizeLSTM",
            [normal(2, 1, 3), Weight(np.zeros((1, 3, 8), np.uint8)), Weight(np.zeros((1, 2, 8), np.uint8)), None, None, None, None, None,
             Weight(np.ones(sizes, np.float32)), Weight(np.zeros(1, np.uint8)), Weight(np.ones(1, np.float32)),
             Weight(np.zeros(1, np.uint8))], hidden_size=2)
refused("qattention_scales", "or one for each of 96 columns, but got 5", "QAttention",
        [integers(0, 9, 1, 2, 32, dtype=np.uint8), Weight(np.zeros((32, 96), np.uint8)), Weight(np.zeros(96, np.float32)),
         Weight(np.ones((), np.float32)), Weight(np.ones(5, np.float32))], num_heads=4)
ROWS = Weight(np.zeros((16, 32), np.uint8))
for name, sizes in (("more", (16, 5)), ("rank", (16,))):
    refused(f"gather_blocks_scales_{name}", "expected scales of 16x4, one for each block, but got", "GatherBlockQuantized",
            [ROWS, np.array([1, 2]), Weight(np.ones(sizes, np.float32))], bits=4, block_size=16)
for name, sizes in (("fewer", (16, 1)), ("rows", (9, 2))):
    refused(f"gather_blocks_zero_points_{name}", "expected zero points of 16x2, one for each block, but got", "GatherBlockQuantized",
            [ROWS, np.array([1, 2]), Weight(np.ones((16, 4), np.float32)), Weight(np.zeros(sizes, np.uint8))], bits=4, block_size=16)
refused("mha_heads", "expected 32 elements to split into 5 heads", "MultiHeadAttention", [normal(1, 2, 32)] * 3, num_heads=5)
refused("mha_shared", "a length of the past within a shared buffer", "MultiHeadAttention",
        [normal(1, 1, 32)] * 3 + [None, None, None, normal(1, 4, 5, 8), normal(1, 4, 5, 8), np.array([3], np.int32)], num_heads=4)
refused("attention_rotation", "a rotation of the queries inside Attention", "Attention",
        [normal(2, 5, 12), normal(12, 48), normal(48)], num_heads=4, do_rotary=1)
GROUP = [normal(1, 1, 32), normal(1, 1, 16), normal(1, 1, 16), normal(1, 2, 5, 8), normal(1, 2, 5, 8), np.array([5], np.int32),
         Weight(np.array(6, np.int32))]
refused("group_query_norms", "a norm of queries and keys", "GroupQueryAttention", GROUP + [None] * 7 + [normal(8), normal(8)],
        num_heads=4, kv_num_heads=2)
refused("group_query_cache", "a cache of the window's size", "GroupQueryAttention", GROUP, num_heads=4, kv_num_heads=2,
        sliding_window_cache=1, local_window_size=4)
refused("group_query_scores", "the scores as an output", "GroupQueryAttention", GROUP, 4, num_heads=4, kv_num_heads=2, qk_output=1)
refused("group_query_quantized", "a quantised cache", "GroupQueryAttention", GROUP, num_heads=4, kv_num_heads=2,
        k_quant_type="PER_TENSOR", v_quant_type="PER_TENSOR")
refused("rotary_scale", "a scale of the positions", "RotaryEmbedding", [normal(2, 5, 24), integers(0, 16, 2, 5), COS, SIN], scale=0.5)
refused("conv_activation", "the activation 'Erf' is not supported", "FusedConv", [PICTURE, KERNEL], activation="Erf")


def model_of(operator, inputs, outputs, attributes):
    """The model of one node, and its inputs by name."""
    given, weights, infos, names = {}, [], [], []
    for i, value in enumerate(inputs):
        name = "" if value is None else f"x{i}"
        names.append(name)
        if isinstance(value, Weight):
            weights.append(numpy_helper.from_array(value.value, name))
        elif value is not None:
            value = np.asarray(value)
            given[name] = value
            infos.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    results = [f"y{i}" if named else "" for i, named in enumerate(outputs)]
    node = helper.make_node(operator, names, results, domain="com.microsoft", **attributes)
    declared = [helper.make_empty_tensor_value_info(name) if named == 1 else
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(named)), None)
                for name, named in zip(results, outputs) if name]
    graph = helper.make_graph([node], operator, infos, declared, weights)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10), given


def typed(model, values):
    """The model with the types of its outputs, which only their values tell for sure."""
    for info, value in zip(model.graph.output, values):
        info.CopyFrom(helper.make_tensor_value_info(info.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    return model


# By how much of the largest value floats may differ: 8 and 10 units in the last place. An attention rounds projections,
# scores, weights and sums one after the other.
NARROW = {np.dtype(np.float16): 4e-3, np.dtype(ml_dtypes.bfloat16): 4e-2}
# Operators whose quantised results are ONNX Runtime's, bit by bit.
EXACT = ("QLinearAdd", "QLinearMul")


def difference(got, want, steps):
    """What is different, as a text; None when the values agree. `steps`: by how many quantised values may differ."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"expected {want.dtype}{list(want.shape)} but got {got.dtype}{list(got.shape)}"
    if want.dtype.kind in "iub":
        distance = np.abs(got.astype(np.int64) - want.astype(np.int64)).max(initial=0)
        allowed = steps if want.dtype.itemsize == 1 else 0
    else:
        distance = np.abs(got.astype(np.float64) - want.astype(np.float64)).max(initial=0)
        allowed = NARROW.get(want.dtype, 1e-4) * max(1e-30, np.abs(want.astype(np.float64)).max(initial=0))
    return None if distance <= allowed else f"the largest difference is {distance:.3g} but {allowed:.3g} is allowed"


def as_type(value, dtype):
    """The value, or weight, or output type with `dtype` in place of fp32."""
    if isinstance(value, Weight):
        return Weight(as_type(value.value, dtype))
    if isinstance(value, np.ndarray):
        return value.astype(dtype) if value.dtype == np.float32 else value
    return dtype if value is np.float32 else value


def narrow(row, dtype):
    """The case in another float type."""
    name, operator, inputs, outputs, compare, attributes = row
    return (f"{name}_{np.dtype(dtype).name}", operator, [as_type(value, dtype) for value in inputs],
            [as_type(output, dtype) for output in outputs], compare, attributes)


def narrow_cases():
    """The cases in the float types that their operators' schemas take in place of fp32."""
    accepts = {(schema.name, str(kind)) for schema in ort_state.get_all_operator_schema() if schema.domain == "com.microsoft"
               for constraint in schema.type_constraints if "tensor(float)" in constraint.allowed_type_strs
               for kind in constraint.allowed_type_strs}
    return [narrow(row, dtype) for dtype, kind in ((np.float16, "tensor(float16)"), (ml_dtypes.bfloat16, "tensor(bfloat16)"))
            for row in CASES if (row[1], kind) in accepts and
            any(getattr(value, "value", value).dtype == np.float32 for value in row[2] if value is not None)]


def quantized_mean(x, x_scale, x_point, y_scale, y_point, axes, keepdims):
    """QLinearReduceMean, for which ONNX Runtime's package has a schema and no kernel."""
    real = (x.astype(np.float32) - x_point.value) * x_scale.value
    mean = real.mean(tuple(axes), keepdims=bool(keepdims), dtype=np.float64)
    return [np.clip(np.rint(mean / y_scale.value) + y_point.value, 0, 255).astype(np.uint8)]


DEFINED = {"QLinearReduceMean": quantized_mean}


def session_of(model):
    """A session of one thread: with more, DynamicQuantizeLSTM has a range for each thread's samples."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def expected_of(row):
    """What ONNX Runtime says, in the row's types: by the kernel of these, or by the fp32 kernel on the same numbers."""
    _, operator, inputs, outputs, _, attributes = row
    if operator in DEFINED:
        return DEFINED[operator](*inputs, **attributes)
    model, given = model_of(operator, inputs, outputs, attributes)
    types = {np.asarray(getattr(value, "value", value)).dtype for value in inputs if value is not None}
    wide = types & set(NARROW)
    if np.dtype(ml_dtypes.bfloat16) not in wide:
        try:
            return session_of(model).run(None, given)
        except ort_state.NotImplemented:
            if not wide:
                raise
    back = {dtype: np.float32 for dtype in wide}

    def widened(value):
        if isinstance(value, Weight):
            return Weight(widened(value.value))
        return value.astype(back[value.dtype]) if isinstance(value, np.ndarray) and value.dtype in back else value

    inputs = [widened(value) for value in inputs]
    outputs = [np.float32 if output != 1 and output != 0 and np.dtype(output) in back else output for output in outputs]
    model, given = model_of(operator, inputs, outputs, attributes)
    return [as_type(value, next(iter(wide))) for value in session_of(model).run(None, given)]


def run_case(row, trnc):
    """Why a case fails; None when it passes."""
    name, operator, inputs, outputs, compare, attributes = row
    model, given = model_of(operator, inputs, outputs, attributes)
    expected = expected_of(row)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(typed(model, expected), folder / "model.onnx")
        arguments = []
        for key, value in given.items():
            (folder / f"{key}.pb").write_bytes(numpy_helper.from_array(value, key).SerializeToString())
            arguments.append(f"--input={key}=@{folder / key}.pb")
        results = [info.name for info in model.graph.output]
        arguments += [f"--save={key}=@{folder / key}.pb" for key in results]
        done = subprocess.run([trnc, "run", folder / "model.onnx", "--target=trn2", "--quiet", *arguments], capture_output=True,
                              text=True, errors="replace", timeout=300)
        if done.returncode:
            return f"exit code {done.returncode}: {done.stderr.strip().splitlines()[0] if done.stderr.strip() else ''}"
        for key, want in zip(results, expected):
            got = numpy_helper.to_array(onnx.TensorProto.FromString((folder / f"{key}.pb").read_bytes()))
            part = compare.get(int(key[1:]))
            if part and got.shape == want.shape:
                pairs = zip(part(got), part(want))
            else:
                pairs = [(got, want)]
            for a, b in pairs:
                text = difference(a, b, steps=operator not in EXACT)
                if text:
                    return f"output {key}: {text}"
    return None


# Packed weights: bits, block, whether there are zero points.
TRAFFIC = [("traffic_4", 4, 32, False), ("traffic_4_points", 4, 32, True), ("traffic_2", 2, 64, False)]
TRAFFIC_DEPTH, TRAFFIC_COLUMNS = 4096, 512


def run_traffic(row, trnc):
    """Why more is read from device memory than the packed weights, a scale and an offset per block (or half of one, so that
    all partitions take part), and the input."""
    name, bits, block, points = row
    many_bits(name, TRAFFIC_DEPTH, TRAFFIC_COLUMNS, bits, block, "packed" if points else None, rows=(1,))
    _, operator, inputs, outputs, _, attributes = CASES.pop()
    model, _ = model_of(operator, inputs, outputs, attributes)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        onnx.save(model, path)
        compiled = path.with_suffix(".trnx")
        subprocess.run([trnc, "compile", path, "--target=trn2", "-o", compiled], capture_output=True, check=True, timeout=300)
        done = subprocess.run([trnc, "profile", compiled, "--json"], capture_output=True, text=True, check=True, timeout=300)
    read = json.loads(done.stdout[done.stdout.index("{"):])["hbm_read_bytes"]
    weights = TRAFFIC_DEPTH * TRAFFIC_COLUMNS
    allowed = weights * bits // 8 + (1 + points) * 4 * TRAFFIC_COLUMNS * max(128, TRAFFIC_DEPTH // block) + 4 * TRAFFIC_DEPTH
    return None if read <= allowed else f"expected at most {allowed} bytes read from device memory but got {read}"


def run_refused(row, trnc):
    """Why a case fails that has to be refused; None when it is, with its reason."""
    name, text, operator, inputs, outputs, attributes = row
    model, _ = model_of(operator, inputs, [np.float32 if named else 0 for named in outputs], attributes)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        onnx.save(model, path)
        done = subprocess.run([trnc, "compile", path, "-o", path.with_suffix(".trnx")], capture_output=True, text=True,
                              errors="replace", timeout=300)
        if done.returncode not in (1, 2) or text not in done.stderr:
            return f"expected an error with '{text}' but got exit code {done.returncode}: {done.stderr.strip()[:200]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", help="name patterns of cases")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", action="store_true", help="print every case")
    arguments = parser.parse_args()
    trnc = (arguments.build / "bin/trnc").resolve()
    tables = ((CASES + narrow_cases(), run_case), (TRAFFIC, run_traffic), (REFUSED, run_refused))
    chosen = [(row, run) for table, run in tables for row in table
              if not arguments.only or any(fnmatch.fnmatch(row[0], f"*{p}*") for p in arguments.only)]
    if not chosen:
        sys.exit("error: no case is named like that")

    def guarded(job):
        row, run = job
        try:
            return run(row, trnc)
        except Exception as error:  # ONNX Runtime's own refusals: the table must not ask for what it cannot compare
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (row, _), text in zip(chosen, pool.map(guarded, chosen)):
            failed += text is not None
            if text or arguments.v:
                print(f"{'failed' if text else 'pass':<7}{row[0]}{': ' + text if text else ''}", flush=True)
    print(f"com.microsoft: {len(chosen) - failed} of {len(chosen)} cases end as they should, by ONNX Runtime {onnxruntime.__version__}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
