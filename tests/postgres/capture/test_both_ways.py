"""What holds of capture, whoever captures: triggers, the WAL, or first one and then the other."""

from __future__ import annotations

import random
import threading

import pytest

from wal_capture import REPLICATOR, Replica, end_rest, mode, read_by, settled

pytestmark = pytest.mark.postgres


class Settled(Replica):
    """Before each refresh the source moves towards the WAL, if nobody is in the way."""

    def refresh(self) -> int:
        end_rest(self.beside)
        settled(self.beside, "auto")
        return super().refresh()


@pytest.fixture(params=["trigger", "wal", "mixed"])
def way(request):
    return request.param


@pytest.fixture
def t(replicator, way):
    replicator.execute("CREATE TABLE t (id int, v text)")
    replicator.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    read_by(replicator, "t")
    if way == "wal":
        settled(replicator)
    return replicator


@pytest.fixture
def replica(t, way, wal_database):
    """Populated; in the end it is captured as it should be."""
    reader, beside = wal_database.connect(REPLICATOR), wal_database.connect(REPLICATOR)
    found = (Settled if way == "mixed" else Replica)(reader, beside, "t")
    found.populate()
    yield found
    if way == "mixed":
        found.refresh()
    assert mode(t, "t") == ("TRIGGER" if way == "trigger" else "WAL")


def test_changes_are_seen_once(t, replica):
    t.execute("INSERT INTO t VALUES (1, 'a'), (1, 'a'), (2, NULL)")
    assert replica.refresh() == 3
    t.execute("UPDATE t SET v = 'b' WHERE id = 1")
    t.execute("DELETE FROM t WHERE id = 2")
    assert replica.refresh() == 5
    assert replica.refresh() == 0


def test_a_transaction_that_commits_late_is_not_lost(t, replica, wal_database):
    late = wal_database.connect(REPLICATOR, autocommit=False)
    late.execute("INSERT INTO t VALUES (1, 'late')")
    t.execute("INSERT INTO t VALUES (2, 'early')")
    assert replica.refresh() == 1
    late.execute("INSERT INTO t VALUES (3, 'late')")
    assert replica.refresh() == 0
    late.commit()
    assert replica.refresh() == 2


def test_an_asynchronous_commit_is_seen(t, replica, wal_database):
    """Before it is on disk; only what is on disk is decoded."""
    hasty = wal_database.connect(REPLICATOR)
    hasty.execute("SET synchronous_commit = off")
    for number in range(20):
        hasty.execute("INSERT INTO t VALUES (%s, 'x')", (number,))
        assert replica.refresh() == 1


def test_rollbacks_and_savepoints(t, replica):
    t.execute("BEGIN")
    t.execute("INSERT INTO t VALUES (1, 'gone')")
    t.execute("ROLLBACK")
    t.execute("BEGIN")
    t.execute("INSERT INTO t VALUES (2, 'kept')")
    t.execute("SAVEPOINT a")
    t.execute("UPDATE t SET v = 'gone'")
    t.execute("ROLLBACK TO a")
    t.execute("SAVEPOINT b")
    t.execute("INSERT INTO t VALUES (3, 'kept')")
    t.execute("RELEASE b")
    assert replica.refresh() == 0
    t.execute("COMMIT")
    assert replica.refresh() == 2


def test_truncate_leaves_a_marker(t, replica):
    t.execute("INSERT INTO t VALUES (1, 'a')")
    t.execute("TRUNCATE t")
    assert replica.actions() == ["I", "T"]
    replica.populate()  # as the full refresh does


def test_many_rows(t, replica):
    t.execute("INSERT INTO t SELECT i, 'x' FROM generate_series(1, 25000) i")
    assert replica.refresh() == 25000
    t.execute("UPDATE t SET v = 'y' WHERE id <= 6000")
    assert replica.refresh() == 12000


def test_eight_writers_and_a_reader(t, replica, wal_database):
    def write(seed):
        draw = random.Random(seed)
        with wal_database.connect(REPLICATOR, autocommit=False) as conn:
            for number in range(40):
                conn.execute("INSERT INTO t VALUES (%s, %s)", (seed, str(number)))
                if draw.random() < 0.3:
                    conn.execute("UPDATE t SET v = v || '!' WHERE id = %s", (seed,))
                if draw.random() < 0.2:
                    conn.execute("DELETE FROM t WHERE id = %s", (seed,))
                conn.rollback() if draw.random() < 0.2 else conn.commit()

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(8)]
    for each in writers:
        each.start()
    refreshes = 0
    while any(each.is_alive() for each in writers):
        replica.refresh()
        refreshes += 1
    for each in writers:
        each.join()
    replica.refresh()
    assert refreshes
    assert replica.rows


def test_a_value_in_toast_that_an_update_does_not_touch(t, replica):
    t.execute("ALTER TABLE t ALTER v SET STORAGE EXTERNAL")
    t.execute("INSERT INTO t VALUES (1, repeat('long', 5000))")
    assert replica.refresh() == 1
    t.execute("UPDATE t SET id = 2")
    assert replica.refresh() == 2


def test_a_long_transaction(t, replica, wal_database):
    """Others come and go while it writes, and takes some of it back."""
    long = wal_database.connect(REPLICATOR, autocommit=False)
    for number in range(6):
        long.execute("SAVEPOINT a")
        long.execute("INSERT INTO t VALUES (%s, 'long')", (number,))
        long.execute("UPDATE t SET v = v || '!' WHERE v LIKE 'long%%'")
        if number % 2:
            long.execute("ROLLBACK TO a")
        t.execute("INSERT INTO t VALUES (%s, 'short')", (number,))
        assert replica.refresh() == 1
    long.commit()
    assert replica.refresh() == 3 + 2 * (1 + 2 + 3)


def test_a_transaction_in_two_phases(t, replica, wal_database):
    """It is a change when it is committed, not when it is prepared."""
    other = wal_database.connect(REPLICATOR)
    for end, found in (("COMMIT", 3), ("ROLLBACK", 0)):
        other.execute("BEGIN")
        other.execute("INSERT INTO t VALUES (1, 'a')")
        other.execute("UPDATE t SET v = 'b' WHERE v = 'a'")
        name = f"'{other.info.dbname}'"
        other.execute(f"PREPARE TRANSACTION {name}")
        t.execute("INSERT INTO t VALUES (2, 'meanwhile')")
        assert replica.refresh() == 1
        other.execute(f"{end} PREPARED {name}")
        assert replica.refresh() == found
