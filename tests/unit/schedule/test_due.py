"""Which stream tables are due, as a function of records and time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pgstream.catalog.records import Dependency, Mode, Status, StreamTable
from pgstream.schedule.due import due, on_cron, periods, to_build

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def table(
    id_: int, schedule: str | None = "1m", reads: tuple[int, ...] = (), age: float | None = 3600
) -> StreamTable:
    """Table t<id>, refreshed `age` seconds ago; None is never."""
    return StreamTable(
        id=id_,
        relid=1000 + id_,
        schema="public",
        name=f"t{id_}",
        defining_query="",
        original_query="",
        schedule=schedule,
        refresh_mode=Mode.DIFFERENTIAL,
        status=Status.ACTIVE if age is not None else Status.INITIALIZING,
        is_populated=age is not None,
        needs_reinit=False,
        frontier=None,
        consecutive_errors=0,
        data_timestamp=None if age is None else NOW - timedelta(seconds=age),
        last_refresh_at=None,
        last_error=None,
        updated_at=NOW,
        columns=("a",),
        dependencies=tuple(
            Dependency(1000 + each, "public", f"t{each}", True, frozenset()) for each in reads
        ),
    )


def due_ids(*tables: StreamTable, resting: tuple[int, ...] = ()) -> list[int]:
    return [each.id for each in due(tables, periods(tables), NOW, resting)]


def seconds(*tables: StreamTable) -> dict[int, float]:
    return {id_: period.total_seconds() for id_, period in periods(tables).items()}


def test_a_table_is_due_when_its_data_is_as_old_as_its_schedule() -> None:
    assert due_ids(table(1, "1m", age=60)) == [1]
    assert due_ids(table(1, "1m", age=59.9)) == []


def test_only_active_populated_tables_are_due() -> None:
    suspended = replace(table(1), status=Status.SUSPENDED)
    broken = replace(table(2), status=Status.ERROR)
    empty = replace(table(3), is_populated=False, data_timestamp=None)
    assert due_ids(suspended, broken, empty, table(4, age=None)) == []


def test_calculated_takes_the_shortest_period_downstream() -> None:
    chain = (table(1, None), table(2, None, reads=(1,)), table(3, "5m", reads=(2,)))
    assert seconds(*chain) == {1: 300, 2: 300, 3: 300}
    assert seconds(*chain, table(4, "2m", reads=(1,))) == {1: 120, 2: 300, 3: 300, 4: 120}


def test_calculated_without_a_scheduled_reader_is_never_due() -> None:
    assert due_ids(table(1, None), table(2, None, reads=(1,))) == []


def test_a_suspended_reader_asks_for_nothing() -> None:
    reader = replace(table(2, "1m", reads=(1,)), status=Status.SUSPENDED)
    assert seconds(table(1, None), reader) == {2: 60}


def test_an_explicit_schedule_stays_its_own() -> None:
    assert seconds(table(1, "1h"), table(2, "1m", reads=(1,))) == {1: 3600, 2: 60}


def test_readers_come_before_what_they_read() -> None:
    tables = (table(1), table(2, reads=(1,)), table(3, reads=(2,)), table(4))
    found = due_ids(*tables)
    assert set(found) == {1, 2, 3, 4}
    assert found.index(3) < found.index(2) < found.index(1)


def test_who_rests_is_left_alone_and_so_are_its_readers() -> None:
    tables = (table(1), table(2, reads=(1,)), table(3))
    assert due_ids(*tables, resting=(1,)) == [3]
    assert set(due_ids(*tables, resting=(2,))) == {1, 3}


def test_cron_is_not_due_by_time() -> None:
    cron = table(1, "*/5 * * * *")
    assert due_ids(cron) == []
    assert on_cron([cron, table(2), table(3, None)]) == [cron]


def test_new_tables_are_built_upstream_first() -> None:
    reader, source = table(1, reads=(2,), age=None), table(2, age=None)
    assert [each.id for each in to_build([reader, source, table(3)])] == [2, 1]
    assert [each.id for each in to_build([reader, source], resting={2})] == [1]


def test_a_table_created_empty_is_not_built() -> None:
    empty = replace(table(1, age=None), status=Status.ACTIVE)
    assert to_build([empty]) == []
