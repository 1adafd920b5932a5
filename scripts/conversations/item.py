"""Items of a recording: what a person saw in the agent's own window.

A reader turns a recording into chains. A chain is the conversation of one session or of one sub-agent; its items are in
the order of the recording. A result is linked to its call, since a log keeps both together.
"""

import io
import json
import subprocess
from dataclasses import dataclass, field

SPOKEN = ("prompt", "answer", "thinking")
# The kinds of turns that may show a text which no person and no model wrote.
ANY_NOTE = frozenset(("note", "interruption", "error", "compaction", "prompt", "answer"))


@dataclass(eq=False)
class Item:
    """A prompt, an answer, a thought, a call, a result, or another text.

    `also` holds forms that are as good as `text`: with or without what the agent's program put around it. `kinds` are
    the kinds of turns that may show it. An item that is not `required` may be left out, but not shown twice. An item
    that `floats` was written at one place and delivered at another, so that its order is free. A call may be shown with the
    `extra` arguments, which the recording has elsewhere.
    """

    kind: str
    text: str
    where: str
    also: tuple = ()
    kinds: frozenset = frozenset()
    required: bool = True
    floats: bool = False
    tool: str | None = None
    args: object = None
    call: "Item | None" = None
    leaves: list | None = None
    extra: tuple = ()

    def __post_init__(self):
        self.kinds = frozenset(self.kinds or (self.kind,))

    def forms(self):
        return (self.text, *self.also)


@dataclass(eq=False)
class Chain:
    """The items of one session, or of one sub-agent's session. A session that `continues` another one is a session of its
    own, or a part of the other one. The `caller` of a sub-agent is the chain of the call that started it, if that is known.
    """

    name: str
    is_sub_agent: bool = False
    continues: "Chain | None" = None
    caller: "Chain | None" = None
    items: list = field(default_factory=list)
    calls: dict = field(default_factory=dict)

    def add(self, kind, text, where, **more):
        """Adds a text, unless it is blank: a blank text shows nothing."""
        if isinstance(text, str) and text.strip():
            self.items.append(Item(kind, text, where, **more))

    def note(self, text, where, required=True, **more):
        self.add("other", text, where, kinds=ANY_NOTE, required=required, **more)

    def call(self, id, tool, args, where, **more):
        item = Item("call", "", where, tool=tool, args=args, **more)
        self.items.append(item)
        self.calls[id] = item

    def result(self, id, content, where, also=(), **more):
        """Adds the result of a call: a text, a list of parts, or other JSON. Blank results show nothing."""
        found = texts_of(content)
        joined = "\n".join(found)
        leaves = None if isinstance(content, str) else strings_in(content)
        if not joined.strip() and not any(text.strip() for text in leaves or ()):
            return
        call = self.calls.get(id)
        kinds = {"result"} if call else {"result", "note"}
        self.items.append(Item(
            "result", joined, where, also=tuple(also), kinds=kinds, call=call, leaves=leaves, **more))


def texts_of(content):
    """The texts of a message or of a result, without images and the like."""
    if isinstance(content, str):
        return [content]
    if isinstance(content, list):
        return [text for part in content for text in texts_of(part) if isinstance(part, (str, dict))]
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return [content["text"]]
    return []


def strings_in(value):
    """All texts in a JSON value, without the keys; JSON within a text is left as it is."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for inner in value.values() for text in strings_in(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in strings_in(inner)]
    return []


def parsed(text):
    """Arguments that a recording holds as JSON in a text."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return text


def opened(path):
    """A recording's bytes, expanded by the program zstd if it is compressed."""
    if not path.endswith(".zst"):
        return open(path, "rb")
    return io.BytesIO(subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout)


def lines_of(path):
    """(number, object) of each line that is JSON; a line with a cut record before a whole one gives the whole one."""
    with opened(path) as file:
        for number, raw in enumerate(file, 1):
            text = raw.decode("utf-8", "replace").strip("\0 \t\r\n")
            for value in values_in(text):
                if isinstance(value, dict):
                    yield number, value


def damaged_lines(path):
    """The numbers of the lines that have anything but whole JSON values."""
    damaged = set()
    with opened(path) as file:
        for number, raw in enumerate(file, 1):
            text = raw.decode("utf-8", "surrogateescape").strip()
            decoder, at = json.JSONDecoder(), 0
            while at < len(text):
                try:
                    _, at = decoder.raw_decode(text, at)
                except ValueError:
                    damaged.add(number)
                    break
                while at < len(text) and text[at].isspace():
                    at += 1
    return damaged


def values_in(text):
    decoder = json.JSONDecoder(strict=False)
    at = 0
    while at < len(text):
        start = text.find("{", at)
        if start < 0:
            return
        try:
            value, at = decoder.raw_decode(text, start)
        except ValueError:
            at = start + 1
            # Only what looks like the beginning of a record is tried: damaged lines can be long.
            while at < len(text) and not text.startswith('{"', at):
                at = text.find('{"', at)
                if at < 0:
                    return
            continue
        yield value
