"""Stream tables over sources that are captured from the WAL, by triggers, and by both."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from helpers import assert_exact, create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.database.connection import connect_as_user as connect
from pgstream.errors import CaptureLost
from pgstream.settings import Settings

TOTALS = "SELECT region, sum(amount) AS total, count(*) AS n FROM orders GROUP BY region"
NAMED = "SELECT o.id, o.amount, r.name FROM orders o LEFT JOIN regions r ON r.region = o.region"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, cdc_mode="auto")


def with_orders(ps: PgStream, *from_wal: str) -> None:
    """These are captured from the WAL once they are read; the others by triggers."""
    script(
        ps,
        "CREATE TABLE orders (id int PRIMARY KEY, region text, amount numeric(9, 2), note text)",
        "CREATE TABLE regions (region text, name text)",
        "INSERT INTO orders SELECT i, 'r' || i % 3, i, repeat('x', 5000)"
        " FROM generate_series(1, 20) i",
        "INSERT INTO regions VALUES ('r0', 'north'), ('r1', 'south')",
        *(f"ALTER TABLE {name} REPLICA IDENTITY FULL" for name in from_wal),
    )


def modes(ps: PgStream) -> dict[str, str]:
    return dict(
        ps.execute(
            "SELECT DISTINCT source_relid::regclass::text, cdc_mode FROM pgstream.pgs_dependencies"
            " WHERE source_type = 'TABLE'"
        )
    )


CHANGES = (
    "INSERT INTO orders VALUES (101, 'r1', 7.50, NULL), (102, 'r9', NULL, 'a\tb\\')",
    "UPDATE orders SET amount = amount + 1 WHERE id <= 3",
    "UPDATE orders SET region = 'r2' WHERE region = 'r1'; DELETE FROM orders WHERE id = 5",
    "INSERT INTO regions VALUES ('r9', 'nowhere'); DELETE FROM regions WHERE region = 'r0'",
    "UPDATE orders SET id = id + 1000 WHERE id > 100",
)


@pytest.mark.parametrize(
    "from_wal", [(), ("orders",), ("regions",), ("orders", "regions")], ids=" and ".join
)
def test_results_are_exact_whatever_captures(ps: PgStream, from_wal: tuple[str, ...]) -> None:
    with_orders(ps, *from_wal)
    create_exact(ps, "totals", TOTALS)
    create_exact(ps, "named", NAMED)
    for change in CHANGES:
        ps.execute(change)
        assert refresh_exact(ps, "totals").action in (Action.DIFFERENTIAL, Action.NO_DATA)
        assert refresh_exact(ps, "named").action is Action.DIFFERENTIAL
    wanted = {name: "WAL" if name in from_wal else "TRIGGER" for name in ("orders", "regions")}
    assert modes(ps) == wanted
    assert refresh_exact(ps, "named").action is Action.NO_DATA
    ps.execute("TRUNCATE orders")
    assert refresh_exact(ps, "named").reason.startswith("TRUNCATE on public.orders")
    assert ps.verify("totals").exact


def test_layers_over_the_wal(ps: PgStream) -> None:
    with_orders(ps, "orders")
    create_exact(ps, "totals", TOTALS)
    create_exact(ps, "large", "SELECT region FROM totals WHERE total > 60")
    refresh_exact(ps, "large", "totals")
    assert modes(ps)["orders"] == "WAL"
    for change in CHANGES:
        ps.execute(change)
        refresh_exact(ps, "large", "totals")


def test_a_long_transaction_that_commits_between_two_refreshes(ps: PgStream) -> None:
    with_orders(ps, "orders")
    create_exact(ps, "totals", TOTALS)
    refresh_exact(ps, "totals")
    with connect(ps.dsn, autocommit=False) as late:
        late.execute("INSERT INTO orders VALUES (201, 'r1', 1, NULL)")
        ps.execute("INSERT INTO orders VALUES (202, 'r1', 2, NULL)")
        assert refresh_exact(ps, "totals").changes_read == 1
        late.execute("SAVEPOINT a")
        late.execute("DELETE FROM orders WHERE id = 202")
        late.commit()
    assert refresh_exact(ps, "totals").changes_read == 2


def test_exact_while_others_write(ps: PgStream) -> None:
    """The transition, too, happens among them."""
    with_orders(ps, "orders", "regions")
    create_exact(ps, "named", NAMED)
    stop = threading.Event()

    def write(number: int) -> None:
        with connect(ps.dsn) as conn:
            for i in range(10_000):
                if stop.is_set():
                    return
                id_ = 1000 + number * 10_000 + i
                conn.execute("INSERT INTO orders VALUES (%s, 'r1', 1, 'x')", (id_,))
                conn.execute("UPDATE orders SET region = 'r0' WHERE id = %s - 2", (id_,))

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for each in writers:
        each.start()
    try:
        for _ in range(8):
            ps.refresh_stream_table("named")
    finally:
        stop.set()
        for each in writers:
            each.join()
    refresh_exact(ps, "named")
    ps.execute("UPDATE orders SET amount = 0 WHERE id > 1000")
    refresh_exact(ps, "named")
    assert set(modes(ps).values()) == {"WAL"}


def test_a_lost_slot_costs_one_full_refresh(ps: PgStream) -> None:
    with_orders(ps, "orders")
    create_exact(ps, "totals", TOTALS)
    refresh_exact(ps, "totals")
    ps.execute("INSERT INTO orders VALUES (301, 'r1', 1, NULL)")
    ps.execute("SELECT pg_drop_replication_slot(pgstream._slot_name())")
    assert refresh_exact(ps, "totals").action is Action.REINITIALIZE
    assert modes(ps) == {"orders": "TRIGGER"}
    ps.execute("INSERT INTO orders VALUES (302, 'r1', 1, NULL)")
    assert refresh_exact(ps, "totals").action is Action.DIFFERENTIAL


def test_what_is_lost_while_decoding_is_told_and_mended(ps: PgStream) -> None:
    with_orders(ps, "orders")
    create_exact(ps, "totals", TOTALS)
    refresh_exact(ps, "totals")
    script(
        ps,
        "ALTER EVENT TRIGGER pg_stream_ddl_end DISABLE",  # else triggers take over at once
        "ALTER TABLE orders REPLICA IDENTITY DEFAULT",
        "UPDATE orders SET amount = 5 WHERE id = 1",
        "ALTER TABLE orders REPLICA IDENTITY FULL",
    )
    with pytest.raises(CaptureLost, match=r"REPLICA IDENTITY of public\.orders"):
        ps.refresh_stream_table("totals")
    assert refresh_exact(ps, "totals").action is Action.REINITIALIZE
    assert_exact(ps, "totals")
