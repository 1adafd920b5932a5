"""Transcripts of Cursor: JSONL of messages."""

import os
import re

from .item import Chain, lines_of, texts_of

QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.S)
HIDDEN = "[REDACTED]"


def recognizes(path, first):
    return isinstance(first, dict) and "role" in first and "message" in first and "sessionId" not in first


def read(paths):
    chains = []
    for path in sorted(paths):
        chain = Chain(os.path.basename(path).removesuffix(".jsonl"))
        for number, line in lines_of(path):
            add(chain, line, f"{os.path.basename(path)}:{number}")
        if chain.items:
            chains.append(chain)
    return chains


def add(chain, line, where):
    content = (line.get("message") or {}).get("content") or []
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    if line.get("role") == "user":
        text = "\n".join(texts_of([block for block in blocks if block.get("type") == "text"]))
        asked = QUERY.findall(text)
        if text.strip():
            chain.add("prompt", "\n".join(asked) if asked else text, where, also=(text,))
    for number, block in enumerate(blocks):
        kind = block.get("type")
        if kind == "tool_use":
            chain.call(block.get("id") or (where, number), block.get("name"), block.get("input"), where)
        elif kind == "tool_result":
            chain.result(block.get("tool_use_id"), block.get("content") or "", where)
        elif kind == "thinking":
            chain.add("thinking", block.get("thinking") or block.get("text"), where)
        elif kind == "text" and line.get("role") == "assistant":
            text = block.get("text") or ""
            # Cursor puts this in the place of a thought.
            bare = text.strip().removesuffix(HIDDEN).rstrip()
            if bare:
                chain.add("answer", bare, where, also=(text,))
            else:
                chain.add("answer", text, where, kinds=("answer", "thinking", "note"), required=False)
