"""The graph of stream tables: who reads whom, in which order to refresh."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError as GraphCycle
from graphlib import TopologicalSorter

from pgstream.catalog.records import StreamTable
from pgstream.errors import CycleError


def order(tables: Iterable[StreamTable]) -> list[StreamTable]:
    """Upstream first; a cycle is an error that shows its path."""
    known = {table.relid: table for table in tables}
    edges: Mapping[int, set[int]] = {
        relid: {d.relid for d in table.dependencies if d.relid in known}
        for relid, table in known.items()
    }
    try:
        return [known[relid] for relid in TopologicalSorter(edges).static_order()]
    except GraphCycle as error:
        path = [known[relid].full_name for relid in error.args[1]]
        raise CycleError(f"Stream tables read each other: {' -> '.join(path)}", path=path) from None


def upstream(table: StreamTable, tables: Iterable[StreamTable]) -> list[StreamTable]:
    """The stream tables that the table reads, directly or not, and itself, upstream first."""
    known = {each.relid: each for each in tables}
    wanted: dict[int, StreamTable] = {}
    waiting = [table.relid]
    while waiting:
        relid = waiting.pop()
        if relid in wanted or relid not in known:
            continue
        wanted[relid] = known[relid]
        waiting += [d.relid for d in known[relid].dependencies]
    return order(wanted.values())
