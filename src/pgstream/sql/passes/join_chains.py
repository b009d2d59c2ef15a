"""The joins of a FROM clause, and their sides as subqueries.

Joins stand one after the other behind the first relation of FROM, or in parentheses behind the
first relation there. The left side of one is all that stands before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pgstream.sql.passes.build import Names, all_of, as_item, named_as
from pgstream.sql.scope import aliases, free_columns, relation_names
from pgstream.sql.walk import is_join

FIRST = -1
Export = tuple[exp.Column, str]
"""A column of a side, and the name by which it is read above."""


@dataclass
class Chain:
    """Joins that stand one after the other. `owner` is the SELECT, or the relation in parentheses
    that they stand behind; `at` is where `parent` has the parentheses."""

    select: exp.Select
    owner: exp.Expr
    parent: Chain | None = None
    at: int = FIRST

    @property
    def joins(self) -> list[exp.Join]:
        return self.owner.args.get("joins") or []

    @property
    def first(self) -> exp.Expr:
        if self.owner is not self.select:
            return self.owner
        first: exp.Expr = self.select.args["from_"].this
        return first

    # --- what may be done -------------------------------------------------------------------

    def keeps(self, index: int) -> bool:
        """Whether no join above this one pads its rows with NULLs."""
        if any(join.side.upper() in ("RIGHT", "FULL") for join in self.joins[index + 1 :]):
            return False
        if self.parent is None:
            return True
        around = self.parent.joins[self.at].side.upper() if self.at != FIRST else ""
        return around not in ("LEFT", "FULL") and self.parent.keeps(self.at)

    def can_wrap(self, index: int) -> bool:
        """Whether the names of the sides are all that reads them: no USING above compares their
        columns, and none is read by its bare name or in a whole row."""
        condition = self.joins[index].args["on"]
        sides = [self.left(index), self.joins[index].this]
        merged = {name.name for side in sides for join in side.find_all(exp.Join)
                  for name in join.args.get("using") or ()}  # fmt: skip
        known = relation_names(sides)
        return not (
            any(map(_names_columns, self.above(index)))
            or any(not column.table for column in condition.find_all(exp.Column))
            or any(
                (not column.table and column.name in merged | known)
                or (isinstance(column.this, exp.Star) and column.table in known)
                for column in self.select.find_all(exp.Column)
            )
        )

    def above(self, index: int) -> list[exp.Join]:
        """The joins that have this one in a side."""
        found = self.joins[index + 1 :]
        if self.parent is None:
            return found
        around = [self.parent.joins[self.at]] if self.at != FIRST else []
        return [*found, *around, *self.parent.above(self.at)]

    # --- sides ------------------------------------------------------------------------------

    def left(self, index: int) -> exp.Expr:
        """A copy of all before the join."""
        first = self.first.copy()
        before = [join.copy() for join in self.joins[:index]]
        first.set("joins", before or None)
        return exp.Subquery(this=first) if before else first

    def left_names(self, index: int) -> frozenset[str]:
        return relation_names([self.left(index)])

    def right_names(self, index: int) -> frozenset[str]:
        return relation_names([self.joins[index].this])

    def exchange(self, index: int) -> None:
        """A RIGHT JOIN B as B LEFT JOIN A."""
        join = self.joins[index]
        left, right = self.left(index), join.this.copy()
        join.set("this", left)
        join.set("side", "LEFT")
        self.put_left(index, right)

    def put_left(self, index: int, relation: exp.Expr) -> None:
        """The relation in the place of all before the join."""
        rest = self.joins[index:]
        if self.owner is self.select:
            self.select.args["from_"].set("this", relation)
            self.select.set("joins", rest or None)
            return
        place = self.owner if rest else self.owner.parent  # one relation needs no parentheses
        assert place is not None
        relation.set("joins", rest or None)
        place.replace(relation)
        self.owner = relation

    # --- sides as subqueries ----------------------------------------------------------------

    def wrap(
        self,
        index: int,
        names: Names,
        where: Sequence[exp.Expr] = (),
        values: Sequence[exp.Expr] = (),
    ) -> None:
        """The right side as a subquery, with these conditions, which also computes the values:
        expressions of ON."""
        join = self.joins[index]
        side = join.this.copy()
        join.set("this", _placeholder())
        made, alias = self._subquery(side, names, values)
        if where:
            made.set("where", exp.Where(this=all_of(where)))
        join.set("this", self._item(made, alias))

    def wrap_left(self, index: int, names: Names, values: Sequence[exp.Expr]) -> None:
        side = self.left(index)
        self.put_left(index, _placeholder())
        made, alias = self._subquery(side, names, values)
        self.put_left(0, self._item(made, alias))

    def _subquery(
        self, side: exp.Expr, names: Names, values: Sequence[exp.Expr]
    ) -> tuple[exp.Select, str]:
        alias = names.new("j")
        computed: list[exp.Expr] = []
        for i, value in enumerate(values):
            computed.append(as_item(value, f"__pgs_f{i}"))
            value.replace(exp.column(f"__pgs_f{i}", table=alias))
        exports = self.export(relation_names([side]), alias)
        items = [*(as_item(column, name) for column, name in exports), *computed]
        made = exp.Select(expressions=items or [as_item(exp.Literal.number(1), "__pgs_c0")])
        put_from(made, side)
        return made, alias

    def export(self, sides: frozenset[str], alias: str) -> list[Export]:
        """The columns of the sides that the SELECT reads; it reads them from the alias now."""
        found: dict[tuple[str, str], Export] = {}
        for column in list(self.select.find_all(exp.Column)):
            if column.table not in sides:
                continue
            key = (column.table, column.name)
            _, name = found.setdefault(key, (column.copy(), f"__pgs_c{len(found)}"))
            made: exp.Expr = exp.column(name, table=alias)
            if isinstance(column.parent, exp.Select) and column.arg_key == "expressions":
                made = named_as(column, made)
            column.replace(made)
        return list(found.values())

    def _item(self, made: exp.Query, alias: str) -> exp.Expr:
        """The subquery in FROM; LATERAL where it reads what stands before it."""
        named = exp.TableAlias(this=exp.to_identifier(alias))
        known = aliases(self.select)
        if any(column.table in known for column in free_columns(made)):
            return exp.Lateral(this=exp.Subquery(this=made), alias=named)
        return exp.Subquery(this=made, alias=named)

    def split(self, index: int) -> Joined:
        """The join taken out, to be replaced by a subquery."""
        sides = self.left(index), self.joins[index].this.copy()
        self.put_left(index + 1, _placeholder())
        return Joined(self, *sides)

    def put(self, made: exp.Query, alias: str) -> None:
        self.put_left(0, self._item(made, alias))


@dataclass(frozen=True)
class Joined:
    """A join that is taken out of its chain."""

    chain: Chain
    left: exp.Expr
    right: exp.Expr

    def exports(self, alias: str) -> tuple[list[Export], list[Export]]:
        """The columns of both sides that are read above."""
        ours = relation_names([self.left])
        found = self.chain.export(ours | relation_names([self.right]), alias)
        left = [export for export in found if export[0].table in ours]
        return left, [export for export in found if export not in left]


def chains(select: exp.Select) -> Iterator[Chain]:
    """All joins of the SELECT but those below an alias, whose names mean other columns."""
    if select.args.get("from_"):
        yield from _chains(Chain(select, select))


def _chains(chain: Chain) -> Iterator[Chain]:
    yield chain
    items = [(FIRST, chain.first), *((i, join.this) for i, join in enumerate(chain.joins))]
    for at, item in items:
        if is_join(item) and not item.alias:
            yield from _chains(Chain(chain.select, item.this, chain, at))


def put_from(select: exp.Select, side: exp.Expr) -> None:
    """FROM side; joins in parentheses need none there."""
    first = side.copy()
    if is_join(first) and not first.alias:
        first = first.this
    joins = first.args.get("joins")
    first.set("joins", None)
    select.set("from_", exp.From(this=first))
    select.set("joins", joins)


def _placeholder() -> exp.Table:
    return exp.Table(this=exp.to_identifier("__pgs_side"))


def _names_columns(join: exp.Join) -> bool:
    """USING or NATURAL."""
    return bool(join.args.get("using")) or join.method.upper() == "NATURAL"
