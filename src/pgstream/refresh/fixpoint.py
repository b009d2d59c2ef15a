"""The change of a recursive CTE, round by round.

    UNION ALL   by level: what the changes do at a level, and what the level below brings up to
                it, are added before the next step
    UNION       insertions only: semi-naive, new rows bring new rows
                else: take out all that depends on a lost derivation, then put back what the rest
                still derives, and what is new

Each round is one Spark action; its rows are in the driver.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from pgstream.algebra.calculus.differentiate import Changed
from pgstream.algebra.calculus.recursion import Recursion
from pgstream.algebra.operators.negate import Negate
from pgstream.algebra.operators.node import Keys, Node
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.project import pick
from pgstream.algebra.operators.scan import Lookup, Stored
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.engine.rows import Rows
from pgstream.engine.spark.execution import Execution
from pgstream.engine.zsets import (
    among,
    concatenated,
    distinct,
    empty,
    negated,
    split_lowest,
    total,
    with_sign,
    without,
)
from pgstream.errors import RecursionLimit


@dataclass
class Fixpoint:
    """All rows here have the columns of the CTE, then the row id."""

    recursion: Recursion
    execution: Execution
    changed: Changed
    limit: int
    _rounds: int = 0
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def change(self) -> Rows | None:
        """What the refresh adds to the stored rows and takes from them."""
        seed = self.recursion.seed(self.changed)
        if seed is None:
            return None
        first = self.execution.collect(seed)
        if not self.recursion.distinct:
            return self.by_level(first)
        lost, found = distinct(with_sign(first, -1)), distinct(with_sign(first, 1))
        if not lost.table.num_rows:
            return self.closure(without(found, self.stored(found)), None)
        return self.rederived(lost, found)

    def whole(self) -> Rows:
        """All rows, from the other tables alone."""
        first = self.execution.collect(self.recursion.start(self.changed))
        if not self.recursion.distinct:
            return self.by_level(first)
        every = [distinct(first)]
        while every[-1].table.num_rows:
            every.append(without(self.applied(every[-1], at_end=True), *every))
        return concatenated(every)

    def stored_whole(self) -> Rows:
        return self.execution.read(Stored(self.recursion.identified))

    # --- UNION ALL --------------------------------------------------------------------------

    def by_level(self, waiting: Rows) -> Rows:
        """Nothing reaches a level but from below, so the lowest is complete."""
        assert self.recursion.level is not None
        done = [empty(waiting)]
        while waiting.table.num_rows:
            rows, waiting = split_lowest(waiting, self.recursion.level)
            done.append(rows)
            waiting = total([waiting, self.applied(rows, at_end=True)])
        return total(done)

    # --- UNION ------------------------------------------------------------------------------

    def closure(self, new: Rows, gone: Rows | None) -> Rows:
        """The new rows and all that they bring; the stored rows without `gone` are there."""
        every = [new]
        while every[-1].table.num_rows:
            made = without(self.applied(every[-1], at_end=True), *every)
            every.append(without(made, self.kept(made, gone)))
        return concatenated(every)

    def rederived(self, lost: Rows, found: Rows) -> Rows:
        gone = self.depending_on(among(lost, self.stored(lost)))
        wanted = distinct(concatenated([gone, found]))
        stays = UnionAll((Stored(self.recursion.table), Negate(self.given(gone))))
        tree = self.recursion.derivable(stays, self.given(wanted), self.changed)
        derived = distinct(with_sign(self.execution.collect(tree), 1))
        back = self.closure(without(derived, self.kept(derived, gone)), gone)
        return total([back, negated(gone)])

    def depending_on(self, lost: Rows) -> Rows:
        """The lost rows and all that were derived from them, in the state before."""
        every = [lost]
        while every[-1].table.num_rows:
            every.append(without(self.applied(every[-1], at_end=False), *every))
        return concatenated(every)

    def kept(self, rows: Rows, gone: Rows | None) -> Rows:
        """Those stored rows among these that are not gone."""
        stored = self.stored(rows)
        return stored if gone is None else without(stored, gone)

    # --- pieces -----------------------------------------------------------------------------

    def applied(self, rows: Rows, at_end: bool) -> Rows:
        """One round: the recursive term over these rows."""
        self._rounds += 1
        if self._rounds > self.limit:
            raise RecursionLimit(
                f"The recursive CTE {self.recursion.name} does not end within {self.limit} rounds.",
                detail="PostgreSQL would go on as well if the recursion is endless.",
                hint="Is there a cycle in the rows? If the recursion is only long, raise the "
                "setting max_recursion.",
            )
        tree = self.recursion.applied(self.given(rows), self.changed, at_end)
        return self.execution.collect(tree)

    def stored(self, rows: Rows) -> Rows:
        """The stored rows that have the row ids of these."""
        width = len(self.recursion.columns)
        keys = Keys(self.leaf(rows), (width,))
        return self.execution.read(Lookup(Stored(self.recursion.identified), (width,), keys))

    def given(self, rows: Rows) -> Node:
        """The rows as a relation of the CTE's columns."""
        return pick(self.leaf(rows), tuple(range(len(self.recursion.columns))))

    def leaf(self, rows: Rows) -> Parameter:
        """A leaf of its own for each set of rows: what is read by its keys is remembered."""
        name = f"{self.recursion.name} {self.recursion.source.relid} {next(self._numbers)}"
        leaf = Parameter(name, self.recursion.identified.columns)
        self.execution.give(leaf, rows)
        return leaf
