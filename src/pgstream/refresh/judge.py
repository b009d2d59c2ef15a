"""What a change of the sources means for a stream table: nothing, a new start, or an error.

A pure function of the shapes before and after.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pgstream.catalog.shapes import Changed, Shape, members

# The parts of a column, as pgstream._relation_shape lists them, and what a change of one is.
PARTS = (
    "column {} was dropped and created again",
    "the type of column {} has changed",
    "the type of column {} has changed",
    "the collation of column {} has changed",
    "the expression of column {} has changed",
    "the type of column {} has changed",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`broken` says why it cannot be read any more, `restarts` why it must be computed again.
    `rereads` is whether the query is to be checked again."""

    broken: str | None = None
    restarts: str | None = None
    rereads: bool = False


def judge(changed: Changed, untouched: frozenset[int] = frozenset()) -> Verdict:
    """`untouched` are partitions and children that came and never had a row."""
    if changed.relid is None:
        return _judge_objects(changed)
    if changed.after is None:
        kind = "view" if changed.is_view else "table"
        return Verdict(broken=f"the {kind} {changed.name} has been dropped")
    if changed.is_view:
        is_other = changed.before.get("query") != changed.after.get("query")
        return Verdict(restarts=f"view {changed.name} has changed", rereads=True) if is_other else (
            Verdict()
        )  # fmt: skip
    return _judge_table(changed, changed.after, untouched)


def _judge_objects(changed: Changed) -> Verdict:
    after = changed.after or {}
    for name, shape in changed.before.items():
        if after.get(name) is None:
            return Verdict(broken=f"the {name} has been dropped or renamed")
        if after[name] != shape:
            return Verdict(restarts=f"{name} has changed", rereads=True)
    return Verdict()


def _judge_table(changed: Changed, after: Shape, untouched: frozenset[int]) -> Verdict:
    name, columns = changed.name, after.get("columns", {})
    if after.get("row security"):
        return Verdict(broken=f"{name} has row security now")
    for column in changed.before.get("columns", {}):
        if column not in columns:
            return Verdict(broken=f"the column {column} of {name} has been renamed or dropped")
    differences = list(_differences(changed.before.get("columns", {}), columns))
    if differences:
        return Verdict(restarts=f"{name}: {', '.join(differences)}", rereads=True)
    if members(changed.before) - members(after) or changed.members_came - untouched:
        return Verdict(restarts=f"{name}: partitions or children came or went")
    if not after.get("captured") and not changed.members_came:
        return Verdict(restarts=f"{name}: its capture was missing, disabled or not complete")
    return Verdict()


def _differences(before: Shape, after: Shape) -> Iterator[str]:
    for column, parts in before.items():
        for meaning, old, new in zip(PARTS, parts, after[column], strict=True):
            if old != new:
                yield meaning.format(column)
                break
