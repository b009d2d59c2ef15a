"""Queries, composed to a depth. Every query names its columns c1, c2, …"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from generator import recursion
from generator.expressions import Expressions
from generator.from_clause import FromClause
from generator.grouping import Grouping
from generator.pieces import (
    NUMBERS,
    Dice,
    Expr,
    Relation,
    Scope,
    Source,
    condition,
    listing,
    output,
    wider,
)
from generator.subqueries import Subqueries
from generator.windows import Windows

SET_OPERATIONS = ("UNION ALL", "UNION ALL", "UNION", "UNION", "INTERSECT", "INTERSECT ALL",
                  "EXCEPT", "EXCEPT ALL")  # fmt: skip


class Queries:
    """Makes one query. `budget` is how many relations it may still read; `used` counts what
    it is made of."""

    def __init__(self, dice: Dice, budget: int) -> None:
        self.dice, self.budget = dice, budget
        self.used: Counter[str] = Counter()
        self.aliases = 0
        self.from_clause = FromClause(self)
        self.grouping = Grouping(self)

    def alias(self, letter: str = "t") -> str:
        self.aliases += 1
        return f"{letter}{self.aliases}"

    def expressions(self, columns: tuple[Expr, ...], scope: Scope | None = None) -> Expressions:
        """With a scope, subqueries may occur in them."""
        return Expressions(
            self.dice, columns, None if scope is None else self.inner(scope, columns)
        )

    def inner(self, scope: Scope, columns: tuple[Expr, ...]) -> Subqueries | None:
        """Subqueries of an expression over these columns, unless the query is deep enough."""
        if scope.depth <= 0 or self.budget <= 0:
            return None
        return Subqueries(self, scope.below(columns))

    # --- shapes -----------------------------------------------------------------------------

    def top(self, scope: Scope) -> Relation:
        """A whole query; here only may LIMIT stand outside of subqueries."""
        if not self.dice.maybe(0.15):
            return self.query(scope, arrays=True)
        self.used["TopK"] += 1
        made = self.query(scope)
        alias = self.alias()
        text = made.sql
        if "DISTINCT ON" in text or self.dice.maybe(0.3):
            text = f"SELECT * FROM ({text}) AS {alias}"
        keys = self.ordering([str(i + 1) for i in range(len(made.columns))])
        start = f" OFFSET {self.dice.randint(0, 3)}" if self.dice.maybe(0.5) else ""
        return replace(made, sql=f"{text} ORDER BY {keys} LIMIT {self.dice.randint(1, 6)}{start}")

    def query(self, scope: Scope, arrays: bool = False) -> Relation:
        if scope.depth > 0 and self.dice.maybe(0.14):
            return self.with_cte(scope)
        if self.dice.maybe(0.07):
            made = recursion.query(self, scope)
            if made is not None:
                return made
        if scope.depth > 0 and self.dice.maybe(0.2):
            return self.set_operation(scope)
        return self.select(scope, arrays=arrays)

    def with_cte(self, scope: Scope) -> Relation:
        inner = self.query(scope.deeper().alone())
        name = self.alias("q")
        renamed = self.dice.maybe(0.3)
        names = [f"r{i}" if renamed else c.sql for i, c in enumerate(inner.columns)]
        columns = [replace(c, sql=n) for n, c in zip(names, inner.columns, strict=True)]
        listed = f"({', '.join(names)})" if renamed else ""
        known = Relation(name, tuple(columns), inner.rows)
        twice = inner.rows < 100 and self.dice.maybe(0.5)
        self.used["CTE used twice" if twice else "CTE"] += 1
        within = replace(scope, depth=scope.depth - 1).reading(known, *([known] * twice))
        outer = self.query_over(within)
        return replace(outer, sql=f"WITH {name}{listed} AS ({inner.sql}) {outer.sql}")

    def query_over(self, scope: Scope) -> Relation:
        """A query whose FROM starts with what the scope says it must."""
        if scope.depth > 0 and self.dice.maybe(0.2):
            return self.set_operation(scope)
        return self.select(scope)

    def set_operation(self, scope: Scope) -> Relation:
        first = self.select(scope.deeper() if not scope.must else scope, plain_order=True)
        parts, columns, rows = [first.sql], list(first.columns), first.rows
        for _ in range(self.dice.choice((1, 1, 2))):
            wanted = [self.dice.choice(NUMBERS) if c.type in NUMBERS else c.type for c in columns]
            other = self.select(scope.deeper(), wanted=wanted, plain_order=True)
            columns = [wider(a, b) for a, b in zip(columns, other.columns, strict=True)]
            rows += other.rows
            parts.append(other.sql)
        if any(" JOIN " in part for part in parts):
            self.used["set operation over join"] += 1
        text = parts[0]
        for part in parts[1:]:
            word = self.dice.choice(SET_OPERATIONS)
            self.used[word] += 1
            text = f"({text}) {word} ({part})" if len(parts) > 2 else f"{text} {word} {part}"
        return Relation(text, tuple(columns), rows)

    # --- SELECT -----------------------------------------------------------------------------

    def select(
        self,
        scope: Scope,
        wanted: list[str] | None = None,
        arrays: bool = False,
        plain_order: bool = False,
    ) -> Relation:
        """One SELECT. `wanted` are the types of its columns; with `plain_order` it has no
        ORDER BY of its own, so that it can stand in a set operation."""
        source = self.from_clause.make(scope)
        shape = self.dice.random()
        if wanted is not None:
            if shape < 0.3:
                return self.grouping.typed(scope, source, wanted)
            return self.plain(scope, source, [self.expressions(source.columns, scope).of(type_, 1)
                                              for type_ in wanted])  # fmt: skip
        if shape < 0.30:
            return self.grouping.grouped(scope, source, arrays)
        if shape < 0.38:
            return self.grouping.sets(scope, source)
        if shape < 0.60:
            return self.windowed(source)
        if shape < 0.67 and not plain_order:
            return self.distinct_on(scope, source)
        make = self.expressions(source.columns, scope)
        return self.plain(scope, source, [make.any() for _ in range(self.dice.randint(1, 4))])

    def plain(self, scope: Scope, source: Source, items: list[Expr]) -> Relation:
        del scope
        return self.finished(source, items, "", source.rows)

    def windowed(self, source: Source) -> Relation:
        windows = Windows(self, source.columns, source.rows)
        if any(f"{kind} JOIN" in source.clause for kind in ("LEFT", "RIGHT", "FULL")):
            self.used["window over outer join"] += 1
        make = self.expressions(source.columns)
        items = [make.any() for _ in range(self.dice.randint(1, 2))]
        items += [windows.item() for _ in range(self.dice.randint(1, 3))]
        return self.finished(source, items, windows.clause(), source.rows)

    def distinct_on(self, scope: Scope, source: Source) -> Relation:
        """The order is by the keys, then by every column of the result."""
        self.used["DISTINCT ON"] += 1
        make = self.expressions(source.columns, scope)
        count = min(len(source.columns), self.dice.randint(1, 2))
        keys = [c.sql for c in self.dice.sample(source.columns, count)]
        items = [make.any() for _ in range(self.dice.randint(1, 3))]
        places = [str(i + 1) for i in range(len(items))]
        order = [self.ordering(each) for each in (keys, places)]
        text = (
            f"SELECT DISTINCT ON ({', '.join(keys)}) {listing(items)} FROM {source.clause}"
            f"{condition(source.where)} ORDER BY {', '.join(order)}"
        )
        return Relation(text, output(items), source.rows)

    def ordering(self, keys: list[str]) -> str:
        """The keys for ORDER BY, each with a direction."""
        words = ("", "", " DESC", " DESC NULLS LAST", " NULLS FIRST")
        return ", ".join(key + self.dice.choice(words) for key in keys)

    def finished(self, source: Source, items: list[Expr], tail: str, rows: float) -> Relation:
        distinct = ""
        if not any(item.is_array for item in items) and self.dice.maybe(0.1):
            distinct = "DISTINCT "
            self.used["DISTINCT"] += 1
        text = f"SELECT {distinct}{listing(items)} FROM {source.clause}"
        return Relation(f"{text}{condition(source.where)}{tail}", output(items), rows)
