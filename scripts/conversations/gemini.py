"""Sessions of Gemini CLI: one JSON document, or JSONL in which the last line of an id counts."""

import json
import os

from .item import Chain, lines_of, strings_in, texts_of


def recognizes(path, first):
    if not isinstance(first, dict):
        return False
    return "projectHash" in first or isinstance(first.get("messages"), list) and "sessionId" in first \
        or first.get("type") in ("user", "gemini") and "content" in first and "sessionId" not in first


def read(paths):
    chains = []
    for path in sorted(paths):
        session, messages = load(path)
        chain = Chain(str(session), is_sub_agent="subagent" in str(session))
        for where, message in messages:
            add(chain, message, where)
        if chain.items:
            chains.append(chain)
    return chains


def load(path):
    name = os.path.basename(path)
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    try:
        document = json.loads(text, strict=False)
    except ValueError:
        document = None
    if isinstance(document, dict) and "messages" in document:
        messages = [(f"{name}: message {number}", message) for number, message in enumerate(document["messages"], 1)]
        return document.get("sessionId"), messages
    session, found = None, {}
    for number, line in lines_of(path):
        session = session or line.get("sessionId")
        given = (line.get("$set") or {}).get("messages", []) if "$set" in line else [line] if "id" in line else []
        for message in given:
            # The last content counts, at the first place.
            where = found[message["id"]][0] if message["id"] in found else f"{name}:{number}"
            found[message["id"]] = (where, message)
    return session, list(found.values())


def add(chain, message, where):
    texts = texts_of(message.get("content"))
    text = "\n".join(texts)
    kind = message.get("type")
    if kind == "user":
        chain.add("prompt", text, where, also=("".join(texts),))
        return
    if kind != "gemini":
        chain.note(text, where)
        return
    for thought in message.get("thoughts") or []:
        parts = [thought.get("subject") or "", thought.get("description") or ""]
        text_of = lambda between: between.join(part for part in parts if part)
        also = [text_of(between) for between in ("\n\n", ": ", " ", ". ")]
        also += [f"**{parts[0]}**{between}{parts[1]}" for between in ("\n", "\n\n", " ")]
        chain.add("thinking", text_of("\n"), where, also=tuple(also))
    chain.add("answer", text, where, also=("".join(texts),))
    for number, call in enumerate(message.get("toolCalls") or []):
        id = call.get("id") or f"{where} call {number}"
        chain.call(id, call.get("name"), call.get("args"), where)
        outputs = [part["functionResponse"].get("response") for part in call.get("result") or []
                   if isinstance(part, dict) and isinstance(part.get("functionResponse"), dict)]
        output = [text for inner in outputs for text in strings_in(inner)]
        shown = call.get("resultDisplay")
        if output or isinstance(shown, str):
            also = (shown,) if isinstance(shown, str) and shown.strip() else ()
            chain.result(id, output or shown, where, also=also)
