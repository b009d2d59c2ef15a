"""Plans, kept until the definition, a source's columns or its constraints change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pgstream.catalog.records import Numerics, StreamTable
from pgstream.compile.prepare import Prepared, prepare
from pgstream.database.connection import Connection
from pgstream.database.quoting import compose, identifier, joined
from pgstream.engine.postgres.constraints import not_null, unique_keys


class Preparations:
    def __init__(self) -> None:
        self._known: dict[int, tuple[object, Prepared]] = {}

    def of(
        self, connection: Connection, table: StreamTable, numerics: Numerics, nested_state: bool
    ) -> Prepared:
        """The plan, for this transaction: what is checked here stays so until it ends."""
        hold_sources(connection, [d.relid for d in table.dependencies])
        connection.execute("SELECT pgstream._require_trusted_names(%s)", (table.id,))
        mark = (numerics, nested_state, self._mark(connection, table))
        found = self._known.get(table.id)
        if found is None or found[0] != mark:
            found = (mark, prepare(connection, table, numerics, nested_state))
            self._known[table.id] = found
        query = found[1].table.defining_query
        return replace(found[1], table=replace(table, defining_query=query))

    def first(self, connection: Connection, table: StreamTable, nested_state: bool) -> Prepared:
        """The plan of a table that is being created. Its first refresh finds it here, with the
        query that the plan was made of."""
        made = prepare(connection, table, nested_state=nested_state)
        mark = (made.numerics, nested_state, self._mark(connection, made.table))
        self._known[table.id] = (mark, made)
        return made

    def _mark(self, connection: Connection, table: StreamTable) -> object:
        """What a plan is made of: columns, and sizes to the power of ten."""
        relids = [d.relid for d in table.dependencies]
        rows = connection.execute(
            "SELECT attrelid::bigint, relnamespace::bigint, relname, attname, atttypid::bigint,"
            " atttypmod, length(c.reltuples::bigint::text)"
            " FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
            " WHERE attrelid = ANY(%s::oid[]) AND attnum > 0 AND NOT attisdropped"
            " ORDER BY attrelid, attnum",
            (relids,),
        ).fetchall()
        # Plans rely on them: without one, another plan gives the same rows.
        asked = unique_keys, not_null
        known = tuple(constraints(connection, relids) for constraints in asked)
        return table.relid, table.defining_query, tuple(rows), known


def hold_sources(connection: Connection, relids: Iterable[int]) -> None:
    """Nobody alters or renames a source while it is read. Other kinds of relations cannot be
    locked."""
    found = connection.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.oid = ANY(%s::oid[]) AND c.relkind IN ('r', 'p') ORDER BY c.oid",
        (list(relids),),
    ).fetchall()
    if found:
        names = joined(compose("ONLY {n}", n=identifier(*name)) for name in found)
        connection.execute(compose("LOCK TABLE {n} IN ACCESS SHARE MODE", n=names))
