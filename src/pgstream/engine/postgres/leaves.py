"""Leaves: reads tables as the snapshot shows them, by key where there are keys.

Small relations come to the driver as Arrow tables. Large ones stay in PostgreSQL and are
read by Spark's executors in slices, under the same snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import psycopg
import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.ranges import Ranges
from pgstream.algebra.operators.scan import Lookup, Scan, Source, Stored
from pgstream.engine.postgres.queries import ONE, estimated_rows, key_condition, reading_query
from pgstream.engine.postgres.range_query import range_query
from pgstream.engine.postgres.reading import in_slices, read_rows
from pgstream.engine.rows import Bound, Rows, no_rows
from pgstream.engine.ways import Ways


@dataclass
class Leaves:
    """The stored leaves of one refresh, each read at most once. It only reads: whoever asks for
    rows by key brings the keys."""

    reader: psycopg.Connection
    ways: Ways
    slices: int
    rows_read: int = 0
    _stored: dict[Stored, Bound] = field(default_factory=dict)
    _read: dict[str, Rows] = field(default_factory=dict)
    _sizes: dict[Source, int] = field(default_factory=dict)

    def stored(self, node: Stored) -> Bound:
        """The whole table."""
        if node not in self._stored:
            self._stored[node] = self._whole(node.scan)
        return self._stored[node]

    def lookup(self, node: Lookup, keys: pa.Table) -> Rows | None:
        """The rows by these keys; None if reading the table once is cheaper."""
        scan = node.stored.scan
        if self._reads_all(scan, keys.num_rows):
            return None
        if keys.num_rows == 0:
            return no_rows(f.type for f in scan.fields)
        query = self._looking_up(node, keys)
        if query is None:
            return None
        text = query.as_string(self.reader)
        if text not in self._read:  # other keys of the tree may have the same values
            self._read[text] = self._counted(scan, query)
        return self._read[text]

    def _looking_up(self, node: Lookup, keys: pa.Table) -> sql.Composed | None:
        """None if it would read all: a range without an end, and no key beside it."""
        scan, by = node.stored.scan, node.keys
        fields = [scan.fields[i] for i in node.indexes]
        if isinstance(by, Ranges):
            is_open = keys.columns[-1].null_count > 0
            return None if is_open and not by.indexes else range_query(scan, fields, by, keys)
        where = key_condition(fields, by, keys)
        return reading_query(scan.fields, _table(scan), where, ONE)

    def _whole(self, scan: Scan) -> Bound:
        if self.ways.through_driver(self._size(scan)):
            return self._counted(scan, reading_query(scan.fields, _table(scan), None, ONE))
        found = in_slices(self.reader, scan, _table(scan), None, ONE, self.slices)
        self.rows_read += found.rows
        return found

    def _counted(self, scan: Scan, query: sql.Composable) -> Rows:
        found = read_rows(self.reader, scan.fields, query)
        self.rows_read += found.table.num_rows
        return found

    def _reads_all(self, scan: Scan, keys: int) -> bool:
        return keys > self.ways.most_rows or (keys > 1000 and keys * 2 > self._size(scan))

    def _size(self, scan: Scan) -> int:
        """How many rows PostgreSQL expects in the table."""
        source = scan.source
        if source not in self._sizes:
            self._sizes[source] = estimated_rows(self.reader, source.schema, source.name)
        return self._sizes[source]


def _table(scan: Scan) -> sql.Identifier:
    return sql.Identifier(scan.source.schema, scan.source.name)
