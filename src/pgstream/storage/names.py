"""The names of what pgstream stores, and SQL to match and group rows whatever their types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from psycopg import sql

from pgstream.algebra.operators.node import Column
from pgstream.algebra.types import Type

STATE_SCHEMA = "pgstream_state"
ROW_ID = sql.Identifier("__pgs_row_id")
WEIGHT = sql.Identifier("__pgs_weight")
COMMA = sql.SQL(", ")


def state_name(id_: int) -> str:
    return f"state_{id_}"


def top_table(id_: int) -> sql.Identifier:
    return sql.Identifier(STATE_SCHEMA, f"top_{id_}")


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
    """The same row id and the same columns: a collision of hashes is harmless.

    The columns are compared in a CASE, which PostgreSQL takes to be true for half of the rows. Else
    it would multiply the chances that each of them is the same, expect one row at most, and compare
    all groups with all.
    """
    sides = sql.Identifier(left), sql.Identifier(right)
    ids = sql.SQL("{}.{c} = {}.{c}").format(*sides, c=ROW_ID)
    alike = sql.SQL(" AND ").join(same(column, left, right) for column in columns)
    if not alike.as_string():
        return ids
    return sql.SQL("{} AND CASE WHEN {} THEN true ELSE false END").format(ids, alike)


def identifiers(names: Sequence[str], alias: str | None = None) -> sql.Composed:
    return COMMA.join(
        sql.Identifier(alias, name) if alias else sql.Identifier(name) for name in names
    )


def by_value(columns: Sequence[Column]) -> list[Column]:
    """The columns, compared as their types compare even where they travel as text."""
    return [replace(c, type=replace(c.type, as_text=False)) for c in columns]


def grouped(column: Column) -> sql.Composable:
    """By what rows are grouped, so that equal ones come together."""
    name = sql.Identifier(column.name)
    by_text = column.type.as_text or not column.type.has_equality
    return sql.SQL("{}::text").format(name) if by_text else name


def ungrouped(columns: Sequence[Column], groups: Sequence[sql.Composable]) -> sql.Composed:
    """The columns again, in their types."""
    return COMMA.join(
        sql.SQL("{}::{} AS {}").format(group, type_sql(column.type), sql.Identifier(column.name))
        for group, column in zip(groups, columns, strict=True)
    )
