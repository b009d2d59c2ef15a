"""Rows are looked up by keys of every type, alone and with others."""

from __future__ import annotations

import psycopg
import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.node import Column, Keys
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.scan import Field
from pgstream.algebra.placement.canonical import canonical_field
from pgstream.engine.postgres.describe import PostgresCatalog
from pgstream.engine.postgres.queries import key_condition, text_array
from type_cases import CASES, TYPES, WITHOUT_EQUALITY, literal


def test_keys_of_every_type_find_their_rows(database) -> None:
    connection = database.connect()
    connection.execute(TYPES)
    cases = [*CASES, *WITHOUT_EQUALITY]
    columns = ", ".join(f'"K {i}" {case.type}' for i, case in enumerate(cases))
    connection.execute(f"CREATE TABLE a (id int, {columns})".encode())
    for id_, values in enumerate(
        ([c.first for c in cases], [c.second for c in cases], [c.other for c in cases],
         [None] * len(cases))
    ):  # fmt: skip
        listed = ", ".join(map(literal, values))
        connection.execute(f"INSERT INTO a VALUES ({id_}, {listed})".encode())
    catalog = PostgresCatalog(connection, {}, frozenset())
    types = dict(catalog.relation("public", "a").columns)
    for i, case in enumerate(cases):
        field = Field(f"K {i}", types[f"K {i}"])
        same = {0, 1} if case in CASES else {0}
        assert found(connection, field, [case.first]) == same, case.type
        assert found(connection, field, [case.first, None]) == same | {3}, case.type
        assert found(connection, field, [case.other, case.first]) == same | {2}, case.type
        if case in CASES:
            assert found(connection, canonical_field(field), [case.second]) == same, case.type


def test_an_array_of_any_texts(database) -> None:
    texts = ["", "NULL", None, "a,b", '{"x"}', "\\", '\\"', "it's", " x ", "E'\\n'", "%s {} ü\n\t"]
    query = sql.SQL("SELECT {}").format(text_array(texts))
    assert database.connect().execute(query).fetchone() == (texts,)
    nothing = sql.SQL("SELECT {}").format(text_array([]))
    assert database.connect().execute(nothing).fetchone() == ([],)


def found(connection: psycopg.Connection, field: Field, texts: list[str | None]) -> set[int]:
    """The ids of the rows that have one of the keys; asked by it alone, and with a second key."""
    keys = Keys(Parameter("keys", (Column("k", field.type),)), (0,))
    values = pa.table({"c0": pa.array(written(connection, field, texts), pa.string())})
    alone = ids(connection, key_condition([field], keys, values))
    id_ = Field("id", PostgresCatalog(connection, {}, frozenset()).type_of("1", {}))
    pairs = Keys(Parameter("keys", (Column("k", field.type), Column("id", id_.type))), (0, 1))
    both = pa.table(
        {"c0": pa.concat_arrays([values["c0"].combine_chunks()] * 4),
         "c1": pa.array([i for i in range(4) for _ in texts], pa.int32())}
    )  # fmt: skip
    assert ids(connection, key_condition([field, id_], pairs, both)) == alone
    return alone


def ids(connection: psycopg.Connection, condition: sql.Composable) -> set[int]:
    query = sql.SQL("SELECT id FROM a WHERE {}").format(condition)
    return {row[0] for row in connection.execute(query).fetchall()}


def written(
    connection: psycopg.Connection, field: Field, texts: list[str | None]
) -> list[str | None]:
    """The texts as PostgreSQL writes the values, which is how they travel."""
    form = sql.SQL("SELECT %s::text::{}::text").format(sql.SQL(field.type.declared))
    return [connection.execute(form, (text,)).fetchone()[0] for text in texts]
