"""Measures whole models: modelled time, and our tools' speed as ratios to ONNX Runtime in the same run.

usage: models.py --build BUILD [--only NAME...] [--target trn2] [--auto-cast none|all] [--repeat 5] [--out FILE.json]

Per model: modelled time, limit, share of the limit and what sets it (deterministic); compile time as a ratio to the time
that ONNX Runtime takes to create its session; emulated + timed execution as a ratio to ONNX Runtime's inference in fp32
on one thread; peak memory of the compiler. Best of `repeat` runs, interleaved.
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
sys.path.insert(0, str(ROOT / "test/models"))
import run as model_tests  # noqa: E402


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def seconds(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def compile_model(trnc, model, executable, arguments):
    """Compile seconds and peak memory as trnc reports them."""
    shapes = [f"--shape={n}={'x'.join(map(str, s))}" for n, s in model.shapes.items()]
    report = json.loads(subprocess.run([str(trnc), "compile", str(model.path), "-o", str(executable), "--json", *shapes,
                                        *arguments], capture_output=True, text=True, check=True).stdout)
    return report["compile_seconds"], report["peak_memory_bytes"]


def measure(model, arguments, folder):
    trnc = arguments.build / "bin/trnc"
    executable = folder / f"{model.name}.trnx"
    options = [f"--target={arguments.target}", f"--auto-cast={arguments.auto_cast}"]
    reference = session(model.path)
    feeds = model.inputs(reference, 0)
    inputs = []
    for i, (name, value) in enumerate(feeds.items()):
        np.save(folder / f"in{i}.npy", value)
        inputs.append(f"--input={name}=@{folder}/in{i}.npy")
    ours_compile, theirs_compile, theirs_run, peak = [], [], [], 0
    for _ in range(arguments.repeat):
        taken, memory = compile_model(trnc, model, executable, options)
        ours_compile.append(taken)
        peak = max(peak, memory)
        theirs_compile.append(seconds(lambda: session(model.path)))
        theirs_run.append(seconds(lambda: reference.run(None, feeds)))
    report = json.loads(subprocess.run([str(trnc), "run", str(executable), "--json", "--threads=1",
                                        f"--repeat={arguments.repeat}", *inputs],
                                       capture_output=True, text=True, check=True).stdout)
    engines = {e["engine"]: e["busy_time"] / report["total_time"] for e in report["engines"]}
    return {"model": model.name, "target": arguments.target, "auto_cast": arguments.auto_cast,
            "modelled_seconds": report["total_time"], "limit_seconds": report["limit_time"],
            "limit_percent": report["limit_percent"], "limit_by": report["limit_by"], "engine_share": engines,
            "hbm_bytes": report["hbm_read_bytes"] + report["hbm_write_bytes"], "weight_bytes": report["weight_size_bytes"],
            "compile_seconds": min(ours_compile), "compile_ratio": min(ours_compile) / min(theirs_compile),
            "run_seconds": report["host_time"], "run_ratio": report["host_time"] / min(theirs_run),
            "compiler_peak_bytes": peak}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--target", default="trn2")
    parser.add_argument("--auto-cast", default="none", choices=["none", "matmult", "all"])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = []
    print(f"{'model':<16}{'modelled':>12}{'limit':>8}  {'by':<5}{'compile':>9}{'ratio':>7}{'run':>9}{'ratio':>7}{'memory':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for model in model_tests.models():
            if arguments.only and model.name not in arguments.only:
                continue
            row = measure(model, arguments, pathlib.Path(folder))
            rows.append(row)
            print(f"{row['model']:<16}{row['modelled_seconds'] * 1e6:>9.1f} µs{row['limit_percent']:>6.1f} %  {row['limit_by']:<5}"
                  f"{row['compile_seconds']:>7.2f} s{row['compile_ratio']:>6.1f}x{row['run_seconds'] * 1e3:>6.1f} ms"
                  f"{row['run_ratio']:>6.1f}x{row['compiler_peak_bytes'] / 1e6:>6.0f} MB", flush=True)
    if arguments.out:
        host = {"cpu": pathlib.Path("/proc/cpuinfo").read_text().split("model name\t: ")[1].split("\n")[0]}
        arguments.out.write_text(json.dumps({"host": host, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
