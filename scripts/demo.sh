#!/usr/bin/env bash
# The main job on real input: imports the recording in examples/ and the git history of this repository into
# a log next to it (.demo), then looks at the log. A second run changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

annals_bin=${ANNALS_BIN:?run this with "make demo"}
log=.demo

say() { printf '\n%s\n' "$*"; }
fail() {
    printf 'demo: %s\n' "$@" >&2
    exit 1
}
annals() { "$annals_bin" --log "$log" "$@"; }
# Shows a command, then runs it.
run() {
    printf '\n$ annals --log %s %s\n' "$log" "$*"
    annals "$@"
}

# The first value of a field in JSON: enough for what is needed here.
number_of() { grep -o "\"$1\"[[:space:]]*:[[:space:]]*[0-9]*" | sed -n '1s/.*[^0-9]//p'; }
text_of() { grep -o "\"$1\"[[:space:]]*:[[:space:]]*\"[^\"]*\"" | sed -n '1s/.*"\([^"]*\)"$/\1/p'; }
log_position() {
    local stats position
    stats=$(annals log stats --json)
    position=$(number_of position <<<"$stats") || position=
    [ -n "$position" ] || fail "\"annals log stats --json\" named no position: $stats"
    printf '%s\n' "$position"
}

check_repository() {
    local trouble
    trouble=$(git rev-parse --git-dir 2>&1 >/dev/null) ||
        fail "this folder is not a git repository, so there is no history to import." \
            "Clone the repository instead of unpacking it, and run \"make demo\" there." \
            "git said: $trouble"
    git rev-parse --verify --quiet 'HEAD^{commit}' >/dev/null ||
        fail "this repository has no commit yet. Make one (git commit), then run \"make demo\" again."
}

# Imports, and says whether the log grew.
import_history() {
    before=$(log_position)
    run import git .
    after=$(log_position)
    if [ "$before" = "$after" ]; then
        say "The log was at position $before before this import and still is: unchanged."
    else
        say "The log was at position $before before this import, and is at $after now."
    fi
}

check_repository
if [ ! -e "$log" ]; then
    run log init
fi
run import examples/session.jsonl
import_history
if [ "$before" != "$after" ]; then
    say "Imports are idempotent. Once more:"
    import_history
    [ "$before" = "$after" ] || fail "the second import changed the log; it must not."
fi

say "The sessions, and the conversation of the recorded one:"
run ls
run show f01beb8a
say "What the log holds:"
run log stats

say "The newest run, found by the event that created it:"
run log events --type run.created --limit 1 --backward
event=$(annals log events --type run.created --limit 1 --backward --json)
stream=$(text_of stream <<<"$event") || stream=
position=$(number_of position <<<"$event") || position=
case $stream in
run-?*) run_id=${stream#run-} ;;
*) fail "the log has no run, although the history was imported: $event" ;;
esac
[ -n "$position" ] || fail "the event has no position: $event"

say "This run as it is now:"
run show "$run_id"
say "The same run as it was at position $position, when it had just been created:"
run show "$run_id" --at "$position"
say "All that happened to it:"
run log history "$run_id"
say "And the whole log, verified:"
run proof verify
