"""Tables, JSON documents and log lines."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from pgstream.catalog.records import Action, RefreshResult
from pgstream.cli import output
from pgstream.cli.layers import layers, show_layers
from pgstream.cli.log_lines import LogLines
from pgstream.cli.output import emit, show_table, text

COLUMNS = ("name", "reason")
NOON = datetime(2026, 1, 2, 12, 0, 1, 500, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (True, "yes"),
        (3, "3"),
        (1.25, "1.2"),
        (Decimal("10.50"), "10.50"),
        (NOON, "2026-01-02 12:00:01+00:00"),
        (timedelta(seconds=90), "90 s"),
        ("[bold]x", "[bold]x"),
    ],
)
def test_cells(value: Any, shown: str) -> None:
    assert text(value) == shown


def test_json_has_iso_dates_seconds_and_exact_decimals(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"at": NOON, "age": timedelta(minutes=1), "sum": Decimal("1.10"), "né": None})
    assert json.loads(capsys.readouterr().out) == {
        "at": "2026-01-02T12:00:01.000500+00:00",
        "age": 60.0,
        "sum": "1.10",
        "né": None,
    }


def test_a_table_shows_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(None, [{"name": "public.[red]t", "n": 5}], ("name", "n"))
    assert "public.[red]t" in capsys.readouterr().out


def test_layers_come_upstream_first(capsys: pytest.CaptureFixture[str]) -> None:
    base = RefreshResult("public.base", Action.DIFFERENTIAL, "1 changes", 1, 2, 3, 4, 1, 10.0, 5.0)
    top = RefreshResult("public.top", Action.NO_DATA, "no changes", upstream=(base,))
    found = layers(top)
    assert [layer["name"] for layer in found] == ["public.base", "public.top"]
    show_layers(found)
    shown = capsys.readouterr().out
    line = next(line for line in shown.splitlines() if "public.base" in line)
    assert line.split() == "public.base DIFFERENTIAL 1 changes 1 2 3 4 1 15".split()


def test_log_lines_for_people_and_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    LogLines(as_json=False).line("ready", "ready (8.0 s)", {"seconds": 8.0})
    LogLines(as_json=True).line("ready", "ready (8.0 s)", {"seconds": 8.0})
    person, program = capsys.readouterr().err.splitlines()
    assert person.endswith(" ready (8.0 s)")
    document = json.loads(program)
    assert document.pop("time").startswith("20")
    assert document == {"event": "ready", "line": "ready (8.0 s)", "seconds": 8.0}


def test_on_a_narrow_screen_a_wide_table_is_one_value_per_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "WIDTH_OF_A_PIPE", 30)
    show_table(None, [{"name": "public.totals", "reason": "the source has changed"}], COLUMNS)
    assert capsys.readouterr().out.splitlines() == [
        "name    public.totals",
        "reason  the source has changed",
        "",
    ]
