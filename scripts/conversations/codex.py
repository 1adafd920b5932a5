"""Rollouts of Codex: response items are the conversation; events repeat them, or stand alone."""

import json
import os
import re
from collections import Counter

from .item import Chain, lines_of, parsed, texts_of

BY_PROGRAM = re.compile(
    r"\s*(# AGENTS\.md instructions|<environment_context>|<user_instructions>|<INSTRUCTIONS>|<permissions instructions>"
    r"|<subagent_notification>|<user_shell_command>|<skill>|<image|</image>|<collaboration_mode>"
    r"|Another language model started to solve)")
INTERRUPTED = "<turn_aborted>"
CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call", "mcp_call")


def recognizes(path, first):
    return isinstance(first, dict) and (
        first.get("type") == "session_meta" or "payload" in first
        or "instructions" in first and "timestamp" in first and "id" in first)


def read(paths):
    rollouts = [Rollout(path) for path in sorted(paths)]
    # A rollout can be there twice, plain and compressed; one of them may be what it was before it went on.
    by_id = {rollout.id: rollout for rollout in sorted(rollouts, key=lambda it: len(it.lines))}
    rollouts = [rollout for rollout in rollouts if rollout.id is None or by_id[rollout.id] is rollout]
    chains = []
    for rollout in rollouts:
        chain = rollout.chain(by_id.get(rollout.parent))
        if chain.items:
            chains.append(chain)
    return chains


class Rollout:
    def __init__(self, path):
        self.name = os.path.basename(path)
        self.lines = list(lines_of(path))
        metas = [line["payload"] for _, line in self.lines if line.get("type") == "session_meta"]
        first = metas[0] if metas else (self.lines[0][1] if self.lines else {})
        self.id = first.get("id")
        self.parent = first.get("forked_from_id") or (metas[1].get("id") if len(metas) > 1 else None)
        self.is_sub_agent = "subagent" in str(first.get("source"))

    def payloads(self):
        """(number, type of line, payload) without what describes the session."""
        found = []
        for number, line in self.lines:
            payload = line.get("payload", line)
            if isinstance(payload, dict) and line.get("type") != "session_meta" and "instructions" not in line:
                kind = line.get("type") if "payload" in line else "response_item"
                found.append((number, kind, payload))
        return found

    def chain(self, parent):
        payloads, copied = self.payloads(), 0
        if parent:
            for (_, _, mine), (_, _, its) in zip(payloads, parent.payloads()):
                if json.dumps(mine, sort_keys=True) != json.dumps(its, sort_keys=True):
                    break
                copied += 1
        chain = Chain(str(self.id), self.is_sub_agent)
        items = Counter()
        for _, kind, payload in payloads:
            if kind == "response_item":
                items.update((kind, text.strip()) for kind, text in spoken(payload))
        events = Counter()
        for index, (number, kind, payload) in enumerate(payloads):
            if index == copied:
                # A fork repeats its parent's beginning, which a window of it shows, and a list of sessions need not.
                for item in chain.items:
                    item.required = False
            where = f"{self.name}:{number}"
            if kind == "response_item":
                self.item(chain, payload, where)
            elif kind == "compacted":
                chain.note(payload.get("message"), where)
            elif kind == "event_msg":
                for kind, text in said_by_event(payload):
                    key = (kind, text.strip())
                    events[key] += 1
                    if events[key] > items[key]:
                        chain.add(kind, text, where, kinds=(kind, "note"))
                self.event(chain, payload, where)
        return chain

    def item(self, chain, payload, where):
        kind = payload.get("type")
        if kind == "message":
            self.message(chain, payload, where)
        elif kind == "reasoning":
            for text in texts_of(payload.get("summary")) or texts_of(payload.get("content")):
                chain.add("thinking", text, where)
        elif kind in CALLS:
            given = next((payload[key] for key in ("arguments", "input", "action") if payload.get(key)), None)
            name = payload.get("name") or kind.removesuffix("_call")
            id = payload.get("call_id") or payload.get("id") or where
            args = parsed(given) if kind != "custom_tool_call" else given
            chain.call(id, name, args, where)
        elif kind and kind.endswith("_output"):
            output = payload.get("output")
            if isinstance(output, dict) and "content" in output:
                output = output["content"]
            inner = parsed(output)
            also = [inner["output"]] if isinstance(inner, dict) and isinstance(inner.get("output"), str) else []
            chain.result(payload.get("call_id"), output or "", where, also=also)

    def message(self, chain, payload, where):
        texts = texts_of(payload.get("content"))
        if payload.get("role") == "assistant":
            for text in texts:
                chain.add("answer", text, where)
        elif payload.get("role") != "user":
            chain.note("\n".join(texts), where, required=False)
        else:
            own = [text for text in texts if not BY_PROGRAM.match(text)]
            joined = "\n".join(own)
            if joined.lstrip().startswith(INTERRUPTED):
                chain.note(joined, where)
            else:
                chain.add("prompt", joined, where, also=("\n".join(texts),))
            for text in texts:
                if BY_PROGRAM.match(text):
                    chain.note(text, where, required=False)

    def event(self, chain, payload, where):
        """What code mode ran is in events only: the script's call is all that the response items have."""
        item = payload.get("item") or {}
        if payload.get("type") != "item_completed":
            return
        if item.get("type") == "CommandExecution":
            command = item.get("command")
            script = command[-1] if isinstance(command, list) and command else command
            chain.call(item.get("id"), None, {"command": script}, where)
            output = item.get("aggregated_output") or item.get("stdout") or ""
            chain.result(item.get("id"), output, where)
        elif item.get("type") == "FileChange":
            chain.call(item.get("id"), None, None, where)


def spoken(payload):
    if payload.get("type") == "message":
        kind = {"user": "prompt", "assistant": "answer"}.get(payload.get("role"))
        texts = texts_of(payload.get("content"))
        if kind == "prompt":
            texts = ["\n".join(text for text in texts if not BY_PROGRAM.match(text))]
        return [(kind, text) for text in texts if kind]
    if payload.get("type") == "reasoning":
        return [("thinking", text) for text in texts_of(payload.get("summary"))]
    return []


def said_by_event(payload):
    kind = {"user_message": "prompt", "agent_message": "answer", "agent_reasoning": "thinking"}.get(payload.get("type"))
    if kind:
        return [(kind, payload.get("message") or payload.get("text") or "")]
    item = payload.get("item") or {}
    kind = {"UserMessage": "prompt", "AgentMessage": "answer", "Reasoning": "thinking"}.get(item.get("type"))
    if payload.get("type") != "item_completed" or not kind:
        return []
    content = item.get("content") or item.get("summary_text") or []
    return [(kind, text) for text in texts_of(content)]
