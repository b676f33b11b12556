#!/usr/bin/env bash
# Installs all it needs, builds a release, compiles the PP-OCRv6 recogniser for trn2 and lets the emulated device read a
# line of text.
#   examples/quickstart.sh                       a line about the project
#   examples/quickstart.sh --text "Hello"        your own text, drawn
#   examples/quickstart.sh --picture line.png    your own picture of one line
set -euo pipefail
here=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/lib.sh

source_arguments=(--text "ONNX to Trainium, open and exact")
case "${1:-}" in
  "") ;;
  -h | --help) sed -n '2,/^set /{s/^# \{0,1\}//p}' "examples/${BASH_SOURCE[0]##*/}"; exit 0 ;;
  --text) [ $# -eq 2 ] && [[ $2 = *[![:space:]]* ]] || fail "--text needs one text that is not empty" "quote it: --text \"your text\""; source_arguments=(--text "$2") ;;
  --picture)
    [ $# -eq 2 ] || fail "--picture needs one file" "--picture line.png"
    picture=$(cd "$here" && realpath -m "$2")
    [ -f "$picture" ] || fail "no file '$2'" "give a picture of one line of text"
    source_arguments=(--picture "$picture") ;;
  *) fail "unknown argument '$1'" "use --text TEXT, --picture FILE, --help, or nothing" ;;
esac

scripts/setup.sh
build release trnc
out=build/quickstart
model=.deps/rapidocr/PP-OCRv6_rec_small.onnx
trnc=build/release/bin/trnc
mkdir -p "$out"
.venv/bin/python examples/ocr.py prepare "${source_arguments[@]}" --input "$out/x.npy" --png "$out/line.png"
step "compiling the recogniser for trn2"; done_steps
"$trnc" compile "$model" --shape x=1x3x48x320 --target trn2 -o "$out/recogniser.trnx" --quiet
step "running it on the emulated device"; done_steps
"$trnc" run "$out/recogniser.trnx" --input "x=@$out/x.npy" --save "fetch_name_0=@$out/y.npy" \
  --html "$out/report.html" --perfetto "$out/trace.json" --json > "$out/run.json"
done_steps
.venv/bin/python examples/ocr.py read "$model" --input "$out/x.npy" --output "$out/y.npy"
.venv/bin/python - "$out/run.json" <<'PY'
import json, sys
p = json.load(open(sys.argv[1]))
memory = p["memory"]
print(f"modelled latency   {p['total_time'] * 1e6:.1f} µs on one trn2 core in fp32, {p['limit_percent']:.1f} % of the physical limit (by {p['limit_by']})")
print(f"SBUF at the peak   {memory['sbuf_peak_bytes_per_partition']} of {memory['sbuf_capacity_bytes_per_partition']} bytes per partition")
print(f"HBM traffic        {p['hbm_read_bytes'] / 1e6:.1f} MB read, {p['hbm_write_bytes'] / 1e6:.1f} MB written; weights {p['weight_size_bytes'] / 1e6:.1f} MB")
PY
echo "picture            $out/line.png"
echo "report             $out/report.html"
echo "Perfetto trace     $out/trace.json (open in ui.perfetto.dev)"
