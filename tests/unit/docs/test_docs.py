"""The documents say what the code does: names, defaults, codes and links."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from documents import REFERENCE, ROOT, names, rows
from pgstream import errors
from pgstream.algebra.placement.spark_list import SPARK_LIST
from pgstream.cli.app import BENCHES, COMMANDS
from pgstream.database.migrate import migrations
from pgstream.database.sql_functions import sql_files
from pgstream.database.sqlstates import ERRORS
from pgstream.errors import PgStreamError
from pgstream.settings import DECLARED, WITHOUT_EFFECT
from pgstream.sql.passes.refuse import REFUSALS

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SQL = "\n".join(each.text for each in (*migrations(), *sql_files()))


def headings(path: Path, level: int) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("#" * level + " "))


def test_every_refused_construct_is_listed() -> None:
    listed = [tuple(row[:3]) for row in rows(REFERENCE / "sql.md", "construct", "reason")]
    assert listed == [(each.construct, each.reason, each.way_out) for each in REFUSALS]


def test_every_setting_is_listed_with_its_default() -> None:
    listed = [(names(row[0])[0], row[1]) for row in rows(REFERENCE / "settings.md", "setting")]
    assert listed == [(each.name, each.show(each.default)) for each in DECLARED]


@pytest.mark.parametrize(
    "setting", [each for each in DECLARED if each.low is not None], ids=lambda each: each.name
)
def test_every_range_is_listed(setting) -> None:
    listed = {names(row[0])[0]: row[2] for row in rows(REFERENCE / "settings.md", "setting")}
    low, _, high = listed[setting.name].partition(" to ")
    assert (float(low), float(high)) == (setting.low, setting.high)


def test_every_setting_without_effect_is_listed_with_its_reason() -> None:
    listed = rows(REFERENCE / "settings.md", "without effect", "why")
    assert {names(name)[0]: why for name, why in listed} == WITHOUT_EFFECT


def test_every_error_is_listed_with_its_code() -> None:
    listed = [(r[0], names(r[1])[0], r[2]) for r in rows(REFERENCE / "errors.md", "code", "class")]
    classes = [
        each
        for _, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, PgStreamError)
    ]
    wanted = [(e.code, e.__name__, "yes" if e.transient else "no") for e in classes]
    assert listed == sorted(wanted)


def test_every_sqlstate_of_ours_is_listed_with_its_error() -> None:
    listed = {
        state: names(row[1])[0]
        for row in rows(REFERENCE / "errors.md", "code", "class")
        for state in re.findall(r"PS\d{3}", row[4])
    }
    ours = {state: kind.__name__ for state, kind in ERRORS.items() if state.startswith("PS")}
    assert listed == ours


def test_every_public_function_is_described() -> None:
    public = re.findall(r"CREATE OR REPLACE FUNCTION pgstream\.([a-z]\w*)\(", SQL)
    described = re.findall(r"^### `(\w+)\(", headings(REFERENCE / "api.md", 3), re.MULTILINE)
    assert sorted(described) == sorted(public)


def test_every_command_is_described() -> None:
    listed = [names(row[0])[0] for row in rows(REFERENCE / "api.md", "command", "does")]
    benches = [f"bench {name}" for name, _ in BENCHES]
    assert listed == [name for name, _ in COMMANDS] + benches


def test_every_catalog_table_and_view_is_described() -> None:
    text = (REFERENCE / "catalog.md").read_text(encoding="utf-8")
    for kind, name in re.findall(r"CREATE (?:OR REPLACE )?(TABLE|VIEW) (pgstream\.\w+)", SQL):
        found = f"## `{name}`" if kind == "TABLE" else f"| `{name}` |"
        assert found in text, f"catalog.md does not describe {name}"


def test_every_column_of_the_catalog_is_described() -> None:
    text = (REFERENCE / "catalog.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## `(pgstream\.\w+)`\n(.*?)(?=^## )", text, re.M | re.S))
    tables = re.findall(r"CREATE TABLE (pgstream\.\w+) \((.*?)^\);", SQL, re.M | re.S)
    assert {name for name, _ in tables} == set(sections)
    for name, body in tables:
        columns = re.findall(r"^    ([a-z]\w*) ", body, re.MULTILINE)
        for added in re.findall(rf"ALTER TABLE {re.escape(name)}\n(.*?);", SQL, re.DOTALL):
            columns += re.findall(r"ADD COLUMN (\w+)", added)
        first = [line.split("|")[1] for line in sections[name].splitlines() if line[:1] == "|"]
        assert [n for cell in first for n in names(cell)] == columns, name


def test_every_kind_of_state_table_is_described() -> None:
    """Their names are kind_<id> or kind_<id>_<more>, as drop_stream_table expects."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    kinds = {k for text in sources for k in re.findall(r'f"([a-z]+)_\{(?:self\.)?id_?\}', text)}
    text = (REFERENCE / "catalog.md").read_text(encoding="utf-8")
    assert {"state", "top", "recursive", "staging", "handover"} <= kinds
    for kind in kinds:
        assert f"| `{kind}_<pgs_id>" in text, f"catalog.md does not describe {kind}_<pgs_id>"


def test_sparks_list_is_described() -> None:
    listed = [
        name
        for row in rows(ROOT / "docs" / "design" / "values.md", "expression", "types")
        for name in names(row[0])
    ]
    assert sorted(listed) == sorted(SPARK_LIST)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, _, anchor in re.findall(r"\]\(([^)#\s]*)(#([^)\s]+))?\)", text):
        if re.match(r"\w+:", target):
            continue
        path = document.parent / target if target else document
        assert path.exists(), f"{document.name} links to {target}"
        if anchor:
            assert anchor in anchors(path), f"{target} has no section {anchor}"


def anchors(path: Path) -> list[str]:
    titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_examples_compile(document: Path) -> None:
    for code in re.findall(
        r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        compile(code, document.name, "exec")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_are_named_exist(document: Path) -> None:
    """Named from the package on, or from a room of several rooms."""
    package = ROOT / "src" / "pgstream"
    homes = (ROOT, package, package / "algebra", package / "refresh", ROOT / "tests")
    text = document.read_text(encoding="utf-8")
    for name in re.findall(r"`([a-z]\w*/[a-z_/]*\w\.(?:py|sql))`", text):
        assert any((home / name).exists() for home in homes), f"{document.name} names {name}"
