"""Requests, and who has an answer."""

from __future__ import annotations

import pytest

from pgstream.schedule.requests import Requests

TABLE = 7


@pytest.fixture
def requests(owner, database):
    """Somebody waits for a refresh of table 7, and somebody else refreshes tables 8 and 9."""
    asking, refreshing = database.connect(), database.connect()
    asking.execute("SELECT pg_advisory_lock_shared(pgstream._request_lock(), 7)")
    for other in (8, 9):
        refreshing.execute("SELECT pg_advisory_lock(pgstream._refresh_lock(), %s::int)", (other,))
    requests = Requests()
    assert requests.is_old
    requests.look(owner, {9})
    return requests


def test_who_asks_and_who_is_busy(requests):
    assert requests.open(1) == {TABLE}
    assert requests.busy == {8}  # 9 is our own work
    assert not requests.is_old


def test_who_has_asked_before_a_refresh_began_is_answered_by_it(requests):
    requests.begun(TABLE, 1)
    assert requests.open(1) == set()
    requests.ended(TABLE)
    assert requests.open(1) == set()


def test_who_asks_later_is_not(requests):
    requests.begun(TABLE, 1)
    assert requests.open(2) == {TABLE}
    requests.ended(TABLE)
    assert requests.open(2) == {TABLE}


def test_who_still_waits_after_a_while_has_asked_anew(requests, monkeypatch):
    monkeypatch.setattr("pgstream.schedule.requests.ANSWER_SECONDS", 0.0)
    requests.begun(TABLE, 1)
    requests.ended(TABLE)
    assert requests.open(1) == {TABLE}
