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
import pyarrow.compute as pc
from psycopg import sql

from pgstream.algebra.operators.keys import Keys, Lookup
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.scan import Change, Field, Part, Scan, Source, Stored
from pgstream.algebra.types import Type
from pgstream.database.copying import copy_out
from pgstream.engine.carriers import Carrier, carrier_of, travels_as_text
from pgstream.errors import NumericRange

CHANGES_SCHEMA = "pgstream_changes"
WEIGHT, ONE = "__pgs_weight", "1"


@dataclass(frozen=True)
class Small:
    """Rows in the driver: c0, c1, … and w."""

    table: pa.Table
    carriers: tuple[Carrier, ...]


@dataclass(frozen=True)
class Large:
    """Rows that executors read: one query per slice; numerics come as text.

    `computed` rows were written during the refresh, so its snapshot does not show them.
    """

    queries: tuple[str, ...]
    carriers: tuple[Carrier, ...]
    computed: bool = False


Bound = Small | Large


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
    small_rows: int
    slices: int
    counts: Counts = field(default_factory=Counts)
    _bound: dict[Node, Bound] = field(default_factory=dict)
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
        where: sql.Composable = sql.SQL(
            "__pgs_weight <> 0 AND __pgs_xid >= pg_snapshot_xmin({f}::pg_snapshot)"
            " AND NOT pg_visible_in_snapshot(__pgs_xid, {f}::pg_snapshot)"
        ).format(f=sql.Literal(self.frontiers[relid]))
        table: sql.Composable = sql.Identifier(CHANGES_SCHEMA, f"changes_{relid}")
        if self.change_counts[relid] > self.small_rows:
            return self.large(scan, table, where, weighted=True)
        if any(f.sql for f in scan.fields):
            table, where = uncancelled(scan, table, where)
        return consolidated(self.small(self.reader, scan, table, where, weighted=True))

    def pending_change(self, scan: Scan) -> Bound:
        assert self.pending is not None
        table = self.pending.pending_relation(scan.source.relid)
        connection = self.pending.connection
        return consolidated(self.small(connection, scan, table, None, weighted=True))

    # --- states -----------------------------------------------------------------------------

    def stored(self, scan: Scan) -> Bound:
        table = sql.Identifier(scan.source.schema, scan.source.name)
        if self.size(scan) > self.small_rows:
            return self.large(scan, table, None, weighted=False)
        bound = self.small(self.reader, scan, table, None, weighted=False)
        self.counts.rows_read += bound.table.num_rows
        return bound

    def lookup(self, scan: Scan, indexes: Sequence[int], by: Keys, values: pa.Table) -> Small:
        fields = [scan.fields[i] for i in indexes]
        if values.num_rows == 0:
            return empty(scan)
        where = key_condition(fields, by, values)
        table = sql.Identifier(scan.source.schema, scan.source.name)
        bound = self.small(self.reader, scan, table, where, weighted=False)
        self.counts.rows_read += bound.table.num_rows
        return bound

    def reads_all(self, scan: Scan, keys: int) -> bool:
        """Whether reading the table once is cheaper than looking the keys up."""
        return keys > self.small_rows or (keys > 1000 and keys * 2 > self.size(scan))

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
    ) -> Small:
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


# --- queries --------------------------------------------------------------------------------


def measured(
    connection: psycopg.Connection,
    scan: Scan,
    table: sql.Composable,
    where: sql.Composable | None,
) -> tuple[int, dict[int, int]]:
    """How many rows there are, and the largest scale of every unconstrained numeric."""
    loose = [i for i, f in enumerate(scan.fields) if f.type.is_numeric and not f.type.digits]
    largest = sql.SQL("coalesce(max(scale({})), 0)")
    items: list[sql.Composable] = [sql.SQL("count(*)")]
    items += [largest.format(item(scan.fields[i])) for i in loose]
    query = sql.SQL("SELECT {} FROM {} WHERE {}").format(
        sql.SQL(", ").join(items), table, where or sql.SQL("true")
    )
    row = connection.execute(query).fetchone()
    assert row is not None
    return row[0], dict(zip(loose, row[1:], strict=True))


def uncancelled(
    scan: Scan, changes: sql.Composable, where: sql.Composable
) -> tuple[sql.Composable, sql.Composable]:
    """The changes that do not cancel out: a row that came and went may be one for which a computed
    field fails."""
    plain = sql.SQL(", ").join(sql.Identifier(f.name) for f in scan.fields if f.sql is None)
    net = sql.SQL(
        "(SELECT *, sum(__pgs_weight) OVER (PARTITION BY ROW({})::text) AS __pgs_net"
        " FROM {} WHERE {} OFFSET 0) changes"
    ).format(plain, changes, where)
    return net, sql.SQL("__pgs_net <> 0")


def between(low: int, high: int) -> sql.Composed:
    """The rows on these pages."""
    return sql.SQL("ctid >= {}::tid AND ctid < {}::tid").format(
        sql.Literal(f"({low},0)"), sql.Literal(f"({high},0)")
    )


def item(field_: Field) -> sql.Composable:
    if field_.sql is not None:
        return sql.SQL("({})").format(sql.SQL(field_.sql))
    return sql.Identifier(field_.name)


def reading_query(
    fields: Sequence[Field], table: sql.Composable, where: sql.Composable | None, weight: str
) -> sql.Composed:
    items = [
        sql.SQL("{}::text").format(item(f)) if travels_as_text(f.type) else item(f) for f in fields
    ]
    items.append(sql.SQL("{}::bigint").format(sql.SQL(weight)))
    named = [sql.SQL("{} AS {}").format(x, sql.Identifier(f"c{i}")) for i, x in enumerate(items)]
    return sql.SQL("SELECT {} FROM {} WHERE {}").format(
        sql.SQL(", ").join(named), table, where or sql.SQL("true")
    )


def key_condition(fields: Sequence[Field], by: Keys, values: pa.Table) -> sql.Composable:
    """The rows whose fields are among the keys; keys with a NULL are asked for apart."""
    columns = [as_texts(values.column(i)) for i in range(values.num_columns)]
    types = [column.type for column in by.columns]
    patterns: dict[tuple[bool, ...], list[tuple[str | None, ...]]] = {}
    for row in zip(*columns, strict=True):
        patterns.setdefault(tuple(v is None for v in row), []).append(row)
    parts = [key_pattern(fields, types, nulls, rows) for nulls, rows in patterns.items()]
    return sql.SQL("({})").format(sql.SQL(" OR ").join(parts))


def key_pattern(
    fields: Sequence[Field],
    types: Sequence[Type],
    nulls: tuple[bool, ...],
    rows: list[tuple[str | None, ...]],
) -> sql.Composable:
    asked = [looked_up(f, t) for f, t in zip(fields, types, strict=True)]
    parts: list[sql.Composable] = [
        # A row of NULLs IS NULL, too, and yet another key.
        sql.SQL("{} IS NOT DISTINCT FROM NULL" if t.category == "C" else "{} IS NULL").format(a)
        for a, t, null in zip(asked, types, nulls, strict=True)
        if null
    ]
    present = [i for i, null in enumerate(nulls) if not null]
    texts = [sql.SQL("{}::text[]").format(sql.Literal([row[i] for row in rows])) for i in present]
    wanted = [key_type(types[i]) for i in present]
    if len(present) == 1 and types[present[0]].category != "A":
        array = sql.SQL("{}::{}[]").format(texts[0], wanted[0])
        parts.append(sql.SQL("{} = ANY({})").format(asked[present[0]], array))
    elif present:
        names = sql.SQL(", ").join(asked[i] for i in present)
        keys = [sql.SQL("k{}").format(sql.SQL(str(i))) for i in present]
        typed = [sql.SQL("{}::{}").format(k, t) for k, t in zip(keys, wanted, strict=True)]
        listed, columns, values = (sql.SQL(", ").join(x) for x in (texts, keys, typed))
        parts.append(
            sql.SQL("({}) IN (SELECT {} FROM unnest({}) AS keys({}))").format(
                names, values, listed, columns
            )
        )
    return sql.SQL("({})").format(sql.SQL(" AND ").join(parts))


def looked_up(field_: Field, type_: Type) -> sql.Composable:
    """What PostgreSQL compares with keys: of a canonical value the column itself, which equals it
    and may have an index."""
    if not type_.has_equality:
        return sql.SQL("{}::text").format(item(field_))
    return sql.Identifier(field_.equal_to) if field_.equal_to else item(field_)


def key_type(type_: Type) -> sql.SQL:
    return sql.SQL(type_.without_modifier if type_.has_equality else "text")


def estimated_rows(connection: psycopg.Connection, schema: str, name: str) -> int:
    query = sql.SQL("EXPLAIN (FORMAT JSON) SELECT 1 FROM {}").format(sql.Identifier(schema, name))
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0][0]["Plan"]["Plan Rows"])


# --- Arrow ----------------------------------------------------------------------------------


def read_small(
    connection: psycopg.Connection, fields: Sequence[Field], query: sql.Composable
) -> Small:
    """The rows of a reading query: the fields, then the weight."""
    types = [pa.string() if f.type.is_numeric else carrier_of(f.type).arrow for f in fields]
    rows = copy_out(connection, query, [*types, pa.int64()])
    try:
        return carried(rows, fields)
    except NumericRange:  # a value that came and went does no harm
        return carried(without_cancelled(rows), fields)


def carried(rows: pa.Table, fields: Sequence[Field]) -> Small:
    """The rows, with numerics as decimals instead of texts."""
    columns, carriers = [], []
    for column, field_ in zip(rows.columns, fields, strict=False):
        carrier = carrier_of(field_.type)
        if field_.type.is_numeric:
            carrier = carrier_of(field_.type, largest_scale(column))
            column = to_decimal(column, carrier, field_)
        columns.append(column)
        carriers.append(carrier)
    names = [f"c{i}" for i in range(len(columns))]
    data = pa.table([*columns, rows.columns[-1]], names=[*names, "w"])
    return Small(data, tuple(carriers))


def largest_scale(column: pa.ChunkedArray) -> int:
    point = pc.find_substring(column, ".")
    scales = pc.if_else(
        pc.less(point, 0), 0, pc.subtract(pc.subtract(pc.utf8_length(column), point), 1)
    )
    return int(pc.max(scales).as_py() or 0)


def to_decimal(column: pa.ChunkedArray, carrier: Carrier, field_: Field) -> pa.ChunkedArray:
    try:
        return pc.cast(column, carrier.arrow)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise NumericRange(
            f"Column {field_.name} holds a numeric that Spark cannot hold: NaN, infinity, "
            "or more than 38 digits.",
            hint="Declare the column as numeric(p, s) with p up to 38, or cast it.",
        ) from None


def as_texts(column: pa.ChunkedArray) -> list[str | None]:
    if pa.types.is_boolean(column.type):
        return [None if v is None else str(v).lower() for v in column.to_pylist()]
    return [None if v is None else str(v) for v in column.to_pylist()]


def consolidated(bound: Small) -> Small:
    """Equal rows once, with the sum of their weights; cancelled rows dropped."""
    return Small(without_cancelled(bound.table), bound.carriers)


def without_cancelled(rows: pa.Table) -> pa.Table:
    if rows.num_rows < 2:
        return rows
    *names, weight = rows.column_names
    grouped = rows.group_by(names, use_threads=False).aggregate([(weight, "sum")])
    grouped = grouped.rename_columns({f"{weight}_sum": weight}).select([*names, weight])
    return grouped.filter(pc.not_equal(grouped.column(weight), 0))


def one_spelling(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Floats as PostgreSQL compares them: negative zero is zero, and there is one NaN."""
    if not pa.types.is_floating(column.type):
        return column
    zero = pa.scalar(0.0, column.type)
    return pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), column.type), pc.add(column, zero))


def empty(scan: Scan) -> Small:
    carriers = tuple(carrier_of(f.type) for f in scan.fields)
    columns = [pa.array([], c.arrow) for c in carriers] + [pa.array([], pa.int64())]
    names = [f"c{i}" for i in range(len(carriers))] + ["w"]
    return Small(pa.table(columns, names=names), carriers)
