#!/usr/bin/env python3
"""Counts what sessions of Copilot CLI hold: prompts, calls by name, tokens, files touched, sub-agents.

    copilot.py FILE...

Prints the same table as `scripts/recount.py log` does of a log. It shares nothing with the importer, so that a
difference is a mistake in one of them.
"""

import json
import sys
from collections import Counter

WRITE = ("create", "edit")


def events(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def arguments(given):
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {}
    return given if isinstance(given, dict) else {}


def count(path, counts):
    calls, outputs, ends = {}, {}, Counter()
    for event in events(path):
        kind, data = event.get("type"), event.get("data") or {}
        if kind == "user.message":
            counts["prompts"] += data.get("source") in (None, "user") and bool(data.get("content", "").strip())
        elif kind == "assistant.message":
            outputs[data.get("messageId")] = data.get("outputTokens") or 0
            for request in data.get("toolRequests") or []:
                calls[request.get("toolCallId")] = (request.get("name"), arguments(request.get("arguments")))
        elif kind in ("tool.execution_start", "tool.user_requested"):
            calls.setdefault(data.get("toolCallId"), (data.get("toolName"), arguments(data.get("arguments"))))
        elif kind == "subagent.started":
            counts["sub-agents"] += 1
        elif kind == "session.shutdown":
            for metric in (data.get("modelMetrics") or {}).values():
                ends.update(metric.get("usage") or {})
    for name, given in calls.values():
        counts[f"tool {name}"] += 1
        if name in WRITE and given.get("path"):
            counts[f"written {given['path']}"] += 1
    cached = ends["cacheReadTokens"] + ends["cacheWriteTokens"]
    counts["tokens, uncached input"] += max(ends["inputTokens"] - cached, 0)
    counts["tokens, cache read"] += ends["cacheReadTokens"]
    counts["tokens, cache write"] += ends["cacheWriteTokens"]
    counts["tokens, output"] += max(ends["outputTokens"], sum(outputs.values()))


def main():
    counts = Counter()
    for path in sys.argv[1:]:
        count(path, counts)
    for name, number in sorted(counts.items()):
        if number:
            print(f"{number:>12}  {name}")


main()
