#!/bin/sh
# Installs the peers once, measures them beside Lantern, and prints the tables.
#
#   sh bench/run.sh [OUT]        PEERS=…, SCENARIOS=…, REPEATS=… choose less
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/out}
mkdir -p "$out"
[ -f "$out/env/.installed" ] || {
    sh "$here/peers/install.sh" "$out/env" bench bare litellm vercel
    touch "$out/env/.installed"
}
results=$out/results-$(date +%Y%m%d-%H%M%S).jsonl
"$out/env/bench/bin/python" "$here/compare.py" --env "$out/env" --out "$results" \
    --peers "${PEERS:-direct,bare,django-relay,litellm,vercel,lantern}" \
    --scenarios "${SCENARIOS:-s1-c1,s1-c50,s1-c200,s3-c1000}" \
    --repeats "${REPEATS:-3}"
"$out/env/bench/bin/python" "$here/report.py" "$results"
