"""Runs the ONNX backend suite on the emulated device and compares with the results that are committed.

usage: run.py --build BUILD [--only PATTERN...] [--shard I/N] [--update] [--json FILE] [-v]

Every test of the suite, every case of own.py, and the suite's networks with seeded weights is compiled for trn2 and run
with every check on, twice: as is, and with its shape operands bound (--const-input from the test's own data) when it has
such inputs. A test ends in one of these ways:

  pass      all outputs agree: values within the standard's tolerance, shapes and element types exactly
  refused   exit code 1 with a reason
  wrong     it ran, and an output differs
  rejected  another exit code than 0 and 1
  crash     ended by a signal, or without a message
  timeout   longer than --timeout seconds

test/onnx/results.tsv holds the expected end of every test. This program fails when a test ends worse than it says
(anything but `pass` where `pass` is written; `wrong`, `rejected`, `crash` or `timeout` where `refused` is). Better ends
are named, and --update writes them, with docs/generated/onnx-support.md.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import suite

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "test/onnx/results.tsv"
ENDS = ("pass", "refused", "wrong", "rejected", "crash", "timeout")


def constant_operands(trnc):
    """(domain, operator) -> positions of operands that must be constant, from the compiler's records."""
    done = subprocess.run([trnc, "ops", "--json"], capture_output=True, text=True, check=True)
    return {(row["domain"], row["name"]): row["constant_operands"] for row in json.loads(done.stdout)
            if "constant_operands" in row}


def reason_of(stderr):
    """The first error of a call in one line, without the paths of this machine."""
    lines = [line for line in stderr.splitlines() if line.startswith("error: ")] or stderr.splitlines() or [""]
    text = re.sub(r"(?:/[^/\s':]+)+/([^/\s':]+)", r"\1", lines[0].removeprefix("error: "))
    return re.sub(r"\s+", " ", text.removeprefix("model.onnx: "))[:240]


def shape_options(case, files):
    """--shape for inputs whose type leaves open a size, the length of a sequence, or whether an optional has an element;
    the standard's runner knows them from the data as well."""
    options = []

    def bind(name, sizes):
        options.append(f"--shape={name}={'x'.join(map(str, sizes)) or 'scalar'}")

    for value, file in zip(case.inputs, files):
        kind = suite.element_type(value.type)
        shape = kind.tensor_type.shape if kind.HasField("tensor_type") else None
        is_open = shape is not None and not all(dim.HasField("dim_value") for dim in shape.dim)
        if shape is not None and kind is value.type and not is_open:
            continue
        data = suite.read_value(file, value.type)
        if data is None:
            options.append(f"--shape={value.name}=none")
        elif isinstance(data, list):
            for i, element in enumerate(data):
                bind(f"{value.name}.{i}", element.shape)
            if not data:
                bind(value.name, (0,))
        elif is_open:
            bind(value.name, data.shape)
    return options


def run_once(case, files, expected, bound, trnc, folder, timeout):
    """One compilation and one run: how it ended, why."""
    arguments = shape_options(case, files)
    for value, file in zip(case.inputs, files):
        option = "--const-input" if value.name in bound else "--input"
        if file.exists():
            arguments.append(f"{option}={value.name}=@{file}")
    saved = [folder / f"output_{i}.pb" for i in range(len(case.outputs))]
    for file in saved:
        file.unlink(missing_ok=True)
    arguments += [f"--save={value.name}=@{file}" for value, file in zip(case.outputs, saved)]
    try:
        done = subprocess.run([trnc, "run", case.path, "--target=trn2", "--quiet", *arguments], capture_output=True,
                              text=True, errors="replace", timeout=timeout)
    except subprocess.TimeoutExpired:
        return "timeout", f"longer than {timeout} s"
    if done.returncode == 1 and done.stderr.startswith("error: "):
        return "refused", reason_of(done.stderr)
    if done.returncode < 0 or (done.returncode and not done.stderr):
        return "crash", f"ended with {done.returncode}: {reason_of(done.stderr)}"
    if done.returncode:
        return "rejected", f"exit code {done.returncode}: {reason_of(done.stderr)}"
    draws = case.draws(files)
    for value, got, want in zip(case.outputs, saved, expected):
        if not want.exists():
            return "wrong", f"the test has no value of output '{value.name}'"
        got, want = suite.read_value(got, suite.element_type(value.type)), suite.read_value(want, value.type)
        text = suite.type_difference(got, want) if draws else suite.difference(got, want, case.rtol, case.atol)
        if text:
            return "wrong", f"output '{value.name}': {text}"
    return "pass", ""


def run_all_sets(case, bound, trnc, folder, timeout):
    sets = case.data_sets(folder)
    for files, expected in sets:
        end, reason = run_once(case, files, expected, bound, trnc, folder, timeout)
        if end != "pass":
            return end, reason
    return ("pass", "") if sets else ("rejected", "the test has no data")


def run_case(case, operands, trnc, timeout):
    """The row of a test: its ends as is and bound, the reason of the better one."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        as_is = run_all_sets(case, (), trnc, folder, timeout)
        bound = case.shape_operands(operands)
        bound = run_all_sets(case, bound, trnc, folder, timeout) if bound and as_is[0] != "pass" else as_is
    return case.name, as_is[0], bound[0], bound[1]


def read_results():
    """name -> (as is, bound, reason), as committed."""
    if not RESULTS.exists():
        return {}
    rows = (line.split("\t") for line in RESULTS.read_text().splitlines() if line and not line.startswith("#"))
    return {name: (as_is, bound, reason) for name, as_is, bound, reason in rows}


def write_results(results):
    lines = ["# Written by test/onnx/run.py --update: test, as is, with shape operands bound, reason of the second"]
    lines += ["\t".join((name, *row)) for name, row in sorted(results.items())]
    RESULTS.write_text("\n".join(lines) + "\n")


def worse(got, expected):
    """Whether an end breaks what was promised: a pass is better than a reason, and a reason than any other end."""
    rank = {"pass": 0, "refused": 1}
    return rank.get(got, 2) > rank.get(expected, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", help="file-name patterns of tests")
    parser.add_argument("--shard", default="1/1", help="I/N: every N-th test, from the I-th on")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("-v", action="store_true", help="print every test that does not pass")
    arguments = parser.parse_args()
    shard, shards = (int(part) for part in arguments.shard.split("/"))
    chosen = [case for case in suite.cases()[shard - 1::shards]
              if not arguments.only or any(fnmatch.fnmatch(case.name, f"*{p}*") for p in arguments.only)]
    if not chosen:
        sys.exit("error: no test is named like that")
    trnc = (arguments.build / "bin/trnc").resolve()
    operands, expected, results = constant_operands(trnc), read_results(), {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for name, *row in pool.map(lambda case: run_case(case, operands, trnc, arguments.timeout), chosen):
            results[name] = tuple(row)
            if arguments.v and row[1] != "pass":
                print(f"{row[1]:<9}{name}: {row[2]}", flush=True)
    regressions, better = [], []
    for name, row in results.items():
        if name not in expected:
            better.append(f"{name}: {row[0]}, {row[1]} (new)")
            continue
        for mode, got, want in zip(("as is", "bound"), row, expected[name]):
            if worse(got, want):
                regressions.append(f"{name} ({mode}): expected {want} but got {got}: {row[2]}")
            elif got != want:
                better.append(f"{name} ({mode}): {got}, was {want}")
    for i, mode in enumerate(("as is", "shape operands bound")):
        ends = [row[i] for name, row in results.items() if name.split("/")[0] in suite.GROUPS]
        count = collections.Counter(ends)
        print(f"{mode:<22}" + ", ".join(f"{count[end]} {end}" for end in ENDS if count[end]) + f" of {len(ends)}")
    for group, text in ((suite.OWN, "our own cases"), (suite.SEEDED, "with seeded weights")):
        ends = [row[1] for name, row in results.items() if name.split("/")[0] == group]
        print(f"{text:<22}{ends.count('pass')} pass of {len(ends)}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))
    if arguments.update:
        write_results({**expected, **results})
        subprocess.run([sys.executable, ROOT / "scripts/generate_docs.py", "--trnc", trnc], check=True)
        return
    if better:
        print(f"{len(better)} ends are better than test/onnx/results.tsv says (--update writes them): {better[0]} …")
    for text in regressions:
        print(f"worse: {text}", file=sys.stderr)
    sys.exit(1 if regressions else 0)


if __name__ == "__main__":
    main()
