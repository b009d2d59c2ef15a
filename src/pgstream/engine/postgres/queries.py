"""The statements that read leaves from PostgreSQL: which fields, which rows, by which keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import psycopg
import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.node import Keys
from pgstream.algebra.operators.scan import Field, Scan
from pgstream.algebra.types import Type
from pgstream.engine.carriers import travels_as_text
from pgstream.engine.rows import as_texts

WEIGHT, ONE = "__pgs_weight", "1"


def measured(
    connection: psycopg.Connection,
    scan: Scan,
    table: sql.Composable,
    where: sql.Composable | None,
) -> tuple[int, dict[int, int]]:
    """How many rows there are, and the largest scale of every unconstrained numeric."""
    loose = [i for i, f in enumerate(scan.fields) if f.type.is_numeric and not f.type.digits]
    largest = sql.SQL("coalesce(max(scale({})), 0)")
    items: list[sql.Composable] = [sql.SQL("count(*)")]
    items += [largest.format(item(scan.fields[i])) for i in loose]
    query = sql.SQL("SELECT {} FROM {} WHERE {}").format(
        sql.SQL(", ").join(items), table, where or sql.SQL("true")
    )
    row = connection.execute(query).fetchone()
    assert row is not None
    return row[0], dict(zip(loose, row[1:], strict=True))


def uncancelled(
    scan: Scan, changes: sql.Composable, where: sql.Composable
) -> tuple[sql.Composable, sql.Composable]:
    """The changes that do not cancel out: a row that came and went may be one for which a computed
    field fails, or what the scan asks."""
    plain = sql.SQL(", ").join(sql.Identifier(f.name) for f in scan.fields if f.sql is None)
    net = sql.SQL(
        "(SELECT *, sum(__pgs_weight) OVER (PARTITION BY ROW({})::text) AS __pgs_net"
        " FROM {} WHERE {} OFFSET 0) changes"
    ).format(plain, changes, where)
    asked = sql.SQL(scan.where or "true")
    return net, sql.SQL("CASE WHEN __pgs_net <> 0 THEN {} END").format(asked)


def passing(scan: Scan, where: sql.Composable | None) -> sql.Composable | None:
    """The condition, and what the scan asks of every row."""
    asked = None if scan.where is None else sql.SQL("({})").format(sql.SQL(scan.where))
    parts = [part for part in (where, asked) if part is not None]
    return sql.SQL(" AND ").join(parts) if parts else None


def between(low: int, high: int) -> sql.Composed:
    """The rows on these pages."""
    return sql.SQL("ctid >= {}::tid AND ctid < {}::tid").format(
        sql.Literal(f"({low},0)"), sql.Literal(f"({high},0)")
    )


def item(field_: Field) -> sql.Composable:
    if field_.sql is not None:
        return sql.SQL("({})").format(sql.SQL(field_.sql))
    return sql.Identifier(field_.name)


def reading_query(
    fields: Sequence[Field], table: sql.Composable, where: sql.Composable | None, weight: str
) -> sql.Composed:
    items = [
        sql.SQL("{}::text").format(item(f)) if travels_as_text(f.type) else item(f) for f in fields
    ]
    items.append(sql.SQL("{}::bigint").format(sql.SQL(weight)))
    named = [sql.SQL("{} AS {}").format(x, sql.Identifier(f"c{i}")) for i, x in enumerate(items)]
    return sql.SQL("SELECT {} FROM {} WHERE {}").format(
        sql.SQL(", ").join(named), table, where or sql.SQL("true")
    )


def key_condition(fields: Sequence[Field], by: Keys, values: pa.Table) -> sql.Composable:
    """The rows whose fields are among the keys; keys with a NULL are asked for apart."""
    columns = [as_texts(values.column(i)) for i in range(values.num_columns)]
    types = [column.type for column in by.columns]
    patterns: dict[tuple[bool, ...], list[tuple[str | None, ...]]] = {}
    for row in zip(*columns, strict=True):
        patterns.setdefault(tuple(v is None for v in row), []).append(row)
    parts = [key_pattern(fields, types, nulls, rows) for nulls, rows in patterns.items()]
    return sql.SQL("({})").format(sql.SQL(" OR ").join(parts))


def key_pattern(
    fields: Sequence[Field],
    types: Sequence[Type],
    nulls: tuple[bool, ...],
    rows: list[tuple[str | None, ...]],
) -> sql.Composable:
    asked = [looked_up(f, t) for f, t in zip(fields, types, strict=True)]
    parts: list[sql.Composable] = [
        # A row of NULLs IS NULL, too, and yet another key.
        sql.SQL("{} IS NOT DISTINCT FROM NULL" if t.category == "C" else "{} IS NULL").format(a)
        for a, t, null in zip(asked, types, nulls, strict=True)
        if null
    ]
    present = [i for i, null in enumerate(nulls) if not null]
    texts = [text_array(row[i] for row in rows) for i in present]
    wanted = [key_type(types[i]) for i in present]
    if len(present) == 1 and types[present[0]].category != "A":
        array = sql.SQL("{}::{}[]").format(texts[0], wanted[0])
        parts.append(sql.SQL("{} = ANY({})").format(asked[present[0]], array))
    elif present:
        names = sql.SQL(", ").join(asked[i] for i in present)
        keys = [sql.SQL("k{}").format(sql.SQL(str(i))) for i in present]
        typed = [sql.SQL("{}::{}").format(k, t) for k, t in zip(keys, wanted, strict=True)]
        listed, columns, values = (sql.SQL(", ").join(x) for x in (texts, keys, typed))
        parts.append(
            sql.SQL("({}) IN (SELECT {} FROM unnest({}) AS keys({}))").format(
                names, values, listed, columns
            )
        )
    return sql.SQL("({})").format(sql.SQL(" AND ").join(parts))


def text_array(texts: Iterable[str | None]) -> sql.Composable:
    """As PostgreSQL reads an array. The driver writes one value by value, several times as slow."""
    quoted = (
        "NULL" if t is None else '"' + t.replace("\\", "\\\\").replace('"', '\\"') + '"'
        for t in texts
    )
    return sql.SQL("{}::text[]").format(sql.Literal("{" + ",".join(quoted) + "}"))


def looked_up(field_: Field, type_: Type) -> sql.Composable:
    """What PostgreSQL compares with keys: of a canonical value the column itself, which equals it
    and may have an index."""
    if not type_.has_equality:
        return sql.SQL("{}::text").format(item(field_))
    return sql.Identifier(field_.equal_to) if field_.equal_to else item(field_)


def key_type(type_: Type) -> sql.SQL:
    return sql.SQL(type_.without_modifier if type_.has_equality else "text")


class Size(NamedTuple):
    """What PostgreSQL expects of a query."""

    rows: int
    width: int

    @property
    def bytes(self) -> int:
        return self.rows * self.width


def expected_size(connection: psycopg.Connection, query: sql.Composable) -> Size:
    row = connection.execute(sql.SQL("EXPLAIN (FORMAT JSON) {}").format(query)).fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    return Size(int(plan["Plan Rows"]), int(plan["Plan Width"]))


def estimated_rows(connection: psycopg.Connection, schema: str, name: str) -> int:
    query = sql.SQL("SELECT 1 FROM {}").format(sql.Identifier(schema, name))
    return expected_size(connection, query).rows
