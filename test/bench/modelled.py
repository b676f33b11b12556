"""Modelled time on trn2 in bf16 as a share of the physical limit, and what holds it back.

usage: modelled.py --build BUILD [--only NAME...] [--products] [--target trn2] [--assert] [--out FILE.json]

Per program: modelled time, limit and the share of it; the floor that `--assert` holds it to, and the goal. Between floor
and goal, the time that the critical path spends in each engine and in each part of a transfer, the nodes it passes
through longest, and what would free it. --products: products of two inputs in many shapes instead of models. Nothing is executed:
the times are deterministic.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

from onnx import TensorProto

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/models"), str(ROOT / "scripts")]
import make_models  # noqa: E402
import run as model_tests  # noqa: E402

# What would free a program that waits for each part of the critical path.
REMEDIES = {
    ("PE", "execute"): "fewer or fuller products: more of the array's rows in use, longer moving operands",
    ("PE", "weight-load"): "more columns per stationary operand",
    ("ACT", "execute"): "share the emptying of PSUM with DVE; fewer passes over the elements",
    ("DVE", "execute"): "share work with ACT and POOL; 16-bit operands; fewer passes over the elements",
    ("POOL", "execute"): "move work to DVE or ACT",
    ("*", "dma-issue"): "fewer and larger transfers; more issuing queues",
    ("*", "dma-start"): "issue transfers earlier; avoid round trips through HBM",
    ("*", "dma-transfer"): "fewer bytes, longer runs, more partitions per transfer; start weights earlier",
    ("*", "dma-finish"): "avoid round trips through HBM",
    ("*", "hand-off"): "fewer crossings between engines",
}


class Program:
    """A model, its precision, and the least and the wanted percent of its limit."""

    def __init__(self, name, path, auto_cast, floor, goal):
        self.name, self._path, self.auto_cast, self.floor, self.goal = name, path, auto_cast, floor, goal

    @property
    def path(self):
        return self._path()


PROGRAMS = [
    Program("resnet50", lambda: model_tests.seeded("resnet50"), "all", 52, 60),
    Program("bert_base", lambda: model_tests.generated("bert_base"), "matmult", 30, 60),
    Program("matmul_2048_bf16", lambda: model_tests.generated("matmul_2048_bf16"), "none", 80, 80),
    Program("matmul_8192_bf16", lambda: model_tests.generated("matmul_8192_bf16"), "none", 94, 85),
    Program("matmul_8192_inputs_bf16", lambda: model_tests.generated("matmul_8192_inputs_bf16"), "none", 94, 85),
]


class Product(Program):
    """A product of two inputs, [m, k] x [k, n], written when it is measured."""

    def __init__(self, m, k, n, element, floor, turned="", batch=0):
        flags = (f"_turned_{turned}" if turned else "") + (f"_batch{batch}" if batch else "")
        super().__init__(f"{m}x{k}x{n}_{element}{flags}", self._write, "none", floor, PRODUCT_GOAL)
        self._arguments = (m, k, n, {"bf16": TensorProto.BFLOAT16, "fp32": TensorProto.FLOAT}[element], turned, batch)

    def _write(self):
        folder = ROOT / "build" / "models" / "products"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.onnx"
        make_models.product(str(path), *self._arguments)
        return path


PRODUCT_GOAL = 80
PRODUCTS = [
    Product(512, 512, 512, "bf16", 33),
    Product(1024, 1024, 1024, "bf16", 60),
    Product(2048, 2048, 2048, "bf16", 84),
    Product(4096, 4096, 4096, "bf16", 90),
    Product(2048, 4096, 4096, "bf16", 84),
    Product(8192, 512, 8192, "bf16", 90),
    Product(512, 4096, 8192, "bf16", 88),
    Product(512, 8192, 512, "bf16", 44),
    Product(8192, 4096, 512, "bf16", 39),
    Product(128, 4096, 4096, "bf16", 60),
    Product(2048, 2048, 2048, "bf16", 84, turned="a"),
    Product(2048, 2048, 2048, "bf16", 76, turned="b"),
    Product(4096, 4096, 4096, "bf16", 94, turned="a"),
    Product(4096, 4096, 4096, "bf16", 70, turned="b"),
    Product(1024, 1024, 1024, "fp32", 80),
    Product(2048, 2048, 2048, "fp32", 84),
    Product(4096, 4096, 4096, "fp32", 94),
    Product(1000, 3000, 4100, "bf16", 80),
    Product(1000, 3000, 4100, "fp32", 47),
    Product(512, 512, 512, "bf16", 50, batch=16),
    Product(1024, 1024, 1024, "bf16", 34, batch=8),
]


def measure(program, trnc, target, folder):
    executable = folder / f"{program.name}.trnx"
    subprocess.run([str(trnc), "compile", str(program.path), "-o", str(executable), f"--target={target}", "--quiet",
                    f"--auto-cast={program.auto_cast}"], check=True)
    return json.loads(subprocess.run([str(trnc), "profile", str(executable), "--json"], capture_output=True, text=True,
                                     check=True).stdout)


def bottlenecks(report):
    """Parts of the critical path, the longest first: (share of the time, engine, kind, what would free it)."""
    total = report["total_time"]
    parts = sorted(report["critical_path"], key=lambda part: -part["time"])
    return [(part["time"] / total, part["engine"], part["kind"],
             REMEDIES.get((part["engine"], part["kind"]), REMEDIES.get(("*", part["kind"]), "")))
            for part in parts if part["time"] > 0.05 * total]


def slowest_nodes(report, count=4):
    nodes = collections.Counter()
    for node in report["nodes"]:
        nodes[f"{node['node']} ({node['op_type'] or 'input'})"] += node["critical_time"]
    return nodes.most_common(count)


def describe(program, report):
    for share, engine, kind, remedy in bottlenecks(report):
        print(f"    {share:5.0%}  {engine} {kind}: {remedy}")
    longest = ", ".join(f"{node} {time * 1e6:.1f} µs" for node, time in slowest_nodes(report))
    print(f"    longest on the critical path: {longest}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", choices=[program.name for program in PROGRAMS + PRODUCTS])
    parser.add_argument("--products", action="store_true", help="products in many shapes")
    parser.add_argument("--target", default="trn2")
    parser.add_argument("--assert", dest="check", action="store_true", help="fail below a floor")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    rows, below = [], []
    print(f"{'program':<30}{'modelled':>12}{'limit':>8}  {'by':<5}{'floor':>6}{'goal':>6}{'PE':>6}{'ACT':>6}{'DVE':>6}{'DMA':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS + PRODUCTS if arguments.only else PRODUCTS if arguments.products else PROGRAMS:
            if arguments.only and program.name not in arguments.only:
                continue
            report = measure(program, arguments.build / "bin/trnc", arguments.target, pathlib.Path(folder))
            percent, total = report["limit_percent"], report["total_time"]
            busy = {engine["engine"]: engine["busy_time"] / total for engine in report["engines"]}
            print(f"{program.name:<30}{total * 1e6:>9.1f} µs{percent:>6.1f} %  {report['limit_by']:<5}{program.floor:>5}%"
                  f"{program.goal:>5}%{busy['PE']:>6.0%}{busy['ACT']:>6.0%}{busy['DVE']:>6.0%}"
                  f"{report['dma_active_time_percent'] / 100:>6.0%}", flush=True)
            if percent < program.goal and not arguments.products:
                describe(program, report)
            if percent < program.floor:
                below.append(program.name)
            rows.append({"program": program.name, "target": arguments.target, "auto_cast": program.auto_cast,
                         "modelled_seconds": total, "limit_percent": percent, "limit_by": report["limit_by"],
                         "floor": program.floor, "goal": program.goal, "engine_share": busy,
                         "critical_path": report["critical_path"]})
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n")
    if arguments.check and below:
        sys.exit(f"error: below the floor: {', '.join(below)}")


if __name__ == "__main__":
    main()
