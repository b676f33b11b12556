"""Checks that reports of `trnc verify --layers --json` at later stages agree with that of stage tensor.

usage: same_layers.py TENSOR.json LATER.json...
"""
import json
import sys

tensor, *later = ({layer["node"]: layer for layer in json.load(open(name))["layers"]["layers"]} for name in sys.argv[1:])
for stage in later:
    assert stage.keys() <= tensor.keys() and "softmax" in stage and len(stage) >= len(tensor) // 2, (list(stage), list(tensor))
    for node, layer in stage.items():
        # Sorted values differ by no more than ordered ones.
        assert layer["error"] <= 1.5 * tensor[node]["error"], (layer, tensor[node])
        assert layer["reordered"] or layer["error"] >= tensor[node]["error"] / 2, (layer, tensor[node])
        assert layer["stored_as"] == tensor[node]["stored_as"], (layer, tensor[node])
