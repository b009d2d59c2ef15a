"""Lowers DISTINCT and the set operations, all by counting.

    DISTINCT A        γ(A) by all columns
    A UNION B         γ(A + B) by all columns
    A INTERSECT B     rows with count in A > 0 and count in B > 0
    A EXCEPT B        rows with count in A > 0 and count in B = 0
    … ALL             the row as often as least(a, b), or as greatest(a − b, 0), says

Where such a query is the last step, its counts are stored and nothing is read again.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from pgstream.algebra.catalog import Catalog
from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.lower.convert import Converter
from pgstream.algebra.lower.scope import Context, Domain
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.placement.canonical import (
    common_spelling,
    require_key,
    with_canonical_columns,
)
from pgstream.algebra.placement.spark_list import same_spelling
from pgstream.algebra.types import BIGINT, BOOLEAN, Type

ZERO = Literal("0", BIGINT)
PRESENT = Literal("t", BOOLEAN)
ABSENT = Literal(None, BOOLEAN)


def set_operation(node: exp.SetOperation, context: Context, domain: Domain | None) -> Node:
    left, right = _same_types(
        context.catalog,
        context.query(node.this, domain),
        context.query(node.args["expression"], domain),
    )
    distinct_rows = bool(node.args.get("distinct"))
    exact = len(domain.names) if domain else 0
    if isinstance(node, exp.Union):
        union = UnionAll((*_terms(left), *_terms(right)))
        return distinct(union, exact) if distinct_rows else union
    left, right = (comparable_rows(side, exact) for side in (left, right))
    return _counted(left, right, isinstance(node, exp.Except), distinct_rows)


def distinct(tree: Node, exact: int = 0) -> Node:
    """Equal rows once. The last `exact` columns are those of a domain: of them a row keeps its
    own spelling, by which it is joined with the rows outside."""
    tree = comparable_rows(tree, exact)
    every = tuple(range(len(tree.columns)))
    if not every:  # rows without columns are all equal
        counted = Aggregate(tree, (), (AggregateCall("count", None, BIGINT),))
        return pick(Filter(counted, Call(">", (Ref(0, BIGINT), ZERO), BOOLEAN)), ())
    return pick(Aggregate(tree, every, ()), every)


def comparable_rows(tree: Node, exact: int = 0) -> Node:
    """The rows in a form in which Spark tells them apart as PostgreSQL does."""
    columns = tree.columns
    for column in columns[: len(columns) - exact]:
        require_key(
            column.type,
            f"Rows with a column of type {column.type} cannot be compared as a whole: "
            f"{column.name}.",
        )
    return with_canonical_columns(tree, exact)


def _counted(left: Node, right: Node, is_except: bool, distinct_rows: bool) -> Node:
    width = len(left.columns)
    marked = UnionAll((_marked(left, PRESENT, ABSENT), _marked(right, ABSENT, PRESENT)))
    calls = tuple(AggregateCall("count", width + side, BIGINT) for side in (0, 1))
    counts = Aggregate(marked, tuple(range(width)), calls)
    ours, theirs = Ref(width, BIGINT), Ref(width + 1, BIGINT)
    tree: Node
    if distinct_rows:
        here = Call(">", (ours, ZERO), BOOLEAN)
        there = Call("=" if is_except else ">", (theirs, ZERO), BOOLEAN)
        tree = Filter(counts, Call("and", (here, there), BOOLEAN))
    elif is_except:
        rest = Call("-", (ours, theirs), BIGINT)
        tree = Weigh(counts, Call("greatest", (rest, ZERO), BIGINT))
    else:
        tree = Weigh(counts, Call("least", (ours, theirs), BIGINT))
    return pick(tree, tuple(range(width)))


def _marked(tree: Node, *marks: Literal) -> Project:
    columns = tree.columns
    refs: tuple[Expression, ...] = tuple(Ref(i, c.type) for i, c in enumerate(columns))
    return Project(tree, refs + marks, (*(c.name for c in columns), "in_left", "in_right"))


def _terms(tree: Node) -> tuple[Node, ...]:
    return tree.terms if isinstance(tree, UnionAll) else (tree,)


def rows_of_values(node: exp.Expr, context: Context) -> Node:
    """VALUES: constant rows. They never change."""
    converter = Converter(context.catalog, lambda part: None)
    rows: list[Node] = []
    for row in node.expressions:
        values = row.expressions if isinstance(row, exp.Tuple) else [row]
        names = tuple(f"column{i + 1}" for i in range(len(values)))
        rows.append(Project(OneRow(), tuple(map(converter.convert, values)), names))
    tree = rows[0]
    for row in rows[1:]:
        left, right = _same_types(context.catalog, tree, row)
        tree = UnionAll((*_terms(left), right))
    return tree


def _same_types(catalog: Catalog, left: Node, right: Node) -> tuple[Node, Node]:
    """Both sides with the column types that PostgreSQL gives the operation."""
    types = [
        _common_type(catalog, a.type, b.type, _is_null(left, i), _is_null(right, i))
        for i, (a, b) in enumerate(zip(left.columns, right.columns, strict=True))
    ]
    return _cast(left, types), _cast(right, types)


def _common_type(
    catalog: Catalog, left: Type, right: Type, left_null: bool, right_null: bool
) -> Type:
    """A bare NULL has no type of its own."""
    if left == right or right_null:
        return left
    if left_null:
        return right
    if left.name == right.name and not same_spelling((left, right)):
        return common_spelling((left, right))
    return catalog.type_of("COALESCE(s.c0, s.c1)", {0: left, 1: right})


def _is_null(tree: Node, index: int) -> bool:
    """Whether the column is the constant NULL."""
    if isinstance(tree, UnionAll):
        return all(_is_null(term, index) for term in tree.terms)
    if not isinstance(tree, Project):
        return False
    expression = tree.expressions[index]
    return isinstance(expression, Literal) and expression.text is None


def _is_of(type_: Type, wanted: Type) -> bool:
    """Also with the same length or digits: values of the other side may have more."""
    return type_.declared == wanted.declared and type_.compares is wanted.compares


def _cast(tree: Node, types: list[Type]) -> Node:
    columns = tree.columns
    if all(_is_of(c.type, t) for c, t in zip(columns, types, strict=True)):
        return tree
    if isinstance(tree, UnionAll):
        return UnionAll(tuple(_cast(term, types) for term in tree.terms))
    expressions: list[Expression] = []
    for i, (column, type_) in enumerate(zip(columns, types, strict=True)):
        if _is_null(tree, i):
            expressions.append(Literal(None, type_))
        elif column.type.name == type_.name:
            declared, equality = type_.declared, type_.equality
            expressions.append(Ref(i, replace(column.type, declared=declared, equality=equality)))
        else:
            expressions.append(Call("cast", (Ref(i, column.type),), type_))
    return Project(tree, tuple(expressions), tuple(column.name for column in columns))
