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


def role_of(name, uses, last):
    """What the value `name` means to the first node that uses it."""
    node, position = uses[name][0]
    if node.op_type == "Unsqueeze":
        return role_of(node.output[0], uses, last)
    if node.op_type == "BatchNormalization":
        role = BATCH_NORM_ROLES[position]
        # Sums of branches grow with the depth: each adds less.
        is_branch = any(user.op_type == "Sum" for user, _ in uses.get(node.output[0], []))
        return "branch scale" if role == "scale" and is_branch else role
    if node.op_type == "Mul":
        return "scale"
    if node.op_type in ("Conv", "Gemm") and position == 1:
        return "logits" if node.name in last else "weight"
    return "bias"


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
    fan_in = int(np.prod(shape[1:]))
    return normal * np.sqrt((0.05 if role == "logits" else 2.0) / fan_in)


def seed(name):
    model = onnx.load(SOURCE / f"light_{name}.onnx")
    graph = model.graph
    for index, node in enumerate(graph.node):
        node.name = node.name or f"{node.op_type}_{index}"
    uses = {}
    for node in graph.node:
        for position, value in enumerate(node.input):
            uses.setdefault(value, []).append((node, position))
    last = [node.name for node in graph.node if node.op_type in ("Conv", "Gemm")][-1:]
    known = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    rng = np.random.default_rng(0)
    fills = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    for node in fills:
        shape = tuple(int(size) for size in known[node.input[0]])
        value = node.output[0]
        graph.node.remove(node)
        if value in uses:
            weight = values(rng, role_of(value, uses, last), shape).astype(np.float32)
            graph.initializer.append(numpy_helper.from_array(weight, value))
    # Since IR 4 initializers need not be inputs; as inputs they could be overridden and nothing would fold.
    used = {value for node in graph.node for value in node.input}
    for initializer in [i for i in graph.initializer if i.name not in used]:
        graph.initializer.remove(initializer)
    constant = {i.name for i in graph.initializer}
    for value in [i for i in graph.input if i.name in constant or i.name not in used]:
        graph.input.remove(value)
    model.ir_version = 8
    return model


def main(folder, *names):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or sorted(path.stem.removeprefix("light_") for path in SOURCE.glob("light_*.onnx")):
        onnx.save(seed(name), folder / f"{name}.onnx")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
