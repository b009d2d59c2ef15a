"""A relation in Spark SQL: a SELECT whose columns are c0, c1, … and the weight w.

Spark's analysis costs more than the rows of a small plan, and it grows with the levels of the
statement. So a plain SELECT stays open: a projection, a filter or a sign above it becomes part
of it instead of a level of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgstream.engine.carriers import Carrier
from pgstream.engine.rows import Rows
from pgstream.engine.spark.expressions import Rendered

SIMPLE = re.compile(r"([a-z]\.)?c\d+|true|false")


@dataclass(frozen=True, slots=True)
class Select:
    """SELECT items, weight FROM source WHERE all of `where`."""

    items: tuple[Rendered, ...]
    weight: str
    source: str
    where: tuple[str, ...] = ()
    hint: str = ""

    @property
    def is_open(self) -> bool:
        """Whether another SELECT may repeat the items instead of naming them."""
        return all(SIMPLE.fullmatch(item.sql) for item in self.items)

    def columns(self) -> list[Rendered]:
        return list(self.items)

    def relation(self) -> Relation:
        listed = [f"{item.sql} AS c{i}" for i, item in enumerate(self.items)]
        hint = f"/*+ {self.hint} */ " if self.hint else ""
        where = f" WHERE {' AND '.join(f'({w})' for w in self.where)}" if self.where else ""
        return Relation(
            f"SELECT {hint}{', '.join([*listed, f'{self.weight} AS w'])} FROM {self.source}{where}",
            tuple(item.carrier for item in self.items),
            self if self.is_open else None,
        )


@dataclass(frozen=True, slots=True)
class Relation:
    sql: str
    carriers: tuple[Carrier, ...]
    open: Select | None = None
    rows: Rows | None = None
    """The rows themselves, where they are written into the statement."""
    single_task: str = ""
    """The hint that it needs where the whole plan is a single task."""

    def columns(self, alias: str | None = None) -> list[Rendered]:
        prefix = f"{alias}." if alias else ""
        return [Rendered(f"{prefix}c{i}", c) for i, c in enumerate(self.carriers)]

    @property
    def names(self) -> list[str]:
        return [f"c{i}" for i in range(len(self.carriers))]

    def select(self) -> Select:
        """The relation's own SELECT if it is open, else one that reads it."""
        return self.open or Select(tuple(self.columns()), "w", f"({self.sql}) t")

    def in_one_task(self) -> Relation:
        """The same relation, in a plan that is a single task."""
        return (
            replace(self.select(), hint=self.single_task).relation() if self.single_task else self
        )


def select(items: Sequence[Rendered], weight: str, source: str) -> Relation:
    """A SELECT that stays closed: its source is grouped, or its items are computed over rows."""
    return replace(Select(tuple(items), weight, source).relation(), open=None)
