"""The names of what pgstream stores, and SQL to match rows whatever their types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from psycopg import sql

from pgstream.algebra.operators.node import Column
from pgstream.algebra.types import Type

STATE_SCHEMA = "pgstream_state"
ROW_ID = sql.Identifier("__pgs_row_id")
WEIGHT = sql.Identifier("__pgs_weight")
COMMA = sql.SQL(", ")


def state_table(id_: int) -> sql.Identifier:
    return sql.Identifier(STATE_SCHEMA, f"state_{id_}")


def top_table(id_: int) -> sql.Identifier:
    return sql.Identifier(STATE_SCHEMA, f"top_{id_}")


def staging_table(id_: int, number: int) -> sql.Identifier:
    """A refresh may stage several results: one name each, for they are dropped with its commit."""
    return sql.Identifier(STATE_SCHEMA, f"staging_{id_}_{number}")


def temporary(kind: str, id_: int) -> sql.Identifier:
    return sql.Identifier("pg_temp", f"__pgs_{kind}_{id_}")


def type_sql(type_: Type) -> sql.SQL:
    """A type as PostgreSQL itself writes it."""
    return sql.SQL(type_.declared)


def same(column: Column, left: str, right: str) -> sql.Composed:
    """left.column IS NOT DISTINCT FROM right.column; where it travels as text, also as text."""
    form = "{}.{c} IS NOT DISTINCT FROM {}.{c}"
    if column.type.as_text or not column.type.has_equality:
        form = "{}.{c}::text IS NOT DISTINCT FROM {}.{c}::text"
    return sql.SQL(form).format(
        sql.Identifier(left), sql.Identifier(right), c=sql.Identifier(column.name)
    )


def match(columns: Iterable[Column], left: str, right: str) -> sql.Composed:
    """The same row id and the same columns: a collision of hashes is harmless."""
    parts: list[sql.Composable] = [
        sql.SQL("{}.{c} = {}.{c}").format(sql.Identifier(left), sql.Identifier(right), c=ROW_ID)
    ]
    parts += [same(column, left, right) for column in columns]
    return sql.SQL(" AND ").join(parts)


def identifiers(names: Sequence[str], alias: str | None = None) -> sql.Composed:
    return COMMA.join(
        sql.Identifier(alias, name) if alias else sql.Identifier(name) for name in names
    )
