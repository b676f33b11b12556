"""Inputs and expected outputs of the kernels in examples/kernels. usage: kernels.py write|check NAME FOLDER"""
import sys

import ml_dtypes
import numpy as np


def inputs(name):
    rng = np.random.default_rng(5)
    if name == "matmul":
        return {"lhs": rng.standard_normal((256, 128)).astype(ml_dtypes.bfloat16),
                "rhs": rng.standard_normal((256, 1024)).astype(ml_dtypes.bfloat16)}
    if name == "conv3x3":
        return {"x": rng.standard_normal((64, 14, 14)).astype(ml_dtypes.bfloat16),
                "w": (rng.standard_normal((64, 3, 3, 128)) / 24).astype(ml_dtypes.bfloat16),
                "bias": rng.standard_normal((128, 1)).astype(np.float32)}
    return {"x": rng.standard_normal((128, 1000)).astype(np.float32) * 3}


def expected(name, v):
    v = {key: value.astype(np.float64) for key, value in v.items()}
    if name == "matmul":
        return v["lhs"].T @ v["rhs"]
    if name == "conv3x3":
        padded = np.pad(v["x"], ((0, 0), (1, 1), (1, 1)))
        total = sum(np.einsum("cyx,cm->myx", padded[:, r:r + 14, s:s + 14], v["w"][:, r, s])
                    for r in range(3) for s in range(3))
        return np.maximum(total + v["bias"][:, :, None], 0)
    e = np.exp(v["x"] - v["x"].max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


command, name, folder = sys.argv[1:]
if command == "write":
    for key, value in inputs(name).items():
        np.save(f"{folder}/{key}.npy", value)
else:
    got, want = np.load(f"{folder}/out.npy"), expected(name, inputs(name))
    error = np.abs(got - want).max() / np.abs(want).max()
    # fp32 sums of at most 1,000 terms, operands exact: far below 1e-5 of the largest value.
    sys.exit(0 if got.shape == want.shape and error < 1e-5 else f"{name}: shape {got.shape}, error {error}")
