"""Compiles and runs whole models on the emulated device and compares them with ONNX Runtime.

usage: run.py --build BUILD [--only NAME...] [--targets trn1,trn2] [--json FILE]

For each model and target: `trnc compile`, then `trnc run` on two different inputs, with every check on. Asserted: the
largest difference is at most 1e-4 of the largest value of each output (fp32 default; the models' own noise between
ONNX Runtime's optimised and unoptimised runs is up to 2e-5), classifiers name the same class, the two inputs give
different outputs, and, where the activations fit in SBUF, HBM traffic is at most 1.2 x (weights + inputs + outputs).
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import make_models  # noqa: E402
import seed_light_models  # noqa: E402

TOLERANCE = 1e-4


class Model:
    """One model: where it comes from, its fixed shapes, how inputs are made, what is asserted beside the tolerance."""

    def __init__(self, name, path, shapes, make=None, classifier=False, resident=True, targets=("trn1", "trn2")):
        self.name, self._path, self.shapes, self.make = name, path, shapes, make
        self.classifier, self.targets = classifier, targets
        self.resident = resident  # every activation stays in SBUF: the HBM traffic is asserted

    @property
    def path(self):
        """The model file; a generated one is written on first use."""
        return self._path() if callable(self._path) else self._path

    def inputs(self, session, seed):
        rng = np.random.default_rng(seed)
        if self.make:
            return self.make(rng)
        return {i.name: rng.standard_normal(self.shapes.get(i.name, i.shape)).astype(np.float32)
                for i in session.get_inputs()}


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
    folder = ROOT / "build" / "models"
    path = folder / f"{name}.onnx"
    if not path.exists():
        seed_light_models.main(str(folder), name)
    return path


def file_bytes(rng):
    """Magika's features of a real file of this repository, chosen by the generator: its first and its last 1,024 bytes
    without surrounding white space, padded with 256."""
    files = ["README.md", "compiler/Pipeline/Compiler.cpp", "test/models/run.py", "CMakePresets.json", "scripts/setup.sh"]
    content = (ROOT / files[rng.integers(len(files))]).read_bytes()
    begin, end = content.lstrip()[:1024], content.rstrip()[-1024:]
    tokens = list(begin) + [256] * (1024 - len(begin)) + [256] * (1024 - len(end)) + list(end)
    return {"bytes": np.array([tokens], np.int32)}


def models():
    """The models in the order in which they are tried: small ones first."""
    return [
        Model("conv_net", lambda: generated("conv_net"), {}, classifier=True),
        Model("bert_tiny", lambda: generated("bert_tiny"), {}, make=ids([1, 32], 256)),
        Model("gpt2_small", lambda: generated("gpt2_small"), {}, make=ids([1, 64], 1000)),
        Model("bert_base", lambda: generated("bert_base"), {}, make=ids([1, 128], 2048)),
        Model("ppocr_cls", ROOT / ".deps/rapidocr/ch_ppocr_mobile_v2.0_cls_mobile.onnx", {"x": [1, 3, 48, 192]},
              classifier=True, resident=False),
        Model("magika", ROOT / ".deps/magika/model.onnx", {"bytes": [1, 2048]}, make=file_bytes, classifier=True,
              resident=False),
        Model("squeezenet", lambda: seeded("squeezenet"), {}, classifier=True, resident=False),
        Model("inception_v1", lambda: seeded("inception_v1"), {}, classifier=True, resident=False),
        Model("resnet50", lambda: seeded("resnet50"), {}, classifier=True),
        Model("ppocr_det", ROOT / ".deps/rapidocr/PP-OCRv6_det_small.onnx", {"x": [1, 3, 320, 320]}, resident=False),
        Model("ppocr_rec", ROOT / ".deps/rapidocr/PP-OCRv6_rec_small.onnx", {"x": [1, 3, 48, 320]}, resident=False),
    ]


def run(command):
    start = time.perf_counter()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[:3]))} … ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout, time.perf_counter() - start


def compare(name, got, expected, classifier):
    """Problems of one output, as texts, and its error as a share of the largest value."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return [f"output '{name}' is {got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}"], 1.0
    largest = float(np.abs(expected).max()) or 1.0
    error = float(np.abs(got.astype(np.float64) - expected).max()) / largest
    problems = []
    if not error <= TOLERANCE:
        problems.append(f"output '{name}' differs by {error:.2e} of its largest value, allowed {TOLERANCE:.0e}")
    if classifier and got.argmax() != expected.argmax():
        problems.append(f"output '{name}' names class {got.argmax()}, expected {expected.argmax()}")
    return problems, error


def check(model, target, trnc, folder):
    session = onnxruntime.InferenceSession(str(model.path), providers=["CPUExecutionProvider"])
    executable = folder / f"{model.name}.{target}.trnx"
    shapes = [f"--shape={n}={'x'.join(map(str, s))}" for n, s in model.shapes.items()]
    _, compile_time = run([trnc, "compile", model.path, "-o", executable, f"--target={target}", *shapes])
    problems, worst, results, report = [], 0.0, [], {}
    for seed in (0, 1):
        feeds = model.inputs(session, seed)
        arguments = []
        for name, value in feeds.items():
            file = folder / f"in{len(arguments)}.npy"
            np.save(file, value)
            arguments.append(f"--input={name}=@{file}")
        outputs = {o.name: folder / f"out{i}.npy" for i, o in enumerate(session.get_outputs())}
        out, _ = run([trnc, "run", executable, "--json", *arguments, *(f"--save={n}=@{f}" for n, f in outputs.items())])
        report = json.loads(out)
        expected = session.run(list(outputs), feeds)
        results.append([np.load(f) for f in outputs.values()])
        for (name, _), got, want in zip(outputs.items(), results[-1], expected):
            found, error = compare(name, got, want, model.classifier)
            problems += found
            worst = max(worst, error)
    if all(np.array_equal(a, b) for a, b in zip(*results)):
        problems.append("two different inputs gave the same outputs")
    moved = report["hbm_read_bytes"] + report["hbm_write_bytes"]
    # The device's inputs and outputs: 64-bit integers are 32-bit there.
    io = sum(v.size * min(v.itemsize, 4) for v in [*feeds.values(), *results[-1]])
    needed = report["weight_size_bytes"] + io
    if model.resident and moved > 1.2 * needed:
        problems.append(f"{moved} bytes of HBM traffic, allowed 1.2 x {needed}")
    return {"model": model.name, "target": target, "error": worst, "hbm_ratio": moved / needed,
            "total_time": report["total_time"], "limit_percent": report["limit_percent"],
            "compile_seconds": compile_time, "host_time": report["host_time"], "problems": problems}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--targets", default="trn1,trn2")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    rows, failed = [], 0
    everything = models()
    unknown = set(arguments.only or ()) - {m.name for m in everything}
    unknown |= set(arguments.targets.split(",")) - {t for m in everything for t in m.targets}
    if unknown:
        sys.exit(f"error: no model or target is named {', '.join(sorted(unknown))}")
    chosen = [m for m in everything if not arguments.only or m.name in arguments.only]
    print(f"{'model':<24}{'target':<8}{'error':>9}{'HBM':>7}{'modelled':>12}{'limit':>8}{'compile':>9}{'run':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for model in chosen:
            for target in [t for t in model.targets if t in arguments.targets.split(",")]:
                try:
                    row = check(model, target, arguments.build / "bin" / "trnc", pathlib.Path(folder))
                except RuntimeError as error:
                    row = {"model": model.name, "target": target, "problems": [str(error)]}
                rows.append(row)
                failed += bool(row["problems"])
                if "error" in row:
                    print(f"{model.name:<24}{target:<8}{row['error']:>9.1e}{row['hbm_ratio']:>6.2f}x"
                          f"{row['total_time'] * 1e6:>9.1f} µs{row['limit_percent']:>6.1f} %"
                          f"{row['compile_seconds']:>7.2f} s{row['host_time']:>6.2f} s", flush=True)
                for problem in row["problems"]:
                    print(f"{model.name} on {target}: {problem}", file=sys.stderr, flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
