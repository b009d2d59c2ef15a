"""The first rows of a query with ORDER BY … LIMIT, inside the committing transaction.

The first offset + limit rows are in pgstream_state.top_<id>: equal rows once, with their count.
The stream table shows them without the first `offset` ones. PostgreSQL sorts: by the keys, then by
all columns, so that the same rows always come in the same order. Only `store` writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import psycopg
from psycopg import sql

from pgstream.algebra.operators.node import Column
from pgstream.algebra.plan import Accumulated
from pgstream.algebra.top import Top
from pgstream.algebra.types import Type
from pgstream.errors import IntegrityError
from pgstream.storage.delta import consolidated, delta_from, finished_rows
from pgstream.storage.names import COMMA, identifiers, match, top_table, type_sql
from pgstream.storage.target import Target
from pgstream.storage.temporary import Temporary, analyze, create_temporary

SORTED_CATEGORIES = "NSBDTE"  # numbers, strings, booleans, times, intervals, enums
LARGEST_LIMIT = 2**63 - 1


class TopRows:
    """`columns` are the tree's: the user's, then the hidden keys."""

    def __init__(
        self,
        connection: psycopg.Connection,
        target: Target,
        top: Top,
        columns: Sequence[Column],
    ) -> None:
        self.connection, self.target, self.top = connection, target, top
        self.columns = tuple(columns)
        self.names = [column.name for column in columns]
        self.stored = top_table(target.id)

    @cached_property
    def keys(self) -> list[sql.Composable]:
        return key_order(self.top, self.columns, _collations(self.connection, self.target.relid))

    @cached_property
    def order(self) -> sql.Composed:
        return COMMA.join([*self.keys, *tie_breakers(self.columns)])

    @cached_property
    def upto_last(self) -> sql.Composed:
        """By which rows are not beyond the last one: those that tie with it are stored, too."""
        return COMMA.join(self.keys) if self.top.ties else self.order

    # --- the first rows, after the change ---------------------------------------------------

    def first_of(self, rows: Temporary) -> Temporary:
        """The first of these rows."""
        first = create_temporary(self.connection, "first", self.target.id, self.columns)
        self._run("INSERT INTO {first} {rows}", first=first.name, rows=self._between(rows.name, 0))
        analyze(self.connection, first)
        return first

    def changed(self, change: Temporary) -> Temporary | None:
        """The first rows after the input's change; None if the stored ones cannot tell them."""
        known = create_temporary(self.connection, "known", self.target.id, self.columns)
        if self.top.size:
            self._run("ALTER TABLE {known} ADD __pgs_is_last boolean", known=known.name)
            self._find_known(known, change)
            if not self._are_enough(known):
                return None
        return self.first_of(known)

    def _find_known(self, known: Temporary, change: Temporary) -> None:
        """Stored rows + change, without what comes after the last of as many rows as there may be.

        Of the last row itself more copies may exist than are stored, so a change may remove more
        of them than are there.
        """
        both = self._format(
            "SELECT {names}, __pgs_row_id, __pgs_weight FROM {stored}"
            " UNION ALL SELECT {names}, __pgs_row_id, __pgs_weight FROM {change}",
            change=change.name,
        )
        marked = sql.SQL("SELECT *, false AS __pgs_is_last FROM ({}) rows UNION ALL {}").format(
            consolidated(self.columns, both), self._last()
        )
        self._run(
            "INSERT INTO {known} SELECT {names}, __pgs_row_id, __pgs_weight, __pgs_upto > 0 FROM ("
            " SELECT *,"
            "  count(*) FILTER (WHERE __pgs_is_last) OVER (ORDER BY {last}) AS __pgs_upto,"
            "  count(*) FILTER (WHERE __pgs_is_last) OVER (ORDER BY {last}"
            "   RANGE UNBOUNDED PRECEDING EXCLUDE GROUP) AS __pgs_before"
            " FROM ({marked}) marked) known WHERE __pgs_before = 0",
            known=known.name,
            marked=marked,
            last=self.upto_last,
        )

    def _last(self) -> sql.Composed:
        """The last stored row, if there are as many as there may be; a mark that counts nothing."""
        return self._format(
            "SELECT {names}, __pgs_row_id, 0, true FROM ("
            " SELECT *, sum(__pgs_weight) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING)"
            "  AS __pgs_upto"
            " FROM {stored}) p WHERE __pgs_upto >= {size}",
            size=sql.Literal(self.top.size),
        )

    def _are_enough(self, known: Temporary) -> bool:
        row = self._run(
            "SELECT coalesce(sum(__pgs_weight) FILTER (WHERE __pgs_weight > 0), 0),"
            " coalesce(bool_or(__pgs_is_last), false),"
            " coalesce(-sum(__pgs_weight) FILTER (WHERE __pgs_weight < 0 AND {all_known}), 0)"
            " FROM {known}",
            known=known.name,
            all_known=sql.SQL("true" if self.top.ties else "NOT __pgs_is_last"),
        ).fetchone()
        assert row is not None
        count, was_full, missing = row
        if missing:
            raise IntegrityError(
                f"The first rows of {self.target.full_name} lack {missing} rows that a change "
                "removes.",
                hint="Refresh it in FULL mode, and report this.",
            )
        return not was_full or count >= self.top.size

    # --- what users see ---------------------------------------------------------------------

    def shown(self, first: Temporary) -> Temporary:
        """The stream table's change, from the first rows."""
        return self._shown(first.name)

    def shown_groups(self, plan: Accumulated, groups: sql.Composable) -> Temporary:
        """The stream table's change, from all groups of an aggregate."""
        rows = finished_rows(plan, groups, self.columns)
        return self._shown(sql.SQL("({}) groups").format(rows))

    def _shown(self, rows: sql.Composable) -> Temporary:
        shown = sql.SQL("SELECT {}, __pgs_row_id, __pgs_weight FROM ({}) shown").format(
            identifiers(self.target.names), self._between(rows, self.top.offset)
        )
        return delta_from(self.connection, self.target, shown, minus_stored=True)

    # --- what writes ------------------------------------------------------------------------

    def store(self, first: Temporary) -> None:
        """These are the first rows; what stays is not written."""
        self._run(
            "DELETE FROM {stored} p WHERE NOT EXISTS (SELECT FROM {first} f"
            " WHERE {match} AND f.__pgs_weight = p.__pgs_weight)",
            first=first.name,
        )
        self._run(
            "INSERT INTO {stored} ({names}, __pgs_row_id, __pgs_weight)"
            " SELECT {names}, __pgs_row_id, __pgs_weight FROM {first} f"
            " WHERE NOT EXISTS (SELECT FROM {stored} p WHERE {match})",
            first=first.name,
        )

    def create(self) -> None:
        """An empty table for the first rows, with the columns of today."""
        self._run("DROP TABLE IF EXISTS {stored}")
        defined = [
            sql.SQL("{} {}").format(sql.Identifier(c.name), type_sql(c.type)) for c in self.columns
        ]
        self._run(
            "CREATE TABLE {stored} ({defined}, __pgs_row_id bigint NOT NULL,"
            " __pgs_weight bigint NOT NULL)",
            defined=COMMA.join(defined),
        )
        self._run("ALTER TABLE {stored} REPLICA IDENTITY FULL")  # see replica_identity.py
        self._run("CREATE INDEX ON {stored} (__pgs_row_id)")

    # --- pieces -----------------------------------------------------------------------------

    def _between(self, rows: sql.Composable, first: int) -> sql.Composed:
        """The rows after the first ones, up to the last that counts; duplicates are counted."""
        return self._format(
            "SELECT {names}, __pgs_row_id,"
            " (least(__pgs_upto, {end}) - greatest(__pgs_upto - __pgs_weight, {first}))::bigint"
            "  AS __pgs_weight FROM ("
            " SELECT *, sum(__pgs_weight) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING)"
            "  AS __pgs_upto{before}"
            " FROM (SELECT * FROM {rows} WHERE __pgs_weight > 0 {cut}) r"
            ") s WHERE least(__pgs_upto, {end}) > greatest(__pgs_upto - __pgs_weight, {first})",
            rows=rows,
            first=sql.Literal(first),
            **(self._with_ties() if self.top.ties else self._without_ties()),
        )

    def _without_ties(self) -> dict[str, sql.Composable]:
        limit = sql.Literal(min(self.top.size, LARGEST_LIMIT))
        return {
            "end": sql.Literal(self.top.size),
            "before": sql.SQL(""),
            "cut": sql.SQL("ORDER BY {} LIMIT {}").format(self.order, limit),
        }

    def _with_ties(self) -> dict[str, sql.Composable]:
        """The last row that counts is the last of those that tie with row offset + limit."""
        limit = sql.Literal(min(self.top.size, LARGEST_LIMIT))
        before = "sum(__pgs_weight) OVER (ORDER BY {} RANGE UNBOUNDED PRECEDING EXCLUDE GROUP)"
        end = "CASE WHEN __pgs_before < {size} THEN __pgs_upto ELSE {size} END"
        cut = "ORDER BY {} FETCH FIRST ({}) ROWS WITH TIES"
        return {
            "end": sql.SQL(end).format(size=sql.Literal(self.top.size)),
            "before": sql.SQL(f", coalesce({before}, 0) AS __pgs_before").format(self.upto_last),
            "cut": sql.SQL(cut).format(self.upto_last, limit),
        }

    def _run(self, text: str, **parts: sql.Composable) -> psycopg.Cursor:
        return self.connection.execute(self._format(text, **parts))

    def _format(self, text: str, **parts: sql.Composable) -> sql.Composed:
        named = {"order": self.order} if "{order}" in text else {}
        return sql.SQL(text).format(
            stored=self.stored,
            names=identifiers(self.names),
            match=match(self.columns, "p", "f"),
            **named,
            **parts,
        )


def key_order(
    top: Top, columns: Sequence[Column], collations: dict[str, sql.Composable]
) -> list[sql.Composable]:
    """The keys as PostgreSQL sorts them."""
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
    return items


def tie_breakers(columns: Sequence[Column]) -> list[sql.Composable]:
    """All columns, then the row's hash, then trailing zeros."""
    spellings = [_spelling(column) for column in columns if column.type.as_text]
    return [*map(_tie_breaker, columns), sql.SQL("__pgs_row_id"), *spellings]


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
