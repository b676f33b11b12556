"""Compiles models at every optimisation level: results agree, and the modelled time does not grow with the level.

usage: levels.py --build BUILD [--only NAME...] [--targets trn2]

The models are those of run.py. Outputs are compared with ONNX Runtime's at the tolerance of fp32; the time is that of
`trnc profile`, on which no two levels may differ the wrong way by more than the schedule's own estimate does (0.5 %).
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import run as models

NAMES = ("conv_net", "bert_tiny", "gpt2_small", "magika", "squeezenet")
LEVELS = (0, 1, 2, 3)
# The scheduler does not see every stall that the event simulation does.
SLACK = 1.005


def check(model, target, trnc, folder):
    """The rows (time, HBM bytes) of all levels, and problems."""
    session = onnxruntime.InferenceSession(str(model.path), providers=["CPUExecutionProvider"])
    feeds = model.inputs(session, 0)
    arguments = []
    for i, (name, value) in enumerate(feeds.items()):
        np.save(folder / f"in{i}.npy", value)
        arguments.append(f"--input={name}=@{folder}/in{i}.npy")
    names = [output.name for output in session.get_outputs()]
    expected = session.run(names, feeds)
    shapes = [f"--shape={n}={'x'.join(map(str, s))}" for n, s in model.shapes.items()]
    rows, problems = [], []
    for level in LEVELS:
        executable = folder / f"{model.name}.trnx"
        _, seconds = models.run([trnc, "compile", model.path, "-o", executable, f"-O{level}", f"--target={target}", *shapes])
        saves = [f"--save={name}=@{folder}/out{i}.npy" for i, name in enumerate(names)]
        report = json.loads(models.run([trnc, "run", executable, "--json", *arguments, *saves])[0])
        for i, (name, want) in enumerate(zip(names, expected)):
            found, _ = models.compare(name, np.load(folder / f"out{i}.npy"), want, model.classifier, models.TOLERANCE)
            problems += [f"-O{level}: {text}" for text in found]
        rows.append((report["total_time"], report["hbm_read_bytes"] + report["hbm_write_bytes"], seconds))
    for level, (slower, faster) in enumerate(zip(rows, rows[1:])):
        if faster[0] > slower[0] * SLACK:
            problems.append(f"-O{level + 1} takes {faster[0] * 1e6:.1f} µs, -O{level} {slower[0] * 1e6:.1f} µs")
    return rows, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=NAMES)
    parser.add_argument("--targets", default="trn2")
    arguments = parser.parse_args()
    failed = False
    for model in (m for m in models.models() if m.name in arguments.only):
        for target in arguments.targets.split(","):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    rows, problems = check(model, target, arguments.build / "bin/trnc", pathlib.Path(folder))
                except RuntimeError as error:
                    rows, problems = [], [str(error)]
            print(f"{model.name:<14}{target:<6}" + "  ".join(
                f"-O{level} {time * 1e6:.1f} µs {moved / 1e6:.1f} MB ({seconds:.2f} s)"
                for level, (time, moved, seconds) in zip(LEVELS, rows)), flush=True)
            for problem in problems:
                print(f"{model.name} on {target}: {problem}", file=sys.stderr, flush=True)
            failed |= bool(problems)
    sys.exit(failed)


if __name__ == "__main__":
    main()
