"""writer: sqlglot's generator, so that it writes what PostgreSQL reads."""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres

from pgstream.sql.nodes import (
    HOLE,
    ORDER,
    Cycle,
    Described,
    Operation,
    OwnAggregate,
    Prefix,
    Search,
    Worded,
)
from pgstream.sql.walk import argument_mark

SLOTS = re.compile(f"[{HOLE}{ORDER}]")


def _operation_sql(generator: Any, node: Operation) -> str:
    left, right = generator.sql(node, "this"), generator.sql(node, "expression")
    return f"{left} {node.args['operator']} {right}"


def _prefix_sql(generator: Any, node: Prefix) -> str:
    return f"{node.args['operator']} {generator.sql(node, 'this')}"


def _worded_sql(generator: Any, node: Worded) -> str:
    orders = [part for part in node.expressions if isinstance(part, exp.Order)]
    values = iter([part for part in node.expressions if not isinstance(part, exp.Order)])

    def fill(slot: re.Match[str]) -> str:
        if slot.group() == HOLE:
            return str(generator.sql(next(values)))
        return f" {generator.sql(orders[0]).strip()}" if orders else ""

    return SLOTS.sub(fill, node.args["words"])


def _search_sql(generator: Any, node: Search) -> str:
    kind = "BREADTH" if node.args.get("breadth") else "DEPTH"
    columns = generator.expressions(node, key="columns", flat=True)
    return f" SEARCH {kind} FIRST BY {columns} SET {generator.sql(node, 'this')}"


def _cycle_sql(generator: Any, node: Cycle) -> str:
    columns = generator.expressions(node, key="columns", flat=True)
    mark, path = generator.sql(node, "this"), generator.sql(node, "path")
    value, default = (_constant_sql(generator, node.args[part]) for part in ("value", "default"))
    return f" CYCLE {columns} SET {mark} TO {value} DEFAULT {default} USING {path}"


def _constant_sql(generator: Any, node: exp.Expr) -> str:
    """The grammar wants a constant, with its type before it."""
    if not isinstance(node, exp.Cast):
        return str(generator.sql(node))
    return f"{generator.sql(node, 'to')} {generator.sql(node, 'this')}"


def _described_sql(generator: Any, node: Described) -> str:
    return f"{generator.sql(node, 'this')} AS {node.args['words']}"


def _own_aggregate_sql(generator: Any, node: OwnAggregate) -> str:
    return f"{node.name}({generator.format_args(*node.expressions)})"


def _quantifier_sql(generator: Any, node: exp.Any | exp.All) -> str:
    inner = generator.sql(node, "this")
    in_parentheses = isinstance(node.this, exp.Subquery | exp.Paren)
    return f"{node.key.upper()}{inner}" if in_parentheses else f"{node.key.upper()}({inner})"


class Writer(Postgres):
    class Generator(Postgres.Generator):  # type: ignore[misc, valid-type]
        MULTI_ARG_DISTINCT = True
        TRANSFORMS = {  # noqa: RUF012
            **Postgres.Generator.TRANSFORMS,
            Cycle: _cycle_sql,
            Described: _described_sql,
            Operation: _operation_sql,
            OwnAggregate: _own_aggregate_sql,
            Prefix: _prefix_sql,
            Search: _search_sql,
            Worded: _worded_sql,
            exp.All: _quantifier_sql,
            exp.Any: _quantifier_sql,
            exp.Kwarg: lambda self, node: f"{argument_mark(node)}{self.sql(node, 'expression')}",
        }

        def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
            """WITH ORDINALITY stands before the joins."""
            alone, joins = self.without_joins(expression)
            return f"{super().table_sql(alone, sep)}{joins}"

        def values_sql(self, expression: exp.Values, values_as_table: bool = True) -> str:
            alone, joins = self.without_joins(expression)
            return f"{super().values_sql(alone, values_as_table)}{joins}"

        def lateral_sql(self, expression: exp.Lateral) -> str:
            alone, joins = self.without_joins(expression)
            return f"{super().lateral_sql(alone)}{joins}"

        def without_joins(self, first: exp.Expr) -> tuple[exp.Expr, str]:
            """The first relation of joins in parentheses, and those joins."""
            if not first.args.get("joins"):
                return first, ""
            joins = self.expressions(first, key="joins", sep="", flat=True)
            alone = first.copy()
            alone.set("joins", None)
            return alone, str(joins)

        def cte_sql(self, expression: exp.CTE) -> str:
            made = super().cte_sql(expression)
            return f"{made}{self.sql(expression, 'search')}{self.sql(expression, 'cycle')}"

        def join_sql(self, expression: exp.Join) -> str:
            """JOIN b USING (k) AS x."""
            made = super().join_sql(expression)
            alias = expression.args.get("using_alias")
            return f"{made} AS {self.sql(alias)}" if alias else str(made)


def write(node: exp.Expr) -> str:
    """The text that PostgreSQL reads as the node."""
    return str(node.sql(dialect=Writer, normalize_functions=False))
