# lit configuration: IR tests (.mlir) and tool tests (.test) beside each other, in folders that mirror the tree.
import os
import lit.formats

config.name = "trn-mlir"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "fuzz", "bench", "models", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
root = os.path.dirname(config.test_source_root)
build = lit_config.params.get("build", os.path.join(root, "build", "release"))
config.test_exec_root = os.path.join(build, "lit")
bin_dir = os.path.join(build, "bin")
config.substitutions += [
    ("%root", root),
    ("%build", build),
    ("%python", os.path.join(root, ".venv", "bin", "python")),
    ("%FileCheck", "FileCheck-22"),
    ("%not", "not-22"),
    ("%mlir_include", "/usr/lib/llvm-22/include"),
]
config.environment["PATH"] = os.pathsep.join([bin_dir, "/usr/lib/llvm-22/bin", os.environ["PATH"]])
# A built tool is a feature: a test of a tool that a build leaves out says so.
for tool in os.listdir(bin_dir) if os.path.isdir(bin_dir) else []:
    config.available_features.add(tool)
# A library of a sanitized build cannot be loaded into a program that is not.
cache = os.path.join(build, "CMakeCache.txt")
if os.path.exists(cache) and "TRN_SANITIZE:BOOL=ON" in open(cache).read():
    config.available_features.add("sanitized")
# A trimmed build (no tools) must not look like a passing run.
if not os.path.exists(os.path.join(bin_dir, "trn-opt")):
    lit_config.fatal(f"no trn-opt in {bin_dir}: build first (cmake --build --preset release)")
