"""as_sql: an operator tree as a query of PostgreSQL, so that PostgreSQL tells its rows.

The columns are c0, c1, …; a row stands there as often as its weight says.
"""

from __future__ import annotations

from collections.abc import Iterable

from pgstream.algebra.expressions import Expression, quote_name, to_postgres
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.by_postgres import ROWS, ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Scan
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window, WindowCall


def as_sql(node: Node) -> str:
    match node:
        case OneRow():
            return "SELECT"
        case Scan(source, fields):
            items = [field.sql or quote_name(field.name) for field in fields]
            return select(items, f"{quote_name(source.schema)}.{quote_name(source.name)}")
        case Filter(inner, predicate):
            return f"SELECT r.* FROM ({as_sql(inner)}) r WHERE {written(predicate)}"
        case Project(inner, expressions):
            return select(map(written, expressions), f"({as_sql(inner)}) r")
        case Weigh(inner, count):
            times = f"generate_series(1, {written(count)})"
            return f"SELECT r.* FROM ({as_sql(inner)}) r CROSS JOIN LATERAL {times}"
        case Shared(inner):
            return as_sql(inner)
        case UnionAll(terms):
            return " UNION ALL ".join(f"({as_sql(term)})" for term in terms)
        case Aggregate():
            return grouped(node)
        case Window():
            items = [f"r.c{i}" for i in range(len(node.input.columns))]
            items += [over(call, node) for call in node.calls]
            return select(items, f"({as_sql(node.input)}) r")
        case ByPostgres(inner, query):
            rows = f"WITH {ROWS} AS (SELECT r.*, 1::bigint AS w FROM ({as_sql(inner)}) r) {query}"
            items = [f"q.c{i}" for i in range(len(node.columns))]
            return select(items, f"({rows}) q CROSS JOIN LATERAL generate_series(1, q.w)")
        case Pairing():
            return joined(node)
    raise AssertionError(f"there is no SQL for {type(node).__name__}")


def select(items: Iterable[str], source: str) -> str:
    return f"SELECT {', '.join(f'{item} AS c{i}' for i, item in enumerate(items))} FROM {source}"


def written(expression: Expression) -> str:
    return to_postgres(expression, lambda i: f"r.c{i}")


def joined(node: Pairing) -> str:
    width = len(node.left.columns)

    def column(index: int) -> str:
        return f"l.c{index}" if index < width else f"r.c{index - width}"

    equals = "IS NOT DISTINCT FROM" if node.nulls_match else "="
    parts = [f"l.c{a} {equals} r.c{b}" for a, b in node.on]
    if node.condition is not None:
        parts.append(to_postgres(node.condition, column))
    on = " AND ".join(parts) or "TRUE"
    if isinstance(node, SemiJoin):
        test = f"EXISTS (SELECT FROM ({as_sql(node.right)}) r WHERE {on})"
        found = f"NOT {test}" if node.anti else test
        return f"SELECT l.* FROM ({as_sql(node.left)}) l WHERE {found}"
    kind = "JOIN"
    if isinstance(node, OuterJoin):
        kind = "FULL JOIN" if node.keeps_right else "LEFT JOIN"
    sides = f"({as_sql(node.left)}) l {kind} ({as_sql(node.right)}) r"
    return select(
        map(column, range(len(node.columns))), f"{sides} ON {' AND '.join(parts) or 'TRUE'}"
    )


def grouped(node: Aggregate) -> str:
    keys = [f"r.c{key}" for key in node.keys]
    text = select([*keys, *map(called, node.calls)], f"({as_sql(node.input)}) r")
    return f"{text} GROUP BY {', '.join(keys)}" if keys else text


def called(call: AggregateCall) -> str:
    if call.argument is None:
        return f"{call.function}(*)"
    value = f"r.c{call.argument}"
    return f"(array_agg({value}))[1]" if call.is_single else f"{call.function}({value})"


def over(call: WindowCall, node: Window) -> str:
    """Rows with equal order are told apart by all their columns."""
    only = "" if call.condition is None else f" FILTER (WHERE r.c{call.condition})"
    keys = ", ".join(f"r.c{key}" for key in node.keys)
    order = [each.written(f"r.c{each.index}") for each in call.order]
    if call.function == "row_number":
        order += [f"r.c{i}::text" for i in range(len(node.input.columns))]
    parts = [f"PARTITION BY {keys}"] if keys else []
    parts += [f"ORDER BY {', '.join(order)}"] if order else []
    return f"{call.written(list(map(written, call.arguments)))}{only} OVER ({' '.join(parts)})"
