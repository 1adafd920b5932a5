#!/usr/bin/env bash
# Packs every crate that is published, in the order in which they depend on each other, and lists
# what came of it: package.sh [FLAGS OF CARGO]. `make package` calls it. Nothing is compiled.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What a registry takes at most, in bytes.
most=$((10 * 1024 * 1024))

mapfile -t names < <(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print(package["name"])
')
((${#names[@]} > 0)) || { echo "package: no crate is published" >&2; exit 1; }
selected=()
for name in "${names[@]}"; do selected+=(-p "$name"); done

folder=${CARGO_TARGET_DIR:-target}/package
rm -f "$folder"/annals*.crate
# cargo sorts them.
cargo package --no-verify "${selected[@]}" "$@"

status=0
for name in "${names[@]}"; do
    packed=$(echo "$folder/$name"-[0-9]*.crate)
    bytes=$(stat --format=%s "$packed")
    files=$(tar --list --gzip --file "$packed" | wc -l)
    printf '%8d bytes  %4d files  %s\n' "$bytes" "$files" "$(basename "$packed")"
    if ((bytes > most)); then
        echo "package: $name has more than the $most bytes that a registry takes" >&2
        status=1
    fi
done
exit "$status"
