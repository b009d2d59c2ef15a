"""What PostgreSQL prints is read and written back with the same value and type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pgstream.database.connection import connect_as_user as connect
from pgstream.sql.deparsed import parse_deparsed, write

FOLDER = Path(__file__).parent
EXPRESSIONS = (FOLDER / "expressions.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def tables(create_database: Callable[[str], str]) -> Iterator[psycopg.Connection]:
    with connect(create_database("template0")) as connection:
        connection.execute((FOLDER / "rewrites" / "tables.sql").read_text())
        yield connection


def view(connection: psycopg.Connection, name: str, query: str) -> str:
    """Makes a view; its query as PostgreSQL prints it."""
    connection.execute(
        sql.SQL("CREATE TEMPORARY VIEW {} AS {}").format(sql.Identifier(name), sql.SQL(query))
    )
    (text,) = connection.execute(
        "SELECT rtrim(pg_get_viewdef(to_regclass(%s)), ';')", (name,)
    ).fetchone() or ("",)
    return str(text)


def values(connection: psycopg.Connection, name: str) -> list[tuple[object, ...]]:
    query = sql.SQL("SELECT pg_typeof(v)::text, v::text FROM {} ORDER BY id, v::text")
    return connection.execute(query.format(sql.Identifier(name))).fetchall()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_is_written_as_it_was_read(
    tables: psycopg.Connection, expression: str
) -> None:
    with tables.transaction(force_rollback=True):
        text = view(tables, "printed", f"SELECT id, {expression} AS v FROM t")
        view(tables, "written", write(parse_deparsed(text)))
        assert values(tables, "written") == values(tables, "printed")
