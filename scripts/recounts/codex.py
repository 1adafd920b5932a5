#!/usr/bin/env python3
"""Counts what rollouts of Codex hold: prompts, calls by name, tokens, files touched, sub-agents.

    codex.py FILE...

Prints the same table as `scripts/recount.py log` does of a log. It shares nothing with the importer, so that a
difference is a mistake in one of them.
"""

import json
import re
import sys
from collections import Counter

BY_PROGRAM = re.compile(
    r"\s*(# AGENTS\.md instructions|<environment_context>|<user_instructions>|<INSTRUCTIONS>|<turn_aborted>"
    r"|<subagent_notification>|<user_shell_command>|<skill>|<image|</image>|Another language model started to solve)")
HEAD = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.M)
CALLS = {"local_shell_call": "local_shell", "web_search_call": "web_search", "tool_search_call": "tool_search"}


def texts(payload):
    content = payload.get("content") or []
    parts = [{"text": content}] if isinstance(content, str) else content
    return [part["text"] for part in parts if isinstance(part.get("text"), str)]


def asked(payload):
    words = [text for text in texts(payload) if not BY_PROGRAM.match(text)]
    return "\n".join(words).strip()


def lines(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def count(path, counts):
    seen, total, is_side = set(), {}, False
    for line in lines(path):
        payload = line.get("payload", line)
        if not isinstance(payload, dict) or json.dumps(line) in seen:
            continue
        seen.add(json.dumps(line))
        kind = payload.get("type")
        if line.get("type") == "session_meta":
            is_side = "subagent" in str(payload.get("source"))
            counts["sub-agents"] += is_side
        elif kind == "message" and payload.get("role") == "user" and not is_side:
            counts["prompts"] += bool(asked(payload))
        elif kind in ("function_call", "custom_tool_call") or kind in CALLS:
            counts["tool " + CALLS.get(kind, payload.get("name") or "(unnamed)")] += 1
            given = json.dumps(payload.get("arguments") or payload.get("input") or payload.get("action"))
            while "\\n" in given:
                given = given.replace("\\\\", "\\").replace("\\n", "\n")
            for found in HEAD.finditer(given if "*** Begin Patch" in given else ""):
                counts["written " + (found.group(1) or found.group(2))] += 1
        elif kind == "token_count" and isinstance(payload.get("info"), dict):
            total = payload["info"].get("total_token_usage") or total
    cached = total.get("cached_input_tokens", 0)
    counts["tokens, uncached input"] += total.get("input_tokens", 0) - cached
    counts["tokens, cache read"] += cached
    counts["tokens, output"] += total.get("output_tokens", 0)


def main():
    counts = Counter()
    for path in sys.argv[1:]:
        count(path, counts)
    for name, number in sorted(counts.items()):
        if number:
            print(f"{number:>12}  {name}")


main()
