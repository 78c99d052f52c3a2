#!/bin/sh
# Installs the peers once, measures them beside Lantern, prints the tables, and writes
# them into docs/performance.md if nothing was left out.
#
#   sh bench/run.sh [OUT]        PEERS=…, SCENARIOS=…, REPEATS=… choose less
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/out}
mkdir -p "$out"
[ -f "$out/env/.installed" ] || {
    sh "$here/peers/install.sh" "$out/env"
    touch "$out/env/.installed"
}
all=direct,nginx,bare,django-relay,litellm,vercel,langgraph
all=$all,lantern,lantern-uvicorn,lantern-redis,lantern-workers
results=$out/results-$(date +%Y%m%d-%H%M%S).jsonl
"$out/env/bench/bin/python" "$here/compare.py" --env "$out/env" --out "$results" \
    --peers "${PEERS:-$all}" \
    --scenarios "${SCENARIOS:-s1-c1,s1-c50,s1-c200,s3-c1000}" \
    --repeats "${REPEATS:-3}"
"$out/env/bench/bin/python" "$here/report.py" "$results"
[ -n "${PEERS:-}${SCENARIOS:-}" ] ||
    "$out/env/bench/bin/python" "$here/report.py" --into "$here/../docs/performance.md" "$results"
