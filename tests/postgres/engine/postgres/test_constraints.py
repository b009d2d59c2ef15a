"""Which constraints are facts that a plan may rely on."""

from __future__ import annotations

import pytest

from pgstream.engine.postgres.constraints import not_null, unique_keys

FACTS = {
    "a primary key": ("CREATE TABLE t (a int PRIMARY KEY, b int)", [("a",)]),
    "a unique constraint": ("CREATE TABLE t (a int NOT NULL, b int NOT NULL, UNIQUE (b, a))",
                            [("a", "b")]),
    "an index with columns besides": (
        "CREATE TABLE t (a int NOT NULL, b int); CREATE UNIQUE INDEX ON t (a) INCLUDE (b)",
        [("a",)]),
    "two": ("CREATE TABLE t (a int PRIMARY KEY, b text NOT NULL UNIQUE)", [("a",), ("b",)]),
    "partitions": (
        "CREATE TABLE t (a int PRIMARY KEY) PARTITION BY RANGE (a);"
        " CREATE TABLE p PARTITION OF t FOR VALUES FROM (0) TO (9)", [("a",)]),
    "none": ("CREATE TABLE t (a int, b int); CREATE INDEX ON t (a)", []),
    "a column that may be NULL": ("CREATE TABLE t (a int UNIQUE)", []),
    "NULLs that are not distinct": ("CREATE TABLE t (a int UNIQUE NULLS NOT DISTINCT)", []),
    "some rows only": (
        "CREATE TABLE t (a int NOT NULL); CREATE UNIQUE INDEX ON t (a) WHERE a > 0", []),
    "an expression": (
        "CREATE TABLE t (a int NOT NULL); CREATE UNIQUE INDEX ON t ((a % 7))", []),
    "checked at the end": (
        "CREATE TABLE t (a int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)", []),
    "another comparison": (
        "CREATE TABLE t (a text NOT NULL); CREATE UNIQUE INDEX ON t (a text_pattern_ops)", []),
    "inheritance": (
        "CREATE TABLE t (a int PRIMARY KEY); CREATE TABLE child () INHERITS (t)", []),
}  # fmt: skip


@pytest.mark.parametrize("case", FACTS)
def test_what_is_a_fact(database, case: str) -> None:
    connection = database.connect()
    definition, wanted = FACTS[case]
    connection.execute(definition)
    (relid,) = connection.execute("SELECT 't'::regclass::oid::bigint").fetchone()
    assert unique_keys(connection, [relid]) == tuple((relid, names) for names in wanted)


NOT_NULL = {
    "a key and a column": ("CREATE TABLE t (a int PRIMARY KEY, b int, c int NOT NULL)", ["a", "c"]),
    "a partitioned table": (
        "CREATE TABLE t (a int NOT NULL, b int) PARTITION BY RANGE (a)", ["a"]),
    "inheritance": (
        "CREATE TABLE t (a int PRIMARY KEY); CREATE TABLE child () INHERITS (t)", []),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_NULL)
def test_what_is_never_null(database, case: str) -> None:
    connection = database.connect()
    definition, wanted = NOT_NULL[case]
    connection.execute(definition)
    (relid,) = connection.execute("SELECT 't'::regclass::oid::bigint").fetchone()
    assert not_null(connection, [relid]) == tuple((relid, name) for name in wanted)


def test_an_index_that_is_not_valid_is_no_fact(database) -> None:
    connection = database.connect()
    connection.execute("CREATE TABLE t (a int NOT NULL); INSERT INTO t VALUES (1), (1)")
    with pytest.raises(Exception, match="could not create unique index"):
        connection.execute("CREATE UNIQUE INDEX CONCURRENTLY ON t (a)")
    (relid,) = connection.execute("SELECT 't'::regclass::oid::bigint").fetchone()
    assert unique_keys(connection, [relid]) == ()
