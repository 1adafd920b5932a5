#!/usr/bin/env bash
# The comparison of a log on PostgreSQL with the same log on RocksDB and with the schemas of message-db and Marten:
# builds the program, runs it and writes its part of docs/performance.md. What is given to this script goes to
# `compare-postgres` (--quick, --only NAME, --rounds N, --seconds N, --payload N, --copy N, --data FOLDER, --json FILE).
#
# It starts a server by itself, with Debian's package `postgresql` or the programs in ANNALS_POSTGRES_BIN.
#
# Ours is built as scripts/compare.sh builds it, with the workspace's RocksDB: the profile of the crates that are
# measured differs from dev in its checks alone, and that of the store on PostgreSQL in opt-level 3 besides, which
# leaves every dependency as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/annals

settings=(--config "profile.dev.package.annals-store-postgres.opt-level=3")
for crate in annals-event-log annals-files annals-store-rocks annals-store-postgres annals-measure annals-benches; do
    settings+=(--config "profile.dev.package.$crate.debug-assertions=false")
    settings+=(--config "profile.dev.package.$crate.overflow-checks=false")
done
read -ra flags <<<"${CARGO_FLAGS:-}"
cargo build --workspace "${flags[@]}" "${settings[@]}" --bin compare-postgres
# Copied away, so that a build with checks cannot be measured by mistake.
mkdir -p "$cache/compare"
cp "$CARGO_TARGET_DIR/debug/compare-postgres" "$cache/compare/"

revision=$(git describe --always --dirty 2>/dev/null || echo 'not in git')
arguments=("$@")
# A quick run proves nothing, and one of a part would leave holes: neither writes the page.
case " $* " in
*' --quick '* | *' --only'*) ;;
*) arguments+=(--page docs/performance.md) ;;
esac
"$cache/compare/compare-postgres" \
    --revision "$revision, dev with opt-level 3 and without checks, $(rustc --version)" "${arguments[@]}"
