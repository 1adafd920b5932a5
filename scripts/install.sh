#!/usr/bin/env bash
# Puts the program, its manual pages and the completions of three shells below a
# folder: install.sh PROGRAM PREFIX. `make install` and `make dist` call it.
set -euo pipefail

program=${1:?usage: install.sh PROGRAM PREFIX}
prefix=${2:?usage: install.sh PROGRAM PREFIX}

install -D --strip "$program" "$prefix/bin/annals"
annals=$prefix/bin/annals
mkdir -p "$prefix/share/man/man1"
"$annals" man --dir "$prefix/share/man/man1"
write() {
    mkdir -p "$(dirname "$prefix/share/$2")"
    "$annals" completions "$1" >"$prefix/share/$2"
}
write bash bash-completion/completions/annals
write zsh zsh/site-functions/_annals
write fish fish/vendor_completions.d/annals.fish
# zsh looks for functions in the folders of $fpath, which has a user's own only if told so.
echo "zsh: add $prefix/share/zsh/site-functions to fpath for completions"
