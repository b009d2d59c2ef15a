"""prepare: the plan of a registered stream table, by the passes in their order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.plan import Plan
from pgstream.catalog.records import Numerics, StreamTable
from pgstream.compile.passes import PASSES, Draft
from pgstream.database.connection import Connection
from pgstream.engine.postgres.describe import PostgresCatalog
from pgstream.errors import QueryError
from pgstream.sql.positions import position_of_word


@dataclass(frozen=True)
class Prepared:
    table: StreamTable
    plan: Plan
    numerics: Numerics

    @property
    def renews(self) -> bool:
        """Whether nothing is stored of this plan: nothing at all, or what another plan made."""
        frontier = self.table.frontier
        return frontier is None or any(frontier.get(k) != v for k, v in self.mark.items())

    @property
    def mark(self) -> dict[str, str]:
        """Which plan the stored rows are of; a frontier has it."""
        return {"numerics": self.numerics.value, "plan": self.plan.digest}

    @property
    def stored(self) -> Scan:
        """The stream table itself, as a table to read."""
        source = Source(self.table.relid, self.table.schema, self.table.name, True)
        return Scan(source, tuple(Field(c.name, c.type) for c in self.plan.columns))


def prepare(
    connection: Connection,
    table: StreamTable,
    numerics: Numerics | None = None,
    nested_state: bool = True,
) -> Prepared:
    """The plan of a registered stream table; an error names its position in the user's text.
    `numerics` says who computes on them, if not those who did so far."""
    numerics = numerics or table.numerics
    draft = Draft(table, connection, _catalog(connection, table, numerics), nested_state)
    with _located(table):
        for each in PASSES:
            draft = each.run(draft)
    assert draft.plan is not None
    return Prepared(draft.table, draft.plan, numerics)


def _catalog(connection: Connection, table: StreamTable, numerics: Numerics) -> PostgresCatalog:
    used = {d.relid: d.columns for d in table.dependencies}
    streams = frozenset(d.relid for d in table.dependencies if d.is_stream)
    as_text = numerics is Numerics.BY_POSTGRES
    return PostgresCatalog(connection, used, streams, numerics_as_text=as_text)


@contextmanager
def _located(table: StreamTable) -> Iterator[None]:
    """An error about the query names its position in the user's text, if that shows it."""
    try:
        yield
    except QueryError as error:
        if error.line is None and error.construct:
            position = position_of_word(table.original_query, error.construct)
            if position is not None:
                error.line, error.column = position
        if error.line is None and table.views:
            _mention_views(error, table)
        raise


def _mention_views(error: QueryError, table: StreamTable) -> None:
    """What the user's text does not show may stand in a view."""
    names = ", ".join(f"{view.schema}.{view.name}" for view in table.views)
    note = f"The query includes those of its views: {names}."
    error.detail = f"{error.detail} {note}" if error.detail else note
