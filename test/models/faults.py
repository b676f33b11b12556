"""Plants faults in compiled models and asserts that the checker notices them.

usage: faults.py --build BUILD [--only NAME...] [--every N]

In each program every semaphore wait is dropped in turn, every buffer is moved onto a live one, every load is removed.
Asserted: faults of every kind are planted; at least 99 in 100 are noticed, by an error that names the instruction, or
proved harmless by a comparison of all pairs of accesses; and whatever is noticed names the ONNX node on one side.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import run as models

PROGRAMS = ["conv_net", "bert_tiny", "magika"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=PROGRAMS)
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    tools, failed = arguments.build / "bin", False
    for model in [m for m in models.models() if m.name in arguments.only]:
        with tempfile.TemporaryDirectory() as folder:
            executable = pathlib.Path(folder) / "model.trnx"
            shapes = [f"--shape={n}={'x'.join(map(str, s))}" for n, s in model.shapes.items()]
            models.run([tools / "trnc", "compile", model.path, "-o", executable, *shapes])
            done = subprocess.run([str(tools / "trn-plant-faults"), str(executable), "--json", "--every",
                                   str(arguments.every)], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{model.name}: {done.stderr}")
        report = json.loads(done.stdout)
        total = report["all"]
        caught = [f for f in report["faults"] if f["outcome"].startswith("caught")]
        problems = [f"no fault of the kind '{kind}'" for kind, sums in report.items()
                    if kind != "faults" and sums["planted"] == 0]
        if total["missed"] > total["planted"] / 100:
            problems += [f"missed: {f['fault']}" for f in report["faults"] if f["outcome"] == "missed"]
        problems += [f"not named: {f['fault']}: {f['finding']}" for f in caught if "#" not in f["finding"]]
        if sum("(node '" in f["finding"] for f in caught) < 0.99 * len(caught):
            problems.append("findings do not name their ONNX nodes")
        print(f"{model.name:<14}{total['planted']:>6} planted, {total['caught']} caught, {total['caught_by_flow']} by data flow, "
              f"{total['harmless']} harmless, {total['missed']} missed", flush=True)
        for problem in problems:
            print(f"{model.name}: {problem}", file=sys.stderr)
        failed |= bool(problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
