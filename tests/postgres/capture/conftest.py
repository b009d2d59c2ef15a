"""A table whose WAL can be decoded, and a copy that is kept by what is captured of it."""

from __future__ import annotations

import pytest

from wal_capture import REPLICATOR, Replica, read_by


@pytest.fixture
def t(replicator):
    """Captured by triggers."""
    replicator.execute("CREATE TABLE t (id int, v text)")
    replicator.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    read_by(replicator, "t")
    return replicator


@pytest.fixture
def replica(t, wal_database):
    """Populated."""
    reader, beside = wal_database.connect(REPLICATOR), wal_database.connect(REPLICATOR)
    found = Replica(reader, beside, "t")
    found.populate()
    return found
