"""The grouping sets of a GROUP BY clause."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from sqlglot import exp

from pgstream.sql.walk import bare

MOST = 64
MOST_IN_POSTGRESQL = 4096  # repeated ones included
CONSTRUCT = "GROUPING SETS / ROLLUP / CUBE"
REASON = f"It has more than {MOST} grouping sets, and the rows are repeated for each."
WAY_OUT = "List fewer sets in GROUPING SETS."
SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)

Keys = tuple[exp.Expr, ...]


def has_sets(group: exp.Expr) -> bool:
    """GROUPING SETS, ROLLUP, CUBE or ()."""
    return any(isinstance(node, (*SETS, exp.Tuple)) for node in group.expressions)


def too_many(group: exp.Expr) -> bool:
    """Counts before it lists: a CUBE of 40 columns has a million million sets."""
    count = math.prod(_count(node) for node in group.expressions)
    if not _without_repeats(group) or count > MOST_IN_POSTGRESQL:
        return count > MOST
    return len(grouping_sets(group)) > MOST


def grouping_sets(group: exp.Expr) -> list[Keys]:
    """Each set with its keys, repeated sets included unless it says GROUP BY DISTINCT."""
    made = [
        tuple(dict.fromkeys(itertools.chain(*combination)))
        for combination in itertools.product(*map(_sets, group.expressions))
    ]
    if _without_repeats(group):
        return list({frozenset(keys): keys for keys in made}.values())
    return made


def written_keys(group: exp.Expr) -> list[exp.Expr]:
    """The keys, each as often as it is written."""
    waiting, found = list(group.expressions), list[exp.Expr]()
    while waiting:
        node = bare(waiting.pop(0))
        if isinstance(node, (*SETS, exp.Tuple)):
            waiting = [*node.expressions, *waiting]
        else:
            found.append(node)
    return found


def _without_repeats(group: exp.Expr) -> bool:
    return group.args.get("all") is False


def _sets(node: exp.Expr) -> list[Keys]:
    match node:
        case exp.Rollup():
            items = [_keys(item) for item in node.expressions]
            return [_joined(items[:size]) for size in range(len(items), -1, -1)]
        case exp.Cube():
            items = [_keys(item) for item in node.expressions]
            sizes = range(len(items), -1, -1)
            return [_joined(c) for size in sizes for c in itertools.combinations(items, size)]
        case exp.GroupingSets():
            return [keys for item in node.expressions for keys in _sets(item)]
        case _:
            return [_keys(node)]


def _count(node: exp.Expr) -> int:
    match node:
        case exp.Rollup():
            return len(node.expressions) + 1
        case exp.Cube():
            return int(2 ** len(node.expressions))
        case exp.GroupingSets():
            return sum(map(_count, node.expressions))
        case _:
            return 1


def _keys(node: exp.Expr) -> Keys:
    """One expression, or several in parentheses."""
    node = bare(node)
    if isinstance(node, exp.Tuple):
        return _joined([_keys(item) for item in node.expressions])
    return (node,)


def _joined(items: Sequence[Keys]) -> Keys:
    return tuple(itertools.chain(*items))
