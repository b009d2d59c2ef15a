"""Every aggregate of PostgreSQL, in FULL and DIFFERENTIAL, grouped and not, through one life.

The table is empty, has rows, changes values, moves rows between groups, loses a group and gets
it back, has nothing but NULLs, and is empty again.
"""

from __future__ import annotations

import pytest

from helpers import (
    assert_equal,
    assert_same_text,
    assert_types,
    create_exact,
    refresh_exact,
    script,
)
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.errors import PgStreamError
from pgstream.sql.walk import OTHER_AGGREGATES

TABLE = """
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE t (
    id int PRIMARY KEY, g text, s smallint, i int, b bigint, n numeric(12,3), u numeric, r real,
    f double precision, h double precision, y boolean, x text, c char(4), e mood, bin bytea,
    d date, tm time, tz timetz, ts timestamp, tt timestamptz, iv interval, mo money, net inet,
    j jsonb, doc json, a int[], w int4range, m int4multirange, k bit(6), v xml
);
CREATE FUNCTION put(first int, last int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO t SELECT z, (ARRAY['a', 'b', 'c', NULL])[1 + z % 4], z % 9 - 4,
        nullif(z * 7 % 13 - 5, 3), 4000000000000000000 + z % 5, z * 0.125,
        CASE WHEN z % 3 = 0 THEN z ELSE round(z / 7.0, z % 5 * 4) END, z * 0.25, z / 3.0,
        2 * z / 3.0 + z % 2, z % 3 <> 0, 'x' || z % 6, 'c' || z % 3,
        (ARRAY['sad', 'ok', 'happy'])[1 + z % 3]::mood, decode(lpad(z::text, 4, '0'), 'hex'),
        DATE '2024-01-30' + z, TIME '08:00' + z * interval '7 min',
        TIMETZ '08:00+01' + z * interval '7 min', TIMESTAMP '2024-02-28' + z * interval '5 h',
        TIMESTAMPTZ '2024-03-30 12:00+00' + z * interval '5 h', z * interval '1 day 3 min',
        (z * 1.5)::numeric::money, ('10.0.0.' || z)::inet, jsonb_build_object('z', z % 4),
        json_build_array(z, NULL), ARRAY[z, NULL, z % 2], int4range(z, z + 40),
        int4multirange(int4range(z, z + 2), int4range(z + 50, z + 60)), z::bit(6), NULL
    FROM generate_series(first, last) z
$$;
CREATE FUNCTION put_nulls(first int, into_group text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO t (id, g) SELECT z, into_group FROM generate_series(first, first + 2) z
$$
"""
CHANGES = {
    "inserts": "SELECT put(1, 22), put_nulls(101, 'z')",
    "new values": "UPDATE t SET s = s + 1, i = i * 2, b = b - 7, n = n + 0.001, u = -u, r = r * 2,"
    " f = f + 1, h = h * 1.5, y = NOT y, x = x || 'é', e = 'ok', d = d + 1, iv = iv * 2,"
    " mo = mo + 1::money, j = j || '{\"q\": null}', a = a || id, w = int4range(id, id + 30),"
    " k = ~k WHERE id % 3 = 1",
    "other groups": "UPDATE t SET g = 'b' WHERE g = 'a' AND id > 10;"
    " UPDATE t SET g = NULL WHERE g = 'z' AND id = 102",
    "a group goes": "DELETE FROM t WHERE g = 'c' OR id % 5 = 0",
    "it returns": "SELECT put(30, 40); DELETE FROM t WHERE id < 6",
    "only NULLs": "DELETE FROM t WHERE g = 'b'; SELECT put_nulls(201, 'b'); DELETE FROM t WHERE"
    " g = 'z'; UPDATE t SET u = NULL, f = NULL, i = NULL, x = NULL, b = NULL WHERE g IS NULL",
    "nothing": "DELETE FROM t",
    "all again": "SELECT put(1, 9), put_nulls(301, 'a')",
}
ALSO_FULL = ("inserts", "a group goes", "only NULLs", "nothing", "all again")
MOMENTS = ("variance", "var_samp", "var_pop", "stddev", "stddev_samp", "stddev_pop")
ACCUMULATED = [f"{name}({column})" for name in MOMENTS for column in "sibnu"] + [
    *(f"{name}({column})" for name in ("count", "sum", "avg") for column in "sibnu"),
    "count(*)", "count(*) FILTER (WHERE y)", "count(j)", "var_pop(i) FILTER (WHERE x > 'x1')",
    "avg(u) FILTER (WHERE i > 0)", "sum(b) FILTER (WHERE false)", "stddev(u * 2)", "avg(n * u)",
]  # fmt: skip
# Spark reads the touched groups again, PostgreSQL finishes them.
BY_SPARK = ["sum(f)", "sum(r)", "avg(f)", "avg(r)", "avg(f) FILTER (WHERE y)", "count(*)"]
BY_SPARK += [f"{name}({column})" for name in ("min", "max") for column in
             ("s", "i", "b", "n", "u", "r", "f", "x", "y::int", "d", "ts", "tt")]  # fmt: skip
STATISTICS = [f"{name}({column})" for name in MOMENTS for column in "fr"] + [
    "sum(DISTINCT f)", "corr(h, f)", "covar_pop(h, f)", "covar_samp(h, f)", "regr_avgx(h, f)",
    "regr_avgy(h, f)", "regr_count(h, f)", "regr_intercept(h, f)", "regr_r2(h, f)",
    "regr_slope(h, f)", "regr_sxx(h, f)", "regr_sxy(h, f)", "regr_syy(h, f)", "regr_slope(h, n)",
    "regr_count(i, i) FILTER (WHERE y)", "covar_pop(h, f) FILTER (WHERE id > 3)",
]  # fmt: skip
EXTREMES = [f"{name}({column})" for name in ("min", "max") for column in
            ("c", "e", "bin", "tm", "tz", "iv", "mo", "net", "a")]  # fmt: skip
EXTREMES += [
    "min(x) FILTER (WHERE i > 0)", "max(DISTINCT i)", "sum(iv)", "avg(iv)", "sum(mo)",
    "sum(iv) FILTER (WHERE y)", "bool_and(y)", "bool_or(y)", "every(i > 0)",
    "bool_or(y) FILTER (WHERE s > 0)", "bit_and(i)", "bit_or(s)", "bit_xor(b)", "bit_and(k)",
    "bit_or(k)", "bit_xor(k)", "bit_xor(i) FILTER (WHERE y)", "bit_xor(DISTINCT i)",
    "range_agg(w)", "range_agg(m)", "range_intersect_agg(w)", "range_intersect_agg(m)",
    "range_agg(w) FILTER (WHERE y)", "any_value(CASE WHEN y THEN 1 END)",
    "any_value('one'::text) FILTER (WHERE NOT y)",
]  # fmt: skip
COLLECTED = [
    "string_agg(x, ', ' ORDER BY id)", "string_agg(bin, '\\x00' ORDER BY id DESC)",
    "string_agg(DISTINCT x, '' ORDER BY x)", "string_agg(x, g ORDER BY x, id) FILTER (WHERE y)",
    "array_agg(i ORDER BY id)", "array_agg(a ORDER BY id) FILTER (WHERE cardinality(a) = 3)",
    "array_agg(DISTINCT x ORDER BY x DESC NULLS LAST)", "array_agg(u ORDER BY u, id)",
    "array_agg(ts ORDER BY id)", "array_agg(e ORDER BY e, id)", "array_agg(j ORDER BY id)",
    "json_agg(i ORDER BY id)", "json_agg(doc ORDER BY id) FILTER (WHERE y)",
    "json_agg(u ORDER BY id)",
    "jsonb_agg(DISTINCT i ORDER BY i)", "jsonb_agg(j ORDER BY id)", "jsonb_agg(f ORDER BY id)",
    "json_agg_strict(i ORDER BY id)", "jsonb_agg_strict(x ORDER BY id)",
    "json_object_agg(id, i ORDER BY id)", "jsonb_object_agg(id, x ORDER BY id)",
    "json_object_agg_strict(id, i ORDER BY id)", "jsonb_object_agg_strict(id, i ORDER BY id)",
    "json_object_agg_unique(id, i ORDER BY id)", "jsonb_object_agg_unique(id, i ORDER BY id)",
    "json_object_agg_unique_strict(id, i ORDER BY id)",
    "jsonb_object_agg_unique_strict(id, i ORDER BY id)",
    "jsonb_object_agg(id, doc) FILTER (WHERE id % 2 = 0)",
    "json_arrayagg(i ORDER BY id)", "json_arrayagg(i ORDER BY id NULL ON NULL RETURNING jsonb)",
    "json_arrayagg(x ORDER BY id) FILTER (WHERE y)", "json_objectagg(id: x RETURNING jsonb)",
    "json_objectagg(id: i ABSENT ON NULL WITH UNIQUE KEYS RETURNING jsonb)",
    "xmlagg(v ORDER BY id)", "xmlagg(v ORDER BY id) FILTER (WHERE y)",
    "count(DISTINCT x)", "count(DISTINCT (i, y))", "count(DISTINCT j) FILTER (WHERE s > 0)",
    "sum(DISTINCT i)", "avg(DISTINCT n)", "sum(i ORDER BY id)", "stddev(DISTINCT s)",
]  # fmt: skip
ORDERED_SETS = [
    "mode() WITHIN GROUP (ORDER BY x)", "mode() WITHIN GROUP (ORDER BY i DESC)",
    "mode() WITHIN GROUP (ORDER BY e) FILTER (WHERE y)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY i)",
    "percentile_cont(0.3) WITHIN GROUP (ORDER BY iv)",
    "percentile_cont(ARRAY[0, 0.25, 1]) WITHIN GROUP (ORDER BY f DESC)",
    "percentile_cont(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY iv)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY x)",
    "percentile_disc(0.9) WITHIN GROUP (ORDER BY tt)",
    "percentile_disc(ARRAY[0.2, NULL, 0.8]) WITHIN GROUP (ORDER BY u)",
    "percentile_disc(0.1) WITHIN GROUP (ORDER BY n) FILTER (WHERE y)",
    "rank(3) WITHIN GROUP (ORDER BY i)",
    "rank(3, 'x2') WITHIN GROUP (ORDER BY i DESC, x NULLS FIRST)",
    "dense_rank(4) WITHIN GROUP (ORDER BY i) FILTER (WHERE y)",
    "percent_rank(5.5) WITHIN GROUP (ORDER BY n)", "cume_dist('x3') WITHIN GROUP (ORDER BY x)",
]  # fmt: skip
BATCHES = {
    "accumulated": ACCUMULATED,
    "by Spark": BY_SPARK,
    "by PostgreSQL": [*STATISTICS, *EXTREMES],
    "by PostgreSQL, ordered": [*COLLECTED, *ORDERED_SETS],
}


def query(calls: list[str], by: str) -> str:
    items = ", ".join(f"{call} AS v{i}" for i, call in enumerate(calls))
    return f"SELECT g, {items} FROM t GROUP BY g" if by else f"SELECT {items} FROM t"


@pytest.mark.parametrize("batch", BATCHES)
def test_every_aggregate(ps: PgStream, batch: str) -> None:
    ps.execute(TABLE)
    calls = BATCHES[batch]
    ps.create_stream_table("groups", query(calls, "g"))
    ps.create_stream_table("whole", query(calls, ""))
    ps.create_stream_table("groups_full", query(calls, "g"), refresh_mode="FULL")
    names = ("groups", "whole", "groups_full")
    assert_types(ps, *names)
    assert_equal(ps, *names)
    for change, text in CHANGES.items():
        ps.execute(text)
        assert ps.refresh_stream_table("groups").action is Action.DIFFERENTIAL
        ps.refresh_stream_table("whole")  # rows that only move between groups change nothing
        assert_equal(ps, "groups", "whole")
        if change in ALSO_FULL:
            assert ps.refresh_stream_table("groups_full").action is Action.FULL
            assert_equal(ps, "groups_full")
    ps.execute(CHANGES["new values"])
    assert ps.refresh_stream_table("whole", full=True).action is Action.FULL
    assert_equal(ps, "whole")


def test_none_is_missing(ps: PgStream) -> None:
    """What the server has is what lowering knows and what the batches try."""
    found = ps.execute(
        "SELECT DISTINCT proname::text FROM pg_proc WHERE prokind = 'a'"
        " AND pronamespace = 'pg_catalog'::regnamespace"
    )
    known = {"count", "sum", "avg", "min", "max", *OTHER_AGGREGATES}
    tried = {call.partition("(")[0] for calls in BATCHES.values() for call in calls}
    assert {name for (name,) in found} | {"json_arrayagg", "json_objectagg"} == known == tried


@pytest.mark.usual_way
def test_moments_of_exact_types_read_nothing(ps: PgStream) -> None:
    """Rows come, change, move and go: one Spark action, no row of the source."""
    script(
        ps,
        TABLE,
        "ALTER TABLE t ADD o numeric(30, 12)",
        "SELECT put(1, 60)",
        "UPDATE t SET u = round(u, 2), b = b - (id % 2) * 8000000000000000000,"
        " o = id * 123456789012345.678901234567",
    )
    calls = [f"{name}({column})" for name in MOMENTS for column in "sibno"]
    create_exact(ps, "groups", query(calls, "g"))
    create_exact(ps, "whole", query(calls, ""))
    create_exact(ps, "loose", query([f"{name}(u)" for name in (*MOMENTS, "avg")], "g"))
    for change in (
        "INSERT INTO t (id, g, s, i, b, n, u, o) VALUES (70, 'a', 1, -7, 5, 0.5, 0.5, -0.1)",
        "UPDATE t SET i = i + 1, b = -b, n = n / 2, u = u + 0.25, o = o / 7, g = 'b' WHERE id < 4",
        "DELETE FROM t WHERE id BETWEEN 10 AND 12",
    ):
        ps.execute(change)
        for name in ("groups", "whole", "loose"):
            result = refresh_exact(ps, name)
            assert (result.action, result.rows_read, result.spark_actions) == (
                Action.DIFFERENTIAL, 0, 1,
            )  # fmt: skip
        assert_same_text(ps, "groups")
        assert_same_text(ps, "whole")


@pytest.mark.usual_way
def test_a_group_has_the_digits_of_its_own_values(ps: PgStream) -> None:
    """A numeric without a scale: neighbours, and values that are gone, have more decimals."""
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g int, x numeric)",
        "INSERT INTO t VALUES (1, 1, 1), (2, 1, 2), (3, 1, 2), (4, 2, 0.00000000000000000001),"
        " (5, 3, 1), (6, 3, 1.00000000000000000002), (7, 3, 2), (8, 3, 2), (9, 3, 4)",
    )
    calls = ["avg(x)", "var_samp(x)", "stddev_pop(x)", "avg(x) FILTER (WHERE id <> 6)"]
    create_exact(ps, "st", query(calls, "g"))
    for change, read in {
        "INSERT INTO t VALUES (10, 3, 7)": 0,
        "DELETE FROM t WHERE id = 6": 5,
        "UPDATE t SET x = 5 WHERE id = 1": 0,
        "INSERT INTO t VALUES (11, 1, 0.3333333333333333333333)": 0,
        "UPDATE t SET g = 2 WHERE id = 11": 3,
    }.items():
        ps.execute(change)
        assert refresh_exact(ps, "st").rows_read == read


def test_float_sums_do_not_drift(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g text, f double precision, r real)",
        "INSERT INTO t SELECT z, chr(97 + z % 2), z / 10.0, z / 4.0 FROM generate_series(1, 9) z",
    )
    calls = ["sum(f)", "avg(f)", "sum(r)", "avg(r)"]
    for by in ("g", ""):
        ps.create_stream_table(f"st_{by}", query(calls, by))
    for change in (
        "INSERT INTO t VALUES (10, 'a', 1e17, 1e30), (11, 'b', -1e100, -1e30)",
        "DELETE FROM t WHERE id > 9",
        "INSERT INTO t VALUES (10, 'a', 'Infinity', 'NaN'), (11, 'b', 'NaN', '-Infinity')",
        "UPDATE t SET f = '-Infinity' WHERE id = 11",
        "DELETE FROM t WHERE id > 9",
    ):
        ps.execute(change)
        for name in ("st_g", "st_"):
            ps.refresh_stream_table(name)
            assert_equal(ps, name)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT sum(f) AS s FROM t",
        "SELECT q.s FROM (SELECT g, sum(f) AS s FROM t GROUP BY g) q JOIN t ON t.id = q.g",
        "SELECT q.s FROM (SELECT g, sum(r) AS s FROM t GROUP BY g) q JOIN t ON t.id = q.g",
    ],
)
def test_an_overflow_is_an_error(ps: PgStream, query: str) -> None:
    ps.execute("CREATE TABLE t (id int, g int, f double precision, r real)")
    ps.execute("INSERT INTO t VALUES (1, 1, 1e308, 3e38)")
    create_exact(ps, "st", query)
    ps.execute("INSERT INTO t VALUES (2, 1, 1e308, 3e38)")
    with pytest.raises(PgStreamError, match="out of range"):
        ps.refresh_stream_table("st")
    ps.execute("UPDATE t SET f = 'Infinity', r = 'Infinity' WHERE id = 2")
    refresh_exact(ps, "st")


NESTED = {
    "joined": "SELECT d.id, q.dev, q.var, q.n FROM d JOIN (SELECT g, stddev(i) AS dev,"
    " var_pop(u) AS var, max(x) AS top, count(*) AS n FROM t GROUP BY g) q ON q.g = d.g",
    "having": "SELECT g, count(*) AS n FROM t GROUP BY g HAVING var_samp(i) > 20"
    " AND bool_or(y) AND string_agg(x, '' ORDER BY id) <> ''",
    "per row": "SELECT d.id, (SELECT stddev_samp(t.n) FROM t WHERE t.g = d.g) AS dev,"
    " (SELECT array_agg(t.i ORDER BY t.id) FROM t WHERE t.g = d.g) AS list FROM d",
    "of groups": "SELECT var_pop(q.total) AS v, percentile_disc(0.5) WITHIN GROUP (ORDER BY q.dev)"
    " AS p FROM (SELECT g, sum(i) AS total, stddev(s) AS dev FROM t GROUP BY g) q",
    "rolled up": "SELECT g, y, stddev(i) AS dev, var_pop(b) AS v, count(*) AS n FROM t"
    " GROUP BY ROLLUP (g, y)",
    "first": "SELECT g, stddev_pop(i) AS dev FROM t GROUP BY g ORDER BY stddev_pop(i) DESC, g"
    " LIMIT 2",
    "united": "SELECT g, variance(s) AS v FROM t GROUP BY g UNION SELECT g, variance(s) FROM t"
    " WHERE y GROUP BY g",
}


def test_nested(ps: PgStream) -> None:
    script(ps, TABLE, "SELECT put(1, 16)", "CREATE TABLE d (id int, g text)",
           "INSERT INTO d VALUES (1, 'a'), (2, 'b'), (3, 'z'), (4, NULL), (5, 'c')")  # fmt: skip
    for i, text in enumerate(NESTED.values()):
        create_exact(ps, f"st_{i}", text)
    for name in ("new values", "a group goes"):
        ps.execute(CHANGES[name])
        for i in range(len(NESTED)):
            refresh_exact(ps, f"st_{i}")


@pytest.mark.parametrize("mode", ["DIFFERENTIAL", "FULL"])
def test_an_aggregate_of_the_users(ps: PgStream, mode: str) -> None:
    ps.execute("CREATE TABLE t (x int); INSERT INTO t VALUES (1), (2), (NULL)")
    ps.execute("CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int)")
    queries = ("SELECT total(x) AS s FROM t", "SELECT x, total(x) OVER () AS s FROM t",
               "SELECT x FROM (SELECT total(x) AS x FROM t) q")  # fmt: skip
    for i, query in enumerate(queries):
        create_exact(ps, f"st_{i}", query, refresh_mode=mode)
    for change in ("INSERT INTO t VALUES (2), (5)", "DELETE FROM t"):
        ps.execute(change)
        for i in range(len(queries)):
            refresh_exact(ps, f"st_{i}")
