"""Writes the functions by which the standard defines some of its operators, for the importer to inline.

usage: make_function_bodies.py OUTPUT

OUTPUT becomes the bytes of one ModelProto, as the elements of a C array. Each of its functions is named like the
operator; `overload` is the version of the operator, a space, and the version of the operators that the body uses.
Defaults of the operator's attributes are defaults of the function. Functions that depend on the node (their types or
optional inputs) have no fixed body: the compiler writes those operators out itself.
"""
import sys

import onnx
from onnx import defs


def bodies():
    for schema in defs.get_all_schemas_with_history():
        if schema.domain or schema.deprecated or not schema.has_function:
            continue
        for opset in schema.function_opset_versions:
            body = schema.get_function_with_opset_version(opset)
            function = onnx.FunctionProto.FromString(body) if isinstance(body, bytes) else body
            function.name, function.domain = schema.name, ""
            function.overload = f"{schema.since_version} {opset}"
            given = {attribute.name for attribute in function.attribute_proto}
            for name, attribute in schema.attributes.items():
                if name not in given and attribute.default_value.type:
                    function.attribute_proto.add().CopyFrom(attribute.default_value)
            yield function


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    model = onnx.ModelProto()
    model.functions.extend(sorted(bodies(), key=lambda function: (function.name, function.overload)))
    data = model.SerializeToString(deterministic=True)
    lines = (", ".join(str(byte) for byte in data[i:i + 32]) for i in range(0, len(data), 32))
    with open(sys.argv[1], "w") as file:
        file.write(f"// {len(model.functions)} functions of onnx {onnx.__version__}.\n" + ",\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
