"""What queries are made of: typed pieces of SQL, relations, and the dice."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

NUMBERS = ("int", "bigint", "numeric")
ORDERED = (*NUMBERS, "date")
TYPES = (*ORDERED, "text", "bool")
LIMITS = {"int": 1e8, "bigint": 1e15, "numeric": 1e15, "text": 200}
MOST_ROWS = 4000
MOST_DECIMALS = 8


class Dice(random.Random):
    def maybe(self, share: float) -> bool:
        """True that often."""
        return self.random() < share


@dataclass(frozen=True)
class Expr:
    sql: str
    type: str
    bound: float = 0.0
    scale: int = 0

    @property
    def name(self) -> str:
        return self.sql.rpartition(".")[2]

    @property
    def fits(self) -> bool:
        """Arithmetic over it stays exact everywhere."""
        return self.bound <= LIMITS.get(self.type, 0) and self.scale <= MOST_DECIMALS

    @property
    def is_array(self) -> bool:
        return self.type.endswith("[]")


@dataclass(frozen=True)
class Relation:
    """Something to put into FROM: SQL, its columns, and at most how many rows."""

    sql: str
    columns: tuple[Expr, ...]
    rows: float

    def known_as(self, alias: str) -> tuple[Expr, ...]:
        """Its columns, qualified. Arrays are there, and nobody computes with them."""
        return tuple(replace(c, sql=f"{alias}.{c.sql}") for c in self.columns if not c.is_array)


@dataclass(frozen=True)
class Source:
    """FROM, the conjuncts of WHERE, the columns (qualified) and the most rows."""

    clause: str
    where: tuple[str, ...]
    columns: tuple[Expr, ...]
    rows: float

    def having(self, *conjuncts: str) -> Source:
        return replace(self, where=(*self.where, *conjuncts))


@dataclass(frozen=True)
class Scope:
    """What a query may read: relations, and the columns of the queries around it, level by
    level, the nearest last. `depth` says how many more levels may stand inside it."""

    relations: tuple[Relation, ...]
    depth: int
    outer: tuple[tuple[Expr, ...], ...] = ()
    must: tuple[Relation, ...] = field(default=())

    def deeper(self) -> Scope:
        return replace(self, depth=self.depth - 1, must=())

    def below(self, columns: tuple[Expr, ...]) -> Scope:
        """For a subquery of an expression, or a LATERAL one: it may read these columns."""
        return replace(self.deeper(), outer=(*self.outer, columns))

    def alone(self) -> Scope:
        return replace(self, outer=())

    def reading(self, *relations: Relation) -> Scope:
        """These come first in FROM; they are known further inside, too."""
        return replace(self, must=relations, relations=(*self.relations, relations[0]))


def comparable(one: Expr, two: Expr) -> bool:
    return one.type == two.type or (one.type in NUMBERS and two.type in NUMBERS)


def matching(
    left: tuple[Expr, ...], right: tuple[Expr, ...], dice: Dice
) -> list[tuple[Expr, Expr]]:
    """Pairs to compare. Mostly those that find partners: columns that come from a table."""
    pairs = [(a, b) for a in left for b in right if comparable(a, b)]
    alike = [(a, b) for a, b in pairs if a.bound == b.bound and a.type not in ("bool", "text")]
    return alike if alike and dice.maybe(0.7) else pairs


def wider(one: Expr, two: Expr) -> Expr:
    """A column of a set operation."""
    type_ = one.type
    if one.type in NUMBERS:
        type_ = max(one.type, two.type, key=NUMBERS.index)
    return Expr(one.sql, type_, max(one.bound, two.bound), max(one.scale, two.scale))


def listing(items: Iterable[Expr]) -> str:
    return ", ".join(f"{item.sql} AS c{i}" for i, item in enumerate(items, 1))


def output(items: Iterable[Expr]) -> tuple[Expr, ...]:
    """The columns that a SELECT list gives: c1, c2, …"""
    return tuple(replace(item, sql=f"c{i}") for i, item in enumerate(items, 1))


def condition(conjuncts: Iterable[str]) -> str:
    text = " AND ".join(conjuncts)
    return f" WHERE {text}" if text else ""
