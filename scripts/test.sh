#!/usr/bin/env bash
# Every test: unit, integration and doctests. Arguments go to cargo. The tests that fail are named once more at the end,
# with what they printed: the output between is thousands of lines long.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The most lines that are repeated of one test.
lines=40

log=$(mktemp)
trap 'rm -f "$log"' EXIT
[[ -t 1 ]] && export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-always}"

# More tests at once than there are processors: many of them wait for a disk.
export RUST_TEST_THREADS="${RUST_TEST_THREADS:-$((3 * $(nproc)))}"
cargo test --workspace --no-fail-fast "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

if ((status != 0)); then
    printf '\nThe tests that failed:\n'
    awk -v most="$lines" '
        /^---- .* stdout ----$/ { shown = 1 }
        /^failures:$/ { shown = 0 }
        shown && shown <= most { print; shown++ }' "$log"
    # Where a program of tests ended early, no test is named.
    grep -E '^error(\[|:)|^  process didn.t exit|signal: [0-9]+' "$log" | sort -u
fi
exit "$status"
