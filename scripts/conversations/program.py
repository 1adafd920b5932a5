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
        if done.returncode and not may_fail:
            said = done.stderr.decode("utf-8", "replace").strip()[:500]
            raise ProgramError(f"`annals {' '.join(arguments)}` ended with {done.returncode}: {said}")
        return done.stdout.decode("utf-8", "replace")

    def imports(self, path):
        """Imports a file or a folder. A damaged line is named and makes the exit status 1; the rest is imported."""
        return self.run("import", path, "--ended", may_fail=True)

    def sessions(self):
        """The sessions of the log with all sub-agent sessions, flat: (id, object)."""
        found = {}
        for line in self.run("ls", "--json", "--sub-agents").splitlines():
            if line.strip():
                flatten(json.loads(line), found)
        return found

    def conversations(self):
        """(id, turns) of each session."""
        found = {}
        for id in self.sessions():
            if id not in found:
                flatten(json.loads(self.run("show", id, "--json")), found)
        return {id: turns for id, turns in found.items() if turns is not None}

    def markdown(self, id):
        return self.run("export", "markdown", id)


def flatten(given, found):
    """Collects sessions by id, from rows or from conversations, in which sub-agent sessions may be nested."""
    session = given.get("session") if isinstance(given.get("session"), dict) else given
    id = session.get("id") or (session.get("summary") or {}).get("id")
    if id and found.get(id) is None:
        found[id] = given.get("turns")
    for inner in given.get("sub_agents") or []:
        if isinstance(inner, dict):
            flatten(inner, found)
