"""Evaluates models at every stage and compares with ONNX Runtime; no evaluation may take longer than 15 seconds.

usage: stages.py --build BUILD [--only NAME...]

The models are those of run.py that `trnc bisect` takes as they are: a value of every node comes from
scripts/node_values.py, then each stage from `graph` to `encoded` must give the outputs of ONNX Runtime within 1e-4 of their
largest value.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import run as models

SECONDS = 15
NAMES = ("bert_tiny", "squeezenet", "resnet50")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=NAMES)
    arguments = parser.parse_args()
    failed = False
    for model in (m for m in models.models() if m.name in arguments.only):
        with tempfile.TemporaryDirectory() as folder:
            references = pathlib.Path(folder) / "refs.npz"
            shapes = [f"--shape={n}={'x'.join(map(str, s))}" for n, s in model.shapes.items()]
            subprocess.run([sys.executable, str(models.ROOT / "scripts/node_values.py"), str(model.path), str(references),
                            *shapes], check=True)
            done = subprocess.run([str(arguments.build / "bin/trnc"), "bisect", str(model.path), "--reference",
                                   str(references), "--json", *shapes], capture_output=True, text=True)
        if not done.stdout:
            print(f"{model.name}: {done.stderr}", file=sys.stderr)
            failed = True
            continue
        rows = json.loads(done.stdout)["stages"]
        print(f"{model.name:<14}" + "  ".join(f"{r['stage']} {r['seconds']:.2f} s" for r in rows), flush=True)
        for row in rows:
            if not row["ok"]:
                print(f"{model.name}: {row}", file=sys.stderr)
                failed = True
            if row["seconds"] > SECONDS:
                print(f"{model.name}: evaluating '{row['stage']}' took {row['seconds']:.1f} s, allowed {SECONDS}",
                      file=sys.stderr)
                failed = True
        failed |= rows[-1]["stage"] != "encoded"
    sys.exit(failed)


if __name__ == "__main__":
    main()
