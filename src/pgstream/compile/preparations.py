"""Plans, kept until the definition, a source's columns or its constraints change. Threads may share
them: what is kept is frozen."""

from __future__ import annotations

from dataclasses import replace

from pgstream.catalog.records import Numerics, StreamTable
from pgstream.compile.prepare import Prepared, prepare
from pgstream.database.connection import Connection
from pgstream.engine.postgres.constraints import NOT_NULL, UNIQUE

# Plans rely on constraints: without one, another plan gives the same rows.
_MARK = f"""
SELECT pgstream._require_trusted_names(%(id)s),
    (SELECT jsonb_agg(columns)::text FROM (
        SELECT attrelid::bigint, relnamespace::bigint, relname, attname, atttypid::bigint,
               atttypmod, length(c.reltuples::bigint::text)
        FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
        WHERE attrelid = ANY(%(relids)s::oid[]) AND attnum > 0 AND NOT attisdropped
        ORDER BY attrelid, attnum) columns),
    (SELECT jsonb_agg(keys)::text FROM ({UNIQUE}) keys),
    (SELECT jsonb_agg(columns)::text FROM ({NOT_NULL}) columns)
""".encode()


class Preparations:
    def __init__(self) -> None:
        self._known: dict[int, tuple[object, Prepared]] = {}

    def of(
        self, connection: Connection, table: StreamTable, numerics: Numerics, nested_state: bool
    ) -> Prepared:
        """The plan, for this transaction, which holds the sources: what is checked here stays so
        until it ends."""
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
        """What a plan is made of: columns, and sizes to the power of ten. Names that mean other
        than they did are an error."""
        relids = [d.relid for d in table.dependencies]
        row = connection.execute(_MARK, {"id": table.id, "relids": relids}).fetchone()
        assert row is not None
        return table.relid, table.defining_query, *row[1:]
