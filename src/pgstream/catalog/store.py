"""Reads and writes the catalog tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pgstream.catalog.records import (
    Dependency,
    Initiator,
    Mode,
    RefreshResult,
    Status,
    StreamTable,
    View,
)
from pgstream.database.connection import Connection

_SELECT = """
SELECT t.pgs_id, t.pgs_relid::bigint, t.pgs_schema, t.pgs_name, t.defining_query,
       t.original_query, t.schedule, t.refresh_mode, t.status, t.is_populated, t.needs_reinit,
       t.frontier, t.consecutive_errors, t.data_timestamp, t.last_refresh_at, t.last_error,
       t.updated_at,
       ARRAY(SELECT a.attname::text FROM pg_attribute a
             WHERE a.attrelid = t.pgs_relid AND a.attnum > 0 AND NOT a.attisdropped
               AND a.attname <> '__pgs_row_id' ORDER BY a.attnum)
FROM pgstream.pgs_stream_tables t
"""
_DEPENDENCIES = """
SELECT d.pgs_id, d.source_relid::bigint, coalesce(n.nspname, ''), coalesce(c.relname, ''),
       d.source_type = 'STREAM_TABLE', d.columns_used
FROM pgstream.pgs_dependencies d
LEFT JOIN pg_class c ON c.oid = d.source_relid
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE d.pgs_id = ANY(%s) AND d.source_type <> 'VIEW' ORDER BY d.source_relid
"""
_VIEWS = """
SELECT d.pgs_id, n.nspname, c.relname, d.definition
FROM pgstream.pgs_dependencies d
JOIN pg_class c ON c.oid = d.source_relid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE d.pgs_id = ANY(%s) AND d.source_type = 'VIEW' ORDER BY d.source_relid
"""


def stream_tables(connection: Connection, ids: Iterable[int] | None = None) -> list[StreamTable]:
    """All stream tables, or those with these ids, by id."""
    wanted = None if ids is None else list(ids)
    rows = connection.execute(
        _SELECT + " WHERE %(ids)s::bigint[] IS NULL OR t.pgs_id = ANY(%(ids)s) ORDER BY t.pgs_id",
        {"ids": wanted},
    ).fetchall()
    found: dict[int, list[Dependency]] = {row[0]: [] for row in rows}
    for id_, relid, schema, name, is_stream, columns in connection.execute(
        _DEPENDENCIES, (list(found),)
    ).fetchall():
        found[id_].append(Dependency(relid, schema, name, is_stream, frozenset(columns)))
    views: dict[int, list[View]] = {id_: [] for id_ in found}
    for id_, schema, name, definition in connection.execute(_VIEWS, (list(found),)).fetchall():
        views[id_].append(View(schema, name, definition))
    return [_record(row, tuple(found[row[0]]), tuple(views[row[0]])) for row in rows]


def _record(
    row: Sequence[Any], dependencies: tuple[Dependency, ...], views: tuple[View, ...]
) -> StreamTable:
    return StreamTable(
        id=row[0],
        relid=row[1],
        schema=row[2],
        name=row[3],
        defining_query=row[4],
        original_query=row[5],
        schedule=row[6],
        refresh_mode=Mode(row[7]),
        status=Status(row[8]),
        is_populated=row[9],
        needs_reinit=row[10],
        frontier=row[11],
        consecutive_errors=row[12],
        data_timestamp=row[13],
        last_refresh_at=row[14],
        last_error=row[15],
        updated_at=row[16],
        columns=tuple(row[17]),
        dependencies=dependencies,
        views=views,
    )


def stream_table(connection: Connection, name: str) -> StreamTable:
    """The stream table of this name, as a user writes it."""
    row = connection.execute("SELECT pgstream._resolve(%s)", (name,)).fetchone()
    assert row is not None
    return stream_tables(connection, [row[0]])[0]


def fail_interrupted(connection: Connection, ids: Iterable[int]) -> set[int]:
    """Marks refreshes whose worker died; the ids of their tables. The caller holds their
    locks."""
    cursor = connection.execute(
        "UPDATE pgstream.pgs_refresh_history SET status = 'FAILED', end_time = clock_timestamp(),"
        " error_message = 'the worker ended before the refresh was committed'"
        " WHERE pgs_id = ANY(%s) AND status = 'RUNNING' RETURNING pgs_id",
        (list(ids),),
    )
    return {row[0] for row in cursor.fetchall()}


def start_history(
    connection: Connection, ids: Iterable[int], initiator: Initiator
) -> dict[int, int]:
    """A RUNNING row per table, at once visible to all; refresh ids by table."""
    rows = connection.execute(
        "INSERT INTO pgstream.pgs_refresh_history"
        " (pgs_id, action, status, initiated_by, worker_pid, freshness_deadline)"
        " SELECT t.pgs_id, 'NO_DATA', 'RUNNING', %s, pg_backend_pid(),"
        "   t.data_timestamp + pgstream._duration(t.schedule)"
        " FROM pgstream.pgs_stream_tables t WHERE t.pgs_id = ANY(%s)"
        " ORDER BY array_position(%s::bigint[], t.pgs_id) RETURNING pgs_id, refresh_id",
        (initiator, list(ids), list(ids)),
    ).fetchall()
    return dict(rows)


def complete_history(
    connection: Connection, refresh_id: int, result: RefreshResult, timestamp: Any
) -> None:
    connection.execute(
        "UPDATE pgstream.pgs_refresh_history SET status = 'COMPLETED',"
        " end_time = clock_timestamp(), action = %s, reason = %s, changes_read = %s,"
        " rows_read = %s, rows_inserted = %s, rows_deleted = %s, spark_actions = %s,"
        " compute_ms = %s, apply_ms = %s, expected_rows = %s, expected_ms = %s,"
        " data_timestamp = %s WHERE refresh_id = %s",
        (result.action, result.reason, result.changes_read, result.rows_read,
         result.rows_inserted, result.rows_deleted, result.spark_actions, result.compute_ms,
         result.apply_ms, result.expected_rows, result.expected_ms, timestamp, refresh_id),
    )  # fmt: skip


def past_costs(connection: Connection, id_: int) -> list[tuple[str, float, float]]:
    """Of the last refreshes whose cost was expected: the action, how long computing took, and how
    long it was to take."""
    return connection.execute(
        "SELECT action, compute_ms, expected_ms FROM (SELECT action, compute_ms, expected_ms,"
        " row_number() OVER (PARTITION BY action ORDER BY refresh_id DESC) AS place"
        " FROM pgstream.pgs_refresh_history WHERE pgs_id = %s AND status = 'COMPLETED'"
        " AND expected_ms IS NOT NULL) costs WHERE place <= 5",
        (id_,),
    ).fetchall()


def fail_history(connection: Connection, refresh_ids: Iterable[int], message: str) -> None:
    connection.execute(
        "UPDATE pgstream.pgs_refresh_history SET status = 'FAILED',"
        " end_time = clock_timestamp(), error_message = %s"
        " WHERE refresh_id = ANY(%s) AND status = 'RUNNING'",
        (message, list(refresh_ids)),
    )


def skip_history(connection: Connection, id_: int, initiator: Initiator, reason: str) -> None:
    connection.execute(
        "INSERT INTO pgstream.pgs_refresh_history"
        " (pgs_id, action, status, initiated_by, reason, end_time, worker_pid)"
        " VALUES (%s, 'SKIP', 'SKIPPED', %s, %s, clock_timestamp(), pg_backend_pid())",
        (id_, initiator, reason),
    )


def record_failure(
    connection: Connection, id_: int, message: str, max_errors: int | None, permanent: bool
) -> None:
    """With this many failures in a row the table is in ERROR; None: this one does not lead there.
    A permanent one does at once, if the table was never populated."""
    with connection.transaction():
        connection.execute(
            "UPDATE pgstream.pgs_stream_tables SET consecutive_errors = consecutive_errors + 1,"
            " last_error = %(message)s, updated_at = now(), status = CASE WHEN"
            " status <> 'SUSPENDED' AND (consecutive_errors + 1 >= %(limit)s::int"
            " OR %(permanent)s AND NOT is_populated)"
            " THEN 'ERROR' ELSE status END WHERE pgs_id = %(id)s",
            {"id": id_, "message": message, "limit": max_errors, "permanent": permanent},
        )
        _seal(connection, id_)


def _seal(connection: Connection, id_: int) -> None:
    """If it was never populated, reading it fails and tells its last error."""
    connection.execute("SELECT pgstream._seal(%s)", (id_,))


def unseal(connection: Connection, tables: Iterable[StreamTable]) -> None:
    """Those that had never been populated may be read."""
    for table in tables:
        if not table.is_populated:
            connection.execute("SELECT pgstream._unseal(%s)", (table.id,))


def note_error(connection: Connection, id_: int, message: str) -> None:
    """A table that reads a failing one and holds no result yet: those who wait learn why."""
    with connection.transaction():
        connection.execute(
            "UPDATE pgstream.pgs_stream_tables SET last_error = %s"
            " WHERE pgs_id = %s AND NOT is_populated",
            (message, id_),
        )
        _seal(connection, id_)


def advance(
    connection: Connection,
    table: StreamTable,
    frontier: Mapping[str, Any],
    timestamp: Any,
) -> bool:
    """Moves the frontier, if it is still the one the refresh started from."""
    cursor = connection.execute(
        "UPDATE pgstream.pgs_stream_tables SET frontier = %s::jsonb, data_timestamp = %s,"
        " last_refresh_at = clock_timestamp(), is_populated = true, needs_reinit = false,"
        " consecutive_errors = 0, last_error = NULL,"
        " status = CASE WHEN status IN ('INITIALIZING', 'ERROR') THEN 'ACTIVE' ELSE status END"
        " WHERE pgs_id = %s AND frontier IS NOT DISTINCT FROM %s::jsonb",
        (_json(frontier), timestamp, table.id, _json(table.frontier)),
    )
    return cursor.rowcount == 1


def save_explanation(connection: Connection, id_: int, rows: list[tuple[str, str]]) -> None:
    value = [{"property": name, "value": text} for name, text in rows]
    connection.execute(
        "UPDATE pgstream.pgs_stream_tables SET explanation = %s::jsonb WHERE pgs_id = %s",
        (_json(value), id_),
    )


def save_query(connection: Connection, id_: int, query: str) -> None:
    """The defining query with its views inlined."""
    connection.execute(
        "UPDATE pgstream.pgs_stream_tables SET defining_query = %s WHERE pgs_id = %s",
        (query, id_),
    )


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)
