"""What stands on both sides of a correlation: pairs in the types in which PostgreSQL compares them,
and conditions over the rows of the subquery and of the query around it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Ref
from pgstream.algebra.lower.decorrelate import Pair
from pgstream.algebra.lower.hoist import key
from pgstream.algebra.lower.scope import Scope
from pgstream.algebra.placement.canonical import canonical_node
from pgstream.algebra.placement.compared import cast_to, compared
from pgstream.algebra.placement.spark_list import same_spelling
from pgstream.algebra.types import BOOLEAN, Type

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def alike(inner: exp.Select, pairs: list[Pair], scope: Scope) -> list[Pair] | None:
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
    for part in ("where", "having", "distinct", "order"):
        rows.set(part, None)
    rows.set("expressions", named(pairs))
    return [column.type for column in scope.context.query(rows).columns]


def named(pairs: Sequence[Pair]) -> list[exp.Expr]:
    """The inner sides as columns of the subquery."""
    return [exp.alias_(pair.inner.copy(), f"k{i}") for i, pair in enumerate(pairs)]


def equalities(pairs: Sequence[Pair], first: int, scope: Scope) -> list[Expression]:
    """The pairs as conditions, where the inner sides are the columns from `first` on."""
    made: list[Expression] = []
    for i, pair in enumerate(pairs):
        inner = scope.ref(first + i)
        made.append(Call("=", (_outer_key(pair.outer, inner, scope), inner), BOOLEAN))
    return made


def _outer_key(node: exp.Expr, inner: Ref, scope: Scope) -> Expression:
    """What is compared with a key of a subquery, in the spelling that the key has."""
    value = scope.convert(node)
    if value.type.name == inner.type.name and not same_spelling((value.type, inner.type)):
        node = canonical_node(node)
        value = scope.convert(node)
    return key(value, node, scope)


# --- other conditions ---------------------------------------------------------------------------


def own_values(conditions: Sequence[exp.Expr], own: frozenset[str]) -> list[exp.Expr] | None:
    """The values of the subquery's that the conditions read; None if these cannot be told from
    those of the query around it."""
    found: list[exp.Expr] = []
    for condition in conditions:
        if condition.find(exp.Query) or any(not c.table for c in condition.find_all(exp.Column)):
            return None
        for node in condition.walk(prune=lambda node: _is_own(node, own)):
            if _is_own(node, own) and node not in found:
                found.append(node)
    return found


def over_columns(
    condition: exp.Expr, values: list[exp.Expr], own: frozenset[str], table: str
) -> exp.Expr:
    """The condition with the subquery's values as columns v0, v1, … of a table."""

    def column(node: exp.Expr) -> exp.Expr:
        return exp.column(f"v{values.index(node)}", table=table) if _is_own(node, own) else node

    return condition.copy().transform(column)


def _is_own(node: exp.Expr, own: frozenset[str]) -> bool:
    """A column of the subquery's, or a side of a comparison that reads nothing else."""
    if isinstance(node, exp.Column):
        return node.table in own
    if not isinstance(node.parent, COMPARISONS):
        return False
    columns = list(node.find_all(exp.Column))
    return bool(columns) and all(column.table in own for column in columns)
