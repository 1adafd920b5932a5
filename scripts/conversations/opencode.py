"""OpenCode's SQLite database: messages with parts, or, since version 2, session messages."""

import json
import os
import sqlite3

from .item import Chain


def recognizes(path, first):
    return path.endswith((".db", ".sqlite")) and bool({"message", "session_message"} & set(first or ()))


def read(paths):
    return [chain for path in paths for chain in Reader(path).read() if chain.items]


class Reader:
    def __init__(self, path):
        self.name = os.path.basename(path)
        self.database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        rows = self.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        self.tables = {row[0] for row in rows}
        self.chains = {}

    def read(self):
        if "message" in self.tables:
            self.version_1()
        if "session_message" in self.tables:
            self.version_2()
        return list(self.chains.values())

    def chain(self, session):
        if session not in self.chains:
            self.chains[session] = Chain(session, is_sub_agent=bool(self.parent(session)))
        return self.chains[session]

    def parent(self, session):
        for table in {"session", "session_v2"} & self.tables:
            found = self.database.execute(f"SELECT parent_id FROM {table} WHERE id = ?", [session]).fetchone()
            if found and found[0]:
                return found[0]
        return None

    def version_1(self):
        query = "SELECT id, session_id, data FROM message ORDER BY time_created, id"
        for id, session, data in self.database.execute(query).fetchall():
            message = json.loads(data)
            parts = self.database.execute("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", [id])
            for part, data in parts.fetchall():
                self.part(self.chain(session), message, json.loads(data), f"{self.name}: part {part}")

    def part(self, chain, message, part, where):
        kind, text = part.get("type"), part.get("text")
        if kind == "text" and (part.get("synthetic") or part.get("ignored")):
            chain.note(text, where, required=False)
        elif kind == "text":
            of = "prompt" if message.get("role") == "user" else "answer"
            chain.add(of, text, where)
        elif kind == "reasoning":
            chain.add("thinking", text, where)
        elif kind == "tool":
            state = part.get("state") or {}
            chain.call(part.get("callID"), part.get("tool"), state.get("input"), where)
            chain.result(part.get("callID"), state.get("output") or state.get("error") or "", where)

    def version_2(self):
        query = "SELECT id, session_id, type, data FROM session_message ORDER BY session_id, seq"
        for id, session, kind, data in self.database.execute(query).fetchall():
            chain, data, where = self.chain(session), json.loads(data), f"{self.name}: message {id}"
            if kind == "user":
                chain.add("prompt", data.get("text"), where)
            elif kind == "assistant":
                for part in data.get("content") or []:
                    self.part_2(chain, part, where)
            elif kind == "compaction":
                chain.note(data.get("summary"), where)
            else:
                chain.note(data.get("text"), where, required=False)

    def part_2(self, chain, part, where):
        if part.get("type") == "text":
            chain.add("answer", part.get("text"), where)
        elif part.get("type") == "reasoning":
            chain.add("thinking", part.get("text"), where)
        elif part.get("type") == "tool":
            state = part.get("state") or {}
            chain.call(part.get("id"), part.get("name"), state.get("input"), where)
            error = state.get("error")
            error = error.get("message") if isinstance(error, dict) else error
            chain.result(part.get("id"), state.get("content") or error or "", where)
