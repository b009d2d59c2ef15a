"""Subqueries in expressions, correlated by equality, by another comparison, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from generator.pieces import NUMBERS, ORDERED, TYPES, Expr, Scope, Source, condition, matching

if TYPE_CHECKING:
    from generator.queries import Queries


class Subqueries:
    """Subqueries that stand in an expression. The scope is theirs: its last level of outer
    columns are those of the expression."""

    def __init__(self, queries: Queries, scope: Scope) -> None:
        self.queries, self.dice, self.scope = queries, queries.dice, scope

    def allowed(self) -> bool:
        return self.queries.budget > 0

    def source(self) -> Source:
        return self.correlated(self.queries.from_clause.make(self.scope, most=2))

    # --- tests ------------------------------------------------------------------------------

    def test(self) -> Expr | None:
        if not self.allowed():
            return None
        form = self.dice.choice(("exists", "exists", "in", "in", "rows", "any", "all"))
        if form == "exists":
            return self.exists()
        if form == "rows":
            return self.rows_in() or self.exists()
        return self.member(form)

    def exists(self) -> Expr:
        source = self.source()
        word = self.dice.choice(("EXISTS", "NOT EXISTS"))
        self.queries.used[word] += 1
        return Expr(f"{word} (SELECT 1 FROM {source.clause}{condition(source.where)})", "bool")

    def member(self, form: str) -> Expr:
        """IN, op ANY, op ALL: with the nearest outer columns on the left."""
        source = self.source()
        tested = self.queries.expressions(self.scope.outer[-1]).any(1)
        item = self.queries.expressions(source.columns).of(tested.type, 1)
        if form == "in":
            word = self.dice.choice(("IN", "IN", "NOT IN"))
        else:
            operators = ("<", "<=", "=", "<>", ">", ">=") if tested.type in ORDERED else ("=", "<>")
            word = f"{self.dice.choice(operators)} {form.upper()}"
        self.queries.used[word if form == "in" else f"op {form.upper()}"] += 1
        text = f"SELECT {item.sql} FROM {source.clause}{condition(source.where)}"
        if self.dice.maybe(0.15):
            text = self.over_groups(source, tested.type) or text
        return Expr(f"({tested.sql} {word} ({text}))", "bool")

    def over_groups(self, source: Source, type_: str) -> str | None:
        """SELECT key … GROUP BY key HAVING …"""
        keys = [c for c in source.columns if c.type == type_]
        if not keys:
            return None
        key = self.dice.choice(keys).sql
        where = condition(source.where)
        return f"SELECT {key} FROM {source.clause}{where} GROUP BY {key} HAVING count(*) > 1"

    def rows_in(self) -> Expr | None:
        """(a, b) IN (SELECT c, d …)"""
        source = self.source()
        outer = self.scope.outer[-1]
        pairs = matching(outer, source.columns, self.dice)
        if len(pairs) < 2:
            return None
        self.queries.used["row IN"] += 1
        chosen = self.dice.sample(pairs, 2)
        left, right = (", ".join(pair[i].sql for pair in chosen) for i in (0, 1))
        word = self.dice.choice(("IN", "IN", "NOT IN"))
        text = f"SELECT {right} FROM {source.clause}{condition(source.where)}"
        return Expr(f"(({left}) {word} ({text}))", "bool")

    # --- values -----------------------------------------------------------------------------

    def scalar(self, type_: str) -> Expr | None:
        """An aggregate, or the first value."""
        if not self.allowed() or type_ not in TYPES:
            return None
        source = self.source()
        self.queries.used["scalar subquery"] += 1
        made = self.queries.expressions(source.columns)
        where = condition(source.where)
        if self.dice.maybe(0.2):
            item = made.of(type_, 1)
            order = self.queries.ordering(["1"])
            return Expr(f"(SELECT {item.sql} FROM {source.clause}{where} ORDER BY {order} LIMIT 1)",
                        type_, item.bound, item.scale)  # fmt: skip
        call = self.queries.grouping.aggregate_of(made, type_, source.rows)
        return Expr(f"(SELECT {call.sql} FROM {source.clause}{where})", type_, call.bound,
                    call.scale)  # fmt: skip

    # --- correlation ------------------------------------------------------------------------

    def correlated(self, source: Source) -> Source:
        if self.dice.maybe(0.25):
            return source
        conjuncts = [self.correlation(source.columns)]
        if len(self.scope.outer) > 1 and self.dice.maybe(0.4):
            self.queries.used["two levels up"] += 1
            conjuncts.append(self.correlation(source.columns, level=-2))
        return source.having(*(c for c in conjuncts if c is not None))

    def correlation(self, local: tuple[Expr, ...], level: int = -1) -> str | None:
        pairs = matching(local, self.scope.outer[level], self.dice)
        if not pairs:
            return None
        self.queries.used["correlation"] += 1
        inner, outer = self.dice.choice(pairs)
        form = self.dice.random()
        if form < 0.65:
            return f"{inner.sql} = {outer.sql}"
        self.queries.used["correlation by inequality"] += 1
        if form < 0.75 and inner.type in NUMBERS and inner.fits and outer.fits:
            return f"{inner.sql} + {outer.sql} > 2"
        if inner.type in ORDERED:
            return f"{inner.sql} {self.dice.choice(('<', '<=', '>', '>='))} {outer.sql}"
        return f"{inner.sql} {self.dice.choice(('<>', 'IS DISTINCT FROM'))} {outer.sql}"
