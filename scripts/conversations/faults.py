"""Checks the check: what the readers find in made-up recordings, and that the comparison finds every fault."""

import os
from collections import Counter

from . import chains_of, compare, hard, markdown
from .compare import Shown, norm
from .item import strings_in


def check(folder):
    """Returns what is wrong, as lines; `folder` is empty."""
    problems = []
    for agent, writer in hard.WRITERS.items():
        for name, story in hard.STORIES.items():
            inner = os.path.join(folder, f"read-{agent}-{name}")
            os.makedirs(inner)
            steps = [step for step in hard.fitting(agent, story) if step[0] == "call" or str(step[-1]).strip()]
            path = writer(inner, hard.fitting(agent, story))
            chains = [chain for _, chains in chains_of([path]) for chain in chains]
            read = Counter(item.kind for chain in chains for item in chain.items)
            told = Counter(step[0] for step in steps)
            if len(chains) != 1 or read != told:
                problems.append(f"{agent}, {name}: read {dict(read)}, told {dict(told)}")
            elif not name.startswith("big"):
                problems += [f"{agent}, {name}: {line}" for line in of_chain(chains[0].items)]
    return problems


def of_chain(items):
    """A perfect copy has no difference; each fault has one."""
    perfect = shown_of(items)
    lines, pairs = compare.compare(items, perfect)
    if lines:
        return [f"a perfect copy differs: {lines[0]}"]
    page = page_of(perfect)
    lines = markdown.compare(items, perfect, pairs, page)
    if lines:
        return [f"a perfect page differs: {lines[0]}"]
    problems = []
    for at, text in enumerate(perfect):
        without = [other for other in perfect if other is not text and other.call is not text]
        if not compare.compare(items, without)[0]:
            problems.append(f"a missing {text.kind} is not found: {compare.brief(text)}")
        if not compare.compare(items, [*perfect[:at], text, *perfect[at:]])[0]:
            problems.append(f"a {text.kind} that is there twice is not found: {compare.brief(text)}")
        cut = Shown(text.kind, [other[:-1] for other in text.texts], text.where, text.tool, call=text.call)
        if any(text.texts) and not compare.compare(items, [*perfect[:at], cut, *perfect[at + 1:]])[0]:
            problems.append(f"a {text.kind} without its last letter is not found: {compare.brief(text)}")
        if text.key().strip() and text.kind != "call" and page.count(text.key()) == 1:
            if not markdown.compare(items, perfect, pairs, page.replace(text.key(), "")):
                problems.append(f"a {text.kind} that the page lacks is not found: {compare.brief(text)}")
    spoken = [text for text in perfect if text.kind != "result"]
    for one, other in zip(spoken, spoken[1:]):
        if one.key() != other.key() and not compare.compare(items, swapped(perfect, one, other))[0]:
            problems.append(f"two texts in the wrong order are not found: {compare.brief(one)}, {compare.brief(other)}")
    return problems


def swapped(shown, one, other):
    places = {id(one): other, id(other): one}
    return [places.get(id(text), text) for text in shown]


def shown_of(items):
    """The items as a perfect program shows them: each result behind its call."""
    found = []
    for number, item in enumerate(items):
        if item.kind == "call":
            call = Shown("call", strings_in(item.args), f"turn {number}", tool=item.tool)
            found.append(call)
            results = [other for other in items if other.kind == "result" and other.call is item]
            found += [Shown("result", [norm(other.text)], f"turn {number}", call=call) for other in results]
        elif item.kind != "result":
            found.append(Shown("note" if item.kind == "other" else item.kind, [item.text], f"turn {number}"))
    return found


def page_of(shown):
    return "\n\n".join(f"## {text.kind}\n\n" + "\n\n".join(text.texts) for text in shown)
