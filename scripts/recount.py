#!/usr/bin/env python3
"""Counts what a recording of Claude Code holds, and what a log holds of it.

    recount.py recording FILE...    counts the recordings themselves
    recount.py log < EXPORT         counts what `annals export annals` wrote

Both print the same table: prompts, tool calls by name, tokens by kind, files
by path, edits of files that an earlier result is about. It shares nothing with the importer, so that a difference between the
two tables is a mistake in one of them.
"""

import json
import posixpath
import re
import sys
from collections import Counter

NO_PROMPTS = ("<command-", "<local-command-", "[Request interrupted")
OF_PROGRAMS = re.compile(r"\A\s*<(bash-input|bash-stdout|bash-stderr|task-notification)>.*</\1>", re.S)
# What the program adds to a prompt, before or behind it.
BEFORE = re.compile(r"\A\s*<(ide_[a-z_]*|system-reminder)>.*?</\1>", re.S)
BEHIND = re.compile(r"(?:\A|\n)<(ide_[a-z_]*|system-reminder)>(?:(?!</?\1>).)*</\1>\s*\Z", re.S)
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
    while BEFORE.search(text):
        text = BEFORE.sub("", text)
    if text.lstrip().startswith(NO_PROMPTS) or OF_PROGRAMS.search(text):
        return False
    while BEHIND.search(text):
        text = BEHIND.sub("", text)
    return bool(text.strip())


def relative(path, cwd):
    return path[len(cwd) + 1:] if cwd and path.startswith(cwd + "/") else path


def path_of(block):
    field = "notebook_path" if block["name"] == "NotebookEdit" else "file_path"
    return (block.get("input") or {}).get(field) or ""


class Uses:
    """Edits of files that an earlier result of the same chain is about."""

    def __init__(self):
        self.sides, self.waiting, self.heard, self.known = {}, {}, set(), set()
        self.count = 0

    def line(self, line):
        session, chain = line.get("sessionId"), self.chain(line)
        message = (line.get("message") or {}).get("id") or line.get("uuid")
        if line.get("type") == "user" and is_prompt(line):
            for call in self.waiting.values():
                call["doubted"] = call["doubted"] or call["session"] == session
        if line.get("type") == "assistant" and not line.get("isSidechain"):
            over = lambda call: call["doubted"] and call["session"] == session and call["message"] != message
            self.waiting = {id: call for id, call in self.waiting.items() if not over(call)}
        for block in blocks(line):
            if block.get("type") == "tool_use" and line.get("type") == "assistant":
                path = path_of(block)
                if path and block["name"] in WRITE + ("Read",) and block["id"] not in self.waiting:
                    path = posixpath.join(line.get("cwd") or "", path)
                    self.waiting[block["id"]] = {
                        "session": session, "message": message, "doubted": False,
                        "file": (chain, path), "writes": block["name"] in WRITE,
                    }
            elif block.get("type") == "tool_result":
                self.result(block)

    def chain(self, line):
        if not line.get("isSidechain"):
            return line.get("sessionId"), None
        side = line.get("agentId") or self.sides.get(line.get("parentUuid")) or line.get("uuid")
        self.sides[line.get("uuid")] = side
        return line.get("sessionId"), side

    def result(self, block):
        call = self.waiting.pop(block.get("tool_use_id"), None)
        if not call or block.get("tool_use_id") in self.heard:
            return
        self.heard.add(block.get("tool_use_id"))
        self.count += call["writes"] and call["file"] in self.known
        if not block.get("is_error"):
            self.known.add(call["file"])


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


def with_sub_agents(lines):
    """What a sub-agent said while the session went on is within a line of the session."""
    for line in lines:
        yield line
        data = line.get("data")
        within = isinstance(data, dict) and data.get("type") == "agent_progress" and data.get("message")
        if isinstance(within, dict):
            yield {**within, "isSidechain": True, "agentId": data.get("agentId"), "cwd": line.get("cwd")}


def count_recordings(files):
    counts, usages, calls, uses, agents = Counter(), {}, set(), Uses(), set()
    for line in with_sub_agents(recorded_lines(files)):
        uses.line(line)
        if line.get("type") == "user" and is_prompt(line):
            counts["prompts"] += 1
        if line.get("isSidechain") and line.get("agentId"):
            agents.add(line["agentId"])
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
            path = relative(path_of(block), line.get("cwd"))
            if path and block["name"] in WRITE:
                counts["written " + path] += 1
            if path and block["name"] == "Read":
                counts["read " + path] += 1
    for usage in usages.values():
        for field, name in TOKENS.items():
            counts["tokens, " + name] += usage.get(field) or 0
            # What other models did in the request is not in its totals.
            apart = [it for it in usage.get("iterations") or [] if it.get("type") in ("advisor_message", "compaction")]
            counts["tokens, " + name] += sum(it.get(field) or 0 for it in apart)
    counts["edits of a file that was seen"] = uses.count
    counts["sub-agents"] = len(agents)
    return counts


def count_log(lines):
    counts = Counter()
    for text in lines:
        record = json.loads(text).get("record") or {}
        event, pieces = record.get("event"), record.get("content")
        kind = record.get("type")
        if kind == "intent.submitted":
            counts["prompts"] += 1
        elif kind == "task.created" and event.get("parent"):
            counts["sub-agents"] += 1
        elif kind == "run.tool_invoked":
            counts["tool " + pieces[event["tool_name"]]["text"]] += 1
            footprint = event["io_footprint"] or {}
            for piece in footprint.get("paths_read") or []:
                counts["read " + pieces[piece]["text"]] += 1
        elif kind == "run.patch_set_proposed":
            for file in event["touched"]:
                counts["written " + pieces[file["path"]]["text"]] += 1
        elif kind == "plan.step_frames_linked":
            # A step is linked twice: before the edit, and after it to what it made.
            counts["edits of a file that was seen"] += event["inferred"] and bool(event["iframes"])
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
