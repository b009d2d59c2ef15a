"""Reading a relation: few rows through the driver as Arrow, many in slices by the executors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import psycopg
import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.scan import Field, Scan
from pgstream.database.copying import copy_out
from pgstream.engine.carriers import carrier_of
from pgstream.engine.postgres.queries import WEIGHT, between, measured, reading_query
from pgstream.engine.rows import Large, Rows, carried, consolidated
from pgstream.errors import NumericRange

# By name or oid of a table, partitioned or not.
_PAGES = """
SELECT n.nspname, c.relname, (pg_relation_size(c.oid)
  / current_setting('block_size')::bigint)::bigint
FROM pg_partition_tree(%(t)s::regclass) p JOIN pg_class c ON c.oid = p.relid
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE p.isleaf
UNION ALL SELECT n.nspname, c.relname, (pg_relation_size(c.oid)
  / current_setting('block_size')::bigint)::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = %(t)s::regclass AND c.relkind IN ('r', 'm') AND NOT c.relispartition
"""
LAST_PAGE = 2**32 - 1


def read_rows(
    connection: psycopg.Connection, fields: Sequence[Field], query: sql.Composable
) -> Rows:
    """The rows of a reading query: the fields, then the weight."""
    types = [pa.string() if f.type.is_numeric else carrier_of(f.type).arrow for f in fields]
    rows = copy_out(connection, query, [*types, pa.int64()])
    try:
        return carried(rows, fields)
    except NumericRange:  # a value that came and went does no harm
        return carried(consolidated(rows), fields)


def net_rows(
    connection: psycopg.Connection,
    scan: Scan,
    table: sql.Composable,
    where: sql.Composable | None,
) -> Rows:
    """Rows with weights; what cancels out is gone."""
    rows = read_rows(connection, scan.fields, reading_query(scan.fields, table, where, WEIGHT))
    return Rows(consolidated(rows.table), rows.carriers)


def in_slices(
    connection: psycopg.Connection,
    scan: Scan,
    table: sql.Composable,
    where: sql.Composable | None,
    weight: str,
    count: int,
) -> Large:
    """What executors read: one query per slice of the table's pages, `count` for each part."""
    if any(f.sql for f in scan.fields):
        # Here, where PostgreSQL's error about a user's function can be told as it is.
        first = reading_query(scan.fields, table, where, weight)
        connection.execute(sql.SQL("{} LIMIT 1").format(first))
    rows, scales = measured(connection, scan, table, where)
    carriers = tuple(carrier_of(f.type, scales.get(i)) for i, f in enumerate(scan.fields))
    queries = []
    for part, pages in _slices(connection, table, count):
        wanted = pages if where is None else sql.SQL("{} AND {}").format(where, pages)
        queries.append(reading_query(scan.fields, part, wanted, weight))
    if not queries:  # a view or a foreign table has no pages: one slice
        queries.append(reading_query(scan.fields, table, where, weight))
    return Large(tuple(query.as_string(connection) for query in queries), carriers, rows)


def _slices(
    connection: psycopg.Connection, table: sql.Composable, count: int
) -> Iterator[tuple[sql.Composable, sql.Composable]]:
    """The table, or each of its partitions, and the condition for some of its pages."""
    found = connection.execute(_PAGES, {"t": table.as_string(connection)}).fetchall()
    for (schema, name), pages in {(r[0], r[1]): r[2] for r in found}.items():
        step = max(-(-(pages + 1) // count), 1)
        for low in range(0, pages + 1, step):
            high = LAST_PAGE if low + step > pages else low + step
            yield sql.Identifier(schema, name), between(low, high)
