"""Trajectories of SWE-agent."""

import json
import os

from .item import Chain, parsed, texts_of


def recognizes(path, first):
    return isinstance(first, dict) and "trajectory" in first


def read(paths):
    chains = []
    for path in sorted(paths):
        chain, name = Chain(os.path.basename(path)), os.path.basename(path)
        with open(path, encoding="utf-8", errors="replace") as file:
            document = json.load(file)
        add(chain, document, name)
        if chain.items:
            chains.append(chain)
    return chains


def add(chain, document, name):
    steps = iter(enumerate(document.get("trajectory") or [], 1))
    observation, has_called, pending = None, False, None
    for number, message in enumerate(document.get("history") or [], 1):
        where, role = f"{name}: message {number}", message.get("role")
        text = "\n".join(texts_of(message.get("content")))
        if role == "system" or message.get("is_demo") or message.get("message_type") == "demonstration":
            chain.note(text, where, required=False)
        elif role == "assistant":
            _, step = next(steps, (0, {}))
            observation, has_called = step.get("observation"), True
            pending = assistant(chain, message, step, text, where)
        elif has_called and pending is not None:
            # The history's form has the state of the terminal behind the output.
            also = (observation,) if isinstance(observation, str) else ()
            chain.result(pending, text, where, also=also)
            pending = None
        else:
            chain.add("prompt", text, where)
    chain.note((document.get("info") or {}).get("submission"), f"{name}: submission", required=False)


def paths_in(step):
    state = step.get("state")
    return tuple(value for value in state.values() if isinstance(value, str)) if isinstance(state, dict) else ()


def assistant(chain, message, step, text, where):
    thought = message.get("thought") or step.get("thought") or ""
    calls = message.get("tool_calls") or []
    chain.add("thinking", message.get("reasoning_content"), where)
    chain.add("answer", thought or text, where, also=(text,))
    id = where
    for call in calls:
        function = call.get("function") or {}
        id = call.get("id") or where
        # Of an edit the call has no path: it is that of the open file.
        chain.call(id, function.get("name"), parsed(function.get("arguments")), where, extra=paths_in(step))
    action = message.get("action") or step.get("action")
    if not calls and isinstance(action, str) and action.strip():
        chain.call(id, None, {"command": action.strip()}, where)
    return id if calls or action else None
