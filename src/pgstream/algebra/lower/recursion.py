"""Lowers the CTEs of a WITH RECURSIVE that refer to themselves.

    WITH RECURSIVE t AS (base UNION [ALL] step)

A use of t is a scan of a table that holds its rows. Base and step are lowered like any query; in
the step, t is `Working`. The step must be linear in t, and each row of a UNION ALL has a level:
a column of its own that counts up, or one that is added here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from pgstream.algebra.calculus.linear import not_linear
from pgstream.algebra.calculus.recursion import (
    LEVEL,
    STATE_SCHEMA,
    Recursion,
    is_working,
    substituted,
)
from pgstream.algebra.calculus.trace import trace
from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.lower.sets import comparable_rows
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Field, Source
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.working import Working
from pgstream.algebra.placement.canonical import with_any_spelling
from pgstream.algebra.types import INTEGER
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.walk import is_join, unwrapped

if TYPE_CHECKING:
    from pgstream.algebra.lower.query import Lowering


class Scope(Protocol):
    """What a name in FROM stands for."""

    def query(self, node: exp.Expr) -> Node: ...


class Known:
    """A name that stands for a tree."""

    def __init__(self, tree: Node) -> None:
        self.tree = tree

    def query(self, node: exp.Expr) -> Node:
        return self.tree


class RecursiveCte:
    """A CTE that refers to itself. It is lowered at its first use."""

    def __init__(self, scope: Lowering, cte: exp.CTE) -> None:
        self.scope, self.cte = scope, cte
        self.made: Recursion | None = None

    def query(self, node: exp.Expr) -> Node:
        if self.made is None:
            self.made = self.lower()
        return self.made.scan

    def lower(self) -> Recursion:
        name, union = self.cte.alias, unwrapped(self.cte.this)
        if not isinstance(union, exp.Union):
            raise not_linear(name, "reads itself outside of a UNION")
        names = [c.name for c in self.cte.args["alias"].args.get("columns") or ()]
        base = _named(self.scope.with_ctes(union).query(union.this), names)
        level = None
        if union.args.get("distinct"):
            base = _named(comparable_rows(base), names)
            step = comparable_rows(self.step(union, union.args["expression"], base))
        else:
            base = with_any_spelling(base)
            step = self.step(union, union.args["expression"], base)
            level = own_level(base, step)
            if level is None:
                level = len(base.columns)
                base = _with_first_level(base)
                step = self.step(union, self.with_level(union.args["expression"]), base)
        return register(self.scope.recursions, Recursion(
            name, Source(0, STATE_SCHEMA, name, True), (), base, step, level, (),
        ))  # fmt: skip

    def step(self, union: exp.Union, term: exp.Expr, base: Node) -> Node:
        bound = self.scope.child()
        bound.ctes[self.cte.alias] = (self.cte.this, Known(Working(self.cte.alias, base.columns)))
        return substituted(bound.with_ctes(union).query(term), _unshared)

    def with_level(self, term: exp.Expr) -> exp.Expr:
        """The recursive term with one more column: the level of its row, and one."""
        term = term.copy()
        if not _carry_level(term, self.cte.alias, 1):
            raise UnsupportedConstruct(
                f"The recursive CTE {self.cte.alias} does not tell in which round a row is made.",
                construct="RECURSIVE",
                hint="Give it a column that counts: 0 in the first term, plus 1 in the other.",
            )
        return term


def register(known: list[Recursion], new: Recursion) -> Recursion:
    """The recursion with a number; a SELECT may be lowered several times, to the same trees."""
    for old in known:
        if (old.name, old.base, old.step, old.level) == (new.name, new.base, new.step, new.level):
            return old
    source = replace(new.source, relid=-len(known) - 1)
    fields = tuple(Field(column.name, column.type) for column in new.columns)
    hashed = tuple(range(len(fields)))
    known.append(replace(new, source=source, fields=fields, hashed=hashed))
    return known[-1]


def _unshared(node: Node) -> Node | None:
    """The rows of a round are at hand: nothing is gained by computing them apart."""
    if not isinstance(node, Shared) or not any(map(is_working, node.walk())):
        return None
    return substituted(node.input, _unshared)


def refers_to_itself(cte: exp.CTE) -> bool:
    return _reads(cte.this, cte.alias)


def _reads(node: exp.Expr, name: str) -> bool:
    if isinstance(node, exp.Table) and not node.db and node.name == name:
        return True
    clause = node.args.get("with_")
    if clause and any(inner.alias == name for inner in clause.expressions):
        return False  # the name means another CTE in there
    return any(_reads(child, name) for child in node.iter_expressions())


def _named(tree: Node, names: Sequence[str]) -> Project:
    """The tree with its first columns renamed."""
    columns = tree.columns
    shown = (*names, *(column.name for column in columns[len(names) :]))
    if isinstance(tree, Project):
        return replace(tree, names=shown)
    refs = tuple(Ref(i, column.type) for i, column in enumerate(columns))
    return Project(tree, refs, shown)


# --- levels -----------------------------------------------------------------------------------


def own_level(base: Node, step: Node) -> int | None:
    """A column that starts as a constant integer and that each step counts up."""
    for i in range(len(base.columns)):
        if _starts(base, i) and _counts_up(step, i):
            return i
    return None


def _starts(base: Node, i: int) -> bool:
    match base:
        case UnionAll(terms):
            return all(_starts(term, i) for term in terms)
        case Shared(input):
            return _starts(input, i)
        case Project(input, expressions):
            first = expressions[i]
            if isinstance(first, Ref):
                return _starts(input, first.index)
            return isinstance(first, Literal) and first.type.is_integer and first.text is not None
        case _:
            return False


def _counts_up(step: Node, i: int) -> bool:
    if not isinstance(step, Project):
        return False
    match step.expressions[i]:
        case Call("+", (Ref(index), Literal(text, type_))) if type_.is_integer:
            leaves = trace(step.input, (index,))
            up = text is not None and int(text) > 0
            return up and bool(leaves) and all(is_working(n) and p == (i,) for n, p in leaves or ())
        case _:
            return False


def _with_first_level(base: Project) -> Project:
    """The first term's rows have level 0."""
    first: tuple[Expression, ...] = (Literal("0", INTEGER),)
    return Project(base.input, base.expressions + first, (*base.names, LEVEL))


def _carry_level(query: exp.Expr, name: str, more: int) -> bool:
    """Adds the level to the SELECT, and to those that it reads and that lead to the CTE."""
    select = unwrapped(query)
    if not isinstance(select, exp.Select) or not select.args.get("from_"):
        return False
    items = [select.args["from_"].this, *(j.this for j in select.args.get("joins") or ())]
    clause = select.args.get("with_")
    ctes = {cte.alias: cte.this for cte in clause.expressions} if clause else {}
    for relation in (leaf for item in items for leaf in _relations(item)):
        if isinstance(relation, exp.Table) and not relation.db:
            inner = ctes.get(relation.name)
            found = _carry_level(inner, name, 0) if inner else relation.name == name
        else:
            found = isinstance(relation, exp.Subquery) and _carry_level(relation.this, name, 0)
        if found:
            level: exp.Expr = exp.column(LEVEL, table=relation.alias_or_name, quoted=True)
            if more:
                level = exp.Add(this=level, expression=exp.Literal.number(more))
            select.append("expressions", exp.alias_(level, LEVEL, quoted=True))
            return True
    return False


def _relations(item: exp.Expr) -> Iterator[exp.Expr]:
    """The tables and subqueries of a FROM item, also of a join in parentheses."""
    if is_join(item) and not item.alias:
        yield from _relations(item.this)
    else:
        yield item
    for join in item.args.get("joins") or ():
        yield from _relations(join.this)
