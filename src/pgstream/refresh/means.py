"""Means: what a refresh works with, the same for all tables of a cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pgstream.capture.buffers import Buffers, open_buffers
from pgstream.catalog.records import Numerics, StreamTable
from pgstream.compile.preparations import Preparations
from pgstream.compile.prepare import Prepared
from pgstream.engine.postgres.changes import ChangeReader
from pgstream.engine.postgres.handover import Handover
from pgstream.engine.postgres.leaves import Leaves
from pgstream.engine.spark.execution import Execution
from pgstream.engine.spark.interruption import Interruption
from pgstream.engine.spark.session import Sessions
from pgstream.engine.spark.views import Views
from pgstream.engine.ways import Ways
from pgstream.refresh.changes import SourceChanges
from pgstream.refresh.connections import Connections
from pgstream.refresh.pending import Pending
from pgstream.refresh.snapshot import Snapshot
from pgstream.refresh.stages.work import Tools
from pgstream.settings import Settings


@dataclass(frozen=True)
class Means:
    connections: Connections
    sessions: Sessions
    settings: Settings
    preparations: Preparations
    ways: Callable[[int, int], Ways] = Ways
    interruption: Interruption = field(default_factory=Interruption)

    def buffers(self, tables: Iterable[StreamTable]) -> Buffers:
        """Under the reader's snapshot; all that it sees is in them."""
        relids = {source.relid for table in tables for source in table.dependencies}
        return open_buffers(self.connections.reader, self.connections.notes, relids)

    def prepared(self, table: StreamTable, numerics: Numerics) -> Prepared:
        nested_state = self.settings.nested_state
        return self.preparations.of(self.connections.apply, table, numerics, nested_state)

    def handover(self, table: StreamTable) -> Handover:
        ways = self.ways(self.settings.small_path_rows, self.settings.small_path_bytes)
        apply, notes = self.connections.apply, self.connections.notes
        return Handover(apply, notes, table.id, self.sessions.parallelism, ways)

    def execution(self, snapshot: Snapshot, handover: Handover) -> Execution:
        ways = handover.ways
        leaves = Leaves(self.connections.reader, ways, self.sessions.parallelism)
        views = Views(self.sessions, ways, self.connections.dsn, snapshot.exported)
        return Execution(self.sessions, leaves, views, handover, self.interruption)

    def tools(
        self,
        prepared: Prepared,
        changes: SourceChanges,
        buffers: Buffers,
        pending: Pending,
        execution: Execution,
    ) -> Tools:
        table = prepared.table
        reader = self.change_reader(table, changes, buffers, pending, execution.handover)
        return Tools(prepared, changes, reader, execution, self.connections, self.settings)

    def change_reader(
        self,
        table: StreamTable,
        changes: SourceChanges,
        buffers: Buffers,
        pending: Pending,
        handover: Handover,
    ) -> ChangeReader:
        frontiers = {
            d.relid: frontier
            for d in table.dependencies
            if (frontier := table.frontier_of(d.relid)) is not None
        }
        return ChangeReader(
            buffers,
            frontiers,
            changes.committed,
            pending.deltas,
            handover,
        )
