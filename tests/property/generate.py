"""Random stream tables: a scenario is data, made from one number, and can be written as a script.

Expressions are pieces of SQL with a type. `bound` (the largest absolute value) and `scale`
(the decimals) keep them where PostgreSQL itself raises no error and Spark holds every digit.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

NUMBERS = ("int", "bigint", "numeric")
TYPES = (*NUMBERS, "text", "bool", "date")
COLUMNS = {
    "a": "int", "b": "bigint", "n": "numeric(8,2)", "s": "text", "f": "boolean", "d": "date",
}  # fmt: skip
KINDS = {
    "int": "int", "bigint": "bigint", "numeric(8,2)": "numeric", "text": "text",
    "boolean": "bool", "date": "date",
}  # fmt: skip
LIMITS = {"int": 1e8, "bigint": 1e15, "numeric": 1e15}
MOST_ROWS = 4000
MOST_DECIMALS = 8


@dataclass(frozen=True)
class Expr:
    sql: str
    type: str
    bound: float = 0.0
    scale: int = 0


@dataclass(frozen=True)
class Relation:
    """Something to put into FROM: SQL, its columns, and at most how many rows."""

    sql: str
    columns: tuple[Expr, ...]
    rows: float


@dataclass(frozen=True)
class Stream:
    name: str
    query: str


@dataclass(frozen=True)
class Round:
    """Transactions (lists of statements), then which stream table is refreshed."""

    transactions: tuple[tuple[str, ...], ...]
    refresh: str


@dataclass(frozen=True)
class Scenario:
    tables: tuple[str, ...]
    streams: tuple[Stream, ...]
    rounds: tuple[Round, ...]

    def script(self) -> str:
        """A Python program that shows the scenario by itself."""
        lines = [
            "import tempfile, pgstream",
            "from pgstream.settings import Settings",
            "settings = Settings(differential_max_change_ratio=0.0, min_schedule_seconds=1)",
            "with pgstream.embedded(tempfile.mkdtemp(), settings=settings) as ps:",
        ]
        lines += [f"    ps.execute({statement!r})" for statement in self.tables]
        lines += [f"    ps.create_stream_table({s.name!r}, {s.query!r})" for s in self.streams]
        for each in self.rounds:
            for transaction in each.transactions:
                lines.append("    with ps.connection.transaction():")
                lines += [f"        ps.execute({statement!r})" for statement in transaction]
            lines.append(f"    print(ps.refresh_stream_table({each.refresh!r}))")
        lines.append(f"    for name in {[s.name for s in self.streams]}:")
        lines.append("        print(ps.verify(name))")
        return "\n".join(lines)


# --- expressions ----------------------------------------------------------------------------


class Expressions:
    """A small grammar, by type, over the columns at hand."""

    def __init__(self, rng: random.Random, columns: tuple[Expr, ...]) -> None:
        self.rng, self.columns = rng, columns

    def of(self, type_: str, depth: int = 2) -> Expr:
        if depth <= 0 or self.rng.random() < 0.3:
            return self.leaf(type_)
        made = getattr(self, f"make_{type_}")(depth - 1)
        fits = made.bound <= LIMITS.get(made.type, 0) and made.scale <= MOST_DECIMALS
        return made if fits or made.type not in LIMITS else self.leaf(type_)

    def any(self, depth: int = 2) -> Expr:
        if self.rng.random() < 0.5:
            return self.rng.choice(self.columns)
        return self.of(self.rng.choice(TYPES), depth)

    def number(self, depth: int = 2) -> Expr:
        return self.of(self.rng.choice(NUMBERS), depth)

    def leaf(self, type_: str) -> Expr:
        fitting = [c for c in self.columns if c.type == type_]
        if fitting and self.rng.random() < 0.85:
            return self.rng.choice(fitting)
        if type_ == "bool" and self.rng.random() < 0.8:
            return self.test(self.rng.choice(self.columns))
        return self.literal(type_)

    def test(self, column: Expr) -> Expr:
        if column.type == "bool" or self.rng.random() < 0.2:
            return Expr(f"({column.sql} IS NOT NULL)", "bool")
        operator = self.rng.choice(("=", "<>", "<=", ">") if column.type != "text" else ("=", "<>"))
        return Expr(f"({column.sql} {operator} {self.literal(column.type).sql})", "bool")

    def literal(self, type_: str) -> Expr:
        value = self.rng.randint(-3, 5)
        text = {
            "int": f"({value})",
            "bigint": f"({value})::bigint",
            "numeric": f"({value}.{self.rng.choice(('5', '25', '0'))})",
            "text": self.rng.choice(("'x'", "'y'", "''", "'Ä'", "NULL::text")),
            "bool": self.rng.choice(("true", "false", "NULL::boolean")),
            "date": f"DATE '2024-01-0{self.rng.randint(1, 5)}'",
        }[type_]
        return Expr(text, type_, 6, 2)

    # --- by type ----------------------------------------------------------------------------

    def make_int(self, depth: int) -> Expr:
        form = self.rng.choice(("+", "-", "*", "negate", "case", "coalesce", "length", "round",
                                "truth", "divide", "nullif", "days"))  # fmt: skip
        if form == "length":
            return Expr(f"length({self.of('text', depth).sql})", "int", 20)
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
        form = self.rng.choice(("+", "-", "*", "case", "coalesce", "divide", "cast", "mixed"))
        if form == "cast":
            inner = self.of("int", depth)
            return Expr(f"({inner.sql})::bigint", "bigint", inner.bound)
        if form == "mixed":
            left, right = self.of("int", depth), self.of("bigint", depth)
            return Expr(f"({left.sql} + {right.sql})", "bigint", left.bound + right.bound)
        return self.arithmetic("bigint", form, depth)

    def make_numeric(self, depth: int) -> Expr:
        form = self.rng.choice(("+", "-", "*", "case", "coalesce", "cast", "mixed", "nullif",
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
        otherwise = self.rng.choice((f" ELSE {right.sql}", ""))
        return f"CASE WHEN {self.of('bool', depth).sql} THEN {left.sql}{otherwise} END"

    def make_text(self, depth: int) -> Expr:
        form = self.rng.choice(("||", "case", "coalesce", "cast"))
        left, right = self.of("text", depth), self.of("text", 0)
        if form == "cast":
            return Expr(f"({self.of('int', depth).sql})::text", "text")
        if form == "||":
            return Expr(f"({left.sql} || {right.sql})", "text")
        if form == "coalesce":
            return Expr(f"COALESCE({left.sql}, {right.sql})", "text")
        return Expr(self.case(left, right, depth), "text")

    def make_date(self, depth: int) -> Expr:
        left, right = self.of("date", depth), self.of("date", 0)
        if self.rng.random() < 0.5:
            return Expr(f"COALESCE({left.sql}, {right.sql})", "date")
        return Expr(self.case(left, right, depth), "date")

    def make_bool(self, depth: int) -> Expr:
        form = self.rng.choice(("compare", "compare", "equal", "and", "or", "not", "null",
                                "distinct", "in", "between", "truth", "coalesce"))  # fmt: skip
        if form in ("compare", "between"):
            type_ = self.rng.choice((*NUMBERS, "date"))
            one, two = self.of(type_, depth), self.of(type_, depth)
            if form == "between":
                other = self.of(type_, 0)
                return Expr(f"({one.sql} BETWEEN {other.sql} AND {two.sql})", "bool")
            return Expr(f"({one.sql} {self.rng.choice(('<', '<=', '>', '>='))} {two.sql})", "bool")
        if form in ("equal", "distinct"):
            type_ = self.rng.choice(TYPES)
            one, two = self.of(type_, depth), self.of(type_, depth)
            operators = ("=", "<>") if form == "equal" else (
                "IS DISTINCT FROM", "IS NOT DISTINCT FROM")  # fmt: skip
            return Expr(f"({one.sql} {self.rng.choice(operators)} {two.sql})", "bool")
        if form in ("and", "or"):
            one, two = self.of("bool", depth), self.of("bool", depth)
            return Expr(f"({one.sql} {form.upper()} {two.sql})", "bool")
        if form == "not":
            return Expr(f"(NOT {self.of('bool', depth).sql})", "bool")
        if form == "null":
            word = self.rng.choice(("IS NULL", "IS NOT NULL"))
            return Expr(f"({self.any(depth).sql} {word})", "bool")
        if form == "in":
            word = self.rng.choice(("IN", "NOT IN"))
            return Expr(f"({self.of('int', depth).sql} {word} (1, 2, -1))", "bool")
        if form == "coalesce":
            return Expr(f"COALESCE({self.of('bool', depth).sql}, false)", "bool")
        word = self.rng.choice(("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"))
        return Expr(f"({self.of('bool', depth).sql} {word})", "bool")


# --- queries --------------------------------------------------------------------------------


class Queries:
    """Queries over relations at hand. Every query names its columns c1, c2, …"""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.aliases = 0

    def query(self, relations: list[Relation], depth: int = 1) -> Relation:
        shape = self.rng.random()
        if depth and shape < 0.15:
            return self.with_cte(relations)
        if shape < 0.3:
            return self.union(relations, depth)
        return self.select(relations, depth)

    def with_cte(self, relations: list[Relation]) -> Relation:
        inner = self.select(relations, 0)
        name = f"q{self.alias()}"
        renamed = self.rng.random() < 0.3
        names = [f"r{i}" for i in range(len(inner.columns))]
        columns = tuple(
            Expr(n if renamed else c.sql, c.type, c.bound, c.scale)
            for n, c in zip(names, inner.columns, strict=True)
        )
        listed = f"({', '.join(names)})" if renamed else ""
        known = Relation(name, columns, inner.rows)
        chosen = [known, *([known] if inner.rows < 50 else []), self.rng.choice(relations)]
        outer = self.select(chosen, 0, must=known)
        return Relation(f"WITH {name}{listed} AS ({inner.sql}) {outer.sql}", outer.columns,
                        outer.rows)  # fmt: skip

    def union(self, relations: list[Relation], depth: int) -> Relation:
        first = self.plain(*self.source(relations, depth), None)
        parts, columns, rows = [first.sql], list(first.columns), first.rows
        for _ in range(self.rng.randint(1, 2)):
            wanted = [self.rng.choice(NUMBERS) if c.type in NUMBERS else c.type for c in columns]
            other = self.plain(*self.source(relations, 0), wanted)
            columns = [_wider(a, b) for a, b in zip(columns, other.columns, strict=True)]
            rows += other.rows
            parts.append(other.sql)
        words = ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT",
                 "EXCEPT ALL")  # fmt: skip
        text = parts[0]
        for part in parts[1:]:
            text = f"({text}) {self.rng.choice(words)} ({part})" if len(parts) > 2 else (
                f"{text} {self.rng.choice(words)} {part}")  # fmt: skip
        return Relation(text, tuple(columns), rows)

    def select(
        self, relations: list[Relation], depth: int, must: Relation | None = None
    ) -> Relation:
        clause, where, columns, rows = self.source(relations, depth, must)
        if self.rng.random() < 0.5:
            return self.grouped(clause, where, columns, rows)
        return self.plain(clause, where, columns, rows, None)

    # --- FROM -------------------------------------------------------------------------------

    def alias(self) -> int:
        self.aliases += 1
        return self.aliases

    def source(
        self, relations: list[Relation], depth: int, must: Relation | None = None
    ) -> tuple[str, list[str], tuple[Expr, ...], float]:
        """FROM, the conjuncts of WHERE, the columns (qualified) and the most rows."""
        clause, where, columns, rows = "", [], (), 1.0
        comma = False
        for i in range(self.rng.choice((1, 1, 2, 2, 2, 3))):
            relation = must if must is not None and i == 0 else self.rng.choice(relations)
            if depth and self.rng.random() < 0.2:
                inner = self.query(relations, 0)
                relation = Relation(f"({inner.sql})", inner.columns, inner.rows)
            if clause and rows * relation.rows > MOST_ROWS:
                break
            alias = f"t{self.alias()}"
            shown = tuple(
                Expr(f"{alias}.{c.sql}", c.type, c.bound, c.scale) for c in relation.columns
            )
            item = f"{relation.sql} AS {alias}"
            if not clause:
                clause = item
            else:
                # Below a comma, JOIN ... ON does not see what stands before it.
                clause, extra, comma = self.joined(clause, item, columns, shown, comma)
                where += extra
            columns, rows = columns + shown, rows * relation.rows
        if self.rng.random() < 0.4:
            where.append(Expressions(self.rng, columns).of("bool").sql)
        return clause, where, columns, rows

    def joined(
        self, clause: str, item: str, left: tuple[Expr, ...], right: tuple[Expr, ...], comma: bool
    ) -> tuple[str, list[str], bool]:
        form = self.rng.random()
        names = [_name(c) for c in left]
        shared = [
            _name(a) for a in left for b in right
            if _name(a) == _name(b) and _comparable(a, b) and names.count(_name(a)) == 1
        ]  # fmt: skip
        pairs = [(a, b) for a in left for b in right if _comparable(a, b)]
        if form < 0.15 and shared and not comma:
            return f"{clause} JOIN {item} USING ({shared[0]})", [], False
        if (form < 0.25 or not pairs) and not comma:
            return f"{clause} CROSS JOIN {item}", [], False
        if not pairs:
            return f"{clause}, {item}", [], True
        condition = self.equality(*self.rng.choice(pairs))
        if self.rng.random() < 0.25:
            condition += f" AND {Expressions(self.rng, left + right).of('bool', 1).sql}"
        if form < 0.45 or comma:
            return f"{clause}, {item}", [f"({condition})"], True
        if outer := self.rng.random() < 0.35:
            condition = self.equality(*self.rng.choice(pairs), plain=True)
        kind = self.rng.choice(("LEFT ", "LEFT ", "RIGHT ", "FULL ")) if outer else ""
        return f"{clause} {kind}JOIN {item} ON {condition}", [], False

    def equality(self, one: Expr, two: Expr, plain: bool = False) -> str:
        form = 1.0 if plain else self.rng.random()
        if form < 0.1 and one.type in NUMBERS:
            return f"{one.sql} + 1 = {two.sql}"
        if form < 0.2:
            return f"{one.sql} {self.rng.choice(('<', '>='))} {two.sql}" if (
                one.type in (*NUMBERS, "date")) else f"{one.sql} <> {two.sql}"  # fmt: skip
        return f"{two.sql} = {one.sql}" if form < 0.4 else f"{one.sql} = {two.sql}"

    # --- SELECT -----------------------------------------------------------------------------

    def plain(
        self,
        clause: str,
        where: list[str],
        columns: tuple[Expr, ...],
        rows: float,
        wanted: list[str] | None,
    ) -> Relation:
        make = Expressions(self.rng, columns)
        if wanted is None:
            items = [make.any() for _ in range(self.rng.randint(1, 4))]
        else:
            items = [make.of(type_, 1) for type_ in wanted]
        return self.finished(clause, where, items, "", rows)

    def grouped(
        self, clause: str, where: list[str], columns: tuple[Expr, ...], rows: float
    ) -> Relation:
        make = Expressions(self.rng, columns)
        keys = [make.any(1) for _ in range(self.rng.choice((0, 1, 1, 1, 2)))]
        by = [
            f"{i + 1}" if self.rng.random() < 0.3 or _constant(key) else key.sql
            for i, key in enumerate(keys)
        ]
        calls = [self.aggregate(make, rows) for _ in range(self.rng.randint(1, 3))]
        tail = f" GROUP BY {', '.join(by)}" if by else ""
        if self.rng.random() < 0.25:
            tail += f" HAVING {self.having(make, rows)}"
        shown = [c if self.rng.random() < 0.7 else self.above(c) for c in calls]
        return self.finished(clause, where, keys + shown, tail, rows if keys else 1)

    def aggregate(self, make: Expressions, rows: float) -> Expr:
        function = self.rng.choice(("count(*)", "count", "sum", "sum", "avg", "min", "max"))
        where = ""
        if self.rng.random() < 0.25:
            where = f" FILTER (WHERE {make.of('bool', 1).sql})"
        if function == "count(*)":
            return Expr(f"count(*){where}", "bigint", rows)
        if function == "count":
            return Expr(f"count({make.any(1).sql}){where}", "bigint", rows)
        if function in ("sum", "avg"):
            inner = make.number(1)
            if function == "avg":
                return Expr(f"avg({inner.sql}){where}", "numeric", inner.bound, 20)
            type_ = "bigint" if inner.type == "int" else "numeric"
            return Expr(f"sum({inner.sql}){where}", type_, inner.bound * rows, inner.scale)
        inner = make.of(self.rng.choice((*NUMBERS, "date")), 1)
        return Expr(f"{function}({inner.sql}){where}", inner.type, inner.bound, inner.scale)

    def above(self, call: Expr) -> Expr:
        """Something over an aggregate."""
        if call.type not in NUMBERS or call.scale > MOST_DECIMALS:
            return Expr(f"({call.sql}) IS NULL", "bool")
        form = self.rng.choice(("+", "coalesce", "case"))
        if form == "+":
            return Expr(f"{call.sql} + 1", call.type, call.bound + 1, call.scale)
        if form == "coalesce":
            return Expr(f"COALESCE({call.sql}, 0)", call.type, call.bound, call.scale)
        return Expr(f"CASE WHEN {call.sql} > 3 THEN 'many' ELSE 'few' END", "text")

    def having(self, make: Expressions, rows: float) -> str:
        call = self.aggregate(make, rows)
        if call.type in NUMBERS:
            return f"{call.sql} {self.rng.choice(('>', '<', '<>'))} {self.rng.randint(0, 4)}"
        return f"{call.sql} IS NOT NULL"

    def finished(
        self, clause: str, where: list[str], items: list[Expr], tail: str, rows: float
    ) -> Relation:
        listed = ", ".join(f"{item.sql} AS c{i}" for i, item in enumerate(items, 1))
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        columns = tuple(Expr(f"c{i}", c.type, c.bound, c.scale) for i, c in enumerate(items, 1))
        distinct = "DISTINCT " if self.rng.random() < 0.12 else ""
        return Relation(f"SELECT {distinct}{listed} FROM {clause}{condition}{tail}", columns, rows)


def _name(column: Expr) -> str:
    return column.sql.split(".")[1]


def _comparable(one: Expr, two: Expr) -> bool:
    return one.type == two.type or (one.type in NUMBERS and two.type in NUMBERS)


def _wider(one: Expr, two: Expr) -> Expr:
    type_ = one.type
    if one.type in NUMBERS:
        type_ = max(one.type, two.type, key=NUMBERS.index)
    return Expr(one.sql, type_, max(one.bound, two.bound), max(one.scale, two.scale))


def _constant(expression: Expr) -> bool:
    """PostgreSQL takes a bare constant in GROUP BY for a position or refuses it."""
    return re.search(r"\bt\d+\.", expression.sql) is None


# --- tables and changes ---------------------------------------------------------------------


@dataclass
class Table:
    """A base table: k, and some of the other columns; maybe with a primary key."""

    name: str
    columns: dict[str, str]
    keyed: bool
    rng: random.Random
    rows: int
    ids: Iterator[int] = field(default_factory=lambda: iter(range(1, 10**6)))

    def create(self) -> list[str]:
        key = "id int PRIMARY KEY, " if self.keyed else ""
        listed = ", ".join(f"{name} {type_}" for name, type_ in self.columns.items())
        return [f"CREATE TABLE {self.name} ({key}{listed})"]

    def relation(self) -> Relation:
        columns = [
            Expr(name, KINDS[type_], 9, 2 if type_.startswith("numeric") else 0)
            for name, type_ in self.columns.items()
        ]
        if self.keyed:
            columns.append(Expr("id", "int", 1000))
        return Relation(self.name, tuple(columns), self.rows * 3)

    def value(self, type_: str) -> str:
        if self.rng.random() < 0.15:
            return "NULL"
        if type_ in ("int", "bigint"):
            return str(self.rng.randint(-2, 5))
        if type_.startswith("numeric"):
            return self.rng.choice(("0", "1.5", "2.25", "-1.10", "3", "0.01"))
        if type_ == "text":
            return self.rng.choice(("'x'", "'y'", "''", "'xy'", "'Ä\\'"))
        if type_ == "boolean":
            return self.rng.choice(("true", "false"))
        return f"'2024-01-0{self.rng.randint(1, 5)}'"

    def row(self) -> str:
        values = [str(next(self.ids))] if self.keyed else []
        values += [self.value(type_) for type_ in self.columns.values()]
        return f"({', '.join(values)})"

    def insert(self, most: int) -> str:
        listed = [self.row() for _ in range(self.rng.randint(1, most))]
        if not self.keyed and self.rng.random() < 0.4:
            listed += listed[:2]
        return f"INSERT INTO {self.name} VALUES {', '.join(listed)}"

    def condition(self) -> str:
        name, type_ = self.rng.choice(list(self.columns.items()))
        form = self.rng.random()
        if form < 0.15:
            return f"{name} IS NULL"
        if form < 0.25:
            return f"ctid = (SELECT min(ctid) FROM {self.name})"
        return f"{name} = {self.value(type_)}"

    def change(self) -> str:
        form = self.rng.random()
        if form < 0.35:
            return self.insert(3)
        if form < 0.70:
            chosen = self.rng.sample(list(self.columns.items()), self.rng.randint(1, 2))
            sets = ", ".join(f"{name} = {self.value(type_)}" for name, type_ in chosen)
            if self.keyed and self.rng.random() < 0.2:
                one = f"id = (SELECT min(id) FROM {self.name})"
                return f"UPDATE {self.name} SET id = {next(self.ids)}, {sets} WHERE {one}"
            where = f" WHERE {self.condition()}" if self.rng.random() < 0.9 else ""
            return f"UPDATE {self.name} SET {sets}{where}"
        if form < 0.92:
            return f"DELETE FROM {self.name} WHERE {self.condition()}"
        if form < 0.97:
            return f"DELETE FROM {self.name}"
        return f"TRUNCATE {self.name}"


def scenario(seed: int, tables: int, rows: int, streams: int, rounds: int) -> Scenario:
    """Everything from one number; the sizes apart, so that they can shrink."""
    rng = random.Random(seed)
    made = [_table(rng, f"b{i}", rows) for i in range(1, tables + 1)]
    statements = [statement for table in made for statement in table.create()]
    statements += [table.insert(rows) for table in made if rng.random() < 0.85]
    relations = [table.relation() for table in made]
    known: list[Stream] = []
    for i in range(1, streams + 1):
        # The top reads the one below, so that one refresh takes all.
        queries = Queries(rng)
        if i == 1:
            found = queries.query(relations)
        else:
            below = [r for r in relations if r.sql.startswith("st")]
            found = queries.query([*below, below[-1], rng.choice(relations)])
        known.append(Stream(f"st{i}", found.sql))
        columns = tuple(Expr(c.sql, c.type, c.bound, c.scale) for c in found.columns)
        relations.append(Relation(f"st{i}", columns, found.rows))
    return Scenario(
        tuple(statements), tuple(known), tuple(_round(rng, made, known) for _ in range(rounds))
    )


def _table(rng: random.Random, name: str, rows: int) -> Table:
    chosen = sorted(rng.sample(list(COLUMNS), rng.randint(2, 4)))
    columns = {"k": "int", **{column: COLUMNS[column] for column in chosen}}
    return Table(name, columns, rng.random() < 0.5, rng, rows)


def _round(rng: random.Random, tables: list[Table], streams: list[Stream]) -> Round:
    transactions = []
    for _ in range(rng.randint(1, 2)):
        busy = tables if rng.random() < 0.6 else [rng.choice(tables)]
        transactions.append(
            tuple(table.change() for table in busy for _ in range(rng.randint(1, 2)))
        )
    chosen = streams[-1] if rng.random() < 0.75 else rng.choice(streams)
    return Round(tuple(transactions), chosen.name)
