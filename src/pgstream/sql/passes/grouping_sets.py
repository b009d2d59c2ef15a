"""grouping_sets: the input is repeated for each grouping set, and grouped once.

Before: SELECT k, sum(x) AS s, GROUPING(k) AS b FROM t GROUP BY ROLLUP (k) HAVING count(*) > 1
After:  SELECT g.k0 AS k, sum(g.a0) FILTER (WHERE g.row) AS s,
               CASE WHEN g.set = 0 THEN 0 ELSE 1 END AS b
          FROM (SELECT t.k AS k0, t.x AS a0, 0 AS set, true AS row FROM t
                UNION ALL
                SELECT CASE WHEN false THEN t.k END, t.x, 1, true FROM t
                UNION ALL
                SELECT NULL, NULL, 1, false) g
         GROUP BY g.k0, g.set HAVING count(*) FILTER (WHERE g.row) > 1

An empty set is a group even of no rows: a constant row keeps it alive, and no aggregate counts
that row. One stored state serves all sets. Repeated sets stay apart by their numbers. What an
aggregate reads is a column of its own, since in it a key is not replaced by NULL.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.grouping import (
    CONSTRUCT,
    REASON,
    WAY_OUT,
    Keys,
    has_sets,
    too_many,
    written_keys,
)
from pgstream.sql.grouping import grouping_sets as sets_of
from pgstream.sql.levels import Level, is_grouping, qualified
from pgstream.sql.parse import Query
from pgstream.sql.passes.build import (
    Names,
    as_item,
    derived,
    everywhere,
    named_as,
    replaced,
)
from pgstream.sql.walk import bare

SET, IS_ROW = "__pgs_set", "__pgs_row"
INPUT = ("from_", "joins", "laterals", "where")
# Parts of a call that are not values of their own.
SYNTAX = (
    exp.Distinct, exp.Kwarg, exp.Order, exp.Ordered, exp.Tuple, exp.Variadic, exp.Where,
)  # fmt: skip


def grouping_sets(query: Query) -> Query:
    return everywhere(query, _expand)


def _expand(select: exp.Select, names: Names) -> exp.Select:
    group = select.args.get("group")
    if group is None:
        return select
    if not has_sets(group):
        return _one_set(select) if any(map(is_grouping, select.walk())) else select
    if too_many(group):
        raise UnsupportedConstruct(
            f"{CONSTRUCT} is not supported in a stream table's query.",
            construct=CONSTRUCT,
            detail=REASON,
            hint=WAY_OUT,
        )
    if len(sets_of(group)) == 1:
        return _one_set(select)
    return _Expansion(qualified(select), names.new("g")).expand()


def _one_set(select: exp.Select) -> exp.Select:
    """GROUP BY with one set is a plain one, and GROUPING is 0. GROUP BY () is one group."""
    select = select.copy()
    level = Level(select)
    (keys,) = sets_of(select.args["group"])
    select.set("group", exp.Group(expressions=[key.copy() for key in keys]) if keys else None)

    def step(node: exp.Expr) -> exp.Expr | None:
        of_level = is_grouping(node) and level.owns_aggregate(node)
        return exp.Literal.number(0) if of_level else None

    _rewrite_above(select, step)
    if not keys and not select.args.get("having"):
        select.set("having", exp.Having(this=exp.true()))
    return select


def _rewrite_above(select: exp.Select, step: Callable[[exp.Expr], exp.Expr | None]) -> None:
    items = [named_as(item, replaced(item.unalias(), step)) for item in select.expressions]
    select.set("expressions", items)
    for clause in ("having", "order"):
        if select.args.get(clause):
            select.set(clause, replaced(select.args[clause], step))


class _Expansion:
    def __init__(self, select: exp.Select, alias: str) -> None:
        self.select, self.alias = select, alias
        self.level = Level(select)
        self.sets: list[Keys] = sets_of(select.args["group"])
        self.keys: list[exp.Expr] = list(dict.fromkeys(key for one in self.sets for key in one))
        self.dependent: list[exp.Expr] = []
        """Columns that depend on a grouped primary key."""
        self.arguments: list[exp.Expr] = []
        self.has_empty = any(not keys for keys in self.sets)
        self.require_distinct_keys()

    def require_distinct_keys(self) -> None:
        """PostgreSQL keeps apart two SELECT items that are grouped, though they are the same
        expression; but it prints both alike, so that one cannot tell which set has which."""
        written = written_keys(self.select.args["group"])
        shown = [bare(item.unalias()) for item in self.select.expressions]
        if any(written.count(key) > 1 and shown.count(key) > 1 for key in self.keys):
            raise UnsupportedConstruct(
                "The same expression is in the SELECT list twice and in GROUP BY twice.",
                construct=CONSTRUCT,
                detail="Which of the two a grouping set holds cannot be told apart.",
                hint="Compute one of them in a subquery in FROM, under another name.",
            )

    def expand(self) -> exp.Select:
        select = self.select
        inputs = {clause: select.args.get(clause) for clause in INPUT}
        for clause in INPUT:
            select.set(clause, None)
        _rewrite_above(select, self.above)
        grouped = [self.column("k", i) for i in range(len(self.keys))]
        grouped += [self.column("d", i) for i in range(len(self.dependent))]
        select.set("group", exp.Group(expressions=[*grouped, self.read(SET)]))
        select.set("from_", derived(self.union(inputs), self.alias))
        return select

    # --- above the grouping -----------------------------------------------------------------

    def above(self, node: exp.Expr) -> exp.Expr | None:
        index = self.key(node)
        if index is not None:
            return self.column("k", index)
        if self.level.owns_aggregate(node):
            return self.grouping(node) if is_grouping(node) else self.call(node)
        if self.level.owns_column(node):
            return self.column("d", _index(self.dependent, node))
        return None

    def key(self, node: exp.Expr) -> int | None:
        """The index of the expression among the keys. A constant is a key where it is the
        whole item: of GROUP BY 1::integer, the 1 in SELECT 1, but not that in SELECT x + 1."""
        value = bare(node)
        if not _is_constant(value):
            return self.keys.index(value) if value in self.keys else None
        alike = [i for i, key in enumerate(self.keys) if value in (key, _untyped(key))]
        return alike[0] if alike and node.parent is None else None

    def grouping(self, node: exp.Expr) -> exp.Expr:
        """A bit for each argument, the first the highest: 1 where the set has not that key."""
        arguments = [self.grouped(argument) for argument in node.expressions]
        masks = [self.mask(arguments, keys) for keys in self.sets]
        case = exp.Case(default=exp.Literal.number(masks[-1]))
        for number, mask in enumerate(masks):
            if mask != masks[-1]:
                test = exp.EQ(this=self.read(SET), expression=exp.Literal.number(number))
                case.append("ifs", exp.If(this=test, true=exp.Literal.number(mask)))
        return case if case.args.get("ifs") else case.args["default"]

    def grouped(self, node: exp.Expr) -> exp.Expr:
        """The key that an argument of GROUPING is. A column that FULL JOIN … USING (k) merges is
        written k elsewhere, and COALESCE(a.k, b.k) here."""
        value = bare(node)
        if value in self.keys:
            return value
        found = [key for key in self.keys if _is_merged(key, value)]
        if not found:
            raise UnsupportedConstruct(
                "This argument of GROUPING is not supported.",
                construct="GROUPING",
                detail="It is not written as it is in GROUP BY.",
                hint="Compute it in a subquery in FROM, and group by its column.",
            )
        return found[0]

    @staticmethod
    def mask(arguments: list[exp.Expr], keys: Keys) -> int:
        bits = "".join("0" if argument in keys else "1" for argument in arguments)
        return int(bits, 2)

    def call(self, node: exp.Expr) -> exp.Expr:
        """The aggregate over the repeated rows, without the constant row."""
        condition = None
        if isinstance(node, exp.Filter):
            condition = self.below(node.args["expression"].this)
            node = node.this
        node = self.arguments_below(node)
        if self.has_empty:
            is_row = self.read(IS_ROW)
            condition = is_row if condition is None else exp.and_(is_row, condition)
        if condition is None:
            return node
        return exp.Filter(this=node, expression=exp.Where(this=condition))

    def arguments_below(self, node: exp.Expr) -> exp.Expr:
        made = node.copy()
        if isinstance(made, exp.WithinGroup):
            made.set("this", replaced(made.this, self.above_direct))
            made.set("expression", self.below(made.expression))
            return made
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                made.set(key, self.below(value))
            elif isinstance(value, list):
                made.set(key, [self.below(v) if isinstance(v, exp.Expr) else v for v in value])
        return made

    def above_direct(self, node: exp.Expr) -> exp.Expr | None:
        """A direct argument of an ordered-set aggregate reads the group, not its rows."""
        return None if isinstance(node, exp.Anonymous) and node.parent is None else self.above(node)

    def below(self, node: exp.Expr) -> exp.Expr:
        """What an aggregate reads of each row: a column, or a constant."""
        if isinstance(node, SYNTAX) or _is_row(node):
            return self.arguments_below(node)
        if not self.level.reads(node):
            return node.copy()
        return self.column("a", _index(self.arguments, bare(node)))

    # --- the repeated input -----------------------------------------------------------------

    def union(self, inputs: dict[str, exp.Expr | list[exp.Expr] | None]) -> exp.Query:
        branches = [self.branch(number, inputs) for number in range(len(self.sets))]
        branches += [self.constant(n) for n, keys in enumerate(self.sets) if not keys]
        made: exp.Query = branches[0]
        for branch in branches[1:]:
            made = exp.Union(this=made, expression=branch, distinct=False)
        return made

    def branch(
        self, number: int, inputs: dict[str, exp.Expr | list[exp.Expr] | None]
    ) -> exp.Select:
        keys = self.sets[number]
        values = [key if key in keys else _null_of(key) for key in self.keys]
        select = self.row([*values, *self.dependent, *self.arguments], number, exp.true())
        for clause, value in inputs.items():
            if value is not None:
                copies = [v.copy() for v in value] if isinstance(value, list) else value.copy()
                select.set(clause, copies)
        return select

    def constant(self, number: int) -> exp.Select:
        width = len(self.keys) + len(self.dependent) + len(self.arguments)
        return self.row([exp.null() for _ in range(width)], number, exp.false())

    def row(self, values: list[exp.Expr], number: int, is_row: exp.Expr) -> exp.Select:
        sizes = (("k", self.keys), ("d", self.dependent), ("a", self.arguments))
        names = [f"__pgs_{kind}{i}" for kind, some in sizes for i in range(len(some))]
        items = [as_item(value, name) for value, name in zip(values, names, strict=True)]
        items.append(as_item(exp.Literal.number(number), SET))
        if self.has_empty:
            items.append(as_item(is_row, IS_ROW))
        return exp.Select(expressions=items)

    def column(self, kind: str, index: int) -> exp.Column:
        return self.read(f"__pgs_{kind}{index}")

    def read(self, name: str) -> exp.Column:
        return exp.column(name, table=self.alias)


def _index(values: list[exp.Expr], wanted: exp.Expr) -> int:
    if wanted not in values:
        values.append(wanted.copy())
    return values.index(wanted)


def _is_constant(node: exp.Expr) -> bool:
    return isinstance(_untyped(node), exp.Literal | exp.Boolean)


def _untyped(constant: exp.Expr) -> exp.Expr:
    """PostgreSQL prints GROUP BY true::boolean, but SELECT true."""
    return constant.this if isinstance(constant, exp.Cast) else constant


def _is_merged(key: exp.Expr, value: exp.Expr) -> bool:
    """Whether the key is the merged column of which the value is the expression."""
    if not (isinstance(key, exp.Column) and isinstance(value, exp.Coalesce)) or key.table:
        return False
    return all(column.name == key.name for column in value.find_all(exp.Column))


def _is_row(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == "ROW"


def _null_of(key: exp.Expr) -> exp.Expr:
    """NULL with the type of the key."""
    return exp.Case(ifs=[exp.If(this=exp.false(), true=key.copy())])
