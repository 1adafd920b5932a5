"""OpenCode's SQLite database: messages with parts, or, since version 2, session messages.

A message that a fork repeats is read where it was written, and one that both generations of tables have is read of the
older one.
"""

import json
import os
import sqlite3

from .item import Chain


def recognizes(path, first):
    return path.endswith((".db", ".sqlite")) and bool({"message", "session_message"} & set(first or ()))


def read(paths):
    return [chain for path in paths for chain in Reader(path).read() if chain.items]


def squeezed(text):
    return "".join(text.split())


class Reader:
    def __init__(self, path):
        self.name = os.path.basename(path)
        self.database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        rows = self.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        self.tables = {row[0] for row in rows}
        self.chains = {}
        self.sessions = {}
        for table in ("session", "session_v2"):
            if table in self.tables:
                for row in self.rows(table):
                    self.sessions[row["id"]] = row
        # Of the older tables: the ids of a session's messages, what they say, and when the last row was written.
        self.ids, self.said, self.until = {}, {}, {}

    def rows(self, table, rest=""):
        cursor = self.database.execute(f"SELECT * FROM {table} {rest}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor.fetchall()]

    def read(self):
        if "message" in self.tables:
            self.version_1()
        if "session_message" in self.tables:
            self.version_2()
        return list(self.chains.values())

    def chain(self, session):
        if session not in self.chains:
            is_sub_agent = bool(self.sessions.get(session, {}).get("parent_id"))
            self.chains[session] = Chain(session, is_sub_agent=is_sub_agent)
        return self.chains[session]

    def is_from_before(self, row):
        """Whether a message was written before its session was begun."""
        begun = self.sessions.get(row["session_id"], {}).get("time_created")
        return begun is not None and row["time_created"] < begun

    def heard(self, row):
        session = row["session_id"]
        self.until[session] = max(self.until.get(session, 0), row["time_created"])

    def version_1(self):
        written = {}
        for row in self.rows("message", "ORDER BY time_created, id"):
            session, message = row["session_id"], json.loads(row["data"])
            self.heard(row)
            self.ids.setdefault(session, set()).add(row["id"])
            key = json.dumps({**message, "parentID": None}, sort_keys=True)
            written.setdefault(key, []).append(session)
            if self.is_from_before(row) and self.has_older(written[key], session):
                continue
            parts = self.database.execute(
                "SELECT id, data, session_id, time_created FROM part WHERE message_id = ? ORDER BY id", [row["id"]])
            texts = []
            for part, data, of, created in parts.fetchall():
                self.heard({"session_id": of, "time_created": created})
                data = json.loads(data)
                texts.append(data.get("text") or data.get("callID") or "")
                self.part(self.chain(session), message, data, f"{self.name}: part {part}")
            said = self.said.setdefault(session, set())
            said.update(squeezed(text) for text in [*texts, "".join(texts)])

    def has_older(self, sessions, own):
        """Whether a session was begun before another one."""
        begun = lambda id: self.sessions.get(id, {}).get("time_created", 0)
        return any(begun(other) < begun(own) for other in sessions)

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
        rows = self.rows("session_message", "ORDER BY session_id, seq")
        all_rows = {(row["session_id"], row["seq"], row["type"], row["data"]) for row in rows}
        for row in rows:
            session, data, where = row["session_id"], json.loads(row["data"]), f"{self.name}: message {row['id']}"
            other = self.sessions.get(session, {}).get("fork_session_id")
            is_copy = (other, row["seq"], row["type"], row["data"]) in all_rows or self.is_from_before(row)
            if not (other in self.sessions and is_copy) and not self.is_older(row, data):
                self.message_2(self.chain(session), row["type"], data, where)

    def is_older(self, row, data):
        """Whether the older tables have a message."""
        session = row["session_id"]
        if row["id"] in self.ids.get(session, ()):
            return True
        if row["time_created"] > self.until.get(session, -1):
            return False
        said = [data.get("text") if row["type"] == "user" else None]
        if row["type"] == "assistant":
            said += [part.get("id") if part.get("type") == "tool" else part.get("text") for part in data.get("content") or []]
        said = {squeezed(text) for text in said if text and text.strip()}
        return not said or bool(said & self.said.get(session, set()))

    def message_2(self, chain, kind, data, where):
        if kind == "user":
            chain.add("prompt", data.get("text"), where)
        elif kind == "assistant":
            for part in data.get("content") or []:
                self.part_2(chain, part, where)
            error = data.get("error")
            chain.note(error.get("message") if isinstance(error, dict) else error, where, required=False)
        elif kind == "compaction":
            chain.note(data.get("summary"), where)
        elif kind == "shell":
            chain.call(where, "shell", {"command": data.get("command")}, where)
            output = data.get("output")
            chain.result(where, output.get("output") if isinstance(output, dict) else output or "", where)
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
            content = state.get("content") or []
            if content and error:
                content = [*content, {"type": "text", "text": error}]
            chain.result(part.get("id"), content or error or "", where)
