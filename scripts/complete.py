#!/usr/bin/env python3
"""Checks that the log of a recording holds its whole conversation.

    ANNALS=PROGRAM complete.py PATH...          each file, or all files of each folder, in a log of its own
    ANNALS=PROGRAM complete.py --each FOLDER    each entry of a folder in a log of its own
    ANNALS=PROGRAM complete.py --self-test      hard recordings, made up here (conversations/hard.py), and whether this
                                                check finds faults; without a program, the latter alone
    complete.py --items PATH...                 prints what the recordings have, without the program

Each prompt, answer, thought, tool call and result text of a recording, after secrets are taken out, must be in
`annals show SESSION --json` and in `annals export markdown SESSION` as often as the recording has it, in order. The
recordings are read by conversations/, which shares nothing with the importers: it was written from the formats alone, so
that a difference is a mistake on one side. Prints a line for each session and each difference with its place in the
recording; ends with 1 if there is a difference, and with 2 if nothing could be compared.

What is compared, and how:

- texts by kind, as a multiset. White space at the end of lines does not count. A marker such as
  `[redacted:github-token]` stands for any text. A text of more than 1 MiB is cut by design, so that its beginning counts;
- calls by the tool's name and all texts in their arguments; a result by its text and the call that it belongs to;
- the order of prompts, answers, thoughts and calls. A prompt that was queued while the agent worked may stand where it
  was written or where it was delivered;
- texts of the agent's program (commands' output, interruptions, compaction) must be there, as a turn of any kind;
- a damaged line must be named by the import, whose exit status is 1 then, and its whole records must be there;
- the session of a sub-agent must be below that of the call that started it; a second import must add nothing;
- in Markdown, quotes, indentation and empty lines do not count. No text of 30 characters or more may be there more
  often than in the recording.
"""

import os
import shutil
import sys
import tempfile

import conversations
from conversations import compare, faults, hard, markdown
from conversations.item import damaged_lines
from conversations.program import Program, ProgramError


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    if arguments[0] == "--items":
        return print_items(arguments[1:])
    program = os.environ.get("ANNALS") or shutil.which("annals")
    if arguments[0] == "--self-test":
        return self_test(program)
    if not program:
        fail("name the program: ANNALS=/path/to/annals")
    if arguments[0] == "--each":
        if len(arguments) != 2 or not os.path.isdir(arguments[1]):
            fail("name a folder of recordings: make complete CORPUS=DIR")
        folder = arguments[1]
        return check_all(program, [os.path.join(folder, name) for name in sorted(os.listdir(folder))])
    return check_all(program, arguments)


def self_test(program):
    with tempfile.TemporaryDirectory(prefix="complete-") as folder:
        problems = faults.check(folder)
        for line in problems:
            print(f"  {line}")
        print(f"complete: the check itself has {len(problems)} faults")
        return (check_all(program, hard.write(folder)) if program else 0) or bool(problems)


def fail(why):
    print(f"complete: {why}", file=sys.stderr)
    sys.exit(2)


def files_of(path):
    if not os.path.isdir(path):
        return [path]
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)


def print_items(paths):
    for path in paths:
        for agent, chains in conversations.chains_of(files_of(path)):
            for chain in chains:
                print(f"{path}: {agent} {chain.name}: {compare.counts(chain.items)}")
                for item in chain.items:
                    print(f"  {item.where}: {compare.named(item)}")
    return 0


def check_all(program, paths):
    sessions = problems = 0
    for path in paths:
        found = conversations.chains_of(files_of(path))
        if not any(chains for _, chains in found):
            continue
        print(path)
        try:
            checked, different = check(program, path, found)
        except ProgramError as error:
            checked, different = 0, [str(error)]
            print(f"  {error}")
        sessions += checked
        problems += len(different)
    if not sessions:
        fail("no session could be compared")
    print(f"complete: {sessions} sessions, {problems} differences")
    return 1 if problems else 0


def check(program, path, found):
    """Imports a path and compares all chains with the sessions of the log."""
    with tempfile.TemporaryDirectory(prefix="complete-") as folder:
        log = Program(program, folder)
        broken, _ = log.imports(path)
        sessions = {id: compare.shown_of(turns) for id, turns in log.conversations().items()}
        left, checked = dict(sessions), 0
        different = list(unnamed(path, broken)) + list(imported_again(log, path))
        for line in different:
            print(f"  {line}")
        for agent, chains in found:
            pairs = assigned(chains, sessions)
            ids = dict(pairs)
            for chain, id in pairs:
                checked += 1
                left.pop(id, None)
                lines = differences(log, chain, sessions, id) + misplaced(log, chain, ids)
                report(agent, chain, id, lines)
                different += lines
        for id, shown in left.items():
            spoken = [text for text in shown if text.kind in ("prompt", "answer", "thinking", "call")]
            if spoken:
                line = f"session {id} is in no recording: {compare.brief(spoken[0])}"
                print(f"  {line}")
                different.append(line)
        return checked, different


def unnamed(path, broken):
    """The damaged lines that an import did not name."""
    for file in files_of(path):
        if file.endswith(".jsonl") and conversations.agent_of(file):
            for line in sorted(damaged_lines(file)):
                if (file, line) not in broken:
                    yield f"line {line} of {file} is damaged, and the import does not name it"


def imported_again(log, path):
    """A second import adds nothing."""
    _, events = log.imports(path)
    if events:
        yield f"a second import added {events} events"


def misplaced(log, chain, ids):
    """A sub-agent's session is a part of the session of the call that started it."""
    id, above = ids.get(chain), ids.get(chain.caller)
    if id is None or above is None or id in log.below.get(above, ()):
        return []
    return [f"session {id} is not below {above}, from which {chain.name} was called"]


def assigned(chains, sessions):
    """(chain, session) by the texts that they share, the clearest first; a chain that must not be shown can have none.

    A chain that continues another one belongs to the other one's session, if it has none.
    """
    scores = [(compare.overlap(chain.items, shown), -number, chain, id)
              for number, chain in enumerate(chains) for id, shown in sessions.items()]
    found, taken = {}, set()
    for score, _, chain, id in sorted(scores, key=lambda entry: entry[:2], reverse=True):
        if score and id not in taken and chain not in found:
            found[chain] = id
            taken.add(id)
    for chain in chains:
        if chain not in found and chain.continues in found:
            chain.continues.items += chain.items
            chain.items = []
    return [(chain, found.get(chain)) for chain in chains
            if chain in found or any(item.required for item in chain.items)]


def differences(log, chain, sessions, id):
    if id is None:
        return [f"no session shows {chain.name}, of {chain.items[0].where}"]
    shown = sessions[id]
    lines, pairs = compare.compare(chain.items, shown)
    below = [text for inner in log.family(id)[1:] for text in sessions.get(inner, ())]
    return lines + markdown.compare(chain.items, shown, pairs, log.markdown(id), below)


def report(agent, chain, id, lines):
    of = f"{agent} {chain.name}"
    print(f"  {'ok' if not lines else 'DIFFERENT'} {compare.counts(chain.items)}  ({of}; session {id})")
    for line in lines:
        print(f"    {line}")


if __name__ == "__main__":
    sys.exit(int(main(sys.argv[1:])))
