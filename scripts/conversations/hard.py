"""Writes recordings that are hard to read: each story in the form of each agent.

A story is a list of steps: a prompt, a thought, an answer, a call, or a result of a call, in the order in which the
agent's program wrote them.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import uuid

# Made up, so that a scan finds it: a token of GitHub's form.
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
START = 1_780_000_000
FENCES = "Before\n\n```rust\nfn main() {\n    println!(\"```\");\n}\n```\n\n````\n```\ninner\n```\n````\n\nAfter `a``b` and ``` alone"
STRANGE = "tab\there, Ünïcödé, 日本語, 👩‍👩‍👧, a\u0301, nbsp\u00a0end, line\u2028separator, \u202eright to left\u202c"
MARKUP = "# Heading\n> quote\n- list\n  1. number\n<script>alert(1)</script> <b>bold</b> | a | b |\n---\n*stars* _under_ [x](y)"
BIG = "".join(f"line {number:07} of a text that is larger than a mebibyte\n" for number in range(30_000))


def prompt(text):
    return ("prompt", text)


def answer(text):
    return ("answer", text)


def thinks(text):
    return ("thinking", text)


def call(id, tool, **args):
    return ("call", id, tool, args)


def result(id, text):
    return ("result", id, text)


def run(id, command, output):
    return [call(id, "Bash", command=command), result(id, output)]


STORIES = {
    "parallel": [
        prompt("Look at all three files of the cart"),
        answer("I read all three at once."),
        call("c1", "Read", file_path="/w/shop/one.rs"), call("c2", "Read", file_path="/w/shop/two.rs"),
        call("c3", "Read", file_path="/w/shop/three.rs"),
        result("c3", "the third file's content"), result("c1", "the first file's content"),
        result("c2", "the second file's content"), answer("All three are read."),
    ],
    "between": [
        prompt("Run the tests and tell me about them"),
        call("c1", "Bash", command="cargo test --all"), answer("While they run: there are forty tests."),
        thinks("They should pass by now."), result("c1", "40 passed; 0 failed"), answer("Forty tests passed."),
    ],
    "no-result": [
        prompt("Start the server of the shop"), call("c1", "Bash", command="serve --forever"),
        prompt("Stop, that was wrong"), answer("I stopped it."), call("c2", "Bash", command="kill %1"),
    ],
    "repeated": [
        prompt("continue"), answer("Done."), *run("c1", "git status", "nothing to commit"),
        prompt("continue"), answer("Done."), *run("c2", "git status", "nothing to commit"),
        prompt("continue"), answer("Done."), *run("c3", "git status", "nothing to commit, working tree clean"),
    ],
    "empty": [
        prompt("Touch the file of the settings"), answer(""), answer("  \n"),
        call("c1", "Bash", command="touch a", note="", list=[]), result("c1", ""),
        call("c2", "Bash", command=""), result("c2", "usage: touch FILE"), answer("Touched."),
    ],
    "secrets": [
        prompt(f"Use the token {SECRET} to push"), answer(f"I push with {SECRET} now."),
        *run("c1", f"git push https://x:{SECRET}@github.com/a/b", f"remote: token {SECRET} accepted\ndone"),
        answer("Pushed."),
    ],
    "strange": [
        prompt(STRANGE), answer(FENCES), *run("c1", FENCES, STRANGE), answer(MARKUP), prompt(MARKUP),
        *run("c2", "printf '\\e[31m'", "\u001b[31mred\u001b[0m and \u0007bell\r\nsecond\rthird"),
        prompt("    indented at the beginning\n\n\n\nand three empty lines  \t\n"), answer("Last."),
    ],
    "nested": [
        prompt("Edit two places at once"),
        call("c1", "MultiEdit", file_path="/w/shop/a.rs", edits=[
            {"old_string": "let a = 1;", "new_string": "let a = 2;\nlet b = 3;", "replace_all": False},
            {"old_string": "\"quoted\\n\"", "new_string": "{\"json\": [1, 2, \"three\"]}"}]),
        result("c1", "{\"ok\": true, \"text\": \"looks like JSON\"}"), answer("{\"answer\": \"is JSON\"}"),
        call("c2", "mcp__shop__order", items=[{"name": "tea", "count": 2, "gift": None}], when=1.5, note="for Ünï"),
        result("c2", "[1, 2, 3]"),
    ],
    "big": [prompt("Print the whole log"), *run("c1", "cat log", BIG), answer("That was all of the log.")],
    "big-texts": [prompt(BIG), answer(BIG.replace("line", "row")), answer("Both were large.")],
}


def write(folder):
    """Writes all stories in the form of all agents, and what only one agent can do; returns the paths."""
    paths = []
    for agent, writer in WRITERS.items():
        for name, story in STORIES.items():
            inner = os.path.join(folder, f"{agent}-{name}")
            os.makedirs(inner)
            paths.append(writer(inner, fitting(agent, story)))
    for name, writer in SPECIAL.items():
        inner = os.path.join(folder, name)
        os.makedirs(inner)
        paths.append(writer(inner))
    return paths


def fitting(agent, story):
    """The steps that the agent's form can hold."""
    kinds = {"cursor": ("prompt", "answer", "call"), "openhands": ("prompt", "answer", "call", "result")}.get(agent)
    return [step for step in story if not kinds or step[0] in kinds]


def time_of(number):
    second = number % 60
    minute = number // 60
    return f"2026-06-01T10:{minute:02}:{second:02}.000Z"


def save(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return path


class Claude:
    """The lines of a session of Claude Code."""

    def __init__(self, session=None, side=None):
        self.session, self.side = session or str(uuid.uuid5(uuid.NAMESPACE_URL, "hard")), side
        self.lines, self.before, self.number = [], None, 0

    def line(self, kind, message=None, **more):
        self.number += 1
        id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session}/{self.side}/{self.number}"))
        line = {
            "parentUuid": self.before, "isSidechain": bool(self.side), "userType": "external", "cwd": "/w/shop",
            "sessionId": self.session, "version": "2.1.0", "gitBranch": "main", "type": kind, "uuid": id,
            "timestamp": time_of(self.number), **({"agentId": self.side} if self.side else {}), **more}
        if message is not None:
            line["message"] = message
        self.before = id
        self.lines.append(line)
        return line

    def user(self, content, **more):
        return self.line("user", {"role": "user", "content": content}, **more)

    def says(self, block, message=None):
        content = [block]
        return self.line("assistant", {
            "model": "claude-opus-4-5", "id": message or f"msg_{self.number}", "type": "message", "role": "assistant",
            "content": content, "usage": {"input_tokens": 10, "output_tokens": 5}})

    def step(self, step, message=None):
        kind = step[0]
        if kind == "prompt":
            self.user(step[1])
        elif kind == "answer":
            self.says({"type": "text", "text": step[1]}, message)
        elif kind == "thinking":
            self.says({"type": "thinking", "thinking": step[1], "signature": "x"}, message)
        elif kind == "call":
            id = f"toolu_{self.session[:8]}_{self.side or 'main'}_{step[1]}"
            self.says({"type": "tool_use", "id": id, "name": step[2], "input": step[3]}, message)
        elif kind == "result":
            id = f"toolu_{self.session[:8]}_{self.side or 'main'}_{step[1]}"
            self.user([{"type": "tool_result", "tool_use_id": id, "content": step[2], "is_error": False}])

    def story(self, steps):
        """One response of the model is a message over several lines, with one id."""
        message = None
        for step in steps:
            if step[0] in ("prompt", "result"):
                message = None
            else:
                message = message or f"msg_{self.session[:4]}_{self.side}_{self.number}"
            self.step(step, message)
        return self


def claude(folder, story):
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, folder))
    return save(os.path.join(folder, f"{session}.jsonl"), Claude(session).story(story).lines)


def codex(folder, story):
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, folder))
    lines = [{"type": "session_meta", "payload": {
        "id": session, "timestamp": time_of(0), "cwd": "/w/shop", "originator": "codex_cli_rs", "cli_version": "0.99.0",
        "source": "cli", "model_provider": "openai"}}]
    lines.append({"type": "turn_context", "payload": {"turn_id": "t1", "cwd": "/w/shop", "model": "gpt-5-codex"}})
    item = lambda **payload: lines.append({"type": "response_item", "payload": payload})
    event = lambda **payload: lines.append({"type": "event_msg", "payload": payload})
    for step in story:
        kind = step[0]
        if kind == "prompt":
            item(type="message", role="user", content=[{"type": "input_text", "text": step[1]}])
            event(type="user_message", message=step[1], images=[])
        elif kind == "answer":
            event(type="agent_message", message=step[1])
            item(type="message", role="assistant", content=[{"type": "output_text", "text": step[1]}])
        elif kind == "thinking":
            event(type="agent_reasoning", text=step[1])
            item(type="reasoning", summary=[{"type": "summary_text", "text": step[1]}], content=None)
        elif kind == "call":
            item(type="function_call", name=step[2], arguments=json.dumps(step[3]), call_id=step[1])
        else:
            item(type="function_call_output", call_id=step[1], output=step[2])
    for number, line in enumerate(lines):
        line["timestamp"] = time_of(number)
    return save(os.path.join(folder, f"rollout-2026-06-01T10-00-00-{session}.jsonl"), lines)


def grouped(story):
    """Messages of a model, each with its texts, thoughts and calls, and the results of these calls."""
    messages = []
    results = {step[1]: step[2] for step in story if step[0] == "result"}
    for step in story:
        if step[0] == "prompt":
            messages.append(step)
        elif step[0] == "call":
            messages.append(("call", step, results.get(step[1])))
        elif step[0] != "result":
            messages.append(step)
    return messages


def gemini(folder, story):
    messages = []
    for number, step in enumerate(grouped(story)):
        message = {"id": f"m{number}", "timestamp": time_of(number), "type": "gemini", "content": "", "model": "gemini-3"}
        if step[0] == "prompt":
            message = {"id": f"m{number}", "timestamp": time_of(number), "type": "user", "content": step[1]}
        elif step[0] == "answer":
            message["content"] = step[1]
        elif step[0] == "thinking":
            message["thoughts"] = [{"subject": "Thinking", "description": step[1], "timestamp": time_of(number)}]
        else:
            _, (_, id, tool, args), output = step
            done = {"id": id, "name": tool, "args": args, "status": "success", "timestamp": time_of(number)}
            if output is not None:
                done["result"] = [{"functionResponse": {"id": id, "name": tool, "response": {"output": output}}}]
            message["toolCalls"] = [done]
        messages.append(message)
    path = os.path.join(folder, "session-2026-06-01T10-00-hard.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({
            "sessionId": str(uuid.uuid5(uuid.NAMESPACE_URL, folder)), "projectHash": "cafe", "startTime": time_of(0),
            "lastUpdated": time_of(50), "messages": messages}, file)
    return path


def gemini_lines(folder, story):
    """A session as newer versions of Gemini CLI write it: a line for each message."""
    with open(gemini(folder, story), encoding="utf-8") as file:
        session = json.load(file)
    os.remove(file.name)
    first = {key: value for key, value in session.items() if key != "messages"}
    return save(os.path.join(folder, "session-2026-06-01T10-00-hard.jsonl"), [first, *session["messages"]])


def copilot(folder, story):
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, folder))
    lines = []

    def event(type, **data):
        id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{session}/{len(lines)}"))
        before = lines[-1]["id"] if lines else None
        lines.append({"type": type, "data": data, "id": id, "timestamp": time_of(len(lines)), "parentId": before})

    event("session.start", sessionId=session, version=1, producer="copilot-agent", copilotVersion="1.0.45",
          startTime=time_of(0), context={"cwd": "/w/shop"})
    for step in story:
        kind = step[0]
        if kind == "prompt":
            event("user.message", content=step[1], attachments=[])
        elif kind == "answer":
            event("assistant.message", messageId=f"m{len(lines)}", content=step[1], toolRequests=[])
        elif kind == "thinking":
            event("assistant.reasoning", reasoningId=f"r{len(lines)}", content=step[1])
        elif kind == "call":
            _, id, tool, args = step
            request = {"toolCallId": id, "name": tool, "arguments": args, "type": "function"}
            event("assistant.message", messageId=f"m{len(lines)}", content="", toolRequests=[request])
            event("tool.execution_start", toolCallId=id, toolName=tool, arguments=args)
        else:
            event("tool.execution_complete", toolCallId=step[1], success=True, result={"content": step[2]})
    return save(os.path.join(folder, "events.jsonl"), lines)


def cursor(folder, story):
    lines = []
    for step in story:
        if step[0] == "prompt":
            block = {"type": "text", "text": f"<user_query>\n{step[1]}\n</user_query>"}
            lines.append({"role": "user", "message": {"content": [block]}})
        elif step[0] == "answer":
            lines.append({"role": "assistant", "message": {"content": [{"type": "text", "text": step[1]}]}})
        else:
            block = {"type": "tool_use", "name": step[2], "input": step[3]}
            lines.append({"role": "assistant", "message": {"content": [block]}})
    return save(os.path.join(folder, "hard.jsonl"), lines)


def opencode(folder, story):
    path = os.path.join(folder, "opencode.db")
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL,
            directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, time_created INTEGER NOT NULL,
            time_updated INTEGER NOT NULL);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
            time_updated INTEGER NOT NULL, data TEXT NOT NULL);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
            time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
        """)
    at = START * 1000
    session = ["ses_hard", "prj", None, "s", "/w/shop", "Hard", "1.2.0", at, at]
    database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", session)
    for number, step in enumerate(grouped(story)):
        now, id = at + number * 1000, f"msg_{number:04}"
        if step[0] == "prompt":
            message = {"role": "user", "time": {"created": now}, "agent": "build"}
        else:
            message = {
                "role": "assistant", "time": {"created": now, "completed": now + 900}, "modelID": "gpt-5",
                "providerID": "openai", "mode": "build", "path": {"cwd": "/w/shop", "root": "/w/shop"}, "cost": 0,
                "tokens": {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}}
        row = [id, "ses_hard", now, now, json.dumps(message)]
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
        row = [f"prt_{number:04}", id, "ses_hard", now, now, json.dumps(opencode_part(step, now))]
        database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    database.commit()
    database.close()
    return path


def opencode_part(step, now):
    if step[0] in ("prompt", "answer"):
        return {"type": "text", "text": step[1]}
    if step[0] == "thinking":
        return {"type": "reasoning", "text": step[1], "time": {"start": now, "end": now}}
    _, (_, id, tool, args), output = step
    state = {"status": "running", "input": args, "time": {"start": now}}
    if output is not None:
        state = {"status": "completed", "input": args, "output": output, "title": "t", "metadata": {},
                 "time": {"start": now, "end": now + 500}}
    return {"type": "tool", "tool": tool, "callID": id, "state": state}


def opencode_2(folder, story):
    """A database of version 2. A session that is there in the older tables, too, goes on, and was forked."""
    path = opencode(folder, [prompt("Begin in the older tables"), answer("Begun there.")])
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE session_v2 (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, fork_session_id TEXT,
            fork_boundary TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT, version TEXT NOT NULL,
            time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
        CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL,
            seq INTEGER NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
        """)
    rows = [("msg_0000", "user", {"text": "Begin in the older tables"}),
            ("msg_0001", "assistant", {"content": [{"type": "text", "text": "Begun there."}]})]
    if story:
        # The story is all that the database has.
        database.executescript("DELETE FROM message; DELETE FROM part;")
        rows = []
    for number, step in enumerate(grouped(story or [prompt("Go on"), answer("Gone on.")]), len(rows)):
        kind = "user" if step[0] == "prompt" else "assistant"
        at = START * 1000 + number * 1000
        part = {"text": step[1]} if kind == "user" else {"content": [opencode_2_part(step, at)]}
        rows.append((f"msg_{number:04}", kind, part))
    sessions = [("ses_hard", None, 0, rows)]
    if not story:
        # Newer sessions have ids that come before others, and messages get other ids.
        copied = [(f"evt_{id}", kind, part) for id, kind, part in rows]
        own = [("msg_fork", "user", {"text": "Go on in another way"})]
        sessions.append(("ses_fork", "ses_hard", 100_000, copied + own))
    for id, fork_of, begun, rows in sessions:
        at = START * 1000 + begun
        session = [id, "prj", None, fork_of, None, "s", "/w/shop", "Hard", "2.0.3", at, at]
        database.execute("INSERT INTO session_v2 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", session)
        for number, (message, kind, part) in enumerate(rows):
            now = START * 1000 + number * 1000 + (begun if message == "msg_fork" else 0)
            data = {"time": {"created": now, "completed": now + 900}, **part}
            if kind == "assistant":
                data |= {"agent": "build", "model": {"id": "gpt-5", "providerID": "openai"}, "cost": 0,
                         "tokens": {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}}
            row = [message, id, kind, number + 1, now, now, json.dumps(data)]
            database.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    database.commit()
    database.close()
    return path


def opencode_2_part(step, at):
    if step[0] in ("answer", "thinking"):
        return {"type": "text" if step[0] == "answer" else "reasoning", "text": step[1]}
    _, (_, id, tool, args), output = step
    state = {"status": "running", "input": args}
    if output is not None:
        content = [{"type": "text", "text": output}] if output.strip() else []
        state = {"status": "completed", "input": args, "content": content, "metadata": {}}
    return {"type": "tool", "id": id, "name": tool, "state": state, "time": {"created": at, "ran": at, "completed": at + 500}}


def opencode_both(folder):
    return opencode_2(folder, [])


def compressed(folder):
    """A rollout that is compressed, one that is there plain, too, and went on since, and one that is plain."""
    for number, name in enumerate(("between", "parallel", "strange")):
        inner = os.path.join(folder, str(number))
        os.makedirs(inner)
        path = codex(inner, STORIES[name])
        if number == 2 or not shutil.which("zstd"):
            continue
        subprocess.run(["zstd", "-q", *(["--rm"] if number == 0 else []), path], check=True)
        if number == 1:
            with open(path, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            more = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And one more"}]}
            save(path, [*lines, {"timestamp": time_of(120), "type": "response_item", "payload": more}])
    return folder


def openhands(folder, story):
    lines, actions, said = [], {}, ""

    def event(kind, source, **more):
        lines.append({"id": f"event-{len(lines)}", "timestamp": time_of(len(lines)).rstrip("Z"), "source": source,
                      **more, "kind": kind})

    part = lambda text: [{"cache_prompt": False, "type": "text", "text": text}]
    for step in story:
        kind = step[0]
        if kind in ("prompt", "answer"):
            role = "user" if kind == "prompt" else "assistant"
            event("MessageEvent", "user" if kind == "prompt" else "agent", llm_message={
                "role": role, "content": part(step[1]), "reasoning_content": None}, activated_skills=[])
        elif kind == "call":
            _, id, tool, args = step
            actions[id] = (f"event-{len(lines)}", tool)
            event("ActionEvent", "agent", thought=part(said), reasoning_content=None, thinking_blocks=[], tool_name=tool,
                  action={**{k: v for k, v in args.items() if isinstance(v, str)}, "kind": "TerminalAction"},
                  tool_call_id=id, llm_response_id=f"r{len(lines)}", tool_call={
                      "id": id, "name": tool, "arguments": json.dumps(args), "origin": "completion"})
        else:
            action, tool = actions[step[1]]
            event("ObservationEvent", "environment", tool_name=tool, tool_call_id=step[1], action_id=action,
                  observation={"content": part(step[2]), "is_error": False, "kind": "TerminalObservation"})
    return save(os.path.join(folder, "events.jsonl"), lines)


def atif(folder, story):
    steps = []
    for number, step in enumerate(grouped(story), 1):
        base = {"step_id": number, "timestamp": time_of(number), "source": "agent", "message": ""}
        if step[0] == "prompt":
            base |= {"source": "user", "message": step[1]}
        elif step[0] == "answer":
            base["message"] = step[1]
        elif step[0] == "thinking":
            base["reasoning_content"] = step[1]
        else:
            _, (_, id, tool, args), output = step
            base["tool_calls"] = [{"tool_call_id": id, "function_name": tool, "arguments": args}]
            if output is not None:
                base["observation"] = {"results": [{"source_call_id": id, "content": output}]}
        steps.append(base)
    path = os.path.join(folder, "trajectory.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({
            "schema_version": "ATIF-v1.4", "session_id": str(uuid.uuid5(uuid.NAMESPACE_URL, folder)),
            "agent": {"name": "harbor", "version": "1.0", "model_name": "gpt-5"}, "steps": steps}, file)
    return path


def queued(folder):
    """Prompts typed while a call runs: delivered by an attachment, by a line of their own, or only queued."""
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, folder))
    told = Claude(session).story([prompt("Build all of it"), call("c1", "Bash", command="make all")])

    def queue(operation, text, **more):
        told.number += 1
        told.lines.append({
            "type": "queue-operation", "operation": operation, "sessionId": session, "content": text,
            "timestamp": time_of(told.number), **more})

    queue("enqueue", "And the documentation")
    queue("enqueue", "And the documentation")
    told.story([result("c1", "built everything")])
    for _ in range(2):
        queue("remove", "And the documentation", reason="absorbed_mid_turn")
        told.line("attachment", attachment={
            "type": "queued_command", "prompt": "And the documentation", "commandMode": "prompt"})
    told.story([answer("Both are built."), call("c2", "Bash", command="make check")])
    # A prompt that a later one contains, and that no line delivers.
    queue("enqueue", "check it")
    queue("remove", "check it", reason="absorbed_mid_turn")
    queue("enqueue", "Then check it twice")
    told.story([result("c2", "checked"), answer("Checked."), prompt("Then check it twice"), answer("Checked twice.")])
    return save(os.path.join(folder, f"{session}.jsonl"), told.lines)


def attached(folder):
    """Prompts that were queued: each with an attachment, a line of the user, both in either order, or their removal alone."""
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, folder))
    told = Claude(session).story([prompt("Build the parser")])

    def queue(operation, text=None, **more):
        told.number += 1
        told.lines.append({
            "type": "queue-operation", "operation": operation, "sessionId": session, "timestamp": time_of(told.number),
            **({"content": text} if text else {}), **more})

    def attach(text, **more):
        told.line("attachment", attachment={"type": "queued_command", "prompt": text, "commandMode": "prompt", **more})

    def during(number, *lines):
        told.story([call(f"c{number}", "Bash", command=f"make {number}"), result(f"c{number}", f"made {number}")])
        for line in lines:
            line()
        told.story([answer(f"Answer {number}.")])

    text = "A prompt that {}"
    of = lambda name: text.format(name)
    during(1, lambda: queue("enqueue", of("is removed")), lambda: queue("remove", of("is removed"), reason="absorbed_mid_turn"))
    during(2, lambda: queue("enqueue", of("is attached first")), lambda: attach(of("is attached first")),
           lambda: queue("remove", of("is attached first")))
    during(3, lambda: queue("enqueue", of("is attached alone")), lambda: queue("dequeue"), lambda: attach(of("is attached alone")))
    during(4, lambda: queue("enqueue", of("is typed")), lambda: queue("dequeue"), lambda: told.user(of("is typed")))
    during(5, lambda: queue("enqueue", of("is typed and attached")), lambda: queue("dequeue"),
           lambda: told.user(of("is typed and attached")), lambda: attach(of("is typed and attached")))
    during(6, lambda: queue("enqueue", of("is attached and typed")), lambda: queue("dequeue"),
           lambda: attach(of("is attached and typed")), lambda: told.user(of("is attached and typed")))
    during(7, lambda: attach(of("was never queued")))
    during(8, lambda: attach([{"type": "text", "text": of("has a picture")}, {"type": "image", "source": {
        "type": "base64", "media_type": "image/png", "data": "aGk="}}], origin={"kind": "human"}))
    # The same twice are two; what is taken back, and what programs say, is none.
    during(9, *[step for _ in range(2) for step in (
        lambda: queue("enqueue", "continue"), lambda: attach("continue"), lambda: queue("remove", "continue"))])
    during(10, lambda: queue("enqueue", "<task-notification>x</task-notification>"),
           lambda: queue("remove", "<task-notification>x</task-notification>"),
           lambda: attach("<task-notification>x</task-notification>", commandMode="task-notification"),
           lambda: attach("From a peer", origin={"kind": "peer"}))
    return save(os.path.join(folder, f"{session}.jsonl"), told.lines)


def nested(folder, with_companions=True):
    """Sub-agents four deep, whose recordings lie next to each other. By name the innermost one comes first."""
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, folder))
    inner = os.path.join(folder, session, "subagents")
    os.makedirs(inner)
    agents = [None, "d4444444", "c3333333", "b2222222", "a1111111"]
    for depth, side in enumerate(agents):
        below = agents[depth + 1] if depth + 1 < len(agents) else None
        told = Claude(session, side)
        told.number = depth
        told.story([prompt(f"Survey at depth {depth}")])
        if below:
            told.story([call("c1", "Task", description="Survey", prompt=f"Survey at depth {depth + 1}", subagent_type="x")])
            made = told.lines[-1]["message"]["content"][0]["id"]
            about = {"agentType": "x", "toolUseId": made, "spawnDepth": depth + 1, **({"parentAgentId": side} if side else {})}
            if with_companions:
                with open(os.path.join(inner, f"agent-{below}.meta.json"), "w", encoding="utf-8") as file:
                    json.dump(about, file)
            told.number = 50 - depth
            told.story([result("c1", f"Surveyed below depth {depth}.")])
            told.lines[-1]["toolUseResult"] = {"status": "completed", "agentId": below}
        told.story([answer(f"Surveyed at depth {depth}.")])
        place = os.path.join(inner, f"agent-{side}.jsonl") if side else os.path.join(folder, f"{session}.jsonl")
        save(place, told.lines)
    return folder


def nested_by_results(folder):
    """Like `nested`, and only the results of the calls name the sub-agents."""
    return nested(folder, with_companions=False)


def damaged(writer):
    """A recording with records that were cut off before whole ones, several on a line, and NUL bytes."""
    def write_it(folder):
        # Each record once more, cut off at another place, before the next one: nothing is missing.
        path = writer(folder, fitting(writer.__name__, STORIES["between"]))
        with open(path, "rb") as file:
            lines = file.read().splitlines()
        if len(lines) < 2:
            return path
        with open(path, "wb") as file:
            for number, line in enumerate(lines):
                before = lines[number - 1] if number else b""
                cut = before[:len(before) * (number % 7 + 1) // 8]
                file.write((cut, b"\0" * 512, b"", b"\0" * 8 + cut)[number % 4] + line)
                file.write(b"" if number % 5 == 4 else b"\n")
        return path

    return write_it


def cut_for_good(folder):
    """Records that are lost, next to whole ones."""
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, folder))
    told = Claude(session).story([
        prompt("First"), answer("One."), answer("This is lost, ünïcödé."), prompt("Second"), answer("Two."), prompt("Third")])
    lines = [json.dumps(line, ensure_ascii=False).encode() for line in told.lines]
    lost = lines[2][:lines[2].index("ü".encode()) + 1]
    path = os.path.join(folder, f"{session}.jsonl")
    with open(path, "wb") as file:
        file.write(b"\n".join([*lines[:2], lost + lines[3], *lines[4:], b"\0" * 64]))
    return path


def durations(folder):
    """Parallel calls whose tools name shorter durations than there are between the lines."""
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, folder))
    told = Claude(session).story([
        prompt("Search in both folders"), call("c1", "Glob", pattern="*.rs"), call("c2", "Bash", command="make test"),
        answer("Both run."), result("c1", "a.rs")])
    told.lines[-1]["toolUseResult"] = {"durationMs": 100, "filenames": ["a.rs"], "numFiles": 1, "truncated": False}
    told.story([result("c2", "tests passed"), answer("Found, and tested.")])
    return save(os.path.join(folder, f"{session}.jsonl"), told.lines)


def codex_durations(folder):
    """Like `durations`; the calls are made at once, and run one after the other."""
    output = lambda text, seconds: json.dumps({
        "output": text, "metadata": {"exit_code": 0, "duration_seconds": seconds}})
    return codex(folder, [
        prompt("Search in both folders"), call("c1", "shell", command=["ls", "a"]), call("c2", "shell", command=["ls", "b"]),
        answer("Both run."), result("c1", output("a.rs", 0.1)), result("c2", output("b.rs", 3.5)),
        answer("Found both.")])


def same_times(writer):
    """Calls whose order no time tells: all lines have the same one."""
    def write_it(folder):
        path = writer(folder, STORIES["parallel"] + [
            step if step[0] not in ("call", "result") else (step[0], f"later-{step[1]}", *step[2:])
            for step in STORIES["between"]])
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return save(path, [{**line, "timestamp": time_of(0)} for line in lines])

    return write_it


def sub_agents(folder):
    """Two sub-agents with the same task at once, in files of their own, and one inside the other."""
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, folder))
    told = Claude(session).story([
        prompt("Review both halves"), call("c1", "Task", description="Half", prompt="Review the half", subagent_type="x"),
        call("c2", "Task", description="Half", prompt="Review the half", subagent_type="x"),
        result("c2", "The second half is fine, says a2222222."), result("c1", "The first half is fine, says a1111111."),
        answer("Both halves are fine.")])
    inner = os.path.join(folder, session, "subagents")
    os.makedirs(inner)
    for side, name in (("a1111111", "first"), ("a2222222", "second")):
        steps = [prompt("Review the half"), *run("c1", "git diff", f"the {name} diff"), answer(f"The {name} half is fine.")]
        save(os.path.join(inner, f"agent-{side}.jsonl"), Claude(session, side).story(steps).lines)
    save(os.path.join(folder, f"{session}.jsonl"), told.lines)
    return folder


def resumed(folder, first="1", second="2"):
    """A session that another file repeats and continues under an id of its own, with lines that are there twice."""
    first, second = (f"{digit * 8}-0000-4000-8000-000000000001" for digit in (first, second))
    told = Claude(first).story([prompt("Name the colours"), answer("Red and blue."), *run("c1", "ls", "red blue")])
    save(os.path.join(folder, f"{first}.jsonl"), [*told.lines, told.lines[-1]])
    copied = [{**line, "sessionId": second} for line in told.lines]
    more = Claude(second)
    more.number, more.before = 30, told.before
    more.story([prompt("And one more"), answer("Green.")])
    save(os.path.join(folder, f"{second}.jsonl"), copied + more.lines)
    return folder


def resumed_before(folder):
    """Like `resumed`, but the name of the file that continues comes first."""
    return resumed(folder, "2", "1")


def blocks(folder):
    """Messages with several blocks on one line: texts around calls, results with text, images and a person's words."""
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, folder))
    told = Claude(session)
    told.user([{"type": "text", "text": "<ide_opened_file>The user opened a.rs.</ide_opened_file>"},
               {"type": "text", "text": "Look at the picture"},
               {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}])
    told.line("assistant", {
        "model": "claude-opus-4-5", "id": "msg_b", "type": "message", "role": "assistant", "content": [
            {"type": "text", "text": "First I look at it."},
            {"type": "tool_use", "id": "toolu_b1", "name": "Read", "input": {"file_path": "/w/shop/a.png"}},
            {"type": "text", "text": "Then I look at the other one."},
            {"type": "tool_use", "id": "toolu_b2", "name": "Read", "input": {"file_path": "/w/shop/b.png"}}]})
    told.user([
        {"type": "tool_result", "tool_use_id": "toolu_b2", "is_error": True, "content": "no such file: b.png"},
        {"type": "tool_result", "tool_use_id": "toolu_b1", "content": [
            {"type": "text", "text": "a picture of a cart"}, {"type": "text", "text": "and its caption"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]}])
    told.story([answer("One is a cart."), prompt("Thanks"), answer("You are welcome.")])
    told.user([{"type": "text", "text": "[Request interrupted by user]"}])
    return save(os.path.join(folder, f"{session}.jsonl"), told.lines)


WRITERS = {
    "claude": claude, "codex": codex, "gemini": gemini, "copilot": copilot, "cursor": cursor, "opencode": opencode,
    "opencode-2": opencode_2, "openhands": openhands, "atif": atif,
}
SPECIAL = {
    "claude-queued": queued, "claude-durations": durations, "codex-durations": codex_durations,
    "claude-same-times": same_times(claude), "codex-same-times": same_times(codex),
    "copilot-same-times": same_times(copilot), "claude-sub-agents": sub_agents, "claude-resumed": resumed,
    "claude-resumed-before": resumed_before, "claude-blocks": blocks, "claude-attached": attached, "claude-nested-agents": nested,
    "claude-agents-by-results": nested_by_results, "claude-cut-for-good": cut_for_good,
    "opencode-both": opencode_both, "codex-compressed": compressed,
    **{f"{writer.__name__}-damaged": damaged(writer) for writer in (claude, codex, copilot, cursor, openhands, gemini_lines)},
}
