#!/usr/bin/env python3
"""Measures how long the viewer's pages take on a large log, beside their goals: medians of 20. Then, how long `annals start`
takes for 40 sessions of 85 MB.

    page_times.py PROGRAM [SESSIONS [CALLS]]

The log has SESSIONS sessions (10,000) of about 100 events each, and one session of CALLS tool calls (50,000). They are made
up, and the folder that they are in goes at the end. Runs on an idle machine: what is above its goal fails.
"""

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import datetime, timedelta
from pathlib import Path

TIMES = 20
SPACE = uuid.UUID("1c0e5d2e-4f0b-4a55-9a53-9d9d0f5c7d11")
WORDS = "parser cache invoice login timeout retry migration footer stock coupon report worker queue index".split()
PROJECTS = 40
# Calls of each of the many sessions, so that it has about 100 events.
CALLS_EACH = 17


class Recording:
    """The lines of one session, as Claude Code writes them."""

    def __init__(self, number, begun):
        self.id = str(uuid.uuid5(SPACE, f"session {number}"))
        self.number, self.now, self.lines, self.last = number, begun, [], None

    def add(self, kind, message):
        own = f"{self.id[:24]}{len(self.lines):012x}"
        self.now += timedelta(seconds=3)
        self.lines.append(json.dumps({
            "parentUuid": self.last, "isSidechain": False, "userType": "external", "sessionId": self.id,
            "cwd": f"/home/ada/project-{self.number % PROJECTS}", "version": "2.0.14", "gitBranch": "main", "type": kind,
            "message": message, "uuid": own, "timestamp": self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }))
        self.last = own

    def prompt(self, text):
        self.add("user", {"role": "user", "content": text})

    def answer(self, content):
        number = len(self.lines)
        self.add("assistant", {
            "id": f"msg_{self.number}_{number}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
            "content": content, "stop_reason": "end_turn",
            "usage": {"input_tokens": 40, "cache_creation_input_tokens": 900, "cache_read_input_tokens": 20_000, "output_tokens": 120},
        })

    def call(self, number, lines=4):
        word = WORDS[number % len(WORDS)]
        own = f"toolu_{self.number}_{len(self.lines)}"
        if number % 4 == 3:
            args = {"file_path": f"/home/ada/project/src/{word}.py", "old_string": f"a = {number}\n", "new_string": f"a = {number + 1}\n"}
            use, result = ("Edit", args), "The file has been updated."
        else:
            use, result = ("Bash", {"command": f"pytest -q tests/test_{word}.py"}), f"{number % 50} passed in 1.2s\n" * lines
        text = f"The {word} is next."
        self.answer([{"type": "text", "text": text}, {"type": "tool_use", "id": own, "name": use[0], "input": use[1]}])
        self.add("user", {"role": "user", "content": [{"tool_use_id": own, "type": "tool_result", "content": result, "is_error": number % 9 == 0}]})

    def write(self, folder):
        folder = folder / f"-home-ada-project-{self.number % PROJECTS}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.id}.jsonl").write_text("\n".join(self.lines) + "\n")


def write_recordings(folder, sessions, calls):
    newest = datetime.utcnow().replace(microsecond=0) - timedelta(minutes=30)
    for number in range(sessions):
        one = Recording(number, newest - timedelta(minutes=25 * number))
        a, b = WORDS[number % len(WORDS)], WORDS[number // 7 % len(WORDS)]
        one.prompt(f"Fix the {a} of the {b}, session {number}")
        for call in range(CALLS_EACH):
            one.call(number + call)
        one.answer([{"type": "text", "text": f"The {a} works with the {b} now."}])
        one.write(folder)
    long = Recording(sessions, newest - timedelta(days=3))
    for call in range(calls):
        if call % 100 == 0:
            long.prompt(f"Go on with step {call // 100}")
        long.call(call)
    long.write(folder)
    return long.id


class Program:
    """The program, with a home of its own."""

    def __init__(self, path, home):
        self.path = path
        self.env = {**os.environ, "HOME": str(home), "ANNALS_LOG": str(home / "log"), "XDG_CACHE_HOME": str(home / "cache")}

    def run(self, *args, **more):
        done = subprocess.run([self.path, *args], env=self.env, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more)
        return done.stdout.decode()

    def serve(self):
        args = [self.path, "service", "serve", "--listen", "127.0.0.1:0", "--json"]
        server = subprocess.Popen(args, env=self.env, stdout=subprocess.PIPE)
        said = json.loads(server.stdout.readline())
        return server, said["address"].removeprefix("http://").rstrip("/")


def timed(work):
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def measure(works):
    """The times of the works, in turn, after each was done once."""
    for work in works:
        work()
    return [timed(works[number % len(works)]) for number in range(max(TIMES, len(works)))]


def first_start(program):
    """`annals start` in a home that has 40 sessions: until one can be read, and until all are."""
    with tempfile.TemporaryDirectory(prefix="annals-start-") as home:
        home = Path(home)
        projects = home / ".claude" / "projects"
        newest = datetime.utcnow().replace(microsecond=0) - timedelta(minutes=30)
        for number in range(40):
            one = Recording(number, newest - timedelta(hours=7 * number))
            for call in range(560):
                if call % 40 == 0:
                    one.prompt(f"Go on with step {call // 40} of {WORDS[number % len(WORDS)]}")
                one.call(call, lines=180)
            one.write(projects)
        size = sum(path.stat().st_size for path in projects.rglob("*.jsonl"))
        env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data")}
        env.pop("ANNALS_LOG", None)
        begun = time.perf_counter()
        args = [program, "start", "--no-browser", "--json", "--listen", "127.0.0.1:0"]
        starting = subprocess.Popen(args, env=env, cwd=home, stdout=subprocess.PIPE)
        try:
            address = json.loads(starting.stdout.readline())["address"].removeprefix("http://").rstrip("/")
            sessions = []
            while not sessions:
                connection = http.client.HTTPConnection(address, timeout=60)
                connection.request("GET", "/api/v1/sessions?limit=1")
                sessions = json.loads(connection.getresponse().read())["data"]["sessions"]
                time.sleep(0.02)
            connection.request("GET", f"/sessions/{sessions[0]['id']}")
            connection.getresponse().read()
            visible = time.perf_counter() - begun
            starting.stdout.readline()
            whole = time.perf_counter() - begun
        finally:
            starting.terminate()
            starting.wait()
    failed = False
    for what, seconds, goal in [("first session can be read", visible, 3), ("all sessions", whole, 15)]:
        failed |= seconds > goal
        print(f"start, {size / 1e6:.0f} MB: {what:<26} {seconds:6.1f} s   goal {goal} s{', MISSED' if seconds > goal else ''}")
    return failed


def main():
    program, *numbers = sys.argv[1:]
    sessions, calls = [int(number) for number in numbers] + [10_000, 50_000][len(numbers):]
    with tempfile.TemporaryDirectory(prefix="annals-pages-") as home:
        home = Path(home)
        long = write_recordings(home / "recordings", sessions, calls)
        annals = Program(program, home)
        annals.run("log", "init")
        importing = timed(lambda: annals.run("import", str(home / "recordings")))
        events = json.loads(annals.run("log", "stats", "--json"))["events"]
        print(f"{sessions:,} sessions, {calls:,} calls in one more, {events:,} events; imported in {importing / 1000:.1f} s")
        annals.run("search", "invoice")
        server, address = annals.serve()
        try:
            failed = report(annals, address, long)
        finally:
            server.terminate()
            server.wait()
    failed |= first_start(program)
    sys.exit(1 if failed else 0)


def report(annals, address, long):
    connection = http.client.HTTPConnection(address, timeout=60)

    def get(path):
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise SystemExit(f"page_times: {path}: {response.status} {body[:200]!r}")
        return body

    def page(path):
        return lambda: get(path)

    typed = [f"/search/suggestions?q={text}" for text in ("p", "pa", "par", "pars", "parser", "inv", "invoice+wor", "login", "cou", "coupon+st")]
    name = json.loads(get(f"/api/v1/sessions/{long}"))["data"]["session"]["id"]
    status = json.dumps({"session_id": long, "model": {"id": "claude-sonnet-4-5"}, "cwd": "/home/ada/project-1"}).encode()
    failed = False
    for what, goal, works in [
        ("home", 100, [page("/")]),
        ("home, sorted by cost, one project", 100, [page("/?sort=cost&project=project-3")]),
        ("first turns of the long session", 200, [page(f"/sessions/{name}")]),
        ("its last turns", 200, [page(f"/sessions/{name}/turns?from={2 * 50_000}")]),
        ("a short session", 100, [page(f"/sessions/{uuid.uuid5(SPACE, f'session {number}')}") for number in range(0, 200, 10)]),
        ("search as a person types", 100, [page(path) for path in typed]),
        ("search page", None, [page("/search?q=invoice+worker")]),
        ("costs by project", None, [page("/costs?by=project")]),
        ("statusline", 30, [lambda: annals.run("statusline", input=status)]),
    ]:
        times = measure(works)
        median = statistics.median(times)
        missed = goal is not None and median > goal
        failed |= missed
        shown = "" if goal is None else f"goal {goal} ms{', MISSED' if missed else ''}"
        print(f"{what:<36} median {median:7.1f} ms, most {max(times):7.1f} ms   {shown}", flush=True)
    return failed


main()
