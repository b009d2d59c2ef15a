"""handover: PostgreSQL computes over rows that Spark hands to it.

Few rows go through a temporary table of the committing transaction and come back as Arrow.
Many are written by the executors to an unlogged table; PostgreSQL computes a second one from
it, which the executors read in slices.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from pgstream.algebra.operators.by_postgres import ROWS, ByPostgres
from pgstream.algebra.operators.node import Column
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.database.copying import copy_in
from pgstream.engine.carriers import Carrier, travels_as_text
from pgstream.engine.postgres.leaves import Leaves, read_small
from pgstream.engine.rows import Large, Rows

SCHEMA = "pgstream_state"
_numbers = itertools.count()
Stage = Callable[[str, str, Callable[[list[str]], None]], tuple[Carrier, ...]]


@dataclass
class Handover:
    """`scratch` is the committing transaction; `notes` commits at once."""

    scratch: psycopg.Connection
    notes: psycopg.Connection
    id: int
    _tables: list[sql.Identifier] = field(default_factory=list)

    def small(self, node: ByPostgres, rows: Rows) -> Rows:
        name = f"__pgs_rows_{next(_numbers)}"
        raw = sql.Identifier("pg_temp", name)
        names = rows.table.column_names[:-1]
        listed = [sql.SQL("{} text").format(sql.Identifier(column)) for column in names]
        self.scratch.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(
                sql.Identifier(name), sql.SQL(", ").join([*listed, sql.SQL("w bigint")])
            )
        )
        copy_in(self.scratch, raw, rows.table)
        fields = fields_of(node)
        items = [
            sql.SQL("{}::text" if travels_as_text(f.type) else "{}").format(sql.Identifier(f.name))
            for f in fields
        ]
        query = sql.SQL("{} SELECT {} FROM ({}) q").format(
            handed_rows(node, raw, rows.carriers),
            sql.SQL(", ").join([*items, sql.SQL("w::bigint")]),
            sql.SQL(node.query),
        )
        found = read_small(self.scratch, fields, query)
        self.scratch.execute(sql.SQL("DROP TABLE {}").format(raw))
        return found

    def large(self, node: ByPostgres, stage: Stage, leaves: Leaves) -> Large:
        number = next(_numbers)
        handed = self._table(f"handed_{self.id}_{number}")
        done = self._table(f"handed_{self.id}_{number}_done")

        def create(types: list[str]) -> None:
            columns = [f"c{i} {kind}" for i, kind in enumerate(types)]
            text = ", ".join([*columns, "w bigint", "__pgs_task bigint"])
            self.notes.execute(
                sql.SQL("CREATE UNLOGGED TABLE {} ({})").format(handed, sql.SQL(text))
            )

        carriers = stage(SCHEMA, handed._obj[-1], create)
        self.notes.execute(
            sql.SQL("CREATE UNLOGGED TABLE {} AS {} SELECT * FROM ({}) q").format(
                done, handed_rows(node, handed, carriers), sql.SQL(node.query)
            )
        )
        scan = Scan(Source(0, SCHEMA, done._obj[-1], False), tuple(fields_of(node)))
        return leaves.computed(self.notes, scan)

    def drop(self) -> None:
        """The tables that executors wrote and read."""
        while self._tables:
            self.notes.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(self._tables.pop()))

    def _table(self, name: str) -> sql.Identifier:
        table = sql.Identifier(SCHEMA, name)
        self._tables.append(table)
        return table


def fields_of(node: ByPostgres) -> list[Field]:
    return [Field(f"c{i}", column.type) for i, column in enumerate(node.columns)]


def handed_rows(node: ByPostgres, raw: sql.Composable, carriers: Sequence[Carrier]) -> sql.Composed:
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
