#!/usr/bin/env python3
"""Counts what a trajectory of SWE-agent or mini-swe-agent holds: prompts, calls by name, tokens, files touched.

    swe_agent.py FILE...

Prints the same table as `scripts/recount.py log` does of a log. It shares nothing with the importer, so that a
difference is a mistake in one of them.
"""

import json
import re
import sys
from collections import Counter

NAMED = ("path", "filename", "file_path")


def is_demo(message):
    return message.get("is_demo") or message.get("message_type") == "demonstration"


def calls(message):
    for call in message.get("tool_calls") or []:
        yield call["function"]["name"], json.loads(call["function"]["arguments"])
    if message.get("tool_calls"):
        return
    blocks = re.findall(r"```(?:mswea_bash_command|bash|sh)\n(.*?)\n```", message.get("content") or "", re.S)
    command = message["action"] if "action" in message else blocks[0] if len(blocks) == 1 else None
    if command:
        yield "bash", {"command": command}


def count(path):
    document = json.load(open(path, encoding="utf-8"))
    run = {"messages": document} if isinstance(document, list) else document
    counts, steps = Counter(), iter(run.get("trajectory") or [])
    messages = [message for message in run.get("history") or run["messages"] if not is_demo(message)]
    counts["prompts"] = int(any(message["role"] == "user" for message in messages))
    for message in messages:
        if message["role"] != "assistant":
            continue
        step = next(steps, {})
        usage = ((message.get("extra") or {}).get("response") or {}).get("usage")
        if usage:
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
            counts["tokens, uncached input"] += usage["prompt_tokens"] - cached
            counts["tokens, cache read"] += cached
            counts["tokens, output"] += usage["completion_tokens"]
        for name, arguments in calls(message):
            counts[f"tool {name}"] += 1
            path = next((arguments[key] for key in NAMED if key in arguments), None)
            if name in ("edit", "insert", "append"):
                path = path or step["state"]["open_file"]
            if path and name in ("open", "create", "edit", "insert", "append"):
                counts[f"{'read' if name == 'open' else 'written'} {path}"] += 1
    stats = (run.get("info") or {}).get("model_stats") or {}
    counts["tokens, uncached input"] += stats.get("tokens_sent") or 0
    counts["tokens, output"] += stats.get("tokens_received") or 0
    return counts


counts = sum((count(file) for file in sys.argv[1:]), Counter())
for name, number in sorted(counts.items()):
    print(f"{number:>12}  {name}")
