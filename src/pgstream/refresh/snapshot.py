"""The exported snapshot under which one cycle reads everything, and the frontier it gives.

The committing transaction gets its xid *before* the snapshot is taken, so for the snapshot
it is running. For a stream table among the sources, the frontier is that snapshot with this one
transaction counted as seen: what the cycle writes has been seen by those who read it in the cycle.
For any other source it is the snapshot: what triggers on a stream table write there is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pgstream.database.connection import Connection


@dataclass(frozen=True, slots=True)
class Snapshot:
    exported: str
    visible: str
    lsn: str
    taken_at: datetime

    def frontier(self, own_xid: int, read: Mapping[int, bool]) -> dict[str, Any]:
        """`read` tells of each source, by relid, whether it is a stream table."""
        at = {"lsn": self.lsn, "at": self.taken_at.isoformat()}
        seen = {True: without(self.visible, own_xid), False: self.visible}
        return {"sources": {str(r): {"snapshot": seen[own], **at} for r, own in read.items()}}


def take_snapshot(reader: Connection) -> Snapshot:
    """Begins the reading transaction and exports its snapshot."""
    with reader.pipeline():
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        found = reader.execute(
            "SELECT pg_export_snapshot(), pg_current_snapshot()::text,"
            " pg_current_wal_lsn()::text, clock_timestamp()"
        )
    row = found.fetchone()
    assert row is not None
    return Snapshot(*row)


def without(snapshot: str, xid: int) -> str:
    """The snapshot `xmin:xmax:running` with one running transaction counted as seen.

    A snapshot ends after the newest *completed* transaction, so a running one may lie beyond
    its end; those between are running too.

    >>> without("10:20:10,15", 10)
    '15:20:15'
    >>> without("10:20:10", 10)
    '20:20:'
    >>> without("10:20:10", 22)
    '10:23:10,20,21'
    """
    _, end, listed = snapshot.split(":")
    xmax = int(end)
    running = {int(x) for x in listed.split(",") if x}
    running |= set(range(xmax, xid + 1))
    running.discard(xid)
    xmax = max(xmax, xid + 1)
    rest = sorted(running)
    return f"{rest[0] if rest else xmax}:{xmax}:{','.join(map(str, rest))}"
