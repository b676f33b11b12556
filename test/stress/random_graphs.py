"""Random whole graphs, compiled, run on the emulated device with every check on and compared with ONNX Runtime.

usage: random_graphs.py --build BUILD [--seeds A..B] [--seconds S] [--only STEP...] [--keep FOLDER] [--show SEED]

Each seed gives one model of 3 to 25 nodes (graph_grower.py), a target, an optimisation level and a precision. What may
come of it: the numbers agree; the compiler refuses the model, for a reason that is counted; or a finding: wrong numbers, an
internal error, or no end. A finding is reduced to the nodes that show it and printed; --keep saves it. The run fails when
there is one.
"""
import argparse
import collections
import pathlib
import re
import sys
import tempfile
import time

import numpy as np
import onnx

import graph_grower
import harness
from graph_grower import Grower, Model, Value, reads, tolerated

# What --auto-cast all may be off by at each node: products and sums of bf16.
NARROW = 1.5e-2
# Copies with which a difference is looked at again before it counts.
CONFIRMING = 24


def settings(seed):
    """Target and flags of a seed."""
    rng = np.random.default_rng(seed + 77)
    target = rng.choice(["trn2", "trn1", "inf2", "trn3"], p=[0.7, 0.1, 0.1, 0.1])
    level = rng.choice(["-O2", "-O0", "-O1", "-O3"], p=[0.76, 0.08, 0.08, 0.08])
    cast = ["--auto-cast=all"] if rng.random() < 0.07 else []
    return str(target), [str(level), *cast]


class Outcome:
    """What came of a model: `kind` is match, refused, wrong or the way in which a tool failed."""

    def __init__(self, kind, text=""):
        self.kind, self.text = kind, text

    @property
    def finding(self):
        return self.kind not in ("match", "refused")

    def like(self, other):
        """Whether two outcomes are the same fault."""
        return self.kind == other.kind and (self.kind in ("wrong", "match") or reason(self.text) == reason(other.text))


def reason(text):
    """A message without what differs from graph to graph."""
    line = next((l for l in text.splitlines() if "error:" in l), text.splitlines()[0] if text else "")
    line = re.sub(r"node '[^']*' \((\w+)[^)]*\)", r"node (\1)", line)
    return re.sub(r"\d+(x\d+)*", "N", line.split("error:", 1)[-1]).strip()[:200]


class Runner:
    def __init__(self, trnc, folder, seconds):
        self.trnc, self.folder, self.seconds = trnc, pathlib.Path(folder), seconds

    def run(self, model, target, flags):
        """The outcome of one model. Differences that are more than tolerated are looked at again with more copies."""
        path, executable = self.folder / "model.onnx", self.folder / "model.trnx"
        onnx.save(model.proto(), path)
        try:
            harness.launch([self.trnc, "compile", path, "-o", executable, f"--target={target}", *flags], self.seconds)
            arguments = []
            for index, (name, array) in enumerate(model.feeds().items()):
                np.save(self.folder / f"in{index}.npy", array)
                arguments.append(f"--input={name}=@{self.folder}/in{index}.npy")
            saves = [f"--save={name}=@{self.folder}/out{i}.npy" for i, name in enumerate(model.outputs)]
            harness.launch([self.trnc, "run", executable, *arguments, *saves], self.seconds)
        except harness.Refused as error:
            kind = {1: "refused", -1: "timeout"}.get(error.code, f"exit {error.code}")
            return Outcome(kind, str(error))
        got = [np.load(self.folder / f"out{i}.npy") for i in range(len(model.outputs))]
        noise = NARROW if "--auto-cast=all" in flags else None
        copies = model.recomputed(3, noise, 1, True) if noise else [model.values[n].copies for n in model.outputs]
        if not self.problems(model, got, copies, noise):
            return Outcome("match")
        for scale in (1, 4):
            copies = model.recomputed(CONFIRMING, scale * (noise or graph_grower.NOISE[graph_grower.FLOAT]), 2, bool(noise))
            problems = self.problems(model, got, copies, noise)
            if not problems:
                return Outcome("match")
        return Outcome("wrong", "\n".join(problems))

    @staticmethod
    def problems(model, got, copies, noise):
        found = []
        for name, actual, values in zip(model.outputs, got, copies):
            expected = values[0]
            if actual.shape != expected.shape or actual.dtype != expected.dtype:
                found.append(f"output '{name}' is {actual.dtype}{list(actual.shape)}, expected {expected.dtype}{list(expected.shape)}")
                continue
            if not expected.size:
                continue
            allowed = tolerated(values, noise)
            with np.errstate(all="ignore"):
                off = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
                same = (actual == expected) | (np.isnan(actual.astype(np.float64)) & np.isnan(expected.astype(np.float64)))
                off = np.where(same, 0, np.where(np.isnan(off), np.inf, off))
                bad = ~(off <= allowed) & ~np.isinf(allowed)
            if bad.any():
                at = np.unravel_index(np.argmax(np.where(bad, off, -1)), off.shape)
                found.append(f"output '{name}' {expected.dtype}{list(expected.shape)}: {int(bad.sum())} of {bad.size} elements differ, at "
                             f"{list(map(int, at))} {actual[at]!r} instead of {expected[at]!r}, allowed {allowed[at]:.2g}")
        return found


def part(model, outputs, cuts):
    """What computes `outputs` of a model, with the values of `cuts` as inputs."""
    small = Model(model.opset)
    needed, kept = set(outputs) - set(cuts), []
    for node in reversed(model.nodes):
        if any(o in needed for o in node.output):
            kept.append(node)
            needed |= {i for i in reads(node)} - set(cuts)
    small.nodes = kept[::-1]
    made = {o for n in small.nodes for o in n.output if o}
    read = {i for n in small.nodes for i in reads(n)}
    for name, value in model.values.items():
        if name in made and name not in cuts:
            small.values[name] = value
        elif name in read:
            small.values[name] = Value([value.array] * len(value.copies), value.origin if value.origin != "node" else "input")
    small.outputs = [o for o in outputs if o in made]
    return small


def reduced(runner, model, target, flags, outcome, seconds=240):
    """A smaller model with the same fault: fewer outputs, then values of the run as inputs instead of the nodes before."""
    end = time.monotonic() + seconds
    def fails(candidate):
        return candidate.outputs and candidate.nodes and time.monotonic() < end and runner.run(candidate, target, flags).like(outcome)
    best, cuts = model, []
    if flags != ["-O2"] and "--auto-cast=all" not in flags and runner.run(model, target, ["-O2"]).like(outcome):
        flags = ["-O2"]
    # The first values in order whose computation alone shows it.
    for node in model.nodes:
        candidate = part(model, [o for o in node.output if o], [])
        if len(candidate.nodes) < len(model.nodes) and fails(candidate):
            best = candidate
            break
    else:
        for name in model.outputs:
            candidate = part(model, [name], [])
            if fails(candidate):
                best = candidate
                break
        else:
            for name in model.outputs:
                candidate = part(best, [o for o in best.outputs if o != name], [])
                if fails(candidate):
                    best = candidate
    for node in [n for n in reversed(best.nodes)]:
        candidate = part(best, best.outputs, [o for o in node.output if o])
        if len(candidate.nodes) < len(best.nodes) and fails(candidate):
            best = candidate
    return best, flags


def describe(model):
    """A model as text, a node a line."""
    def shown(name):
        value = model.values.get(name)
        if value is None:
            return "none"
        short = value.array.size <= 8 and value.origin == "weight"
        return f"{name}:{value.array.dtype}{list(value.array.shape)}" + (f"={value.array.tolist()}" if short else "")
    lines = []
    for node in model.nodes:
        attributes = ", ".join(f"{a.name}={onnx.helper.get_attribute_value(a)!r}" if not a.HasField("g") else
                               f"{a.name}={{{'; '.join(f'{n.op_type}({n.input}->{n.output})' for n in a.g.node)}}}" for a in node.attribute)
        lines.append(f"{', '.join(shown(o) for o in node.output)} = {node.op_type}({', '.join(shown(i) for i in node.input)})"
                     + (f" {{{attributes}}}" if attributes else ""))
    return "\n".join([f"opset {model.opset}", *lines, f"outputs {', '.join(model.outputs)}"])


def save(model, folder):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model.proto(), folder / "model.onnx")
    for name, array in model.feeds().items():
        np.save(folder / f"{name}.npy", array)
    for name in model.outputs:
        np.save(folder / f"expected_{name}.npy", model.values[name].array)
    (folder / "model.txt").write_text(describe(model) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--seeds", default="0..39", help="A..B, both included")
    parser.add_argument("--seconds", type=int, default=60, help="for each command")
    parser.add_argument("--only", nargs="*", help="steps of graph_grower.STEPS to draw from")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for findings")
    parser.add_argument("--refused", action="store_true", help="treat what is refused as a finding, too")
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--progress", type=int, default=0, help="print the counts every so many seeds")
    parser.add_argument("--show", action="store_true", help="print each graph")
    arguments = parser.parse_args()
    unknown = set(arguments.only or ()) - set(graph_grower.STEPS)
    if unknown:
        sys.exit(f"error: no step is named {', '.join(sorted(unknown))}; there are {', '.join(sorted(graph_grower.STEPS))}")
    first, last = (int(s) for s in arguments.seeds.split(".."))
    kinds, reasons, findings, operators = collections.Counter(), collections.Counter(), [], collections.Counter()
    example = {}
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(arguments.build / "bin" / "trnc", folder, arguments.seconds)
        for seed in range(first, last + 1):
            start = time.perf_counter()
            grower = Grower(seed, arguments.only)
            if not grower.grow():
                continue
            grown = time.perf_counter() - start
            target, flags = settings(seed)
            if arguments.show:
                print(describe(grower.model), flush=True)
            outcome = runner.run(grower.model, target, flags)
            kinds[outcome.kind] += 1
            operators.update(n.op_type for n in grower.model.nodes)
            if arguments.progress and seed % arguments.progress == 0:
                print(f"seed {seed}: " + ", ".join(f"{n} {k}" for k, n in kinds.most_common()), flush=True)
            if outcome.kind == "refused":
                if reason(outcome.text) not in reasons and arguments.progress:
                    print(f"REFUSED seed {seed} {outcome.text}", flush=True)
                reasons[reason(outcome.text)] += 1
                example.setdefault(reason(outcome.text), seed)
            if not outcome.finding and not (arguments.refused and outcome.kind == "refused"):
                if arguments.show:
                    print(f"seed {seed}: {outcome.kind} {outcome.text} grown in {grown:.1f} s, all {time.perf_counter() - start:.1f} s", flush=True)
                continue
            findings.append(seed)
            print(f"FINDING seed {seed} ({grower.kind}, {target} {' '.join(flags)}): {outcome.kind}\n    {outcome.text}", flush=True)
            small = grower.model
            if not arguments.no_reduce:
                small, flags = reduced(runner, small, target, flags, outcome)
                again = runner.run(small, target, flags)
                print(f"  reduced to {len(small.nodes)} nodes, {target} {' '.join(flags)}: {again.kind}\n    {again.text}")
                print("    " + describe(small).replace("\n", "\n    "), flush=True)
            if arguments.keep:
                save(small, arguments.keep / str(seed))
    print(f"seeds {first} to {last}: " + ", ".join(f"{n} {k}" for k, n in kinds.most_common()) +
          f"; {sum(operators.values())} nodes of {len(operators)} operators")
    for text, count in reasons.most_common():
        print(f"  refused {count:>4}  (seed {example[text]}) {text}")
    if findings:
        print("FINDINGS: seeds " + " ".join(map(str, findings)))
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
