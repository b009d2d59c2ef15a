"""Plays scenarios; PostgreSQL says what is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

from generator.scenario import Round, Scenario
from psycopg import Rollback

from helpers import assert_exact, assert_hidden_exact, assert_types
from pgstream.client import PgStream
from pgstream.errors import (
    NumericRange,
    UnsupportedConstruct,
    UnsupportedExpression,
    UnsupportedType,
)
from ways import send

REFUSALS = (UnsupportedConstruct, UnsupportedExpression, UnsupportedType, NumericRange)


def lively(connection: Any, example: Scenario, rounds: int) -> Scenario | None:
    """The example with so many rounds that each change a result, as PostgreSQL alone sees it, with
    views for stream tables. None if it has fewer."""
    kept: list[Round] = []
    with connection.transaction(force_rollback=True):
        for statement in example.tables:
            connection.execute(statement.encode())
        for stream in example.streams:
            connection.execute(f"CREATE VIEW {stream.name} AS {stream.query}".encode())
        before = _contents(connection, example)
        for each in example.rounds:
            if len(kept) == rounds:
                break
            with connection.transaction():
                for statement in (s for transaction in each.transactions for s in transaction):
                    connection.execute(statement.encode())
                after = _contents(connection, example)
                if after == before:
                    raise Rollback  # of this round alone
                kept.append(each)
                before = after
    return replace(example, rounds=tuple(kept)) if len(kept) == rounds else None


def _contents(connection: Any, example: Scenario) -> list[list[str]]:
    return [
        sorted(map(repr, connection.execute(f"TABLE {stream.name}".encode()).fetchall()))
        for stream in example.streams
    ]


def play(ps: PgStream, example: Scenario, ways: Sequence[str]) -> Counter[str]:
    """Runs an example; the oracle is asked about all that each refresh has touched. The first rows
    go the first way, those of each round the next one. What begins as Arrow has no nested state:
    the tables are the same."""
    turns = cycle(ways)
    send(ps, next(turns))
    ps.settings = ps.refresher.settings = replace(ps.settings, nested_state=ways[0] != "arrow")
    seen: Counter[str] = Counter()
    made: list[str] = []
    try:
        for statement in example.tables:
            ps.execute(statement)
        for stream in example.streams:
            seen["streams"] += 1
            try:
                ps.create_stream_table(stream.name, stream.query)
            except REFUSALS as refusal:
                seen["refused"] += 1
                seen[f"refused: {refusal.code} {refusal.message}"] += 1
                break
            made.append(stream.name)
            assert_exact(ps, stream.name)
            assert_types(ps, stream.name)
            seen.update(stream.parts)
        for each in example.rounds:
            for transaction in each.transactions:
                with ps.connection.transaction():
                    for statement in transaction:
                        ps.execute(statement)
            send(ps, next(turns))
            if each.refresh in made:
                result = ps.refresh_stream_table(each.refresh)
                for done in (*result.upstream, result):
                    seen[done.action] += 1
                    seen["actions"] += done.spark_actions
                assert_exact(ps, *(done.name for done in (*result.upstream, result)))
        for name in made:
            assert_hidden_exact(ps, name)
    finally:
        clean(ps, made)
    return seen


def clean(ps: PgStream, made: list[str]) -> None:
    for name in reversed(made):
        ps.drop_stream_table(name)
    ps.execute("DROP VIEW IF EXISTS v2, v1")
    ps.execute("DROP TABLE IF EXISTS b1, b2, b3")
