# Shared by the scripts: messages, quiet commands, the build. Sourced from the repository's root.

# step TEXT: what is being done; on a terminal the line is overwritten by the next one.
step() { if [ -t 2 ]; then printf '\r\033[K» %s' "$*" >&2; else printf '» %s\n' "$*" >&2; fi; }
# done_steps: ends the line that step left open on a terminal.
done_steps() { [ -t 2 ] && printf '\r\033[K' >&2; return 0; }
# fail WHAT WAY_OUT: ends the script.
fail() { done_steps; printf 'error: %s\n       %s\n' "$1" "$2" >&2; exit 1; }

# quietly COMMAND...: its output is shown only when it fails.
quietly() {
  local log status=0; log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ $status -eq 0 ] || { done_steps; tail -n 60 "$log" >&2; }
  rm -f "$log"; return $status
}

# build PRESET [TARGET...]: configures and builds; on a terminal with ninja's own progress line.
build() {
  local preset=$1; shift
  [ -f "build/$preset/build.ninja" ] || { step "configuring ($preset)"; quietly cmake --preset "$preset" ||
    fail "cmake --preset $preset failed" "see the lines above"; }
  step "building ($preset)"; done_steps
  if [ -t 1 ]; then cmake --build --preset "$preset" ${1:+--target "$@"}
  else quietly cmake --build --preset "$preset" ${1:+--target "$@"}; fi ||
    fail "the build failed" "see the first error above"
}
