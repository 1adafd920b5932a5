"""Messages of OpenCode's databases, of both generations of tables, each where it was written: copies are left out.

It shares nothing with the importer.
"""

import json
import sqlite3


def rows_of(database, table):
    cursor = database.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor.fetchall()]


def messages(name):
    """(session, its parent, its folder, whether a person wrote it, the message, its parts in the older form)."""
    database = sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True)
    tables = {name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    read = lambda table: rows_of(database, table) if table in tables else []
    sessions = {row["id"]: row for table in ("session", "session_v2") for row in read(table)}
    begun = lambda id: sessions.get(id, {}).get("time_created", 0)
    parts, older, written, newest = {}, {}, {}, {}
    for row in sorted(read("part"), key=lambda row: row["id"]):
        parts.setdefault(row["message_id"], []).append(json.loads(row["data"]))
    for row in sorted(read("message"), key=lambda row: (begun(row["session_id"]), row["time_created"], row["id"])):
        session, message = row["session_id"], json.loads(row["data"])
        older.setdefault(session, set()).add(row["id"])
        newest[session] = max(newest.get(session, 0), row["time_created"])
        first = written.setdefault(json.dumps({**message, "parentID": None}, sort_keys=True), session)
        if first == session or row["time_created"] >= begun(session):
            yield *place(sessions, session), message.get("role") == "user", message, parts.get(row["id"], [])
    newer = read("session_message")
    known = {(row["session_id"], row["seq"], row["data"]) for row in newer}
    for row in sorted(newer, key=lambda row: (begun(row["session_id"]), row["session_id"], row["seq"])):
        session, other = row["session_id"], sessions.get(row["session_id"], {}).get("fork_session_id")
        is_copy = (other, row["seq"], row["data"]) in known or row["time_created"] < begun(session)
        is_older = row["id"] in older.get(session, ()) or row["time_created"] <= newest.get(session, -1)
        if is_older or (other in sessions and is_copy):
            continue
        yield *place(sessions, session), row["type"] == "user", *of_newer(row["type"], json.loads(row["data"]))


def place(sessions, session):
    about = sessions.get(session, {})
    return session, about.get("parent_id"), about.get("directory")


def of_newer(kind, data):
    """A message of the newer tables, and its parts, in the form of the older ones."""
    model = data.get("model") or {}
    message = {**data, "modelID": model.get("id"), "providerID": model.get("providerID")}
    if kind == "user":
        return message, [{"type": "text", "text": data.get("text") or ""}]
    if kind == "shell":
        state = {"status": "completed" if data.get("status") != "running" else "running", "input": {}}
        return {"time": data.get("time")}, [{"type": "tool", "tool": "shell", "state": state}]
    found = []
    for part in data.get("content") or []:
        given = (part.get("state") or {}).get("input") or {}
        if part.get("type") == "tool":
            if isinstance(given, dict) and "path" in given:
                given = {**given, "filePath": given["path"]}
            state = {**part["state"], "input": given if isinstance(given, dict) else {}}
            found.append({"type": "tool", "tool": part.get("name"), "state": state})
    return message, found
