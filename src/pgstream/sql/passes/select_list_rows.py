"""select_list_rows: functions that return rows leave the SELECT list for FROM.

Before: SELECT id, upper(unnest(tags)) AS tag, generate_series(1, n) AS i FROM t WHERE n > 0
After:  SELECT q.v0 AS id, upper(s.c0) AS tag, s.c1 AS i
          FROM (SELECT t.id AS v0, t.tags AS v1, t.n AS v2 FROM t WHERE t.n > 0) q,
               ROWS FROM (unnest(q.v1), generate_series(1, q.v2)) s(c0, c1)

They run side by side, NULLs where one has ended, after WHERE, grouping, HAVING and windows, and
before DISTINCT, ORDER BY and LIMIT. Those in GROUP BY run before grouping:

Before: SELECT unnest(tags) AS tag, count(*) AS n FROM t GROUP BY unnest(tags)
After:  SELECT s.c0 AS tag, count(*) AS n
          FROM (SELECT t.tags AS v0 FROM t) q, unnest(q.v0) s(c0) GROUP BY s.c0

One that is an argument of another runs before it, side by side with those that have no such
arguments. The rows of one row come in their order: with LIMIT it decides where ORDER BY does not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.cut import is_cut
from pgstream.sql.facts import Facts, Name
from pgstream.sql.levels import Level, is_query, qualified
from pgstream.sql.limits import is_with_ties
from pgstream.sql.parse import Query
from pgstream.sql.passes.build import Names, as_item, derived, everywhere, named_as, replaced
from pgstream.sql.walk import bare

INPUT = ("from_", "joins", "laterals", "where")
GROUPED = (*INPUT, "group", "having", "windows")
ABOVE = ("distinct", "group", "having", "order", "windows")
WAY_OUT = "Call the function in FROM: FROM t, f(t.x) AS r."

Shape = tuple[str, ...]
"""The columns of a function's rows; none where a row is one value."""
Shapes = Mapping[Name, Collection[Shape]]
"""The functions that return rows, each with the shapes that those of its name have."""


def select_list_rows(query: Query, facts: Facts) -> Query:
    places = (place for select in query.find_all(exp.Select) for place in _places(select))
    used = {_name(call) for place in places for call in _calls(place)}
    shapes = facts.returning_rows(sorted(used)) if used else {}
    if not shapes:
        return query

    def spread(select: exp.Select, names: Names) -> exp.Select:
        while any(_returning_rows(select.args.get("group"), shapes)):
            select = _Spread(select, names, shapes, INPUT).made()
        while any(call for place in _places(select) for call in _returning_rows(place, shapes)):
            select = _Spread(select, names, shapes, GROUPED).made()
        return select

    return everywhere(query, spread)


def _places(select: exp.Select) -> list[exp.Expr]:
    """Where such a function may stand."""
    clauses = [select.args.get(clause) for clause in ("distinct", "group", "order")]
    return [*select.expressions, *(clause for clause in clauses if clause is not None)]


def _calls(place: exp.Expr) -> Iterator[exp.Expr]:
    """The calls outside of subqueries, each with its schema, if it has one."""
    for node in place.walk(prune=is_query):
        if _is_qualified(node) or (isinstance(node, exp.Anonymous) and not _has_schema(node)):
            yield node


def _is_qualified(node: exp.Expr) -> bool:
    """schema.f(x)."""
    return isinstance(node, exp.Dot) and isinstance(node.args["expression"], exp.Anonymous)


def _has_schema(call: exp.Expr) -> bool:
    return call.parent is not None and _is_qualified(call.parent)


def _name(call: exp.Expr) -> Name:
    if isinstance(call, exp.Dot):
        return call.this.name, call.args["expression"].name
    return "pg_catalog", call.name


def _returning_rows(place: exp.Expr | None, shapes: Shapes) -> Iterator[exp.Expr]:
    return (call for call in (_calls(place) if place else ()) if _name(call) in shapes)


class _Spread:
    """A SELECT in two: the one below has the clauses that run before the functions. If these
    leave GROUP BY above, only the functions in it are meant."""

    def __init__(
        self, select: exp.Select, names: Names, shapes: Shapes, clauses: tuple[str, ...]
    ) -> None:
        self.level = Level(qualified(select))
        self.shapes, self.clauses = shapes, clauses
        self.alias, self.rows, self.number = (names.new(word) for word in ("r", "s", "n"))
        self.values: list[exp.Expr] = []
        self.calls: dict[exp.Expr, int] = {}
        self.columns: list[str] = []
        self.is_numbered = False
        group = self.level.select.args.get("group")
        self.keys = [bare(key) for key in group.expressions] if group is not None else []
        self.wanted: list[exp.Expr] | None = None
        if "group" not in clauses:
            self.wanted = [call.copy() for call in _returning_rows(group, shapes)]

    def made(self) -> exp.Select:
        above = self.level.select
        below = exp.Select()
        for clause in self.clauses:
            below.set(clause, above.args.get(clause))
            above.set(clause, None)
        items = [named_as(item, replaced(item.unalias(), self.step)) for item in above.expressions]
        above.set("expressions", items)
        if self.wanted is None:
            self.break_ties(above)
        for clause in ABOVE:
            if isinstance(part := above.args.get(clause), exp.Expr):
                above.set(clause, replaced(part, self.step))
        return self.joined(above, below)

    # --- expressions --------------------------------------------------------------------------

    def step(self, node: exp.Expr) -> exp.Expr | None:
        if self.is_wanted(node):
            if () not in self.shapes[_name(node)]:
                raise _refused("A row that a function in the SELECT list returns")
            return self.column(node, (), 0)
        if isinstance(node, exp.Dot) and self.is_wanted(call := bare(node.this)):
            field = node.args["expression"].name
            having = [shape for shape in self.shapes[_name(call)] if field in shape]
            if len(having) != 1:
                raise _refused("A field of a row that a function in the SELECT list returns")
            return self.column(call, having[0], having[0].index(field))
        return self.below(node)

    def is_wanted(self, node: exp.Expr) -> bool:
        is_call = isinstance(node, exp.Anonymous) or _is_qualified(node)
        if not is_call or _name(node) not in self.shapes:
            return False
        if self.wanted is not None and node not in self.wanted:
            return False
        return not any(call is not node for call in _returning_rows(node, self.shapes))

    def column(self, call: exp.Expr, shape: Shape, place: int) -> exp.Expr:
        """What the function returns."""
        made = call.copy()
        inner = made.args["expression"] if isinstance(made, exp.Dot) else made
        inner.set("expressions", [replaced(part, self.below) for part in inner.expressions])
        if made not in self.calls:
            self.calls[made] = len(self.columns)
            for _ in shape or ("",):
                self.columns.append(f"__pgs_c{len(self.columns)}")
        return exp.column(self.columns[self.calls[made] + place], table=self.rows)

    def below(self, node: exp.Expr) -> exp.Expr | None:
        """A column of the SELECT below, if the node is computed there."""
        if not (self.is_grouped_below(node) or self.level.owns_column(node)):
            return None
        value = bare(node)
        if value not in self.values:
            self.values.append(value.copy())
        return exp.column(f"__pgs_v{self.values.index(value)}", table=self.alias)

    def is_grouped_below(self, node: exp.Expr) -> bool:
        if "group" not in self.clauses:
            return False
        is_window = isinstance(node, exp.Window) and node.find_ancestor(exp.Select) is None
        return is_window or bare(node) in self.keys or self.level.owns_aggregate(node)

    # --- clauses ------------------------------------------------------------------------------

    def break_ties(self, above: exp.Select) -> None:
        order = above.args.get("order")
        if order is None or not is_cut(above) or above.args.get("distinct"):
            return
        if any(map(is_with_ties, above.iter_expressions())):
            return
        if not any(_returning_rows(order, self.shapes)):
            number = exp.column(self.number, table=self.rows)
            order.append("expressions", exp.Ordered(this=number, nulls_first=False))
            self.is_numbered = True

    def joined(self, above: exp.Select, below: exp.Select) -> exp.Select:
        """FROM (below) r, f(…) s."""
        calls = list(self.calls)
        table = exp.Table(this=calls[0]) if len(calls) == 1 else exp.Table(rows_from=calls)
        names = [*self.columns, *([self.number] if self.is_numbered else ())]
        columns = [exp.to_identifier(name) for name in names]
        table.set("alias", exp.TableAlias(this=exp.to_identifier(self.rows), columns=columns))
        if self.is_numbered:
            table.set("ordinality", True)
        if not any(below.args.get(clause) for clause in self.clauses):
            above.set("from_", exp.From(this=table))
            return above
        values = self.values or [exp.Literal.number(1)]
        below.set("expressions", [as_item(v, f"__pgs_v{i}") for i, v in enumerate(values)])
        above.set("from_", derived(below, self.alias))
        above.set("joins", [exp.Join(this=table)])
        return above


def _refused(what: str) -> UnsupportedConstruct:
    return UnsupportedConstruct(
        f"{what} is not supported in a stream table's query.",
        construct="set-returning function",
        hint=WAY_OUT,
    )
