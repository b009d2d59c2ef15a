"""The passes over a defining query, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable

from pgstream.sql.facts import Facts
from pgstream.sql.parse import Query
from pgstream.sql.passes.above_grouping import above_grouping
from pgstream.sql.passes.array_subqueries import array_subqueries
from pgstream.sql.passes.correlated_ctes import correlated_ctes
from pgstream.sql.passes.distinct_on import distinct_on
from pgstream.sql.passes.grouping_sets import grouping_sets
from pgstream.sql.passes.named_windows import named_windows
from pgstream.sql.passes.on_subqueries import on_subqueries
from pgstream.sql.passes.quantified import quantified
from pgstream.sql.passes.read_values import read_values
from pgstream.sql.passes.refuse import refuse
from pgstream.sql.passes.search_cycle import search_cycle
from pgstream.sql.passes.select_list_rows import select_list_rows
from pgstream.sql.passes.sorted_input import sorted_input
from pgstream.sql.passes.whole_rows import whole_rows

PASSES: tuple[Callable[[Query, str], Query], ...] = (
    refuse,  # first: later passes may rely on what it lets through
)

# Each reads PostgreSQL's deparsed text and keeps the query's rows, column names and types. These
# ask PostgreSQL about what they read, and so come before names that it does not know.
ASKING: tuple[Callable[[Query, Facts], Query], ...] = (
    whole_rows,  # before `search_cycle`, whose columns are rows of no type
    search_cycle,
    select_list_rows,
)
REWRITES: tuple[Callable[[Query], Query], ...] = (
    correlated_ctes,  # first: the others see them where they are read
    read_values,  # early: what it makes are subqueries
    array_subqueries,  # before `sorted_input`, which tells its aggregates the order
    on_subqueries,
    named_windows,  # before the others: they move OVER clauses away from their WINDOW clause
    sorted_input,  # before the others put queries into FROM
    distinct_on,  # makes a window function, and leaves a grouping below it
    grouping_sets,  # leaves window functions and subqueries above a plain GROUP BY
    above_grouping,  # takes aggregates out of what is compared with a subquery
    quantified,
)


def run_passes(query: Query, text: str) -> Query:
    for one in PASSES:
        query = one(query, text)
    return query


def rewrite(query: Query, facts: Facts) -> Query:
    """The same rows by fewer constructs. A query that has none of them comes back equal."""
    for asking in ASKING:
        query = asking(query, facts)
    for one in REWRITES:
        query = one(query)
    return query
