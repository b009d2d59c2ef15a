"""apply_by_rows: a delta into its table, by DELETE, UPDATE and INSERT.

A row that goes and a row that comes with the same key are one row that changes:

    −(k, old) +(k, new)    UPDATE … SET old = new

This is what triggers and subscribers of the table expect. Which of the rows are paired makes no
difference to what the table holds, so a key that turns out not to be one does no harm.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import psycopg
from psycopg import sql

from pgstream.algebra.operators.node import Column
from pgstream.errors import TriggerError
from pgstream.storage.apply import Applied, apply, applying, counted, nothing_around, require_all
from pgstream.storage.names import COMMA, grouped, identifiers, same
from pgstream.storage.removal import loose, removed_rows
from pgstream.storage.target import Target
from pgstream.storage.temporary import Temporary
from pgstream.storage.user_triggers import Around


def apply_by_rows(
    connection: psycopg.Connection,
    target: Target,
    delta: Temporary,
    around: Around = nothing_around,
) -> Applied:
    """Without a key, or if rows only come or only go, there is nothing to pair. Nor is there where
    rows exchange values of a column that users have made unique: PostgreSQL updates row by row."""
    wanted = counted(connection, delta)
    if target.key is not None and wanted.rows_deleted and wanted.rows_inserted:
        with suppress(psycopg.errors.UniqueViolation), connection.transaction():
            return _paired(connection, target, delta, around, wanted)
    return apply(connection, target, delta, around)


def _paired(
    connection: psycopg.Connection,
    target: Target,
    delta: Temporary,
    around: Around,
    wanted: Applied,
) -> Applied:
    rows = _Rows(connection, target, delta)
    require_all(target, rows.find_removed(), wanted.rows_deleted)
    updated = rows.pair_added()
    steps = (
        ("DELETE", rows.delete, wanted.rows_deleted - updated),
        ("UPDATE", rows.update, updated),
        ("INSERT", rows.insert, wanted.rows_inserted - updated),
    )
    with applying(connection):
        for event, statement, count in steps:
            if count:
                with around(event):
                    _require_done(target, event, connection.execute(statement).rowcount, count)
    return wanted


def _require_done(target: Target, event: str, done: int, wanted: int) -> None:
    if done != wanted:
        raise TriggerError(
            f"A trigger or a rule on {target.full_name} kept {wanted - done} of {wanted} rows "
            f"from {event}.",
            hint="Drop it, or set user_triggers to off.",
        )


@dataclass(frozen=True)
class _Rows:
    connection: psycopg.Connection
    target: Target
    delta: Temporary

    def find_removed(self) -> int:
        """The rows that go, where they are, numbered among those of their key."""
        target = self.target
        self.connection.execute(
            sql.SQL(
                "CREATE TEMPORARY TABLE {} ON COMMIT DROP AS SELECT ctid AS __pgs_ctid, {n},"
                " __pgs_row_id, {number} AS __pgs_nth FROM {t} WHERE ctid = ANY(ARRAY({rows}))"
            ).format(
                self._removed,
                n=identifiers(target.names),
                number=self._number,
                t=target.table,
                rows=removed_rows(target, self.delta),
            )
        )
        if loose(target):
            self._rewrite_delta()
        return self._analyzed(self._removed)

    def _rewrite_delta(self) -> None:
        """What is removed stands in the delta, as it is written: readers remove just that."""
        named = {"d": self.delta.name, "n": identifiers(self.target.names), "r": self._removed}
        for statement in (
            "DELETE FROM {d} WHERE __pgs_weight < 0",
            "INSERT INTO {d} ({n}, __pgs_row_id, __pgs_weight)"
            " SELECT {n}, __pgs_row_id, -1 FROM {r}",
        ):
            self.connection.execute(sql.SQL(statement).format(**named))

    def pair_added(self) -> int:
        """The rows that come, each with the place of the row that it replaces, if there is one;
        how many replace one."""
        names = identifiers(self.target.names)
        numbered = sql.SQL(
            "SELECT {n}, __pgs_row_id, {number} AS __pgs_nth FROM {d} CROSS JOIN LATERAL"
            " generate_series(1, __pgs_weight) AS copies(__pgs_copy) WHERE __pgs_weight > 0"
        ).format(n=names, number=self._number, d=self.delta.name)
        keys = [same(column, "a", "r") for column in self._key]
        self.connection.execute(
            sql.SQL(
                "CREATE TEMPORARY TABLE {} ON COMMIT DROP AS SELECT {n}, a.__pgs_row_id,"
                " r.__pgs_ctid FROM ({numbered}) a LEFT JOIN {r} r ON {on}"
            ).format(
                self._added,
                n=identifiers(self.target.names, "a"),
                numbered=numbered,
                r=self._removed,
                on=sql.SQL(" AND ").join([sql.SQL("a.__pgs_nth = r.__pgs_nth"), *keys]),
            )
        )
        self._analyzed(self._added)
        query = sql.SQL("SELECT count(__pgs_ctid) FROM {}").format(self._added)
        row = self.connection.execute(query).fetchone()
        assert row is not None
        return int(row[0])

    @property
    def delete(self) -> sql.Composed:
        return sql.SQL(
            "DELETE FROM {} WHERE ctid = ANY(ARRAY(SELECT __pgs_ctid FROM {}"
            " EXCEPT SELECT __pgs_ctid FROM {}))"
        ).format(self.target.table, self._removed, self._added)

    @property
    def update(self) -> sql.Composed:
        names = [*self.target.names, "__pgs_row_id"]
        items = (sql.SQL("{c} = a.{c}").format(c=sql.Identifier(name)) for name in names)
        return sql.SQL("UPDATE {} AS s SET {} FROM {} a WHERE s.ctid = a.__pgs_ctid").format(
            self.target.table, COMMA.join(items), self._added
        )

    @property
    def insert(self) -> sql.Composed:
        return sql.SQL(
            "INSERT INTO {} ({n}, __pgs_row_id) SELECT {n}, __pgs_row_id FROM {}"
            " WHERE __pgs_ctid IS NULL"
        ).format(self.target.table, self._added, n=identifiers(self.target.names))

    @property
    def _key(self) -> list[Column]:
        return [column for column in self.target.columns if column.name in (self.target.key or ())]

    @property
    def _number(self) -> sql.Composed:
        groups = [grouped(column) for column in self._key]
        parts = sql.SQL("PARTITION BY {}").format(COMMA.join(groups)) if groups else sql.SQL("")
        return sql.SQL("row_number() OVER ({})").format(parts)

    @property
    def _removed(self) -> sql.Identifier:
        return sql.Identifier("pg_temp", f"__pgs_removed_{self.target.id}")

    @property
    def _added(self) -> sql.Identifier:
        return sql.Identifier("pg_temp", f"__pgs_added_{self.target.id}")

    def _analyzed(self, table: sql.Identifier) -> int:
        """How many rows the table has; PostgreSQL knows it, too."""
        self.connection.execute(sql.SQL("ANALYZE {}").format(table))
        row = self.connection.execute(sql.SQL("SELECT count(*) FROM {}").format(table)).fetchone()
        assert row is not None
        return int(row[0])
