"""Filter: the rows for which the predicate is true.

Δ σ(A) = σ(Δ A)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pgstream.algebra.expressions import Expression, Ref, conjunction, conjuncts, to_postgres
from pgstream.algebra.operators.by_postgres import computed
from pgstream.algebra.operators.node import Node, Refusal, in_words
from pgstream.algebra.operators.row_local import RowLocal


@dataclass(frozen=True, eq=False)
class Filter(RowLocal):
    predicate: Expression

    def describe(self) -> str:
        return f"Filter {in_words(self.predicate, self.input.columns)}"

    def legalized(self, refusal: Refusal) -> Node:
        return filtered(self.input, list(conjuncts(self.predicate)), refusal)

    def with_computed(self, index: int, compute: Callable[[Any], Any]) -> tuple[Node, int] | None:
        found = self.input.with_computed(index, compute)
        return found and (self.with_inputs(found[0]), found[1])


def filtered(tree: Node, conditions: Sequence[Expression], refusal: Refusal) -> Node:
    """The rows for which all conditions are true; those that Spark must not evaluate come last."""
    ours = conjunction([part for part in conditions if refusal(part) is None])
    rest = conjunction([part for part in conditions if refusal(part) is not None])
    if ours is not None:
        tree = Filter(tree, ours)
    if rest is None:
        return tree
    columns = tree.columns
    every = [Ref(i, column.type) for i, column in enumerate(columns)]
    where = to_postgres(rest, lambda i: f"r.c{i}")
    return computed(tree, every, [column.name for column in columns], where)
