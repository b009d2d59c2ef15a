"""Lowers subqueries in expressions to joins.

    EXISTS (… k = outer)       semi-join by the keys k, anti-join under NOT
    x IN (SELECT y …)          the same, with y among the keys
    (SELECT agg(…) … k = …)    left join with the groups by k
    any other                  left join with what it is for each value of the columns that it
                               reads from outside, its domain

Where a test is not simply required to be true, or to be false, it is a left join with distinct
keys, and asks whether a partner was found. So a subquery needs no delta rule of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.lower.correlation import alike, equalities, named
from pgstream.algebra.lower.decorrelate import Decorrelated, Pair, decorrelated
from pgstream.algebra.lower.domains import domain_of, known_columns
from pgstream.algebra.lower.one_row import calls_of, finished, groups_of, zero
from pgstream.algebra.lower.scope import Scope, Table
from pgstream.algebra.lower.semi_joins import semi_joined
from pgstream.algebra.lower.sets import distinct
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.placement.push_down import outer_join, push_down
from pgstream.algebra.types import BOOLEAN
from pgstream.sql.deparsed import write
from pgstream.sql.passes.quantified import counted_membership
from pgstream.sql.walk import and_parts, bare, is_subquery, parts

TRUE, FALSE, UNKNOWN = Literal("t", BOOLEAN), Literal("f", BOOLEAN), Literal(None, BOOLEAN)
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
                wanted = _wanted(found, required)
                tree, scope = _attach(tree, found, wanted, scope)
    return tree, scope


def _wanted(node: exp.Expr, required: Sequence[exp.Expr]) -> bool | None:
    """What WHERE requires the test to be; None if it is a value among others."""
    for part in map(bare, required):
        if part is node:
            return True
        if isinstance(part, exp.Not) and bare(part.this) is node:
            return False
    return None


def is_met(condition: Expression) -> bool:
    """Whether a join has left only rows for which it is true."""
    return condition in (TRUE, Call("not", (FALSE,), BOOLEAN))


def _attach(tree: Node, node: exp.Expr, wanted: bool | None, scope: Scope) -> Lowered:
    match node:
        case exp.Exists():
            return _exists(tree, node, wanted, scope)
        case exp.In():
            return _member(tree, node, wanted, scope)
        case _:
            return _scalar(tree, node, scope)


# --- EXISTS and IN ------------------------------------------------------------------------------


def _exists(tree: Node, node: exp.Exists, wanted: bool | None, scope: Scope) -> Lowered:
    simple = decorrelated(node.this, tests=True)
    pairs = simple and alike(simple.inner, simple.pairs, scope)
    if simple is None or pairs is None:
        return _found(tree, node, node.this, wanted, scope)
    if pairs and wanted is not None:
        made = semi_joined(tree, simple._replace(pairs=pairs), not wanted, scope)
        if made is not None:
            return made, scope.replacing(node, TRUE if wanted else FALSE)
    if simple.others:
        return _found(tree, node, node.this, wanted, scope)
    if pairs:
        return _among(tree, node, simple.inner, pairs, scope)
    inner = simple.inner
    inner.set("expressions", [exp.alias_(exp.Literal.number(1), "one")])
    some = exp.alias_(exp.GT(this=exp.Count(this=exp.Star()), expression=zero()), "some")
    # Distinct: a change of the number that leaves it above 0 is no change of the test.
    found = (
        exp.select(some)
        .distinct()
        .from_(exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("q"))))
    )
    tree, scope = _add(tree, found, (), True, scope)
    return tree, scope.replacing(node, _added(scope, "some"))


def _member(tree: Node, node: exp.In, wanted: bool | None, scope: Scope) -> Lowered:
    values = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
    simple = decorrelated(node.args["query"], tests=True)
    if simple is None or (len(values) > 1 and not wanted):
        return _counted(tree, node, scope)
    items = [item.unalias() for item in simple.inner.expressions]
    members = [Pair(item, value) for item, value in zip(items, values, strict=True)]
    pairs = alike(simple.inner, [*simple.pairs, *members], scope)
    if pairs is None:
        return _counted(tree, node, scope)
    simple = simple._replace(pairs=pairs)
    if wanted:
        made = semi_joined(tree, simple, False, scope)
        return _counted(tree, node, scope) if made is None else (made, scope.replacing(node, TRUE))
    if simple.others:
        return _counted(tree, node, scope)
    return _in_or_not(tree, node, simple, wanted, scope)


def _in_or_not(
    tree: Node, node: exp.In, simple: Decorrelated, wanted: bool | None, scope: Scope
) -> Lowered:
    """IN as a value; where it must be false, an anti-join leaves the rows without an equal one."""
    *pairs, member = simple.pairs
    rows = simple.inner.copy()
    made = semi_joined(tree, simple, True, scope) if wanted is False else None
    if made is None:
        tree, scope = _among(tree, node, simple.inner, simple.pairs, scope)
    else:
        tree, scope = made, scope.replacing(node, FALSE)
    return _three_valued(tree, node, rows, pairs, member, scope)


def _counted(tree: Node, node: exp.In, scope: Scope) -> Lowered:
    counted = counted_membership(node)
    tree, scope = _scalar(tree, counted, scope)
    return tree, scope.replacing(node, scope.replaced[write(counted)])


def _among(
    tree: Node, node: exp.Expr, inner: exp.Select, pairs: list[Pair], scope: Scope
) -> Lowered:
    """A left join with the distinct keys of the subquery."""
    inner.set("expressions", named(pairs))
    inner.set("distinct", exp.Distinct())
    tree, scope = _add(tree, inner, pairs, False, scope)
    return tree, scope.replacing(node, is_there(_added(scope, "k0")))


def _three_valued(
    tree: Node, node: exp.In, inner: exp.Select, pairs: list[Pair], member: Pair, scope: Scope
) -> Lowered:
    """x IN (…) is unknown if x is NULL, or a NULL is among the values, and none is equal."""
    rows, present = exp.Count(this=exp.Star()), exp.Count(this=member.inner.copy())
    tests = [
        exp.alias_(exp.GT(this=rows, expression=zero()), "some"),
        exp.alias_(exp.GT(this=rows.copy(), expression=present), "nulls"),
    ]
    inner.set("expressions", [*named(pairs), *tests])
    inner.set("distinct", None if pairs else exp.Distinct())
    if pairs:
        inner.set("group", exp.Group(expressions=[p.inner.copy() for p in pairs]))
    tree, scope = _add(tree, inner, pairs, not pairs, scope)
    some = Call("is true", (_added(scope, "some"),), BOOLEAN)
    null_value = Call("not", (is_there(scope.convert(member.outer)),), BOOLEAN)
    equal = scope.replaced[write(node)]
    cases = (
        *((equal, TRUE) if equal != FALSE else ()),
        Call("not", (some,), BOOLEAN), FALSE,
        Call("or", (null_value, _added(scope, "nulls")), BOOLEAN), UNKNOWN,
        FALSE,
    )  # fmt: skip
    return tree, scope.replacing(node, Call("case", cases, BOOLEAN))


# --- scalar subqueries --------------------------------------------------------------------------


def _scalar(tree: Node, node: exp.Expr, scope: Scope) -> Lowered:
    simple = decorrelated(node.this, tests=False)
    pairs = simple and alike(simple.inner, simple.pairs, scope)
    if simple is None or pairs is None or simple.others:
        return _single(tree, node, scope)
    item = simple.inner.expressions[0].unalias()
    calls = calls_of([item])
    if calls is None:
        return _single(tree, node, scope)
    tree, scope = _add(tree, groups_of(simple.inner, pairs, calls), pairs, not pairs, scope)
    above = finished(item, calls, scope.tables[-1].alias)
    return tree, scope.replacing(node, scope.convert(above))


# --- by the values of the columns that a subquery reads from outside -----------------------------


def _found(
    tree: Node, node: exp.Expr, query: exp.Expr, wanted: bool | None, scope: Scope
) -> Lowered:
    """EXISTS: whether there is a row for the values."""
    inner, pairs = _dependent(tree, query, scope)
    first = len(inner.columns) - len(pairs)
    values = distinct(pick(inner, tuple(range(first, len(inner.columns)))), len(pairs))
    on = tuple((outer, i) for i, outer in enumerate(pairs))
    if wanted is not None:
        joined = SemiJoin(tree, values, on, nulls_match=True, anti=not wanted)
        return joined, scope.replacing(node, TRUE if wanted else FALSE)
    columns = values.columns
    kept = tuple(Ref(i, column.type) for i, column in enumerate(columns))
    names = (*(column.name for column in columns), "found")
    marked = Project(values, (*kept, TRUE), names)
    scope = _with(tree, marked, False, scope)
    found = Call("is true", (scope.ref(len(tree.columns) + len(columns)),), BOOLEAN)
    return OuterJoin(tree, marked, on, nulls_match=True), scope.replacing(node, found)


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
    same = equalities(pairs, len(tree.columns), scope)
    if needed:
        return push_down(Join(tree, lowered), same), scope
    return outer_join(tree, lowered, same, keeps_right=False), scope


def _added(scope: Scope, name: str) -> Ref:
    """A column of what was added last."""
    table = scope.tables[-1]
    return scope.ref(table.offset + table.names.index(name))


def is_there(value: Expression) -> Expression:
    """IS NOT NULL, also for a row of NULLs, of which SQL says that it IS NULL."""
    if value.type.category != "C":
        return Call("is not null", (value,), BOOLEAN)
    return Call("is distinct from", (value, Literal(None, value.type)), BOOLEAN)
