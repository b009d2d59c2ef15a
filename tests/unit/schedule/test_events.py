"""The lines of the worker's log."""

import pytest

from pgstream.catalog.records import Action, RefreshResult
from pgstream.errors import ComputeError
from pgstream.schedule.events import failed, idle_tables, refreshed, results_told


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (
            RefreshResult(
                "public.t", Action.DIFFERENTIAL, "12 changes", 12, 9, 3, 2, 1, total_ms=180.4
            ),
            "public.t DIFFERENTIAL 12 changes, +3 −2 rows, 180 ms",
        ),
        (
            RefreshResult("public.t", Action.NO_DATA, "no changes", total_ms=4.6),
            "public.t NO_DATA no changes, 5 ms",
        ),
        (
            RefreshResult("public.t", Action.FULL, "first population", 0, 7, 7, 0, 1, total_ms=900),
            "public.t FULL (first population), +7 −0 rows, 900 ms",
        ),
        (
            RefreshResult("public.t", Action.SKIP, "another refresh of it is running"),
            "public.t SKIP another refresh of it is running",
        ),
    ],
)
def test_a_refresh(result: RefreshResult, line: str) -> None:
    event = refreshed(result)
    assert (event.kind, event.line) == ("refresh", line)
    assert event.fields["action"] == result.action.value


def test_a_failure_is_one_line_with_its_code() -> None:
    event = failed("public.t", ComputeError("Division by zero.", detail="more"))
    assert event.line == "public.t FAILED [PGS-0402] Division by zero."
    assert event.fields["message"] == "Division by zero.\nmore"


def test_an_unknown_failure_has_its_type() -> None:
    event = failed("public.t", ValueError("odd\nmore"))
    assert event.line == "public.t FAILED [PGS-0106] ValueError: odd"


def test_tables_without_changes_are_one_line() -> None:
    event = idle_tables(["public.b", "public.a"])
    assert event.line == "2 stream tables have no changes"
    assert event.fields["names"] == ["public.a", "public.b"]
    assert idle_tables(["public.a"]).line == "1 stream table has no changes"


def test_upstream_is_told_if_it_had_changes() -> None:
    quiet = RefreshResult("public.a", Action.NO_DATA, "no changes")
    busy = RefreshResult("public.b", Action.DIFFERENTIAL, "1 changes")
    due = RefreshResult("public.c", Action.NO_DATA, "no changes")
    told = results_told([quiet, busy, due], ["public.c"])
    assert [event.fields["name"] for event in told] == ["public.b", "public.c"]
