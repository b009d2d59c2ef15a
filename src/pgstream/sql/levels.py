"""What belongs to one SELECT, and not to the queries in it or around it.

Aliases are unique from a query down to its subqueries, and columns in subqueries are qualified:
so a column's qualifier says whose it is. Columns of the outermost SELECT over one relation are
not qualified; `qualified` makes them so.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from pgstream.sql.scope import aliases
from pgstream.sql.walk import is_aggregate, is_qualified


def is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query)


def qualified(select: exp.Select) -> exp.Select:
    """A copy in which the columns of a single relation carry its name."""
    copy = select.copy()
    name = only_relation(copy)
    if name is not None:
        for part in _outside_from(copy):
            qualify(part, name)
    return copy


def only_relation(select: exp.Select) -> exp.Identifier | None:
    clause = select.args.get("from_")
    if clause is None or select.args.get("joins") or clause.this.args.get("joins"):
        return None
    alias = clause.this.args.get("alias")
    name = alias.this if alias else clause.this.this
    return name if isinstance(name, exp.Identifier) else None


def qualify(node: exp.Expr, name: exp.Identifier) -> None:
    """Qualifies, in place, the columns outside subqueries."""
    for part in node.walk(prune=is_query):
        if isinstance(part, exp.Column) and not part.args.get("table"):
            part.set("table", name.copy())


def _outside_from(select: exp.Select) -> Iterator[exp.Expr]:
    for key, value in select.args.items():
        if key not in ("from_", "joins", "with_"):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, exp.Expr):
                    yield part


def is_windowed(node: exp.Expr) -> bool:
    """The function of an OVER clause: sum(x) in sum(x) OVER ()."""
    parent = node.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        if parent.this is not node:
            return False
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is node


def is_grouping(node: exp.Expr) -> bool:
    """GROUPING(a, b)."""
    named = isinstance(node, exp.Anonymous) and node.name.upper() == "GROUPING"
    return named and not is_qualified(node)


class Level:
    """One SELECT as a level of names. The expressions asked about are detached copies."""

    def __init__(self, select: exp.Select) -> None:
        self.select = select
        self.names = aliases(select)

    def clauses(self) -> list[exp.Expr]:
        """Copies of what stands above the FROM clause, WHERE and GROUP BY."""
        args = self.select.args
        clauses = [*args["expressions"], args.get("having"), args.get("order")]
        return [clause.copy() for clause in clauses if clause is not None]

    def is_grouped(self) -> bool:
        if self.select.args.get("group") or self.select.args.get("having"):
            return True
        return any(self.owns_aggregate(n) for clause in self.clauses() for n in clause.walk())

    def owns_aggregate(self, node: exp.Expr) -> bool:
        """The level of a call is that of its columns, wherever the call stands: sum(t.x) in
        (SELECT sum(t.x)) sums the rows of the t outside."""
        if not (is_aggregate(node) or is_grouping(node)) or is_windowed(node):
            return False
        between = _selects_around(node)
        read = {column.table for column in node.find_all(exp.Column)}
        if any(read & aliases(select) for select in between):
            return False
        if not between and (not read or "" in read):
            return True
        return bool(read & self.names)

    def owns_column(self, node: exp.Expr) -> bool:
        if not isinstance(node, exp.Column):
            return False
        return node.table in self.names or not (node.table or _selects_around(node))

    def reads(self, node: exp.Expr) -> bool:
        return any(self.owns_column(part) for part in node.walk())


def _selects_around(node: exp.Expr) -> list[exp.Select]:
    found: list[exp.Select] = []
    while node.parent is not None:
        node = node.parent
        if isinstance(node, exp.Select):
            found.append(node)
    return found
