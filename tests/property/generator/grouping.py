"""GROUP BY, GROUPING SETS, aggregates, HAVING."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from generator.expressions import Expressions
from generator.pieces import NUMBERS, ORDERED, TYPES, Expr, Relation, Scope, Source
from generator.windows import Windows

if TYPE_CHECKING:
    from generator.queries import Queries

LONGEST = 1500


class Grouping:
    def __init__(self, queries: Queries) -> None:
        self.queries, self.dice = queries, queries.dice

    # --- GROUP BY ---------------------------------------------------------------------------

    def grouped(self, scope: Scope, source: Source, arrays: bool) -> Relation:
        make = self.queries.expressions(source.columns)
        keys = [make.any(1) for _ in range(self.dice.choice((0, 1, 1, 1, 2)))]
        by = [
            f"{i + 1}" if self.dice.maybe(0.3) or _constant(key) else key.sql
            for i, key in enumerate(keys)
        ]
        calls = [
            self.array(make) if arrays and self.dice.maybe(0.1)
            else self.aggregate(make, source.rows)
            for _ in range(self.dice.randint(1, 3))
        ]  # fmt: skip
        shown = [c if self.dice.maybe(0.7) else self.above(c) for c in calls]
        plain = tuple(key for key in keys if re.fullmatch(r"t\d+\.\w+", key.sql))
        items = [*keys, *shown, *self.beside(scope, plain)]
        tail = f" GROUP BY {', '.join(by)}" if by else ""
        if self.dice.maybe(0.3):
            tail += f" HAVING {self.having(scope, make, plain, source.rows)}"
        self.queries.used["GROUP BY"] += 1
        if by and all(not _constant(key) for key in keys) and self.dice.maybe(0.15):
            tail += self.windows_over(keys, calls, items, source.rows)
        return self.queries.finished(source, items, tail, source.rows if keys else 1)

    def windows_over(self, keys: list[Expr], calls: list[Expr], items: list[Expr],
                     rows: float) -> str:  # fmt: skip
        """Windows over groups: the keys are a total order of them."""
        self.queries.used["window over groups"] += 1
        columns = tuple(c for c in (*keys, *calls) if not c.is_array)
        windows = Windows(self.queries, columns, rows, total=tuple(keys))
        items += [windows.item() for _ in range(self.dice.randint(1, 2))]
        return windows.clause()

    def typed(self, scope: Scope, source: Source, wanted: list[str]) -> Relation:
        """A grouped query with columns of these types."""
        make = self.queries.expressions(source.columns)
        self.queries.used["GROUP BY"] += 1
        items, by = [], []
        for i, type_ in enumerate(wanted, 1):
            if self.dice.maybe(0.5):
                items.append(make.of(type_, 1))
                by.append(str(i))
            else:
                items.append(self.aggregate_of(make, type_, source.rows))
        tail = f" GROUP BY {', '.join(by)}" if by else ""
        if len(by) == len(wanted):
            tail += " HAVING count(*) > 1"
        return self.queries.finished(source, items, tail, source.rows)

    def sets(self, scope: Scope, source: Source) -> Relation:
        """GROUPING SETS, ROLLUP and CUBE over columns."""
        most = min(len(source.columns), 3)
        keys = self.dice.sample(source.columns, self.dice.randint(1, most))
        make = self.queries.expressions(source.columns)
        names = [key.sql for key in keys]
        items = [key for key in keys if self.dice.maybe(0.85)] or [keys[0]]
        items += [self.aggregate(make, source.rows) for _ in range(self.dice.randint(1, 2))]
        if self.dice.maybe(0.6):
            asked = ", ".join(self.dice.sample(names, self.dice.randint(1, len(names))))
            items.append(Expr(f"GROUPING({asked})", "int", 7))
        tail = f" GROUP BY {self.listed_sets(names)}"
        if self.dice.maybe(0.25):
            tail += f" HAVING {self.having(scope, make, (), source.rows)}"
        return self.queries.finished(source, items, tail, source.rows * 2)

    def listed_sets(self, names: list[str]) -> str:
        form = self.dice.choice(("ROLLUP", "CUBE", "GROUPING SETS", "mixed"))
        self.queries.used["GROUPING SETS" if form == "mixed" else form] += 1
        if form in ("ROLLUP", "CUBE"):
            return f"{form} ({', '.join(names)})"
        if form == "mixed" and len(names) > 1:
            return f"{names[0]}, ROLLUP ({', '.join(names[1:])})"
        chosen = [self.dice.sample(names, self.dice.randint(0, len(names))) for _ in range(2)]
        # Each name stands in one set at least: else it is not grouped, and cannot be shown.
        sets = [names, *chosen]
        return f"GROUPING SETS ({', '.join('(' + ', '.join(each) + ')' for each in sets)})"

    # --- aggregates -------------------------------------------------------------------------

    def aggregate(self, make: Expressions, rows: float) -> Expr:
        type_ = make.kind(("bigint", "bigint", *TYPES)) if self.dice.maybe(0.6) else "bigint"
        return self.aggregate_of(make, type_, rows)

    def aggregate_of(self, make: Expressions, type_: str, rows: float) -> Expr:
        """A call of that type, sometimes filtered."""
        call = self.call_of(make, type_, rows)
        self.queries.used[call.sql.partition("(")[0]] += 1
        if call.sql[0].isalpha() and self.dice.maybe(0.25):
            self.queries.used["FILTER"] += 1
            where = f"{call.sql} FILTER (WHERE {make.of('bool', 1).sql})"
            return Expr(where, call.type, call.bound, call.scale)
        return call

    def call_of(self, make: Expressions, type_: str, rows: float) -> Expr:
        if type_ == "bigint" and self.dice.maybe(0.75):
            return self.count_or_sum(make, rows)
        if type_ == "numeric" and self.dice.maybe(0.75):
            inner = make.of(make.kind(("numeric", "bigint")), 1)
            if self.dice.maybe(0.4):
                return Expr(f"avg({inner.sql})", "numeric", inner.bound, 20)
            return Expr(f"sum({self.distinct()}{inner.sql})", "numeric", inner.bound * rows,
                        inner.scale)  # fmt: skip
        inner = make.of(type_, 1)
        if type_ == "bool":
            return Expr(f"{self.dice.choice(('bool_and', 'bool_or'))}({inner.sql})", "bool")
        if type_ == "text" and inner.bound * rows < LONGEST and (
                self.dice.maybe(0.5)):  # fmt: skip
            distinct = self.distinct()
            return Expr(f"string_agg({distinct}{inner.sql}, ',' ORDER BY {inner.sql})", "text",
                        (inner.bound + 1) * rows)  # fmt: skip
        function = self.dice.choice(("min", "max"))
        return Expr(f"{function}({inner.sql})", type_, inner.bound, inner.scale)

    def count_or_sum(self, make: Expressions, rows: float) -> Expr:
        form = self.dice.choice(("count(*)", "count", "sum"))
        if form == "count(*)":
            return Expr("count(*)", "bigint", rows)
        if form == "count":
            return Expr(f"count({self.distinct()}{make.any(1).sql})", "bigint", rows)
        inner = make.of("int", 1)
        return Expr(f"sum({self.distinct()}{inner.sql})", "bigint", inner.bound * rows)

    def distinct(self) -> str:
        return "DISTINCT " if self.dice.maybe(0.2) else ""

    def array(self, make: Expressions) -> Expr:
        inner = make.of("int", 1)
        self.queries.used["array_agg"] += 1
        return Expr(f"array_agg({inner.sql} ORDER BY {inner.sql})", f"{inner.type}[]")

    # --- above the groups -------------------------------------------------------------------

    def above(self, call: Expr) -> Expr:
        """Something over an aggregate."""
        if call.type not in NUMBERS or not call.fits:
            return Expr(f"(({call.sql}) IS NULL)", "bool")
        form = self.dice.choice(("+", "coalesce", "case"))
        if form == "+":
            return Expr(f"({call.sql} + 1)", call.type, call.bound + 1, call.scale)
        if form == "coalesce":
            return Expr(f"COALESCE({call.sql}, 0)", call.type, call.bound, call.scale)
        return Expr(f"CASE WHEN {call.sql} > 3 THEN 'many' ELSE 'few' END", "text", 4)

    def beside(self, scope: Scope, keys: tuple[Expr, ...]) -> list[Expr]:
        """A subquery in the SELECT list of a grouped query; it may read the keys."""
        inner = self.queries.inner(scope, keys)
        if inner is None or not self.dice.maybe(0.12):
            return []
        found = inner.scalar(self.dice.choice(ORDERED))
        return [] if found is None else [found]

    def having(self, scope: Scope, make: Expressions, keys: tuple[Expr, ...], rows: float) -> str:
        call = self.aggregate(make, rows)
        inner = self.queries.inner(scope, keys)
        if inner is not None and self.dice.maybe(0.3):
            self.queries.used["subquery in HAVING"] += 1
            found = inner.exists() if self.dice.maybe(0.4) else inner.scalar(call.type)
            if found is not None and found.type == "bool":
                return found.sql
            if found is not None:
                return f"{call.sql} {self.dice.choice(('>', '<', '<>'))} {found.sql}"
        if call.type in NUMBERS:
            return (
                f"{call.sql} {self.dice.choice(('>', '>=', '<', '<>'))} {self.dice.randint(0, 2)}"
            )
        return f"{call.sql} IS NOT NULL"


def _constant(expression: Expr) -> bool:
    """PostgreSQL takes a bare constant in GROUP BY for a position or refuses it."""
    return re.search(r"\bt\d+\.", expression.sql) is None
