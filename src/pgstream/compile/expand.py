"""The defining query with its views inlined, as PostgreSQL prints it."""

from __future__ import annotations

from dataclasses import replace

from pgstream.catalog.records import StreamTable
from pgstream.database.connection import Connection, DatabaseError
from pgstream.database.quoting import compose, raw
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.passes.inline_views import inline_views

_COLUMNS = """
SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod),
                            'COLLATE ' || nullif(attcollation, 0)::regcollation), ', '
                  ORDER BY attnum)
FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> '__pgs_row_id'
"""


def expand(connection: Connection, table: StreamTable) -> StreamTable:
    """The stream table, its defining query without views."""
    views = {(view.schema, view.name): view.definition for view in table.views}
    text = inline_views(table.defining_query, views)
    if text == table.defining_query:
        return table
    return replace(table, defining_query=_printed(connection, table, text))


def _printed(connection: Connection, table: StreamTable, text: str) -> str:
    """PostgreSQL gives each table an alias of its own, on all levels; the columns must remain."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(compose("CREATE TEMPORARY VIEW __pgs_expanded AS {q}", q=raw(text)))
            (before,), (after,) = (
                connection.execute(_COLUMNS, (relation,)).fetchall()
                for relation in (str(table.relid), "pg_temp.__pgs_expanded")
            )
            row = connection.execute(
                "SELECT pgstream._view_text('pg_temp.__pgs_expanded'::regclass)"
            ).fetchone()
    except DatabaseError as error:
        if not (error.sqlstate or "").startswith("42"):  # a syntax error or an access rule
            raise
        raise _not_the_same(str(error)) from error
    if before != after:
        raise _not_the_same(f"It has the columns {after[0]} then, instead of {before[0]}.")
    assert row is not None
    return str(row[0])


def _not_the_same(detail: str) -> UnsupportedConstruct:
    return UnsupportedConstruct(
        "The query does not mean the same when its views are inlined.",
        construct="view",
        detail=detail,
        hint="Use the queries of the views instead of the views.",
    )
