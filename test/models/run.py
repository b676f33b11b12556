"""Compiles and runs whole models on the emulated device and compares them with ONNX Runtime.

usage: run.py --build BUILD [--only NAME...] [--targets trn1,trn2] [--auto-cast none,matmult,all]
              [--auto-cast-type bf16,fp16] [--json FILE] [--table FILE [--folder FOLDER]]

For each model, target and precision: `trnc compile`, then `trnc run` on two different inputs, with every check on.
Asserted: the largest difference is at most a share of the largest value of each output (fp32 default: 1e-4, the models'
own noise between ONNX Runtime's optimised and unoptimised runs is up to 2e-5; --auto-cast: the model's own `cast`),
classifiers name the same classes, the two inputs give different outputs, and HBM traffic is at most 1.2 x (weights +
inputs + outputs), or what the model's record says with the reason (`traffic`). By default, fp32 and all in
bf16 run on both targets, matmult on trn2. With --auto-cast all, what each layer loses is reported, too (on the first
target: `trnc verify --layers`): every value has to be finite, and the layer that adds most is named; --json has all.

--table tries other models than those of the tests: FILE has a header and a row per model, separated by tabs. `id` names
FOLDER/ID.onnx (default: the table's folder; a row without a file is passed over). `bench_inputs` are the shapes of open
inputs: `x=1x3x224x224 n=scalar`. `opt_vs_noopt_rel` is by how much ONNX Runtime differs from itself: what is allowed, and
at least 1e-4. A row whose `ort` does not start with "runs" has to be refused, and the message has to contain what stands
in single quotes there. Inputs are noise that the model accepts (noise.py). Runs in fp32 unless --auto-cast says more; then
differences are printed, not judged.

What differs by more is right in two cases, and a line says so: ONNX Runtime without its fused kernels computes the same
(quantised models), or the result in float64 is nearer to the device's than to ONNX Runtime's (exact.py; models that
enlarge roundings).
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "examples")]
import exact  # noqa: E402
import make_models  # noqa: E402
import noise  # noqa: E402
import ocr  # noqa: E402
import seed_light_models  # noqa: E402

TOLERANCE = 1e-4
# HBM traffic per (weights + inputs + outputs) where the activations fit in SBUF, and for each precision of a model that
# says otherwise.
TRAFFIC = 1.2


class Model:
    """One model: where it comes from, its fixed shapes, how inputs are made, what is asserted beside the tolerance.

    A classifier has classes in the last dimension and names the best of them, once or per column.
    """

    def __init__(self, name, path, shapes, make=None, classifier=False, traffic=TRAFFIC, targets=("trn1", "trn2"),
                 cast=(np.inf, np.inf), allowed=TOLERANCE, refused=None,
                 from_table=False):
        self.name, self._path, self.shapes, self.make = name, path, shapes, make
        # Largest difference with --auto-cast matmult and all, as a share of the largest value. bf16 keeps 8 bits (half a
        # unit in the last place is 2e-3); what a model makes of that is its own. fp16 keeps 11 and has to be no worse.
        self.tolerance = {"none": allowed, "matmult": cast[0], "all": cast[1]}
        self.classifier, self.targets = classifier, targets
        self.from_table = from_table  # little is known of it: the inputs vary more, and may all give the same outputs
        self.refused = refused  # words that the refusal has to contain; None: the model compiles
        # HBM traffic per (weights + inputs + outputs), without a cast, with matmult and with all: one for all three, or each.
        self.traffic = dict(zip(("none", "matmult", "all"), traffic if isinstance(traffic, tuple) else (traffic,) * 3))

    @property
    def path(self):
        """The model file; a generated one is written on first use."""
        return self._path() if callable(self._path) else self._path

    def inputs(self, session, seed):
        rng = np.random.default_rng(seed)
        if self.make:
            return self.make(rng)
        model = onnx.load(self.path, load_external_data=False)
        return noise.draw(rng, model, session.get_inputs(), self.shapes, varied=self.from_table)


def generated(name):
    """Path of a model of scripts/make_models.py, written on first use."""
    folder = ROOT / "build" / "models"
    path = folder / f"{name}.onnx"
    if not path.exists():
        make_models.main(str(folder), name)
    return path


def ids(shape, high):
    return lambda rng: {"ids": rng.integers(0, high, shape)}


def seeded(name):
    """Path of a light_* topology of the onnx wheel with seeded weights, written on first use."""
    return seed_light_models.seeded(name, ROOT / "build" / "models")


def file_bytes(rng):
    """Magika's features of a real file of this repository, chosen by the generator: its first and its last 1,024 bytes
    without surrounding white space, padded with 256."""
    files = ["README.md", "compiler/Pipeline/Compiler.cpp", "test/models/run.py", "CMakePresets.json", "scripts/setup.sh"]
    content = (ROOT / files[rng.integers(len(files))]).read_bytes()
    begin, end = content.lstrip()[:1024], content.rstrip()[-1024:]
    tokens = list(begin) + [256] * (1024 - len(begin)) + [256] * (1024 - len(end)) + list(end)
    return {"bytes": np.array([tokens], np.int32)}


WORDS = ("an open compiler for every model that has a text to read on this device and nothing else but numbers 2026 0.5 "
         "Trainium ONNX exact").split()


def line(rng):
    """A line of drawn words, as the recogniser takes it."""
    return {"x": ocr.pixels(ocr.draw(" ".join(rng.choice(WORDS, 4))))}


def sheet(rng, size):
    """A page of drawn lines."""
    from PIL import Image
    page = Image.new("RGB", (size, size), "white")
    for top in (20, 100, 180, 240):
        page.paste(ocr.draw(" ".join(rng.choice(WORDS, 4))), (0, top))
    return np.asarray(page, np.float32)


def page(rng):
    """A page of drawn lines, as the detector takes it: scaled to 0 to 1, then by the statistics of its training set."""
    scaled = sheet(rng, 320) / 255
    scaled = (scaled - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
    return {"x": np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])}


def unscaled_page(rng):
    """A page of drawn lines, as the detector of ddddocr takes it: unscaled."""
    return {"images": np.ascontiguousarray(sheet(rng, 416).transpose(2, 0, 1)[None])}


def captcha(rng):
    """A drawn word, as the recognisers of ddddocr take it: grey, 64 pixels high, scaled to -1 to 1."""
    word = ocr.draw(str(rng.choice(WORDS))).convert("L").crop((100, 0, 220, 48)).resize((160, 64))
    return {"input1": (np.asarray(word, np.float32) / 255 - 0.5)[None, None] / 0.5}


def models():
    """The models in the order in which they are tried: small ones first."""
    return [
        Model("conv_net", lambda: generated("conv_net"), {}, classifier=True, cast=(5e-3, 2e-2)),
        Model("bert_tiny", lambda: generated("bert_tiny"), {}, make=ids([1, 32], 256), cast=(1e-2, 2e-2)),
        Model("gpt2_small", lambda: generated("gpt2_small"), {}, make=ids([1, 64], 1000), cast=(1e-2, 1.5e-2)),
        Model("bert_base", lambda: generated("bert_base"), {}, make=ids([1, 128], 2048), cast=(1e-2, 2.5e-2)),
        # Its weights are few: of 0.6 MB, the first convolution's input that is read once per tap is a tenth.
        Model("ppocr_cls", ROOT / ".deps/rapidocr/ch_ppocr_mobile_v2.0_cls_mobile.onnx", {"x": [1, 3, 48, 192]},
              classifier=True, traffic=(1.22, 1.5, 1.46), cast=(2e-2, 2e-2)),
        # Tokens that every partition compares, and the reshape that makes one row of four tokens by way of HBM.
        Model("magika", ROOT / ".deps/magika/model.onnx", {"bytes": [1, 2048]}, make=file_bytes, classifier=True,
              traffic=(1.36, 1.72, 1.38), cast=(1e-3, 3e-2)),
        # The first convolution's input is read once per tap that lies beside its three channels.
        Model("squeezenet", lambda: seeded("squeezenet"), {}, classifier=True, traffic=(1.22, 1.56, 1.56),
              cast=(1e-2, 1.5e-2)),
        # Local response normalisation divides by sums of squares: roundings before it grow.
        Model("inception_v1", lambda: seeded("inception_v1"), {}, classifier=True, cast=(3e-2, 4e-2)),
        Model("resnet50", lambda: seeded("resnet50"), {}, classifier=True, cast=(1.5e-2, 1e-2)),
        Model("vgg19", lambda: seeded("vgg19"), {}, classifier=True, cast=(2e-2, 2.5e-2)),
        # Logarithms of magnitudes near zero, scaled to fill a range: roundings before them grow. On trn1 its large tensors
        # find no place beside each other: it is compiled again with less room for whole tensors.
        Model("basic_pitch", ROOT / ".deps/basicpitch/nmp.onnx", {"serving_default_input_2:0": [1, 43844, 1]},
              traffic=np.inf, cast=(1.5e-1, 1.5e-1)),
        # Probabilities of edges and of alike characters are steep: the reference evaluator of stage tensor, which rounds
        # where the device does, is as far from fp32. The recogniser has to read the same.
        # The detector's first convolution reads its input once per tap that lies beside its three channels. The
        # recogniser's output and the bias of its 18,710 classes, which 40 partitions read, are as large as a third of its
        # weights.
        Model("ppocr_det", ROOT / ".deps/rapidocr/PP-OCRv6_det_small.onnx", {"x": [1, 3, 320, 320]}, make=page,
              traffic=(1.33, 1.39, 1.38), cast=(1.5e-1, 1.5e-1)),
        Model("ddddocr", ROOT / ".deps/ddddocr/common.onnx", {"input1": [1, 1, 64, 160]}, make=captcha, classifier=True,
              traffic=np.inf, cast=(3e-2, 3e-2)),
        # Quantised on the way by ranges that the run finds: what falls on the other side of a tie is a whole step. Inputs that
        # differ by 1e-7 move ONNX Runtime's own outputs by 3e-2.
        Model("ddddocr_old", ROOT / ".deps/ddddocr/common_old.onnx", {"input1": [1, 1, 64, 160]}, make=captcha, classifier=True,
              traffic=np.inf, allowed=4e-2, cast=(1e-1, 1e-1)),
        Model("ddddocr_det", ROOT / ".deps/ddddocr/common_det.onnx", {}, make=unscaled_page, traffic=np.inf,
              cast=(4e-2, 7e-2)),
        Model("rxnmap", ROOT / ".deps/rxnmap/rxnmap.onnx",
              {"atoms": [1, 64], "neighbors": [1, 64], "distances": [1, 64, 64], "roles": [1, 64]}, traffic=np.inf,
              cast=(3e-2, 7e-2)),
        Model("ppocr_rec", ROOT / ".deps/rapidocr/PP-OCRv6_rec_small.onnx", {"x": [1, 3, 48, 320]}, make=line,
              classifier=True, traffic=(1.31, 1.33, 1.33), cast=(1e-1, 1e-1)),
    ]


def shapes_of(text):
    """The shapes of `x=1x3x224x224 n=scalar`."""
    pairs = [pair.rsplit("=", 1) for pair in text.split()]
    return {name: [] if shape == "scalar" else [int(size) for size in shape.split("x")] for name, shape in pairs}


def table(file, folder):
    """The models of a table, as the usage says, and the names of those that have no file."""
    with file.open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    found, missing = [], []
    for row in rows:
        path = (folder or file.parent) / f"{row['id']}.onnx"
        if not path.exists():
            missing.append(row["id"])
            continue
        refused = None if row["ort"].startswith("runs") else re.findall("'([^']+)'", row["ort"])
        found.append(Model(row["id"], path, shapes_of(row["bench_inputs"]), traffic=np.inf, refused=refused,
                           from_table=True, allowed=max(TOLERANCE, float(row["opt_vs_noopt_rel"] or 0))))
    return found, missing


def run(command):
    start = time.perf_counter()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[:3]))} … ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout, time.perf_counter() - start


def compare(name, got, expected, classifier, tolerance):
    """Problems of one output, as texts, and its error as a share of the largest value."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return [f"output '{name}' is {got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}"], 1.0
    largest = float(np.abs(expected).max()) or 1.0
    error = float(np.abs(got.astype(np.float64) - expected).max()) / largest
    problems = []
    if not error <= tolerance:
        problems.append(f"output '{name}' differs by {error:.2e} of its largest value, allowed {tolerance:.1e}")
    if classifier and (differs := np.argwhere(got.argmax(-1) != expected.argmax(-1))).size:
        at = tuple(differs[0])
        problems.append(f"output '{name}' names class {got.argmax(-1)[at]} at {list(map(int, at))}, "
                        f"expected {expected.argmax(-1)[at]}")
    return problems, error


def refusal(model, target, trnc, folder):
    """What is wrong with how a model is refused that cannot be compiled."""
    shapes = [f"--shape={n}={'x'.join(map(str, s))}" for n, s in model.shapes.items()]
    done = subprocess.run([trnc, "compile", model.path, "-o", folder / "refused.trnx", f"--target={target}", *shapes],
                          capture_output=True, text=True)
    missing = [word for word in model.refused if word not in done.stderr]
    if done.returncode != 1 or missing or "error: " not in done.stderr:
        return [f"expected a refusal (exit code 1){f' that names {missing}' if missing else ''} but got "
                f"{done.returncode}: {done.stderr[-500:]}"]
    return []


def two_runs(model, session):
    """Two inputs for which ONNX Runtime has different outputs, and these: the first of 16 attempts."""
    runs = []
    for seed in range(16):
        feeds = model.inputs(session, seed)
        expected = session.run(None, feeds)
        if runs and not all(np.array_equal(a, b) for a, b in zip(runs[0][1], expected)):
            return [runs[0], (feeds, expected)]
        runs.append((feeds, expected))
    return runs[:2]


def excuse_of(model, feeds, names, chosen, got, expected):
    """Why the device may differ in the outputs at `chosen`: None, or what says that it computes what the model says."""
    plain = onnxruntime.SessionOptions()
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(model.path), plain, providers=["CPUExecutionProvider"])
    node_by_node = session.run(names, feeds)
    if not any(compare(names[i], got[i], node_by_node[i], model.classifier, TOLERANCE)[0] for i in chosen):
        return "differs from ONNX Runtime's fused kernels, not from the same model run node by node"
    wide = exact.evaluate(model.path, feeds, names)
    if wide and all(np.abs(got[i] - wide[i]).max() <= np.abs(expected[i] - wide[i]).max() for i in chosen):
        return "differs, and is nearer to the result in float64 than ONNX Runtime is"
    return None


def check(model, target, precision, trnc, folder):
    cast, cast_type = precision
    if model.refused is not None:
        return {"model": model.name, "target": target, "problems": refusal(model, target, trnc, folder)}
    onnxruntime.set_default_logger_severity(3)  # errors only
    session = onnxruntime.InferenceSession(str(model.path), providers=["CPUExecutionProvider"])
    executable = folder / f"{model.name}.{target}.trnx"
    shapes = [f"--shape={n}={'x'.join(map(str, s))}" for n, s in model.shapes.items() if s]
    _, compile_time = run([trnc, "compile", model.path, "-o", executable, f"--target={target}", f"--auto-cast={cast}",
                            f"--auto-cast-type={cast_type}", *shapes])
    problems, notes, worst, results, report = [], [], 0.0, [], {}
    outputs = {o.name: folder / f"out{i}.npy" for i, o in enumerate(session.get_outputs())}
    runs = two_runs(model, session)
    for feeds, expected in runs:
        arguments = []
        for name, value in feeds.items():
            file = folder / f"in{len(arguments)}.npy"
            np.save(file, value)
            arguments.append(f"--input={name}=@{file}")
        out, _ = run([trnc, "run", executable, "--json", *arguments, *(f"--save={n}=@{f}" for n, f in outputs.items())])
        report = json.loads(out)
        results.append([np.load(f) for f in outputs.values()])
        compared = [compare(name, got, want, model.classifier, model.tolerance[cast])
                    for name, got, want in zip(outputs, results[-1], expected)]
        worst = max(worst, *(error for _, error in compared))
        differing = [i for i, (found, _) in enumerate(compared) if found]
        excuse = differing and cast == "none" and excuse_of(model, feeds, list(outputs), differing, results[-1], expected)
        if excuse:
            notes.append(excuse)
        else:
            problems += [problem for found, _ in compared for problem in found]
    if all(np.array_equal(a, b) for a, b in zip(*results)):
        if model.from_table and all(np.array_equal(a, b) for a, b in zip(*(expected for _, expected in runs))):
            notes.append("no input was found that changes the outputs, nor ONNX Runtime's")
        else:
            problems.append("two different inputs gave the same outputs")
    moved = report["hbm_read_bytes"] + report["hbm_write_bytes"]
    # The device's inputs and outputs: 64-bit integers are 32-bit there.
    io = sum(v.size * min(v.itemsize, 4) for v in [*feeds.values(), *results[-1]])
    needed = report["weight_size_bytes"] + io
    if moved > model.traffic[cast] * needed:
        problems.append(f"{moved} bytes of HBM traffic, allowed {model.traffic[cast]} x {needed}")
    return {"model": model.name, "target": target, "auto_cast": cast, "auto_cast_type": cast_type, "error": worst, "hbm_ratio": moved / needed,
            "total_time": report["total_time"], "limit_percent": report["limit_percent"],
            "compile_seconds": compile_time, "host_time": report["host_time"], "notes": notes, "problems": problems}


def layers(model, cast_type, trnc, folder):
    """What each layer loses with --auto-cast all, and what is wrong with the report."""
    session = onnxruntime.InferenceSession(str(model.path), providers=["CPUExecutionProvider"])
    arguments = []
    for name, value in model.inputs(session, 0).items():
        file = folder / f"in{len(arguments)}.npy"
        np.save(file, value)
        arguments.append(f"--input={name}=@{file}")
    shapes = [f"--shape={n}={'x'.join(map(str, s))}" for n, s in model.shapes.items() if s]
    out, seconds = run([trnc, "verify", model.path, "--layers", "--json", "--auto-cast=all",
                        f"--auto-cast-type={cast_type}", *shapes, *arguments])
    rows = json.loads(out)["layers"]["layers"]
    problems = [f"layer '{row['node']}' is not finite" for row in rows if row["error"] is None]
    if not any(row["stored_as"] != "f32" and row["error"] for row in rows):
        problems.append("no layer loses anything in a narrower precision")
    return {"rows": rows, "seconds": seconds, "problems": problems}


def summary(report):
    """One line: how many layers, and which adds most."""
    rows = report["rows"]
    first = rows[0]  # the largest growth
    return (f"    {len(rows)} layers in {report['seconds']:.1f} s; '{first['node']}' ({first['op']}) adds most: "
            f"{first['added']:.1e} of {first['error']:.1e}")


def precisions(casts, types):
    """The pairs of --auto-cast and --auto-cast-type to try; the type says nothing where nothing is cast."""
    return [(c, t) for c in casts for t in (types if c != "none" else types[:1])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--targets", help="default: trn1,trn2; trn2 alone with --auto-cast matmult")
    parser.add_argument("--auto-cast", help="default: none,matmult,all; none alone with --table")
    parser.add_argument("--auto-cast-type", default="bf16")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, help="try the models of this table instead")
    parser.add_argument("--folder", type=pathlib.Path, help="where the table's models lie (default: beside it)")
    arguments = parser.parse_args()
    rows, failed, trnc = [], 0, arguments.build / "bin" / "trnc"
    everything, missing = table(arguments.table, arguments.folder) if arguments.table else (models(), [])
    if missing:
        print(f"without a file, passed over: {', '.join(missing)}")
    casts = (arguments.auto_cast or ("none" if arguments.table else "none,matmult,all")).split(",")
    types = arguments.auto_cast_type.split(",")
    unknown = set(arguments.only or ()) - {m.name for m in everything}
    unknown |= set((arguments.targets or "trn1").split(",")) - {t for m in everything for t in m.targets}
    unknown |= (set(casts) - {"none", "matmult", "all"}) | (set(types) - {"bf16", "fp16"})
    if unknown:
        sys.exit(f"error: no model, target or precision is named {', '.join(sorted(unknown))}")
    chosen = [m for m in everything if not arguments.only or m.name in arguments.only]
    print(f"{'model':<16}{'target':<8}{'precision':<14}{'error':>9}{'allowed':>9}{'HBM':>7}{'modelled':>12}{'limit':>8}"
          f"{'compile':>9}{'run':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for model in chosen:
            for precision in precisions(casts, types):
                cast, cast_type = precision
                label = "fp32" if cast == "none" else f"{cast} {cast_type}"
                targets = arguments.targets or ("trn1,trn2" if cast != "matmult" else "trn2")
                on = [t for t in model.targets if t in targets.split(",")]
                for target in on:
                    try:
                        row = check(model, target, precision, trnc, pathlib.Path(folder))
                        if cast == "all" and target == on[0] and "error" in row:  # what a layer loses is the same on all
                            row["layers"] = layers(model, cast_type, trnc, pathlib.Path(folder))
                            row["problems"] += row["layers"].pop("problems")
                    except RuntimeError as error:
                        row = {"model": model.name, "target": target, "auto_cast": cast, "problems": [str(error)]}
                    rows.append(row)
                    failed += bool(row["problems"])
                    if model.refused is not None and not row["problems"]:
                        print(f"{model.name:<16}{target:<8}refused, as it has to be", flush=True)
                    if "error" in row:
                        print(f"{model.name:<16}{target:<8}{label:<14}{row['error']:>9.1e}{model.tolerance[cast]:>9.1e}"
                              f"{row['hbm_ratio']:>6.2f}x{row['total_time'] * 1e6:>9.1f} µs{row['limit_percent']:>6.1f} %"
                              f"{row['compile_seconds']:>7.2f} s{row['host_time']:>6.2f} s", flush=True)
                    if "layers" in row:
                        print(summary(row["layers"]), flush=True)
                    for note in row.get("notes", []):
                        print(f"{model.name} on {target} ({label}): {note}", flush=True)
                    for problem in row["problems"]:
                        print(f"{model.name} on {target} ({label}): {problem}", file=sys.stderr, flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
