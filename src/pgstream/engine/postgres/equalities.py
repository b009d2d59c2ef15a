"""equalities: how PostgreSQL tells values of a type apart, asked of its catalog.

A container is as hard to compare as its hardest part. In a container, numbers of any scale, floats
and char(n) without a length have several texts for equal values; by themselves Spark knows them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import psycopg

from pgstream.algebra.types import Equality, Type

_SHAPE = """
SELECT t.typtype::text, format_type(t.oid, NULL), t.typbasetype, t.typtypmod, t.typcategory::text,
       CASE WHEN t.typsubscript = 'array_subscript_handler'::regproc THEN t.typelem ELSE 0 END,
       (SELECT r.rngsubtype FROM pg_range r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)),
       t.typnamespace = 'pg_catalog'::regnamespace,
       EXISTS (SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod
               WHERE o.opcdefault AND m.amname IN ('btree', 'hash')
                 AND (o.opcintype = t.oid OR EXISTS (
                      SELECT FROM pg_cast c WHERE c.castsource = t.oid
                         AND c.casttarget = o.opcintype AND c.castmethod = 'b'))),
       EXISTS (SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod
               WHERE o.opcdefault AND m.amname IN ('btree', 'hash') AND o.opcintype = t.oid
                 AND o.opcnamespace <> 'pg_catalog'::regnamespace)
       OR EXISTS (SELECT FROM pg_range r JOIN pg_opclass o ON o.oid = r.rngsubopc
                  LEFT JOIN pg_collation c ON c.oid = r.rngcollation
                  WHERE t.oid IN (r.rngtypid, r.rngmultitypid)
                    AND (o.opcnamespace <> 'pg_catalog'::regnamespace
                         OR NOT c.collisdeterministic))
FROM pg_type t WHERE t.oid = %s
"""
_FIELDS = """
SELECT a.atttypid, a.atttypmod, coalesce(c.collisdeterministic, true)
FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid
LEFT JOIN pg_collation c ON c.oid = a.attcollation
WHERE t.oid = %s AND a.attnum > 0 AND NOT a.attisdropped
"""
SPELLED_INSIDE = ("numeric", "character")
FLOATS = ("real", "double precision")


class Shape(NamedTuple):
    kind: str
    name: str
    base: int
    base_modifier: int
    category: str
    element: int
    subtype: int | None
    is_builtin: bool
    is_compared: bool
    has_own_order: bool
    """An operator class of its own compares it, or the bounds of a range."""


def equality_of(connection: psycopg.Connection, type_id: int, modifier: int) -> Equality | None:
    """The equality of a container or of a type that is not PostgreSQL's own; None where the
    type's name tells it."""
    shape = _shape(connection, type_id)

    def part(type_id: int, modifier: int = -1) -> Equality:
        return _inside(connection, type_id, modifier)

    match shape.kind:
        case "d":
            return equality_of(connection, shape.base, shape.base_modifier)
        case _ if shape.has_own_order:
            return Equality.UNKNOWN
        case "c":
            return _of_fields(connection, type_id, part)
        case "r" | "m":
            assert shape.subtype is not None
            return part(shape.subtype)
        case "b" if shape.element:
            return part(shape.element, modifier)
        case "b" if not shape.is_builtin:
            return Equality.UNKNOWN if shape.is_compared else Equality.NONE
        case "b" if not shape.is_compared:
            return Equality.NONE
    return None


def _inside(connection: psycopg.Connection, type_id: int, modifier: int) -> Equality:
    shape = _shape(connection, type_id)
    if shape.kind == "d":
        return _inside(connection, shape.base, shape.base_modifier)
    if shape.name in FLOATS or (shape.name in SPELLED_INSIDE and modifier < 0):
        return Equality.SPELLINGS
    own = equality_of(connection, type_id, modifier)
    return Type(shape.name, shape.name, shape.category, equality=own).compares


def _of_fields(
    connection: psycopg.Connection, type_id: int, part: Callable[[int, int], Equality]
) -> Equality:
    found = [Equality.TEXT]
    for field, modifier, deterministic in connection.execute(_FIELDS, (type_id,)).fetchall():
        found.append(part(field, modifier) if deterministic else Equality.UNKNOWN)
    return max(found)


def _shape(connection: psycopg.Connection, type_id: int) -> Shape:
    row = connection.execute(_SHAPE, (type_id,)).fetchone()
    assert row is not None
    return Shape(*row)
