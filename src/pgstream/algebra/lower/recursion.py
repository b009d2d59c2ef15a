"""Lowers the CTEs of a WITH RECURSIVE that refer to themselves.

    WITH RECURSIVE t AS (base UNION [ALL] step)

A use of t is a scan of a table that holds its rows. Base and step are lowered like any query; in
the step, t is `Working`. The step must be linear in t, and each row of a UNION ALL has a level:
a column of its own that counts up, or one that is added here.

While a query is lowered, a use of t carries the recursion with it; `numbered` takes the recursions
out of the finished tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

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
from pgstream.algebra.lower.scope import Context
from pgstream.algebra.lower.sets import comparable_rows
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.working import Working
from pgstream.algebra.placement.canonical import with_any_spelling
from pgstream.algebra.types import INTEGER
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.walk import is_join, unwrapped

WithCtes = Callable[[exp.Expr, Context], Context]


@dataclass(frozen=True, eq=False)
class Use(Scan):
    """A use of a recursive CTE, until its table has a number."""

    recursion: Recursion = field(kw_only=True)

    def with_computed(
        self, index: int, compute: Callable[[Field], Field]
    ) -> tuple[Node, int] | None:
        return None  # its rows come from Spark, before they are stored


def numbered(tree: Node) -> tuple[Node, tuple[Recursion, ...]]:
    """The tree over numbered tables, and the recursions that it reads, directly or not; those
    that others read come first."""
    found: dict[Recursion, Recursion] = {}

    def scan(node: Node) -> Node | None:
        if not isinstance(node, Use):
            return None
        if (old := node.recursion) not in found:
            base, step = substituted(old.base, scan), substituted(old.step, scan)
            source = replace(old.source, relid=-len(found) - 1)
            found[old] = replace(old, source=source, base=base, step=step)
        return Scan(found[old].source, node.fields)

    tree = substituted(tree, scan)
    return tree, tuple(found.values())


def recursive_cte(cte: exp.CTE, context: Context, with_ctes: WithCtes) -> Node:
    """What the name of a CTE that refers to itself stands for. `with_ctes` is the context inside
    of a query, with the names of its WITH."""
    name, union = cte.alias, unwrapped(cte.this)
    if not isinstance(union, exp.Union):
        raise not_linear(name, "reads itself outside of a UNION")
    names = [c.name for c in cte.args["alias"].args.get("columns") or ()]
    base = _named(with_ctes(union, context).query(union.this), names)

    def step(term: exp.Expr, base: Node) -> Node:
        working = Working(name, base.columns)
        bound = replace(context, ctes={**context.ctes, name: lambda: working})
        return substituted(with_ctes(union, bound).query(term), _unshared)

    term = union.args["expression"]
    if union.args.get("distinct"):
        base = _named(comparable_rows(base), names)
        return use_of(name, base, comparable_rows(step(term, base)), None)
    base = with_any_spelling(base)
    made = step(term, base)
    level = own_level(base, made)
    if level is not None:
        return use_of(name, base, made, level)
    base = _with_first_level(base)
    return use_of(name, base, step(_with_level(term, name), base), len(base.columns) - 1)


def use_of(name: str, base: Node, step: Node, level: int | None) -> Use:
    fields = tuple(Field(column.name, column.type) for column in base.columns)
    source = Source(0, STATE_SCHEMA, name, True)
    made = Recursion(name, source, fields, base, step, level, tuple(range(len(fields))))
    return Use(source, made.scan.fields, recursion=made)


def _with_level(term: exp.Expr, name: str) -> exp.Expr:
    """The recursive term with one more column: the level of its row, and one."""
    term = term.copy()
    if not _carry_level(term, name, 1):
        raise UnsupportedConstruct(
            f"The recursive CTE {name} does not tell in which round a row is made.",
            construct="RECURSIVE",
            hint="Give it a column that counts: 0 in the first term, plus 1 in the other.",
        )
    return term


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
