#!/usr/bin/env python3
"""Compares two tables of counts: compare.py RECOUNT LOG

A recount of a recording knows files by the path that is written there, and a log by the path below the folder
that the agent worked in: files of one name count together. Edits of a file that was seen are counted in the
recordings of Claude Code alone (recount.py), and calls without a result in recordings alone.
"""

import posixpath
import re
import sys
from collections import Counter

ONLY_IN_ONE = ("edits of a file that was seen", "calls without a result")


def table(path):
    counts = Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            number, name = line.strip().split("  ", 1)
            found = re.match(r"(read|written) (.*)", name)
            if found:
                name = f"{found.group(1)} {posixpath.basename(found.group(2))}"
            if name not in ONLY_IN_ONE:
                counts[name] += int(number)
    return counts


def main():
    recounted, logged = (table(path) for path in sys.argv[1:3])
    names = sorted(set(recounted) | set(logged))
    different = [name for name in names if recounted[name] != logged[name]]
    for name in different:
        print(f"{name}: {recounted[name]} in the recount, {logged[name]} in the log")
    sys.exit(1 if different else 0)


main()
