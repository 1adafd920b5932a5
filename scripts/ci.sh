#!/usr/bin/env bash
# All that must hold before a change is taken: what `make ci` and .ci/run do.
# The README's test command is one of the steps; the check of the stored shapes
# (goldens, docs/events.md, CHANGELOG.md) is one of its tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Read by tests that need something of the machine: under CI they fail where
# they would otherwise say that they did not run.
export CI=1
# Plain output, so that the results can be found in it again.
export CARGO_TERM_COLOR=never

test_log=$(mktemp)
guard_log=$(mktemp)
summary=()
current=start
trap 'finish $?' EXIT

finish() {
    rm -f "$test_log" "$guard_log"
    if (($1 != 0)); then
        printf '\nci: FAILED in step "%s" (status %s, %s s after the start)\n' "$current" "$1" "$SECONDS" >&2
    fi
}

# step NAME COMMAND...: a heading, the command, and how long it took.
step() {
    local began=$SECONDS
    current=$1
    shift
    printf '\n=== %s (%s s since the start)\n' "$current" "$SECONDS"
    "$@"
    summary+=("$(printf '%5s s  %s' "$((SECONDS - began))" "$current")")
}

target() { make --no-print-directory CARGO_FLAGS=--locked "$@"; }

rust_components() {
    if ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; then
        echo "rustfmt or clippy is missing; adding them with rustup."
        rustup component add rustfmt clippy
    fi
}

shell_scripts() {
    local script
    for script in scripts/*.sh .ci/run; do bash -n "$script"; done
    if command -v shellcheck >/dev/null; then
        shellcheck scripts/*.sh .ci/run
    else
        echo "shellcheck is not installed: the scripts were parsed, not linted."
    fi
}

tests() {
    target test 2>&1 | tee "$test_log"
    # Under CI a test that does not run is a failure like any other.
    if grep -qE '^test result: .* [1-9][0-9]* ignored' "$test_log"; then
        echo "some tests are ignored; every test must run here." >&2
        return 1
    fi
}

# Counts depend on the compiler and the C library. With others than the baseline's nothing is
# compared, which the results repeat.
instruction_counts() {
    if command -v valgrind >/dev/null; then
        target bench-guard 2>&1 | tee "$guard_log"
    else
        echo "NOT RUN: valgrind is not installed, so no instructions were counted." | tee "$guard_log"
    fi
}

results() {
    printf '\n=== all steps passed in %s s\n' "$SECONDS"
    printf '%s\n' "${summary[@]}"
    grep -A 4 -E '^NOT (RUN|COMPARED)' "$guard_log" || true
    printf '\n'
    grep '^test result: ' "$test_log"
    awk '/^test result: ok/ { passed += $4; failed += $6 }
         END { printf "all of them: %d passed; %d failed\n", passed, failed; exit passed == 0 }' "$test_log"
}

step "set-up" target setup
step "rustfmt and clippy are there" rust_components
step "shell scripts" shell_scripts
step "format" cargo fmt --all --check
step "the program and the tests share dependencies" scripts/shared-builds.sh
step "clippy, warnings denied" target lint
step "the README's test command: make test" tests
step "instruction counts: make bench-guard" instruction_counts
step "docs, warnings denied" target doc
step "dependencies" target deny
current="results"
results
