"""Plants a bug: replaces PATTERN in the first operation of NODE in a dump that has it.

usage: plant.py DUMP.mlir OUT.mlir NODE PATTERN REPLACEMENT
"""
import re
import sys

dump, out, node, pattern, replacement = sys.argv[1:]
lines = open(dump).read().split("\n")
alias = next(m[1] for m in (re.match(rf'(#loc\d+) = loc\("{re.escape(node)}"\(', line) for line in lines) if m)
for number, line in enumerate(lines):
    if line.endswith(f"loc({alias})") and re.search(pattern, line):
        lines[number] = re.sub(pattern, replacement, line, count=1)
        assert lines[number] != line
        break
else:
    sys.exit(f"no operation of {node} has {pattern}")
open(out, "w").write("\n".join(lines))
