"""A scenario: tables, views, stream tables over them, and rounds of changes."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from generator.pieces import Dice, Relation, Scope
from generator.queries import Queries
from generator.tables import Table, table


@dataclass(frozen=True)
class Stream:
    """A stream table, and what its query is made of."""

    name: str
    query: str
    parts: frozenset[str]


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

    @property
    def parts(self) -> frozenset[str]:
        return frozenset().union(*(stream.parts for stream in self.streams))

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


# What queries are made of. Each part, and each of these compositions, has its examples.
PARTS = (
    "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "subquery in FROM", "LATERAL function",
    "LATERAL subquery", "CTE", "CTE used twice", "recursion", "view",
    "GROUP BY", "FILTER", "count", "sum", "avg", "min", "max", "bool_and", "bool_or",
    "string_agg", "array_agg", "GROUPING SETS", "ROLLUP", "CUBE",
    "DISTINCT", "DISTINCT ON", "UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT",
    "EXCEPT ALL", "TopK",
    "EXISTS", "NOT EXISTS", "IN", "NOT IN", "row IN", "op ANY", "op ALL", "scalar subquery",
    "subquery in HAVING", "correlation", "correlation by inequality", "two levels up",
    "ROWS frame", "RANGE frame", "GROUPS frame", "EXCLUDE", "named window", "window in expression",
    "window over groups", "window row_number", "window rank", "window dense_rank", "window ntile",
    "window lag", "window lead", "window first_value", "window last_value", "window nth_value",
    "window sum", "window count", "window avg", "window min", "window max",
    "outer join over aggregate", "set operation over join", "window over outer join", "depth 4",
)  # fmt: skip
ROUNDS = 8
"""Of changes. Those that change no result are left out."""
LONGEST = 500
"""Of the queries of a scenario, in characters: Spark plans longer ones for seconds."""


def scenario(number: int) -> Scenario:
    """Everything from one number: the first scenario that has the part whose turn it is."""
    wanted = PARTS[number % len(PARTS)]
    return next(
        found
        for attempt in itertools.count()
        if wanted in (found := _scenario(Dice(f"{number} {attempt}"))).parts
        and sum(len(stream.query) for stream in found.streams) <= LONGEST
    )


def _scenario(dice: Dice) -> Scenario:
    rows = dice.choice((2, 5, 8, 8))
    tables = [table(dice, f"b{i + 1}", rows) for i in range(dice.choice((1, 2, 2, 3)))]
    statements = [each.create() for each in tables]
    statements += [each.insert(rows) for each in tables if dice.maybe(0.95)]
    relations = [each.relation() for each in tables]
    if dice.maybe(0.25):
        for name in ("v1", "v2")[: dice.randint(1, 2)]:
            view = Queries(dice, budget=3).query(Scope(tuple(relations), dice.randint(0, 1)))
            statements.append(f"CREATE VIEW {name} AS {view.sql}")
            relations.append(Relation(name, view.columns, view.rows))
    streams = _streams(dice, relations)
    # Tables behind a view count as read; a table that nobody reads may change now and then.
    read = " ".join(each.query for each in streams) + " ".join(statements[2 * len(tables) :])
    busy = [each for each in tables if each.name in read or dice.maybe(0.1)] or tables
    rounds = tuple(_round(dice, busy, streams) for _ in range(ROUNDS))
    return Scenario(tuple(statements), streams, rounds)


def _streams(dice: Dice, relations: list[Relation]) -> tuple[Stream, ...]:
    """One to three layers. The top reads the one below, so that one refresh takes all."""
    made: list[Stream] = []
    for i in range(dice.choice((1,) * 10 + (2, 3))):
        large = dice.maybe(0.06)  # Spark plans these for seconds, so they are few
        queries = Queries(dice, budget=dice.randint(4, 6) if large else dice.randint(1, 3))
        known = tuple(relations)
        if i:
            known = (*relations, relations[-1], relations[-1])
        scope = Scope(known, 4 if large else dice.randint(1, 4))
        found = queries.top(scope.reading(relations[-1]) if i else scope)
        parts = {*queries.used, f"depth {min(_depth(found.sql), 4)}"}
        if "v1" in found.sql or "v2" in found.sql:
            parts.add("view")
        made.append(Stream(f"st{i + 1}", found.sql, frozenset(parts)))
        if all(column.is_array for column in found.columns):
            break  # nobody computes with arrays
        relations = [*relations, Relation(f"st{i + 1}", found.columns, found.rows)]
    return tuple(made)


def _depth(query: str) -> int:
    """How many SELECTs stand in one another."""
    open_: list[bool] = []  # for each parenthesis, whether a SELECT starts in it
    deepest = 0
    for mark in re.findall(r"[()]|\bSELECT\b", query):
        if mark == "(":
            open_.append(False)
        elif mark == ")":
            open_.pop()
        elif open_:
            open_[-1] = True
        deepest = max(deepest, 1 + sum(open_))
    return deepest


def _round(dice: Dice, tables: list[Table], streams: tuple[Stream, ...]) -> Round:
    transactions = []
    for _ in range(dice.choice((1, 1, 2))):
        busy = tables if dice.maybe(0.6) else [dice.choice(tables)]
        transactions.append(
            tuple(each.change() for each in busy for _ in range(dice.randint(1, 2)))
        )
    chosen = streams[-1] if dice.maybe(0.75) else dice.choice(streams)
    return Round(tuple(transactions), chosen.name)
