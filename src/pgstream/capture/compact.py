"""compact: takes out of a buffer pairs of rows that cancel out, −v and +v.

A pair may go if no refresh will ever read one of the two without the other:

- Of each reader, the frontier has seen both or neither. The frontiers stand still while their
  locks are held.
- Every later snapshot sees both: their transactions are finished for a snapshot M that was taken
  together with the list of the readers. A reader that is not on the list came after M.
- No earlier snapshot is in use: whoever reads holds its table's lock.

Once this holds of a pair it holds for ever, so that pairs are found under the locks, and deleted
afterwards in small transactions. Equal is what is stored as the same bytes: 1.5 is not 1.50.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from pgstream.capture.batches import BATCH
from pgstream.capture.limit import seen_by
from pgstream.capture.names import find_buffer
from pgstream.capture.readers import are_quiet

PAIRS = sql.Identifier("pg_temp", "__pgs_pairs")

# One statement: a reader that is not on the list came after the snapshot.
_READERS = """
SELECT pg_current_snapshot()::text, ARRAY(
    SELECT pgs_id FROM pgstream.pgs_dependencies
    WHERE source_relid = %s AND source_type <> 'VIEW' ORDER BY pgs_id)
"""
_FRONTIERS = """
SELECT DISTINCT frontier #>> ARRAY['sources', %s::text, 'snapshot']
FROM pgstream.pgs_stream_tables
WHERE pgs_id = ANY(%s) AND frontier #>> ARRAY['sources', %s::text, 'snapshot'] IS NOT NULL
"""
_COLUMNS = """
SELECT attname FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped AND attname NOT IN
    ('__pgs_change_id', '__pgs_xid', '__pgs_lsn', '__pgs_action', '__pgs_weight')
ORDER BY attnum
"""
_FIND = """
CREATE TEMPORARY TABLE {pairs} AS
WITH rows AS MATERIALIZED (
    SELECT ctid AS place, __pgs_change_id AS id, __pgs_weight AS weight, image,
           image::text AS shown, seen,
           row_number() OVER (PARTITION BY image::text, seen, __pgs_weight
                              ORDER BY __pgs_change_id) AS nth
    FROM (SELECT ctid, __pgs_change_id, __pgs_weight, ROW({columns}) AS image,
                 ARRAY[{seen}]::bool[] AS seen
          FROM {buffer} WHERE __pgs_weight <> 0 AND {finished}) found)
SELECT row_number() OVER () AS number, ARRAY[minus.place, plus.place] AS places,
       ARRAY[minus.id, plus.id] AS ids
FROM rows minus JOIN rows plus ON minus.shown = plus.shown AND minus.seen = plus.seen
    AND minus.nth = plus.nth AND minus.weight < 0 AND plus.weight > 0
WHERE minus.image *= plus.image
"""
# A place may have been used again since; a number is not.
_DELETE = """
DELETE FROM {buffer} b USING {pairs} p CROSS JOIN LATERAL unnest(p.places, p.ids) AS gone(place, id)
WHERE p.number > %s AND p.number <= %s AND b.ctid = gone.place AND b.__pgs_change_id = gone.id
"""


def compact(connection: psycopg.Connection, relid: int) -> int:
    """How many rows went. None if a reader is being refreshed. Outside of a transaction."""
    # One that failed may have left its pairs.
    connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(PAIRS))
    buffer = find_buffer(connection, relid)
    if buffer is None:
        return 0
    with connection.transaction():
        found = _find_pairs(connection, relid, buffer)
    delete = sql.SQL(_DELETE).format(buffer=buffer, pairs=PAIRS)
    return sum(
        connection.execute(delete, (start, start + BATCH)).rowcount
        for start in range(0, found, BATCH)
    )


def _find_pairs(connection: psycopg.Connection, relid: int, buffer: sql.Identifier) -> int:
    """How many pairs there are in the temporary table; without it, none."""
    finished, readers = _row(connection, _READERS, (relid,))
    shown = buffer.as_string(connection)
    columns = [name for (name,) in connection.execute(_COLUMNS, (shown,)).fetchall()]
    if not are_quiet(connection, readers) or not columns:
        return 0
    frontiers = connection.execute(_FRONTIERS, (relid, readers, relid)).fetchall()
    return connection.execute(
        sql.SQL(_FIND).format(
            pairs=PAIRS,
            columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
            seen=_seen([snapshot for (snapshot,) in frontiers]),
            buffer=buffer,
            finished=seen_by(finished),
        )
    ).rowcount


def _seen(frontiers: Sequence[str]) -> sql.Composed:
    """Which frontiers have seen a row."""
    return sql.SQL(", ").join(
        sql.SQL("pg_visible_in_snapshot(__pgs_xid, {}::pg_snapshot)").format(sql.Literal(frontier))
        for frontier in frontiers
    )


def _row(
    connection: psycopg.Connection, query: str, parameters: tuple[object, ...]
) -> tuple[Any, ...]:
    row = connection.execute(query.encode(), parameters).fetchone()
    assert row is not None
    return tuple(row)
