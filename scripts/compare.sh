#!/usr/bin/env bash
# The comparison with other stores: builds both programs, runs them in turns and writes
# docs/performance.md. What is given to this script goes to `compare` (--quick, --only NAME,
# --rounds N, --seconds N, --events N, --payloads N,N, --data FOLDER, --json FILE).
#
# OURS=FILE takes another build of our side. Ours is built as it ships, in the folder of `make release`;
# the peers are built in a folder of their own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/annals
peers_target=$cache/compare-target

ours_target=$cache/target-release
read -ra flags <<<"${CARGO_FLAGS:-}"
CARGO_TARGET_DIR=$ours_target cargo build --release --workspace "${flags[@]}" --bin compare --bin compare-ours
built="release"
if [ -n "${OURS:-}" ]; then built="given as OURS"; fi

CARGO_TARGET_DIR=$peers_target cargo build --release --locked \
    --manifest-path benches/compare/Cargo.toml

revision=$(git describe --always --dirty 2>/dev/null || echo 'not in git')
arguments=("$@")
# A quick run proves nothing, and one of a part would leave holes: neither writes the page.
case " $* " in
*' --quick '* | *' --only'*) ;;
*) arguments+=(--page docs/performance.md) ;;
esac
"$ours_target/release/compare" --ours "${OURS:-$ours_target/release/compare-ours}" \
    --peers "$peers_target/release/compare-peers" \
    --revision "$revision, $built, $(rustc --version)" "${arguments[@]}"
