"""Settings as operators see them."""

from __future__ import annotations

from pgstream.monitor.settings import setting_rows
from pgstream.settings import DECLARED, WITHOUT_EFFECT, Settings


def test_every_setting_has_a_row() -> None:
    rows = setting_rows({}, None)
    assert [row["setting"] for row in rows] == [*(each.name for each in DECLARED), *WITHOUT_EFFECT]


def test_a_row_tells_value_source_and_range() -> None:
    rows = {row["setting"]: row for row in setting_rows({"max_concurrent_refreshes": "2"}, None)}
    row = rows["max_concurrent_refreshes"]
    assert (row["value"], row["source"], row["default"]) == (2, "server", 4)
    assert row["allowed"] == "a whole number from 1 to 32"


def test_what_has_no_effect_shows_what_is_set() -> None:
    rows = {row["setting"]: row for row in setting_rows({"merge_strategy": "merge"}, None)}
    assert (rows["merge_strategy"]["value"], rows["merge_strategy"]["source"]) == (
        "merge",
        "server",
    )
    assert not rows["merge_strategy"]["has_effect"]


def test_settings_of_the_program_count_alone() -> None:
    rows = setting_rows({"read_slices": "3"}, Settings(read_slices=5))
    row = next(row for row in rows if row["setting"] == "read_slices")
    assert (row["value"], row["source"]) == (5, "program")
