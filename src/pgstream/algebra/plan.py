"""Plan: how a stream table's result is maintained.

    plain        the stream table stores what the tree computes
    accumulated  the tree ends in an aggregate: its accumulators are stored, and PostgreSQL
                 finishes each touched group (HAVING, averages, the SELECT list)

The same value is run and explained.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pgstream.algebra.calculus.differentiate import Changed, Differential, differentiate, sources
from pgstream.algebra.calculus.linear import require_linear
from pgstream.algebra.calculus.recursion import Recursion, looked_up
from pgstream.algebra.expressions import Expression
from pgstream.algebra.groups import Groups
from pgstream.algebra.nested import Hidden, Nesting, scans_of
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.negate import Consolidate, Negate
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.row_id import RowId
from pgstream.algebra.operators.scan import Field, Part, Scan, Source, Stored
from pgstream.algebra.operators.signature import signature
from pgstream.algebra.operators.union_all import add
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.placement.carry import carry
from pgstream.algebra.placement.legalize import legalize
from pgstream.algebra.placement.moments import moments_by_postgres
from pgstream.algebra.thresholds import with_thresholds
from pgstream.algebra.top import Top


@dataclass(frozen=True)
class Accumulated(Groups):
    """The aggregate that the query ends in, and what PostgreSQL does above it."""

    having: Expression | None
    output: tuple[Expression, ...]
    count: Expression | None = None
    """How often each group's row occurs, if not once."""


@dataclass(frozen=True)
class Plan:
    tree: Node
    accumulated: Accumulated | None
    top: Top | None = None
    recursions: tuple[Recursion, ...] = ()
    """The recursive CTEs, those first that others read."""
    hidden: tuple[Hidden, ...] = ()
    """Nested aggregates whose accumulators are stored, those first that others read."""
    facts: tuple[str, ...] = ()
    """What the plan relies on besides the definition, in words: without it, it would be wrong."""
    key: tuple[str, ...] | None = None
    """The columns that tell the rows of the stream table apart, if that is known."""

    @property
    def trees(self) -> tuple[Node, ...]:
        """All that is computed from the sources."""
        terms = [tree for r in self.recursions for tree in (r.base, r.step)]
        return (self.tree, *terms, *(each.aggregate for each in self.hidden))

    @property
    def sources(self) -> dict[int, Scan]:
        """The source tables, by relid; tables of our own are none."""
        found = {relid: scan for tree in self.trees for relid, scan in sources(tree).items()}
        return {relid: scan for relid, scan in found.items() if relid > 0}

    @property
    def columns(self) -> tuple[Column, ...]:
        """The stream table's columns; hidden keys of its order come after them in the tree."""
        columns = self.tree.columns
        return columns[: len(columns) - len(self.top.hidden)] if self.top else columns

    @property
    def everything_changed(self) -> Changed:
        """A change of every source, of every recursive CTE and of all nested state."""
        changed = {relid: frozenset((Part.COMMITTED,)) for relid in self.sources}
        own = (*(r.source for r in self.recursions), *(h.source for h in self.hidden))
        return changed | {source.relid: frozenset((Part.PENDING,)) for source in own}

    @property
    def digest(self) -> str:
        """Tells plans apart that store other things."""
        stored: list[Node] = [each.aggregate for each in self.hidden]
        if self.accumulated is not None:
            stored.append(self.accumulated.aggregate)
        stored += [tree for r in self.recursions for tree in (r.base, r.step)]
        columns = ", ".join(f"{c.name} {c.type.declared}" for c in self.columns)
        texts = [columns, *self.facts, *map(signature, stored)]
        return hashlib.sha256("\n\n".join(texts).encode()).hexdigest()[:16]

    def looked_up(self, source: Source) -> list[tuple[Field, ...]]:
        """By which fields refreshes look up rows of a table of our own."""
        changed = self.everything_changed
        trees = [self.change(changed), *(h.change(changed) for h in self.hidden)]
        trees += [tree for r in self.recursions for tree in r.trees(changed)]
        return looked_up(trees, source)

    def scans_of(self, hidden: Hidden) -> list[Scan]:
        return scans_of(self.trees, hidden)

    def full(self, changed: Changed, stored: Scan | None) -> Node:
        """From what is stored to the whole result after the changes: Q(after) − stored."""
        if self.accumulated is not None:
            return self.accumulated.all(changed)
        wanted = Differential(changed).after(self.tree)
        difference = add(wanted, stored and Negate(Stored(stored)))
        assert difference is not None
        return self._with_row_id(Consolidate(difference))

    def change(self, changed: Changed) -> Node | None:
        """The change of the result; of an aggregate, that of its stored groups."""
        if self.accumulated is not None:
            return self.accumulated.change(changed)
        delta = differentiate(self.tree, changed)
        return delta and self._with_row_id(delta)

    def _with_row_id(self, node: Node) -> RowId:
        """The hash of the whole row."""
        return RowId(node, tuple(range(len(self.columns))))


def plan(
    tree: Node,
    top: Top | None = None,
    recursions: Sequence[Recursion] = (),
    hidden: Sequence[Hidden] = (),
    facts: Iterable[str] = (),
    key: tuple[str, ...] | None = None,
) -> Plan:
    """The plan of a tree in which every expression stands where it is computed."""
    relied_on = tuple(sorted(facts))
    return Plan(tree, _accumulated(tree), top, tuple(recursions), tuple(hidden), relied_on, key)


def nest(tree: Node, id_: int, recursions: Sequence[Recursion]) -> tuple[Node, tuple[Hidden, ...]]:
    """The tree over hidden tables, and these: all nested aggregates but the one that the stream
    table itself stores."""
    accumulated = _accumulated(tree)
    kept = accumulated.aggregate if accumulated else None
    nesting = Nesting(id_, len(recursions) + 1, kept)
    tree = with_thresholds(nesting.rewritten(tree))
    return tree, tuple(
        over_aggregate(each, with_thresholds(each.aggregate)) for each in nesting.hidden
    )


def place_expressions(
    tree: Node, recursions: Sequence[Recursion] = (), hidden: Sequence[Hidden] = ()
) -> tuple[Node, tuple[Recursion, ...], tuple[Hidden, ...]]:
    """The same with every expression where it can be computed exactly, and every numeric in the
    form in which it travels."""
    accumulated = _accumulated(tree)
    if accumulated is None:
        tree = legalize(moments_by_postgres(tree))
    else:  # PostgreSQL finishes what stands above the aggregate
        tree = _above(tree, accumulated.aggregate, _below(accumulated.aggregate))
    made = tuple(map(maintained, recursions))
    recursive = [node for r in made for term in (r.base, r.step) for node in term.walk()]
    decimals = [node for node in recursive if isinstance(node, Scan)]
    nested = [carry(_below(each.aggregate), decimals) for each in hidden]
    stored = tuple(map(over_aggregate, hidden, nested))
    return carry(tree, decimals), made, stored


def _below(aggregate: Aggregate) -> Node:
    """The aggregate, all that it reads placed. PostgreSQL finishes it from its accumulators."""
    return legalize(aggregate.with_inputs(moments_by_postgres(aggregate.input)))


def over_aggregate(hidden: Hidden, placed: Node) -> Hidden:
    """The hidden table of the same aggregate in another form."""
    assert isinstance(placed, Aggregate)
    return replace(hidden, aggregate=placed)


def maintained(recursion: Recursion) -> Recursion:
    """The recursion with every expression where it can be computed; raises if it is not linear."""
    base, step = (legalize(moments_by_postgres(t)) for t in (recursion.base, recursion.step))
    made = replace(recursion, base=base, step=step)
    require_linear(made)
    return made


def _accumulated(tree: Node) -> Accumulated | None:
    """Project(Weigh?(Filter?(Aggregate))) at the top."""
    if not isinstance(tree, Project):
        return None
    inner, having, count = tree.input, None, None
    if isinstance(inner, Weigh):
        count = inner.count
        inner = inner.input
    if isinstance(inner, Filter):
        having = inner.predicate
        inner = inner.input
    if not isinstance(inner, Aggregate):
        return None
    return Accumulated(inner, having, tree.expressions, count)


def _above(tree: Node, old: Node, new: Node) -> Node:
    """The tree with one of its parts replaced."""
    return new if tree is old else tree.with_inputs(*(_above(i, old, new) for i in tree.inputs))
