"""compared: values of unlike types in the types in which PostgreSQL's `=` takes them.

    real = numeric      both as double precision
    char(3) = text      both as text
    date = timestamp    an operator of its own: as timestamps

Deparsed text has no cast on the subquery's side of IN, nor in USING. PostgreSQL tells which
operator it takes, and so what each side is cast to.
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.algebra.catalog import Catalog
from pgstream.algebra.placement.spark_list import is_comparable
from pgstream.algebra.types import DOUBLE, TEXT, TIMESTAMP, TIMESTAMPTZ, Type
from pgstream.sql.deparsed import cast_node

# Operators of two types: each value of one is a value of the other.
WIDER: dict[frozenset[str], Type] = {
    frozenset(("real", "double precision")): DOUBLE,
    frozenset(("name", "text")): TEXT,
    frozenset(("date", TIMESTAMP.name)): TIMESTAMP,
    frozenset(("date", TIMESTAMPTZ.name)): TIMESTAMPTZ,
    frozenset((TIMESTAMP.name, TIMESTAMPTZ.name)): TIMESTAMPTZ,
}


def compared(catalog: Catalog, left: Type, right: Type) -> tuple[Type, Type] | None:
    """The types of both sides, once cast, of which Spark tells equal values; None if PostgreSQL
    must compare them."""
    if is_comparable((left, right)):
        return left, right
    taken = catalog.operands(left, right)
    if is_comparable(taken):
        return taken
    wider = WIDER.get(frozenset(type_.name for type_ in taken))
    return (wider, wider) if wider is not None else None


def cast_to(node: exp.Expr, own: Type, wanted: Type) -> exp.Expr:
    """The node, cast if its type is not the one wanted."""
    if own.name == wanted.name:
        return node
    return cast_node(node, wanted.declared)
