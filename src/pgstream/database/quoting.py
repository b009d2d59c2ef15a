"""SQL composed with the driver's quoting, for rooms that do not import the driver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from psycopg import sql


def identifier(*parts: str) -> sql.Identifier:
    return sql.Identifier(*parts)


def literal(value: int | str) -> sql.Literal:
    return sql.Literal(value)


def compose(text: str, **parts: sql.Composable) -> sql.Composed:
    """The text with its {names} replaced by quoted parts."""
    return sql.SQL(text).format(**parts)


Name = sql.Identifier
"""A quoted name."""


def listed(names: Sequence[str]) -> sql.Composed:
    """Quoted names with commas between them."""
    return sql.SQL(", ").join(sql.Identifier(name) for name in names)


def raw(text: str) -> sql.SQL:
    """SQL that PostgreSQL itself wrote, such as a deparsed query."""
    return sql.SQL(text)


def joined(parts: Iterable[sql.Composable]) -> sql.Composed:
    """The parts with commas between them."""
    return sql.SQL(", ").join(parts)


Composed = sql.Composed
"""SQL that is composed."""
Identifier = sql.Identifier
"""A name."""
