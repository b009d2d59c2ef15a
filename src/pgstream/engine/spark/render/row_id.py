"""xxhash64 over the columns, each in a form that is equal where the values are equal."""

from dataclasses import replace

from pgstream.algebra.operators.row_id import RowId
from pgstream.algebra.types import Type
from pgstream.engine.carriers import BIGINT
from pgstream.engine.spark.expressions import Rendered
from pgstream.engine.spark.relation import Relation


def row_id(node: RowId, input: Relation) -> Relation:
    below = input.select()
    columns = below.columns()
    types = [column.type for column in node.input.columns]
    hashed = ", ".join(canonical(columns[i], types[i]) for i in node.indexes)
    id_ = Rendered(f"xxhash64({hashed})" if hashed else "CAST(0 AS BIGINT)", BIGINT)
    return replace(below, items=(*columns, id_)).relation()


def canonical(column: Rendered, type_: Type) -> str:
    """A numeric without trailing zeros, in whatever form it travels; a float without negative
    zero."""
    if type_.as_text:
        scale = type_.digits[1] if type_.digits else None
        short = f"rtrim('.', rtrim('0', {column.sql}))"
        if scale is None:
            return f"CASE WHEN contains({column.sql}, '.') THEN {short} ELSE {column.sql} END"
        return short if scale > 0 else column.sql
    if column.carrier.scale:
        text = f"CAST({column.sql} AS STRING)"
        return f"rtrim('.', rtrim('0', {text}))"
    if column.carrier.scale == 0:
        return f"CAST({column.sql} AS STRING)"
    if column.carrier.spark in ("FLOAT", "DOUBLE"):
        return f"(CAST({column.sql} AS DOUBLE) + 0.0D)"
    return column.sql
