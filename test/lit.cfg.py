# lit configuration: IR tests (.mlir) and tool tests (.test) beside each other, in folders that mirror the tree.
import os
import subprocess
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
# A library of a sanitized build needs the sanitizers' runtime in the program that loads it: linked in, or before all else.
cache = os.path.join(build, "CMakeCache.txt")
sanitized = os.path.exists(cache) and "TRN_SANITIZE:BOOL=ON" in open(cache).read()
loads, flags = "env", ""
if sanitized:
    runtime = subprocess.run(["clang-22", "-print-file-name=libclang_rt.asan-x86_64.so"], capture_output=True, text=True,
                             check=True).stdout.strip()
    loads, flags = f"env LD_PRELOAD={runtime} ASAN_OPTIONS=detect_leaks=0", "-fsanitize=address,undefined"
config.substitutions += [("%loads_library", loads), ("%library_flags", flags)]
# A trimmed build (no tools) must not look like a passing run.
if not os.path.exists(os.path.join(bin_dir, "trn-opt")):
    lit_config.fatal(f"no trn-opt in {bin_dir}: build first (cmake --build --preset release)")
