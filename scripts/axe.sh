#!/usr/bin/env bash
# Puts axe-core's script into a folder: the viewer's pages are checked with it for people who see, hear or type in other
# ways. It is under MPL-2.0, is used by a test alone, and is not copied into the tree. npm fetches it; it must have the
# digest below.
#   axe.sh FOLDER
set -euo pipefail

version=4.14.1
digest=1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5
folder=$1

[ -e "$folder/axe-$version.min.js" ] && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=$work/axe-core-$version.tgz
(cd "$work" && npm pack --silent "axe-core@$version" >/dev/null)
found=$(python3 -c 'import hashlib, sys; print(hashlib.sha512(open(sys.argv[1], "rb").read()).hexdigest())' "$archive")
[ "$found" = "$digest" ] || {
    echo "axe: axe-core $version has the digest $found, expected $digest" >&2
    exit 1
}
mkdir -p "$folder"
tar -xzOf "$archive" package/axe.min.js >"$work/axe.min.js"
mv "$work/axe.min.js" "$folder/axe-$version.min.js"
