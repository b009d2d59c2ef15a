"""Lowers subqueries in expressions to joins.

    EXISTS (… k = outer)       join with the distinct keys k
    x IN (SELECT y …)          the same, with y among the keys
    (SELECT agg(…) … k = …)    left join with the groups by k
    any other                  left join with what it is for each value of the columns that it
                               reads from outside, its domain

A join with distinct keys keeps every outer row once. Where the test is not simply required
to be true, it is a left join, and the test asks whether a partner was found. So a subquery
needs no delta rule of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.lower.grouped import COUNTS, function_of, has_aggregates
from pgstream.algebra.lower.scope import Table
from pgstream.algebra.lower.sets import distinct
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.placement.canonical import canonical_node
from pgstream.algebra.placement.compared import cast_to, compared
from pgstream.algebra.placement.push_down import outer_join, push_down
from pgstream.algebra.placement.spark_list import same_spelling
from pgstream.algebra.types import BIGINT, BOOLEAN, Type
from pgstream.sql.deparsed import write
from pgstream.sql.passes.quantified import counted_membership
from pgstream.sql.scope import aliases, free_columns
from pgstream.sql.walk import (
    above_aggregates,
    and_parts,
    bare,
    is_aggregate,
    is_subquery,
    parts,
    unwrapped,
)

if TYPE_CHECKING:
    from pgstream.algebra.lower.select import SelectLowering

TRUE, FALSE, UNKNOWN = Literal("t", BOOLEAN), Literal("f", BOOLEAN), Literal(None, BOOLEAN)
ZERO = Literal("0", BIGINT)
ON_ITS_OWN = ("group", "having", "limit", "offset", "with_")


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
                    needed = any(found is bare(part) for part in required)
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
        simple = self.decorrelated(node.this, tests=True)
        pairs = simple and self.alike(*simple)
        if simple is None or pairs is None:
            return self.found(tree, node, node.this, needed)
        inner = simple[0]
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
        values = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        simple = self.decorrelated(node.args["query"], tests=True)
        if simple is None or (len(values) > 1 and not needed):
            return self.counted(tree, node)
        inner, correlated = simple
        items = [item.unalias() for item in inner.expressions]
        members = [Pair(item, value) for item, value in zip(items, values, strict=True)]
        pairs = self.alike(inner, [*correlated, *members])
        if pairs is None:
            return self.counted(tree, node)
        if needed:
            return self.among(tree, node, inner, pairs, needed)
        counted_rows = inner.copy()
        tree = self.among(tree, node, inner, pairs, needed)
        return self.three_valued(tree, node, counted_rows, pairs[:-1], pairs[-1])

    def counted(self, tree: Node, node: exp.In) -> Node:
        counted = counted_membership(node)
        tree = self.scalar(tree, counted)
        self.select.replaced[write(node)] = self.select.replaced[write(counted)]
        return tree

    def among(
        self, tree: Node, node: exp.Expr, inner: exp.Select, pairs: list[Pair], needed: bool
    ) -> Node:
        """A join with the distinct keys of the subquery."""
        keys = [exp.alias_(pair.inner.copy(), f"k{i}") for i, pair in enumerate(pairs)]
        inner.set("expressions", keys)
        inner.set("distinct", exp.Distinct())
        tree, alias = self.add(tree, inner, pairs, needed)
        found = is_there(self.column(alias, "k0"))
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
        inner.set("distinct", None)
        if pairs:
            inner.set("group", exp.Group(expressions=[p.inner.copy() for p in pairs]))
        tree, alias = self.add(tree, inner, pairs, needed=not pairs)
        rows = Call("coalesce", (self.column(alias, "n"), ZERO), BIGINT)
        value = self.select.converter.convert(member.outer)
        null_value = Call("not", (is_there(value),), BOOLEAN)
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
        simple = self.decorrelated(node.this, tests=False)
        pairs = simple and self.alike(*simple)
        if simple is None or pairs is None:
            return self.single(tree, node)
        inner = simple[0]
        item = inner.expressions[0].unalias()
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
            if function_of(part) not in COUNTS:
                return column
            return exp.Coalesce(
                this=column, expressions=[exp.cast(exp.Literal.number(0), "bigint")]
            )

        above = item.copy().transform(joined)
        self.select.replaced[write(node)] = self.select.converter.convert(above)
        return tree

    # --- by the values of the columns that a subquery reads from outside ---------------------

    def found(self, tree: Node, node: exp.Expr, query: exp.Expr, needed: bool) -> Node:
        """EXISTS: whether there is a row for the values."""
        inner, pairs = self.dependent(tree, query)
        first = len(inner.columns) - len(pairs)
        values = distinct(pick(inner, tuple(range(first, len(inner.columns)))), len(pairs))
        columns = values.columns
        kept = tuple(Ref(i, column.type) for i, column in enumerate(columns))
        names = (*(column.name for column in columns), "found")
        marked = Project(values, (*kept, TRUE), names)
        place_ = self.attached(tree, marked, needed)
        on = tuple((outer, i) for i, outer in enumerate(pairs))
        found = self.select.ref(place_ + len(columns))
        self.select.replaced[write(node)] = TRUE if needed else Call("is true", (found,), BOOLEAN)
        kind = Join if needed else OuterJoin
        return kind(tree, marked, on, nulls_match=True)

    def single(self, tree: Node, node: exp.Expr) -> Node:
        """The one value of a scalar subquery; more than one row is an error."""
        inner, pairs = self.dependent(tree, node.this)
        width = len(inner.columns)
        first = width - len(pairs)
        type_ = inner.columns[0].type
        call = AggregateCall("single", 0, type_)
        one = Aggregate(inner, tuple(range(first, width)), (call,))
        place_ = self.attached(tree, one, needed=not pairs)
        on = tuple((outer, i) for i, outer in enumerate(pairs))
        self.select.replaced[write(node)] = self.select.ref(place_ + len(pairs))
        if not pairs:  # one row, always
            return Join(tree, one)
        return OuterJoin(tree, one, on, nulls_match=True)

    def dependent(self, tree: Node, query: exp.Expr) -> tuple[Node, tuple[int, ...]]:
        """The subquery's rows with the values they are for, and where the tree has these."""
        from pgstream.algebra.lower.from_ import FromClause

        known = {table.alias for table in self.select.tables}
        outer = [column for column in free_columns(query) if column.table in known]
        if not outer:
            return self.select.parent.query(query), ()
        domain = FromClause(self.select).domain(tree, outer, 0)
        return self.select.parent.query(query, domain), domain.indexes

    def attached(self, tree: Node, partner: Node, needed: bool) -> int:
        """Registers what is joined to the tree; the place of its first column."""
        place_ = len(tree.columns)
        self.select.register(Table(self.alias(), place_, (), None, padded=not needed), partner)
        return place_

    def alias(self) -> str:
        self.number += 1
        return f"__pgs_sub_{self.number}"

    # --- pieces -----------------------------------------------------------------------------

    def add(
        self, tree: Node, query: exp.Select, pairs: Sequence[Pair], needed: bool
    ) -> tuple[Node, str]:
        """The tree joined with the query, whose first columns are the keys of the pairs."""
        select = self.select
        alias = self.alias()
        lowered = select.parent.query(query)
        width = len(tree.columns)
        names = tuple(column.name for column in lowered.columns)
        select.register(Table(alias, width, names, None, padded=not needed), lowered)
        equalities: list[Expression] = []
        for i, pair in enumerate(pairs):
            outer = self.outer_key(pair.outer, select.ref(width + i))
            equalities.append(Call("=", (outer, select.ref(width + i)), BOOLEAN))
        if needed:
            return push_down(Join(tree, lowered), equalities), alias
        return outer_join(tree, lowered, equalities, keeps_right=False), alias

    def alike(self, inner: exp.Select, pairs: list[Pair]) -> list[Pair] | None:
        """The pairs with both sides in the types in which PostgreSQL compares them; None if
        Spark cannot tell equal values of these."""
        select = self.select
        made: list[Pair] = []
        for pair, own in zip(pairs, self.inner_types(inner, pairs), strict=True):
            outer = select.converter.convert(pair.outer).type
            both = compared(select.catalog, outer, own)
            if both is None:
                return None
            sides = cast_to(pair.inner, own, both[1]), cast_to(pair.outer, outer, both[0])
            made.append(Pair(*sides))
        return made

    def inner_types(self, inner: exp.Select, pairs: list[Pair]) -> list[Type]:
        """The types of the subquery's sides."""
        if not pairs:
            return []
        rows = inner.copy()
        for part in ("where", "distinct", "order"):
            rows.set(part, None)
        keys = [exp.alias_(pair.inner.copy(), f"k{i}") for i, pair in enumerate(pairs)]
        rows.set("expressions", keys)
        return [column.type for column in self.select.parent.query(rows).columns]

    def outer_key(self, node: exp.Expr, inner: Ref) -> Expression:
        """What is compared with a key of a subquery, in the spelling that the key has."""
        value = self.select.converter.convert(node)
        if value.type.name == inner.type.name and not same_spelling((value.type, inner.type)):
            node = canonical_node(node)
            value = self.select.converter.convert(node)
        return self.select.key(value, node)

    def column(self, alias: str, name: str) -> Ref:
        table = next(t for t in self.select.tables if t.alias == alias)
        return self.select.ref(table.offset + table.names.index(name))

    def decorrelated(self, query: exp.Expr, tests: bool) -> tuple[exp.Select, list[Pair]] | None:
        """The subquery without its equalities with the query around it, and those; None if
        that would change its meaning. `tests`: only whether rows are there matters."""
        query = unwrapped(query.copy())
        if not isinstance(query, exp.Select) or not is_plain(query, tests):
            if tests and isinstance(query, exp.Query) and not free_columns(query):
                return in_from(query), []
            return None
        where = query.args.get("where")
        own = aliases(query)
        pairs: list[Pair] = []
        kept: list[exp.Expr] = []
        for part in and_parts(where.this) if where else []:
            if not reaches_out(part, own):
                kept.append(part)
            elif (pair := paired(part, own)) is not None:
                pairs.append(pair)
            else:
                return None
        query.set("where", exp.Where(this=exp.and_(*kept, dialect="postgres")) if kept else None)
        if reaches_out(query, own) or (pairs and query.find(exp.Window)):
            return None
        return query, pairs


def paired(part: exp.Expr, own: frozenset[str]) -> Pair | None:
    part = bare(part)
    if isinstance(part, exp.EQ):
        left, right = bare(part.this), bare(part.args["expression"])
        for inner, outer in ((left, right), (right, left)):
            reads_own = any(column.table in own for column in outer.find_all(exp.Column))
            is_value = not is_quantified(outer) and outer.find(exp.Query) is None
            if not reaches_out(inner, own) and not reads_own and is_value:
                return Pair(inner, outer)
    return None


def is_plain(query: exp.Select, tests: bool) -> bool:
    """Whether the rows, or the one row of aggregates, are those of its FROM and WHERE."""
    aggregates = any(has_aggregates(item) for item in query.expressions)
    return aggregates != tests and not any(query.args.get(part) for part in ON_ITS_OWN)


def in_from(query: exp.Query) -> exp.Select:
    """A subquery that reads nothing from outside is a relation like any other."""
    names = [f"c{i}" for i, _ in enumerate(query.selects)]
    columns = [exp.to_identifier(name) for name in names]
    alias = exp.TableAlias(this=exp.to_identifier("q"), columns=columns)
    items = [exp.column(name, table="q") for name in names]
    return exp.select(*items).from_(exp.Subquery(this=query, alias=alias))


def is_there(value: Expression) -> Expression:
    """IS NOT NULL, also for a row of NULLs, of which SQL says that it IS NULL."""
    if value.type.category != "C":
        return Call("is not null", (value,), BOOLEAN)
    return Call("is distinct from", (value, Literal(None, value.type)), BOOLEAN)


def is_quantified(node: exp.Expr) -> bool:
    """`= ANY (array)` is no equality."""
    return isinstance(node, exp.Any | exp.All)


def reaches_out(node: exp.Expr, own: frozenset[str]) -> bool:
    """Whether the node reads columns of other tables than these and those in it."""
    return any(column.table not in own for column in free_columns(node))
