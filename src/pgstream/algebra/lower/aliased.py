"""Lowers an alias on joins in parentheses: the tables below it are no longer seen.

    FROM (a JOIN b USING (k)) AS q      q has k, then the other columns of a, then those of b

Names in `AS q(x, y)` count all columns of the tables, also those that the query does not use.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sqlglot import exp

from pgstream.algebra.expressions import Expression, shift
from pgstream.algebra.lower.scope import Scope, Table
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project


class Output(NamedTuple):
    """A column of the joins; None if nobody uses it."""

    name: str
    value: Expression | None


def alias_joins(
    node: exp.Expr, tree: Node, offset: int, before: Scope, scope: Scope
) -> tuple[Node, Scope]:
    """The joins as one table; `before` is the scope before the joins, `scope` that of them."""
    outputs = _Joins(before, scope).outputs(node.this)
    alias = node.args["alias"]
    given = [name.name for name in alias.args.get("columns") or ()]
    names = [*given, *(output.name for output in outputs[len(given) :])]
    used = [(name, output.value) for name, output in zip(names, outputs, strict=True)
            if output.value is not None]  # fmt: skip
    shown = tuple(name for name, _ in used)
    made = Project(tree, tuple(shift(value, -offset) for _, value in used), shown)
    outside = replace(scope, tables=before.tables, merged=before.merged)
    return made, outside.having(Table(node.alias, offset, shown, made.columns))


class _Joins:
    """Finds the columns of the joins, as they are seen below the alias."""

    def __init__(self, before: Scope, scope: Scope) -> None:
        self.scope = scope
        self.tables = {table.alias: table for table in scope.tables[len(before.tables) :]}
        self.merged = list(scope.merged[len(before.merged) :])

    def outputs(self, node: exp.Expr) -> list[Output]:
        """The columns of a relation and of what is joined to it."""
        outputs = self.relation(node)
        for join in node.args.get("joins") or ():
            right = self.relation(join.this)
            names = [name.name for name in join.args.get("using") or ()]
            if join.method.upper() == "NATURAL":
                theirs = {output.name for output in right}
                names = [output.name for output in outputs if output.name in theirs]
            values = {one.name: one.value for one in self.merged[: len(names)]}
            del self.merged[: len(names)]  # they were made in this order
            common = [Output(name, values[name]) for name in names]
            rest = [output for output in (*outputs, *right) if output.name not in names]
            outputs = [*common, *rest]
        return outputs

    def relation(self, node: exp.Expr) -> list[Output]:
        if node.alias_or_name not in self.tables:  # joins in parentheses
            return self.outputs(node.this)
        table = self.tables[node.alias_or_name]
        known = {name: self.scope.ref(table.offset + i) for i, name in enumerate(table.names)}
        return [Output(name, known.get(name)) for name in self.names(node, table)]

    def names(self, node: exp.Expr, table: Table) -> list[str]:
        if table.scan is None:
            return list(table.names)
        relation = self.scope.catalog.relation(node.text("db"), node.name)
        alias = node.args.get("alias")
        given = [name.name for name in (alias.args.get("columns") if alias else None) or ()]
        return [*given, *(name for name, _ in relation.columns[len(given) :])]
