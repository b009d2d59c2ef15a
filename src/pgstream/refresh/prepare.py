"""From a stream table's query to its plan, once per definition."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from pgstream.algebra.calculus.recursion import Recursion, used_by, with_homes
from pgstream.algebra.lower.query import lower
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.plan import Plan, plan
from pgstream.algebra.top import split_top
from pgstream.catalog.records import Numerics, StreamTable
from pgstream.database.connection import Connection
from pgstream.database.quoting import compose, identifier, joined
from pgstream.engine.postgres.describe import PostgresCatalog
from pgstream.errors import PermissionDenied, QueryError, SyntaxFault
from pgstream.refresh.expand import expand
from pgstream.sql.deparsed import parse_deparsed
from pgstream.sql.parse import parse
from pgstream.sql.passes import rewrite, run_passes
from pgstream.sql.places import place_of_word


@dataclass(frozen=True)
class Prepared:
    table: StreamTable
    plan: Plan
    numerics: Numerics

    @property
    def renews(self) -> bool:
        """Whether nothing is stored of this plan: nothing at all, or what another plan made."""
        return self.table.frontier is None or self.table.numerics is not self.numerics

    @property
    def stored(self) -> Scan:
        """The stream table itself, as a table to read."""
        source = Source(self.table.relid, self.table.schema, self.table.name, True)
        return Scan(source, tuple(Field(c.name, c.type) for c in self.plan.columns))


def check_text(text: str) -> None:
    """Refuses what the user's text shows to be unsupported, with its place.

    Text that our parser cannot read is PostgreSQL's to judge: what it accepts is checked again
    in its deparsed form.
    """
    with suppress(SyntaxFault):
        run_passes(parse(text), text)


def prepare(
    connection: Connection, table: StreamTable, numerics: Numerics | None = None
) -> Prepared:
    """The plan of a registered stream table; an error names its place in the user's text.
    `numerics` says who computes on them, if not those who did so far."""
    numerics = numerics or table.numerics
    try:
        check_text(table.original_query)
        used = {d.relid: d.columns for d in table.dependencies}
        streams = frozenset(d.relid for d in table.dependencies if d.is_stream)
        as_text = numerics is Numerics.BY_POSTGRES
        catalog = PostgresCatalog(connection, used, streams, numerics_as_text=as_text)
        table = expand(connection, table)
        text = "" if table.views else table.original_query  # no place in a view is the user's
        deparsed = run_passes(parse_deparsed(table.defining_query), text)
        query, top = split_top(rewrite(deparsed), catalog)
        recursions: list[Recursion] = []
        names = (*table.columns, *(top.hidden if top else ()))
        tree = lower(query, catalog, names, recursions)
        home = None if top else Source(table.relid, table.schema, table.name, True)
        tree, found = with_homes(tree, used_by(tree, recursions), table.id, home)
        made = plan(tree, top, found)
    except QueryError as error:
        if error.line is None and error.construct:
            place = place_of_word(table.original_query, error.construct)
            if place is not None:
                error.line, error.column = place
        if error.line is None and table.views:
            _mention_views(error, table)
        raise
    _only_registered(table, made)
    return Prepared(table, made, numerics)


def _mention_views(error: QueryError, table: StreamTable) -> None:
    """What the user's text does not show may stand in a view."""
    names = ", ".join(f"{view.schema}.{view.name}" for view in table.views)
    note = f"The query includes those of its views: {names}."
    error.detail = f"{error.detail} {note}" if error.detail else note


def _only_registered(table: StreamTable, made: Plan) -> None:
    """The tree reads only tables on which the creator's rights were checked."""
    known = {d.relid for d in table.dependencies}
    for relid, scan in made.sources.items():
        if relid not in known:
            raise PermissionDenied(f"{table.full_name} reads {scan.source} without a right to.")


def _hold_sources(connection: Connection, table: StreamTable) -> None:
    """Nobody alters or renames a source while it is read. Other kinds of relations cannot be
    locked."""
    found = connection.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.oid = ANY(%s::oid[]) AND c.relkind IN ('r', 'p') ORDER BY c.oid",
        ([d.relid for d in table.dependencies],),
    ).fetchall()
    if found:
        names = joined(compose("ONLY {n}", n=identifier(*name)) for name in found)
        connection.execute(compose("LOCK TABLE {n} IN ACCESS SHARE MODE", n=names))


class Preparations:
    """Plans, kept until the definition or a source's columns change."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, Prepared]] = {}

    def of(self, connection: Connection, table: StreamTable, numerics: Numerics) -> Prepared:
        """The plan, for this transaction: what is checked here stays so until it ends."""
        _hold_sources(connection, table)
        connection.execute("SELECT pgstream._require_trusted_names(%s)", (table.id,))
        mark = (numerics, self._mark(connection, table))
        found = self._known.get(table.id)
        if found is None or found[0] != mark:
            found = (mark, prepare(connection, table, numerics))
            self._known[table.id] = found
        query = found[1].table.defining_query
        return replace(found[1], table=replace(table, defining_query=query))

    def first(self, connection: Connection, table: StreamTable) -> Prepared:
        """The plan of a table that is being created. Its first refresh finds it here, with the
        query that the plan was made of."""
        made = prepare(connection, table)
        mark = (made.numerics, self._mark(connection, made.table))
        self._known[table.id] = (mark, made)
        return made

    def _mark(self, connection: Connection, table: StreamTable) -> object:
        relids = [d.relid for d in table.dependencies]
        rows = connection.execute(
            "SELECT attrelid::bigint, relnamespace::bigint, relname, attname, atttypid::bigint,"
            " atttypmod FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
            " WHERE attrelid = ANY(%s::oid[]) AND attnum > 0 AND NOT attisdropped"
            " ORDER BY attrelid, attnum",
            (relids,),
        ).fetchall()
        return table.relid, table.defining_query, tuple(rows)
