"""A relation in Spark SQL: a SELECT whose columns are c0, c1, … and the weight w."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.engine.carriers import Carrier
from pgstream.engine.expressions import Rendered


@dataclass(frozen=True, slots=True)
class Relation:
    sql: str
    carriers: tuple[Carrier, ...]

    def columns(self, alias: str | None = None) -> list[Rendered]:
        prefix = f"{alias}." if alias else ""
        return [Rendered(f"{prefix}c{i}", c) for i, c in enumerate(self.carriers)]

    @property
    def names(self) -> list[str]:
        return [f"c{i}" for i in range(len(self.carriers))]


def select(items: list[Rendered], weight: str, source: str) -> Relation:
    listed = [f"{item.sql} AS c{i}" for i, item in enumerate(items)]
    return Relation(
        f"SELECT {', '.join([*listed, f'{weight} AS w'])} FROM {source}",
        tuple(item.carrier for item in items),
    )
