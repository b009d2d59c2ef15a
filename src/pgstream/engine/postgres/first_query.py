"""first_query: reads the first rows of partitions of a table."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.first_rows import FirstKeys
from pgstream.algebra.operators.order import Order
from pgstream.algebra.operators.scan import Field, Scan
from pgstream.engine.postgres.queries import (
    ONE,
    item,
    key_type,
    looked_up,
    reading_query,
    text_array,
)
from pgstream.engine.rows import as_texts

CHANGED = sql.Identifier("__pgs_changed")
AND, COMMA = sql.SQL(" AND "), sql.SQL(", ")


def first_query(
    scan: Scan, fields: Sequence[Field], keys: FirstKeys, values: pa.Table
) -> sql.Composed:
    """`values` has the keys, and how many rows of each have changed. An index on the keys and the
    order serves it."""
    types = [*(key_type(column.type) for column in keys.columns), sql.SQL("bigint")]
    names = [*(sql.Identifier(f"__pgs_key_{i}") for i in range(len(fields))), CHANGED]
    arrays = [
        sql.SQL("{}::{}[]").format(text_array(as_texts(values.column(i))), type_)
        for i, type_ in enumerate(types)
    ]
    conditions: list[sql.Composable] = [
        sql.SQL("{} {} {}").format(looked_up(field, column.type), _equals(values, i), name)
        for i, (field, column, name) in enumerate(zip(fields, keys.columns, names, strict=False))
    ]
    conditions += [sql.SQL("({})").format(sql.SQL(text)) for text in keys.conditions]
    table = sql.SQL(
        "unnest({}) AS __pgs_parts({}) CROSS JOIN LATERAL (SELECT * FROM {} WHERE {}"
        " ORDER BY {} FETCH FIRST ({} + {}) ROWS WITH TIES) AS __pgs_first"
    ).format(
        COMMA.join(arrays),
        COMMA.join(names),
        sql.Identifier(scan.source.schema, scan.source.name),
        AND.join(conditions or [sql.SQL("true")]),
        COMMA.join(_sorted_by(scan, each) for each in keys.order),
        sql.Literal(keys.number),
        CHANGED,
    )
    return reading_query(scan.fields, table, None, ONE)


def _equals(values: pa.Table, index: int) -> sql.SQL:
    """No index serves IS NOT DISTINCT FROM."""
    return sql.SQL("IS NOT DISTINCT FROM" if values.column(index).null_count else "=")


def _sorted_by(scan: Scan, order: Order) -> sql.Composed:
    """As Spark sorts: texts by their bytes."""
    field = scan.fields[order.index]
    collate = ' COLLATE "C"' if field.type.is_text else ""
    return sql.SQL(order.written("{}" + collate)).format(item(field))
