#!/usr/bin/env bash
# Fuzzes every parser of foreign bytes with libFuzzer, each for FUZZ seconds (600), two at a time,
# from the seeds of crates/fuzzing and what fuzz/corpus has. TARGET=name takes only that one. What
# is found is in fuzz/artifacts/TARGET, and the command that repeats it is printed; put it into
# fuzz/corpus/TARGET once it is fixed, where `make test` tries it.
#
# Installs cargo-fuzz into the cache folder if it is missing. The target folder is separate, because
# the compiler's options differ.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=0.13.1
seconds=${FUZZ:-600}
seconds=${seconds%s}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/annals
cargo_fuzz=$cache/tools/bin/cargo-fuzz
seeds=$CARGO_TARGET_DIR/debug/fuzz-seeds
fuzz_target_dir=$cache/fuzz-target
fuzzer=$fuzz_target_dir/$(rustc -vV | sed -n 's/^host: //p')/release/any

install_cargo_fuzz() {
    [ "$("$cargo_fuzz" --version 2>/dev/null)" != "cargo-fuzz $version" ] || return 0
    printf 'fuzz: installing cargo-fuzz %s into %s\n' "$version" "$cache/tools"
    CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_TARGET_DIR="$cache/tools-target" \
        cargo install cargo-fuzz --locked --version "$version" --root "$cache/tools" --force
}

# Coverage is an unstable option of the compiler that is there. No sanitizer: our code has no
# unsafe, and RocksDB is not what is fuzzed.
build() {
    RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$fuzz_target_dir PATH=$cache/tools/bin:$PATH \
        cargo fuzz build --fuzz-dir fuzz --sanitizer none any
}

# fuzz TARGET: that one, from its seeds.
fuzz() {
    local target=$1 status=0
    local work=$cache/fuzz-work/$target artifacts=fuzz/artifacts/$target
    mkdir -p "$work" "$artifacts" "fuzz/corpus/$target"
    "$seeds" "$target" "$work"
    ANNALS_FUZZ_TARGET=$target "$fuzzer" "$work" "fuzz/corpus/$target" -max_total_time="$seconds" \
        -timeout=20 -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$artifacts/" -print_final_stats=1 \
        >"$cache/fuzz-work/$target.log" 2>&1 || status=$?
    if ((status != 0)); then
        printf '%-20s FOUND SOMETHING\n' "$target"
        tail -n 25 "$cache/fuzz-work/$target.log"
        printf 'again: ANNALS_FUZZ_TARGET=%s %s FILE\n' "$target" "$fuzzer"
        return 1
    fi
    printf '%-20s %s s, %s\n' "$target" "$seconds" \
        "$(sed -n 's/^stat::number_of_executed_units: */inputs: /p' "$cache/fuzz-work/$target.log")"
}

all() {
    if [ -n "${TARGET:-}" ]; then printf '%s\n' "$TARGET"; else "$seeds"; fi
}

if [ "${1:-}" = one ]; then
    fuzz "$2"
    exit
fi
install_cargo_fuzz
build
# Two at a time: an importer's thread takes a processor of its own.
all | xargs -P 2 -n 1 "${BASH_SOURCE[0]}" one
