"""Makes seeds for the fuzz targets and runs them: first the regressions (inputs that once failed), then libFuzzer.

usage: run.py [--seconds N | --runs N] [--only TARGET...] [--build BUILD] [--tools TOOLS] [--timeout S]
              [--jobs N]

Seeds come from the ONNX suite of the pinned wheel (one model per operator), from NumPy, from what `trnc` makes of small
models at every stage, and from the repository's own IR tests. What libFuzzer finds is left in BUILD/fuzz/found; put the
input under test/fuzz/regressions when it is mended. The corpus under BUILD/fuzz/corpus grows from run to run;
--runs leaves it alone and tries the same inputs every time, as a test has to.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/onnx"))
import microsoft  # noqa: E402
import own  # noqa: E402

SUITE = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
TARGETS = {"import-fuzz": "import", "compile-fuzz": "import", "executable-fuzz": "executable", "tensor-fuzz": "tensor",
           "ir-fuzz": "ir"}
# LLVM's bump allocators poison what they have not handed out. Their code lies in our programs and, without
# instrumentation, in the shared libraries: memory that those hand out would stay poisoned.
SANITIZERS = "allow_user_poisoning=0"
# What MLIR's parser held when it did not survive an input (readModule goes on) is lost.
LOSING = {"ir-fuzz"}
# Models that become executables and dumps: one of each kind of work that the device has. Those of the suite, and those of
# test/onnx/own.py: doubles, which are library kernels, and loops that the device runs.
COMPILED = ["test_matmul_2d", "test_conv_with_strides_padding", "test_softmax_axis_1", "test_gather_0", "test_relu",
            "test_reduce_max_default_axes_keepdim_example", "test_add_bcast", "test_transpose_all_permutations_3", "test_maxpool_2d_same_upper",
            "test_layer_normalization_2d_axis1", "test_concat_2d_axis_1", "test_where_example",
            # Library kernels, counted results, sequences, loops.
            "test_det_2d", "test_nonzero_example", "test_unique_sorted_with_axis", "test_nonmaxsuppression_two_classes",
            "test_add_uint64", "test_sequence_map_add_1_sequence_1_tensor"]
SHAPES = {"test_sequence_map_add_1_sequence_1_tensor": ["--shape=x0=2", "--shape=x0.0=3", "--shape=x0.1=3", "--shape=x1=3"]}
OWN = ["argmax_double", "maxpool_double", "cast_double_bool", "loop_of_7_steps", "loop_while_of_4",
       "scan_of_150_steps_backward", "lstm_of_150_steps"]


def write(folder, name, data):
    (folder / name).write_bytes(data)


def nodes_of(graph):
    """All nodes of a graph and its bodies."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nodes_of(attribute.g)


def element_type(info):
    kind = info.type
    if kind.HasField("optional_type"):
        kind = kind.optional_type.elem_type
    if kind.HasField("sequence_type"):
        kind = kind.sequence_type.elem_type
    return kind.tensor_type.elem_type


def bound(path):
    """The model with the first test's values of integer vectors as constants: most of them are operands that decide shapes.
    None when there are none."""
    model = onnx.load(path)
    constants = []
    for i, info in enumerate(model.graph.input):
        value = path.parent / f"test_data_set_0/input_{i}.pb"
        if not info.type.HasField("tensor_type") or not value.exists() or element_type(info) != onnx.TensorProto.INT64:
            continue
        tensor = onnx.TensorProto.FromString(value.read_bytes())
        if len(tensor.dims) <= 1:
            tensor.name = info.name
            constants.append((info, tensor))
    for info, tensor in constants:
        model.graph.input.remove(info)
        model.graph.initializer.append(tensor)
    return model.SerializeToString() if constants else None


def import_seeds(folder):
    """The smallest model of each operator with these attributes and inputs of these types: the standard's and our own."""
    best = {}
    with tempfile.TemporaryDirectory() as scratch:
        made = own.write(pathlib.Path(scratch))
        for path in [*sorted(SUITE.glob("*/*/model.onnx")), *(at / "model.onnx" for at in made)]:
            for data in (path.read_bytes(), bound(path)):
                if data is None or len(data) > 16384:
                    continue
                graph = onnx.load_from_string(data).graph
                nodes = {(node.op_type, *sorted(a.name for a in node.attribute)) for node in nodes_of(graph)}
                key = (frozenset(nodes), frozenset(map(element_type, graph.input)), len(graph.initializer) > 0)
                if key not in best or len(data) < len(best[key]):
                    best[key] = data
        for i, (name, operator, inputs, outputs, _, attributes) in enumerate(microsoft.CASES):
            data = microsoft.model_of(operator, inputs, outputs, attributes)[0].SerializeToString()
            if len(data) <= 16384:
                best[name, operator, i] = data
    for i, data in enumerate(best.values()):
        write(folder, f"{i}.onnx", data)


def compiled_models(folder):
    """Names and paths of COMPILED and OWN."""
    own.write(folder)
    return [(name, SUITE / "node" / name / "model.onnx") for name in COMPILED] + \
           [(name, folder / "own" / f"test_{name}" / "model.onnx") for name in OWN]


def tensor_seeds(folder):
    for index, path in enumerate(sorted(SUITE.glob("node/*/test_data_set_0/*.pb"))[::40]):
        if path.stat().st_size < 4096:
            write(folder, f"{index}.pb", path.read_bytes())
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as scratch:
        for kind in ("f4", "f8", "f2", "i8", "u1", "?", "i2"):
            array = rng.integers(0, 2, (2, 3)).astype(kind)
            np.save(f"{scratch}/c.npy", array)
            np.save(f"{scratch}/f.npy", np.asfortranarray(array))
            np.savez(f"{scratch}/a.npz", x=array, scalar=array[0, 0], empty=array[:0])
            np.savez_compressed(f"{scratch}/z.npz", x=np.repeat(array, 40))
            for path in pathlib.Path(scratch).iterdir():
                write(folder, kind.replace("?", "b") + path.name, path.read_bytes())


def executable_seeds(folder, trnc):
    """Executables without weights: those make a file of at least 2 MB, mostly padding."""
    for kernel in (ROOT / "examples" / "kernels").glob("*.mlir"):
        compile_to(trnc, kernel, folder / f"{kernel.stem}.trnx")
    with tempfile.TemporaryDirectory() as scratch:
        for name, model in compiled_models(pathlib.Path(scratch)):
            must_compile(trnc, model, folder / f"{name}.trnx", *SHAPES.get(name, []))
    for path in folder.glob("*.trnx"):
        if path.stat().st_size > 1 << 20:
            path.unlink()


def ir_seeds(folder, trnc, translate):
    stages = [line.split('"')[1] for line in (ROOT / "compiler/Pipeline/Stages.def").read_text().splitlines()
              if line.startswith("TRN_STAGE(")]
    with tempfile.TemporaryDirectory() as scratch:
        for name, model in compiled_models(pathlib.Path(scratch)):
            for stage in stages[:-1]:
                must_compile(trnc, model, folder / f"{name}-{stage}.mlir", "--stop-after", stage, *SHAPES.get(name, []))
    for path in folder.glob("*.mlir"):
        if path.stat().st_size > 16384:
            path.unlink()
    for path in sorted((ROOT / "test").rglob("*.mlir")) + sorted((ROOT / "examples").rglob("*.mlir")):
        for index, part in enumerate(path.read_text().split("// -----")):
            lines = [line for line in part.splitlines() if line.strip() and not line.strip().startswith("//")]
            if lines and len(part) < 8192:
                write(folder, f"{path.stem}-{index}.mlir", "\n".join(lines).encode())
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "relu.trnx"
        if compile_to(trnc, SUITE / "node" / "test_relu" / "model.onnx", file):
            subprocess.run([translate, "--trnx-to-mlir", str(file), "-o", str(folder / "encoded.mlir")], check=True)


def compile_to(trnc, source, target, *options):
    return subprocess.run([trnc, "compile", str(source), "-o", str(target), "--quiet", *options],
                          capture_output=True, check=False).returncode == 0


def must_compile(trnc, source, target, *options):
    """A seed that is missing is not noticed by anybody."""
    if not compile_to(trnc, source, target, *options):
        sys.exit(f"{source}: expected a model that compiles; take another one for the seeds")


def make_seeds(kind, folder, tools):
    if folder.exists():
        return
    folder.mkdir(parents=True)
    if kind == "import":
        import_seeds(folder)
    elif kind == "tensor":
        tensor_seeds(folder)
    elif kind == "executable":
        executable_seeds(folder, str(tools / "trnc"))
    else:
        ir_seeds(folder, str(tools / "trnc"), str(tools / "trn-translate"))


def run(target, kind, arguments):
    """True when nothing was found."""
    place = arguments.build / "fuzz"
    seeds, corpus, found = place / "seeds" / kind, place / "corpus" / target, place / "found"
    make_seeds(kind, seeds, arguments.tools)
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    program = str(arguments.build / "test" / target)
    environment = {**os.environ, "ASAN_OPTIONS": SANITIZERS + (":detect_leaks=0" if target in LOSING else "")}
    # A single input may hold this much under the sanitizers.
    limits = [f"-timeout={arguments.timeout}", "-rss_limit_mb=2560", f"-artifact_prefix={found}/{target}-"]
    regressions = sorted(str(path) for path in (ROOT / "test" / "fuzz" / "regressions" / kind).glob("*")
                         if path.suffix != ".md")
    done = subprocess.run([program, *limits, *regressions], capture_output=True, text=True,
                          env=environment) if regressions else None
    if done is not None and done.returncode:
        print(f"{target}: a regression fails\n{done.stderr[-6000:]}", file=sys.stderr)
        return False
    if arguments.seconds == 0 and not arguments.runs:
        print(f"{target}: {len(regressions)} regressions pass")
        return True
    options = ["-print_final_stats=1", "-max_len=65536", "-len_control=0"]
    folders = [str(seeds)]
    if arguments.runs:
        options += ["-seed=1", f"-runs={arguments.runs}"]
    else:
        options += [f"-max_total_time={arguments.seconds}"]
        folders.insert(0, str(corpus))
    if arguments.jobs > 1:
        options += [f"-fork={arguments.jobs}"]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as fresh:
        done = subprocess.run([program, *limits, *options, *([fresh] if arguments.runs else []), *folders],
                              capture_output=True, text=True, env=environment)
    if done.returncode:
        print(f"{target}: found something\n{done.stderr[-8000:]}", file=sys.stderr)
        return False
    stats = [line.split("::")[1] for line in done.stderr.splitlines() if line.startswith("stat::number_of_executed")]
    took = time.monotonic() - began
    print(f"{target}: {len(regressions)} regressions pass; {' '.join((stats or ['?'])[0].split())} in {took:.0f} s")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10, help="of fuzzing per target; 0: regressions only")
    parser.add_argument("--runs", type=int, default=0, help="inputs per target instead, the same ones every time")
    parser.add_argument("--only", nargs="*", choices=sorted(TARGETS), help="default: what is built")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "asan")
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--timeout", type=int, default=20, help="most seconds for one input; more on a busy machine")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    wanted = arguments.only or [name for name in TARGETS if (arguments.build / "test" / name).exists()]
    if not wanted:
        sys.exit(f"no fuzz target in {arguments.build}: build one (cmake --build --preset asan --target tensor-fuzz)")
    results = [run(target, TARGETS[target], arguments) for target in wanted]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
