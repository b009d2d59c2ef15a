"""above_grouping: window functions and subqueries above a GROUP BY read it as a subquery.

Before: SELECT k, rank() OVER (ORDER BY sum(x)) AS r, (SELECT max(u.y) FROM u WHERE u.k = t.k) AS m
          FROM t GROUP BY k HAVING count(*) > 1 AND sum(x) > (SELECT min(v.z) FROM v)
After:  SELECT g.v0 AS k, rank() OVER (ORDER BY g.v1) AS r,
               (SELECT max(u.y) FROM u WHERE u.k = g.v0) AS m
          FROM (SELECT t.k AS v0, sum(t.x) AS v1 FROM t GROUP BY t.k HAVING count(*) > 1) g
         WHERE g.v1 > (SELECT min(v.z) FROM v)

Likewise a window function whose value is compared with a subquery's rows, which other rewrites
and joins take into the subquery:

Before: SELECT id, rank() OVER (ORDER BY x) > ALL (SELECT …) AS b FROM t
After:  SELECT g.v0 AS id, g.v1 > ALL (SELECT …) AS b
          FROM (SELECT t.id AS v0, rank() OVER (ORDER BY t.x) AS v1 FROM t) g
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pgstream.sql.levels import Level, is_query, qualified
from pgstream.sql.parse import Query
from pgstream.sql.passes.build import (
    Names,
    all_of,
    as_item,
    derived,
    everywhere,
    named_as,
    replaced,
)
from pgstream.sql.passes.quantified import compares_with_rows
from pgstream.sql.walk import and_parts, bare

BELOW = ("from_", "joins", "laterals", "where", "group")


def above_grouping(query: Query) -> Query:
    query = everywhere(query, _above_groups)
    return everywhere(query, _above_windows)


def _above_groups(select: exp.Select, names: Names) -> exp.Select:
    level = Level(qualified(select))
    if not level.is_grouped():
        return select
    group = level.select.args.get("group")
    keys = [bare(key) for key in group.expressions] if group else []

    def is_below(node: exp.Expr) -> bool:
        return bare(node) in keys or level.owns_aggregate(node)

    def waits(clause: exp.Expr) -> bool:
        """Has a window function or a subquery that is not in a key or an aggregate."""
        found = clause.copy().walk(prune=is_below)
        return any(isinstance(n, exp.Window | exp.Query) and not is_below(n) for n in found)

    if not any(map(waits, level.clauses())):
        return select
    return _Split(level, names, is_below).split(waits)


def _above_windows(select: exp.Select, names: Names) -> exp.Select:
    level = Level(qualified(select))
    if level.is_grouped() or not any(map(_compares_window, level.clauses())):
        return select
    return _Split(level, names, _is_window).split(_compares_window)


def _is_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Window) and node.find_ancestor(exp.Select) is None


def _compares_window(clause: exp.Expr) -> bool:
    """x IN (SELECT …), or x op ANY (SELECT …), with a window function in x."""
    nodes = clause.walk(prune=is_query)
    return any(compares_with_rows(node) and node.this.find(exp.Window) for node in nodes)


class _Split:
    """A SELECT in two: below it gives keys, calls and columns, which are read above."""

    def __init__(self, level: Level, names: Names, is_below: Callable[[exp.Expr], bool]) -> None:
        self.level, self.is_below = level, is_below
        self.alias = names.new("g")
        self.outputs: list[exp.Expr] = []

    def split(self, waits: Callable[[exp.Expr], bool]) -> exp.Select:
        above = self.level.select
        below = exp.Select()
        for clause in BELOW:
            below.set(clause, above.args.get(clause))
            above.set(clause, None)
        having = above.args.get("having")
        above.set("having", None)
        conditions = and_parts(having.this) if having else []
        inside = [part for part in conditions if not waits(part)]
        outside = [self.read(part) for part in conditions if waits(part)]
        if inside:
            below.set("having", exp.Having(this=all_of(inside)))
        if outside:
            above.set("where", exp.Where(this=all_of(outside)))
        items = [named_as(item, self.read(item.unalias())) for item in above.expressions]
        above.set("expressions", items)
        if above.args.get("order"):
            above.set("order", self.read(above.args["order"]))
        below.set("expressions", self.items())
        above.set("from_", derived(below, self.alias))
        return above

    def read(self, node: exp.Expr) -> exp.Expr:
        return replaced(node, self.step)

    def step(self, node: exp.Expr) -> exp.Expr | None:
        if not self.is_below(node) and not self.level.owns_column(node):
            return None
        value = bare(node)
        if value not in self.outputs:
            self.outputs.append(value.copy())
        return exp.column(self.name(self.outputs.index(value)), table=self.alias)

    def items(self) -> list[exp.Expr]:
        """At least one aggregate where nothing is read: the SELECT below stays grouped."""
        values = self.outputs or [exp.Count(this=exp.Star())]
        return [as_item(value, self.name(i)) for i, value in enumerate(values)]

    @staticmethod
    def name(index: int) -> str:
        return f"__pgs_v{index}"
