"""Work: what a refresh of a stream table knows between two stages."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from pgstream.algebra.calculus.differentiate import Changed
from pgstream.algebra.calculus.recursion import Recursion
from pgstream.algebra.groups import Groups
from pgstream.algebra.nested import Hidden
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.plan import Plan
from pgstream.compile.prepare import Prepared
from pgstream.engine.postgres.changes import ChangeReader
from pgstream.engine.postgres.staging import Staging
from pgstream.engine.rows import Rows
from pgstream.engine.spark.execution import Execution
from pgstream.refresh.changes import SourceChanges
from pgstream.refresh.connections import Connections
from pgstream.settings import Settings
from pgstream.storage.apply import NOTHING, Applied
from pgstream.storage.names import state_name
from pgstream.storage.state import State
from pgstream.storage.target import Target
from pgstream.storage.temporary import Temporary, convert, drop, load
from pgstream.storage.top import TopRows

T = TypeVar("T")


@dataclass(frozen=True)
class Tools:
    """What the stages of one refresh work with."""

    prepared: Prepared
    changes: SourceChanges
    reader: ChangeReader
    execution: Execution
    connections: Connections
    settings: Settings
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def plan(self) -> Plan:
        return self.prepared.plan

    @cached_property
    def target(self) -> Target:
        table = self.prepared.table
        plan = self.plan
        return Target(table.id, table.relid, table.schema, table.name, plan.columns, plan.key)

    def state(self, groups: Groups) -> State:
        name = state_name(self.target.id)
        if isinstance(groups, Hidden):
            name = groups.source.name
        return State(self.connections.apply, name, groups)

    @cached_property
    def top_rows(self) -> TopRows:
        columns = self.plan.tree.columns
        return TopRows(self.connections.apply, self.target, known(self.plan.top), columns)

    def materialize(self, kind: str, node: Node, columns: Sequence[Column]) -> Temporary:
        """The rows that Spark computes, in a typed temporary table."""
        if self.execution.is_large(node):
            return self._materialize_large(kind, node, columns)
        rows = self.execution.collect(node)
        trimmed = [c.trimmed for c in rows.carriers]
        return load(self.connections.apply, kind, self.target.id, columns, rows.table, trimmed)

    def _materialize_large(self, kind: str, node: Node, columns: Sequence[Column]) -> Temporary:
        apply, id_ = self.connections.apply, self.target.id
        staging = Staging.new(self.connections.notes, f"staging_{id_}_{next(self._numbers)}")
        carriers = self.execution.stage(node, staging)
        trimmed = [c.trimmed for c in carriers]
        made = convert(apply, kind, id_, columns, staging.table, trimmed)
        drop(apply, staging.table)  # with the commit; a failed refresh drops it apart
        return made


@dataclass(frozen=True)
class Work:
    """Each stage returns the next one."""

    tools: Tools
    changed: Changed = field(default_factory=dict)
    """Which parts of which sources have changed."""
    recursive: tuple[tuple[Recursion, Rows], ...] = ()
    """What the stored rows of recursive CTEs gain and lose."""
    nested: tuple[tuple[Hidden, Temporary], ...] = ()
    """Groups of nested aggregates: before the change and after it, or all of them."""
    rows: Temporary | None = None
    """What Spark has computed."""
    groups: Temporary | None = None
    """Groups of the stored aggregate: before the change, weight −1, and after it."""
    again: Rows | None = None
    """The keys of groups that are read again."""
    first: Temporary | None = None
    """The first rows of a query with LIMIT."""
    delta: Temporary | None = None
    """The change of the stream table."""
    applied: Applied = NOTHING
    is_without_effect: bool = False
    """The changes cancel out, or no row of them is what the query asks for."""
    note: str = ""
    """What the refresh's reason says beside the decision."""
    ran: tuple[str, ...] = ()
    """The names of the stages so far."""

    @property
    def plan(self) -> Plan:
        return self.tools.plan


def known(value: T | None) -> T:
    """What an earlier stage has found."""
    assert value is not None, "an earlier stage finds it"
    return value
