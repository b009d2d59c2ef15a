"""Temporary tables of the committing transaction: rows with a row id and a weight, in their types.

A table is a value: whoever creates one gets it, and passes it on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.node import Column
from pgstream.database.copying import copy_in
from pgstream.storage.names import COMMA, ROW_ID, WEIGHT, type_sql


@dataclass(frozen=True)
class Temporary:
    name: sql.Identifier
    columns: tuple[Column, ...]


def create_temporary(
    connection: psycopg.Connection, kind: str, id_: int | str, columns: Sequence[Column]
) -> Temporary:
    """An empty one with these columns, the row id and the weight; one of a kind for each stream
    table, or for each state of it, dropped with the commit."""
    defined = [sql.SQL("{} {}").format(sql.Identifier(c.name), type_sql(c.type)) for c in columns]
    defined += [sql.SQL("{} bigint").format(ROW_ID), sql.SQL("{} bigint").format(WEIGHT)]
    name = f"__pgs_{kind}_{id_}"
    connection.execute(
        sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(
            sql.Identifier(name), COMMA.join(defined)
        )
    )
    return Temporary(sql.Identifier("pg_temp", name), tuple(columns))


def analyze(connection: psycopg.Connection, table: Temporary) -> None:
    """So that PostgreSQL knows how few rows there are, and finds their partners by index."""
    connection.execute(sql.SQL("ANALYZE {}").format(table.name))


def drop(connection: psycopg.Connection, table: sql.Identifier) -> None:
    connection.execute(sql.SQL("DROP TABLE {}").format(table))


def load(
    connection: psycopg.Connection,
    kind: str,
    id_: int,
    columns: Sequence[Column],
    rows: pa.Table,
    trimmed: Sequence[bool],
) -> Temporary:
    """The rows of the driver."""
    raw = sql.Identifier("pg_temp", f"__pgs_{kind}_{id_}_raw")
    names = [sql.SQL("{} text").format(sql.Identifier(f"c{i}")) for i in range(len(columns) + 1)]
    with connection.pipeline():
        connection.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} ({}, w bigint) ON COMMIT DROP").format(
                sql.Identifier(raw._obj[-1]), COMMA.join(names)
            )
        )
        made = create_temporary(connection, kind, id_, columns)
    copy_in(connection, raw, rows)
    with connection.pipeline():
        _convert(connection, made, raw, trimmed)
        drop(connection, raw)
    return made


def convert(
    connection: psycopg.Connection,
    kind: str,
    id_: int,
    columns: Sequence[Column],
    raw: sql.Composable,
    trimmed: Sequence[bool],
) -> Temporary:
    """The rows of a table with columns c0, c1, … (then the row id) and w."""
    with connection.pipeline():
        made = create_temporary(connection, kind, id_, columns)
        _convert(connection, made, raw, trimmed)
    return made


def _convert(
    connection: psycopg.Connection, made: Temporary, raw: sql.Composable, trimmed: Sequence[bool]
) -> None:
    columns = made.columns
    items: list[sql.Composable] = []
    for i, column in enumerate(columns):
        form = "{}::text::{}"
        if column.type.is_numeric and trimmed[i]:
            form = "trim_scale({}::text::numeric)::{}"
        items.append(sql.SQL(form).format(sql.Identifier(f"c{i}"), type_sql(column.type)))
    items.append(sql.SQL("{}::text::bigint").format(sql.Identifier(f"c{len(columns)}")))
    connection.execute(
        sql.SQL("INSERT INTO {} SELECT {}, w FROM {}").format(made.name, COMMA.join(items), raw)
    )
    analyze(connection, made)
