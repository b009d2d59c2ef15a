"""Every SQL function and view has one file, which says who may use it."""

import re

import pytest

from pgstream.database.migrate import migrations
from pgstream.database.sql_functions import SqlFile, hash_of, in_order, sql_files

FILES = sql_files()
CREATED = re.compile(r"^CREATE (?:OR REPLACE )?(FUNCTION|VIEW|\w+) (?:pgstream\.)?(\w+)", re.M)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.area}/{file.name}")
def test_a_file_defines_what_it_is_named_for(file: SqlFile) -> None:
    created = set(CREATED.findall(file.text))
    assert created in ({("FUNCTION", file.name)}, {("VIEW", file.name)})
    assert file.text.startswith("-- ")
    assert file.text.endswith(" PUBLIC;\n")
    assert not re.search(r"^.{101,}$", re.sub(r"\$\$.*\$\$", "", file.text, flags=re.S), re.M)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.area}/{file.name}")
def test_a_file_states_the_rights_of_each_function(file: SqlFile) -> None:
    if file.is_view:
        assert f"GRANT SELECT ON pgstream.{file.name} TO PUBLIC;\n" in file.text
        return
    definitions = re.findall(r"^CREATE OR REPLACE FUNCTION ", file.text, re.M)
    assert len(definitions) == len(file.signatures) > 0
    assert {each.partition("(")[0] for each in file.signatures} == {f"pgstream.{file.name}"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.area}/{file.name}")
def test_a_function_has_a_search_path_of_its_own(file: SqlFile) -> None:
    """But for those in which the query means what it means to the caller, and constants."""
    callers = {"create_stream_table", "_create", "_check_query", "_parsed", "_probe"}
    if file.is_view or file.area == "locks" or file.name in callers:
        return
    assert "SET search_path = pg_catalog, pg_temp" in file.text


def test_nothing_is_defined_twice() -> None:
    names = [file.name for file in FILES]
    assert len(names) == len(set(names))
    for migration in migrations():
        assert not re.search(r"CREATE (OR REPLACE )?(FUNCTION|VIEW)", migration.text)


def test_views_come_last_and_after_those_they_read() -> None:
    def view(name: str, reads: str) -> SqlFile:
        return SqlFile("a", name, f"CREATE OR REPLACE VIEW pgstream.{name} AS TABLE {reads};")

    function = SqlFile("b", "f", "CREATE OR REPLACE FUNCTION pgstream.f() ...")
    views = [view("x", "pgstream.y"), view("y", "pgstream.z"), view("z", "t"), view("yy", "t")]
    for given in (views, views[::-1]):
        names = [file.name for file in in_order([*given, function])]
        assert names == ["f", "z", "yy", "y", "x"]


def test_the_hash_follows_the_text() -> None:
    first, *rest = FILES
    changed = SqlFile(first.area, first.name, first.text + "-- more\n")
    assert hash_of(FILES) == hash_of(in_order(reversed(FILES)))
    assert hash_of([changed, *rest]) != hash_of(FILES)
