"""The queries whose plans are kept: TPC-H, the book's, and ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from e2e.book.queries import QUERIES
from e2e.book.schema import TABLES
from pgstream.bench.tpch.load import load
from pgstream.bench.tpch.sections import queries, text_of
from pgstream.client import PgStream

HERE = Path(__file__).parent
SCALE = 0.01


@dataclass(frozen=True)
class Case:
    """A query over a set of tables. `create` makes them, without rows and so without statistics,
    which plans depend on; `fill` makes them with rows."""

    name: str
    tables: str
    query: str
    create: Callable[[PgStream], None]
    fill: Callable[[PgStream], None]

    @property
    def stream(self) -> str:
        """The stream table's name, by which others may read it."""
        return self.name.partition("_")[2]

    @property
    def expected(self) -> Path:
        return HERE / "expected" / f"{self.name}.txt"


def cases() -> Iterator[Case]:
    create = made_by(text_of("tables.sql"))
    for name, query in queries().items():
        yield Case(f"tpch_{name}", "tpch", query, create, lambda stream: load(stream, SCALE))
    for book in QUERIES:
        source = TABLES[book.tables]
        create, fill = made_by(source.create), made_by(source.create, source.rows)
        yield Case(f"book_{book.name}", book.tables, book.sql, create, fill)
    tables, rows = text(HERE / "tables.sql"), text(HERE / "rows.sql")
    for name, query in named_queries(text(HERE / "queries.sql")):
        yield Case(f"own_{name}", "own", query, made_by(tables), made_by(tables, rows))


def made_by(*scripts: str) -> Callable[[PgStream], None]:
    def make(stream: PgStream) -> None:
        for script in scripts:
            stream.execute(script)

    return make


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def named_queries(script: str) -> Iterator[tuple[str, str]]:
    """Each query stands below a line `-- name`."""
    parts = re.split(r"^-- (\w+)$", script, flags=re.MULTILINE)
    yield from zip(parts[1::2], parts[2::2], strict=True)
