"""How often a refresh asks PostgreSQL and waits for the answer. No machine changes that."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from helpers import create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.database.connection import PREPARE_AFTER, Connection

pytestmark = pytest.mark.usual_way


@contextmanager
def trips(connections: dict[str, Connection]) -> Iterator[dict[str, int]]:
    """Afterwards, by connection: how often the server said that it is ready again."""
    found: dict[str, int] = {}
    with ExitStack() as opened:
        files = {name: opened.enter_context(tempfile.TemporaryFile()) for name in connections}
        for name, connection in connections.items():
            connection.pgconn.trace(files[name].fileno())
        try:
            yield found
        finally:
            for name, connection in connections.items():
                connection.pgconn.untrace()
                files[name].seek(0)
                found[name] = files[name].read().count(b"\tReadyForQuery")


def trips_of(ps: PgStream, name: str, wanted: Action) -> dict[str, int]:
    own = ps.refresher.connections()
    with trips({"apply": own.apply, "reader": own.reader, "notes": own.notes}) as found:
        assert ps.refresh_stream_table(name).action is wanted
    return found


def test_a_join_of_two_and_one_changed_row(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE a (id int PRIMARY KEY, g int, x int)",
        "CREATE TABLE b (g int PRIMARY KEY, name text)",
        "INSERT INTO b VALUES (0, 'zero'), (1, 'one')",
        "INSERT INTO a SELECT i, i % 2, i FROM generate_series(1, 20) i",
    )
    create_exact(ps, "st", "SELECT b.name, a.id, a.x FROM a JOIN b ON b.g = a.g")
    for x in range(2 * PREPARE_AFTER):  # from here on, PostgreSQL and we know the plans
        script(ps, f"UPDATE a SET x = {-x} WHERE id = 7")
        refresh_exact(ps, "st")
        refresh_exact(ps, "st")
    ps.execute("UPDATE a SET x = 1 WHERE id = 7")
    assert trips_of(ps, "st", Action.DIFFERENTIAL) == {"apply": 19, "reader": 9, "notes": 6}
    assert trips_of(ps, "st", Action.NO_DATA) == {"apply": 0, "reader": 0, "notes": 1}
    refresh_exact(ps, "st")
