#!/usr/bin/env bash
# Imports the recordings of a folder, each into a log of its own, and compares what the logs hold with a
# recount of the recordings: those of Claude Code, files named claude*.jsonl, by recount.py, and those of
# the other agents by recounts/, by what `annals import` says of whose they are. What they cost is recounted, too.
set -euo pipefail

annals_bin=${ANNALS_BIN:?run this with "make corpus CORPUS=DIR"}
corpus=${1:-}
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
    printf 'corpus: %s\n' "$@" >&2
    exit 1
}

[ -n "$corpus" ] || fail "name the folder of recordings: make corpus CORPUS=DIR"
[ -d "$corpus" ] || fail "there is no folder $corpus; name one with recordings in it"
command -v python3 >/dev/null || fail "python3 is not here; make setup installs it on Debian and Ubuntu"

prices=$scripts/../crates/projections/src/costs/prices.toml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

annals() { "$annals_bin" --log "$work/log" "$@"; }

# A line that is broken is counted by neither side; the exit status is then 1,
# and there is a report all the same.
import() {
    annals import claude "$1" --ended --json >"$work/report" 2>"$work/said" ||
        [ -s "$work/report" ] || fail "$(cat "$work/said")"
}

# costs AGENT FILE...: what the log says that these recordings cost is what a recount of them comes to.
costs() {
    local agent=$1
    shift
    python3 "$scripts/recounts/costs.py" "$prices" recording "$agent" "$@" >"$work/recounted"
    annals cost --by day,model --json >"$work/by-day"
    annals cost --by sub-agent --json >"$work/by-sub-agent"
    python3 "$scripts/recounts/costs.py" "$prices" log "$work/by-day" "$work/by-sub-agent" >"$work/imported"
    if ! diff -u "$work/recounted" "$work/imported" >"$work/diff"; then
        cat "$work/diff" >&2
        fail "$* and the log differ in what they cost: - is the recount, + is the log"
    fi
    cat "$work/imported"
}

# check FILE...: the log of these recordings has what they have, and importing
# them again adds nothing.
check() {
    local folder=$work/recordings events
    rm -rf "$work/log" "$folder"
    mkdir "$folder"
    local recording number=0
    for recording in "$@"; do # two folders may have files of one name
        number=$((number + 1))
        cp "$recording" "$folder/$number-$(basename "$recording")"
    done
    annals log init >/dev/null
    import "$folder"
    annals export annals >"$work/export"
    python3 "$scripts/recount.py" log <"$work/export" >"$work/imported"
    python3 "$scripts/recount.py" recording "$folder"/*.jsonl >"$work/recounted"
    [ -s "$work/recounted" ] || fail "there is nothing to count in $*"
    if ! diff -u "$work/recounted" "$work/imported" >"$work/diff"; then
        cat "$work/diff" >&2
        fail "$* and the log differ: - is the recount, + is the log"
    fi
    import "$folder"
    events=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["events_made"])' <"$work/report")
    [ "$events" = 0 ] || fail "importing $* again made $events events"
    cat "$work/imported"
    costs claude "$folder"/*.jsonl
}

# grown FILE: a recording that is imported while it grows has no line that says something else than before.
grown() {
    local lines part
    rm -rf "$work/log"
    annals log init >/dev/null
    lines=$(wc -l <"$1")
    for part in $((lines / 3)) $((lines / 2)) $((lines - 1)) "$lines" "$lines"; do
        head -n "$part" "$1" >"$work/grown.jsonl"
        import "$work/grown.jsonl"
        ! grep -q 'recorded before with another content' "$work/report" ||
            fail "$1 up to line $part is said to have another content: $(cat "$work/report")"
    done
}

# other FILE: a recording of another agent than Claude Code, by what `annals import` finds it to be. A file of
# which nothing is known is named and left alone.
other() {
    local agent events
    rm -rf "$work/log"
    annals log init >/dev/null
    annals import "$1" --ended --json >"$work/report" 2>"$work/said" || [ -s "$work/report" ] || {
        printf '%s\n' "$(<"$work/said")"
        unknown=$((unknown + 1))
        return
    }
    agent=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["source"].split()[0])' <"$work/report")
    [ -f "$scripts/recounts/${agent//-/_}.py" ] || fail "$1 is of $agent, which scripts/recounts does not know"
    annals export annals >"$work/export"
    python3 "$scripts/recount.py" log <"$work/export" >"$work/imported"
    python3 "$scripts/recounts/${agent//-/_}.py" "$1" >"$work/recounted"
    [ -s "$work/recounted" ] || fail "there is nothing to count in $1"
    python3 "$scripts/recounts/compare.py" "$work/recounted" "$work/imported" ||
        fail "$1 and the log differ"
    annals import "$1" --ended --json >"$work/report" 2>"$work/said" || true
    events=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["events_made"])' <"$work/report")
    [ "$events" = 0 ] || fail "importing $1 again made $events events"
    cat "$work/imported"
    # Of Copilot's sessions recounts/copilot.py alone compares the tokens: they are in three places, of which none has all.
    [ "$agent" = copilot ] || costs "$agent" "$1"
    known=$((known + 1))
}

shopt -s nullglob globstar
recordings=("$corpus"/**/claude*.jsonl)
known=${#recordings[@]}
unknown=0

for recording in "${recordings[@]}"; do
    printf '\n%s\n' "$recording"
    check "$recording"
    grown "$recording"
done
if ((${#recordings[@]} > 1)); then
    printf '\nall %d in one log\n' "${#recordings[@]}"
    check "${recordings[@]}"
fi
for recording in "$corpus"/**/*.{json,jsonl,traj,db}; do
    case ${recording##*/} in claude*) continue ;; esac
    printf '\n%s\n' "$recording"
    other "$recording"
done
((known > 0)) || fail "there is no recording in $corpus or below it"
printf '\ncorpus: %d recordings, and the recount agrees; %d files of which nothing is known\n' "$known" "$unknown"
