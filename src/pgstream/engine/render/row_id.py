"""xxhash64 over the columns, each in a form that is equal where the values are equal."""

from dataclasses import replace

from pgstream.algebra.operators.row_id import RowId
from pgstream.engine.carriers import BIGINT
from pgstream.engine.expressions import Rendered
from pgstream.engine.relation import Relation


def row_id(node: RowId, input: Relation) -> Relation:
    below = input.select()
    columns = below.columns()
    hashed = ", ".join(canonical(columns[i]) for i in node.indexes)
    id_ = Rendered(f"xxhash64({hashed})" if hashed else "CAST(0 AS BIGINT)", BIGINT)
    return replace(below, items=(*columns, id_)).relation()


def canonical(column: Rendered) -> str:
    """A numeric without trailing zeros; a float without negative zero."""
    if column.carrier.scale:
        text = f"CAST({column.sql} AS STRING)"
        return f"rtrim('.', rtrim('0', {text}))"
    if column.carrier.scale == 0:
        return f"CAST({column.sql} AS STRING)"
    if column.carrier.spark in ("FLOAT", "DOUBLE"):
        return f"(CAST({column.sql} AS DOUBLE) + 0.0D)"
    return column.sql
