"""Compares the records of the operators with the standard's schemas, version by version.

usage: check_versions.py RECORDS.json [STAMP]

RECORDS.json is made by `onnx-tblgen -gen-onnx-json`; the schemas are those of the pinned onnx package. A record lists
every version of the standard from its first on, and for each of them exactly the standard's operands, results and
attributes, with their kinds and defaults. Where a version's default, operands or results are others, the record names the
upgrade step that brings nodes of that version up to date. Prints every difference and ends with 1, or writes STAMP.
"""
import collections
import json
import pathlib
import re
import sys

import onnx
from onnx import defs

# The kinds of attributes in records, by ONNX's attribute type.
KINDS = {"INT": {"Int", "Flag", "DataType"}, "FLOAT": {"Float", "Scalar"}, "STRING": {"String"}, "INTS": {"Ints"},
         "FLOATS": {"Floats"}, "STRINGS": {"Strings"}, "TENSOR": {"Tensor"}, "GRAPH": {"Graph"}, "TYPE_PROTO": {"ValueType"}}

def schemas():
    """All versions of every operator: {(domain, name): {version: schema}}."""
    found = collections.defaultdict(dict)
    for schema in defs.get_all_schemas_with_history():
        found[schema.domain, schema.name][schema.since_version] = schema
    return found


def kind_of(attribute):
    """ONNX's name of an attribute's type."""
    return str(attribute.type).rsplit(".", 1)[-1]


def default_of(attribute):
    """An attribute's default in the standard, None without one."""
    if not attribute.default_value.type:
        return None
    value = onnx.helper.get_attribute_value(attribute.default_value)
    return value.decode() if isinstance(value, bytes) else value


def same_default(written, value):
    """Whether a record's default, C++ text, is the standard's value."""
    if written in ("true", "false"):
        return (written == "true") == bool(value)
    if isinstance(value, str):
        return written == f'"{value}"'
    if isinstance(value, (int, float)):
        number = float(written.rstrip("f"))
        return abs(number - value) <= 1e-6 * abs(value)
    return False


class Check:
    """The differences of one record."""

    def __init__(self, record, versions):
        self.record, self.versions, self.problems = record, versions, []

    def upgraded(self, version):
        """Whether an upgrade step rewrites nodes of this version."""
        return any(before > version for before in self.record["upgrades"])

    def report(self, version, text):
        self.problems.append(f"{self.record['name']}-{version}: {text}")

    def run(self):
        unpinned = self.record.get("unpinned", [])
        since = [version for version in self.record["since"] if version not in unpinned]
        expected = sorted(version for version in self.versions if not since or version >= since[0])
        if since != expected:
            self.problems.append(f"{self.record['name']}: expected versions {expected} but the record lists {since}")
        elif not self.record.get("refused"):
            for version in since:
                self.compare(version, self.versions[version])
        return self.problems

    def compare(self, version, schema):
        self.compare_attributes(version, schema)
        for what, listed, standard in (("operands", [o for o in self.record["operands"] if o["from"] <= version], schema.inputs),
                                       ("results", self.record["results"], schema.outputs)):
            if not schema.deprecated and not self.upgraded(version):
                self.compare_values(version, what, listed, standard)

    def compare_values(self, version, what, listed, standard):
        if len(listed) < len(standard):
            self.report(version, f"expected {len(standard)} {what} but the record has {len(listed)} and no upgrade step")
        for own, formal in zip(listed, standard):
            variadic = formal.option == defs.OpSchema.FormalParameterOption.Variadic
            optional = formal.option == defs.OpSchema.FormalParameterOption.Optional
            if variadic != (own["arity"] == "Variadic") or (optional and own["arity"] == "Single"):
                self.report(version, f"'{own['name']}' is {own['arity']} but the standard's '{formal.name}' is {formal.option}")

    def compare_attributes(self, version, schema):
        listed = {a["name"]: a for a in self.record["attributes"] if a["from"] <= version < a["until"]}
        for name in sorted(set(listed) | set(schema.attributes)):
            if name not in listed:
                # Kinds that no record has: a model with such an attribute is refused.
                if kind_of(schema.attributes[name]) in KINDS:
                    self.report(version, f"the record has no attribute '{name}'")
            elif name not in schema.attributes:
                self.report(version, f"the standard has no attribute '{name}'")
            else:
                self.compare_attribute(version, listed[name], schema.attributes[name])

    def compare_attribute(self, version, listed, standard):
        kind = kind_of(standard)
        if listed["kind"] not in KINDS.get(kind, ()):
            self.report(version, f"attribute '{listed['name']}' is {kind} but the record says {listed['kind']}")
        value = default_of(standard)
        if value is not None and "default" in listed and not same_default(listed["default"], value) and not self.upgraded(version):
            self.report(version, f"the default of '{listed['name']}' is {value!r} but the record's is {listed['default']}, "
                                 "and no upgrade step is named")
        if listed["required"] and not standard.required and value is None and not self.upgraded(version):
            self.report(version, f"the record requires '{listed['name']}', which may be absent")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    standard = schemas()
    domains = {domain for domain, _ in standard}
    problems = []
    for record in json.loads(pathlib.Path(sys.argv[1]).read_text()):
        if record["domain"] in domains:
            problems += Check(record, standard.get((record["domain"], record["name"]), {})).run()
    if problems:
        sys.exit("\n".join(problems) + f"\n{len(problems)} differences between dialects/ONNX/Ops/*.td and onnx {onnx.__version__}")
    if len(sys.argv) == 3:
        pathlib.Path(sys.argv[2]).touch()


if __name__ == "__main__":
    main()
