"""The order of stream tables, and the path of a cycle."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pgstream.catalog.records import Dependency, Mode, Status, StreamTable
from pgstream.errors import CycleError
from pgstream.refresh.graph import order, upstream


def table(relid: int, *reads: int) -> StreamTable:
    return StreamTable(
        id=relid, relid=relid, schema="public", name=f"s{relid}", defining_query="",
        original_query="", schedule="1m", refresh_mode=Mode.DIFFERENTIAL, status=Status.ACTIVE,
        is_populated=True, needs_reinit=False, frontier=None, consecutive_errors=0,
        data_timestamp=None, last_refresh_at=None, last_error=None,
        updated_at=datetime.now(UTC), columns=("a",),
        dependencies=tuple(Dependency(r, "public", f"s{r}", True, frozenset()) for r in reads),
    )  # fmt: skip


def test_a_diamond_is_refreshed_upstream_first():
    tables = [table(4, 2, 3), table(3, 1), table(2, 1), table(1, 99)]
    names = [t.relid for t in order(tables)]
    assert names.index(1) < min(names.index(2), names.index(3))
    assert names[-1] == 4


def test_upstream_takes_only_what_is_read():
    tables = [table(1, 99), table(2, 1), table(3, 99), table(4, 2)]
    assert [t.relid for t in upstream(tables[3], tables)] == [1, 2, 4]


def test_a_cycle_is_refused_with_its_path():
    with pytest.raises(CycleError) as caught:
        order([table(1, 2), table(2, 3), table(3, 1)])
    assert len(caught.value.path) == 4
    assert caught.value.path[0] == caught.value.path[-1]
    assert "public.s1" in str(caught.value)
