"""Every expression has PostgreSQL's value and type, whoever computes it.

tests/e2e/expressions holds them as text: `spark.txt` those of Spark's list, each for columns of
every type that it admits; the others may be computed by anybody. `fails_*.txt` are those for
which PostgreSQL raises an error, and so must the refresh.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from expressions import ANYWHERE, ON_SPARK, TABLES, lines, query
from helpers import assert_exact, assert_types
from pgstream import errors
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.scan import Scan
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.compile.prepare import prepare
from pgstream.settings import Settings

A_BATCH = 90
CHANGE = """
INSERT INTO t SELECT 1, v.* FROM v WHERE id = 8;
UPDATE t SET id = id + 100 WHERE id <> 8;
DELETE FROM u WHERE id IN (1, 5)
"""
pytestmark = pytest.mark.filterwarnings("ignore::pgstream.client.PgStreamWarning")


def batches(expressions: list[str]) -> list[list[str]]:
    return [expressions[i : i + A_BATCH] for i in range(0, len(expressions), A_BATCH)]


def assert_all_equal(ps: PgStream, name: str, expressions: list[str]) -> None:
    """In value and type; where they differ, names the expressions."""
    assert_types(ps, name)
    columns = [as_compared(i, kind) for i, kind in enumerate(types(ps, name))]
    if differing(ps, expressions, columns) == [[], []]:
        return
    pairs = zip(expressions, columns, strict=True)
    each = ((text, differing(ps, expressions, [column])) for text, column in pairs)
    wrong = [f"{text}: {missing} {extra}" for text, (missing, extra) in each if missing or extra]
    pytest.fail("missing from the stream table, and not in the answer:\n" + "\n".join(wrong))


def types(ps: PgStream, name: str) -> list[str]:
    listed = ps.execute(
        "SELECT format_type(atttypid, NULL) FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attname ~ '^c[0-9]+$' ORDER BY attnum",
        (name,),
    )
    return [kind for (kind,) in listed]


def as_compared(number: int, kind: str) -> str:
    """Text is stricter than equality: but trailing zeros and the sign of 0 are not told apart."""
    by_value = kind in ("numeric", "real", "double precision")
    return f"c{number}" if by_value else f"c{number}::text"


def differing(ps: PgStream, expressions: list[str], columns: list[str]) -> list[Any]:
    """Five rows that only PostgreSQL's answer has, and five that only the stream table has."""
    shown = f"SELECT id, other, {', '.join(columns)} FROM"
    answer, stored = f"{shown} ({query(expressions)}) q", f"{shown} st"
    return [
        ps.execute(f"({one}) EXCEPT ALL ({other}) LIMIT 5")
        for one, other in ((answer, stored), (stored, answer))
    ]


def assert_stay_equal(ps: PgStream, expressions: list[str]) -> None:
    ps.create_stream_table("st", query(expressions))
    assert_all_equal(ps, "st", expressions)
    ps.execute(CHANGE)
    ps.refresh_stream_table("st")
    assert_all_equal(ps, "st", expressions)


def test_there_are_enough() -> None:
    every = {*ON_SPARK, *(text for texts in ANYWHERE.values() for text in texts)}
    assert len(every) >= 400


@pytest.mark.parametrize("number", range(len(batches(ON_SPARK))))
def test_sparks_list(ps: PgStream, number: int) -> None:
    ps.execute(TABLES)
    assert_stay_equal(ps, batches(ON_SPARK)[number])
    for node in prepare(ps.connection, ps.table("st")).plan.tree.walk():
        assert not isinstance(node, ByPostgres), node.label
        if isinstance(node, Scan):
            assert [f.sql for f in node.fields if f.sql] == []


@pytest.mark.parametrize(
    ("name", "number"),
    [(name, i) for name, texts in ANYWHERE.items() for i in range(len(batches(texts)))],
)
def test_expressions(ps: PgStream, name: str, number: int) -> None:
    ps.execute(TABLES)
    assert_stay_equal(ps, batches(ANYWHERE[name])[number])


class TestAnotherTimeZone:
    """Of the database, and so of every session that does not say otherwise."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, small_path_rows=5)  # the executors read, too

    def test_times_keep_their_meaning(self, ps: PgStream) -> None:
        ps.execute(TABLES)
        ((database,),) = ps.execute("SELECT current_database()")
        ps.execute(f"ALTER DATABASE {database} SET timezone = 'America/New_York'")
        assert_stay_equal(ps, [text for text in ANYWHERE["time"] if "z" in text][:12])


# --- errors ----------------------------------------------------------------------------------

BAD = "CREATE TABLE bad (number int, x2 smallint, y2 smallint, x4 int, y4 int, x8 bigint,"
BAD += " y8 bigint, m numeric(24, 4), n numeric(24, 4), r real, f float8, g float8, s text)"


def failing(name: str) -> list[tuple[str, dict[str, str]]]:
    found = []
    for line in lines(name):
        expression, _, values = line.rpartition(" | ")
        pairs = (value.split(" = ") for value in values.split(", "))
        found.append((expression, {column: text.strip("'") for column, text in pairs}))
    return found


@pytest.mark.parametrize("name", ["fails_on_spark", "fails_in_postgres"])
def test_an_error_of_postgres_is_an_error_of_the_refresh(ps: PgStream, name: str) -> None:
    """Each row chooses the one expression that is computed for it."""
    cases = failing(name)
    tests = [text if "<>" in text else f"({text}) <> 0" for text, _ in cases]
    whens = " ".join(f"WHEN {i} THEN {test}" for i, test in enumerate(tests))
    defining = f"SELECT number, CASE number {whens} END AS v FROM bad"
    ps.execute(BAD)
    ps.create_stream_table("st", defining)
    (scan,) = prepare(ps.connection, ps.table("st")).plan.sources.values()
    assert any(f.sql for f in scan.fields) is (name == "fails_in_postgres")
    for i, (text, values) in enumerate(cases):
        insert(ps, i, values)
        with pytest.raises(errors.PgStreamError):
            ps.execute(defining)
        assert refresh_fails(ps), f"{text} of {values}: {ps.execute('SELECT * FROM st')}"
        ps.execute("DELETE FROM bad")
    ps.execute("INSERT INTO bad VALUES (-1)")
    assert ps.refresh_stream_table("st").action is Action.DIFFERENTIAL
    assert_exact(ps, "st")


def refresh_fails(ps: PgStream) -> bool:
    """Whether it fails. Changes of rows that failed before cancel out."""
    try:
        ps.refresh_stream_table("st")
    except errors.PgStreamError:
        return True
    return False


def insert(ps: PgStream, number: int, values: dict[str, str]) -> None:
    columns, places = ", ".join(values), ", ".join(["%s"] * len(values))
    parameters: list[Any] = [number, *values.values()]
    ps.execute(f"INSERT INTO bad (number, {columns}) VALUES (%s, {places})", parameters)


def test_minus_and_abs_keep_all_digits(ps: PgStream) -> None:
    ps.execute(
        "CREATE TABLE a (id int, n numeric(38, 0)); CREATE TABLE b (id int, n numeric(38, 0))"
    )
    ps.execute("INSERT INTO a VALUES (1, -12345678901234567890123456789012345678), (2, NULL)")
    ps.execute("INSERT INTO b VALUES (1, 0), (2, 1)")
    ps.create_stream_table(
        "st", "SELECT a.id, -(a.n + b.n) AS minus, abs(a.n - b.n) AS size FROM a JOIN b USING (id)"
    )
    assert_exact(ps, "st")
    ps.execute("UPDATE b SET n = 1")
    ps.refresh_stream_table("st")
    assert_exact(ps, "st")


def test_a_numeric_beyond_spark_is_never_rounded(ps: PgStream) -> None:
    ps.execute("CREATE TABLE big (id int, a numeric(38, 10), b numeric(38, 10))")
    ps.create_stream_table("st", "SELECT id, a * b AS c FROM big")
    ps.execute("INSERT INTO big VALUES (1, 12345678901234567890.0123456789, 0.0000000001)")
    ps.refresh_stream_table("st")
    assert_exact(ps, "st")
    ps.execute("INSERT INTO big VALUES (2, 12345678901234567890.0123456789, 123)")
    ps.refresh_stream_table("st")
    assert_exact(ps, "st")


def test_value_functions_are_computed_anew_in_full_mode(ps: PgStream) -> None:
    ps.execute("CREATE TABLE x (id int, d date); INSERT INTO x VALUES (1, '2020-01-01')")
    names = "CURRENT_USER CURRENT_ROLE SESSION_USER CURRENT_CATALOG".split()
    items = ", ".join(f"{name} AS c{i}" for i, name in enumerate(names))
    clocks = "CURRENT_TIMESTAMP LOCALTIMESTAMP now() clock_timestamp()".split()
    items += "".join(f", {name} > '2020-01-01' AS t{i}" for i, name in enumerate(clocks))
    items += ", CURRENT_TIME IS NULL AS n, LOCALTIME(0) IS NULL AS m, random() < 2 AS r"
    text = f"SELECT id, {items} FROM x WHERE d < CURRENT_DATE"
    ps.create_stream_table("st", text, refresh_mode="FULL")
    assert_exact(ps, "st")
    ps.execute("INSERT INTO x VALUES (2, 'infinity'), (3, '-infinity')")
    ps.refresh_stream_table("st")
    assert_exact(ps, "st")
