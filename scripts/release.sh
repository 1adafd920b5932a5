#!/usr/bin/env bash
# What `make release` says of the program it built: where it is, how large it is, and how long
# it takes to start, alone and with a log. Nothing is installed.
set -euo pipefail

program=${1:?run this with "make release"}
times=11

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

# median COMMAND...: runs it so often, and prints the time in the middle, in milliseconds.
median() {
    local round before after
    for ((round = 0; round < times; round++)); do
        before=$(date +%s%N)
        "$@" >/dev/null
        after=$(date +%s%N)
        printf '%s\n' $((after - before))
    done | sort -n | awk -v middle=$(((times + 1) / 2)) 'NR == middle { printf "%.1f\n", $1 / 1e6 }'
}

"$program" --log "$home/log" init >/dev/null
"$program" --log "$home/log" apply >/dev/null <<'JSON'
{"command":"create_intent","id":"0198c0de-0000-7000-8000-000000000001","actor":{"kind":"human","id":"ada"},"prompt":"Try the release"}
JSON

bytes=$(wc -c <"$program")
printf '\nprogram:           %s\n' "$program"
printf 'size:              %s MB (%s bytes)\n' "$(((bytes + 500000) / 1000000))" "$bytes"
printf 'annals --version:  %s ms (median of %s)\n' "$(median "$program" --version)" "$times"
printf 'annals show:       %s ms (median of %s, one intent)\n' \
    "$(median "$program" --log "$home/log" show 0198c0de-0000-7000-8000-000000000001)" "$times"
