"""ByPostgres: PostgreSQL computes a relation from rows that Spark hands over.

For what Spark does not compute as PostgreSQL does: other aggregates, window frames, orders
by collation, set-returning functions, expressions over columns of several tables.

    row by row (keys None)   Δ f(A) = f(Δ A)
    key-local on K           Δ f(A) = f(A after ⋉ K) − f(A before ⋉ K),  K = keys(Δ A)

`query` is a SELECT over the table `__pgs_rows`, whose columns are c0, c1, … and the weight w. It
gives c0, c1, … and w again. A key-local query sees each row as often as it occurs, with w 1.
`origins` tells which output columns are columns of the input, unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pgstream.algebra.expressions import Expression, Ref, to_postgres
from pgstream.algebra.operators.key_filter import through_kept
from pgstream.algebra.operators.key_local import local_delta
from pgstream.algebra.operators.node import (
    Calculus,
    Column,
    ColumnsOf,
    IsEmpty,
    Keys,
    Node,
    Origin,
    Restrict,
    Retype,
    names_at,
)

ROWS = "__pgs_rows"


@dataclass(frozen=True, eq=False)
class ByPostgres(Node):
    input: Node
    query: str
    shape: tuple[Column, ...]
    origins: tuple[int | None, ...]
    keys: tuple[int, ...] | None
    label: str
    """What PostgreSQL computes, in words."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.shape

    def describe(self) -> str:
        by = "" if self.keys is None else f" by ({names_at(self.keys, self.input.columns)})"
        return f"ByPostgres {self.label}{by}"

    def delta(self, change: Calculus) -> Node | None:
        if self.keys is not None:
            return local_delta(self, self.keys, change)
        inner = change.delta(self.input)
        return inner and self.with_inputs(inner)

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        own = self.keys
        kept = [o if own is None or o in own else None for o in self.origins]
        return through_kept(self, kept, indexes, keys, down)

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        column = self.origins[index]
        return () if column is None else (Origin(0, column),)

    @property
    def is_at_hand(self) -> bool:
        return True

    @property
    def needs_positive(self) -> tuple[bool, ...]:
        return (self.keys is not None,)

    @property
    def read_again(self) -> tuple[ColumnsOf, ...]:
        return () if self.keys is None else ((self.input, self.keys),)

    def nonlinear_in(self, input: Node) -> str | None:
        return None if self.keys is None else self.label

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return self.keys != () and is_empty(self.input)

    # --- in which form values travel ------------------------------------------------------------

    def computes(self, index: int) -> bool:
        """What PostgreSQL computes has any form."""
        return False

    @property
    def reads(self) -> Iterator[Origin]:
        yield from (Origin(0, key) for key in self.keys or ())

    def retyped(self, retype: Retype) -> Node:
        shape = [replace(c, type=retype(i, c.type)) for i, c in enumerate(self.shape)]
        return replace(self, shape=tuple(shape))


def select(items: Sequence[str], source: str, weight: str = "r.w") -> str:
    """SELECT … AS c0, … AS c1, weight AS w FROM source."""
    listed = [f"{item} AS c{i}" for i, item in enumerate(items)]
    return f"SELECT {', '.join([*listed, f'{weight} AS w'])} FROM {source}"


class Base(NamedTuple):
    """What a query of PostgreSQL's stands on: a relation of Spark's, or another such query."""

    input: Node
    source: str
    origins: tuple[int | None, ...]
    keys: tuple[int, ...] | None


def over(tree: Node) -> Base:
    """The base of a row-local query over the tree, whose rows it calls r."""
    if isinstance(tree, ByPostgres):
        return Base(tree.input, f"({tree.query}) r", tree.origins, tree.keys)
    return Base(tree, f"{ROWS} r", tuple(range(len(tree.columns))), None)


def computed(
    tree: Node, expressions: Sequence[Expression], names: Sequence[str], where: str | None = None
) -> ByPostgres:
    """Project, and maybe Filter, by PostgreSQL."""
    base = over(tree)
    items = [to_postgres(e, lambda i: f"r.c{i}") for e in expressions]
    query = select(items, base.source) + (f" WHERE {where}" if where else "")
    shape = tuple(Column(n, e.type) for n, e in zip(names, expressions, strict=True))
    origins = tuple(base.origins[e.index] if isinstance(e, Ref) else None for e in expressions)
    label = ", ".join(item for item, e in zip(items, expressions, strict=True)
                      if not isinstance(e, Ref)) or where or ""  # fmt: skip
    return ByPostgres(base.input, query, shape, origins, base.keys, label)
