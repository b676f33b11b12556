#!/usr/bin/env bash
# Makes the pictures of README.md anew: docs/images/line.png and report.png, from what examples/quickstart.sh has written.
# Wants the Debian package chromium, which nothing else needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/lib.sh

from=build/quickstart
[ -f "$from/report.html" ] || fail "no $from/report.html" "run examples/quickstart.sh first"
command -v chromium > /dev/null || fail "no chromium" "apt-get install chromium"
cp "$from/line.png" docs/images/line.png
chromium --headless --no-sandbox --hide-scrollbars --window-size=1400,1490 --force-device-scale-factor=0.75 \
  --screenshot="$PWD/docs/images/report.png" "file://$PWD/$from/report.html" 2> /dev/null
