"""Writes the records of the operators with one mistake of each kind. usage: break_records.py RECORDS.json OUTPUT"""
import json
import pathlib
import sys

records = json.loads(pathlib.Path(sys.argv[1]).read_text())
of = {record["name"]: record for record in records if not record["domain"]}
of["Relu"]["since"].pop()
of["Softmax"]["upgrades"].clear()
of["Elu"]["attributes"].append({"name": "beta", "kind": "Float", "from": 0, "until": 1000, "required": False})
of["Reshape"]["attributes"] = [a for a in of["Reshape"]["attributes"] if a["name"] != "allowzero"]
of["LeakyRelu"]["attributes"][0]["kind"] = "Int"
of["Pad"]["operands"].pop()
pathlib.Path(sys.argv[2]).write_text(json.dumps(records))
