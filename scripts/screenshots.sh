#!/usr/bin/env bash
# Pictures of the viewer's pages, for README.md and docs/viewer.md: of the recordings that recordings.py makes, imported
# into a log that goes at the end. Needs chromium. A picture above 150 kB is an error.
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
"$root/scripts/recordings.py" "$work/recordings"
"$program" import "$work/recordings" >/dev/null

# What became of the sessions: recordings do not say it.
runs() { "$program" list run -n 20 --json | sed -n 's/^{"id":"\([^"]*\)".*/\1/p'; }
mapfile -t run < <(runs)
paginated=${run[2]}
other=${run[3]}
patch_sets() { "$program" show "$1" --json | python3 -c 'import json, sys; print(*json.load(sys.stdin)["patchsets"])'; }
agent='"actor":{"kind":"agent","id":"claude-code"}'
ada='"actor":{"kind":"human","id":"ada"}'
# committed RUN DAY HOUR COMMIT: it was checked, and a person took it.
committed() {
    local last at="2026-11-$2T$3"
    last=$(patch_sets "$1")
    last=${last##* }
    cat <<END
{"command":"start_validation",$agent,"run":"$1","at":"$at:10:00Z"}
{"command":"record_evidence",$agent,"run":"$1","patchset_id":"$last","kind":"test","tool":"pytest","command_line":"pytest -q","exit_code":0,"at":"$at:10:40Z"}
{"command":"decide",$ada,"run":"$1","decision_type":"commit","chosen_patchset_id":"$last","result_commit_sha":"$4","at":"$at:11:00Z"}
END
}
{
    committed "$paginated" 04 11 8d0f3c2b7a914e65d2c1b0a9f8e7d6c5b4a39281
    committed "${run[4]}" 03 09 19b7d04c6e2f8a3510cc9e77d3b2a46f5e8d1c09
    printf '{"command":"fail_run",%s,"run":"%s","error":"another way was taken","at":"2026-11-03T15:20:00Z"}\n' "$agent" "$other"
} | "$program" apply >/dev/null
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
    ((bytes < 150000)) || { echo "screenshots: $name.png is too large" >&2; exit 1; }
}

picture overview /
picture timeline "/objects/$paginated/timeline" 1120,700
picture timeline-dark "/objects/$paginated/timeline" 1120,700 --blink-settings=preferredColorScheme=0
picture window "/objects/$paginated/window?beside=max_frames&keep=17" 1120,680
picture costs /costs 1120,700
picture compare "/compare?a=$paginated&b=$other" 1120,1200
picture phone "/objects/$paginated/timeline" 400,760
