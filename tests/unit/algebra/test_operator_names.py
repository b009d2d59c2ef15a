"""Who names an operator: its file, its renderer, the tables, lowering, rewrites, and those listed
here.

Whoever else wants to know something about an operator asks the node.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pgstream
from pgstream.algebra.operators.table import OPERATORS

ROOT = Path(pgstream.__file__).parent
ROOM = "pgstream.algebra.operators"
NAMES = {operator.__name__ for operator in OPERATORS}
TABLES = {"algebra/operators/table.py", "engine/spark/render/__init__.py"}
EVERYWHERE = {"Keys"}  # what nodes are restricted by stands beside Node

# Module: which operators it names besides, and why.
REASONS: dict[str, tuple[str, str]] = {
    # operators that are made of others
    "algebra/operators/accumulate.py": ("Aggregate", "tells what is stored of an aggregate"),
    "algebra/operators/outer_join.py": ("Filter", "checks above the join"),
    # the calculus
    "algebra/calculus/differentiate.py": (
        "Consolidate Filter Negate Project Scan UnionAll",
        "a change is consolidated, once; the sources of a query are its scans",
    ),
    "algebra/calculus/join_graph.py": (
        "Filter Join Project",
        "tells what stands between the relations of an inner join",
    ),
    "algebra/calculus/two_terms.py": (
        "Consolidate Join Lookup Partners Scan Stored",
        "is about inner joins alone, and reads their tables",
    ),
    "algebra/calculus/touched_keys.py": ("Consolidate", "what has not changed cancels out"),
    "algebra/calculus/recursion.py": (
        "Consolidate Lookup Parameter Project RowId Scan Shared Stored Working",
        "builds the trees of a recursive CTE, and finds out whether a query shows its table whole",
    ),
    # placement
    "algebra/placement/canonical.py": ("Project", "puts canonical values above a tree"),
    "algebra/placement/moments.py": ("Aggregate ByPostgres", "is about variances alone"),
    "algebra/placement/push_down.py": ("Filter", "what is left where conditions go no further"),
    "algebra/placement/windows.py": ("ByPostgres", "is about window functions alone"),
    # plans and what runs them
    "algebra/plan.py": (
        "Aggregate Consolidate Filter Negate Project RowId Scan Stored Weigh",
        "finds the aggregate at the top, and builds the trees of a refresh",
    ),
    "algebra/operators/first_rows.py": (
        "Change Consolidate Filter Lookup Project Scan Stored UnionAll",
        "finds the table whose first rows are wanted, and reads them",
    ),
    "algebra/operators/partners.py": (
        "Lookup SemiJoin UnionAll",
        "is made of lookups, and tells how Spark takes each of their rows once",
    ),
    "algebra/operators/linear_left.py": ("Ranges", "reads by the range of a threshold"),
    "algebra/thresholds.py": (
        "Join Project Scan SemiJoin",
        "finds joins that only compare with a hidden table",
    ),
    "algebra/groups.py": ("Accumulate Aggregate RowId", "builds the trees of a stored aggregate"),
    "algebra/nested.py": (
        "Aggregate Filter Project Scan SemiJoin Shared",
        "puts hidden tables in the place of nested aggregates and of the keys of semi-joins",
    ),
    "engine/spark/execution.py": (
        "ByPostgres Change FirstKeys KeyFilter Lookup Negate Partners Ranges Shared Stored"
        " UnionAll",
        "binds what is at hand before Spark runs",
    ),
    "engine/postgres/handover.py": ("ByPostgres Scan", "is about ByPostgres alone"),
    "engine/postgres/changes.py": ("Change Scan", "reads the changes of tables"),
    "engine/postgres/leaves.py": ("FirstKeys Lookup Ranges Scan Stored", "reads tables"),
    "engine/postgres/first_query.py": ("FirstKeys Scan", "writes what reads first rows"),
    "engine/postgres/range_query.py": ("Ranges Scan", "writes what reads a table by ranges"),
    "engine/postgres/queries.py": ("Scan", "writes what reads a table"),
    "engine/postgres/reading.py": ("Scan", "reads a table"),
    "monitor/explain.py": ("Lookup Parameter Stored", "tells how tables are read"),
    "monitor/nested.py": ("Lookup Parameter Stored", "tells how tables are read"),
    "refresh/fixpoint.py": (
        "Lookup Negate Parameter Stored UnionAll",
        "builds the rounds of a recursive CTE",
    ),
    "compile/prepare.py": ("Scan", "reads the stream table itself"),
    "refresh/stages/follow_nested_state.py": ("Change Stored", "gives the rows of hidden tables"),
    "refresh/stages/follow_recursion.py": ("Change Stored", "gives the rows of a recursive CTE"),
    "refresh/stages/read_changes.py": ("Change Scan", "reads the changes of a query's tables"),
    "refresh/stages/read_groups_again.py": ("Parameter", "gives the groups to read again"),
    "refresh/cost.py": ("Change Lookup Stored", "counts what is read of tables"),
    "refresh/expect.py": ("Scan", "asks for the statistics of a query's tables"),
    "storage/recursive.py": ("Scan", "creates the table of a recursive CTE"),
}


def named() -> Iterator[tuple[str, set[str]]]:
    """The modules, and the operators that each imports from another file."""
    for path in sorted(ROOT.rglob("*.py")):
        imported = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{ROOM}.")
            for alias in node.names
        }
        yield path.relative_to(ROOT).as_posix(), imported & NAMES - EVERYWHERE


def rendered_by(module: str) -> set[str]:
    """The operators whose file has the name of their renderer."""
    stem = Path(module).stem
    is_renderer = module.startswith("engine/spark/render/")
    return {o.__name__ for o in OPERATORS if is_renderer and o.__module__ == f"{ROOM}.{stem}"}


def builds_trees(module: str) -> bool:
    return module.startswith(("algebra/lower/", "algebra/optimize/"))


def test_an_operator_is_named_only_where_a_reason_is_given() -> None:
    for module, names in named():
        if module in TABLES or builds_trees(module):
            continue
        allowed = set(REASONS.get(module, ("", ""))[0].split())
        unexplained = names - allowed - rendered_by(module)
        assert not unexplained, f"{module} names {unexplained}: it should ask the node"


def test_every_reason_is_needed() -> None:
    found = dict(named())
    for module, (names, _) in REASONS.items():
        unneeded = set(names.split()) - found.get(module, set())
        assert not unneeded, f"{module} no longer names {unneeded}"
