"""Runs the commands of a session that a page shows, and compares what they print.

usage: session.py PAGE.md COMMAND        (the indented block that holds `$ COMMAND…`)

Lines after `$ ` are commands, the others what the command above prints. Numbers with an exponent may differ: they are
rounding errors. `scripts/` is that of the repository, `.venv/bin/python` the interpreter that runs this.
"""
import pathlib
import re
import subprocess
import sys

page, wanted = pathlib.Path(sys.argv[1]), sys.argv[2]
root = pathlib.Path(__file__).resolve().parents[3]
blocks = re.findall(r"(?:^    .*\n)+", page.read_text(), re.M)
session = next(b for b in blocks if f"$ {wanted}" in b)
steps = []
for line in (line[4:] for line in session.splitlines()):
    if line.startswith("$ "):
        steps.append((line[2:], []))
    else:
        steps[-1][1].append(line)
for command, expected in steps:
    shell = command.replace("scripts/", f"{root}/scripts/")
    shell = re.sub(r"^\.venv/bin/python ", f"{sys.executable} ", shell)
    printed = subprocess.run(shell, shell=True, capture_output=True, text=True).stdout.splitlines()
    general = lambda lines: [re.sub(r"\d\.\d+e[+-]\d+", "N", line) for line in lines]
    if general(printed) != general(expected):
        sys.exit(f"{page}: `{command}` prints\n" + "\n".join(printed) + "\nbut the page says\n" + "\n".join(expected))
