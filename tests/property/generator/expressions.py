"""A small grammar of expressions, by type, over the columns at hand."""

from __future__ import annotations

from typing import Protocol

from generator.pieces import NUMBERS, ORDERED, TYPES, Dice, Expr


class Inner(Protocol):
    """Makes subqueries for expressions."""

    def test(self) -> Expr | None: ...

    def scalar(self, type_: str) -> Expr | None: ...


class Expressions:
    def __init__(self, dice: Dice, columns: tuple[Expr, ...], inner: Inner | None = None) -> None:
        self.dice, self.columns, self.inner = dice, columns, inner

    def of(self, type_: str, depth: int = 2) -> Expr:
        if self.inner is not None and self.dice.maybe(0.12):
            found = self.inner.test() if type_ == "bool" else self.inner.scalar(type_)
            if found is not None:
                return found
        if depth <= 0 or self.dice.maybe(0.3):
            return self.leaf(type_)
        made: Expr = getattr(self, f"make_{type_}")(depth - 1)
        return made if made.fits else self.leaf(type_)

    def any(self, depth: int = 2) -> Expr:
        if self.dice.maybe(0.5):
            return self.dice.choice(self.columns)
        return self.of(self.kind(TYPES), depth)

    def kind(self, types: tuple[str, ...]) -> str:
        """One of the types; mostly one that some column has."""
        known = [c.type for c in self.columns if c.type in types and c.fits]
        return self.dice.choice(known if known and self.dice.maybe(0.9) else types)

    def leaf(self, type_: str) -> Expr:
        fitting = [c for c in self.columns if c.type == type_ and c.fits]
        if fitting and self.dice.maybe(0.85):
            return self.dice.choice(fitting)
        if type_ == "bool" and self.dice.maybe(0.95):
            return self.test(self.dice.choice(self.columns))
        return self.literal(type_)

    def test(self, column: Expr) -> Expr:
        if column.type == "bool" or self.dice.maybe(0.2):
            return Expr(f"({column.sql} IS NOT NULL)", "bool")
        operator = self.dice.choice(("=", "<>", "<=", ">"))
        return Expr(f"({column.sql} {operator} {self.literal(column.type).sql})", "bool")

    def mild(self) -> Expr:
        """A test that most rows of a table pass."""
        column = self.dice.choice(self.columns)
        tests = {
            "int": "<= 2", "bigint": "<> 0", "numeric": "< 2.5", "text": "<> 'y'",
            "bool": "IS NOT TRUE", "date": "> DATE '2024-01-01'",
        }  # fmt: skip
        negated = self.dice.maybe(0.3)
        test = f"({column.sql} {tests[column.type]})"
        return Expr(f"({test} IS NOT TRUE)" if negated else test, "bool")

    def literal(self, type_: str) -> Expr:
        value = self.dice.randint(-3, 5)
        text = {
            "int": f"({value})",
            "bigint": f"({value})::bigint",
            "numeric": f"({value}.{self.dice.choice(('5', '25', '0'))})",
            "text": self.dice.choice(("'x'::text", "'y'::text", "''::text", "NULL::text")),
            "bool": self.dice.choice(("true", "false", "NULL::boolean")),
            "date": f"DATE '2024-01-0{self.dice.randint(1, 5)}'",
        }[type_]
        bound = 6 if type_ in NUMBERS else int(type_ == "text")
        return Expr(text, type_, bound, 2 if type_ == "numeric" else 0)

    # --- by type ----------------------------------------------------------------------------

    def make_int(self, depth: int) -> Expr:
        form = self.dice.choice(("+", "-", "*", "negate", "case", "coalesce", "length", "round",
                                 "truth", "divide", "nullif", "days"))  # fmt: skip
        if form == "length":
            inner = self.of("text", depth)
            return Expr(f"length({inner.sql})", "int", inner.bound)
        if form == "round":
            inner = self.of("numeric", depth)
            return Expr(f"({inner.sql})::int", "int", inner.bound + 1)
        if form == "truth":
            return Expr(f"({self.of('bool', depth).sql})::int", "int", 1)
        if form == "days":
            left, right = self.of("date", 0), self.of("date", 0)
            return Expr(f"({left.sql} - {right.sql})", "int", 30)
        return self.arithmetic("int", form, depth)

    def make_bigint(self, depth: int) -> Expr:
        form = self.dice.choice(("+", "-", "*", "case", "coalesce", "divide", "cast", "mixed"))
        if form == "cast":
            inner = self.of("int", depth)
            return Expr(f"({inner.sql})::bigint", "bigint", inner.bound)
        if form == "mixed":
            left, right = self.of("int", depth), self.of("bigint", depth)
            return Expr(f"({left.sql} + {right.sql})", "bigint", left.bound + right.bound)
        return self.arithmetic("bigint", form, depth)

    def make_numeric(self, depth: int) -> Expr:
        form = self.dice.choice(("+", "-", "*", "case", "coalesce", "cast", "mixed", "nullif",
                                 "narrow"))  # fmt: skip
        if form == "cast":
            inner = self.of("int", depth)
            return Expr(f"({inner.sql})::numeric", "numeric", inner.bound)
        if form == "mixed":
            left, right = self.of("int", depth), self.of("numeric", depth)
            return Expr(f"({left.sql} * {right.sql})", "numeric",
                        left.bound * right.bound, right.scale)  # fmt: skip
        if form == "narrow":
            inner = self.of("numeric", depth)
            return Expr(f"({inner.sql})::numeric(20,1)", "numeric", inner.bound + 1, 1)
        return self.arithmetic("numeric", form, depth)

    def arithmetic(self, type_: str, form: str, depth: int) -> Expr:
        left, right = self.of(type_, depth), self.of(type_, depth)
        most = max(left.bound, right.bound)
        scale = max(left.scale, right.scale)
        if form == "*":
            return Expr(f"({left.sql} * {right.sql})", type_, left.bound * right.bound,
                        left.scale + right.scale)  # fmt: skip
        if form == "divide":
            return Expr(f"({left.sql} / NULLIF({right.sql}, 0))", type_, left.bound)
        if form == "negate":
            return Expr(f"(- {left.sql})", type_, left.bound, left.scale)
        if form == "nullif":
            return Expr(f"NULLIF({left.sql}, {right.sql})", type_, left.bound, left.scale)
        if form == "coalesce":
            return Expr(f"COALESCE({left.sql}, {right.sql})", type_, most, scale)
        if form == "case":
            return Expr(self.case(left, right, depth), type_, most, scale)
        return Expr(f"({left.sql} {form} {right.sql})", type_, left.bound + right.bound, scale)

    def case(self, left: Expr, right: Expr, depth: int) -> str:
        otherwise = self.dice.choice((f" ELSE {right.sql}", ""))
        return f"CASE WHEN {self.of('bool', depth).sql} THEN {left.sql}{otherwise} END"

    def make_text(self, depth: int) -> Expr:
        form = self.dice.choice(("||", "case", "coalesce", "cast"))
        left, right = self.of("text", depth), self.of("text", 0)
        most = max(left.bound, right.bound)
        if form == "cast":
            return Expr(f"({self.of('int', depth).sql})::text", "text", 11)
        if form == "||":
            return Expr(f"({left.sql} || {right.sql})", "text", left.bound + right.bound)
        if form == "coalesce":
            return Expr(f"COALESCE({left.sql}, {right.sql})", "text", most)
        return Expr(self.case(left, right, depth), "text", most)

    def make_date(self, depth: int) -> Expr:
        left, right = self.of("date", depth), self.of("date", 0)
        if self.dice.maybe(0.5):
            return Expr(f"COALESCE({left.sql}, {right.sql})", "date")
        return Expr(self.case(left, right, depth), "date")

    def two(self, type_: str, depth: int) -> tuple[Expr, Expr]:
        """To compare: seldom something with itself."""
        one, two = self.of(type_, depth), self.of(type_, depth)
        return one, (self.literal(type_) if one.sql == two.sql and self.dice.maybe(0.9) else two)

    def make_bool(self, depth: int) -> Expr:
        form = self.dice.choice(("compare", "compare", "equal", "and", "or", "not", "null",
                                 "distinct", "in", "between", "truth", "coalesce"))  # fmt: skip
        if form in ("compare", "between"):
            one, two = self.two(self.kind((*ORDERED, "text")), depth)
            type_ = one.type
            if form == "between":
                other = self.of(type_, 0)
                return Expr(f"({one.sql} BETWEEN {other.sql} AND {two.sql})", "bool")
            return Expr(f"({one.sql} {self.dice.choice(('<', '<=', '>', '>='))} {two.sql})", "bool")
        if form in ("equal", "distinct"):
            one, two = self.two(self.kind(TYPES), depth)
            operators = ("=", "<>") if form == "equal" else (
                "IS DISTINCT FROM", "IS NOT DISTINCT FROM")  # fmt: skip
            return Expr(f"({one.sql} {self.dice.choice(operators)} {two.sql})", "bool")
        if form in ("and", "or"):
            one, two = self.of("bool", depth), self.of("bool", depth)
            return Expr(f"({one.sql} {form.upper()} {two.sql})", "bool")
        if form == "not":
            return Expr(f"(NOT {self.of('bool', depth).sql})", "bool")
        if form == "null":
            word = self.dice.choice(("IS NULL", "IS NOT NULL"))
            return Expr(f"({self.any(depth).sql} {word})", "bool")
        if form == "in":
            word = self.dice.choice(("IN", "NOT IN"))
            return Expr(f"({self.of('int', depth).sql} {word} (1, 2, -1))", "bool")
        if form == "coalesce":
            return Expr(f"COALESCE({self.of('bool', depth).sql}, false)", "bool")
        word = self.dice.choice(("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"))
        return Expr(f"({self.of('bool', depth).sql} {word})", "bool")
