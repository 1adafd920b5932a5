#!/usr/bin/env bash
# Compares which dependencies `make build` and `make test` compile, with which features. A dependency
# with other features is compiled twice, and so is everything above it. If the tests ask for a feature
# that the program does not, name it under [build-dependencies] of tests/Cargo.toml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The list of compilations is an unstable output of cargo; nothing is compiled.
units() { RUSTC_BOOTSTRAP=1 cargo "$@" --workspace --locked --unit-graph -Z unstable-options; }
units build --bin annals >"$work/program"
units test --no-run >"$work/tests"
python3 - "$work/program" "$work/tests" <<'END'
import json
import sys


def compiled(path):
    with open(path) as file:
        units = json.load(file)["units"]
    return {
        (unit["pkg_id"], unit["target"]["name"], unit["mode"], unit["profile"]["opt_level"], tuple(unit["features"]))
        for unit in units
        if "registry+" in unit["pkg_id"]
    }


program, tests = (compiled(path) for path in sys.argv[1:])
for package, target, mode, _, features in sorted(program - tests):
    print(f"shared-builds: {package.split('#')[-1]} ({target}, {mode}) has other features in the tests "
          f"than in the program: {', '.join(features) or 'none'}", file=sys.stderr)
if program - tests:
    sys.exit(1)
print(f"shared-builds: the program's {len(program)} compilations of dependencies serve the tests too")
END
