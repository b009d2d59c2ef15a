"""Lowers subqueries in expressions to joins.

    EXISTS (… k = outer)       join with the distinct keys k
    x IN (SELECT y …)          the same, with y among the keys
    (SELECT agg(…) … k = …)    left join with the groups by k

A join with distinct keys keeps every outer row once. Where the test is not simply required
to be true, it is a left join, and the test asks whether a partner was found. So a subquery
needs no delta rule of its own. Correlation is by equality.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.lower_grouped import has_aggregates
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.place import outer_join, place
from pgstream.algebra.types import BIGINT, BOOLEAN
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.deparsed import write
from pgstream.sql.walk import above_aggregates, is_aggregate, is_subquery, parts

if TYPE_CHECKING:
    from pgstream.algebra.lower_select import SelectLowering

TRUE, FALSE, UNKNOWN = Literal("t", BOOLEAN), Literal("f", BOOLEAN), Literal(None, BOOLEAN)
ZERO = Literal("0", BIGINT)


class Pair(NamedTuple):
    """An equality between the subquery and the query around it."""

    inner: exp.Expr
    outer: exp.Expr


class Subqueries:
    """Joins the subqueries of one SELECT to its FROM tree."""

    def __init__(self, select: SelectLowering) -> None:
        self.select = select
        self.number = 0

    def attach(self, tree: Node) -> Node:
        node = self.select.node
        where = node.args.get("where")
        required = and_parts(where.this) if where else []
        group = node.args.get("group")
        places = [*required, *node.expressions, *(group.expressions if group else [])]
        for place_ in places:
            for found in filter(is_subquery, parts(place_)):
                if write(found) not in self.select.replaced:
                    needed = any(found is unwrap(part) for part in required)
                    tree = self.join(tree, found, needed)
        return tree

    def join(self, tree: Node, node: exp.Expr, needed: bool) -> Node:
        match node:
            case exp.Exists():
                return self.exists(tree, node, needed)
            case exp.In():
                return self.member(tree, node, needed)
            case _:
                return self.scalar(tree, node)

    # --- EXISTS and IN ----------------------------------------------------------------------

    def exists(self, tree: Node, node: exp.Exists, needed: bool) -> Node:
        inner, pairs = self.decorrelated(node.this, "EXISTS")
        if pairs:
            return self.among(tree, node, inner, pairs, needed)
        inner.set("expressions", [exp.alias_(exp.Literal.number(1), "one")])
        counted = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(
            exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("q")))
        )
        tree, alias = self.add(tree, counted, (), needed=True)
        count = self.column(alias, "n")
        self.select.replaced[write(node)] = Call(">", (count, ZERO), BOOLEAN)
        return tree

    def member(self, tree: Node, node: exp.In, needed: bool) -> Node:
        inner, pairs = self.decorrelated(node.args["query"], "IN")
        values = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        items = [item.unalias() for item in inner.expressions]
        members = [Pair(item, value) for item, value in zip(items, values, strict=True)]
        if needed:
            return self.among(tree, node, inner, [*pairs, *members], needed)
        if len(members) > 1:
            raise refused("IN", "a multi-column IN under NOT, OR or in the SELECT list")
        counted = inner.copy()
        tree = self.among(tree, node, inner, [*pairs, *members], needed)
        return self.three_valued(tree, node, counted, pairs, members[0])

    def among(
        self, tree: Node, node: exp.Expr, inner: exp.Select, pairs: list[Pair], needed: bool
    ) -> Node:
        """A join with the distinct keys of the subquery."""
        keys = [exp.alias_(pair.inner.copy(), f"k{i}") for i, pair in enumerate(pairs)]
        inner.set("expressions", keys)
        inner.set("distinct", exp.Distinct())
        tree, alias = self.add(tree, inner, pairs, needed)
        found = Call("is not null", (self.column(alias, "k0"),), BOOLEAN)
        self.select.replaced[write(node)] = TRUE if needed else found
        return tree

    def three_valued(
        self, tree: Node, node: exp.In, inner: exp.Select, pairs: list[Pair], member: Pair
    ) -> Node:
        """x IN (…) is unknown if x is NULL, or a NULL is among the values, and none is equal."""
        keys = [exp.alias_(pair.inner.copy(), f"k{i}") for i, pair in enumerate(pairs)]
        counts = [
            exp.alias_(exp.Count(this=exp.Star()), "n"),
            exp.alias_(exp.Count(this=member.inner.copy()), "present"),
        ]
        inner.set("expressions", [*keys, *counts])
        if pairs:
            inner.set("group", exp.Group(expressions=[p.inner.copy() for p in pairs]))
        tree, alias = self.add(tree, inner, pairs, needed=not pairs)
        rows = Call("coalesce", (self.column(alias, "n"), ZERO), BIGINT)
        value = self.select.converter.convert(member.outer)
        null_value = Call("is null", (value,), BOOLEAN)
        null_member = Call("<", (self.column(alias, "present"), rows), BOOLEAN)
        cases = (
            self.select.replaced[write(node)], TRUE,
            Call("=", (rows, ZERO), BOOLEAN), FALSE,
            Call("or", (null_value, null_member), BOOLEAN), UNKNOWN,
            FALSE,
        )  # fmt: skip
        self.select.replaced[write(node)] = Call("case", cases, BOOLEAN)
        return tree

    # --- scalar subqueries ------------------------------------------------------------------

    def scalar(self, tree: Node, node: exp.Expr) -> Node:
        inner, pairs = self.decorrelated(node.this, "SELECT")
        item = inner.expressions[0].unalias()
        if not has_aggregates(item):
            raise refused("SELECT", "a scalar subquery that is not an aggregate")
        calls: list[exp.Expr] = []
        for call in filter(is_aggregate, above_aggregates(item)):
            if call not in calls:
                calls.append(call)
        keys = [exp.alias_(pair.inner.copy(), f"k{i}") for i, pair in enumerate(pairs)]
        values = [exp.alias_(call.copy(), f"a{i}") for i, call in enumerate(calls)]
        inner.set("expressions", [*keys, *values])
        if pairs:
            inner.set("group", exp.Group(expressions=[p.inner.copy() for p in pairs]))
        tree, alias = self.add(tree, inner, pairs, needed=not pairs)

        def joined(part: exp.Expr) -> exp.Expr:
            if part not in calls:
                return part
            column = exp.column(f"a{calls.index(part)}", table=alias)
            count = part.this if isinstance(part, exp.Filter) else part
            if not isinstance(count, exp.Count):
                return column
            return exp.Coalesce(
                this=column, expressions=[exp.cast(exp.Literal.number(0), "bigint")]
            )

        above = item.copy().transform(joined)
        self.select.replaced[write(node)] = self.select.converter.convert(above)
        return tree

    # --- pieces -----------------------------------------------------------------------------

    def add(
        self, tree: Node, query: exp.Select, pairs: Sequence[Pair], needed: bool
    ) -> tuple[Node, str]:
        """The tree joined with the query, whose first columns are the keys of the pairs."""
        from pgstream.algebra.lower_select import Table

        select = self.select
        alias = f"__pgs_sub_{self.number}"
        self.number += 1
        lowered = select.parent.query(query)
        width = len(tree.columns)
        names = tuple(column.name for column in lowered.columns)
        select.register(Table(alias, width, names, None, padded=not needed), lowered)
        equalities: list[Expression] = []
        for i, pair in enumerate(pairs):
            outer = select.key(select.converter.convert(pair.outer), pair.outer)
            equality = Call("=", (outer, select.ref(width + i)), BOOLEAN)
            equalities.append(select.parent.require_spark(equality, None, None))
        if needed:
            return place(Join(tree, lowered), equalities), alias
        return outer_join(tree, lowered, equalities, keeps_right=False), alias

    def column(self, alias: str, name: str) -> Ref:
        table = next(t for t in self.select.tables if t.alias == alias)
        return self.select.ref(table.offset + table.names.index(name))

    def decorrelated(self, query: exp.Expr, word: str) -> tuple[exp.Select, list[Pair]]:
        """The subquery without its equalities with the query around it, and those."""
        query = query.copy()
        while isinstance(query, exp.Subquery | exp.Paren):
            query = query.this
        if not isinstance(query, exp.Select):
            alias = exp.TableAlias(this=exp.to_identifier("q"))
            query = exp.select(*first_names(query)).from_(exp.Subquery(this=query, alias=alias))
        where = query.args.get("where")
        own = own_names(query)
        pairs: list[Pair] = []
        kept: list[exp.Expr] = []
        for part in and_parts(where.this) if where else []:
            if not self.outer_columns(part, own):
                kept.append(part)
                continue
            pairs.append(self.pair(part, own, word))
        query.set("where", exp.Where(this=exp.and_(*kept, dialect="postgres")) if kept else None)
        if self.outer_columns(query, own):
            raise refused(word, "a correlation that is not an equality in the subquery's WHERE")
        if any(query.args.get(part) for part in ("group", "having", "limit", "offset")) and (
            pairs or word == "SELECT"
        ):
            raise refused(word, "GROUP BY, HAVING or LIMIT in such a subquery")
        return query, pairs

    def pair(self, part: exp.Expr, own: set[str], word: str) -> Pair:
        part = unwrap(part)
        if isinstance(part, exp.EQ):
            left, right = unwrap(part.this), unwrap(part.args["expression"])
            for inner, outer in ((left, right), (right, left)):
                reads_own = any(column.table in own for column in outer.find_all(exp.Column))
                if not self.outer_columns(inner, own) and not reads_own:
                    return Pair(inner, outer)
        raise refused(word, "a correlation that is not an equality in the subquery's WHERE")

    def outer_columns(self, node: exp.Expr, own: set[str]) -> bool:
        outer = {table.alias for table in self.select.tables}
        return any(
            column.table in outer and column.table not in own
            for column in node.find_all(exp.Column)
        )


def own_names(query: exp.Expr) -> set[str]:
    """Every alias that the subquery defines, at any depth."""
    relations = query.find_all(exp.Table, exp.Subquery)
    return {relation.alias_or_name for relation in relations if relation.alias_or_name}


def first_names(query: exp.Expr) -> list[exp.Expr]:
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    return [exp.column(item.alias_or_name, table="q") for item in query.expressions]


def and_parts(node: exp.Expr) -> list[exp.Expr]:
    node = unwrap(node)
    if isinstance(node, exp.And):
        return and_parts(node.this) + and_parts(node.expression)
    return [node]


def unwrap(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def refused(word: str, what: str) -> UnsupportedConstruct:
    return UnsupportedConstruct(
        f"A subquery with {what} is not supported.",
        construct=word,
        hint="Write it as a join with a subquery in FROM.",
    )
