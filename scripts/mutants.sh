#!/bin/bash
# Builds the programs with seeded bugs, copies them aside, builds the real ones again, and
# lets the soak find each bug. Arguments go to cargo.
set -euo pipefail
target=${CARGO_TARGET_DIR:?the target folder, which the Makefile exports}/debug
aside=$(mktemp -d)
trap 'rm -rf "$aside"' EXIT
programs=(--bin soak --bin soak-worker --bin annals)
cargo build --workspace "$@" --features annals-tests/mutants,annals-cli/mutants "${programs[@]}"
cp "$target/soak" "$target/soak-worker" "$target/annals" "$aside/"
cargo build --workspace "$@" "${programs[@]}"
read -ra flags <<<"${MUTANTS_FLAGS:-}"
ANNALS_BIN=$aside/annals ANNALS_SOAK_WORKER=$aside/soak-worker "$aside/soak" --mutants "${flags[@]}"
