"""The change of a stream table, computed by PostgreSQL from rows with weights.

Nothing here writes what is stored: a delta is a temporary table, which `apply` applies.
"""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from psycopg import sql

from pgstream.algebra.expressions import to_postgres
from pgstream.algebra.operators.accumulate import finish_sql
from pgstream.algebra.operators.node import Column
from pgstream.algebra.plan import Accumulated
from pgstream.storage.names import COMMA, grouped, identifiers, type_sql, ungrouped
from pgstream.storage.target import Target
from pgstream.storage.temporary import Temporary, analyze, create_temporary


def delta_from(
    connection: psycopg.Connection, target: Target, rows: sql.Composed, minus_stored: bool
) -> Temporary:
    """The delta from rows with weights: equal rows once, zeros dropped. `minus_stored`: the rows
    are all that the table shall hold."""
    if minus_stored:
        rows = sql.SQL("{} UNION ALL SELECT {}, __pgs_row_id, -1 FROM {}").format(
            rows, identifiers(target.names), target.table
        )
    with connection.pipeline():
        delta = create_temporary(connection, "delta", target.id, target.columns)
        connection.execute(
            sql.SQL("INSERT INTO {} {}").format(delta.name, consolidated(target.columns, rows))
        )
        analyze(connection, delta)
    return delta


def delta_to(connection: psycopg.Connection, target: Target, whole: Temporary) -> Temporary:
    """From what is stored to these rows."""
    rows = sql.SQL("SELECT {}, __pgs_row_id, __pgs_weight FROM {}").format(
        identifiers(target.names), whole.name
    )
    return delta_from(connection, target, rows, minus_stored=True)


def finished(
    connection: psycopg.Connection,
    target: Target,
    plan: Accumulated,
    groups: Temporary,
    minus_stored: bool,
) -> Temporary:
    """From accumulators to the rows that users see: HAVING and the SELECT list.

    Row-local, so it is linear: PostgreSQL computes it over old and new groups alike, and what
    comes out the same on both sides cancels. `minus_stored` takes the old side from the stream
    table itself, for `groups` that are all of them.
    """
    rows = finished_rows(plan, groups.name, target.columns)
    return delta_from(connection, target, rows, minus_stored)


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
    groups = [grouped(column) for column in columns]
    return sql.SQL(
        "SELECT {}, __pgs_row_id, sum(__pgs_weight)::bigint AS __pgs_weight FROM ({}) rows"
        " GROUP BY {}, __pgs_row_id HAVING sum(__pgs_weight) <> 0"
    ).format(ungrouped(columns, groups), rows, COMMA.join(groups))
