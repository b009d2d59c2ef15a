"""Every type as a key: grouped, joined, DISTINCT, in set operations and windows, as a primary key,
with NULL; in MIN and MAX; and untouched where it passes through.

The tables hold several types at once. In each there is a row with all columns at their first
spelling; for each column one that differs from it in the spelling only, and one in the value. So a
key that is torn apart, or thrown together, shows in the counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers import assert_same_text, create_exact, refresh_exact, rows, script
from pgstream.client import PgStream
from pgstream.errors import UnsupportedExpression, UnsupportedType
from type_cases import CASES, TYPES, WITHOUT_EQUALITY, Case, literal

BATCHES = [CASES[i : i + 10] for i in range(0, len(CASES), 10)]


def listed(form: str, count: int, joint: str = ", ") -> str:
    return joint.join(form.format(i) for i in range(count))


def variants(cases: list[Case]) -> Iterator[list[str | None]]:
    """The row at its first spelling, and those that differ from it in one column."""
    first: list[str | None] = [case.first for case in cases]
    yield first
    for i, case in enumerate(cases):
        for value in (case.second, case.other, None):
            yield [*first[:i], value, *first[i + 1 :]]


def insert(ps: PgStream, table: str, first_id: int, values: list[list[str | None]]) -> None:
    for number, row in enumerate(values, first_id):
        ps.execute(f"INSERT INTO {table} VALUES ({number}, {', '.join(map(literal, row))})")


@pytest.mark.parametrize("cases", BATCHES, ids=lambda cases: f"{cases[0].type}…{cases[-1].type}")
def test_every_type_is_a_key(ps: PgStream, cases: list[Case]) -> None:
    script(ps, TYPES)
    count = len(cases)
    columns = ", ".join(f"k{i} {case.type}" for i, case in enumerate(cases))
    script(
        ps,
        f"CREATE TABLE a (id int, {columns})",
        f"CREATE TABLE b (id int, {columns}, PRIMARY KEY ({listed('k{}', count)}))",
    )
    every = list(variants(cases))
    insert(ps, "a", 1, every)
    insert(ps, "b", 1, [[case.second for case in cases], *every[2::3]])
    on = listed("a.k{0} = b.k{0}", count, " AND ")
    ordered = [i for i, case in enumerate(cases) if case.ordered]
    values = "".join(f", min(b.k{i}) AS min{i}, max(b.k{i}) AS max{i}" for i in ordered)
    create_exact(
        ps,
        "grouped",
        f"SELECT {listed('a.k{}', count)}, count(*) AS n{values} FROM a JOIN b ON {on}"
        f" GROUP BY {listed('a.k{}', count)}",
    )
    keys = listed("k{}", count)
    create_exact(ps, "united", f"SELECT {keys} FROM a UNION SELECT {keys} FROM b WHERE id > 1")
    create_exact(
        ps,
        "numbered",
        f"SELECT a.id, count(*) OVER (PARTITION BY {listed('a.k{}', count)}) AS n,"
        f" rank() OVER (ORDER BY {listed('a.k{}', count)}) AS place, b.id AS partner"
        f" FROM a LEFT JOIN b ON {on}",
    )
    names = ("grouped", "united", "numbered")
    assert ps.execute("SELECT max(n) FROM numbered") == [(count + 1,)]
    changes = (
        # The same in another spelling, and more of the same.
        f"UPDATE a SET {', '.join(f'k{i} = {literal(c.second)}' for i, c in enumerate(cases))}"
        f" WHERE id = 1; INSERT INTO a SELECT id + 1000, {keys} FROM a WHERE id % 3 = 1",
        # Another value; a key moves away from its partners.
        "".join(f"UPDATE a SET k{i} = {literal(c.other)} WHERE id = {3 * i + 2};"
                for i, c in enumerate(cases))
        + "UPDATE b SET id = -id WHERE id = 1; DELETE FROM b WHERE id = 2",
        "DELETE FROM a WHERE id % 2 = 1",
    )  # fmt: skip
    for change in changes:
        ps.execute(change)
        for name in names:
            refresh_exact(ps, name)


def test_every_type_passes_through_untouched(ps: PgStream) -> None:
    script(ps, TYPES)
    # Spark writes a numeric with the decimals of its neighbours, and -0 as 0.
    cases = [c for c in CASES + WITHOUT_EQUALITY if c.type not in ("numeric", "real")]
    columns = ", ".join(f"k{i} {case.type}" for i, case in enumerate(cases))
    ps.execute(f"CREATE TABLE a (id int, {columns})")
    insert(ps, "a", 1, [[c.first for c in cases], [c.other for c in cases], [None] * len(cases)])
    ps.create_stream_table("st", "SELECT * FROM a WHERE id > 0")
    assert_same_text(ps, "st")
    second = ", ".join(f"k{i} = {literal(case.second)}" for i, case in enumerate(cases))
    for change in (f"UPDATE a SET {second} WHERE id = 1", "UPDATE a SET id = -id WHERE id > 1"):
        ps.execute(change)
        ps.refresh_stream_table("st")
        assert_same_text(ps, "st")
        assert ps.verify("st").exact


# Keys that differ only in what a naive mapping loses.
SAME_KEYS = {
    "decimals of a numeric": ("numeric", "1.0", "1.00", "1.01"),
    "blanks at the end of char(n)": ("char(3)", "a", "a ", "b"),
    "negative zero": ("float8", "-0.0", "0.0", "1"),
    "negative zero of real": ("real", "0.0", "-0.0", "-1"),
    "not a number": ("float8", "NaN", "nan", "Infinity"),
    "an instant in two time zones": (
        "timestamptz", "2024-06-01 12:00 Europe/Berlin", "2024-06-01 10:00 UTC", "2024-06-01",
    ),
    "keys of jsonb in another order": (
        "jsonb", '{"a": 1, "b": {"c": 1.0, "d": 2}}', '{"b": {"d": 2, "c": 1}, "a": 1.00}', "1",
    ),
    "units of an interval": ("interval", "-1 mon 36:00", "-28 days -12:00", "-1 mon"),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME_KEYS.values(), ids=SAME_KEYS)
def test_equal_keys_group_and_join(ps: PgStream, case: tuple[str, str, str, str]) -> None:
    type_, first, second, other = case
    script(
        ps,
        f"CREATE TABLE a (id int, k {type_}); CREATE TABLE b (k {type_}, v int)",
        f"INSERT INTO a VALUES (1, '{first}'), (2, '{second}'), (3, '{other}'), (4, NULL)",
        f"INSERT INTO b VALUES ('{second}', 1), ('{first}', 2), ('{other}', 3), (NULL, 4)",
    )
    names = ("grouped", "joined")
    create_exact(ps, "grouped", "SELECT k, count(*) AS n, max(id) AS m FROM a GROUP BY k")
    create_exact(
        ps,
        "joined",
        "SELECT q.n, b.v, b.k FROM b LEFT JOIN (SELECT k, count(*) AS n FROM a GROUP BY k) q"
        " ON q.k = b.k",
    )
    assert sorted(row[1] for row in rows(ps, "grouped")) == [1, 1, 2]
    assert sorted((v, n) for n, v, _ in rows(ps, "joined")) == [(1, 2), (2, 2), (3, 1), (4, None)]
    for change in (
        f"INSERT INTO a VALUES (5, '{second}'), (6, '{first}'); UPDATE b SET k = '{first}'"
        " WHERE v = 1",
        f"UPDATE a SET k = '{first}' WHERE id IN (1, 2); UPDATE a SET k = '{second}' WHERE id = 3;"
        f" DELETE FROM a WHERE id > 4; UPDATE b SET k = '{other}' WHERE v = 2",
    ):
        ps.execute(change)
        for name in names:
            refresh_exact(ps, name)


def test_a_numeric_that_spark_does_not_hold_is_a_key(ps: PgStream) -> None:
    script(ps, "CREATE TABLE a (k numeric)", "INSERT INTO a VALUES (1.5), (1.50)")
    ps.create_stream_table("st", "SELECT k, count(*) AS n FROM a GROUP BY k")
    for value in ("NaN", "Infinity", "1" * 30 + "." + "1" * 9):
        ps.execute(f"INSERT INTO a VALUES ('{value}')")
        refresh_exact(ps, "st")
        ps.execute(f"DELETE FROM a WHERE k = '{value}'; INSERT INTO a VALUES (1.500)")
        refresh_exact(ps, "st")


SPELLINGS = {
    "subquery and table": "SELECT q.id, b.v FROM (SELECT id, k, j FROM a WHERE id > 0) q"
    " LEFT JOIN b ON b.k = q.k AND b.j = q.j",
    "using": "SELECT a.id, b.v, k FROM a FULL JOIN b USING (k)",
    "subqueries": "SELECT id, k IN (SELECT k FROM b WHERE v < 4) AS found,"
    " (SELECT sum(v) FROM b WHERE b.j = a.j) AS total FROM a"
    " WHERE EXISTS (SELECT FROM b WHERE b.k IS NOT DISTINCT FROM a.k)",
    # A row's own spelling counts: the first day of February is in another month.
    "lateral": "SELECT a.id, l.until, l.v FROM a LEFT JOIN LATERAL (SELECT DISTINCT"
    " timestamp '2024-01-31' + a.k AS until, b.v FROM b WHERE b.v > a.id) l ON true",
    "of its own spelling": "SELECT a.id, (SELECT array_agg(b.v || (a.doc ->> 'x') ORDER BY b.v)"
    " FROM b WHERE timestamp '2024-01-31' + b.k <= timestamp '2024-01-31' + a.k) AS vs,"
    " (SELECT string_agg(b.v::text, '' ORDER BY b.v) FROM b WHERE b.v > (a.doc ->> 'n')::int) AS x"
    " FROM a",
    "sets": "(SELECT k, j FROM a INTERSECT ALL SELECT k, j FROM b) UNION ALL"
    " (SELECT k, j FROM b EXCEPT SELECT k, j FROM a)",
    "declared otherwise": "SELECT a.id, b.v, x.n FROM a JOIN b ON a.n = b.n"
    " JOIN (SELECT n FROM a UNION SELECT n FROM b) x ON x.n = a.n",
    "grouping sets": "SELECT k, j, count(*) AS n FROM a GROUP BY ROLLUP (k, j)",
    "recursive": "WITH RECURSIVE r(k, n) AS (SELECT k, id FROM a UNION"
    " SELECT b.k, r.n + 1 FROM r JOIN b ON b.k = r.k WHERE r.n < 5) SELECT k, n FROM r",
}


def test_other_spellings_in_every_kind_of_query(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE a (id int, k interval, j jsonb, n numeric(4, 1)[],"
        " doc json DEFAULT '{\"n\": 1}');"
        " CREATE TABLE b (k interval, j jsonb, v int, n numeric(4, 2)[])",
        "INSERT INTO a VALUES (1, '30 days', '1.0', '{1}'), (2, '1 mon', '1', '{2}'),"
        " (3, NULL, NULL, NULL), (4, '1 day', '2', '{}')",
        "INSERT INTO b VALUES ('1 mon', '1', 1, '{1}'), ('720:00', '1.00', 2, '{1.25}'),"
        " (NULL, NULL, 3, '{}'), ('24:00', '2', 4, '{2}')",
    )
    for i, query in enumerate(SPELLINGS.values()):
        create_exact(ps, f"st{i}", query)
    for change in (
        "INSERT INTO a VALUES (5, '720:00', '2.0', '{1.3}'), (6, NULL, '1', '{2}');"
        " UPDATE b SET k = '24:00', j = '1.000' WHERE v = 1",
        "UPDATE a SET k = '1 mon', j = '1' WHERE id = 1; DELETE FROM a WHERE id IN (2, 3);"
        " UPDATE b SET k = '30 days', n = '{1.30}' WHERE v > 2",
    ):
        ps.execute(change)
        for i in range(len(SPELLINGS)):
            refresh_exact(ps, f"st{i}")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT q, count(*) AS n FROM a GROUP BY q", "tsquery cannot be a grouping column"),
        ("SELECT DISTINCT r FROM a", "column of type regclass cannot be compared"),
        ("SELECT r FROM a EXCEPT SELECT r FROM a", "column of type regclass cannot be compared"),
        ("SELECT count(*) OVER (PARTITION BY qs) AS n FROM a", r"type tsquery\[\] cannot be in"),
    ],
)
def test_a_type_whose_equality_is_not_known_is_no_key(ps: PgStream, query: str, words: str) -> None:
    ps.execute("CREATE TABLE a (q tsquery, qs tsquery[], r regclass)")
    with pytest.raises(UnsupportedType, match=words):
        ps.create_stream_table("st", query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT extract(day FROM k) AS d, count(*) AS n FROM a GROUP BY k",
        "SELECT k + timestamp '2024-01-31' AS t FROM (SELECT DISTINCT k FROM a) q",
        "SELECT j ->> 'x' AS x FROM (SELECT j FROM a UNION SELECT j FROM a) q",
    ],
)
def test_what_tells_equal_values_apart_is_computed_before_grouping(
    ps: PgStream, query: str
) -> None:
    ps.execute("CREATE TABLE a (k interval, j jsonb)")
    with pytest.raises(UnsupportedExpression, match="equal values may be written differently"):
        ps.create_stream_table("st", query)
