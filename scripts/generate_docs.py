"""Writes what derives from records: docs/stages.md, docs/trnc.md, docs/generated/onnx-support.md, and the totals of the
standard's suite in README.md.

usage: generate_docs.py [--check] [--trnc build/release/bin/trnc]

--check writes nothing and ends with 1 when a page is not current.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/onnx"))
import support  # noqa: E402


def stages():
    text = (ROOT / "compiler/Pipeline/Stages.def").read_text()
    rows = re.findall(r'TRN_STAGE\(\w+, "(\w+)", "([^"]+)"\)', text)
    page = ["# Stages", "",
            "Made from `compiler/Pipeline/Stages.def` by `scripts/generate_docs.py`. `--start-from` and `--stop-after` take these names; each",
            "contract is checked at the border of its stage. A dump of a stage is textual MLIR with locations, and can be taken up again.", "",
            "| stage | what holds, beyond the verifiers of its operations |", "|---|---|"]
    return "\n".join(page + [f"| `{name}` | {contract} |" for name, contract in rows]) + "\n"


def commands(trnc):
    def output(*arguments):
        return subprocess.run([str(trnc), *arguments], capture_output=True, text=True, check=True).stdout.rstrip()

    top = output("--help")
    names = re.findall(r"^  (\w+)\s{2,}", top.split("COMMANDS:")[1].split("EXIT CODES:")[0], re.M)
    page = ["# trnc", "", "Made from `Options.td` and `ExitCodes.def` in `compiler/tools/trnc` by `scripts/generate_docs.py`.", "", "```", top, "```"]
    for name in names:
        page += ["", f"## trnc {name}", "", "```", output(name, "--help"), "```"]
    return "\n".join(page) + "\n"


def readme():
    """README.md with the suite's totals in the sentence that states them."""
    total, as_is, bound = support.totals()
    sentence = r"Of the [\d,]+ tests of the standard's own suite [\d,]+ pass as they are, and [\d,]+ when"
    text, found = re.subn(sentence, f"Of the {total:,} tests of the standard's own suite {as_is:,} pass as they are, and {bound:,} when",
                          (ROOT / "README.md").read_text())
    if found != 1:
        sys.exit(f"README.md: expected one sentence like '{sentence}' but got {found}; state the suite's totals in it")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--trnc", type=pathlib.Path, default=ROOT / "build/release/bin/trnc")
    arguments = parser.parse_args()
    stale = []
    pages = {"README.md": readme(), "docs/stages.md": stages(), "docs/trnc.md": commands(arguments.trnc),
             "docs/generated/onnx-support.md": support.page(arguments.trnc)}
    for name, text in pages.items():
        path = ROOT / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not arguments.check:
            path.write_text(text)
    if arguments.check and stale:
        sys.exit(f"not current: {', '.join(stale)}; run scripts/generate_docs.py")


if __name__ == "__main__":
    main()
