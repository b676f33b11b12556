"""Runs models on every host path of the emulator and asserts that all give the same bits.

usage: host_paths.py --build BUILD [--only NAME...] [--all]

The arithmetic of the emulated device is a contract, and the host's instructions are an implementation of it: scalar code,
AVX2, AVX-512 and AMX (where the processor has them; its matrix unit in plain loops everywhere) must agree in every bit of
every output, in fp32 and in bf16. Without --all the models that the scalar path runs in seconds.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

import run as models

SMALL = ["conv_net", "bert_tiny", "gpt2_small", "ppocr_cls", "magika"]
PATHS = ["scalar", "avx2", "avx512", "amx", "amx_model"]


def outputs(trnc, executable, feeds, names, path, folder):
    """The bytes of all outputs on one path; None where the processor lacks it."""
    arguments = []
    for index, (name, value) in enumerate(feeds.items()):
        np.save(folder / f"in{index}.npy", value)
        arguments.append(f"--input={name}=@{folder}/in{index}.npy")
    arguments += [f"--save={name}=@{folder}/out{index}.npy" for index, name in enumerate(names)]
    done = subprocess.run([trnc, "run", str(executable), "--quiet", *arguments], capture_output=True, text=True,
                          env={**os.environ, "TRN_ISA": path}, check=False)
    if "this processor lacks it" in done.stderr:
        return None
    if done.returncode:
        raise RuntimeError(f"{path}: {done.stderr[-1000:]}")
    return [np.load(folder / f"out{index}.npy").tobytes() for index in range(len(names))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    trnc = str(arguments.build / "bin" / "trnc")
    wanted = arguments.only or ([m.name for m in models.models()] if arguments.all else SMALL)
    failed = False
    for model in [m for m in models.models() if m.name in wanted]:
        session = onnxruntime.InferenceSession(str(model.path), providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        feeds = model.inputs(session, 0)
        for cast in ("none", "all"):
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch)
                shapes = [f"--shape={n}={'x'.join(map(str, s))}" for n, s in model.shapes.items()]
                models.run([trnc, "compile", model.path, "-o", folder / "model.trnx", f"--auto-cast={cast}", *shapes])
                results = {path: outputs(trnc, folder / "model.trnx", feeds, names, path, folder) for path in PATHS}
            ran = [path for path, result in results.items() if result is not None]
            differ = [path for path in ran if results[path] != results["scalar"]]
            failed |= bool(differ) or len(ran) < 2
            print(f"{model.name:<16}{'fp32' if cast == 'none' else 'bf16':<6}"
                  f"{'DIFFER from scalar: ' + ', '.join(differ) if differ else 'same bits on ' + ', '.join(ran)}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
