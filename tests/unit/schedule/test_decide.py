"""Which refreshes begin, as a function of the timetable and the moment."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from pgstream.catalog.records import Initiator, StreamTable
from pgstream.schedule.decide import Decision, Moment, Pace, behind, decide
from pgstream.schedule.timetable import Timetable
from pgstream.settings import Settings
from scheduled import NOW, table

AT_ONCE = Pace()


def decided(*tables: StreamTable, pace: Pace = AT_ONCE, **moment: Any) -> Decision:
    sets = {
        name: frozenset(value) if isinstance(value, tuple) else value
        for name, value in moment.items()
    }
    return decide(Timetable.of(tables, "UTC"), Moment(now=NOW, **sets), pace)


def targets(*tables: StreamTable, **moment: Any) -> list[tuple[int, ...]]:
    return [job.targets for job in decided(*tables, **moment).jobs]


def before(seconds: float) -> Any:
    return NOW - timedelta(seconds=seconds)


def test_what_is_due_begins_and_the_rest_tells_when_to_look_again() -> None:
    found = decided(table(1, "1m", age=60), table(2, "1m", age=50), table(3, "1h", age=0))
    assert [job.targets for job in found.jobs] == [(1,)]
    assert found.look_again == NOW + timedelta(seconds=10)


def test_the_earliest_deadline_is_first() -> None:
    tables = (table(1, "1m", age=61), table(2, "1m", age=90), table(3, "1m", age=70))
    assert targets(*tables) == [(2,), (3,), (1,)]


def test_a_connected_group_is_one_job_upstream_first() -> None:
    tables = (table(3), table(1, reads=(3,)), table(2, reads=(1,)), table(4))
    assert sorted(targets(*tables)) == [(3, 1, 2), (4,)]


def test_two_readers_of_one_table_are_one_job() -> None:
    tables = (table(1, "1h", age=0), table(2, reads=(1,)), table(3, reads=(1,)))
    (job,) = decided(*tables).jobs
    assert job.targets == (2, 3)
    assert job.covers == {1, 2, 3}


def test_only_what_is_due_and_needed_is_refreshed() -> None:
    fresh_reader = table(2, "1h", reads=(1,), age=1)
    slow_source = table(3, "1h", age=1)
    (job,) = decided(table(1, "1m", reads=(3,), age=100), fresh_reader, slow_source).jobs
    assert job.targets == (1,)
    assert job.covers == {1, 3}


def test_nobody_is_in_two_jobs_nor_begun_while_it_is_busy() -> None:
    tables = (table(1), table(2, reads=(1,)), table(3, reads=(1,)), table(4))
    assert targets(*tables, busy=(1,)) == [(4,)]
    assert targets(*tables, busy=(3,)) == [(1, 2), (4,)]
    jobs = decided(*tables, requested=(2,)).jobs
    assert [(job.targets, job.initiator) for job in jobs] == [
        ((2,), Initiator.MANUAL),
        ((4,), Initiator.SCHEDULER),
    ]


def test_who_rests_is_left_alone_and_so_are_its_readers() -> None:
    tables = (table(1), table(2, reads=(1,)), table(3, reads=(1,)), table(4))
    assert targets(*tables, resting=(1,)) == [(4,)]
    assert targets(*tables, resting=(2,)) == [(1, 3), (4,)]


def test_requests_then_new_tables_then_what_is_due() -> None:
    tables = (table(1), table(2, age=None), table(3, "1h", age=1))
    assert targets(*tables, requested=(3,)) == [(3,), (2,), (1,)]
    assert targets(*tables, requested=(3,), enabled=False) == [(3,), (2,)]


def test_a_request_does_not_wait_until_a_failure_has_rested() -> None:
    assert targets(table(1), resting=(1,), requested=(1,)) == [(1,)]


def test_a_new_table_that_failed_rests() -> None:
    assert targets(table(1, age=None), table(2, age=None), resting=(1,)) == [(2,)]


def test_a_change_makes_a_table_due() -> None:
    tables = (table(1, "on change"), table(2, "on change"))
    assert targets(*tables) == []
    assert targets(*tables, changed={2: before(0)}) == [(2,)]


def test_changes_are_collected_for_a_while() -> None:
    pace = Pace(debounce=timedelta(seconds=2))
    found = decided(table(1, "on change"), changed={1: before(0.5)}, pace=pace)
    assert not found.jobs
    assert found.look_again == NOW + timedelta(seconds=1.5)
    assert decided(table(1, "on change"), changed={1: before(2)}, pace=pace).jobs


def test_there_is_a_ceiling_on_refreshes_per_second() -> None:
    pace = Pace(spacing=timedelta(seconds=1))
    recent = {"changed": {1: before(0)}, "started": {1: before(0.25)}}
    found = decided(table(1, "on change"), pace=pace, **recent)
    assert not found.jobs
    assert found.look_again == NOW + timedelta(seconds=0.75)


def test_a_group_on_change_is_refreshed_with_what_it_reads() -> None:
    tables = (
        table(1, None, age=1),
        table(2, "on change", reads=(1,)),
        table(3, "1h", age=1, reads=(1,)),
    )
    (job,) = decided(*tables, changed={2: before(0)}).jobs
    assert (job.targets, job.covers) == ((2,), {1, 2})


def test_what_waits_long_for_its_turn_is_behind() -> None:
    late = decided(
        table(1, "1m", age=75), table(2, "1m", age=61), table(3, "1h", age=0), requested=(3,)
    )
    assert len(late.jobs) == 3
    assert behind(late.jobs, NOW) == {1: 15}


def test_the_pace_is_a_matter_of_settings() -> None:
    settings = Settings(on_change_debounce_ms=50, on_change_max_per_second=4.0)
    assert Pace.of(settings) == Pace(timedelta(seconds=0.05), timedelta(seconds=0.25))


def test_a_job_knows_that_it_computes_a_whole_result() -> None:
    changed = replace(table(2), needs_reinit=True)
    tables = (table(1), changed, table(3, reads=(2,), age=0))
    assert {job.targets: job.is_whole for job in decided(*tables).jobs} == {
        (1,): False,
        (2,): True,
    }
