#!/usr/bin/env bash
# The comparison of a log on PostgreSQL with the same log on RocksDB and with the schemas of message-db and Marten:
# builds the program, runs it and writes its part of docs/performance.md. What is given to this script goes to
# `compare-postgres` (--quick, --only NAME, --rounds N, --seconds N, --payload N, --copy N, --data FOLDER, --json FILE).
#
# It starts a server by itself, with Debian's package `postgresql` or the programs in ANNALS_POSTGRES_BIN.
#
# Ours is built as it ships, in the folder of `make release`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/annals

target=$cache/target-release
read -ra flags <<<"${CARGO_FLAGS:-}"
CARGO_TARGET_DIR=$target cargo build --release --workspace "${flags[@]}" --bin compare-postgres

revision=$(git describe --always --dirty 2>/dev/null || echo 'not in git')
arguments=("$@")
# A quick run proves nothing, and one of a part would leave holes: neither writes the page.
case " $* " in
*' --quick '* | *' --only'*) ;;
*) arguments+=(--page docs/performance.md) ;;
esac
"$target/release/compare-postgres" \
    --revision "$revision, release, $(rustc --version)" "${arguments[@]}"
