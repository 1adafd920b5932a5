"""Compares the items of a recording with the turns of a log's session."""

import json
import re
from bisect import bisect_left
from collections import Counter, defaultdict

from .item import SPOKEN, strings_in

MARKER = re.compile(r"\[redacted:[a-z0-9-]+\]")
LONG = 1 << 20
# A note as short as this can be the same as a text by chance.
SHORT = 20


class Shown:
    """A text or a call that the program shows; `texts` are those of a call's arguments, or a result's forms."""

    def __init__(self, kind, texts, where, tool=None, is_beginning=False, call=None):
        self.kind, self.texts, self.where = kind, [norm(text) for text in texts], where
        self.tool, self.is_beginning, self.call = tool, is_beginning, call

    def key(self):
        return call_key(self.texts) if self.kind == "call" else self.texts[0] if self.texts else ""


def norm(text):
    """Lone surrogates and NUL are not text for the program; white space at the end does not count."""
    text = text.encode("utf-8", "replace").decode("utf-8", "replace").replace("\r\n", "\n")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n").rstrip()


def call_key(texts):
    return "\0".join(sorted(text for text in texts if text))


def value_of(given):
    """JSON that the program writes as JSON, as a text, or as {"removed": …}."""
    if isinstance(given, str):
        try:
            return json.loads(given)
        except ValueError:
            return given
    return given


def shown_of(turns):
    """The texts of turns, in order; a result follows its call."""
    found = []
    for turn in turns:
        where, kind = f"turn {turn.get('number')}", turn.get("kind")
        if kind == "tool_call":
            call = Shown("call", strings_in(value_of(turn.get("args"))), where, tool=turn.get("tool"))
            found.append(call)
            result = turn.get("result") or {}
            rest = strings_in(value_of(result.get("json")))
            text = result.get("text") or ""
            if text.strip() or rest:
                found.append(Shown("result", [text, *rest], where, is_beginning=result.get("is_beginning"), call=call))
        elif kind != "sub_agent" and isinstance(turn.get("text"), str) and turn["text"].strip():
            found.append(Shown(kind, [turn["text"]], where))
    return found


def matches_text(recorded, shown, is_beginning=False):
    """Equal, but for secrets, of which the log has markers, and for what is cut by design."""
    if recorded == shown:
        return True
    if is_beginning or len(recorded.encode()) > LONG:
        begin = shown.rstrip("….\n ")[:-200]
        if len(begin) > LONG // 8 and not MARKER.search(begin):
            return recorded.startswith(begin)
    if not MARKER.search(shown):
        return False
    pieces = MARKER.split(shown)
    at = 0
    if not recorded.startswith(pieces[0]) or not recorded.endswith(pieces[-1]):
        return False
    for piece in pieces:
        found = recorded.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def forms_of(item):
    return [norm(form) for form in item.forms() if isinstance(form, str)]


def matches(item, shown):
    """Whether a turn shows an item. Kinds are compared elsewhere."""
    if item.kind == "call":
        if shown.kind != "call" or item.tool not in (None, shown.tool):
            return False
        if item.args is None:
            return True
        mine = sorted(norm(text) for text in strings_in(item.args) if text.strip())
        its = sorted(filter(None, shown.texts))
        for text in item.extra:
            if len(its) > len(mine) and text in its:
                its.remove(text)
        return len(mine) == len(its) and paired(mine, its)
    if shown.kind == "call" or not shown.texts:
        return False
    if any(matches_text(form, shown.texts[0], shown.is_beginning) for form in forms_of(item)):
        return True
    if item.leaves is None:
        return False
    mine = sorted(norm(text) for text in item.leaves if text.strip())
    its = sorted(text for whole in shown.texts for text in [whole] if text)
    return len(mine) == len(its) and paired(mine, its)


def paired(mine, its):
    """Whether each of the texts matches another one."""
    left = list(mine)
    for text in its:
        found = next((other for other in left if matches_text(other, text)), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def pair(items, shown):
    """Pairs of (item, shown): equal texts in order, calls with results before results."""
    waiting = defaultdict(list)
    for at, text in enumerate(shown):
        waiting[text.key()].append(at)
    taken, pairs = set(), {}

    def take(index, candidates):
        item = items[index]
        for at in candidates:
            if at not in taken and shown[at].kind in item.kinds and matches(item, shown[at]) and fits(item, shown[at]):
                taken.add(at)
                pairs[index] = at
                return

    def fits(item, text):
        """A result belongs to the call that it is paired with."""
        if item.kind != "result" or item.call is None or text.call is None:
            return True
        call = by_item.get(id(item.call))
        return call is None or shown[call] is text.call

    by_item = {}
    for phase in ("call", "rest"):
        for index, item in enumerate(items):
            if (item.kind == "call") == (phase == "call"):
                keys = [call_key(norm(t) for t in strings_in(item.args) if t.strip())] if phase == "call" else forms_of(item)
                take(index, [at for key in keys for at in waiting.get(key, ())])
        for index, item in enumerate(items):
            if index not in pairs and (item.kind == "call") == (phase == "call"):
                take(index, range(len(shown)))
            if phase == "call" and index in pairs:
                by_item[id(item)] = pairs[index]
    return pairs, taken


def compare(items, shown):
    """The differences between a chain's items and a session's texts, as lines."""
    pairs, taken = pair(items, shown)
    problems = []
    for index, item in enumerate(items):
        if index not in pairs and item.required:
            problems.append(f"missing {named(item)} of {item.where}{elsewhere(item, shown, taken)}")
    known = {form for item in items for form in forms_of(item) if len(form) >= SHORT}
    for at, text in enumerate(shown):
        if at in taken:
            continue
        if text.kind in (*SPOKEN, "call", "result"):
            problems.append(f"additional {text.kind} at {text.where}: {brief(text)}")
        elif text.key() in known:
            problems.append(f"{text.where} ({text.kind}) repeats {brief(text)}")
    return problems + disorder(items, shown, pairs), pairs


def elsewhere(item, shown, taken):
    """A hint: an item that is shown as another kind, or with another call."""
    for at, text in enumerate(shown):
        if at not in taken and text.kind != "call" and matches(item, text):
            return f" (as {text.kind} at {text.where})"
    return ""


def disorder(items, shown, pairs):
    """Items that are shown in another order than recorded, the fewest whose removal leaves the rest in order."""
    line = [(index, at) for index, at in sorted(pairs.items())
            if items[index].kind not in ("result",) and not items[index].floats and items[index].required]
    tails, ends, before = [], [], {}
    for number, (_, at) in enumerate(line):
        place = bisect_left(tails, at)
        tails[place:place + 1] = [at]
        ends[place:place + 1] = [number]
        before[number] = ends[place - 1] if place else None
    kept, number = set(), ends[-1] if ends else None
    while number is not None:
        kept.add(number)
        number = before[number]
    return [f"out of order: {named(items[index])} of {items[index].where} is at {shown[at].where}"
            for number, (index, at) in enumerate(line) if number not in kept]


def named(item):
    text = item.text if item.kind != "call" else f"{item.tool} {json.dumps(item.args, ensure_ascii=False)}"
    return f"{item.kind} {short(text)}"


def brief(shown):
    return short(" ".join(filter(None, [shown.tool, *shown.texts])))


def short(text):
    text = " ".join(text.split())
    return repr(text if len(text) <= 100 else f"{text[:70]}… ({len(text)} characters)")


def counts(items):
    found = Counter(item.kind for item in items)
    words = (("prompt", "prompts"), ("answer", "answers"), ("thinking", "thoughts"), ("call", "calls"), ("result", "results"))
    return ", ".join(f"{found[kind]} {name}" for kind, name in words)


def overlap(items, shown):
    """How many items a session may show, by their texts: tells which session is a chain's."""
    keys = {text.key() for text in shown} - {""}
    forms = [forms_of(item) or [call_key(norm(t) for t in strings_in(item.args))] for item in items]
    return sum(any(form in keys for form in of_item) for of_item in forms)

