"""When stream tables are due, as a function of records and time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pgstream.catalog.records import Initiator, Status, StreamTable
from pgstream.schedule.timetable import Timetable, resumed
from scheduled import NOW, table


def timetable(*tables: StreamTable) -> Timetable:
    return Timetable.of(tables, "UTC")


def seconds(*tables: StreamTable) -> dict[int, float]:
    return {id_: each.total_seconds() for id_, each in timetable(*tables).periods.items()}


def due_at(found: Timetable, id_: int) -> datetime | None:
    return found.dues[id_].start if id_ in found.dues else None


def due_in(found: Timetable, id_: int) -> float | None:
    due = due_at(found, id_)
    return None if due is None else (due - NOW).total_seconds()


def test_a_table_is_due_when_its_data_is_as_old_as_its_schedule() -> None:
    assert due_in(timetable(table(1, "1m", age=20)), 1) == 40


def test_only_active_populated_tables_are_due() -> None:
    suspended = replace(table(1), status=Status.SUSPENDED)
    broken = replace(table(2), status=Status.ERROR)
    empty = replace(table(3), is_populated=False, data_timestamp=None)
    found = timetable(suspended, broken, empty, table(4, age=None))
    assert [due_at(found, id_) for id_ in (1, 2, 3, 4)] == [None] * 4


def test_calculated_takes_the_shortest_period_downstream() -> None:
    chain = (table(1, None), table(2, None, reads=(1,)), table(3, "5m", reads=(2,)))
    assert seconds(*chain) == {1: 300, 2: 300, 3: 300}
    assert seconds(*chain, table(4, "2m", reads=(1,))) == {1: 120, 2: 300, 3: 300, 4: 120}


def test_calculated_without_a_scheduled_reader_is_never_due() -> None:
    found = timetable(table(1, None), table(2, None, reads=(1,)), table(3, "@daily", reads=(2,)))
    assert due_at(found, 1) is due_at(found, 2) is None


def test_a_suspended_reader_asks_for_nothing() -> None:
    reader = replace(table(2, "1m", reads=(1,)), status=Status.SUSPENDED)
    assert seconds(table(1, None), reader) == {2: 60}


def test_schedules_that_meet_are_aligned_to_canonical_periods() -> None:
    found = timetable(table(1, "1h", age=10), table(2, "1m", reads=(1,), age=10), table(3, "1m"))
    assert found.aligned == {1, 2}
    hour, minute = due_at(found, 1), due_at(found, 2)
    assert hour is not None
    assert minute is not None
    assert hour.timestamp() % 3072 == 0
    assert minute.timestamp() % 48 == 0
    assert NOW - timedelta(seconds=10) < minute <= hour <= NOW - timedelta(seconds=10 - 3072)


def test_equal_schedules_and_those_of_strangers_need_no_alignment() -> None:
    found = timetable(table(1, "1m"), table(2, "1m", reads=(1,)), table(3, "1h"))
    assert not found.aligned


def test_a_cron_expression_is_due_at_its_next_time_after_the_data() -> None:
    found = timetable(table(1, "0 6 * * *", age=60), table(2, "*/15 * * * *", age=3600))
    assert due_at(found, 1) == datetime(2026, 1, 2, 6, tzinfo=UTC)
    assert due_at(found, 2) == datetime(2026, 1, 1, 11, 15, tzinfo=UTC)


def test_a_duration_beyond_the_calendar_is_never_due() -> None:
    assert due_at(timetable(table(1, "999999999w")), 1) is None


def test_tables_on_change_wait_for_changes() -> None:
    asleep = replace(table(2, "on change"), status=Status.SUSPENDED)
    found = timetable(table(1, "on change"), asleep, table(3, "on change", age=None))
    assert found.on_change == (1,)
    assert due_at(found, 1) is None


def test_a_table_on_change_listens_to_all_that_its_refresh_reads() -> None:
    found = timetable(table(1, None, sources=(7,)), table(2, "on change", reads=(1,), sources=(8,)))
    assert found.sources(2) == {7, 8, 1001}


def test_what_is_at_rest_is_read_as_it_is() -> None:
    broken = replace(table(2, reads=(1,)), status=Status.ERROR)
    found = timetable(table(1), broken, table(3, reads=(2,)))
    assert found.covers(3) == {1, 3}
    assert found.covers(3, Initiator.MANUAL) == {1, 2, 3}
    assert found.is_readable(3)
    assert not timetable(replace(broken, is_populated=False), table(3, reads=(2,))).is_readable(3)


def test_new_tables_are_built_upstream_first() -> None:
    reader, source = table(1, reads=(2,), age=None), table(2, age=None)
    assert timetable(reader, source, table(3)).to_build == (2,)
    assert timetable(reader, table(2)).to_build == (1,)


def test_a_table_created_empty_is_not_built() -> None:
    assert timetable(replace(table(1, age=None), status=Status.ACTIVE)).to_build == ()


def test_a_refreshed_table_is_due_later_and_an_altered_one_changes_the_others() -> None:
    found = timetable(table(1, None), table(2, "1m", reads=(1,)))
    fresh = found.updated([table(1, None, age=0), table(2, "1m", reads=(1,), age=0)])
    assert due_in(fresh, 1) == due_in(fresh, 2) == 60
    altered = found.updated([table(2, "5m", reads=(1,), age=0)])
    assert altered.periods[1] == timedelta(minutes=5)


def test_who_is_resumed() -> None:
    was = {1: replace(table(1), status=Status.ERROR), 2: table(2), 3: table(3)}
    now = [table(1), replace(table(2), status=Status.SUSPENDED), table(3), table(4)]
    assert resumed(was, now) == [1]
