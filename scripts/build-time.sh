#!/usr/bin/env bash
# Says how long the build will take when RocksDB has not been compiled yet.
set -euo pipefail
shopt -s nullglob

# The archive appears when RocksDB's own build has ended.
built=("${CARGO_TARGET_DIR:?}"/{debug,release}/build/librocksdb-sys-*/out/librocksdb.a)
((${#built[@]} == 0)) || exit 0

cat <<END
build: this is the first build in $CARGO_TARGET_DIR.
build: RocksDB is compiled from source there, once: about 16 minutes on two
build: cores, during which cargo prints nothing new. Later builds reuse it.
END
