"""Plan: how a stream table's result is maintained.

    plain        the stream table stores what the tree computes
    accumulated  the tree ends in an aggregate: its accumulators are stored, and PostgreSQL
                 finishes each touched group (HAVING, averages, the SELECT list)

The same value is run and explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgstream.algebra.calculus.differentiate import Changed, Differential, differentiate, sources
from pgstream.algebra.calculus.linear import require_linear
from pgstream.algebra.calculus.recursion import Recursion, looked_up
from pgstream.algebra.expressions import Expression
from pgstream.algebra.operators.accumulate import (
    Accumulate,
    Accumulator,
    accumulators_for,
    unsure_sql,
)
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.negate import Consolidate, Negate, settled
from pgstream.algebra.operators.node import Column, Keys, Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.row_id import RowId
from pgstream.algebra.operators.scan import Part, Scan, Stored
from pgstream.algebra.operators.union_all import add
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.placement.carry import carry
from pgstream.algebra.placement.legalize import legalize
from pgstream.algebra.placement.moments import moments_by_postgres
from pgstream.algebra.top import Top


@dataclass(frozen=True)
class Accumulated:
    """The stored aggregate, and what PostgreSQL does above it."""

    aggregate: Aggregate
    having: Expression | None
    output: tuple[Expression, ...]
    count: Expression | None = None
    """How often each group's row occurs, if not once."""

    @property
    def accumulators(self) -> tuple[Accumulator, ...]:
        return accumulators_for(self.aggregate)

    @property
    def key_columns(self) -> tuple[Column, ...]:
        inner = self.aggregate.input.columns
        return tuple(Column(f"k{i}", inner[k].type) for i, k in enumerate(self.aggregate.keys))

    @property
    def recomputes(self) -> bool:
        """Floating point is not exact under subtraction: touched groups are read again."""
        return any(a.kind == "sum" and a.type.is_float for a in self.accumulators)

    @property
    def has_extremes(self) -> bool:
        return any(a.is_extreme for a in self.accumulators)

    @property
    def unsure(self) -> tuple[str, ...]:
        """Per call, whether a group must be read again for its digits (see `unsure_sql`)."""
        conditions = [unsure_sql(call, self.aggregate) for call in self.aggregate.calls]
        return tuple(dict.fromkeys(text for text in conditions if text is not None))

    @property
    def read_again_when(self) -> str:
        """Which groups are read again from the sources, in words; empty if none ever is."""
        if self.recomputes:
            return "touched"
        reasons = [("extreme lost", self.has_extremes), ("digits open", self.unsure)]
        return ", ".join(reason for reason, applies in reasons if applies)


@dataclass(frozen=True)
class Plan:
    tree: Node
    accumulated: Accumulated | None
    top: Top | None = None
    recursions: tuple[Recursion, ...] = ()
    """The recursive CTEs, those first that others read."""

    @property
    def trees(self) -> tuple[Node, ...]:
        """All that is computed from the sources."""
        terms = [tree for r in self.recursions for tree in (r.base, r.step)]
        return (self.tree, *terms)

    @property
    def sources(self) -> dict[int, Scan]:
        """The source tables, by relid; tables of recursive CTEs are none."""
        found = {relid: scan for tree in self.trees for relid, scan in sources(tree).items()}
        return {relid: scan for relid, scan in found.items() if relid > 0}

    @property
    def columns(self) -> tuple[Column, ...]:
        """The stream table's columns; hidden keys of its order come after them in the tree."""
        columns = self.tree.columns
        return columns[: len(columns) - len(self.top.hidden)] if self.top else columns

    @property
    def everything_changed(self) -> Changed:
        """A change of every source and of every recursive CTE."""
        changed = {relid: frozenset((Part.COMMITTED,)) for relid in self.sources}
        changed |= {r.source.relid: frozenset((Part.PENDING,)) for r in self.recursions}
        return changed

    def looked_up(self, recursion: Recursion) -> list[tuple[int, ...]]:
        """By which columns refreshes look up rows of a recursive CTE."""
        changed = self.everything_changed
        terms = [tree for r in self.recursions for tree in r.trees(changed)]
        return looked_up([self.change(changed), *terms], recursion)

    def full(self, changed: Changed, stored: Scan | None) -> Node:
        """From what is stored to the whole result after the changes: Q(after) − stored."""
        state = Differential(changed)
        if self.accumulated is None:
            wanted = state.after(self.tree)
        else:
            wanted = self._accumulate(state.after(self.accumulated.aggregate.input), False)
        previous = stored and Negate(Stored(stored))
        difference = add(wanted, previous)
        assert difference is not None
        return self._with_row_id(Consolidate(difference))

    def change(self, changed: Changed) -> Node | None:
        """The change of the result; of an aggregate, the change of its accumulators, or the
        touched groups where these must be read again."""
        if self.accumulated is None:
            delta = differentiate(self.tree, changed)
            return delta and self._with_row_id(delta)
        inner = differentiate(self.accumulated.aggregate.input, changed)
        if inner is None:
            return None
        if not self.accumulated.recomputes:
            return self._with_row_id(self._accumulate(inner, of_change=True))
        return self._with_row_id(Keys(inner, self.accumulated.aggregate.keys))

    def groups_again(self, changed: Changed, groups: Node) -> Node:
        """The accumulators of these groups, read again from the sources."""
        assert self.accumulated is not None
        state = Differential(changed)
        aggregate = self.accumulated.aggregate
        inner = state.after(aggregate.input)
        if aggregate.keys:
            keys = Keys(groups, tuple(range(len(aggregate.keys))))
            inner = state.restrict(inner, aggregate.keys, keys)
        return self._with_row_id(self._accumulate(inner, of_change=False))

    def _with_row_id(self, node: Node) -> RowId:
        """The hash of the grouping columns, or of the whole row where there is no key."""
        width = len(self.columns)
        if self.accumulated is not None:
            width = len(self.accumulated.aggregate.keys)
        return RowId(node, tuple(range(width)))

    def _accumulate(self, inner: Node, of_change: bool) -> Accumulate:
        assert self.accumulated is not None
        keys, accumulators = self.accumulated.aggregate.keys, self.accumulated.accumulators
        return Accumulate(inner if of_change else settled(inner), keys, accumulators, of_change)


def plan(tree: Node, top: Top | None = None, recursions: Sequence[Recursion] = ()) -> Plan:
    """The plan of a tree in which every expression stands where it is computed."""
    return Plan(tree, _accumulated(tree), top, tuple(recursions))


def place_expressions(
    tree: Node, recursions: Sequence[Recursion] = ()
) -> tuple[Node, tuple[Recursion, ...]]:
    """The same with every expression where it can be computed exactly, and every numeric in the
    form in which it travels."""
    accumulated = _accumulated(tree)
    if accumulated is None:
        tree = legalize(moments_by_postgres(tree))
    else:  # PostgreSQL finishes what stands above the aggregate
        aggregate = accumulated.aggregate
        kept = aggregate.with_inputs(moments_by_postgres(aggregate.input))
        tree = _above(tree, aggregate, legalize(kept))
    made = tuple(map(maintained, recursions))
    recursive = [node for r in made for term in (r.base, r.step) for node in term.walk()]
    tree = carry(tree, decimals=[node for node in recursive if isinstance(node, Scan)])
    return tree, made


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
