"""Recursion: a recursive CTE, kept as a table T below the query that reads it.

    UNION ALL   T = L0 + L1 + …,  L0 = base,  L(k+1) = step(L(k), E)
    UNION       the least set T = base ∪ step(T, E)

E are the other tables of the recursive term, which is linear in T. The rest of the query reads T
like a stream table that the same cycle refreshes: Stored(T) is what was there before, the pending
change is what this refresh computes.

Every row of a UNION ALL has its level k in one of its columns, so

    Δ L0 = Δ base,   Δ L(k+1) = step(L(k) before, Δ E) + step(Δ L(k), E after)

has one solution. Without levels, `Δ T = Δ base + step(T before, Δ E) + step(Δ T, E after)` has
more than one as soon as rows that are cut off form a cycle: they would keep each other alive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pgstream.algebra.calculus.differentiate import Changed, Differential, TermByTerm
from pgstream.algebra.expressions import Ref
from pgstream.algebra.operators.negate import Consolidate
from pgstream.algebra.operators.node import Column, Keys, Node
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.row_id import RowId
from pgstream.algebra.operators.scan import Field, Lookup, Scan, Source, Stored
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import add
from pgstream.algebra.operators.working import Working
from pgstream.algebra.types import BIGINT

STATE_SCHEMA = "pgstream_state"
LEVEL = "__pgs_level"


@dataclass(frozen=True)
class Recursion:
    name: str
    source: Source
    """Where T is stored; the relid is made up and negative."""
    fields: tuple[Field, ...]
    """The columns of T where it is stored."""
    base: Node
    step: Node
    level: int | None
    """The column that tells a row's level; None of UNION."""
    hashed: tuple[int, ...]
    """The columns, in this order, of which a stored row's id is the hash."""

    @property
    def distinct(self) -> bool:
        return self.level is None

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.base.columns

    @property
    def visible(self) -> int:
        """How many of the columns the query sees: all but a level of our own."""
        return len(self.columns) - (self.columns[-1].name == LEVEL)

    @property
    def scan(self) -> Scan:
        """T as the query around it reads it."""
        return Scan(self.source, self.fields[: self.visible])

    @property
    def table(self) -> Scan:
        """T with all its columns."""
        return Scan(self.source, self.fields)

    @property
    def identified(self) -> Scan:
        """T with all its columns and the row id."""
        return Scan(self.source, (*self.fields, Field("__pgs_row_id", BIGINT)))

    @property
    def is_hidden(self) -> bool:
        """Whether T has a table of its own, and is not the stream table itself."""
        return self.source.schema == STATE_SCHEMA

    # --- trees ------------------------------------------------------------------------------

    def start(self, changed: Changed) -> Node:
        """The first term, after the changes."""
        return self.with_row_id(Consolidate(Differential(changed).after(self.base)))

    def seed(self, changed: Changed) -> Node | None:
        """What the changes of other tables do by themselves: Δ base + step(T before, Δ E). Of UNION
        each row that goes takes along what depends on it, so none may be there that stays."""
        change = TermByTerm({r: p for r, p in changed.items() if r != self.source.relid})
        delta = add(change.delta(self.base), change.delta(self.over(self.table)))
        return delta and self.with_row_id(Consolidate(delta) if not self.distinct else delta)

    def applied(self, rows: Node, changed: Changed, at_end: bool) -> Node:
        """step(rows, E after), or step(rows, E before); E is read by the keys of the rows."""
        made = Round(rows, changed, at_end).delta(self.over(rows))
        assert made is not None
        return self.with_row_id(Consolidate(made))

    def derivable(self, kept: Node, wanted: Node, changed: Changed) -> Node:
        """Which of the wanted rows the first term, or one step from the kept rows, gives."""
        state = Differential(changed)
        every = tuple(range(len(self.columns)))
        step = substituted(state.after(self.step), lambda n: kept if is_working(n) else None)
        derived = add(state.after(self.base), step)
        assert derived is not None
        return self.with_row_id(Consolidate(state.restrict(derived, every, Keys(wanted, every))))

    def trees(self, changed: Changed) -> list[Node | None]:
        """What a refresh may run, with some rows for those that it finds."""
        rows = Parameter(self.name, self.columns)
        trees = [self.seed(changed), self.applied(rows, changed, at_end=True)]
        if self.distinct:
            trees.append(self.derivable(Stored(self.table), rows, changed))
        return trees

    def over(self, rows: Node) -> Node:
        """The recursive term over these rows."""
        return substituted(self.step, lambda node: rows if is_working(node) else None)

    def with_row_id(self, node: Node) -> Node:
        return RowId(node, self.hashed)


class Round(Differential):
    """The recursive term over given rows, which are all that changes; linear in them."""

    def __init__(self, rows: Node, changed: Changed, at_end: bool) -> None:
        super().__init__(changed)
        self.rows, self.at_end = rows, at_end

    def delta(self, node: Node) -> Node | None:
        if node == self.rows:
            return node
        if self.rows not in node.walk():
            return None
        return node.delta(self)

    def after(self, node: Node) -> Node:
        return super().after(node) if self.at_end else super().before(node)

    before = after


def is_working(node: Node) -> bool:
    return isinstance(node, Working)


def substituted(tree: Node, change: Callable[[Node], Node | None]) -> Node:
    """The tree with each node for which `change` has another replaced by it."""
    found = change(tree)
    if found is not None:
        return found
    inner = tuple(substituted(node, change) for node in tree.inputs)
    return tree if inner == tree.inputs else tree.with_inputs(*inner)


def looked_up(trees: Iterable[Node | None], source: Source) -> list[tuple[Field, ...]]:
    """By which fields the trees look rows of a table up."""
    nodes = (node for tree in trees if tree is not None for node in tree.walk())
    lookups = [node for node in nodes if isinstance(node, Lookup)]
    found = (
        tuple(node.stored.scan.fields[i] for i in node.indexes)
        for node in lookups
        if node.stored.scan.source == source
    )
    return list(dict.fromkeys(found))


# --- where T is stored ------------------------------------------------------------------------


def with_homes(
    tree: Node, recursions: tuple[Recursion, ...], id_: int, stream: Source | None
) -> tuple[Node, tuple[Recursion, ...]]:
    """The same with each T where it is stored: in the stream table, if that keeps all its columns
    and nothing else, or in a state table of its own. `stream` is None if it keeps fewer rows."""
    done: list[Recursion] = []
    moved: dict[Scan, Scan] = {}

    def move(node: Node) -> Node | None:
        while isinstance(node, Shared):  # a table need not be computed apart
            node = node.input
        return moved.get(node) if isinstance(node, Scan) else None

    for recursion in recursions:
        base = substituted(recursion.base, move)
        step = substituted(recursion.step, move)
        kept = _kept_whole(tree, recursion) if stream else None
        new = _home(replace(recursion, base=base, step=step), kept, id_, stream)
        moved[recursion.scan] = new.scan
        done.append(new)
    return substituted(tree, move), tuple(done)


def _home(
    recursion: Recursion, kept: tuple[tuple[int, str], ...] | None, id_: int, stream: Source | None
) -> Recursion:
    source = recursion.source
    if kept is None or stream is None:
        name = f"recursive_{id_}_{-source.relid - 1}"
        names = [column.name for column in recursion.columns]
        if len(set(names)) < len(names) or "__pgs_row_id" in names:
            names = [f"c{i}" for i in range(len(names))]
        hashed = tuple(range(len(names)))
        source = replace(source, schema=STATE_SCHEMA, name=name)
    else:
        shown = dict(kept)
        names = [shown[i] for i in range(len(recursion.columns))]
        hashed = tuple(i for i, _ in kept)
        source = replace(source, schema=stream.schema, name=stream.name)
    fields = tuple(
        Field(name, column.type) for name, column in zip(names, recursion.columns, strict=True)
    )
    return replace(recursion, source=source, fields=fields, hashed=hashed)


def _kept_whole(tree: Node, recursion: Recursion) -> tuple[tuple[int, str], ...] | None:
    """Which column of T each column of the result is, by index and name, if the result is T."""
    if not isinstance(tree, Project):
        return None
    inner = tree.input
    while isinstance(inner, Shared):
        inner = inner.input
    indexes = [e.index for e in tree.expressions if isinstance(e, Ref)]
    whole = set(indexes) == set(range(len(recursion.columns)))
    if inner != recursion.scan or not whole or len(indexes) < len(tree.expressions):
        return None
    return tuple(zip(indexes, tree.names, strict=True))
