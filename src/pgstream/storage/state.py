"""The accumulators of a stream table, one row per group, in pgstream_state.state_<id>.

Adding the accumulators of a change gives the groups' new accumulators. `core` receives the
touched groups' old rows (weight −1) and new rows (weight +1).
"""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from psycopg import sql

from pgstream.algebra.operators.accumulate import Accumulator
from pgstream.algebra.operators.node import Column
from pgstream.algebra.plan import Accumulated
from pgstream.errors import IntegrityError
from pgstream.storage.names import (
    COMMA,
    ROW_ID,
    identifiers,
    match,
    state_table,
    temporary,
    type_sql,
)
from pgstream.storage.staged import create_temporary


class State:
    def __init__(self, connection: psycopg.Connection, id_: int, plan: Accumulated) -> None:
        self.connection, self.id = connection, id_
        self.table = state_table(id_)
        self.keys = plan.key_columns
        self.accumulators = plan.accumulators
        self.unsure = plan.unsure
        self.columns = self.keys + tuple(Column(a.name, a.type) for a in self.accumulators)
        self.names = [column.name for column in self.columns]
        self.core = temporary("core", id_)
        self.partial = temporary("partial", id_)
        self.fresh = temporary("fresh", id_)
        self.again = temporary("again", id_)

    def create(self) -> None:
        """An empty state, with the columns of today."""
        self._run("DROP TABLE IF EXISTS {state}")
        defined: list[sql.Composable] = []
        for column in self.columns:
            collate = ' COLLATE "C"' if column.type.is_text else ""
            defined.append(
                sql.SQL("{} {}" + collate).format(
                    sql.Identifier(column.name), type_sql(column.type)
                )
            )
        self.connection.execute(
            sql.SQL("CREATE TABLE {} ({}, {} bigint NOT NULL)").format(
                self.table, COMMA.join(defined), ROW_ID
            )
        )
        self.connection.execute(
            sql.SQL("CREATE INDEX {} ON {} ({})").format(
                sql.Identifier(f"state_{self.id}_row_id"), self.table, ROW_ID
            )
        )

    # --- three ways to change the state -----------------------------------------------------

    def replace_all(self) -> None:
        """`core` holds all groups."""
        self._run(
            "INSERT INTO {state} ({names}, __pgs_row_id) SELECT {names}, __pgs_row_id FROM {core}"
        )

    def add(self) -> bool:
        """`partial` holds the accumulators of the change. True if `again` holds groups that
        must be read again: they lost an extreme, or their digits are open."""
        create_temporary(self.connection, self.again, self.keys)
        lost = self._find_lost_extremes()
        create_temporary(self.connection, self.core, self.columns)
        self._remember(-1, "partial")
        sums = [self._added(accumulator) for accumulator in self.accumulators]
        self.connection.execute(
            sql.SQL("UPDATE {} s SET {} FROM {} p WHERE {}").format(
                self.table, COMMA.join(sums), self.partial, match(self.keys, "s", "p")
            )
        )
        self._run(
            "INSERT INTO {state} ({names}, __pgs_row_id) SELECT {names_p}, p.__pgs_row_id"
            " FROM {partial} p WHERE NOT EXISTS (SELECT FROM {state} s WHERE {match_sp})"
        )
        self._drop_empty("partial")
        return self._find_unsure_digits() or lost

    def overwrite_fresh(self) -> None:
        """`fresh` holds groups that were read again: their rows replace the stored ones."""
        self._run("DELETE FROM {state} s USING {fresh} f WHERE {match_sf}")
        self._run(
            "INSERT INTO {state} ({names}, __pgs_row_id) SELECT {names}, __pgs_row_id FROM {fresh}"
        )

    def replace_groups(self) -> None:
        """`partial` holds the touched groups, `fresh` what they are now."""
        create_temporary(self.connection, self.core, self.columns)
        self._remember(-1, "partial")
        self._run("DELETE FROM {state} s USING {partial} p WHERE {match_sp}")
        self._run(
            "INSERT INTO {state} ({names}, __pgs_row_id) SELECT {names}, __pgs_row_id FROM {fresh}"
        )

    def finish_core(self) -> None:
        """The touched groups' new rows."""
        self._remember(+1, "partial")

    # --- groups to read again ---------------------------------------------------------------

    def _find_lost_extremes(self) -> bool:
        """The groups that lost their stored extreme and gained no new one."""
        lost = [self._lost(a) for a in self.accumulators if a.is_extreme]
        # A group that vanishes needs no extreme; the one group without keys never does.
        remains = "s.n + p.n > 0" if self.keys else "true"
        found = f"SELECT p.* FROM {{partial}} p JOIN {{state}} s ON {{match_sp}} WHERE {remains}"
        return self._find_again(f"{found} AND ({{any_of}})", lost)

    def _find_unsure_digits(self) -> bool:
        """The groups whose finished values may have other digits than PostgreSQL's."""
        touched = "SELECT s.* FROM {state} s JOIN {partial} p ON {match_sp}"
        unsure = [sql.SQL(text) for text in self.unsure]
        return self._find_again(f"SELECT * FROM ({touched}) touched WHERE {{any_of}}", unsure)

    def _find_again(self, groups: str, conditions: Sequence[sql.Composable]) -> bool:
        if not conditions:
            return False
        names = identifiers([*(key.name for key in self.keys), "__pgs_row_id"])
        found = self._run(
            f"INSERT INTO {{again}} ({{keys}}) SELECT {{keys}} FROM ({groups}) found",
            keys=names,
            any_of=sql.SQL(" OR ").join(conditions),
        )
        return found.rowcount > 0

    # --- pieces -----------------------------------------------------------------------------

    def _remember(self, weight: int, touched: str) -> None:
        self._run(
            "INSERT INTO {core} ({names}, __pgs_row_id, __pgs_weight)"
            f" SELECT {{names_s}}, s.__pgs_row_id, {weight}"
            f" FROM {{state}} s JOIN {{{touched}}} p ON {{match_sp}}"
        )

    def _drop_empty(self, touched: str) -> None:
        negative = self._run(
            "SELECT FROM {state} s JOIN {partial} p ON {match_sp} WHERE s.n < 0 LIMIT 1"
        )
        if negative.rowcount:
            raise IntegrityError(
                "A group has fewer than no rows: the stored accumulators do not fit the changes.",
                hint="Refresh the stream table in FULL mode, and report this.",
            )
        if self.keys:
            self._run(
                f"DELETE FROM {{state}} s USING {{{touched}}} p WHERE s.n = 0 AND {{match_sp}}"
            )

    def _added(self, accumulator: Accumulator) -> sql.Composed:
        name = sql.Identifier(accumulator.name)
        if accumulator.is_extreme:
            chooser = sql.SQL("LEAST" if accumulator.kind == "min" else "GREATEST")
            return sql.SQL("{n} = {}(s.{n}, p.{n})").format(chooser, n=name)
        if accumulator.kind == "scale":
            return sql.SQL("{n} = GREATEST(s.{n}, p.{n})").format(n=name)
        return sql.SQL("{n} = s.{n} + p.{n}").format(n=name)

    def _lost(self, accumulator: Accumulator) -> sql.Composed:
        before = sql.SQL("<=" if accumulator.kind == "min" else ">=")
        return sql.SQL("(p.{r} IS NOT DISTINCT FROM s.{n} AND p.{r} IS NOT NULL"
                       " AND (p.{n} {} s.{n}) IS NOT TRUE)").format(
            before, r=sql.Identifier(f"removed_{accumulator.name}"),
            n=sql.Identifier(accumulator.name),
        )  # fmt: skip

    def _run(self, text: str, **parts: sql.Composable) -> psycopg.Cursor:
        return self.connection.execute(
            sql.SQL(text).format(
                state=self.table,
                core=self.core,
                partial=self.partial,
                fresh=self.fresh,
                again=self.again,
                names=identifiers(self.names),
                names_s=identifiers(self.names, "s"),
                names_p=identifiers(self.names, "p"),
                match_sp=match(self.keys, "s", "p"),
                match_sf=match(self.keys, "s", "f"),
                **parts,
            )
        )
