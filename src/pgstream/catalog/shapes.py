"""What stream tables read, and how it differs from what a refresh last saw of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pgstream.database.connection import Connection

Shape = dict[str, Any]
"""As `pgstream._relation_shape` gives it."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A relation that a stream table reads, or, without a relid, the functions and types of its
    query, by name. `after` is None if the relation is gone."""

    table_id: int
    relid: int | None
    before: Shape
    after: Shape | None

    @property
    def name(self) -> str:
        """As it was."""
        return f"{self.before['schema']}.{self.before['name']}"

    @property
    def is_view(self) -> bool:
        return self.before.get("kind") == "v"

    @property
    def is_renamed(self) -> bool:
        if self.relid is None or self.after is None:
            return False
        return any(self.before[key] != self.after[key] for key in ("schema", "name"))

    @property
    def members_came(self) -> frozenset[int]:
        """Partitions and inheritance children that were not there, or not all the time."""
        return frozenset(relid for relid, _ in members(self.after) - members(self.before))


def members(shape: Shape | None) -> frozenset[tuple[int, str]]:
    """By relid, and since when each is one: it may have left and come back."""
    stamps: dict[str, str] = (shape or {}).get("members", {})
    return frozenset((int(relid), since) for relid, since in stamps.items())


def changed_shapes(connection: Connection, ids: Iterable[int]) -> list[Changed]:
    """One question for all these stream tables, under the connection's snapshot."""
    rows = connection.execute(
        "SELECT pgs_id, relid::bigint, before, after FROM pgstream._changed_shapes(%s)",
        (list(ids),),
    ).fetchall()
    return [Changed(*row) for row in rows]
