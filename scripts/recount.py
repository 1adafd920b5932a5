#!/usr/bin/env python3
"""Counts what a recording of Claude Code holds, and what a log holds of it.

    recount.py recording FILE...    counts the recordings themselves
    recount.py log < EXPORT         counts what `annals export annals` wrote

Both print the same table: prompts, tool calls by name, tokens by kind, files
by path. It shares nothing with the importer, so that a difference between the
two tables is a mistake in one of them.
"""

import json
import sys
from collections import Counter

NO_PROMPTS = ("<command-", "<local-command-", "[Request interrupted")
TOKENS = {
    "input_tokens": "uncached input",
    "cache_read_input_tokens": "cache read",
    "cache_creation_input_tokens": "cache write",
    "output_tokens": "output",
}
WRITE = ("Edit", "MultiEdit", "Write", "NotebookEdit")


def blocks(line):
    content = (line.get("message") or {}).get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def is_prompt(line):
    if any(line.get(flag) for flag in ("isMeta", "isSidechain", "isCompactSummary")):
        return False
    if any(block.get("type") == "tool_result" for block in blocks(line)):
        return False
    text = "\n".join(b.get("text") or "" for b in blocks(line) if b.get("type") == "text")
    return bool(text.strip()) and not text.lstrip().startswith(NO_PROMPTS)


def relative(path, cwd):
    return path[len(cwd) + 1:] if cwd and path.startswith(cwd + "/") else path


def recorded_lines(files):
    seen = set()
    for name in files:
        with open(name, encoding="utf-8", errors="replace") as file:
            for text in file:
                try:
                    line = json.loads(text)
                except ValueError:
                    continue
                uuid = isinstance(line, dict) and line.get("uuid")
                if isinstance(line, dict) and (not uuid or uuid not in seen):
                    seen.add(uuid)
                    yield line


def count_recordings(files):
    counts, usages, calls = Counter(), {}, set()
    for line in recorded_lines(files):
        if line.get("type") == "user" and is_prompt(line):
            counts["prompts"] += 1
        if line.get("type") != "assistant":
            continue
        message = line.get("message") or {}
        if message.get("usage"):
            usages[message.get("id") or line.get("uuid")] = message["usage"]
        for block in blocks(line):
            if block.get("type") != "tool_use" or block["id"] in calls:
                continue
            calls.add(block["id"])
            counts["tool " + block["name"]] += 1
            field = "notebook_path" if block["name"] == "NotebookEdit" else "file_path"
            path = relative((block.get("input") or {}).get(field) or "", line.get("cwd"))
            if path and block["name"] in WRITE:
                counts["written " + path] += 1
            if path and block["name"] == "Read":
                counts["read " + path] += 1
    for usage in usages.values():
        for field, name in TOKENS.items():
            counts["tokens, " + name] += usage.get(field) or 0
    return counts


def count_log(lines):
    counts = Counter()
    for text in lines:
        record = json.loads(text)
        event, pieces = record.get("event"), record.get("content")
        kind = record.get("event_type")
        if kind == "intent.submitted":
            counts["prompts"] += 1
        elif kind == "run.tool_invoked":
            counts["tool " + pieces[event["tool_name"]]["text"]] += 1
            footprint = event["io_footprint"] or {}
            for piece in footprint.get("paths_read") or []:
                counts["read " + pieces[piece]["text"]] += 1
        elif kind == "run.patch_set_proposed":
            for file in event["touched"]:
                counts["written " + pieces[file["path"]]["text"]] += 1
        elif kind == "run.usage_recorded":
            counts["tokens, uncached input"] += event["uncached_input_tokens"]
            counts["tokens, cache read"] += event["cache_read_tokens"]
            counts["tokens, cache write"] += event["cache_write_tokens"]
            counts["tokens, output"] += event["output_tokens"]
    return counts


def main(arguments):
    if arguments[:1] == ["recording"] and len(arguments) > 1:
        counts = count_recordings(arguments[1:])
    elif arguments == ["log"]:
        counts = count_log(sys.stdin)
    else:
        sys.exit(__doc__)
    for name, count in sorted(counts.items()):
        if count:
            print(f"{count:>12}  {name}")


main(sys.argv[1:])
