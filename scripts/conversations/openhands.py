"""Events of OpenHands: version 0 is one JSON array, version 1 JSONL or a folder of events."""

import json
import os
import re

from .item import Chain, lines_of, parsed, texts_of

THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.S)


def recognizes(path, first):
    if isinstance(first, list):
        first = next((event for event in first if isinstance(event, dict)), {})
        return "action" in first or "observation" in first or "source" in first
    return isinstance(first, dict) and "source" in first and ("kind" in first or "action" in first)


def read(paths):
    chains = []
    for path in sorted(paths):
        chain, name = Chain(os.path.basename(path)), os.path.basename(path)
        for where, event in events(path, name):
            if "kind" in event:
                version_1(chain, event, where)
            else:
                version_0(chain, event, where)
        if chain.items:
            chains.append(chain)
    return chains


def events(path, name):
    with open(path, encoding="utf-8", errors="replace") as file:
        start = file.read(64).lstrip()
    if start.startswith("["):
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, event in enumerate(json.load(file)):
                yield f"{name}: event {event.get('id', number)}", event
    else:
        for number, line in lines_of(path):
            yield f"{name}:{number}", line


def answer(chain, text, where):
    bare = THOUGHT.sub("", text or "")
    if bare.strip():
        chain.add("answer", bare, where, also=(text,))
    elif (text or "").strip():
        # The thought alone, which the event also holds as such.
        chain.note(text, where, required=False)


def version_0(chain, event, where):
    metadata = event.get("tool_call_metadata") or {}
    args = event.get("args") or {}
    if "observation" in event:
        if metadata:
            chain.result(metadata.get("tool_call_id"), event.get("content") or "", where, also=(event.get("message"),))
        elif event.get("cause") in chain.calls:
            chain.result(event["cause"], event.get("content") or "", where)
        return
    action, text = event.get("action"), args.get("content") or event.get("message")
    if action == "message":
        if event.get("source") == "user":
            chain.add("prompt", text, where)
        else:
            answer(chain, text, where)
        return
    if action in ("system", "recall", "change_agent_state", "agent_state_changed", "null", None):
        return
    answer(chain, args.get("thought") or args.get("final_thought"), where)
    call = call_of(metadata)
    if call:
        chain.call(call["id"], call["function"]["name"], parsed(call["function"]["arguments"]), where)
    else:
        known = ("command", "code", "path", "url", "browser_actions")
        given = {key: args[key] for key in known if isinstance(args.get(key), str)}
        chain.call(event.get("id"), None, given or None, where, required=action != "finish")


def call_of(metadata):
    """The call as the model wrote it."""
    for choice in (metadata.get("model_response") or {}).get("choices") or []:
        for call in (choice.get("message") or {}).get("tool_calls") or []:
            if call.get("id") == metadata.get("tool_call_id"):
                return call
    return None


def version_1(chain, event, where):
    kind = event.get("kind")
    if kind == "MessageEvent":
        message = event.get("llm_message") or {}
        text = "\n".join(texts_of(message.get("content")))
        chain.add("thinking", message.get("reasoning_content"), where)
        if event.get("source") == "user" or message.get("role") == "user":
            chain.add("prompt", text, where)
        else:
            answer(chain, text, where)
    elif kind == "ActionEvent":
        chain.add("thinking", event.get("reasoning_content"), where)
        answer(chain, "\n".join(texts_of(event.get("thought"))), where)
        call = event.get("tool_call") or {}
        args = parsed(call.get("arguments") or (call.get("function") or {}).get("arguments"))
        chain.call(event.get("tool_call_id"), event.get("tool_name"), args, where)
    elif kind == "ObservationEvent":
        observation = event.get("observation") or {}
        content = observation.get("content") or observation.get("output") or ""
        chain.result(event.get("tool_call_id"), "\n".join(texts_of(content)), where)
    elif kind in ("AgentErrorEvent", "UserRejectObservation"):
        text = event.get("error") or event.get("rejection_reason") or ""
        chain.result(event.get("tool_call_id"), text, where)
    elif kind in ("CondensationEvent", "Condensation", "CondensationSummaryEvent"):
        chain.note(event.get("summary"), where)
