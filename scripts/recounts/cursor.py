#!/usr/bin/env python3
"""Counts what transcripts of Cursor hold: cursor.py FILE...

Prints the same table as `scripts/recount.py log` does of a log. It shares nothing with the importer.
"""

import json
import os
import re
import sys
from collections import Counter

WRITE = ("Write", "StrReplace", "Edit", "MultiEdit", "Delete")
PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.M)
TYPED = re.compile(r"<user_query>(.*)</user_query>", re.S)
BY_PROGRAM = ("<attached_files>", "<conversation_summary>", "<open_and_recently_viewed_files>", "<system", "<user_info>")


def is_prompt(content):
    texts = [content] if isinstance(content, str) else [p.get("text") or "" for p in content if p.get("type") == "text"]
    text = "\n".join(texts).strip()
    typed = TYPED.search(text)
    return bool(typed.group(1).strip()) if typed else bool(text) and not text.startswith(BY_PROGRAM)


def count(name, counts):
    is_side = os.path.basename(os.path.dirname(os.path.abspath(name))) == "subagents"
    counts["sub-agents"] += is_side
    with open(name, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    for line in lines:
        content = (line.get("message") or {}).get("content") or []
        if line.get("role") == "user":
            counts["prompts"] += is_prompt(content) and not is_side
        if line.get("role") != "assistant" or isinstance(content, str):
            continue
        for call in (part for part in content if part.get("type") == "tool_use"):
            counts["tool " + call["name"]] += 1
            given = call.get("input") or {}
            patch = given if isinstance(given, str) else given.get("patch") or given.get("input") or ""
            for path in PATCHED.findall(patch) if call["name"] == "ApplyPatch" else []:
                counts["written " + path] += 1
            given = {} if isinstance(given, str) else given
            path = given.get("path") or given.get("file_path") or given.get("target_file")
            if path and call["name"] in WRITE:
                counts["written " + path] += 1
            elif path and call["name"] == "Read":
                counts["read " + path] += 1


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
