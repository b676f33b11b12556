#!/usr/bin/env bash
# Installs all it needs, builds (release) and runs every test.
#   test/run.sh            everything
#   test/run.sh unit|asan|lit|onnx|models   one part
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/lib.sh
part=${1:-all}
case "$part" in all|unit|asan|lit|onnx|models) ;;
  *) fail "unknown part '$part'" "use unit, asan, lit, onnx or models, or nothing for all" ;; esac

scripts/setup.sh
build release
jobs=$(nproc)
if [ "$part" = all ] || [ "$part" = unit ]; then
  step "unit tests"; done_steps
  ctest --test-dir build/release --output-on-failure --parallel "$jobs" --no-tests=error
fi
if [ "$part" = all ] || [ "$part" = asan ]; then
  # What reads files that others wrote, with the address and undefined-behaviour sanitizers: its unit tests, the inputs
  # that once failed, and some thousand damaged ones each, the same every time.
  hostile=(tensor-file-test executable-file-test runtime-api-test)
  fuzzed=(tensor-fuzz executable-fuzz)
  build asan "${hostile[@]}" "${fuzzed[@]}"
  step "readers of files under the sanitizers"; done_steps
  for program in "${hostile[@]}"; do "build/asan/test/$program" --gtest_brief=1; done
  .venv/bin/python test/fuzz/run.py --runs 3000 --only "${fuzzed[@]}"
fi
if [ "$part" = all ] || [ "$part" = lit ]; then
  step "IR and tool tests"; done_steps
  lit-22 -sv -j "$jobs" --param build="$PWD/build/release" test
  .venv/bin/python scripts/generate_docs.py --check
fi
if [ "$part" = all ] || [ "$part" = onnx ]; then
  step "the standard's test suite"; done_steps
  .venv/bin/python test/onnx/run.py --build build/release
  step "the operators of com.microsoft against ONNX Runtime"; done_steps
  .venv/bin/python test/onnx/microsoft.py --build build/release
  .venv/bin/python test/onnx/random_numbers.py --build build/release
  step "every operator in every element type"; done_steps
  .venv/bin/python test/onnx/element_types.py --build build/release
  step "integers read with and without a sign"; done_steps
  .venv/bin/python test/onnx/integer_signs.py --build build/release
  step "random chains of integer operators"; done_steps
  .venv/bin/python test/onnx/random_integers.py --build build/release
fi
if [ "$part" = all ] || [ "$part" = models ]; then
  step "model tests"; done_steps
  .venv/bin/python test/models/run.py --build build/release
  .venv/bin/python test/models/host_paths.py --build build/release
  .venv/bin/python test/models/faults.py --build build/release
  .venv/bin/python test/models/stages.py --build build/release
  .venv/bin/python test/models/levels.py --build build/release
  step "tensors larger than SBUF, and sizes that divide nothing"; done_steps
  .venv/bin/python test/stress/large.py --build build/release
  .venv/bin/python test/stress/planes.py --build build/release
  .venv/bin/python test/stress/ragged.py --build build/release
  .venv/bin/python test/stress/products.py --build build/release
  step "random graphs against ONNX Runtime"; done_steps
  .venv/bin/python test/stress/random_graphs.py --build build/release
  .venv/bin/python test/bench/modelled.py --build build/release --assert
  .venv/bin/python test/bench/modelled.py --build build/release --products --assert
fi
