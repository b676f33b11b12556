"""Gives the `light_*` models of the onnx wheel seeded weights, for tests and benchmarks.

usage: seed_light_models.py FOLDER [NAME...]      (NAME such as resnet50; no names: all)

Those models are the well-known networks with every large weight replaced by a constant fill, so most outputs are the same
for any input. Each fill becomes an initializer whose values suit its role (He for convolutions, statistics near one for
normalisation), so that activations keep their size through the depth and every output depends on every input.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

SOURCE = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
BATCH_NORM_ROLES = {1: "scale", 2: "bias", 3: "bias", 4: "variance"}


def role_of(name, uses, last, normalized):
    """What the value `name` means to the first node that uses it; `normalized` are the results of normalisations."""
    node, position = uses[name][0]
    if node.op_type == "Unsqueeze":
        return role_of(node.output[0], uses, last, normalized)
    if node.op_type == "BatchNormalization":
        role = BATCH_NORM_ROLES[position]
        # Sums of branches grow with the depth: each adds less.
        is_branch = any(user.op_type == "Sum" for user, _ in uses.get(node.output[0], []))
        return "branch scale" if role == "scale" and is_branch else role
    if node.op_type == "Mul":
        return "scale"
    if node.op_type in ("Conv", "Gemm") and position == 1:
        # Only what a ReLU halved has to be doubled.
        return "logits" if node.name in last else "plain weight" if node.input[0] in normalized else "weight"
    return "bias"


GAINS = {"logits": 0.05, "plain weight": 1.0, "weight": 2.0}


def values(rng, role, shape):
    normal = rng.standard_normal(shape)
    if role == "scale":
        return 1 + 0.1 * normal
    if role == "branch scale":
        return 0.5 + 0.1 * normal
    if role == "variance":
        return rng.uniform(0.5, 1.5, shape)
    if role == "bias":
        return 0.1 * normal
    return normal * np.sqrt(GAINS[role] / int(np.prod(shape[1:])))


def names():
    """The models' names."""
    return sorted(path.stem.removeprefix("light_") for path in SOURCE.glob("light_*.onnx"))


def source(name):
    """The file of the onnx wheel whose weights are constant fills."""
    return SOURCE / f"light_{name}.onnx"


def seed(name):
    """The model with weights."""
    model = onnx.load(source(name))
    graph = model.graph
    for index, node in enumerate(graph.node):
        node.name = node.name or f"{node.op_type}_{index}"
    uses = {}
    for node in graph.node:
        for position, value in enumerate(node.input):
            uses.setdefault(value, []).append((node, position))
    last = [node.name for node in graph.node if node.op_type in ("Conv", "Gemm")][-1:]
    normalized = {node.output[0] for node in graph.node if node.op_type == "BatchNormalization"}
    known = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    rng = np.random.default_rng(0)
    fills = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    for node in fills:
        shape = tuple(int(size) for size in known[node.input[0]])
        value = node.output[0]
        graph.node.remove(node)
        if value in uses:
            weight = values(rng, role_of(value, uses, last, normalized), shape).astype(np.float32)
            graph.initializer.append(numpy_helper.from_array(weight, value))
    # The small parameters that the files still have are trained; those of normalisations do not fit seeded weights.
    rng = np.random.default_rng(1)
    norms = {value for node in graph.node if node.op_type == "BatchNormalization" for value in node.input[1:]}
    for kept in [i for i in graph.initializer if i.name in norms and i.name in known]:
        role = role_of(kept.name, uses, last, normalized)
        kept.CopyFrom(numpy_helper.from_array(values(rng, role, kept.dims).astype(np.float32), kept.name))
    # Since IR 4 initializers need not be inputs; as inputs they could be overridden and nothing would fold.
    used = {value for node in graph.node for value in node.input}
    for initializer in [i for i in graph.initializer if i.name not in used]:
        graph.initializer.remove(initializer)
    constant = {i.name for i in graph.initializer}
    for value in [i for i in graph.input if i.name in constant or i.name not in used]:
        graph.input.remove(value)
    model.ir_version = 8
    return model


def seeded(name, folder):
    """The path of a model with weights in `folder`, written on first use."""
    folder = pathlib.Path(folder)
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        onnx.save(seed(name), unfinished)
        unfinished.replace(path)
    return path


def main(folder, *chosen):
    for name in chosen or names():
        (pathlib.Path(folder) / f"{name}.onnx").unlink(missing_ok=True)
        seeded(name, folder)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
