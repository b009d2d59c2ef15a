"""Every operator stands in every table, and answers all that is asked about it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import pgstream.algebra.operators as operators
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.leaf import Leaf
from pgstream.algebra.operators.node import Node, OfDeltaTrees
from pgstream.algebra.operators.row_local import RowLocal
from pgstream.algebra.operators.table import OF_DELTA_TREES, OF_QUERIES, OPERATORS
from pgstream.algebra.placement import spark_list

# What operators have in common.
BASES = {Node, Leaf, OfDeltaTrees, RowLocal, Pairing}


def classes() -> Iterator[type[Node]]:
    for module in pkgutil.iter_modules(operators.__path__):
        loaded = importlib.import_module(f"{operators.__name__}.{module.name}")
        for value in vars(loaded).values():
            if isinstance(value, type) and issubclass(value, Node):
                yield value


def test_every_operator_is_in_the_table() -> None:
    assert set(classes()) - BASES == set(OPERATORS)
    assert len(set(OPERATORS)) == len(OPERATORS)


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_answers_all_that_is_asked(operator: type[Node]) -> None:
    assert not operator.__abstractmethods__


def test_an_operator_without_an_answer_cannot_be_built() -> None:
    class Half(Node):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Half()


@pytest.mark.parametrize("operator", OPERATORS)
def test_only_what_stands_in_delta_trees_alone_has_no_rule(operator: type[Node]) -> None:
    assert issubclass(operator, OfDeltaTrees) == (operator in OF_DELTA_TREES)


@pytest.mark.parametrize("operator", OF_QUERIES)
def test_what_is_local_to_keys_says_what_it_reads_again(operator: type[Node]) -> None:
    """And what a user is told who recurses through it."""
    if operator.needs_positive is not Node.needs_positive:
        assert operator.read_again is not Node.read_again
        assert operator.nonlinear_in is not Node.nonlinear_in


def test_every_operator_has_a_line_among_the_renderers() -> None:
    from pgstream.engine.spark.render import RENDERERS

    assert set(RENDERERS) == set(OPERATORS)
    unrendered = {o.__name__ for o, renderer in RENDERERS.items() if renderer is None}
    leaves = {o.__name__ for o in OPERATORS if issubclass(o, Leaf)} - {"OneRow"}
    assert unrendered == leaves | {"ByPostgres", "FirstKeys", "Partners", "Ranges"}


def test_everything_on_sparks_list_has_a_rendering() -> None:
    from pgstream.engine.spark.expressions import RENDERERS

    assert set(spark_list.SPARK_LIST) == set(RENDERERS)
