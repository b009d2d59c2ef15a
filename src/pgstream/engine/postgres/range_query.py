"""range_query: reads the rows whose last field is in the range of their key."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.ranges import Ranges
from pgstream.algebra.operators.scan import Field, Scan
from pgstream.engine.postgres.queries import (
    ONE,
    key_type,
    looked_up,
    passing,
    reading_query,
    text_array,
)
from pgstream.engine.rows import as_texts

LOW, HIGH = sql.Identifier("__pgs_low"), sql.Identifier("__pgs_high")


def range_query(
    scan: Scan, fields: Sequence[Field], ranges: Ranges, values: pa.Table
) -> sql.Composed:
    """`values` has the keys and both ends. A key occurs once, so that a row has one partner; an
    end that is NULL is open. An index on the keys and the last field serves it."""
    *keys, column = fields
    bound = key_type(ranges.input.columns[ranges.bound].type)
    types = [*(key_type(c.type) for c in ranges.columns), bound, bound]
    names = [*(sql.Identifier(f"__pgs_key_{i}") for i in range(len(keys))), LOW, HIGH]
    arrays = [
        sql.SQL("{}::{}[]").format(text_array(as_texts(values.column(i))), type_)
        for i, type_ in enumerate(types)
    ]
    table = sql.SQL("{} CROSS JOIN unnest({}) AS __pgs_ranges({})").format(
        sql.Identifier(scan.source.schema, scan.source.name),
        sql.SQL(", ").join(arrays),
        sql.SQL(", ").join(names),
    )
    conditions = [
        sql.SQL("{} = {}").format(looked_up(field, c.type), name)
        for field, c, name in zip(keys, ranges.columns, names, strict=False)
    ]
    is_open = values.column(len(keys)).null_count > 0
    form = "({l} IS NULL OR {v} BETWEEN {l} AND {h})" if is_open else "{v} BETWEEN {l} AND {h}"
    value = looked_up(column, column.type)
    conditions.append(sql.SQL(form).format(l=LOW, h=HIGH, v=value))
    where = passing(scan, sql.SQL(" AND ").join(conditions))
    return reading_query(scan.fields, table, where, ONE)
