"""The first rows of a query with ORDER BY … LIMIT, inside the committing transaction.

The prefix, the first offset + limit rows, is in pgstream_state.top_<id>: equal rows once, with
their count. The stream table shows the prefix without its first `offset` rows. PostgreSQL sorts:
by the keys, then by all columns, so that the same rows always come in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from psycopg import sql

from pgstream.algebra.operators.node import Column
from pgstream.algebra.plan import Accumulated
from pgstream.algebra.top import Top
from pgstream.algebra.types import Type
from pgstream.errors import IntegrityError
from pgstream.storage.apply import Target, consolidated, finished_rows
from pgstream.storage.names import (
    COMMA,
    identifiers,
    match,
    temporary,
    top_table,
    type_sql,
)
from pgstream.storage.staged import create_temporary
from pgstream.storage.state import State

SORTED_CATEGORIES = "NSBDTE"  # numbers, strings, booleans, times, intervals, enums
LARGEST_LIMIT = 2**63 - 1


class TopRows:
    def __init__(self, target: Target, top: Top, columns: Sequence[Column]) -> None:
        """`columns` are the tree's: the user's, then the hidden keys."""
        self.target, self.top, self.columns = target, top, tuple(columns)
        self.connection = target.connection
        self.names = [column.name for column in columns]
        self.prefix = top_table(target.id)
        self.input = temporary("input", target.id)
        self.whole = temporary("whole", target.id)
        self.known = temporary("known", target.id)
        self.fresh = temporary("fresh_top", target.id)
        self.order = total_order(top, self.columns, _collations(self.connection, target.relid))

    def create(self) -> None:
        """An empty prefix, with the columns of today."""
        self._run("DROP TABLE IF EXISTS {prefix}")
        defined = [
            sql.SQL("{} {}").format(sql.Identifier(c.name), type_sql(c.type)) for c in self.columns
        ]
        self.connection.execute(
            sql.SQL(
                "CREATE TABLE {} ({}, __pgs_row_id bigint NOT NULL, __pgs_weight bigint NOT NULL)"
            ).format(self.prefix, COMMA.join(defined))
        )
        self._run("CREATE INDEX ON {prefix} (__pgs_row_id)")

    # --- the prefix -------------------------------------------------------------------------

    def replace(self) -> None:
        """`whole` holds the complete input."""
        self._store(self.whole)

    def change(self) -> bool:
        """`input` holds the input's change. False if the prefix alone cannot tell the new one."""
        if not self.top.size:
            return True
        create_temporary(self.connection, self.known, self.columns)
        self._run("ALTER TABLE {known} ADD __pgs_is_last boolean")
        self._find_known()
        row = self._run(
            "SELECT coalesce(sum(__pgs_weight) FILTER (WHERE __pgs_weight > 0), 0),"
            " coalesce(bool_or(__pgs_is_last), false),"
            " coalesce(-sum(__pgs_weight) FILTER (WHERE __pgs_weight < 0 AND NOT __pgs_is_last), 0)"
            " FROM {known}"
        ).fetchone()
        assert row is not None
        count, was_full, missing = row
        if missing:
            raise IntegrityError(
                f"The first rows of {self.target.full_name} lack {missing} rows that a change "
                "removes.",
                hint="Refresh it in FULL mode, and report this.",
            )
        if was_full and count < self.top.size:
            return False
        self._store(self.known)
        return True

    def _find_known(self) -> None:
        """Prefix + change, without the rows beyond the last row of a full prefix.

        Of the last row itself more copies may exist than the prefix holds, so a change may
        remove more of them than are there.
        """
        both = sql.SQL(
            "SELECT {names}, __pgs_row_id, __pgs_weight FROM {prefix}"
            " UNION ALL SELECT {names}, __pgs_row_id, __pgs_weight FROM {input}"
        ).format(names=identifiers(self.names), prefix=self.prefix, input=self.input)
        marked = sql.SQL("SELECT *, false AS __pgs_is_last FROM ({}) rows UNION ALL {}").format(
            consolidated(self.columns, both), self._last()
        )
        self._run(
            "INSERT INTO {known} SELECT {names}, __pgs_row_id, __pgs_weight, __pgs_upto > 0 FROM ("
            " SELECT *,"
            "  count(*) FILTER (WHERE __pgs_is_last) OVER (ORDER BY {order}) AS __pgs_upto,"
            "  count(*) FILTER (WHERE __pgs_is_last) OVER (ORDER BY {order}"
            "   RANGE UNBOUNDED PRECEDING EXCLUDE GROUP) AS __pgs_before"
            " FROM ({marked}) marked) known WHERE __pgs_before = 0",
            marked=marked,
        )

    def _last(self) -> sql.Composed:
        """The last row of a full prefix, as a mark that counts nothing."""
        return sql.SQL(
            "SELECT {names}, __pgs_row_id, 0, true FROM ("
            " SELECT *, sum(__pgs_weight) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING)"
            "  AS __pgs_upto"
            " FROM {prefix}) p WHERE __pgs_upto >= {size}"
        ).format(
            names=identifiers(self.names),
            order=self.order,
            prefix=self.prefix,
            size=sql.Literal(self.top.size),
        )

    def _store(self, rows: sql.Identifier) -> None:
        """The first of these rows become the prefix; what stays is not written."""
        create_temporary(self.connection, self.fresh, self.columns)
        self._run("INSERT INTO {fresh} {shown}", shown=self._between(rows, 0))
        self._run("ANALYZE {fresh}")
        self._run(
            "DELETE FROM {prefix} p WHERE NOT EXISTS (SELECT FROM {fresh} f"
            " WHERE {match} AND f.__pgs_weight = p.__pgs_weight)"
        )
        self._run(
            "INSERT INTO {prefix} ({names}, __pgs_row_id, __pgs_weight)"
            " SELECT {names}, __pgs_row_id, __pgs_weight FROM {fresh} f"
            " WHERE NOT EXISTS (SELECT FROM {prefix} p WHERE {match})"
        )

    # --- what users see ---------------------------------------------------------------------

    def show(self) -> None:
        """The stream table's change, from the prefix."""
        self._show(self.prefix)

    def show_groups(self, plan: Accumulated, state: State) -> None:
        """The stream table's change, from all groups of an aggregate."""
        rows = finished_rows(plan, _all_groups(state), self.columns)
        self._show(sql.SQL("({}) groups").format(rows))

    def _show(self, rows: sql.Composable) -> None:
        shown = sql.SQL("SELECT {}, __pgs_row_id, __pgs_weight FROM ({}) shown").format(
            identifiers(self.target.names), self._between(rows, self.top.offset)
        )
        self.target.lay_down(shown, minus_stored=True)

    def _between(self, rows: sql.Composable, first: int) -> sql.Composed:
        """The rows after the first ones, up to the last that counts; duplicates are counted."""
        return sql.SQL(
            "SELECT {names}, __pgs_row_id,"
            " (least(__pgs_upto, {size}) - greatest(__pgs_upto - __pgs_weight, {first}))::bigint"
            "  AS __pgs_weight FROM ("
            " SELECT *, sum(__pgs_weight) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING)"
            "  AS __pgs_upto"
            " FROM (SELECT * FROM {rows} WHERE __pgs_weight > 0 ORDER BY {order} LIMIT {limit}) r"
            ") s WHERE least(__pgs_upto, {size}) > greatest(__pgs_upto - __pgs_weight, {first})"
        ).format(
            names=identifiers(self.names),
            order=self.order,
            rows=rows,
            size=sql.Literal(self.top.size),
            first=sql.Literal(first),
            limit=sql.Literal(min(self.top.size, LARGEST_LIMIT)),
        )

    def _run(self, text: str, **parts: sql.Composable) -> psycopg.Cursor:
        return self.connection.execute(
            sql.SQL(text).format(
                prefix=self.prefix,
                known=self.known,
                fresh=self.fresh,
                names=identifiers(self.names),
                order=self.order,
                match=match(self.columns, "p", "f"),
                **parts,
            )
        )


def total_order(
    top: Top, columns: Sequence[Column], collations: dict[str, sql.Composable]
) -> sql.Composed:
    """The keys as PostgreSQL sorts them, then all columns, then the row's hash, then trailing
    zeros."""
    items: list[sql.Composable] = []
    for key in top.order:
        column = columns[key.column]
        collation = collations.get(column.name, sql.SQL(""))
        if key.collation is not None:
            collation = sql.SQL(" COLLATE " + key.collation)
        ending = sql.SQL(
            (" DESC" if key.descending else " ASC")
            + (" NULLS FIRST" if key.nulls_first else " NULLS LAST")
        )
        items.append(sql.SQL("{}{}{}").format(sql.Identifier(column.name), collation, ending))
    items += [_tie_breaker(column) for column in columns]
    items.append(sql.SQL("__pgs_row_id"))
    items += [_spelling(column) for column in columns if column.type.as_text]
    return COMMA.join(items)


def _tie_breaker(column: Column) -> sql.Composable:
    """Any order that is always the same; the text's where the type may have none."""
    name = sql.Identifier(column.name)
    if not _is_sorted(column.type):
        return _spelling(column)
    return sql.SQL('{} COLLATE "C"').format(name) if column.type.is_text else name


def _spelling(column: Column) -> sql.Composable:
    return sql.SQL('{}::text COLLATE "C"').format(sql.Identifier(column.name))


def _is_sorted(type_: Type) -> bool:
    return type_.has_equality and type_.category in SORTED_CATEGORIES


def _collations(connection: psycopg.Connection, relid: int) -> dict[str, sql.Composable]:
    """The collations of the stream table's columns: those of the query's columns."""
    found = connection.execute(
        "SELECT a.attname, format(' COLLATE %%I.%%I', n.nspname, c.collname) FROM pg_attribute a"
        " JOIN pg_collation c ON c.oid = a.attcollation"
        " JOIN pg_namespace n ON n.oid = c.collnamespace"
        " WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped",
        (relid,),
    ).fetchall()
    return {name: sql.SQL(collation) for name, collation in found}


def _all_groups(state: State) -> sql.Composed:
    """The stored groups, with the types' own collations again."""
    items = [
        sql.SQL('{c} COLLATE "default" AS {c}' if column.type.is_text else "{c}").format(
            c=sql.Identifier(column.name)
        )
        for column in state.columns
    ]
    return sql.SQL("(SELECT {}, __pgs_row_id, 1 AS __pgs_weight FROM {}) state").format(
        COMMA.join(items), state.table
    )
