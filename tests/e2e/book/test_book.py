"""Every query of the book, in both modes, through every kind of change.

A set of tables is one test: all its stream tables live in one database, each change is made once,
then all of them are refreshed. What fails is collected, so that the message names every query.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable

import pytest

from e2e.book.cases import Query
from e2e.book.queries import CALLS, QUERIES
from e2e.book.schema import TABLES
from helpers import assert_close, assert_types
from pgstream.catalog.records import Action
from pgstream.client import PgStream, PgStreamWarning

# Rounds in which some queries see no change: the column that changed is not theirs.
MAY_CHANGE_NOTHING = {"update of what is no key", "update of a key"}
# A full refresh does not ask what kind of change there was, and the first one was from nothing.
REFRESHED_IN_FULL = {"all of these at once", "everything deleted"}


class Run:
    """The stream tables of one set in one mode, and what went wrong with them."""

    def __init__(self, ps: PgStream, mode: str, queries: list[Query]) -> None:
        self.ps = ps
        self.mode = mode
        self.failures: list[str] = []
        self.alive = [query for query in queries if self.attempt(query, "create", self.create)]

    def round(self, name: str) -> None:
        self.alive = [query for query in self.alive if self.attempt(query, name, self.refresh)]

    def attempt(self, query: Query, round_name: str, step: Callable[[Query, str], None]) -> bool:
        try:
            step(query, round_name)
        except Exception as error:
            where = f"{query.name} (line {query.lines[0]}), {self.mode}, {round_name}"
            self.failures.append(f"{where}: {type(error).__name__}: {error}")
            return False
        return True

    def create(self, query: Query, round_name: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PgStreamWarning)  # date_trunc is only STABLE
            self.ps.create_stream_table(query.name, query.sql, refresh_mode=self.mode)
        assert_types(self.ps, query.name)
        assert_close(self.ps, query.name, query.compare, query.close)

    def refresh(self, query: Query, round_name: str) -> None:
        result = self.ps.refresh_stream_table(query.name)
        assert_close(self.ps, query.name, query.compare, query.close)
        allowed = {Action(self.mode)}
        if round_name in MAY_CHANGE_NOTHING or "do not reach" in result.reason:
            allowed.add(Action.NO_DATA)
        assert result.action in allowed, f"the refresh was {result.action}: {result.reason}"


@pytest.mark.parametrize("mode", ["DIFFERENTIAL", "FULL"])
@pytest.mark.parametrize("tables", TABLES)
def test_the_queries_stay_exact(ps: PgStream, tables: str, mode: str) -> None:
    source = TABLES[tables]
    ps.execute(source.create)
    ps.execute(source.rows)
    run = Run(ps, mode, [query for query in QUERIES if query.tables == tables])
    for name, change in source.rounds():
        ps.execute(change)
        if mode == "DIFFERENTIAL" or name in REFRESHED_IN_FULL:
            run.round(name)
    assert not run.failures, "\n" + "\n".join(run.failures)


def test_no_query_of_the_book_is_missing() -> None:
    covered = Counter(line for query in QUERIES for line in query.lines)
    assert [line for line in CALLS if covered[line] != 1] == []
    assert [line for line, times in covered.items() if times > 1] == []
    assert {query.tables for query in QUERIES} == set(TABLES)
