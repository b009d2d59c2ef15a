"""Staging: unlogged tables that executors write, for a refresh of a stream table.

    staging_<id>_<number>        a result, on its way to the committing transaction
    handover_<id>_<number>       rows for PostgreSQL to compute with
    handover_<id>_<number>_done  what it has computed, for the executors to read

The columns are c0, c1, …, the weight w, and the task that wrote a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg import sql

STATE_SCHEMA = "pgstream_state"
TASK_COLUMN = "__pgs_task"


@dataclass(frozen=True)
class Staging:
    """`notes` commits at once, so that executors see the table."""

    notes: psycopg.Connection
    name: str

    @classmethod
    def new(cls, notes: psycopg.Connection, name: str) -> Staging:
        """Of a table to be created. Whoever was killed while it had one of this name left it."""
        made = cls(notes, name)
        notes.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(made.table))
        return made

    @property
    def table(self) -> sql.Identifier:
        return sql.Identifier(STATE_SCHEMA, self.name)

    def create(self, types: Sequence[str]) -> None:
        columns = [f"c{i} {kind}" for i, kind in enumerate(types)]
        text = ", ".join([*columns, "w bigint", f"{TASK_COLUMN} bigint"])
        self.notes.execute(
            sql.SQL("CREATE UNLOGGED TABLE {} ({})").format(self.table, sql.SQL(text))
        )

    def keep(self, tasks: Sequence[int]) -> None:
        """Only what these tasks wrote."""
        self.notes.execute(
            sql.SQL("DELETE FROM {} WHERE {} <> ALL (%s)").format(
                self.table, sql.Identifier(TASK_COLUMN)
            ),
            (list(tasks),),
        )


def drop_staging(connection: psycopg.Connection, id_: int) -> None:
    """What a refresh of the stream table that did not end has left."""
    names = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename ~ %s",
        (STATE_SCHEMA, f"^(staging|handover)_{id_}_"),
    ).fetchall()
    for (name,) in names:
        connection.execute(
            sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(STATE_SCHEMA, name))
        )
