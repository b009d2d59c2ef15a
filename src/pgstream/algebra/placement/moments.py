"""moments: PostgreSQL computes variances and standard deviations that are not stored.

    γ(…, var_samp(x), …)(A)  →  ByPostgres(A) with the same groups and functions

Where the aggregate is what the stream table stores, they are finished from accumulators. Inside
a query, Spark does not compute them with PostgreSQL's digits.
"""

from __future__ import annotations

from pgstream.algebra.operators.aggregate import MOMENTS, Aggregate, AggregateCall
from pgstream.algebra.operators.by_postgres import ROWS, ByPostgres, select
from pgstream.algebra.operators.node import Node
from pgstream.algebra.placement.canonical import own_spelling, shown_spelling


def moments_by_postgres(tree: Node) -> Node:
    if tree.inputs:
        tree = tree.with_inputs(*map(moments_by_postgres, tree.inputs))
    if isinstance(tree, Aggregate) and any(call.function in MOMENTS for call in tree.calls):
        return _by_postgres(tree)
    return tree


def _by_postgres(node: Aggregate) -> ByPostgres:
    types = [column.type for column in node.input.columns]
    keys = [shown_spelling(f"r.c{i}", types[i]) for i in node.keys]
    values = [_written(call, node) for call in node.calls]
    query = select([*keys, *values], f"{ROWS} r", "1::bigint")
    if keys:
        groups = ", ".join(own_spelling(f"r.c{i}", types[i]) for i in node.keys)
        query += f" GROUP BY {groups}"
    origins = (*node.keys, *(None for _ in node.calls))
    label = ", ".join(call.function for call in node.calls)
    return ByPostgres(node.input, query, node.columns, origins, node.keys, label)


def _written(call: AggregateCall, node: Aggregate) -> str:
    if call.argument is None:
        return f"{call.function}(*)"
    value = f"r.c{call.argument}"
    if call.scale is not None:  # rows are handed over without trailing zeros
        value = f"round({value}, r.c{call.scale})"
    if node.input.columns[call.argument].type.is_text:  # Spark orders bytes
        value += ' COLLATE "C"'
    return f"{call.function}({value})"
