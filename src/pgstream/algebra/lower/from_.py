"""Lowers FROM: tables, joins, subqueries, LATERAL, functions and VALUES.

A subquery that reads columns of what stands before it (LATERAL, or a query around it) is
computed once for all values that these columns have: it is lowered over their distinct
values, its *domain*, and joined with what stands before it by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from pgstream.algebra.catalog import Relation
from pgstream.algebra.expressions import (
    Expression,
    Ref,
    conjunction,
    refs,
    shift,
    transform,
)
from pgstream.algebra.lower.aliased import Aliased
from pgstream.algebra.lower.functions import expand
from pgstream.algebra.lower.scope import Domain, Table
from pgstream.algebra.lower.sets import distinct, rows_of_values
from pgstream.algebra.lower.using import Using
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Scan
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.placement.canonical import (
    canonical_text,
    canonical_type,
    canonical_value,
)
from pgstream.algebra.placement.push_down import outer_join, push_down
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.scope import free_columns
from pgstream.sql.walk import is_function, is_join, is_subquery
from pgstream.sql.walk import parts as parts_of

if TYPE_CHECKING:
    from pgstream.algebra.lower.select import SelectLowering

HIDDEN = "__pgs_outer_"


class FromClause:
    def __init__(self, select: SelectLowering) -> None:
        self.select = select
        self.tables = select.tables

    def lower(self) -> Node:
        node, domain = self.select.node, self.select.domain
        clause = node.args.get("from_")
        joins = node.args.get("joins") or ()
        tree: Node | None = None
        if domain is not None:
            domain.register(self.select)
            tree = domain.tree
        if clause is None:
            return tree or OneRow()
        if tree is not None and any(join.side.upper() in ("RIGHT", "FULL") for join in joins):
            # Rows that such a join keeps are kept for each value of the domain.
            start, width = len(self.tables), len(tree.columns)
            whole = self.item(clause.this, width)
            for join in joins:
                whole = self.join(whole, join, width, start)
            return Join(tree, whole)
        start = len(self.tables)
        first = exp.Join(this=clause.this)
        tree = self.item(clause.this, 0) if tree is None else self.join(tree, first, 0)
        for join in joins:
            tree = self.join(tree, join, 0, start)
        return tree

    def item(self, node: exp.Expr, offset: int) -> Node:
        """One FROM item with the joins that belong to it."""
        start = len(self.tables)
        tree = self.relation(node, offset)
        for join in node.args.get("joins") or ():
            tree = self.join(tree, join, offset, start)
        return tree

    def relation(self, node: exp.Expr, offset: int) -> Node:
        if is_join(node):
            known = len(self.tables), len(self.select.merged)
            tree = self.item(node.this, offset)
            return Aliased(self.select, *known).lower(node, tree, offset) if node.alias else tree
        if is_function(node):
            return expand(self.select, OneRow(), node, offset, None)
        if isinstance(node, exp.Lateral | exp.Subquery):
            return self.add(node, self.select.parent.query(node.this), offset)
        if isinstance(node, exp.Values):
            return self.add(node, rows_of_values(self.select.parent, node), offset)
        if isinstance(node, exp.Table):
            return self.table(node, offset)
        raise UnsupportedConstruct(
            f"{node.key.upper()} in FROM is not supported.", construct=node.key.upper()
        )

    # --- joins ------------------------------------------------------------------------------

    def join(self, left: Node, join: exp.Join, offset: int, start: int = 0) -> Node:
        item = join.this
        if is_function(item):
            return self.with_function(left, join, offset)
        if not join.side and is_join(item) and not item.alias and self.known_columns(item):
            # L, (A JOIN LATERAL B) is (L, A) JOIN LATERAL B, which sees L.
            for part in chain(item):
                left = self.join(left, part, offset, start)
            return push_down(left, self.on(join, offset))
        known = len(self.tables)
        outer = self.reaches_out(item)
        if outer:
            return self.dependent(left, join, outer, offset)
        right = self.item(item, offset + len(left.columns))
        ours, theirs = self.tables[start:known], self.tables[known:]
        parts = self.on(join, offset)
        for name in self.common_columns(join, ours, theirs):
            equality = Using(self.select).equality(name, ours, theirs, join)
            parts.append(shift(equality, -offset))
        return self.joined(left, right, join.side.upper(), parts, ours, theirs)

    def joined(
        self,
        left: Node,
        right: Node,
        side: str,
        parts: list[Expression],
        ours: Sequence[Table],
        theirs: Sequence[Table],
    ) -> Node:
        match side:
            case "LEFT":
                self.select.pad(theirs)
                return outer_join(left, right, parts, keeps_right=False)
            case "FULL":
                self.select.pad([*ours, *theirs])
                return outer_join(left, right, parts, keeps_right=True)
            case "RIGHT":
                self.select.pad(ours)
                return right_join(left, right, parts)
            case _:
                return push_down(Join(left, right), parts)

    def on(self, join: exp.Join, offset: int) -> list[Expression]:
        condition = join.args.get("on")
        if condition is None:
            return []
        if any(map(is_subquery, parts_of(condition))):
            raise UnsupportedConstruct(
                "A subquery in ON is not supported.",
                construct=next(filter(is_subquery, parts_of(condition))).key.upper(),
                hint="Write ON instead of USING, or join with a subquery in FROM.",
            )
        parts = self.select.conditions(condition)
        if any(index < offset for part in parts for index in refs(part)):
            raise out_of_reach()
        return [shift(part, -offset) for part in parts]

    def common_columns(
        self, join: exp.Join, ours: Sequence[Table], theirs: Sequence[Table]
    ) -> list[str]:
        if join.method.upper() == "NATURAL":
            mine = [name for table in ours for name in table.names]
            return [name for table in theirs for name in table.names if name in mine]
        return [name.name for name in join.args.get("using") or ()]

    # --- relations that read what stands before them ----------------------------------------

    def reaches_out(self, item: exp.Expr) -> list[exp.Column]:
        """The columns of tables known so far that a subquery in FROM reads."""
        if is_join(item) or not isinstance(item, exp.Lateral | exp.Subquery):
            return []
        return self.known_columns(item.this)

    def known_columns(self, node: exp.Expr) -> list[exp.Column]:
        known = {table.alias for table in self.tables}
        return [column for column in free_columns(node) if column.table in known]

    def dependent(
        self, left: Node, join: exp.Join, outer: Sequence[exp.Column], offset: int
    ) -> Node:
        item = join.this
        domain = self.domain(left, outer, offset)
        query = item.this.this if isinstance(item.this, exp.Subquery) else item.this
        right = self.select.parent.query(query, domain)
        width = len(right.columns) - len(domain.names)
        known = len(self.tables)
        right = self.add(item, right, offset + len(left.columns), hidden=len(domain.names))
        pairs = tuple((index, width + i) for i, index in enumerate(domain.indexes))
        parts = self.on(join, offset)
        if join.side.upper() == "LEFT":
            self.select.pad(self.tables[known:])
            return OuterJoin(left, right, pairs, conjunction(parts), nulls_match=True)
        return push_down(Join(left, right, pairs, nulls_match=True), parts)

    def domain(self, left: Node, outer: Sequence[exp.Column], offset: int) -> Domain:
        """The distinct values of these columns of the tree. They are taken where the columns
        come from: more values than needed do no harm."""
        known = [self.select.index_of(column) for column in outer]
        indexes = tuple(index - offset for index in known)
        if any(index < 0 for index in indexes):
            raise out_of_reach()
        names = tuple((column.table, column.name) for column in outer)
        own = self.select.domain
        source, columns = narrowest(left, indexes)
        if own is not None and source is own.tree and columns == tuple(range(len(own.names))):
            return Domain(source, names, indexes)
        return Domain(distinct(pick(source, columns), len(columns)), names, indexes)

    def with_function(self, left: Node, join: exp.Join, offset: int) -> Node:
        side = join.side.upper()
        if side not in ("", "LEFT"):
            raise UnsupportedConstruct(
                f"A {side} JOIN with a function is not supported.",
                construct=side,
                hint="Put the function into a subquery in FROM.",
            )
        if side == "LEFT":
            return expand(self.select, left, join.this, offset, join.args.get("on"))
        tree = expand(self.select, left, join.this, offset, None)
        return push_down(tree, self.on(join, offset))

    # --- leaves -----------------------------------------------------------------------------

    def table(self, node: exp.Table, offset: int) -> Node:
        select = self.select
        if not node.db and node.name in select.parent.ctes:
            query, scope = select.parent.ctes[node.name]
            tree = scope.query(query)
            if node.name in select.parent.shared:
                tree = Shared(tree, node.name)
            return self.add(node, tree, offset)
        name = node.alias or node.name
        relation = select.catalog.relation(node.db, node.name)
        shown = dict(zip((c for c, _ in relation.columns), renames(node), strict=False))
        fields = [Field(c, t) for c, t in relation.columns if c in relation.used]
        names = [shown.get(f.name, f.name) for f in fields]
        for text in select.hoists.texts.get(name, ()):
            fields.append(self.computed(name, relation, text))
            names.append(f"({text})")
        scan = Scan(relation.source, tuple(fields))
        whole = relation.primary_key <= {f.name for f in fields}
        key = tuple(shown.get(n, n) for n in sorted(relation.primary_key)) if whole else ()
        select.register(Table(name, offset, tuple(names), scan, key), scan)
        return scan

    def computed(self, alias: str, relation: Relation, text: str) -> Field:
        """The field that a scan computes."""
        type_ = self.select.catalog.field_type(relation.source, text)
        if (alias, text) not in self.select.hoists.canonical:
            return Field(f"({text})", type_, text)
        columns = (column for column, _ in relation.columns)
        equal = next((column for column in columns if canonical_text(column) == text), None)
        return Field(f"({text})", canonical_type(type_), text, equal)

    def add(self, node: exp.Expr, tree: Node, offset: int, hidden: int = 0) -> Node:
        """Registers a FROM item that is no table; the last `hidden` columns have no name.
        Canonical values of its columns come after them, where joins need them."""
        names = [column.name for column in tree.columns]
        given = renames(node)
        names[: len(given)] = given
        for i in range(len(names) - hidden, len(names)):
            names[i] = f"{HIDDEN}{offset + i}"
        alias = node.alias or node.alias_or_name
        wanted = self.select.hoists.texts.get(alias, ())
        values: list[Expression] = [Ref(i, c.type) for i, c in enumerate(tree.columns)]
        for name, value in list(zip(names, values, strict=True)):
            if (text := canonical_text(name)) in wanted:
                names.append(f"({text})")
                values.append(canonical_value(value))
        if len(values) > len(tree.columns):
            tree = Project(tree, tuple(values), tuple(names))
        self.select.register(Table(alias, offset, tuple(names), None), tree)
        return tree


def chain(node: exp.Expr) -> list[exp.Join]:
    """The relations that a join in parentheses joins, one after the other."""
    if not is_join(node):
        return [exp.Join(this=node), *(node.args.get("joins") or ())]
    inner = node.this
    first = inner.copy()
    first.set("joins", None)
    joins = [*(inner.args.get("joins") or ()), *(node.args.get("joins") or ())]
    return [*chain(first), *joins]


def narrowest(tree: Node, indexes: tuple[int, ...]) -> tuple[Node, tuple[int, ...]]:
    """The smallest part of the tree that has all values of these columns."""
    below = tree.shown_by(indexes) if len(tree.inputs) > 1 else None
    if below is None or len(below) > 1:
        return tree, indexes
    return narrowest(*below[0])


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


def out_of_reach() -> UnsupportedConstruct:
    return UnsupportedConstruct(
        "A subquery, or a condition, in parenthesized joins reads a table outside of them.",
        construct="LATERAL",
        hint="Write the joins without parentheses.",
    )
