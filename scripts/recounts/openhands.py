#!/usr/bin/env python3
"""Counts what a recording of OpenHands holds: prompts, calls by name, tokens, files touched, sub-agents.

    openhands.py FILE...    events one a line, a list of them, or a file each

Prints the same table as `scripts/recount.py log` does of a log. It shares nothing with the importer, so that a
difference is a mistake in one of them.
"""

import json
import sys
from collections import Counter

NO_CALLS = {"message", "system", "null", "recall", "condensation", "condensation_request", "change_agent_state"}
EDITORS = {"str_replace_editor", "file_editor", "planning_file_editor"}


def events(path):
    text = open(path, encoding="utf-8").read()
    if text.lstrip().startswith("["):
        return json.loads(text)
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def tokens(counts, usage):
    read, write = usage.get("cache_read_tokens") or 0, usage.get("cache_write_tokens") or 0
    counts["tokens, uncached input"] += usage["prompt_tokens"] - read - write
    counts["tokens, cache read"] += read
    counts["tokens, cache write"] += write
    counts["tokens, output"] += usage["completion_tokens"]


def touched(counts, name, arguments):
    if name in EDITORS and arguments.get("path"):
        kind = "read" if arguments.get("command") == "view" else "written"
        counts[f"{kind} {arguments['path']}"] += 1


def count(files):
    counts, totals, responses, running, seen = Counter(), {}, {}, {}, set()
    for event in (event for path in files for event in events(path)):
        if (event.get("id"), event.get("timestamp")) in seen:
            continue
        seen.add((event.get("id"), event.get("timestamp")))
        if event.get("kind") == "MessageEvent" and event["source"] == "user":
            counts["prompts"] += 1
        if event.get("kind") == "ActionEvent":
            counts[f"tool {event['tool_name']}"] += 1
            touched(counts, event["tool_name"], json.loads(event["tool_call"]["arguments"]))
        if event.get("kind") == "ConversationStateUpdateEvent" and event.get("key") == "stats":
            for name, metrics in event["value"]["usage_to_metrics"].items():
                totals[name] = metrics["accumulated_token_usage"]
        action = event.get("action") if isinstance(event.get("action"), str) else None
        if action == "message" and event["source"] == "user":
            counts["prompts"] += 1
        if action == "delegate":
            counts["sub-agents"] += 1
        if action and action not in NO_CALLS and event["source"] == "agent":
            metadata = event.get("tool_call_metadata") or {}
            name, arguments = metadata.get("function_name", action), event.get("args") or {}
            for choice in (metadata.get("model_response") or {}).get("choices", []):
                for call in choice["message"].get("tool_calls") or []:
                    if call["id"] == metadata["tool_call_id"]:
                        arguments = json.loads(call["function"]["arguments"])
            counts[f"tool {name}"] += 1
            touched(counts, name, arguments)
        if event.get("llm_metrics"):
            running["all"] = event["llm_metrics"]["accumulated_token_usage"]
        response = (event.get("tool_call_metadata") or {}).get("model_response")
        if response:
            usage = response["usage"]
            details = usage.get("prompt_tokens_details") or {}
            usage["cache_read_tokens"] = usage.get("cache_read_input_tokens", details.get("cached_tokens"))
            usage["cache_write_tokens"] = usage.get("cache_creation_input_tokens")
            responses[response["id"]] = usage
    for usage in (totals or running or responses).values():
        tokens(counts, usage)
    return counts


for name, number in sorted(count(sys.argv[1:]).items()):
    if number:
        print(f"{number:>12}  {name}")
