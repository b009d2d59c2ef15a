"""Which jobs begin while there are lanes."""

from pgstream.catalog.records import Initiator
from pgstream.schedule.admit import admit
from pgstream.schedule.decide import Job


def job(id_: int, is_whole: bool = False) -> Job:
    return Job((id_,), frozenset({id_}), Initiator.SCHEDULER, is_whole)


def ids(jobs: tuple[Job, ...]) -> list[int]:
    return [each.targets[0] for each in jobs]


def test_as_many_as_there_are_lanes_in_their_order() -> None:
    begun, waiting = admit([job(n) for n in range(5)], [job(7)], 4)
    assert (ids(begun), ids(waiting)) == ([0, 1, 2], [3, 4])


def test_whole_results_leave_a_lane_to_the_others() -> None:
    jobs = [job(1, True), job(2, True), job(3, True), job(4)]
    begun, waiting = admit(jobs, [], 3)
    assert (ids(begun), ids(waiting)) == ([1, 2, 4], [3])


def test_those_under_way_count() -> None:
    assert admit([job(3, True)], [job(1, True), job(2)], 3)[0]
    assert not admit([job(3, True)], [job(1, True), job(2, True)], 3)[0]


def test_one_lane_serves_all() -> None:
    assert ids(admit([job(1, True), job(2)], [], 1)[0]) == [1]


def test_fewer_lanes_than_before() -> None:
    assert not admit([job(3)], [job(1), job(2)], 1)[0]
