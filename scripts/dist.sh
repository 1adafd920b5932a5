#!/usr/bin/env bash
# Builds an archive of the program for others, with its manual pages, completions
# and licences, and the archive's SHA-256: dist.sh PROGRAM FOLDER. `make dist` calls it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=${1:?usage: dist.sh PROGRAM FOLDER}
folder=${2:?usage: dist.sh PROGRAM FOLDER}

version=$("$program" --version | cut -d ' ' -f 2)
name=annals-$version-$(uname -m)-linux
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

scripts/install.sh "$program" "$work/$name"
mkdir -p "$work/$name/share/doc/annals"
cp -r README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE docs examples dist/annals@.service \
    "$work/$name/share/doc/annals"

mkdir -p "$folder"
# The same sources give the same archive: names in order, one time, no owner.
when=$(git log -1 --format=%ct 2>/dev/null || echo 0)
tar --create --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner \
    --directory="$work" "$name" | gzip --no-name -9 >"$folder/$name.tar.gz"
(cd "$folder" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
du -h "$folder/$name.tar.gz" | cut -f 1 | xargs printf '%s: %s\n' "$folder/$name.tar.gz"
printf 'docker build --build-arg ARCHIVE=%s -f dist/Dockerfile -t annals %s\n' "$name.tar.gz" "$folder"
