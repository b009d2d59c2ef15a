"""optimize: the same rows by a tree that costs less.

The rewrites run one after the other, and again until none of them finds anything to do. Each has
its equation in its file. They run before anything is placed: the tree says what is computed, and
not yet by whom, nor where anything is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps

from pgstream.algebra.operators.node import Node
from pgstream.algebra.optimize.close_equalities import close_equalities
from pgstream.algebra.optimize.connect_joins import connect_joins
from pgstream.algebra.optimize.drop_groups import drop_groups
from pgstream.algebra.optimize.drop_joins import drop_joins
from pgstream.algebra.optimize.drop_null_tests import drop_null_tests
from pgstream.algebra.optimize.drop_true import drop_true
from pgstream.algebra.optimize.factor_or import factor_or
from pgstream.algebra.optimize.first_per_group import first_per_group
from pgstream.algebra.optimize.keys import Constraints, Facts
from pgstream.algebra.optimize.merge_projects import merge_projects
from pgstream.algebra.optimize.propagate_constants import propagate_constants
from pgstream.algebra.optimize.prune_columns import prune_columns
from pgstream.algebra.optimize.push_filters import push_filters
from pgstream.algebra.optimize.strengthen_joins import strengthen_joins

Rewrite = Callable[[Node, Constraints], tuple[Node, Facts]]
"""From a tree to another one, and the facts that this relies on."""


def by_form(rewrite: Callable[[Node], Node]) -> Rewrite:
    """A rewrite that relies on nothing but the tree."""

    @wraps(rewrite)
    def relying_on_nothing(tree: Node, known: Constraints) -> tuple[Node, Facts]:
        return rewrite(tree), Facts()

    return relying_on_nothing


REWRITES: tuple[Rewrite, ...] = (
    # First: what falls away here, nothing else need look at.
    drop_null_tests,
    by_form(drop_true),
    by_form(factor_or),
    # Before filters go down: more of them can pass an inner join.
    by_form(strengthen_joins),
    by_form(push_filters),
    # After filters have gone down: equalities in them are keys of joins now.
    by_form(connect_joins),
    # After joins have the equalities that are written: what these imply.
    by_form(close_equalities),
    by_form(propagate_constants),
    drop_groups,
    drop_joins,
    # After joins were dropped: their other sides may read less.
    by_form(prune_columns),
    # Last: the others leave Projects that say little.
    by_form(merge_projects),
    by_form(first_per_group),
)
MOST_ROUNDS = 10
"""More than any tree needs; two are usual."""


class Asked:
    """Constraints that are asked for once."""

    def __init__(self, constraints: Constraints) -> None:
        self.unique_keys = cache(constraints.unique_keys)
        self.not_null = cache(constraints.not_null)


def optimize(tree: Node, constraints: Constraints) -> tuple[Node, Facts]:
    """The tree, and the facts that it relies on."""
    known, facts = Asked(constraints), Facts()
    for _ in range(MOST_ROUNDS):
        before = tree
        for rewrite in REWRITES:
            tree, used = rewrite(tree, known)
            facts |= used
        if tree is before:
            break
    return tree, facts
