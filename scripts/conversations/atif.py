"""Trajectories in ATIF, the Agent Trajectory Interchange Format."""

import json
import os

from .item import Chain, texts_of


def recognizes(path, first):
    return isinstance(first, dict) and isinstance(first.get("steps"), list) and "schema_version" in first


def read(paths):
    chains = []
    for path in sorted(paths):
        with open(path, encoding="utf-8", errors="replace") as file:
            trajectory(json.load(file), os.path.basename(path), False, chains)
    return [chain for chain in chains if chain.items]


def trajectory(document, name, is_sub_agent, chains):
    id = document.get("trajectory_id") or document.get("session_id")
    chain = Chain(str(id), is_sub_agent)
    chains.append(chain)
    for number, step in enumerate(document["steps"], 1):
        if not step.get("is_copied_context"):
            add(chain, step, f"{name}: {id} step {step.get('step_id', number)}")
    for inner in document.get("subagent_trajectories") or []:
        trajectory(inner, name, True, chains)


def add(chain, step, where):
    texts = texts_of(step.get("message"))
    text = "\n".join(texts)
    if step.get("source") == "user":
        chain.add("prompt", text, where, also=("".join(texts),))
    elif step.get("source") == "agent":
        chain.add("thinking", step.get("reasoning_content"), where)
        chain.add("answer", text, where, also=("".join(texts),))
    else:
        chain.note(text, where, required=False)
    for call in step.get("tool_calls") or []:
        chain.call(call.get("tool_call_id"), call.get("function_name"), call.get("arguments"), where)
    for result in (step.get("observation") or {}).get("results") or []:
        chain.result(result.get("source_call_id"), result.get("content") or "", where)
