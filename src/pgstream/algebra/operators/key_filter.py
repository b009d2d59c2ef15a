"""KeyFilter: A ⋉ K, the rows of A whose columns are among the keys K.

It stands in delta trees only, where keys cannot go further down: what is below is read whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgstream.algebra.operators.node import (
    Expects,
    IsEmpty,
    Keys,
    Node,
    OfDeltaTrees,
    Restrict,
    names_at,
)
from pgstream.algebra.operators.row_local import RowLocal


@dataclass(frozen=True, eq=False)
class KeyFilter(OfDeltaTrees, RowLocal):
    indexes: tuple[int, ...]
    keys: Keys

    def describe(self) -> str:
        return f"KeyFilter by {names_at(self.indexes, self.input.columns)}"

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        return None

    def tested_by(self, indexes: tuple[int, ...]) -> tuple[tuple[int, ...], Keys] | None:
        return (self.indexes, self.keys) if self.indexes else None

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return is_empty(self.input) or is_empty(self.keys)

    def expected_rows(self, expect: Expects) -> float:
        share = self.keys.expected_share(self.input, self.indexes, expect)
        return expect.rows(self.input) * min(share, 1.0)


def through_kept(
    node: Node,
    kept: Sequence[int | None],
    indexes: tuple[int, ...],
    keys: Keys,
    down: Restrict,
) -> Node | None:
    """The node with one input, restricted: keys on columns that are the input's go down to it, the
    others are checked above. `kept` tells which column of the input a column is."""
    below = [kept[i] for i in indexes]
    positions = tuple(p for p, column in enumerate(below) if column is not None)
    if not positions:
        return None
    columns = tuple(column for column in below if column is not None)
    narrowed = node.with_inputs(down(node.inputs[0], columns, keys.pick(positions)))
    return narrowed if len(positions) == len(indexes) else key_filtered(narrowed, indexes, keys)


def key_filtered(node: Node, indexes: tuple[int, ...], keys: Keys) -> Node:
    """The node's rows by these keys, which go no further down."""
    equalities = keys.equalities
    return KeyFilter(node, indexes[: len(keys.indexes)], equalities) if equalities else node
