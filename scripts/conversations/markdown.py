"""Compares the items of a recording with a session's Markdown."""

import re

from .compare import named

# What a renderer puts before a line: quotes and the indentation of a list.
BEFORE_LINE = re.compile(r"^[\s>]*")
# The session's title and facts, up to the first turn.
HEADER = re.compile(r"\A# .*?^(?=##)", re.S | re.M)
# A text as short as this can be part of another one by chance.
SHORT = 30


def flat(text):
    """A text without what a renderer may add or change: indentation, quotes, empty lines."""
    lines = (BEFORE_LINE.sub("", line).rstrip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def texts_of(items, shown, pairs):
    """(item, texts) in the order in which they are to be found: as the session's JSON has them, without secrets.

    What the JSON lacks is reported there.
    """
    found = []
    for index, item in enumerate(items):
        if index in pairs:
            found.append((item, [text for text in shown[pairs[index]].texts if text.strip()]))
    return found


def compare(items, shown, pairs, markdown, family=()):
    """The differences between a chain's items and the session's Markdown, as lines.

    The Markdown of a session has those of its sub-agents in it, the texts in `family`.
    """
    page, problems, at = flat(HEADER.sub("", markdown, count=1)), [], 0
    wanted = texts_of(items, shown, pairs)
    whole = "\n".join(flat(text) for each in (*shown, *family) for text in each.texts)
    for item, texts in wanted:
        is_free = item.kind in ("call", "result") or item.floats or not item.required
        for text in map(flat, texts):
            found, end = find(page, text, at)
            if found < 0 and is_free:
                found, end = find(page, text, 0)
            if found < 0:
                where = " in this place" if text in page else ""
                problems.append(f"Markdown lacks {named(item)} of {item.where}{where}")
            elif not is_free:
                at = end
    return problems + repeated(wanted, whole, page)


def find(page, text, start):
    """The place of a text behind `start`, and its end; a short text is a whole line, if it can be."""
    if len(text) < SHORT:
        whole = f"\n{text}\n"
        found = f"\n{page}\n".find(whole, start)
        if found >= 0:
            return found, found + len(text)
    found = page.find(text, start)
    return found, found + len(text)


def repeated(wanted, whole, page):
    """Texts that the Markdown has more often than the session's JSON."""
    problems, seen = [], set()
    for item, texts in wanted:
        for text in map(flat, texts):
            if len(text) < SHORT or text in seen:
                continue
            seen.add(text)
            mine, its = whole.count(text), page.count(text)
            if its > mine:
                problems.append(f"Markdown has {its} times instead of {mine}: {named(item)} of {item.where}")
    return problems

