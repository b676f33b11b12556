"""The tests of the ONNX standard, as the pinned onnx wheel carries them, without knowledge of the compiler.

Owns finding the tests, their models and data (and the well-known networks among them once more with seeded weights), the comparison that the standard's own runner makes (rtol 1e-3, atol 1e-7,
or what the test says; shapes and types exact, and nothing but these of random results), and the question which inputs determine constant operands.
"""
import functools
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

import own

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))
import seed_light_models  # noqa: E402

DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data"
GROUPS = ("node", "simple", "pytorch-operator", "pytorch-converted", "real")
SEEDED, OWN = "real-seeded", "own"
RTOL, ATOL = 1e-3, 1e-7
RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")


def read_value(path, value_type):
    """The value in a .pb file: an array, a list (sequence), or None (absent optional). Strings are object arrays."""
    data = pathlib.Path(path).read_bytes()
    if value_type.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if value_type.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def element_type(value_type):
    """The type of the element of an optional; other types are themselves. An optional that has an element is it."""
    return value_type.optional_type.elem_type if value_type.HasField("optional_type") else value_type


def type_name(value):
    """The element type of a value read from a file."""
    if isinstance(value, list):
        return "seq(" + (type_name(value[0]) if value else "") + ")"
    return "none" if value is None else "string" if value.dtype == object else value.dtype.name


def wide(value):
    """The elements in the widest type of their kind, for the comparison."""
    kind = value.dtype.kind
    return value if kind in "biuOcU" else value.astype(np.float64)


def difference(got, want, rtol, atol):
    """What is different, as a text; None when the values agree as the standard asks."""
    if isinstance(want, list) or isinstance(got, list):
        if not isinstance(want, list) or not isinstance(got, list) or len(got) != len(want):
            return f"expected a sequence of {len(want) if isinstance(want, list) else 'no'} tensors"
        found = (difference(g, w, rtol, atol) for g, w in zip(got, want))
        return next((text for text in found if text), None)
    if want is None or got is None:
        return None if want is got else "one of the two is absent"
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"expected {want.dtype.name}{list(want.shape)} but got {got.dtype.name}{list(got.shape)}"
    if want.dtype == object:
        return None if np.array_equal(got, want) else "the texts differ"
    a, b = wide(got), wide(want)
    if b.dtype.kind in "biu":
        # Integers are exact up to the tolerance; object arithmetic neither wraps nor rounds.
        wrong = a != b
        if wrong.any():
            x, y = a[wrong].astype(object).astype(float), b[wrong].astype(object).astype(float)
            wrong[wrong] = np.abs(x - y) > atol + rtol * np.abs(y)
    else:
        with np.errstate(invalid="ignore"):
            wrong = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= atol + rtol * np.abs(b)))
            wrong |= np.isinf(b) & (a != b)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return f"{int(wrong.sum())} of {wrong.size} elements, first at {list(at)}: expected {b[at]} but got {a[at]}"


def type_difference(got, want):
    """What is different but for values: random ones are nobody's."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"expected {want.dtype.name}{list(want.shape)} but got {got.dtype.name}{list(got.shape)}"
    return None if np.isfinite(wide(got)).all() else "a random value is not finite"


def bodies_of(node):
    """The graphs among a node's attributes."""
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def with_definition(node):
    """A node, and the nodes of the function by which the standard defines its operator, under names of their own."""
    yield node
    if node.domain or not onnx.defs.has(node.op_type) or not onnx.defs.get_schema(node.op_type).has_function:
        return
    body = onnx.defs.get_schema(node.op_type).function_body
    names = dict(zip(body.input, node.input), **dict(zip(body.output, node.output)))
    for inner in all_nodes(body):
        part = onnx.NodeProto()
        part.CopyFrom(inner)
        for list_of_names in (part.input, part.output):
            for i, name in enumerate(list_of_names):
                if name:
                    list_of_names[i] = names.get(name, f"{node.output[0]}/{name}")
        yield part


def all_nodes(graph):
    """The nodes of a graph and of the bodies in it."""
    for node in graph.node:
        yield node
        for body in bodies_of(node):
            yield from all_nodes(body)


class Case:
    """One test: a model and its data sets."""

    def __init__(self, folder):
        self.folder, self.name = folder, f"{folder.parent.name}/{folder.name}"
        self.rtol, self.atol = RTOL, ATOL
        self._file = folder / "model.onnx"
        self._light = folder.parent.name == "real"
        if self._light:
            facts = json.loads((folder / "data.json").read_text())
            self.rtol, self.atol = facts["rtol"], facts["atol"]
            self._file = DATA / "light" / pathlib.PurePosixPath(facts["url"]).name

    @property
    def path(self):
        """The model's file."""
        return self._file

    @functools.cached_property
    def model(self):
        return onnx.load(self.path, load_external_data=False)

    @functools.cached_property
    def inputs(self):
        """The inputs that a run gives, in order."""
        given = {tensor.name for tensor in self.model.graph.initializer}
        return [value for value in self.model.graph.input if value.name not in given]

    @property
    def outputs(self):
        return list(self.model.graph.output)

    @functools.cached_property
    def operators(self):
        """The operators of the model, subgraphs and functions included, as (domain, name)."""
        found = set()

        def visit(nodes):
            for node in nodes:
                found.add((node.domain or "ai.onnx", node.op_type))
                for attribute in node.attribute:
                    for graph in [attribute.g, *attribute.graphs]:
                        visit(graph.node)

        visit(self.model.graph.node)
        functions = {(function.domain or "ai.onnx", function.name) for function in self.model.functions}
        for function in self.model.functions:
            visit(function.node)
        return found - functions

    def draws(self, files):
        """Whether a run on these inputs draws random numbers: then expected values say nothing but types and shapes."""
        given = {tensor.name: tensor for tensor in self.model.graph.initializer}
        read = {name: numpy_helper.to_array(tensor) for name, tensor in given.items()}
        for node in all_nodes(self.model.graph):
            if node.op_type in RANDOM:
                return True
            if node.op_type == "Dropout" and len(node.input) == 3 and node.input[2]:
                read.update({value.name: read_value(file, value.type) for value, file in zip(self.inputs, files)})
                ratio = read[node.input[1]] if node.input[1] else 0.5
                if np.all(read[node.input[2]]) and np.any(ratio):
                    return True
        return False

    def data_sets(self, scratch):
        """Per data set the files of the inputs and of the outputs, in order."""
        if self._light:
            # The standard's runner feeds these models a ramp; their outputs lie beside them.
            files = []
            for i, value in enumerate(self.inputs):
                shape = [d.dim_value if d.HasField("dim_value") else 1 for d in value.type.tensor_type.shape.dim]
                ramp = (np.arange(np.prod(shape)).reshape(shape) / np.prod(shape)).astype(np.float32)
                files.append(scratch / f"input_{i}.pb")
                files[-1].write_bytes(numpy_helper.from_array(ramp, value.name).SerializeToString())
            return [(files, [self.path.with_name(self.path.stem + "_output_0.pb")])]
        sets = sorted(self.folder.glob("test_data_set_*"))
        return [([each / f"input_{i}.pb" for i in range(len(self.inputs))],
                 [each / f"output_{i}.pb" for i in range(len(self.outputs))]) for each in sets]

    def shape_operands(self, constant_operands):
        """Names of the inputs that determine operands which the standard calls constant by meaning (`axes`, `shape`, …).

        constant_operands: (domain, operator) -> positions of such operands, from the compiler's records. Traced back
        from there through the nodes of the graph, but not through Shape and Size, whose results are known while
        compiling; only values of rank 0 and 1 can be shape operands.
        """
        nodes = [part for node in all_nodes(self.model.graph) for part in with_definition(node)]
        producer = {name: node for node in nodes for name in node.output if name}
        small = {value.name for value in self.inputs
                 if value.type.HasField("tensor_type") and len(value.type.tensor_type.shape.dim) <= 1}
        work = []
        for node in nodes:
            positions = constant_operands.get((node.domain or "ai.onnx", node.op_type), ())
            work += [node.input[i] for i in positions if i < len(node.input)]
        reached = set()
        while work:
            name = work.pop()
            if name in reached or not name:
                continue
            reached.add(name)
            if name in producer and producer[name].op_type not in ("Shape", "Size"):
                work += producer[name].input
                work += [value.name for body in bodies_of(producer[name]) for value in body.output]
        return [value.name for value in self.inputs if value.name in reached & small]


class SeededCase(Case):
    """One of the `real` models again, with seeded weights instead of constant fills: no two of its outputs are the same,
    and all depend on the input, which is noise. ONNX Runtime says what is right."""

    def __init__(self, model):
        super().__init__(pathlib.Path(SEEDED) / f"test_{model}")
        self._model = model

    @property
    def path(self):
        return seed_light_models.seeded(self._model, ROOT / "build/models")

    @functools.cached_property
    def model(self):
        """As the standard ships it: what is asked of it, its inputs and operators, is not in the weights."""
        return onnx.load(seed_light_models.source(self._model))

    def data_sets(self, scratch):
        session = onnxruntime.InferenceSession(self.path, providers=["CPUExecutionProvider"])
        rng = np.random.default_rng(0)
        feeds = {value.name: rng.random(value.shape).astype(np.float32) for value in session.get_inputs()}
        values = {**feeds, **dict(zip([value.name for value in self.outputs], session.run(None, feeds)))}

        def write(value):
            file = scratch / f"{len(list(scratch.iterdir()))}.pb"
            file.write_bytes(numpy_helper.from_array(values[value.name], value.name).SerializeToString())
            return file

        return [([write(value) for value in self.inputs], [write(value) for value in self.outputs])]


def cases():
    """All tests of the suite, in a fixed order, and those of our own. The longest ones come first."""
    seeded = [SeededCase(name) for name in reversed(seed_light_models.names())]
    folders = [folder for group in GROUPS for folder in sorted((DATA / group).glob("test_*"))]
    return seeded + [Case(folder) for folder in folders + sorted(own.write(ROOT / "build/onnx"))]
