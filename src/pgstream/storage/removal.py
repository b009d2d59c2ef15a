"""removal: which rows of a table a delta takes out, by where they are."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import sql

from pgstream.storage.names import COMMA, by_value, grouped, identifiers, match, ungrouped
from pgstream.storage.target import Target
from pgstream.storage.temporary import Temporary


def loose(target: Target) -> list[str]:
    """The columns in which equal values may be written in more than one way: 1.5 and 1.50."""
    return [c.name for c in target.columns if c.type.name == "numeric" and not c.type.digits]


def removed_rows(target: Target, delta: Temporary) -> sql.Composed:
    """A query for the `row_ctid` of each row that goes; of equal rows, as many as go."""
    names = loose(target)
    return _by_spelling(target, delta, names) if names else _by_value(target, delta)


def _by_value(target: Target, delta: Temporary) -> sql.Composed:
    return sql.SQL(
        "SELECT row_ctid FROM ("
        "  SELECT s.ctid AS row_ctid, -d.__pgs_weight AS copies,"
        "   row_number() OVER (PARTITION BY d.__pgs_number) AS copy"
        "  FROM (SELECT *, row_number() OVER () AS __pgs_number"
        "        FROM {} WHERE __pgs_weight < 0) d"
        "  JOIN {} s ON {}) found WHERE copy <= copies"
    ).format(delta.name, target.table, match(target.columns, "s", "d"))


def _by_spelling(target: Target, delta: Temporary, names: Sequence[str]) -> sql.Composed:
    """Of rows that differ in trailing zeros only, those with the delta's own zeros first."""
    columns = by_value(target.columns)
    negative = sql.SQL(
        "SELECT {n}, __pgs_row_id, ROW({l})::text AS __pgs_spelling, -__pgs_weight"
        " AS __pgs_weight FROM {d} WHERE __pgs_weight < 0"
    ).format(n=identifiers(target.names), l=identifiers(names), d=delta.name)
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
        l=identifiers(names, "s"), wanted=wanted, t=target.table, match=match(columns, "s", "d")
    )
    return sql.SQL(
        "SELECT row_ctid FROM ("
        " SELECT *, row_number() OVER (PARTITION BY __pgs_number ORDER BY is_spelled DESC)"
        "  AS copy FROM ({}) found) ranked WHERE copy <= __pgs_copies"
    ).format(found)
