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

from collections.abc import Callable, Sequence

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.lower.decorrelate import Pair, decorrelated
from pgstream.algebra.lower.domains import domain_of, known_columns
from pgstream.algebra.lower.grouped import COUNTS, function_of
from pgstream.algebra.lower.hoist import key
from pgstream.algebra.lower.of_no_rows import counts_nothing
from pgstream.algebra.lower.scope import Scope, Table
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
from pgstream.sql.walk import (
    above_aggregates,
    and_parts,
    bare,
    is_aggregate,
    is_subquery,
    parts,
)

TRUE, FALSE, UNKNOWN = Literal("t", BOOLEAN), Literal("f", BOOLEAN), Literal(None, BOOLEAN)
ZERO = Literal("0", BIGINT)
ALIAS = "__pgs_sub_"


Lowered = tuple[Node, Scope]
"""The tree with what was joined to it, and the scope in which the subquery has a value."""


def attach_subqueries(tree: Node, node: exp.Select, scope: Scope) -> Lowered:
    """Joins the subqueries of one SELECT to its FROM tree."""
    where = node.args.get("where")
    required = and_parts(where.this) if where else []
    group = node.args.get("group")
    clauses = [*required, *node.expressions, *(group.expressions if group else [])]
    for clause in clauses:
        for found in filter(is_subquery, parts(clause)):
            if write(found) not in scope.replaced:
                needed = any(found is bare(part) for part in required)
                tree, scope = _attach(tree, found, needed, scope)
    return tree, scope


def _attach(tree: Node, node: exp.Expr, needed: bool, scope: Scope) -> Lowered:
    match node:
        case exp.Exists():
            return _exists(tree, node, needed, scope)
        case exp.In():
            return _member(tree, node, needed, scope)
        case _:
            return _scalar(tree, node, scope)


# --- EXISTS and IN ------------------------------------------------------------------------------


def _exists(tree: Node, node: exp.Exists, needed: bool, scope: Scope) -> Lowered:
    simple = decorrelated(node.this, tests=True)
    pairs = simple and _alike(*simple, scope)
    if simple is None or pairs is None:
        return _found(tree, node, node.this, needed, scope)
    inner = simple[0]
    if pairs:
        return _among(tree, node, inner, pairs, needed, scope)
    inner.set("expressions", [exp.alias_(exp.Literal.number(1), "one")])
    counted = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(
        exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("q")))
    )
    tree, scope = _add(tree, counted, (), True, scope)
    return tree, scope.replacing(node, Call(">", (_added(scope, "n"), ZERO), BOOLEAN))


def _member(tree: Node, node: exp.In, needed: bool, scope: Scope) -> Lowered:
    values = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
    simple = decorrelated(node.args["query"], tests=True)
    if simple is None or (len(values) > 1 and not needed):
        return _counted(tree, node, scope)
    inner, correlated = simple
    items = [item.unalias() for item in inner.expressions]
    members = [Pair(item, value) for item, value in zip(items, values, strict=True)]
    pairs = _alike(inner, [*correlated, *members], scope)
    if pairs is None:
        return _counted(tree, node, scope)
    if needed:
        return _among(tree, node, inner, pairs, needed, scope)
    counted_rows = inner.copy()
    tree, scope = _among(tree, node, inner, pairs, needed, scope)
    return _three_valued(tree, node, counted_rows, pairs[:-1], pairs[-1], scope)


def _counted(tree: Node, node: exp.In, scope: Scope) -> Lowered:
    counted = counted_membership(node)
    tree, scope = _scalar(tree, counted, scope)
    return tree, scope.replacing(node, scope.replaced[write(counted)])


def _among(
    tree: Node, node: exp.Expr, inner: exp.Select, pairs: list[Pair], needed: bool, scope: Scope
) -> Lowered:
    """A join with the distinct keys of the subquery."""
    inner.set("expressions", _keys(pairs))
    inner.set("distinct", exp.Distinct())
    tree, scope = _add(tree, inner, pairs, needed, scope)
    found = is_there(_added(scope, "k0"))
    return tree, scope.replacing(node, TRUE if needed else found)


def _three_valued(
    tree: Node, node: exp.In, inner: exp.Select, pairs: list[Pair], member: Pair, scope: Scope
) -> Lowered:
    """x IN (…) is unknown if x is NULL, or a NULL is among the values, and none is equal."""
    counts = [
        exp.alias_(exp.Count(this=exp.Star()), "n"),
        exp.alias_(exp.Count(this=member.inner.copy()), "present"),
    ]
    inner.set("expressions", [*_keys(pairs), *counts])
    inner.set("distinct", None)
    if pairs:
        inner.set("group", exp.Group(expressions=[p.inner.copy() for p in pairs]))
    tree, scope = _add(tree, inner, pairs, not pairs, scope)
    rows = Call("coalesce", (_added(scope, "n"), ZERO), BIGINT)
    null_value = Call("not", (is_there(scope.convert(member.outer)),), BOOLEAN)
    null_member = Call("<", (_added(scope, "present"), rows), BOOLEAN)
    cases = (
        scope.replaced[write(node)], TRUE,
        Call("=", (rows, ZERO), BOOLEAN), FALSE,
        Call("or", (null_value, null_member), BOOLEAN), UNKNOWN,
        FALSE,
    )  # fmt: skip
    return tree, scope.replacing(node, Call("case", cases, BOOLEAN))


# --- scalar subqueries --------------------------------------------------------------------------


def _scalar(tree: Node, node: exp.Expr, scope: Scope) -> Lowered:
    simple = decorrelated(node.this, tests=False)
    pairs = simple and _alike(*simple, scope)
    if simple is None or pairs is None:
        return _single(tree, node, scope)
    inner = simple[0]
    item = inner.expressions[0].unalias()
    calls: list[exp.Expr] = []
    for call in filter(is_aggregate, above_aggregates(item)):
        if call not in calls:
            calls.append(call)
    if any(map(counts_nothing, calls)):
        return _single(tree, node, scope)
    values = [exp.alias_(call.copy(), f"a{i}") for i, call in enumerate(calls)]
    inner.set("expressions", [*_keys(pairs), *values])
    if pairs:
        inner.set("group", exp.Group(expressions=[p.inner.copy() for p in pairs]))
    tree, scope = _add(tree, inner, pairs, not pairs, scope)
    above = item.copy().transform(_finished(calls, scope.tables[-1].alias))
    return tree, scope.replacing(node, scope.convert(above))


def _finished(calls: list[exp.Expr], alias: str) -> Callable[[exp.Expr], exp.Expr]:
    """Puts the columns of the groups in the place of the calls; a group that is not there
    counts 0."""

    def column(part: exp.Expr) -> exp.Expr:
        if part not in calls:
            return part
        value = exp.column(f"a{calls.index(part)}", table=alias)
        if function_of(part) not in COUNTS:
            return value
        return exp.Coalesce(this=value, expressions=[exp.cast(exp.Literal.number(0), "bigint")])

    return column


# --- by the values of the columns that a subquery reads from outside -----------------------------


def _found(tree: Node, node: exp.Expr, query: exp.Expr, needed: bool, scope: Scope) -> Lowered:
    """EXISTS: whether there is a row for the values."""
    inner, pairs = _dependent(tree, query, scope)
    first = len(inner.columns) - len(pairs)
    values = distinct(pick(inner, tuple(range(first, len(inner.columns)))), len(pairs))
    columns = values.columns
    kept = tuple(Ref(i, column.type) for i, column in enumerate(columns))
    names = (*(column.name for column in columns), "found")
    marked = Project(values, (*kept, TRUE), names)
    scope = _with(tree, marked, needed, scope)
    on = tuple((outer, i) for i, outer in enumerate(pairs))
    found = scope.ref(len(tree.columns) + len(columns))
    kind = Join if needed else OuterJoin
    value = TRUE if needed else Call("is true", (found,), BOOLEAN)
    return kind(tree, marked, on, nulls_match=True), scope.replacing(node, value)


def _single(tree: Node, node: exp.Expr, scope: Scope) -> Lowered:
    """The one value of a scalar subquery; more than one row is an error."""
    inner, pairs = _dependent(tree, node.this, scope)
    width = len(inner.columns)
    first = width - len(pairs)
    call = AggregateCall("single", 0, inner.columns[0].type)
    one = Aggregate(inner, tuple(range(first, width)), (call,))
    scope = _with(tree, one, not pairs, scope)
    scope = scope.replacing(node, scope.ref(len(tree.columns) + len(pairs)))
    if not pairs:  # one row, always
        return Join(tree, one), scope
    on = tuple((outer, i) for i, outer in enumerate(pairs))
    return OuterJoin(tree, one, on, nulls_match=True), scope


def _dependent(tree: Node, query: exp.Expr, scope: Scope) -> tuple[Node, tuple[int, ...]]:
    """The subquery's rows with the values they are for, and where the tree has these."""
    outer = known_columns(query, scope)
    if not outer:
        return scope.context.query(query), ()
    domain = domain_of(tree, outer, 0, scope)
    return scope.context.query(query, domain), domain.indexes


# --- pieces -------------------------------------------------------------------------------------


def _with(
    tree: Node, partner: Node, needed: bool, scope: Scope, names: tuple[str, ...] = ()
) -> Scope:
    """The scope with what is joined to the tree, under an alias of its own."""
    number = sum(table.alias.startswith(ALIAS) for table in scope.tables) + 1
    table = Table(f"{ALIAS}{number}", len(tree.columns), names, partner.columns, padded=not needed)
    return scope.having(table)


def _add(
    tree: Node, query: exp.Select, pairs: Sequence[Pair], needed: bool, scope: Scope
) -> Lowered:
    """The tree joined with the query, whose first columns are the keys of the pairs. Its table
    is the last of the scope."""
    lowered = scope.context.query(query)
    names = tuple(column.name for column in lowered.columns)
    scope = _with(tree, lowered, needed, scope, names)
    equalities: list[Expression] = []
    for i, pair in enumerate(pairs):
        inner = scope.ref(len(tree.columns) + i)
        equalities.append(Call("=", (_outer_key(pair.outer, inner, scope), inner), BOOLEAN))
    if needed:
        return push_down(Join(tree, lowered), equalities), scope
    return outer_join(tree, lowered, equalities, keeps_right=False), scope


def _added(scope: Scope, name: str) -> Ref:
    """A column of what was added last."""
    table = scope.tables[-1]
    return scope.ref(table.offset + table.names.index(name))


def _keys(pairs: Sequence[Pair]) -> list[exp.Expr]:
    return [exp.alias_(pair.inner.copy(), f"k{i}") for i, pair in enumerate(pairs)]


def _alike(inner: exp.Select, pairs: list[Pair], scope: Scope) -> list[Pair] | None:
    """The pairs with both sides in the types in which PostgreSQL compares them; None if
    Spark cannot tell equal values of these."""
    made: list[Pair] = []
    for pair, own in zip(pairs, _inner_types(inner, pairs, scope), strict=True):
        outer = scope.convert(pair.outer).type
        both = compared(scope.catalog, outer, own)
        if both is None:
            return None
        sides = cast_to(pair.inner, own, both[1]), cast_to(pair.outer, outer, both[0])
        made.append(Pair(*sides))
    return made


def _inner_types(inner: exp.Select, pairs: list[Pair], scope: Scope) -> list[Type]:
    """The types of the subquery's sides."""
    if not pairs:
        return []
    rows = inner.copy()
    for part in ("where", "distinct", "order"):
        rows.set(part, None)
    rows.set("expressions", _keys(pairs))
    return [column.type for column in scope.context.query(rows).columns]


def _outer_key(node: exp.Expr, inner: Ref, scope: Scope) -> Expression:
    """What is compared with a key of a subquery, in the spelling that the key has."""
    value = scope.convert(node)
    if value.type.name == inner.type.name and not same_spelling((value.type, inner.type)):
        node = canonical_node(node)
        value = scope.convert(node)
    return key(value, node, scope)


def is_there(value: Expression) -> Expression:
    """IS NOT NULL, also for a row of NULLs, of which SQL says that it IS NULL."""
    if value.type.category != "C":
        return Call("is not null", (value,), BOOLEAN)
    return Call("is distinct from", (value, Literal(None, value.type)), BOOLEAN)
