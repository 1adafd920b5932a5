#!/usr/bin/env bash
# The comparison with other stores: builds both programs, runs them in turns and writes
# docs/performance.md. What is given to this script goes to `compare` (--quick, --only NAME,
# --rounds N, --seconds N, --events N, --payloads N,N, --data FOLDER, --json FILE).
#
# OURS=FILE takes another build of our side, for example one of `make release`.
#
# Ours is built with the workspace's RocksDB: the profile of the five crates that are measured
# differs from dev in its checks alone, which leaves every dependency as it is. The peers are
# built in a folder of their own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/annals
peers_target=$cache/compare-target

# Dependencies have no debug assertions and overflow checks in dev; here ours have none, either.
checks=()
for crate in annals-event-log annals-files annals-store-rocks annals-measure annals-benches; do
    checks+=(--config "profile.dev.package.$crate.debug-assertions=false")
    checks+=(--config "profile.dev.package.$crate.overflow-checks=false")
done
read -ra flags <<<"${CARGO_FLAGS:-}"
cargo build --workspace "${flags[@]}" "${checks[@]}" --bin compare --bin compare-ours
# Copied away, so that a build with checks cannot be measured by mistake.
mkdir -p "$cache/compare"
cp "$CARGO_TARGET_DIR/debug/compare" "$CARGO_TARGET_DIR/debug/compare-ours" "$cache/compare/"
built="dev with opt-level 3 and without checks"
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
"$cache/compare/compare" --ours "${OURS:-$cache/compare/compare-ours}" \
    --peers "$peers_target/release/compare-peers" \
    --revision "$revision, $built, $(rustc --version)" "${arguments[@]}"
