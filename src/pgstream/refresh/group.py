"""group: what is refreshed together with some stream tables.

All stream tables that they read, directly or not, but those at rest: these are read as they are, if
they hold a result. A suspended one is at rest; one in ERROR is, unless somebody asks by hand.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pgstream.catalog.records import Initiator, Status, StreamTable
from pgstream.errors import NotPopulated, PgStreamError, StreamTableNotFound, Suspended
from pgstream.refresh.graph import order, upstream


def group(
    wanted: Sequence[StreamTable], tables: Collection[StreamTable], initiator: Initiator
) -> list[StreamTable]:
    """Upstream first. `tables` are all there are; an error knows which of the wanted it is of."""
    resting = at_rest(initiator)
    found: dict[int, StreamTable] = {}
    for table in wanted:
        everything = upstream(table, tables)
        _require(table, everything, resting)
        found |= {each.id: each for each in everything[:-1] if each.status not in resting}
        found[table.id] = everything[-1]
    return order(found.values())


def at_rest(initiator: Initiator) -> frozenset[Status]:
    if initiator is Initiator.SCHEDULER:
        return frozenset({Status.SUSPENDED, Status.ERROR})
    return frozenset({Status.SUSPENDED})


def _require(
    table: StreamTable, everything: Sequence[StreamTable], resting: Collection[Status]
) -> None:
    error: PgStreamError | None = None
    if not everything:
        error = StreamTableNotFound(f"{table.full_name} has been dropped.")
    elif everything[-1].status is Status.SUSPENDED:
        error = Suspended(
            f"{table.full_name} is suspended.",
            hint=f"Resume it with alter_stream_table('{table.full_name}', status => 'ACTIVE').",
        )
    for each in everything[:-1]:
        if each.status in resting and not each.is_populated:
            error = error or NotPopulated(
                f"{table.full_name} reads {each.full_name}, which is {each.status} and empty.",
                hint=f"Resume {each.full_name} first.",
            )
    if error is not None:
        error.table_id = table.id
        raise error
