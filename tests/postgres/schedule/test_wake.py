"""Waking: what a worker notices of commits and of requests, between its ticks."""

from __future__ import annotations

import threading

import pytest

from pgstream.catalog import store
from pgstream.database.connection import connect
from pgstream.schedule.timetable import Timetable
from pgstream.schedule.wake import FASTEST, SLOWEST, Wake
from pgstream.settings import Settings
from scheduled import REFRESHED
from wal_capture import REPLICATOR, settled

OWNER = "pgs_test_owner"


class Follower:
    """What a worker does between ticks, by hand."""

    def __init__(self, connection, settings):
        self.connection, self.settings, self.wake = connection, settings, Wake()
        self.follow()

    def follow(self):
        self.timetable = Timetable.of(store.stream_tables(self.connection), "UTC")
        self.wake.follow(self.connection, self.timetable)

    def look(self):
        """The names of those that have something to do."""
        self.is_asked = self.wake.look(self.connection)
        found = self.wake.changed(self.connection, self.timetable, self.settings, set())
        return {self.timetable.tables[id_].name for id_ in found}

    def refreshed(self, *names):
        self.connection.execute(REFRESHED, (list(names),))
        self.wake.again(self.timetable.tables)


@pytest.fixture
def follower(owner, database):
    owner.execute("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)")
    for name in ("a", "b"):
        owner.execute(
            "SELECT pgstream.create_stream_table(%s, %s, 'on change', initialize => false)",
            (f"st_{name}", f"SELECT id FROM {name}"),
        )
    connection = connect(database.dsn_as(OWNER))
    connection.execute(REFRESHED, (["st_a", "st_b"],))
    with connection:
        follower = Follower(connection, Settings())
        assert follower.look() == set()
        yield follower


def test_a_commit_wakes_those_who_read_the_table(follower, owner):
    owner.execute("INSERT INTO a VALUES (1)")
    assert follower.look() == {"st_a"}
    follower.refreshed("st_a")
    assert follower.look() == set()


def test_a_write_wakes_nobody_before_it_is_committed(follower, owner, database):
    writer = database.connect(OWNER, autocommit=False)
    writer.execute("INSERT INTO a VALUES (1)")
    for _ in range(3):
        assert follower.look() == set()
    owner.execute("INSERT INTO b VALUES (1)")  # others go on meanwhile
    assert follower.look() == {"st_b"}
    follower.refreshed("st_b")
    assert follower.look() == set()
    writer.commit()
    assert "st_a" in follower.look()


def test_a_commit_during_a_refresh_is_not_forgotten(follower, owner, database):
    writer = database.connect(OWNER, autocommit=False)
    writer.execute("INSERT INTO a VALUES (1)")
    owner.execute("INSERT INTO a VALUES (2)")
    assert follower.look() == {"st_a"}
    follower.refreshed("st_a")  # with a snapshot in which the first writer is still at it
    assert follower.look() == set()
    writer.commit()
    assert follower.look() == {"st_a"}


def test_what_is_rolled_back_wakes_nobody_and_is_forgotten(follower, database):
    writer = database.connect(OWNER, autocommit=False)
    writer.execute("INSERT INTO a VALUES (1)")
    assert follower.look() == set()
    writer.rollback()
    assert follower.look() == set()
    assert not follower.wake._open


def test_nothing_is_asked_while_nothing_ends(follower, database, monkeypatch):
    writer = database.connect(OWNER, autocommit=False)
    writer.execute("INSERT INTO a VALUES (1)")
    follower.look()
    asked = []
    monkeypatch.setattr("pgstream.schedule.wake.idle", lambda *_: asked.append(1) or set())
    for _ in range(5):
        follower.look()
    assert not asked


def test_looks_are_seldom_while_nothing_moves(follower, owner):
    for _ in range(20):
        follower.look()
    assert follower.wake.seconds == SLOWEST
    owner.execute("INSERT INTO a VALUES (1)")
    follower.look()
    assert follower.wake.seconds == FASTEST


def test_a_table_that_begins_to_wait_for_changes_is_asked_once(follower, owner):
    owner.execute("CREATE TABLE c (id int)")
    owner.execute(
        "SELECT pgstream.create_stream_table('st_c', 'SELECT id FROM c', 'on change',"
        " initialize => false)"
    )
    follower.refreshed("st_c")
    owner.execute("INSERT INTO c VALUES (1)")
    follower.follow()
    assert follower.look() == {"st_c"}


def test_a_request_is_seen_at_once(follower, owner, database):
    follower.connection.execute("SELECT pg_advisory_lock_shared(pgstream._worker_lock(), 0)")
    asking = database.connect(OWNER)
    asking.execute("SET statement_timeout = '5s'")

    def ask():
        with pytest.raises(Exception, match=r"statement timeout|canceling"):
            asking.execute("SELECT pgstream.refresh_stream_table('st_a')")

    thread = threading.Thread(target=ask)
    number = follower.wake.request_number
    thread.start()
    while follower.wake.request_number == number:
        follower.look()
    assert follower.is_asked
    follower.look()
    assert not follower.is_asked
    asking.cancel()
    thread.join()


def test_a_read_only_transaction_may_ask_too(follower, database):
    follower.connection.execute("SELECT pg_advisory_lock_shared(pgstream._worker_lock(), 0)")
    asking = database.connect(OWNER)
    asking.execute("SET default_transaction_read_only = on; SET statement_timeout = '300ms'")
    with pytest.raises(Exception, match="statement timeout"):
        asking.execute("SELECT pgstream.refresh_stream_table('st_a')")


def test_changes_in_the_wal_wake_too(wal_database):
    owner = wal_database.connect(REPLICATOR)
    owner.execute("CREATE TABLE w (id int PRIMARY KEY); ALTER TABLE w REPLICA IDENTITY FULL")
    owner.execute(
        "SELECT pgstream.create_stream_table('st_w', 'SELECT id FROM w', 'on change',"
        " initialize => false)"
    )
    owner.execute(REFRESHED, (["st_w"],))
    settled(owner)
    settled(owner)
    owner.execute(REFRESHED, (["st_w"],))
    with connect(wal_database.dsn_as(REPLICATOR)) as connection:
        follower = Follower(connection, Settings(cdc_mode="wal"))
        follower.look()
        follower.refreshed("st_w")
        assert follower.look() | follower.look() == set()
        writer = wal_database.connect(REPLICATOR, autocommit=False)
        writer.execute("INSERT INTO w VALUES (1)")
        assert follower.look() | follower.look() == set()
        writer.commit()
        assert follower.look() == {"st_w"}
        follower.refreshed("st_w")
        assert follower.look() | follower.look() == set()
