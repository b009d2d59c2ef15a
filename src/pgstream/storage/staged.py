"""Staging: what Spark computed, as a typed temporary table of the committing transaction."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.node import Column
from pgstream.database.copying import copy_in
from pgstream.storage.names import COMMA, ROW_ID, STATE_SCHEMA, WEIGHT, type_sql


def create_temporary(
    connection: psycopg.Connection, table: sql.Identifier, columns: Sequence[Column]
) -> None:
    """A temporary table with these columns, the row id and the weight."""
    defined = [sql.SQL("{} {}").format(sql.Identifier(c.name), type_sql(c.type)) for c in columns]
    defined += [sql.SQL("{} bigint").format(ROW_ID), sql.SQL("{} bigint").format(WEIGHT)]
    connection.execute(
        sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(
            sql.Identifier(table._obj[-1]), COMMA.join(defined)
        )
    )


def load(
    connection: psycopg.Connection,
    table: sql.Identifier,
    columns: Sequence[Column],
    rows: pa.Table,
    trimmed: Sequence[bool],
) -> None:
    """Creates the typed table and fills it with rows from the driver."""
    raw = sql.Identifier("pg_temp", table._obj[-1] + "_raw")
    names = [sql.SQL("{} text").format(sql.Identifier(f"c{i}")) for i in range(len(columns) + 1)]
    connection.execute(
        sql.SQL("CREATE TEMPORARY TABLE {} ({}, w bigint) ON COMMIT DROP").format(
            sql.Identifier(raw._obj[-1]), COMMA.join(names)
        )
    )
    copy_in(connection, raw, rows)
    convert(connection, table, columns, raw, trimmed)
    connection.execute(sql.SQL("DROP TABLE {}").format(raw))


def convert(
    connection: psycopg.Connection,
    table: sql.Identifier,
    columns: Sequence[Column],
    raw: sql.Composable,
    trimmed: Sequence[bool],
) -> None:
    """Fills a typed table from columns c0, c1, … (then the row id) and w."""
    create_temporary(connection, table, columns)
    items: list[sql.Composable] = []
    for i, column in enumerate(columns):
        form = "{}::text::{}"
        if column.type.is_numeric and trimmed[i]:
            form = "trim_scale({}::text::numeric)::{}"
        items.append(sql.SQL(form).format(sql.Identifier(f"c{i}"), type_sql(column.type)))
    items.append(sql.SQL("{}::text::bigint").format(sql.Identifier(f"c{len(columns)}")))
    connection.execute(
        sql.SQL("INSERT INTO {} SELECT {}, w FROM {}").format(table, COMMA.join(items), raw)
    )
    # So that PostgreSQL knows how few rows there are, and finds their partners by index.
    connection.execute(sql.SQL("ANALYZE {}").format(table))


def create_staging(
    connection: psycopg.Connection, table: sql.Identifier, types: Sequence[str]
) -> None:
    """The table that executors fill: unlogged, dropped when its refresh ends."""
    columns = [
        sql.SQL("{} {}").format(sql.Identifier(f"c{i}"), sql.SQL(kind))
        for i, kind in enumerate(types)
    ]
    connection.execute(
        sql.SQL("CREATE UNLOGGED TABLE {} ({}, w bigint, __pgs_task bigint)").format(
            table, COMMA.join(columns)
        )
    )


def drop_staging(connection: psycopg.Connection, id_: int) -> None:
    """What the refreshes of a stream table have staged."""
    names = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename ~ %s",
        (STATE_SCHEMA, f"^staging_{id_}_"),
    ).fetchall()
    for (name,) in names:
        connection.execute(
            sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(STATE_SCHEMA, name))
        )


def drop_handed(connection: psycopg.Connection, id_: int) -> None:
    """The tables through which a refresh that failed handed rows to PostgreSQL."""
    names = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename ~ %s",
        (STATE_SCHEMA, f"^handed_{id_}_"),
    ).fetchall()
    for (name,) in names:
        connection.execute(
            sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(STATE_SCHEMA, name))
        )
