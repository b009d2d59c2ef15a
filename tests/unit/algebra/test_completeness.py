"""Every operator has a delta rule or is of delta trees only; every one has a rendering."""

from __future__ import annotations

import importlib
import pkgutil

import pgstream.algebra.operators as operators
from pgstream.algebra import spark_list
from pgstream.algebra.differentiate import RULES
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.node import Node

# Leaves are bound, or replaced like Working, and not rendered; the last ones stand in delta trees
# only.
LEAVES = {"Scan", "Stored", "Change", "Lookup", "Parameter", "Working", "ByPostgres"}
DELTA_ONLY = {
    "Stored", "Change", "Lookup", "Parameter", "Negate", "Consolidate", "Keys", "KeyFilter",
    "Accumulate", "RowId", "Working",
}  # fmt: skip


def nodes() -> set[type[Node]]:
    found = set()
    for module in pkgutil.iter_modules(operators.__path__):
        loaded = importlib.import_module(f"{operators.__name__}.{module.name}")
        for value in vars(loaded).values():
            if isinstance(value, type) and issubclass(value, Node) and value not in (Node, Pairing):
                found.add(value)
    return found


def test_every_operator_of_a_query_has_a_delta_rule() -> None:
    assert {n.__name__ for n in nodes()} - DELTA_ONLY == {n.__name__ for n in RULES}


def test_every_operator_has_a_rendering() -> None:
    from pgstream.engine.render import RENDERERS

    assert {n.__name__ for n in nodes()} - LEAVES == {n.__name__ for n in RENDERERS}


def test_everything_on_sparks_list_has_a_rendering() -> None:
    from pgstream.engine.expressions import RENDERERS

    assert set(spark_list.SPARK_LIST) == set(RENDERERS)
