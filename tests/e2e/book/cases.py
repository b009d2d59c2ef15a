"""What a query of the book is, and what a set of source tables is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Query:
    """A query of the book: the set of tables that it reads, and the lines on which it stands.

    Where SQL leaves the answer open, such as the order in an array, `compare` gives for a column
    the expression that the oracle compares instead. Floats in `close` may differ in the last
    digits, because their sum depends on the order of the rows.
    """

    name: str
    tables: str
    lines: tuple[int, ...]
    sql: str
    compare: Mapping[str, str] = field(default_factory=dict)
    close: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSet:
    """Source tables of some of the book's queries.

    `tables` are in an order in which they can be emptied; `rows` fills them, also after that.
    Every change touches every table.
    """

    tables: tuple[str, ...]
    create: str
    rows: str
    insert: str
    update: str
    move: str
    delete: str
    together: str

    def rounds(self) -> Iterator[tuple[str, str]]:
        """The changes by name, each one transaction."""
        yield "insert", self.insert
        yield "update of what is no key", self.update
        yield "update of a key", self.move
        yield "delete", self.delete
        yield "all of these at once", self.together
        yield "everything deleted", "; ".join(f"DELETE FROM {table}" for table in self.tables)
        yield "everything back", self.rows
