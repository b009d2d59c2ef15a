"""What a change of the sources means."""

from __future__ import annotations

from typing import Any

import pytest

from pgstream.catalog.shapes import Changed
from pgstream.refresh.judge import Verdict, judge

COLUMN = [1, 23, -1, 0, None, None]


def shape(**more: Any) -> dict[str, Any]:
    known = {"schema": "s", "name": "t", "kind": "r", "captured": True, "columns": {"a": COLUMN}}
    return {**known, **{key.replace("_", " "): value for key, value in more.items()}}


def verdict(after: dict[str, Any] | None, before: dict[str, Any] | None = None) -> Verdict:
    return judge(Changed(1, 5, before or shape(), after), frozenset((8,)))


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (None, "the table s.t has been dropped"),
        (shape(row_security=True), "s.t has row security now"),
        (shape(columns={}), "the column a of s.t has been renamed or dropped"),
    ],
)
def test_what_breaks(after: dict[str, Any] | None, says: str) -> None:
    assert verdict(after) == Verdict(broken=says)


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (0, "s.t: column a was dropped and created again"),
        (1, "s.t: the type of column a has changed"),
        (2, "s.t: the type of column a has changed"),
        (3, "s.t: the collation of column a has changed"),
        (4, "s.t: the expression of column a has changed"),
        (5, "s.t: the type of column a has changed"),
    ],
)
def test_columns_that_are_other_ones(part: int, says: str) -> None:
    column = [*COLUMN[:part], 99, *COLUMN[part + 1 :]]
    assert verdict(shape(columns={"a": column})) == Verdict(restarts=says, rereads=True)


@pytest.mark.parametrize(
    ("before", "after", "restarts"),
    [
        ({"7": "1"}, {"7": "1", "8": "2"}, False),
        ({"7": "1"}, {"7": "1", "9": "2"}, True),
        ({"7": "1"}, {}, True),
        ({"7": "1"}, {"8": "2"}, True),
        ({"7": "1"}, {"7": "2"}, True),
    ],
)
def test_only_members_without_rows_come_unnoticed(
    before: dict[str, str], after: dict[str, str], restarts: bool
) -> None:
    found = verdict(shape(members=after, captured=False), shape(members=before))
    assert bool(found.restarts) is restarts
    assert not found.rereads


def test_other_changes() -> None:
    assert verdict(shape(name="u")) == Verdict()
    assert verdict(shape(captured=False)).restarts
    view = {"schema": "s", "name": "v", "kind": "v", "query": "1"}
    assert verdict({**view, "query": "2"}, view) == Verdict(
        restarts="view s.v has changed", rereads=True
    )
    assert verdict({**view, "name": "w"}, view) == Verdict()
    assert verdict(None, view) == Verdict(broken="the view s.v has been dropped")


def test_functions_and_types() -> None:
    before = {"function public.f(integer)": "1", "type public.mood": "2"}

    def found(**after: str | None) -> Verdict:
        names = dict(zip(("f", "t"), before, strict=True))
        changed = {**before, **{names[key]: value for key, value in after.items()}}
        return judge(Changed(1, None, before, changed))

    assert found(f="9") == Verdict(restarts="function public.f(integer) has changed", rereads=True)
    assert found(t="9") == Verdict(restarts="type public.mood has changed", rereads=True)
    assert found(f=None).broken == "the function public.f(integer) has been dropped or renamed"
