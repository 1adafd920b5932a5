#!/usr/bin/env bash
# Prints how long the build takes when nothing has been compiled yet.
set -euo pipefail

[ ! -d "${CARGO_TARGET_DIR:?}/debug/deps" ] || exit 0
cat <<END
build: this is the first build in $CARGO_TARGET_DIR.
build: It compiles all dependencies, in about 9 minutes on two cores. Later builds reuse them.
END
