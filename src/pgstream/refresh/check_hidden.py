"""check_hidden: whether hidden tables hold what their aggregates give over the sources of now."""

from __future__ import annotations

from contextlib import closing

from pgstream.catalog import store
from pgstream.catalog.records import Mode
from pgstream.engine.postgres.staging import drop_staging
from pgstream.monitor.verify import Verification
from pgstream.refresh.changes import SourceChanges, find_changes
from pgstream.refresh.cycle import Cycle
from pgstream.refresh.lock import lock
from pgstream.refresh.pending import Pending
from pgstream.refresh.snapshot import take_snapshot
from pgstream.refresh.stages.follow_nested_state import FollowNestedState
from pgstream.refresh.stages.work import Work


def check_hidden(cycle: Cycle, id_: int) -> tuple[Verification, ...] | None:
    """Spark computes all groups again; PostgreSQL compares. None if the sources have changed since
    the last refresh, or another one is running. Nothing is written."""
    connections = cycle.connections
    try:
        if not lock(connections.apply, [id_]):
            return None
        try:
            with connections.apply.transaction(force_rollback=True):
                return _compared(cycle, id_)
        finally:
            drop_staging(connections.notes, id_)
    finally:
        connections.reset()


def _compared(cycle: Cycle, id_: int) -> tuple[Verification, ...] | None:
    means, connections = cycle.means, cycle.connections
    store.hold_sources(connections.apply, [id_])
    snapshot = take_snapshot(connections.reader)
    (table,) = store.stream_tables(connections.apply, [id_])
    if table.refresh_mode is Mode.FULL:  # no changes are captured: all is as old as the rows
        return ()
    buffers = means.buffers([table])
    if not find_changes(buffers, table, {}).nothing:
        return None
    prepared = means.prepared(table, table.numerics)
    means.sessions.revive()
    handover = means.handover(table)
    with closing(handover), means.execution(snapshot, handover) as execution:
        tools = means.tools(prepared, SourceChanges(), buffers, Pending(), execution)
        work = FollowNestedState(prepared.plan.hidden, whole=True).run(Work(tools))
        return tuple(
            Verification(str(hidden.source), *tools.state(hidden).differences(groups))
            for hidden, groups in work.nested
        )
