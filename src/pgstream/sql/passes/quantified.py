"""quantified: a comparison with the rows of a subquery becomes a subquery that counts.

Before: x > ANY (SELECT u.y FROM u)
After:  (SELECT CASE WHEN count(*) FILTER (WHERE x > q.c0) > 0 THEN true
                     WHEN count(*) FILTER (WHERE (x > q.c0) IS NULL) > 0 THEN NULL
                     ELSE false END FROM (SELECT u.y FROM u) q(c0))

Before: x > ALL (SELECT u.y FROM u)
After:  (SELECT CASE WHEN count(*) FILTER (WHERE NOT (x > q.c0)) > 0 THEN false
                     WHEN count(*) FILTER (WHERE (x > q.c0) IS NULL) > 0 THEN NULL
                     ELSE true END FROM (SELECT u.y FROM u) q(c0))

As a condition of WHERE, where only its truth counts, it is a test of its own:

Before: WHERE x > ANY (SELECT u.y FROM u)
After:  WHERE EXISTS (SELECT FROM (SELECT u.y FROM u) q(c0) WHERE x > q.c0)

Before: WHERE x > ALL (SELECT u.y FROM u)
After:  WHERE NOT EXISTS (SELECT FROM (SELECT u.y FROM u) q(c0) WHERE NOT (x > q.c0) IS TRUE)

x = ANY (SELECT …) is x IN (SELECT …), and x <> ALL (SELECT …) its negation.
(a, b) IN (SELECT …) goes the way of = ANY, unless it is a condition of WHERE: there only its
truth counts, and it stays. (a, b) < (SELECT …) compares with the one row of its subquery:

After:  (SELECT a < q.c0 OR a = q.c0 AND b < q.c1 FROM (SELECT …) q(c0, c1))
"""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from pgstream.sql.levels import only_relation, qualify
from pgstream.sql.parse import Query
from pgstream.sql.passes.build import Names, derived
from pgstream.sql.walk import bare

ORDERS: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.LT: exp.LT, exp.LTE: exp.LT, exp.GT: exp.GT, exp.GTE: exp.GT,
}  # fmt: skip


class Comparison(NamedTuple):
    operator: exp.Expr
    """The comparison as it is written."""
    quantifier: str
    """ANY, ALL, or ONE: a row with the one row of a subquery."""
    rows: exp.Query


def quantified(query: Query) -> Query:
    tree: Query = query.copy()
    names = Names(tree)
    written: dict[exp.Expr, str] = {}
    for node in reversed(list(tree.walk())):
        found = _comparison(node)
        if found is not None:
            # The same comparison has the same text everywhere, as GROUP BY needs it.
            alias = written.get(node) or names.new("q")
            written[node.copy()] = alias
            node.replace(_counted(node, found, alias))
    return tree


def counted_membership(node: exp.In) -> exp.Subquery:
    """x IN (SELECT …) as a subquery that counts, for any x and any subquery."""
    rows = node.args["query"]
    operator = exp.EQ(this=node.this.copy(), expression=exp.Any(this=rows.copy()))
    return _subquery(node, Comparison(operator, "ANY", rows), Names(node.root()).new("q"))


def compares_with_rows(node: exp.Expr) -> bool:
    """A comparison with each row of a subquery, also one that stays as it is."""
    return bool(isinstance(node, exp.In) and node.args.get("query")) or bool(_comparison(node))


def _comparison(node: exp.Expr) -> Comparison | None:
    if isinstance(node, exp.In):
        return _membership(node)
    if not isinstance(node, exp.Binary):
        return None
    right = node.args["expression"]
    if isinstance(right, exp.Any | exp.All):
        found = _rows(right.this)
        return Comparison(node, right.key.upper(), found) if found else None
    if isinstance(right, exp.Subquery) and isinstance(node.this, exp.Tuple):
        return Comparison(node, "ONE", right)
    return None


def _membership(node: exp.In) -> Comparison | None:
    """(a, b) IN (SELECT …), unless it may stay."""
    rows = node.args.get("query")
    if rows is None or not isinstance(node.this, exp.Tuple) or _is_condition(node):
        return None
    operator = exp.EQ(this=node.this.copy(), expression=exp.Any(this=rows.copy()))
    return Comparison(operator, "ANY", rows)


def _rows(node: exp.Expr) -> exp.Query | None:
    """The subquery; None for an array, also for ARRAY(SELECT …)."""
    node = bare(node)
    if isinstance(node, exp.Subquery) and not _rows(node.this):
        return None
    return node if isinstance(node, exp.Query) else None


def _is_condition(node: exp.Expr) -> bool:
    """One of the conditions of WHERE, connected by AND."""
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.And):
        parent = parent.parent
    return isinstance(parent, exp.Where) and isinstance(parent.parent, exp.Select)


def _counted(node: exp.Expr, comparison: Comparison, alias: str) -> exp.Expr:
    """What stands in the place of the comparison."""
    operator, quantifier, rows = comparison
    value = operator.this
    if not isinstance(value, exp.Tuple):
        is_in = exp.In(this=value.copy(), query=_as_subquery(rows))
        if quantifier == "ANY" and isinstance(operator, exp.EQ):
            return is_in
        if quantifier == "ALL" and isinstance(operator, exp.NEQ):
            return exp.Not(this=exp.Paren(this=is_in))
    if quantifier != "ONE" and _is_condition(node):
        return _exists(node, comparison, alias)
    return _subquery(node, comparison, alias)


def _exists(node: exp.Expr, comparison: Comparison, alias: str) -> exp.Expr:
    """Whether a row decides: a true one of ANY, one that is not true of ALL."""
    test, made = _over_rows(node, comparison, alias)
    if comparison.quantifier == "ANY":
        return exp.Exists(this=made.where(test, copy=False))
    other = exp.Not(this=exp.Is(this=test, expression=exp.true()))
    return exp.Not(this=exp.Paren(this=exp.Exists(this=made.where(other, copy=False))))


def _subquery(node: exp.Expr, comparison: Comparison, alias: str) -> exp.Subquery:
    test, made = _over_rows(node, comparison, alias)
    quantifier = comparison.quantifier
    result = test if quantifier == "ONE" else _verdict(test, quantifier == "ANY")
    made.set("expressions", [exp.Alias(this=result, alias=exp.to_identifier("__pgs_test"))])
    return exp.Subquery(this=made)


def _over_rows(node: exp.Expr, comparison: Comparison, alias: str) -> tuple[exp.Expr, exp.Select]:
    """The comparison with one row of the subquery, and a query of these rows."""
    value = comparison.operator.this.copy()
    select = node.find_ancestor(exp.Select)
    relation = only_relation(select) if select else None
    if relation is not None:
        qualify(value, relation)
    values = value.expressions if isinstance(value, exp.Tuple) else [value]
    names, columns = _columns(alias, len(values))
    rows = exp.Select(expressions=[])
    rows.set("from_", derived(_bare_rows(comparison.rows), alias, names))
    return exp.Paren(this=_test(comparison.operator, values, columns)), rows


def _columns(alias: str, width: int) -> tuple[list[str], list[exp.Expr]]:
    names = [f"__pgs_c{i}" for i in range(width)]
    return names, [exp.column(name, table=alias) for name in names]


def _as_subquery(rows: exp.Expr) -> exp.Expr:
    return rows.copy() if isinstance(rows, exp.Subquery) else exp.Subquery(this=rows.copy())


def _bare_rows(rows: exp.Query) -> exp.Query:
    while isinstance(rows, exp.Subquery) and not any(
        rows.args.get(clause) for clause in ("limit", "offset", "order", "with_")
    ):
        rows = rows.this
    return rows.copy()


def _verdict(test: exp.Expr, is_any: bool) -> exp.Expr:
    """ANY: a true one decides. ALL: a false one does. Without it, an unknown one does."""
    decides = test if is_any else exp.Not(this=test)
    unknown = exp.Is(this=test.copy(), expression=exp.null())
    return exp.Case(
        ifs=[
            exp.If(this=_some(decides), true=exp.Boolean(this=is_any)),
            exp.If(this=_some(unknown), true=exp.cast(exp.null(), "boolean")),
        ],
        default=exp.Boolean(this=not is_any),
    )


def _some(condition: exp.Expr) -> exp.Expr:
    count = exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=condition.copy()))
    return exp.GT(this=count, expression=exp.Literal.number(0))


def _test(operator: exp.Expr, left: list[exp.Expr], right: list[exp.Expr]) -> exp.Expr:
    """The comparison of a row with a row, by that of their columns."""
    if len(left) == 1:
        made = operator.copy()
        made.set("this", left[0].copy())
        made.set("expression", right[0].copy())
        return made
    pairs = [(a.copy(), b.copy()) for a, b in zip(left, right, strict=True)]
    if isinstance(operator, exp.NEQ):
        return exp.or_(*(exp.NEQ(this=a, expression=b) for a, b in pairs))
    strict = ORDERS.get(type(operator))
    if strict is None:
        return exp.and_(*(exp.EQ(this=a, expression=b) for a, b in pairs))
    first = strict(this=left[0].copy(), expression=right[0].copy())
    equal = exp.EQ(this=left[0].copy(), expression=right[0].copy())
    return exp.or_(first, exp.and_(equal, _test(operator, left[1:], right[1:])))
