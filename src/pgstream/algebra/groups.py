"""Groups: an aggregate whose accumulators are stored, one row per group.

A change of its input changes the accumulators by those of the change; no source is read, except
for groups that lost an extreme, whose digits are open, or that add up floats.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.calculus.differentiate import Changed, Differential, differentiate
from pgstream.algebra.operators.accumulate import (
    Accumulate,
    Accumulator,
    accumulators_for,
    unsure_sql,
)
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.negate import settled
from pgstream.algebra.operators.node import Column, Keys, Node
from pgstream.algebra.operators.row_id import RowId


@dataclass(frozen=True)
class Groups:
    aggregate: Aggregate

    # --- what is stored of a group --------------------------------------------------------------

    @property
    def accumulators(self) -> tuple[Accumulator, ...]:
        return accumulators_for(self.aggregate)

    @property
    def key_columns(self) -> tuple[Column, ...]:
        inner = self.aggregate.input.columns
        return tuple(Column(f"k{i}", inner[k].type) for i, k in enumerate(self.aggregate.keys))

    # --- which groups are read again ------------------------------------------------------------

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

    # --- trees ----------------------------------------------------------------------------------

    def all(self, changed: Changed) -> Node:
        """The accumulators of all groups, after the changes."""
        return self._accumulate(Differential(changed).after(self.aggregate.input), False)

    def change(self, changed: Changed) -> Node | None:
        """The change of the accumulators, or the touched groups where these must be read again;
        None if nothing can change."""
        inner = differentiate(self.aggregate.input, changed)
        if inner is None:
            return None
        if self.recomputes:
            return self._with_row_id(Keys(inner, self.aggregate.keys))
        return self._accumulate(inner, True)

    def again(self, changed: Changed, groups: Node) -> Node:
        """The accumulators of these groups, read again from the sources."""
        state, keys = Differential(changed), self.aggregate.keys
        inner = state.after(self.aggregate.input)
        if keys:
            inner = state.restrict(inner, keys, Keys(groups, tuple(range(len(keys)))))
        return self._accumulate(inner, False)

    def _accumulate(self, inner: Node, of_change: bool) -> Node:
        rows = inner if of_change else settled(inner)
        keys, accumulators = self.aggregate.keys, self.accumulators
        return self._with_row_id(Accumulate(rows, keys, accumulators, of_change))

    def _with_row_id(self, node: Node) -> Node:
        return RowId(node, tuple(range(len(self.aggregate.keys))))
