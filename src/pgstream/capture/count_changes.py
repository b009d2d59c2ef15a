"""How much is new in a buffer."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from pgstream.capture.buffers import Buffers


@dataclass(frozen=True, slots=True)
class Counted:
    rows: int
    markers: frozenset[str]
    """What stands for rows that are not there. T: a TRUNCATE removed them; O: there were too many;
    S: capture could not read them."""
    failure: str | None = None
    """Why changes could not be captured, if writers were let go on."""


def count_changes(buffers: Buffers, relid: int, frontier: str) -> Counted:
    query = sql.SQL(
        "SELECT count(*) FILTER (WHERE __pgs_weight <> 0),"
        " array_agg(DISTINCT __pgs_action::text) FILTER (WHERE __pgs_weight = 0),"
        " (SELECT min(message) FROM (SELECT xid AS __pgs_xid, message"
        "   FROM pgstream.pgs_capture_failures WHERE source_relid = {r}) failures WHERE {new})"
        " FROM {b} WHERE {new}"
    ).format(r=sql.Literal(relid), b=buffers.table(relid), new=buffers.new(relid, frontier))
    row = buffers.connection(relid).execute(query).fetchone()
    assert row is not None
    return Counted(row[0], frozenset(row[1] or ()), row[2])
