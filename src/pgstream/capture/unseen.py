"""Which rows of a buffer are new: seen by this snapshot, and not by that frontier."""

from __future__ import annotations

from psycopg import sql


def unseen(frontier: str) -> sql.Composed:
    """The condition on a buffer's rows, for a reader under the snapshot, which sees no others.

    The first half is there for the index: what is older than the frontier's xmin, it has seen.
    """
    return sql.SQL(
        "__pgs_xid >= pg_snapshot_xmin({f}::pg_snapshot)"
        " AND NOT pg_visible_in_snapshot(__pgs_xid, {f}::pg_snapshot)"
    ).format(f=sql.Literal(frontier))
