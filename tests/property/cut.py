"""Cuts a failing scenario down: fewer stream tables, changes and rows, and shorter queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import sqlglot
from generator.scenario import Round, Scenario
from sqlglot import exp

CLAUSES = ("where", "having", "order", "limit", "offset", "distinct", "windows", "group", "with_",
           "joins", "laterals", "filter", "side")  # fmt: skip


def cut(example: Scenario, fails: Callable[[Scenario], bool], seconds: float) -> Scenario:
    """The smallest that still fails and that is found in time."""
    end = time.monotonic() + seconds
    found: Scenario | None = example
    while found is not None:
        example = found
        found = next((c for c in smaller(example) if time.monotonic() < end and fails(c)), None)
    return example


def smaller(example: Scenario) -> Iterator[Scenario]:
    """All that are one cut shorter, the largest cuts first."""
    return chain(_fewer_streams(example), _fewer_rounds(example), _shorter_queries(example),
                 _fewer_rows(example))  # fmt: skip


def _fewer_streams(example: Scenario) -> Iterator[Scenario]:
    for streams in _without_one(example.streams, least=1):
        names = [stream.name for stream in streams]
        rounds = tuple(
            each if each.refresh in names else replace(each, refresh=names[-1])
            for each in example.rounds
        )
        yield replace(example, streams=streams, rounds=rounds)


def _fewer_rounds(example: Scenario) -> Iterator[Scenario]:
    for rounds in _without_one(example.rounds):
        yield replace(example, rounds=rounds)
    for i, each in enumerate(example.rounds):
        for shorter in _fewer_statements(each):
            rounds = (*example.rounds[:i], shorter, *example.rounds[i + 1 :])
            yield replace(example, rounds=rounds)


def _fewer_statements(each: Round) -> Iterator[Round]:
    for transactions in _without_one(each.transactions):
        yield replace(each, transactions=transactions)
    for i, statements in enumerate(each.transactions):
        for fewer in _without_one(statements, least=1):
            yield replace(each, transactions=_put(each.transactions, i, fewer))


def _fewer_rows(example: Scenario) -> Iterator[Scenario]:
    for tables in _without_one(example.tables):
        yield replace(example, tables=tables)
    for i, statement in enumerate(example.tables):
        head, values, listed = statement.partition(" VALUES (")
        if values:
            for rows in _without_one(tuple(listed.removesuffix(")").split("), (")), least=1):
                shorter = f"{head}{values}{'), ('.join(rows)})"
                yield replace(example, tables=_put(example.tables, i, shorter))
    for i, statement in enumerate(example.tables):
        head, view, query = statement.partition(" AS ")
        if head.startswith("CREATE VIEW"):
            for shorter in _shorter(query):
                yield replace(example, tables=_put(example.tables, i, f"{head}{view}{shorter}"))


def _shorter_queries(example: Scenario) -> Iterator[Scenario]:
    for i, stream in enumerate(example.streams):
        for query in _shorter(stream.query):
            yield replace(example, streams=_put(example.streams, i, replace(stream, query=query)))


def _put(things: tuple[Any, ...], place: int, thing: Any) -> tuple[Any, ...]:
    return (*things[:place], thing, *things[place + 1 :])


def _without_one(things: tuple[Any, ...], least: int = 0) -> Iterator[tuple[Any, ...]]:
    if len(things) > least:
        for i in reversed(range(len(things))):
            yield things[:i] + things[i + 1 :]


# --- queries --------------------------------------------------------------------------------


def _shorter(query: str) -> Iterator[str]:
    """The query with one clause, item or operand less. Not all of them are valid."""
    seen = {query}
    tree = sqlglot.parse_one(query, read="postgres")
    for place in range(len(list(tree.bfs()))):
        for change in _changes(list(tree.bfs())[place]):
            copied = tree.copy()
            changed = change(list(copied.bfs())[place], copied)
            text = changed.sql(dialect="postgres")
            if len(text) < len(query) and text not in seen:
                seen.add(text)
                yield text


Change = Callable[[exp.Expression, exp.Expression], exp.Expression]


def _changes(node: exp.Expression) -> Iterator[Change]:
    if isinstance(node, exp.Select | exp.SetOperation):
        for inner in node.find_all(exp.Select, exp.SetOperation):
            if inner is not node:
                yield _by_descendant(list(node.bfs()).index(inner))
    for clause in CLAUSES:
        if node.args.get(clause):
            yield _without(clause)
    for name, value in node.args.items():
        if isinstance(value, list) and (len(value) > 1 or name == "joins"):
            for i in range(len(value)):
                yield _without_item(name, i)
    if isinstance(node, exp.Condition | exp.Subquery) and not isinstance(node, exp.Column):
        for i, child in enumerate(node.iter_expressions()):
            if isinstance(child, exp.Condition | exp.Subquery):
                yield _by_child(i)
    if isinstance(node, exp.Condition) and not isinstance(node, exp.Literal | exp.Null):
        yield lambda node, tree: _replaced(node, exp.null(), tree)


def _without(clause: str) -> Change:
    def change(node: exp.Expression, tree: exp.Expression) -> exp.Expression:
        node.set(clause, None)
        return tree

    return change


def _without_item(name: str, place: int) -> Change:
    def change(node: exp.Expression, tree: exp.Expression) -> exp.Expression:
        items = node.args[name]
        node.set(name, items[:place] + items[place + 1 :])
        return tree

    return change


def _by_child(place: int) -> Change:
    def change(node: exp.Expression, tree: exp.Expression) -> exp.Expression:
        return _replaced(node, list(node.iter_expressions())[place], tree)

    return change


def _by_descendant(place: int) -> Change:
    def change(node: exp.Expression, tree: exp.Expression) -> exp.Expression:
        return _replaced(node, list(node.bfs())[place], tree)

    return change


def _replaced(node: exp.Expression, other: exp.Expression, tree: exp.Expression) -> exp.Expression:
    if node is tree:
        return other.copy()
    node.replace(other.copy())
    return tree
