"""Accumulators per group: linear ones as weighted sums, extremes of rows added and removed."""

from pgstream.algebra.operators.accumulate import Accumulate, Accumulator
from pgstream.algebra.types import Type
from pgstream.engine.carriers import BIGINT
from pgstream.engine.expressions import Rendered
from pgstream.engine.relation import Relation, select
from pgstream.engine.render.aggregate import extreme, present, weighted_sum


def accumulate(node: Accumulate, input: Relation) -> Relation:
    columns = input.columns()
    types = [column.type for column in node.input.columns]
    keys = [columns[i] for i in node.keys]
    added = [value_of(a, columns, types) for a in node.accumulators]
    removed = [
        extreme(a.kind, columns[a.argument or 0], types[a.argument or 0], "w < 0")
        for a in node.removed
    ]
    grouped = select([*keys, *added, *removed], "CAST(1 AS BIGINT)", f"({input.sql})")
    by = f" GROUP BY {', '.join(key.sql for key in keys)}" if keys else ""
    return Relation(grouped.sql + by, grouped.carriers)


def value_of(accumulator: Accumulator, columns: list[Rendered], types: list[Type]) -> Rendered:
    if accumulator.argument is None:
        return Rendered("coalesce(SUM(w), 0)", BIGINT)
    argument, type_ = columns[accumulator.argument], types[accumulator.argument]
    match accumulator.kind:
        case "nn":
            return present(argument)
        case "sum":
            total = weighted_sum(argument, type_)
            return Rendered(f"coalesce({total.sql}, 0)", total.carrier)
        case _:
            return extreme(accumulator.kind, argument, type_, "w > 0")
