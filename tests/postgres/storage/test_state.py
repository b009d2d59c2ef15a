"""Groups before and after a change are computed apart from what is stored, then stored."""

from __future__ import annotations

from typing import Any

import pytest

from pgstream.algebra.expressions import Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.plan import Accumulated, plan
from pgstream.algebra.types import INTEGER, NUMERIC
from pgstream.database.connection import Connection
from pgstream.errors import IntegrityError
from pgstream.storage.state import State
from pgstream.storage.temporary import Temporary, create_temporary

Group = tuple[Any, ...]
T = Scan(Source(7, "public", "t", False), (Field("k", NUMERIC), Field("x", INTEGER)))


def most(keys: tuple[int, ...] = (0,)) -> Accumulated:
    """SELECT max(x) FROM t GROUP BY k: the accumulators are n and max_1."""
    call = AggregateCall("max", 1, INTEGER)
    made = plan(Project(Aggregate(T, keys, (call,)), (Ref(len(keys), INTEGER),), ("most",)))
    assert made.accumulated is not None
    return made.accumulated


@pytest.fixture
def state(owner: Connection) -> State:
    """Groups 1.0 of two rows, and NULL of one."""
    owner.execute("BEGIN")
    state = State(owner, "state_1", most())
    groups = filled(state, "groups", [("1.0", 2, 5, 11, 1), (None, 1, 3, 12, 1)])
    state.replace(groups)
    owner.execute(f"DROP TABLE {groups.name.as_string()}")
    return state


def filled(state: State, kind: str, rows: list[Group], removed: bool = False) -> Temporary:
    columns = state.columns
    if removed:
        columns += (type(columns[0])("removed_max_1", INTEGER),)
    table = create_temporary(state.connection, kind, 1, columns)
    marks = ", ".join(["%s"] * (len(columns) + 2))
    for row in rows:
        state.connection.execute(f"INSERT INTO {table.name.as_string()} VALUES ({marks})", row)
    return table


def change(state: State, *rows: Group) -> Temporary:
    """Of each group: key, n, the greatest value added and removed, the row id."""
    given = [(k, n, added, gone, id_, 1) for k, n, added, gone, id_ in rows]
    return filled(state, "change", given, removed=True)


def shown(state: State, relation: str, columns: str = "k0::text, n, max_1") -> list[Group]:
    rows = state.connection.execute(f"SELECT {columns} FROM {relation}").fetchall()
    return sorted(rows, key=repr)


def unsettled(state: State, changed: Temporary, groups: Temporary) -> list[Group]:
    query = state.unsettled(changed, groups)
    assert query is not None
    return state.connection.execute(query).fetchall()


STORED = [("1.0", 2, 5), (None, 1, 3)]


def test_added_groups_are_stored_at_the_end(state: State) -> None:
    """An equal key spelled otherwise, a NULL that vanishes, a group that is new."""
    changed = change(
        state, ("1.00", 1, 9, None, 11), (None, -1, None, 3, 12), ("2.5", 1, 4, None, 13)
    )
    groups = state.added(changed)
    assert shown(state, "pgstream_state.state_1") == sorted(STORED, key=repr)
    assert shown(
        state, "pg_temp.__pgs_groups_state_1", "k0::text, n, max_1, __pgs_weight"
    ) == sorted([("1.0", 2, 5, -1), (None, 1, 3, -1), ("1.0", 3, 9, 1), ("2.5", 1, 4, 1)], key=repr)
    assert unsettled(state, changed, groups) == []
    after = sorted([("1.0", 3, 9), ("2.5", 1, 4)], key=repr)
    assert shown(state, state.all_groups(groups).as_string(state.connection)) == after
    state.store(groups)
    assert shown(state, "pgstream_state.state_1") == after


def test_a_lost_extreme_is_read_again(state: State) -> None:
    changed = change(state, ("1.0", -1, None, 5, 11), (None, 1, 1, None, 12))
    groups = state.added(changed)
    assert [str(key) for key, _ in unsettled(state, changed, groups)] == ["1.0"]
    fresh = filled(state, "fresh", [("1", 1, 4, 11, 1)])
    state.store(state.with_fresh(groups, fresh))
    stored = sorted([("1", 1, 4), (None, 2, 3)], key=repr)
    assert shown(state, "pgstream_state.state_1") == stored


def test_touched_groups_that_are_recomputed(state: State) -> None:
    """One has other values, one is gone, one is new."""
    touched = create_temporary(state.connection, "touched", 1, state.keys)
    name = touched.name.as_string()
    state.connection.execute(f"INSERT INTO {name} VALUES (1, 11, 1), (NULL, 12, 1), (7, 17, 1)")
    fresh = filled(state, "fresh", [("1.0", 1, 2, 11, 1), ("7", 1, 70, 17, 1)])
    groups = state.recomputed(touched, fresh)
    assert len(shown(state, "pg_temp.__pgs_groups_state_1")) == 4
    state.store(groups)
    assert shown(state, "pgstream_state.state_1") == [("1.0", 1, 2), ("7", 1, 70)]


def test_a_group_of_fewer_than_no_rows(state: State) -> None:
    with pytest.raises(IntegrityError):
        state.added(change(state, ("1.0", -3, None, 1, 11)))


def test_the_one_group_without_keys_never_vanishes(owner: Connection) -> None:
    owner.execute("BEGIN")
    state = State(owner, "state_1", most(()))
    groups = filled(state, "groups", [(1, 5, 1, 1)])
    state.replace(groups)
    owner.execute("DROP TABLE pg_temp.__pgs_groups_1")
    changed = filled(state, "change", [(-1, None, 5, 1, 1)], removed=True)
    groups = state.added(changed)
    assert len(unsettled(state, changed, groups)) == 1
    state.store(groups)
    assert shown(state, "pgstream_state.state_1", "n") == [(0,)]


def test_postgresql_expects_as_many_partners_as_there_are(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it expected one, it would compare all groups with all."""
    many = 2000
    state.connection.execute(
        "INSERT INTO pgstream_state.state_1 SELECT k, 1, k, 100 + k"
        f" FROM generate_series(2, {many}) k; ANALYZE pgstream_state.state_1"
    )
    changed = change(state)
    state.connection.execute(
        f"INSERT INTO {changed.name.as_string()} SELECT k, 1, k + 1, NULL, 100 + k, 1"
        f" FROM generate_series(2, {many}) k; ANALYZE {changed.name.as_string()}"
    )
    groups, plans = state.added(changed), list[dict[str, Any]]()

    def explained(text: str, **parts: Any) -> None:
        query = "EXPLAIN (ANALYZE, FORMAT JSON) " + state._format(text, **parts).as_string()
        row = state.connection.execute(query.encode()).fetchone()
        assert row is not None
        plans.append(row[0][0]["Plan"]["Plans"][0])

    monkeypatch.setattr(state, "_run", explained)
    state.store(groups)
    updated, inserted, deleted = (plan["Actual Rows"] for plan in plans)
    assert (updated, inserted, deleted) == (many - 1, 0, 0)
    assert many / 4 < plans[0]["Plan Rows"] < many * 4
