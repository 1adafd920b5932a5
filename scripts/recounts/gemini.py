#!/usr/bin/env python3
"""Counts what sessions of Gemini CLI hold: gemini.py FILE...

Prints the same table as `scripts/recount.py log` does of a log. It shares nothing with the importer.
"""

import json
import sys
from collections import Counter

BY_PROGRAM = ("<session_context>", "<state_snapshot>", "This is the Gemini CLI. We are setting up")
WRITE = ("replace", "edit", "write_file")


def messages(name):
    """The messages of a file by their ids, each as it was written last, and whether they are a sub-agent's."""
    with open(name, encoding="utf-8") as file:
        text = file.read()
    try:
        records = [json.loads(text)]
    except ValueError:
        records = [json.loads(line) for line in text.splitlines() if line.strip()]
    found, is_side = {}, False
    for record in records:
        record = record.get("$set", record)
        is_side = is_side or record.get("kind") == "subagent"
        for message in record.get("messages", [record] if "id" in record else []):
            found[message["id"]] = message
    return found.values(), is_side


def text_of(content):
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content or {}]
    return "\n".join(part if isinstance(part, str) else part.get("text") or "" for part in parts)


def is_over(call):
    return call.get("result") is not None or call.get("status") in ("success", "error", "cancelled")


def count(name, counts):
    found, is_side = messages(name)
    for message in found:
        text = text_of(message.get("content"))
        if message.get("type") == "user" and text.strip() and not text.lstrip().startswith(BY_PROGRAM):
            counts["prompts"] += not is_side
        tokens = message.get("tokens") or {}
        cached = tokens.get("cached") or 0
        counts["tokens, uncached input"] += (tokens.get("input") or 0) - cached + (tokens.get("tool") or 0)
        counts["tokens, cache read"] += cached
        counts["tokens, output"] += (tokens.get("output") or 0) + (tokens.get("thoughts") or 0)
        for call in message.get("toolCalls") or []:
            counts["tool " + call["name"]] += 1
            counts["calls without a result"] += not is_over(call)
            args = call.get("args") or {}
            path = args.get("file_path") or args.get("absolute_path")
            if path and call["name"] in WRITE:
                counts["written " + path] += 1
            elif path and call["name"] == "read_file":
                counts["read " + path] += 1
    counts["sub-agents"] += is_side


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
