"""drawn: a plan as readable text, without anything that differs from run to run."""

from __future__ import annotations

import re
from collections import Counter

from pgstream.algebra.plan import Plan
from pgstream.database.connection import Connection
from pgstream.monitor.explain import explain

MANY_LINES = 200
LEFT_OUT = ("Source Tables", "DVM Supported")


def drawn(plan: Plan, connection: Connection) -> str:
    """What explain shows of the plan; of a long tree, what it looks up."""
    parts = []
    for title, text in explain(plan, connection):
        if title in LEFT_OUT:
            continue
        if len(text.splitlines()) > MANY_LINES:
            text = summary(text)
        parts.append(f"{title}\n{indented(text)}")
    text = "\n\n".join(parts)
    return re.sub(r"(pgstream_state\.[a-z]+)_\d+", r"\1", text) + "\n"


def summary(text: str) -> str:
    """How long a tree is, and what it looks up."""
    lines = text.splitlines()
    found = Counter(re.sub(r" #\d+$", "", line.strip()) for line in lines if "Lookup " in line)
    listed = [f"  {times} × {one}" for one, times in sorted(found.items())]
    return "\n".join([f"{len(lines)} lines, which look up:", *listed])


def indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())
