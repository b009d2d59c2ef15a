"""FROM: tables, subqueries of every shape, LATERAL subqueries and functions, joined."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from generator.pieces import (
    MOST_ROWS,
    NUMBERS,
    ORDERED,
    Expr,
    Relation,
    Scope,
    Source,
    comparable,
    condition,
    matching,
    output,
)

if TYPE_CHECKING:
    from generator.queries import Queries


class FromClause:
    def __init__(self, queries: Queries) -> None:
        self.queries, self.dice = queries, queries.dice

    def make(self, scope: Scope, most: int = 3) -> Source:
        source: Source | None = None
        must = list(scope.must)
        inner = replace(scope, must=())
        wanted = max(len(must), self.dice.choice((1, 1, 2, 2, 2, 3)))
        comma = False
        for _ in range(min(wanted, max(most, len(must)))):
            if source is not None and not must and self.queries.budget <= 0:
                break
            if source is not None and not must and self.dice.maybe(0.15):
                found = self.lateral(source, inner)
                if found is not None:
                    source = found
                    continue
            relation = must.pop(0) if must else self.item(inner)
            if source is None:
                alias = self.queries.alias()
                source = Source(f"{relation.sql} AS {alias}", (), relation.known_as(alias),
                                relation.rows)  # fmt: skip
            elif source.rows * relation.rows <= MOST_ROWS:
                source, comma = self.joined(source, relation, comma)
        assert source is not None
        if self.dice.maybe(0.25):
            make = self.queries.expressions(source.columns, inner)
            test = make.of("bool") if self.dice.maybe(0.5) else make.mild()
            source = source.having(test.sql)
        tests = self.queries.inner(inner, source.columns)
        if tests is not None and self.dice.maybe(0.15):
            found = tests.test()
            source = source.having(found.sql) if found else source
        return source

    def item(self, scope: Scope) -> Relation:
        """A relation that is known, or a subquery."""
        self.queries.budget -= 1
        if scope.depth > 0 and self.queries.budget > 0 and self.dice.maybe(0.5):
            self.queries.used["subquery in FROM"] += 1
            deep = self.dice.maybe(0.15)
            inner = self.queries.query(scope.deeper() if deep else scope.deeper().alone())
            return replace(inner, sql=f"({inner.sql})")
        return self.dice.choice(scope.relations)

    # --- joins ------------------------------------------------------------------------------

    def joined(self, source: Source, relation: Relation, comma: bool) -> tuple[Source, bool]:
        """Also whether a comma stands before it: JOIN ... ON does not see across one."""
        alias = self.queries.alias()
        left, right = source.columns, relation.known_as(alias)
        item = f"{relation.sql} AS {alias}"
        joined = Source("", source.where, left + right, source.rows * relation.rows)
        pairs = matching(left, right, self.dice)
        form = self.dice.random()
        shared = self.shared(left, right)
        if form < 0.12 and shared and not comma:
            using = f"{self.kind()}JOIN {item} USING ({self.dice.choice(shared)})"
            return replace(joined, clause=f"{source.clause} {using}"), False
        if (form < 0.2 or not pairs) and not comma:
            return replace(joined, clause=f"{source.clause} CROSS JOIN {item}"), False
        if not pairs:
            return replace(joined, clause=f"{source.clause}, {item}"), True
        test = self.equality(*self.dice.choice(pairs))
        if self.dice.maybe(0.2):
            make = self.queries.expressions(left + right)
            test += f" AND {(make.of('bool', 1) if self.dice.maybe(0.5) else make.mild()).sql}"
        if form < 0.35 or comma:
            return replace(joined, clause=f"{source.clause}, {item}").having(f"({test})"), True
        kind = self.kind()
        if kind and "GROUP BY" in relation.sql:
            self.queries.used["outer join over aggregate"] += 1
        if kind == "FULL ":  # PostgreSQL asks for a condition that can be merged or hashed
            test = " AND ".join(
                self.equality(*self.dice.choice(pairs), plain=True)
                for _ in range(self.dice.choice((1, 1, 2)))
            )
        return replace(joined, clause=f"{source.clause} {kind}JOIN {item} ON {test}"), False

    def kind(self) -> str:
        kind = self.dice.choice(("", "", "", "LEFT ", "LEFT ", "LEFT ", "RIGHT ", "FULL "))
        self.queries.used[f"{kind}JOIN"] += 1
        return kind

    def shared(self, left: tuple[Expr, ...], right: tuple[Expr, ...]) -> list[str]:
        """Names for USING: once on each side, and of types that compare."""
        names = [c.name for c in left]
        return [
            a.name for a in left for b in right
            if a.name == b.name and comparable(a, b) and names.count(a.name) == 1
        ]  # fmt: skip

    def equality(self, one: Expr, two: Expr, plain: bool = False) -> str:
        form = 1.0 if plain else self.dice.random()
        if form < 0.1 and one.type in NUMBERS:
            return f"{one.sql} + 1 = {two.sql}"
        if form < 0.2:
            operators = ("<", ">=") if one.type in ORDERED else ("<>",)
            return f"{one.sql} {self.dice.choice(operators)} {two.sql}"
        return f"{two.sql} = {one.sql}" if form < 0.4 else f"{one.sql} = {two.sql}"

    # --- LATERAL ----------------------------------------------------------------------------

    def lateral(self, source: Source, scope: Scope) -> Source | None:
        form = self.dice.choice(("function", "subquery", "subquery", "none"))
        if form == "function":
            return self.lateral_function(source)
        if form == "subquery":
            return self.lateral_subquery(source, scope)
        return None

    def attached(self, source: Source, item: str, columns: tuple[Expr, ...],
                 rows: float) -> Source:  # fmt: skip
        clause = self.dice.choice((f"{source.clause} CROSS JOIN {item}",
                                   f"{source.clause} LEFT JOIN {item} ON true"))  # fmt: skip
        return Source(clause, source.where, source.columns + columns, source.rows * rows)

    def lateral_function(self, source: Source) -> Source | None:
        numbers = [c for c in source.columns if c.type == "int" and c.fits]
        if not numbers or source.rows * 4 > MOST_ROWS:
            return None
        self.queries.used["LATERAL function"] += 1
        alias = self.queries.alias()
        one, two = self.dice.choice(numbers), self.dice.choice(numbers)
        if self.dice.maybe(0.4):
            call, made = f"generate_series(1, LEAST({one.sql}, 4))", Expr("v", "int", 4)
        else:
            call = f"unnest(ARRAY[{one.sql}, {two.sql}])"
            made = Expr("v", "int", max(one.bound, two.bound))
        columns, names = [made], "v"
        if self.dice.maybe(0.4):
            call, names = f"{call} WITH ORDINALITY", "v, o"
            columns.append(Expr("o", "bigint", 4))
        shown = Relation(call, tuple(columns), 4)
        item = f"LATERAL {call} AS {alias}({names})"
        return self.attached(source, item, shown.known_as(alias), 4)

    def lateral_subquery(self, source: Source, scope: Scope) -> Source | None:
        """The first rows by a total order, an aggregate, or just rows that correspond."""
        subqueries = self.queries.inner(scope, source.columns)
        if subqueries is None:
            return None
        inner = subqueries.source()
        if source.rows * inner.rows > MOST_ROWS:
            return None
        self.queries.used["LATERAL subquery"] += 1
        make = self.queries.expressions(inner.columns)
        form = self.dice.choice(("first", "first", "aggregate", "rows"))
        if form == "aggregate":
            items = [self.queries.grouping.aggregate(make, inner.rows)
                     for _ in range(self.dice.randint(1, 2))]  # fmt: skip
        else:
            items = [make.any(1) for _ in range(self.dice.randint(1, 3))]
        listed = ", ".join(f"{item.sql} AS c{i}" for i, item in enumerate(items, 1))
        text = f"SELECT {listed} FROM {inner.clause}{condition(inner.where)}"
        rows = 1.0 if form == "aggregate" else inner.rows
        if form == "first":
            order = self.queries.ordering([str(i + 1) for i in range(len(items))])
            count = self.dice.randint(1, 3)
            text, rows = f"{text} ORDER BY {order} LIMIT {count}", float(count)
        alias = self.queries.alias()
        shown = Relation(text, output(items), rows).known_as(alias)
        return self.attached(source, f"LATERAL ({text}) AS {alias}", shown, rows)
