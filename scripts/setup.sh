#!/usr/bin/env bash
# Installs all that the build and the tests need, from Debian packages and PyPI only: missing Debian packages, the
# virtual environment .venv, and the pinned model files under .deps. Idempotent; says what failed and what to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/lib.sh

install_packages() {
  local missing=() package
  for package in $(grep -v '^#' scripts/packages.txt); do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local sudo=""
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "these Debian packages are missing: ${missing[*]}" "run as root, or install sudo"
    sudo=sudo
  fi
  step "installing ${#missing[@]} Debian packages"
  quietly $sudo apt-get update -qq ||
    fail "apt-get update failed" "check the package sources of this machine (needed: Debian 12 with LLVM 22)"
  quietly $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install: ${missing[*]}" "see the lines above; LLVM 22 packages are part of Debian 12's updates"
}

make_venv() {
  local stamp=.venv/requirements.stamp
  cmp -s scripts/requirements.txt "$stamp" && return
  step "making the Python environment .venv"
  # The system's interpreter, never one that a version manager put first on the PATH.
  [ -x .venv/bin/python ] || quietly /usr/bin/python3 -m venv .venv ||
    fail "python3 -m venv failed" "install the Debian package python3-venv"
  quietly .venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt ||
    fail "pip could not install scripts/requirements.txt" "check that PyPI can be reached (pip config list)"
  cp scripts/requirements.txt "$stamp"
}

fetch_wheels() {
  local name requirement paths
  while read -r name requirement paths; do
    case "$name" in ''|\#*) continue ;; esac
    [ "$(cat ".deps/$name/.stamp" 2>/dev/null)" = "$requirement" ] && continue
    step "fetching $requirement"
    local tmp; tmp=$(mktemp -d)
    quietly .venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      -d "$tmp" "$requirement" || fail "pip could not download $requirement" "check that PyPI can be reached"
    rm -rf ".deps/$name"; mkdir -p ".deps/$name"
    .venv/bin/python scripts/unpack_wheel.py "$tmp"/*.whl ".deps/$name" $paths ||
      fail "$requirement does not hold $paths" "the pin in scripts/wheels.txt is wrong"
    printf '%s' "$requirement" > ".deps/$name/.stamp"; rm -rf "$tmp"
  done < scripts/wheels.txt
}

install_packages
make_venv
fetch_wheels
