"""The three connections of a refresher."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.database.connection import Connection, connect, connect_to_catalog, own_address


@dataclass(frozen=True)
class Connections:
    """Not shared between threads.

    `apply` is the committing transaction, `reader` holds the exported snapshot, `notes` commits
    at once what must outlive a failure or be seen by executors.
    """

    apply: Connection
    reader: Connection
    notes: Connection
    dsn: str

    @classmethod
    def open(cls, dsn: str) -> Connections:
        return cls(
            connect(dsn, autocommit=False, application_name="pgstream apply"),
            connect(dsn, autocommit=True, application_name="pgstream reader"),
            connect_to_catalog(dsn, "pgstream notes"),
            own_address(dsn),
        )

    @property
    def all(self) -> tuple[Connection, ...]:
        return self.apply, self.reader, self.notes

    @property
    def are_broken(self) -> bool:
        return any(each.closed or each.broken for each in self.all)

    def reset(self) -> None:
        for connection in (self.apply, self.reader):
            if not connection.closed:
                connection.rollback()

    def close(self) -> None:
        for connection in self.all:
            connection.close()
