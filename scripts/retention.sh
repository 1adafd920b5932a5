#!/usr/bin/env bash
# Measures `annals log retain` over many blobs, half of which only the log has:
#   scripts/retention.sh [BLOBS] [path of the program]
# It prints the seconds of each strategy, of a second run and of the release, and fails where git's fsck is
# not clean or a gc removed one.
set -euo pipefail
blobs=${1:-20000}
annals=$(realpath "${2:-${CARGO_TARGET_DIR:-target}/debug/annals}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export ANNALS_LOG=$work/log GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
"$annals" log init > /dev/null

# A commit, and half of the blobs in a pack.
git init -q template
git -C template -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m first
python3 - "$blobs" > commands <<'PY'
import hashlib, json, sys
count = int(sys.argv[1])
pack = open("blobs", "w")
for first in range(0, count, 1000):
    items = []
    for n in range(first, min(first + 1000, count)):
        text = f"blob {n} {hashlib.sha256(str(n).encode()).hexdigest()}\n" * 8
        if n % 2:
            items.append({"kind": "snippet", "path": f"note {n}", "content": text})
        else:
            data = text.encode()
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            items.append({"kind": "url", "path": f"https://example.org/{n}", "blob": blob})
            pack.write(f"blob\ndata {len(data)}\n{text}\n")
    print(json.dumps({"command": "open_snapshot", "actor": {"kind": "agent", "id": "a"},
                      "selection_strategy": "explicit", "items": items}))
PY
git -C template fast-import --quiet < blobs
"$annals" service apply commands > answers
grep -c '"ok":true' answers | sed 's/$/ snapshots/'

seconds() {
    local start=$EPOCHREALTIME
    "$@" > out || return
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }'
}
for how in refs orphan keep-pack custom-gc; do
    cp -r template "$how"
    retain=("$annals" log retain --repo "$how" --as "$how")
    first=$(seconds "${retain[@]}")
    again=$(seconds "${retain[@]}")
    git -C "$how" fsck --full --strict --no-dangling 2> complaints
    [ ! -s complaints ] || { cat complaints; exit 1; }
    line="$how: $first, again $again"
    if [ "$how" != custom-gc ]; then
        git -C "$how" gc -q --prune=now
        left=$(git -C "$how" cat-file --batch-check --batch-all-objects | grep -c ' blob ')
        [ "$left" = "$blobs" ] || { echo "$how: $left blobs are left"; exit 1; }
        release=$(seconds "${retain[@]}" --release)
        line="$line, release $release"
        git -C "$how" gc -q --prune=now
        # Not grep -q, which would end git before it has said all.
        left=$(git -C "$how" cat-file --batch-check --batch-all-objects | grep -c ' blob ' || true)
        [ "$left" = 0 ] || { echo "$how: $left blobs stay"; exit 1; }
    else
        [ "$(wc -l < out)" = "$blobs" ] || { echo "$how: $(wc -l < out) ids"; exit 1; }
        protect=$(seconds "${retain[@]}" --protect)
        line="$line, --protect $protect"
    fi
    echo "$line"
done
