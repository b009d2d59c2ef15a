"""The oracle: a stream table equals what PostgreSQL itself answers to its query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import sql

from pgstream.catalog.records import RefreshResult, StreamTable
from pgstream.client import PgStream


def assert_exact(ps: PgStream, *names: str) -> None:
    """The rows, by EXCEPT ALL both ways. Refreshes nothing."""
    for name in names:
        table = ps.table(name)
        missing, extra = differences(ps, table)
        assert (missing, extra) == ([], []), (
            f"{table.full_name} is not what its query answers\n"
            f"query:   {table.original_query}\nmissing: {missing}\nextra:   {extra}"
        )


def assert_same_text(ps: PgStream, name: str) -> None:
    """The rows as they are displayed, so 1.5 is not 1.50."""
    table = ps.table(name)
    missing, extra = differences(ps, table, as_text=True)
    assert (missing, extra) == ([], []), f"{name} is displayed differently: {missing}, {extra}"


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
    query = f"SELECT * FROM ({table.original_query.rstrip().rstrip(';')}) q"
    stored = _stored(ps, table)
    if as_text:
        query, stored = (f"SELECT r::text FROM ({text}) r" for text in (query, stored))
    return (
        ps.execute(f"({query}) EXCEPT ALL ({stored})"),
        ps.execute(f"({stored}) EXCEPT ALL ({query})"),
    )


def _stored(ps: PgStream, table: StreamTable) -> str:
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns)).as_string(ps.connection)
    return f"SELECT {columns} FROM {_quoted(ps, table)}"


def _quoted(ps: PgStream, table: StreamTable) -> str:
    return sql.Identifier(table.schema, table.name).as_string(ps.connection)


_COLUMNS = """
SELECT array_agg((attname::text, format_type(atttypid, atttypmod), attcollation::regcollation::text)
                 ORDER BY attnum)
FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> '__pgs_row_id'
"""
