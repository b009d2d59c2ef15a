"""Top: ORDER BY … LIMIT n [OFFSET m] at the top of a query.

    Top(A) = rows m + 1 to m + n of A, in the order of the keys, then of all columns

The tree computes A without the cut. Keys that are no output columns become hidden columns
after them. PostgreSQL sorts, so that collations, NULLs and every type order as its own do.

The first m + n rows, the *prefix*, are stored. Let b be the last of a full prefix. Of the rows
up to b all are known: those of prefix + Δ A that are not beyond b. If they are still m + n, the
first m + n of them are the new prefix, and A is not read. A query that ends in an aggregate
needs no prefix, because all its groups are stored.

FETCH FIRST n ROWS WITH TIES shows the rows, too, whose keys are equal to those of row m + n; they
belong to the prefix. Then the rows up to b are those whose keys are not beyond its keys.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pgstream.algebra.catalog import Catalog
from pgstream.errors import UnsupportedConstruct, UnsupportedExpression
from pgstream.sql.deparsed import write
from pgstream.sql.limits import counted, cuts, is_with_ties, picked_from, top_query
from pgstream.sql.parse import Query
from pgstream.sql.walk import bare

CLAUSES = ("order", "limit", "offset")
CONSTANTS = (
    exp.Literal, exp.Paren, exp.Cast, exp.DataType, exp.Binary, exp.Neg, exp.Null,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Order:
    """A key of ORDER BY: the index of its column, and how PostgreSQL sorts it.

    `collation` is None where the column's own counts, or where its type has none.
    """

    column: int
    descending: bool
    nulls_first: bool
    collation: str | None = None


@dataclass(frozen=True)
class Top:
    """`hidden` names the key columns that come after the user's columns in the tree; with `ties`,
    rows with the keys of the last one are shown, too."""

    order: tuple[Order, ...]
    limit: int
    offset: int
    hidden: tuple[str, ...] = ()
    ties: bool = False

    @property
    def size(self) -> int:
        """How many rows from the first one on decide what is shown."""
        return self.offset + self.limit if self.limit else 0


def split_top(query: Query, catalog: Catalog) -> tuple[Query, Top | None]:
    """The query without its cut and with its hidden columns, and the cut."""
    query = query.copy()
    inner = top_query(query)
    limit = _count(inner, "limit", catalog)
    top = None
    if limit is not None:
        keys = _Keys(query, inner)
        order = tuple(keys.order(item, catalog) for item in inner.args["order"].expressions)
        offset, ties = _count(inner, "offset", catalog) or 0, is_with_ties(inner.args["limit"])
        top = Top(order, limit, offset, tuple(keys.hidden), ties)
    for clause in CLAUSES:
        inner.set(clause, None)
    return query, top


class _Keys:
    """Finds the column of each key, and adds those that are not there."""

    def __init__(self, query: exp.Expr, inner: exp.Expr) -> None:
        self.query, self.inner = query, inner
        self.picks = picked_from(query) is inner
        self.hidden: list[str] = []
        first = inner
        while not isinstance(first, exp.Select):
            first = first.this
        self.items = list(first.expressions)
        self.picked = list(query.expressions) if self.picks else self.items

    def order(self, ordered: exp.Expr, catalog: Catalog) -> Order:
        key = value = bare(ordered.this)
        _refuse_whole_row(key)
        index = self.output(key)
        while self.output(value) is None and isinstance(value, exp.Collate):
            value = bare(value.this)  # it orders, and changes no value
        column = self.column(self.output(value), self.as_elsewhere(value))
        collation = None
        if index is None or column >= len(self.picked):
            collation = self.collation(index, key, catalog)
        descending, nulls_first = (bool(ordered.args.get(n)) for n in ("desc", "nulls_first"))
        return Order(column, descending, nulls_first, collation)

    def output(self, key: exp.Expr) -> int | None:
        """The output column that the key is: by its number, its name or its expression."""
        if isinstance(key, exp.Literal) and key.is_int:
            return int(key.name) - 1
        if isinstance(key, exp.Column) and not key.table:
            names = [item.alias_or_name for item in self.items]
            if key.name in names:
                return names.index(key.name)
        values = [bare(item.unalias()) for item in self.items]
        key = self.as_elsewhere(key)
        return values.index(key) if key in values else None

    def as_elsewhere(self, key: exp.Expr) -> exp.Expr:
        """Over one table PostgreSQL prints columns without its name, but in ORDER BY with it
        where the column's name is that of another output column."""
        group = self.inner.args.get("group")
        others = [*self.items, *(group.expressions if group else ())]
        qualified = any(column.table for other in others for column in other.find_all(exp.Column))
        if qualified or not isinstance(key, exp.Column) or not _reads_one(self.inner):
            return key
        return exp.column(key.this.copy())

    def collation(self, index: int | None, key: exp.Expr, catalog: Catalog) -> str | None:
        """Of a key that is no column of the stream table, which would tell it."""
        question = self.inner.copy()
        for clause in CLAUSES:
            question.set(clause, None)
        if index is not None:
            return catalog.collation(write(question), self.items[index].alias_or_name)
        question.set("expressions", [exp.alias_(key.copy(), "key")])
        return catalog.collation(write(question), "key")

    def column(self, index: int | None, value: exp.Expr) -> int:
        """Where the whole query has the key; it is added where it is not."""
        if not self.picks:
            return self.hide(value) if index is None else index
        if index is None:
            name = f"__pgs_order_{len(self.hidden)}"
            self.add(self.inner, value, name)
        else:
            name = self.items[index].alias_or_name
        for i, item in enumerate(self.picked):
            if item.unalias().name == name:
                return i
        return self.hide(exp.column(exp.to_identifier(name, quoted=True)))

    def hide(self, value: exp.Expr) -> int:
        name = f"__pgs_order_{len(self.hidden)}"
        self.add(self.query, value, name)
        self.hidden.append(name)
        return len(self.picked) + len(self.hidden) - 1

    def add(self, query: exp.Expr, value: exp.Expr, name: str) -> None:
        if query.args.get("distinct") or not isinstance(query, exp.Select):
            raise UnsupportedConstruct(
                "ORDER BY an expression that is not selected is not supported here.",
                construct="ORDER BY",
                hint="Put the expression into the SELECT list.",
            )
        query.append("expressions", exp.alias_(value.copy(), name))


def _reads_one(query: exp.Expr) -> bool:
    """Whether FROM names one table or subquery."""
    clause = query.args.get("from_")
    if clause is None or query.args.get("joins") or clause.this.args.get("joins"):
        return False
    return isinstance(clause.this, exp.Table) or bool(clause.this.alias)


def _refuse_whole_row(key: exp.Expr) -> None:
    if isinstance(key, exp.Column) and isinstance(key.this, exp.Star):
        raise UnsupportedExpression(
            "A whole-row reference is not supported.",
            construct="ORDER BY",
            hint="Name the columns.",
        )


def _count(query: exp.Expr, name: str, catalog: Catalog) -> int | None:
    """The number of rows that LIMIT or OFFSET gives; None if it does not cut."""
    clause = query.args.get(name)
    if clause is None or not cuts(clause):
        return None
    value = counted(clause)
    if not all(isinstance(part, CONSTANTS) for part in value.walk()):
        raise UnsupportedConstruct(
            f"{name.upper()} must be a constant in a stream table's query.",
            construct=name.upper(),
            detail="A number that changes would move the cut without a change of a source.",
            hint="Write the number into the query.",
        )
    text, _ = catalog.constant(f"CAST({write(value)} AS bigint)")
    if text is not None and int(text) < 0:
        raise UnsupportedConstruct(f"{name.upper()} must not be negative.", construct=name.upper())
    return None if text is None else int(text)
