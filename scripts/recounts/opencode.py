#!/usr/bin/env python3
"""Counts what databases of OpenCode hold: opencode.py FILE...

Prints the same table as `scripts/recount.py log` does of a log. It shares nothing with the importer.
"""

import re
import sys
from collections import Counter

from opencode_messages import messages

PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.M)
WRITE = ("edit", "write", "multiedit")


def relative(path, cwd):
    return path[len(cwd) + 1:] if cwd and path.startswith(cwd + "/") else path


def add_tokens(counts, tokens):
    cache = tokens.get("cache") or {}
    without = sum([tokens.get("input") or 0, tokens.get("output") or 0, cache.get("read") or 0, cache.get("write") or 0])
    reasoning = 0 if tokens.get("total") == without else tokens.get("reasoning") or 0
    counts["tokens, uncached input"] += tokens.get("input") or 0
    counts["tokens, cache read"] += cache.get("read") or 0
    counts["tokens, cache write"] += cache.get("write") or 0
    counts["tokens, output"] += (tokens.get("output") or 0) + reasoning


def count_call(counts, part, cwd):
    state = part.get("state") or {}
    counts["tool " + part["tool"]] += 1
    counts["calls without a result"] += state.get("status") not in ("completed", "error")
    input = state.get("input") or {}
    for path in PATCHED.findall(input.get("patchText") or ""):
        counts["written " + relative(path, cwd)] += 1
    path = input.get("filePath")
    if path and part["tool"] in WRITE:
        counts["written " + relative(path, cwd)] += 1
    elif path and part["tool"] == "read":
        counts["read " + relative(path, cwd)] += 1


def count(name, counts):
    sides = set()
    for session, parent, folder, is_person, message, parts in messages(name):
        if parent:
            sides.add(session)
        if is_person:
            texts = [p["text"] for p in parts if p["type"] == "text" and not p.get("synthetic") and not p.get("ignored")]
            counts["prompts"] += any(text.strip() for text in texts) and not parent
            continue
        steps = [part["tokens"] for part in parts if part["type"] == "step-finish" and part.get("tokens")]
        for tokens in steps or [message.get("tokens") or {}]:
            add_tokens(counts, tokens)
        cwd = (message.get("path") or {}).get("cwd") or folder
        for part in parts:
            if part["type"] == "tool":
                count_call(counts, part, cwd)
    counts["sub-agents"] += len(sides)


def main(names):
    if not names:
        sys.exit(__doc__)
    counts = Counter()
    for name in names:
        count(name, counts)
    for name, number in sorted(counts.items()):
        if number:
            print(f"{number:>12}  {name}")


main(sys.argv[1:])
