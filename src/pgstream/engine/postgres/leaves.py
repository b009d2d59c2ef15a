"""Leaves: reads what the delta tree's leaves stand for, by key where there are keys.

Small relations come to the driver as Arrow tables. Large ones stay in PostgreSQL and are
read by Spark's executors in slices, under the same snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import psycopg
import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.node import Keys, Node
from pgstream.algebra.operators.scan import Change, Field, Lookup, Part, Scan, Source, Stored
from pgstream.capture.names import buffer
from pgstream.capture.unseen import unseen
from pgstream.database.copying import copy_out
from pgstream.engine.carriers import carrier_of
from pgstream.engine.postgres.queries import (
    ONE,
    WEIGHT,
    between,
    estimated_rows,
    key_condition,
    measured,
    reading_query,
    uncancelled,
)
from pgstream.engine.rows import Bound, Large, Rows, carried, consolidated, no_rows
from pgstream.engine.ways import Ways
from pgstream.errors import NumericRange


class PendingChanges(Protocol):
    """The uncommitted change of a stream table that this cycle refreshes."""

    def pending_relation(self, relid: int) -> sql.Composable: ...

    @property
    def connection(self) -> psycopg.Connection: ...


@dataclass
class Counts:
    changes_read: int = 0
    rows_read: int = 0
    spark_actions: int = 0


@dataclass
class Leaves:
    """The leaves of one refresh, each read at most once."""

    reader: psycopg.Connection
    frontiers: Mapping[int, str]
    change_counts: Mapping[int, int]
    pending: PendingChanges | None
    ways: Ways
    slices: int
    counts: Counts = field(default_factory=Counts)
    _bound: dict[Node, Bound] = field(default_factory=dict)
    _read: dict[str, Rows] = field(default_factory=dict)
    _sizes: dict[Source, int] = field(default_factory=dict)

    def bind(self, node: Node, keys: Callable[[Keys], pa.Table | None]) -> Bound | None:
        """The rows of a leaf; None if the node is no leaf, or a lookup without small keys."""
        found = self._bound.get(node)
        if found is None:
            match node:
                case Change(scan, Part.PENDING):
                    found = self.pending_change(scan)
                case Change(scan):
                    found = self.committed_change(scan)
                case Stored(scan):
                    found = self.stored(scan)
                case Lookup(stored, indexes, by):
                    values = keys(by)
                    if values is None or self.reads_all(stored.scan, values.num_rows):
                        return None
                    found = self.lookup(stored.scan, indexes, by, values)
                case _:
                    return None
            self._bound[node] = found
        return found

    # --- changes ----------------------------------------------------------------------------

    def committed_change(self, scan: Scan) -> Bound:
        relid = scan.source.relid
        new = unseen(self.frontiers[relid])
        where: sql.Composable = sql.SQL("__pgs_weight <> 0 AND {}").format(new)
        table: sql.Composable = buffer(relid)
        if not self.ways.through_driver(self.change_counts[relid]):
            return self.large(scan, table, where, weighted=True)
        if any(f.sql for f in scan.fields):
            table, where = uncancelled(scan, table, where)
        return net(self.small(self.reader, scan, table, where, weighted=True))

    def pending_change(self, scan: Scan) -> Bound:
        assert self.pending is not None
        table = self.pending.pending_relation(scan.source.relid)
        connection = self.pending.connection
        return net(self.small(connection, scan, table, None, weighted=True))

    # --- states -----------------------------------------------------------------------------

    def stored(self, scan: Scan) -> Bound:
        table = sql.Identifier(scan.source.schema, scan.source.name)
        if not self.ways.through_driver(self.size(scan)):
            return self.large(scan, table, None, weighted=False)
        bound = self.small(self.reader, scan, table, None, weighted=False)
        self.counts.rows_read += bound.table.num_rows
        return bound

    def lookup(self, scan: Scan, indexes: Sequence[int], by: Keys, values: pa.Table) -> Rows:
        fields = [scan.fields[i] for i in indexes]
        if values.num_rows == 0:
            return no_rows(f.type for f in scan.fields)
        where = key_condition(fields, by, values)
        table = sql.Identifier(scan.source.schema, scan.source.name)
        query = reading_query(scan.fields, table, where, ONE)
        text = query.as_string(self.reader)
        if text not in self._read:  # other keys of the tree may have the same values
            self._read[text] = read_small(self.reader, scan.fields, query)
            self.counts.rows_read += self._read[text].table.num_rows
        return self._read[text]

    def reads_all(self, scan: Scan, keys: int) -> bool:
        """Whether reading the table once is cheaper than looking the keys up."""
        return keys > self.ways.most_rows or (keys > 1000 and keys * 2 > self.size(scan))

    def size(self, scan: Scan) -> int:
        """How many rows PostgreSQL expects in the table."""
        source = scan.source
        if source not in self._sizes:
            self._sizes[source] = estimated_rows(self.reader, source.schema, source.name)
        return self._sizes[source]

    # --- reading ----------------------------------------------------------------------------

    def small(
        self,
        connection: psycopg.Connection,
        scan: Scan,
        table: sql.Composable,
        where: sql.Composable | None,
        weighted: bool,
    ) -> Rows:
        query = reading_query(scan.fields, table, where, WEIGHT if weighted else ONE)
        return read_small(connection, scan.fields, query)

    def computed(self, connection: psycopg.Connection, scan: Scan) -> Large:
        """A table c0, c1, … and w that this refresh has written."""
        table = sql.Identifier(scan.source.schema, scan.source.name)
        scales = measured(connection, scan, table, None)[1]
        carriers = tuple(carrier_of(f.type, scales.get(i)) for i, f in enumerate(scan.fields))
        queries = []
        for part, low, high in self.ranges(connection, table):
            query = reading_query(scan.fields, part, between(low, high), "w")
            queries.append(query.as_string(connection))
        return Large(tuple(queries), carriers, computed=True)

    def large(
        self,
        scan: Scan,
        table: sql.Composable,
        where: sql.Composable | None,
        weighted: bool,
    ) -> Large:
        weight = WEIGHT if weighted else ONE
        if any(f.sql for f in scan.fields):
            # Here, where PostgreSQL's error about a user's function can be told as it is.
            first = reading_query(scan.fields, table, where, weight)
            self.reader.execute(sql.SQL("{} LIMIT 1").format(first))
        rows, scales = measured(self.reader, scan, table, where)
        if not weighted:
            self.counts.rows_read += rows
        carriers = tuple(carrier_of(f.type, scales.get(i)) for i, f in enumerate(scan.fields))
        queries = []
        for part, low, high in self.ranges(self.reader, table):
            bounds = between(low, high)
            condition = bounds if where is None else sql.SQL("{} AND {}").format(where, bounds)
            query = reading_query(scan.fields, part, condition, weight)
            queries.append(query.as_string(self.reader))
        if not queries:  # a view or a foreign table has no pages: one slice
            query = reading_query(scan.fields, table, where, weight)
            queries.append(query.as_string(self.reader))
        return Large(tuple(queries), carriers)

    def ranges(
        self, connection: psycopg.Connection, table: sql.Composable
    ) -> list[tuple[sql.Composable, int, int]]:
        """The pages of the table, or of its partitions, cut into slices."""
        rows = connection.execute(
            "SELECT n.nspname, c.relname, (pg_relation_size(c.oid)"
            "   / current_setting('block_size')::bigint)::bigint"
            " FROM pg_partition_tree(%(t)s::regclass) p JOIN pg_class c ON c.oid = p.relid"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE p.isleaf"
            " UNION ALL SELECT n.nspname, c.relname, (pg_relation_size(c.oid)"
            "   / current_setting('block_size')::bigint)::bigint"
            " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE c.oid = %(t)s::regclass AND c.relkind IN ('r', 'm') AND NOT c.relispartition",
            {"t": table.as_string(connection)},
        ).fetchall()
        found: dict[tuple[str, str], int] = {(r[0], r[1]): r[2] for r in rows}
        cut: list[tuple[sql.Composable, int, int]] = []
        for (schema, name), pages in found.items():
            step = max(-(-(pages + 1) // self.slices), 1)
            starts = range(0, pages + 1, step)
            for low in starts:
                last = low + step > pages
                high = 2**32 - 1 if last else low + step
                cut.append((sql.Identifier(schema, name), low, high))
        return cut


def read_small(
    connection: psycopg.Connection, fields: Sequence[Field], query: sql.Composable
) -> Rows:
    """The rows of a reading query: the fields, then the weight."""
    types = [pa.string() if f.type.is_numeric else carrier_of(f.type).arrow for f in fields]
    rows = copy_out(connection, query, [*types, pa.int64()])
    try:
        return carried(rows, fields)
    except NumericRange:  # a value that came and went does no harm
        return carried(consolidated(rows), fields)


def net(rows: Rows) -> Rows:
    return Rows(consolidated(rows.table), rows.carriers)
