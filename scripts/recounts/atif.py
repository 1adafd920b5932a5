#!/usr/bin/env python3
"""Counts what trajectories in ATIF hold: atif.py FILE...

Prints the same table as `scripts/recount.py log` does of a log. It shares nothing with the importer.
"""

import json
import sys
from collections import Counter

WRITE = ("Edit", "MultiEdit", "Write", "replace", "write_file", "edit", "write")


EDITORS = ("str_replace_editor", "str_replace_based_edit_tool", "file_editor")


def text_of(message):
    if isinstance(message, str):
        return message
    return "\n".join(part.get("text") or "" for part in message or [])


def add_tokens(counts, metrics):
    cached = metrics.get("cached_tokens") or 0
    written = (metrics.get("extra") or {}).get("cache_creation_input_tokens") or 0
    counts["tokens, uncached input"] += max(0, (metrics.get("prompt_tokens") or 0) - cached - written)
    counts["tokens, cache read"] += cached
    counts["tokens, cache write"] += written
    counts["tokens, output"] += metrics.get("completion_tokens") or 0


def count(trajectory, counts, is_side):
    counts["sub-agents"] += is_side
    for step in trajectory["steps"]:
        if step.get("is_copied_context"):
            continue
        if step["source"] == "user" and not is_side:
            counts["prompts"] += bool(text_of(step["message"]).strip())
        add_tokens(counts, step.get("metrics") or {})
        results = (step.get("observation") or {}).get("results") or []
        answered = {result.get("source_call_id") for result in results}
        for call in step.get("tool_calls") or []:
            counts["tool " + call["function_name"]] += 1
            counts["calls without a result"] += call["tool_call_id"] not in answered
            args = call.get("arguments") or {}
            if call["function_name"] in EDITORS and args.get("path"):
                access = "read " if args.get("command") == "view" else "written "
                counts[access + args["path"]] += 1
            path = args.get("file_path") or args.get("filePath")
            if path and call["function_name"] in WRITE:
                counts["written " + path] += 1
            elif path and call["function_name"] in ("Read", "read", "read_file"):
                counts["read " + path] += 1
    for inner in trajectory.get("subagent_trajectories") or []:
        count(inner, counts, True)


def main(names):
    if not names:
        sys.exit(__doc__)
    counts = Counter()
    for name in names:
        with open(name, encoding="utf-8") as file:
            count(json.load(file), counts, False)
    for name, number in sorted(counts.items()):
        if number:
            print(f"{number:>12}  {name}")


main(sys.argv[1:])
