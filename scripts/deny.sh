#!/usr/bin/env bash
# Checks the dependencies with cargo-deny: bans, licences, sources and, where
# their database can be reached, security advisories. Installs cargo-deny into
# the cache folder if it is not there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=0.20.2
cache=${XDG_CACHE_HOME:-$HOME/.cache}/annals
cargo_deny=$cache/tools/bin/cargo-deny

# Compiled with light optimisation: its own release profile takes several times
# as long to compile and saves a second here.
install_cargo_deny() {
    [ "$("$cargo_deny" --version 2>/dev/null)" != "cargo-deny $version" ] || return 0
    printf 'deny: installing cargo-deny %s into %s (some minutes, once)\n' "$version" "$cache/tools"
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_TARGET_DIR="$cache/tools-target" \
        cargo install cargo-deny --locked --version "$version" --root "$cache/tools" --force
}

banner() {
    local line
    printf '%s\n' '' '!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!'
    for line in "$@"; do printf '!!  %s\n' "$line"; done
    printf '%s\n' '!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!' ''
}

# Fetching and checking are two steps, so that a database out of reach (which
# is skipped) cannot be taken for an advisory (which fails), nor the reverse.
check_advisories() {
    local answer status=0
    answer=$(timeout 180 "$cargo_deny" --locked fetch db 2>&1) || status=$?
    if ((status == 0)); then
        "$cargo_deny" --frozen check --hide-inclusion-graph advisories
        return
    fi
    banner 'ADVISORIES WERE NOT CHECKED: their database could not be fetched.' \
        'Run "make deny" again on a machine with access to the internet.' \
        "cargo-deny said: $(printf '%s\n' "$answer" | tail -n 1 | cut -c 1-300)"
}

install_cargo_deny
"$cargo_deny" --locked check --hide-inclusion-graph bans licenses sources
check_advisories
