#!/usr/bin/env python3
"""Writes sessions of an agent as Claude Code records them, made up, for pictures of the viewer.

    recordings.py FOLDER [NOW]

The newest session ends at NOW, an RFC 3339 time in UTC; without it the newest day is 6 November 2026.
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

    def __init__(self, number, now, project="shop", branch="main"):
        self.id = str(uuid.uuid5(SPACE, f"session {number}"))
        self.now, self.cwd, self.branch = now, f"/home/ada/{project}", branch
        self.lines, self.last, self.count = [], None, 0

    def new_id(self, what):
        self.count += 1
        return f"{what}{uuid.uuid5(SPACE, f'{self.id} {self.count}').hex[:20]}"

    def add(self, kind, message, at=None, result=None, **more):
        own = str(uuid.uuid5(SPACE, f"{self.id} line {len(self.lines)}"))
        time = (at or self.now).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        self.lines.append({
            "parentUuid": self.last, "isSidechain": False, "userType": "external", "cwd": self.cwd,
            "sessionId": self.id, "version": "2.0.14", "gitBranch": self.branch, "type": kind, "message": message,
            "uuid": own, "timestamp": time, **({"toolUseResult": result} if result else {}), **more,
        })
        self.last = own

    def step(self, model, text, calls, cached, thought=None):
        self.now += timedelta(seconds=4 + len(text) / 12)
        content = [{"type": "thinking", "thinking": thought, "signature": ""}] if thought else []
        content += [{"type": "text", "text": text}] if text else []
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
        # One without a result is still open.
        ended = [it for it in ended if it[0][3] is not None]
        for (name, args, seconds, result, failed), own in ended:
            answer = {"tool_use_id": own, "type": "tool_result", "content": result, "is_error": failed}
            patch = args.pop("patch", None) if name == "Edit" else None
            details = {"filePath": args["file_path"], "structuredPatch": patch} if patch else None
            self.add("user", {"role": "user", "content": [answer]}, self.now + timedelta(seconds=seconds), details)
        self.now += timedelta(seconds=max((call[2] for call in calls), default=0))


def patched(path, start, lines, seconds=1.0):
    """An edit whose lines begin with a space, a plus or a minus."""
    old = [line[1:] for line in lines if line[0] != "+"]
    new = [line[1:] for line in lines if line[0] != "-"]
    name, args, _, result, failed = edit(path, "\n".join(old), "\n".join(new))
    args["patch"] = [{"oldStart": start, "oldLines": len(old), "newStart": start, "newLines": len(new), "lines": lines}]
    return (name, args, seconds, result, failed)


REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
    "No force push on a shared branch. A plain push will do."
)
ANSWER = """The cart takes the rate from each article now. The rounding happens **once per line**, as on the invoice.

| Case | Before | After |
|---|---:|---:|
| 3 x 3.33, 19 % | 1.59 | 1.60 |
| 1 x 10.00, 7 % | 1.90 | 0.70 |

The function that all totals use:

```ts
/** VAT contained in a gross amount, in cents. */
export function vatOf(gross: Money, rate: VatRate): Money {
  const net = (gross * 100) / (100 + rate);
  return roundHalfUp(gross - net);
}
```

Two things are left: the footer still sums the old field, and `docs/vat.md` has no example."""
TODO = {"todos": [
    {"content": "Rate type", "status": "completed", "activeForm": "Adding the rate type"},
    {"content": "vatOf", "status": "in_progress", "activeForm": "Writing vatOf"},
    {"content": "Cart lines", "status": "pending", "activeForm": "Changing the cart lines"},
]}
# A session of several prompts: of each prompt what was asked, and its steps with a thought.
CART = [
    ("Show VAT per line in the cart. Rates differ by article: 0, 7 and 19 %.", [
        ("I'll look at the cart first.", [read("src/cart/cart-lines.ts", 0.4, 64), read("src/cart/CartTable.tsx", 0.5, 118), read("src/money.ts", 0.3, 40)],
         "The cart multiplies every line by 0.19. Rates belong to the article, so the line needs one. Start with the type, then the rounding."),
        ("", [("TodoWrite", TODO, 0.1, "Todos have been modified successfully.", False)], None),
        ("", [patched("src/cart/cart-lines.ts", 16, [
            " ", " export function cartLines(items: CartItem[]): CartLine[] {", "   return items.map((item) => {",
            "-    const total = item.price * item.quantity;", "-    return { ...item, total, vat: round(total * 0.19) };",
            "+    const gross = item.price * item.quantity;", "+    return { ...item, gross, vat: vatOf(gross, item.rate) };",
            "   });", " }",
        ])], None),
        ("", [bash("npm test -- cart", 4.1, "\u001b[32m✓\u001b[39m test/cart/cart.test.ts (12 tests) 41 ms\n\n Test Files  1 passed (1)\n      Tests  12 passed (12)")], None),
        (ANSWER, [], None),
    ]),
    ("Totals are one cent off on the invoice. Find out why and fix it.", [
        ("I'll ask for the places that round.", [task("Find places that round prices", 61, "11 call sites use Math.round on a price; 3 of them round a rounded value.")], None),
        ("", [bash("npm test -- vat", 3.0, "FAIL  test/cart/vat.test.ts > lineVat > rounds once per line\nTypeError: lineVat is not a function\n ❯ test/cart/vat.test.ts:14:12\n\n Tests  1 failed | 13 passed (14)", True)], None),
        ("", [patched("src/cart/vat.ts", 9, [
            " }", "+", "+/** VAT of one cart line. Rounds once per line, as the invoice does. */", "+export function lineVat(line: CartLine): Money {",
            "+  return vatOf(line.unitPrice * line.quantity, line.rate);", "+}",
        ]), bash("npm test -- vat", 2.8, "14 passed (14)")], None),
        ("The invoice rounds once per line; the cart rounded the *sum*. With three lines of 3.33 the two differ by one cent. Both use `lineVat` now.", [], None),
    ]),
    ("Sum VAT by rate in the footer, then push the branch.", [
        ("", [patched("src/cart/CartTable.tsx", 87, [
            "     <tfoot>", "-      <tr><th>VAT 19 %</th><td>{money(cart.vat)}</td></tr>",
            "+      {[...vatByRate(lines)].map(([rate, sum]) => (", "+        <tr key={rate}><th>VAT {rate} %</th><td>{money(sum)}</td></tr>", "+      ))}",
            "     </tfoot>",
        ])], None),
        ("", [("Bash", {"command": "git push --force origin feat/vat-lines", "description": "Push the branch"}, 21.0, REFUSED, True)], None),
        ("", [bash("git push origin feat/vat-lines", 2.2, "To github.example:shop/shop.git\n   4e1f02a..9c77b31  feat/vat-lines -> feat/vat-lines")], None),
        ("The footer shows one VAT row per rate. The branch `feat/vat-lines` is pushed without force.", [], None),
    ]),
]
# Other sessions: days and hours before the newest one, project, branch, model, what was asked, steps.
OTHERS = [
    (5, "infra", "replica", OPUS, "Terraform: second replica for the read database", REPORT, 30),
    (27, "docs-site", "main", HAIKU, "Write the returns policy page", LOCKOUT[:2], 5),
    (52, "shop", "main", SONNET, "Delete the legacy coupon table", REPORT, 18),
    (76, "stock-sync", "main", SONNET, "Import stock levels every night", PAGINATE, 12),
    (98, "infra", "main", OPUS, "Move product images to object storage", PAGINATE[:4], 26),
    (150, "stock-sync", "main", HAIKU, "Explain how stock reservations expire", OTHER_WAY, 4),
    (200, "shop", "main", SONNET, "Add size charts to the product page", PAGINATE, 21),
]


# Older sessions, over half a year: what was asked, project, model, steps.
OLDER = [
    ("Rename the order states as the warehouse has them", "shop", SONNET, LOCKOUT),
    ("Nightly backup of the product images", "infra", OPUS, REPORT),
    ("Spell-check the docs in CI", "docs-site", HAIKU, OTHER_WAY),
    ("Retry failed stock imports with a pause", "stock-sync", SONNET, PAGINATE),
    ("Cache the product list for a minute", "shop", OPUS, REPORT + PAGINATE),
]
QUESTION = {"questions": [{
    "question": "Which index does the order list need?", "header": "Index", "multiSelect": False,
    "options": [{"label": "By customer", "description": "For the account page"}, {"label": "By day", "description": "For the report"}],
}]}
SUB_AGENT = "a7f3c21"
LIMIT = "API Error: 429 rate_limit_error: this request would exceed the rate limit of your organization."


def older(last):
    """Sessions of half a year, more of them lately."""
    for week in range(1, 26):
        for day in range(5 - week // 8):
            prompt, project, model, steps = OLDER[(3 * week + day) % len(OLDER)]
            begun = last - timedelta(days=7 * week + day, hours=(5 * day + week) % 7)
            session = Session(f"older {week} {day}", begun, project)
            session.add("user", {"role": "user", "content": prompt})
            for text, calls in steps * (1 + (week + day) % 3):
                session.step(model, text, calls, 10 + 9 * ((week + day) % 5))
            session.step(model, "Done: the tests pass.", [], 12)
            yield session


def waiting(last):
    """A session that asks something, and one that the vendor refused."""
    asks = Session("asks", last - timedelta(minutes=41), "shop", "main")
    asks.add("user", {"role": "user", "content": "The order list takes four seconds. Make it fast."})
    for text, calls in REPORT[:2]:
        asks.step(OPUS, text, calls, 16)
    asks.step(OPUS, "Two indexes would help.", [("AskUserQuestion", QUESTION, 0, None, False)], 17)
    yield asks
    failed = Session("failed", last - timedelta(minutes=95), "stock-sync", "main")
    failed.add("user", {"role": "user", "content": "Import stock levels from the new supplier"})
    for text, calls in PAGINATE[:3]:
        failed.step(SONNET, text, calls, 11)
    failed.add("assistant", {
        "id": "msg_error", "type": "message", "role": "assistant", "model": "<synthetic>", "stop_reason": "stop_sequence",
        "content": [{"type": "text", "text": LIMIT}], "usage": {"input_tokens": 0, "output_tokens": 0},
    }, isApiErrorMessage=True)
    yield failed


def sub_agent(session, found):
    """A sub-agent of the session's last call, as a recording of its own."""
    own = Session(f"{session.id} sub", session.now - timedelta(seconds=50), session.cwd.rsplit("/", 1)[1], session.branch)
    own.add("user", {"role": "user", "content": "Find places that round prices"})
    own.step(HAIKU, "I'll search for roundings.", [grep("Math.round"), read("src/money.ts")], 6)
    own.step(HAIKU, found, [], 6)
    for line in own.lines:
        line.update(isSidechain=True, agentId=SUB_AGENT, sessionId=session.id)
    return own


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    last = datetime(2026, 11, 6, 12, 0, 0)
    if len(sys.argv) > 2:
        last = datetime.strptime(sys.argv[2][:19], "%Y-%m-%dT%H:%M:%S")
    begin = last.replace(hour=0, minute=4, second=12) - timedelta(days=7)

    def write(session, path=None):
        lines = "".join(json.dumps(line) + "\n" for line in session.lines)
        (path or folder / f"{session.id}.jsonl").write_text(lines)

    for number, (day, hour, model, prompt, steps, cached) in enumerate(SESSIONS):
        session = Session(number, begin + timedelta(days=day - 1, hours=hour))
        session.add("user", {"role": "user", "content": prompt})
        for text, calls in steps:
            session.step(model, text, calls, cached)
        session.step(model, "Done: the tests pass.", [], cached)
        write(session)
    for hours, project, branch, model, prompt, steps, cached in OTHERS:
        session = Session(prompt, last - timedelta(hours=hours), project, branch)
        session.add("user", {"role": "user", "content": prompt})
        for text, calls in steps:
            session.step(model, text, calls, cached)
        session.step(model, "Done.", [], cached)
        write(session)
    for session in [*older(last), *waiting(last)]:
        write(session)
    session = Session("cart", last - timedelta(minutes=14), "shop", "feat/vat-lines")
    for prompt, steps in CART:
        session.now += timedelta(seconds=40)
        session.add("user", {"role": "user", "content": prompt})
        for text, calls, thought in steps:
            session.step(SONNET, text, calls, 24, thought)
            if calls and calls[0][0] == "Task":
                below = folder / session.id / "subagents"
                below.mkdir(parents=True)
                write(sub_agent(session, calls[0][3]), below / f"agent-{SUB_AGENT}.jsonl")
    write(session)


main()
