#!/usr/bin/env bash
# Pictures of the viewer's pages, for README.md and docs/viewer.md: of the recording in examples/, imported into a log that
# goes at the end. Needs chromium.
#   screenshots.sh PROGRAM FOLDER
set -euo pipefail

program=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

export ANNALS_LOG=$work/log
"$program" init >/dev/null
"$program" import "$root/examples/session.jsonl" >/dev/null
# Something that waits for a person.
"$program" submit "Raise the lockout to ten attempts for the support team" --risk high >/dev/null
: >"$work/said"
"$program" serve --listen 127.0.0.1:0 --json >"$work/said" &
server=$!
for _ in $(seq 100); do
    address=$(sed -n 's/.*"address":"\([^"]*\)\/".*/\1/p' "$work/said")
    [ -z "$address" ] || break
    sleep 0.1
done
[ -n "$address" ] || { echo "screenshots: the viewer did not start" >&2; exit 1; }

# first KIND: the newest object's id.
newest() { "$program" list "$1" -n 1 --json | sed -n 's/^{"id":"\([^"]*\)".*/\1/p'; }
run=$(newest run)

# picture NAME PATH [WIDTH,HEIGHT] [FLAG...]
picture() {
    local name=$1 path=$2 size=${3:-1280,860}
    shift $(($# < 3 ? $# : 3))
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb \
        --user-data-dir="$work/browser" --window-size="$size" "$@" \
        --screenshot="$folder/$name.png" "$address$path" >/dev/null 2>&1
    printf 'screenshots: %s\n' "$folder/$name.png"
}

picture overview /
picture overview-dark / 1280,860 --blink-settings=preferredColorScheme=0
picture run "/objects/$run"
picture timeline "/objects/$run/timeline"
picture window "/objects/$run/window"
picture diff "/objects/$(newest patch_set)/diff"
picture inbox /inbox
picture log /log
picture phone / 400,860
