"""Leaves: reads tables as the snapshot shows them, by key where there are keys.

Small relations come to the driver as Arrow tables. Large ones stay in PostgreSQL and are
read by Spark's executors in slices, under the same snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import psycopg
import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.first_rows import FirstKeys
from pgstream.algebra.operators.ranges import Ranges
from pgstream.algebra.operators.scan import Field, Lookup, Scan, Stored
from pgstream.algebra.types import TEXT
from pgstream.database.quoting import raw
from pgstream.engine.postgres.first_query import first_query
from pgstream.engine.postgres.queries import (
    ONE,
    Size,
    expected_size,
    key_condition,
    passing,
    reading_query,
)
from pgstream.engine.postgres.range_query import range_query
from pgstream.engine.postgres.reading import in_slices, read_rows
from pgstream.engine.rows import Bound, Large, Rows, no_rows
from pgstream.engine.ways import Ways
from pgstream.engine.zsets import as_tuples, by_keys, can_pick

PLACE = Field("__pgs_place", TEXT, "tableoid::text || ctid::text")
"""Under one snapshot, no two rows of a table or of its partitions stand at the same place."""


@dataclass
class Leaves:
    """The stored leaves of one refresh, each read at most once. It only reads: whoever asks for
    rows by key brings the keys."""

    reader: psycopg.Connection
    ways: Ways
    slices: int
    rows_read: int = 0
    _stored: dict[Stored, Bound] = field(default_factory=dict)
    _read: dict[str, Bound | None] = field(default_factory=dict)
    _sizes: dict[Scan, Size] = field(default_factory=dict)
    _known: dict[tuple[Stored, tuple[int, ...]], list[tuple[set[object], Rows]]] = field(
        default_factory=dict
    )

    def stored(self, node: Stored) -> Bound:
        """The whole table."""
        if node not in self._stored:
            self._stored[node] = self._whole(node.scan)
        return self._stored[node]

    def lookup(self, node: Lookup, keys: pa.Table) -> Bound | None:
        """The rows by these keys; None if reading the table once is cheaper."""
        scan = node.stored.scan
        if self._reads_all(scan, keys.num_rows):
            return None
        if keys.num_rows == 0:
            return no_rows(f.type for f in scan.fields)
        fields = [scan.fields[i] for i in node.indexes]
        if isinstance(node.keys, Ranges):
            return self._in_ranges(
                scan, node.keys, keys, range_query(scan, fields, node.keys, keys)
            )
        if isinstance(node.keys, FirstKeys):
            return self._few(scan, first_query(scan, fields, node.keys, keys))
        return self._among_known(node, keys) or self._by_keys(node, keys)

    def _among_known(self, node: Lookup, keys: pa.Table) -> Rows | None:
        """The rows, if they are among those that were read by more keys."""
        asked = set(as_tuples(keys))
        for known, rows in self._known.get((node.stored, node.indexes), ()):
            if asked <= known and not node.placed and can_pick(rows, node.indexes, keys):
                return rows if asked == known else by_keys(rows, node.indexes, keys)
        return None

    def _by_keys(self, node: Lookup, keys: pa.Table) -> Bound | None:
        scan = node.stored.scan
        fields = [scan.fields[i] for i in node.indexes]
        where = passing(scan, key_condition(fields, node.keys, keys))
        found = self._where(scan, where, node.placed)
        if isinstance(found, Rows):
            known = self._known.setdefault((node.stored, node.indexes), [])
            known.append((set(as_tuples(keys)), found))
        return found

    def _where(self, scan: Scan, where: sql.Composable | None, placed: bool) -> Bound | None:
        fields = (*scan.fields, PLACE) if placed else scan.fields
        text = reading_query(fields, _table(scan), where, ONE).as_string(self.reader)
        query = raw(text)  # keys are written once
        if text not in self._read:  # other keys of the tree may have the same values
            fits = self._fits(scan, query)
            read = self._placed if placed else self._counted
            self._read[text] = read(scan, query) if fits else self._sliced(scan, where)
        return self._read[text]

    def _placed(self, scan: Scan, query: sql.Composable) -> Rows:
        """The rows, and where in the table they stand."""
        found = self._counted(replace(scan, fields=(*scan.fields, PLACE)), query)
        place = f"c{len(scan.fields)}"
        table = found.table.drop_columns([place])
        return Rows(table, found.carriers[:-1], found.table.column(place))

    def _in_ranges(
        self, scan: Scan, by: Ranges, keys: pa.Table, query: sql.Composable
    ) -> Bound | None:
        """None if it would read all, for a range without an end and no key beside it, or more than
        the driver has room for."""
        if keys.columns[-1].null_count and not by.indexes:
            return None
        return self._few(scan, query)

    def _few(self, scan: Scan, query: sql.Composable) -> Bound | None:
        """What is read once; None if the driver has no room for it."""
        text = query.as_string(self.reader)
        if text not in self._read:
            written = raw(text)
            fits = self._fits(scan, written)
            self._read[text] = self._counted(scan, written) if fits else None
        return self._read[text]

    def _whole(self, scan: Scan) -> Bound:
        size = self._size(scan)
        if self.ways.through_driver(size.rows, size.width):
            asked = passing(scan, None)
            return self._counted(scan, reading_query(scan.fields, _table(scan), asked, ONE))
        return self._sliced(scan, passing(scan, None))

    def _counted(self, scan: Scan, query: sql.Composable) -> Rows:
        found = read_rows(self.reader, scan.fields, query)
        self.ways.hold(found.table)
        self.rows_read += found.table.num_rows
        return found

    def _sliced(self, scan: Scan, where: sql.Composable | None) -> Large:
        found = in_slices(self.reader, scan, _table(scan), where, ONE, self.slices)
        self.rows_read += found.rows
        return found

    def _fits(self, scan: Scan, query: sql.Composable) -> bool:
        """Whether the driver has room for what PostgreSQL expects the query to give."""
        if self.ways.has_room(self._size(scan).bytes):
            return True
        return self.ways.has_room(expected_size(self.reader, query).bytes)

    def _reads_all(self, scan: Scan, keys: int) -> bool:
        return keys > self.ways.most_rows or (keys > 1000 and keys * 2 > self._size(scan).rows)

    def _size(self, scan: Scan) -> Size:
        """What PostgreSQL expects of the table, whatever the scan asks of its rows: a guess of that
        may be far too low for the driver."""
        if scan not in self._sizes:
            query = reading_query(scan.fields, _table(scan), None, ONE)
            self._sizes[scan] = expected_size(self.reader, query)
        return self._sizes[scan]


def _table(scan: Scan) -> sql.Identifier:
    return sql.Identifier(scan.source.schema, scan.source.name)
