"""Applies a delta to a stream table, inside the committing transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import psycopg
from psycopg import sql

from pgstream.algebra.expressions import to_postgres
from pgstream.algebra.operators.accumulate import finish_sql
from pgstream.algebra.operators.node import Column
from pgstream.algebra.plan import Accumulated
from pgstream.capture.append import append
from pgstream.errors import IntegrityError
from pgstream.storage.names import (
    COMMA,
    identifiers,
    match,
    temporary,
    type_sql,
)
from pgstream.storage.staged import create_temporary


@dataclass(frozen=True, slots=True)
class Applied:
    rows_inserted: int
    rows_deleted: int


class Target:
    """A stream table in the committing transaction; `delta` holds its change."""

    def __init__(
        self,
        connection: psycopg.Connection,
        id_: int,
        schema: str,
        name: str,
        relid: int,
        columns: Sequence[Column],
    ) -> None:
        self.connection, self.id, self.relid = connection, id_, relid
        self.table = sql.Identifier(schema, name)
        self.full_name = f"{schema}.{name}"
        self.columns = tuple(columns)
        self.names = [column.name for column in columns]
        self.delta = temporary("delta", id_)

    def finish(self, plan: Accumulated, core: sql.Identifier, minus_stored: bool = False) -> None:
        """From accumulators to the rows that users see: HAVING and the SELECT list.

        Row-local, so it is linear: PostgreSQL computes it over old and new rows alike, and
        what comes out the same on both sides cancels. `minus_stored` takes the old side from
        the stream table itself, for a `core` that holds all groups.
        """
        rows = finished_rows(plan, core, self.columns)
        self.lay_down(rows, minus_stored)

    def replace_all(self, whole: sql.Identifier) -> None:
        """From what is stored to the rows of a temporary table."""
        rows = sql.SQL("SELECT {}, __pgs_row_id, __pgs_weight FROM {}")
        self.lay_down(rows.format(identifiers(self.names), whole), minus_stored=True)

    def lay_down(self, rows: sql.Composed, minus_stored: bool) -> None:
        """The delta from rows with weights: equal rows once, zeros dropped."""
        if minus_stored:
            rows = sql.SQL("{} UNION ALL SELECT {}, __pgs_row_id, -1 FROM {}").format(
                rows, identifiers(self.names), self.table
            )
        create_temporary(self.connection, self.delta, self.columns)
        self.connection.execute(
            sql.SQL("INSERT INTO {} {}").format(self.delta, consolidated(self.columns, rows))
        )
        self.connection.execute(sql.SQL("ANALYZE {}").format(self.delta))

    def apply(self) -> Applied:
        """Takes rows out and puts rows in; duplicates are counted, never merged."""
        self.connection.execute("SET LOCAL pg_stream.applying = 'on'")
        deleted = self._delete()
        inserted = self.connection.execute(
            sql.SQL(
                "INSERT INTO {} ({n}, __pgs_row_id) SELECT {n}, __pgs_row_id FROM {}"
                " CROSS JOIN LATERAL generate_series(1, __pgs_weight) AS copies(__pgs_copy)"
                " WHERE __pgs_weight > 0"
            ).format(self.table, self.delta, n=identifiers(self.names))
        ).rowcount
        self.connection.execute("SET LOCAL pg_stream.applying = 'off'")
        append(self.connection, self.relid, self.delta, self.names)
        return Applied(inserted, deleted)

    def _delete(self) -> int:
        row = self.connection.execute(
            sql.SQL(
                "SELECT coalesce(-sum(__pgs_weight), 0)::bigint FROM {} WHERE __pgs_weight < 0"
            ).format(self.delta)
        ).fetchone()
        wanted = row[0] if row else 0
        if not wanted:
            return 0
        loose = [c.name for c in self.columns if c.type.name == "numeric" and not c.type.digits]
        removal = self._removal_by_spelling(loose) if loose else self._removal()
        deleted = self.connection.execute(removal).rowcount
        if deleted != wanted:
            raise IntegrityError(
                f"{self.full_name} does not hold {wanted - deleted} of the {wanted} rows that "
                "its change removes.",
                hint="Refresh it in FULL mode; was the table changed by hand?",
            )
        return deleted

    def _removal(self) -> sql.Composed:
        return sql.SQL(
            "DELETE FROM {t} WHERE ctid = ANY(ARRAY("
            " SELECT place FROM ("
            "  SELECT s.ctid AS place, -d.__pgs_weight AS copies,"
            "   row_number() OVER (PARTITION BY d.__pgs_number) AS copy"
            "  FROM (SELECT *, row_number() OVER () AS __pgs_number"
            "        FROM {} WHERE __pgs_weight < 0) d"
            "  JOIN {t} s ON {}) found WHERE copy <= copies))"
        ).format(self.delta, match(self.columns, "s", "d"), t=self.table)

    def _removal_by_spelling(self, loose: Sequence[str]) -> sql.Composed:
        """Of rows that differ in trailing zeros only, those with the delta's own zeros first.
        What was removed then stands in the delta, as it was written: readers remove just that."""
        columns = by_value(self.columns)
        negative = sql.SQL(
            "SELECT {n}, __pgs_row_id, ROW({l})::text AS __pgs_spelling, -__pgs_weight"
            " AS __pgs_weight FROM {d} WHERE __pgs_weight < 0"
        ).format(n=identifiers(self.names), l=identifiers(loose), d=self.delta)
        groups = [_grouped(column) for column in columns]
        wanted = sql.SQL(
            "SELECT {back}, __pgs_row_id, row_number() OVER () AS __pgs_number,"
            " sum(__pgs_weight) AS __pgs_copies,"
            " jsonb_object_agg(__pgs_spelling, __pgs_weight) AS __pgs_spellings"
            " FROM ({negative}) negative GROUP BY {groups}, __pgs_row_id"
        ).format(back=_ungrouped(columns, groups), negative=negative, groups=COMMA.join(groups))
        found = sql.SQL(
            "SELECT s.ctid AS place, d.__pgs_number, d.__pgs_copies, row_number() OVER"
            " (PARTITION BY d.__pgs_number, ROW({l})::text)"
            "  <= coalesce((d.__pgs_spellings ->> ROW({l})::text)::bigint, 0) AS is_spelled"
            " FROM ({wanted}) d JOIN {t} s ON {match}"
        ).format(
            l=identifiers(loose, "s"), wanted=wanted, t=self.table, match=match(columns, "s", "d")
        )
        return sql.SQL(
            "WITH gone AS (DELETE FROM {t} WHERE ctid = ANY(ARRAY(SELECT place FROM ("
            " SELECT *, row_number() OVER (PARTITION BY __pgs_number ORDER BY is_spelled DESC)"
            "  AS copy FROM ({found}) found) ranked WHERE copy <= __pgs_copies))"
            " RETURNING {n}, __pgs_row_id),"
            " replaced AS (DELETE FROM {d} WHERE __pgs_weight < 0)"
            " INSERT INTO {d} ({n}, __pgs_row_id, __pgs_weight)"
            " SELECT {n}, __pgs_row_id, -1 FROM gone"
        ).format(t=self.table, found=found, d=self.delta, n=identifiers(self.names))


def finished_rows(
    plan: Accumulated, core: sql.Composable, columns: Sequence[Column]
) -> sql.Composed:
    """The rows of the groups in `core`, each as often as the query has it."""
    aggregate = plan.aggregate
    keys = [f'"k{i}"' for i in range(len(aggregate.keys))]
    values = keys + [f"({finish_sql(call, aggregate)})" for call in aggregate.calls]
    shown = [to_postgres(e, lambda i: values[i]) for e in plan.output]
    items = [
        sql.SQL("({})::{} AS {}").format(
            sql.SQL(text),
            type_sql(column.type), sql.Identifier(column.name),
        )
        for text, column in zip(shown, columns, strict=True)
    ]  # fmt: skip
    having = "true" if plan.having is None else to_postgres(plan.having, lambda i: values[i])
    count = "1" if plan.count is None else to_postgres(plan.count, lambda i: values[i])
    return sql.SQL(
        "SELECT {}, __pgs_row_id, __pgs_weight * ({}) AS __pgs_weight FROM {} WHERE {}"
    ).format(COMMA.join(items), sql.SQL(count), core, sql.SQL(having))


def consolidated(columns: Sequence[Column], rows: sql.Composable) -> sql.Composed:
    """Equal rows once, with the sum of their weights; zeros dropped."""
    groups = [_grouped(column) for column in columns]
    return sql.SQL(
        "SELECT {}, __pgs_row_id, sum(__pgs_weight)::bigint AS __pgs_weight FROM ({}) rows"
        " GROUP BY {}, __pgs_row_id HAVING sum(__pgs_weight) <> 0"
    ).format(_ungrouped(columns, groups), rows, COMMA.join(groups))


def by_value(columns: Sequence[Column]) -> list[Column]:
    """The columns, compared as their types compare even where they travel as text."""
    return [replace(c, type=replace(c.type, as_text=False)) for c in columns]


def _grouped(column: Column) -> sql.Composable:
    name = sql.Identifier(column.name)
    by_text = column.type.as_text or not column.type.has_equality
    return sql.SQL("{}::text").format(name) if by_text else name


def _ungrouped(columns: Sequence[Column], groups: Sequence[sql.Composable]) -> sql.Composed:
    return COMMA.join(
        sql.SQL("{}::{} AS {}").format(group, type_sql(column.type), sql.Identifier(column.name))
        for group, column in zip(groups, columns, strict=True)
    )
