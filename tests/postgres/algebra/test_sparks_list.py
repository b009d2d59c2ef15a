"""Spark's list is exercised: tests/e2e/expressions/spark.txt has each entry for each type."""

from __future__ import annotations

from dataclasses import replace

from expressions import ON_SPARK, TABLES, query
from pgstream.algebra.expressions import Call, Literal, Ref, walk
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Scan
from pgstream.algebra.placement.spark_list import SPARK_LIST
from pgstream.algebra.types import BOOLEAN, INTEGER, TEXT, Type
from pgstream.client import PgStream
from pgstream.compile.prepare import prepare

TESTS = frozenset(n for n in SPARK_LIST if n.startswith("is ") and not n.endswith("from"))
UNARY = TESTS | {"negate", "abs", "not", "length"}
EQUALITY = ("=", "<>", "in", "nullif", "is distinct from", "is not distinct from")
# PostgreSQL writes these as NOT of the others, and UNKNOWN is NULL.
NEGATED = ("is not distinct from", "is not true", "is not false", "is unknown", "is not unknown")
# PostgreSQL compares and joins varchar as text: it writes the casts.
AS_TEXT = "character varying"
# What these are equal to is tested in tests/e2e/test_types.py.
CARRIED = ("inet", "int4range", "integer[]", "public.pair", "pair", "interval", "jsonb")


def typical(function: str, type_: Type) -> Call:
    """A call of the function over values of the type."""
    value, one = Ref(0, type_), Literal("1", INTEGER)
    if function == "case":
        return Call(function, (Literal("t", BOOLEAN), value, value), type_)
    if function == "split_part":
        return Call(function, (value, Literal(",", TEXT), one), TEXT)
    return Call(function, (value,) if function in UNARY else (value, value), type_)


def mark(call: Call) -> tuple[str, ...]:
    """What a call tests: the function for a type, or a cast from one type to another."""
    if call.function == "cast":
        return call.function, call.arguments[0].type.name, call.type.name
    return call.function, call.arguments[1 if call.function == "case" else 0].type.name


def test_every_entry_is_exercised_for_every_type(database) -> None:
    with PgStream(database.dsn_as("pgs_test_owner")) as ps:
        ps.execute(TABLES)
        ps.create_stream_table("st", query(ON_SPARK), initialize=False)
        nodes = list(prepare(ps.connection, ps.table("st")).plan.tree.walk())
    (project,) = (node for node in nodes if isinstance(node, Project))
    parts = [part for expression in project.expressions for part in walk(expression)]
    tried = {mark(part) for part in parts if isinstance(part, Call)}
    found = {f.type.name: f.type for n in nodes if isinstance(n, Scan) for f in n.fields}
    types = [t if t.category == "E" else replace(t, declared=t.name) for t in found.values()]
    admitted = set()
    for function, admits in SPARK_LIST.items():
        for type_ in types:
            calls = [typical(function, type_)] if function != "cast" else [
                Call("cast", (Ref(0, type_),), target) for target in types if target != type_
            ]  # fmt: skip
            admitted |= {mark(call) for call in calls if admits(call)}
    missing = {m for m in admitted - tried if AS_TEXT not in m and m[0] not in NEGATED}
    missing = {m for m in missing if not (m[1] in CARRIED and m[0] in EQUALITY)}
    assert not missing, "\n".join(map(str, sorted(missing)))
