"""First rows of each partition: what a change of them reads.

    σ(row_number ≤ n)(W(A)):  of a touched partition with c changed rows, only the first n + c
    stored rows, and those that tie with the last of them, can be among the first n before the
    change or after it.

Of the rows before, those that are still stored come at most c places later; the others are in
the change. The rows that are read are the first ones without a gap, so their numbers are right;
a changed row that comes after all of them has a number beyond n, as it has among all rows. Rows
that are equal tie: they are read all or not at all.

PostgreSQL finds the first rows by itself where A is a table, filtered and arranged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.expressions import Ref, refs, to_postgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.key_filter import key_filtered
from pgstream.algebra.operators.negate import Consolidate, negate, over
from pgstream.algebra.operators.node import Calculus, Expects, Keys, Node, names_at
from pgstream.algebra.operators.order import Order
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Change, Lookup, Scan, Stored
from pgstream.algebra.operators.union_all import UnionAll, add


@dataclass(frozen=True, eq=False)
class FirstKeys(Keys):
    """Partitions of a table, of each of which the first rows are wanted. The order and the
    conditions are those of the table."""

    order: tuple[Order, ...] = ()
    conditions: tuple[str, ...] = ()
    number: int = 0

    def describe(self) -> str:
        keys = names_at(self.indexes, self.input.columns)
        return f"First {self.number}" + (f" by {keys}" if keys else "")

    @property
    def equalities(self) -> Keys | None:
        return Keys(self.input, self.indexes, self.nulls) if self.indexes else None

    def expected_share(self, of: Node, indexes: tuple[int, ...], expect: Expects) -> float:
        wanted = expect.rows(self) * self.number + expect.rows(self.input)
        share = super().expected_share(of, indexes, expect) if indexes else 1.0
        return min(share, wanted / max(expect.rows(of), 1.0))

    def in_words(self, names: list[str]) -> str:
        return ", ".join([*names, f"the first {self.number}"])


@dataclass(frozen=True)
class Path:
    """A table, filtered and arranged: for each column the field that it is, if it is one, and what
    a row must pass."""

    scan: Scan
    columns: tuple[int | None, ...]
    conditions: tuple[str, ...] = ()

    def fields_of(self, indexes: tuple[int, ...]) -> tuple[int, ...] | None:
        """Where the table has these columns; None if it has not all of them."""
        found = [self.columns[i] for i in indexes]
        known = tuple(i for i in found if i is not None)
        return known if len(known) == len(found) else None


def path_of(node: Node) -> Path | None:
    if isinstance(node, Scan):
        asked = () if node.where is None else (node.where,)
        return Path(node, tuple(range(len(node.fields))), asked)
    if not isinstance(node, Filter | Project):
        return None
    below = path_of(node.input)
    if below is None or isinstance(node, Filter):
        return below and _filtered(below, node)
    shown = (below.columns[e.index] if isinstance(e, Ref) else None for e in node.expressions)
    return replace(below, columns=tuple(shown))


def _filtered(below: Path, node: Node) -> Path | None:
    assert isinstance(node, Filter)
    wanted = tuple(sorted(refs(node.predicate)))
    found = below.fields_of(wanted)
    if found is None:
        return None
    names = {i: below.scan.fields[f].written for i, f in zip(wanted, found, strict=True)}
    text = to_postgres(node.predicate, names.__getitem__)
    return replace(below, conditions=(*below.conditions, text))


def first_delta(
    node: Node, keys: tuple[int, ...], order: tuple[Order, ...], number: int, change: Calculus
) -> Node | None:
    """The change of an operator of which only the first rows of each partition count; None if it
    reads no such table. Its input changes."""
    (input,) = node.inputs
    inner, path = change.delta(input), path_of(input)
    assert inner is not None
    if path is None:
        return None
    indexes, places = path.fields_of(keys), path.fields_of(tuple(o.index for o in order))
    if indexes is None or places is None:
        return None
    placed = tuple(replace(each, index=i) for each, i in zip(order, places, strict=True))
    first = FirstKeys(inner, keys, True, placed, path.conditions, number)

    def narrowed(part: Node) -> Node:
        if isinstance(part, Stored):
            return Lookup(part, indexes, first)
        if isinstance(part, Change):
            return key_filtered(part, indexes, first)
        made = part.with_inputs(*map(narrowed, part.inputs))
        # A changed row beyond those that are read is not there to be taken out.
        return Consolidate(made, positive=True) if isinstance(part, UnionAll) else made

    after, before = narrowed(change.after(input)), narrowed(change.before(input))
    return add(over(node, after), negate(over(node, before)))
