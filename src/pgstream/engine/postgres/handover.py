"""handover: PostgreSQL computes over rows that Spark hands to it.

Few rows go through a temporary table of the committing transaction and come back as Arrow.
Many are written by the executors to an unlogged table; PostgreSQL computes a second one from
it, which the executors read in slices.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import psycopg
from psycopg import sql

from pgstream.algebra.operators.by_postgres import ROWS, ByPostgres
from pgstream.algebra.operators.node import Column
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.database.copying import copy_across, copy_in
from pgstream.engine.carriers import Carrier, travels_as_text
from pgstream.engine.postgres.queries import WEIGHT, item, passing
from pgstream.engine.postgres.reading import in_slices, net_rows, read_rows
from pgstream.engine.postgres.staging import STATE_SCHEMA, Staging
from pgstream.engine.rows import Bound, Large, Rows
from pgstream.engine.ways import Ways, width_of

_numbers = itertools.count()


@dataclass
class Handover:
    """`apply` is the committing transaction; `notes` commits at once."""

    apply: psycopg.Connection
    notes: psycopg.Connection
    id: int
    slices: int
    ways: Ways
    _tables: list[Staging] = field(default_factory=list)

    def small(self, node: ByPostgres, rows: Rows) -> Rows:
        """What PostgreSQL computes from rows in the driver."""
        name = f"__pgs_rows_{next(_numbers)}"
        raw = sql.Identifier("pg_temp", name)
        names = rows.table.column_names[:-1]
        listed = [sql.SQL("{} text").format(sql.Identifier(column)) for column in names]
        self.apply.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(
                sql.Identifier(name), sql.SQL(", ").join([*listed, sql.SQL("w bigint")])
            )
        )
        copy_in(self.apply, raw, rows.table)
        fields = fields_of(node)
        items = [
            sql.SQL("{}::text" if travels_as_text(f.type) else "{}").format(sql.Identifier(f.name))
            for f in fields
        ]
        query = sql.SQL("{} SELECT {} FROM ({}) q").format(
            typed_rows(node, raw, rows.carriers),
            sql.SQL(", ").join([*items, sql.SQL("w::bigint")]),
            sql.SQL(node.query),
        )
        found = read_rows(self.apply, fields, query)
        self.apply.execute(sql.SQL("DROP TABLE {}").format(raw))
        return found

    def staging(self) -> Staging:
        """A table for executors to write the rows into."""
        return self._staging(f"handover_{self.id}_{next(_numbers)}")

    def large(self, node: ByPostgres, staging: Staging, carriers: Sequence[Carrier]) -> Large:
        """What PostgreSQL computes from rows that executors have written."""
        done = self._staging(f"{staging.name}_done")
        self.notes.execute(
            sql.SQL("CREATE UNLOGGED TABLE {} AS {} SELECT * FROM ({}) q").format(
                done.table, typed_rows(node, staging.table, carriers), sql.SQL(node.query)
            )
        )
        scan = Scan(Source(0, STATE_SCHEMA, done.name, False), tuple(fields_of(node)))
        found = in_slices(self.notes, scan, done.table, None, "w", self.slices)
        return replace(found, computed=True)

    def passed_on(self, scan: Scan, table: sql.Identifier) -> Bound:
        """The rows of a temporary table of the committing transaction, with their weights. Many are
        copied to a table that executors see."""
        row = self.apply.execute(sql.SQL("SELECT count(*) FROM {}").format(table)).fetchone()
        assert row is not None
        if not self.ways.through_driver(row[0], width_of(f.type for f in scan.fields)):
            return self._shown(scan, table)
        rows = net_rows(self.apply, scan, table, passing(scan, None))
        self.ways.hold(rows.table)
        return rows

    def _shown(self, scan: Scan, table: sql.Identifier) -> Large:
        shown = self._staging(f"{self.staging().name}_done")
        fields = [Field(f"c{i}", f.type) for i, f in enumerate(scan.fields)]
        defined = [
            sql.SQL("{} {}").format(sql.Identifier(f.name), sql.SQL(f.type.declared))
            for f in fields
        ]
        self.notes.execute(
            sql.SQL("CREATE UNLOGGED TABLE {} ({}, w bigint)").format(
                shown.table, sql.SQL(", ").join(defined)
            )
        )
        listed = sql.SQL(", ").join([*map(item, scan.fields), sql.SQL(WEIGHT)])
        where = passing(scan, None) or sql.SQL("true")
        query = sql.SQL("SELECT {} FROM {} WHERE {}").format(listed, table, where)
        copy_across(self.apply, query, self.notes, shown.table)
        of = Scan(Source(0, STATE_SCHEMA, shown.name, False), tuple(fields))
        found = in_slices(self.notes, of, shown.table, None, "w", self.slices)
        return replace(found, computed=True)

    def close(self) -> None:
        """Drops the tables that executors wrote and read."""
        while self._tables:
            table = self._tables.pop().table
            self.notes.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))

    def _staging(self, name: str) -> Staging:
        self._tables.append(Staging.new(self.notes, name))
        return self._tables[-1]


def fields_of(node: ByPostgres) -> list[Field]:
    return [Field(f"c{i}", column.type) for i, column in enumerate(node.columns)]


def typed_rows(node: ByPostgres, raw: sql.Composable, carriers: Sequence[Carrier]) -> sql.Composed:
    """The rows in their types; for a key-local query each as often as it occurs."""
    items = [
        typed(i, column, carrier)
        for i, (column, carrier) in enumerate(zip(node.input.columns, carriers, strict=True))
    ]
    copies = sql.SQL("")
    weight = sql.SQL("w")
    if node.keys is not None:
        copies = sql.SQL(" CROSS JOIN LATERAL generate_series(1, w)")
        weight = sql.SQL("1::bigint AS w")
    return sql.SQL("WITH {} AS (SELECT {} FROM {}{})").format(
        sql.SQL(ROWS), sql.SQL(", ").join([*items, weight]), raw, copies
    )


def typed(index: int, column: Column, carrier: Carrier) -> sql.Composed:
    form = "{c}::text::{} AS {c}"
    if column.type.collate:
        form = f"{{c}}::text::{{}} COLLATE {column.type.collate} AS {{c}}"
    if column.type.is_numeric and (carrier.trimmed or carrier.loose):
        form = "trim_scale({c}::text::numeric)::{} AS {c}"
    return sql.SQL(form).format(sql.SQL(column.type.declared), c=sql.Identifier(f"c{index}"))
