"""A rewritten query has the rows, the column names and the types of the query.

The queries are in `rewrites/`, a file for each rewrite. Their ORDER BY is total where LIMIT or
DISTINCT ON cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlglot import exp

from pgstream.database.connection import connect_as_user as connect
from pgstream.engine.postgres.describe import PostgresCatalog
from pgstream.sql.deparsed import parse_deparsed, write
from pgstream.sql.grouping import SETS
from pgstream.sql.nodes import Cycle, Search
from pgstream.sql.parse import Query
from pgstream.sql.passes import ASKING, REWRITES, rewrite
from pgstream.sql.passes.array_subqueries import rows_of_array

FOLDER = Path(__file__).parent / "rewrites"


def cases(name: str) -> list[Any]:
    texts = (FOLDER / f"{name}.sql").read_text().strip().removesuffix(";").split(";\n")
    return [pytest.param(text, id=f"{name}-{number}") for number, text in enumerate(texts, 1)]


CASES = [case for one in (*ASKING, *REWRITES) for case in cases(one.__name__)]
COLUMNS = """SELECT attname, atttypid::regtype::text FROM pg_attribute
    WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum"""


@pytest.fixture(scope="module")
def tables(create_database: Callable[[str], str]) -> Iterator[psycopg.Connection]:
    with connect(create_database("template0")) as connection:
        connection.execute((FOLDER / "tables.sql").read_text())
        yield connection


@pytest.fixture
def views(tables: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """For temporary views; what a test does to the tables is undone."""
    with tables.transaction(force_rollback=True):
        yield tables


def view(connection: psycopg.Connection, name: str, query: str) -> str:
    """Makes the view. Its query, as PostgreSQL prints it with no schema in sight."""
    connection.execute(
        sql.SQL("CREATE TEMPORARY VIEW {} AS {}").format(sql.Identifier(name), sql.SQL(query))
    )
    connection.execute("SET LOCAL search_path = ''")
    (text,) = connection.execute(
        "SELECT rtrim(pg_get_viewdef(to_regclass('pg_temp.' || %s)), ';')", (name,)
    ).fetchone() or ("",)
    connection.execute("SET LOCAL search_path = public")
    return str(text)


def rewritten(connection: psycopg.Connection, query: Query) -> Query:
    return rewrite(query, PostgresCatalog(connection, {}, frozenset()))


def differences(connection: psycopg.Connection) -> list[tuple[str, str]]:
    """Rows, as they are displayed, that only one of the two views has."""
    return connection.execute(
        """WITH o AS (SELECT __row::text AS row FROM original AS __row),
                r AS (SELECT __row::text AS row FROM rewritten AS __row)
        (SELECT 'missing', row FROM o EXCEPT ALL SELECT 'missing', row FROM r)
        UNION ALL
        (SELECT 'extra', row FROM r EXCEPT ALL SELECT 'extra', row FROM o)"""
    ).fetchall()


@pytest.mark.parametrize("query", CASES)
def test_the_rewritten_query_means_the_same(views: psycopg.Connection, query: str) -> None:
    original = parse_deparsed(view(views, "original", query))
    made = rewritten(views, original)
    view(views, "rewritten", write(made))
    assert made != original
    assert rewritten(views, made) == made
    assert not left_over(made)
    wanted, found = (views.execute(COLUMNS, (v,)).fetchall() for v in ("original", "rewritten"))
    assert found == wanted
    assert differences(views) == []
    views.execute("TRUNCATE u")
    assert differences(views) == []
    views.execute("TRUNCATE t, e")
    assert differences(views) == []


@pytest.mark.parametrize("query", CASES)
def test_postgresql_finds_nothing_to_rename(views: psycopg.Connection, query: str) -> None:
    """Aliases are unique from a query down to its subqueries; columns in those are qualified."""
    made = rewritten(views, parse_deparsed(view(views, "original", query)))
    again = parse_deparsed(view(views, "rewritten", write(made)))
    assert qualifiers(again) == qualifiers(parse_deparsed(write(made)))


@pytest.mark.parametrize("query", cases("unchanged"))
def test_a_query_that_needs_no_rewrite_stays(views: psycopg.Connection, query: str) -> None:
    original = parse_deparsed(view(views, "original", query))
    assert rewritten(views, original) == original
    view(views, "rewritten", write(original))
    assert differences(views) == []


def qualifiers(tree: exp.Expr) -> list[str]:
    """Of the columns that are not the outermost query's own. A whole row is its table's name."""
    nested = [c for c in tree.find_all(exp.Column) if c.parent_select is not tree]
    return sorted(column.table or column.name for column in nested)


def left_over(tree: exp.Expr) -> list[exp.Expr]:
    """What the rewrites remove."""
    return [
        node
        for node in tree.walk()
        if isinstance(node, (*SETS, Search, Cycle))
        or (isinstance(node, exp.Distinct) and node.args.get("on"))
        or (isinstance(node, exp.Select) and node.args.get("windows"))
        or (isinstance(node, exp.Join) and node.args.get("on") and node.args["on"].find(exp.Query))
        or (isinstance(node, exp.Any | exp.All) and isinstance(node.this, exp.Query | exp.Values))
        or rows_of_array(node)
    ]
