"""apply: a delta into its table, inside the committing transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg import sql

from pgstream.errors import IntegrityError
from pgstream.storage.names import COMMA, by_value, grouped, identifiers, match, ungrouped
from pgstream.storage.target import Target
from pgstream.storage.temporary import Temporary


@dataclass(frozen=True, slots=True)
class Applied:
    rows_inserted: int
    rows_deleted: int


NOTHING = Applied(0, 0)


def apply(connection: psycopg.Connection, target: Target, delta: Temporary) -> Applied:
    """Takes rows out and puts rows in; duplicates are counted, never merged."""
    connection.execute("SET LOCAL pg_stream.applying = 'on'")
    deleted = _delete(connection, target, delta)
    inserted = connection.execute(
        sql.SQL(
            "INSERT INTO {} ({n}, __pgs_row_id) SELECT {n}, __pgs_row_id FROM {}"
            " CROSS JOIN LATERAL generate_series(1, __pgs_weight) AS copies(__pgs_copy)"
            " WHERE __pgs_weight > 0"
        ).format(target.table, delta.name, n=identifiers(target.names))
    ).rowcount
    connection.execute("SET LOCAL pg_stream.applying = 'off'")
    return Applied(inserted, deleted)


def _delete(connection: psycopg.Connection, target: Target, delta: Temporary) -> int:
    row = connection.execute(
        sql.SQL(
            "SELECT coalesce(-sum(__pgs_weight), 0)::bigint FROM {} WHERE __pgs_weight < 0"
        ).format(delta.name)
    ).fetchone()
    wanted = row[0] if row else 0
    if not wanted:
        return 0
    loose = [c.name for c in target.columns if c.type.name == "numeric" and not c.type.digits]
    removal = _removal_by_spelling(target, delta, loose) if loose else _removal(target, delta)
    deleted = connection.execute(removal).rowcount
    if deleted != wanted:
        raise IntegrityError(
            f"{target.full_name} does not hold {wanted - deleted} of the {wanted} rows that "
            "its change removes.",
            hint="Refresh it in FULL mode; was the table changed by hand?",
        )
    return deleted


def _removal(target: Target, delta: Temporary) -> sql.Composed:
    return sql.SQL(
        "DELETE FROM {t} WHERE ctid = ANY(ARRAY("
        " SELECT row_ctid FROM ("
        "  SELECT s.ctid AS row_ctid, -d.__pgs_weight AS copies,"
        "   row_number() OVER (PARTITION BY d.__pgs_number) AS copy"
        "  FROM (SELECT *, row_number() OVER () AS __pgs_number"
        "        FROM {} WHERE __pgs_weight < 0) d"
        "  JOIN {t} s ON {}) found WHERE copy <= copies))"
    ).format(delta.name, match(target.columns, "s", "d"), t=target.table)


def _removal_by_spelling(target: Target, delta: Temporary, loose: Sequence[str]) -> sql.Composed:
    """Of rows that differ in trailing zeros only, those with the delta's own zeros first.
    What was removed then stands in the delta, as it was written: readers remove just that."""
    columns = by_value(target.columns)
    negative = sql.SQL(
        "SELECT {n}, __pgs_row_id, ROW({l})::text AS __pgs_spelling, -__pgs_weight"
        " AS __pgs_weight FROM {d} WHERE __pgs_weight < 0"
    ).format(n=identifiers(target.names), l=identifiers(loose), d=delta.name)
    groups = [grouped(column) for column in columns]
    wanted = sql.SQL(
        "SELECT {back}, __pgs_row_id, row_number() OVER () AS __pgs_number,"
        " sum(__pgs_weight) AS __pgs_copies,"
        " jsonb_object_agg(__pgs_spelling, __pgs_weight) AS __pgs_spellings"
        " FROM ({negative}) negative GROUP BY {groups}, __pgs_row_id"
    ).format(back=ungrouped(columns, groups), negative=negative, groups=COMMA.join(groups))
    found = sql.SQL(
        "SELECT s.ctid AS row_ctid, d.__pgs_number, d.__pgs_copies, row_number() OVER"
        " (PARTITION BY d.__pgs_number, ROW({l})::text)"
        "  <= coalesce((d.__pgs_spellings ->> ROW({l})::text)::bigint, 0) AS is_spelled"
        " FROM ({wanted}) d JOIN {t} s ON {match}"
    ).format(
        l=identifiers(loose, "s"), wanted=wanted, t=target.table, match=match(columns, "s", "d")
    )
    return sql.SQL(
        "WITH gone AS (DELETE FROM {t} WHERE ctid = ANY(ARRAY(SELECT row_ctid FROM ("
        " SELECT *, row_number() OVER (PARTITION BY __pgs_number ORDER BY is_spelled DESC)"
        "  AS copy FROM ({found}) found) ranked WHERE copy <= __pgs_copies))"
        " RETURNING {n}, __pgs_row_id),"
        " replaced AS (DELETE FROM {d} WHERE __pgs_weight < 0)"
        " INSERT INTO {d} ({n}, __pgs_row_id, __pgs_weight)"
        " SELECT {n}, __pgs_row_id, -1 FROM gone"
    ).format(t=target.table, found=found, d=delta.name, n=identifiers(target.names))
