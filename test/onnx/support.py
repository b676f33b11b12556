"""Makes docs/generated/onnx-support.md from the compiler's records, the suite and test/onnx/results.tsv."""
import collections
import json
import re
import subprocess

import run
import suite


def operand_types(case):
    """The element types at the inputs and outputs of a test's model."""
    found = set()
    for value in [*case.inputs, *case.outputs]:
        if value.type.HasField("tensor_type"):
            found.add(suite.onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type).lower())
    return found


def counts(results):
    """Of each group of tests, and of the standard's together (`all`): how many there are, pass as is, and pass bound."""
    groups = collections.defaultdict(lambda: [0, 0, 0])
    for name, (as_is, bound, _) in results.items():
        group = name.split("/")[0]
        for key in (group, "all") if group in suite.GROUPS else (group,):
            groups[key][0] += 1
            groups[key][1] += as_is == "pass"
            groups[key][2] += bound == "pass"
    return groups


def totals():
    return counts(run.read_results())["all"]


def count_table(results):
    groups = counts(results)
    lines = ["| tests | number | pass as is | pass with shape operands bound |", "|---|---:|---:|---:|"]
    return lines + [f"| {group} | {n} | {a} | {b} |" for group in (*suite.GROUPS, "all", suite.SEEDED, suite.OWN) for n, a, b in [groups[group]]]


def generic(reason):
    """A reason without the node, the names and the numbers of one test."""
    reason = re.sub(r"^node '[^']*' \([^)]*\): ", "", reason)
    reason = re.sub(r"'[^']*'", "'…'", reason.split("; ")[0])
    return re.sub(r"\d+", "N", reason)


def reason_table(results):
    counts = collections.Counter((end, generic(reason)) for _, end, reason in results.values() if end != "pass")
    lines = ["| tests | end | reason |", "|---:|---|---|"]
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return lines + [f"| {n} | {end} | {reason.replace('|', '/')} |" for (end, reason), n in rows]


def operator_table(results, trnc):
    records = json.loads(subprocess.run([str(trnc), "ops", "--json"], capture_output=True, text=True, check=True).stdout)
    tests, types = collections.defaultdict(list), collections.defaultdict(set)
    for case in suite.cases():
        row = results.get(case.name)
        for operator in case.operators if row else ():
            tests[operator].append(row)
            if row[1] == "pass":
                types[operator] |= operand_types(case)
    lines = ["| operator | versions | passed of its tests: as is, bound | types in passed tests | library kernel | limits, or why refused |",
             "|---|---|---:|---|---|---|"]
    known = {(record["domain"], record["name"]) for record in records}
    unknown = [{"domain": d, "name": n, "since": [], "reason": "not known to this compiler"} for d, n in set(tests) - known]
    for record in sorted([*records, *unknown], key=lambda record: (record["domain"], record["name"])):
        key = (record["domain"], record["name"])
        rows = tests[key]
        name = record["name"] if record["domain"] == "ai.onnx" else f"{record['domain']}.{record['name']}"
        passed = f"{sum(r[0] == 'pass' for r in rows)}, {sum(r[1] == 'pass' for r in rows)} of {len(rows)}" if rows else "none"
        text = f"refused: {record['reason']}" if "reason" in record else record.get("limits", "")
        lines.append(f"| {name} | {' '.join(map(str, record['since']))} | {passed} | {' '.join(sorted(types[key]))} | {record.get('library_kernel', '')} | {text} |")
    return lines


def page(trnc):
    results = run.read_results()
    version = suite.onnx.__version__
    return "\n".join([
        "# ONNX operators and the standard's test suite", "",
        f"Made from the operators' records and `test/onnx/results.tsv` by `scripts/generate_docs.py`. The suite is the one of onnx {version};",
        "each test is compiled for trn2 and run on the emulated device (`test/onnx/run.py`), compared as the standard does: rtol 1e-3,",
        "atol 1e-7, shapes and types exactly. *Bound*: inputs that determine operands such as `axes` or `shape` are given at compile",
        "time, with the values of the test. `real-seeded` are the networks of `real`, whose weights are constant fills, once more with",
        "seeded weights and compared with ONNX Runtime; `own` are cases of this project (`test/onnx/own.py`).", "",
        *count_table(results), "",
        "The two tests that end *wrong* expect the roundings of a Fourier transform in fp32, 1.9e-7 where the exact number is 0;",
        "`own/dft_inverse_ramp` compares the same input with double precision. Of random results types and shapes are compared; their",
        "distributions are tested by `test/onnx/random_numbers.py`.", "", "## Operators", "",
        "A test counts for every operator in its model. *Library kernel*: the program of the GpSimd cores that computes the operator;",
        "every other one is compiled code, and a call of `library_loops` where elements are doubles, or integers that may need 64 bits.", "", *operator_table(results, trnc), "",
        "## What does not pass, by reason", "", *reason_table(results)]) + "\n"
