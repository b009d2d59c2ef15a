"""settled_snapshot: a snapshot that shows all that is read in the shape that the catalog knows."""

from __future__ import annotations

from collections.abc import Sequence

from pgstream.catalog import store
from pgstream.catalog.shapes import changed_shapes
from pgstream.errors import RefreshConflict
from pgstream.refresh.connections import Connections
from pgstream.refresh.follow_ddl import follow_ddl
from pgstream.refresh.snapshot import Snapshot, take_snapshot

ATTEMPTS = 10


def settled_snapshot(connections: Connections, ids: Sequence[int]) -> tuple[Snapshot, int]:
    """And the id of the committing transaction, which it does not see.

    Sources are locked before it is taken, so that what it sees and what PostgreSQL reads are the
    same. Where DDL has changed something, that is followed first, without the locks.
    """
    apply, reader = connections.apply, connections.reader
    for _ in range(ATTEMPTS):
        apply.execute("SAVEPOINT unlocked")
        own_xid = store.hold_sources(apply, ids)
        snapshot = take_snapshot(reader)
        changed = changed_shapes(reader, ids)
        if not changed:
            return snapshot, own_xid
        reader.rollback()
        apply.execute("ROLLBACK TO SAVEPOINT unlocked")
        follow_ddl(connections.notes, changed)
    raise RefreshConflict(
        "What the stream table reads was altered again and again.", hint="Refresh it again."
    )
