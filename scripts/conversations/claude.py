"""Recordings of Claude Code: JSONL, a session over one or more files, sub-agents in files or lines of their own."""

import json
import os
import re

from .item import Chain, lines_of, texts_of

# What the program adds to a prompt, before or behind it.
BEFORE = re.compile(r"\A\s*<(ide_[a-z_]*|system-reminder)>.*?</\1>", re.S)
BEHIND = re.compile(r"(?:\A|\n)<(ide_[a-z_]*|system-reminder)>(?:(?!</?\1>).)*</\1>\s*\Z", re.S)
COMMAND = re.compile(r"\A\s*<command-(?:name|message|args|contents)>", re.S)
NOTICES = re.compile(r"\A\s*<(local-command-[a-z]+|bash-input|bash-stdout|bash-stderr|task-notification|user-memory-input)>")
INTERRUPTED = "[Request interrupted by user"


def recognizes(path, first):
    return path.endswith(".jsonl") and isinstance(first, dict) and (
        "sessionId" in first and first.get("type") not in (None, "session.start") and "chats" not in path
        and "payload" not in first and "projectHash" not in first
        or first.get("type") in ("summary", "file-history-snapshot", "queue-operation"))


def read(paths):
    reader = Reader(paths)
    for path in order(paths):
        for number, line in lines_of(path):
            reader.line(line, f"{os.path.basename(path)}:{number}", path)
    reader.find_callers()
    return [chain for chain in reader.chains.values() if chain.items]


def order(paths):
    """Sessions before the files of their sub-agents, whose lines a session's file may repeat; a session that another
    one continues has ended before."""
    return sorted(paths, key=lambda path: (os.path.basename(path).startswith("agent-"), last_time(path), path))


def last_time(path):
    return max((line.get("timestamp") or "" for _, line in lines_of(path)), default="")


class Reader:
    def __init__(self, paths):
        self.chains, self.seen, self.sides = {}, {}, {}
        self.called, self.answered, self.models = set(), set(), {}
        self.delivered = deliveries(paths)
        # Who made each call, which call names which sub-agent, and what each sub-agent's companion says.
        self.makers, self.named, self.companions = {}, {}, {}
        # The prompts of each session since the model's newest answer: on lines of the user, and in attachments.
        self.typed, self.attached = {}, {}

    def chain(self, session, side):
        key = (session, side)
        if key not in self.chains:
            self.chains[key] = Chain(f"{session}/{side}" if side else str(session), bool(side))
        return self.chains[key]

    def line(self, line, where, path):
        data = line.get("data")
        if line.get("type") == "progress" and isinstance(data, dict) and data.get("type") == "agent_progress":
            inner = data.get("message")
            if isinstance(inner, dict):
                within = {**inner, "isSidechain": True, "agentId": data.get("agentId"), "sessionId": line.get("sessionId")}
                self.line(within, where, path)
            return
        uuid, session = line.get("uuid"), line.get("sessionId")
        if uuid and uuid in self.seen:
            # A session under a new id that repeats an older one continues it.
            if self.seen[uuid] != session and not line.get("isSidechain"):
                self.chain(session, None).continues = self.chain(self.seen[uuid], None)
            return
        self.seen[uuid] = session
        chain = self.chain(line.get("sessionId"), self.side(line))
        if line.get("agentId"):
            self.companion(line, path)
        kind = line.get("type")
        if kind == "user":
            self.user(chain, line, where)
        elif kind == "assistant":
            self.assistant(chain, line, where)
        elif kind == "attachment":
            self.attachment(chain, line, line.get("attachment") or {}, where)
        elif kind == "queue-operation" and line.get("operation") == "enqueue":
            self.queued(chain, line, where)
        elif kind == "system" and line.get("subtype") == "local_command":
            chain.note(line.get("content"), where, required=False)

    def side(self, line):
        if not line.get("isSidechain"):
            return None
        side = line.get("agentId") or self.sides.get(line.get("parentUuid")) or line.get("uuid")
        self.sides[line.get("uuid")] = side
        return side

    def user(self, chain, line, where):
        content = (line.get("message") or {}).get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            if block.get("tool_use_id") not in self.answered:
                self.answered.add(block.get("tool_use_id"))
                chain.result(block.get("tool_use_id"), block.get("content") or "", where)
        said = [text for block in blocks if block.get("type") == "text" for text in texts_of(block)]
        text = "\n".join(said)
        agent = line.get("toolUseResult")
        if results and isinstance(agent, dict) and agent.get("agentId"):
            self.named[session_key(line, agent["agentId"])] = results[0].get("tool_use_id")
        if not results and self.repeats(line, text, self.attached, self.typed):
            return
        if line.get("isCompactSummary"):
            chain.note(text, where)
        elif line.get("isMeta"):
            chain.note(text, where, required=False)
        elif text.lstrip().startswith(INTERRUPTED) or NOTICES.match(text) or results:
            chain.note(text, where, required=not NOTICES.match(text))
        elif COMMAND.match(text):
            chain.note(text, where, required=False)
        else:
            prompt(chain, text, where)

    def assistant(self, chain, line, where):
        message = line.get("message") or {}
        content = message.get("content") or []
        if not line.get("isSidechain"):
            self.typed.pop(line.get("sessionId"), None)
            self.attached.pop(line.get("sessionId"), None)
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            kind = block.get("type")
            if kind == "text":
                of_program = line.get("isApiErrorMessage") or message.get("model") == "<synthetic>"
                kinds = ("answer", "error", "note") if of_program else ("answer",)
                chain.add("answer", block.get("text"), where, kinds=kinds)
            elif kind == "thinking":
                chain.add("thinking", block.get("thinking"), where)
            elif kind in ("tool_use", "server_tool_use") and block.get("id") not in self.called:
                self.called.add(block.get("id"))
                self.makers[block.get("id")] = chain
                chain.call(block.get("id"), block.get("name"), block.get("input"), where)
            elif kind and kind.endswith("_tool_result"):
                chain.result(block.get("tool_use_id"), block.get("content") or "", where)

    def attachment(self, chain, line, attachment, where):
        if attachment.get("type") != "queued_command":
            return
        text = "\n".join(texts_of(attachment.get("prompt")))
        sender = (attachment.get("origin") or {}).get("kind", "human")
        is_prompt = attachment.get("commandMode", "prompt") == "prompt" and not attachment.get("isMeta")
        if not is_prompt or sender != "human" or NOTICES.match(text):
            chain.note(text, where, required=False)
        elif not self.repeats(line, text, self.typed, self.attached):
            prompt(chain, text, where, floats=True)

    def repeats(self, line, text, before, own):
        """Whether a line has the prompt that a line of the other kind had just before: typed, or queued and attached."""
        if line.get("isSidechain") or not text.strip():
            return False
        session, text = line.get("sessionId"), text.strip()
        if text in before.get(session, ()):
            before[session].remove(text)
            return True
        own.setdefault(session, []).append(text)
        return False

    def companion(self, line, path):
        """Reads what is next to the recording of a sub-agent."""
        key = session_key(line, line["agentId"])
        name = os.path.join(os.path.dirname(path), f"agent-{line['agentId']}.meta.json")
        if key not in self.companions and os.path.exists(name):
            with open(name, encoding="utf-8") as file:
                self.companions[key] = json.load(file)

    def find_callers(self):
        """The chain of the call that started each sub-agent: by its companion, or by the call's result."""
        for (session, side), chain in self.chains.items():
            about = self.companions.get((session, side), {})
            call = about.get("toolUseId") or self.named.get((session, side))
            parent = (session, about.get("parentAgentId"))
            if side and call in self.makers:
                chain.caller = self.makers[call]
            elif side and parent in self.chains and parent[1]:
                chain.caller = self.chains[parent]

    def queued(self, chain, line, where):
        text = line.get("content")
        if not isinstance(text, str) or NOTICES.match(text):
            return
        key = (line.get("sessionId"), text.strip())
        if self.delivered.get(key):
            self.delivered[key] -= 1
        else:
            prompt(chain, text, where, floats=True)


def session_key(line, agent):
    return line.get("sessionId"), agent


def prompt(chain, text, where, **more):
    bare = text
    while BEFORE.search(bare):
        bare = BEFORE.sub("", bare)
    while BEHIND.search(bare):
        bare = BEHIND.sub("", bare)
    if bare.strip():
        chain.add("prompt", bare.strip("\n"), where, also=(text,) if text != bare else (), **more)
    else:
        chain.note(text, where, required=False)


def deliveries(paths):
    """How often a prompt that was typed while the agent worked is also on a line that delivers it."""
    queued, found, seen = {}, {}, set()
    for path in paths:
        for _, line in lines_of(path):
            session = line.get("sessionId")
            if line.get("type") == "queue-operation" and line.get("operation") == "enqueue":
                key = (session, str(line.get("content")).strip())
                queued[key] = queued.get(key, 0) + 1
                continue
            if line.get("uuid") in seen:
                continue
            seen.add(line.get("uuid"))
            content = (line.get("message") or {}).get("content") if line.get("type") == "user" else None
            attachment = line.get("attachment") or {}
            if attachment.get("type") == "queued_command":
                content = attachment.get("prompt")
            key = (session, "\n".join(texts_of(content)).strip())
            if found.get(key, 0) < queued.get(key, 0):
                found[key] = found.get(key, 0) + 1
    return found
