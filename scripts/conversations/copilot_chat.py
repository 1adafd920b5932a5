"""Databases of Copilot Chat: OpenTelemetry spans in SQLite."""

import json
import os
import sqlite3

from .item import Chain, parsed

CHATS = ("chat", "generate_content", "text_completion")


def recognizes(path, first):
    return path.endswith((".db", ".sqlite")) and "spans" in (first or ())


def read(paths):
    return [chain for path in paths for chain in Reader(path).read() if chain.items]


class Reader:
    def __init__(self, path):
        self.name = os.path.basename(path)
        self.database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        columns = "span_id, parent_span_id, operation_name, tool_name, chat_session_id, conversation_id"
        rows = self.database.execute(f"SELECT {columns} FROM spans ORDER BY start_time_ms, rowid")
        self.spans = [dict(zip(("id", "above", "kind", "tool", "session", "conversation"), row)) for row in rows]
        self.by_id = {span["id"]: span for span in self.spans}
        self.chains = {}

    def read(self):
        for span in self.spans:
            where, kind = f"{self.name}: span {span['id']}", span["kind"]
            if kind == "invoke_agent":
                self.prompts(self.chain(span), span, where)
            elif kind in CHATS:
                self.chat(self.chain(span), span, where)
            elif kind == "execute_tool":
                self.tool(self.chain(span), span, where)
        return list(self.chains.values())

    def value(self, span, key):
        query = "SELECT value FROM span_attributes WHERE span_id = ? AND key = ?"
        found = self.database.execute(query, [span["id"], key]).fetchone()
        return found[0] if found else None

    def chain(self, span):
        """The chain of the agent above; a request without one is a chain of its own, which need not be shown."""
        up = span
        while up and up["kind"] != "invoke_agent":
            up = self.by_id.get(up["above"])
        if up and up["above"] in self.by_id:
            key = up["id"]
        elif up:
            key = up["session"] or up["conversation"]
        else:
            key = span["id"]
        if key not in self.chains:
            self.chains[key] = Chain(str(key), is_sub_agent=not up or up["above"] in self.by_id)
        return self.chains[key]

    def prompts(self, chain, span, where):
        query = "SELECT attributes FROM span_events WHERE span_id = ? AND name = 'user_message' ORDER BY timestamp_ms"
        rows = self.database.execute(query, [span["id"]]).fetchall()
        texts = [json.loads(row[0] or "{}").get("content") for row in rows]
        for text in texts or [self.value(span, "copilot_chat.user_request")]:
            chain.add("prompt", text, where)

    def chat(self, chain, span, where):
        is_alone = span["above"] not in self.by_id
        messages = parsed(self.value(span, "gen_ai.input.messages") or "[]")
        if is_alone:
            for message in messages:
                if message.get("role") == "user":
                    text = "\n".join(part.get("content") or "" for part in message["parts"])
                    chain.add("prompt", text, where, kinds=("prompt", "note"), required=False)
        for message in messages:
            for part in message.get("parts") or []:
                call = chain.calls.get(part.get("id"))
                if part.get("type") == "tool_call_response" and call and isinstance(part.get("response"), str):
                    self.answered(chain, part["id"], part["response"], where)
        for message in parsed(self.value(span, "gen_ai.output.messages") or "[]"):
            for part in message.get("parts") or []:
                self.part(chain, part, where, not is_alone)

    def part(self, chain, part, where, required):
        kind = part.get("type")
        if kind == "text":
            chain.add("answer", part.get("content"), where, required=required)
        elif kind == "reasoning":
            chain.add("thinking", part.get("content"), where, required=required)
        elif kind == "tool_call":
            chain.call(part.get("id"), part.get("name"), parsed(part.get("arguments")), where, required=required)

    def answered(self, chain, id, text, where):
        """A result is in the call's span and in the next request, perhaps in another form."""
        for item in chain.items:
            if item.kind == "result" and item.call is chain.calls[id]:
                item.also += (text,)
                return
        chain.result(id, text, where)

    def tool(self, chain, span, where):
        id = self.value(span, "gen_ai.tool.call.id") or span["id"]
        result = self.value(span, "gen_ai.tool.call.result")
        if id in chain.calls:
            chain.result(id, result or "", where)
        else:
            # The program's own call, which no model asked for.
            args = parsed(self.value(span, "gen_ai.tool.call.arguments"))
            chain.call(id, span["tool"], args, where, required=False)
            chain.result(id, result or "", where, required=False)
