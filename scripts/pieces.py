#!/usr/bin/env python3
"""Imports recordings in pieces, twice, doubled, under other names, killed and followed: a log must be as after one import.

    pieces.py ANNALS FILE|FOLDER...

Each log begins as a copy of one empty log, so that ids that follow from a log's secret are the same. What is
compared are the events by their ids, with all that they say, and their order within each stream. Tokens are
compared as sums: they are recorded when a file ends, as far as they are known then (ADR 0012).
"""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SEED = 20260102
LINE_CUTS, BYTE_CUTS, KILLS = 8, 6, 4
# Agents whose recordings `annals service watch` follows, and for how long one stays as it is before it is looked at.
FOLLOWED, QUIET = ("claude", "codex"), 0.8
# Agents whose lines have no names: the same words twice are two messages, and a session is called as its file.
UNNAMED = ("cursor",)
TOKENS = ("uncached_input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
WHAT = ("stream", "type", "schema_version", "event", "occurred_at", "actor", "correlation", "causation")


class Failed(Exception):
    pass


class Logs:
    def __init__(self, annals, home):
        self.annals, self.home = annals, home
        self.empty, self.log = os.path.join(home, "empty"), os.path.join(home, "log")
        subprocess.run([annals, "--log", self.empty, "log", "init"], check=True, stdout=subprocess.DEVNULL)

    def begin(self):
        for folder in (self.log, self.log + ".spool"):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.empty, self.log)

    def command(self, *arguments):
        return [self.annals, "--log", self.log, *arguments]

    def imported(self, path, agent=()):
        """The reports, or what was said instead."""
        run = subprocess.run(self.command("import", *agent, path, "--json"), capture_output=True, text=True)
        if run.returncode not in (0, 1):
            raise Failed(f"import ended with {run.returncode}: {run.stderr[-500:]}")
        try:
            reports = [json.loads(line) for line in run.stdout.splitlines()]
        except ValueError as error:
            raise Failed(f"no report: {run.stdout[:200]}") from error
        return reports, run.stderr

    def killed(self, path, seconds):
        process = subprocess.Popen(
            self.command("import", path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def following(self, agent, folder):
        """`annals service watch`, once it has opened the log."""
        process = subprocess.Popen(
            self.command("watch", agent, folder, "--json"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not os.path.exists(os.path.join(self.log + ".spool", "bell")):
            if process.poll() is not None:
                raise Failed(f"watch ended with {process.returncode}: {process.stderr.read()[-500:]}")
            time.sleep(0.02)
        return process

    def state(self):
        run = subprocess.run(self.command("export", "annals"), capture_output=True, check=True)
        events, streams, tokens = {}, {}, {}
        for line in run.stdout.splitlines():
            record = json.loads(line).get("record")
            if not record:
                continue
            event = record["event"]
            if record["type"] == "run.usage_recorded":
                sums = tokens.setdefault(record["stream"], [0] * len(TOKENS))
                for place, name in enumerate(TOKENS):
                    sums[place] += event[name]
                continue
            content = [{key: piece[key] for key in piece if key != "salt"} for piece in record["content"]]
            said = json.dumps([[record[name] for name in WHAT], content], sort_keys=True)
            events[record["event_id"]] = hashlib.sha256(said.encode()).hexdigest()
            streams.setdefault(record["stream"], []).append((record["type"], record["event_id"]))
        return events, streams, tokens


def same(found, expected, how):
    (events, streams, tokens), (all_events, all_streams, all_tokens) = found, expected
    names = {event: kind for stream in [*streams.values(), *all_streams.values()] for kind, event in stream}
    lost = sorted(names[event] for event in set(all_events) - set(events))
    new = sorted(names[event] for event in set(events) - set(all_events))
    if lost or new:
        raise Failed(f"{how}: lost {lost[:5]} ({len(lost)}), new {new[:5]} ({len(new)})")
    other = sorted(names[event] for event in events if events[event] != all_events[event])
    if other:
        raise Failed(f"{how}: {other[:5]} say something else ({len(other)})")
    if streams != all_streams:
        raise Failed(f"{how}: the events of a stream have another order")
    if tokens != all_tokens:
        raise Failed(f"{how}: the tokens are {tokens} and not {all_tokens}")


def broken(reports):
    return [record["reason"] for report in reports for record in report["broken"]]


class Recording:
    def __init__(self, logs, path):
        self.logs, self.name = logs, os.path.basename(path)
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.random = random.Random(f"{SEED} {self.name}")
        self.has_lines = self.name.endswith(".jsonl")

    def write(self, data, name=None):
        path = os.path.join(self.logs.home, "recordings", name or self.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def grown(self, cuts, expected, how):
        self.logs.begin()
        for cut in cuts:
            self.logs.imported(self.write(self.bytes[:cut]))
        self.complete(expected, f"{how} {cuts}")

    def complete(self, expected, how):
        path = self.write(self.bytes)
        began = broken(self.logs.imported(path)[0])
        if began != self.broken:
            raise Failed(f"{how}: {began[:2]} is broken")
        same(self.logs.state(), expected, how)
        reports, _ = self.logs.imported(path)
        made = sum(report["events_made"] for report in reports)
        if made:
            raise Failed(f"{how}: the same once more made {made} events")

    def check(self):
        self.logs.begin()
        began = time.monotonic()
        reports, said = self.logs.imported(self.write(self.bytes))
        took = time.monotonic() - began
        if not reports:
            return None
        self.broken = broken(reports)
        expected = self.logs.state()
        self.complete(expected, "twice")
        checks = 1
        own = reports[0]["source"].split()[0]
        for how, data in self.forms(own in UNNAMED):
            self.logs.begin()
            self.logs.imported(self.write(data))
            same(self.logs.state(), expected, how)
            checks += 1
        if own not in UNNAMED and not any("the file's name stands for it" in note for note in reports[0]["notes"]):
            self.logs.begin()
            ending = os.path.splitext(self.name)[1]
            self.logs.imported(self.write(self.bytes, f"elsewhere/another{ending}"))
            same(self.logs.state(), expected, "under another name")
            checks += 1
        for how, cuts in self.cuts():
            self.grown(cuts, expected, how)
            checks += 1
        if own in FOLLOWED:
            self.followed(own, expected)
            checks += 1
        for _ in range(KILLS):
            self.logs.begin()
            path = self.write(self.bytes)
            after = self.random.uniform(0, took)
            self.logs.killed(path, after)
            self.complete(expected, f"killed after {after:.3f} s")
            checks += 1
        return checks

    def followed(self, agent, expected):
        """Cut as files are, and followed by one process."""
        self.logs.begin()
        path = self.write(b"", os.path.join("followed", self.name))
        watch = self.logs.following(agent, os.path.dirname(path))
        cuts = sorted({cut for _, cuts in self.cuts() for cut in cuts} | {len(self.bytes)})
        begin = 0
        for cut in cuts:
            with open(path, "ab") as file:
                file.write(self.bytes[begin:cut])
            begin = cut
            time.sleep(QUIET)
        # Its end is read when it has come, not when this ends.
        time.sleep(2 * QUIET)
        watch.terminate()
        _, said = watch.communicate()
        os.remove(path)
        if watch.returncode != 0:
            raise Failed(f"watch ended with {watch.returncode}: {said[-500:]}")
        same(self.logs.state(), expected, f"followed {cuts}")

    def forms(self, is_unnamed):
        if not self.has_lines:
            return
        lines = self.bytes.splitlines(keepends=True)
        lines[-1] = lines[-1].rstrip(b"\n") + b"\n"
        if not is_unnamed:
            yield "each line twice", b"".join(line + line for line in lines)
            yield "the whole twice", b"".join(lines) * 2
        yield "blank lines between", b"\n \r\n".join(lines)

    def cuts(self):
        if self.has_lines:
            ends = [at + 1 for at, byte in enumerate(self.bytes) if byte == 10]
            some = self.random.sample(ends, min(LINE_CUTS, len(ends)))
            for cut in sorted(some):
                yield "cut behind a line", [cut]
            yield "grown line by line", sorted(some)
        # A database does not grow byte by byte.
        for _ in range(0 if self.name.endswith(".db") else BYTE_CUTS):
            yield "cut at a byte", [self.random.randrange(1, len(self.bytes))]


def others(logs, path, agents):
    """Another agent's file is named once."""
    reports, _ = logs.imported(path)
    if not reports:
        return
    own = reports[0]["source"].split()[0]
    for agent in agents:
        if agent == own:
            continue
        logs.begin()
        reports, said = logs.imported(path, (agent,))
        if reports or said.count("it looks like one of") != 1:
            raise Failed(f"import {agent} says {said[:300]}, and makes {reports}")


def recordings(paths):
    for path in paths:
        if not os.path.isdir(path):
            yield path
        for folder, folders, files in os.walk(path):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(files)
                        if name.endswith((".json", ".jsonl", ".traj", ".db")))


def main(annals, *paths):
    print(f"pieces: seed {SEED}")
    agents = ("atif", "claude", "codex", "copilot", "copilot-chat", "cursor", "gemini", "opencode", "openhands", "swe-agent")
    failures = known = 0
    with tempfile.TemporaryDirectory() as home:
        logs = Logs(annals, home)
        for path in recordings(paths):
            try:
                checks = Recording(logs, path).check()
                if checks is None:
                    continue
                logs.begin()
                others(logs, path, agents)
                known += 1
                print(f"{checks:>12}  {path}", flush=True)
            except Failed as failure:
                failures += 1
                print(f"      differs  {path}: {failure}")
    if not known and not failures:
        sys.exit("pieces: there is no recording; name a file, or a folder with some: make corpus-pieces CORPUS=DIR")
    print(f"pieces: {known} recordings are the same in pieces, {failures} are not")
    sys.exit(1 if failures else 0)


if len(sys.argv) < 3 or not sys.argv[2]:
    sys.exit(__doc__)
main(*sys.argv[1:])
