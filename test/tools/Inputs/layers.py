"""Checks two reports of `trnc verify --layers --json`. usage: layers.py FP32.json BF16.json"""
import json
import sys

exact, rounded = (json.load(open(name))["layers"] for name in sys.argv[1:])
assert all(layer["error"] <= 1e-5 and layer["stored_as"] == "f32" for layer in exact["layers"]), exact
errors = {layer["node"]: layer for layer in rounded["layers"]}
assert set(errors) == {layer["node"] for layer in exact["layers"]}
# A value stored in bf16 is off by half a unit in its 8th bit, and no layer of this network makes much more of it.
relu = errors["conv1.relu"]
assert relu["stored_as"] == "bf16" and 1e-4 < relu["error"] < 1e-2, relu
assert all(0 < layer["rms"] <= layer["error"] * 10 < 1 for layer in errors.values()), errors
added = [layer["added"] for layer in rounded["layers"]]
assert added == sorted(added, reverse=True)
# What is added from the first layer on is what comes out.
assert errors["softmax"]["error"] <= sum(added) + 1e-12, errors
assert all(layer["op"] for layer in rounded["layers"])
