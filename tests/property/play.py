"""Plays scenarios; PostgreSQL says what is right."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

from generator.scenario import Scenario

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


class Undo(Exception):
    """Ends a transaction that was only for looking."""


def is_lively(connection: Any, example: Scenario) -> bool:
    """Whether PostgreSQL alone, with views for stream tables, sees some result change."""
    states = []
    try:
        with connection.transaction():
            for statement in example.tables:
                connection.execute(statement.encode())
            for stream in example.streams:
                connection.execute(f"CREATE VIEW {stream.name} AS {stream.query}".encode())
            states.append(_contents(connection, example))
            for each in example.rounds:
                for statement in (s for transaction in each.transactions for s in transaction):
                    connection.execute(statement.encode())
                states.append(_contents(connection, example))
            raise Undo
    except Undo:
        pass
    return any(one != two for one, two in pairwise(states))


def _contents(connection: Any, example: Scenario) -> list[list[str]]:
    return [
        sorted(map(repr, connection.execute(f"TABLE {stream.name}".encode()).fetchall()))
        for stream in example.streams
    ]


def play(ps: PgStream, example: Scenario, way: str) -> Counter[str]:
    """Runs an example; the oracle is asked about all that each refresh has touched. As Arrow, rows
    go without nested state: the tables are the same."""
    send(ps, way)
    ps.settings = ps.refresher.settings = replace(ps.settings, nested_state=way != "arrow")
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
