"""The accumulators of an aggregate, one row per group.

    pgstream_state.state_<id>            of the aggregate that a query ends in
    pgstream_state.hidden_<id>_<number>  of one below other operators

Adding the accumulators of a change to the stored ones gives the groups' new accumulators. What
comes of a change is a temporary table of groups: those touched as they were (weight −1) and as
they are now (weight +1). Only `store` and `replace` write what is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import psycopg
from psycopg import sql

from pgstream.algebra.groups import Groups
from pgstream.algebra.operators.accumulate import Accumulator
from pgstream.algebra.operators.node import Column
from pgstream.algebra.operators.scan import Field
from pgstream.algebra.plan import Plan
from pgstream.errors import IntegrityError
from pgstream.storage.indexes import create_index, index_lookups
from pgstream.storage.names import COMMA, ROW_ID, STATE_SCHEMA, identifiers, match, type_sql
from pgstream.storage.replica_identity import identify_rows
from pgstream.storage.temporary import Temporary, analyze, create_temporary


def drop_stale(connection: psycopg.Connection, id_: int, plan: Plan) -> None:
    """Hidden tables of a stream table that its plan does not have any more."""
    kept = [each.source.name for each in plan.hidden]
    found = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename ~ %s"
        " AND tablename <> ALL (%s)",
        (STATE_SCHEMA, f"^hidden_{id_}_", kept),
    ).fetchall()
    for (name,) in found:
        connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(STATE_SCHEMA, name)))


class State:
    """`name` is that of its table. Temporary tables are named for it too."""

    def __init__(self, connection: psycopg.Connection, name: str, groups: Groups) -> None:
        self.connection, self.name = connection, name
        self.table = sql.Identifier(STATE_SCHEMA, name)
        self.keys = groups.key_columns
        self.accumulators = groups.accumulators
        self.unsure = groups.unsure
        self.columns = self.keys + tuple(Column(a.name, a.type) for a in self.accumulators)
        self.names = [column.name for column in self.columns]

    # --- the touched groups, before and after -----------------------------------------------

    def added(self, change: Temporary) -> Temporary:
        """Stored accumulators and those of the change, added up."""
        groups = create_temporary(self.connection, "groups", self.name, self.columns)
        self._run(
            f"INSERT INTO {{groups}} ({{names}}, __pgs_row_id, __pgs_weight) {self._before}"
            " UNION ALL SELECT * FROM (SELECT {sums}, p.__pgs_row_id, 1"
            " FROM {change} p LEFT JOIN {state} s ON {match_sp}) added WHERE {is_kept}",
            groups=groups.name,
            change=change.name,
            sums=COMMA.join([*map(self._key, self.keys), *map(self._added, self.accumulators)]),
            # A group without rows is gone; the one group without keys never is.
            is_kept=sql.SQL("n <> 0" if self.keys else "true"),
        )
        self._require_positive(groups)
        analyze(self.connection, groups)
        return groups

    def recomputed(self, touched: Temporary, fresh: Temporary) -> Temporary:
        """The touched groups, of which `fresh` holds all that there are now."""
        groups = create_temporary(self.connection, "groups", self.name, self.columns)
        self._run(
            f"INSERT INTO {{groups}} ({{names}}, __pgs_row_id, __pgs_weight) {self._before}"
            " UNION ALL SELECT {names}, __pgs_row_id, 1 FROM {fresh}",
            groups=groups.name,
            change=touched.name,
            fresh=fresh.name,
        )
        analyze(self.connection, groups)
        return groups

    def with_fresh(self, groups: Temporary, fresh: Temporary) -> Temporary:
        """The same groups, some of which have been read again."""
        self._run(
            "DELETE FROM {groups} s USING {fresh} f WHERE s.__pgs_weight > 0 AND {match_sf}",
            groups=groups.name,
            fresh=fresh.name,
        )
        self._run(
            "INSERT INTO {groups} ({names}, __pgs_row_id, __pgs_weight)"
            " SELECT {names}, __pgs_row_id, 1 FROM {fresh}",
            groups=groups.name,
            fresh=fresh.name,
        )
        return groups

    def unsettled(self, change: Temporary, groups: Temporary) -> sql.Composed | None:
        """A query for the keys of groups that must be read again: they lost an extreme, or their
        digits are open. None if there are no such groups in this table."""
        lost = [self._lost(a) for a in self.accumulators if a.is_extreme]
        # A group that vanishes needs no extreme; the one group without keys never does.
        remains = "s.n + p.n > 0" if self.keys else "true"
        queries = []
        if lost:
            queries.append(
                "SELECT {keys_p} FROM {change} p JOIN {state} s ON {match_sp}"
                f" WHERE {remains} AND ({{lost}})"
            )
        if self.unsure:
            queries.append("SELECT {keys} FROM {groups} WHERE __pgs_weight > 0 AND ({unsure})")
        if not queries:
            return None
        either = sql.SQL(" OR ")
        return self._format(
            " UNION ALL ".join(queries),
            change=change.name,
            groups=groups.name,
            lost=either.join(lost),
            unsure=either.join(map(sql.SQL, self.unsure)),
        )

    def all_groups(self, touched: Temporary) -> sql.Composed:
        """All groups after a change: the stored ones that are not touched, and those that are.
        With the types' own collations again."""
        items = [
            sql.SQL('s.{c} COLLATE "default" AS {c}' if column.type.is_text else "s.{c}").format(
                c=sql.Identifier(column.name)
            )
            for column in self.columns
        ]
        return self._format(
            "(SELECT {items}, s.__pgs_row_id, 1 AS __pgs_weight FROM {state} s WHERE NOT EXISTS"
            " (SELECT FROM {groups} p WHERE p.__pgs_weight < 0 AND {match_sp})"
            " UNION ALL SELECT {names}, __pgs_row_id, 1 FROM {groups} WHERE __pgs_weight > 0)"
            " state",
            items=COMMA.join(items),
            groups=touched.name,
        )

    def differences(self, groups: Temporary) -> tuple[int, int]:
        """How many of all groups, just computed, are not stored so, and how many stored ones are
        not among them."""
        sides = ("{groups}", "{state}")
        counts = [
            self._run(
                f"SELECT count(*) FROM (SELECT {{compared}} FROM {one}"
                f" EXCEPT ALL SELECT {{compared}} FROM {other}) d",
                compared=COMMA.join(self._compared()),
                groups=groups.name,
            ).fetchone()
            for one, other in (sides, sides[::-1])
        ]
        missing, extra = (row[0] if row else 0 for row in counts)
        return missing, extra

    # --- what writes ------------------------------------------------------------------------

    def store(self, groups: Temporary) -> None:
        """The touched groups as they are now."""
        assigned = [sql.SQL("{c} = p.{c}").format(c=sql.Identifier(name)) for name in self.names]
        new = "{groups} p WHERE p.__pgs_weight > 0 AND"
        self._run(
            f"UPDATE {{state}} s SET {{assigned}} FROM {new} {{match_sp}}",
            assigned=COMMA.join(assigned),
            groups=groups.name,
        )
        self._run(
            f"INSERT INTO {{state}} ({{names}}, __pgs_row_id) SELECT {{names_p}}, p.__pgs_row_id"
            f" FROM {new} NOT EXISTS (SELECT FROM {{state}} s WHERE {{match_sp}})",
            groups=groups.name,
        )
        if self.keys:
            self._run(
                "DELETE FROM {state} s USING {groups} f WHERE f.__pgs_weight < 0 AND {match_sf}"
                f" AND NOT EXISTS (SELECT FROM {new} {{match_fp}})",
                groups=groups.name,
            )

    def replace(self, groups: Temporary) -> None:
        """All groups, in a table with the columns of today."""
        self._create()
        self._run(
            "INSERT INTO {state} ({names}, __pgs_row_id) SELECT {names}, __pgs_row_id"
            " FROM {groups}",
            groups=groups.name,
        )

    def index(self, looked_up: Iterable[Sequence[Field]]) -> None:
        """Indexes for the keys by which groups are looked up."""
        index_lookups(self.connection, self.table, f"__pgs_{self.name}", looked_up)

    def analyze(self) -> None:
        """So that plans and decisions know from now on how many groups there are."""
        self._run("ANALYZE {state}")

    def _create(self) -> None:
        self._run("DROP TABLE IF EXISTS {state}")
        defined: list[sql.Composable] = []
        for column in self.columns:
            collate = ' COLLATE "C"' if column.type.is_text else ""
            defined.append(
                sql.SQL("{} {}" + collate).format(
                    sql.Identifier(column.name), type_sql(column.type)
                )
            )
        self._run(
            "CREATE TABLE {state} ({defined}, {row_id} bigint NOT NULL)",
            defined=COMMA.join(defined),
            row_id=ROW_ID,
        )
        identify_rows(self.connection, self.table)
        create_index(self.connection, self.table, f"{self.name}_row_id", ["__pgs_row_id"])

    # --- pieces -----------------------------------------------------------------------------

    def _compared(self) -> list[sql.Composable]:
        """What is the same however a group came to be. Sums of floats depend on their order, parts
        of squares on how values were cut, and `scale` may be too large."""
        squares: dict[int | None, list[sql.Composable]] = {}
        items: list[sql.Composable] = [sql.Identifier(key.name) for key in self.keys]
        for each in self.accumulators:
            name = sql.Identifier(each.name)
            if each.kind == "sq":
                squares.setdefault(each.argument, []).append(name)
            elif each.kind != "scale" and not (each.kind == "sum" and each.type.is_float):
                items.append(name)
        return items + [sql.SQL(" + ").join(parts) for parts in squares.values()]

    @property
    def _before(self) -> str:
        return "SELECT {names_s}, s.__pgs_row_id, -1 FROM {state} s JOIN {change} p ON {match_sp}"

    def _require_positive(self, groups: Temporary) -> None:
        negative = self._run("SELECT FROM {groups} WHERE n < 0 LIMIT 1", groups=groups.name)
        if negative.rowcount:
            raise IntegrityError(
                "A group has fewer than no rows: the stored accumulators do not fit the changes.",
                hint="Refresh the stream table in FULL mode, and report this.",
            )

    def _key(self, column: Column) -> sql.Composed:
        """As it is stored, if it is: equal keys may be spelled otherwise."""
        return sql.SQL("CASE WHEN s.{r} IS NULL THEN p.{c} ELSE s.{c} END AS {c}").format(
            r=ROW_ID, c=sql.Identifier(column.name)
        )

    def _added(self, accumulator: Accumulator) -> sql.Composed:
        name = sql.Identifier(accumulator.name)
        if accumulator.is_extreme or accumulator.kind == "scale":  # without the NULLs of no group
            chooser = sql.SQL("LEAST" if accumulator.kind == "min" else "GREATEST")
            return sql.SQL("{}(s.{n}, p.{n}) AS {n}").format(chooser, n=name)
        form = "CASE WHEN s.{r} IS NULL THEN p.{n} ELSE s.{n} + p.{n} END AS {n}"
        return sql.SQL(form).format(r=ROW_ID, n=name)

    def _lost(self, accumulator: Accumulator) -> sql.Composed:
        before = sql.SQL("<=" if accumulator.kind == "min" else ">=")
        return sql.SQL("(p.{r} IS NOT DISTINCT FROM s.{n} AND p.{r} IS NOT NULL"
                       " AND (p.{n} {} s.{n}) IS NOT TRUE)").format(
            before, r=sql.Identifier(f"removed_{accumulator.name}"),
            n=sql.Identifier(accumulator.name),
        )  # fmt: skip

    def _run(self, text: str, **parts: sql.Composable) -> psycopg.Cursor:
        return self.connection.execute(self._format(text, **parts))

    def _format(self, text: str, **parts: sql.Composable) -> sql.Composed:
        keys: Sequence[str] = [*(key.name for key in self.keys), "__pgs_row_id"]
        return sql.SQL(text).format(
            state=self.table,
            keys=identifiers(keys),
            keys_p=identifiers(keys, "p"),
            names=identifiers(self.names),
            names_s=identifiers(self.names, "s"),
            names_p=identifiers(self.names, "p"),
            match_sp=match(self.keys, "s", "p"),
            match_sf=match(self.keys, "s", "f"),
            match_fp=match(self.keys, "f", "p"),
            **parts,
        )
