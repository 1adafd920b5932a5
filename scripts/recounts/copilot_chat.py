#!/usr/bin/env python3
"""Counts what databases of Copilot Chat hold: copilot_chat.py FILE...

Prints the same table as `scripts/recount.py log` does of a log. It shares nothing with the importer: what was called
is taken from what the models answered.
"""

import json
import re
import sqlite3
import sys
from collections import Counter

PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.M)
WRITE = ("create_file", "insert_edit_into_file", "replace_string_in_file")
SPAN = "span_id, parent_span_id, operation_name, input_tokens, cached_tokens, output_tokens, chat_session_id"


def count_call(counts, call):
    counts["tool " + call["name"]] += 1
    given = call.get("arguments") or {}
    given = json.loads(given) if isinstance(given, str) else given
    for path in PATCHED.findall(given.get("input") or ""):
        counts["written " + path] += 1
    for path in {one.get("filePath") for one in given.get("replacements") or []}:
        counts["written " + path] += 1
    path = given.get("filePath")
    if path and call["name"] in WRITE:
        counts["written " + path] += 1
    elif path and call["name"] == "read_file":
        counts["read " + path] += 1


def count(name, counts):
    database = sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True)
    attribute = "SELECT value FROM span_attributes WHERE span_id = ? AND key = ?"
    value = lambda span, key: (database.execute(attribute, [span, key]).fetchone() or [None])[0]
    beside = set()
    for span, above, operation, input, cached, output, session in database.execute(f"SELECT {SPAN} FROM spans"):
        if operation == "invoke_agent":
            counts["prompts"] += above is None
            beside |= {span} if above else set()
        if operation not in ("chat", "generate_content", "text_completion"):
            continue
        # What the program asks beside the conversation that it names.
        if session is None and above is None and value(span, "copilot_chat.parent_chat_session_id"):
            beside.add(span)
        written = int(value(span, "gen_ai.usage.cache_creation.input_tokens") or 0)
        counts["tokens, uncached input"] += (input or 0) - (cached or 0) - written
        counts["tokens, cache write"] += written
        counts["tokens, cache read"] += cached or 0
        counts["tokens, output"] += output or 0
        for message in json.loads(value(span, "gen_ai.output.messages") or "[]"):
            for part in message["parts"]:
                if part["type"] == "tool_call":
                    count_call(counts, part)
    counts["sub-agents"] += len(beside)


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
