"""The oracle: a stream table equals what PostgreSQL itself answers to its query."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from psycopg import sql

import java_classes
from pgstream.catalog.records import RefreshResult, StreamTable
from pgstream.client import PgStream
from pgstream.engine.spark.session import Sessions
from pgstream.settings import Settings

# For processes of their own, which live for seconds: Java compiles little.
SHORT_LIVED = {
    **os.environ,
    "SPARK_SUBMIT_OPTS": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {java_classes.options()}",
}


@contextmanager
def open_stream(dsn: str, sessions: Sessions, settings: Settings) -> Iterator[PgStream]:
    """A stream that shares Spark's sessions with other tests."""
    with PgStream(dsn, settings=settings, sessions=sessions) as stream:
        yield stream


def assert_exact(ps: PgStream, *names: str) -> None:
    """The rows, by EXCEPT ALL both ways. Refreshes nothing."""
    for name in names:
        table = ps.table(name)
        missing, extra = differences(ps, table)
        assert (missing, extra) == ([], []), _report(table, missing, extra)


def assert_hidden_exact(ps: PgStream, name: str) -> None:
    """After one more refresh: the rows, and what is stored of nested aggregates."""
    refresh_exact(ps, name)
    for each in ps.refresher.check_hidden(ps.table(name)) or ():
        assert each.exact, f"{each} of {ps.table(name).defining_query}"


def assert_same_text(ps: PgStream, name: str) -> None:
    """The rows as they are displayed, so 1.5 is not 1.50."""
    table = ps.table(name)
    missing, extra = differences(ps, table, as_text=True)
    assert (missing, extra) == ([], []), f"{name} is displayed differently: {missing}, {extra}"


def assert_close(
    ps: PgStream, name: str, compare: Mapping[str, str] | None = None, close: Collection[str] = ()
) -> None:
    """As assert_exact, where SQL leaves a part of the answer open.

    `compare` gives for a column the expression that is compared instead, over a row `r`. Columns
    in `close` are floats and may differ by 1e-12 relative; the other columns tell which rows
    belong together.
    """
    table = ps.table(name)
    sides = _query(table), _stored(ps, table)
    columns = {c: f"r.{sql.Identifier(c).as_string(ps.connection)}" for c in table.columns}
    columns |= compare or {}
    exact, floats = (
        ", ".join(text for column, text in columns.items() if (column in close) is is_float)
        for is_float in (False, True)
    )
    missing, extra = _both_ways(ps, *(f"SELECT {exact} FROM ({side}) r" for side in sides))
    assert (missing, extra) == ([], []), _report(table, missing, extra)
    if floats:
        ordered = f"SELECT {floats} FROM (%s) r ORDER BY {', '.join(filter(None, (exact, floats)))}"
        for wanted, got in zip(*(ps.execute(ordered % side) for side in sides), strict=True):
            assert all(map(_is_close, wanted, got)), _report(table, wanted, got)


def assert_equal(ps: PgStream, *names: str) -> None:
    """As assert_exact; floats within 1e-12 relative, and what has no equality by its text."""
    for name in names:
        kinds = dict(ps.execute(_KINDS, (_quoted(ps, ps.table(name)),)))
        texts = {c: f'r."{c}"::text' for c, kind in kinds.items() if kind in ("json", "xml")}
        floats = [c for c, kind in kinds.items() if kind in ("float4", "float8")]
        assert_close(ps, name, texts, floats)


def assert_types(ps: PgStream, *names: str) -> None:
    """The columns' names, types and modifiers are those of the query as a view."""
    for name in names:
        table = ps.table(name)
        ps.execute(f"CREATE TEMPORARY VIEW __oracle AS {table.original_query.rstrip().rstrip(';')}")
        try:
            (wanted,), (stored,) = (
                ps.execute(_COLUMNS, (relation,)) for relation in ("__oracle", _quoted(ps, table))
            )
        finally:
            ps.execute("DROP VIEW __oracle")
        assert stored == wanted, f"{name} has columns {stored}, its query {wanted}"


def refresh_exact(ps: PgStream, name: str, *also: str, full: bool = False) -> RefreshResult:
    """Refreshes, then asks the oracle about the table and about these others."""
    result = ps.refresh_stream_table(name, full=full)
    assert_exact(ps, name, *also)
    return result


def create_exact(ps: PgStream, name: str, query: str, **options: Any) -> RefreshResult | None:
    """Creates, then asks the oracle about rows and types."""
    result = ps.create_stream_table(name, query, **options)
    assert_exact(ps, name)
    assert_types(ps, name)
    return result


def assert_stays_exact(ps: PgStream, query: str, *changes: str) -> None:
    """A stream table `st` of the query is exact when created, and after each change."""
    create_exact(ps, "st", query)
    for change in changes:
        ps.execute(change)
        refresh_exact(ps, "st")


def assert_all_stay_exact(ps: PgStream, queries: Iterable[str], changes: Iterable[str]) -> None:
    """Stream tables st_0, st_1, … of the queries, side by side."""
    names = {f"st_{i}": query for i, query in enumerate(queries)}
    for name, query in names.items():
        create_exact(ps, name, query)
    for change in changes:
        ps.execute(change)
        for name in names:
            ps.refresh_stream_table(name)
        assert_exact(ps, *names)


def with_three_tables(ps: PgStream) -> PgStream:
    """Tables a, b and c with duplicates, NULLs, and keys that only one of them has."""
    script(
        ps,
        "CREATE TABLE a (id int, k int); CREATE TABLE b (k int, v int);"
        " CREATE TABLE c (k int, z bigint)",
        "INSERT INTO a VALUES (1, 1), (2, 2), (3, 2), (4, NULL), (4, NULL), (5, 7)",
        "INSERT INTO b VALUES (1, 10), (2, 2), (2, 2), (3, 30), (NULL, 5)",
        "INSERT INTO c VALUES (1, 10), (2, 2), (7, 2), (NULL, NULL)",
    )
    return ps


def script(ps: PgStream, *statements: str) -> None:
    """Runs the statements, each in its own transaction."""
    for statement in statements:
        ps.execute(statement)


def rows(ps: PgStream, name: str) -> list[tuple[Any, ...]]:
    """What a user sees, in order."""
    table = ps.table(name)
    return sorted(ps.execute(_stored(ps, table)), key=repr)


def differences(
    ps: PgStream, table: StreamTable, as_text: bool = False
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Rows that only the query has, and rows that only the stream table has."""
    query, stored = _query(table), _stored(ps, table)
    if as_text:
        query, stored = (f"SELECT r::text FROM ({text}) r" for text in (query, stored))
    return _both_ways(ps, query, stored)


def _both_ways(ps: PgStream, query: str, stored: str) -> tuple[Sequence[Any], Sequence[Any]]:
    return (
        ps.execute(f"({query}) EXCEPT ALL ({stored})"),
        ps.execute(f"({stored}) EXCEPT ALL ({query})"),
    )


def _is_close(wanted: float | None, got: float | None) -> bool:
    if wanted is None or got is None or math.isnan(wanted):
        return repr(wanted) == repr(got)
    return math.isclose(wanted, got, rel_tol=1e-12)


def _report(table: StreamTable, missing: object, extra: object) -> str:
    return (
        f"{table.full_name} is not what its query answers\n"
        f"query:   {table.original_query}\nmissing: {missing}\nextra:   {extra}"
    )


def _query(table: StreamTable) -> str:
    return f"SELECT * FROM ({table.original_query.rstrip().rstrip(';')}) q"


def _stored(ps: PgStream, table: StreamTable) -> str:
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns)).as_string(ps.connection)
    return f"SELECT {columns} FROM {_quoted(ps, table)}"


def _quoted(ps: PgStream, table: StreamTable) -> str:
    return sql.Identifier(table.schema, table.name).as_string(ps.connection)


_KINDS = """
SELECT attname::text, t.typname::text FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
"""
_COLUMNS = """
SELECT array_agg((attname::text, format_type(atttypid, atttypmod), attcollation::regcollation::text)
                 ORDER BY attnum)
FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> '__pgs_row_id'
"""
