"""Lowers FROM: tables, joins, subqueries, LATERAL, functions and VALUES.

A tree below a join starts at an `offset` among the columns of FROM: its own columns count from 0,
those of the scope from the start of FROM.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pgstream.algebra.catalog import Frequency, Relation
from pgstream.algebra.expressions import (
    Expression,
    Ref,
    conjunction,
    refs,
    shift,
    transform,
)
from pgstream.algebra.lower.aliased import alias_joins
from pgstream.algebra.lower.correlation import alike, equalities
from pgstream.algebra.lower.decorrelate import correlated_rows, decorrelated, with_keys
from pgstream.algebra.lower.domains import domain_of, known_columns, out_of_reach
from pgstream.algebra.lower.functions import expand
from pgstream.algebra.lower.hoist import condition_parts
from pgstream.algebra.lower.one_row import calls_of, finished, groups_of
from pgstream.algebra.lower.scope import Hoist, Scope, Table
from pgstream.algebra.lower.sets import rows_of_values
from pgstream.algebra.lower.using import equality
from pgstream.algebra.operators.join import Join, key_pair
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Scan
from pgstream.algebra.placement.canonical import (
    canonical_text,
    canonical_type,
    canonical_value,
)
from pgstream.algebra.placement.push_down import outer_join, push_down
from pgstream.algebra.placement.spark_list import spark_refusal
from pgstream.algebra.types import Type
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.walk import is_function, is_join, is_subquery
from pgstream.sql.walk import parts as parts_of

HIDDEN = "__pgs_outer_"
Lowered = tuple[Node, Scope]
"""A tree, and the scope with its names."""


def from_clause(node: exp.Select, scope: Scope) -> Lowered:
    clause = node.args.get("from_")
    joins = node.args.get("joins") or ()
    domain = scope.domain
    if clause is None:
        return (domain.tree if domain else OneRow()), scope
    start = len(scope.tables)
    if domain is None:
        return _joined_to(*_item(clause.this, 0, scope), joins, 0, start)
    if any(join.side.upper() in ("RIGHT", "FULL") for join in joins):
        # Rows that such a join keeps are kept for each value of the domain.
        width = len(domain.tree.columns)
        whole, scope = _joined_to(*_item(clause.this, width, scope), joins, width, start)
        return Join(domain.tree, whole), scope
    tree, scope = _join(domain.tree, exp.Join(this=clause.this), 0, 0, scope)
    return _joined_to(tree, scope, joins, 0, start)


def _joined_to(
    tree: Node, scope: Scope, joins: Sequence[exp.Join], offset: int, start: int
) -> Lowered:
    """The tree with these joined to it, one after the other; its tables are those from `start`."""
    for join in joins:
        tree, scope = _join(tree, join, offset, start, scope)
    return tree, scope


def _item(node: exp.Expr, offset: int, scope: Scope) -> Lowered:
    """One FROM item with the joins that belong to it."""
    start = len(scope.tables)
    tree, scope = _relation(node, offset, scope)
    return _joined_to(tree, scope, node.args.get("joins") or (), offset, start)


def _relation(node: exp.Expr, offset: int, scope: Scope) -> Lowered:
    if is_join(node):
        tree, inside = _item(node.this, offset, scope)
        if not node.alias:
            return tree, inside
        return alias_joins(node, tree, offset, scope, inside)
    if is_function(node):
        return expand(OneRow(), node, offset, None, scope)
    if isinstance(node, exp.Lateral | exp.Subquery):
        return _named(node, scope.context.query(node.this), offset, scope)
    if isinstance(node, exp.Values):
        return _named(node, rows_of_values(node, scope.context), offset, scope)
    if isinstance(node, exp.Table):
        return _table(node, offset, scope)
    raise UnsupportedConstruct(
        f"{node.key.upper()} in FROM is not supported.", construct=node.key.upper()
    )


# --- joins --------------------------------------------------------------------------------------


def _join(left: Node, join: exp.Join, offset: int, start: int, scope: Scope) -> Lowered:
    item = join.this
    if is_function(item):
        return _with_function(left, join, offset, scope)
    if not join.side and is_join(item) and not item.alias and known_columns(item, scope):
        # L, (A JOIN LATERAL B) is (L, A) JOIN LATERAL B, which sees L.
        left, scope = _joined_to(left, scope, chain(item), offset, start)
        return push_down(left, _on(join, offset, scope)), scope
    if outer := _reaches_out(item, scope):
        return _dependent(left, join, outer, offset, scope)
    known = len(scope.tables)
    right, scope = _item(item, offset + len(left.columns), scope)
    ours, theirs = scope.tables[start:known], scope.tables[known:]
    parts = _on(join, offset, scope)
    for name in common_columns(join, ours, theirs):
        same, scope = equality(name, ours, theirs, join, scope)
        parts.append(shift(same, -offset))
    side = join.side.upper()
    padded = {"LEFT": theirs, "RIGHT": ours, "FULL": (*ours, *theirs)}.get(side, ())
    return _by_side(left, right, side, parts), scope.padding(padded)


def _by_side(left: Node, right: Node, side: str, parts: list[Expression]) -> Node:
    match side:
        case "LEFT":
            return outer_join(left, right, parts, keeps_right=False)
        case "FULL":
            return outer_join(left, right, parts, keeps_right=True)
        case "RIGHT":
            return right_join(left, right, parts)
        case _:
            return push_down(Join(left, right), parts)


def _on(join: exp.Join, offset: int, scope: Scope) -> list[Expression]:
    condition = join.args.get("on")
    if condition is None:
        return []
    if any(map(is_subquery, parts_of(condition))):
        raise UnsupportedConstruct(
            "A subquery in ON is not supported.",
            construct=next(filter(is_subquery, parts_of(condition))).key.upper(),
            hint="Write ON instead of USING, or join with a subquery in FROM.",
        )
    return _shifted(condition_parts(condition, scope), offset)


def _shifted(parts: Sequence[Expression], offset: int) -> list[Expression]:
    """Over the columns of the tree that starts at the offset."""
    if any(index < offset for part in parts for index in refs(part)):
        raise out_of_reach()
    return [shift(part, -offset) for part in parts]


def common_columns(join: exp.Join, ours: Sequence[Table], theirs: Sequence[Table]) -> list[str]:
    if join.method.upper() == "NATURAL":
        mine = [name for table in ours for name in table.names]
        return [name for table in theirs for name in table.names if name in mine]
    return [name.name for name in join.args.get("using") or ()]


# --- relations that read what stands before them ------------------------------------------------


def _reaches_out(item: exp.Expr, scope: Scope) -> list[exp.Column]:
    """The columns of tables known so far that a subquery in FROM reads."""
    if is_join(item) or not isinstance(item, exp.Lateral | exp.Subquery):
        return []
    return known_columns(item.this, scope)


def _dependent(
    left: Node, join: exp.Join, outer: Sequence[exp.Column], offset: int, scope: Scope
) -> Lowered:
    item = join.this
    query = item.this.this if isinstance(item.this, exp.Subquery) else item.this
    for way in (_by_equality, _by_groups):
        made = way(left, join, query, offset, scope)
        if made is not None:
            return made
    domain = domain_of(left, outer, offset, scope)
    right = scope.context.query(query, domain)
    width = len(right.columns) - len(domain.names)
    known = len(scope.tables)
    right, scope = _named(item, right, offset + len(left.columns), scope, len(domain.names))
    pairs = tuple((index, width + i) for i, index in enumerate(domain.indexes))
    parts = _on(join, offset, scope)
    if join.side.upper() == "LEFT":
        tree = OuterJoin(left, right, pairs, conjunction(parts), nulls_match=True)
        return tree, scope.padding(scope.tables[known:])
    return push_down(Join(left, right, pairs, nulls_match=True), parts), scope


def _by_equality(
    left: Node, join: exp.Join, query: exp.Expr, offset: int, scope: Scope
) -> Lowered | None:
    """A subquery that reads what stands before it by equalities only is a relation like any other,
    joined by these; None if it is none."""
    found = correlated_rows(query)
    pairs = found and alike(*found, scope)
    if not found or not pairs:
        return None
    keys = [f"{HIDDEN}{i}" for i in range(len(pairs))]
    right = scope.context.query(with_keys(found[0], pairs, keys))
    width, known, first = (
        len(right.columns) - len(pairs),
        len(scope.tables),
        offset + len(left.columns),
    )
    right, scope = _named(join.this, right, first, scope, len(pairs))
    same = equalities(pairs, first + width, scope)
    if any(key_pair(part, first, spark_refusal) is None for part in same):
        return None
    parts = [*_shifted(same, offset), *_on(join, offset, scope)]
    if join.side.upper() == "LEFT":
        return _by_side(left, right, "LEFT", parts), scope.padding(scope.tables[known:])
    return _by_side(left, right, "", parts), scope


def _by_groups(
    left: Node, join: exp.Join, query: exp.Expr, offset: int, scope: Scope
) -> Lowered | None:
    """The one row of aggregates without GROUP BY, for each row that stands before it."""
    simple = decorrelated(query, tests=False)
    pairs = simple and alike(simple.inner, simple.pairs, scope)
    if not simple or not pairs or simple.others or (join.side and not _is_on_true(join)):
        return None
    items = [item.unalias() for item in simple.inner.expressions]
    calls = calls_of(items)
    if calls is None or any(item.find(exp.Query) for item in items):
        return None
    groups = scope.context.query(groups_of(simple.inner, pairs, calls))
    first, names = offset + len(left.columns), tuple(column.name for column in groups.columns)
    inside = scope.having(Table(HIDDEN, first, names, groups.columns, padded=True))
    same = equalities(pairs, first, inside)
    if any(key_pair(part, first, spark_refusal) is None for part in same):
        return None
    tree = _by_side(left, groups, "LEFT", _shifted(same, offset))
    values = [inside.convert(finished(item, calls, HIDDEN)) for item in items]
    shown = [item.alias_or_name for item in simple.inner.expressions]
    tree, scope = _beside(left, tree, join.this, _shifted(values, offset), shown, offset, scope)
    return (tree if _is_on_true(join) else push_down(tree, _on(join, offset, scope))), scope


def _is_on_true(join: exp.Join) -> bool:
    condition = join.args.get("on")
    return isinstance(condition, exp.Boolean) and bool(condition.this)


def _with_function(left: Node, join: exp.Join, offset: int, scope: Scope) -> Lowered:
    side = join.side.upper()
    if side not in ("", "LEFT"):
        raise UnsupportedConstruct(
            f"A {side} JOIN with a function is not supported.",
            construct=side,
            hint="Put the function into a subquery in FROM.",
        )
    if side == "LEFT":
        return expand(left, join.this, offset, join.args.get("on"), scope)
    tree, scope = expand(left, join.this, offset, None, scope)
    return push_down(tree, _on(join, offset, scope)), scope


# --- leaves -------------------------------------------------------------------------------------


def _table(node: exp.Table, offset: int, scope: Scope) -> Lowered:
    if not node.db and node.name in scope.context.ctes:
        return _named(node, scope.context.ctes[node.name](), offset, scope)
    alias = node.alias or node.name
    relation = scope.catalog.relation(node.db, node.name)
    shown = dict(zip((c for c, _ in relation.columns), renames(node), strict=False))
    fields = [_field(c, t, relation) for c, t in relation.columns if c in relation.used]
    names = [shown.get(f.name, f.name) for f in fields]
    for hoist in hoists_of(alias, scope):
        fields.append(computed(hoist, relation, scope))
        names.append(f"({hoist.text})")
    scan = Scan(relation.source, tuple(fields))
    whole = relation.primary_key <= {f.name for f in fields}
    key = tuple(shown.get(n, n) for n in sorted(relation.primary_key)) if whole else ()
    return scan, scope.having(Table(alias, offset, tuple(names), scan.columns, scan, key))


def _field(name: str, type_: Type, relation: Relation) -> Field:
    known = relation.frequencies.get(name, Frequency())
    return Field(name, type_, per_value=known.per_value, nulls=known.nulls)


def hoists_of(alias: str, scope: Scope) -> list[Hoist]:
    return [hoist for hoist in scope.hoists if hoist.alias == alias]


def computed(hoist: Hoist, relation: Relation, scope: Scope) -> Field:
    """The field that a scan computes."""
    text = hoist.text
    type_ = scope.catalog.field_type(relation.source, text)
    if not hoist.is_canonical:
        return Field(f"({text})", type_, text)
    columns = (column for column, _ in relation.columns)
    equal = next((column for column in columns if canonical_text(column) == text), None)
    return Field(f"({text})", canonical_type(type_), text, equal)


def _named(node: exp.Expr, tree: Node, offset: int, scope: Scope, hidden: int = 0) -> Lowered:
    """A FROM item that is no table; the last `hidden` columns have no name.
    Canonical values of its columns come after them, where joins need them."""
    names = [column.name for column in tree.columns]
    given = renames(node)
    names[: len(given)] = given
    for i in range(len(names) - hidden, len(names)):
        names[i] = f"{HIDDEN}{offset + i}"
    alias = node.alias or node.alias_or_name
    values: list[Expression] = [Ref(i, c.type) for i, c in enumerate(tree.columns)]
    _add_canonical(names, values, alias, scope)
    if len(values) > len(tree.columns):
        tree = Project(tree, tuple(values), tuple(names))
    return tree, scope.having(Table(alias, offset, tuple(names), tree.columns))


def _beside(
    left: Node, tree: Node, node: exp.Expr, values: list[Expression], names: list[str],
    offset: int, scope: Scope,
) -> Lowered:  # fmt: skip
    """The columns of the left side, then these values over the tree as the columns of a FROM
    item."""
    given = renames(node)
    names[: len(given)] = given
    _add_canonical(names, values, node.alias, scope)
    kept = [Ref(i, column.type) for i, column in enumerate(left.columns)]
    shown = [*(column.name for column in left.columns), *names]
    made = Project(tree, (*kept, *values), tuple(shown))
    width = len(left.columns)
    table = Table(node.alias, offset + width, tuple(names), made.columns[width:])
    return made, scope.having(table)


def _add_canonical(names: list[str], values: list[Expression], alias: str, scope: Scope) -> None:
    """Canonical values of the columns, where joins need them."""
    wanted = [hoist.text for hoist in hoists_of(alias, scope)]
    for name, value in list(zip(names, values, strict=True)):
        if (text := canonical_text(name)) in wanted:
            names.append(f"({text})")
            values.append(canonical_value(value))


def chain(node: exp.Expr) -> list[exp.Join]:
    """The relations that a join in parentheses joins, one after the other."""
    if not is_join(node):
        return [exp.Join(this=node), *(node.args.get("joins") or ())]
    inner = node.this
    first = inner.copy()
    first.set("joins", None)
    joins = [*(inner.args.get("joins") or ()), *(node.args.get("joins") or ())]
    return [*chain(first), *joins]


def renames(node: exp.Expr) -> tuple[str, ...]:
    """The column names in `… AS alias(a, b)`."""
    alias = node.args.get("alias")
    return tuple(c.name for c in (alias.args.get("columns") if alias else None) or ())


def right_join(left: Node, right: Node, parts: list[Expression]) -> Node:
    """A RIGHT JOIN B is B LEFT JOIN A, with the columns back in their order."""
    first, second = len(left.columns), len(right.columns)

    def exchange(ref: Ref) -> Ref:
        moved = ref.index + second if ref.index < first else ref.index - first
        return Ref(moved, ref.type)

    exchanged = [transform(part, exchange) for part in parts]
    joined = outer_join(right, left, exchanged, keeps_right=False)
    return pick(joined, (*range(second, second + first), *range(second)))
