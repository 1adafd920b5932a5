#!/usr/bin/env python3
"""Counts what databases of OpenCode hold: opencode.py FILE...

Prints the same table as `scripts/recount.py log` does of a log. It shares nothing with the importer.
"""

import json
import re
import sqlite3
import sys
from collections import Counter

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
    database = sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True)
    sides = dict(database.execute("SELECT id, parent_id FROM session WHERE parent_id IS NOT NULL"))
    cwds = dict(database.execute("SELECT id, directory FROM session"))
    counts["sub-agents"] += len(sides)
    for id, session, data in database.execute("SELECT id, session_id, data FROM message"):
        message = json.loads(data)
        rows = database.execute("SELECT data FROM part WHERE message_id = ?", [id])
        parts = [json.loads(part) for part, in rows]
        if message["role"] == "user":
            texts = [p["text"] for p in parts if p["type"] == "text" and not p.get("synthetic") and not p.get("ignored")]
            counts["prompts"] += any(text.strip() for text in texts) and session not in sides
            continue
        steps = [part["tokens"] for part in parts if part["type"] == "step-finish" and part.get("tokens")]
        for tokens in steps or [message.get("tokens") or {}]:
            add_tokens(counts, tokens)
        cwd = (message.get("path") or {}).get("cwd") or cwds.get(session)
        for part in parts:
            if part["type"] == "tool":
                count_call(counts, part, cwd)


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
