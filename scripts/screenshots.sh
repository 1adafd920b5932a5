#!/usr/bin/env bash
# Pictures of the viewer's pages, for README.md and docs/viewer.md: of the recordings that recordings.py makes, imported
# into a log that goes at the end. Needs chromium. A picture above 200 kB is an error.
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
"$program" log init >/dev/null
"$root/scripts/recordings.py" "$work/recordings" "$(date -u +%Y-%m-%dT%H:%M:%S)"
"$program" import "$work/recordings" >/dev/null

# A run with several calls, and another one that was asked for the same.
run_of() { "$program" object list run -n 50 --json | python3 -c 'import json, sys
for line in sys.stdin:
    row = json.loads(line)
    if row["task_title"] == sys.argv[1]: print(row["id"])' "$1"; }
mapfile -t same < <(run_of "Add pagination to the list of users, as the one of orders has it.")
[ ${#same[@]} -eq 2 ] || { echo "screenshots: expected two runs of one prompt" >&2; exit 1; }
paginated=${same[0]}
other=${same[1]}
# A budget, and something that waits for a person.
"$program" budget set 2/day --actor human:ada >/dev/null
"$program" intent submit "Raise the lockout to ten attempts for the support team" --risk high >/dev/null
: >"$work/said"
"$program" service serve --listen 127.0.0.1:0 --json >"$work/said" &
server=$!
for _ in $(seq 100); do
    address=$(sed -n 's/.*"address":"\([^"]*\)\/".*/\1/p' "$work/said")
    [ -z "$address" ] || break
    sleep 0.1
done
[ -n "$address" ] || { echo "screenshots: the viewer did not start" >&2; exit 1; }

# picture NAME PATH [WIDTH,HEIGHT] [FLAG...]
picture() {
    local name=$1 path=$2 size=${3:-1120,820}
    shift $(($# < 3 ? $# : 3))
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb \
        --user-data-dir="$work/browser" --window-size="$size" "$@" \
        --screenshot="$folder/$name.png" "$address$path" >/dev/null 2>&1
    local bytes
    bytes=$(wc -c <"$folder/$name.png")
    printf 'screenshots: %s, %s bytes\n' "$folder/$name.png" "$bytes"
    ((bytes < 200000)) || { echo "screenshots: $name.png is too large" >&2; exit 1; }
}

session=$(curl -s "$address/api/v1/sessions" | python3 -c 'import json, sys
print(json.load(sys.stdin)["data"]["sessions"][0]["id"])')
# both NAME PATH: wide and as on a phone, light and dark.
both() {
    picture "$1" "$2" 1440,900
    picture "$1-dark" "$2" 1440,900 --blink-settings=preferredColorScheme=0
    picture "$1-phone" "$2" 390,844
    picture "$1-phone-dark" "$2" 390,844 --blink-settings=preferredColorScheme=0
}
both sessions /
both conversation "/sessions/$session"
both files "/sessions/$session/files"
both costs /costs
both search "/search?q=rounds"
picture timeline "/objects/$paginated/timeline" 1120,700
picture timeline-dark "/objects/$paginated/timeline" 1120,700 --blink-settings=preferredColorScheme=0
picture window "/objects/$paginated/window?beside=max_frames&keep=17" 1120,680
picture compare "/compare?a=$paginated&b=$other" 1120,1200
picture phone "/objects/$paginated/timeline" 400,760
