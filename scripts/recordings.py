#!/usr/bin/env python3
"""Writes a week of an agent's sessions as Claude Code records them, made up, for pictures of the viewer.

    recordings.py FOLDER
"""

import json
import sys
import uuid
from datetime import datetime, timedelta
from pathlib import Path

SPACE = uuid.UUID("7c1b2f60-5a0e-4c57-9a55-0c6f0e3d9b11")
SONNET, OPUS, HAIKU = "claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5"

DIFF = "def page(query, cursor, limit):\n    return query.where(id > cursor).limit(limit + 1)\n"


def read(path, seconds=0.4, lines=80):
    text = "\n".join(f"{n:>6}\tline {n} of {path}" for n in range(1, lines))
    return ("Read", {"file_path": f"/home/ada/shop/{path}"}, seconds, text, False)


def grep(pattern, seconds=0.6):
    found = f"shop/users.py:12: {pattern}\nshop/orders.py:40: {pattern}"
    return ("Grep", {"pattern": pattern, "path": "/home/ada/shop"}, seconds, found, False)


def bash(command, seconds, result, failed=False):
    return ("Bash", {"command": command}, seconds, result, failed)


def edit(path, old, new, seconds=0.3):
    args = {"file_path": f"/home/ada/shop/{path}", "old_string": old, "new_string": new}
    return ("Edit", args, seconds, f"The file {path} has been updated.", False)


def task(words, seconds, result):
    args = {"description": words, "prompt": words, "subagent_type": "general-purpose"}
    return ("Task", args, seconds, result, False)


FAILED = (
    "FAILED tests/test_users.py::test_second_page - AssertionError: expected 20 users, got 21\n"
    "1 failed, 46 passed in 18.20s"
)
PAGINATE = [
    ("I'll look at how users are listed.", [read("shop/users.py"), read("shop/orders.py", 0.7), grep("def list_")]),
    ("Somebody else may have done this for orders already.", [task("How are orders paginated?", 48, "By a cursor, in shop/orders.py.")]),
    ("Tests first.", [edit("tests/test_users.py", "def test_users():", "def test_second_page():\n    ...\n\n\ndef test_users():")]),
    ("Now the query.", [edit("shop/users.py", "return query.all()", DIFF)]),
    ("Do they pass?", [bash("pytest -q tests/test_users.py", 18.2, FAILED, True)]),
    ("One too many: the extra row that says whether there is more.", [edit("shop/users.py", "return rows", "return rows[:limit]")]),
    ("Again, with the linter beside it.", [bash("pytest -q", 41.0, "47 passed in 40.31s"), bash("ruff check shop", 2.1, "All checks passed!")]),
]
OTHER_WAY = PAGINATE[:1] + [
    ("An offset will do.", [edit("shop/users.py", "return query.all()", "return query.offset(page * limit).limit(limit)")]),
    ("Do they pass?", [bash("pytest -q", 39.0, "47 passed in 38.80s"), bash("ruff check shop", 2.0, "All checks passed!")]),
]
LOCKOUT = [
    ("I'll run the tests first.", [bash("pytest -q tests/test_login.py", 13.0, "FAILED tests/test_login.py::test_lockout - expected 423, got 401", True)]),
    ("Where is the counter?", [grep("failed_logins"), read("shop/login.py")]),
    ("It is reset before it is looked at.", [edit("shop/login.py", "reset(user)\ncheck(user)", "check(user)\nreset(user)")]),
    ("Again.", [bash("pytest -q tests/test_login.py", 12.1, "9 passed in 11.90s")]),
]
REPORT = [
    ("I'll read the orders of the month.", [bash("psql shop -c 'select count(*) from orders'", 1.2, " count\n-------\n 18231"), read("shop/report.py")]),
    ("The index is missing.", [bash("psql shop -c 'explain analyze select * from orders where month = 10'", 7.9, "Seq Scan on orders (actual time=0.02..7640.11 rows=18231)")]),
    ("A migration, then.", [("Write", {"file_path": "/home/ada/shop/migrations/0041_orders_month.sql", "content": "create index orders_month on orders (month);\n"}, 0.2, "File created", False)]),
    ("Is it used?", [bash("make migrate", 5.4, "0041_orders_month applied"), bash("pytest -q tests/test_report.py", 9.0, "12 passed in 8.61s")]),
]

# Day and hour, model, what was asked, the steps, and thousands of tokens read from the cache by each message.
SESSIONS = [
    (2, 10, SONNET, "The report of the month takes eight seconds. Find out why.", REPORT, 9),
    (3, 9, SONNET, "The login test fails on CI. Fix it, please.", LOCKOUT, 7),
    (3, 15, HAIKU, "Add pagination to the list of users, as the one of orders has it.", OTHER_WAY, 6),
    (4, 11, OPUS, "Add pagination to the list of users, as the one of orders has it.", PAGINATE, 14),
    (5, 16, SONNET, "Raise the lockout to ten attempts for the support team.", LOCKOUT, 8),
    (6, 10, OPUS, "Move the report of the month to its own worker.", REPORT + PAGINATE[4:], 22),
]


class Session:
    """A session's lines, with the time as it goes on."""

    def __init__(self, number, day, hour):
        self.id = str(uuid.uuid5(SPACE, f"session {number}"))
        self.now = datetime(2026, 11, day, hour, 4, 12)
        self.lines, self.last, self.count = [], None, 0

    def new_id(self, what):
        self.count += 1
        return f"{what}{uuid.uuid5(SPACE, f'{self.id} {self.count}').hex[:20]}"

    def add(self, kind, message, at=None):
        own = str(uuid.uuid5(SPACE, f"{self.id} line {len(self.lines)}"))
        time = (at or self.now).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        self.lines.append({
            "parentUuid": self.last, "isSidechain": False, "userType": "external", "cwd": "/home/ada/shop",
            "sessionId": self.id, "version": "2.0.14", "gitBranch": "main", "type": kind, "message": message,
            "uuid": own, "timestamp": time,
        })
        self.last = own

    def step(self, model, text, calls, cached):
        self.now += timedelta(seconds=4 + len(text) / 12)
        content = [{"type": "text", "text": text}]
        ids = [self.new_id("toolu_") for _ in calls]
        for own, (name, args, *_) in zip(ids, calls):
            content.append({"type": "tool_use", "id": own, "name": name, "input": args})
        usage = {
            "input_tokens": 600 + 40 * len(text), "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": cached * 1000 + 1700 * self.count, "output_tokens": 90 + 6 * len(text),
        }
        self.add("assistant", {
            "id": self.new_id("msg_"), "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": "tool_use" if calls else "end_turn", "usage": usage,
        })
        ended = sorted(zip(calls, ids), key=lambda it: it[0][2])
        for (_, _, seconds, result, failed), own in ended:
            answer = {"tool_use_id": own, "type": "tool_result", "content": result, "is_error": failed}
            self.add("user", {"role": "user", "content": [answer]}, self.now + timedelta(seconds=seconds))
        self.now += timedelta(seconds=max((call[2] for call in calls), default=0))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number, (day, hour, model, prompt, steps, cached) in enumerate(SESSIONS):
        session = Session(number, day, hour)
        session.add("user", {"role": "user", "content": prompt})
        for text, calls in steps:
            session.step(model, text, calls, cached)
        session.step(model, "Done: the tests pass.", [], cached)
        lines = "".join(json.dumps(line) + "\n" for line in session.lines)
        (folder / f"{session.id}.jsonl").write_text(lines)


main()
