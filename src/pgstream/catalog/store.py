"""Reads and writes the catalog tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from pgstream.database.connection import Connection, Found
from pgstream.database.quoting import compose, identifier

_SELECT = """
SELECT t.pgs_id, t.pgs_relid::bigint, t.pgs_schema, t.pgs_name, t.defining_query,
       t.original_query, t.schedule, t.refresh_mode, t.status, t.is_populated, t.needs_reinit,
       t.frontier, t.consecutive_errors, t.data_timestamp, t.last_refresh_at, t.last_error,
       t.updated_at,
       ARRAY(SELECT a.attname::text FROM pg_attribute a
             WHERE a.attrelid = t.pgs_relid AND a.attnum > 0 AND NOT a.attisdropped
               AND a.attname <> '__pgs_row_id' ORDER BY a.attnum),
       t.reinit_reason,
       (SELECT jsonb_agg(jsonb_build_array(d.source_relid::bigint, coalesce(n.nspname, ''),
                             coalesce(c.relname, ''), d.source_type = 'STREAM_TABLE',
                             d.columns_used) ORDER BY d.source_relid)
        FROM pgstream.pgs_dependencies d LEFT JOIN pg_class c ON c.oid = d.source_relid
        LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE d.pgs_id = t.pgs_id AND d.source_type <> 'VIEW'),
       (SELECT jsonb_agg(jsonb_build_array(n.nspname, c.relname, d.definition)
                         ORDER BY d.source_relid)
        FROM pgstream.pgs_dependencies d JOIN pg_class c ON c.oid = d.source_relid
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE d.pgs_id = t.pgs_id AND d.source_type = 'VIEW')
FROM pgstream.pgs_stream_tables t
"""
_TEXTS = (
    ("pgs_stream_tables", "defining_query", "pgs_id"),
    ("pgs_stream_tables", "query_with_views", "pgs_id"),
    ("pgs_dependencies", "definition", "source_relid"),
)


def stream_tables(connection: Connection, ids: Iterable[int] | None = None) -> list[StreamTable]:
    """All stream tables, or those with these ids, by id."""
    wanted = None if ids is None else list(ids)
    rows = connection.execute(
        _SELECT + " WHERE %(ids)s::bigint[] IS NULL OR t.pgs_id = ANY(%(ids)s) ORDER BY t.pgs_id",
        {"ids": wanted},
    ).fetchall()
    return [_record(row) for row in rows]


def _record(row: Sequence[Any]) -> StreamTable:
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
        reinit_reason=row[18],
        dependencies=tuple(
            Dependency(relid, schema, name, is_stream, frozenset(columns))
            for relid, schema, name, is_stream, columns in row[19] or ()
        ),
        views=tuple(View(*view) for view in row[20] or ()),
    )


def stream_table(connection: Connection, name: str) -> StreamTable:
    """The stream table of this name, as a user writes it."""
    row = connection.execute("SELECT pgstream._resolve(%s)", (name,)).fetchone()
    assert row is not None
    return stream_tables(connection, [row[0]])[0]


def fail_interrupted(connection: Connection, ids: Iterable[int]) -> Found:
    """Marks refreshes whose worker died; the ids of their tables. The caller holds their
    locks."""
    return connection.execute(
        "UPDATE pgstream.pgs_refresh_history SET status = 'FAILED', end_time = clock_timestamp(),"
        " error_message = 'the worker ended before the refresh was committed'"
        " WHERE pgs_id = ANY(%s) AND status = 'RUNNING' RETURNING pgs_id",
        (list(ids),),
    )


def start_history(
    connection: Connection, ids: Iterable[int], initiator: Initiator
) -> dict[int, int]:
    """A RUNNING row per table; refresh ids by table."""
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
        " compute_ms = %s, apply_ms = %s, analysis_ms = %s, planning_ms = %s, running_ms = %s,"
        " expected_rows = %s, expected_ms = %s,"
        " data_timestamp = %s WHERE refresh_id = %s",
        (result.action, result.reason, result.changes_read, result.rows_read,
         result.rows_inserted, result.rows_deleted, result.spark_actions, result.compute_ms,
         result.apply_ms, result.analysis_ms, result.planning_ms, result.running_ms,
         result.expected_rows, result.expected_ms, timestamp, refresh_id),
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


def skip_history(
    connection: Connection, ids: Iterable[int], initiator: Initiator, reason: str
) -> None:
    connection.execute(
        "INSERT INTO pgstream.pgs_refresh_history"
        " (pgs_id, action, status, initiated_by, reason, end_time, worker_pid)"
        " SELECT pgs_id, 'SKIP', 'SKIPPED', %s, %s, clock_timestamp(), pg_backend_pid()"
        " FROM pgstream.pgs_stream_tables WHERE pgs_id = ANY(%s)",
        (initiator, reason, list(ids)),
    )


def record_failure(
    connection: Connection, id_: int, message: str, max_errors: int | None, permanent: bool
) -> bool:
    """With this many failures in a row the table is in ERROR; None: this one does not lead there.
    A permanent one does at once, if the table was never populated. Whether it got there now."""
    with connection.transaction():
        row = connection.execute(
            "UPDATE pgstream.pgs_stream_tables t SET consecutive_errors = t.consecutive_errors + 1,"
            " last_error = %(message)s, updated_at = now(), status = CASE WHEN"
            " t.status <> 'SUSPENDED' AND (t.consecutive_errors + 1 >= %(limit)s::int"
            " OR %(permanent)s AND NOT t.is_populated) THEN 'ERROR' ELSE t.status END"
            " FROM (SELECT pgs_id, status FROM pgstream.pgs_stream_tables"
            "  WHERE pgs_id = %(id)s FOR UPDATE) was WHERE t.pgs_id = was.pgs_id"
            " RETURNING t.status = 'ERROR' AND was.status <> 'ERROR'",
            {"id": id_, "message": message, "limit": max_errors, "permanent": permanent},
        ).fetchone()
        _seal(connection, id_)
    return bool(row and row[0])


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
    """Moves the frontier, if it is still the one the refresh started from, and nobody has asked
    for a new start since. Nor has a source got or lost a partition or child: whoever reads under an
    old snapshot reads a new partition all the same, with the rows that it brings along."""
    cursor = connection.execute(
        "UPDATE pgstream.pgs_stream_tables SET frontier = %s::jsonb, data_timestamp = %s,"
        " last_refresh_at = clock_timestamp(), is_populated = true, needs_reinit = false,"
        " reinit_reason = NULL,"
        " consecutive_errors = 0, last_error = NULL,"
        " status = CASE WHEN status IN ('INITIALIZING', 'ERROR') THEN 'ACTIVE' ELSE status END"
        " WHERE pgs_id = %s AND frontier IS NOT DISTINCT FROM %s::jsonb"
        " AND (needs_reinit, coalesce(reinit_reason, '')) = (%s, %s)"
        " AND NOT EXISTS (SELECT FROM pgstream.pgs_dependencies d WHERE d.pgs_id = %s"
        "   AND d.source_type = 'TABLE' AND d.shape IS NOT NULL AND d.shape -> 'members'"
        "   IS DISTINCT FROM pgstream._member_stamps(d.source_relid))",
        (_json(frontier), timestamp, table.id, _json(table.frontier), table.needs_reinit,
         table.reinit_reason or "", table.id),
    )  # fmt: skip
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


def hold_sources(connection: Connection, ids: Iterable[int]) -> int:
    """Nobody alters or renames what these stream tables read until the transaction ends; its
    id."""
    row = connection.execute("SELECT pgstream._hold_sources(%s)::text", (list(ids),)).fetchone()
    assert row is not None
    return int(row[0])


def set_capture_errors(connection: Connection, mode: str) -> None:
    """Of all sources that have another mode. It is kept here, where no writer can set it."""
    connection.execute(
        "SELECT pgstream._set_capture_errors(source_relid, %(mode)s)"
        " FROM pgstream.pgs_change_tracking WHERE capture_errors <> %(mode)s"
        " ORDER BY source_relid",
        {"mode": mode},
    )


def ask_for_reinit(connection: Connection, id_: int, reason: str) -> None:
    """The next refresh that succeeds computes everything again."""
    connection.execute(
        "UPDATE pgstream.pgs_stream_tables SET needs_reinit = true, reinit_reason = %s"
        " WHERE pgs_id = %s",
        (reason, id_),
    )


def save_texts(connection: Connection, id_: int, rewrite: Callable[[str], str]) -> None:
    """All stored queries of a stream table, each rewritten."""
    for table, column, key in _TEXTS:
        names = {"t": identifier("pgstream", table), "c": identifier(column), "k": identifier(key)}
        rows = connection.execute(
            compose("SELECT {k}, {c} FROM {t} WHERE pgs_id = %s AND {c} IS NOT NULL", **names),
            (id_,),
        ).fetchall()
        for found, text in rows:
            connection.execute(
                compose("UPDATE {t} SET {c} = %s WHERE pgs_id = %s AND {k} = %s", **names),
                (rewrite(text), id_, found),
            )


def save_names(connection: Connection, id_: int) -> None:
    """In the shapes, as they are in the stored queries now."""
    connection.execute(
        "UPDATE pgstream.pgs_dependencies d SET shape = d.shape || jsonb_build_object("
        " 'schema', n.nspname, 'name', c.relname)"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE d.pgs_id = %s AND c.oid = d.source_relid",
        (id_,),
    )


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)
