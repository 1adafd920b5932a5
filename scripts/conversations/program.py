"""Runs the program on a log of its own, and reads its sessions."""

import json
import os
import subprocess


class ProgramError(Exception):
    """The program refused a command."""


class Program:
    """`annals` on an empty log in a folder; the person's own settings and logs have no part in it."""

    def __init__(self, path, folder):
        self.path, self.log, self.home = path, os.path.join(folder, "log"), os.path.join(folder, "home")
        os.makedirs(self.home, exist_ok=True)
        self.run("init")

    def run(self, *arguments, may_fail=False):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ANNALS_")}
        environment |= {"HOME": self.home, "NO_COLOR": "1", "TZ": "UTC"}
        command = [self.path, "--log", self.log, *arguments]
        done = subprocess.run(command, capture_output=True, env=environment, timeout=600)
        self.status = done.returncode
        if done.returncode and not may_fail:
            said = done.stderr.decode("utf-8", "replace").strip()[:500]
            raise ProgramError(f"`annals {' '.join(arguments)}` ended with {done.returncode}: {said}")
        return done.stdout.decode("utf-8", "replace")

    def imports(self, path):
        """Imports a file or a folder: the broken lines that are named, as (file, line), and the number of events. Broken lines
        make the exit status 1, and the rest is imported."""
        out = self.run("import", path, "--ended", "--json", may_fail=True)
        reports = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        broken = {(each["file"], each["line"]) for report in reports for each in report["broken"]}
        if bool(broken) != bool(self.status):
            raise ProgramError(f"an import with {len(broken)} broken lines ended with {self.status}")
        return broken, sum(report["events_made"] for report in reports)

    def sessions(self):
        """The sessions of the log with all sub-agent sessions, flat: (id, object)."""
        found = {}
        for line in self.run("ls", "--json", "--sub-agents", "--limit", "0").splitlines():
            if line.strip():
                flatten(json.loads(line), found)
        return found

    def conversations(self):
        """The turns of each session, by its id. Afterwards `below` has the sub-agent sessions of each session."""
        found, self.below = {}, {}
        for id in self.sessions():
            if id not in found:
                flatten(json.loads(self.run("show", id, "--json")), found, self.below)
        return {id: turns for id, turns in found.items() if turns is not None}

    def family(self, id):
        """A session and all sub-agent sessions below it, which its Markdown has too."""
        return [id, *(inner for below in self.below.get(id, ()) for inner in self.family(below))]

    def markdown(self, id):
        return self.run("export", "markdown", id)


def flatten(given, found, below=None):
    """Collects sessions by id: of a row, or of a conversation, in whose turns those of sub-agents are."""
    session = given.get("session") if isinstance(given.get("session"), dict) else given
    inner = [turn["conversation"] for turn in given.get("turns") or [] if isinstance(turn.get("conversation"), dict)]
    inner += [row for row in given.get("sub_agents") or [] if isinstance(row, dict)]
    ids = [flatten(each, found, below) for each in inner]
    id = session.get("id")
    if id and found.get(id) is None:
        found[id] = given.get("turns")
    if id and below is not None:
        below[id] = [each for each in ids if each]
    return id
