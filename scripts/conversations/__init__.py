"""Reads recordings of agents, independently of the program's importers."""

import json
import os
import sqlite3

from . import atif, claude, codex, copilot, copilot_chat, cursor, gemini, openhands, opencode, swe_agent
from .item import lines_of

# Claude Code last: it has the widest rule.
READERS = {
    "codex": codex, "gemini": gemini, "copilot": copilot, "copilot-chat": copilot_chat, "opencode": opencode,
    "openhands": openhands, "swe-agent": swe_agent, "cursor": cursor, "atif": atif, "claude": claude,
}
ENDS = (".jsonl", ".json", ".traj", ".db", ".sqlite")


def first_of(path):
    """What the file begins with: its first record, its document, or the names of its tables."""
    if path.endswith((".db", ".sqlite")):
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
            return [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if path.removesuffix(".zst").endswith(".jsonl"):
        lines = (line for _, line in lines_of(path))
        return next((line for line in lines if "$set" not in line), None)
    with open(path, encoding="utf-8", errors="replace") as file:
        try:
            return json.load(file, strict=False)
        except ValueError:
            file.seek(0)
    return next((line for _, line in lines_of(path)), None)


def agent_of(path):
    """The name of the agent that wrote a file, or None."""
    plain = path.removesuffix(".zst")
    if not plain.endswith(ENDS) or os.path.getsize(path) == 0:
        return None
    try:
        first = first_of(path)
    except sqlite3.Error:
        return None
    return next((name for name, reader in READERS.items() if reader.recognizes(plain, first)), None)


def chains_of(paths):
    """(agent, chains) of the files that belong together, for each agent that wrote some of them."""
    by_agent = {}
    for path in paths:
        by_agent.setdefault(agent_of(path), []).append(path)
    by_agent.pop(None, None)
    return [(agent, READERS[agent].read(paths)) for agent, paths in by_agent.items()]
